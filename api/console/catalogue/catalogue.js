// @ts-check
// The part "Catalogue": building blocks by structure, similarity, substructure or catalogue number. The query is in the address
// (`#/catalogue/similar/CCO/DE`), so a search can be sent to somebody.

import { Thumbnails } from "../drawing/thumbnails.js";
import { smilesOf, Unreadable } from "../molecules/molecule.js";
import { COUNTRIES } from "../plan/settings.js";
import { Refused } from "../service/login.js";
import { why } from "../service/service.js";
import { control, make, say, tellFault } from "../shared/elements.js";
import { Notice } from "../shared/notice.js";
import { percent, several } from "../shared/numbers.js";
import { blockCard } from "./block_card.js";

/** @typedef {import("./block_card.js").Block} Block */
/** @typedef {{items: Block[], more: boolean, searched: number}} Found */
/** @typedef {{how: string, text: string, shipsTo: string, limit: number}} Sought */
/** @typedef {{label: string, field: string, hint: string, isDrawn: boolean, order: string}} Way */

/** Ways to search the catalogue, by their word in the address. @type {Map<string, Way>} */
const WAYS = new Map(Object.entries({
  similar: { label: "Similar molecules", field: "similar_to", hint: "SMILES or molfile", isDrawn: true, order: ", the most similar first" },
  substructure: { label: "Substructure", field: "substructure", hint: "SMILES or SMARTS", isDrawn: true, order: ", the lightest first" },
  structure: { label: "Exact structure", field: "smiles", hint: "SMILES or molfile", isDrawn: true, order: "" },
  number: { label: "Catalogue number", field: "text", hint: "First characters", isDrawn: false, order: "" },
}));
const ANYWHERE = "anywhere";
const HOME = "US";
const FIRST = 24;
const MOST = 100;
/** Longer than the service takes, milliseconds. */
const TIMEOUT = 60000;

class CataloguePart {
  #service;
  #thumbnails = new Thumbnails();
  #how = control("select", { id: "how" }, ...[...WAYS].map(([name, { label }]) => make("option", { value: name }, label)));
  #text = control("input", { type: "search", id: "sought", spellcheck: false, autocapitalize: "off", "aria-describedby": "sought_fault" });
  #fault = make("p", { id: "sought_fault", className: "fault", hidden: true });
  #shipsTo = control("select", { id: "sold_to" }, ...COUNTRIES.map(([code, name]) => make("option", { value: code || ANYWHERE }, name)));
  #draw = make("button", { type: "button", className: "plain" }, "Draw");
  #notice = new Notice();
  #told = make("p", { className: "quiet", role: "status", tabIndex: -1 });
  #blocks = make("ul", { className: "blocks", "aria-label": "Building blocks" });
  #further = control("button", { type: "button", className: "plain", hidden: true }, "Show more");
  #found = make("section", { className: "panel", "aria-label": "Results", hidden: true }, this.#told, this.#blocks, this.#further);
  /** @type {Sought | null} */
  #sought = null;
  #stop = new AbortController();

