// @ts-check
// Scheme of a route as SVG: structures, arrows with reaction class and agents, prices beneath building blocks.

import { leadTime } from "../answer/answer.js";
import { days, dollars, several } from "../shared/numbers.js";
import { bondsMade } from "./bonds_made.js";
import { element, picture, shapes } from "./picture.js";
import { layOutScheme, LINE } from "./scheme_layout.js";

/** @typedef {import("../answer/answer.js").Tree} Tree */
/** @typedef {import("../answer/answer.js").Step} Step */
/** @typedef {import("./picture.js").Picture} Picture */
/** @typedef {import("./scheme_layout.js").Box} Box */
/** @typedef {import("./scheme_layout.js").Arrow} Arrow */
/** @typedef {{kind: "molecule", tree: Tree} | {kind: "step", tree: Tree}} Chosen */
/** @typedef {(kind: Chosen["kind"], tree: Tree) => string} Mark */

const PAD = 10;
const FONT = "14px system-ui, sans-serif";
const AGENTS = 4;

/** @type {CanvasRenderingContext2D | null} */
let ruler = null;

/** @param {string} text */
function widthOf(text) {
  ruler ??= document.createElement("canvas").getContext("2d");
  if (!ruler) return 7 * text.length;
  ruler.font = FONT;
  // Bold words are a little wider.
  return 1.08 * ruler.measureText(text).width;
}

/**
 * Draws a route.
 * @param {Tree} target
 * @param {{caption: (tree: Tree) => string[], folded: Set<string>, choose: (chosen: Chosen) => void, fold: ((key: string) => void) | null, model?: Picture, mark?: Mark}} acts
 * `fold` null: nothing is folded; `model`: what the target lies like; `mark`: a class of the style sheet
 * @returns {{content: SVGElement, width: number, height: number}}
 */
export function drawScheme(target, { caption, folded, choose, fold, model, mark = () => "" }) {
  const laid = layOutScheme(target, {
    words, widthOf,
    picture: (smiles, above) => picture(smiles, above ?? model),
    isFolded: (key) => folded.has(key),
    captions: (tree, isFolded) => (isFolded ? [`${several(stepsOf(tree), "step")} folded`] : caption(tree)),
  });
  const content = element("g", {});
  for (const arrow of laid.arrows) {
    const { tree } = /** @type {Box} */ (laid.boxes.find((box) => box.tree.key === arrow.key));
    content.append(drawArrow(arrow, tree, choose, mark));
    if (fold && tree.data.depth > 0) content.append(folder(tree, "Fold", [barOf(arrow), arrow.y], fold));
  }
  for (const box of laid.boxes) {
    content.append(drawBox(box, choose, mark));
    if (fold && box.folded) content.append(folder(box.tree, "Unfold", [box.x, box.y + box.height / 2], fold));
  }
  return { content, width: laid.width, height: laid.height };
}

/** @param {Tree} tree */
function stepsOf(tree) {
  /** @type {number} */
  const made = tree.step ? 1 + tree.step.precursors.reduce((sum, one) => sum + stepsOf(one), 0) : 0;
  return made;
}

/**
 * Words of an arrow: the reaction class above it, the agents below.
 * @param {Step} step
 */
function words({ number, edge }) {
  // A sign, since not everybody sees a colour.
  const warned = edge.warnings?.length ? " ⚠" : "";
  return { above: `${number}.\u00a0${edge.reaction_class ?? "reaction"}${warned}`, below: agents(edge) };
}

/**
 * The commonest agents of a step, solvent last.
 * @param {import("../answer/answer.js").GraphEdge} edge
 */
function agents({ conditions }) {
  if (!conditions) return "";
  const first = (/** @type {Record<string, number>} */ named, /** @type {number} */ most) =>
    Object.entries(named).sort(([, one], [, other]) => other - one).slice(0, most).map(([name]) => name);
  return [...first(conditions.catalysts, 1), ...first(conditions.reagents, AGENTS - 2), ...first(conditions.solvents, 1)].join(", ");
}

/**
 * @param {Box} box
 * @param {(chosen: Chosen) => void} choose
 * @param {Mark} mark
 */
function drawBox(box, choose, mark) {
  const { tree, picture: drawn } = box;
  const kind = tree.data.is_building_block ? "bought" : tree.data.depth === 0 ? "target" : "intermediate";
  const group = pressable(`molecule ${kind} ${mark("molecule", tree)}`.trim(), label(box), () => choose({ kind: "molecule", tree }), `translate(${box.x} ${box.y})`);
  group.dataset.key = `molecule ${tree.key}`;
  group.append(element("rect", { class: "ground", width: box.width, height: box.height, rx: 8 }));
  const formula = element("g", { class: "formula", "aria-hidden": "true", transform: `translate(${(box.width - drawn.width) / 2} ${PAD})` });
  formula.append(shapes(drawn, box.folded ? [] : madeBy(box)));
  group.append(formula);
  box.captions.forEach((line, index) => {
    const y = PAD + drawn.height + (index + 0.8) * LINE;
    group.append(element("text", { class: index ? "caption quiet" : "caption", x: box.width / 2, y }, line));
  });
  return group;
}

