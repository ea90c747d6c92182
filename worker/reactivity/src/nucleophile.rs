//! Reactivity of nucleophiles, for each kind of reagent.
//!
//! Each column of `tables/nucleophiles.tsv` is the order for one kind of reagent. Numbers of different columns cannot be compared.
//! Sources: Mayr's nucleophilicity scale (Mayr and Patz, Angew. Chem. Int. Ed. 1994) for the order of amines, sulfur
//! and oxygen; acidities in DMSO (Bordwell, Acc. Chem. Res. 1988) for the order of deprotonation; Clayden, Greeves
//! and Warren for the rest. Differences of less than [`TIE_MARGIN`] are no selectivity.

use std::sync::LazyLock;

use chem::Table;

use crate::change::{Facts, Step};
use crate::group::Group;
use crate::named::ranks;
use crate::queries::*;

/// Rank difference below which sites react alike.
pub const TIE_MARGIN: i32 = 5;

/// Reagent that a nucleophile reacts with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reagent {
    /// Acyl chlorides, anhydrides, coupled acids, chloroformates, isocyanates.
    Acyl,
    /// Sulfonyl halides.
    Sulfonyl,
    /// Alkyl halides, sulfonates and epoxides, with base.
    Alkyl,
    /// Activated aryl halides.
    Aryl,
    /// Aryl halides with palladium or copper.
    Metal,
    /// Aldehydes and ketones.
    Carbonyl,
    /// Silyl halides.
    Silyl,
    /// Michael acceptors.
    Acceptor,
}

impl Reagent {
    /// Margin by which the rank of an unreacted site has to be lower. Alkylations and arylations of two similar sites
    /// are run for the mixture that they give. For these, only a clearly better site speaks against the step.
    fn required_margin(self) -> i32 {
        match self {
            Self::Alkyl | Self::Aryl | Self::Metal => -TIE_MARGIN,
            Self::Acyl | Self::Sulfonyl | Self::Carbonyl | Self::Silyl | Self::Acceptor => TIE_MARGIN,
        }
    }
}

/// Ranks of each group, in the order of [`Reagent`]; 0: does not react.
static RANKS: LazyLock<[[i32; 8]; Group::ALL.len()]> = LazyLock::new(|| {
    let table = Table {
        file: "nucleophiles.tsv",
        text: include_str!("../tables/nucleophiles.tsv"),
        columns: [
            "group", "acyl", "sulfonyl", "alkyl", "aryl", "metal", "carbonyl", "silyl", "acceptor", "source",
        ],
        keys: 1,
    };
    let rows = table.read(|[group, fields @ .., _]| Ok((Group::named(group)?, ranks(fields)?)));
    let mut of_groups = [[0; 8]; Group::ALL.len()];
    for (group, ranks) in rows.expect("nucleophile: a test reads the table") {
        of_groups[group as usize] = ranks;
    }
    of_groups
});

