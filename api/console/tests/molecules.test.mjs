import assert from "node:assert/strict";
import test from "node:test";
import { scaffoldSmiles, withRGroups, withStandIns } from "../molecules/attachment_points.js";
import { descriptors, read as readSmiles } from "../molecules/descriptors.js";
import { read, smilesOf, Unreadable } from "../molecules/molecule.js";
import { readMolecules } from "../molecules/molecule_text.js";
import { PROPERTIES } from "../molecules/properties.js";
import { Molecule } from "../vendor/openchemlib/openchemlib.js";

const entries = (text, name = "") => readMolecules(text, name).molecules.map(({ line, smiles, name }) => [line, smiles, name]);
const faults = (text, name = "") => readMolecules(text, name).faults.map(({ line, why }) => [line, why]);

test("lines are SMILES with names, without comments and heads", () => {
  assert.deepEqual(entries("SMILES name\nCCO  ethyl alcohol\n# a comment\n\nc1ccccc1"), [[2, "CCO", "ethyl alcohol"], [5, "c1ccccc1", ""]]);
  assert.equal(readMolecules("CCO", "").kind, "SMILES");
});

test("a table is known by its head, whatever separates its cells", () => {
  assert.deepEqual(entries("id,smiles\nA-1,CCO\nA-2,CCN\n"), [[2, "CCO", "A-1"], [3, "CCN", "A-2"]]);
  assert.deepEqual(entries("name;SMILES\n\"a; b\";CCO"), [[2, "CCO", "a; b"]]);
  assert.deepEqual(entries("smiles\tname\nCCO\ttwo words"), [[2, "CCO", "two words"]]);
  assert.deepEqual(entries("\u{feff}smiles,name\r\nCCO,\"two\r\nlines\"\r\nCC,b"), [[2, "CCO", "two lines"], [4, "CC", "b"]]);
});

test("what cannot be read is said by its line, and the rest is read", () => {
  assert.deepEqual(faults("CCO\nC1CC\nCC"), [[2, "C1CC is not a valid SMILES"]]);
  assert.deepEqual(faults(`smiles,name\n,a\n${"C".repeat(1001)},b\nCC,c`), [[2, "the SMILES is missing"], [3, "it is longer than 1,000 letters"]]);
  assert.deepEqual(faults("smiles,name\nCC,\"a\nCCC,b"), [[2, "its quotation marks do not match"]]);
  assert.deepEqual(entries("smiles,name\nCC,\"a\nCCC,b"), [[3, "CCC", "b"]]);
});

test("an SDF is read record by record", () => {
  const record = (smiles, name) => `${name}${Molecule.fromSmiles(smiles).toMolfile().replace(/^[^\n]*/, "")}\n$$$$\n`;
  const text = record("CCO", "alcohol") + "broken\n\n\nnothing\n$$$$\n" + record("CCN", "amine");
  const reading = readMolecules(text, "two.sdf");
  assert.equal(reading.kind, "SDF");
  assert.deepEqual(reading.molecules.map(({ smiles, name }) => [Molecule.fromSmiles(smiles).toSmiles(), name]), [["CCO", "alcohol"], ["CCN", "amine"]].map(([smiles, name]) => [Molecule.fromSmiles(smiles).toSmiles(), name]));
  assert.deepEqual(reading.faults.map(({ why }) => why), ["this molfile cannot be read"]);
});

test("a count that would need a gigabyte is not believed", () => {
  const huge = "x\n\n\n  0  0  0     0  0            999 V3000\nM  V30 BEGIN CTAB\nM  V30 COUNTS 99999999 0 0 0 0\nM  END\n$$$$\n";
  assert.deepEqual(faults(huge, "x.sdf"), [[1, "this molfile cannot be read"]]);
});

test("a SMILES stays as it was typed, and a molfile becomes one", () => {
  assert.equal(smilesOf("  OCC "), "OCC");
  assert.equal(Molecule.fromSmiles(smilesOf(Molecule.fromSmiles("CCO").toMolfile())).getAllAtoms(), 3);
  assert.throws(() => read("C1CC"), new Unreadable("This is not a valid SMILES."));
  assert.throws(() => read(""), new Unreadable("It has no atoms."));
  assert.throws(() => read("x\nM  END"), Unreadable);
});

test("descriptors come in the order of the properties", () => {
  const aspirin = descriptors(readSmiles("CC(=O)Oc1ccccc1C(=O)O"));
  const by = Object.fromEntries(PROPERTIES.map(({ name }, place) => [name, aspirin[place]]));
  assert.equal(aspirin.length, PROPERTIES.length);
  assert.equal(by.molecular_weight.toFixed(2), "180.16");
  assert.deepEqual([by.polar_surface.toFixed(1), by.acceptors, by.donors, by.rotatable, by.rings], ["63.6", 4, 1, 3, 1]);
  assert.equal(readSmiles("C1CC("), null);
});

test("attachment points are R groups in the editor and points again in the SMILES", () => {
  const drawn = (smiles) => withRGroups(read(withStandIns(smiles)));
  const again = (smiles) => scaffoldSmiles(drawn(smiles));
  const labels = (molecule) => Array.from({ length: molecule.getAllAtoms() }, (_, atom) => molecule.getAtomLabel(atom)).filter((label) => /^R/.test(label));
  assert.deepEqual(labels(drawn("[*:2]c1ccc(*)nc1")), ["R2", "R1"]);
  assert.equal(Molecule.fromSmiles(again("[*:1]C[C@H](N)C(=O)O").replace("[*:1]", "Br")).toIsomericSmiles(), Molecule.fromSmiles("BrC[C@H](N)C(=O)O").toIsomericSmiles());
  assert.match(again("[*:1]c1c[nH]c2ccccc12"), /\[nH\]/);
  assert.match(again("[*:99]CC"), /\[\*:1\]/);
  const fragment = drawn("[*:1]c1c[nH]c2ccccc12");
  fragment.setFragment(true);
  assert.match(scaffoldSmiles(fragment), /\[nH\]/, "the editor draws fragments");
  assert.equal(scaffoldSmiles(new Molecule(8, 8)), "");
});
