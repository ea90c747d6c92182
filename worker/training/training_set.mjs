// How the console's properties are distributed over molecules: SMILES come on standard input, one a line; JSON goes to standard output.
// `training_set.py` calls it. Node 20 or newer.

import { createInterface } from "node:readline";
import { descriptors, read } from "../../api/console/molecules/descriptors.js";
import { PROPERTIES } from "../../api/console/molecules/properties.js";

/** Widths of bars; whole numbers have a bar each, and stand in its middle. */
const WIDTHS = { molecular_weight: 10, logp: 0.25, polar_surface: 5 };
/** The share of molecules that may lie beyond either end; they count in the bar there. */
const BEYOND = 0.0005;
const SHARES = { p05: 0.05, p25: 0.25, p50: 0.5, p75: 0.75, p95: 0.95 };

const rounded = (value) => Math.round(value * 1e4) / 1e4;

/** Between two molecules in proportion, as numpy has it. */
function percentile(sorted, share) {
  const place = share * (sorted.length - 1);
  const below = sorted[Math.floor(place)];
  return below + (sorted[Math.ceil(place)] - below) * (place % 1);
}

function histogram(sorted, name) {
  const width = WIDTHS[name] ?? 1;
  const [first, last] = [BEYOND, 1 - BEYOND].map((share) => Math.floor(sorted[Math.round(share * (sorted.length - 1))] / width));
  const counts = Array(last - first + 1).fill(0);
  for (const value of sorted) counts[Math.min(counts.length - 1, Math.max(0, Math.floor(value / width) - first))] += 1;
  return { start: first * width - (name in WIDTHS ? 0 : width / 2), width, counts };
}

function distribution(values, name) {
  const sorted = values.toSorted();
  const mean = sorted.reduce((sum, value) => sum + value, 0) / sorted.length;
  const variance = sorted.reduce((sum, value) => sum + (value - mean) ** 2, 0) / sorted.length;
  const shares = Object.fromEntries(Object.entries(SHARES).map(([name, share]) => [name, rounded(percentile(sorted, share))]));
  return { mean: rounded(mean), standard_deviation: rounded(Math.sqrt(variance)), ...shares, histogram: histogram(sorted, name) };
}

const rows = PROPERTIES.map(() => []);
for await (const smiles of createInterface({ input: process.stdin })) {
  const molecule = read(smiles);
  if (molecule) descriptors(molecule).forEach((value, place) => rows[place].push(value));
}
const properties = PROPERTIES.map(({ name }, place) => [name, distribution(Float64Array.from(rows[place]), name)]);
console.log(JSON.stringify({ n_molecules: rows[0].length, properties: Object.fromEntries(properties) }));
