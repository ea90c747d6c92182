// One operation: what it takes, a request in several languages, what it answers, a form to try it.
import { codeBlock, fieldTable, heading, make, prose, tabs, typeNodes } from "./elements.js";
import { samples } from "./samples.js";
import { exampleBody, fields } from "./schemas.js";
import { tryForm } from "./try.js";

const JSON_TYPE = "application/json";

/** The operation as an article. */
export function drawOperation(method, path, operation, api, base) {
  const schemas = api.components.schemas;
  const body = operation.requestBody?.content[JSON_TYPE].schema ?? null;
  const parameters = operation.parameters ?? [];
  const request = exampleRequest(method, path, operation, schemas, base);
  return make("article", {},
    heading(3, operation.operationId, operation.summary),
    make("p", { className: "address" },
      make("span", { className: `method ${method}` }, method.toUpperCase()), make("code", {}, path)),
    make("p", {}, ...prose(operation.description ?? "")),
    make("p", {}, ...scopeNodes(operation)),
    ...packedNote(operation),
    ...(parameters.length ? [make("h4", {}, "Parameters"), parameterTable(parameters)] : []),
    ...(body ? [make("h4", {}, "Body: ", ...typeNodes(body)), fieldTable("Body", fields(body, schemas))] : []),
    make("h4", {}, "Request"),
    tabs("Language", samples(request).map(([name, text]) => [name, codeBlock(text, `Request: ${name}`)])),
    ...answerNodes(operation),
    make("h4", {}, "Errors"),
    make("div", {}, ...errors(operation).map(([status, response]) => drawError(status, response))),
    tryForm(method.toUpperCase(), path, operation, body, schemas));
}

/** A request of the operation with the examples and defaults of the document. */
export function exampleRequest(method, path, operation, schemas, base) {
  const parameters = operation.parameters ?? [];
  const value = ({ schema, example }) => example ?? schema.example ?? schema.default;
  const filled = parameters.filter((parameter) => parameter.in === "path").reduce(
    (text, parameter) => text.replace(`{${parameter.name}}`, value(parameter) ?? parameter.name), path);
  const inQuery = parameters.filter((parameter) => parameter.in === "query" && value(parameter) !== undefined);
  const body = operation.requestBody?.content[JSON_TYPE].schema;
  return {
    operationId: operation.operationId,
    method: method.toUpperCase(),
    url: base + filled,
    query: Object.fromEntries(inQuery.map((parameter) => [parameter.name, value(parameter)])),
    body: body ? exampleBody(body, schemas, "least") : null,
  };
}

/** The scopes that the operation needs. */
export function scopesOf(operation) {
  return [...new Set((operation.security ?? []).flatMap((way) => Object.values(way).flat()))];
}

function scopeNodes(operation) {
  const scopes = scopesOf(operation);
  if (scopes.length === 0) return ["Needs a ", make("a", { href: "#token" }, "token"), ", and no scope."];
  return ["Needs a ", make("a", { href: "#token" }, "token"), " with the scope ",
    ...scopes.map((scope) => make("code", {}, scope)), "."];
}

/** Where an answer may be text instead of JSON. */
function packedNote(operation) {
  if (!operation.responses[200]?.content?.["text/plain"]) return [];
  const note = make("p", {}, "Answers JSON where ", make("code", {}, `Accept: ${JSON_TYPE}`), " is sent: ",
    make("a", { href: "#json" }, "why"), ".");
  return [note];
}

function parameterTable(parameters) {
  return fieldTable("Parameters", parameters.map((parameter) => ({
    name: parameter.name,
    required: parameter.required,
    schema: parameter.schema,
    meaning: `${parameter.description ?? ""} In the ${parameter.in}.`,
  })));
}

const isError = (status) => Number(status) >= 400;

function errors(operation) {
  return Object.entries(operation.responses).filter(([status]) => isError(status)).sort();
}

function answerNodes(operation) {
  return Object.entries(operation.responses).filter(([status]) => !isError(status)).flatMap(([status, response]) => {
    const content = response.content?.[JSON_TYPE];
    return [
      make("h4", {}, `Answer: ${status} `, ...(content ? typeNodes(content.schema) : ["without a body"])),
      make("p", {}, ...prose(response.description)),
      ...(content ? [exampleBlock(content, `Answer: ${status}`)] : []),
    ];
  });
}

function exampleBlock(content, label) {
  const example = content.schema.type === "null" ? null : content.example;
  return example === undefined ? "" : codeBlock(JSON.stringify(example, null, 2), label);
}

function drawError(status, response) {
  const headers = Object.keys(response.headers ?? {}).map((name) => make("code", {}, name));
  const content = response.content?.[JSON_TYPE];
  return make("details", { className: "error" },
    make("summary", {}, make("code", {}, status), " ", ...prose(response.description)),
    headers.length ? make("p", {}, "Header: ", ...headers) : null,
    ...(content ? [make("p", {}, "Body: ", ...typeNodes(content.schema)), exampleBlock(content, `Answer: ${status}`)] : []));
}
