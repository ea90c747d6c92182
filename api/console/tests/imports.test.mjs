import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";

const CONSOLE = fileURLToPath(new URL("..", import.meta.url));
const VENDOR = "vendor/openchemlib/openchemlib.js";

const modules = new Map(readdirSync(CONSOLE, { recursive: true }).filter((path) => path.endsWith(".js") && path !== VENDOR)
  .map((path) => [path, readFileSync(join(CONSOLE, path), "utf8")]));

/** Names that a module exports, those of its types too. */
function exportsOf(text) {
  const values = text.matchAll(/^export (?:async )?(?:function\*?|class|const) (\w+)/gm);
  const types = [...text.matchAll(/\/\*\*.*?\*\//gs)].flatMap(([comment]) => [...comment.matchAll(/@typedef \{[^@]*\} (\w+)/g)]);
  return new Set([...values, ...types].map(([, name]) => name));
}

/** Paths that a module imports when it is loaded, each with the names that it takes. */
function importsOf(path) {
  return [...modules.get(path).matchAll(/^import \{ (.*) \} from "(.*)";$/gm)].map(([, names, from]) => ({ from: join(dirname(path), from), names: names.split(", ") }));
}

test("every import names a module and something that it exports", () => {
  for (const path of modules.keys()) {
    for (const { from, names } of importsOf(path)) {
      assert.ok(from === VENDOR || modules.has(from), `${path} imports ${from}`);
      if (from !== VENDOR) for (const name of names) assert.ok(exportsOf(modules.get(from)).has(name), `${path} imports ${name} of ${from}`);
    }
  }
});

test("no import statement is of a form that the other tests overlook", () => {
  for (const [path, text] of modules) {
    const statements = text.split("\n").filter((line) => line.startsWith("import "));
    assert.equal(statements.length, importsOf(path).length, path);
  }
});

test("modules and types that are named later are there", () => {
  for (const [path, text] of modules) {
    for (const [, from, type] of text.matchAll(/import\("([^"]+)"\)(?:\.(\w+))?/g)) {
      const named = join(dirname(path), from);
      assert.ok(named === VENDOR || modules.has(named), `${path} names ${named}`);
      if (type && type !== "then" && named !== VENDOR) assert.ok(exportsOf(modules.get(named)).has(type), `${path} names ${type} of ${named}`);
    }
    for (const [, address] of text.matchAll(/new Worker\("\/console\/([^"]+)"/g)) assert.ok(modules.has(address), `${path} starts ${address}`);
  }
});

test("pages load files that are there", () => {
  for (const page of ["index.html", "operations.html"]) {
    const addresses = [...readFileSync(join(CONSOLE, page), "utf8").matchAll(/ (?:src|href)="\/console\/([^"]+\.\w+)"/g)].map(([, address]) => address);
    assert.ok(addresses.length >= 3, page);
    for (const address of addresses) assert.ok(existsSync(join(CONSOLE, address)), `${page} loads ${address}`);
  }
});

/** Paths of the modules that a Rust file embeds. */
const embeddedBy = (file) => [...readFileSync(join(CONSOLE, "../..", file), "utf8").matchAll(/module!\("(.*)"\)/g)].map(([, path]) => `${path}.js`);

test("the service serves every module but those of the report alone", () => {
  const served = [...modules.keys(), VENDOR].filter((path) => !path.startsWith("report/"));
  assert.deepEqual(embeddedBy("api/src/console.rs").sort(), served.sort());
});

test("the report holds every module that it imports, and no other", () => {
  const needed = new Set(["report/report.js"]);
  for (const path of needed) if (path !== VENDOR) for (const { from } of importsOf(path)) needed.add(from);
  assert.deepEqual(embeddedBy("ops/src/report.rs").sort(), [...needed].sort());
});

/** A way from a node along edges back to it, if there is one. */
function circle(graph) {
  const done = new Set();
  const visit = (node, way) => {
    if (way.includes(node)) return [...way.slice(way.indexOf(node)), node];
    if (done.has(node)) return null;
    for (const next of graph.get(node) ?? []) {
      const found = visit(next, [...way, node]);
      if (found) return found;
    }
    done.add(node);
    return null;
  };
  for (const node of graph.keys()) {
    const found = visit(node, []);
    if (found) return found.join(" → ");
  }
  return null;
}

test("neither modules nor folders import each other in a circle", () => {
  const files = new Map([...modules.keys()].map((path) => [path, importsOf(path).map(({ from }) => from)]));
  const folders = new Map();
  for (const [path, imported] of files) {
    const [folder, others] = [dirname(path), imported.map(dirname)];
    folders.set(folder, new Set([...(folders.get(folder) ?? []), ...others.filter((other) => other !== folder)]));
  }
  assert.equal(circle(files), null);
  assert.equal(circle(folders), null);
  assert.equal(circle(new Map([["a", ["b"]], ["b", ["c"]], ["c", ["b"]]])), "b → c → b");
});
