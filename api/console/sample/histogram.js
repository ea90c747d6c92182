// @ts-check
// Histogram of one property, in which a range is chosen: by the fields below it, or by drawing over the bars.

import { element } from "../drawing/picture.js";
import { describeSpread, spread } from "../models/model_card.js";
import { control, make, markInvalid, say } from "../shared/elements.js";
import { parseNumber } from "../shared/numbers.js";
import { boundsOf, counted, median, outline } from "./histogram_bars.js";

/** @typedef {import("../models/model_card.js").Distribution} Distribution */
/** @typedef {import("../molecules/properties.js").Property} Property */
/** @typedef {{from: string, to: string}} Range as it is typed; empty: no bound */

const SIZE = { width: 240, bars: 64, height: 84 };

export class Histogram {
  #svg = element("svg", { class: "histogram", role: "img", viewBox: `0 0 ${SIZE.width} ${SIZE.height}`, preserveAspectRatio: "none" });
  #words = make("p", { className: "quiet" });
  #property;
  /** @type {HTMLInputElement} */
  #from;
  /** @type {HTMLInputElement} */
  #to;
  #bounds = { low: 0, high: 1, bars: 1 };

  /**
   * @param {Property} property
   * @param {(range: Range) => void} change
   */
  constructor(property, change) {
    this.#property = property;
    this.#svg.setAttribute("aria-label", `${property.label}: not measured yet`);
    const field = (/** @type {string} */ which) => control("input", {
      type: "text", inputMode: "decimal", autocomplete: "off", placeholder: which, "aria-label": `${property.label}: ${which}`, id: `${property.name}_${which}`,
    });
    [this.#from, this.#to] = [field("from"), field("to")];
    const changed = () => change({ from: this.#from.value, to: this.#to.value });
    for (const input of [this.#from, this.#to]) input.addEventListener("input", changed);
    this.#brush(changed);
    this.element = make("section", { className: "measure", "aria-label": property.label },
      make("h3", {}, property.label, make("span", { className: "unit_of" }, property.unit)), this.#svg, make("div", { className: "range" }, this.#from, "–", this.#to), this.#words);
  }

  /**
   * @param {Float32Array} all of the sample
   * @param {Float32Array} some that are shown
   * @param {{card?: Distribution, learned?: Distribution}} known what the model's card says of its molecules, and of what it learned from
   */
  show(all, some, { card, learned }) {
    const [source, known] = learned ? ["training set", learned] : ["card", card];
    this.#bounds = boundsOf(all, known, this.#property.digits === 0 && this.#property.figure !== "molecular_weight" && this.#property.figure !== "polar_surface");
    const { low, high, bars } = this.#bounds;
    const at = (/** @type {number} */ value) => SIZE.width * Math.min(1, Math.max(0, (value - low) / (high - low)));
    const [counts, shown] = [all, some].map((values) => counted(values, this.#bounds));
    // The training set has its own bars: they are drawn as high as a sample's of this size would be if it were like it.
    const expected = learned?.histogram ? outline(learned.histogram, (all.length * (high - low)) / bars).filter(({ from, to }) => to > low && from < high) : [];
    const most = Math.max(1, ...counts, ...expected.map(({ many }) => many));
    const height = (/** @type {number} */ many) => SIZE.bars * many / most;
    const bar = (/** @type {string} */ name, /** @type {number} */ many, /** @type {number} */ index) => element("rect", {
      class: name, x: (index * SIZE.width) / bars + .5, width: SIZE.width / bars - 1, y: SIZE.bars - height(many), height: height(many),
    });
    this.#svg.replaceChildren(...counts.map((many, index) => bar("all", many, index)), ...shown.map((many, index) => bar("some", many, index)));
    const step = (/** @type {{from: number, to: number, many: number}} */ { from, to, many }) => [from, to].map((end) => `${at(end)},${SIZE.bars - height(many)}`);
    this.#svg.append(element("polyline", { class: "learned", points: expected.flatMap(step).join(" ") }));
    if (known) this.#svg.append(spread(known, at, SIZE.bars + 7));
    const said = some.length ? `median ${median(some).toFixed(this.#property.digits)}` : "none";
    const beside = known ? `${source}: ${known.p50.toFixed(this.#property.digits)}` : "not in the card";
    this.#svg.setAttribute("aria-label", `${this.#property.label} of ${some.length} molecules: ${said}; ${beside}`);
    say(this.#words, `${said} · ${beside}`);
    this.#words.title = known ? `The ${source}: ${describeSpread(known)}` : "";
  }

  /** @param {Range} range */
  put({ from, to }) {
    for (const [input, text] of /** @type {[HTMLInputElement, string][]} */ ([[this.#from, from], [this.#to, to]])) {
      if (input.value !== text) input.value = text;
      markInvalid(input, typeof bound(text) === "string");
    }
  }

  /**
   * A range is drawn over the bars.
   * @param {() => void} changed
   */
  #brush(changed) {
    /** @type {number | null} */
    let begun = null;
    const at = (/** @type {any} */ event) => {
      const { left, width } = this.#svg.getBoundingClientRect();
      const { low, high } = this.#bounds;
      return low + (high - low) * Math.min(1, Math.max(0, (event.clientX - left) / width));
    };
    this.#svg.addEventListener("pointerdown", (/** @type {any} */ event) => {
      begun = at(event);
      this.#svg.setPointerCapture(event.pointerId);
    });
    this.#svg.addEventListener("pointermove", (/** @type {any} */ event) => {
      if (begun === null) return;
      const now = at(event);
      [this.#from.value, this.#to.value] = [Math.min(begun, now), Math.max(begun, now)].map((value) => value.toFixed(this.#property.digits));
      changed();
    });
    for (const end of ["pointerup", "pointercancel"]) this.#svg.addEventListener(end, () => (begun = null));
  }
}

/**
 * The number that a bound is; null where there is none, or why it is no number.
 * @param {string} text
 */
export function bound(text) {
  return text.trim() === "" ? null : parseNumber(text);
}
