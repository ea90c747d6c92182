// @ts-check
// The routes of an answer: the list, the drawing of the one that is shown, what is known of a part of it, what to order for it.

import { leadTime, treeOf } from "./answer.js";
import { details } from "./details.js";
import { draw, offerWords } from "./drawing.js";
import { count, find, make, say } from "./elements.js";
import { RouteList } from "./routes.js";
import { csv, shopping } from "./shopping.js";
import { Store } from "./store.js";
import { save, svg } from "./takeaway.js";
import { View } from "./view.js";
import { days, dollars, percent, several, significant } from "./words.js";

/** @typedef {import("./answer.js").Route} Route */
/** @typedef {import("./answer.js").Tree} Tree */
/** @typedef {{answer: import("./answer.js").Answer, bytes: string, routes: Route[], offers: Map<number, import("./answer.js").Offer[]>, asked: Record<string, any>}} Found */
/** @typedef {{found: Found | null, order: string, filter: string, shown: Route | null, chosen: import("./drawing.js").Chosen | null, folded: Set<string>}} State */

export class Results {
  #store = new Store(/** @type {State} */ ({ found: null, order: "rank", filter: "", shown: null, chosen: null, folded: new Set() }));
  #list = new RouteList((route) => this.#show(route));
  #view = new View(find("scheme"), "The route, drawn");
  /** @type {{route: Route, content: SVGElement, width: number, height: number} | null} */
  #drawing = null;

  constructor() {
    const store = this.#store;
    find("order").addEventListener("change", () => store.set({ order: find("order").value }));
    find("filter").addEventListener("input", () => store.set({ filter: find("filter").value }));
    store.watch(["found", "order", "filter", "shown"], ({ found, order, filter, shown }) => {
      if (found) this.#list.show(found.routes, { order, filter, shown: shown?.key ?? null });
    });
    store.watch(["shown", "folded"], ({ shown }) => this.#draw(shown));
    store.watch(["chosen"], (state) => this.#about(state));
    store.watch(["chosen", "shown", "folded"], ({ chosen }) => this.#mark(chosen));
    this.#buttons();
  }

  /** @param {Found} found */
  show(found) {
    find("filter").value = "";
    say(find("results_target"), found.answer.search_smiles);
    say(find("results_how"), how(found));
    this.#store.set({ found, filter: "", shown: null, chosen: null });
    this.#show(found.routes[0]);
  }

  /** @param {Route} route */
  #show(route) {
    if (route !== this.#store.state.shown) this.#store.set({ shown: route, chosen: null, folded: new Set() });
  }

  /** @param {Route | null} route */
  #draw(route) {
    if (!route) return;
    // The same one, with something folded, stays where it was moved to.
    const where = this.#drawing?.route === route ? "stay" : "fit";
    const { found, folded } = this.#store.state;
    const fold = (/** @type {string} */ key) => this.#store.set({ folded: toggled(this.#store.state.folded, key) });
    const drawn = draw(treeOf(route.graph), {
      caption: (tree) => this.#caption(tree, found), folded, fold, choose: (chosen) => this.#store.set({ chosen }),
    });
    this.#drawing = { route, ...drawn };
    this.#view.show(this.#drawing, where);
    if (where === "stay") return;
    say(find("route_title"), `Route ${route.rank}`);
    say(find("route_summary"), summary(route));
    find("shopping").replaceChildren(...shopping(route));
    find("take_csv").disabled = !route.list;
  }

  /**
   * @param {Tree} tree
   * @param {Found | null} found
   */
  #caption({ data }, found) {
    if (!data.is_building_block || !found) return [];
    const offers = found.offers.get(data.building_block_idx ?? -1) ?? [];
    const leads = offers.map((offer) => leadTime(offer, found.asked.ships_to)).filter((lead) => lead !== null);
    return offerWords(offers[0], leads.length ? Math.min(...leads) : null);
  }

  /** @param {Readonly<State>} state */
  #about({ chosen, found }) {
    const nodes = chosen && found ? details(chosen, { offers: found.offers, shipsTo: found.asked.ships_to })
      : [make("p", { className: "quiet" }, "Choose a molecule or a step in the drawing to see what is known of it.")];
    find("details").replaceChildren(...nodes);
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
    find("zoom_in").addEventListener("click", () => this.#view.zoom(1.25));
    find("zoom_out").addEventListener("click", () => this.#view.zoom(0.8));
    find("zoom_fit").addEventListener("click", () => this.#view.fit());
    find("take_svg").addEventListener("click", () => this.#drawing && save(this.#name("svg"), "image/svg+xml", svg(this.#drawing)));
    find("take_csv").addEventListener("click", () => this.#take((route) => save(this.#name("csv"), "text/csv", csv(route))));
    find("take_json").addEventListener("click", () => this.#take((route) => save(this.#name("json"), "application/json", JSON.stringify(route.graph, null, 1))));
    find("take_all").addEventListener("click", () => save("routes.json", "application/json", this.#store.state.found?.bytes ?? ""));
    find("take_print").addEventListener("click", () => print());
    addEventListener("beforeprint", () => this.#view.onPaper());
    addEventListener("afterprint", () => this.#view.onScreen());
  }

  /** @param {(route: Route) => void} act */
  #take(act) {
    if (this.#store.state.shown) act(this.#store.state.shown);
  }

  /** @param {string} ending */
  #name(ending) {
    return `route_${this.#store.state.shown?.rank ?? 0}.${ending}`;
  }
}

/**
 * @param {Set<string>} keys
 * @param {string} key
 */
function toggled(keys, key) {
  const changed = new Set(keys);
  if (!changed.delete(key)) changed.add(key);
  return changed;
}

/** @param {Route} route */
function summary({ steps, depth, plausibility, price, lead, list }) {
  const parts = [several(steps, "step"), `longest branch ${depth}`, `${percent(plausibility)} plausible`];
  if (list) parts.push(price === null ? "not all priced" : `${dollars(price)} for ${significant(list.amount_mmol)} mmol`);
  if (lead !== null) parts.push(`blocks after ${days(lead)}`);
  return parts.join(" · ");
}

/** @param {Found} found */
function how({ answer: { metadata }, routes }) {
  const found = metadata.validated_routes > routes.length ? `the best of ${count(metadata.validated_routes)} that hold, ` : "";
  const looked = metadata.search ? `${several(metadata.search.expanded_molecules, "molecule")} looked at ` : "";
  return `${found}${looked}in ${significant(metadata.total_elapsed)} s`;
}
