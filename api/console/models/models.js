// @ts-check
// The part "Models": generative models and search engines, each with its card.

import { element } from "../drawing/picture.js";
import { why } from "../service/service.js";
import { known, make } from "../shared/elements.js";
import { Notice } from "../shared/notice.js";
import { count, percent, significant } from "../shared/numbers.js";
import { describeSpread, shipped, spread } from "./model_card.js";

/** @typedef {import("./model_card.js").Model} Model */
/** @typedef {import("./model_card.js").Distribution} Distribution */

/** Shares of one, in the order in which they build on each other. @type {[keyof import("./model_card.js").Metrics & string, string, string][]} */
const SHARES = [
  ["validity", "Valid", "of the strings are molecules"],
  ["uniqueness", "Unique", "of the valid ones are distinct"],
  ["novelty", "New", "of those are not in the training set"],
  ["kl_score", "Similar", "likeness of nine properties to known molecules (GuacaMol's KL score)"],
  ["internal_diversity", "Diverse", "mean dissimilarity of two of them"],
];

/** @type {[string, string, string][]} */
const PROPERTIES = [
  ["molecular_weight", "Molecular weight", "Da"], ["crippen_logp", "logP", ""], ["polar_surface", "Polar surface", "Å²"], ["hydrogen_bond_acceptors", "H-bond acceptors", ""],
  ["hydrogen_bond_donors", "H-bond donors", ""], ["rotatable_bonds", "Rotatable bonds", ""], ["aliphatic_rings", "Aliphatic rings", ""], ["aromatic_rings", "Aromatic rings", ""],
  ["heavy_atoms", "Heavy atoms", ""], ["bertz_complexity", "Complexity (Bertz)", ""],
];

const WIDTH = 200;

/** @type {import("../app/parts.js").Begin} */
export function begin(place, service) {
  const notice = new Notice();
  const models = make("div", { className: "models" });
  const engines = make("div", { className: "panel" });
  place.append(notice.element, make("h2", {}, "Models that draw molecules"), models, make("h2", {}, "Engines that search for routes"), engines);

  async function look() {
    try {
      const [drawn, searched, vendors] = await Promise.all([service.get("/generator/v1/models"), service.get("/synth-batches/v1/engines"), service.get("/synth-batches/v1/libraries")]);
      models.replaceChildren(...cards(drawn.data));
      engines.replaceChildren(...searching(searched, vendors));
      notice.tell("");
    } catch (fault) {
      notice.tell(why(fault));
    }
  }
  return { show: look };
}

/** @param {Model[]} models */
function cards(models) {
  if (!models.length) return [make("p", { className: "none" }, "No sampler is running: nothing can be drawn.")];
  // One scale for all, so that models are compared by looking.
  const scales = new Map(PROPERTIES.map(([name]) => {
    const all = models.map((model) => shipped(model).properties?.[name]).filter((one) => one !== undefined);
    return [name, { low: Math.min(0, ...all.map(({ p05 }) => p05)), high: Math.max(1, ...all.map(({ p95 }) => p95)) }];
  }));
  return models.map((model) => card(model, scales));
}

/**
 * @param {Model} model
 * @param {Map<string, {low: number, high: number}>} scales
 */
function card(model, scales) {
  const metrics = shipped(model);
  const shares = SHARES.filter(([name]) => typeof metrics[name] === "number").map(([name, label, meaning]) => share(label, metrics[name], meaning));
  const lines = PROPERTIES.flatMap(([name, label, unit]) => {
    const of = metrics.properties?.[name];
    return of ? [property(label, unit, of, /** @type {{low: number, high: number}} */ (scales.get(name)))] : [];
  });
  return make("article", { className: "card", "aria-label": `Model ${model.id}` },
    make("header", {}, make("h3", {}, model.id), make("a", { className: "button plain", href: "#/sample" }, "Draw molecules")),
    make("p", {}, model.description), make("dl", { className: "known" }, ...known([
      ["Ready", `${count(model.molecules_ready)} molecules`], ["Network", model.architecture], ["Learned from", model.training_data], ["Made", model.created], ["Licence", model.licence],
      ["Measured of", metrics.n_strings ? `${count(metrics.n_strings)} strings, as the model ships` : ""],
    ])),
    ...(shares.length ? [make("h4", {}, "Shares"), make("dl", { className: "shares" }, ...shares)] : []),
    ...(lines.length ? [make("h4", {}, "Properties of its molecules"),
      make("p", { className: "quiet" }, "The line covers nine in ten molecules and its thick part the middle half; the mark is the median. All models have one scale."),
      make("dl", { className: "spreads" }, ...lines)]
      : [make("p", { className: "quiet" }, "Its card has no properties of its molecules.")]));
}

/**
 * @param {string} label
 * @param {number} value
 * @param {string} meaning
 */
function share(label, value, meaning) {
  const bar = element("svg", { class: "share", role: "img", "aria-label": `${label}: ${exactly(value)} ${meaning}`, viewBox: `0 0 ${WIDTH} 10`, preserveAspectRatio: "none" },
    element("rect", { class: "all", width: WIDTH, height: 10 }), element("rect", { class: "some", width: WIDTH * Math.min(1, Math.max(0, value)), height: 10 }));
  return make("div", { title: meaning }, make("dt", {}, label), make("dd", {}, bar, make("span", { className: "figure" }, exactly(value))));
}

/**
 * Shares near one differ in their decimals.
 * @param {number} value
 */
const exactly = (value) => (value > 0.9 && value < 1 ? `${(Math.floor(10000 * value) / 100).toFixed(2)} %` : percent(value));

/**
 * @param {string} label
 * @param {string} unit
 * @param {Distribution} of
 * @param {{low: number, high: number}} scale
 */
function property(label, unit, of, { low, high }) {
  const at = (/** @type {number} */ value) => 2 + (WIDTH - 4) * (value - low) / (high - low);
  const line = element("svg", { class: "property", role: "img", "aria-label": `${label}: ${describeSpread(of)}`, viewBox: `0 0 ${WIDTH} 12`, preserveAspectRatio: "none" },
    element("rect", { class: "all", y: 5, width: WIDTH, height: 2 }), spread(of, at, 1));
  return make("div", { title: describeSpread(of) }, make("dt", {}, label), make("dd", {}, line, make("span", { className: "figure" }, `${significant(of.p50)} ${unit}`.trim())));
}

/**
 * @param {{name: string, queue_length: number}[]} engines
 * @param {{name: string}[]} vendors
 */
function searching(engines, vendors) {
  const lines = engines.map(({ name, queue_length }) => make("li", {}, make("span", {}, name),
    make("span", { className: "amount" }, queue_length ? `${count(queue_length)} plans waiting or running` : "idle")));
  return [engines.length ? make("ul", { className: "levels_of" }, ...lines) : make("p", { className: "none" }, "No searcher is running: nothing can be planned."),
    make("p", { className: "quiet" }, vendors.length ? `They search the building blocks of ${vendors.map(({ name }) => name).join(", ")}.`
      : "The catalogue is empty.")];
}
