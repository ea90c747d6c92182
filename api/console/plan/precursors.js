// @ts-check
// Step by hand: a person chooses precursors among those that the service proposes, which makes another route.

import { routeOf } from "../answer/answer.js";
import { framed, picture } from "../drawing/picture.js";
import { Refused } from "../service/login.js";
import { why } from "../service/service.js";
import { find, make, say } from "../shared/elements.js";
import { percent, several } from "../shared/numbers.js";
import { Molecule } from "../vendor/openchemlib/openchemlib.js";

/** @typedef {import("../answer/answer.js").RouteGraph} RouteGraph */
/** @typedef {import("../answer/answer.js").Offer} Offer */
/** @typedef {import("../answer/answer.js").Route} Route */
/** @typedef {{smiles: string[], probability: number, plausibility: number, template_id: string, reaction_class: string, reaction_category?: string, precedents: number, in_stock: boolean[]}} PrecursorSet */
/** @typedef {{smiles: string, building_block_idx: number | null, lead_time_days: number | null, offers: Offer[]}} Sold */
/** @typedef {{sold: Map<string, Sold>, alike: Map<string, number>}} Known of precursors, by SMILES: those that are sold, and how alike the nearest that is sold is to the others */

const MOST = 50;
/** Blocks of the catalogue that are looked at for how alike they are: as many as the service tells at once. */
const MOST_ALIKE = 100;
/** Longer than the service takes for one molecule, milliseconds. */
const TIMEOUT = 60000;
/** Heading of routes by hand in the list. */
export const BY_HAND = "by hand";

/**
 * Which sets are offered, what there is where none is, and how they are counted.
 * @typedef {{may: (set: PrecursorSet) => boolean, none: string, what: string, like?: {block: string, shipsTo: string | null}}} Choice `like`: the block that
 * another one takes the place of
 */

/**
 * Any precursors but what the molecule goes into.
 * @param {Set<string>} above
 * @returns {Choice}
 */
export function anyBut(above) {
  return { may: (set) => !set.smiles.some((one) => above.has(one)), none: "The service proposes no step to it.", what: "way" };
}

/**
 * The precursors of a step but for one block, in whose place there is another one that is sold.
 * @param {string[]} precursors
 * @param {{block: string, shipsTo: string | null}} like
 * @param {Set<string>} above
 * @returns {Choice}
 */
export function another(precursors, like, above) {
  const { block } = like;
  const others = new Set(precursors.filter((one) => one !== block));
  const may = (/** @type {PrecursorSet} */ { smiles, in_stock }) => {
    const news = smiles.filter((one) => !others.has(one));
    const isOther = news.length === 1 && news[0] !== block && !above.has(news[0]);
    return isOther && in_stock[smiles.indexOf(news[0])] && [...others].every((one) => smiles.includes(one));
  };
  return { may, none: "The service proposes no other block in stock for this step.", what: "block", like };
}

/**
 * Lets a person choose what to make a molecule of.
 * @param {import("../service/service.js").Service} service
 * @param {string} smiles
 * @param {Choice} choice
 * @returns {Promise<PrecursorSet | null>} null where nothing was chosen
 */
export async function choosePrecursors(service, smiles, { may, none, what, like }) {
  const dialog = /** @type {HTMLDialogElement} */ (find("precursors"));
  find("precursors_of").replaceChildren(framed(picture(smiles), 320, 180, smiles));
  find("precursors_list").replaceChildren();
  find("precursors_more").replaceChildren(...(like ? likeIt(like, () => dialog.close()) : []));
  say(find("precursors_told"), "Searching …");
  dialog.showModal();
  /** @type {PrecursorSet | null} */
  let chosen = null;
  const closing = new AbortController();
  const closed = new Promise((done) => closing.signal.addEventListener("abort", () => done(null)));
  dialog.addEventListener("close", () => closing.abort(), { once: true });
  const [proposed, alike] = await Promise.all([
    proposals(service, smiles, closing.signal), like ? alikeTo(service, like.block, like.shipsTo, closing.signal) : new Map(),
  ]);
  if (closing.signal.aborted) return null;
  if (typeof proposed === "string") say(find("precursors_told"), proposed);
  else {
    const similarity = (/** @type {PrecursorSet} */ set) => Math.max(-1, ...set.smiles.map((one) => alike.get(one) ?? -1));
    // Those that are equally alike, or not among the most similar, stay in the order of their probability.
    const sets = proposed.filter((set) => !set.smiles.includes(smiles) && may(set)).sort((one, other) => similarity(other) - similarity(one));
    say(find("precursors_told"), sets.length ? `${several(sets.length, what)}, the most ${alike.size ? "similar" : "probable"} first.` : none);
    find("precursors_list").replaceChildren(...sets.map((set) => card(set, alike, () => {
      chosen = set;
      dialog.close();
    })));
  }
  await closed;
  return chosen;
}

