// @ts-check
// Routes as AiZynthFinder writes and reads them (`ReactionTree.to_dict`), as `retort plan --format aizynth` does: trees in which molecules and reactions
// alternate, reactions written backwards.

import { treeOf } from "./answer.js";

/** @typedef {import("./answer.js").Route} Route */
/** @typedef {import("./answer.js").Tree} Tree */

/**
 * The trees of routes, in their order.
 * @param {Route[]} routes
 */
export function aizynth(routes) {
  return routes.map(({ graph, backbone }) => {
    const tree = treeOf(graph);
    const scores = graph.graph ? { "retort score": graph.graph.score } : {};
    return { ...molecule(tree), scores, metadata: { is_solved: isSolved(tree), backbone } };
  });
}

/**
 * @param {Tree} tree
 * @returns {object}
 */
function molecule({ data: { smiles, is_building_block }, step }) {
  const made = { type: "mol", hide: false, smiles, is_chemical: true, in_stock: is_building_block };
  return step ? { ...made, children: [reaction(step, smiles)] } : made;
}

/**
 * @param {import("./answer.js").Step} step
 * @param {string} product
 */
function reaction({ edge, precursors }, product) {
  const { template, reaction_class, precedents, probability, plausibility } = edge;
  const metadata = facts({
    template_hash: template, classification: reaction_class, library_occurrence: precedents, policy_probability: probability, policy_name: "retort", plausibility,
  });
  const reactants = precursors.map(({ data }) => data.smiles).join(".");
  return {
    type: "reaction", hide: false, smiles: `${product}>>${reactants}`, is_reaction: true, metadata, children: precursors.map(molecule),
  };
}

/**
 * Facts by name, without those that nobody knows.
 * @param {Record<string, unknown>} all
 */
export function facts(all) {
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined && value !== null));
}

/**
 * Whether all is bought that is not made, which of a route by hand nobody has seen to.
 * @param {Tree} tree
 * @returns {boolean}
 */
function isSolved({ data, step }) {
  return step ? step.precursors.every(isSolved) : data.is_building_block;
}
