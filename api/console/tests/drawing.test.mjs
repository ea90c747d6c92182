import assert from "node:assert/strict";
import test from "node:test";
import { bondsMade } from "../drawing/bonds_made.js";
import { align, correspondence, layLengthwise } from "../drawing/orientation.js";
import { layOutScheme } from "../drawing/scheme_layout.js";
import { Molecule } from "../vendor/openchemlib/openchemlib.js";

/** A molecule with its rings and aromatic bonds, as the console draws it. */
function molecule(smiles) {
  const made = Molecule.fromSmiles(smiles);
  made.ensureHelperArrays(Molecule.cHelperRings);
  return made;
}

const points = (of, atoms) => atoms.map((atom) => [of.getAtomX(atom), of.getAtomY(atom)]);
const centred = (all) => {
  const [x, y] = [0, 1].map((axis) => all.reduce((sum, point) => sum + point[axis], 0) / all.length);
  return all.map((point) => [point[0] - x, point[1] - y]);
};
/** The mean distance of points that correspond, once both lie at the origin. */
function distance(one, other) {
  const [a, b] = [centred(one), centred(other)];
  return a.reduce((sum, [x, y], place) => sum + Math.hypot(x - b[place][0], y - b[place][1]), 0) / a.length;
}
function turned(of, degrees) {
  const [cos, sin] = [Math.cos((degrees * Math.PI) / 180), Math.sin((degrees * Math.PI) / 180)];
  for (let atom = 0; atom < of.getAllAtoms(); atom++) {
    const [x, y] = [of.getAtomX(atom), of.getAtomY(atom)];
    of.setAtomX(atom, x * cos - y * sin);
    of.setAtomY(atom, x * sin + y * cos);
  }
  return of;
}

test("atoms of an acid and of its amide correspond, and what is new does not", () => {
  const [acid, amide] = [molecule("OC(=O)c1ccccc1F"), molecule("CNC(=O)c1ccccc1F")];
  const pairs = new Map(correspondence(acid, amide));
  for (const [from, to] of pairs) assert.equal(acid.getAtomicNo(from), amide.getAtomicNo(to));
  assert.equal(pairs.size, 9);
  assert.equal(pairs.get(0), undefined, "the hydroxyl is lost");
  assert.equal(amide.getAtomicNo(pairs.get(9)), 9);
});

test("every atom of a molecule corresponds to one of the same molecule, symmetric ones too", () => {
  for (const smiles of ["Cc1ccccc1", "CC(C)(C)c1ccc(cc1)C(F)(F)F", "CN1CCN(CC1)C(=O)c1ccco1"]) {
    const pairs = correspondence(molecule(smiles), molecule(smiles));
    assert.equal(pairs.length, molecule(smiles).getAtoms(), smiles);
    assert.equal(new Set(pairs.map(([, to]) => to)).size, pairs.length, smiles);
  }
  assert.deepEqual(correspondence(molecule("c1ccccc1"), molecule("c1ccccc1")), [], "no atom of benzene is one of its kind");
});

test("what two molecules share lies alike in both, however the second was turned", () => {
  for (const degrees of [0, 30, 90, 150, 240]) {
    const [model, other] = [molecule("O=C(c1ccc(Cl)cc1)N1CCNCC1"), turned(molecule("OC(=O)c1ccc(Cl)cc1"), degrees)];
    align(other, model);
    const pairs = correspondence(other, model);
    const apart = distance(points(other, pairs.map(([atom]) => atom)), points(model, pairs.map(([, atom]) => atom)));
    assert.ok(apart < 0.3, `turned by ${degrees}: ${apart}`);
  }
});

test("a drawing with stereo bonds is not mirrored", () => {
  const smiles = "C[C@H](N)c1ccccc1";
  const [model, other] = [molecule("C[C@@H](N)c1ccccc1"), molecule(smiles)];
  align(other, model);
  other.setParitiesValid(0);
  assert.equal(other.toIsomericSmiles(), molecule(smiles).toIsomericSmiles());
});

test("a first drawing lies lengthwise", () => {
  const chain = turned(molecule("CCCCCCCCCC"), 90);
  layLengthwise(chain);
  const all = points(chain, Array.from({ length: 10 }, (_, atom) => atom));
  const extent = (axis) => Math.max(...all.map((point) => point[axis])) - Math.min(...all.map((point) => point[axis]));
  assert.ok(extent(0) > 2 * extent(1));
});

const endsOf = (of, bonds) => bonds.map((bond) => [0, 1].map((end) => of.getAtomLabel(of.getBondAtom(end, bond))).sort().join(""));

