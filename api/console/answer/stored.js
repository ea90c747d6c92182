// @ts-check
// What a plan found, which is stored in the shape that clients of the family read: steps are nodes of their own. Here it becomes an answer of the tree
// search again, whose steps are edges.

/** @typedef {import("./answer.js").Answer} Answer */
/** @typedef {{id: string, data: any}} StoredNode */
/** @typedef {{graph?: any, nodes: StoredNode[], edges: {source: string, target: string}[]}} StoredRoute */
/** @typedef {{search_smiles: string, metadata: any, route_hierarchy: Record<string, Record<string, [StoredRoute, number][]>>, pricing_annotations: any[] | null}} Stored */

/** Stands for a number that nobody knows. */
const UNKNOWN = 9999;

/**
 * @param {Stored} stored
 * @returns {Answer}
 */
export function answerOf({ search_smiles, metadata, route_hierarchy, pricing_annotations }) {
  /** @type {Answer["route_hierarchy"]} */
  const hierarchy = {};
  // Their skeletons are long; numbers tell them apart as well.
  for (const [place, byDepth] of Object.values(route_hierarchy).entries()) {
    for (const [depth, pairs] of Object.entries(byDepth)) {
      hierarchy[depth] = { ...hierarchy[depth], [`${place + 1}`]: [pairs.map(([route]) => routeOf(route))] };
    }
  }
  return { search_smiles, metadata, route_hierarchy: hierarchy, pricing_annotations: (pricing_annotations ?? []).map(offerOf) };
}

/**
 * @param {StoredRoute} route
 * @returns {import("./answer.js").RouteGraph}
 */
function routeOf({ graph, nodes, edges }) {
  const steps = new Map(nodes.filter(({ data }) => !("smiles" in data)).map(({ id, data }) => [id, data]));
  const products = new Map(edges.filter(({ source }) => steps.has(source)).map(({ source, target }) => [source, target]));
  const taken = edges.filter(({ target }) => steps.has(target));
  return {
    graph,
    nodes: nodes.filter(({ id }) => !steps.has(id)),
    edges: taken.map(({ source, target }) => {
      const { evidence, plausibility } = steps.get(target);
      return { ...evidence, plausibility, source: /** @type {string} */ (products.get(target)), target: source };
    }),
  };
}

/** @param {any} offer */
function offerOf(offer) {
  const times = Object.entries(offer).filter(([name, days]) => name.startsWith("lead_time_days_to_") && days === UNKNOWN).map(([name]) => [name, null]);
  // What every laboratory has has neither entry nor price.
  return { cs_id: "", cs_url: "", pack: null, uom: null, price_usd: null, normalised_usd: null, ...offer, ...Object.fromEntries(times) };
}
