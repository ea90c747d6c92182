// @ts-check
// Grid of molecules that can be ticked. Only cells in sight are in the page, and structures are drawn while the browser is idle; so ten thousand scroll
// as well as ten.

import { make, say } from "../shared/elements.js";
import { planAddress } from "../shared/plan_address.js";
import { Thumbnails } from "./thumbnails.js";

/** @typedef {{smiles: string[], order: number[], ticked: Set<number>, caption: (index: number) => string}} Shown `order`: which molecules, in their order */

const CELL = { width: 176, height: 164 };
const DRAWN = { width: 160, height: 118 };
const BEYOND = 400;

/** Galleries of the page, which tells their cells apart. */
let galleries = 0;

export class Gallery {
  #name = `gallery_${++galleries}`;
  #frame = make("div", { className: "gallery", role: "listbox", tabIndex: 0, "aria-multiselectable": "true" });
  #field = make("div", { className: "field_of_cells", role: "presentation" });
  #toggle;
  /** @type {Shown} */
  #shown = { smiles: [], order: [], ticked: new Set(), caption: () => "" };
  /** Asked for when it changes and not while it is scrolled, since asking lays out the page. */
  #size = { width: 0, height: 0 };
  /** Cells in the page, by molecule. @type {Map<number, HTMLElement>} */
  #cells = new Map();
  #thumbnails = new Thumbnails();
  #at = 0;

  /**
   * @param {string} label
   * @param {(index: number) => void} toggle called with the molecule that is ticked, or no more
   */
  constructor(label, toggle) {
    this.#toggle = toggle;
    this.element = this.#frame;
    this.#frame.setAttribute("aria-label", label);
    this.#frame.append(this.#field);
    this.#frame.addEventListener("scroll", () => this.#lay(), { passive: true });
    this.#frame.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => this.#key(event));
    new ResizeObserver(([{ contentRect: { width, height } }]) => {
      this.#size = { width, height };
      this.#all();
    }).observe(this.#frame);
  }

  /** @param {Shown} shown */
  show(shown) {
    if (shown.smiles !== this.#shown.smiles) {
      this.#frame.scrollTop = 0;
      this.#at = 0;
      for (const index of this.#cells.keys()) this.#drop(index);
    }
    this.#shown = shown;
    this.#at = Math.max(0, Math.min(this.#at, shown.order.length - 1));
    this.#all();
  }

  get #columns() {
    return Math.max(1, Math.floor(this.#size.width / CELL.width));
  }

  #all() {
    this.#field.style.height = `${Math.ceil(this.#shown.order.length / this.#columns) * CELL.height}px`;
    this.#lay();
    for (const [index, cell] of this.#cells) this.#tell(cell, index);
  }

  /** Has the cells in the page that are seen or soon may be. */
  #lay() {
    const { order } = this.#shown;
    const { scrollTop } = this.#frame;
    const from = Math.max(0, Math.floor((scrollTop - BEYOND) / CELL.height)) * this.#columns;
    const to = Math.min(order.length, Math.ceil((scrollTop + this.#size.height + BEYOND) / CELL.height) * this.#columns);
    const wanted = new Set(order.slice(from, to));
    const active = order[this.#at];
    for (const index of this.#cells.keys()) {
      if (!wanted.has(index) && index !== active) this.#drop(index);
    }
    for (let place = from; place < to; place += 1) this.#put(place);
    if (active !== undefined) this.#put(this.#at);
    this.#mark();
  }

  /** @param {number} index */
  #drop(index) {
    const cell = this.#cells.get(index);
    if (cell) this.#thumbnails.forget(/** @type {Element} */ (cell.firstElementChild));
    cell?.remove();
    this.#cells.delete(index);
  }

  /**
   * A cell lies where its molecule has its place, and is the same one wherever that is.
   * @param {number} place
   */
  #put(place) {
    const index = this.#shown.order[place];
    let cell = this.#cells.get(index);
    if (!cell) {
      cell = this.#cell(index);
      this.#cells.set(index, cell);
      this.#field.append(cell);
      this.#thumbnails.add(/** @type {Element} */ (cell.firstElementChild), this.#shown.smiles[index], DRAWN);
      this.#tell(cell, index);
    }
    const width = this.#size.width / this.#columns;
    cell.style.left = `${(place % this.#columns) * width}px`;
    cell.style.width = `${width}px`;
    cell.style.top = `${Math.floor(place / this.#columns) * CELL.height}px`;
    cell.style.height = `${CELL.height}px`;
    cell.setAttribute("aria-posinset", String(place + 1));
    cell.setAttribute("aria-setsize", String(this.#shown.order.length));
    cell.dataset.place = String(place);
  }

  /** @param {number} index */
  #cell(index) {
    const cell = make("div", { id: `${this.#name}_${index}`, className: "cell", role: "option", title: this.#shown.smiles[index] },
      make("span", { className: "depicted" }), make("span", { className: "caption_of" }), this.#toRoutes(index));
    cell.addEventListener("click", () => {
      this.#at = Number(cell.dataset.place);
      this.#toggle(index);
    });
    return cell;
  }

  /**
   * The way to the routes for the pointer: an option of a listbox may have no link.
   * @param {number} index
   */
  #toRoutes(index) {
    const words = make("span", { className: "to_routes", "aria-hidden": "true" }, "Routes");
    words.addEventListener("click", (event) => {
      event.stopPropagation();
      location.hash = planAddress(this.#shown.smiles[index]);
    });
    return words;
  }

  /**
   * @param {HTMLElement} cell
   * @param {number} index
   */
  #tell(cell, index) {
    const words = this.#shown.caption(index);
    cell.setAttribute("aria-selected", String(this.#shown.ticked.has(index)));
    cell.setAttribute("aria-label", `${this.#shown.smiles[index]}${words ? `, ${words}` : ""}`);
    say(/** @type {Element} */ (cell.querySelector(".caption_of")), words);
  }

  #mark() {
    const active = this.#cells.get(this.#shown.order[this.#at]);
    for (const cell of this.#field.querySelectorAll(".active")) cell.classList.remove("active");
    active?.classList.add("active");
    if (active) this.#frame.setAttribute("aria-activedescendant", active.id);
    else this.#frame.removeAttribute("aria-activedescendant");
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const { order } = this.#shown;
    if (!order.length || event.ctrlKey || event.metaKey || event.altKey) return;
    const page = this.#columns * Math.max(1, Math.floor(this.#size.height / CELL.height));
    const to = /** @type {Record<string, number>} */ ({
      ArrowRight: this.#at + 1, ArrowLeft: this.#at - 1, ArrowDown: this.#at + this.#columns, ArrowUp: this.#at - this.#columns,
      PageDown: this.#at + page, PageUp: this.#at - page, Home: 0, End: order.length - 1,
    })[event.key];
    if (to === undefined && event.key !== " " && event.key !== "Enter") return;
    event.preventDefault();
    if (to === undefined) return this.#toggle(order[this.#at]);
    this.#at = Math.min(order.length - 1, Math.max(0, to));
    const top = Math.floor(this.#at / this.#columns) * CELL.height;
    const { scrollTop } = this.#frame;
    if (top < scrollTop) this.#frame.scrollTop = top;
    else if (top + CELL.height > scrollTop + this.#size.height) this.#frame.scrollTop = top + CELL.height - this.#size.height;
    this.#lay();
  }
}
