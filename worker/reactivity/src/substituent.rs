//! Electronic effects of substituents on a nucleophile: Hammett constants on an arene, shifts of pKa along a chain.
//!
//! Sources: Hansch, Leo and Taft (Chem. Rev. 1991, 91, 165) for σ; Blanch (J. Chem. Soc. B 1966, 937) for a ring nitrogen;
//! Perrin, Dempsey and Serjeant, "pKa Prediction for Organic Acids and Bases" (1981), for amines, with their factor
//! of 0.4 for each further carbon.

use std::sync::LazyLock;

use chem::{Order, Table};

use crate::change::Facts;
use crate::group::{Group, aromatic_positions};
use crate::named::named;
use crate::queries::*;

/// Share of a substituent's effect on an amine that one further carbon transmits.
const TRANSMISSION: f32 = 0.4;

named! {
/// Substituent of an arene or of a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Substituent {
    Alkyl,
    Aryl,
    Vinyl,
    Ethynyl,
    Trifluoromethyl,
    Cyano,
    Acyl,
    Formyl,
    Carboxylate,
    Ester,
    Carboxamide,
    Nitro,
    Amino,
    Acylamino,
    Hydroxyl,
    Alkoxy,
    Acyloxy,
    Thio,
    Sulfonyl,
    Fluoro,
    Chloro,
    Bromo,
    Iodo,
    /// Nitrogen in place of a ring carbon.
    Aza,
}
}

/// Effects of a substituent.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Effects {
    sigma_meta: f32,
    /// σ⁻, since the reacting group of an aniline or phenol is a donor. Taken for ortho as well.
    sigma_para: f32,
    /// Shift of an amine's pKa from the α-carbon.
    amine: f32,
}

static EFFECTS: LazyLock<[Effects; Substituent::ALL.len()]> = LazyLock::new(|| {
    let table = Table {
        file: "substituents.tsv",
        text: include_str!("../tables/substituents.tsv"),
        columns: ["substituent", "sigma_meta", "sigma_para_minus", "amine", "source"],
        keys: 1,
    };
    let number = |field: &str| field.parse::<f32>().map_err(|_| format!("`{field}` is no number"));
    let rows = table.read(|[name, meta, para, amine, _]| {
        let effects = Effects { sigma_meta: number(meta)?, sigma_para: number(para)?, amine: number(amine)? };
        Ok((Substituent::named(name)?, effects))
    });
    let mut of_substituents = [Effects::default(); Substituent::ALL.len()];
    for (substituent, effects) in rows.expect("substituent: a test reads the table") {
        of_substituents[substituent as usize] = effects;
    }
    of_substituents
});

/// Sum of the Hammett constants of a six-membered ring, seen from the ring atom of the reacting group. Leaves out what
/// the group of the site says already: the ring nitrogens and conjugated nitro groups of an aniline, and the carbonyl
/// group that chelates a phenol.
pub fn sigma(facts: &Facts, site: u32, ipso: u32) -> f32 {
    if facts.ring(ipso) != 6 {
        return 0.0;
    }
    let is_phenol = facts.group(site) == Group::Phenol;
    let is_poor = facts.group(site) == Group::PoorAniline;
    let mut sum = 0.0;
    for (atom, distance) in aromatic_positions(&facts.structure, ipso) {
        let is_conjugated = distance != 2;
        for substituent in on_ring(facts, atom) {
            let is_counted = match substituent {
                Substituent::Aza => !is_phenol,
                Substituent::Nitro => is_poor && is_conjugated,
                _ => is_phenol && distance == 1 && substituent.is_chelating(),
            };
            if !is_counted {
                let effects = EFFECTS[substituent as usize];
                sum += if is_conjugated { effects.sigma_para } else { effects.sigma_meta };
            }
        }
    }
    sum
}

/// Substituents of a ring atom, or the nitrogen that stands in its place.
fn on_ring(facts: &Facts, atom: u32) -> impl Iterator<Item = Substituent> + '_ {
    let is_aza = facts.element(atom) == N && facts.degree(atom) == 2 && facts.hydrogens(atom) == 0;
    let outside = facts.around(atom).iter().filter(|bond| bond.order != Order::Aromatic).map(|bond| bond.to);
    outside.filter_map(|next| Substituent::of(facts, next)).chain(is_aza.then_some(Substituent::Aza))
}

