// @ts-check
// Turns a molecule so that the part that it shares with another lies as it does there. A reader of a route follows that part.
//
// Atoms correspond where their surroundings, as far as four bonds, occur once in both; from there the correspondence grows along bonds. A
// drawing is turned in steps of 30 degrees, which keeps rings upright, and mirrored only where no stereo bond would then lie.

const REACH = 4;
const STEP = Math.PI / 6;
/** So few atoms could lie anywhere. */
const TOO_FEW = 3;

/** @typedef {import("../vendor/openchemlib/openchemlib.js").Molecule} Molecule */
/** @typedef {[number, number][]} Pairs atoms of one molecule and of another */

/**
 * Lays the first drawing of a route down lengthwise.
 * @param {Molecule} molecule
 */
export function layLengthwise(molecule) {
  const [x, y] = [extent(molecule, (atom) => molecule.getAtomX(atom)), extent(molecule, (atom) => molecule.getAtomY(atom))];
  if (y > 1.15 * x) move(molecule, { turn: Math.PI / 2, mirror: 1 });
}

/**
 * Turns `molecule` to lie as `model` does.
 * @param {Molecule} molecule
 * @param {Molecule} model
 */
export function align(molecule, model) {
  const pairs = correspondence(molecule, model);
  if (pairs.length < TOO_FEW) return layLengthwise(molecule);
  const mirrors = hasStereoBond(molecule) ? [1] : [1, -1];
  const fits = mirrors.map((mirror) => fit(molecule, model, pairs, mirror));
  move(molecule, fits.reduce((best, one) => (one.overlap > best.overlap + 1e-6 ? one : best)));
}

/**
 * The atoms of `one` and `other` that are the same, as far as their surroundings tell.
 * @param {Molecule} one
 * @param {Molecule} other
 * @returns {Pairs}
 */
export function correspondence(one, other) {
  const matching = new Matching(one, other);
  for (let reach = REACH; reach >= 1; reach--) {
    matching.pairUnique(reach);
    matching.grow();
  }
  while (matching.settleTie()) matching.grow();
  return [...matching.pairs];
}

/** Atoms of two molecules that were found to be the same, so far. */
class Matching {
  /** @type {Map<number, number>} */
  pairs = new Map();
  #taken = new Set();

  /**
   * @param {Molecule} one
   * @param {Molecule} other
   */
  constructor(one, other) {
    this.one = one;
    this.other = other;
    this.ours = surroundings(one);
    this.theirs = surroundings(other);
  }

  /**
   * Pairs atoms whose surroundings, so far around, occur once in both.
   * @param {number} reach bonds
   */
  pairUnique(reach) {
    const here = single(this.ours[reach], (atom) => this.pairs.has(atom));
    const there = single(this.theirs[reach], (atom) => this.#taken.has(atom));
    for (const [name, atom] of here) {
      const partner = there.get(name);
      if (atom !== null && partner !== undefined && partner !== null) this.#pair(atom, partner);
    }
  }

  /** Pairs neighbours of pairs that nothing else could be; what is added meanwhile is visited in its turn. */
  grow() {
    for (const [atom, partner] of this.pairs) {
      for (const next of this.#near(atom)) {
        const { rivals, alike } = this.#candidates(atom, partner, next);
        if (alike.length === 1 && rivals.length === 1) this.#pair(next, alike[0]);
      }
    }
  }

  /**
   * Pairs a neighbour that is like another one of the same atom by symmetry, as the two sides of a phenyl ring: either would do.
   * @returns {boolean} whether there was one
   */
  settleTie() {
    for (const [atom, partner] of this.pairs) {
      for (const next of this.#near(atom)) {
        const { rivals, alike } = this.#candidates(atom, partner, next);
        const areSymmetric = areAlike(rivals, this.ours[REACH]) && areAlike(alike, this.theirs[REACH]);
        if (alike.length === rivals.length && areSymmetric) {
          this.#pair(next, alike[0]);
          return true;
        }
      }
    }
    return false;
  }

  /**
   * @param {number} atom
   * @param {number} partner
   */
  #pair(atom, partner) {
    this.pairs.set(atom, partner);
    this.#taken.add(partner);
  }

  /**
   * Neighbours that have no partner yet.
   * @param {number} atom
   */
  #near(atom) {
    return neighbours(this.one, atom).filter((next) => !this.pairs.has(next));
  }

  /**
   * Those that are the same element as `next`: neighbours of `atom`, and neighbours of its partner.
   * @param {number} atom
   * @param {number} partner
   * @param {number} next
   */
  #candidates(atom, partner, next) {
    const element = this.ours[0][next];
    const far = neighbours(this.other, partner).filter((candidate) => !this.#taken.has(candidate));
    return {
      rivals: this.#near(atom).filter((rival) => this.ours[0][rival] === element),
      alike: far.filter((candidate) => this.theirs[0][candidate] === element),
    };
  }
}

/**
 * Returns true if atoms have the same surroundings.
 * @param {number[]} atoms
 * @param {string[]} surroundings
 */
