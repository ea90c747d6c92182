// @ts-check
// Picture of the target in which bonds and atoms are marked: by pointer, or by arrow keys and Enter.

import { element, picture, shapes } from "../drawing/picture.js";
import { find, make } from "../shared/elements.js";
import { chip } from "./chips.js";
import { actAt, atomPressed, bondPressed, ends, groupsKept, isMarked, numberOf } from "./marks.js";

/** @typedef {import("./marks.js").Marks} Marks */
/** @typedef {import("../drawing/picture.js").Picture} Picture */
/** @typedef {{x: number, y: number}} Point */

/** Twice as large as in a scheme, so that a finger finds a bond. */
const SCALE = 2;
const WORDS = { break: "to be broken", keep: "to be kept" };
const ACTS = { break: "Break", keep: "Keep" };

export class MarksEditor {
  #frame = find("marking");
  #change;
  /** @type {Marks | null} */
  #marks = null;

  /** @param {(marks: Marks) => void} change */
  constructor(change) {
    this.#change = change;
    this.#frame.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => this.#key(event));
    this.#frame.addEventListener("click", (/** @type {Event} */ event) => this.#press(/** @type {Element} */ (event.target)));
  }

  /** @param {Marks} marks */
  show(marks) {
    this.#marks = marks;
    const drawn = marks.smiles ? picture(marks.smiles) : null;
    find("marks").hidden = !drawn?.molecule?.getBonds();
    const key = this.#current()?.getAttribute("data-key");
    const hadFocus = this.#frame.contains(document.activeElement);
    this.#frame.replaceChildren(...(drawn?.molecule ? [this.#drawing(drawn, marks)] : []));
    find("marked").replaceChildren(...(drawn?.molecule ? this.#chips(drawn.molecule, marks) : []));
    const parts = this.#parts();
    const current = parts.find((part) => part.getAttribute("data-key") === key) ?? parts[0];
    current?.setAttribute("tabindex", "0");
    if (hadFocus) current?.focus();
  }

  /**
   * @param {Picture} drawn
   * @param {Marks} marks
   */
  #drawing(drawn, marks) {
    const molecule = /** @type {NonNullable<Picture["molecule"]>} */ (drawn.molecule);
    const [width, height] = [drawn.width * SCALE, drawn.height * SCALE];
    const svg = element("svg", { class: "formula", role: "group", "aria-label": "The target: its bonds and atoms", viewBox: `0 0 ${drawn.width} ${drawn.height}`, width, height });
    const [below, above] = ["", ""].map(() => element("g", { transform: drawn.shapes.getAttribute("transform") ?? "" }));
    for (let bond = 0; bond < molecule.getBonds(); bond++) {
      const line = drawn.bonds.get(bond);
      if (!line) continue;
      const pair = ends(molecule, bond);
      const act = actAt(marks, pair);
      const isWhole = pair.every((atom) => marks.whole.includes(atom));
      if (act || isWhole) below.append(element("line", { class: `mark ${act ?? "whole"}`, ...coordinates(line) }));
      if (act) above.append(...badge(line, act, side(drawn, molecule, pair), 1 + marks.bonds.findIndex((one) => one.pair.every((atom) => pair.includes(atom)))));
      const label = `Bond ${named(molecule, pair)}${act ? `: ${WORDS[act]}` : ""}`;
      above.append(pressable(element("line", { ...coordinates(line), class: "press" }), `bond ${bond}`, label));
    }
    for (const [atom, at] of drawn.atoms) {
      const isWhole = marks.whole.includes(atom);
      if (isWhole) below.append(element("circle", { class: "mark whole", cx: at.x, cy: at.y, r: 7 }));
      above.append(pressable(element("circle", { class: "press", cx: at.x, cy: at.y, r: 6 }), `atom ${atom}`, `Atom ${name(molecule, atom)}${isWhole ? ": kept whole" : ""}`));
    }
    svg.append(below, shapes(drawn, []), above);
    return svg;
  }

  /**
   * @param {NonNullable<Picture["molecule"]>} molecule
   * @param {Marks} marks
   */
  #chips(molecule, marks) {
    const bonds = marks.bonds.map(({ pair, act }, place) => {
      const words = `${ACTS[act]} ${named(molecule, pair)}`;
      return chip([make("span", { className: `badge ${act}` }, String(place + 1)), words], words, () => this.#change({ ...marks, bonds: marks.bonds.toSpliced(place, 1) }));
    });
    const groups = groupsKept(marks).map((group) => {
      const words = group.length > 1 ? `Keep ${group.length} atoms whole` : `${name(molecule, group[0])}: press its neighbours too`;
      return chip([make("span", { className: "badge whole" }, ""), words], words, () => this.#change({ ...marks, whole: marks.whole.filter((atom) => !group.includes(atom)) }));
    });
    const all = make("button", { type: "button", className: "plain brief" }, "Clear all");
    all.addEventListener("click", () => {
      this.#change({ ...marks, bonds: [], whole: [] });
      this.#current()?.focus();
    });
    return [...bonds, ...groups, ...(isMarked(marks) ? [make("li", {}, all)] : [])];
  }

  /** @param {Element} part */
  #press(part) {
    const [kind, number] = part.getAttribute("data-key")?.split(" ") ?? [];
    const molecule = this.#marks && picture(this.#marks.smiles).molecule;
    if (!this.#marks || !molecule || !kind) return;
    this.#walkTo(/** @type {SVGElement} */ (part));
    this.#change(kind === "bond" ? bondPressed(this.#marks, ends(molecule, Number(number))) : atomPressed(this.#marks, Number(number)));
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const current = this.#current();
    if (!current) return;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      return this.#press(current);
    }
    const towards = /** @type {Record<string, Point>} */ ({ ArrowLeft: { x: -1, y: 0 }, ArrowRight: { x: 1, y: 0 }, ArrowUp: { x: 0, y: -1 }, ArrowDown: { x: 0, y: 1 } })[event.key];
    if (!towards) return;
    event.preventDefault();
    const next = nearest(current, this.#parts(), towards);
    if (next) this.#walkTo(next);
    next?.focus();
  }

  /** @param {SVGElement} part */
  #walkTo(part) {
    for (const one of this.#parts()) one.setAttribute("tabindex", "-1");
    part.setAttribute("tabindex", "0");
  }

  /** @returns {SVGElement[]} */
  #parts() {
    return [...this.#frame.querySelectorAll(".press")];
  }

  /**
   * The part that has the focus, or would get it.
   * @returns {SVGElement | null}
   */
  #current() {
    return this.#frame.querySelector(".press:focus") ?? this.#frame.querySelector(".press[tabindex='0']");
  }
}

/**
 * The part that lies nearest in a direction.
 * @param {SVGElement} from
 * @param {SVGElement[]} parts
 * @param {Point} towards
 */
function nearest(from, parts, towards) {
  const middle = (/** @type {Element} */ part) => {
    const { x, y, width, height } = part.getBoundingClientRect();
    return { x: x + width / 2, y: y + height / 2 };
  };
  const here = middle(from);
  let [best, least] = [/** @type {SVGElement | null} */ (null), Infinity];
  for (const part of parts) {
    const { x, y } = middle(part);
    const [along, aside] = [(x - here.x) * towards.x + (y - here.y) * towards.y, Math.abs((x - here.x) * towards.y) + Math.abs((y - here.y) * towards.x)];
    // Aside counts as much as ahead: along a chain the atom between two bonds is nearer than the bond behind it.
    if (along > 0.5 && along + aside < least) [best, least] = [part, along + aside];
  }
  return best;
}

/**
 * @param {SVGElement} part
 * @param {string} key
 * @param {string} label
 */
function pressable(part, key, label) {
  for (const [name, value] of Object.entries({ role: "button", tabindex: "-1", "data-key": key, "aria-label": label })) part.setAttribute(name, value);
  part.append(element("title", {}, label));
  return part;
}

/**
 * A number beside a bond that is marked; a bond to break is crossed as well, since not everybody sees a colour.
 * @param {Element} line
 * @param {"break" | "keep"} act
 * @param {Point} free towards where there is room
 * @param {number} number
 */
function badge(line, act, free, number) {
  const { x1, y1, x2, y2 } = coordinates(line);
  const length = Math.hypot(x2 - x1, y2 - y1) || 1;
  const along = { x: (x2 - x1) / length, y: (y2 - y1) / length };
  const turn = -along.y * free.x + along.x * free.y < 0 ? -1 : 1;
  const across = { x: -turn * along.y, y: turn * along.x };
  const [x, y] = [(x1 + x2) / 2, (y1 + y2) / 2];
  const cut = (/** @type {number} */ at) => element("line", {
    class: "cut", x1: x + at * along.x - 6 * across.x, y1: y + at * along.y - 6 * across.y, x2: x + at * along.x + 6 * across.x, y2: y + at * along.y + 6 * across.y,
  });
  const label = element("g", { class: `badge ${act}`, transform: `translate(${x + 12 * across.x} ${y + 12 * across.y})`, "aria-hidden": "true" },
    element("circle", { r: 5.5 }), element("text", { y: 2.8 }, String(number)));
  return act === "break" ? [cut(-1.6), cut(1.6), label] : [label];
}

/**
 * Away from the neighbours of a bond's atoms.
 * @param {Picture} drawn
 * @param {NonNullable<Picture["molecule"]>} molecule
 * @param {[number, number]} pair
 * @returns {Point}
 */
function side({ atoms }, molecule, pair) {
  const free = { x: 0, y: 0 };
  for (const atom of pair) {
    for (let place = 0; place < molecule.getConnAtoms(atom); place++) {
      const [here, there] = [atoms.get(atom), atoms.get(molecule.getConnAtom(atom, place))];
      if (!here || !there || pair.includes(molecule.getConnAtom(atom, place))) continue;
      free.x += here.x - there.x;
      free.y += here.y - there.y;
    }
  }
  return free;
}

/** @param {Element} line */
function coordinates(line) {
  const [x1, y1, x2, y2] = ["x1", "y1", "x2", "y2"].map((name) => Number(line.getAttribute(name)));
  return { x1, y1, x2, y2 };
}

/**
 * @param {NonNullable<Picture["molecule"]>} molecule
 * @param {[number, number]} pair
 */
function named(molecule, pair) {
  return pair.map((atom) => name(molecule, atom)).join("–");
}

/**
 * @param {NonNullable<Picture["molecule"]>} molecule
 * @param {number} atom
 */
function name(molecule, atom) {
  return `${molecule.getAtomLabel(atom)}${numberOf(atom)}`;
}
