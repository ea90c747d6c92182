// @ts-check
// The part "Batches": the lists of them, the form for new plans (`#/batches/new`), and one batch of plans (`#/batches/bat_1`) or of samples
// (`#/batches/sbt_1`).

import { PagedList } from "../service/paged_list.js";
import { make } from "../shared/elements.js";
import { several } from "../shared/numbers.js";
import { toast } from "../shared/toast.js";
import { BatchForm } from "./batch_form.js";
import { BatchView } from "./batch_view.js";
import { planBatches } from "./plan_batch.js";
import { sampleBatches } from "./sample_batch.js";

const PAGE = 20;

class BatchesPart {
  #lists;
  #form;
  #plans;
  #samples;

  /**
   * @param {HTMLElement} place
   * @param {import("../service/service.js").Service} service
   */
  constructor(place, service) {
    const gone = () => {
      toast("The batch is deleted.");
      location.hash = "#/batches";
    };
    const [plans, samples] = [planBatches(service), sampleBatches(service)];
    this.#lists = [
      batchList(service, plans, { heading: "Batches of plans", create: "New batch", href: "#/batches/new", none: "No batch yet. Upload molecules, or tick some of a sample." }),
      batchList(service, samples, { heading: "Sample batches", create: "New sample", href: "#/sample", none: "No sample batch yet. Draw more than 10,000 molecules." }),
    ];
    this.#form = new BatchForm(service, (batch) => {
      toast(`${several(batch.plan_count, "plan")} stored.`);
      location.hash = `#/batches/${batch.id}`;
    });
    this.#plans = new BatchView(service, plans, gone);
    this.#samples = new BatchView(service, samples, gone);
    place.append(...this.#lists.map(({ element }) => element), this.#form.element, this.#plans.element, this.#samples.element);
  }

  /** @param {string[]} path */
  show([id]) {
    const shown = !id || id === "new" ? null : id.startsWith("sbt_") ? this.#samples : this.#plans;
    for (const { element } of this.#lists) element.hidden = Boolean(id);
    this.#form.element.hidden = id !== "new";
    for (const view of [this.#plans, this.#samples]) {
      view.element.hidden = view !== shown;
      if (view !== shown) view.leave();
    }
    if (id === "new") this.#form.show();
    shown?.show(id);
    if (!id) for (const { batches } of this.#lists) batches.fresh();
  }

  hide() {
    for (const view of [this.#plans, this.#samples]) view.leave();
  }
}

/**
 * A panel with the batches of a kind, the newest first, and the way to a new one.
 * @template {{id: string, created_at: string}} Batch
 * @param {import("../service/service.js").Service} service
 * @param {import("./batch_view.js").Kind<Batch>} kind
 * @param {{heading: string, create: string, href: string, none: string}} words
 */
function batchList(service, kind, { heading, create, href, none }) {
  const list = make("ul", { className: "batches" });
  const empty = make("p", { className: "none", hidden: true }, none);
  /** @type {PagedList<Batch>} */
  const batches = new PagedList(service, kind.path, PAGE, () => {
    list.replaceChildren(...batches.items.map((batch) => line(kind, batch)));
    empty.hidden = batches.items.length > 0;
  });
  const element = make("section", { className: "panel", "aria-label": heading },
    make("header", { className: "row apart" }, make("h2", {}, heading), make("a", { className: "button", href }, create)), batches.notice.element, list, empty, batches.more);
  return { element, batches };
}

/**
 * @template {{id: string, created_at: string}} Batch
 * @param {import("./batch_view.js").Kind<Batch>} kind
 * @param {Batch} batch
 */
function line(kind, batch) {
  const made = new Date(batch.created_at).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
  return make("li", {}, make("a", { href: `#/batches/${batch.id}` }, kind.title(batch)), make("span", { className: "quiet" }, `${kind.about(batch)} · ${made}`));
}

/** @type {import("../app/parts.js").Begin} */
export function begin(place, service) {
  const part = new BatchesPart(place, service);
  return { show: (path) => part.show(path), hide: () => part.hide() };
}
