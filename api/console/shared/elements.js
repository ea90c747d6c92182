// @ts-check
// Elements of pages. Text is only ever set as text.

/**
 * An element; names with a hyphen and `role` are attributes, others properties.
 * @param {string} tag
 * @param {Record<string, any>} [properties]
 * @param {(Node | string)[]} children
 */
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name === "role" || name.includes("-")) element.setAttribute(name, value);
    else /** @type {any} */ (element)[name] = value;
  }
  element.append(...children);
  return element;
}

/**
 * The same, of a kind that is asked for its value or its state.
 * @param {string} tag
 * @param {Record<string, any>} [properties]
 * @param {(Node | string)[]} children
 * @returns {any}
 */
export function control(tag, properties, ...children) {
  return make(tag, properties, ...children);
}

/**
 * The element of the page with this id.
 * @param {string} id
 * @returns {any}
 */
export function find(id) {
  const element = document.getElementById(id);
  if (!element) throw new Error(`the page has no ${id}`);
  return element;
}

/**
 * Sets text where it is another, so that what is selected or read aloud stays alone otherwise.
 * @param {Element} element
 * @param {string} text
 */
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/**
 * Marks an input as wrong, or as right again.
 * @param {Element} input
 * @param {boolean} isWrong
 */
export function markInvalid(input, isWrong) {
  if (isWrong) input.setAttribute("aria-invalid", "true");
  else input.removeAttribute("aria-invalid");
}

/**
 * Says at a field what is wrong with it; an empty text: nothing is.
 * @param {HTMLElement} place
 * @param {Element[]} inputs
 * @param {string} text
 */
export function tellFault(place, inputs, text) {
  say(place, text);
  place.hidden = !text;
  for (const input of inputs) markInvalid(input, text !== "");
}

/**
 * Makes the children of `parent` those of `items`, in their order. A child stays the same element for the same key, so that focus
 * stays where it is.
 * @template T
 * @param {Element} parent
 * @param {T[]} items
 * @param {(item: T) => string} key
 * @param {(item: T) => HTMLElement} create
 * @param {(element: any, item: T) => void} update
 */
export function keep(parent, items, key, create, update) {
  const old = new Map([...parent.children].map((child) => [/** @type {HTMLElement} */ (child).dataset.key, child]));
  let at = parent.firstElementChild;
  for (const item of items) {
    let child = /** @type {HTMLElement | undefined} */ (old.get(key(item)));
    if (!child) {
      child = create(item);
      child.dataset.key = key(item);
    }
    old.delete(key(item));
    update(child, item);
    if (child === at) at = at.nextElementSibling;
    else parent.insertBefore(child, at);
  }
  for (const gone of old.values()) gone.remove();
}

/**
 * A row of a table whose cells are found by name; `labels` are the heads, which narrow screens show beside the cells.
 * @param {Record<string, string>} labels
 * @param {Record<string, HTMLElement>} cells
 */
export function row(labels, cells) {
  const made = make("tr", { role: "row" });
  for (const [name, content] of Object.entries(cells)) {
    made.append(make("td", { role: "cell", "data-label": labels[name] ?? "" }, content));
  }
  return Object.assign(made, { cells_by_name: cells });
}

/** A line of text over a quieter one. */
export function pair() {
  const first = make("span", { className: "first" });
  const second = make("span", { className: "second" });
  return Object.assign(make("span", { className: "two" }, first, second), { first, second });
}

/**
 * Terms with what is known of each, for a list of definitions; those of which nothing is known are left out.
 * @param {[string, string | null | undefined][]} pairs
 */
export function known(pairs) {
  return pairs.flatMap(([name, value]) => (value ? [make("dt", {}, name), make("dd", {}, value)] : []));
}

/**
 * Says what tables are to assistive technology, since narrow screens show rows as blocks, which takes their roles away.
 * @param {Element} table
 */
export function nameRoles(table) {
  table.setAttribute("role", "table");
  for (const part of table.querySelectorAll("thead, tbody")) part.setAttribute("role", "rowgroup");
  for (const line of table.querySelectorAll("tr")) line.setAttribute("role", "row");
  for (const head of table.querySelectorAll("th")) head.setAttribute("role", "columnheader");
}

/**
 * Asks before something is done that others notice.
 * @param {{title: string, text: string, yes: string, no: string, grave?: boolean}} question
 * @returns {Promise<boolean>}
 */
export function ask({ title, text, yes, no, grave = false }) {
  const dialog = /** @type {HTMLDialogElement} */ (find("ask"));
  say(find("ask_title"), title);
  say(find("ask_text"), text);
  say(find("ask_yes"), yes);
  say(find("ask_no"), no);
  find("ask_yes").className = grave ? "grave" : "";
  dialog.returnValue = "no";
  dialog.showModal();
  return new Promise((answer) => {
    dialog.addEventListener("close", () => answer(dialog.returnValue === "yes"), { once: true });
  });
}
