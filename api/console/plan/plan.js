// @ts-check
// The part "Plan": an empty page, the routes of a stored plan (`#/plan/pln_1`), a kept route (`#/plan/rte_1`), or a target that another part names
// (`#/plan/target/CCO`).

import { offersOf, routeOf, routesOf } from "../answer/answer.js";
import { PLANS, ROUTES } from "../routes/kept_route.js";
import { why } from "../service/service.js";
import { find } from "../shared/elements.js";
import { plan } from "./plan_page.js";

/** @type {import("../app/parts.js").Begin} */
export function begin(_place, service) {
  let seen = "";
  /** The last that was opened; a search since then shows something else. @type {import("../routes/results.js").Found | null} */
  let opened = null;
  const page = plan(service, (id, found) => {
    [seen, opened] = [id, found];
    // The address leads to the plan again, for others too. A person who is in another part by now stays there.
    if (!find("plan").hidden) history.replaceState(null, "", `#/plan/${id}`);
  });

  // After an input the address no longer describes the page.
  find("target_form").addEventListener("input", () => {
    seen = "";
    if (location.hash.startsWith("#/plan/")) history.replaceState(null, "", "#/plan");
  }, true);

  /** @param {string} id */
  async function open(id) {
    seen = id;
    try {
      const address = `${id.startsWith("rte_") ? ROUTES : PLANS}/${encodeURIComponent(id)}`;
      const stored = await service.get(address);
      if (seen !== id) return;
      if (stored.object === "route") opened = { ...kept(stored), address: Promise.resolve(address) };
      else if (stored.result) opened = { ...found(stored), address: Promise.resolve(address) };
      else return page.tell(stored.error ? `This plan failed: ${stored.error}.` : `This plan has no result: it is ${stored.status}.`);
      page.open(opened);
    } catch (fault) {
      if (seen !== id) return;
      seen = "";
      page.tell(why(fault));
    }
  }

  return { show: ([id, smiles]) => {
    if (id === "target") {
      // The target is taken once, so that later changes stay when the person comes back.
      history.replaceState(null, "", "#/plan");
      if (smiles) page.aim(smiles);
    } else if (id && (id !== seen || page.found() !== opened)) open(id);
  } };
}

/**
 * The routes of a stored plan.
 * @param {any} plan
 * @returns {import("../routes/results.js").Found}
 */
function found({ result: answer, parameters, name }) {
  return { answer, bytes: written(answer), routes: routesOf(answer), offers: offersOf(answer), asked: parameters, name: name ?? undefined };
}

/**
 * A route that is kept, alone.
 * @param {import("../routes/kept_route.js").Kept} kept
 * @returns {import("../routes/results.js").Found}
 */
function kept(kept) {
  const { route: graph, pricing_annotations, parameters } = kept;
  const answer = { search_smiles: parameters.search_smiles, metadata: {}, route_hierarchy: {}, pricing_annotations: pricing_annotations ?? [] };
  const depth = Math.max(...graph.nodes.map((/** @type {import("../answer/answer.js").GraphNode} */ node) => node.data.depth));
  const route = { ...routeOf(graph, "kept", depth, 1), ...(kept.name && { name: kept.name }) };
  return { answer, bytes: written(kept), routes: [route], offers: offersOf(answer), asked: parameters, first: route.key, kept };
}

/** @param {unknown} value */
const written = (value) => JSON.stringify(value, null, 1);
