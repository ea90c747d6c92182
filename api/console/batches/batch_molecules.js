// @ts-check
// Molecules of a sample batch as they come, and why chunks have failed. All of them are read, page after page: a batch has 100,000 at most.

import { Gallery } from "../drawing/gallery.js";
import { control, keep, make, say } from "../shared/elements.js";
import { count, several } from "../shared/numbers.js";
import { saveFile } from "../shared/save_file.js";
import { toggled } from "../shared/store.js";
import { BatchPages } from "./batch_pages.js";
import { cart } from "./cart.js";

/** @typedef {{id: string, status: string, smiles: string[], error: string | null}} Chunk */

/** Path of sample batches. */
export const SAMPLE_BATCHES = "/generator/v1/sample-batches";
/** Chunks of a page, which has their molecules. */
const PAGE = 20;
/** Reasons that are told by themselves. */
const TOLD = 8;

export class BatchMolecules {
  /** @type {BatchPages<Chunk>} */
  #pages;
  #batch = "";
  #total = 0;
  /** Chunks from the first to the last. @type {Chunk[]} */
  #chunks = [];
  /** Molecules in the order in which they came, so that those that are ticked stay the same. @type {string[]} */
  #smiles = [];
  /** Where the molecules of a chunk begin, by its id. @type {Map<string, number>} */
  #starts = new Map();
  /** Which molecules are shown, those of the first chunk first. @type {number[]} */
  #order = [];
  /** @type {Set<number>} */
  #ticked = new Set();
  #reasons = make("ul", { className: "reasons" });
  #failed = make("div", { className: "faults", hidden: true }, this.#reasons);
  #known = make("p", { className: "quiet", role: "status" });
  #gallery = new Gallery("Molecules of the batch", (index) => {
    this.#ticked = toggled(this.#ticked, index);
    this.#show();
  });
  #samples = make("ul", { className: "before" });
  #parts = make("details", { hidden: true }, make("summary", {}, "Chunks, to filter and measure their molecules"), this.#samples);
  #export = control("button", { type: "button", className: "plain" }, "SMILES");
  #plan = control("button", { type: "button" }, "Plan as a batch");
  tools = [this.#export, this.#plan];

  /** @param {import("../service/service.js").Service} service */
  constructor(service) {
    // A chunk that has failed may be made after all: an operator can retry it.
    this.#pages = new BatchPages(service, PAGE, ({ status }) => status !== "completed", () => this.#take());
    this.element = make("div", { className: "molecules" }, this.#failed, this.#known, this.#gallery.element, this.#parts);
    this.#export.addEventListener("click", () => saveFile(`${this.#batch}.smi`, "chemical/x-daylight-smiles", this.#meant().map((smiles) => `${smiles}\n`).join("")));
    this.#plan.addEventListener("click", () => {
      cart.set({ smiles: this.#meant(), from: this.#batch });
      location.hash = "#/batches/new";
    });
  }

  /** @param {string} batch */
  of(batch) {
    if (batch === this.#batch) return;
    this.#batch = batch;
    this.#pages.of(`${SAMPLE_BATCHES}/${encodeURIComponent(batch)}/samples`);
    this.#smiles = [];
    this.#starts = new Map();
    this.#ticked = new Set();
    this.#total = 0;
    this.#take();
  }

  leave() {
    this.#pages.leave();
  }

  /** @param {import("./sample_batch.js").SampleBatch} batch */
  fresh({ size, completed_chunks, failed_chunks }) {
    this.#total = size;
    this.#pages.fresh(completed_chunks + failed_chunks);
  }

  /** Takes over what the pages have by now. */
  #take() {
    this.#chunks = this.#pages.items.toReversed();
    for (const { id, smiles } of this.#chunks) {
      if (!smiles.length || this.#starts.has(id)) continue;
      this.#starts.set(id, this.#smiles.length);
      this.#smiles.push(...smiles);
    }
    this.#order = this.#chunks.flatMap(({ id, smiles }) => smiles.map((_, place) => (this.#starts.get(id) ?? 0) + place));
    this.#show();
  }

  #show() {
    const made = this.#chunks.map((chunk, place) => ({ ...chunk, nth: place + 1 })).filter(({ smiles }) => smiles.length);
    const reasons = reasonsOf(this.#chunks);
    const lines = reasons.slice(0, TOLD);
    if (reasons.length > TOLD) lines.push(`and ${count(reasons.length - TOLD)} more reasons`);
    this.#failed.hidden = lines.length === 0;
    keep(this.#reasons, lines, (line) => line, (line) => make("li", {}, line), () => {});
    this.#gallery.element.hidden = this.#export.disabled = this.#plan.disabled = this.#order.length === 0;
    this.#gallery.show({ smiles: this.#smiles, order: this.#order, ticked: this.#ticked, caption: () => "" });
    this.#parts.hidden = made.length === 0;
    keep(this.#samples, made, ({ id }) => id,
      ({ id, nth, smiles }) => make("li", {}, make("a", { href: `#/sample/${id}` }, `Chunk ${count(nth)}`), `: ${several(smiles.length, "molecule")}`), () => {});
    const here = this.#order.length < this.#total ? `${count(this.#order.length)} of ${several(this.#total, "molecule")} are here` : "";
    say(this.#known, this.#total ? [here, this.#ticked.size ? `${count(this.#ticked.size)} ticked` : ""].filter(Boolean).join(" · ") : "");
    say(this.#plan, this.#ticked.size ? `Plan ${count(this.#ticked.size)} ticked` : "Plan as a batch");
  }

  /** The molecules that are meant: those that are ticked, or else all that are here. */
  #meant() {
    const meant = this.#ticked.size ? this.#order.filter((index) => this.#ticked.has(index)) : this.#order;
    return meant.map((index) => this.#smiles[index]);
  }
}

/**
 * Why chunks have failed, each reason once with the number of its chunks.
 * @param {Chunk[]} chunks
 */
export function reasonsOf(chunks) {
  const failed = chunks.filter(({ status }) => status === "failed");
  return [...Map.groupBy(failed, ({ error }) => error ?? "no reason is known")].map(([reason, { length }]) => `${several(length, "chunk")} failed: ${reason}`);
}
