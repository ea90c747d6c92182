// @ts-check
// An answer of the tree search as people look at it: routes with their figures and trees, and the offers of each building block.

/** @typedef {{smiles: string, mw: number, is_building_block: boolean, building_block_idx: number | null, closest_building_block: number, depth: number}} NodeData */
/** @typedef {{id: string, data: NodeData}} GraphNode */
/** @typedef {{reagents: Record<string, number>, catalysts: Record<string, number>, solvents: Record<string, number>}} Conditions */
/** @typedef {{source: string, target: string, plausibility?: number, reaction_class?: string, reaction_category?: string, template?: string, probability?: number, precedents?: number, patents?: string[], conditions?: Conditions, precedent_similarity?: number | null, warnings?: string[]}} GraphEdge */
/** @typedef {{building_block_idx: number, grams_needed: number, cs_id: string, pack: number | null, uom: string | null, count: number, usd: number, lead_time_days: number | null}} OrderedPack */
/** @typedef {{vendor_name: string, total_usd: number, lead_time_days: number | null, items: OrderedPack[]}} VendorOrder */
/** @typedef {{amount_mmol: number, step_yield: number, total_usd: number | null, lead_time_days: number | null, vendors: VendorOrder[], without_price: {building_block_idx: number, grams_needed: number, vendors: string[]}[]}} ShoppingList */
/** @typedef {{rank: number, score: number, cost_usd_per_mol: number | null, lead_time_days: number | null, convergence: number, shopping_list?: ShoppingList}} Standing */
/** @typedef {{graph?: Standing, nodes: GraphNode[], edges: GraphEdge[]}} RouteGraph */
/** @typedef {{major_component_id: number, vendor_name: string, cs_id: string, cs_url: string, pack: number | null, uom: string | null, price_usd: number | null, normalised_usd: number | null, [lead: `lead_time_days_to_${string}`]: number | null}} Offer */
/** @typedef {{search_smiles: string, metadata: any, route_hierarchy: Record<string, Record<string, RouteGraph[][]>>, pricing_annotations: Offer[]}} Answer */

/**
 * A molecule of a route with the step that makes it.
 * @typedef {{key: string, data: NodeData, step: Step | null}} Tree
 * @typedef {{number: number, edge: GraphEdge, precursors: Tree[]}} Step
 */
/**
 * @typedef {{key: string, backbone: string, rank: number, steps: number, depth: number, price: number | null, perMole: number | null, lead: number | null, plausibility: number, classes: string[], blocks: NodeData[], words: string, list: ShoppingList | null, graph: RouteGraph}} Route
 */

/**
 * The routes of an answer, best first.
 * @param {Answer} answer
 * @returns {Route[]}
 */
export function routesOf(answer) {
  const routes = [];
  for (const [depth, backbones] of Object.entries(answer.route_hierarchy)) {
    for (const [backbone, variations] of Object.entries(backbones)) {
      for (const graph of variations.flat()) routes.push(route(graph, backbone, Number(depth), routes.length + 1));
    }
  }
  return routes.sort((one, other) => one.rank - other.rank);
}

/**
 * @param {RouteGraph} graph
 * @param {string} backbone
 * @param {number} depth
 * @param {number} place
 * @returns {Route}
 */
function route(graph, backbone, depth, place) {
  const steps = [...new Map(graph.edges.map((edge) => [edge.source, edge])).values()];
  const blocks = graph.nodes.map((node) => node.data).filter((data) => data.is_building_block);
  const classes = steps.map((step) => step.reaction_class ?? "step").reverse();
  const list = (steps.length && graph.graph?.shopping_list) || null;
  return {
    key: String(place), backbone, depth, graph, blocks, classes, list,
    rank: graph.graph?.rank ?? place,
    steps: steps.length,
    price: list?.total_usd ?? null,
    perMole: graph.graph?.cost_usd_per_mol ?? null,
    lead: graph.graph?.lead_time_days ?? null,
    plausibility: steps.reduce((all, step) => all * (step.plausibility ?? 1), 1),
    words: [...classes, ...blocks.map((data) => data.smiles), ...(list?.vendors.map((vendor) => vendor.vendor_name) ?? [])].join("\n").toLowerCase(),
  };
}

/**
 * A route as a tree from its target; steps are numbered in the order of the synthesis. What is used twice stands twice.
 * @param {RouteGraph} graph
 * @returns {Tree}
 */
export function treeOf(graph) {
  const nodes = new Map(graph.nodes.map((node) => [node.id, node.data]));
  const edges = Map.groupBy(graph.edges, (edge) => edge.source);
  const numbers = new Map();
  /**
   * @param {string} id
   * @param {string} path
   * @param {Set<string>} above
   * @returns {Tree}
   */
  const grow = (id, path, above) => {
    const data = /** @type {NodeData} */ (nodes.get(id));
    const out = above.has(id) ? [] : edges.get(id) ?? [];
    const within = new Set(above).add(id);
    const precursors = out.map((edge, place) => grow(edge.target, `${path}.${place}`, within));
    if (!out.length) return { key: path, data, step: null };
    if (!numbers.has(id)) numbers.set(id, numbers.size + 1);
    return { key: path, data, step: { number: numbers.get(id), edge: out[0], precursors } };
  };
  return grow(graph.nodes[0].id, "0", new Set());
}

/**
 * Offers by building block, the cheapest for a gram first.
 * @param {Answer} answer
 * @returns {Map<number, Offer[]>}
 */
export function offersOf(answer) {
  const price = (/** @type {Offer} */ offer) => offer.normalised_usd ?? Infinity;
  const offers = answer.pricing_annotations.toSorted((one, other) => price(one) - price(other) || 0);
  return Map.groupBy(offers, (offer) => offer.major_component_id);
}

/**
 * Days until an offer is there; null where that is not known or no region was asked for.
 * @param {Offer} offer
 * @param {string | null} shipsTo
 */
export function leadTime(offer, shipsTo) {
  return shipsTo ? offer[`lead_time_days_to_${shipsTo}`] ?? null : null;
}
