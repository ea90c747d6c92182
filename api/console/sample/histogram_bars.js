// @ts-check
// The bars of a histogram: range, width and heights.

/** @typedef {import("../models/model_card.js").Distribution} Distribution */

const MOST_BARS = 24;

/**
 * The range of a histogram and its number of bars. The outermost half per cent of either end is left out, so that one strange molecule does not press
 * the rest together.
 * @param {Float32Array} values
 * @param {Distribution | undefined} known
 * @param {boolean} areWhole
 */
export function boundsOf(values, known, areWhole) {
  const ordered = values.toSorted();
  const share = (/** @type {number} */ of) => ordered[Math.floor(of * (ordered.length - 1))] ?? 0;
  const low = Math.min(share(0.005), known?.p05 ?? Infinity);
  const high = Math.max(share(0.995), known?.p95 ?? -Infinity);
  if (areWhole) {
    const bars = Math.min(MOST_BARS, Math.round(high) - Math.floor(low) + 1);
    return { low: Math.floor(low) - .5, high: Math.floor(low) - .5 + bars, bars };
  }
  return { low, high: high > low ? high : low + 1, bars: MOST_BARS };
}

/**
 * The number of values in each bar. Values beyond the range count in the bars at its ends.
 * @param {Float32Array} values
 * @param {{low: number, high: number, bars: number}} bounds
 */
export function counted(values, { low, high, bars }) {
  const counts = Array(bars).fill(0);
  for (const value of values) counts[Math.min(bars - 1, Math.max(0, Math.floor((bars * (value - low)) / (high - low))))] += 1;
  return counts;
}

/**
 * The bars of known molecules, each as many as there would be of a sample in a bar that stands for `share`.
 * @param {import("../models/model_card.js").Bars} bars
 * @param {number} share molecules of the sample times the width of its bars
 */
export function outline({ start, width, counts }, share) {
  const all = counts.reduce((sum, many) => sum + many, 0);
  // Cards are written by anybody.
  if (!(all * width > 0)) return [];
  return counts.map((many, index) => ({ from: start + index * width, to: start + (index + 1) * width, many: (many * share) / (all * width) }));
}

/**
 * The upper median of values; undefined where there are none.
 * @param {Float32Array} values
 */
export function median(values) {
  return values.toSorted()[Math.floor(values.length / 2)];
}
