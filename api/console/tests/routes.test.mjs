import "./older_node.mjs";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { above, leadTime, offersOf, reactionOf, routeOf, routesOf, stepsOf, treeAt, treeOf } from "../answer/answer.js";
import { PartialAnswer } from "../answer/partial_answer.js";
import { anyBut, another, BY_HAND, grafted, routeByHand } from "../plan/precursors.js";
import { OPEN, passing } from "../routes/route_filters.js";
import { shoppingCsv } from "../routes/shopping_list.js";

const read = (path) => JSON.parse(readFileSync(new URL(path, import.meta.url), "utf8"));
const ANSWER = read("../../clients/python/tests/data/prazosin.json");
const TARGET = "COc1cc2nc(N3CCN(C(=O)c4ccco4)CC3)nc(N)c2cc1OC";
const AMINE = "COc1cc2nc(N3CCNCC3)nc(N)c2cc1OC";
const CHLORIDE = "O=C(Cl)c1ccco1";
const routes = routesOf(ANSWER);
const MANY = routesOf(read("../../tests/data/imatinib_routes.json"));

test("routes come best first, each with its figures", () => {
  assert.deepEqual(MANY.map(({ rank }) => rank), MANY.map((_, place) => place + 1));
  const [best] = routes;
  assert.deepEqual([best.steps, best.depth, best.price, best.perMole, best.lead], [2, 2, 15.3, 1308.33, 11]);
  assert.deepEqual(best.classes, ["SNAr amination", "amide formation from acid halide"]);
  assert.deepEqual(best.blocks.map(({ smiles }) => smiles), [CHLORIDE, "C1CNCCN1", "COc1cc2nc(Cl)nc(N)c2cc1OC"]);
  assert.equal(best.plausibility, best.graph.edges[0].plausibility * best.graph.edges[2].plausibility);
});

test("a route has the same key whatever the order of its nodes and edges, and others have others", () => {
  const [best] = routes;
  const reversed = { ...best.graph, nodes: best.graph.nodes.toReversed(), edges: best.graph.edges.toReversed() };
  assert.equal(routeOf(reversed, best.backbone, best.depth, 1).key, best.key);
  assert.equal(new Set(MANY.map(({ key }) => key)).size, MANY.length);
});

test("a tree grows from the target, and its steps are numbered in the order of the synthesis", () => {
  const tree = treeOf(routes[0].graph);
  assert.equal(tree.data.smiles, TARGET);
  assert.deepEqual(stepsOf(tree).map(({ data, step }) => [step.number, data.smiles]), [[1, AMINE], [2, TARGET]]);
  assert.deepEqual(tree.step.precursors.map(({ key, data }) => [key, data.smiles]), [["0.0", AMINE], ["0.1", CHLORIDE]]);
  assert.equal(treeAt(tree, "0.0.1").data.smiles, "COc1cc2nc(Cl)nc(N)c2cc1OC");
  assert.equal(treeAt(tree, "0.7"), null);
  assert.equal(reactionOf(tree), `${AMINE}.${CHLORIDE}>>${TARGET}`);
  assert.equal(reactionOf(treeAt(tree, "0.1")), null);
});

test("a graph with a circle still gives a tree", () => {
  const node = (id) => ({ id, data: { smiles: id, is_building_block: false, depth: 0 } });
  const tree = treeOf({ nodes: [node("A"), node("B")], edges: [{ source: "A", target: "B" }, { source: "B", target: "A" }] });
  assert.deepEqual([tree.step.precursors[0].step.precursors[0].data.smiles, tree.step.precursors[0].step.precursors[0].step], ["A", null]);
});

test("offers are by building block, the cheapest for a gram first, with the time to a region", () => {
  const offers = offersOf(ANSWER);
  const prices = offers.get(2659).map((offer) => offer.normalised_usd ?? Infinity);
  assert.deepEqual(prices, prices.toSorted((one, other) => one - other));
  assert.deepEqual([leadTime(ANSWER.pricing_annotations[0], "CN"), leadTime(ANSWER.pricing_annotations[0], "ZZ"), leadTime(ANSWER.pricing_annotations[0], null)], [4, null, null]);
});

test("what a molecule goes into is above it", () => {
  assert.deepEqual(above(routes[0].graph, "C1CNCCN1"), new Set(["C1CNCCN1", AMINE, TARGET]));
  assert.deepEqual(above(routes[0].graph, TARGET), new Set([TARGET]));
});

