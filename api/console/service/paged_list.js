// @ts-check
// A list of the service that is read page by page, the newest items first.

import { make } from "../shared/elements.js";
import { Notice } from "../shared/notice.js";
import { why } from "./service.js";

/** Names that the lists of samples and those of plans have for the same things. */
const OF_SAMPLES = { items: "data", hasMore: "has_more", after: "next-page" };
const OF_PLANS = { items: "items", hasMore: "has_next", after: "starting_after" };

/**
 * A page of the list at `path`: items older than the one with the id `after`, or the newest ones if that is empty.
 * @param {import("./service.js").Service} service
 * @param {string} path
 * @param {number} size
 * @param {string} after
 * @returns {Promise<{items: any[], hasMore: boolean}>}
 */
export async function readPage(service, path, size, after) {
  const names = path.startsWith("/generator/") ? OF_SAMPLES : OF_PLANS;
  const page = await service.get(`${path}?limit=${size}${after && `&${names.after}=${after}`}`);
  return { items: page[names.items], hasMore: page[names.hasMore] };
}

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
    try {
      const { items, hasMore } = await readPage(this.#service, this.#path, this.#size, this.items.at(-1)?.id ?? "");
      // Another look has been quicker.
      if (look !== this.#looks) return;
      this.items = [...this.items, ...items];
      this.more.hidden = !hasMore;
      this.notice.tell("");
      this.#changed();
    } catch (fault) {
      this.notice.tell(why(fault));
    }
  }
}
