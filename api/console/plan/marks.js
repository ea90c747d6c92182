// @ts-check
// Marks in the target: bonds to break, bonds to keep, atoms to keep together; and their form in a request.
//
// Atoms to keep together are sent as the bonds between them. A pattern would hold everywhere that it matches, also in a second phenyl ring.

import { correspondence } from "../drawing/orientation.js";
import { Molecule } from "../vendor/openchemlib/openchemlib.js";

/** @typedef {"break" | "keep"} Act */
/** @typedef {{pair: [number, number], act: Act}} MarkedBond */
/**
 * @typedef {{smiles: string, bonds: MarkedBond[], whole: number[]}} Marks
 * `smiles`: what the numbers of atoms, from 0, refer to; `whole`: atoms that stay together with those of them that they are bonded to
 */

/** @type {Marks} */
export const UNMARKED = { smiles: "", bonds: [], whole: [] };

/** @param {Marks} marks */
export function isMarked({ bonds, whole }) {
  return bonds.length + whole.length > 0;
}

/**
 * The mark of a bond, if it has one.
 * @param {Marks} marks
 * @param {[number, number]} pair
 */
export function actAt({ bonds }, pair) {
  return bonds.find((bond) => isSame(bond.pair, pair))?.act ?? null;
}

/**
 * Marks a bond with the next of: to break, to keep, nothing.
 * @param {Marks} marks
 * @param {[number, number]} pair
 * @returns {Marks}
 */
export function bondPressed(marks, pair) {
  const act = actAt(marks, pair);
  const others = marks.bonds.filter((bond) => !isSame(bond.pair, pair));
  if (act === null) return { ...marks, bonds: [...others, { pair, act: "break" }] };
  if (act === "break") return { ...marks, bonds: marks.bonds.map((bond) => (isSame(bond.pair, pair) ? { pair, act: "keep" } : bond)) };
  return { ...marks, bonds: others };
}

/**
 * @param {Marks} marks
 * @param {number} atom
 * @returns {Marks}
 */
export function atomPressed(marks, atom) {
  const whole = marks.whole.includes(atom) ? marks.whole.filter((one) => one !== atom) : [...marks.whole, atom];
  return { ...marks, whole };
}

/**
 * The marks on another structure, as far as it has the atoms.
 * @param {Marks} marks
 * @param {string} smiles which can be read
 * @returns {Marks}
 */
export function carriedOver(marks, smiles) {
  if (marks.smiles === smiles) return marks;
  if (!isMarked(marks)) return { ...UNMARKED, smiles };
  const [old, molecule] = [marks.smiles, smiles].map(structure);
  const now = new Map(correspondence(old, molecule));
  const there = (/** @type {number | undefined} */ atom) => atom !== undefined;
  const bonds = marks.bonds.flatMap(({ pair, act }) => {
    const [one, other] = pair.map((atom) => now.get(atom));
    const stays = one !== undefined && other !== undefined && molecule.getBond(one, other) !== -1;
    return stays ? [{ pair: /** @type {[number, number]} */ ([one, other]), act }] : [];
  });
  return { smiles, bonds, whole: /** @type {number[]} */ (marks.whole.map((atom) => now.get(atom)).filter(there)) };
}

/**
 * Groups of the atoms to keep whole that hang together.
 * @param {Marks} marks
 * @returns {number[][]}
 */
export function groupsKept({ smiles, whole }) {
  if (!whole.length) return [];
  const molecule = structure(smiles);
  const left = new Set(whole);
  const groups = [];
  for (const first of whole) {
    if (!left.delete(first)) continue;
    const group = [first];
    for (const atom of group) {
      for (const other of [...left]) if (molecule.getBond(atom, other) !== -1 && left.delete(other)) group.push(other);
    }
    groups.push(group);
  }
  return groups;
}

/**
 * The fields of a request that say what is marked; none where nothing is.
 * @param {Marks} marks
 */
export function requestOf(marks) {
  const pairs = (/** @type {Act} */ act) => marks.bonds.filter((bond) => bond.act === act).map((bond) => bond.pair);
  const molecule = structure(marks.smiles);
  const within = bondsWithin(molecule, marks.whole).filter((pair) => actAt(marks, pair) === null);
  const [toBreak, toKeep] = [pairs("break"), [...pairs("keep"), ...within]];
  if (toBreak.length + toKeep.length === 0) return {};
  const numbered = (/** @type {[number, number][]} */ bonds) => bonds.map((pair) => pair.map(numberOf));
  return {
    search_smiles: mapped(molecule, new Set([...toBreak, ...toKeep].flat())),
    ...(toBreak.length && { bonds_to_break: numbered(toBreak) }),
    ...(toKeep.length && { bonds_to_keep: numbered(toKeep) }),
  };
}

/**
 * The marks of a request. Atoms that were kept together are marked as bonds to keep.
 * @param {{search_smiles: string, bonds_to_break?: [number, number][], bonds_to_keep?: [number, number][]}} asked
 * @returns {Marks}
 */
export function marksOfRequest({ search_smiles: smiles, bonds_to_break = [], bonds_to_keep = [] }) {
  if (bonds_to_break.length + bonds_to_keep.length === 0) return { ...UNMARKED, smiles };
  const molecule = structure(smiles);
  const atoms = new Map(Array.from({ length: molecule.getAllAtoms() }, (_, atom) => [molecule.getAtomMapNo(atom), atom]));
  const marked = (/** @type {[number, number][]} */ pairs, /** @type {Act} */ act) => pairs.flatMap((pair) => {
    const [one, other] = pair.map((number) => atoms.get(number));
    return one === undefined || other === undefined ? [] : [{ pair: /** @type {[number, number]} */ ([one, other]), act }];
  });
  return { smiles, bonds: [...marked(bonds_to_break, "break"), ...marked(bonds_to_keep, "keep")], whole: [] };
}

/**
 * @param {Molecule} molecule
 * @param {number[]} atoms
 */
function bondsWithin(molecule, atoms) {
  const chosen = new Set(atoms);
  const pairs = Array.from({ length: molecule.getBonds() }, (_, bond) => ends(molecule, bond));
  return pairs.filter((pair) => pair.every((atom) => chosen.has(atom)));
}

/**
 * The atoms of a bond.
 * @param {Molecule} molecule
 * @param {number} bond
 * @returns {[number, number]}
 */
export function ends(molecule, bond) {
  return [molecule.getBondAtom(0, bond), molecule.getBondAtom(1, bond)];
}

/**
 * The number of an atom in a request, and in words: atom map numbers begin at 1.
 * @param {number} atom
 */
export const numberOf = (atom) => atom + 1;

/**
 * The SMILES of a molecule in which some atoms have their numbers.
 * @param {Molecule} molecule
 * @param {Set<number>} named
 */
function mapped(molecule, named) {
  const copy = molecule.getCompactCopy();
  for (let atom = 0; atom < copy.getAllAtoms(); atom++) copy.setAtomMapNo(atom, named.has(atom) ? numberOf(atom) : 0, false);
  return copy.toIsomericSmiles({ includeMapping: true });
}

/**
 * Atoms are numbered as in every reading of the same SMILES.
 * @param {string} smiles
 */
function structure(smiles) {
  const molecule = Molecule.fromSmiles(smiles);
  molecule.ensureHelperArrays(Molecule.cHelperRings);
  return molecule;
}

/**
 * @param {[number, number]} one
 * @param {[number, number]} other
 */
function isSame(one, other) {
  return (one[0] === other[0] && one[1] === other[1]) || (one[0] === other[1] && one[1] === other[0]);
}