test("routes that are told one by one make an answer in the order of finding", () => {
  const partial = new PartialAnswer(TARGET);
  const [one, two] = MANY;
  partial.add({ route: { nodes: two.graph.nodes, edges: two.graph.edges }, backbone: two.backbone, steps: 3 });
  partial.add({ route: { nodes: one.graph.nodes, edges: one.graph.edges }, backbone: one.backbone, steps: 2 });
  partial.add({ route: { nodes: one.graph.nodes, edges: one.graph.edges }, backbone: two.backbone, steps: "3" });
  const answer = partial.answer();
  assert.deepEqual(routesOf(answer).map(({ rank, key, perMole }) => [rank, key, perMole]), [[1, two.key, null], [2, one.key, null], [3, one.key.replace(one.backbone, two.backbone), null]]);
  assert.deepEqual(Object.keys(answer.route_hierarchy), ["2", "3"]);
});

test("filters let routes pass that have all that is asked for", () => {
  const pass = (changes, of = MANY) => passing(of, { ...OPEN, ...changes }).map(({ rank }) => rank);
  assert.deepEqual(pass({}), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  assert.deepEqual(pass({ words: "  SNAR reductive " }), [6]);
  assert.deepEqual(pass({ words: "invented" }), [1, 2, 5, 9, 10]);
  assert.deepEqual(pass({ steps: 4 }), [4, 6, 8]);
  assert.deepEqual(pass({ usd: 28.2 }), [3, 6, 7]);
  assert.deepEqual(pass({ withoutClass: "N-alkylation" }), [2, 5, 6, 9, 10]);
  assert.deepEqual(pass({ withoutVendor: "Made-Up Reagents (demo)" }), [7]);
  assert.deepEqual(pass({ steps: 5, usd: 35, withoutVendor: "Invented Synthesis on Demand (demo)" }), [3, 6, 7]);
  const leads = [null, 7, 7.5].map((lead, place) => ({ ...MANY[0], lead, rank: place }));
  assert.deepEqual(pass({ inAWeek: true }, leads), [1]);
  assert.deepEqual(pass({ usd: 1e6 }, [{ ...MANY[0], price: null }]), [], "what is not priced is not cheap");
});

test("a shopping list is a table with a line for each pack", () => {
  const lines = shoppingCsv(routes[0]).trim().split("\r\n");
  assert.equal(lines[0], "vendor,entry,smiles,grams_needed,packs,pack,unit,usd,lead_time_days");
  assert.equal(lines[1], "Invented Synthesis on Demand (demo),ISD-006185,COc1cc2nc(Cl)nc(N)c2cc1OC,0.3745,4,100,mg,11.6,41");
  assert.equal(lines.length, 4);
  assert.equal(shoppingCsv({ list: null, blocks: [] }), "");
});

const SET = { smiles: ["O=C(O)c1ccco1", AMINE], probability: 0.4, plausibility: 0.9, template_id: "t", reaction_class: "amide coupling", precedents: 7, in_stock: [true, false] };

test("a step by hand takes the place of the old one, and what only that needed is gone", () => {
  const known = { sold: new Map([["O=C(O)c1ccco1", { building_block_idx: 5 }]]), alike: new Map() };
  const graph = grafted(routes[0].graph, TARGET, SET, known);
  const smiles = graph.nodes.map(({ data }) => data.smiles);
  assert.ok(!smiles.includes(CHLORIDE) && smiles.includes(AMINE) && smiles.includes("C1CNCCN1"));
  const acid = graph.nodes.find(({ data }) => data.smiles === "O=C(O)c1ccco1").data;
  assert.deepEqual([acid.is_building_block, acid.building_block_idx, acid.depth, acid.mw.toFixed(2)], [true, 5, 1, "112.08"]);
  const route = routeByHand(graph, 2);
  assert.deepEqual([route.name, route.backbone, route.steps, route.classes.includes("amide coupling"), route.price], ["By hand 2", BY_HAND, 2, true, null]);
  assert.equal(routes[0].graph.nodes.length, 5, "the old route stays as it was");
});

test("precursors that the molecule goes into are not offered", () => {
  assert.equal(anyBut(new Set([TARGET])).may(SET), true);
  assert.equal(anyBut(new Set([AMINE])).may(SET), false);
});

test("another block is in stock and stands beside the other precursors of the step", () => {
  const { may } = another([CHLORIDE, AMINE], { block: CHLORIDE, shipsTo: null }, new Set([TARGET]));
  assert.equal(may(SET), true);
  assert.equal(may({ ...SET, in_stock: [false, false] }), false);
  assert.equal(may({ ...SET, smiles: [CHLORIDE, AMINE] }), false, "it is the same block");
  assert.equal(may({ ...SET, smiles: ["O=C(O)c1ccco1", "CCN"], in_stock: [true, true] }), false, "the amine is missing");
  assert.equal(may({ ...SET, smiles: [TARGET, AMINE] }), false, "it is what is to be made");
});
