// @ts-check
// Properties that are measured of each molecule of a sample.

/**
 * `figure`: what the model's card calls it, where it has one; `digits`: after the decimal sign; `condition`: the
 * service's name for it, whose values are RDKit's.
 * @typedef {{name: string, label: string, short: string, unit: string, figure: string | null, digits: number, condition: string}} Property
 */

/** In the order in which the worker measures them. @type {Property[]} */
export const PROPERTIES = [
  { name: "molecular_weight", label: "Molecular weight", short: "MW", unit: "Da", figure: "molecular_weight", digits: 0, condition: "mw" },
  { name: "logp", label: "logP", short: "logP", unit: "", figure: "crippen_logp", digits: 1, condition: "clogp" },
  { name: "polar_surface", label: "Polar surface", short: "TPSA", unit: "Å²", figure: "polar_surface", digits: 0, condition: "tpsa" },
  { name: "acceptors", label: "H-bond acceptors", short: "HBA", unit: "", figure: "hydrogen_bond_acceptors", digits: 0, condition: "hba" },
  { name: "donors", label: "H-bond donors", short: "HBD", unit: "", figure: "hydrogen_bond_donors", digits: 0, condition: "hbd" },
  { name: "rotatable", label: "Rotatable bonds", short: "RotB", unit: "", figure: "rotatable_bonds", digits: 0, condition: "rotatable_bonds" },
  { name: "rings", label: "Rings", short: "Rings", unit: "", figure: null, digits: 0, condition: "rings" },
];
