// @ts-check
// One batch of a kind: its progress, its actions and what it contains.

import { why } from "../service/service.js";
import { ask, control, make, say } from "../shared/elements.js";
import { Notice } from "../shared/notice.js";
import { count, several } from "../shared/numbers.js";
import { toast } from "../shared/toast.js";

/**
 * How a batch stands: of `all` things, how many are done, waiting and so on.
 * @typedef {{all: [number, string], parts: [number, string][], ended: number, isGoing: boolean, mayResume: boolean, note: string}} Standing
 */
/**
 * What a batch contains. `of` names the batch, `fresh` looks at what is another by now, `leave` stops that; `tools` take things away from the page.
 * @template Batch
 * @typedef {{element: HTMLElement, tools: HTMLElement[], of: (id: string) => void, fresh: (batch: Batch) => void, leave: () => void}} Contents
 */
/**
 * A kind of batches. `about` are the words beside the title in a list, `cancel` those of the button; `cancelling` is said before something is cancelled for
 * good, and `deleting` before a batch is deleted.
 * @template Batch
 * @typedef {{path: string, label: string, title: (batch: Batch) => string, about: (batch: Batch) => string, standing: (batch: Batch) => Standing,
 *   cancel: string, cancelling?: string, deleting: string, contents: Contents<Batch>}} Kind
 */

const EVERY = 2000;

/**
 * @template Batch
 */
export class BatchView {
  #service;
  #kind;
  #gone;
  #title = make("h2", { tabIndex: -1 });
  #counts = make("p", { className: "counts" });
  #bar = control("progress", { "aria-label": "Progress of the batch" });
  #note = make("p", { className: "quiet" });
  #notice = new Notice();
  #cancel;
  #resume = control("button", { type: "button", className: "plain" }, "Resume");
  #delete = control("button", { type: "button", className: "plain" }, "Delete");
  #id = "";
  #wasGoing = false;
  /** Which look counts: what an earlier one finds is of another batch. */
  #looks = 0;
  #timer = 0;
  /** @type {Promise<unknown>} */
  #reading = Promise.resolve();

  /**
   * @param {import("../service/service.js").Service} service
   * @param {Kind<Batch>} kind
   * @param {() => void} gone called when the batch is deleted
   */
  constructor(service, kind, gone) {
    this.#service = service;
    this.#kind = kind;
    this.#gone = gone;
    this.#cancel = control("button", { type: "button", className: "plain" }, kind.cancel);
    const back = make("a", { href: "#/batches" }, "All batches");
    this.element = make("section", { className: "panel batch", "aria-label": kind.label, hidden: true }, make("p", {}, back),
      make("header", { className: "row apart" }, this.#title,
        make("div", { className: "tools", role: "group", "aria-label": "Change the batch" }, ...kind.contents.tools, this.#cancel, this.#resume, this.#delete)),
      this.#notice.element, make("div", { className: "going" }, this.#counts, this.#bar, this.#note), kind.contents.element);
    this.#cancel.addEventListener("click", () => this.#stop());
    this.#resume.addEventListener("click", () => this.#act("resume"));
    this.#delete.addEventListener("click", () => this.#remove());
    document.addEventListener("visibilitychange", () => this.#id && this.#look());
  }

  /** @param {string} id */
  show(id) {
    if (id !== this.#id) {
      say(this.#title, "");
      say(this.#counts, "");
      say(this.#note, "");
      this.#bar.hidden = true;
      for (const button of [this.#cancel, this.#resume, this.#delete, ...this.#kind.contents.tools]) button.hidden = true;
      this.#wasGoing = false;
    }
    this.#id = id;
    this.#kind.contents.of(id);
    this.#look();
  }

  /** Nobody looks at it for now. */
  leave() {
    this.#looks += 1;
    clearTimeout(this.#timer);
    this.#kind.contents.leave();
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
      this.#kind.contents.fresh(batch);
      if (this.#wasGoing) this.#timer = setTimeout(() => this.#look(), EVERY);
    } catch (fault) {
      if (look !== this.#looks) return;
      this.#notice.tell(why(fault));
      this.#timer = setTimeout(() => this.#look(), 4 * EVERY);
    }
  }

  #path() {
    return `${this.#kind.path}/${encodeURIComponent(this.#id)}`;
  }

  /** @param {Batch} batch */
  #show(batch) {
    const { all: [many, one], parts, ended, isGoing, mayResume, note } = this.#kind.standing(batch);
    say(this.#title, this.#kind.title(batch));
    const some = parts.filter(([many]) => many > 0).map(([many, what]) => `${count(many)} ${what}`);
    say(this.#counts, `${several(many, one)}: ${some.join(", ")}`);
    this.#bar.hidden = !isGoing;
    this.#bar.max = many;
    this.#bar.value = ended;
    say(this.#note, note);
    this.#cancel.hidden = !isGoing;
    this.#resume.hidden = !mayResume;
    for (const button of [this.#delete, ...this.#kind.contents.tools]) button.hidden = false;
    if (this.#wasGoing && !isGoing) toast("The batch has ended.");
    this.#wasGoing = isGoing;
  }

  async #stop() {
    const { cancel, cancelling } = this.#kind;
    if (cancelling && !(await ask({ title: `${cancel}?`, text: cancelling, yes: "Cancel them", no: "Go on", grave: true }))) return;
    this.#act("cancel");
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
    const agreed = await ask({ title: "Delete this batch?", text: this.#kind.deleting, yes: "Delete it", no: "Keep it", grave: true });
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
