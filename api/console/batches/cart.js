// @ts-check
// Molecules that one part hands to another: those that were ticked in a sample, to be planned as a batch.

import { Store } from "../shared/store.js";

export const cart = new Store({ smiles: /** @type {string[]} */ ([]), from: "" });
