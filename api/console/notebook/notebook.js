// @ts-check
// The part "Notebook": kept routes and stored searches, one's own and those of the organisation.

import { Thumbnails } from "../drawing/thumbnails.js";
import { addressOf, keptWhen, PLANS, ROUTES } from "../routes/kept_route.js";
import { PagedList } from "../service/paged_list.js";
import { why } from "../service/service.js";
import { ask, control, make, say } from "../shared/elements.js";
import { count, days, dollars, percent, several } from "../shared/numbers.js";
import { toast } from "../shared/toast.js";

/** @typedef {import("../routes/kept_route.js").Kept} Kept */
/** @typedef {{routes: number, steps: number | null, price_usd: number | null, lead_time_days: number | null, plausibility: number | null}} Figures */
/** @typedef {{id: string, status: string, created_at: string, name: string | null, parameters: Record<string, any>, figures: Figures | null}} Searched */

const PAGE = 50;
const DRAWN = { width: 190, height: 110 };

class Notebook {
  #service;
  #thumbnails = new Thumbnails();
  #filter = control("input", { type: "search", placeholder: "Filter: name, note, SMILES", spellcheck: false, "aria-label": "Only entries with" });
  #starred = control("input", { type: "checkbox" });
  #own = control("input", { type: "checkbox" });
  #keptList = make("ul", { className: "entries", "aria-label": "Kept routes" });
  #keptCount = make("span", { className: "count" });
  #noneKept = make("p", { className: "none", hidden: true });
  #searchList = make("ul", { className: "entries", "aria-label": "Searches" });
  #searchCount = make("span", { className: "count" });
  #noSearch = make("p", { className: "none", hidden: true });
  /** @type {PagedList<Kept>} */
  #kept;
  /** @type {PagedList<Searched>} */
  #searches;

  /**
   * @param {HTMLElement} place
   * @param {import("../service/service.js").Service} service
   */
  constructor(place, service) {
    this.#service = service;
    this.#kept = new PagedList(service, ROUTES, PAGE, () => this.#drawKept());
    this.#searches = new PagedList(service, PLANS, PAGE, () => this.#drawSearches());
    const check = (/** @type {HTMLElement} */ box, /** @type {string} */ words) => make("label", { className: "check" }, box, words);
    place.append(
      make("section", { className: "panel", "aria-labelledby": "kept_title" },
        make("header", { className: "row apart" }, make("h2", { id: "kept_title" }, "Kept routes ", this.#keptCount), make("span", { className: "row" }, this.#filter, check(this.#starred, "Starred"), check(this.#own, "My own"))),
        this.#kept.notice.element, this.#keptList, this.#noneKept, this.#kept.more),
      make("section", { className: "panel", "aria-labelledby": "searches_title" },
        make("header", { className: "row apart" }, make("h2", { id: "searches_title" }, "Searches ", this.#searchCount)),
        this.#searches.notice.element, this.#searchList, this.#noSearch, this.#searches.more));
    for (const input of [this.#filter, this.#starred, this.#own]) {
      input.addEventListener("input", () => {
        this.#drawKept();
        this.#drawSearches();
      });
    }
  }

  /** Reads the lists again. */
  show() {
    this.#kept.fresh();
    this.#searches.fresh();
  }

  #drawKept() {
    const { items } = this.#kept;
    const listed = items.filter((kept) => (!this.#starred.checked || kept.starred) && (!this.#own.checked || kept.is_own) && this.#has(kept.name, kept.note, kept.parameters.search_smiles));
    this.#list(this.#keptList, listed, (kept) => this.#route(kept));
    tell(this.#keptCount, this.#noneKept, listed.length, items.length, "No route is kept yet. Press Keep beside one.");
  }

  #drawSearches() {
    const { items } = this.#searches;
    const listed = items.filter((searched) => this.#has(searched.name, searched.parameters.search_smiles));
    this.#list(this.#searchList, listed, (searched) => this.#search(searched));
    tell(this.#searchCount, this.#noSearch, listed.length, items.length, "No searches yet.");
  }

  /** @param {(string | null)[]} texts */
  #has(...texts) {
    return texts.join("\n").toLowerCase().includes(this.#filter.value.trim().toLowerCase());
  }

  /**
   * @template {{parameters: Record<string, any>}} Item
   * @param {HTMLElement} list
   * @param {Item[]} items
   * @param {(item: Item) => (Node | string)[]} about
   */
  #list(list, items, about) {
    for (const picture of list.querySelectorAll(".depicted")) this.#thumbnails.forget(picture);
    list.replaceChildren(...items.map((item) => {
      const depicted = make("span", { className: "depicted" });
      this.#thumbnails.add(depicted, item.parameters.search_smiles, DRAWN);
      return make("li", {}, depicted, make("div", {}, ...about(item)));
    }));
  }

  /** @param {Kept} kept */
  #route(kept) {
    const { name, note, starred, parameters, figures } = kept;
    const link = make("a", { href: addressOf(kept) }, name || `Route to ${parameters.search_smiles}`);
    return [
      make("p", {}, link, ...(starred ? [make("span", { role: "img", "aria-label": "starred", className: "star" }, "★")] : [])),
      make("p", { className: "quiet" }, [several(figures.steps, "step"), ...told(figures), keptWhen(kept)].join(" · ")),
      ...(note ? [make("p", { className: "note_of" }, note)] : []),
    ];
  }

  /** @param {Searched} searched */
  #search(searched) {
    const { id, name, parameters, created_at, figures, status } = searched;
    const forget = make("button", { type: "button", className: "plain brief", "aria-label": `Delete the search for ${parameters.search_smiles}` }, "Delete");
    forget.addEventListener("click", () => this.#forget(searched));
    const when = new Date(created_at).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
    const found = figures ? [figures.routes ? several(figures.routes, "route") : "no route", ...(figures.steps === null ? [] : [`the best of ${several(figures.steps, "step")}`]), ...told(figures)] : [status];
    return [
      make("p", { className: "row apart" }, make("a", { href: `#/plan/${id}` }, name || parameters.search_smiles), forget),
      make("p", { className: "quiet" }, [...found, when].join(" · ")),
    ];
  }

  /** @param {Searched} searched */
  async #forget({ id, parameters }) {
    const question = { title: "Delete this search?", text: `The result for ${parameters.search_smiles} is deleted. Kept routes stay.`, yes: "Delete", no: "Cancel", grave: true };
    if (!await ask(question)) return;
    try {
      await this.#service.remove(`${PLANS}/${id}`);
      toast("The search is deleted.");
    } catch (fault) {
      toast(why(fault));
    }
    this.#searches.fresh();
  }
}

/**
 * Says how many are listed, and why none is.
 * @param {HTMLElement} counted
 * @param {HTMLElement} none
 * @param {number} listed
 * @param {number} all
 * @param {string} empty
 */
function tell(counted, none, listed, all, empty) {
  say(counted, listed === all ? count(all) : `${count(listed)} of ${count(all)}`);
  none.hidden = listed > 0;
  say(none, all ? "None of those listed." : empty);
}

/** @param {Omit<Figures, "routes" | "steps">} figures */
function told({ price_usd, lead_time_days, plausibility }) {
  return [
    price_usd === null ? "" : dollars(price_usd), lead_time_days === null ? "" : days(lead_time_days), plausibility === null ? "" : `${percent(plausibility)} plausible`,
  ].filter(Boolean);
}

/** @type {import("../app/parts.js").Begin} */
export function begin(place, service) {
  const part = new Notebook(place, service);
  return { show: () => part.show() };
}
