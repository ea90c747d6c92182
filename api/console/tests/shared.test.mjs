import assert from "node:assert/strict";
import test from "node:test";
import { csvOf } from "../shared/csv.js";
import { decodeText } from "../shared/file_text.js";
import { amount, count, days, dollars, duration, parseNumber, percent, several, significant } from "../shared/numbers.js";
import { Store, toggled } from "../shared/store.js";

test("numbers are read with a point or a comma as decimal sign", () => {
  const read = (text) => parseNumber(text);
  assert.deepEqual(["1.5", "1,5", " 12 ", "1 234,5", "1'234.5", "1,234.5", "1.234,5", "-3"].map(read), [1.5, 1.5, 12, 1234.5, 1234.5, 1234.5, 1234.5, -3]);
});

test("a comma before three digits is asked about, and what is no number is said", () => {
  assert.equal(parseNumber("1,234"), "1,234 may be 1.234 or 1234: write it without a comma.");
  assert.equal(parseNumber("0,125"), 0.125);
  assert.equal(parseNumber("ten"), "ten is not a number.");
  assert.equal(parseNumber(""), " is not a number.");
  assert.equal(parseNumber("Infinity"), "Infinity is not a number.");
});

test("figures have as many digits as people want", () => {
  assert.deepEqual([dollars(9.994), dollars(9.5), dollars(1234.6), dollars(null)], ["$9.99", "$9.50", "$1,235", "price not known"]);
  assert.deepEqual([days(1), days(11), days(0.5), days(undefined)], ["1 day", "11 days", "0.5 days", "lead time not known"]);
  assert.deepEqual([percent(0), percent(0.004), percent(0.125), percent(1)], ["0 %", "< 1 %", "13 %", "100 %"]);
  assert.deepEqual([significant(1308.33), significant(0.37451), count(1234567)], ["1,310", "0.375", "1,234,567"]);
  assert.deepEqual([amount(100, "mg"), amount(5, null), amount(null, "g")], ["100 mg", "5", "pack not stated"]);
  assert.deepEqual([several(1, "route"), several(0, "route"), several(1500, "route")], ["1 route", "0 routes", "1,500 routes"]);
});

test("durations have one unit", () => {
  assert.deepEqual([-4, 99.4, 100, 5999, 6000, 172799, 172800].map(duration), ["0 s", "99 s", "2 min", "100 min", "2 h", "48 h", "2 days"]);
});

test("cells of a table are quoted where they must be, and none is a formula", () => {
  const table = csvOf(["smiles", "name", "usd"], [["C=O", 'a "b", c', 1.5], ["CC", "=1+1"], ["C", "two\nlines", null]]);
  assert.equal(table, 'smiles,name,usd\r\nC=O,"a ""b"", c",1.5\r\nCC,\'=1+1,\r\nC,"two\nlines",\r\n');
  assert.equal(csvOf(["x"], [[-5], ["-5"], ["@a"], ["\tb"]]), "x\r\n-5\r\n'-5\r\n'@a\r\n'\tb\r\n");
});

test("files are text in the encoding that wrote them", () => {
  const bytes = (...all) => new Uint8Array(all);
  assert.equal(decodeText(new TextEncoder().encode("\u{feff}é")), "é");
  assert.equal(decodeText(bytes(0xff, 0xfe, 0x43, 0x00, 0xe9, 0x00)), "Cé");
  assert.equal(decodeText(bytes(0xfe, 0xff, 0x00, 0x43)), "C");
  assert.equal(decodeText(bytes(0x43, 0x00, 0x4f, 0x00)), "CO");
  assert.equal(decodeText(bytes(0x00, 0x43, 0x00, 0x4f)), "CO");
  assert.equal(decodeText(bytes(0x43, 0xe9)), "Cé");
});

test("those who watch a field are told when it is another, and only then", () => {
  const store = new Store({ one: 1, two: "a" });
  const told = [];
  store.watch(["one"], ({ one }) => told.push(one));
  store.set({ two: "b" });
  store.set({ one: 1 });
  store.set({ one: 2, two: "c" });
  assert.deepEqual(told, [1, 2]);
  assert.deepEqual(store.state, { one: 2, two: "c" });
});

test("a toggled set is another one", () => {
  const some = new Set([1, 2]);
  assert.deepEqual([toggled(some, 2), toggled(some, 3), some], [new Set([1]), new Set([1, 2, 3]), new Set([1, 2])]);
});
