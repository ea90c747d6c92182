// @ts-check
// Filters of the list of routes.

import { find, make, say, tellFault } from "../shared/elements.js";
import { parseNumber } from "../shared/numbers.js";

/** @typedef {import("../answer/answer.js").Route} Route */
/**
 * @typedef {{words: string, steps: number | null, usd: number | null, withoutClass: string, withoutVendor: string, inAWeek: boolean}} Filters
 * `words`: each stands in what is known of the route; null or empty: whatever
 */

/** @type {Filters} */
export const OPEN = { words: "", steps: null, usd: null, withoutClass: "", withoutVendor: "", inAWeek: false };
const WEEK = 7;
const NUMBERS = /** @type {const} */ ({ most_steps: "steps", most_usd: "usd" });
const CHOICES = /** @type {const} */ ({ without_class: "withoutClass", without_vendor: "withoutVendor" });

/**
 * Routes that pass. SMILES tell small letters from large, words do not.
 * @param {Route[]} routes
 * @param {Filters} filters
 */
export function passing(routes, { words, steps, usd, withoutClass, withoutVendor, inAWeek }) {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  return routes.filter((route) => wanted.every((word) => route.words.includes(word))
    && (steps === null || route.steps <= steps)
    && (usd === null || (route.price !== null && route.price <= usd))
    && (!withoutClass || !route.classes.includes(withoutClass))
    && (!withoutVendor || !vendorsOf(route).includes(withoutVendor))
    && (!inAWeek || (route.lead !== null && route.lead <= WEEK)));
}

/** @param {Route} route */
function vendorsOf({ list }) {
  return list?.vendors.map((vendor) => vendor.vendor_name) ?? [];
}

/**
 * Makes the fields answer.
 * @param {() => Filters} filters as it is
 * @param {(filters: Filters) => void} change
 */
export function makeFilters(filters, change) {
  find("filter").addEventListener("input", () => change({ ...filters(), words: find("filter").value }));
  for (const [id, name] of Object.entries(NUMBERS)) {
    find(id).addEventListener("input", () => {
      const text = find(id).value;
      const read = text.trim() ? parseNumber(text) : null;
      tell(id, typeof read === "string" ? read : "");
      if (typeof read !== "string") change({ ...filters(), [name]: read });
    });
  }
  for (const [id, name] of Object.entries(CHOICES)) find(id).addEventListener("change", () => change({ ...filters(), [name]: find(id).value }));
  find("in_a_week").addEventListener("change", () => change({ ...filters(), inAWeek: find("in_a_week").checked }));
  find("filters_clear").addEventListener("click", () => {
    for (const id of Object.keys(NUMBERS)) {
      find(id).value = "";
      tell(id, "");
    }
    change({ ...OPEN, words: filters().words });
    find("most_steps").focus();
  });
}

/**
 * Says what is wrong with a number.
 * @param {string} id
 * @param {string} fault
 */
function tell(id, fault) {
  tellFault(find(`${id}_fault`), [], fault);
}

/**
 * Shows filters that may come from elsewhere, and what there is to choose from.
 * @param {Filters} filters
 * @param {Route[]} routes
 */
export function showFilters(filters, routes) {
  if (find("filter").value !== filters.words) find("filter").value = filters.words;
  for (const [id, name] of Object.entries(NUMBERS)) if (filters[name] === null && typeof parseNumber(find(id).value) !== "string") find(id).value = "";
  offer("without_class", filters.withoutClass, routes.flatMap((route) => route.classes));
  offer("without_vendor", filters.withoutVendor, routes.flatMap(vendorsOf));
  find("in_a_week").checked = filters.inAWeek;
  const used = [filters.steps !== null, filters.usd !== null, filters.withoutClass, filters.withoutVendor, filters.inAWeek].filter(Boolean).length;
  say(find("filters_used"), used ? String(used) : "");
  find("filters_clear").hidden = used === 0;
}

/**
 * @param {string} id
 * @param {string} chosen
 * @param {string[]} names
 */
function offer(id, chosen, names) {
  const all = [...new Set([...names, ...(chosen ? [chosen] : [])])].sort();
  const select = find(id);
  const there = [.../** @type {HTMLSelectElement} */ (select).options].slice(1).map((option) => option.value);
  if (there.join("\n") !== all.join("\n")) select.replaceChildren(select.options[0], ...all.map((name) => make("option", { value: name }, name)));
  select.value = chosen;
}
