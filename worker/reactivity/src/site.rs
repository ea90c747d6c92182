//! Reactivity of a nucleophilic site: the value of its group, the effect of its own substituents, and hindrance.
//!
//! Ten points are about a factor of ten in rate. Sensitivities to substituents are the reaction constants ρ of Jaffé
//! (Chem. Rev. 1953, 53, 191) for anilines and phenols, and Brønsted slopes of Brotzel, Chu and Mayr (J. Org. Chem.
//! 2007, 72, 3679) for amines. The acid with the lower pKa is alkylated: its share of the anion outweighs the lower
//! reactivity of the anion. Hindrance: the same authors for amines; Newman, "Steric Effects in Organic Chemistry"
//! (1956), for ortho groups.

use std::sync::LazyLock;

use chem::Table;

use crate::change::Facts;
use crate::group::Group;
use crate::named::{named, ranks};
use crate::queries::*;
use crate::reagent::{Reagent, group_rank};
use crate::substituent::{amine_shift, sigma};

/// Points for each nitrogen of an azole beyond two (Bordwell 1988: pyrazole 19.8, triazole 14.8, tetrazole 8.2).
const POINTS_PER_AZOLE_NITROGEN: i32 = 6;
/// Points that an N–H gains with a base in an aromatic lactam (Bordwell 1988: 2-pyridone 17, acetamide 25.5).
const AROMATIC_LACTAM: i32 = 20;
/// Points that the O–H of a hydroxamic acid, N-hydroxyimide or N-hydroxyazole gains over that of an oxime (pKa 4 to 9 and 11 in water).
const HYDROXAMIC: i32 = 20;
/// Points that an amide's N–H gains with a base from an aryl group on it (Bordwell 1988: acetanilide 21.5).
const ANILIDE: i32 = 8;

/// Change of a rank for each unit of a constant.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Sensitivity {
    /// For each unit of σ, of anilines.
    aniline: f32,
    /// For each unit of σ, of phenols.
    acid: f32,
    /// For each unit of pKa, of amines.
    amine: f32,
}

static SENSITIVITIES: LazyLock<[Sensitivity; Reagent::ALL.len()]> = LazyLock::new(|| {
    let table = Table {
        file: "sensitivities.tsv",
        text: include_str!("../tables/sensitivities.tsv"),
        columns: ["reagent", "aniline", "acid", "amine", "source"],
        keys: 1,
    };
    let number = |field: &str| field.parse::<f32>().map_err(|_| format!("`{field}` is no number"));
    let rows = table.read(|[reagent, aniline, acid, amine, _]| {
        let row = Sensitivity { aniline: number(aniline)?, acid: number(acid)?, amine: number(amine)? };
        Ok((Reagent::named(reagent)?, row))
    });
    let mut of_reagents = [Sensitivity::default(); Reagent::ALL.len()];
    for (reagent, sensitivity) in rows.expect("site: a test reads the table") {
        of_reagents[reagent as usize] = sensitivity;
    }
    of_reagents
});

named! {
/// Surroundings that hinder a nucleophile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Surroundings {
    /// Primary amine on a carbon with two carbons.
    PrimaryBranched,
    PrimaryQuaternary,
    /// Alkyl group of a secondary amine, larger than methyl and not part of a ring.
    SecondaryChain,
    SecondaryBranched,
    SecondaryQuaternary,
    AnilineOneOrtho,
    AnilineTwoOrtho,
    /// Poor aniline with an alkyl group on its nitrogen.
    PoorAnilineAlkylated,
    PhenolOneOrtho,
    PhenolTwoOrtho,
    /// Phenol with a hydrogen bond to a carbonyl group beside it.
    Chelated,
    NearNitrogenOfArylHydrazine,
    NearNitrogenOfHydrazine,
}
}

static DEDUCTIONS: LazyLock<[i32; Surroundings::ALL.len()]> = LazyLock::new(|| {
    let table = Table {
        file: "hindrance.tsv",
        text: include_str!("../tables/hindrance.tsv"),
        columns: ["surroundings", "deduction", "source"],
        keys: 1,
    };
    let rows = table.read(|[name, deduction, _]| Ok((Surroundings::named(name)?, ranks([deduction])?)));
    let mut of_surroundings = [0; Surroundings::ALL.len()];
    for (surroundings, [deduction]) in rows.expect("site: a test reads the table") {
        of_surroundings[surroundings as usize] = deduction;
    }
    of_surroundings
});

