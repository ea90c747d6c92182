// @ts-check
// Routes of an answer: the list, the scheme of the selected route, details of its parts, its shopping list.

import { treeAt, treeOf } from "../answer/answer.js";
import { png, svg } from "../drawing/export.js";
import { PanZoom } from "../drawing/pan_zoom.js";
import { blockWords, drawScheme } from "../drawing/scheme_drawing.js";
import { find, make, say } from "../shared/elements.js";
import { count, days, dollars, percent, several, significant } from "../shared/numbers.js";
import { saveFile } from "../shared/save_file.js";
import { Store, toggled } from "../shared/store.js";
import { Comparison, nameOf } from "./comparison.js";
import { constraintReport } from "./constraint_report.js";
import { openMenu } from "./context_menu.js";
import { details } from "./details.js";
import { keptWhen } from "./kept_route.js";
import { actionsFor } from "./route_actions.js";
import { makeFilters, OPEN, showFilters } from "./route_filters.js";
import { RouteList } from "./route_list.js";
import { shoppingCsv, shoppingList } from "./shopping_list.js";

/** @typedef {import("../answer/answer.js").Route} Route */
/** @typedef {import("../answer/answer.js").Tree} Tree */
/** @typedef {{answer: import("../answer/answer.js").Answer, bytes: string, routes: Route[], offers: Map<number, import("../answer/answer.js").Offer[]>, asked: Record<string, any>, unfinished?: "growing" | "stopped", address?: Promise<string | null>, first?: string, name?: string, kept?: import("./kept_route.js").Kept, how?: string}} Found `address`: that of the stored plan or kept route, null if the service has not stored it; `how`: where it is from, if not from a search; `name`: what the target is called; `asked`: the same object for the same search; `first`: key of the route to be shown; `kept`: what that one is of the routes that are kept */
/** @typedef {{found: Found | null, order: string, filters: import("./route_filters.js").Filters, folds: import("./route_list.js").Folds, shown: Route | null, beside: Route | null, chosen: import("../drawing/scheme_drawing.js").Chosen | null, chosenOf: Route | null, folded: Set<string>}} State `beside`: what another route is compared with; `chosenOf`: whose part is chosen */

