// @ts-check
// Address of the page that plans a molecule.

/**
 * The address as a hash.
 * @param {string} smiles
 */
export function planAddress(smiles) {
  return `#/plan/target/${encodeURIComponent(smiles)}`;
}
