//! Competition between nucleophiles, for each kind of reagent.
//!
//! Each column of `tables/nucleophiles.tsv` is the order for one kind of reagent. Numbers of different columns cannot be compared.
//! Sources: Mayr's nucleophilicity scale (Mayr and Patz, Angew. Chem. Int. Ed. 1994) for the order of amines, sulfur
//! and oxygen; acidities in DMSO (Bordwell, Acc. Chem. Res. 1988) for the order of deprotonation and the column `pka`;
//! Surry and Buchwald (Angew. Chem. Int. Ed. 2008) for palladium; Klapars and others (J. Am. Chem. Soc. 2002) for
//! copper; Clayden, Greeves and Warren for the rest.
//!
//! One rule decides: a site within its error of the wanted one competes with it. Where the sites need other conditions
//! (one reacts as it is, the other with base), a chemist chooses the conditions, and only a clearly better site counts.

use std::sync::LazyLock;

use chem::Table;

use crate::change::{Facts, Step};
use crate::group::Group;
use crate::named::{named, ranks};
use crate::queries::*;
use crate::site::rank;

/// Rank difference below which sites react alike.
pub const TIE_MARGIN: i32 = 5;

/// The highest pKa in DMSO of an acid that carbonates deprotonate.
const WEAK_BASE: i32 = 20;

named! {
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
    /// Aryl halides with palladium.
    Palladium,
    /// Aryl halides and boronic acids with copper.
    Copper,
    /// Aldehydes and ketones.
    Carbonyl,
    /// Silyl halides.
    Silyl,
    /// Michael acceptors.
    Acceptor,
}
}

impl Reagent {
    /// Margin by which the rank of an unreacted site that needs other conditions has to be lower. Alkylations and
    /// arylations at one of two such sites are run for the mixture that they give. For these, only a clearly better
    /// site speaks against the step.
    fn required_margin(self) -> i32 {
        match self {
            Self::Alkyl | Self::Aryl | Self::Palladium | Self::Copper => -TIE_MARGIN,
            Self::Acyl | Self::Sulfonyl | Self::Carbonyl | Self::Silyl | Self::Acceptor => TIE_MARGIN,
        }
    }

    fn is_metal(self) -> bool {
        matches!(self, Self::Palladium | Self::Copper)
    }
}

/// Row of the table.
#[derive(Debug, Clone, Copy, Default)]
struct Nucleophile {
    /// pKa in DMSO; `None` for a nucleophile that needs no base.
    pka: Option<i32>,
    /// Error of a site's rank.
    error: i32,
    /// Ranks in the order of [`Reagent`]; 0: does not react.
    ranks: [i32; Reagent::ALL.len()],
}

static NUCLEOPHILES: LazyLock<[Nucleophile; Group::ALL.len()]> = LazyLock::new(|| {
    let table = Table {
        file: "nucleophiles.tsv",
        text: include_str!("../tables/nucleophiles.tsv"),
        columns: [
            "group",
            "pka",
            "error",
            "acyl",
            "sulfonyl",
            "alkyl",
            "aryl",
            "palladium",
            "copper",
            "carbonyl",
            "silyl",
            "acceptor",
            "source",
        ],
        keys: 1,
    };
    let rows = table.read(|[group, pka, error, fields @ .., _]| {
        let pka = if pka == "-" { None } else { Some(ranks([pka])?[0]) };
        let [error] = ranks([error])?;
        Ok((Group::named(group)?, Nucleophile { pka, error, ranks: ranks(fields)? }))
    });
    let mut of_groups = [Nucleophile::default(); Group::ALL.len()];
    for (group, nucleophile) in rows.expect("nucleophile: a test reads the table") {
        of_groups[group as usize] = nucleophile;
    }
    of_groups
});

/// Rank of a group before its surroundings count; 0: does not react.
pub fn group_rank(group: Group, reagent: Reagent) -> i32 {
    NUCLEOPHILES[group as usize].ranks[reagent as usize]
}

/// Conditions that a nucleophile needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Conditions {
    /// Reacts as it is.
    Neutral,
    /// Reacts as an anion that a carbonate makes.
    WeakBase,
    /// Reacts as an anion that a hydride or amide base makes.
    StrongBase,
}

impl Conditions {
    fn of(facts: &Facts, atom: u32, reagent: Reagent) -> Self {
        let group = facts.group(atom);
        let is_aromatic_lactam = group == Group::AmideNitrogen && facts.is_aromatic(atom);
        let is_weak_carbon_acid = || facts.next_to(atom).filter(|&next| facts.is_acceptor(next)).count() < 2;
        match NUCLEOPHILES[group as usize].pka {
            None if facts.element(atom) != C => Self::Neutral,
            None if is_weak_carbon_acid() => Self::StrongBase,
            // Bases that couplings need take all N–H and O–H acids.
            Some(pka) if pka > WEAK_BASE && !is_aromatic_lactam && !reagent.is_metal() => Self::StrongBase,
            _ => Self::WeakBase,
        }
    }
}

