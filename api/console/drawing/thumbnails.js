// @ts-check
// Small structures that are drawn while the browser is idle, in the order in which they were requested.

import { framed, picture } from "./picture.js";

/** Time of a drawing, milliseconds. With less left before the next frame it waits. */
const ENOUGH = 8;
/** So long nobody waits for one, milliseconds, however busy the browser is. */
const LONGEST = 250;

export class Thumbnails {
  /** @type {Map<Element, () => void>} */
  #waiting = new Map();
  #isDrawing = false;

  /**
   * Has `place` show the molecule, no larger than this.
   * @param {Element} place
   * @param {string} smiles
   * @param {{width: number, height: number}} size
   */
  add(place, smiles, { width, height }) {
    this.#waiting.set(place, () => place.replaceChildren(framed(picture(smiles), width, height, smiles)));
    this.#soon();
  }

  /**
   * Nobody sees `place` any more.
   * @param {Element} place
   */
  forget(place) {
    this.#waiting.delete(place);
  }

  #soon() {
    if (this.#isDrawing || !this.#waiting.size) return;
    this.#isDrawing = true;
    // Safari has no such call; a frame between two drawings does nearly as well.
    if ("requestIdleCallback" in globalThis) requestIdleCallback((rest) => this.#draw(() => rest.timeRemaining(), rest.didTimeout), { timeout: LONGEST });
    else requestAnimationFrame(() => this.#draw(() => 0, true));
  }

  /**
   * @param {() => number} rest milliseconds that are left
   * @param {boolean} isUrgent whether one is drawn with none left
   */
  #draw(rest, isUrgent) {
    this.#isDrawing = false;
    for (const [place, draw] of this.#waiting) {
      if (!isUrgent && rest() < ENOUGH) break;
      isUrgent = false;
      this.#waiting.delete(place);
      draw();
    }
    this.#soon();
  }
}
