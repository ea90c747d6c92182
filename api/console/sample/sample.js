// @ts-check
// The part "Sample": molecules are drawn from a model, filtered, ticked and exported. Its state is in one store; the address names the sample.

import { SAMPLE_BATCHES } from "../batches/batch_molecules.js";
import { cart } from "../batches/cart.js";
import { Gallery } from "../drawing/gallery.js";
import { MoleculeWorker } from "../molecules/molecule_worker.js";
import { PROPERTIES } from "../molecules/properties.js";
import { Refused } from "../service/login.js";
import { why } from "../service/service.js";
import { csvOf } from "../shared/csv.js";
import { control, make, say } from "../shared/elements.js";
import { Notice } from "../shared/notice.js";
import { count, several } from "../shared/numbers.js";
import { planAddress } from "../shared/plan_address.js";
import { saveFile } from "../shared/save_file.js";
import { Store, toggled } from "../shared/store.js";
import { MoleculeFilter, filtered } from "./molecule_filter.js";
import { MOST_OF_SAMPLE, SampleForm } from "./sample_form.js";

/** @typedef {import("../models/model_card.js").Model} Model */
/** @typedef {{id: string, model_id: string, smiles: string[], created_at: string, batch_id: string | null}} Sample */
/**
 * @typedef {{models: Model[], drawing: {size: number, stop: AbortController} | null, sample: Sample | null, notice: string, values: Float32Array,
 *   filter: import("./molecule_filter.js").Typed, has: Uint8Array | null, order: number[], ticked: Set<number>}} State
 * `values`: rows of `PROPERTIES`, NaN where they are not known yet; `has`: which have the part asked for, null: none is; `order`: which are shown
 */

const SAMPLES = "/generator/v1/samples";
/** Longer than the service takes, milliseconds. */
const TIMEOUT = 150000;
/** Samples that are kept, so that the way back to one is short. */
const KEPT = 5;

