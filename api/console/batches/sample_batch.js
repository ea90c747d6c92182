// @ts-check
// Sample batches: how the list and the view show one. The service makes one in chunks, each of which is a sample.

import { several } from "../shared/numbers.js";
import { BatchMolecules, SAMPLE_BATCHES } from "./batch_molecules.js";

/** @typedef {{id: string, model_id: string | null, size: number, chunk_count: number, status: string, completed_chunks: number, failed_chunks: number, created_at: string}} SampleBatch */

/**
 * @param {import("../service/service.js").Service} service
 * @returns {import("./batch_view.js").Kind<SampleBatch>}
 */
export function sampleBatches(service) {
  return {
    path: SAMPLE_BATCHES,
    label: "Sample batch",
    title: ({ size }) => several(size, "molecule"),
    about: (batch) => `${made(batch)} · ${STATES[batch.status] ?? batch.status}`,
    standing,
    cancel: "Cancel remaining chunks",
    cancelling: "Chunks that are made stay. The others are never made: a sample batch cannot be resumed.",
    deleting: "Its molecules and their samples are deleted for good.",
    contents: new BatchMolecules(service),
  };
}

/** @type {Record<string, string>} */
const STATES = { pending: "waiting", processing: "drawing", completed: "done", failed: "incomplete" };

/** @param {SampleBatch} batch */
const made = ({ model_id }) => model_id ?? "any model";

/**
 * @param {SampleBatch} batch
 * @returns {import("./batch_view.js").Standing}
 */
export function standing(batch) {
  const { chunk_count, completed_chunks, failed_chunks, status } = batch;
  const ended = completed_chunks + failed_chunks;
  return {
    all: [chunk_count, "chunk"],
    parts: [[completed_chunks, "done"], [chunk_count - ended, "to come"], [failed_chunks, "failed"]],
    ended,
    isGoing: status === "pending" || status === "processing",
    mayResume: false,
    note: `of ${made(batch)}`,
  };
}
