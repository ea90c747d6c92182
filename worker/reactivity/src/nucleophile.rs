//! Competition between nucleophiles, for each kind of reagent.
//!
//! One rule decides: a site within its error of the wanted one competes with it. Where the sites need other conditions
//! (one reacts as it is, the other with base), a chemist chooses the conditions, and only a clearly better site counts.

use crate::change::{Facts, Step};
use crate::group::Group;
use crate::queries::*;
use crate::reagent::{Reagent, TIE_MARGIN, nucleophile};
use crate::site::rank;

/// The highest pKa in DMSO of an acid that carbonates deprotonate.
const WEAK_BASE: i32 = 20;

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
        match nucleophile(group).pka {
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
    let error = if is_slow { TIE_MARGIN } else { nucleophile(before.group(own)).error.max(TIE_MARGIN) };
    let margin = |atom: u32| {
        let is_alike = Conditions::of(before, atom, reagent) == own_conditions;
        match (before.group(own), before.group(atom)) {
            // Oximes and phenols have like acidities, and oximates react faster (α effect: Edwards and Pearson 1962).
            (Group::Phenol, Group::OximeOxygen) | (Group::OximeOxygen, Group::Phenol) => 10,
            // The smaller alkoxide is alkylated before the anion of a carbamate, which has a tert-butyl group or the like beside it.
            (Group::PrimaryAlcohol | Group::SecondaryAlcohol, Group::CarbamateNitrogen) => -TIE_MARGIN,
            // The anion of an anilide or N-aryl carbamate, beside an amino group of an azine that is less acidic (Bordwell 1988).
            (Group::CarbamateNitrogen | Group::AmideNitrogen, Group::PoorAniline)
                if reagent == Reagent::Alkyl && before.aryls(own) == 1 && !before.is_aromatic(own) =>
            {
                -4 * TIE_MARGIN
            }
            // O–H and N–H acids and doubly activated C–H have like acidities (Bordwell 1988).
            (own, other)
                if is_alike
                    && own_conditions == Conditions::WeakBase
                    && (own == Group::Alkyl) != (other == Group::Alkyl) =>
            {
                20
            }
            // Isocyanates and acyl and sulfonyl halides take whichever amine they meet, and palladium hardly tells them apart.
            (own, other) if is_alkylamine(own) && is_alkylamine(other) => match before.group(electrophile) {
                Group::Isocyanate | Group::AcylHalide | Group::SulfonylHalide => 2 * error,
                _ if reagent.is_metal() => 2 * error,
                _ => error,
            },
            _ if is_alike => error,
            _ => reagent.required_margin(),
        }
    };
    step.atoms().find(|&atom| {
        let is_tolerated = atom == own
            || step.are_equivalent(atom, own)
            || is_tautomer(before, own, atom, reagent)
            || is_spectator_carboxylate(step, own, electrophile, atom, reagent)
            || is_lateral_dianion(before, own, atom, reagent)
            || is_softer(before, own, atom, reagent)
            || is_transesterification(before, own, electrophile, atom)
            || is_left_without_base(before, own, electrophile, atom, reagent);
        !is_tolerated
            && step.is_untouched(atom)
            && rank(before, atom, reagent) > (own_rank - margin(atom)).max(0)
    })
}

fn is_alkylamine(group: Group) -> bool {
    matches!(group, Group::PrimaryAmine | Group::SecondaryAmine)
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
        (Reagent::Alkyl, Group::ThiocarbonylSulfur, Group::ThioamideNitrogen) => share(),
        (Reagent::Alkyl, Group::AmideNitrogen, Group::AmideNitrogen) => {
            before.is_aromatic(own) && before.is_aromatic(atom) && share() && !is_before(before, atom, own)
        }
        _ => false,
    }
}

/// Returns true if the first nitrogen is N1 of a uracil and the second its N3, between the carbonyl groups (Botta and others, Tetrahedron 1984, 40,
/// 3313). Rings fused to it change the order.
fn is_before(before: &Facts, first: u32, second: u32) -> bool {
    let carbonyls = |atom: u32| before.next_to(atom).filter(|&next| before.is_carbonyl(next)).count();
    let is_fused = |atom: u32| before.next_to(atom).any(|next| before.is_shared_by_aromatic_rings(next));
    carbonyls(first) == 1 && carbonyls(second) == 2 && !is_fused(first)
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

/// Returns true for the nitrogen of a secondary benzamide whose ortho alkyl group is taken: of the dianion, the carbon reacts (Clark and Jahangir, Org. React. 1995, 47, 1).
fn is_lateral_dianion(before: &Facts, own: u32, atom: u32, reagent: Reagent) -> bool {
    let is_near =
        |to: u32| before.distances(own, 4).iter().any(|&(near, distance)| near == to && distance == 4);
    reagent == Reagent::Alkyl
        && before.is_sp3(own)
        && before.aryls(own) == 1
        && before.group(atom) == Group::AmideNitrogen
        && !before.is_in_ring(atom)
        && before.carbons(atom) == 2
        && is_near(atom)
}

/// Returns true for an oxygen beside the nitrogen that takes an ester: what it makes of the ester is an ester still, which the nitrogen takes as well.
fn is_transesterification(before: &Facts, own: u32, electrophile: u32, atom: u32) -> bool {
    before.group(electrophile) == Group::Ester && before.element(own) == N && before.element(atom) == O
}

/// Returns true for the sulfur of a thiol or thiocarbonyl group beside an oxygen acid, whose anion reacts ten thousand times slower (Mayr and Patz 1994).
fn is_softer(before: &Facts, own: u32, atom: u32, reagent: Reagent) -> bool {
    let is_sulfur = matches!(before.group(own), Group::Thiol | Group::Thiophenol | Group::ThiocarbonylSulfur);
    is_sulfur && before.element(atom) == O && matches!(reagent, Reagent::Alkyl | Reagent::Acceptor)
}

/// Returns true for an acid beside an amine, which reacts without the base that the acid needs, as an aniline does with an epoxide. Couplings
/// bring a base.
fn is_left_without_base(before: &Facts, own: u32, electrophile: u32, atom: u32, reagent: Reagent) -> bool {
    let is_amine = match before.group(own) {
        Group::Ammonia
        | Group::PrimaryAmine
        | Group::SecondaryAmine
        | Group::TertiaryAmine
        | Group::Hydrazine => true,
        Group::Aniline | Group::SecondaryAniline => before.is_beside_epoxide_oxygen(electrophile),
        _ => false,
    };
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
