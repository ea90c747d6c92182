// Draws the document at /openapi.json. Text is only ever set as text.
import { addAnchor, fieldTable, framed, heading, make, prose, table, typeNodes } from "./elements.js";
import { drawOperation, scopesOf } from "./operation.js";
import { fields } from "./schemas.js";

async function draw() {
  const api = await (await fetch("/openapi.json")).json();
  const base = (api.servers?.[0]?.url || location.origin).replace(/\/$/, "");
  drawAbout(api, base);
  fillAddress(base);
  document.getElementById("scope_table").replaceChildren(scopeTable(api));
  document.getElementById("operations").replaceChildren(...tagSections(api, base));
  document.getElementById("schemas").append(...schemaArticles(api.components.schemas));
  drawContents();
  // What an address points at was not there when the browser looked for it.
  document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView();
}

function drawAbout(api, base) {
  document.getElementById("about").replaceChildren(
    `${api.info.description ?? ""} Version ${api.info.version}, at `, make("code", {}, base),
    ". The document itself, for generators of clients: ", make("a", { href: "/openapi.json" }, "openapi.json"), ".");
}

/** Puts this installation's address where the page's own text has `{address}`, and buttons to its blocks of code. */
function fillAddress(base) {
  for (const code of document.querySelectorAll("main code")) {
    code.textContent = code.textContent.replaceAll("{address}", base);
  }
  for (const pre of document.querySelectorAll("main pre")) {
    const frame = make("div");
    pre.replaceWith(frame);
    frame.replaceWith(framed(pre, "Commands"));
  }
  for (const element of document.querySelectorAll("main h3[id]")) addAnchor(element, element.id);
  for (const element of document.querySelectorAll("main section[id] > h2")) addAnchor(element, element.parentElement.id);
}

function operationsOf(api) {
  return Object.entries(api.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ method, path, operation })));
}

function scopeTable(api) {
  const flows = Object.values(api.components.securitySchemes).flatMap((scheme) => Object.values(scheme.flows ?? {}));
  const scopes = Object.assign({}, ...flows.map((flow) => flow.scopes));
  const users = (scope) => operationsOf(api).filter(({ operation }) => scopesOf(operation).includes(scope))
    .flatMap(({ operation }, index) => [index ? ", " : "",
      make("a", { href: `#${operation.operationId}` }, operation.summary)]);
  return table("Scopes", ["Scope", "Meaning", "Needed by"], Object.entries(scopes).map(([scope, meaning]) =>
    [[make("code", {}, scope)], prose(meaning), users(scope)]));
}

/** A section for each tag, in the order of the document. */
function tagSections(api, base) {
  return api.tags.map((tag) => {
    const id = tag.name.replaceAll(" ", "_");
    const title = tag.name[0].toUpperCase() + tag.name.slice(1);
    const operations = operationsOf(api).filter(({ operation }) => operation.tags.includes(tag.name));
    const section = make("section", { id }, make("h2", {}, title), make("p", {}, ...prose(tag.description ?? "")),
      ...operations.map(({ method, path, operation }) => drawOperation(method, path, operation, api, base)));
    addAnchor(section.firstChild, id);
    return section;
  });
}

function schemaArticles(schemas) {
  return Object.entries(schemas).map(([name, schema]) => {
    const rows = fields(schema, schemas);
    return make("article", {}, heading(3, name, name), make("p", {}, ...prose(schema.description ?? "")),
      rows.length ? fieldTable(name, rows) : fieldTable(name, [{ name, schema }]));
  });
}

/** The contents, from the headings; open where they stand beside the text. */
function drawContents() {
  const link = (element, id) => make("a", { href: `#${id}` }, element.firstChild.textContent);
  const items = [...document.querySelectorAll("main section[id]")].map((section) => {
    const parts = [...section.querySelectorAll("h3[id]")].map((part) => make("li", {}, link(part, part.id)));
    return make("li", {}, link(section.querySelector("h2"), section.id), parts.length ? make("ul", {}, ...parts) : null);
  });
  const contents = document.getElementById("contents");
  contents.append(make("ul", {}, ...items));
  contents.open = matchMedia("(min-width: 64rem)").matches;
}

draw().catch((error) => { document.getElementById("about").textContent = String(error); });
