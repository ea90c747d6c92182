import assert from "node:assert/strict";
import test from "node:test";
import { actAt, atomPressed, bondPressed, carriedOver, groupsKept, isMarked, marksOfRequest, requestOf, UNMARKED } from "../plan/marks.js";
import { preset, presetOf, PRESETS, request, SETTINGS, typedOf, withLine } from "../plan/settings.js";
import { Molecule } from "../vendor/openchemlib/openchemlib.js";

// Atoms of phenyl acetamide by number: methyl 0, carbonyl 1 and 2, nitrogen 3, ring 4 to 9.
const SMILES = "CC(=O)Nc1ccccc1";
const marks = (changes = {}) => ({ ...UNMARKED, smiles: SMILES, ...changes });

test("a bond that is pressed is broken, then kept, then neither", () => {
  const once = bondPressed(marks(), [1, 3]);
  const twice = bondPressed(once, [3, 1]);
  const thrice = bondPressed(twice, [1, 3]);
  assert.deepEqual([actAt(once, [3, 1]), actAt(twice, [1, 3]), actAt(thrice, [1, 3])], ["break", "keep", null]);
  assert.deepEqual([isMarked(once), isMarked(thrice)], [true, false]);
});

test("an atom that is pressed is kept whole, then not", () => {
  const once = atomPressed(atomPressed(marks(), 4), 5);
  assert.deepEqual(once.whole, [4, 5]);
  assert.deepEqual(atomPressed(once, 4).whole, [5]);
});

test("atoms to keep whole are groups that hang together", () => {
  assert.deepEqual(groupsKept(marks({ whole: [4, 0, 5, 1] })).map((group) => group.toSorted()), [[4, 5], [0, 1]]);
  assert.deepEqual(groupsKept(marks()), []);
});

test("a request has marks as atom map numbers, from 1, and none where nothing is marked", () => {
  assert.deepEqual(requestOf(marks()), {});
  assert.deepEqual(requestOf(marks({ whole: [4] })), {}, "one atom has no bond to keep");
  const asked = requestOf(marks({ bonds: [{ pair: [1, 3], act: "break" }], whole: [4, 5] }));
  assert.deepEqual([asked.bonds_to_break, asked.bonds_to_keep], [[[2, 4]], [[5, 6]]]);
  assert.match(asked.search_smiles, /:2\]/);
  assert.doesNotMatch(asked.search_smiles, /:1\]/);
});

test("a bond that is marked by itself is not kept a second time by its atoms", () => {
  const asked = requestOf(marks({ bonds: [{ pair: [4, 5], act: "break" }], whole: [4, 5] }));
  assert.deepEqual([asked.bonds_to_break, asked.bonds_to_keep], [[[5, 6]], undefined]);
});

test("a request is marked again as it was asked", () => {
  const asked = requestOf(marks({ bonds: [{ pair: [1, 3], act: "break" }, { pair: [3, 4], act: "keep" }] }));
  const back = marksOfRequest(asked);
  const symbols = back.bonds.map(({ pair, act }) => [act, pair.map((atom) => Molecule.fromSmiles(back.smiles).getAtomLabel(atom)).sort().join("")]);
  assert.deepEqual(symbols, [["break", "CN"], ["keep", "CN"]]);
  assert.deepEqual(requestOf(back).bonds_to_break, requestOf(carriedOver(back, back.smiles)).bonds_to_break);
  assert.deepEqual(marksOfRequest({ search_smiles: "CCO" }), { ...UNMARKED, smiles: "CCO" });
});

test("marks follow their atoms into a structure that was changed, as far as those are there", () => {
  const marked = marks({ bonds: [{ pair: [1, 3], act: "break" }], whole: [0, 1] });
  const longer = carriedOver(marked, "Fc1ccccc1NC(C)=O");
  const molecule = Molecule.fromSmiles(longer.smiles);
  assert.deepEqual(longer.bonds.map(({ pair, act }) => [act, pair.map((atom) => molecule.getAtomLabel(atom)).sort().join("")]), [["break", "CN"]]);
  assert.equal(longer.whole.length, 2);
  assert.deepEqual(carriedOver(marked, "c1ccccc1").bonds, []);
  assert.equal(carriedOver(marked, SMILES), marked);
});

test("what is typed becomes a request, with the units of the contract", () => {
  const typed = { ...preset("fast"), step_yield: "85", mask_lead_times_gte: "", max_depth: "7", building_blocks_own: "CCO 12,5\nCCN", reaction_classes_never: "Boc removal\nHeck reaction" };
  const { body, faults } = request("CCO", typed);
  assert.deepEqual(faults, {});
  assert.deepEqual([body.search_smiles, body.max_depth, body.step_yield, body.mask_lead_times_gte, body.ships_to], ["CCO", 7, 0.85, null, "US"]);
  assert.deepEqual(body.building_blocks_own, [{ smiles: "CCO", usd_per_gram: 12.5 }, { smiles: "CCN" }]);
  assert.deepEqual(body.reaction_classes_never, ["Boc removal", "Heck reaction"]);
  assert.ok(!("vendors_only" in body), "an empty list is not sent");
});

test("what cannot be read is said at its field", () => {
  const { faults } = request("CCO", { ...preset("fast"), max_seconds: "soon", building_blocks_own: "CCO cheap" });
  assert.deepEqual(faults, { max_seconds: "soon is not a number.", building_blocks_own: "cheap is not a number." });
});

test("a request is typed again as it was asked", () => {
  const typed = { ...preset("thorough"), ships_to: "", step_yield: "82.5", building_blocks_own: "CCO 12.5\nCCN", protecting_groups: "never" };
  assert.deepEqual(typedOf(request("CCO", typed).body), typed);
});

test("a preset is known by its settings and leaves what is of the project", () => {
  for (const name of PRESETS.keys()) assert.equal(presetOf(preset(name)), name);
  const mine = preset("cheapest", { ...preset("fast"), ships_to: "DE", vendors_only: "House stock", max_depth: "9" });
  assert.deepEqual([mine.ships_to, mine.vendors_only, mine.max_depth, presetOf(mine)], ["DE", "House stock", "5", "cheapest"]);
  assert.equal(presetOf({ ...preset("fast"), max_depth: "9" }), "");
  assert.deepEqual(Object.keys(preset("week")).sort(), SETTINGS.map(({ name }) => name).sort());
});

test("a line is added to a list once", () => {
  const typed = withLine(withLine(preset("fast"), "molecules_never", "CCO"), "molecules_never", "CCN");
  assert.equal(typed.molecules_never, "CCO\nCCN");
  assert.equal(withLine(typed, "molecules_never", "CCN"), typed);
});
