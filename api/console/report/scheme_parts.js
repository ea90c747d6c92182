// @ts-check
// Scheme of a route on paper, in as many parts as its width takes, so that no structure is squeezed.
//
// A part ends at intermediates, which are named by letters and made by parts of their own, in the order of the synthesis. A molecule lies in the same way
// in all parts.

import { picture } from "../drawing/picture.js";
import { drawScheme } from "../drawing/scheme_drawing.js";

/** @typedef {import("../answer/answer.js").Tree} Tree */
/** @typedef {import("../drawing/picture.js").Picture} Picture */
/** @typedef {{content: SVGElement, width: number, height: number}} Drawing */

/**
 * The drawings of a route, none wider than `most` unless a single step is; the last one ends at the target.
 * @param {Tree} target
 * @param {{caption: (tree: Tree) => string[], most: number}} how
 * @returns {Drawing[]}
 */
export function schemeParts(target, { caption, most }) {
  const models = laid(target, undefined, new Map());
  /** @type {Map<string, string>} */
  const names = new Map();
  const drawn = (/** @type {Tree} */ tree) => drawScheme(tree, {
    caption: (one) => (names.has(one.key) ? [`Intermediate ${names.get(one.key)}`] : caption(one)),
    model: models.get(tree.key), folded: new Set(), choose: () => {}, fold: null,
  });
  const cut = inOrder(target, (tree) => drawn(tree).width <= most);
  cut.slice(0, -1).forEach((tree, place) => names.set(tree.key, letter(place)));
  return cut.map((tree) => still(drawn(tree)));
}

/**
 * The product after which each molecule is oriented.
 * @param {Tree} tree
 * @param {Picture | undefined} model
 * @param {Map<string, Picture | undefined>} models
 */
function laid({ key, data, step }, model, models) {
  models.set(key, model);
  const drawn = step && picture(data.smiles, model);
  for (const precursor of step?.precursors ?? []) laid(precursor, drawn ?? undefined, models);
  return models;
}

/**
 * A tree in parts that fit, each as deep as it can be; those that are made first come first.
 * @param {Tree} tree
 * @param {(tree: Tree) => boolean} fits
 * @returns {Tree[]}
 */
function inOrder(tree, fits) {
  for (let steps = depth(tree); ; steps--) {
    /** @type {Tree[]} */
    const below = [];
    const top = cutBelow(tree, steps, below);
    if (steps <= 1 || fits(top)) return [...below.flatMap((one) => inOrder(one, fits)), top];
  }
}

/** @param {Tree} tree */
function depth({ step }) {
  /** @type {number} */
  const steps = step ? 1 + Math.max(...step.precursors.map(depth)) : 0;
  return steps;
}

/**
 * The tree down to so many steps; what is made below that is left to `below`.
 * @param {Tree} tree
 * @param {number} steps
 * @param {Tree[]} below
 * @returns {Tree}
 */
function cutBelow(tree, steps, below) {
  const { step } = tree;
  if (!step) return tree;
  if (steps === 0) {
    below.push(tree);
    return { ...tree, step: null };
  }
  return { ...tree, step: { ...step, precursors: step.precursors.map((one) => cutBelow(one, steps - 1, below)) } };
}

/** @param {number} place */
const letter = (place) => (place < 26 ? String.fromCharCode(65 + place) : `${place + 1}`);

/**
 * A drawing in which nothing is pressed.
 * @param {Drawing} drawing
 */
function still(drawing) {
  for (const part of drawing.content.querySelectorAll("[role]")) {
    for (const name of ["role", "tabindex", "aria-label"]) part.removeAttribute(name);
  }
  return drawing;
}
