// @ts-check
// Two routes beside each other: shared parts are faint, others are marked, and a table compares the figures.

import { reactionOf, stepsOf, treeOf } from "../answer/answer.js";
import { PanZoom } from "../drawing/pan_zoom.js";
import { drawScheme } from "../drawing/scheme_drawing.js";
import { find, make, say } from "../shared/elements.js";
import { days, dollars, percent, several } from "../shared/numbers.js";

/** @typedef {import("../answer/answer.js").Route} Route */
/** @typedef {import("../answer/answer.js").Tree} Tree */

/** Figures that are compared; less is better unless `more` is. */
const ROWS = /** @type {{name: string, value: (route: Route) => number | null, words: (value: number) => string, better?: "more"}[]} */ ([
  { name: "Steps", value: (route) => route.steps, words: String },
  { name: "Longest branch", value: (route) => route.depth, words: String },
  { name: "Plausible", value: (route) => route.plausibility, words: percent, better: "more" },
  { name: "To order", value: (route) => route.price, words: dollars },
  { name: "Blocks for a mole", value: (route) => route.perMole, words: dollars },
  { name: "Blocks delivered in", value: (route) => route.lead, words: days },
  { name: "Different blocks", value: (route) => route.blocks.length, words: String },
]);

export class Comparison {
  #views = ["left", "right"].map((side) => new PanZoom(find(`${side}_scheme`), `The ${side} route, drawn`));

  /** @param {number} factor */
  zoom(factor) {
    for (const view of this.#views) view.zoom(factor);
  }

  fit() {
    for (const view of this.#views) view.fit();
  }

  /**
   * @param {Route} left
   * @param {Route} right
   * @param {(tree: Tree) => string[]} caption
   * @param {(route: Route, chosen: import("../drawing/scheme_drawing.js").Chosen) => void} choose
   */
  show(left, right, caption, choose) {
    const shared = sharedBy(left, right);
    [left, right].forEach((route, place) => {
      const mark = (/** @type {"molecule" | "step"} */ kind, /** @type {Tree} */ tree) => (isShared(kind, tree, shared) ? "shared" : "own");
      const drawn = drawScheme(treeOf(route.graph), { caption, mark, folded: new Set(), fold: null, choose: (chosen) => choose(route, chosen) });
      this.#views[place].show(drawn, "fit");
      say(find(place ? "right_title" : "left_title"), nameOf(route));
    });
    say(find("comparison_title"), `${nameOf(left)} beside ${nameOf(right).toLowerCase()}: ${several(shared.reactions.size, "step")} shared`);
    find("differences").replaceChildren(table(left, right), ...alone(left, right, shared), ...alone(right, left, shared));
  }
}

/** @param {Route} route */
export function nameOf(route) {
  return route.name ?? `Route ${route.rank}`;
}

/**
 * Steps and molecules that two routes share.
 * @param {Route} one
 * @param {Route} other
 */
function sharedBy(one, other) {
  const smiles = (/** @type {Route} */ route) => new Set(route.graph.nodes.map((node) => node.data.smiles));
  return { reactions: new Set(one.reactions).intersection(new Set(other.reactions)), molecules: smiles(one).intersection(smiles(other)) };
}

/**
 * @param {"molecule" | "step"} kind
 * @param {Tree} tree
 * @param {ReturnType<typeof sharedBy>} shared
 */
function isShared(kind, tree, { reactions, molecules }) {
  return kind === "molecule" ? molecules.has(tree.data.smiles) : reactions.has(reactionOf(tree) ?? "");
}

/**
 * @param {Route} left
 * @param {Route} right
 */
function table(left, right) {
  const rows = ROWS.map(({ name, value, words, better }) => {
    const [one, other] = [value(left), value(right)];
    const order = one === null || other === null || one === other ? 0 : (one < other) === (better !== "more") ? -1 : 1;
    const cell = (/** @type {number | null} */ figure, /** @type {boolean} */ isBetter) =>
      make("td", { className: isBetter ? "better" : "" }, figure === null ? "not known" : words(figure), isBetter ? make("span", { className: "sign" }, " better") : "");
    return make("tr", {}, make("th", { scope: "row" }, name), cell(one, order < 0), cell(other, order > 0));
  });
  const head = ["", nameOf(left), nameOf(right)].map((name) => make(name ? "th" : "td", name ? { scope: "col" } : {}, name));
  return make("div", { className: "wide", tabIndex: 0, role: "region", "aria-label": "Differences" },
    make("table", { className: "small" }, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...rows)));
}

/**
 * The steps and blocks that only one has.
 * @param {Route} route
 * @param {Route} other
 * @param {ReturnType<typeof sharedBy>} shared
 */
function alone(route, other, { reactions, molecules }) {
  const steps = stepsOf(treeOf(route.graph)).filter((tree) => !reactions.has(reactionOf(tree) ?? ""));
  const blocks = route.blocks.filter((data) => !molecules.has(data.smiles));
  if (!steps.length && !blocks.length) return [];
  return [
    make("h4", {}, `In ${nameOf(route).toLowerCase()}, not in ${nameOf(other).toLowerCase()}`),
    make("ul", { className: "reasons" },
      ...steps.map((tree) => make("li", {}, `${tree.step?.number}. ${tree.step?.edge.reaction_class ?? "reaction"}`)),
      ...blocks.map((data) => make("li", {}, "the block ", make("code", {}, data.smiles)))),
  ];
}