/// Shift of the pKa of an amine by the substituents of its α- and β-carbons.
pub fn amine_shift(facts: &Facts, nitrogen: u32) -> f32 {
    let effect = |atom: u32| {
        Substituent::of(facts, atom).map_or(0.0, |substituent| EFFECTS[substituent as usize].amine)
    };
    let mut shift = 0.0;
    for alpha in facts.next_to(nitrogen).filter(|&next| facts.is_sp3(next)) {
        for next in facts.next_to(alpha).filter(|&next| next != nitrogen) {
            shift += effect(next);
            if facts.is_sp3(next) && !facts.is_trifluoromethyl(next) {
                let far = facts.next_to(next).filter(|&far| far != alpha);
                shift += TRANSMISSION * far.map(effect).sum::<f32>();
            }
        }
    }
    shift
}

impl Substituent {
    /// Substituent that begins at an atom.
    fn of(facts: &Facts, atom: u32) -> Option<Self> {
        Some(match facts.element(atom) {
            F => Self::Fluoro,
            CL => Self::Chloro,
            BR => Self::Bromo,
            I => Self::Iodo,
            S if facts.oxo(atom) > 0 => Self::Sulfonyl,
            S => Self::Thio,
            C => Self::of_carbon(facts, atom)?,
            N => match facts.group(atom) {
                Group::Nitro => Self::Nitro,
                Group::AmideNitrogen
                | Group::CarbamateNitrogen
                | Group::UreaNitrogen
                | Group::ImideNitrogen
                | Group::SulfonamideNitrogen => Self::Acylamino,
                _ if facts.is_saturated(atom) && facts.at(atom).charge == 0 => Self::Amino,
                _ => return None,
            },
            O => match facts.group(atom) {
                Group::EsterOxygen | Group::SulfonateOxygen => Self::Acyloxy,
                Group::CarbonylOxygen => return None,
                _ if facts.hydrogens(atom) > 0 => Self::Hydroxyl,
                _ => Self::Alkoxy,
            },
            _ => return None,
        })
    }

    fn of_carbon(facts: &Facts, atom: u32) -> Option<Self> {
        Some(match facts.group(atom) {
            Group::Aryl => Self::Aryl,
            Group::Alkene => Self::Vinyl,
            Group::Alkyne | Group::TerminalAlkyne => Self::Ethynyl,
            Group::Nitrile => Self::Cyano,
            Group::Aldehyde => Self::Formyl,
            Group::Ketone | Group::AcylHalide => Self::Acyl,
            Group::Acid => Self::Carboxylate,
            Group::Ester | Group::ActiveEster | Group::Thioester => Self::Ester,
            Group::Amide | Group::Weinreb | Group::Imide => Self::Carboxamide,
            Group::Alkyl if facts.is_trifluoromethyl(atom) => Self::Trifluoromethyl,
            Group::Alkyl => Self::Alkyl,
            _ => return None,
        })
    }

    /// Returns true for a carbonyl group that takes the hydrogen bond of a phenol beside it.
    fn is_chelating(self) -> bool {
        matches!(self, Self::Acyl | Self::Formyl | Self::Carboxylate | Self::Ester | Self::Carboxamide)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(smiles: &str) -> Facts {
        Facts::of(&smiles.parse().unwrap())
    }

    fn find(facts: &Facts, group: Group) -> u32 {
        (0..facts.atoms() as u32).find(|&atom| facts.group(atom) == group).unwrap()
    }

    #[test]
    fn sigma_adds_up_over_the_ring() {
        let aniline = facts("Nc1ccc(OC)c(C)c1");
        let nitrogen = find(&aniline, Group::Aniline);
        let ipso = aniline.next_to(nitrogen).next().unwrap();

        assert!((sigma(&aniline, nitrogen, ipso) - (-0.26 - 0.07)).abs() < 1e-6);
    }

    #[test]
    fn morpholine_is_less_basic_than_piperidine_by_both_arms() {
        let shift = |smiles| {
            let facts = facts(smiles);
            amine_shift(&facts, find(&facts, Group::SecondaryAmine))
        };

        assert!((shift("C1COCCN1") + 2.4).abs() < 1e-5);
        assert!(shift("C1CCCCN1").abs() < 1e-6);
    }
}
