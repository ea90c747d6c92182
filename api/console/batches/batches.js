// @ts-check
// The part "Batches": the list of them, the form for a new one (`#/batches/new`), and one of them (`#/batches/bat_1`).

import { PagedList } from "../service/paged_list.js";
import { make } from "../shared/elements.js";
import { count, several } from "../shared/numbers.js";
import { toast } from "../shared/toast.js";
import { BatchForm } from "./batch_form.js";
import { BatchView } from "./batch_view.js";

/** @typedef {import("./batch_view.js").Batch} Batch */

const BATCHES = "/synth-batches/v1/batches";
const PAGE = 20;

class BatchesPart {
  #list = make("ul", { className: "batches" });
  #none = make("p", { className: "none", hidden: true }, "No batch yet. Upload molecules, or tick some of a sample.");
  #index = make("section", { className: "panel", "aria-labelledby": "batches_title" });
  #form;
  #view;
  /** @type {PagedList<Batch>} */
  #batches;

  /**
   * @param {HTMLElement} place
   * @param {import("../service/service.js").Service} service
   */
  constructor(place, service) {
    this.#batches = new PagedList(service, BATCHES, PAGE, () => this.#draw());
    this.#form = new BatchForm(service, (batch) => {
      toast(`${several(batch.plan_count, "plan")} stored.`);
      location.hash = `#/batches/${batch.id}`;
    });
    this.#view = new BatchView(service, () => {
      toast("The batch is deleted.");
      location.hash = "#/batches";
    });
    const begin = make("a", { className: "button", href: "#/batches/new" }, "New batch");
    this.#index.append(make("header", { className: "row apart" }, make("h2", { id: "batches_title" }, "Batches"), begin), this.#batches.notice.element, this.#list, this.#none, this.#batches.more);
    place.append(this.#index, this.#form.element, this.#view.element);
  }

  /** @param {string[]} path */
  show([id]) {
    this.#index.hidden = Boolean(id);
    this.#form.element.hidden = id !== "new";
    this.#view.element.hidden = !id || id === "new";
    if (id === "new") this.#form.show();
    if (id && id !== "new") this.#view.show(id);
    else this.#view.leave();
    if (!id) this.#batches.fresh();
  }

  hide() {
    this.#view.leave();
  }

  #draw() {
    this.#list.replaceChildren(...this.#batches.items.map(line));
    this.#none.hidden = this.#batches.items.length > 0;
  }
}

/** @param {Batch} batch */
function line(batch) {
  const made = new Date(batch.created_at).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
  return make("li", {}, make("a", { href: `#/batches/${batch.id}` }, batch.name || several(batch.plan_count, "molecule")),
    make("span", { className: "quiet" }, `${count(batch.plan_count)} · ${made}`));
}

/** @type {import("../app/parts.js").Begin} */
export function begin(place, service) {
  const part = new BatchesPart(place, service);
  return { show: (path) => part.show(path), hide: () => part.hide() };
}
