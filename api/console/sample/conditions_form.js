// @ts-check
// The part of the form of a sample that has conditions on its molecules. It is folded until somebody wants one.

import { control, make, say, tellFault } from "../shared/elements.js";
import { ALERTS, RANGED, conditionsOf } from "./sample_conditions.js";

/** @typedef {import("./sample_conditions.js").TypedConditions} TypedConditions */
/** @typedef {import("./histogram.js").Range} Range */

export class ConditionsForm {
  #scaffold = control("input", { type: "text", id: "sample_scaffold", spellcheck: false, autocapitalize: "off", placeholder: "[*:1]c1ccc2[nH]nc([*:2])c2c1", "aria-describedby": "sample_scaffold_fault" });
  #isMakeable = control("input", { type: "checkbox", id: "sample_makeable" });
  #maxSteps = control("input", { type: "text", id: "sample_steps", inputMode: "numeric", autocomplete: "off", placeholder: "any number", "aria-describedby": "sample_steps_fault" });
  #alerts = Object.entries(ALERTS).map(([name, label]) => ({ name, label, box: control("input", { type: "checkbox", id: `alerts_${name}` }) }));
  #ranges = RANGED.map(({ name, label, unit }) => {
    const end = (/** @type {string} */ which) => control("input", {
      type: "text", inputMode: "decimal", autocomplete: "off", placeholder: which, id: `sample_${name}_${which}`, "aria-label": `${label}: ${which}`, "aria-describedby": `${name}_fault`,
    });
    return { name, label, unit, from: end("from"), to: end("to") };
  });
  #count = make("span", { className: "count" });
  /** By field. @type {Record<string, {place: HTMLElement, inputs: HTMLInputElement[]}>} */
  #faults = {};

  constructor() {
    const draw = make("button", { type: "button", className: "plain" }, "Draw");
    draw.addEventListener("click", async () => {
      const { drawScaffold } = await import("../molecules/substructure_editor.js");
      this.#scaffold.value = await drawScaffold(this.#scaffold.value);
      this.#tell();
    });
    const clear = make("button", { type: "button", className: "plain" }, "Clear conditions");
    clear.addEventListener("click", () => this.#clear());
    const check = (/** @type {any} */ box, /** @type {string} */ label) => make("label", {}, box, ` ${label}`);
    const ranges = this.#ranges.map(({ name, label, unit, from, to }) => make("div", { className: "field" },
      make("span", { className: "label" }, label, make("span", { className: "unit_of" }, unit)), make("code", {}, name), make("div", { className: "range" }, from, "–", to), this.#fault(name, [from, to])));
    this.element = control("details", { id: "sample_conditions", className: "conditions" }, make("summary", {}, "Conditions ", this.#count),
      make("div", { className: "field" }, make("label", { htmlFor: "sample_scaffold" }, "Scaffold of every molecule"), make("code", {}, "scaffold"),
        make("div", { className: "row" }, this.#scaffold, draw), this.#fault("sample_scaffold", [this.#scaffold])),
      make("fieldset", {}, make("legend", {}, "Properties, as RDKit has them"), make("div", { className: "condition_ranges" }, ...ranges)),
      make("div", { className: "row" },
        make("fieldset", { className: "row" }, make("legend", {}, "No structural alerts of"), ...this.#alerts.map(({ label, box }) => check(box, label))),
        make("fieldset", {}, make("legend", {}, "Molecules that can be made"), make("div", { className: "row" }, check(this.#isMakeable, "with a route from the catalogue"),
          make("label", { htmlFor: "sample_steps" }, "steps, at most"), this.#maxSteps), this.#fault("sample_steps", [this.#maxSteps])),
        clear));
    this.element.addEventListener("input", () => this.#tell());
  }

  /**
   * The conditions as fields of a request; null if one is wrong, which the form then says.
   * @returns {object | null}
   */
  read() {
    const { conditions, faults } = conditionsOf(this.#typed());
    this.tell(faults);
    return Object.keys(faults).length ? null : conditions;
  }

  /**
   * Says what is wrong at its fields, and unfolds them.
   * @param {Record<string, string>} faults
   */
  tell(faults) {
    for (const [name, { place, inputs }] of Object.entries(this.#faults)) tellFault(place, inputs, faults[name] ?? "");
    const wrong = this.element.querySelector("[aria-invalid=true]");
    if (!wrong) return;
    this.element.open = true;
    wrong.focus();
  }

  /**
   * Takes ranges, by the service's names, in place of those that are typed.
   * @param {Record<string, Range>} ranges
   */
  putRanges(ranges) {
    for (const { name, from, to } of this.#ranges) [from.value, to.value] = [ranges[name]?.from ?? "", ranges[name]?.to ?? ""];
    this.element.open = true;
    this.#tell();
    this.element.scrollIntoView({ block: "nearest" });
  }

  /** @returns {TypedConditions} */
  #typed() {
    return {
      scaffold: this.#scaffold.value,
      ranges: Object.fromEntries(this.#ranges.map(({ name, from, to }) => [name, { from: from.value, to: to.value }])),
      alerts: this.#alerts.filter(({ box }) => box.checked).map(({ name }) => name),
      isMakeable: this.#isMakeable.checked,
      maxSteps: this.#maxSteps.value,
    };
  }

  #clear() {
    for (const input of [this.#scaffold, this.#maxSteps, ...this.#ranges.flatMap(({ from, to }) => [from, to])]) input.value = "";
    for (const box of [this.#isMakeable, ...this.#alerts.map(({ box }) => box)]) box.checked = false;
    this.#tell();
    this.read();
  }

  /** Says in the summary how many fields of the request there are, since it may be folded. */
  #tell() {
    const { conditions, faults } = conditionsOf(this.#typed());
    const many = Object.keys(conditions).length + Object.keys(faults).length;
    say(this.#count, many ? String(many) : "");
  }

  /**
   * The place where a fault of these inputs is told.
   * @param {string} name
   * @param {HTMLInputElement[]} inputs
   */
  #fault(name, inputs) {
    const place = make("p", { id: `${name}_fault`, className: "fault", hidden: true });
    this.#faults[name] = { place, inputs };
    return place;
  }
}
