// @ts-check
// Settings of a search: the contract's fields in the words of chemists, and presets.

import { parseNumber } from "../shared/numbers.js";

/** @typedef {"names" | "classes" | "molecules" | "patterns" | "blocks" | "templates"} Things what a list is of */
/**
 * @typedef {{name: string, label: string, hint?: string, unit?: string} & ({kind: "number", empty: "none" | "default"} | {kind: "percent"} | {kind: "check"} | {kind: "chips", of: Things} | {kind: "choice", choices: [string, string][]})} Setting
 * `empty`: what a number that is not given means, no limit or what the service takes by itself.
 */
/** @typedef {Record<string, string | boolean>} Typed what stands in the fields; a list has a line for each */

export const COUNTRIES = /** @type {[string, string][]} */ ([
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
    { name: "mask_lead_times_gte", label: "Delivered in less than", unit: "days", hint: "no limit", kind: "number", empty: "none" },
    { name: "mask_bblocks_mw_gte", label: "Lighter than", unit: "Da", hint: "no limit", kind: "number", empty: "none" },
    { name: "vendors_only", label: "Only from vendors", hint: "any; Enter adds one", kind: "chips", of: "names" },
    { name: "vendors_never", label: "Never from vendors", hint: "none; Enter adds one", kind: "chips", of: "names" },
    { name: "vendors_first", label: "First from vendors", hint: "one's own stock", kind: "chips", of: "names" },
  ] },
  { title: "Routes", settings: [
    { name: "max_steps", label: "Most steps in all", unit: "steps", hint: "no limit", kind: "number", empty: "none" },
    { name: "protecting_groups", label: "Protecting groups", kind: "choice", choices: [["allowed", "Allowed"], ["never", "Never"]] },
    { name: "reaction_classes_only", label: "Only reactions of class", hint: "any", kind: "chips", of: "classes" },
    { name: "reaction_classes_never", label: "Never a reaction of class", hint: "none", kind: "chips", of: "classes" },
    { name: "reaction_classes_required", label: "With a reaction of class", hint: "any", kind: "chips", of: "classes" },
    { name: "templates_never", label: "Never by template", hint: "none", kind: "chips", of: "templates" },
  ] },
  { title: "Molecules", settings: [
    { name: "building_blocks_own", label: "Blocks at hand", hint: "SMILES, and USD/g if known", kind: "chips", of: "blocks" },
    { name: "building_blocks_required", label: "Routes use the blocks", hint: "SMILES", kind: "chips", of: "molecules" },
    { name: "molecules_never", label: "Never the molecules", hint: "SMILES", kind: "chips", of: "molecules" },
    { name: "substructures_never", label: "Never molecules with", hint: "SMARTS", kind: "chips", of: "patterns" },
    { name: "fragments_to_keep", label: "Parts of the target kept whole", hint: "SMARTS or SMILES", kind: "chips", of: "patterns" },
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
  mask_lead_times_gte: "", mask_bblocks_mw_gte: "", max_steps: "", protecting_groups: "allowed", max_backbone_groups: "5",
  max_backbone_group_size: "10", limit_backbone_group_size_by_cost: false, amount_mmol: "1", step_yield: "80",
  ...Object.fromEntries(SETTINGS.filter((setting) => setting.kind === "chips").map(({ name }) => [name, ""])),
};
const LONGER = { early_exit_first_solution: false, max_seconds: "20", max_backbone_groups: "10" };

/** Presets: changes of the contract's defaults. Settings of the person or the project stay. */
export const PRESETS = new Map([
  ["fast", { label: "Fast", words: "The first route", changes: { max_backbone_groups: "5" } }],
  ["thorough", { label: "Thorough", words: "A full minute, 20 backbones", changes: { ...LONGER, max_seconds: "60", max_depth: "8", max_backbone_groups: "20" } }],
  ["cheapest", { label: "Cheapest", words: "Blocks below 50 USD/g", changes: { ...LONGER, mask_usd_pricing_gte: "50", limit_backbone_group_size_by_cost: true } }],
  ["week", { label: "In a week", words: "Blocks delivered in 7 days", changes: { ...LONGER, mask_lead_times_gte: "8" } }],
]);
/** Settings of the person or the project, which presets do not change. */
const LASTING = new Set(["ships_to", "amount_mmol", "step_yield", "max_steps", "protecting_groups", ...SETTINGS.filter(({ kind }) => kind === "chips").map(({ name }) => name)]);

/** Separators of items in one field; names have spaces, patterns commas. */
export const SEPARATORS = /** @type {Record<Things, RegExp>} */ ({
  names: /[,\n]/, classes: /[,\n]/, molecules: /[\s,]/, patterns: /\s/, blocks: /[;\n]/, templates: /[\s,]/,
});

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
 * The name of the preset that `typed` equals; empty if there is none.
 * @param {Typed} typed
 */
export function presetOf(typed) {
  return [...PRESETS.keys()].find((name) => Object.entries(preset(name, typed)).every(([field, value]) => typed[field] === value)) ?? "";
}

/**
 * The body of a request, and the faults of what was typed, by field.
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
    else if (kind === "chips") {
      const lines = String(value).split("\n").filter(Boolean);
      const read = setting.of === "blocks" ? lines.map(ownBlock) : lines;
      const wrong = read.find((one) => one instanceof Error);
      if (wrong instanceof Error) faults[name] = wrong.message;
      else if (lines.length) body[name] = read;
    } else if (String(value).trim() === "") {
      if (kind === "number" && setting.empty === "none") body[name] = null;
    } else {
      const read = parseNumber(String(value));
      if (typeof read === "string") faults[name] = read;
      else body[name] = kind === "percent" ? read / 100 : read;
    }
  }
  return { body, faults };
}

/**
 * The fields of a request as they would be typed.
 * @param {Record<string, any>} body
 * @returns {Typed}
 */
export function typedOf(body) {
  return Object.fromEntries(SETTINGS.map((setting) => [setting.name, body[setting.name] === undefined ? CONTRACT[setting.name] : written(setting, body[setting.name])]));
}

/**
 * @param {Setting} setting
 * @param {any} value
 */
function written(setting, value) {
  if (setting.kind === "check") return Boolean(value);
  if (value === null) return "";
  if (setting.kind === "percent") return String(Number((100 * value).toPrecision(12)));
  if (setting.kind !== "chips") return String(value);
  const lines = setting.of === "blocks" ? value.map((/** @type {any} */ { smiles, usd_per_gram }) => [smiles, usd_per_gram].filter((part) => part !== null && part !== undefined).join(" ")) : value;
  return lines.join("\n");
}

/**
 * A block that is at hand: its SMILES and, where it is known, what a gram of it is worth.
 * @param {string} line
 */
function ownBlock(line) {
  const [smiles, ...price] = line.trim().split(/\s+/);
  if (!price.length) return { smiles };
  const read = parseNumber(price.join(" "));
  return typeof read === "string" ? new Error(read) : { smiles, usd_per_gram: read };
}

/**
 * The fields with one more line in a list; the same object if the line is there already.
 * @param {Typed} typed
 * @param {string} name
 * @param {string} line
 * @returns {Typed}
 */
export function withLine(typed, name, line) {
  const lines = String(typed[name] ?? "").split("\n").filter(Boolean);
  return lines.includes(line) ? typed : { ...typed, [name]: [...lines, line].join("\n") };
}
