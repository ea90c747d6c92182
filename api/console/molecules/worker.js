// @ts-check
// Worker of `molecule_worker.js`: reads molecules, and measures them in portions, so that a question in between is answered soon.

import { SmilesParser, SSSearcher } from "../vendor/openchemlib/openchemlib.js";
import { descriptors, read } from "./descriptors.js";
import { readMolecules } from "./molecule_text.js";
import { PROPERTIES } from "./properties.js";

const AT_ONCE = 200;
const UNKNOWN = PROPERTIES.map(() => NaN);

/** The texts that are measured, and the molecules that were read so far; null for an invalid one. */
let texts = /** @type {string[]} */ ([]);
let known = /** @type {(import("../vendor/openchemlib/openchemlib.js").Molecule | null)[]} */ ([]);
/** Which question they are of: what is left of an earlier one is given up. */
let current = 0;

addEventListener("message", ({ data }) => {
  if (data.molecules) measure(data.asked, data.molecules);
  else if (data.part !== undefined) postMessage({ asked: data.asked, ...having(data.part) });
  else postMessage({ asked: data.asked, reading: readMolecules(data.text, data.name) });
});

/**
 * @param {number} asked
 * @param {string[]} molecules
 */
async function measure(asked, molecules) {
  current = asked;
  [texts, known] = [molecules, []];
  for (let from = 0; from < molecules.length; from += AT_ONCE) {
    readUpTo(from + AT_ONCE);
    postMessage({ asked, from, measured: Float32Array.from(known.slice(from, from + AT_ONCE).flatMap((one) => (one ? descriptors(one) : UNKNOWN))) });
    await new Promise((resolve) => setTimeout(resolve));
    if (current !== asked) return;
  }
}

/** @param {number} end which need not be measured yet: who looks for a part wants to know of all */
function readUpTo(end) {
  for (let at = known.length; at < Math.min(end, texts.length); at++) known.push(read(texts[at]));
}

/** @param {string} part */
function having(part) {
  try {
    const wanted = new SmilesParser({ smartsMode: "guess" }).parseMolecule(part.trim(), { noCoordinates: true });
    if (wanted.getAllAtoms() === 0) return { fault: "It has no atoms." };
    wanted.setFragment(true);
    const searcher = new SSSearcher();
    searcher.setFragment(wanted);
    const has = (/** @type {import("../vendor/openchemlib/openchemlib.js").Molecule | null} */ one) => {
      if (!one) return 0;
      searcher.setMolecule(one);
      return searcher.isFragmentInMolecule() ? 1 : 0;
    };
    readUpTo(texts.length);
    return { has: Uint8Array.from(known, has) };
  } catch {
    return { fault: "This is neither SMILES nor SMARTS." };
  }
}
