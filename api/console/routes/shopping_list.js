// @ts-check
// Shopping list of a route, as a table and as CSV.

import { framed, picture } from "../drawing/picture.js";
import { csvOf } from "../shared/csv.js";
import { make } from "../shared/elements.js";
import { amount, days, dollars, percent, significant } from "../shared/numbers.js";

/** @typedef {import("../answer/answer.js").ShoppingList} ShoppingList */
/** @typedef {import("../answer/answer.js").Route} Route */

/**
 * @param {Route} route
 * @returns {Node[]}
 */
export function shoppingList({ list, blocks }) {
  if (!list) return [make("p", { className: "quiet" }, "Only the target itself is ordered.")];
  const structures = new Map(blocks.map((data) => [data.building_block_idx, data.smiles]));
  const head = ["", "Needed", "Packs", "Price", "Lead time"].map((name, index) => make("th", { scope: "col" }, index ? name : make("span", { className: "unseen" }, "Building block")));
  const table = make("table", { className: "small order" }, make("thead", {}, make("tr", {}, ...head)));
  for (const order of list.vendors) {
    const title = make("th", { colSpan: 3, scope: "rowgroup" }, order.vendor_name);
    table.append(make("tbody", {}, make("tr", { className: "vendor" }, title, make("td", {}, dollars(order.total_usd)), make("td", {}, days(order.lead_time_days))),
      ...order.items.map((item) => make("tr", {}, make("td", {}, block(structures.get(item.building_block_idx), item.cs_id)), make("td", {}, `${significant(item.grams_needed)} g`),
        make("td", {}, `${item.count} × ${amount(item.pack, item.uom)}`), make("td", {}, dollars(item.usd)), make("td", {}, days(item.lead_time_days))))));
  }
  if (list.without_price.length) {
    const title = make("th", { colSpan: 5, scope: "rowgroup" }, "At hand, or of unknown price");
    table.append(make("tbody", {}, make("tr", { className: "vendor" }, title), ...list.without_price.map((item) => make("tr", {},
      make("td", {}, block(structures.get(item.building_block_idx), "")), make("td", {}, `${significant(item.grams_needed)} g`),
      make("td", { colSpan: 3 }, item.vendors.join(", ") || "no vendor")))));
  }
  const total = make("p", { className: "total" }, make("strong", {}, list.total_usd === null ? "Not all priced" : dollars(list.total_usd)),
    ` for ${significant(list.amount_mmol)} mmol at ${percent(list.step_yield)} a step`, list.lead_time_days === null ? "" : `, all delivered in ${days(list.lead_time_days)}`);
  return [total, make("div", { className: "wide", tabIndex: 0, role: "region", "aria-label": "Shopping list" }, table)];
}

/**
 * @param {string | undefined} smiles
 * @param {string} entry
 */
function block(smiles, entry) {
  const parts = smiles ? [framed(picture(smiles), 110, 64, smiles)] : [];
  return make("span", { className: "block" }, ...parts, make("span", { className: "second" }, entry));
}

const COLUMNS = ["vendor", "entry", "smiles", "grams_needed", "packs", "pack", "unit", "usd", "lead_time_days"];

/**
 * @param {Route} route
 * @returns {string}
 */
export function shoppingCsv({ list, blocks }) {
  if (!list) return "";
  const structures = new Map(blocks.map((data) => [data.building_block_idx, data.smiles]));
  const rows = list.vendors.flatMap((order) => order.items.map((item) => [
    order.vendor_name, item.cs_id, structures.get(item.building_block_idx), item.grams_needed, item.count, item.pack, item.uom, item.usd, item.lead_time_days,
  ]));
  const unpriced = list.without_price.map((item) => [item.vendors.join("; "), "", structures.get(item.building_block_idx), item.grams_needed]);
  return csvOf(COLUMNS, [...rows, ...unpriced]);
}
