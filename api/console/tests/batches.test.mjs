import "./older_node.mjs";
import assert from "node:assert/strict";
import test from "node:test";
import { reasonsOf } from "../batches/batch_molecules.js";
import { BatchPages } from "../batches/batch_pages.js";
import { standing } from "../batches/sample_batch.js";
import { readPage } from "../service/paged_list.js";

/** A service whose list at any path has these items, the last ones first; it says what it was asked. */
function listing(items) {
  const asked = [];
  const get = async (path) => {
    asked.push(path);
    const { searchParams } = new URL(path, "http://retort.test");
    const [limit, after] = [Number(searchParams.get("limit")), searchParams.get("next-page")];
    const all = items.toReversed();
    const rest = after ? all.slice(all.findIndex(({ id }) => id === after) + 1) : all;
    return { data: rest.slice(0, limit).map((item) => ({ ...item })), has_more: rest.length > limit };
  };
  return { service: { get }, asked };
}

/** Chunks of a batch, of which the first ones are made. */
const chunks = (many, made) => Array.from({ length: many }, (_, place) => ({ id: `smp_${place}`, status: place < made ? "completed" : "pending" }));
const mayChange = ({ status }) => status !== "completed";

test("lists of samples and of plans are paged by their own names", async () => {
  const asked = [];
  const service = (page) => ({ get: async (path) => (asked.push(path), page) });
  assert.deepEqual(await readPage(service({ data: [1], has_more: true }), "/generator/v1/sample-batches", 20, "sbt_1"), { items: [1], hasMore: true });
  assert.deepEqual(await readPage(service({ items: [2], has_next: false }), "/synth-batches/v1/batches", 20, ""), { items: [2], hasMore: false });
  assert.deepEqual(await readPage(service({ items: [], has_next: false }), "/synth/v1/routes", 20, "rte_1"), { items: [], hasMore: false });
  assert.deepEqual(asked, ["/generator/v1/sample-batches?limit=20&next-page=sbt_1", "/synth-batches/v1/batches?limit=20", "/synth/v1/routes?limit=20&starting_after=rte_1"]);
});

test("all pages of a batch are read once, and then only those in which something has ended", async () => {
  const items = chunks(5, 1);
  const { service, asked } = listing(items);
  let changes = 0;
  const pages = new BatchPages(service, 2, mayChange, () => (changes += 1));
  pages.of("/generator/v1/sample-batches/sbt_1/samples");

  await pages.fresh(1);
  assert.deepEqual([pages.items.map(({ id }) => id), pages.isWhole, asked.length], [["smp_4", "smp_3", "smp_2", "smp_1", "smp_0"], true, 3]);
  await pages.fresh(1);
  assert.equal(asked.length, 3, "nothing has ended meanwhile");
  const [unchanged] = pages.items;
  items[1].status = "completed";
  await pages.fresh(2);
  assert.deepEqual(asked.slice(3).map((path) => path.split("next-page=")[1]), ["smp_3"], "the page with the first chunks that may change");
  assert.deepEqual(pages.items.map(({ status }) => status), ["pending", "pending", "pending", "completed", "completed"]);
  assert.equal(pages.items[0], unchanged);
  assert.ok(changes >= 3, `${changes}`);
});

test("where fewer have ended than before, all that may change is read again", async () => {
  const items = chunks(4, 2);
  items[2].status = items[3].status = "failed";
  const { service, asked } = listing(items);
  const pages = new BatchPages(service, 2, mayChange, () => {});
  pages.of("/generator/v1/sample-batches/sbt_1/samples");
  await pages.fresh(4);

  items[3].status = "pending";
  await pages.fresh(3);

  assert.equal(asked.length, 3, "the page of completed chunks stays");
  assert.deepEqual(pages.items.map(({ status }) => status), ["pending", "failed", "completed", "completed"]);
});

test("an answer that comes after another batch was chosen is none of its items", async () => {
  let answer = () => {};
  const service = { get: () => new Promise((resolve) => (answer = resolve)) };
  const pages = new BatchPages(service, 2, mayChange, () => assert.fail("nothing is known of the other batch"));
  pages.of("/generator/v1/sample-batches/sbt_1/samples");
  const reading = pages.fresh(0);

  pages.of("/generator/v1/sample-batches/sbt_2/samples");
  answer({ data: chunks(1, 1), has_more: false });
  await reading;

  assert.deepEqual([pages.items, pages.isWhole], [[], false]);
});

test("what is known stays when the service does not answer, and is read on later", async () => {
  const items = chunks(3, 3);
  const { service } = listing(items);
  const get = service.get;
  let calls = 0;
  service.get = (path) => ((calls += 1) === 2 ? Promise.reject(new Error("gone")) : get(path));
  const pages = new BatchPages(service, 2, mayChange, () => {});
  pages.of("/generator/v1/sample-batches/sbt_1/samples");

  await pages.fresh(3);
  assert.deepEqual([pages.items.length, pages.isWhole], [2, false]);
  await pages.fresh(3);
  assert.deepEqual([pages.items.length, pages.isWhole], [3, true]);
});

test("a reason for which many chunks failed is told once", () => {
  const failed = (error) => ({ id: "smp_1", status: "failed", smiles: [], error });
  assert.deepEqual(reasonsOf([failed("cancelled"), failed(null), failed("cancelled"), { id: "smp_2", status: "completed", smiles: ["C"], error: null }]),
    ["2 chunks failed: cancelled", "1 chunk failed: no reason is known"]);
  assert.deepEqual(reasonsOf([]), []);
});

test("a sample batch goes on until all of its chunks have ended", () => {
  const batch = { id: "sbt_1", model_id: null, size: 2000, chunk_count: 4, status: "processing", completed_chunks: 1, failed_chunks: 1, created_at: "" };
  const { all, parts, ended, isGoing } = standing(batch);
  assert.deepEqual([all, parts, ended, isGoing], [[4, "chunk"], [[1, "done"], [2, "to come"], [1, "failed"]], 2, true]);
  assert.equal(standing({ ...batch, status: "failed" }).isGoing, false);
});
