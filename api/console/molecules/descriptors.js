// @ts-check
// Descriptors of a molecule, by OpenChemLib. The page's worker computes them for samples, `worker/training` for training sets.

import { Molecule, MoleculeProperties } from "../vendor/openchemlib/openchemlib.js";

/**
 * A molecule, null where there is none.
 * @param {string} smiles
 */
export function read(smiles) {
  try {
    return Molecule.fromSmiles(smiles, { noCoordinates: true });
  } catch {
    return null;
  }
}

/**
 * In the order of `PROPERTIES`.
 * @param {Molecule} molecule
 */
export function descriptors(molecule) {
  const of = new MoleculeProperties(molecule);
  return [molecule.getMolecularFormula().relativeWeight, of.logP, of.polarSurfaceArea, of.acceptorCount, of.donorCount, of.rotatableBondCount, molecule.getRingSet().getSize()];
}
