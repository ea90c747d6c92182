import "./older_node.mjs";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { expanded } from "../answer/compact_answer.js";
import { compacted } from "./compacted.mjs";

const read = (path) => JSON.parse(readFileSync(new URL(path, import.meta.url), "utf8"));
const MANY = read("../../tests/data/imatinib_routes.json");
const graphsOf = (answer) => Object.values(answer.route_hierarchy).flatMap((groups) => Object.values(groups)).flat(2);

test("a compact answer gives the whole answer back", () => {
  for (const answer of [MANY, read("../../clients/python/tests/data/prazosin.json"), read("../../src/examples/tree_search.json")]) {
    const compact = compacted(answer);
    assert.equal(new Set(compact.molecules.map(({ data }) => data.depth)).size, 1);
    assert.deepEqual(expanded(compact), answer);
  }
});

test("routes share equal nodes and edges", () => {
  const graphs = graphsOf(expanded(compacted(MANY)));
  for (const items of [graphs.flatMap(({ nodes }) => nodes), graphs.flatMap(({ edges }) => edges)]) {
    const texts = items.map((item) => JSON.stringify(item));
    assert.ok(items.length > new Set(texts).size);
    assert.equal(new Set(items).size, new Set(texts).size);
  }
});

const molecule = (id, standing) => ({ id, data: { smiles: id, depth: 0 }, ...standing });
const step = (product, ...precursors) => ({ product, precursors });

test("the depth of a molecule is the fewest steps from the target, in each route", () => {
  const compact = {
    molecules: [molecule("T"), molecule("A", { standing: { essential: true, only_for: "T" } }), molecule("B")],
    steps: [step("T", "A", "B"), step("A", "B"), { ...step("T", "A"), plausibility: 0.5, evidence: { needs: "enzyme" } }],
    route_hierarchy: { 2: { b: [[{ molecules: [0, 1, 2], steps: [0, 1] }, { molecules: [0, 1, 2], steps: [2, 1] }]] } },
  };
  const [one, other] = graphsOf(expanded(compact));
  assert.deepEqual([one, other].map(({ nodes }) => nodes.map(({ data }) => data.depth)), [[0, 1, 1], [0, 1, 2]]);
  assert.deepEqual(one.nodes[1], { id: "A", data: { smiles: "A", depth: 1 }, essential: true, only_for: "T" });
  assert.deepEqual(other.edges, [{ source: "T", target: "A", plausibility: 0.5, needs: "enzyme" }, { source: "A", target: "B" }]);
});

test("an index without a molecule or step is left out", () => {
  const compact = { molecules: [molecule("T")], steps: [], route_hierarchy: { 1: { b: [[{ molecules: [0, 1], steps: [0] }, { molecules: [7], steps: [] }]] } } };
  const [one, none] = graphsOf(expanded(compact));
  assert.deepEqual([one.nodes.map(({ id }) => id), one.edges], [["T"], []]);
  assert.deepEqual([none.nodes, none.edges], [[], []]);
});
