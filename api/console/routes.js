// @ts-check
// The list of routes: sorted, filtered, under their backbones. Only the lines in sight are in the page, so that a thousand stay fluent.

import { count, find, make, say } from "./elements.js";
import { days, dollars, percent, several } from "./words.js";

/** @typedef {import("./answer.js").Route} Route */
/** @typedef {{top: number, height: number} & ({route: Route} | {backbone: string, many: number})} Line */

const HEIGHT = { route: 82, backbone: 40 };
const BEYOND = 300;

/** Ways to sort: what comes first, nulls last. */
const ORDERS = /** @type {Record<string, (route: Route) => number | null>} */ ({
  rank: (route) => route.rank,
  price: (route) => route.price,
  steps: (route) => route.steps,
  lead: (route) => route.lead,
  plausibility: (route) => -route.plausibility,
});

export class RouteList {
  #list = find("route_list");
  #choose;
  /** @type {Line[]} */
  #lines = [];
  /** @type {string | null} */
  #shown = null;

  /** @param {(route: Route) => void} choose */
  constructor(choose) {
    this.#choose = choose;
    this.#list.parentElement.addEventListener("scroll", () => this.#draw(), { passive: true });
    this.#list.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => this.#key(event));
    new ResizeObserver(() => this.#draw()).observe(this.#list.parentElement);
  }

  /**
   * @param {Route[]} routes
   * @param {{order: string, filter: string, shown: string | null}} how
   */
  show(routes, { order, filter, shown }) {
    this.#lines = lines(sorted(matching(routes, filter), order));
    this.#shown = shown;
    const here = this.#routes().length;
    say(find("route_count"), here === routes.length ? count(here) : `${count(here)} of ${count(routes.length)}`);
    find("route_none").hidden = here > 0;
    const last = this.#lines.at(-1);
    this.#list.style.height = `${last ? last.top + last.height : 0}px`;
    this.#draw();
  }

  #routes() {
    return this.#lines.flatMap((line) => ("route" in line ? [line] : []));
  }

  #draw() {
    const { scrollTop, clientHeight } = this.#list.parentElement;
    const [from, to] = [scrollTop - BEYOND, scrollTop + clientHeight + BEYOND];
    const routes = this.#routes();
    const shown = routes.findIndex((line) => line.route.key === this.#shown);
    const seen = this.#lines.filter((line) => (line.top + line.height > from && line.top < to) || ("route" in line && line.route.key === this.#shown));
    this.#list.replaceChildren(...seen.map((line) => this.#line(line, routes)));
    if (shown >= 0) this.#list.setAttribute("aria-activedescendant", `route_${this.#shown}`);
    else this.#list.removeAttribute("aria-activedescendant");
  }

  /**
   * @param {Line} line
   * @param {Line[]} routes
   */
  #line(line, routes) {
    const element = "route" in line ? this.#option(line.route, routes.indexOf(line) + 1, routes.length)
      : make("div", { className: "backbone", role: "presentation" }, make("span", {}, `Backbone ${line.backbone.slice(0, 5)}`), make("span", {}, several(line.many, "route")));
    element.style.top = `${line.top}px`;
    element.style.height = `${line.height}px`;
    return element;
  }

  /**
   * @param {Route} route
   * @param {number} place
   * @param {number} of
   */
  #option(route, place, of) {
    const option = make("div", {
      id: `route_${route.key}`, className: "route", role: "option", "aria-selected": String(route.key === this.#shown), "aria-posinset": String(place), "aria-setsize": String(of),
    },
    make("span", { className: "rank" }, String(route.rank)),
    make("span", { className: "what" },
      make("span", { className: "line" }, make("strong", {}, several(route.steps, "step")), make("span", { className: "figure" }, `${percent(route.plausibility)} plausible`)),
      make("span", { className: "classes" }, route.classes.join(" → ") || "bought as it is"),
      make("span", { className: "line quiet" }, make("span", {}, priced(route)), make("span", {}, route.lead === null ? "" : days(route.lead)))));
    option.addEventListener("click", () => this.#choose(route));
    return option;
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const routes = this.#routes();
    const at = routes.findIndex((line) => line.route.key === this.#shown);
    const to = /** @type {Record<string, number>} */ ({ ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + 5, PageUp: at - 5, Home: 0, End: routes.length - 1 })[event.key];
    if (to === undefined || !routes.length) return;
    event.preventDefault();
    const line = routes[Math.min(routes.length - 1, Math.max(0, to))];
    const box = this.#list.parentElement;
    // Asked before anything changes: afterwards all would have to be laid out for the answer.
    const { scrollTop, clientHeight } = box;
    this.#choose(line.route);
    if (line.top < scrollTop) box.scrollTop = line.top - HEIGHT.backbone;
    else if (line.top + line.height > scrollTop + clientHeight) box.scrollTop = line.top + line.height - clientHeight;
  }
}

/** @param {Route} route */
function priced({ price, perMole, list }) {
  if (price !== null && list) return `${dollars(price)} for ${list.amount_mmol} mmol`;
  return perMole === null ? "not all priced" : `${dollars(perMole)}/mol`;
}

/**
 * Routes whose words have every word of the filter; SMILES tell small letters from large, words do not.
 * @param {Route[]} routes
 * @param {string} filter
 */
export function matching(routes, filter) {
  const wanted = filter.toLowerCase().split(/\s+/).filter(Boolean);
  return routes.filter((route) => wanted.every((word) => route.words.includes(word)));
}

/**
 * Backbones in the order of their best routes, and routes within them.
 * @param {Route[]} routes
 * @param {string} order
 */
export function sorted(routes, order) {
  const by = ORDERS[order] ?? ORDERS.rank;
  const value = (/** @type {Route} */ route) => by(route) ?? Infinity;
  // Infinity less itself is no number: two without a price are alike.
  const ordered = routes.toSorted((one, other) => (value(one) - value(other) || 0) || one.rank - other.rank);
  return [...Map.groupBy(ordered, (route) => route.backbone)];
}

/** @param {[string, Route[]][]} groups */
function lines(groups) {
  /** @type {Line[]} */
  const all = [];
  let top = 0;
  for (const [backbone, routes] of groups) {
    all.push({ top, height: HEIGHT.backbone, backbone, many: routes.length });
    top += HEIGHT.backbone;
    for (const route of routes) {
      all.push({ top, height: HEIGHT.route, route });
      top += HEIGHT.route;
    }
  }
  return all;
}
