// @ts-check
// Ticked molecules of a sample, which the form for a batch takes over.

import { Store } from "../shared/store.js";

export const cart = new Store({ smiles: /** @type {string[]} */ ([]), from: "" });
