// @ts-check
// Attachment points of a scaffold: `[*:1]` or `*` in SMILES, R1 in the structure editor.

import { Molecule } from "../vendor/openchemlib/openchemlib.js";

/** Atomic numbers that OpenChemLib has for R1 to R16. */
const R_GROUPS = [142, 143, 144, 129, 130, 131, 132, 133, 134, 135, 136, 137, 138, 139, 140, 141];
/** Element in place of a point while the SMILES is read: OpenChemLib does not tell an atom of any element apart. No scaffold has astatine. */
const STAND_IN = { symbol: "At", number: 85 };

/**
 * SMILES that OpenChemLib can read, with astatine for each attachment point.
 * @param {string} smiles
 */
export function withStandIns(smiles) {
  return smiles.replaceAll(/\[\*(:\d+)?\]|\*/g, (_, number = "") => `[${STAND_IN.symbol}${number}]`);
}

/**
 * Gives each stand-in an R group instead, those without a number, or with one beyond 16, the next ones that are free.
 * @param {Molecule} scaffold
 */
export function withRGroups(scaffold) {
  const points = Array.from({ length: scaffold.getAllAtoms() }, (_, atom) => atom).filter((atom) => scaffold.getAtomicNo(atom) === STAND_IN.number);
  const free = new Set(R_GROUPS.keys());
  for (const atom of points) free.delete(scaffold.getAtomMapNo(atom) - 1);
  for (const atom of points) {
    const named = R_GROUPS[scaffold.getAtomMapNo(atom) - 1];
    const [next] = free;
    if (named === undefined) free.delete(next);
    scaffold.setAtomMapNo(atom, 0, false);
    scaffold.setAtomicNo(atom, named ?? R_GROUPS[next] ?? R_GROUPS[0]);
  }
  return scaffold;
}

/**
 * SMILES of a drawn scaffold, with an attachment point for each R group.
 * @param {Molecule} drawn
 */
export function scaffoldSmiles(drawn) {
  const scaffold = drawn.getCompactCopy();
  // What is drawn as a fragment has no hydrogens on its nitrogens and stereocentres.
  scaffold.setFragment(false);
  return scaffold.getAllAtoms() ? scaffold.toIsomericSmiles().replaceAll(/\[R(\d+)\]/g, "[*:$1]") : "";
}
