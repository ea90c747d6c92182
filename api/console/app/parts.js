// @ts-check
// Router of the console: `#/sample/smp_1` shows the part "sample" with the path `["smp_1"]`. A part is loaded when it is first shown and kept, hidden while
// another is shown, so it keeps its state. The back button works as on any page.

import { find, make, say } from "../shared/elements.js";

/**
 * A part once it has begun.
 * @typedef {{show: (path: string[]) => void, hide?: () => void}} Part `show`: it is seen, and this follows its name in the address
 * @typedef {(place: HTMLElement, service: import("../service/service.js").Service) => Part} Begin
 */

/** Titles and modules of the parts. @type {Map<string, {title: string, heading: string, load: () => Promise<{begin: Begin}>}>} */
const PARTS = new Map(Object.entries({
  plan: { title: "Retort", heading: "Plan a synthesis", load: () => import("../plan/plan.js") },
  sample: { title: "Sample · Retort", heading: "Sample molecules", load: () => import("../sample/sample.js") },
  batches: { title: "Batches · Retort", heading: "Batches of plans and samples", load: () => import("../batches/batches.js") },
  notebook: { title: "Notebook · Retort", heading: "Kept routes and searches", load: () => import("../notebook/notebook.js") },
  catalogue: { title: "Catalogue · Retort", heading: "Building blocks", load: () => import("../catalogue/catalogue.js") },
  models: { title: "Models · Retort", heading: "Models", load: () => import("../models/models.js") },
  account: { title: "Account · Retort", heading: "Account", load: () => import("../account/account.js") },
}));

/** The part of an address without one. */
const HOME = "plan";

/** @type {Map<string, {place: HTMLElement, part: Part}>} */
const begun = new Map();
/** Which way counts: a part that was asked for before another is not shown when it has come. */
let ways = 0;

/** Begins to load what the address names, before anybody may see it. */
export function fetchPart() {
  PARTS.get(named().name)?.load();
}

/**
 * Shows what the address names, now and whenever it is another.
 * @param {import("../service/service.js").Service} service
 */
export async function follow(service) {
  addEventListener("hashchange", () => lead(service));
  await lead(service);
}

/** @param {import("../service/service.js").Service} service */
async function lead(service) {
  const way = ++ways;
  const { name, path } = named();
  const { title, heading, load } = /** @type {NonNullable<ReturnType<typeof PARTS.get>>} */ (PARTS.get(name));
  const known = begun.get(name);
  if (!known) say(find("waiting"), "Loading …");
  const { begin } = known ? { begin: null } : await load();
  if (way !== ways) return;
  const here = known ?? begun.get(name) ?? first(name, /** @type {Begin} */ (begin), service);
  for (const [other, { place, part }] of begun) {
    if (other === name || place.hidden) continue;
    place.hidden = true;
    part.hide?.();
  }
  here.place.hidden = false;
  find("waiting").hidden = true;
  document.title = title;
  say(find("heading"), heading);
  for (const link of document.querySelectorAll("[data-part]")) {
    if (/** @type {HTMLElement} */ (link).dataset.part === name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  here.part.show(path);
}

/**
 * @param {string} name
 * @param {Begin} begin
 * @param {import("../service/service.js").Service} service
 */
function first(name, begin, service) {
  // The first part is in the page already.
  const place = name === HOME ? find(HOME) : make("div", { id: `part_${name}`, className: "part", hidden: true });
  if (!place.parentElement) find("main").append(place);
  const here = { place, part: begin(place, service) };
  begun.set(name, here);
  return here;
}

/** The part that the address names, and what of it. */
function named() {
  const [, name, ...path] = location.hash.split("/").map(decoded);
  return location.hash.startsWith("#/") && PARTS.has(name) ? { name, path: path.filter(Boolean) } : { name: HOME, path: [] };
}

/** @param {string} word */
function decoded(word) {
  try {
    return decodeURIComponent(word);
  } catch {
    return "";
  }
}
