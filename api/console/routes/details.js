// @ts-check
// Details of the chosen step or molecule.

import { leadTime } from "../answer/answer.js";
import { framed, picture } from "../drawing/picture.js";
import { known, make } from "../shared/elements.js";
import { amount, count, days, dollars, percent, several } from "../shared/numbers.js";

/** @typedef {import("../answer/answer.js").Tree} Tree */
/** @typedef {import("../answer/answer.js").Offer} Offer */
/** @typedef {import("../answer/answer.js").Step} Step */

/**
 * @param {import("../drawing/scheme_drawing.js").Chosen} chosen
 * @param {{offers: Map<number, Offer[]>, shipsTo: string | null}} known
 * @returns {Node[]}
 */
export function details(chosen, { offers, shipsTo }) {
  const { tree } = chosen;
  if (chosen.kind === "step" && tree.step) return aboutStep(tree, tree.step);
  const { building_block_idx } = tree.data;
  return aboutMolecule(tree, building_block_idx === null ? [] : offers.get(building_block_idx) ?? [], shipsTo);
}

/**
 * @param {Tree} tree
 * @param {Step} step
 */
function aboutStep(tree, { number, edge, precursors }) {
  const reaction = `${precursors.map((one) => one.data.smiles).join(".")}>>${tree.data.smiles}`;
  const nodes = [make("h3", {}, `Step ${number}: ${edge.reaction_class ?? "reaction"}`)];
  if (edge.needs) nodes.push(make("p", {}, `Needs: ${edge.needs}`));
  for (const warning of edge.warnings ?? []) nodes.push(make("p", { className: "warning" }, warning));
  const { conditions } = edge;
  nodes.push(make("dl", { className: "known" }, ...known([
    ["Kind", edge.reaction_category],
    ["Plausibility", edge.plausibility === undefined ? "" : percent(edge.plausibility)],
    ["Probability", edge.probability === undefined ? "" : percent(edge.probability)],
    ["Precedents", precedents(edge)],
    ["Patents", (edge.patents ?? []).join(", ")],
    ["Catalysts", conditions && named(conditions.catalysts)],
    ["Reagents", conditions && named(conditions.reagents)],
    ["Solvents", conditions && named(conditions.solvents)],
  ])), written("Reaction", reaction));
  if (edge.template) nodes.push(written("Template", edge.template));
  return nodes;
}

/** @param {import("../answer/answer.js").GraphEdge} edge */
function precedents({ precedents, precedent_similarity }) {
  if (precedents === undefined) return "";
  if (precedents === 0) return "none recorded; the template was written by hand";
  const near = precedent_similarity === null || precedent_similarity === undefined ? "" : `; the nearest product is ${percent(precedent_similarity)} similar`;
  return `${several(precedents, "reaction")}${near}`;
}

/**
 * Names with how many recorded reactions used them, the commonest first; textbooks give the others.
 * @param {Record<string, number>} used
 */
function named(used) {
  return Object.entries(used).sort(([, one], [, other]) => other - one).map(([name, times]) => times > 0 ? `${name} (${count(times)})` : `${name} (textbook)`).join(", ");
}

/**
 * @param {Tree} tree
 * @param {Offer[]} offers
 * @param {string | null} shipsTo
 */
function aboutMolecule({ data, step }, offers, shipsTo) {
  const what = data.is_building_block ? "Building block" : data.depth === 0 ? "Target" : "Intermediate";
  const nodes = [
    make("h3", {}, what),
    make("div", { className: "large" }, framed(picture(data.smiles), 320, 220, data.smiles)),
    make("dl", { className: "known" }, ...known([
      ["Molecular weight", `${data.mw.toFixed(2)} Da`],
      ["Made by", step ? `step ${step.number}, ${step.edge.reaction_class ?? "reaction"}` : ""],
      ["Most similar block", data.is_building_block || data.closest_building_block === null ? "" : `${percent(data.closest_building_block)} similar`],
    ])),
    written("SMILES", data.smiles),
  ];
  if (offers.length) nodes.push(offerTable(offers, shipsTo));
  return nodes;
}

/**
 * @param {Offer[]} offers
 * @param {string | null} shipsTo
 */
function offerTable(offers, shipsTo) {
  const rows = offers.map((offer) => make("tr", {},
    make("td", {}, make("span", { className: "two" }, make("span", { className: "first" }, offer.vendor_name), make("span", { className: "second" }, entry(offer)))),
    make("td", {}, amount(offer.pack, offer.uom)),
    make("td", {}, make("span", { className: "two" }, make("span", { className: "first" }, offer.price_usd === null ? "–" : dollars(offer.price_usd)),
      make("span", { className: "second" }, offer.normalised_usd === null ? "" : `${dollars(offer.normalised_usd)}/g`))),
    make("td", {}, days(leadTime(offer, shipsTo)))));
  const head = ["Vendor", "Pack", "Price", "Lead time"].map((name) => make("th", { scope: "col" }, name));
  return make("div", { className: "wide", tabIndex: 0, role: "region", "aria-label": "Offers" },
    make("table", { className: "small" }, make("caption", {}, several(offers.length, "offer")), make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...rows)));
}

/**
 * The vendor's entry, which is a link where it leads to a page.
 * @param {Offer} offer
 */
export function entry({ cs_id, cs_url }) {
  if (!/^https?:\/\//i.test(cs_url)) return cs_id;
  return make("a", { href: cs_url, rel: "noreferrer noopener", target: "_blank" }, cs_id);
}

/**
 * A text to be taken away.
 * @param {string} name
 * @param {string} text
 */
function written(name, text) {
  const copy = make("button", { type: "button", className: "plain brief", "aria-label": `Copy ${name}` }, "Copy");
  copy.addEventListener("click", async () => {
    await navigator.clipboard.writeText(text);
    copy.textContent = "Copied";
  });
  return make("p", { className: "written" }, make("span", { className: "quiet" }, name), make("code", {}, text), copy);
}
