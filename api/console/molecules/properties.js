// @ts-check
// What is measured of molecules: by OpenChemLib, in a worker, so that the page stays fluent whatever there is to be measured.

/**
 * `figure`: what the model's card calls it, where it has one; `digits`: after the decimal sign.
 * @typedef {{name: string, label: string, short: string, unit: string, figure: string | null, digits: number}} Property
 */

/** In the order in which the worker measures them. @type {Property[]} */
export const PROPERTIES = [
  { name: "molecular_weight", label: "Molecular weight", short: "MW", unit: "Da", figure: "molecular_weight", digits: 0 },
  { name: "logp", label: "logP", short: "logP", unit: "", figure: "crippen_logp", digits: 1 },
  { name: "polar_surface", label: "Polar surface", short: "TPSA", unit: "Å²", figure: "polar_surface", digits: 0 },
  { name: "acceptors", label: "H-bond acceptors", short: "HBA", unit: "", figure: "hydrogen_bond_acceptors", digits: 0 },
  { name: "donors", label: "H-bond donors", short: "HBD", unit: "", figure: "hydrogen_bond_donors", digits: 0 },
  { name: "rotatable", label: "Rotatable bonds", short: "RotB", unit: "", figure: "rotatable_bonds", digits: 0 },
  { name: "rings", label: "Rings", short: "Rings", unit: "", figure: null, digits: 0 },
];

/** Measures molecules and looks for parts in them. */
export class Laboratory {
  #worker = new Worker("/console/molecules/worker.js", { type: "module" });
  #asked = 0;
  /** @type {Map<number, (told: any) => void>} */
  #waiting = new Map();

  constructor() {
    this.#worker.addEventListener("message", ({ data }) => {
      const hear = this.#waiting.get(data.asked);
      // What is measured is told in many parts.
      if (!data.measured) this.#waiting.delete(data.asked);
      hear?.(data);
    });
  }

  /**
   * Measures `molecules`, in their order; those of before are known no more. `tell` gets what has been measured so far, more and more: rows of
   * `PROPERTIES`, NaN where a molecule cannot be read.
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
   * Which of the molecules that were measured last have `part`.
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
