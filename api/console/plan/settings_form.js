// @ts-check
// Settings as fields, each with its name in the contract and its fault.

import { find, make, tellFault } from "../shared/elements.js";
import { ChipField, structureChip } from "./chips.js";
import { GROUPS, PRESETS, presetOf, preset, SEPARATORS, SETTINGS } from "./settings.js";

/** @typedef {import("./settings.js").Typed} Typed */
/** @typedef {import("./settings.js").Setting} Setting */

/** Names of the places that show faults. */
const FIELDS = ["search_smiles", "marking", ...SETTINGS.map((setting) => setting.name)];
/** @type {Map<string, ChipField>} */
const chipFields = new Map();

/**
 * Makes the fields; `change` is called with all that is typed.
 * @param {() => Typed} typed
 * @param {(typed: Typed) => void} change
 */
export function makeForm(typed, change) {
  const presets = find("presets");
  for (const [name, { label, words }] of PRESETS) {
    const input = make("input", { type: "radio", name: "preset", value: name, id: `preset_${name}` });
    input.addEventListener("change", () => change(preset(name, typed())));
    presets.append(make("label", { className: "preset" }, input, make("span", { className: "two" },
      make("span", { className: "first" }, label), make("span", { className: "second" }, words))));
  }
  for (const { title, settings } of GROUPS) {
    const group = make("fieldset", {}, make("legend", {}, title));
    for (const setting of settings) group.append(field(setting, (value) => change({ ...typed(), [setting.name]: value })));
    find("settings").append(group);
  }
  const classes = make("datalist", { id: "classes" });
  find("settings").append(classes);
  // Without these suggestions the fields work as well.
  fetch("/console/reaction_classes.json").then((answer) => answer.json()).then((names) => {
    for (const name of names) classes.append(make("option", { value: name }));
  }).catch(() => {});
}

/**
 * @param {Setting} setting
 * @param {(value: string | boolean) => void} change
 */
function field(setting, change) {
  const { name, label, hint = "", unit = "", kind } = setting;
  const fault = make("p", { id: `${name}_fault`, className: "fault", hidden: true });
  const input = control(setting);
  input.id = name;
  input.setAttribute("aria-describedby", `${name}_fault`);
  if (kind === "check") {
    input.addEventListener("change", () => change(input.checked));
    return make("div", { className: "field check" }, make("label", {}, input, label), make("code", {}, name), fault);
  }
  if (kind !== "choice") input.placeholder = hint;
  if (kind === "chips") {
    const several = new ChipField(input, { show: shown(setting.of), separator: SEPARATORS[setting.of], change });
    chipFields.set(name, several);
    return make("div", { className: "field" }, make("label", { htmlFor: name }, label), make("code", {}, name), several.element, fault);
  }
  input.addEventListener("input", () => change(input.value));
  const row = make("span", { className: "control" }, input, make("span", { className: "unit" }, unit));
  return make("div", { className: "field" }, make("label", { htmlFor: name }, label), make("code", {}, name), row, fault);
}

/**
 * Returns a function that gives the content of a line's chip.
 * @param {import("./settings.js").Things} of
 * @returns {(line: string) => Node | string}
 */
function shown(of) {
  if (of === "molecules") return structureChip;
  if (of === "blocks") {
    return (line) => {
      const [smiles, price] = line.split(/\s+/);
      return make("span", { className: "priced" }, structureChip(smiles), price ? `${price} USD/g` : "");
    };
  }
  return of === "patterns" ? (line) => make("code", {}, line) : (line) => line;
}

/**
 * @param {Setting} setting
 * @returns {any}
 */
function control(setting) {
  if (setting.kind === "check") return make("input", { type: "checkbox" });
  if (setting.kind === "choice") return make("select", {}, ...setting.choices.map(([value, text]) => make("option", { value }, text)));
  const input = make("input", { type: "text", autocomplete: "off", spellcheck: false, inputMode: setting.kind === "chips" ? "text" : "decimal" });
  if (setting.kind === "chips" && setting.of === "classes") input.setAttribute("list", "classes");
  return input;
}

/**
 * Shows what is typed, from wherever it came.
 * @param {Typed} typed
 */
export function showForm(typed) {
  for (const { name, kind } of SETTINGS) {
    const input = find(name);
    if (kind === "check") input.checked = typed[name];
    else if (kind === "chips") chipFields.get(name)?.show(String(typed[name]));
    else if (input.value !== typed[name]) input.value = typed[name];
  }
  const chosen = presetOf(typed);
  for (const name of PRESETS.keys()) find(`preset_${name}`).checked = name === chosen;
}

/**
 * Shows what is wrong at its field, and opens what hides it.
 * @param {Record<string, string>} faults
 */
export function showFaults(faults) {
  for (const name of FIELDS) {
    tellFault(find(`${name}_fault`), [find(name)], faults[name] ?? "");
  }
  if (SETTINGS.some(({ name }) => faults[name])) find("more").open = true;
}
