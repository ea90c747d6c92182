// @ts-check
// A drawing that is moved and zoomed: by dragging, pinching, Ctrl and the wheel, or keys.

import { element } from "./picture.js";

const LEAST = 0.1;
const READABLE = 0.65;
const MOST = 4;
const NUDGE = 60;

export class PanZoom {
  #svg;
  #content = element("g");
  #size = { width: 1, height: 1 };
  #at = { x: 0, y: 0, scale: 1 };
  /** The size of what is seen, kept because asking for it lays out the page. */
  #frame = { width: 0, height: 0 };
  /** The smallest scale of a drawing that nobody has moved since it was laid; it is laid anew when the frame changes. @type {number | null} */
  #laid = null;
  /** @type {Map<number, {x: number, y: number}>} */
  #pointers = new Map();

  /**
   * @param {HTMLElement} frame
   * @param {string} label
   */
  constructor(frame, label) {
    this.#svg = /** @type {SVGSVGElement} */ (element("svg", { class: "view", role: "group", "aria-label": label, tabindex: 0 }));
    frame.append(this.#svg);
    this.#svg.addEventListener("pointerdown", (event) => this.#press(event));
    this.#svg.addEventListener("pointermove", (event) => this.#drag(event));
    for (const end of ["pointerup", "pointercancel"]) this.#svg.addEventListener(end, (event) => this.#release(/** @type {PointerEvent} */ (event)));
    this.#svg.addEventListener("wheel", (event) => this.#turn(event), { passive: false });
    this.#svg.addEventListener("keydown", (event) => this.#key(event));
    this.#svg.addEventListener("focusin", (event) => this.#reveal(/** @type {Element} */ (event.target)));
    new ResizeObserver(([{ contentRect }]) => {
      this.#frame = contentRect;
      if (this.#laid !== null && !this.#svg.hasAttribute("viewBox")) this.#lay(this.#laid);
    }).observe(this.#svg);
  }

  /**
   * Shows another drawing; where it is the same one that changed a little, it stays where it was.
   * @param {{content: SVGElement, width: number, height: number}} drawing
   * @param {"fit" | "stay"} where
   */
  show({ content, width, height }, where) {
    const focused = /** @type {HTMLElement | null} */ (this.#svg.querySelector(":focus"))?.dataset.key;
    this.#content = content;
    this.#size = { width, height };
    this.#svg.replaceChildren(content);
    if (where === "fit") this.#lay(READABLE);
    else this.#apply();
    if (focused) /** @type {SVGElement | undefined} */ ([...this.#svg.querySelectorAll("[data-key]")].find((one) => /** @type {SVGElement} */ (one).dataset.key === focused))?.focus();
  }

  /** All of it, no larger than it is drawn. */
  fit() {
    this.#lay(0);
  }

  /** Shows all of it on paper, whatever the size of that, until `onScreen`. */
  onPaper() {
    this.#svg.setAttribute("viewBox", `0 0 ${this.#size.width} ${this.#size.height}`);
    this.#content.removeAttribute("transform");
  }

  /** Shows it again as it was. */
  onScreen() {
    this.#svg.removeAttribute("viewBox");
    const { x, y, scale } = this.#at;
    this.#content.setAttribute("transform", `translate(${x} ${y}) scale(${scale})`);
  }

  /**
   * As much of it as can still be read, from its right end, where the target is.
   * @param {number} least the smallest scale
   */
  #lay(least) {
    const { width, height } = this.#frame;
    const scale = Math.max(least, Math.min(1, width / this.#size.width, height / this.#size.height)) || READABLE;
    const [wide, high] = [scale * this.#size.width, scale * this.#size.height];
    this.#at = { scale, x: wide > width ? width - wide : (width - wide) / 2, y: (height - high) / 2 };
    this.#apply();
    this.#laid = least;
  }

  /**
   * @param {number} factor
   * @param {{x: number, y: number}} [around] what stays where it is; else the middle
   */
  zoom(factor, around = { x: this.#frame.width / 2, y: this.#frame.height / 2 }) {
    const scale = Math.min(MOST, Math.max(LEAST, this.#at.scale * factor));
    const by = scale / this.#at.scale;
    this.#at = { scale, x: around.x - by * (around.x - this.#at.x), y: around.y - by * (around.y - this.#at.y) };
    this.#apply();
  }

  #apply() {
    this.#laid = null;
    this.onScreen();
  }

  /** @param {PointerEvent} event */
  #here(event) {
    const { left, top } = this.#svg.getBoundingClientRect();
    return { x: event.clientX - left, y: event.clientY - top };
  }

  /** @param {PointerEvent} event */
  #press(event) {
    this.#pointers.set(event.pointerId, this.#here(event));
  }

  /** @param {PointerEvent} event */
  #drag(event) {
    const last = this.#pointers.get(event.pointerId);
    if (!last) return;
    const now = this.#here(event);
    const others = [...this.#pointers].filter(([id]) => id !== event.pointerId);
    if (others.length) {
      const [, other] = others[0];
      const apart = (/** @type {{x: number, y: number}} */ point) => Math.hypot(point.x - other.x, point.y - other.y) || 1;
      this.zoom(apart(now) / apart(last), other);
    } else {
      if (!this.#svg.hasPointerCapture(event.pointerId)) {
        // A press that moves a little is still a click.
        if (Math.hypot(now.x - last.x, now.y - last.y) < 4) return;
        this.#svg.setPointerCapture(event.pointerId);
      }
      this.#at = { ...this.#at, x: this.#at.x + now.x - last.x, y: this.#at.y + now.y - last.y };
      this.#apply();
    }
    this.#pointers.set(event.pointerId, now);
  }

  /** @param {PointerEvent} event */
  #release(event) {
    this.#pointers.delete(event.pointerId);
  }

  /** @param {WheelEvent} event */
  #turn(event) {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    this.zoom(Math.exp(-event.deltaY / 300), this.#here(/** @type {any} */ (event)));
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const by = /** @type {Record<string, [number, number]>} */ ({ ArrowLeft: [NUDGE, 0], ArrowRight: [-NUDGE, 0], ArrowUp: [0, NUDGE], ArrowDown: [0, -NUDGE] })[event.key];
    if (by) this.#at = { ...this.#at, x: this.#at.x + by[0], y: this.#at.y + by[1] };
    else if (event.key === "+") this.zoom(1.25);
    else if (event.key === "-") this.zoom(0.8);
    else if (event.key === "0") this.fit();
    else return;
    event.preventDefault();
    this.#apply();
  }

  /**
   * Moves what has the focus into the frame.
   * @param {Element} part
   */
  #reveal(part) {
    if (part === this.#svg || !part.matches(":focus-visible")) return;
    const [box, frame] = [part.getBoundingClientRect(), this.#svg.getBoundingClientRect()];
    const into = (/** @type {number} */ low, /** @type {number} */ high, /** @type {number} */ from, /** @type {number} */ to) =>
      low < from ? from - low + 12 : high > to ? Math.max(to - high - 12, from - low) : 0;
    this.#at = { ...this.#at, x: this.#at.x + into(box.left, box.right, frame.left, frame.right), y: this.#at.y + into(box.top, box.bottom, frame.top, frame.bottom) };
    this.#apply();
  }
}
