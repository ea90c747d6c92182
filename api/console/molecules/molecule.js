// @ts-check
// Molecules as OpenChemLib reads them: typed, pasted or drawn.

import { Molecule } from "../vendor/openchemlib/openchemlib.js";

/** A text that is no molecule. */
export class Unreadable extends Error {}

/**
 * The molecule that a text stands for: SMILES, or a molfile with its coordinates.
 * @param {string} text
 */
export function read(text) {
  try {
    const molecule = isMolfile(text) ? Molecule.fromMolfile(text) : Molecule.fromSmiles(text.trim());
    if (molecule.getAllAtoms() === 0) throw new Unreadable("It has no atoms.");
    return molecule;
  } catch (fault) {
    if (fault instanceof Unreadable) throw fault;
    throw new Unreadable(isMolfile(text) ? "This molfile cannot be read." : "This is not a valid SMILES.");
  }
}

/**
 * SMILES for a request: as it was typed, since the service checks it, or that of a molfile.
 * @param {string} text
 */
export function smilesOf(text) {
  return isMolfile(text) ? read(text).toIsomericSmiles() : text.trim();
}

/** @param {string} text */
const isMolfile = (text) => /^M {2}END/m.test(text) || /V[23]000/.test(text);
