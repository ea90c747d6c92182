// The form that sends an operation's request from this page.
import { make } from "./elements.js";
import { exampleBody } from "./schemas.js";

/** The form; `body` is the schema of the request's body, or null. */
export function tryForm(method, path, operation, body, schemas) {
  // A browser sets accept-encoding itself.
  const inputs = (operation.parameters ?? []).filter((parameter) => parameter.in !== "header")
    .map((parameter) => [parameter, make("input", { spellcheck: false, value: parameter.schema.default ?? "" })]);
  const text = body && make("textarea", {
    rows: 12, spellcheck: false, value: JSON.stringify(exampleBody(body, schemas, "all"), null, 2),
  });
  const output = make("pre", { tabIndex: 0, role: "status", "aria-label": "Answer" }, "No answer yet.");
  const form = make("form", {},
    ...inputs.map(([parameter, input]) => make("label", {}, parameter.name, input)),
    text && make("label", {}, "Body", text),
    make("button", {}, "Send"), output);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    output.textContent = "…";
    output.textContent = await send(method, addressOf(path, inputs), text?.value).catch(String);
  });
  return make("details", {}, make("summary", {}, "Try it"), form);
}

/** The address with the values of its parameters; an empty one in the query is left out. */
export function addressOf(path, inputs) {
  const query = new URLSearchParams();
  let address = path;
  for (const [parameter, input] of inputs) {
    if (parameter.in === "path") address = address.replace(`{${parameter.name}}`, encodeURIComponent(input.value));
    else if (input.value !== "") query.set(parameter.name, input.value);
  }
  return query.size > 0 ? `${address}?${query}` : address;
}

async function send(method, address, body) {
  const headers = { accept: "application/json" };
  const token = document.getElementById("token_field").value.trim();
  if (token !== "") headers.authorization = `Bearer ${token}`;
  if (body !== undefined) headers["content-type"] = "application/json";
  const response = await fetch(address, { method, headers, body });
  return `${response.status} ${response.statusText}\n\n${indented(await response.text())}`;
}

function indented(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