class SamplePart {
  #service;
  #worker = new MoleculeWorker();
  #store = new Store(/** @type {State} */ ({
    models: [], drawing: null, sample: null, notice: "", values: new Float32Array(), filter: { part: "", ranges: {}, by: "" }, has: null, order: [], ticked: new Set(),
  }));
  /** @type {Map<string, Sample>} */
  #kept = new Map();
  /** Which sample was asked for last: an earlier one may come later. */
  #looks = 0;
  #form;
  #filter;
  #gallery = new Gallery("Molecules", (index) => this.#store.set({ ticked: toggled(this.#store.state.ticked, index) }));
  #title = make("h2", { tabIndex: -1 });
  #said = make("p", { className: "quiet" });
  #batch = control("a", { hidden: true }, "Its batch");
  #notice = new Notice();
  #plan = control("button", { type: "button" }, "Plan as a batch");
  #routes = control("button", { type: "button", className: "plain", title: "For one molecule that is ticked" }, "Find routes");
  #none = make("p", { className: "none", hidden: true }, "No molecule passes the filters.");
  #found = make("section", { className: "sampled", "aria-label": "The sample", hidden: true });

  /**
   * @param {HTMLElement} place
   * @param {import("../service/service.js").Service} service
   */
  constructor(place, service) {
    this.#service = service;
    const store = this.#store;
    this.#form = new SampleForm((asked) => this.#draw(asked), () => store.state.drawing?.stop.abort());
    this.#filter = new MoleculeFilter((filter) => store.set({ filter }), (ranges) => this.#form.putRanges(ranges));
    this.#found.append(make("header", { className: "found" }, this.#title, this.#said, this.#batch, this.#tools()), this.#filter.element, this.#none, this.#gallery.element);
    place.append(this.#form.element, this.#notice.element, this.#found);
    this.#watch();
    this.#look();
  }

  #watch() {
    const store = this.#store;
    store.watch(["notice"], ({ notice }) => this.#notice.tell(notice));
    store.watch(["models", "drawing"], (state) => this.#form.show(state));
    store.watch(["sample", "models"], ({ sample, models }) => {
      this.#found.hidden = !sample;
      if (!sample) return;
      say(this.#title, several(sample.smiles.length, "molecule"));
      this.#batch.hidden = !sample.batch_id;
      this.#batch.href = `#/batches/${sample.batch_id}`;
      this.#filter.of(models.find((model) => model.id === sample.model_id));
    });
    store.watch(["filter"], ({ filter }) => this.#ask(filter.part));
    store.watch(["sample", "values", "filter", "has"], (state) => state.sample && store.set({ order: filtered(state) }));
    store.watch(["order", "values"], (state) => this.#filter.show(state));
    store.watch(["order", "ticked"], ({ sample, order, ticked }) => {
      if (!sample) return;
      this.#none.hidden = order.length > 0;
      this.#gallery.show({ smiles: sample.smiles, order, ticked, caption: (index) => this.#caption(index) });
      const isFiltered = order.length < sample.smiles.length;
      say(this.#said, [`of ${sample.model_id}`, isFiltered ? `${count(order.length)} shown` : "", ticked.size ? `${count(ticked.size)} ticked` : ""].filter(Boolean).join(" · "));
      say(this.#plan, ticked.size ? `Plan ${count(ticked.size)} ticked` : `Plan ${isFiltered ? "those shown" : "all"}`);
      this.#plan.disabled = order.length === 0;
      this.#routes.disabled = ticked.size !== 1;
    });
  }

  /** Loads the models; a sample can be requested without them. */
  async #look() {
    try {
      this.#store.set({ models: (await this.#service.get("/generator/v1/models")).data });
    } catch (fault) {
      this.#store.set({ notice: why(fault) });
    }
    this.#earlier();
  }

  async #earlier() {
    try {
      this.#form.earlier((await this.#service.get(`${SAMPLES}?limit=10`)).data);
    } catch {
      // Earlier samples are a convenience.
    }
  }

  /** @param {{model_id: string | null, size: number}} asked */
  async #draw(asked) {
    const stop = new AbortController();
    const timeout = AbortSignal.timeout(TIMEOUT);
    this.#store.set({ drawing: { size: asked.size, stop }, notice: "" });
    try {
      const isBatch = asked.size > MOST_OF_SAMPLE;
      const made = await this.#service.send(isBatch ? SAMPLE_BATCHES : SAMPLES, asked, AbortSignal.any([stop.signal, timeout]));
      if (!isBatch) {
        this.#keep(made);
        this.#earlier();
      }
      location.hash = `#/${isBatch ? "batches" : "sample"}/${made.id}`;
    } catch (fault) {
      const isSaid = fault instanceof Refused && this.#form.refuse(fault.faults);
      this.#store.set({ notice: isSaid ? "" : stop.signal.aborted ? "Stopped." : timeout.aborted ? "The service did not answer in time." : why(fault) });
    }
    this.#store.set({ drawing: null });
  }

  /** @param {Sample} sample */
  #keep(sample) {
    this.#kept.set(sample.id, sample);
    if (this.#kept.size > KEPT) this.#kept.delete(/** @type {string} */ (this.#kept.keys().next().value));
  }

  /** @param {string[]} path */
  async show([id]) {
    const look = ++this.#looks;
    if (!id || id === this.#store.state.sample?.id) return;
    try {
      const sample = this.#kept.get(id) ?? await this.#service.get(`${SAMPLES}/${encodeURIComponent(id)}`);
      this.#keep(sample);
      if (look === this.#looks) this.#see(sample);
    } catch (fault) {
      if (look === this.#looks) this.#store.set({ notice: why(fault), sample: null });
    }
  }

  /** @param {Sample} sample */
  #see(sample) {
    const nothing = new Float32Array(sample.smiles.length * PROPERTIES.length).fill(NaN);
    this.#store.set({ sample, notice: "", values: nothing, has: null, ticked: new Set(), filter: { part: "", ranges: {}, by: "" } });
    this.#worker.measure(sample.smiles, (values) => {
      // The same array, more of which is known: a new one for those who watch.
      if (this.#store.state.sample === sample) this.#store.set({ values: values.subarray(0) });
    });
    this.#title.focus({ preventScroll: true });
  }

  #part = "";

  /**
   * Looks for a part; while that goes on, and where it cannot be read, all are shown.
   * @param {string} part
   */
  async #ask(part) {
    if (part === this.#part) return;
    this.#part = part;
    if (!part.trim()) {
      this.#filter.fault("");
      return this.#store.set({ has: null });
    }
    const told = await this.#worker.having(part);
    if (part !== this.#part) return;
    this.#filter.fault("fault" in told ? told.fault : "");
    this.#store.set({ has: "has" in told ? told.has : null });
  }

  /** @param {number} index */
  #caption(index) {
    const { values } = this.#store.state;
    const [weight, logp] = values.subarray(index * PROPERTIES.length);
    return Number.isNaN(weight) ? "" : `${weight.toFixed(0)} Da · logP ${logp.toFixed(1)}`;
  }

  /** The molecules that are meant: those that are ticked, or else those that are shown. */
  #meant() {
    const { ticked, order } = this.#store.state;
    return ticked.size ? [...ticked].toSorted((one, other) => one - other) : order;
  }

  #tools() {
    const button = (/** @type {string} */ text, /** @type {() => void} */ act) => {
      const made = make("button", { type: "button", className: "plain" }, text);
      made.addEventListener("click", act);
      return made;
    };
    this.#routes.addEventListener("click", () => {
      const { sample, ticked } = this.#store.state;
      const [index] = ticked;
      if (sample && index !== undefined) location.hash = planAddress(sample.smiles[index]);
    });
    this.#plan.addEventListener("click", () => {
      const { sample } = this.#store.state;
      if (!sample) return;
      cart.set({ smiles: this.#meant().map((index) => sample.smiles[index]), from: sample.id });
      location.hash = "#/batches/new";
    });
    return make("div", { className: "tools", role: "group", "aria-label": "Selection and export" },
      button("Tick those shown", () => this.#store.set({ ticked: new Set(this.#store.state.order) })),
      button("Tick none", () => this.#store.set({ ticked: new Set() })),
      button("SMILES", () => this.#take("smi", "chemical/x-daylight-smiles", (smiles) => `${smiles.join("\n")}\n`)),
      button("CSV", () => this.#take("csv", "text/csv", (smiles, rows) =>
        csvOf(["smiles", ...PROPERTIES.map(({ name }) => name)], rows.map((row, place) => [smiles[place], ...row])))),
      this.#routes, this.#plan);
  }

  /**
   * @param {string} ending
   * @param {string} type
   * @param {(smiles: string[], rows: (number | null)[][]) => string} write
   */
  #take(ending, type, write) {
    const { sample, values } = this.#store.state;
    if (!sample) return;
    const meant = this.#meant();
    const row = (/** @type {number} */ index) => [...values.subarray(index * PROPERTIES.length, (index + 1) * PROPERTIES.length)]
      .map((value) => (Number.isNaN(value) ? null : Number(value.toFixed(3))));
    saveFile(`${sample.id}.${ending}`, type, write(meant.map((index) => sample.smiles[index]), meant.map(row)));
  }
}

/** @type {import("../app/parts.js").Begin} */
export function begin(place, service) {
  const part = new SamplePart(place, service);
  return { show: (path) => part.show(path) };
}
