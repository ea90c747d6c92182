import assert from "node:assert/strict";
import test from "node:test";
import { events } from "../service/event_stream.js";

async function eventsOf(...pieces) {
  const bytes = pieces.map((piece) => (typeof piece === "string" ? new TextEncoder().encode(piece) : piece));
  const body = new ReadableStream({ start: (stream) => { for (const piece of bytes) stream.enqueue(piece); stream.close(); } });
  const all = [];
  for await (const event of events(body)) all.push(event);
  return all;
}

test("a stream means the same wherever it is cut", async () => {
  const text = "\u{feff}: a comment\r\nid: 1\r\nevent: route\r\ndata: {\"a\":\r\ndata: 1}\r\n\r\nevent: nothing\n\nid\ndata:  two\rdata\r\rretry: 5\nid: 3\ndata:é€\n\ndata: never ended\n";
  const expected = [
    { id: "1", event: "route", data: "{\"a\":\n1}" },
    { id: "", event: "message", data: " two\n" },
    { id: "3", event: "message", data: "é€" },
  ];
  const bytes = new TextEncoder().encode(text);
  for (let cut = 0; cut <= bytes.length; cut++) assert.deepEqual(await eventsOf(bytes.slice(0, cut), bytes.slice(cut)), expected, `cut at ${cut}`);
  assert.deepEqual(await eventsOf(...[...bytes].map((byte) => new Uint8Array([byte]))), expected);
});

test("an id lasts until another is given, and none with NUL is one", async () => {
  const read = await eventsOf("id: 7\ndata: a\n\ndata: b\n\nid: 8\0\ndata: c\n\nunknown: x\ndata: d\n\n");
  assert.deepEqual(read.map(({ id, data }) => [id, data]), [["7", "a"], ["7", "b"], ["7", "c"], ["7", "d"]]);
});

test("who takes no more ends the stream", async () => {
  let isCancelled = false;
  const body = new ReadableStream({ pull: (stream) => stream.enqueue(new TextEncoder().encode("data: more\n\n")), cancel: () => { isCancelled = true; } });
  for await (const { data } of events(body)) {
    assert.equal(data, "more");
    break;
  }
  assert.ok(isCancelled);
});
