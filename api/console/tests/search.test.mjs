import "./older_node.mjs";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { search } from "../plan/search.js";
import { compacted } from "./compacted.mjs";

const ANSWER = JSON.parse(readFileSync(new URL("../../clients/python/tests/data/prazosin.json", import.meta.url), "utf8"));
const EVENTS = "/synth/v1/treesearch/srch_1/events?view=compact";
const PROGRESS = { seconds: 1, expansions: 10, molecules: 20, depth: 2, routes: 1, best_cost: 3.5 };

const event = (id, kind, data) => `id: ${id}\nevent: ${kind}\ndata: ${JSON.stringify(data)}\n\n`;
const stream = (...events) => new Response(events.join(""), { headers: { "content-type": "text/event-stream; charset=utf-8", "content-location": EVENTS } });

/** What a search comes to, what it was told, and what it asked of a service that gives these answers one after the other. */
async function searched(...answers) {
  const [asked, told] = [[], []];
  const open = async (path, { method = "GET", headers }) => {
    asked.push([method, path, headers?.["Last-Event-ID"]]);
    return answers.shift();
  };
  const listener = { progress: (progress) => told.push(progress), route: (route) => told.push(route) };
  const outcome = await search({ open }, { search_smiles: ANSWER.search_smiles }, new AbortController().signal, listener);
  return { outcome, asked, told };
}

test("a search asks for a compact answer and expands it", async () => {
  const { outcome, asked } = await searched(Response.json(compacted(ANSWER)));
  assert.deepEqual(outcome, { kind: "answer", answer: ANSWER, bytes: JSON.stringify(outcome.answer, null, 1), id: null });
  assert.deepEqual(asked, [["POST", "/synth/v1/treesearch?view=compact", undefined]]);
});

test("a lost stream is resumed at its own address, and its answer is compact too", async () => {
  const [[depth, [[backbone, [[route]]]]]] = Object.entries(ANSWER.route_hierarchy).map(([steps, groups]) => [steps, Object.entries(groups)]);
  const found = { route, backbone, steps: Number(depth) };
  const { outcome, asked, told } = await searched(stream(event(1, "progress", PROGRESS)), stream(event(2, "route", found), event(3, "answer", compacted(ANSWER))));
  assert.deepEqual([outcome.kind, outcome.answer, outcome.id], ["answer", ANSWER, "srch_1"]);
  assert.deepEqual(told, [PROGRESS, found]);
  assert.deepEqual(asked, [["POST", "/synth/v1/treesearch?view=compact", undefined], ["GET", EVENTS, "1"]]);
});