/// Rank of an atom towards a reagent; 0 for an atom that does not react.
pub fn rank(facts: &Facts, atom: u32, reagent: Reagent) -> i32 {
    let group = facts.group(atom);
    let has_proton = facts.hydrogens(atom) > 0 || facts.at(atom).charge < 0;
    if !has_proton && group != Group::ThiocarbonylSulfur {
        return 0;
    }
    let is_inert = match group {
        // Trityl groups protect.
        Group::SecondaryAmine => facts.next_to(atom).any(|next| facts.aryls(next) == 3),
        // That of an isothiocyanate or of thiophosgene has no donor.
        Group::ThiocarbonylSulfur => !facts.next_to(atom).any(|next| has_donor(facts, next)),
        _ => false,
    };
    if is_inert {
        return 0;
    }
    let group_rank = group_rank(group, reagent);
    if group_rank == 0 {
        return carbon_acid(facts, atom, reagent);
    }
    if group == Group::Amidine && is_acylated_amidine(facts, atom) {
        return group_rank / 3;
    }
    (group_rank + electronic_effect(facts, atom, group, reagent) - hindrance(facts, atom, group)).max(1)
}

/// Returns true for the carbon of a thioamide or the like: a nitrogen, oxygen or sulfur with a lone pair is bonded to it.
fn has_donor(facts: &Facts, carbon: u32) -> bool {
    facts.next_to(carbon).any(|next| matches!(facts.element(next), N | O | S) && facts.is_saturated(next))
}

/// Returns true for the nitrogen of an acylated amidine, which reacts little better than an amide's.
pub fn is_acylated_amidine(facts: &Facts, atom: u32) -> bool {
    let is_acylated =
        |atom: u32| facts.next_to(atom).any(|next| facts.is_carbonyl(next) && !facts.is_aromatic(next));
    facts.next_to(atom).any(|carbon| facts.next_to(carbon).any(is_acylated))
}

/// Rank of a C–H that a base deprotonates.
fn carbon_acid(facts: &Facts, atom: u32, reagent: Reagent) -> i32 {
    if facts.group(atom) == Group::TerminalAlkyne && facts.hydrogens(atom) == 1 {
        return if reagent == Reagent::Alkyl { 20 } else { 0 };
    }
    if !facts.is_sp3(atom) || !matches!(reagent, Reagent::Alkyl | Reagent::Acceptor | Reagent::Aryl) {
        return 0;
    }
    let strong = facts.next_to(atom).filter(|&next| facts.is_acceptor(next)).count();
    match strong {
        0 | 1 => 0,
        _ => 70,
    }
}

/// Points that the surroundings of a site give or take by their electronic effect.
fn electronic_effect(facts: &Facts, atom: u32, group: Group, reagent: Reagent) -> i32 {
    let sensitivity = SENSITIVITIES[reagent as usize];
    let ring_sigma = || {
        facts.next_to(atom).find(|&next| facts.is_aromatic(next)).map_or(0.0, |ipso| sigma(facts, atom, ipso))
    };
    let needs_base = matches!(reagent, Reagent::Alkyl | Reagent::Aryl | Reagent::Acceptor);
    let points = match group {
        Group::Aniline | Group::SecondaryAniline | Group::PoorAniline => sensitivity.aniline * ring_sigma(),
        Group::Phenol => sensitivity.acid * ring_sigma(),
        Group::PrimaryAmine | Group::SecondaryAmine => sensitivity.amine * amine_shift(facts, atom),
        Group::Azole if needs_base => {
            return further_azole_nitrogens(facts, atom) * POINTS_PER_AZOLE_NITROGEN;
        }
        Group::OximeOxygen
            if needs_base && !facts.next_to(atom).any(|next| facts.group(next) == Group::Oxime) =>
        {
            return HYDROXAMIC;
        }
        Group::AmideNitrogen if needs_base && facts.is_aromatic(atom) => return AROMATIC_LACTAM,
        Group::AmideNitrogen if needs_base && facts.next_to(atom).any(|next| facts.is_aromatic(next)) => {
            return ANILIDE;
        }
        _ => return 0,
    };
    points.round() as i32
}

/// Number of nitrogens of an azole's ring beyond two.
fn further_azole_nitrogens(facts: &Facts, atom: u32) -> i32 {
    let nitrogens = facts.distances(atom, 2).into_iter().filter(|&(other, _)| {
        facts.element(other) == N && facts.is_aromatic(other) && facts.ring(other) == 5
    });
    nitrogens.count() as i32 - 2
}

