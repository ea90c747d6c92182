// Code that sends a request, in several languages. A request is { operationId, method, url, query, body }, the last
// null where there is none; the texts are made from it alone, but for the command line's own commands.

// Longer than any operation takes; httpx would give up after five seconds.
const TIMEOUT_SECONDS = 150;

/** The languages in which there is a sample of `request`: pairs of a name and a text. */
export function samples(request) {
  const all = [
    ["curl", curl(request)],
    ["Python requests", python(request, "requests")],
    ["Python httpx", python(request, "httpx")],
    ["JavaScript", javascript(request)],
    ["retort", commandLine(request)],
  ];
  return all.filter(([, text]) => text !== null);
}

function address({ url, query }) {
  const text = new URLSearchParams(query).toString();
  return text === "" ? url : `${url}?${text}`;
}

export function curl(request) {
  const parts = [`curl -sS ${shellWord(address(request))}`];
  if (request.method !== "GET" && !(request.method === "POST" && request.body)) parts.push(`-X ${request.method}`);
  parts.push('-H "Authorization: Bearer $TOKEN"', "-H 'Accept: application/json'");
  if (request.body) {
    parts.push("-H 'Content-Type: application/json'", `-d ${shellWord(JSON.stringify(request.body))}`);
  }
  return `TOKEN=$(retort token)\n${parts.join(" \\\n  ")}`;
}

export function python({ method, url, query, body }, library) {
  const lines = [
    `    ${JSON.stringify(url)},`,
    '    headers={"Authorization": f"Bearer {os.environ[\'TOKEN\']}", "Accept": "application/json"},',
  ];
  if (Object.keys(query).length > 0) lines.push(`    params=${pythonLiteral(query)},`);
  if (body) lines.push(`    json=${pythonLiteral(body)},`);
  lines.push(`    timeout=${TIMEOUT_SECONDS},`);
  const outcome = method === "DELETE" ? "print(answer.status_code)" : "print(answer.json())";
  return ["import os", "", `import ${library}`, "", `answer = ${library}.${method.toLowerCase()}(`, ...lines, ")",
    "answer.raise_for_status()", outcome].join("\n");
}

export function javascript(request) {
  const lines = [];
  if (request.method !== "GET") lines.push(`  method: ${JSON.stringify(request.method)},`);
  lines.push("  headers: {", "    Authorization: `Bearer ${process.env.TOKEN}`,", '    Accept: "application/json",');
  if (request.body) lines.push('    "Content-Type": "application/json",');
  lines.push("  },");
  if (request.body) lines.push(`  body: JSON.stringify(${JSON.stringify(request.body)}),`);
  const outcome = request.method === "DELETE" ? "answer.status" : "await answer.json()";
  return [`const answer = await fetch(${JSON.stringify(address(request))}, {`, ...lines, "});",
    "if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);", `console.log(${outcome});`].join("\n");
}

/** The command that does the same, where there is one. */
export function commandLine({ operationId, body }) {
  const commands = {
    create_sample: () => `retort sample --size ${body.size} --json`,
    create_tree_search: () => `retort plan --json ${shellWord(body.search_smiles)}`,
    operations_state: () => "retort top --json",
  };
  return commands[operationId]?.() ?? null;
}

/** `text` as one word of a POSIX shell. */
export function shellWord(text) {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** A JSON value as Python writes it. */
export function pythonLiteral(value) {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (Array.isArray(value)) return `[${value.map(pythonLiteral).join(", ")}]`;
  if (typeof value !== "object") return JSON.stringify(value);
  return `{${Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${pythonLiteral(item)}`).join(", ")}}`;
}