/**
 * @param {import("../service/service.js").Service} service
 * @param {string} smiles
 * @param {AbortSignal} signal
 * @returns {Promise<PrecursorSet[] | string>} or why there are none
 */
async function proposals(service, smiles, signal) {
  try {
    const { items } = await service.send("/synth/v1/expansions", { smiles: [smiles], limit: MOST }, AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT)]));
    return items[0].error ?? items[0].precursors;
  } catch (fault) {
    return fault instanceof Refused && [404, 405].includes(fault.status) ? "This service does not propose single steps." : why(fault);
  }
}

/**
 * The way to what is sold and like a block, whatever a step would make of it.
 * @param {{block: string, shipsTo: string | null}} like
 * @param {() => void} leave
 */
function likeIt({ block, shipsTo }, leave) {
  const link = make("a", { href: `#/catalogue/similar/${encodeURIComponent(block)}/${shipsTo ?? "anywhere"}` }, "Similar blocks in the catalogue");
  link.addEventListener("click", leave);
  return [link, ", which may give other products"];
}

/**
 * Similarities of the most similar blocks in the catalogue, by SMILES; empty if the service gives none.
 * @param {import("../service/service.js").Service} service
 * @param {string} block
 * @param {string | null} shipsTo
 * @param {AbortSignal} signal
 * @returns {Promise<Map<string, number>>}
 */
async function alikeTo(service, block, shipsTo, signal) {
  try {
    const body = { similar_to: block, min_similarity: 0, limit: MOST_ALIKE, max_offers: 0, ships_to: shipsTo };
    const { items } = await service.send("/synth/v1/building-blocks/search", body, AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT)]));
    return new Map(items.map((/** @type {{smiles: string, similarity: number}} */ { smiles, similarity }) => [smiles, similarity]));
  } catch {
    return new Map();
  }
}

/**
 * @param {PrecursorSet} set
 * @param {Map<string, number>} alike
 * @param {() => void} choose
 */
function card(set, alike, choose) {
  const button = make("button", { type: "button", className: "plain" }, "Use this step");
  button.addEventListener("click", choose);
  const pictures = set.smiles.map((smiles, place) => make("figure", { className: set.in_stock[place] ? "sold" : "" },
    framed(picture(smiles), 190, 120, smiles), make("figcaption", {}, stands(smiles, set.in_stock[place], alike))));
  const told = [`probability ${percent(set.probability)}`, `${percent(set.plausibility)} plausible`, set.precedents ? several(set.precedents, "precedent") : "no precedent"];
  return make("li", {}, make("p", { className: "line" }, make("strong", {}, set.reaction_class), button),
    make("p", { className: "quiet" }, told.join(" · ")), make("div", { className: "pictures" }, ...pictures));
}

/**
 * @param {string} smiles
 * @param {boolean} isSold
 * @param {Map<string, number>} alike
 */
function stands(smiles, isSold, alike) {
  const similarity = alike.get(smiles);
  return `${isSold ? "in stock" : "to be made"}${similarity === undefined ? "" : ` · ${percent(similarity)} similar`}`;
}

/**
 * A route of which one molecule is made by other precursors; what only its old ones needed is gone.
 * @param {RouteGraph} graph
 * @param {string} smiles the molecule
 * @param {PrecursorSet} set
 * @param {Known} known
 * @returns {RouteGraph}
 */
export function grafted(graph, smiles, set, known) {
  const ids = new Map(graph.nodes.map((node) => [node.data.smiles, node.id]));
  const product = ids.get(smiles) ?? "";
  const nodes = new Map(graph.nodes.map((node) => [node.id, node]));
  const made = /** @type {import("../answer/answer.js").GraphNode} */ (nodes.get(product));
  nodes.set(product, { ...made, data: { ...made.data, is_building_block: false, building_block_idx: null } });
  const edges = graph.edges.filter((edge) => edge.source !== product);
  const { probability, plausibility, template_id, reaction_class, reaction_category = "other", precedents } = set;
  set.smiles.forEach((precursor) => {
    const id = ids.get(precursor) ?? `by hand ${precursor}`;
    if (!nodes.has(id)) nodes.set(id, { id, data: molecule(precursor, known) });
    if (edges.some((edge) => edge.source === product && edge.target === id)) return;
    edges.push({ ...UNKNOWN, source: product, target: id, probability, plausibility, template: template_id, reaction_class, reaction_category, precedents });
  });
  return reachable(graph.nodes[0].id, nodes, edges);
}

