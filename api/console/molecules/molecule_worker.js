// @ts-check
// The page's side of the worker that reads and measures molecules, so that the page stays responsive.

import { PROPERTIES } from "./properties.js";

/** Reads and measures molecules, and finds substructures in them. */
export class MoleculeWorker {
  #worker = new Worker("/console/molecules/worker.js", { type: "module" });
  #asked = 0;
  /** @type {Map<number, (told: any) => void>} */
  #waiting = new Map();

  constructor() {
    this.#worker.addEventListener("message", ({ data }) => {
      const hear = this.#waiting.get(data.asked);
      // Measurements come in portions.
      if (!data.measured) this.#waiting.delete(data.asked);
      hear?.(data);
    });
  }

  /**
   * Measures `molecules`, in their order, and forgets earlier ones. `tell` gets all values so far, again and again: rows of `PROPERTIES`, NaN for an invalid
   * molecule.
   * @param {string[]} molecules
   * @param {(values: Float32Array) => void} tell
   */
  measure(molecules, tell) {
    const values = new Float32Array(molecules.length * PROPERTIES.length).fill(NaN);
    this.#waiting.clear();
    this.#ask({ molecules }, ({ from, measured }) => {
      values.set(measured, from * PROPERTIES.length);
      tell(values);
    });
  }

  /**
   * Finds the molecules that have `part`, among those that were measured last.
   * @param {string} part SMARTS or SMILES
   * @returns {Promise<{has: Uint8Array} | {fault: string}>}
   */
  having(part) {
    return new Promise((resolve) => this.#ask({ part }, resolve));
  }

  /**
   * The molecules of a text, as far as they can be read.
   * @param {string} text
   * @param {string} name of the file, which may tell what it is; empty where there is none
   * @returns {Promise<import("./molecule_text.js").Reading>}
   */
  read(text, name) {
    return new Promise((resolve) => this.#ask({ text, name }, ({ reading }) => resolve(reading)));
  }

  /**
   * @param {object} question
   * @param {(told: any) => void} hear
   */
  #ask(question, hear) {
    const asked = ++this.#asked;
    this.#waiting.set(asked, hear);
    this.#worker.postMessage({ asked, ...question });
  }
}