test("a step's new bonds are those between its precursors", () => {
  const biaryl = molecule("Fc1ccc(cc1)-c1cccnc1");
  const amine = molecule("CN1CCN(CC1)c1ccncc1");
  assert.deepEqual(endsOf(amine, bondsMade(amine, [molecule("CN1CCNCC1"), molecule("c1ccncc1")])), ["CN"]);
  assert.deepEqual(endsOf(biaryl, bondsMade(biaryl, [molecule("Fc1ccc(cc1)B(O)O"), molecule("Brc1cccnc1")])), ["CC"]);
});

test("nothing is said where an atom has no source, or two", () => {
  assert.deepEqual(bondsMade(molecule("CCOC(C)=O"), [molecule("CCO")]), []);
  assert.deepEqual(bondsMade(molecule("CCO"), [molecule("CCO"), molecule("CCO")]), []);
});

// Schemes are laid out with pictures of known sizes and letters of one width.
const leaf = (key, smiles, data = {}) => ({ key, data: { smiles, depth: key.split(".").length - 1, is_building_block: true, ...data }, step: null });
const made = (key, smiles, number, ...precursors) => ({ ...leaf(key, smiles, { is_building_block: false }), step: { number, edge: {}, precursors } });
const ROUTE = made("0", "target", 3,
  made("0.0", "left", 2, made("0.0.0", "deep", 1, leaf("0.0.0.0", "a"), leaf("0.0.0.1", "b")), leaf("0.0.1", "c")),
  leaf("0.1", "d"));
const means = (changes = {}) => ({
  picture: (smiles) => ({ width: 40 + 10 * smiles.length, height: 50 }), captions: (tree) => (tree.data.is_building_block ? ["$1/g"] : []),
  words: ({ number }) => ({ above: `${number}. reaction`, below: "water" }), widthOf: (text) => 7 * text.length, isFolded: () => false, ...changes,
});

test("a synthesis is read from left to right and nothing lies on anything else", () => {
  const { boxes, arrows, width, height } = layOutScheme(ROUTE, means());
  assert.equal(boxes.length, 7);
  const target = boxes.find(({ tree }) => tree.key === "0");
  for (const one of boxes) {
    assert.ok(one.x >= 0 && one.y >= 0 && one.x + one.width <= width && one.y + one.height <= height, one.tree.key);
    if (one !== target) assert.ok(one.x + one.width < target.x, `${one.tree.key} is left of the target`);
    for (const other of boxes) {
      const apart = one === other || one.x + one.width <= other.x || other.x + other.width <= one.x || one.y + one.height <= other.y || other.y + other.height <= one.y;
      assert.ok(apart, `${one.tree.key} lies on ${other.tree.key}`);
    }
  }
  for (const { from, to, x, width, key } of arrows) {
    assert.ok(from.every(([end]) => end < x - width / 2), `the words of ${key} begin behind its precursors`);
    assert.ok(x + width / 2 < to, `and end before its tip`);
  }
});

test("molecules of one depth share a column", () => {
  const { boxes } = layOutScheme(ROUTE, means());
  const middle = (key) => boxes.filter(({ tree }) => tree.key === key).map(({ x, width }) => x + width / 2)[0];
  assert.equal(middle("0.0"), middle("0.1"));
  assert.equal(middle("0.0.0"), middle("0.0.1"));
});

test("arrows number the steps and begin at every precursor", () => {
  const { arrows } = layOutScheme(ROUTE, means());
  assert.deepEqual(arrows.map(({ step, from, above, below }) => [step.number, from.length, above, below]).sort(),
    [[1, 2, ["1. reaction"], ["water"]], [2, 2, ["2. reaction"], ["water"]], [3, 2, ["3. reaction"], ["water"]]]);
});

test("what is folded is one box without the steps to it", () => {
  const { boxes, arrows } = layOutScheme(ROUTE, means({ isFolded: (key) => key === "0.0", captions: (_, folded) => (folded ? ["2 steps folded"] : []) }));
  assert.deepEqual(boxes.map(({ tree }) => tree.key).sort(), ["0", "0.0", "0.1"]);
  assert.deepEqual(arrows.map(({ key }) => key), ["0"]);
  assert.deepEqual(boxes.filter(({ folded }) => folded).map(({ tree, captions }) => [tree.key, captions]), [["0.0", ["2 steps folded"]]]);
});

test("long words are wrapped, and one that is too long is cut", () => {
  const above = "1. Horner-Wadsworth-Emmons olefination of something else";
  const [arrow] = layOutScheme(made("0", "t", 1, leaf("0.0", "a")), means({ words: () => ({ above, below: "x".repeat(60) }) })).arrows;
  assert.equal(arrow.above.join(" "), above);
  assert.ok(arrow.above.length > 1 && arrow.above.every((line) => 7 * line.length <= 168));
  assert.deepEqual(arrow.below, [`${"x".repeat(23)}…`]);
});
