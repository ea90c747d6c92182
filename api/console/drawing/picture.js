// @ts-check
// Structural formulas: OpenChemLib's depiction, made anew as elements of ours, at one scale (24 px a bond), in the page's colours.
//
// Its text is parsed as a document of its own and only shapes and letters are taken over from there, so nothing of it reaches the page as markup.

import { Molecule } from "../vendor/openchemlib/openchemlib.js";
import { align, layLengthwise } from "./orientation.js";

/**
 * @typedef {{id: number, width: number, height: number, molecule: Molecule | null, shapes: SVGGElement, bonds: Map<number, Element>, atoms: Map<number, {x: number, y: number}>}} Picture
 * `bonds`: where each lies, as lines of its shapes; `atoms`: the same
 */

const SVG = "http://www.w3.org/2000/svg";
/** A frame that no molecule fills, so that none is made smaller to fit. */
const FRAME = 8000;
const MARGIN = 6;
const OPTIONS = {
  autoCrop: true, autoCropMargin: MARGIN, suppressChiralText: true, suppressCIPParity: true, suppressESR: true,
  noStereoProblem: true, strokeWidth: 1.3,
};
/** OpenChemLib's colours of elements, and the style sheet's classes for them. */
const PAINTS = new Map(Object.entries({
  "rgb(48,80,248)": "n", "rgb(255,13,13)": "o", "rgb(144,224,80)": "f", "rgb(31,240,31)": "cl", "rgb(166,41,41)": "br",
  "rgb(148,0,148)": "i", "rgb(198,198,44)": "s", "rgb(255,200,50)": "s", "rgb(255,255,48)": "s", "rgb(255,128,0)": "p", "rgb(255,181,181)": "b",
}));
const SHAPES = {
  line: ["x1", "y1", "x2", "y2", "stroke-width"],
  polygon: ["points", "stroke-width"],
  circle: ["cx", "cy", "r"],
  text: ["x", "y", "font-size"],
};
/** Pictures that are kept: those of some hundred routes. */
const KEPT = 4000;

/** @type {Map<string, Picture>} */
const pictures = new Map();
let made = 0;

/**
 * The picture of a molecule, lying like `model` where that is given. What cannot be drawn is its text.
 * @param {string} smiles
 * @param {Picture} [model]
 * @returns {Picture}
 */
export function picture(smiles, model) {
  const key = `${model?.id ?? ""} ${smiles}`;
  const kept = pictures.get(key);
  if (kept) return kept;
  if (pictures.size >= KEPT) pictures.delete(/** @type {string} */ (pictures.keys().next().value));
  const drawn = draw(smiles, model);
  pictures.set(key, drawn);
  return drawn;
}

/**
 * A picture as an element of its own, no larger than `width` and `height`.
 * @param {Picture} drawn
 * @param {number} width
 * @param {number} height
 * @param {string} label
 */
export function framed(drawn, width, height, label) {
  const scale = Math.min(1, width / drawn.width, height / drawn.height);
  const svg = element("svg", {
    class: "formula", role: "img", "aria-label": label, viewBox: `0 0 ${drawn.width} ${drawn.height}`,
    width: drawn.width * scale, height: drawn.height * scale,
  });
  svg.append(drawn.shapes.cloneNode(true));
  return svg;
}

/**
 * A picture's shapes for a drawing, with some bonds marked.
 * @param {Picture} drawn
 * @param {number[]} marked
 */
export function shapes(drawn, marked) {
  const copy = /** @type {SVGGElement} */ (drawn.shapes.cloneNode(true));
  for (const bond of marked) {
    const at = drawn.bonds.get(bond);
    const ends = ["x1", "y1", "x2", "y2"].map((name) => [name, at?.getAttribute(name) ?? "0"]);
    if (at) copy.prepend(element("line", { class: "new", ...Object.fromEntries(ends) }));
  }
  return copy;
}

/**
 * An SVG element.
 * @param {string} name
 * @param {Record<string, string | number>} [attributes]
 * @param {(Node | string)[]} children
 */
export function element(name, attributes = {}, ...children) {
  const node = document.createElementNS(SVG, name);
  for (const [attribute, value] of Object.entries(attributes)) node.setAttribute(attribute, String(value));
  node.append(...children);
  return node;
}

/**
 * @param {string} smiles
 * @param {Picture} [model]
 * @returns {Picture}
 */
function draw(smiles, model) {
  try {
    const molecule = Molecule.fromSmiles(smiles);
    molecule.ensureHelperArrays(Molecule.cHelperRings);
    if (model?.molecule) align(molecule, model.molecule);
    else layLengthwise(molecule);
    // Its style sheet would be refused by the page's policy, and said so.
    const text = molecule.toSVG(FRAME, FRAME, "formula", OPTIONS).replace(/<style>.*?<\/style>/s, "");
    return { id: ++made, molecule, ...redrawn(new DOMParser().parseFromString(text, "image/svg+xml").documentElement) };
  } catch {
    return { id: ++made, molecule: null, ...written(smiles) };
  }
}

/** @param {Element} svg */
function redrawn(svg) {
  const [left, top, width, height] = (svg.getAttribute("viewBox") ?? "0 0 0 0").split(" ").map(Number);
  const shapes = /** @type {SVGGElement} */ (element("g", { transform: `translate(${-left} ${-top})` }));
  const [bonds, atoms] = [new Map(), new Map()];
  for (const shape of svg.children) {
    const bond = /:Bond:(\d+)$/.exec(shape.id);
    if (bond) bonds.set(Number(bond[1]), shape);
    const atom = /:Atom:(\d+)$/.exec(shape.id);
    if (atom) atoms.set(Number(atom[1]), { x: Number(shape.getAttribute("cx")), y: Number(shape.getAttribute("cy")) });
    const attributes = SHAPES[/** @type {keyof typeof SHAPES} */ (shape.tagName)];
    if (!attributes || shape.getAttribute("class") === "event") continue;
    const paint = shape.getAttribute(shape.tagName === "line" ? "stroke" : "fill")?.replaceAll(" ", "") ?? "";
    const copy = element(shape.tagName, { class: `${shape.tagName === "text" ? "letter" : "bond"} ${PAINTS.get(paint) ?? "c"}` });
    for (const name of attributes) {
      const value = shape.getAttribute(name);
      if (value !== null) copy.setAttribute(name, value);
    }
    if (shape.tagName === "text") copy.textContent = shape.textContent;
    shapes.append(copy);
  }
  return { width, height, shapes, bonds, atoms };
}

/** @param {string} smiles */
function written(smiles) {
  const text = smiles.length > 40 ? `${smiles.slice(0, 39)}…` : smiles;
  const shapes = element("g", {}, element("text", { class: "letter c", x: MARGIN, y: 20, "font-size": 12 }, text));
  return { width: 2 * MARGIN + 7.5 * text.length, height: 32, shapes: /** @type {SVGGElement} */ (shapes), bonds: new Map(), atoms: new Map() };
}

