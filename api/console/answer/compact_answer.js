// @ts-check
// Answers in which each molecule and each step stands once, and routes name them by their indices (`?view=compact`).

/** @typedef {import("./answer.js").Answer} Answer */
/** @typedef {import("./answer.js").GraphNode} GraphNode */
/** @typedef {import("./answer.js").GraphEdge} GraphEdge */
/** @typedef {GraphNode & {standing?: {essential: boolean, only_for: string | null}}} CompactMolecule `data.depth` is 0 */
/** @typedef {{product: string, precursors: string[], plausibility?: number, evidence?: Omit<GraphEdge, "source" | "target" | "plausibility">}} CompactStep */
/** @typedef {{graph?: import("./answer.js").Standing, molecules: number[], steps: number[]}} CompactRoute the target is the first of its molecules */
/** @typedef {Omit<Answer, "route_hierarchy"> & {molecules: CompactMolecule[], steps: CompactStep[], route_hierarchy: Record<string, Record<string, CompactRoute[][]>>}} CompactAnswer */

/**
 * The answer with the molecules and steps of each route. Indices without a molecule or step are left out.
 *
 * Routes share their equal nodes and edges, which are never changed in place.
 * @param {CompactAnswer} compact
 * @returns {Answer}
 */
export function expanded({ molecules, steps, ...answer }) {
  const edges = steps.map(edgesOf);
  /** By molecule and depth. @type {GraphNode[][]} */
  const nodes = molecules.map(() => []);
  const graphOf = (/** @type {CompactRoute} */ { molecules: named, steps: taken, ...route }) => {
    const [indices, made] = [named.filter((index) => index in molecules), taken.filter((index) => index in steps)];
    const depths = depthsOf(molecules[indices[0]]?.id, made.map((index) => steps[index]));
    const nodeOf = (/** @type {number} */ index) => {
      const depth = depths.get(molecules[index].id) ?? 0;
      return nodes[index][depth] ??= nodeAt(depth, molecules[index]);
    };
    return { directed: true, multigraph: false, ...route, nodes: indices.map(nodeOf), edges: made.flatMap((index) => edges[index]) };
  };
  const groupsOf = (/** @type {Record<string, CompactRoute[][]>} */ groups) => mapped(groups, (variations) => variations.map((routes) => routes.map(graphOf)));
  return { ...answer, route_hierarchy: mapped(answer.route_hierarchy, groupsOf) };
}

/**
 * @param {number} depth
 * @param {CompactMolecule} molecule
 * @returns {GraphNode}
 */
function nodeAt(depth, { data, standing, ...node }) {
  return { ...node, data: { ...data, depth }, ...standing };
}

/**
 * @param {CompactStep} step
 * @returns {GraphEdge[]}
 */
function edgesOf({ product, precursors, evidence, ...step }) {
  return precursors.map((precursor) => ({ source: product, target: precursor, ...step, ...evidence }));
}

/**
 * The fewest steps from the target to each molecule, by id.
 * @param {string} target
 * @param {CompactStep[]} steps
 */
function depthsOf(target, steps) {
  const made = new Map(steps.map(({ product, precursors }) => [product, precursors]));
  const depths = new Map([[target, 0]]);
  for (const [id, depth] of depths) for (const precursor of made.get(id) ?? []) if (!depths.has(precursor)) depths.set(precursor, depth + 1);
  return depths;
}

/**
 * @template A, B
 * @param {Record<string, A>} record
 * @param {(value: A) => B} map
 * @returns {Record<string, B>}
 */
function mapped(record, map) {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));
}