/** Fields of a step by hand that are not known. */
const UNKNOWN = { patents: [], conditions: { reagents: {}, catalysts: {}, solvents: {} }, precedent_similarity: null, warnings: [] };

/**
 * @param {string} smiles
 * @param {Known} known
 * @returns {import("../answer/answer.js").NodeData}
 */
function molecule(smiles, { sold, alike }) {
  const mw = Molecule.fromSmiles(smiles).getMolecularFormula().relativeWeight;
  const index = sold.get(smiles)?.building_block_idx ?? null;
  return { smiles, mw, is_building_block: index !== null, building_block_idx: index, closest_building_block: index === null ? alike.get(smiles) ?? null : 1, depth: 0 };
}

/**
 * The nodes and edges that the target needs, with their depths.
 * @param {string} target
 * @param {Map<string, import("../answer/answer.js").GraphNode>} nodes
 * @param {import("../answer/answer.js").GraphEdge[]} edges
 * @returns {RouteGraph}
 */
function reachable(target, nodes, edges) {
  const depths = new Map([[target, 0]]);
  for (const [id, depth] of depths) for (const edge of edges) if (edge.source === id && !depths.has(edge.target)) depths.set(edge.target, depth + 1);
  return {
    nodes: [...depths].map(([id, depth]) => {
      const node = /** @type {import("../answer/answer.js").GraphNode} */ (nodes.get(id));
      // Its standing in other routes has no meaning here.
      return { id, data: { ...node.data, depth } };
    }),
    edges: edges.filter((edge) => depths.has(edge.source)),
  };
}

/**
 * A route by hand, to be listed with others.
 * @param {RouteGraph} graph
 * @param {number} number
 * @returns {Route}
 */
export function routeByHand(graph, number) {
  const depth = Math.max(...graph.nodes.map((node) => node.data.depth));
  return { ...routeOf(graph, BY_HAND, depth, 0), name: `By hand ${number}` };
}

/**
 * Offers and similarities of the precursors, as far as the service gives them.
 * @param {import("../service/service.js").Service} service
 * @param {PrecursorSet} set
 * @param {string | null} shipsTo
 * @returns {Promise<Known>}
 */
export async function knownOf(service, { smiles, in_stock }, shipsTo) {
  const [sold, alike] = await Promise.all([
    soldBy(service, smiles.filter((_, place) => in_stock[place]), shipsTo),
    Promise.all(smiles.filter((_, place) => !in_stock[place]).map(async (one) => /** @type {const} */ ([one, await nearest(service, one, shipsTo)]))),
  ]);
  return { sold, alike: new Map(alike.flatMap(([one, similarity]) => (similarity === null ? [] : [[one, similarity]]))) };
}

/**
 * Similarity of the most similar block in the catalogue.
 * @param {import("../service/service.js").Service} service
 * @param {string} smiles
 * @param {string | null} shipsTo
 * @returns {Promise<number | null>}
 */
async function nearest(service, smiles, shipsTo) {
  try {
    const body = { similar_to: smiles, min_similarity: 0, limit: 1, max_offers: 0, ships_to: shipsTo };
    const { items } = await service.send("/synth/v1/building-blocks/search", body, AbortSignal.timeout(TIMEOUT));
    return items[0]?.similarity ?? null;
  } catch {
    return null;
  }
}

/**
 * Offers of molecules.
 * @param {import("../service/service.js").Service} service
 * @param {string[]} smiles
 * @param {string | null} shipsTo
 * @returns {Promise<Map<string, Sold>>}
 */
async function soldBy(service, smiles, shipsTo) {
  if (!smiles.length) return new Map();
  try {
    const { items } = await service.send("/synth/v1/building-blocks", { smiles, ships_to: shipsTo }, AbortSignal.timeout(TIMEOUT));
    return new Map(items.map((/** @type {Sold} */ item, /** @type {number} */ place) => [smiles[place], item]));
  } catch {
    return new Map();
  }
}
