// @ts-check
// One batch: its progress, its actions and its plans.

import { why } from "../service/service.js";
import { ask, control, make, say } from "../shared/elements.js";
import { Notice } from "../shared/notice.js";
import { count, duration, several } from "../shared/numbers.js";
import { BatchPlans } from "./batch_plans.js";

/** @typedef {{pending: number, processing: number, completed: number, failed: number, cancelled: number, seconds_left: number | null}} Progress */
/** @typedef {{id: string, name: string | null, description: string | null, created_at: string, updated_at: string, plan_count: number, progress?: Progress}} Batch */

const EVERY = 2000;

export class BatchView {
  #service;
  #gone;
  #title = make("h2", { tabIndex: -1 });
  #counts = make("p", { className: "counts" });
  #bar = control("progress", { "aria-label": "Plans that have ended" });
  #left = make("p", { className: "quiet" });
  #notice = new Notice();
  #cancel = control("button", { type: "button", className: "plain" }, "Cancel remaining plans");
  #resume = control("button", { type: "button", className: "plain" }, "Resume");
  #delete = control("button", { type: "button", className: "plain" }, "Delete");
  #export = control("button", { type: "button", className: "plain" }, "CSV");
  #plans;
  #id = "";
  /** Which look counts: what an earlier one finds is of another batch. */
  #looks = 0;
  #timer = 0;
  /** @type {Promise<unknown>} */
  #reading = Promise.resolve();

  /**
   * @param {import("../service/service.js").Service} service
   * @param {() => void} gone called when the batch is deleted
   */
  constructor(service, gone) {
    this.#service = service;
    this.#gone = gone;
    this.#plans = new BatchPlans(service);
    const back = make("a", { href: "#/batches" }, "All batches");
    this.element = make("section", { className: "panel batch", "aria-label": "Batch", hidden: true }, make("p", {}, back),
      make("header", { className: "row apart" }, this.#title,
        make("div", { className: "tools", role: "group", "aria-label": "Change the batch" }, this.#export, this.#cancel, this.#resume, this.#delete)),
      this.#notice.element, make("div", { className: "going" }, this.#counts, this.#bar, this.#left), this.#plans.element);
    this.#export.addEventListener("click", () => this.#plans.take(this.#id));
    this.#cancel.addEventListener("click", () => this.#act("cancel"));
    this.#resume.addEventListener("click", () => this.#act("resume"));
    this.#delete.addEventListener("click", () => this.#remove());
    document.addEventListener("visibilitychange", () => this.#id && this.#look());
  }

  /** @param {string} id */
  show(id) {
    if (id !== this.#id) {
      say(this.#title, "");
      say(this.#counts, "");
      say(this.#left, "");
      this.#bar.hidden = true;
      for (const button of [this.#cancel, this.#resume, this.#delete, this.#export]) button.hidden = true;
    }
    this.#id = id;
    this.#plans.of(id);
    this.#look();
  }

  /** Nobody looks at it for now. */
  leave() {
    this.#looks += 1;
    clearTimeout(this.#timer);
    this.#plans.leave();
    if (this.element.hidden) this.#id = "";
  }

  /** Looks now, and again and again while there is something to come and the page is seen. */
  async #look() {
    const look = ++this.#looks;
    clearTimeout(this.#timer);
    if (document.hidden) return;
    try {
      const read = this.#service.get(this.#path());
      this.#reading = read;
      const batch = await read;
      if (look !== this.#looks) return;
      this.#show(batch);
      this.#notice.tell("");
      this.#plans.fresh(batch);
      if (isGoing(batch)) this.#timer = setTimeout(() => this.#look(), EVERY);
    } catch (fault) {
      if (look !== this.#looks) return;
      this.#notice.tell(why(fault));
      this.#timer = setTimeout(() => this.#look(), 4 * EVERY);
    }
  }

  #path() {
    return `/synth-batches/v1/batches/${encodeURIComponent(this.#id)}`;
  }

  /** @param {Batch} batch */
  #show(batch) {
    const { plan_count, progress } = batch;
    const { pending, processing, completed, failed, cancelled, seconds_left } = /** @type {Progress} */ (progress);
    say(this.#title, batch.name || several(plan_count, "molecule"));
    const parts = [[completed, "done"], [processing, "searching"], [pending, "waiting"], [failed, "failed"], [cancelled, "cancelled"]].filter(([many]) => Number(many) > 0);
    say(this.#counts, `${several(plan_count, "molecule")}: ${parts.map(([many, what]) => `${count(Number(many))} ${what}`).join(", ")}`);
    this.#bar.hidden = !isGoing(batch);
    this.#bar.max = plan_count;
    this.#bar.value = completed + failed + cancelled;
    say(this.#left, !isGoing(batch) ? "" : seconds_left === null ? "An estimate follows when the first plan has ended." : `About ${duration(seconds_left)} left`);
    this.#cancel.hidden = !isGoing(batch);
    this.#resume.hidden = cancelled === 0;
    this.#delete.hidden = this.#export.hidden = false;
  }

  /** @param {"cancel" | "resume"} act */
  async #act(act) {
    try {
      await this.#service.post(`${this.#path()}/${act}`);
      this.#look();
    } catch (fault) {
      this.#notice.tell(why(fault));
    }
  }

  async #remove() {
    const agreed = await ask({ title: "Delete this batch?", text: "Its plans and their results are deleted for good.", yes: "Delete it", no: "Keep it", grave: true });
    if (!agreed) return;
    // What is read of the batch just now would be missing.
    await this.#reading.catch(() => {});
    clearTimeout(this.#timer);
    try {
      await this.#service.remove(this.#path());
      this.#gone();
    } catch (fault) {
      this.#notice.tell(why(fault));
      this.#timer = setTimeout(() => this.#look(), 4 * EVERY);
    }
  }
}

/** @param {Batch} batch */
function isGoing({ progress }) {
  return progress !== undefined && progress.pending + progress.processing > 0;
}
