// @ts-check
// Routes of a running search, in the shape of its answer. Prices and shopping lists come with the answer.

/** @typedef {{route: import("./answer.js").RouteGraph, backbone: string, steps: number | string}} FoundRoute */

export class PartialAnswer {
  #many = 0;
  /** @type {import("./answer.js").Answer["route_hierarchy"]} */
  #hierarchy = {};
  #smiles;

  /** @param {string} smiles the target */
  constructor(smiles) {
    this.#smiles = smiles;
  }

  /**
   * Takes over what a `route` event says.
   * @param {FoundRoute} found
   */
  add({ route, backbone, steps }) {
    const rank = ++this.#many;
    const backbones = (this.#hierarchy[String(steps)] ??= {});
    (backbones[backbone] ??= []).push([{ ...route, graph: { ...NO_STANDING, ...route.graph, rank } }]);
  }

  /** @returns {import("./answer.js").Answer} all that was found so far, in the order of finding */
  answer() {
    return { search_smiles: this.#smiles, metadata: {}, route_hierarchy: this.#hierarchy, pricing_annotations: [] };
  }
}

const NO_STANDING = { rank: 0, score: 0, cost_usd_per_mol: null, lead_time_days: null, convergence: 1 };
