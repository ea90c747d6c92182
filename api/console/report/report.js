// @ts-check
// The report: routes on a page that is kept, sent and printed. The console's modules draw it when it is opened.
//
// `retort plan --out routes.html` writes it (`ops/src/report.rs`). It has the answers as JSON and makes no requests.

import { offersOf, routesOf, stepsOf, treeOf } from "../answer/answer.js";
import { element, framed, picture } from "../drawing/picture.js";
import { blockWords } from "../drawing/scheme_drawing.js";
import { noRoute } from "../routes/no_route.js";
import { shoppingList } from "../routes/shopping_list.js";
import { find, make } from "../shared/elements.js";
import { count, days, dollars, percent, several, significant } from "../shared/numbers.js";
import { schemeParts } from "./scheme_parts.js";

/** @typedef {import("../answer/answer.js").Route} Route */
/** @typedef {import("../answer/answer.js").Tree} Tree */
/** @typedef {import("../answer/answer.js").Step} Step */
/** @typedef {import("../answer/answer.js").Offer} Offer */
/** @typedef {{name: string | null, smiles: string, asked: Record<string, any>, answer: import("../answer/answer.js").Answer | null, error: string | null}} Planned */
/** @typedef {{offers: Map<number, Offer[]>, shipsTo: string | null}} Known */

/** Printable area of a landscape A4 page, in pixels. */
const PAPER = { width: 1046, height: 705 };
/** Largest width of a scheme, and the smallest scale of its structures. */
const SCHEME = { width: 1000, scale: 0.7 };
/** Scales at which a route may be printed; the first at which it fits a page is used. */
const SCALES = [1, 0.95, 0.9, 0.85, 0.8, 0.75, 0.7, 0.65, 0.6, 0.55];

begin();

function begin() {
  const planned = /** @type {Planned[]} */ (JSON.parse(find("answers").textContent));
  const alone = planned.length === 1;
  const places = planned.map((one, place) => ({ one, id: `target_${place + 1}`, routes: one.answer ? routesOf(one.answer) : [] }));
  if (!alone) find("report").append(overview(places));
  for (const { one, id, routes } of places) find("report").append(alone ? make("article", { id }, ...target(one, routes)) : chapter(one, id, routes));
  fitPages();
  addEventListener("beforeprint", () => find("report").classList.add("on_paper"));
  addEventListener("afterprint", () => find("report").classList.remove("on_paper"));
}

/**
 * All targets in a table that leads to each.
 * @param {{one: Planned, id: string, routes: Route[]}[]} places
 */
function overview(places) {
  const solved = places.filter(({ routes }) => routes.length).length;
  const rows = places.map(({ one, id, routes: [best] }) => make("tr", {},
    make("td", {}, framed(picture(one.smiles), 150, 90, one.smiles)), make("td", {}, make("a", { href: `#${id}` }, one.name ?? one.smiles)),
    ...(best ? figures(best) : [make("td", { colSpan: 4, className: "quiet" }, one.error ?? "no route")])));
  return make("section", { className: "overview" }, make("h2", {}, "Routes to ", several(places.length, "target")),
    make("p", { className: "quiet" }, `${count(solved)} of them with a route`),
    table(["", "Target", "Steps", "Plausible", "Price", "Lead time"], rows));
}

/**
 * One of several targets, drawn once it is opened.
 * @param {Planned} one
 * @param {string} id
 * @param {Route[]} routes
 */
function chapter(one, id, routes) {
  const details = make("details", { className: "chapter" }, make("summary", {}, one.name ?? one.smiles));
  details.addEventListener("toggle", () => {
    if (details.childElementCount > 1) return;
    details.append(...target(one, routes));
    fitPages();
  });
  const article = make("article", { id }, details);
  // A link of the overview opens it.
  addEventListener("hashchange", () => {
    if (location.hash === `#${id}`) /** @type {HTMLDetailsElement} */ (details).open = true;
  });
  return article;
}

/**
 * A target: what it is, its routes in a table, then a page for each backbone.
 * @param {Planned} one
 * @param {Route[]} routes
 * @returns {Node[]}
 */