  /**
   * @param {HTMLElement} place
   * @param {import("../service/service.js").Service} service
   */
  constructor(place, service) {
    this.#service = service;
    const field = (/** @type {string} */ label, /** @type {any} */ input, /** @type {Node[]} */ ...below) =>
      make("div", { className: "field" }, make("label", { htmlFor: input.id }, label), make("span", { className: "control" }, input), ...below);
    const form = make("form", { className: "asked of_catalogue", autocomplete: "off", noValidate: true }, field("Find", this.#how),
      field("By", this.#text, this.#fault), field("Delivered to", this.#shipsTo), make("div", { className: "acts" }, make("button", { type: "submit", id: "search_catalogue" }, "Search"), this.#draw));
    this.#shipsTo.value = HOME;
    this.#how.addEventListener("change", () => this.#choose());
    this.#draw.addEventListener("click", () => this.#drawIt());
    this.#further.addEventListener("click", () => this.#sought && this.#look({ ...this.#sought, limit: MOST }));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#ask();
    });
    place.append(form, this.#notice.element, this.#found);
    this.#choose();
  }

  #choose() {
    const { hint, isDrawn } = way(this.#how.value);
    this.#text.placeholder = hint;
    this.#draw.hidden = !isDrawn;
  }

  async #drawIt() {
    const { drawSubstructure } = await import("../molecules/substructure_editor.js");
    this.#text.value = await drawSubstructure(this.#text.value, way(this.#how.value).label);
    this.#text.focus();
  }

  /** Leads to what was typed; the same once more is looked for once more. */
  #ask() {
    try {
      const text = this.#how.value === "number" ? this.#text.value.trim() : smilesOf(this.#text.value);
      if (!text) return this.#refuse("Enter what to search for.");
      const sought = { how: this.#how.value, text, shipsTo: this.#shipsTo.value, limit: FIRST };
      const address = addressOf(sought);
      if (location.hash === address) this.#look(sought);
      else location.hash = address;
    } catch (fault) {
      if (!(fault instanceof Unreadable)) throw fault;
      this.#refuse(fault.message);
    }
  }

  /** @param {string} text */
  #refuse(text) {
    tellFault(this.#fault, [this.#text], text);
    if (text) this.#text.focus();
  }

  /** @param {string[]} path */
  show([how, text, shipsTo = HOME]) {
    if (!WAYS.has(how) || !text) return;
    const sought = { how, text, shipsTo: COUNTRIES.some(([code]) => code === shipsTo) ? shipsTo : ANYWHERE, limit: FIRST };
    if (this.#sought && addressOf(this.#sought) === addressOf(sought)) return;
    this.#how.value = how;
    this.#text.value = text;
    this.#shipsTo.value = sought.shipsTo;
    this.#choose();
    this.#look(sought);
  }

  /** @param {Sought} sought */
  async #look(sought) {
    this.#stop.abort();
    this.#stop = new AbortController();
    const { signal } = this.#stop;
    const timeout = AbortSignal.timeout(TIMEOUT);
    this.#sought = sought;
    this.#refuse("");
    this.#notice.tell("");
    this.#found.hidden = false;
    this.#further.hidden = true;
    say(this.#told, "Searching …");
    const body = { [way(sought.how).field]: sought.text, limit: sought.limit, ships_to: sought.shipsTo === ANYWHERE ? null : sought.shipsTo };
    try {
      this.#tell(await this.#service.send("/synth/v1/building-blocks/search", body, AbortSignal.any([signal, timeout])), sought);
    } catch (fault) {
      // Something else is looked for by now.
      if (signal.aborted) return;
      this.#found.hidden = true;
      this.#sought = null;
      const typed = fault instanceof Refused ? fault.faults.find(({ loc }) => loc[1] === way(sought.how).field) : undefined;
      if (typed) this.#refuse(`${typed.msg.replace(/\.$/, "")}.`);
      else this.#notice.tell(timeout.aborted ? "The service did not answer in time." : why(fault));
    }
  }

  /**
   * @param {Found} found
   * @param {Sought} sought
   */
  #tell({ items, more, searched }, sought) {
    for (const picture of this.#blocks.querySelectorAll(".depicted")) this.#thumbnails.forget(picture);
    const shipsTo = sought.shipsTo === ANYWHERE ? null : sought.shipsTo;
    this.#blocks.replaceChildren(...items.map((block) => blockCard(block, { shipsTo, thumbnails: this.#thumbnails, similar: addressOf({ ...sought, how: "similar", text: block.smiles }) })));
    const { order } = way(sought.how);
    const isCut = more && items.length >= sought.limit;
    const parts = [items.length ? `${isCut ? "The first " : ""}${several(items.length, "block")}${items.length > 1 ? order : ""}` : "Nothing found"];
    if (more && !isCut) parts.push(`the time was up after ${percent(searched)} of the catalogue`);
    say(this.#told, `${parts.join("; ")}.`);
    this.#further.hidden = !isCut || sought.limit >= MOST;
  }
}

/** @param {string} how */
const way = (how) => /** @type {Way} */ (WAYS.get(how));

/**
 * The address of a query.
 * @param {Sought} sought
 */
function addressOf({ how, text, shipsTo }) {
  const parts = [how, text, ...(shipsTo === HOME ? [] : [shipsTo])];
  return `#/catalogue/${parts.map(encodeURIComponent).join("/")}`;
}

/** @type {import("../app/parts.js").Begin} */
export function begin(place, service) {
  const part = new CataloguePart(place, service);
  return { show: (path) => part.show(path) };
}
