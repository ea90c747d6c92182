// @ts-check
// Filters and order of a sample's molecules: by properties, each with its histogram, and by a substructure.

import { learned, shipped } from "../models/model_card.js";
import { PROPERTIES } from "../molecules/properties.js";
import { control, make, say, tellFault } from "../shared/elements.js";
import { count } from "../shared/numbers.js";
import { bound, Histogram } from "./histogram.js";

/** @typedef {import("./histogram.js").Range} Range */
/** @typedef {{part: string, ranges: Record<string, Range>, by: string}} Typed `by`: the property that sorts them; empty: as they were drawn */

const PAUSE = 250;
/** Screens on which histograms would hide the molecules. */
const NARROW = "(max-width: 40rem)";
const ANY = { from: "", to: "" };

export class MoleculeFilter {
  #typed = /** @type {Typed} */ ({ part: "", ranges: {}, by: "" });
  #change;
  #part = control("input", { type: "search", id: "part", spellcheck: false, placeholder: "c1ccncc1, [NX3;H2]", "aria-describedby": "part_fault" });
  #fault = make("p", { id: "part_fault", className: "fault", hidden: true });
  #by = control("select", { id: "by" }, make("option", { value: "" }, "As drawn"), ...PROPERTIES.map(({ name, label }) => make("option", { value: name }, label)));
  #card = make("p", { className: "quiet" });
  /** @type {import("../models/model_card.js").Metrics} */
  #figures = {};
  /** @type {import("../models/model_card.js").Metrics} */
  #learned = {};
  #histograms = PROPERTIES.map((property) => new Histogram(property, (range) => this.#set({ ranges: { ...this.#typed.ranges, [property.name]: range } })));
  #timer = 0;
  #isDrawn = false;
  /** @type {{values: Float32Array, order: number[]} | null} */
  #next = null;

  /**
   * @param {(typed: Typed) => void} change
   * @param {(ranges: Record<string, Range>) => void} drawWithin has the next sample drawn within the ranges
   */
  constructor(change, drawWithin) {
    this.#change = change;
    this.#part.addEventListener("input", () => {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#set({ part: this.#part.value }), PAUSE);
    });
    this.#by.addEventListener("change", () => this.#set({ by: this.#by.value }));
    const draw = make("button", { type: "button", className: "plain" }, "Draw");
    draw.addEventListener("click", async () => {
      const { drawSubstructure } = await import("../molecules/substructure_editor.js");
      this.#part.value = await drawSubstructure(this.#part.value);
      this.#set({ part: this.#part.value });
    });
    const clear = make("button", { type: "button", className: "plain" }, "Clear");
    clear.addEventListener("click", () => {
      this.#part.value = "";
      this.#set({ part: "", ranges: {} });
    });
    const within = make("button", { type: "button", className: "plain", id: "draw_within" }, "Draw within these ranges");
    within.addEventListener("click", () => drawWithin(this.#typed.ranges));
    const measures = make("details", { className: "measures", open: !matchMedia(NARROW).matches }, make("summary", {}, "Properties"),
      make("div", { className: "histograms" }, ...this.#histograms.map(({ element }) => element)), make("div", { className: "row" }, within), this.#card);
    this.element = make("div", { className: "sieve_of" },
      make("div", { className: "field" }, make("label", { htmlFor: "part" }, "With the substructure (SMILES or SMARTS)"), make("span", { className: "control" }, this.#part), this.#fault),
      make("div", { className: "field" }, make("label", { htmlFor: "by" }, "Sort by"), make("span", { className: "control" }, this.#by)), make("div", { className: "row" }, draw, clear), measures);
  }

  /** @param {Partial<Typed>} changes */
  #set(changes) {
    this.#typed = { ...this.#typed, ...changes };
    this.#put();
    this.#change(this.#typed);
  }

  #put() {
    PROPERTIES.forEach(({ name }, place) => this.#histograms[place].put(this.#typed.ranges[name] ?? ANY));
  }

  /**
   * Begins anew, with molecules of `model`.
   * @param {import("../models/model_card.js").Model | undefined} model
   */
  of(model) {
    [this.#figures, this.#learned] = [shipped(model), learned(model)];
    this.#part.value = "";
    this.#by.value = "";
    this.#typed = { part: "", ranges: {}, by: "" };
    this.#put();
    say(this.#card, comparison(this.#figures, this.#learned));
  }

  /** @param {string} text */
  fault(text) {
    tellFault(this.#fault, [this.#part], text);
  }

  /**
   * Draws the histograms, now and then however often there is something new.
   * @param {{values: Float32Array, order: number[]}} state
   */
  show(state) {
    this.#next = state;
    if (this.#isDrawn) return;
    this.#isDrawn = true;
    setTimeout(() => {
      this.#isDrawn = false;
      if (this.#next) this.#draw(this.#next);
    }, PAUSE);
  }

  /** @param {{values: Float32Array, order: number[]}} state */
  #draw({ values, order }) {
    PROPERTIES.forEach(({ name, figure }, place) => {
      const of = (/** @type {Iterable<number>} */ indexes) => Float32Array.from(indexes, (index) => values[index * PROPERTIES.length + place]).filter((value) => !Number.isNaN(value));
      const [all, some] = [of(Array(values.length / PROPERTIES.length).keys()), of(order)];
      this.#histograms[place].show(all, some, { card: this.#figures.properties?.[figure ?? ""], learned: this.#learned.properties?.[name] });
    });
  }
}

/**
 * Explains the lines beside the histograms.
 * @param {import("../models/model_card.js").Metrics} figures
 * @param {import("../models/model_card.js").Metrics} learned
 */
function comparison(figures, learned) {
  const lines = "nine in ten of its molecules, the middle half, the median";
  if (learned.properties) {
    return `Measured by OpenChemLib. The line over the bars is the model's training set of ${count(learned.n_molecules ?? 0)} molecules, measured in the same way. The line below shows ${lines}.`;
  }
  if (Object.keys(figures.properties ?? {}).length) return `Measured by OpenChemLib. The line below the bars is from the model's card, measured by RDKit, which counts acceptors differently. It shows ${lines}.`;
  return "Measured by OpenChemLib. The model's card has no properties to compare with.";
}

/**
 * The molecules that pass, in their order. One that has not been measured yet passes no bound.
 * @param {{values: Float32Array, filter: Typed, has: Uint8Array | null}} state
 */
export function filtered({ values, filter, has }) {
  const width = PROPERTIES.length;
  const bounds = PROPERTIES.flatMap(({ name }, place) => {
    const range = filter.ranges[name] ?? ANY;
    const [from, to] = [bound(range.from), bound(range.to)].map((one) => (typeof one === "number" ? one : null));
    return from === null && to === null ? [] : [{ place, from: from ?? -Infinity, to: to ?? Infinity }];
  });
  const passes = (/** @type {number} */ index) => (!has || has[index] === 1) && bounds.every(({ place, from, to }) => values[index * width + place] >= from && values[index * width + place] <= to);
  const order = Array.from({ length: values.length / width }, (_, index) => index).filter(passes);
  const by = PROPERTIES.findIndex(({ name }) => name === filter.by);
  if (by < 0) return order;
  const value = (/** @type {number} */ index) => (Number.isNaN(values[index * width + by]) ? Infinity : values[index * width + by]);
  return order.sort((one, other) => (value(one) - value(other) || 0) || one - other);
}
