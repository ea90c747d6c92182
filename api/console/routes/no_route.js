// @ts-check
// Reasons why there is no route, and suggestions.

import { framed, picture } from "../drawing/picture.js";
import { make } from "../shared/elements.js";
import { several, significant } from "../shared/numbers.js";
import { constraintReport } from "./constraint_report.js";

/**
 * @param {import("./results.js").Found} found
 * @returns {Node[]}
 */
export function noRoute({ answer, asked }) {
  const { metadata } = answer;
  const nodes = [make("h2", {}, "No route was found"), make("p", {}, how(metadata, asked))];
  const refused = metadata.search && Object.values(metadata.search.refused_steps).some((times) => Number(times) > 0);
  if (refused) nodes.push(make("ul", { className: "reasons" }, ...refusals(metadata.search.refused_steps)));
  const told = constraintReport(metadata.search?.constraints ?? [], asked);
  if (told) nodes.push(make("h3", {}, "Constraints"), told);
  const stoppers = metadata.search?.stopped_by ?? [];
  if (stoppers.length) {
    nodes.push(make("h3", {}, "Missing building blocks of the best partial route"),
      make("ul", { className: "stoppers" }, ...stoppers.map((/** @type {string} */ smiles) => make("li", {}, framed(picture(smiles), 220, 140, smiles), make("code", {}, smiles)))));
  }
  nodes.push(make("h3", {}, "Suggestions"), make("ul", { className: "reasons" }, ...advice(metadata, asked).map((line) => make("li", {}, line))));
  return nodes;
}

/**
 * @param {any} metadata
 * @param {Record<string, any>} asked
 */
function how({ search, tree_search_elapsed, unvalidated_routes }, asked) {
  const seconds = `${significant(tree_search_elapsed)} s`;
  const tried = search ? ` Templates were tried on ${several(search.expanded_molecules, "molecule")}.` : "";
  const end = search?.exhausted ? `After ${seconds} nothing was left to try within ${several(asked.max_depth ?? 5, "step")}.` : `The time was up after ${seconds}.`;
  const failed = unvalidated_routes ? ` ${several(unvalidated_routes, "candidate")} failed when run forwards.` : "";
  return end + tried + failed;
}

/** @param {{unsound: number, product_not_regained: number, competing_site: number}} refused */
function refusals({ unsound, product_not_regained, competing_site }) {
  const reasons = /** @type {[number, string][]} */ ([
    [unsound, "refused because a chemist would not run them"],
    [product_not_regained, "refused because, run forwards, they do not give their product"],
    [competing_site, "refused because, run forwards, they give other products as well"],
  ]);
  return reasons.filter(([times]) => times > 0).map(([times, why]) => make("li", {}, `${several(times, "step")} ${why}`));
}

/**
 * @param {any} metadata
 * @param {Record<string, any>} asked
 */
function advice({ search }, asked) {
  return [
    search?.exhausted === false ? "Search longer." : "",
    search?.constraints?.length ? "Remove a mark or a constraint." : "",
    (asked.max_depth ?? 5) < 10 ? "Allow a longer branch." : "",
    asked.mask_usd_pricing_gte !== null || asked.mask_lead_times_gte !== null || asked.mask_bblocks_mw_gte !== null ? "Lift a limit on building blocks." : "",
    asked.vendors_only ? "Allow more vendors." : "",
    asked.ships_to ? "Choose no region: the blocks may be sold elsewhere." : "",
  ].filter(Boolean);
}
