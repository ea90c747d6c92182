// @ts-check
// Sorted table of a batch's plans, of which only the lines in sight are in the page. Pages are read one after the other. Those with unfinished plans are
// read again while the batch runs.

import { Thumbnails } from "../drawing/thumbnails.js";
import { csvOf } from "../shared/csv.js";
import { control, make, say } from "../shared/elements.js";
import { count, days, dollars, percent } from "../shared/numbers.js";
import { saveFile } from "../shared/save_file.js";

/** @typedef {{routes: number, steps: number | null, price_usd: number | null, lead_time_days: number | null, plausibility: number | null}} Figures */
/** @typedef {{id: string, name: string | null, status: string, parameters: {search_smiles: string}, figures: Figures | null, error: string | null}} Plan */
/** @typedef {{place: number, plan: Plan}} Line */

const PAGE = 100;
/** Between two looks at what has come so far, while pages come one after the other, milliseconds. */
const PAUSE = 300;
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
  #service;
  #head = make("div", { role: "row", className: "planned heading_line" });
  #body = make("div", { role: "rowgroup", className: "lines" });
  #frame = make("div", { className: "plans", tabIndex: 0, role: "region", "aria-label": "Plans of the batch" });
  #known = make("p", { className: "quiet", role: "status" });
  #filter = control("input", { type: "search", placeholder: "Filter: name, SMILES, state", spellcheck: false, "aria-label": "Only plans that have" });
  /** The cursors of the pages, each the plan before its first one, and what was last seen of each. @type {{from: string, lines: Plan[]}[]} */
  #pages = [];
  #isWhole = false;
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
  /** Which turn counts. */
  #turn = 0;
  #isLooking = false;
  /** Time of the last sort. */
  #shown = 0;

  /** @param {import("../service/service.js").Service} service */
  constructor(service) {
    this.#service = service;
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
    this.#pages = [];
    this.#isWhole = this.#hasNames = false;
    this.#sorted = [];
    this.#filter.value = "";
    this.#name();
    this.#frame.scrollTop = 0;
    this.#lay();
    say(this.#known, "");
  }

  leave() {
    this.#turn += 1;
    this.#isLooking = false;
  }

  /**
   * Looks at what is another by now. Searches go from the first molecule to the last, and the pages the other way: those at the end are looked at
   * until as many plans have ended as the batch says; where fewer have, it was resumed, and any may be another.
   * @param {{plan_count: number, progress: import("./batch_view.js").Progress}} batch
   */
  async fresh({ plan_count, progress }) {
    this.#total = plan_count;
    if (this.#isLooking) return;
    this.#isLooking = true;
    const turn = this.#turn;
    try {
      const known = this.#pages.reduce((sum, { lines }) => sum + endedOf(lines), 0);
      const all = progress.completed + progress.failed + progress.cancelled;
      for (let missing = all < known ? Infinity : all - known, at = this.#pages.length - 1; at >= 0 && missing > 0; at--) {
        const page = this.#pages[at];
        if (!page.lines.some(mayChange)) continue;
        const { items } = await this.#page(page.from);
        if (turn !== this.#turn) return;
        missing -= endedOf(items) - endedOf(page.lines);
        page.lines = items.map((/** @type {Plan} */ plan, /** @type {number} */ index) => sameOr(page.lines[index], plan));
        this.#showNowAndThen();
      }
      while (!this.#isWhole) {
        const from = this.#pages.at(-1)?.lines.at(-1)?.id ?? "";
        const { items, has_next } = await this.#page(from);
        if (turn !== this.#turn) return;
        this.#pages.push({ from, lines: items });
        this.#isWhole = !has_next;
        this.#showNowAndThen();
      }
    } catch {
      // The lines stay; the next poll of the batch reads these again.
    } finally {
      if (turn === this.#turn) {
        this.#isLooking = false;
        this.#show();
      }
    }
  }

  /** @param {string} from */
  #page(from) {
    return this.#service.get(`/synth-batches/v1/batches/${encodeURIComponent(this.#batch)}/plans?limit=${PAGE}${from ? `&starting_after=${from}` : ""}`);
  }

  /** Not more often than is pleasant: a hundred thousand lines take a while to be sorted. */
  #showNowAndThen() {
    if (performance.now() - this.#shown > PAUSE) this.#show();
  }

  #show() {
    this.#shown = performance.now();
    // The service gives the last molecule first.
    const plans = this.#pages.flatMap(({ lines }) => lines);
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
    const loaded = this.#isWhole ? "" : `${count(all.length)} of ${count(this.#total)} loaded …`;
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

  /**
   * Gives the table away as it is sorted and filtered.
   * @param {string} batch
   */
  take(batch) {
    const rows = this.#sorted.map(({ place, plan: { id, name, status, parameters, figures, error } }) => [
      place, name, parameters.search_smiles, status, figures?.routes, figures?.steps, figures?.price_usd, figures?.lead_time_days, figures?.plausibility, error, id,
    ]);
    saveFile(`${batch}.csv`, "text/csv", csvOf(["molecule", "name", "smiles", "status", "routes", "steps", "price_usd", "lead_time_days", "plausibility", "error", "plan_id"], rows));
  }
}

/** @param {Plan} plan */
const mayChange = ({ status }) => status === "pending" || status === "processing" || status === "cancelled";

/** @param {Plan[]} plans */
const endedOf = (plans) => plans.filter(({ status }) => status !== "pending" && status !== "processing").length;

/**
 * Keeps the object of an unchanged plan, so that its row and the focus stay.
 * @param {Plan | undefined} old
 * @param {Plan} plan
 */
const sameOr = (old, plan) => (old && JSON.stringify(old) === JSON.stringify(plan) ? old : plan);

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
