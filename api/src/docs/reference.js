// Draws the document at /openapi.json, with a form for each operation. Text is only ever set as text.
"use strict";

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element[name] = value;
  element.append(...children.filter((child) => child !== null));
  return element;
}

function typeOf(schema) {
  if (!schema) return "";
  if (schema.$ref) return schema.$ref.split("/").pop();
  if (schema.oneOf) return schema.oneOf.map(typeOf).join(" or ");
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(", ");
  if (schema.type === "array") return `array of ${typeOf(schema.items) || "anything"}`;
  if (schema.additionalProperties) return `map to ${typeOf(schema.additionalProperties)}`;
  return [].concat(schema.type ?? "anything").join(" or ");
}

function rules(schema) {
  const names = {
    default: "default", minimum: "at least", exclusiveMinimum: "over", maximum: "at most",
    minLength: "length at least", maxLength: "length at most", pattern: "pattern",
  };
  return Object.entries(names).filter(([key]) => schema?.[key] !== undefined)
    .map(([key, name]) => `${name} ${JSON.stringify(schema[key])}`).join("; ");
}

function table(rows) {
  const head = ["Name", "Type", "Rules", "Meaning"].map((name) => make("th", {}, name));
  const body = rows.map(([name, required, schema, meaning]) => make("tr", {},
    make("td", {}, make("code", {}, name), required ? " *" : ""),
    make("td", {}, typeOf(schema)), make("td", {}, rules(schema)), make("td", {}, meaning ?? "")));
  return make("table", {}, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...body));
}

function propertyRows(schema) {
  return Object.entries(schema.properties ?? {}).map(([name, property]) =>
    [name, (schema.required ?? []).includes(name), property, property.description]);
}

function exampleBody(schema) {
  const example = {};
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    if (property.example !== undefined) example[name] = property.example;
    else if (property.default !== undefined) example[name] = property.default;
  }
  return JSON.stringify(example, null, 2);
}

async function send(method, path, inputs, body, output) {
  const query = new URLSearchParams();
  let address = path;
  for (const [parameter, input] of inputs) {
    if (parameter.in === "path") address = address.replace(`{${parameter.name}}`, encodeURIComponent(input.value));
    else if (input.value !== "") query.set(parameter.name, input.value);
  }
  if (query.size > 0) address += `?${query}`;
  const headers = {};
  const token = document.getElementById("token").value.trim();
  if (token !== "") headers.authorization = `Bearer ${token}`;
  if (body !== null) headers["content-type"] = "application/json";
  output.textContent = "…";
  try {
    const response = await fetch(address, { method, headers, body: body?.value });
    output.textContent = `${response.status} ${response.statusText}\n\n${await readable(response)}`;
  } catch (error) {
    output.textContent = String(error);
  }
}

// Browsers always accept gzip, so a sample comes as the contract's gzipped Base64.
async function readable(response) {
  let text = await response.text();
  if (response.headers.get("content-transfer-encoding") === "base64") {
    const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
    const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    text = await new Response(plain).text();
  }
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function drawOperation(method, path, operation, schemas) {
  // A browser sets accept-encoding itself.
  const parameters = (operation.parameters ?? []).filter((parameter) => parameter.in !== "header");
  const inputs = parameters.map((parameter) => [parameter, make("input", { spellcheck: false })]);
  const reference = operation.requestBody?.content["application/json"].schema.$ref;
  const schema = reference ? schemas[reference.split("/").pop()] : null;
  const body = schema ? make("textarea", { rows: 14, value: exampleBody(schema), spellcheck: false }) : null;
  const output = make("pre", {}, "No answer yet.");
  const all = operation.parameters ?? [];
  const statuses = Object.entries(operation.responses).sort().map(([status, response]) =>
    make("tr", {}, make("td", {}, make("code", {}, status)), make("td", {}, response.description)));
  return make("article", {},
    make("h2", {}, make("span", { className: "method" }, method.toUpperCase()), make("code", {}, path)),
    make("p", {}, operation.description ?? operation.summary ?? ""),
    all.length ? table(all.map((p) => [p.name, p.required, p.schema, p.description])) : null,
    schema ? table(propertyRows(schema)) : null,
    make("details", {}, make("summary", {}, "Statuses"), make("table", {}, make("tbody", {}, ...statuses))),
    make("details", {}, make("summary", {}, "Try it"),
      ...inputs.map(([parameter, input]) => make("label", {}, parameter.name, input)),
      body ? make("label", {}, "Body", body) : null,
      make("button", { onclick: () => send(method.toUpperCase(), path, inputs, body, output) }, "Send"), output));
}

async function draw() {
  const about = document.getElementById("about");
  const api = await (await fetch("/openapi.json")).json();
  about.replaceChildren(`${api.info.description ?? ""} Version ${api.info.version}. The document itself: `,
    make("a", { href: "/openapi.json" }, "openapi.json"), ".");
  const schemas = api.components.schemas;
  const operations = Object.entries(api.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => drawOperation(method, path, operation, schemas)));
  document.getElementById("operations").replaceChildren(...operations);
  document.getElementById("schemas").replaceChildren(...Object.entries(schemas).map(([name, schema]) =>
    make("details", {}, make("summary", {}, make("code", {}, name), ` ${schema.description ?? ""}`),
      schema.properties ? table(propertyRows(schema)) : make("p", {}, typeOf(schema)))));
}

draw().catch((error) => { document.getElementById("about").textContent = String(error); });
