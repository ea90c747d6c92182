// @ts-check
// The part "Batches": the list of them, the form for a new one (`#/batches/new`), and one of them (`#/batches/bat_1`).

import { BatchForm } from "./batch_form.js";
import { BatchView } from "./batch_view.js";
import { count, make } from "./elements.js";
import { Notice } from "./notice.js";
import { why } from "./service.js";
import { toast } from "./toast.js";
import { several } from "./words.js";

/** @typedef {import("./batch_view.js").Batch} Batch */

const BATCHES = "/synth-batches/v1/batches";
const PAGE = 20;

class BatchesPart {
  #service;
  #list = make("ul", { className: "batches" });
  #more = make("button", { type: "button", className: "plain", hidden: true }, "Older ones");
  #notice = new Notice();
  #none = make("p", { className: "none", hidden: true }, "No batch yet. Upload molecules, or tick some of a sample.");
  #index = make("section", { className: "panel", "aria-labelledby": "batches_title" });
  #form;
  #view;
  /** The last one that is in the list. */
  #last = "";

  /**
   * @param {HTMLElement} place
   * @param {import("./service.js").Service} service
   */
  constructor(place, service) {
    this.#service = service;
    this.#form = new BatchForm(service, (batch) => {
      toast(`${several(batch.plan_count, "plan")} stored.`);
      location.hash = `#/batches/${batch.id}`;
    });
    this.#view = new BatchView(service, () => {
      toast("The batch is deleted.");
      location.hash = "#/batches";
    });
    const begin = make("a", { className: "button", href: "#/batches/new" }, "New batch");
    this.#index.append(make("header", { className: "row apart" }, make("h2", { id: "batches_title" }, "Batches"), begin), this.#notice.element, this.#list, this.#none, this.#more);
    this.#more.addEventListener("click", () => this.#older());
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
    if (!id) this.#fresh();
  }

  hide() {
    this.#view.leave();
  }

  #fresh() {
    this.#list.replaceChildren();
    this.#last = "";
    return this.#older();
  }

  async #older() {
    const from = this.#last;
    try {
      const page = await this.#service.get(`${BATCHES}?limit=${PAGE}${from ? `&starting_after=${from}` : ""}`);
      // Another look has been quicker.
      if (from !== this.#last) return;
      this.#list.append(...page.items.map(line));
      this.#last = page.items.at(-1)?.id ?? from;
      this.#more.hidden = !page.has_next;
      this.#none.hidden = this.#list.childElementCount > 0;
      this.#notice.tell("");
    } catch (fault) {
      this.#notice.tell(why(fault));
    }
  }
}

/** @param {Batch} batch */
function line(batch) {
  const made = new Date(batch.created_at).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
  return make("li", {}, make("a", { href: `#/batches/${batch.id}` }, batch.name || several(batch.plan_count, "molecule")),
    make("span", { className: "quiet" }, `${count(batch.plan_count)} · ${made}`));
}

/** @type {import("./parts.js").Begin} */
export function begin(place, service) {
  const part = new BatchesPart(place, service);
  return { show: (path) => part.show(path), hide: () => part.hide() };
}
