// @ts-check
// Form of a kept route: star, name, note, and a link that the organisation can open.

import { why } from "../service/service.js";
import { find, say } from "../shared/elements.js";
import { toast } from "../shared/toast.js";

/** @typedef {import("../answer/answer.js").Route} Route */
/** @typedef {import("./results.js").Found} Found */
/** @typedef {{id: string, name: string | null, note: string | null, starred: boolean, is_own: boolean, created_at: string, parameters: Record<string, any>, figures: {steps: number, price_usd: number | null, lead_time_days: number | null, plausibility: number | null}, route: any, pricing_annotations: any[] | null}} Kept */

export const ROUTES = "/synth/v1/routes";
export const PLANS = "/synth-batches/v1/plans";

export class KeptRouteForm {
  #service;
  /** Kept routes, by the keys of routes. @type {Map<string, Kept>} */
  #kept = new Map();
  /** @type {{found: Found, route: Route} | null} */
  #shown = null;
  #keep = find("keep");
  #form = /** @type {HTMLFormElement} */ (find("kept"));

  /** @param {import("../service/service.js").Service} service */
  constructor(service) {
    this.#service = service;
    this.#keep.addEventListener("click", () => this.#add());
    find("kept_star").addEventListener("click", () => this.#change({ starred: find("kept_star").getAttribute("aria-pressed") !== "true" }));
    for (const field of ["name", "note"]) find(`kept_${field}`).addEventListener("change", () => this.#change({ [field]: find(`kept_${field}`).value.trim() || null }));
    find("kept_link").addEventListener("click", () => this.#copy());
    find("kept_not").addEventListener("click", () => this.#remove());
    this.#form.addEventListener("submit", (event) => event.preventDefault());
  }

  /**
   * Shows the state of the selected route.
   * @param {Found} found
   * @param {Route} route
   */
  show(found, route) {
    if (found.kept && !this.#kept.has(route.key) && found.first === route.key) this.#kept.set(route.key, found.kept);
    this.#shown = { found, route };
    this.#tell();
  }

  #tell() {
    const { found, route } = /** @type {{found: Found, route: Route}} */ (this.#shown);
    const kept = this.#kept.get(route.key);
    const isOwn = kept?.is_own === true;
    this.#keep.hidden = isOwn;
    this.#keep.disabled = found.unfinished === "growing";
    say(this.#keep, kept ? "Keep too" : "Keep");
    this.#form.hidden = !kept;
    if (!kept) return;
    say(find("kept_whose"), isOwn ? "You keep this route." : "A colleague keeps this route.");
    find("kept_star").setAttribute("aria-pressed", String(kept.starred));
    say(find("kept_star"), kept.starred ? "★ Starred" : "☆ Star");
    for (const field of /** @type {const} */ (["name", "note"])) {
      const input = find(`kept_${field}`);
      // Typed text stays.
      if (document.activeElement !== input) input.value = kept[field] ?? "";
      input.readOnly = !isOwn;
    }
    find("kept_star").disabled = !isOwn;
    find("kept_not").hidden = !isOwn;
  }

  async #add() {
    const { found, route } = /** @type {{found: Found, route: Route}} */ (this.#shown);
    this.#keep.disabled = true;
    try {
      const body = { parameters: asked(found.asked), route: fullGraph(route.graph), pricing_annotations: offersFor(route, found), name: route.name ?? null };
      const kept = await this.#service.send(ROUTES, body, AbortSignal.timeout(TIMEOUT));
      this.#kept.set(route.key, kept);
      toast("The route is kept.");
      this.#tell();
      if (this.#shown?.route === route) find("kept_name").focus();
    } catch (fault) {
      toast(why(fault));
      this.#tell();
    }
  }

  /** @param {Partial<Kept>} change */
  async #change(change) {
    const key = this.#shown?.route.key ?? "";
    const kept = this.#kept.get(key);
    if (!kept) return;
    try {
      this.#kept.set(key, await this.#service.change(`${ROUTES}/${kept.id}`, change));
      toast("Saved.");
    } catch (fault) {
      toast(`Not saved. ${why(fault)}`);
    }
    this.#tell();
  }

  async #copy() {
    const kept = this.#kept.get(this.#shown?.route.key ?? "");
    if (!kept) return;
    const link = `${location.origin}/${addressOf(kept)}`;
    try {
      await navigator.clipboard.writeText(link);
      toast("The link is copied. Members of your organisation can open it.");
    } catch {
      toast(link);
    }
  }

  async #remove() {
    const key = this.#shown?.route.key ?? "";
    const kept = this.#kept.get(key);
    if (!kept) return;
    try {
      await this.#service.remove(`${ROUTES}/${kept.id}`);
      this.#kept.delete(key);
      toast("The route is no longer kept.");
      this.#tell();
      this.#keep.focus();
    } catch (fault) {
      toast(why(fault));
    }
  }
}

/** Longer than the service takes, milliseconds. */
const TIMEOUT = 60000;

/**
 * The address of a kept route.
 * @param {{id: string}} kept
 */
export function addressOf({ id }) {
  return `#/plan/${id}`;
}

/**
 * The day on which a route was kept, in a line.
 * @param {Kept} kept
 */
export function keptWhen({ created_at, is_own }) {
  return `kept ${new Date(created_at).toLocaleDateString("en-GB", { dateStyle: "medium" })}${is_own ? "" : " by a colleague"}`;
}

/**
 * Settings of a search without its engine, which the service does not take here.
 * @param {Record<string, any>} parameters
 */
function asked({ engine: _engine, ...parameters }) {
  return parameters;
}

/**
 * A route with the fields that the service needs and this page does without.
 * @param {import("../answer/answer.js").RouteGraph} graph
 */
export function fullGraph({ graph, nodes, edges }) {
  return {
    directed: true, multigraph: false, graph,
    nodes: nodes.map(({ data, ...node }) => ({ ...node, data: { expanded: !data.is_building_block, in_solution_path: true, ...data, closest_building_block: data.closest_building_block ?? 0 } })),
    edges,
  };
}

/**
 * The offers for what a route buys, as the service has them.
 * @param {Route} route
 * @param {Found} found
 */
function offersFor(route, { offers }) {
  const bought = new Set(route.blocks.map((block) => block.building_block_idx));
  return [...bought].flatMap((index) => offers.get(index ?? -1) ?? []);
}
