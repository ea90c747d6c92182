import assert from "node:assert/strict";
import test from "node:test";
import { describeSpread, learned, shipped } from "../models/model_card.js";
import { PROPERTIES } from "../molecules/properties.js";
import { bound } from "../sample/histogram.js";
import { boundsOf, counted, median, outline } from "../sample/histogram_bars.js";
import { filtered } from "../sample/molecule_filter.js";
import { conditionRanges, conditionsOf, faultsByField, RANGED } from "../sample/sample_conditions.js";

/** Molecules of which weight and logP are given, and nothing else matters. */
function values(...molecules) {
  return Float32Array.from(molecules.flatMap(([weight, logp]) => PROPERTIES.map(({ name }) => ({ molecular_weight: weight, logp })[name] ?? 0)));
}
const SAMPLE = values([300, 2], [NaN, NaN], [100, 5], [200, -1]);
const filter = (changes) => ({ part: "", ranges: {}, by: "", ...changes });

test("molecules pass within the bounds, ends included, in the order of drawing", () => {
  const pass = (ranges) => filtered({ values: SAMPLE, filter: filter({ ranges }), has: null });
  assert.deepEqual(pass({}), [0, 1, 2, 3]);
  assert.deepEqual(pass({ molecular_weight: { from: "200", to: "" } }), [0, 3]);
  assert.deepEqual(pass({ molecular_weight: { from: "100", to: "200" }, logp: { from: "", to: "0" } }), [3]);
  assert.deepEqual(pass({ logp: { from: "none", to: "" } }), [0, 1, 2, 3], "what is no number is no bound");
});

test("molecules are sorted by a property, those that are not measured last", () => {
  assert.deepEqual(filtered({ values: SAMPLE, filter: filter({ by: "molecular_weight" }), has: null }), [2, 3, 0, 1]);
  assert.deepEqual(filtered({ values: SAMPLE, filter: filter({ by: "logp" }), has: Uint8Array.of(1, 1, 0, 1) }), [3, 0, 1]);
});

test("a bound is a number, none, or why it is none", () => {
  assert.deepEqual([bound(""), bound(" 1,5 "), bound("x")], [null, 1.5, "x is not a number."]);
});

test("whole numbers have a bar each, which stands over its number", () => {
  const bounds = boundsOf(Float32Array.of(1, 2, 2, 4, 4), undefined, true);
  assert.deepEqual(bounds, { low: 0.5, high: 4.5, bars: 4 });
  assert.deepEqual(counted(Float32Array.of(1, 2, 2, 4, 4), bounds), [1, 2, 0, 2]);
});

test("one strange molecule does not press the rest together; it counts in the bar at the end", () => {
  const all = Float32Array.from({ length: 1001 }, (_, place) => (place === 1000 ? 1e6 : place % 100));
  const bounds = boundsOf(all, undefined, false);
  assert.deepEqual([bounds.low, bounds.high, bounds.bars], [0, 99, 24]);
  const counts = counted(all, bounds);
  assert.equal(counts.reduce((sum, many) => sum + many, 0), 1001);
  assert.equal(counts[23], counted(all.slice(0, 1000), bounds)[23] + 1);
});

test("the range takes in what the card tells, and is never empty", () => {
  assert.deepEqual(boundsOf(Float32Array.of(5, 6), { p05: 1, p95: 9 }, false), { low: 1, high: 9, bars: 24 });
  assert.deepEqual(boundsOf(Float32Array.of(3, 3), undefined, false), { low: 3, high: 4, bars: 24 });
  assert.deepEqual(boundsOf(new Float32Array(), undefined, false), { low: 0, high: 1, bars: 24 });
});

test("the outline of a training set is as high as that of a sample like it", () => {
  assert.deepEqual(outline({ start: 10, width: 5, counts: [1, 3] }, 200), [{ from: 10, to: 15, many: 10 }, { from: 15, to: 20, many: 30 }]);
  assert.deepEqual(outline({ start: 0, width: 0, counts: [1] }, 1), []);
  assert.deepEqual(outline({ start: 0, width: 1, counts: [] }, 1), []);
});