/// Rank of an atom, with nearby steric hindrance and electronic effects; 0 for an atom that does not react.
pub fn rank(facts: &Facts, atom: u32, reagent: Reagent) -> i32 {
    let group = facts.group(atom);
    let has_proton = facts.hydrogens(atom) > 0 || facts.at(atom).charge < 0;
    if !has_proton && group != Group::ThiocarbonylSulfur {
        return 0;
    }
    let table_rank = RANKS[group as usize][reagent as usize];
    // The nitrogen of an acylated amidine reacts little better than an amide's.
    let acylated =
        |atom: u32| facts.next_to(atom).any(|next| facts.is_carbonyl(next) && !facts.is_aromatic(next));
    if group == Group::Amidine && facts.next_to(atom).any(|carbon| facts.next_to(carbon).any(acylated)) {
        return table_rank / 3;
    }
    if table_rank == 0 {
        carbon_acid(facts, atom, reagent)
    } else {
        (table_rank - hindrance(facts, atom, group)).max(1)
    }
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

/// Deduction for steric hindrance around a nucleophile.
fn hindrance(facts: &Facts, atom: u32, group: Group) -> i32 {
    let branches = |next: u32| (facts.carbons(next) as i32 - 1).max(0);
    match group {
        Group::PrimaryAmine => facts
            .next_to(atom)
            .map(|next| match branches(next) {
                0 => 0,
                1 => 6,
                _ => 26,
            })
            .sum(),
        Group::SecondaryAmine => {
            let in_ring = facts.is_in_ring(atom);
            let hindrance: i32 = facts
                .next_to(atom)
                .map(|next| match (facts.hydrogens(next), branches(next)) {
                    (3, _) => 0,
                    (2, _) if in_ring => 0,
                    (2, _) => 5,
                    (1, _) => 9,
                    _ => 24,
                })
                .sum();
            hindrance
        }
        Group::Aniline | Group::Phenol => {
            let ipso = facts.next_to(atom).next();
            let ortho = ipso.map_or(0, |ipso| {
                facts
                    .next_to(ipso)
                    .filter(|&next| next != atom && facts.degree(next) > 2 && facts.is_aromatic(next))
                    .count()
            });
            let is_chelated = group == Group::Phenol
                && ipso.is_some_and(|ipso| {
                    facts.next_to(ipso).filter(|&next| facts.is_aromatic(next)).any(|next| {
                        facts.next_to(next).any(|far| facts.is_carbonyl(far) && !facts.is_aromatic(far))
                    })
                });
            [0, 2, 6][ortho.min(2)] + if is_chelated { 9 } else { 0 }
        }
        // The nucleophile is the far nitrogen of an aryl hydrazine or of a hydrazide.
        Group::Hydrazine if facts.hydrogens(atom) < 2 => {
            if facts.next_to(atom).any(|next| facts.is_aromatic(next)) { 60 } else { 8 }
        }
        _ => 0,
    }
}

/// Returns a nucleophile that is left unreacted although it would react sooner than `own` of rank `own_rank`, or
/// as soon where that matters to the reagent.
///
/// Amines react without a base; groups that need a base do not react then. The carboxylate of a halogenated acid
/// stays unreacted while a stronger nucleophile displaces the halide, and that of a dianion while its carbon reacts.
pub fn competing_site(
    step: &Step<'_>,
    own: u32,
    electrophile: u32,
    own_rank: i32,
    reagent: Reagent,
) -> Option<u32> {
    let before = &step.before;
    let is_spectator_carboxylate = |atom: u32| {
        reagent == Reagent::Alkyl
            && before.group(atom) == Group::AcidOxygen
            && (step.are_in_same_molecule(atom, electrophile)
                || before.element(own) == C
                    && before.next_to(own).any(|acid| before.bond(acid, atom).is_some()))
    };
    let needs_base = |group| {
        matches!(
            group,
            Group::Phenol
                | Group::AcidOxygen
                | Group::Azole
                | Group::ImideNitrogen
                | Group::SulfonamideNitrogen
                | Group::OximeOxygen
                | Group::Enol
                | Group::Alkyl
        )
    };
    let own_is_amine = matches!(
        step.before.group(own),
        Group::Ammonia
            | Group::PrimaryAmine
            | Group::SecondaryAmine
            | Group::TertiaryAmine
            | Group::Hydrazine
    );
    // An acyl group on an azole migrates to an amine, and an azole beside its own amino group reacts faster than it.
    // Either nitrogen of an amidine gives the same tautomer.
    let is_tolerated_acylation_site = |atom: u32| {
        let (group, other) = (before.group(own), before.group(atom));
        let share = || before.next_to(own).any(|next| before.bond(next, atom).is_some());
        match reagent {
            Reagent::Acyl => {
                matches!(group, Group::Aniline | Group::PoorAniline) && other == Group::Azole
                    || group == Group::Azole
                        && matches!(other, Group::Aniline | Group::PoorAniline)
                        && share()
                    || group == Group::Amidine && other == Group::Amidine && share()
            }
            _ => false,
        }
    };
    step.atoms().find(|&atom| {
        let is_tolerated = atom == own
            || is_tolerated_acylation_site(atom)
            || is_spectator_carboxylate(atom)
            || step.are_equivalent(atom, own)
            || own_is_amine && needs_base(step.before.group(atom));
        !is_tolerated
            && step.is_untouched(atom)
            && rank(&step.before, atom, reagent) > (own_rank - reagent.required_margin()).max(0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_read_from_the_table() {
        assert_eq!(RANKS[Group::Thiol as usize][Reagent::Acceptor as usize], 110);
        assert_eq!(RANKS[Group::Alkyl as usize], [0; 8]);
    }
}
