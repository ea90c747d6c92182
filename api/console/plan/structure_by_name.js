// @ts-check
// Structures by the names of kept routes and of searches, the newest first.

import { read, Unreadable } from "../molecules/molecule.js";
import { PLANS, ROUTES } from "../routes/kept_route.js";

/** As many as the service lists at once. */
const PAGE = 100;

/**
 * The SMILES of what somebody called so, where the text is a name and no structure; null where nothing is.
 * @param {import("../service/service.js").Service} service
 * @param {string} text
 * @returns {Promise<string | null>}
 */
export async function structureNamed(service, text) {
  const name = text.trim().toLowerCase();
  if (!name || isStructure(text)) return null;
  for (const list of [ROUTES, PLANS]) {
    const { items } = await service.get(`${list}?limit=${PAGE}`).catch(() => ({ items: [] }));
    const found = items.find((/** @type {{name: string | null}} */ item) => item.name?.trim().toLowerCase() === name);
    if (found) return found.parameters.search_smiles;
  }
  return null;
}

/** @param {string} text */
function isStructure(text) {
  try {
    read(text);
    return true;
  } catch (fault) {
    if (!(fault instanceof Unreadable)) throw fault;
    return false;
  }
}
