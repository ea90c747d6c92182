// @ts-check
// All items of a batch, the last ones first, as the service lists them. Pages are read one after the other. Those with items that may change are read
// again while the batch runs.

import { readPage } from "../service/paged_list.js";

/** Between two calls of `changed` while pages come one after the other, milliseconds. */
const PAUSE = 300;

/**
 * @template {{id: string, status: string}} Item
 */
export class BatchPages {
  /** True once every page has been read. */
  isWhole = false;
  #service;
  #size;
  #mayChange;
  #changed;
  #path = "";
  /** The cursors of the pages, each the item before its first one, and what was last seen of each. @type {{from: string, items: Item[]}[]} */
  #pages = [];
  /** Which turn counts. */
  #turn = 0;
  #isLooking = false;
  /** Time of the last call of `changed`. */
  #shown = 0;

  /**
   * @param {import("../service/service.js").Service} service
   * @param {number} size of a page
   * @param {(item: Item) => boolean} mayChange false for items that stay as they are
   * @param {() => void} changed called when more is known
   */
  constructor(service, size, mayChange, changed) {
    this.#service = service;
    this.#size = size;
    this.#mayChange = mayChange;
    this.#changed = changed;
  }

  /** @returns {Item[]} the items that were read so far, the last ones first */
  get items() {
    return this.#pages.flatMap(({ items }) => items);
  }

  /**
   * Begins anew with the list at `path`.
   * @param {string} path
   */
  of(path) {
    this.leave();
    this.#path = path;
    this.#pages = [];
    this.isWhole = false;
  }

  leave() {
    this.#turn += 1;
    this.#isLooking = false;
  }

  /**
   * Looks at what is another by now. Work goes from the first item to the last, and the pages the other way: those at the end are looked at until as
   * many items have ended as the batch says; where fewer have, it was resumed, and any may be another.
   * @param {number} ended items of the batch that have ended
   */
  async fresh(ended) {
    if (this.#isLooking) return;
    this.#isLooking = true;
    const turn = this.#turn;
    try {
      const known = this.#pages.reduce((sum, { items }) => sum + endedOf(items), 0);
      for (let missing = ended < known ? Infinity : ended - known, at = this.#pages.length - 1; at >= 0 && missing > 0; at--) {
        const page = this.#pages[at];
        if (!page.items.some(this.#mayChange)) continue;
        const { items } = await this.#read(page.from);
        if (turn !== this.#turn) return;
        missing -= endedOf(items) - endedOf(page.items);
        page.items = items.map((item, index) => sameOr(page.items[index], item));
        this.#showNowAndThen();
      }
      while (!this.isWhole) {
        const from = this.#pages.at(-1)?.items.at(-1)?.id ?? "";
        const { items, hasMore } = await this.#read(from);
        if (turn !== this.#turn) return;
        this.#pages.push({ from, items });
        this.isWhole = !hasMore;
        this.#showNowAndThen();
      }
    } catch {
      // The items stay; the next poll of the batch reads these again.
    } finally {
      if (turn === this.#turn) {
        this.#isLooking = false;
        this.#changed();
      }
    }
  }

  /** @param {string} from */
  #read(from) {
    return readPage(this.#service, this.#path, this.#size, from);
  }

  /** Not more often than is pleasant: a hundred thousand items take a while to be shown. */
  #showNowAndThen() {
    if (performance.now() - this.#shown <= PAUSE) return;
    this.#shown = performance.now();
    this.#changed();
  }
}

/** @param {{status: string}[]} items */
const endedOf = (items) => items.filter(({ status }) => status !== "pending" && status !== "processing").length;

/**
 * Keeps the object of an unchanged item, so that what shows it stays, with the focus.
 * @template Item
 * @param {Item | undefined} old
 * @param {Item} item
 */
const sameOr = (old, item) => (old && JSON.stringify(old) === JSON.stringify(item) ? old : item);
