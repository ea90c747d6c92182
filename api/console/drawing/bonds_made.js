// @ts-check
// The bonds of a product that its step makes, as far as they follow without a doubt from the structures: answers have no atom maps.
//
// Every atom of the product has to be one atom of one precursor. Where two precursors could be the source of an atom, or none is, nothing
// is said: a chemist is better served by no mark than by a wrong one.

import { correspondence } from "./orientation.js";

/** @typedef {import("../vendor/openchemlib/openchemlib.js").Molecule} Molecule */

/** More than so many bonds are no step but a misunderstanding. */
const MOST = 4;

/**
 * @param {Molecule} product
 * @param {Molecule[]} precursors
 * @returns {number[]} bonds of the product; none where it is not certain
 */
export function bondsMade(product, precursors) {
  /** @type {Map<number, {molecule: Molecule, atom: number}>} */
  const sources = new Map();
  for (const molecule of precursors) {
    for (const [atom, made] of correspondence(molecule, product)) {
      if (sources.has(made)) return [];
      sources.set(made, { molecule, atom });
    }
  }
  if (sources.size < product.getAtoms()) return [];
  const bonds = Array.from({ length: product.getBonds() }, (_, bond) => bond).filter((bond) => isNew(product, bond, sources));
  return bonds.length > MOST ? [] : bonds;
}

/**
 * @param {Molecule} product
 * @param {number} bond
 * @param {Map<number, {molecule: Molecule, atom: number}>} sources
 */
function isNew(product, bond, sources) {
  const [one, other] = [sources.get(product.getBondAtom(0, bond)), sources.get(product.getBondAtom(1, bond))];
  if (!one || !other) return false;
  return one.molecule !== other.molecule || one.molecule.getBond(one.atom, other.atom) === -1;
}
