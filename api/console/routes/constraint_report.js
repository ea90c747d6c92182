// @ts-check
// Constraints in words, with their effect on the search.

import { make } from "../shared/elements.js";
import { several } from "../shared/numbers.js";
import { Molecule } from "../vendor/openchemlib/openchemlib.js";

/** @typedef {{constraint: string, index: number | null, refused: number, reason: string | null}} Report */

/** @type {Record<string, (item: any, asked: Record<string, any>) => string>} */
const WORDS = {
  bonds_to_break: (pair, asked) => `Break the bond ${bond(pair, asked)}`,
  bonds_to_keep: (pair, asked) => `Keep the bond ${bond(pair, asked)}`,
  fragments_to_keep: (pattern) => `Keep ${pattern} whole`,
  molecules_never: (smiles) => `Never ${smiles}`,
  substructures_never: (pattern) => `No molecule with ${pattern}`,
  building_blocks_required: (smiles) => `Use ${smiles}`,
  building_blocks_own: ({ smiles }) => `${smiles} is at hand`,
  reaction_classes_only: (names) => `Only ${[names].flat().join(", ")}`,
  reaction_classes_never: (name) => `No ${name}`,
  reaction_classes_required: (name) => `A step of ${name}`,
  templates_never: (template) => `No step by the template ${String(template).slice(0, 12)}…`,
  max_steps: (most) => `At most ${several(most, "step")} in all`,
  protecting_groups: () => "No protecting groups",
};

/**
 * A list of what became of each constraint; those that had no part in anything are left out.
 * @param {Report[]} reports
 * @param {Record<string, any>} asked
 * @returns {HTMLElement | null}
 */
export function constraintReport(reports, asked) {
  const told = reports.filter(({ refused, reason }) => refused > 0 || reason);
  if (!told.length) return null;
  return make("ul", { className: "reasons" }, ...told.map((report) => make("li", {}, ...line(report, asked))));
}

/**
 * @param {Report} report
 * @param {Record<string, any>} asked
 */
function line({ constraint, index, refused, reason }, asked) {
  const item = index === null ? asked[constraint] : asked[constraint]?.[index];
  const what = item === undefined || item === null ? constraint : WORDS[constraint]?.(item, asked) ?? constraint;
  const told = [refused > 0 ? `refused ${several(refused, "proposal")}` : "", reason ?? ""].filter(Boolean).join("; ");
  return [make("strong", {}, what), `: ${told}`];
}

/**
 * The atoms of a bond by element and number, as they are named where bonds are marked.
 * @param {[number, number]} pair
 * @param {Record<string, any>} asked
 */
function bond(pair, asked) {
  const molecule = Molecule.fromSmiles(asked.search_smiles);
  const atoms = Array.from({ length: molecule.getAllAtoms() }, (_, atom) => atom);
  const symbol = (/** @type {number} */ number) => {
    const atom = atoms.find((one) => molecule.getAtomMapNo(one) === number);
    return `${atom === undefined ? "atom " : molecule.getAtomLabel(atom)}${number}`;
  };
  return pair.map(symbol).join("–");
}