/// Deduction for hindrance around a nucleophile.
fn hindrance(facts: &Facts, atom: u32, group: Group) -> i32 {
    let deduction = |surroundings: Surroundings| DEDUCTIONS[surroundings as usize];
    match group {
        Group::PrimaryAmine => facts
            .next_to(atom)
            .map(|next| match facts.carbons(next) {
                0 | 1 => 0,
                2 => deduction(Surroundings::PrimaryBranched),
                _ => deduction(Surroundings::PrimaryQuaternary),
            })
            .sum(),
        Group::SecondaryAmine => {
            let in_ring = facts.is_in_ring(atom);
            facts
                .next_to(atom)
                .map(|next| match facts.hydrogens(next) {
                    3 => 0,
                    2 if in_ring => 0,
                    2 => deduction(Surroundings::SecondaryChain),
                    1 => deduction(Surroundings::SecondaryBranched),
                    _ => deduction(Surroundings::SecondaryQuaternary),
                })
                .sum()
        }
        Group::Aniline => match ortho_groups(facts, atom) {
            0 => 0,
            1 => deduction(Surroundings::AnilineOneOrtho),
            _ => deduction(Surroundings::AnilineTwoOrtho),
        },
        Group::PoorAniline if facts.hydrogens(atom) == 1 => deduction(Surroundings::PoorAnilineAlkylated),
        Group::Phenol => {
            let ortho = match ortho_groups(facts, atom) {
                0 => 0,
                1 => deduction(Surroundings::PhenolOneOrtho),
                _ => deduction(Surroundings::PhenolTwoOrtho),
            };
            ortho + if is_chelated(facts, atom) { deduction(Surroundings::Chelated) } else { 0 }
        }
        // The nucleophile is the far nitrogen of an aryl hydrazine or of a hydrazide.
        Group::Hydrazine if facts.hydrogens(atom) < 2 => {
            if facts.next_to(atom).any(|next| facts.is_aromatic(next)) {
                deduction(Surroundings::NearNitrogenOfArylHydrazine)
            } else {
                deduction(Surroundings::NearNitrogenOfHydrazine)
            }
        }
        _ => 0,
    }
}

/// Number of groups ortho to a substituent of an arene.
fn ortho_groups(facts: &Facts, atom: u32) -> usize {
    facts.next_to(atom).next().map_or(0, |ipso| {
        let ortho = facts.next_to(ipso).filter(|&next| next != atom && facts.is_aromatic(next));
        ortho.filter(|&next| facts.degree(next) > 2).count()
    })
}

/// Returns true if the oxygen or nitrogen of an arene has a carbonyl group ortho to it.
pub fn is_chelated(facts: &Facts, atom: u32) -> bool {
    let bears_carbonyl =
        |ortho: u32| facts.next_to(ortho).any(|far| facts.is_carbonyl(far) && !facts.is_aromatic(far));
    facts
        .next_to(atom)
        .next()
        .is_some_and(|ipso| facts.next_to(ipso).any(|next| facts.is_aromatic(next) && bears_carbonyl(next)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ranks of the sites of a group, highest first.
    fn ranks_of(smiles: &str, group: Group, reagent: Reagent) -> Vec<i32> {
        let facts = Facts::of(&smiles.parse().unwrap());
        let sites = (0..facts.atoms() as u32).filter(|&atom| facts.group(atom) == group);
        let mut ranks: Vec<i32> = sites.map(|atom| rank(&facts, atom, reagent)).collect();
        ranks.sort_unstable_by(|a, b| b.cmp(a));
        ranks
    }

    #[test]
    fn all_surroundings_have_a_deduction() {
        assert!(DEDUCTIONS.iter().all(|&deduction| deduction > 0));
        assert!((SENSITIVITIES[Reagent::Acyl as usize].aniline + 28.0).abs() < 1e-6);
    }

    #[test]
    fn the_phenol_para_to_an_ester_is_alkylated_before_the_one_meta_to_it() {
        assert_eq!(ranks_of("COC(=O)c1ccc(O)c(O)c1", Group::Phenol, Reagent::Alkyl), [80, 74]);
    }

    #[test]
    fn the_aniline_beside_a_methyl_group_is_the_slower_one() {
        assert_eq!(ranks_of("Cc1ccc(N)cc1N", Group::Aniline, Reagent::Palladium), [82, 75]);
    }
}
