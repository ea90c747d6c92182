// @ts-check
// List of routes, sorted and filtered, by backbone. Only the lines in sight are in the page, so that a thousand routes scroll well.

import { find, make, say } from "../shared/elements.js";
import { count, days, dollars, percent, several } from "../shared/numbers.js";
import { passing } from "./route_filters.js";

/** @typedef {import("../answer/answer.js").Route} Route */
/** @typedef {{top: number, height: number} & ({route: Route} | {backbone: string, many: number, isFolded: boolean})} Line */
/** @typedef {{all: boolean, except: Set<string>}} Folds whether backbones show their best route alone, but for some */

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
  #isPriced = true;
  #fold;

  /**
   * @param {(route: Route) => void} choose
   * @param {(backbone: string) => void} fold folds the variations of a backbone, or unfolds them
   */
  constructor(choose, fold) {
    this.#choose = choose;
    this.#fold = fold;
    this.#list.parentElement.addEventListener("scroll", () => this.#draw(), { passive: true });
    this.#list.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => this.#key(event));
    new ResizeObserver(() => this.#draw()).observe(this.#list.parentElement);
  }

  /**
   * @param {Route[]} routes
   * @param {{order: string, filters: import("./route_filters.js").Filters, folds: Folds, shown: string | null, isPriced: boolean}} how
   * `isPriced`: no price means that nobody knows it
   */
  show(routes, { order, filters, folds, shown, isPriced }) {
    this.#isPriced = isPriced;
    const listed = passing(routes, filters);
    this.#lines = lines(sorted(listed, order), folds, shown);
    this.#shown = shown;
    say(find("route_count"), listed.length === routes.length ? count(listed.length) : `${count(listed.length)} of ${count(routes.length)}`);
    find("route_none").hidden = listed.length > 0;
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
    const element = "route" in line ? this.#option(line.route, routes.indexOf(line) + 1, routes.length) : this.#heading(line);
    element.style.top = `${line.top}px`;
    element.style.height = `${line.height}px`;
    return element;
  }

  /**
   * By keys the same is done at a route of the backbone: a listbox has nothing else in it that has the focus.
   * @param {{backbone: string, many: number, isFolded: boolean}} line
   */
  #heading({ backbone, many, isFolded }) {
    const sign = many === 1 ? "" : isFolded ? "▸ " : "▾ ";
    const heading = make("div", { className: many === 1 ? "backbone" : "backbone folds", role: "presentation" },
      make("span", {}, `${sign}${/^b[0-9a-f]{16}$/.test(backbone) ? `Backbone ${backbone.slice(0, 5)}` : backbone}`), make("span", {}, isFolded ? `best of ${several(many, "route")}` : several(many, "route")));
    if (many > 1) heading.addEventListener("click", () => this.#fold(backbone));
    return heading;
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
    make("span", { className: "rank" }, route.name ? "✎" : String(route.rank)),
    make("span", { className: "what" },
      make("span", { className: "line" }, make("strong", {}, several(route.steps, "step")), make("span", { className: "figure" }, `${percent(route.plausibility)} plausible`)),
      make("span", { className: "classes" }, route.classes.join(" → ") || "bought as it is"),
      make("span", { className: "line quiet" }, make("span", {}, this.#isPriced ? priced(route) : ""), make("span", {}, route.lead === null ? "" : days(route.lead)))));
    option.addEventListener("click", () => this.#choose(route));
    return option;
  }

  /**
   * Unfolds the backbone of the route that is shown, or folds it.
   * @param {boolean} isOpen
   */
  #foldAt(isOpen) {
    const at = this.#lines.findIndex((line) => "route" in line && line.route.key === this.#shown);
    const heading = this.#lines.slice(0, at + 1).findLast((line) => "backbone" in line);
    if (heading && heading.many > 1 && heading.isFolded === isOpen) this.#fold(heading.backbone);
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const folding = { ArrowLeft: false, ArrowRight: true }[event.key];
    if (folding !== undefined) {
      event.preventDefault();
      return this.#foldAt(folding);
    }
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
 * Backbones in the order of their best routes, and routes within them.
 * @param {Route[]} routes
 * @param {string} order
 */
function sorted(routes, order) {
  const by = ORDERS[order] ?? ORDERS.rank;
  const value = (/** @type {Route} */ route) => by(route) ?? Infinity;
  // Infinity less itself is no number: two without a price are alike.
  const ordered = routes.toSorted((one, other) => (value(one) - value(other) || 0) || one.rank - other.rank);
  return [...Map.groupBy(ordered, (route) => route.backbone)];
}

/**
 * @param {[string, Route[]][]} groups
 * @param {Folds} folds
 * @param {string | null} shown which is seen whatever is folded
 */
function lines(groups, folds, shown) {
  /** @type {Line[]} */
  const all = [];
  let top = 0;
  for (const [backbone, routes] of groups) {
    const isFolded = routes.length > 1 && folds.all !== folds.except.has(backbone);
    all.push({ top, height: HEIGHT.backbone, backbone, many: routes.length, isFolded });
    top += HEIGHT.backbone;
    for (const route of isFolded ? routes.filter((one, place) => !place || one.key === shown) : routes) {
      all.push({ top, height: HEIGHT.route, route });
      top += HEIGHT.route;
    }
  }
  return all;
}