export class Results {
  #store = new Store(/** @type {State} */ ({
    found: null, order: "rank", filters: OPEN, folds: { all: false, except: new Set() }, shown: null, beside: null, chosen: null, chosenOf: null, folded: new Set(),
  }));
  #list = new RouteList((route) => this.#show(route), (backbone) => this.#fold(backbone));
  #comparison = new Comparison();
  #view = new PanZoom(find("scheme"), "The route, drawn");
  /** @type {{route: Route, content: SVGElement, width: number, height: number} | null} */
  #drawing = null;

  #means;

  /**
   * @param {(route: Route) => import("./route_actions.js").Means} means what work on a route does
   * @param {import("./kept_route.js").KeptRouteForm} keeping
   */
  constructor(means, keeping) {
    this.#means = means;
    const store = this.#store;
    find("order").addEventListener("change", () => store.set({ order: find("order").value }));
    find("best_only").addEventListener("change", () => store.set({ folds: { all: find("best_only").checked, except: new Set() } }));
    makeFilters(() => store.state.filters, (filters) => store.set({ filters }));
    store.watch(["found", "order", "filters", "folds", "shown"], ({ found, order, filters, folds, shown }) => {
      if (found) this.#list.show(found.routes, { order, filters, folds, shown: shown?.key ?? null, isPriced: !found.unfinished });
    });
    store.watch(["found", "filters"], ({ found, filters }) => showFilters(filters, found?.routes ?? []));
    store.watch(["found", "shown", "beside"], (state) => this.#compare(state));
    store.watch(["shown", "folded"], ({ shown }) => this.#draw(shown));
    store.watch(["found", "shown"], (state) => this.#tell(state));
    store.watch(["found", "shown"], ({ found, shown }) => found && shown && keeping.show(found, shown));
    store.watch(["chosen"], (state) => this.#about(state));
    store.watch(["chosen", "shown", "folded"], ({ chosen }) => this.#mark(chosen));
    this.#buttons();
  }

  /**
   * Shows what was found; where it is more of the same search, what is looked at stays.
   * @param {Found} found
   */
  show(found) {
    const { found: last, shown, chosen, chosenOf } = this.#store.state;
    say(find("results_target"), found.name ? `${found.name}: ${found.answer.search_smiles}` : found.answer.search_smiles);
    say(find("results_how"), how(found));
    this.#tellConstraints(found);
    const wanted = last?.asked === found.asked ? found.first ?? shown?.key : undefined;
    const same = found.routes.find((route) => route.key === wanted);
    if (!same) {
      this.#store.set({ found, filters: OPEN, shown: found.routes[0], beside: null, chosen: null, chosenOf: null, folded: new Set() });
    } else if (found.unfinished === "growing") {
      this.#store.set({ found });
    } else {
      const again = (/** @type {Route | null} */ old) => found.routes.find((route) => route.key === old?.key) ?? null;
      const whose = same.key === shown?.key ? again(chosenOf) : null;
      const tree = chosen && whose && treeAt(treeOf(whose.graph), chosen.tree.key);
      this.#store.set({ found, shown: same, beside: again(this.#store.state.beside), chosen: chosen && tree && { kind: chosen.kind, tree }, chosenOf: whose });
    }
  }

  /** @param {Found} found */
  #tellConstraints({ answer, asked }) {
    const told = constraintReport(answer.metadata.search?.constraints ?? [], asked);
    find("constraints").hidden = told === null;
    find("constraints_told").replaceChildren(...(told ? [told] : []));
  }

  /** @param {Route} route */
  #show(route) {
    if (route.key !== this.#store.state.shown?.key) this.#store.set({ shown: route, chosen: null, chosenOf: null, folded: new Set() });
  }

  /** @param {Route | null} route */
  #draw(route) {
    if (!route) return;
    // The same one, with something folded or with its prices, stays where it was moved to.
    const where = this.#drawing?.route.key === route.key ? "stay" : "fit";
    const { found, folded } = this.#store.state;
    const fold = (/** @type {string} */ key) => this.#store.set({ folded: toggled(this.#store.state.folded, key) });
    const drawn = drawScheme(treeOf(route.graph), {
      caption: (tree) => this.#caption(tree, found), folded, fold, choose: (chosen) => this.#store.set({ chosen, chosenOf: route }),
    });
    this.#drawing = { route, ...drawn };
    this.#view.show(this.#drawing, where);
  }

  /** @param {Readonly<State>} state */
  #tell({ found, shown }) {
    if (!found || !shown) return;
    const { unfinished } = found;
    say(find("route_title"), nameOf(shown));
    say(find("route_summary"), summary(shown, !unfinished));
    find("shopping").replaceChildren(...toOrder(shown, unfinished));
    find("take_csv").disabled = !shown.list;
  }

  /** @param {string} backbone */
  #fold(backbone) {
    const { folds } = this.#store.state;
    this.#store.set({ folds: { ...folds, except: toggled(folds.except, backbone) } });
  }

  /** @param {Readonly<State>} state */
  #compare({ found, shown, beside }) {
    const isOther = beside !== null && shown !== null && beside.key !== shown.key;
    find("comparison").hidden = !isOther;
    find("single").hidden = isOther;
    find("compare").setAttribute("aria-pressed", String(beside !== null));
    say(find("compare"), beside ? "End comparison" : "Compare");
    say(find("compare_note"), beside && !isOther ? `Choose another route in the list to see it beside ${nameOf(beside).toLowerCase()}.` : "");
    if (!isOther) return;
    this.#comparison.show(beside, shown, (tree) => this.#caption(tree, found), (route, chosen) => this.#store.set({ chosen, chosenOf: route }));
  }

  /**
   * @param {Tree} tree
   * @param {Found | null} found
   */
  #caption({ data, step }, found) {
    if (!step && !data.is_building_block) return ["to be made"];
    if (!data.is_building_block || !found || found.unfinished) return [];
    return blockWords(data, found.offers, found.asked.ships_to);
  }

  /** @param {Readonly<State>} state */
  #about({ chosen, found }) {
    const nodes = chosen && found ? details(chosen, { offers: found.offers, shipsTo: found.asked.ships_to })
      : [make("p", { className: "quiet" }, "Choose a molecule or a step in the drawing to see its details.")];
    find("details").replaceChildren(...nodes);
    find("acts").replaceChildren(...this.#acts(chosen).map(({ label, act }) => {
      const button = make("button", { type: "button", className: "plain" }, label);
      button.addEventListener("click", act);
      return button;
    }));
  }

  /** @param {State["chosen"]} chosen */
  #acts(chosen) {
    const { chosenOf } = this.#store.state;
    return chosen && chosenOf ? actionsFor(chosen, this.#means(chosenOf)) : [];
  }

  /** @param {MouseEvent} event */
  #menu(event) {
    const part = /** @type {SVGElement | null} */ (/** @type {Element} */ (event.target).closest("[data-key]"));
    const [kind, key] = part?.dataset.key?.split(" ") ?? [];
    const { shown } = this.#store.state;
    const tree = shown && treeAt(treeOf(shown.graph), key ?? "");
    if (!part || !tree || (kind !== "molecule" && kind !== "step")) return;
    event.preventDefault();
    this.#store.set({ chosen: { kind, tree }, chosenOf: shown });
    openMenu(this.#acts({ kind, tree }), { x: event.clientX, y: event.clientY }, part);
  }

  /**
   * Marks in the drawing what the details are about.
   * @param {State["chosen"]} chosen
   */
  #mark(chosen) {
    for (const part of find("scheme").querySelectorAll(".molecule, .step")) {
      const isChosen = chosen !== null && part.dataset.key === `${chosen.kind} ${chosen.tree.key}`;
      part.setAttribute("aria-pressed", String(isChosen));
    }
  }

  #buttons() {
    find("compare").addEventListener("click", () => this.#store.set({ beside: this.#store.state.beside ? null : this.#store.state.shown, chosen: null, chosenOf: null }));
    const seen = () => (find("comparison").hidden ? this.#view : this.#comparison);
    find("zoom_in").addEventListener("click", () => seen().zoom(1.25));
    find("zoom_out").addEventListener("click", () => seen().zoom(0.8));
    find("zoom_fit").addEventListener("click", () => seen().fit());
    find("take_svg").addEventListener("click", () => this.#drawing && saveFile(this.#name("svg"), "image/svg+xml", svg(this.#drawing)));
    find("take_png").addEventListener("click", async () => this.#drawing && saveFile(this.#name("png"), "image/png", await png(this.#drawing)));
    find("take_csv").addEventListener("click", () => this.#take((route) => saveFile(this.#name("csv"), "text/csv", shoppingCsv(route))));
    find("take_json").addEventListener("click", () => this.#take((route) => saveFile(this.#name("json"), "application/json", JSON.stringify(route.graph, null, 1))));
    find("take_all").addEventListener("click", () => saveFile("routes.json", "application/json", this.#store.state.found?.bytes ?? ""));
    find("take_print").addEventListener("click", () => print());
    find("scheme").addEventListener("contextmenu", (/** @type {MouseEvent} */ event) => this.#menu(event));
    addEventListener("beforeprint", () => this.#view.onPaper());
    addEventListener("afterprint", () => this.#view.onScreen());
  }

  /** @param {(route: Route) => void} act */
  #take(act) {
    if (this.#store.state.shown) act(this.#store.state.shown);
  }

  /** @param {string} ending */
  #name(ending) {
    const { shown } = this.#store.state;
    return `${(shown ? nameOf(shown) : "route").toLowerCase().replaceAll(" ", "_")}.${ending}`;
  }
}

/**
 * @param {Route} route
 * @param {Found["unfinished"]} unfinished
 */
function toOrder(route, unfinished) {
  const why = unfinished ?? (route.graph.graph ? null : "byHand");
  return why ? [make("p", { className: "quiet" }, WITHOUT_PRICES[why])] : shoppingList(route);
}

/** Reasons for missing prices. */
const WITHOUT_PRICES = /** @type {Record<string, string>} */ ({
  byHand: "Routes by hand are not priced. Require their blocks and search again to have them priced.",
  growing: "Prices and lead times follow when the search ends.",
  stopped: "The search was stopped before prices and lead times were looked up.",
});

/**
 * @param {Route} route
 * @param {boolean} isPriced
 */
function summary({ steps, depth, plausibility, price, lead, list }, isPriced) {
  const parts = [several(steps, "step"), `longest branch ${depth}`, `${percent(plausibility)} plausible`];
  if (!isPriced) return parts.join(" · ");
  if (list) parts.push(price === null ? "not all priced" : `${dollars(price)} for ${significant(list.amount_mmol)} mmol`);
  if (lead !== null) parts.push(`blocks in ${days(lead)}`);
  return parts.join(" · ");
}

/** @param {Found} found */
function how({ answer: { metadata }, routes, unfinished, kept, how }) {
  if (how) return how;
  if (kept) return keptWhen(kept);
  if (unfinished === "growing") return "found so far; the search goes on";
  if (unfinished === "stopped") return "found until the search was stopped";
  const found = metadata.validated_routes > routes.length ? `the best of ${count(metadata.validated_routes)} valid routes, ` : "";
  const looked = metadata.search ? `${several(metadata.search.expanded_molecules, "molecule")} expanded ` : "";
  return `${found}${looked}in ${significant(metadata.total_elapsed)} s`;
}
