// @ts-check
// Form for a sample: a model, the number of molecules and conditions on them. More molecules than a sample has are drawn as a batch. It lists earlier
// samples.

import { control, make, say, tellFault } from "../shared/elements.js";
import { count, parseNumber, several } from "../shared/numbers.js";
import { ConditionsForm } from "./conditions_form.js";
import { conditionRanges, faultsByField } from "./sample_conditions.js";

/** @typedef {import("../models/model_card.js").Model} Model */

const SIZES = [100, 1000, 10000, 100000];
/** The most molecules of a sample; more are a batch. */
export const MOST_OF_SAMPLE = 10000;
const MOST = 100000;

export class SampleForm {
  #model = control("select", { id: "model_id" });
  #about = make("p", { className: "quiet" });
  #size = control("input", { type: "text", id: "size", inputMode: "numeric", autocomplete: "off", value: "1000", "aria-describedby": "size_fault size_note" });
  #fault = make("p", { id: "size_fault", className: "fault", hidden: true });
  #note = make("p", { id: "size_note", className: "note", role: "status" });
  #run = control("button", { type: "submit", id: "draw" });
  #stop = control("button", { type: "button", className: "grave", hidden: true }, "Stop");
  #going = make("p", { className: "quiet", role: "status" });
  #before = make("ul", { className: "before" });
  #conditions = new ConditionsForm();
  /** @type {Model[]} */
  #models = [];

  /**
   * @param {(asked: {model_id: string | null, size: number}) => void} ask gets the conditions too, as fields of the request
   * @param {() => void} stop
   */
  constructor(ask, stop) {
    const sizes = SIZES.map((size) => {
      const button = make("button", { type: "button", className: "plain", "aria-label": several(size, "molecule") }, count(size));
      button.addEventListener("click", () => {
        this.#size.value = String(size);
        this.#tellSize();
      });
      return button;
    });
    this.element = make("form", { className: "asked", autocomplete: "off", noValidate: true },
      make("div", { className: "field" }, make("label", { htmlFor: "model_id" }, "Model"), make("code", {}, "model_id"), make("span", { className: "control" }, this.#model)),
      make("div", { className: "field" }, make("label", { htmlFor: "size" }, "Molecules"), make("code", {}, "size"), make("span", { className: "control" }, this.#size), this.#fault, this.#note),
      make("div", { className: "sizes", role: "group", "aria-label": "Usual numbers" }, ...sizes),
      make("div", { className: "acts" }, this.#run, this.#stop),
      make("div", { className: "aside" }, this.#about, this.#going, make("details", { id: "earlier" }, make("summary", {}, "Earlier samples"), this.#before)),
      this.#conditions.element);
    this.#model.addEventListener("change", () => this.#tell());
    this.#size.addEventListener("input", () => this.#tellSize());
    this.#tellSize();
    this.#stop.addEventListener("click", stop);
    this.element.addEventListener("submit", (/** @type {Event} */ event) => {
      event.preventDefault();
      const size = sizeOf(this.#size.value);
      tellFault(this.#fault, [this.#size], typeof size === "string" ? size : "");
      if (typeof size === "string") return this.#size.focus();
      const conditions = this.#conditions.read();
      if (conditions && !this.#run.disabled) ask({ model_id: this.#model.value || null, size, ...conditions });
    });
  }

  /**
   * Says what the service refuses at its fields, and returns true if it has all been said.
   * @param {import("../service/login.js").Refused["faults"]} refused
   */
  refuse(refused) {
    const { faults, isAll } = faultsByField(refused);
    tellFault(this.#fault, [this.#size], faults.size ?? "");
    this.#conditions.tell(faults);
    return isAll;
  }

  /**
   * Takes the ranges of the histograms as conditions of the next sample.
   * @param {Record<string, import("./histogram.js").Range>} ranges
   */
  putRanges(ranges) {
    this.#conditions.putRanges(conditionRanges(ranges));
  }

  /** @param {{models: Model[], drawing: {size: number} | null}} state */
  show({ models, drawing }) {
    if (models !== this.#models) {
      this.#models = models;
      this.#model.replaceChildren(make("option", { value: "" }, "Any that is ready"), ...models.map(({ id }) => make("option", { value: id }, id)));
      this.#model.value = models[0]?.id ?? "";
      this.#tell();
    }
    this.#run.hidden = drawing !== null;
    this.#stop.hidden = drawing === null;
    say(this.#going, drawing ? `Drawing ${several(drawing.size, "molecule")} …` : "");
  }

  /** @param {{id: string, model_id: string, num_smiles: number, created_at: string}[]} samples */
  earlier(samples) {
    const line = (/** @type {(typeof samples)[number]} */ sample) => make("li", {}, make("a", { href: `#/sample/${sample.id}` }, several(sample.num_smiles, "molecule")),
      ` of ${sample.model_id}, ${new Date(sample.created_at).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" })}`);
    this.#before.replaceChildren(...(samples.length ? samples.map(line) : [make("li", {}, "None yet.")]));
  }

  /** Says that so many molecules become a batch. */
  #tellSize() {
    const size = sizeOf(this.#size.value);
    const isBatch = typeof size === "number" && size > MOST_OF_SAMPLE;
    say(this.#run, isBatch ? "Draw as a batch" : "Draw molecules");
    say(this.#note, isBatch ? `More than ${count(MOST_OF_SAMPLE)} are drawn in the background.` : "");
  }

  #tell() {
    const model = this.#models.find(({ id }) => id === this.#model.value);
    say(this.#about, model ? `${model.description}${model.description ? ". " : ""}${count(model.molecules_ready)} ready.` : "");
  }
}

/**
 * @param {string} text
 * @returns {number | string} or why it is none
 */
function sizeOf(text) {
  // A whole number has no decimals: a comma in it tells thousands apart.
  const size = parseNumber(text.replaceAll(/[,.](?=\d{3}(\D|$))/g, ""));
  if (typeof size === "string") return size;
  return Number.isInteger(size) && size >= 1 && size <= MOST ? size : `Enter a whole number from 1 to ${count(MOST)}.`;
}