const areAlike = (atoms, surroundings) => atoms.every((atom) => surroundings[atom] === surroundings[atoms[0]]);

/**
 * The surroundings of each atom, by their reach in bonds. They do not depend on coordinates.
 * @param {Molecule} molecule
 * @returns {string[][]}
 */
function surroundings(molecule) {
  let kept = around.get(molecule);
  if (!kept) around.set(molecule, (kept = lookAround(molecule)));
  return kept;
}

/** @type {WeakMap<Molecule, string[][]>} */
const around = new WeakMap();

/** @param {Molecule} molecule */
function lookAround(molecule) {
  const atoms = Array.from({ length: molecule.getAtoms() }, (_, atom) => atom);
  const reaches = [atoms.map((atom) => `${molecule.getAtomicNo(atom)}${molecule.isAromaticAtom(atom) ? "a" : ""}`)];
  for (let reach = 1; reach <= REACH; reach++) {
    const last = reaches[reach - 1];
    const names = atoms.map((atom) => {
      const around = neighbours(molecule, atom).map((next, place) => `${bond(molecule, atom, place)}${last[next]}`);
      return `${last[atom]}(${around.sort().join()})`;
    });
    reaches.push(shortened(names, reach));
  }
  return reaches;
}

/** Names would grow beyond all bounds; the same name stays the same in every molecule. */
const known = new Map();

/**
 * @param {string[]} names
 * @param {number} reach
 */
function shortened(names, reach) {
  return names.map((name) => {
    const key = `${reach}:${name}`;
    if (!known.has(key)) known.set(key, `#${known.size}`);
    return known.get(key);
  });
}

/**
 * @param {Molecule} molecule
 * @param {number} atom
 */
function neighbours(molecule, atom) {
  return Array.from({ length: molecule.getConnAtoms(atom) }, (_, place) => molecule.getConnAtom(atom, place));
}

/**
 * @param {Molecule} molecule
 * @param {number} atom
 * @param {number} place
 */
function bond(molecule, atom, place) {
  return molecule.isAromaticBond(molecule.getConnBond(atom, place)) ? "a" : molecule.getConnBondOrder(atom, place);
}

/**
 * Atoms by name; null for a name that several have.
 * @param {string[]} names
 * @param {(atom: number) => boolean} isTaken
 */
function single(names, isTaken) {
  /** @type {Map<string, number | null>} */
  const atoms = new Map();
  names.forEach((name, atom) => {
    if (!isTaken(atom)) atoms.set(name, atoms.has(name) ? null : atom);
  });
  return atoms;
}

/**
 * The turn, in steps, that lays the atoms of `pairs` best over one another (Kabsch in the plane).
 * @param {Molecule} molecule
 * @param {Molecule} model
 * @param {Pairs} pairs
 * @param {number} mirror -1: x is mirrored first
 */
function fit(molecule, model, pairs, mirror) {
  const at = (/** @type {Molecule} */ of, /** @type {number} */ atom, /** @type {number} */ sign) =>
    [sign * of.getAtomX(atom), of.getAtomY(atom)];
  const [from, to] = [pairs.map(([atom]) => at(molecule, atom, mirror)), pairs.map(([, atom]) => at(model, atom, 1))];
  const [a, b] = [centre(from), centre(to)];
  let [along, across] = [0, 0];
  from.forEach(([x, y], index) => {
    const [u, v] = [to[index][0] - b[0], to[index][1] - b[1]];
    along += (x - a[0]) * u + (y - a[1]) * v;
    across += (x - a[0]) * v - (y - a[1]) * u;
  });
  const turn = Math.round(Math.atan2(across, along) / STEP) * STEP;
  return { mirror, turn, overlap: along * Math.cos(turn) + across * Math.sin(turn) };
}

/** @param {number[][]} points */
function centre(points) {
  return [0, 1].map((axis) => points.reduce((sum, point) => sum + point[axis], 0) / points.length);
}

/**
 * @param {Molecule} molecule
 * @param {{turn: number, mirror: number}} how
 */
function move(molecule, { turn, mirror }) {
  const [cos, sin] = [Math.cos(turn), Math.sin(turn)];
  for (let atom = 0; atom < molecule.getAllAtoms(); atom++) {
    const [x, y] = [mirror * molecule.getAtomX(atom), molecule.getAtomY(atom)];
    molecule.setAtomX(atom, x * cos - y * sin);
    molecule.setAtomY(atom, x * sin + y * cos);
  }
}

/**
 * @param {Molecule} molecule
 * @param {(atom: number) => number} coordinate
 */
function extent(molecule, coordinate) {
  const all = Array.from({ length: molecule.getAllAtoms() }, (_, atom) => coordinate(atom));
  return Math.max(...all) - Math.min(...all);
}

/** @param {Molecule} molecule */
function hasStereoBond(molecule) {
  for (let bond = 0; bond < molecule.getAllBonds(); bond++) if (molecule.isStereoBond(bond)) return true;
  return false;
}
