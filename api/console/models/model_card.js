// @ts-check
// Figures of a model's card, and how distributions are drawn.

import { element } from "../drawing/picture.js";
import { percent, significant } from "../shared/numbers.js";

/** @typedef {{start: number, width: number, counts: number[]}} Bars of one width, from the left */
/** @typedef {{mean: number, standard_deviation: number, p05: number, p25: number, p50: number, p75: number, p95: number, likeness?: number, histogram?: Bars}} Distribution */
/** @typedef {{n_strings?: number, n_molecules?: number, validity?: number, uniqueness?: number, novelty?: number, kl_score?: number, properties?: Record<string, Distribution>, [other: string]: any}} Metrics */
/**
 * @typedef {{id: string, molecules_ready: number, description: string, created: string | null, architecture: string | null, training_data: string | null,
 *   licence: string | null, metrics: Record<string, Metrics>}} Model
 */

/** Conditions under which a model is used as it ships, the likeliest first; others are of interest to those who make models. */
const SHIPPED = ["as_shipped", "constrained_temperature_1"];
/** Figures that are of no conditions. */
const TRAINING_SET = "training_set";

/**
 * Measurements of a model's molecules, as it ships.
 * @param {Model | undefined} model
 * @returns {Metrics}
 */
export function shipped(model) {
  const metrics = model?.metrics ?? {};
  const others = Object.keys(metrics).filter((name) => name !== TRAINING_SET);
  return metrics[[...SHIPPED, ...others].find((name) => metrics[name]) ?? ""] ?? {};
}

/**
 * Measurements of the model's training set, by the console's code.
 * @param {Model | undefined} model
 * @returns {Metrics}
 */
export function learned(model) {
  return model?.metrics[TRAINING_SET] ?? {};
}

/**
 * A distribution as a line from 5 to 95 %, thick where the middle half lies, with its median.
 * @param {Distribution} of
 * @param {(value: number) => number} at where a value lies
 * @param {number} top
 */
export function spread({ p05, p25, p50, p75, p95 }, at, top) {
  const middle = top + 5;
  return element("g", { class: "spread" },
    element("line", { class: "reach", x1: at(p05), x2: at(p95), y1: middle, y2: middle }),
    element("line", { class: "half", x1: at(p25), x2: at(p75), y1: middle, y2: middle }),
    element("line", { class: "median", x1: at(p50), x2: at(p50), y1: top, y2: top + 10 }));
}

/**
 * A distribution in words.
 * @param {Distribution} of
 */
export function describeSpread({ p05, p50, p95, likeness }) {
  const alike = likeness === undefined ? "" : `; ${percent(likeness)} like known molecules`;
  return `median ${significant(p50)}, nine in ten from ${significant(p05)} to ${significant(p95)}${alike}`;
}
