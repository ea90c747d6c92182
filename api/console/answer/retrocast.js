// @ts-check
// Routes of RetroCast's schema 2, as `retort plan --format retrocast` writes them: molecules by SMILES and InChIKey, each with the reaction that it is the
// product of. The keys are the service's.

import { facts } from "./aizynth.js";
import { treeOf } from "./answer.js";

/** @typedef {import("./answer.js").Tree} Tree */
/** @typedef {{keys: Map<string, string | null>, prices: Map<number, number>}} Known `prices`: USD per gram by building block, the cheapest that is known */

/** Molecules that the service takes at once. */
const AT_ONCE = 1000;
/** Longer than it takes for so many, milliseconds. */
const TIMEOUT = 60000;

/**
 * What was found for a target as RetroCast's predictions.
 * @param {import("../service/service.js").Service} service
 * @param {import("../routes/results.js").Found} found
 * @returns {Promise<Record<string, object[]> | string>} or why there are none; fails where the service does not answer
 */
export async function retrocast(service, { answer, routes, offers }) {
  const keys = await inchikeys(service, new Set(routes.flatMap(({ graph }) => graph.nodes.map((node) => node.data.smiles))));
  const without = [...keys].find(([, key]) => !key);
  if (without) return `${without[0]} has no InChIKey, which RetroCast's format needs.`;
  const prices = new Map([...offers].map(([block, offered]) => [block, Math.min(...offered.map((offer) => offer.normalised_usd ?? Infinity))]));
  const candidates = routes.map(({ graph, backbone }, place) => ({ rank: place + 1, route: route(graph, backbone, { keys, prices }) }));
  return { [answer.search_smiles]: candidates };
}

/**
 * @param {import("../service/service.js").Service} service
 * @param {Set<string>} molecules
 * @returns {Promise<Map<string, string | null>>}
 */
async function inchikeys(service, molecules) {
  const [all, keys] = [[...molecules], new Map()];
  for (let from = 0; from < all.length; from += AT_ONCE) {
    const smiles = all.slice(from, from + AT_ONCE);
    const { items } = await service.send("/synth/v1/building-blocks", { smiles, max_offers: 0, inchikey: true }, AbortSignal.timeout(TIMEOUT));
    smiles.forEach((one, place) => keys.set(one, items[place].inchikey ?? null));
  }
  return keys;
}

/**
 * @param {import("./answer.js").RouteGraph} graph
 * @param {string} backbone
 * @param {Known} known
 */
function route(graph, backbone, known) {
  const { rank, score, cost_usd_per_mol, lead_time_days } = graph.graph ?? {};
  return { target: molecule(treeOf(graph), known), annotations: facts({ rank, score, backbone, cost_usd_per_mol, lead_time_days }), schema_version: "2" };
}

/**
 * @param {Tree} tree
 * @param {Known} known
 * @returns {object}
 */
function molecule({ data: { smiles, building_block_idx }, step }, known) {
  const usd = step ? undefined : known.prices.get(building_block_idx ?? -1);
  const made = { smiles, inchikey: known.keys.get(smiles), annotations: facts({ usd_per_gram: usd === Infinity ? undefined : usd }) };
  return step ? { ...made, product_of: reaction(step, known) } : made;
}

/**
 * @param {import("./answer.js").Step} step
 * @param {Known} known
 */
function reaction({ edge, precursors }, known) {
  const { template: template_hash, reaction_class, probability, plausibility, precedents } = edge;
  return {
    reactants: precursors.map((one) => molecule(one, known)), annotations: facts({ template_hash, reaction_class, probability, plausibility, precedents }),
  };
}
