// @ts-check
// Sorted table of a batch's plans, of which only the lines in sight are in the page.

import { Thumbnails } from "../drawing/thumbnails.js";
import { csvOf } from "../shared/csv.js";
import { control, make, say } from "../shared/elements.js";
import { count, days, dollars, percent } from "../shared/numbers.js";
import { saveFile } from "../shared/save_file.js";
import { BatchPages } from "./batch_pages.js";

/** @typedef {{routes: number, steps: number | null, price_usd: number | null, lead_time_days: number | null, plausibility: number | null}} Figures */
/** @typedef {{id: string, name: string | null, status: string, parameters: {search_smiles: string}, figures: Figures | null, error: string | null}} Plan */
/** @typedef {{place: number, plan: Plan}} Line */

/** Path of batches of plans. */
export const PLAN_BATCHES = "/synth-batches/v1/batches";
const PAGE = 100;
const BEYOND = 400;
const DRAWN = { width: 150, height: 84 };
const NARROW = matchMedia("(max-width: 52rem)");

/** `CPD-9` comes before `CPD-10`. */
const BY_NAME = new Intl.Collator("en", { numeric: true });

/** Sort keys of the columns; unknown values come last. @type {Map<string, {label: string, by: (line: Line) => number | string | null}>} */
const COLUMNS = new Map(Object.entries({
  place: { label: "Molecule", by: ({ place }) => place },
  name: { label: "Name", by: ({ plan }) => plan.name?.toLowerCase() ?? null },
  solved: { label: "Solved", by: ({ plan }) => (plan.figures ? -plan.figures.routes : plan.status === "completed" ? 1 : null) },
  steps: { label: "Steps", by: ({ plan }) => plan.figures?.steps ?? null },
  price: { label: "Price", by: ({ plan }) => plan.figures?.price_usd ?? null },
  lead: { label: "Lead time", by: ({ plan }) => plan.figures?.lead_time_days ?? null },
  plausibility: { label: "Plausible", by: ({ plan }) => (plan.figures?.plausibility === null || !plan.figures ? null : -plan.figures.plausibility) },
}));

