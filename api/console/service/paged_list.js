// @ts-check
// A list of the service that is read page by page, the newest items first.

import { make } from "../shared/elements.js";
import { Notice } from "../shared/notice.js";
import { why } from "./service.js";

/**
 * @template {{id: string}} Item
 */
export class PagedList {
  /** Items that were read so far. @type {Item[]} */
  items = [];
  more = make("button", { type: "button", className: "plain", hidden: true }, "Older ones");
  notice = new Notice();
  #service;
  #path;
  #size;
  #changed;
  /** Which look counts. */
  #looks = 0;

  /**
   * @param {import("./service.js").Service} service
   * @param {string} path
   * @param {number} size of a page
   * @param {() => void} changed called when more is known
   */
  constructor(service, path, size, changed) {
    this.#service = service;
    this.#path = path;
    this.#size = size;
    this.#changed = changed;
    this.more.addEventListener("click", () => this.#older());
  }

  /** Reads it from its beginning. */
  fresh() {
    this.items = [];
    return this.#older();
  }

  async #older() {
    const look = ++this.#looks;
    const last = this.items.at(-1)?.id;
    try {
      const page = await this.#service.get(`${this.#path}?limit=${this.#size}${last ? `&starting_after=${last}` : ""}`);
      // Another look has been quicker.
      if (look !== this.#looks) return;
      this.items = [...this.items, ...page.items];
      this.more.hidden = !page.has_next;
      this.notice.tell("");
      this.#changed();
    } catch (fault) {
      this.notice.tell(why(fault));
    }
  }
}