test("the median of an even number is the upper one", () => {
  assert.deepEqual([median(Float32Array.of(3, 1, 2)), median(Float32Array.of(4, 1, 2, 3))], [2, 3]);
});

test("a card is read for a model as it ships, and for its training set", () => {
  const card = (...names) => ({ metrics: Object.fromEntries(names.map((name) => [name, { name }])) });
  assert.equal(shipped(card("training_set", "hot", "constrained_temperature_1", "as_shipped")).name, "as_shipped");
  assert.equal(shipped(card("training_set", "hot", "constrained_temperature_1")).name, "constrained_temperature_1");
  assert.equal(shipped(card("training_set", "hot")).name, "hot");
  assert.deepEqual([shipped(card("training_set")), shipped(undefined), learned(card("hot"))], [{}, {}, {}]);
  assert.equal(learned(card("training_set")).name, "training_set");
  assert.equal(describeSpread({ p05: 150.25, p50: 301, p95: 498.7, likeness: 0.97 }), "median 301, nine in ten from 150 to 499; 97 % like known molecules");
});

const typed = (changes) => ({ scaffold: "", ranges: {}, alerts: [], isMakeable: false, maxSteps: "", ...changes });

test("a form without conditions adds nothing to the request", () => {
  assert.deepEqual(conditionsOf(typed({ scaffold: "  ", ranges: { mw: { from: "", to: " " } }, maxSteps: "3" })), { conditions: {}, faults: {} });
});

test("conditions are the fields of the request, and a range may have one end", () => {
  const ranges = { mw: { from: "300", to: "450,5" }, qed: { from: "0.7", to: "" }, rings: { from: "", to: "0" } };
  assert.deepEqual(conditionsOf(typed({ scaffold: " [*:1]c1ccncc1 ", ranges, alerts: ["pains"], isMakeable: true, maxSteps: "3" })).conditions, {
    scaffold: "[*:1]c1ccncc1", properties: { mw: { gte: 300, lte: 450.5 }, rings: { lte: 0 }, qed: { gte: 0.7 } }, alerts: ["pains"], synthesizable: { max_steps: 3 },
  });
  assert.deepEqual(conditionsOf(typed({ isMakeable: true })).conditions, { synthesizable: {} });
});

test("each condition that is wrong is told in its field", () => {
  const ranges = { mw: { from: "450", to: "300" }, clogp: { from: "1", to: "much" }, tpsa: { from: "40", to: "" } };
  const { faults } = conditionsOf(typed({ ranges, isMakeable: true, maxSteps: "2.5" }));
  assert.deepEqual(faults, { mw: "The lower end is above the upper one.", clogp: "much is not a number.", sample_steps: "Enter a whole number from 1 to 50, or none." });
  assert.deepEqual(conditionsOf(typed({ maxSteps: "many" })).faults, {}, "a limit on routes that nobody asks for is no fault");
});

test("what the service refuses is told in its field, and what has none is left", () => {
  const refused = [
    { loc: ["body", "size"], msg: "Too many" }, { loc: ["body", "scaffold"], msg: "No attachment point" },
    { loc: ["body", "properties", "mw", "gte"], msg: "Too large" }, { loc: ["body", "synthesizable", "max_steps"], msg: "Too many" },
  ];
  const faults = { size: "Too many.", sample_scaffold: "No attachment point.", mw: "Too large.", sample_steps: "Too many." };
  assert.deepEqual(faultsByField(refused), { faults, isAll: true });
  assert.deepEqual(faultsByField([...refused, { loc: ["body", "constructor"], msg: "Not known" }]), { faults, isAll: false });
  assert.deepEqual(faultsByField([{ loc: [], msg: "Busy" }]), { faults: {}, isAll: false });
  assert.deepEqual(faultsByField([]), { faults: {}, isAll: false });
});

test("the ranges of the histograms are conditions by the service's names", () => {
  const range = { from: "1", to: "2" };
  assert.deepEqual(conditionRanges({ molecular_weight: range, rotatable: range }), { mw: range, rotatable_bonds: range });
  assert.equal(new Set(RANGED.map(({ name }) => name)).size, PROPERTIES.length + 2);
});