function target({ name, smiles, asked, answer, error }, routes) {
  const title = make("div", {}, make("h2", {}, name ?? "Routes"), make("code", {}, smiles));
  const head = make("header", { className: "aim" }, framed(picture(smiles), 420, 260, smiles), title);
  if (!answer) {
    title.append(make("p", { className: "warning" }, error ?? "There is no answer."));
    return [head];
  }
  if (!routes.length) return [head, make("div", { className: "nothing" }, ...noRoute({ answer, asked, routes, bytes: "", offers: new Map() }))];
  const known = { offers: offersOf(answer), shipsTo: asked.ships_to ?? null };
  const groups = [...Map.groupBy(routes, (route) => route.backbone).values()];
  title.append(make("p", { className: "quiet" }, found(answer, routes, groups.length)));
  const rows = groups.map(([best, ...others]) => make("tr", {}, make("td", {}, String(best.rank)), ...figures(best),
    make("td", {}, best.classes.join(" → ") || "bought as it is", ...(others.length ? [make("span", { className: "second" }, `and ${several(others.length, "variation")}`)] : []))));
  const list = table(["Route", "Steps", "Plausible", "Price", "Lead time", "Reactions, in order"], rows);
  return [make("section", { className: "page first" }, head, list), ...groups.map((group) => backbone(group, known))];
}

/**
 * @param {import("../answer/answer.js").Answer} answer
 * @param {Route[]} routes
 * @param {number} groups
 */
function found({ metadata }, routes, groups) {
  const all = metadata.validated_routes > routes.length ? ` of ${count(metadata.validated_routes)} valid ones` : "";
  return `${several(routes.length, "route")}${all}, by ${several(groups, "backbone")}, in ${significant(metadata.total_elapsed)} s`;
}

/**
 * The page of a backbone: its best route, the others folded beneath.
 * @param {Route[]} group
 * @param {Known} known
 */
function backbone([best, ...others], known) {
  const page = make("section", { className: "page" }, ...about(best, known));
  if (others.length) page.append(variations(best, others, known));
  return page;
}

/**
 * A route: its figures, its scheme, its steps in the order in which they are done, what to buy.
 * @param {Route} route
 * @param {Known} known
 * @returns {Node[]}
 */
function about(route, known) {
  const tree = treeOf(route.graph);
  const steps = stepsOf(tree).map(({ step }) => step);
  const drawn = schemeParts(tree, { caption: (one) => caption(one, known), most: SCHEME.width / SCHEME.scale });
  // One scale for all of them.
  const scale = Math.min(1, ...drawn.map(({ width }) => SCHEME.width / width));
  const schemes = drawn.map(({ content, width, height }, place) => {
    const part = drawn.length > 1 ? `, part ${place + 1} of ${drawn.length}` : "";
    const svg = element("svg", { class: "view", role: "img", "aria-label": `Scheme of route ${route.rank}${part}`, viewBox: `0 0 ${width} ${height}` });
    svg.style.width = `${scale * width}px`;
    svg.append(content);
    return svg;
  });
  return [
    make("header", {}, make("h3", {}, `Route ${route.rank}`), make("p", {}, summary(route))),
    make("figure", { className: "schemes" }, ...schemes),
    make("div", { className: "beneath" }, make("div", {}, make("h4", {}, "Steps"), stepTable(steps)), make("div", {}, make("h4", {}, "To buy"), ...shoppingList(route))),
  ];
}

/** @param {Step[]} steps */
function stepTable(steps) {
  const rows = steps.map(({ number, edge }) => make("tr", {},
    make("td", {}, String(number)),
    make("td", {}, make("strong", {}, edge.reaction_class ?? "reaction"), ...(edge.needs ? [make("span", { className: "second" }, `needs ${edge.needs}`)] : []), ...(edge.warnings ?? []).map((warning) => make("span", { className: "warning" }, warning))),
    make("td", {}, ...conditions(edge)),
    make("td", {}, edge.plausibility === undefined ? "" : percent(edge.plausibility)),
    make("td", {}, edge.precedents ? count(edge.precedents) : "", make("span", { className: "second" }, (edge.patents ?? []).join(", ")))));
  return rows.length ? table(["", "Reaction", "Conditions", "Plausible", "Precedents"], rows) : make("p", { className: "quiet" }, "No steps.");
}