export class BatchPlans {
  #head = make("div", { role: "row", className: "planned heading_line" });
  #body = make("div", { role: "rowgroup", className: "lines" });
  #frame = make("div", { className: "plans", tabIndex: 0, role: "region", "aria-label": "Plans of the batch" });
  #known = make("p", { className: "quiet", role: "status" });
  #filter = control("input", { type: "search", placeholder: "Filter: name, SMILES, state", spellcheck: false, "aria-label": "Only plans that have" });
  /** @type {BatchPages<Plan>} */
  #pages;
  #export = make("button", { type: "button", className: "plain" }, "CSV");
  tools = [this.#export];
  #total = 0;
  #batch = "";
  #by = "place";
  #isReversed = false;
  /** True if a molecule has a name; otherwise there is no column for names. */
  #hasNames = false;
  /** @type {Line[]} */
  #sorted = [];
  #height = 0;
  #thumbnails = new Thumbnails();
  /** Rows in the page. @type {Map<Plan, HTMLElement>} */
  #rows = new Map();

  /** @param {import("../service/service.js").Service} service */
  constructor(service) {
    this.#pages = new BatchPages(service, PAGE, mayChange, () => this.#show());
    this.#export.addEventListener("click", () => this.#take());
    for (const [name, { label }] of COLUMNS) {
      const button = make("button", { type: "button", className: "sorts" }, label);
      button.addEventListener("click", () => this.#sortBy(name));
      this.#head.append(make("div", { role: "columnheader", className: name, "data-name": name }, button));
    }
    const table = make("div", { role: "table", "aria-label": "Plans" }, make("div", { role: "rowgroup", className: "heads" }, this.#head), this.#body);
    this.#frame.append(table);
    this.element = make("div", {}, make("p", { className: "row of_plans" }, this.#filter, this.#known), this.#frame);
    this.#filter.addEventListener("input", () => this.#show());
    this.#frame.addEventListener("scroll", () => this.#lay(), { passive: true });
    NARROW.addEventListener("change", () => this.#lay());
    new ResizeObserver(([{ contentRect }]) => {
      this.#height = contentRect.height;
      this.#lay();
    }).observe(this.#frame);
    this.#mark();
  }

  /** @param {string} batch */
  of(batch) {
    if (batch === this.#batch) return;
    this.#batch = batch;
    this.#pages.of(`${PLAN_BATCHES}/${encodeURIComponent(batch)}/plans`);
    this.#hasNames = false;
    this.#sorted = [];
    this.#filter.value = "";
    this.#name();
    this.#frame.scrollTop = 0;
    this.#lay();
    say(this.#known, "");
  }

  leave() {
    this.#pages.leave();
  }

  /** @param {import("./plan_batch.js").PlanBatch} batch */
  fresh({ plan_count, progress }) {
    this.#total = plan_count;
    if (progress) this.#pages.fresh(progress.completed + progress.failed + progress.cancelled);
  }

  #show() {
    // The service gives the last molecule first.
    const plans = this.#pages.items;
    const all = plans.map((plan, index) => ({ place: this.#total - index, plan }));
    const hasNames = plans.some(({ name }) => name);
    if (hasNames !== this.#hasNames) {
      this.#hasNames = hasNames;
      this.#name();
    }
    const wanted = this.#filter.value.trim().toLowerCase();
    const lines = wanted ? all.filter(({ plan }) => words(plan).includes(wanted)) : all;
    const { by } = /** @type {{by: (line: Line) => any}} */ (COLUMNS.get(this.#by));
    const sign = this.#isReversed ? -1 : 1;
    this.#sorted = lines.sort((one, other) => {
      const [mine, theirs] = [by(one), by(other)];
      if (mine === null || theirs === null) return (mine === null ? 1 : 0) - (theirs === null ? 1 : 0) || one.place - other.place;
      return sign * (typeof mine === "string" ? BY_NAME.compare(mine, theirs) : mine - theirs) || one.place - other.place;
    });
    const loaded = this.#pages.isWhole ? "" : `${count(all.length)} of ${count(this.#total)} loaded …`;
    say(this.#known, [loaded, wanted && `${count(lines.length)} of ${count(all.length)} are shown`].filter(Boolean).join(" · "));
    this.#lay();
  }

  /** Gives molecules a column for their names, or none. */
  #name() {
    this.element.classList.toggle("named", this.#hasNames);
    /** @type {HTMLElement} */ (this.#head.querySelector(".name")).hidden = !this.#hasNames;
    if (!this.#hasNames && this.#by === "name") this.#by = "place";
    this.#mark();
    for (const row of this.#rows.values()) {
      this.#thumbnails.forget(/** @type {Element} */ (row.querySelector(".depicted")));
      row.remove();
    }
    this.#rows.clear();
  }

  /** @param {string} name */
  #sortBy(name) {
    this.#isReversed = name === this.#by && !this.#isReversed;
    this.#by = name;
    this.#mark();
    this.#show();
  }

  #mark() {
    for (const head of this.#head.children) {
      const isIt = /** @type {HTMLElement} */ (head).dataset.name === this.#by;
      head.setAttribute("aria-sort", !isIt ? "none" : this.#isReversed ? "descending" : "ascending");
    }
  }

  #lay() {
    const height = NARROW.matches ? 148 : 96;
    const { scrollTop } = this.#frame;
    const [from, to] = [Math.max(0, Math.floor((scrollTop - BEYOND) / height)), Math.ceil((scrollTop + this.#height + BEYOND) / height)];
    this.#body.style.height = `${this.#sorted.length * height}px`;
    const seen = this.#sorted.slice(from, to);
    const wanted = new Set(seen.map(({ plan }) => plan));
    for (const [plan, row] of this.#rows) {
      if (wanted.has(plan)) continue;
      this.#thumbnails.forget(/** @type {Element} */ (row.querySelector(".depicted")));
      row.remove();
      this.#rows.delete(plan);
    }
    seen.forEach((line, index) => {
      const row = this.#rows.get(line.plan) ?? this.#line(line);
      row.style.top = `${(from + index) * height}px`;
      row.style.height = `${height}px`;
      row.setAttribute("aria-rowindex", String(from + index + 2));
      if (row !== this.#body.children[index]) this.#body.insertBefore(row, this.#body.children[index] ?? null);
    });
  }

  /** @param {Line} line */
  #line({ place, plan }) {
    const { search_smiles } = plan.parameters;
    const { figures } = plan;
    const cell = (/** @type {string} */ name, /** @type {(Node | string)[]} */ ...content) => make("div", { role: "cell", className: name, "data-label": COLUMNS.get(name)?.label ?? "" }, ...content);
    const depicted = make("span", { className: "depicted" });
    this.#thumbnails.add(depicted, search_smiles, DRAWN);
    const row = make("div", { role: "row", className: "planned" },
      cell("place", make("span", { className: "nth quiet" }, count(place)), depicted),
      ...(this.#hasNames ? [cell("name", plan.name ?? "–")] : []),
      cell("solved", ...standing(plan)),
      cell("steps", ifKnown(figures?.steps, String)),
      cell("price", ifKnown(figures?.price_usd, dollars)),
      cell("lead", ifKnown(figures?.lead_time_days, days)),
      cell("plausibility", ifKnown(figures?.plausibility, percent)));
    this.#rows.set(plan, row);
    return row;
  }

  /** Gives the table away as it is sorted and filtered. */
  #take() {
    const rows = this.#sorted.map(({ place, plan: { id, name, status, parameters, figures, error } }) => [
      place, name, parameters.search_smiles, status, figures?.routes, figures?.steps, figures?.price_usd, figures?.lead_time_days, figures?.plausibility, error, id,
    ]);
    saveFile(`${this.#batch}.csv`, "text/csv", csvOf(["molecule", "name", "smiles", "status", "routes", "steps", "price_usd", "lead_time_days", "plausibility", "error", "plan_id"], rows));
  }
}

/** @param {Plan} plan */
const mayChange = ({ status }) => status === "pending" || status === "processing" || status === "cancelled";

/** @type {Record<string, string>} */
const STANDS = { pending: "waiting", processing: "searching", failed: "failed", cancelled: "cancelled" };

/**
 * Words by which a plan is filtered.
 * @param {Plan} plan
 */
function words({ name, status, figures, parameters }) {
  const stands = status !== "completed" ? STANDS[status] ?? status : figures?.routes === 0 ? "no route" : "solved";
  return `${name ?? ""}\n${parameters.search_smiles}\n${stands}`.toLowerCase();
}

/**
 * State of a plan, with a link to its routes.
 * @param {Plan} plan
 * @returns {Node[]}
 */
function standing({ id, status, figures, error }) {
  if (status !== "completed") {
    const tag = make("span", { className: `tag ${status === "failed" ? "bad" : ""}` }, STANDS[status] ?? status);
    return error ? [tag, make("span", { className: "second" }, error)] : [tag];
  }
  if (figures?.routes === 0) return [make("span", { className: "tag warn" }, "no route")];
  return [make("a", { href: `#/plan/${id}` }, figures ? `${count(figures.routes)} ${figures.routes === 1 ? "route" : "routes"}` : "Routes")];
}

/**
 * @template T
 * @param {T | null | undefined} value
 * @param {(value: T) => string} words
 */
function ifKnown(value, words) {
  return value === null || value === undefined ? "–" : words(value);
}
