// @ts-check
// Conditions on a sample's molecules, as they are typed and as the service takes them.

import { PROPERTIES } from "../molecules/properties.js";
import { bound } from "./histogram.js";

/** @typedef {import("./histogram.js").Range} Range */
/** @typedef {{scaffold: string, ranges: Record<string, Range>, alerts: string[], isMakeable: boolean, maxSteps: string}} TypedConditions `ranges`: by the service's name of the property */

/** Properties that can have a range, by the service's name: those of the histograms, then others. */
export const RANGED = [
  ...PROPERTIES.map(({ condition, label, unit }) => ({ name: condition, label, unit })),
  { name: "qed", label: "Drug-likeness (QED)", unit: "0 to 1" },
  { name: "sa_score", label: "Synthetic accessibility", unit: "1 easy, 10 hard" },
];

/** Sets of structural alerts, by the service's name. */
export const ALERTS = { pains: "PAINS", brenk: "Brenk", nih: "NIH", chembl: "ChEMBL" };

/** Most reaction steps that a limit can name. */
const MOST_STEPS = 50;

/**
 * The fields of a request, or what is wrong with them, by field.
 * @param {TypedConditions} typed
 * @returns {{conditions: object, faults: Record<string, string>}}
 */
export function conditionsOf({ scaffold, ranges, alerts, isMakeable, maxSteps }) {
  /** @type {Record<string, string>} */
  const faults = {};
  /** @type {Record<string, {gte?: number, lte?: number}>} */
  const properties = {};
  for (const { name } of RANGED) {
    const { from = "", to = "" } = ranges[name] ?? {};
    const [gte, lte] = [bound(from), bound(to)];
    if (typeof gte === "string" || typeof lte === "string") faults[name] = typeof gte === "string" ? gte : String(lte);
    else if (gte !== null && lte !== null && gte > lte) faults[name] = "The lower end is above the upper one.";
    else if (gte !== null || lte !== null) properties[name] = { ...(gte !== null && { gte }), ...(lte !== null && { lte }) };
  }
  const steps = bound(maxSteps);
  if (isMakeable && (typeof steps === "string" || (steps !== null && !(Number.isInteger(steps) && steps >= 1 && steps <= MOST_STEPS)))) {
    faults.sample_steps = `Enter a whole number from 1 to ${MOST_STEPS}, or none.`;
  }
  const conditions = {
    ...(scaffold.trim() && { scaffold: scaffold.trim() }),
    ...(Object.keys(properties).length && { properties }),
    ...(alerts.length && { alerts }),
    ...(isMakeable && { synthesizable: typeof steps === "number" ? { max_steps: steps } : {} }),
  };
  return { conditions, faults };
}

/** Fields of the request, and where in the form what is wrong with them is said. */
const PLACES = new Map([["size", "size"], ["scaffold", "sample_scaffold"], ["synthesizable", "sample_steps"]]);

/**
 * The words of the service by field of the form, and whether each has one.
 * @param {import("../service/login.js").Refused["faults"]} refused
 */
export function faultsByField(refused) {
  const told = refused.map(({ loc: [, field, member], msg }) => ({
    name: field === "properties" ? RANGED.find(({ name }) => name === member)?.name : PLACES.get(String(field)), words: `${msg}.`,
  }));
  const placed = told.flatMap(({ name, words }) => (name ? [[name, words]] : []));
  return { faults: /** @type {Record<string, string>} */ (Object.fromEntries(placed)), isAll: told.length > 0 && placed.length === told.length };
}

/**
 * Ranges of the histograms, by the service's names.
 * @param {Record<string, Range>} ranges
 * @returns {Record<string, Range>}
 */
export function conditionRanges(ranges) {
  return Object.fromEntries(PROPERTIES.filter(({ name }) => ranges[name]).map(({ name, condition }) => [condition, ranges[name]]));
}
