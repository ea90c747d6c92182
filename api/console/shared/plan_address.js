// @ts-check
// Addresses of the page that plans a molecule.

/**
 * The address, for a link.
 * @param {string} smiles
 */
export function planAddress(smiles) {
  return `#/plan/target/${encodeURIComponent(smiles)}`;
}
