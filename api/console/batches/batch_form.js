// @ts-check
// Form for a batch: molecules that are pasted, uploaded or ticked in a sample, and the settings of their searches. Bad lines are listed before anything is
// sent, and so are those that the service refuses.

import { MoleculeWorker } from "../molecules/molecule_worker.js";
import { PRESETS, preset, request, SETTINGS } from "../plan/settings.js";
import { Refused } from "../service/login.js";
import { why } from "../service/service.js";
import { control, make, markInvalid, say, tellFault } from "../shared/elements.js";
import { decodeText } from "../shared/file_text.js";
import { Notice } from "../shared/notice.js";
import { count, several } from "../shared/numbers.js";
import { PLAN_BATCHES } from "./batch_plans.js";
import { cart } from "./cart.js";

/** @typedef {import("../molecules/molecule_text.js").Reading} Reading */
/** @typedef {import("../plan/settings.js").Typed} Typed */

/** The settings that matter for many; the others are as their preset has them. */
const ASKED = ["max_seconds", "max_depth", "ships_to", "mask_usd_pricing_gte", "mask_lead_times_gte", "amount_mmol"];
const MOST = 100000;
/** The largest body that the service takes, less its settings. */
const MOST_BYTES = (5 << 20) - (16 << 10);
/** The largest file that is read, far more than makes such a body. */
const MOST_OF_FILE = 32 << 20;
/** Of a name, letters that the service keeps. */
const LONGEST_NAME = 255;
const TIMEOUT = 60000;
const PAUSE = 400;
/** Faults that are told by themselves. */
const TOLD = 8;