/// Returns a nucleophile that is left unreacted although it would react sooner than `own` of rank `own_rank`, or as
/// soon where the same conditions make both react.
pub fn competing_site(
    step: &Step<'_>,
    own: u32,
    electrophile: u32,
    own_rank: i32,
    reagent: Reagent,
) -> Option<u32> {
    let before = &step.before;
    let own_conditions = Conditions::of(before, own, reagent);
    // Esters and palladium tell crowded amines apart better than acyl and alkyl halides do.
    let is_slow = before.group(electrophile) == Group::Ester || reagent.is_metal();
    let error =
        if is_slow { TIE_MARGIN } else { NUCLEOPHILES[before.group(own) as usize].error.max(TIE_MARGIN) };
    let margin = |atom: u32| {
        let is_alike = Conditions::of(before, atom, reagent) == own_conditions;
        if is_alike { error } else { reagent.required_margin() }
    };
    step.atoms().find(|&atom| {
        let is_tolerated = atom == own
            || step.are_equivalent(atom, own)
            || is_tautomer(before, own, atom, reagent)
            || is_spectator_carboxylate(step, own, electrophile, atom, reagent)
            || is_left_without_base(before, own, atom, reagent);
        !is_tolerated
            && step.is_untouched(atom)
            && rank(before, atom, reagent) > (own_rank - margin(atom)).max(0)
    })
}

/// Returns true if two sites exchange their hydrogen or the group that one of them takes: an acyl group on an azole
/// migrates to an amine, and an azole beside its own amino group reacts faster than it. Either nitrogen of an amidine
/// gives the same tautomer. The nitrogens of a uracil react in turn, N1 first.
fn is_tautomer(before: &Facts, own: u32, atom: u32, reagent: Reagent) -> bool {
    let share = || before.next_to(own).any(|next| before.bond(next, atom).is_some());
    match (reagent, before.group(own), before.group(atom)) {
        (Reagent::Acyl, Group::Aniline | Group::PoorAniline, Group::Azole) => true,
        (Reagent::Acyl, Group::Azole, Group::Aniline | Group::PoorAniline)
        | (Reagent::Acyl, Group::Amidine, Group::Amidine) => share(),
        (Reagent::Alkyl, Group::AmideNitrogen, Group::AmideNitrogen) => {
            before.is_aromatic(own) && before.is_aromatic(atom) && share()
        }
        _ => false,
    }
}

/// Returns true for a carboxylate that stays: that of a halogenated acid while a stronger nucleophile displaces the
/// halide, that of a dianion while its carbon reacts, and that of a 2-halobenzoic acid, which holds the copper.
fn is_spectator_carboxylate(
    step: &Step<'_>,
    own: u32,
    electrophile: u32,
    atom: u32,
    reagent: Reagent,
) -> bool {
    let before = &step.before;
    let is_in_acid = |carbon: u32| before.next_to(carbon).any(|acid| before.bond(acid, atom).is_some());
    before.group(atom) == Group::AcidOxygen
        && match reagent {
            Reagent::Alkyl => {
                step.are_in_same_molecule(atom, electrophile) || before.element(own) == C && is_in_acid(own)
            }
            Reagent::Palladium | Reagent::Copper => before.next_to(electrophile).any(is_in_acid),
            _ => false,
        }
}

/// Returns true for an acid beside an amine, which reacts without the base that the acid needs. Couplings bring a base.
fn is_left_without_base(before: &Facts, own: u32, atom: u32, reagent: Reagent) -> bool {
    let is_amine = matches!(
        before.group(own),
        Group::Ammonia
            | Group::PrimaryAmine
            | Group::SecondaryAmine
            | Group::TertiaryAmine
            | Group::Hydrazine
    );
    let needs_base = matches!(
        before.group(atom),
        Group::Phenol
            | Group::AcidOxygen
            | Group::Azole
            | Group::ImideNitrogen
            | Group::SulfonamideNitrogen
            | Group::OximeOxygen
            | Group::Enol
            | Group::Alkyl
    );
    is_amine && needs_base && !reagent.is_metal()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_read_from_the_table() {
        assert_eq!(group_rank(Group::Thiol, Reagent::Acceptor), 110);
        assert_eq!(NUCLEOPHILES[Group::Alkyl as usize].ranks, [0; 9]);
        assert_eq!(NUCLEOPHILES[Group::Phenol as usize].pka, Some(18));
    }
}
