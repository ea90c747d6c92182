// @ts-check
// What a search can be asked for: the contract's fields in the words of chemists, and choices of them that go together.

import { number } from "./words.js";

/**
 * @typedef {{name: string, label: string, hint?: string, unit?: string} & ({kind: "number", empty: "none" | "default"} | {kind: "percent"} | {kind: "check"} | {kind: "list"} | {kind: "choice", choices: [string, string][]})} Setting
 * `empty`: what a number that is not given means, no limit or what the service takes by itself.
 */
/** @typedef {Record<string, string | boolean>} Typed what stands in the fields */

const COUNTRIES = /** @type {[string, string][]} */ ([
  ["US", "United States"], ["CA", "Canada"], ["GB", "United Kingdom"], ["FR", "France"], ["CH", "Switzerland"], ["DE", "Germany"],
  ["CN", "China"], ["AU", "Australia"], ["", "No region: best offer anywhere"],
]);

/** @type {{title: string, settings: Setting[]}[]} */
export const GROUPS = [
  { title: "Search", settings: [
    { name: "max_seconds", label: "Time to search", unit: "s", kind: "number", empty: "default" },
    { name: "max_depth", label: "Longest branch", unit: "steps", kind: "number", empty: "default" },
    { name: "early_exit_first_solution", label: "Stop at the first route", kind: "check" },
    { name: "mask_trivial_solution", label: "Make the target even if it can be bought", kind: "check" },
  ] },
  { title: "Building blocks", settings: [
    { name: "ships_to", label: "Delivered to", kind: "choice", choices: COUNTRIES },
    { name: "mask_usd_pricing_gte", label: "Cheaper than", unit: "USD/g", hint: "no limit", kind: "number", empty: "none" },
    { name: "mask_lead_times_gte", label: "There in less than", unit: "days", hint: "no limit", kind: "number", empty: "none" },
    { name: "mask_bblocks_mw_gte", label: "Lighter than", unit: "Da", hint: "no limit", kind: "number", empty: "none" },
    { name: "vendors_only", label: "Only from vendors", hint: "any; several by commas", kind: "list" },
    { name: "vendors_never", label: "Never from vendors", hint: "none; several by commas", kind: "list" },
    { name: "vendors_first", label: "First from vendors", hint: "one's own stock", kind: "list" },
  ] },
  { title: "Answer", settings: [
    { name: "max_backbone_groups", label: "Different backbones", kind: "number", empty: "default" },
    { name: "max_backbone_group_size", label: "Variations of each", kind: "number", empty: "default" },
    { name: "limit_backbone_group_size_by_cost", label: "Keep the cheapest variations first", kind: "check" },
    { name: "amount_mmol", label: "Target to be made", unit: "mmol", kind: "number", empty: "default" },
    { name: "step_yield", label: "Yield of a step", unit: "%", kind: "percent" },
  ] },
];

export const SETTINGS = GROUPS.flatMap((group) => group.settings);

/** @type {Typed} */
const CONTRACT = {
  max_seconds: "4", max_depth: "5", early_exit_first_solution: true, mask_trivial_solution: true, ships_to: "US", mask_usd_pricing_gte: "10000",
  mask_lead_times_gte: "", mask_bblocks_mw_gte: "", vendors_only: "", vendors_never: "", vendors_first: "", max_backbone_groups: "5",
  max_backbone_group_size: "10", limit_backbone_group_size_by_cost: false, amount_mmol: "1", step_yield: "80",
};
const LONGER = { early_exit_first_solution: false, max_seconds: "20", max_backbone_groups: "10" };

/** What each preset sets besides what the contract has by default; what is not of the search stays as it was. */
export const PRESETS = new Map([
  ["fast", { label: "Fast", words: "The first route there is", changes: { max_backbone_groups: "5" } }],
  ["thorough", { label: "Thorough", words: "All of a minute, 20 backbones", changes: { ...LONGER, max_seconds: "60", max_depth: "8", max_backbone_groups: "20" } }],
  ["cheapest", { label: "Cheapest", words: "Blocks below 50 USD/g", changes: { ...LONGER, mask_usd_pricing_gte: "50", limit_backbone_group_size_by_cost: true } }],
  ["week", { label: "In a week", words: "Blocks here within 7 days", changes: { ...LONGER, mask_lead_times_gte: "8" } }],
]);
/** What belongs to a person or a project, whatever is searched for. */
const LASTING = new Set(["ships_to", "vendors_only", "vendors_never", "vendors_first", "amount_mmol", "step_yield"]);

/**
 * The settings of a preset; what lasts is taken from `typed`.
 * @param {string} preset
 * @param {Typed} [typed]
 * @returns {Typed}
 */
export function preset(preset, typed = CONTRACT) {
  const lasting = Object.fromEntries(Object.entries(typed).filter(([name]) => LASTING.has(name)));
  return { ...CONTRACT, ...lasting, ...PRESETS.get(preset)?.changes };
}

/**
 * The preset that `typed` is, if it is one.
 * @param {Typed} typed
 */
export function presetOf(typed) {
  return [...PRESETS.keys()].find((name) => Object.entries(preset(name, typed)).every(([field, value]) => typed[field] === value)) ?? "";
}

/**
 * The body of a request, or what cannot be understood of what was typed, by field.
 * @param {string} smiles
 * @param {Typed} typed
 */
export function request(smiles, typed) {
  /** @type {Record<string, any>} */
  const body = { search_smiles: smiles };
  /** @type {Record<string, string>} */
  const faults = {};
  for (const setting of SETTINGS) {
    const { name, kind } = setting;
    const value = typed[name];
    if (kind === "check") body[name] = value;
    else if (kind === "choice") body[name] = value || null;
    else if (kind === "list") {
      const names = String(value).split(",").map((one) => one.trim()).filter(Boolean);
      if (names.length) body[name] = names;
    } else if (String(value).trim() === "") {
      if (kind === "number" && setting.empty === "none") body[name] = null;
    } else {
      const read = number(String(value));
      if (typeof read === "string") faults[name] = read;
      else body[name] = kind === "percent" ? read / 100 : read;
    }
  }
  return { body, faults };
}
