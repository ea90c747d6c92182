// @ts-check
// Card of a building block: structure, price, vendors and actions.

import { entry } from "../routes/details.js";
import { make } from "../shared/elements.js";
import { days, dollars, percent } from "../shared/numbers.js";
import { planAddress } from "../shared/plan_address.js";

/** @typedef {{smiles: string, price: number | null, lead_time_days: number | null, mw: number, similarity: number | null, vendors: string[], offers: import("../answer/answer.js").Offer[]}} Block */

const DRAWN = { width: 220, height: 130 };
/** Vendors that are named; who wants all of them asks for the offers. */
const NAMED = 4;

/**
 * @param {Block} block
 * @param {{shipsTo: string | null, thumbnails: import("../drawing/thumbnails.js").Thumbnails, similar: string}} how `similar`: the address of those that are like it
 */
export function blockCard(block, { shipsTo, thumbnails, similar }) {
  const { smiles, price, lead_time_days, mw, similarity, vendors } = block;
  const depicted = make("span", { className: "depicted" });
  thumbnails.add(depicted, smiles, DRAWN);
  const facts = [
    similarity === null ? "" : `${percent(similarity)} similar`, price === null ? "price not known" : `${dollars(price)}/g`, shipsTo ? days(lead_time_days) : "", `${mw.toFixed(1)}\u00a0Da`,
  ];
  const named = vendors.slice(0, NAMED).map((vendor) => make("li", {}, `${vendor} `, ...entries(block, vendor)));
  if (vendors.length > NAMED) named.push(make("li", {}, `and ${vendors.length - NAMED} more`));
  return make("li", { className: "card block", "aria-label": smiles }, depicted, make("p", { className: "block_facts" }, facts.filter(Boolean).join(" · ")),
    make("code", {}, smiles), make("ul", { className: "sellers", "aria-label": "Vendors" }, ...named),
    make("p", { className: "row" }, make("a", { className: "button", href: planAddress(smiles) }, "Plan"),
      make("a", { className: "button plain", href: similar }, "Similar blocks")));
}

/**
 * A vendor's first entry, where it is among the offers.
 * @param {Block} block
 * @param {string} vendor
 */
function entries({ offers }, vendor) {
  const first = offers.find(({ vendor_name }) => vendor_name === vendor);
  return first ? [entry(first)] : [];
}
