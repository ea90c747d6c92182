// @ts-check
// Actions on a part of a route: each adds a constraint for the next search, or makes a step by hand.

/** @typedef {import("../drawing/scheme_drawing.js").Chosen} Chosen */
/** @typedef {{label: string, act: () => void}} Act */
/**
 * @typedef {{ask: (setting: string, line: string, words: string) => void, remake: (smiles: string) => void, replace: (tree: import("../answer/answer.js").Tree) => void, vary: (smiles: string) => void, target: (smiles: string) => void}} Means
 * `ask`: asks it of routes from now on; `remake`: has a person choose precursors; `replace`: another block in place of one that is bought;
 * `vary`: a similar block in its place, which gives another product; `target`: finds routes to it
 */

/**
 * @param {Chosen} chosen
 * @param {Means} means
 * @returns {Act[]}
 */
export function actionsFor(chosen, means) {
  return chosen.kind === "step" ? withStep(chosen.tree, means) : withMolecule(chosen.tree, means);
}

/**
 * @param {import("../answer/answer.js").Tree} tree
 * @param {Means} means
 * @returns {Act[]}
 */
function withMolecule(tree, { ask, remake, replace, vary, target }) {
  const { data, step } = tree;
  const { smiles } = data;
  const other = { label: step ? "Make it another way …" : "Make it …", act: () => remake(smiles) };
  if (data.depth === 0) return [other];
  const acts = [
    { label: "Never use it", act: () => ask("molecules_never", smiles, `never ${smiles}`) },
    { label: "I have it", act: () => ask("building_blocks_own", smiles, `${smiles} is at hand`) },
    other,
  ];
  if (!step) acts.push({ label: "Analogues with similar blocks …", act: () => vary(smiles) });
  if (data.is_building_block) acts.push({ label: "Another block instead …", act: () => replace(tree) }, { label: "Always use it", act: () => ask("building_blocks_required", smiles, `always ${smiles}`) });
  else acts.push({ label: "Find routes to it", act: () => target(smiles) });
  return acts;
}

/**
 * @param {import("../answer/answer.js").Tree} tree
 * @param {Means} means
 * @returns {Act[]}
 */
function withStep({ data, step }, { ask, remake }) {
  const { template, reaction_class: name } = step?.edge ?? {};
  return [
    ...(template ? [{ label: "Never this step", act: () => ask("templates_never", template, `never step ${step?.number} (${name ?? "reaction"})`) }] : []),
    ...(name ? [
      { label: `Never ${name}`, act: () => ask("reaction_classes_never", name, `never ${name}`) },
      { label: `Always ${name}`, act: () => ask("reaction_classes_required", name, `always ${name}`) },
    ] : []),
    { label: "Another step instead …", act: () => remake(data.smiles) },
  ];
}
