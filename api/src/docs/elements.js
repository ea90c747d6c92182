// The elements that the page is made of. Text is only ever set as text.
import { rules, typeParts } from "./schemas.js";

/** An element; names with a hyphen and `role` are attributes, others properties. */
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name === "role" || name.includes("-")) element.setAttribute(name, value);
    else element[name] = value;
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

/** Text in which backquotes mark code. */
export function prose(text) {
  return text.split("`").map((part, index) => (index % 2 ? make("code", {}, part) : part));
}

/** A heading that can be linked to. */
export function heading(level, id, ...children) {
  const element = make(`h${level}`, { id }, ...children);
  addAnchor(element, id);
  return element;
}

/** Adds a link to itself to a heading. */
export function addAnchor(element, id) {
  const label = `Link to ${element.textContent}`;
  element.append(make("a", { className: "anchor", href: `#${id}`, "aria-label": label }, "#"));
}

/** A block of code. */
export function codeBlock(text, label) {
  return framed(make("pre", {}, make("code", {}, text)), label);
}

/** `pre` in a frame with a button that copies it, where the browser lets pages copy. */
export function framed(pre, label) {
  pre.tabIndex = 0;
  pre.setAttribute("role", "region");
  pre.setAttribute("aria-label", label);
  const copy = navigator.clipboard ? make("button", { className: "copy", type: "button" }, "Copy") : null;
  copy?.addEventListener("click", async () => {
    await navigator.clipboard.writeText(pre.textContent);
    copy.textContent = "Copied";
    setTimeout(() => { copy.textContent = "Copy"; }, 1500);
  });
  return make("div", { className: "code" }, pre, copy);
}

/** A table in a box that it scrolls in; cells are lists of what they contain. */
export function table(label, heads, rows) {
  const head = make("tr", {}, ...heads.map((text) => make("th", { scope: "col" }, text)));
  const body = rows.map((cells) => make("tr", {}, ...cells.map((cell) => make("td", {}, ...cell))));
  return make("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": label },
    make("table", {}, make("thead", {}, head), make("tbody", {}, ...body)));
}

/** A table of fields or parameters. */
export function fieldTable(label, fields) {
  return table(label, ["Name", "Type", "Meaning"], fields.map((field) => [
    [make("code", {}, field.name), field.required ? make("span", { className: "required" }, "required") : ""],
    [...typeNodes(field.schema), ...ruleNodes(field.schema)],
    prose(field.meaning ?? ""),
  ]));
}

/** A type, in which the name of a schema leads to it. */
export function typeNodes(schema) {
  return typeParts(schema).map((part) => (part.name ? make("a", { href: `#${part.name}` }, part.name) : part));
}

function ruleNodes(schema) {
  return rules(schema).map(([words, text]) =>
    make("div", { className: "rule" }, `${words} `, make("code", {}, text)));
}

/** Panels of which one is shown; a choice holds for all groups of the page that have a panel of this name. */
export function tabs(label, panels) {
  const group = make("div", { className: "tabs" });
  const list = make("div", { role: "tablist", "aria-label": label });
  list.append(...panels.map(([name]) => make("button", { type: "button", role: "tab", value: name }, name)));
  list.addEventListener("click", (event) => { if (event.target.value) chooseEverywhere(event.target.value, list); });
  list.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const buttons = [...list.children];
    const next = buttons.at((buttons.indexOf(document.activeElement) + step) % buttons.length);
    chooseEverywhere(next.value, list);
    next.focus();
  });
  const bodies = panels.map(([name, content]) => make("div", { role: "tabpanel", "aria-label": name }, content));
  group.append(list, ...bodies);
  choose(group, panels[0][0]);
  return group;
}

/** Shows the panels called `name`, and keeps the tabs that were chosen from where they are on the screen. */
function chooseEverywhere(name, list) {
  const before = list.getBoundingClientRect().top;
  for (const group of document.querySelectorAll(".tabs")) choose(group, name);
  window.scrollBy(0, list.getBoundingClientRect().top - before);
}

function choose(group, name) {
  const [list, ...panels] = group.children;
  const buttons = [...list.children];
  if (!buttons.some((button) => button.value === name)) return;
  buttons.forEach((button, index) => {
    const chosen = button.value === name;
    button.setAttribute("aria-selected", String(chosen));
    button.tabIndex = chosen ? 0 : -1;
    panels[index].hidden = !chosen;
  });
}