/**
 * Button that folds and unfolds the steps to a molecule.
 * @param {Tree} tree
 * @param {"Fold" | "Unfold"} act
 * @param {[number, number]} at
 * @param {(key: string) => void} fold
 */
function folder(tree, act, [x, y], fold) {
  const button = pressable("folder", `${act} the steps to ${tree.data.smiles}`, () => fold(tree.key), `translate(${x} ${y})`);
  button.dataset.key = `fold ${tree.key}`;
  button.append(element("circle", { r: 8 }), element("path", { d: act === "Fold" ? "M-4 0H4" : "M-4 0H4M0 -4V4" }));
  return button;
}

/**
 * The bonds of a molecule that the step to it makes.
 * @param {Box} box
 */
function madeBy({ tree: { step }, picture: { molecule }, precursors }) {
  if (!step || !molecule) return [];
  const molecules = precursors.map((one) => one.molecule).filter((one) => one !== null);
  return molecules.length === precursors.length ? bondsMade(molecule, molecules) : [];
}

/** @param {Box} box */
function label({ tree: { data }, captions }) {
  const what = data.is_building_block ? "Building block" : data.depth === 0 ? "Target" : "Intermediate";
  return [`${what} ${data.smiles}`, ...captions].join(" ");
}

/**
 * The x at which the lines of the precursors meet.
 * @param {Arrow} arrow
 */
const barOf = ({ x, width }) => x - width / 2 - 10;

/**
 * @param {Arrow} arrow
 * @param {Tree} tree
 * @param {(chosen: Chosen) => void} choose
 * @param {Mark} mark
 */
function drawArrow(arrow, tree, choose, mark) {
  const { step, x, y, to, width } = arrow;
  const warned = (step.edge.warnings?.length ?? 0) > 0;
  const group = pressable(`step ${warned ? "warned" : ""} ${mark("step", tree)}`.trim(), null, () => choose({ kind: "step", tree }), "");
  group.dataset.key = `step ${arrow.key}`;
  const bar = barOf(arrow);
  const lines = arrow.from.map(([from, height]) => `M${from + 4} ${height}H${bar}V${y}`).join("");
  group.append(
    element("rect", { class: "ground", x: x - width / 2 - 4, y: y - arrow.above.length * LINE - 8, width: width + 8, height: (arrow.above.length + arrow.below.length) * LINE + 18, rx: 6 }),
    element("path", { class: "line", d: `${lines}M${bar} ${y}H${to - 4}` }),
    element("path", { class: "tip", d: `M${to} ${y}l-9 -4.5v9z` }),
  );
  arrow.above.forEach((line, index) => {
    const height = y - 7 - (arrow.above.length - 1 - index) * LINE;
    group.append(element("text", { class: "class", x, y: height }, line));
  });
  arrow.below.forEach((line, index) => group.append(element("text", { class: "agents", x, y: y + 15 + index * LINE }, line)));
  return group;
}

/**
 * A part of a drawing that is pressed by pointer or key.
 * @param {string} name
 * @param {string | null} label null: what stands in it names it
 * @param {() => void} act
 * @param {string} transform
 */
function pressable(name, label, act, transform) {
  const group = /** @type {SVGGElement} */ (element("g", { class: name, tabindex: 0, role: "button", ...(label && { "aria-label": label }), ...(transform && { transform }) }));
  group.addEventListener("click", act);
  group.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    act();
  });
  return group;
}

/**
 * Caption of a building block: the price of its cheapest offer, and the shortest lead time of all.
 * @param {import("../answer/answer.js").NodeData} data
 * @param {Map<number, import("../answer/answer.js").Offer[]>} offers
 * @param {string | null} shipsTo
 */
export function blockWords({ building_block_idx }, offers, shipsTo) {
  const its = offers.get(building_block_idx ?? -1) ?? [];
  const leads = its.map((offer) => leadTime(offer, shipsTo)).filter((lead) => lead !== null);
  return offerWords(its[0], leads.length ? Math.min(...leads) : null);
}

/**
 * Caption of an offer: price and lead time.
 * @param {import("../answer/answer.js").Offer | undefined} offer
 * @param {number | null} lead
 */
function offerWords(offer, lead) {
  if (!offer) return ["no offer"];
  if (offer.normalised_usd === null && lead === null) return [offer.vendor_name];
  const price = offer.normalised_usd === null ? "no price" : `${dollars(offer.normalised_usd)}/g`;
  return [lead === null ? price : `${price} · ${days(lead)}`];
}