export class BatchForm {
  #service;
  #stored;
  #worker = new MoleculeWorker();
  #text = control("textarea", {
    id: "molecules", rows: 8, spellcheck: false, autocapitalize: "off", placeholder: "One SMILES a line, a table with the column smiles, or SDF",
    "aria-describedby": "molecules_read molecules_faults",
  });
  #file = control("input", { type: "file", id: "molecules_file", accept: ".smi,.smiles,.txt,.csv,.tsv,.sdf,.sd,.mol" });
  #read = make("p", { id: "molecules_read", className: "quiet", role: "status" });
  #faults = make("div", { id: "molecules_faults", className: "faults", hidden: true });
  #name = control("input", { type: "text", id: "batch_name", maxLength: 255, autocomplete: "off" });
  #notice = new Notice();
  #run = control("button", { type: "submit", id: "plan_all" }, "Plan");
  #typed = /** @type {Typed} */ (preset("fast"));
  /** @type {Map<string, {input: any, fault: HTMLElement}>} */
  #fields = new Map();
  #fileName = "";
  #timer = 0;
  #looks = 0;
  /** @type {Reading} */
  #reading = { kind: "SMILES", molecules: [], faults: [] };
  #isSending = false;

  /**
   * @param {import("../service/service.js").Service} service
   * @param {(batch: import("./plan_batch.js").PlanBatch) => void} stored
   */
  constructor(service, stored) {
    this.#service = service;
    this.#stored = stored;
    const presets = make("div", { className: "kinds" });
    for (const [name, { label, words }] of PRESETS) {
      const input = make("input", { type: "radio", name: "kind", value: name, checked: name === "fast" });
      input.addEventListener("change", () => this.#put(preset(name, this.#typed)));
      presets.append(make("label", { className: "preset" }, input, make("span", { className: "two" }, make("span", { className: "first" }, label), make("span", { className: "second" }, words))));
    }
    this.element = make("form", { className: "new_batch", autocomplete: "off", noValidate: true, hidden: true },
      make("section", { className: "panel", "aria-labelledby": "molecules_title" }, make("h2", { id: "molecules_title" }, "Molecules"),
        make("div", { className: "field" }, make("label", { htmlFor: "molecules" }, "SMILES, table or SDF"), make("code", {}, "smiles"), this.#text),
        make("div", { className: "row chosen" }, make("label", { htmlFor: "molecules_file" }, "or a file:"), this.#file), this.#read, this.#faults),
      make("section", { className: "panel", "aria-labelledby": "how_title" }, make("h2", { id: "how_title" }, "Search settings"),
        make("fieldset", { className: "presets" }, make("legend", { className: "unseen" }, "Kind of search"), presets), make("div", { className: "settings" }, ...ASKED.map((one) => this.#field(one))),
        make("div", { className: "field" }, make("label", { htmlFor: "batch_name" }, "Name of the batch"), make("code", {}, "name"), make("span", { className: "control" }, this.#name)),
        make("div", { className: "acts" }, this.#run, make("a", { className: "button plain", href: "#/batches" }, "Back")), this.#notice.element));
    this.#text.addEventListener("input", () => {
      this.#fileName = "";
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#look(), PAUSE);
    });
    this.#file.addEventListener("change", () => this.#open());
    this.element.addEventListener("submit", (/** @type {Event} */ event) => {
      event.preventDefault();
      this.#send();
    });
    this.#put(this.#typed);
  }

  /** Takes the molecules of the cart. */
  show() {
    const { smiles, from } = cart.state;
    if (smiles.length) {
      this.#text.value = smiles.join("\n");
      this.#fileName = "";
      this.#name.value = `${several(smiles.length, "molecule")} of ${from}`;
      cart.set({ smiles: [], from: "" });
    }
    this.#look();
    this.#text.focus();
  }

  /** @param {string} name */
  #field(name) {
    const setting = /** @type {import("../plan/settings.js").Setting} */ (SETTINGS.find((one) => one.name === name));
    const input = setting.kind === "choice" ? control("select", {}, ...setting.choices.map(([value, text]) => make("option", { value }, text)))
      : control("input", { type: "text", autocomplete: "off", inputMode: "decimal", placeholder: setting.hint ?? "" });
    const fault = make("p", { id: `batch_${name}_fault`, className: "fault", hidden: true });
    input.id = `batch_${name}`;
    input.setAttribute("aria-describedby", fault.id);
    input.addEventListener("input", () => (this.#typed = { ...this.#typed, [name]: input.value }));
    this.#fields.set(name, { input, fault });
    return make("div", { className: "field" }, make("label", { htmlFor: input.id }, setting.label), make("code", {}, name),
      make("span", { className: "control" }, input, make("span", { className: "unit" }, setting.unit ?? "")), fault);
  }

  /** @param {Typed} typed */
  #put(typed) {
    this.#typed = typed;
    for (const [name, { input }] of this.#fields) input.value = String(typed[name] ?? "");
  }

  async #open() {
    const [file] = this.#file.files ?? [];
    if (!file) return;
    if (file.size > MOST_OF_FILE) return this.#notice.tell(`The file has ${count(file.size >> 20)} MiB, and the limit is ${count(MOST_OF_FILE >> 20)} MiB: split it.`);
    this.#text.value = decodeText(new Uint8Array(await file.arrayBuffer()));
    this.#fileName = file.name;
    if (!this.#name.value) this.#name.value = cut(file.name.replace(/\.[^.]*$/, ""));
    this.#look();
  }

  /** Reads what is there, in the worker. */
  async #look() {
    const look = ++this.#looks;
    this.#run.disabled = true;
    say(this.#read, this.#text.value.trim() ? "Reading …" : "");
    const reading = await this.#worker.read(this.#text.value, this.#fileName);
    if (look !== this.#looks) return;
    this.#reading = reading;
    this.#tell(reading.faults.map(({ line, why }) => [line, why]), "cannot be read");
  }

  /**
   * @param {[number, string][]} faults lines of the text, each with what is wrong there
   * @param {string} what is wrong with all of them
   */
  #tell(faults, what) {
    const { molecules, kind } = this.#reading;
    const many = molecules.length;
    const named = molecules.filter(({ name }) => name).length;
    const names = named === 0 ? "" : named === many ? `, ${many === 1 ? "" : "each "}with its name` : `, ${count(named)} with a name`;
    say(this.#read, many ? `${several(many, "molecule")} read (${kind})${names}` : "");
    say(this.#run, many ? `Plan ${several(many, "molecule")}` : "Plan");
    this.#run.disabled = many === 0 || this.#isSending;
    this.#faults.hidden = faults.length === 0;
    const lines = new Set(faults.map(([line]) => line));
    const drop = make("button", { type: "button", className: "plain" }, `Remove ${faults.length === 1 ? "it" : "them"}`);
    drop.addEventListener("click", () => this.#leaveOut(lines));
    const told = faults.slice(0, TOLD).map(([line, why]) => `Line ${count(line)}: ${why}`);
    if (faults.length > TOLD) told.push(`and ${count(faults.length - TOLD)} more`);
    this.#faults.replaceChildren(make("p", {}, `${several(lines.size, "line")} ${what}:`), make("ul", { className: "reasons" }, ...told.map((one) => make("li", {}, one))), drop);
    markInvalid(this.#text, faults.length > 0);
    this.#notice.tell(many > MOST ? `A batch takes ${count(MOST)} molecules at most; these are ${count(many)}.` : "");
  }

  /**
   * Removes lines. The rest becomes one SMILES a line, since a table or SDF would have to be written anew.
   * @param {Set<number>} lines
   */
  #leaveOut(lines) {
    const left = this.#reading.molecules.filter(({ line }) => !lines.has(line));
    this.#text.value = left.map(({ smiles, name }) => (name ? `${smiles} ${name}` : smiles)).join("\n");
    this.#fileName = "";
    this.#file.value = "";
    this.#look();
    this.#text.focus();
  }

  async #send() {
    if (this.#isSending || !this.#reading.molecules.length) return;
    const { body: { search_smiles: _, ...parameters }, faults } = request("", this.#typed);
    this.#fault(faults);
    if (Object.keys(faults).length) return;
    const { molecules } = this.#reading;
    const names = molecules.map(({ name }) => cut(name) || null);
    const body = { smiles: molecules.map(({ smiles }) => smiles), ...(names.some(Boolean) && { names }), parameters, name: this.#name.value.trim() || null };
    if (new Blob([JSON.stringify(body)]).size > MOST_BYTES) return this.#notice.tell("The batch is larger than 5 MiB: split it into two.");
    this.#isSending = this.#run.disabled = true;
    say(this.#run, "Storing …");
    try {
      this.#stored(await this.#service.send(PLAN_BATCHES, body, AbortSignal.timeout(TIMEOUT)));
      this.#text.value = this.#name.value = this.#file.value = "";
      this.#isSending = false;
      this.#look();
    } catch (fault) {
      this.#isSending = false;
      this.#refused(fault);
    }
  }

  /**
   * Shows refusals of the service at their places.
   * @param {unknown} fault
   */
  #refused(fault) {
    const faults = fault instanceof Refused && fault.status === 422 ? fault.faults : [];
    const lines = /** @type {[number, string][]} */ (faults.filter(({ loc }) => loc[1] === "smiles" && typeof loc[2] === "number")
      .map(({ loc, msg }) => [this.#reading.molecules[Number(loc[2])]?.line ?? 0, msg]));
    this.#tell(lines, "refused by the service");
    this.#fault(Object.fromEntries(faults.filter(({ loc }) => loc[1] === "parameters").map(({ loc, msg }) => [String(loc[2]), `${msg}.`])));
    if (!lines.length) this.#notice.tell(why(fault));
  }

  /** @param {Record<string, string>} faults by field */
  #fault(faults) {
    for (const [name, { input, fault }] of this.#fields) {
      tellFault(fault, [input], faults[name] ?? "");
    }
    [...this.#fields].find(([name]) => faults[name])?.[1].input.focus();
  }
}

/**
 * As much of a name as the service keeps, without half a letter at its end.
 * @param {string} name
 */
function cut(name) {
  return [...name].slice(0, LONGEST_NAME).join("");
}
