// @ts-check
// Answer of a tree search: routes with their figures and trees, and the offers of each building block.

/** @typedef {{smiles: string, mw: number, is_building_block: boolean, building_block_idx: number | null, closest_building_block: number | null, depth: number}} NodeData */
/** @typedef {{id: string, data: NodeData}} GraphNode */
/** @typedef {{reagents: Record<string, number>, catalysts: Record<string, number>, solvents: Record<string, number>}} Conditions */
/** @typedef {{source: string, target: string, plausibility?: number, reaction_class?: string, reaction_category?: string, template?: string, probability?: number, precedents?: number, patents?: string[], conditions?: Conditions, precedent_similarity?: number | null, needs?: string, warnings?: string[]}} GraphEdge */
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
 * @typedef {{key: string, name?: string, reactions: string[], backbone: string, rank: number, steps: number, depth: number, price: number | null, perMole: number | null, lead: number | null, plausibility: number, classes: string[], blocks: NodeData[], words: string, list: ShoppingList | null, graph: RouteGraph}} Route
 * `key`: the same for the same route of another answer; `name`: of one that has no rank; `reactions`: its steps, `precursor.precursor>>product`
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
      for (const graph of variations.flat()) routes.push(routeOf(graph, backbone, Number(depth), routes.length + 1));
    }
  }
  return routes.sort((one, other) => one.rank - other.rank);
}

/**
 * @param {RouteGraph} graph
 * @param {string} backbone
 * @param {number} depth
 * @param {number} place its rank where it has none
 * @returns {Route}
 */
export function routeOf(graph, backbone, depth, place) {
  const steps = [...new Map(graph.edges.map((edge) => [edge.source, edge])).values()];
  const blocks = graph.nodes.map((node) => node.data).filter((data) => data.is_building_block);
  const classes = steps.map((step) => step.reaction_class ?? "step").reverse();
  const reactions = reactionsOf(graph);
  const list = (steps.length && graph.graph?.shopping_list) || null;
  return {
    key: `${backbone}_${hash(reactions.join())}`, reactions, backbone, depth, graph, blocks, classes, list,
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
 * The steps of a route, each once, in an order that does not depend on where they stand.
 * @param {RouteGraph} graph
 */
function reactionsOf({ nodes, edges }) {
  const smiles = new Map(nodes.map((node) => [node.id, node.data.smiles]));
  const steps = Map.groupBy(edges, (edge) => edge.source);
  return [...steps].map(([product, out]) => reaction(out.map((edge) => smiles.get(edge.target) ?? ""), smiles.get(product) ?? "")).sort();
}

/**
 * @param {string[]} precursors
 * @param {string} product
 */
function reaction(precursors, product) {
  return `${precursors.toSorted().join(".")}>>${product}`;
}

/**
 * The reaction that makes a molecule, as in a route's `reactions`; null for a building block.
 * @param {Tree} tree
 */
export function reactionOf({ data, step }) {
  return step && reaction(step.precursors.map((one) => one.data.smiles), data.smiles);
}

/**
 * A short name for a text: two hashes of 32 bits, FNV-1a and that of Bernstein.
 * @param {string} text
 */
function hash(text) {
  let [one, other] = [2166136261, 5381];
  for (let place = 0; place < text.length; place++) {
    const code = text.charCodeAt(place);
    one = Math.imul(one ^ code, 16777619);
    other = (Math.imul(other, 33) + code) | 0;
  }
  return (one >>> 0).toString(36) + (other >>> 0).toString(36);
}

/**
 * The molecule of a tree that has a key, if one has.
 * @param {Tree} tree
 * @param {string} key
 * @returns {Tree | null}
 */
export function treeAt(tree, key) {
  if (tree.key === key) return tree;
  for (const one of tree.step?.precursors ?? []) {
    const found = treeAt(one, key);
    if (found) return found;
  }
  return null;
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
 * The SMILES of what a molecule of a route goes into, the molecule among them.
 * @param {RouteGraph} graph
 * @param {string} smiles
 * @returns {Set<string>}
 */
export function above({ nodes, edges }, smiles) {
  const names = new Map(nodes.map((node) => [node.id, node.data.smiles]));
  const over = new Set([smiles]);
  for (const one of over) for (const edge of edges) if (names.get(edge.target) === one) over.add(names.get(edge.source) ?? "");
  return over;
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

/**
 * The molecules of a route that are made, each once, in the order of their steps.
 * @param {Tree} tree
 * @returns {(Tree & {step: Step})[]}
 */
export function stepsOf(tree) {
  const found = new Map();
  const visit = (/** @type {Tree} */ one) => {
    if (!one.step) return;
    one.step.precursors.forEach(visit);
    found.set(one.step.number, one);
  };
  visit(tree);
  return [...found.values()].sort((one, other) => one.step.number - other.step.number);
}
