// @ts-check
// Products of a route with similar building blocks: the service runs its steps forwards with each.

import { framed, picture } from "../drawing/picture.js";
import { fullGraph } from "../routes/kept_route.js";
import { why } from "../service/service.js";
import { find, make, say } from "../shared/elements.js";
import { dollars, percent, several } from "../shared/numbers.js";
import { planAddress } from "../shared/plan_address.js";

/** @typedef {{smiles: string, error: string | null, in_stock: boolean, target: string | null, plausibility: number | null, route: import("../answer/answer.js").RouteGraph | null}} Analogue */
/** @typedef {import("../catalogue/block_card.js").Block & {building_block_idx: number}} Sold */
/** @typedef {{route: import("../answer/answer.js").RouteGraph, target: string, plausibility: number, sold: Sold}} Made */

/** Blocks that are tried: as many as the service tells of at once. */
const MOST = 100;
/** Least similarity; others would be another series of molecules. */
const LEAST_ALIKE = 0.3;
/** Longer than the service takes, milliseconds. */
const TIMEOUT = 120000;

/**
 * Lets a person choose what to make with a similar block.
 * @param {import("../service/service.js").Service} service
 * @param {import("../answer/answer.js").RouteGraph} graph
 * @param {string} block
 * @param {string | null} shipsTo
 * @returns {Promise<Made | null>} null where nothing was chosen
 */
export async function chooseAnalogue(service, graph, block, shipsTo) {
  const dialog = /** @type {HTMLDialogElement} */ (find("analogues"));
  find("analogues_of").replaceChildren(framed(picture(block), 320, 180, block));
  find("analogues_list").replaceChildren();
  find("analogues_refused").replaceChildren();
  say(find("analogues_told"), "Running the route with similar blocks …");
  dialog.showModal();
  /** @type {Made | null} */
  let chosen = null;
  const closing = new AbortController();
  const closed = new Promise((done) => closing.signal.addEventListener("abort", () => done(null)));
  dialog.addEventListener("close", () => closing.abort(), { once: true });
  const tried = await tries(service, graph, block, shipsTo, closing.signal);
  if (closing.signal.aborted) return null;
  if (typeof tried === "string") say(find("analogues_told"), tried);
  else {
    const made = tried.flatMap(({ sold, analogue: { route, target, plausibility } }) => (route && target ? [{ route, target, plausibility: plausibility ?? 1, sold }] : []));
    say(find("analogues_told"), told(made.length, tried.length));
    const models = { target: picture(graph.nodes[0].data.smiles), block: picture(block) };
    find("analogues_list").replaceChildren(...made.map((one) => card(one, models, () => {
      chosen = one;
      dialog.close();
    }, () => dialog.close())));
    find("analogues_refused").replaceChildren(...refused(tried));
  }
  await closed;
  return chosen;
}

/**
 * @param {number} made
 * @param {number} tried
 */
function told(made, tried) {
  if (tried === 0) return "The catalogue has no similar block.";
  return `${made || "None"} of ${several(tried, "similar block")} ${made > 1 ? "give" : "gives"} a product${made > 1 ? ", the most similar first" : ""}.`;
}

/**
 * The most similar blocks, each with what the route gives of it.
 * @param {import("../service/service.js").Service} service
 * @param {import("../answer/answer.js").RouteGraph} graph
 * @param {string} block
 * @param {string | null} shipsTo
 * @param {AbortSignal} signal
 * @returns {Promise<{sold: Sold, analogue: Analogue}[] | string>} or why there are none
 */
async function tries(service, graph, block, shipsTo, signal) {
  const timeout = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT)]);
  try {
    const like = { similar_to: block, min_similarity: LEAST_ALIKE, limit: MOST, ships_to: shipsTo };
    const { items } = await service.send("/synth/v1/building-blocks/search", like, timeout);
    const others = items.filter((/** @type {Sold} */ one) => one.smiles !== block);
    if (!others.length) return [];
    const body = { route: fullGraph(graph), building_block: block, smiles: others.map((/** @type {Sold} */ one) => one.smiles) };
    const made = await service.send("/synth/v1/analogues", body, timeout);
    return others.map((/** @type {Sold} */ sold, /** @type {number} */ place) => ({ sold, analogue: made.items[place] }));
  } catch (fault) {
    return why(fault);
  }
}

/**
 * @param {Made} made
 * @param {{target: import("../drawing/picture.js").Picture, block: import("../drawing/picture.js").Picture}} models what its molecules lie like
 * @param {() => void} choose
 * @param {() => void} leave
 */
function card({ target, plausibility, sold }, models, choose, leave) {
  const button = make("button", { type: "button", className: "plain" }, "Show the route");
  button.addEventListener("click", choose);
  const link = make("a", { href: planAddress(target) }, "Find routes to it");
  link.addEventListener("click", leave);
  const price = sold.price === null ? "price not known" : `${dollars(sold.price)}/g`;
  const pictures = [
    make("figure", {}, framed(picture(target, models.target), 190, 120, target), make("figcaption", {}, `${percent(plausibility)} plausible overall`)),
    make("figure", { className: "sold" }, framed(picture(sold.smiles, models.block), 190, 120, sold.smiles), make("figcaption", {}, `${percent(sold.similarity ?? 0)} similar · ${price}`)),
  ];
  return make("li", {}, make("p", { className: "line" }, button, link), make("div", { className: "pictures" }, ...pictures));
}

/**
 * The blocks that do not go through, each with the step that does not take it.
 * @param {{sold: Sold, analogue: Analogue}[]} tried
 */
function refused(tried) {
  const lines = tried.flatMap(({ sold, analogue: { error } }) => (error === null ? [] : [make("li", {}, make("code", {}, sold.smiles), ` ${error}`)]));
  return lines.length ? [make("details", {}, make("summary", {}, `Refused (${lines.length})`), make("ul", { className: "quiet" }, ...lines))] : [];
}