/**
 * Conditions of a step's recorded reactions, the commonest first.
 * @param {import("../answer/answer.js").GraphEdge} edge
 */
function conditions({ conditions }) {
  const named = (/** @type {Record<string, number>} */ used) => Object.entries(used).sort(([, one], [, other]) => other - one).map(([name]) => name).join(", ");
  return [conditions?.catalysts, conditions?.reagents, conditions?.solvents].filter((used) => used !== undefined && Object.keys(used).length > 0)
    .map((used) => make("span", { className: "agents" }, named(/** @type {Record<string, number>} */ (used))));
}

/**
 * Routes that differ in what they buy, or in steps that change no fragment; each is drawn once it is opened.
 * @param {Route} best
 * @param {Route[]} others
 * @param {Known} known
 */
function variations(best, others, known) {
  const has = new Set(best.blocks.map((block) => block.smiles));
  const each = others.map((route) => {
    const instead = route.blocks.filter((block) => !has.has(block.smiles)).map((block) => framed(picture(block.smiles), 110, 60, block.smiles));
    const details = make("details", { className: "variation" }, make("summary", {}, `Route ${route.rank}: ${summary(route)}`, make("span", { className: "instead" }, ...instead)));
    details.addEventListener("toggle", () => {
      if (details.childElementCount === 1) details.append(make("div", {}, ...about(route, known).slice(1)));
    });
    return details;
  });
  return make("details", { className: "variations" }, make("summary", {}, `${several(others.length, "variation")} with the same backbone`), ...each);
}

/**
 * Caption of a building block in a scheme.
 * @param {Tree} tree
 * @param {Known} known
 */
function caption({ data }, { offers, shipsTo }) {
  return data.is_building_block ? blockWords(data, offers, shipsTo) : [];
}

/**
 * Cells of a table of routes.
 * @param {Route} route
 */
function figures({ steps, plausibility, price, list, lead }) {
  const order = price === null || !list ? "not all priced" : `${dollars(price)} for ${significant(list.amount_mmol)} mmol`;
  return [String(steps), percent(plausibility), list ? order : "", lead === null ? "" : days(lead)].map((text) => make("td", { className: "figure" }, text));
}

/** @param {Route} route */
function summary({ steps, depth, plausibility, price, list, lead }) {
  const all = [several(steps, "step"), depth < steps ? `longest branch ${depth}` : "", `${percent(plausibility)} plausible`,
    list ? (price === null ? "not all priced" : `${dollars(price)} for ${significant(list.amount_mmol)} mmol`) : "", lead === null ? "" : `blocks in ${days(lead)}`];
  return all.filter(Boolean).join(" · ");
}

/**
 * @param {string[]} names
 * @param {Node[]} rows
 */
function table(names, rows) {
  const heads = names.map((name) => make("th", { scope: "col" }, name));
  return make("table", { className: "small" }, make("thead", {}, make("tr", {}, ...heads)), make("tbody", {}, ...rows));
}

/**
 * Finds how much smaller each page has to be so that paper holds it, tables beneath its schemes or beside them. What is too large for
 * every scale goes on on another sheet.
 */
function fitPages() {
  const report = find("report");
  let left = /** @type {HTMLElement[]} */ ([...report.querySelectorAll(".page")]);
  const least = SCALES[SCALES.length - 1];
  for (const page of left) page.style.setProperty("--fit", String(least));
  report.classList.add("on_paper");
  for (const scale of SCALES) {
    report.style.width = `${PAPER.width / scale}px`;
    for (const place of /** @type {const} */ (["beneath", "beside"])) {
      for (const page of left) page.classList.toggle("tall", place === "beside");
      const heights = left.map(heightOf);
      left.forEach((page, index) => heights[index] * scale <= PAPER.height && page.style.setProperty("--fit", String(scale)));
      left = left.filter((_, index) => heights[index] * scale > PAPER.height);
    }
  }
  for (const page of left) page.classList.remove("tall");
  report.classList.remove("on_paper");
  report.style.width = "";
}

/**
 * The height of a page, whose variations are folded on paper.
 * @param {HTMLElement} page
 */
function heightOf(page) {
  const { top, bottom } = page.getBoundingClientRect();
  return (page.querySelector(".variations > summary")?.getBoundingClientRect().bottom ?? bottom) - top;
}
