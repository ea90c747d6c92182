//! Substitutions and additions: feasibility and competing sites.

use crate::acylation::{acylation, check_enolate};
use crate::alkylation::{alkylation, is_acidic, is_doubly_activated, is_methyl_of_imidazole};
use crate::arylation::{arylation, coupling, direct_arylation, halide, has_open_boron, vinylation};
use crate::carbonyl::{carbonyl_electrophile, conjugate_addition, imination, metal_addition};
use crate::change::{Facts, Step};
use crate::competition::{closed_ring_size, nucleophiles};
use crate::event::Event;
use crate::group::Group;
use crate::halogenation::{acid_activation, deoxyhalogenation, functionalisation, lactam_halogenation};
use crate::queries::*;
use crate::reagent::Reagent;
use crate::refusal::Refusal;

type Verdict = Result<(), Refusal>;

/// Checks an event that is a substitution or an addition.
pub fn check(step: &Step<'_>, events: &[Event], event: &Event) -> Verdict {
    let before = &step.before;
    match *event {
        Event::Alkylation { nucleophile, carbon, leaving } => {
            alkylation(step, events, nucleophile, carbon, leaving)
        }
        Event::Acylation { nucleophile, carbon } => acylation(step, events, nucleophile, carbon),
        Event::Sulfonylation { nucleophile, sulfur } => {
            nucleophiles(step, events, nucleophile, sulfur, Reagent::Sulfonyl)?;
            let is_amide =
                before.group(nucleophile) == Group::AmideNitrogen && !before.is_aromatic(nucleophile);
            if is_amide { Err(Refusal::Unreactive) } else { Ok(()) }
        }
        Event::Silylation { nucleophile } => {
            nucleophiles(step, events, nucleophile, nucleophile, Reagent::Silyl)
        }
        Event::Arylation { nucleophile, carbon, leaving } => {
            arylation(step, events, nucleophile, carbon, leaving)
        }
        Event::Vinylation { nucleophile, carbon, leaving } => vinylation(step, nucleophile, carbon, leaving),
        Event::Coupling { metal, carbon, leaving } => coupling(step, metal, carbon, leaving),
        Event::DirectArylation { .. } if step.atoms().any(|atom| has_open_boron(before, atom)) => {
            Err(Refusal::CompetingGroup)
        }
        Event::DirectArylation { arene, carbon, leaving } => direct_arylation(step, arene, carbon, leaving),
        Event::Alkynylation { carbon, leaving, .. } | Event::Heck { carbon, leaving, .. } => {
            halide(step, carbon, leaving)
        }
        Event::MetalAddition { metal, carbon } => metal_addition(step, metal, carbon),
        // An amide's nitrogen adds to formaldehyde alone (March, chapter 16).
        Event::ReductiveAmination { nitrogen, carbon }
            if before.group(nitrogen) == Group::AmideNitrogen
                && before.hydrogens(carbon) < 2
                && !step.are_in_same_molecule(nitrogen, carbon) =>
        {
            Err(Refusal::Unreactive)
        }
        Event::ReductiveAmination { nitrogen, carbon } | Event::Imination { nitrogen, carbon } => {
            imination(step, events, nitrogen, carbon)
        }
        Event::ReductiveEtherification { oxygen, carbon } => {
            if before.group(oxygen) == Group::AcidOxygen {
                return Err(Refusal::Unreactive);
            }
            carbonyl_electrophile(step, carbon, false)
        }
        Event::Acetalisation { carbon } if is_vinyl_ketone(before, carbon) => Err(Refusal::SelfReacting),
        Event::Acetalisation { carbon } if before.group(carbon) != Group::Acid => {
            carbonyl_electrophile(step, carbon, true)
        }
        Event::LactamHalogenation { carbon } => lactam_halogenation(step, carbon),
        Event::Metathesis { carbon, partner } => match closed_ring_size(step, carbon, partner) {
            Some(ring) if ring < 5 => Err(Refusal::Strained),
            _ => Ok(()),
        },
        Event::Olefination { carbon, .. } => carbonyl_electrophile(step, carbon, false),
        Event::Aldol { carbon, nucleophile } if step.is_titanacyclopropane(nucleophile, carbon) => Ok(()),
        Event::Aldol { carbon, nucleophile } => {
            if !is_acidic(before, nucleophile) || is_methyl_of_imidazole(before, nucleophile) {
                return Err(Refusal::Unreactive);
            }
            // The first bond of a ring closure may be an acylation.
            if before.group(carbon) == Group::Ester {
                check_enolate(step, nucleophile, carbon)?;
            }
            if enolises_beside_heteroatom(step, nucleophile) {
                return Err(Refusal::CompetingGroup);
            }
            // Stabilised carbanions add to the far end of an enone.
            let enone = before.group(carbon) == Group::Ketone
                && before.next_to(carbon).any(|next| {
                    before
                        .doubly(next, |far| before.element(far) == C)
                        .is_some_and(|far| before.carbons(far) < 3 && step.is_untouched(far))
                });
            if enone && is_doubly_activated(before, nucleophile) {
                return Err(Refusal::CompetingGroup);
            }
            carbonyl_electrophile(step, carbon, true)
        }
        Event::ConjugateAddition { nucleophile, carbon, partner } => {
            conjugate_addition(step, events, nucleophile, carbon, partner)
        }
        Event::Deoxyhalogenation { carbon, oxygen } => deoxyhalogenation(step, carbon, oxygen),
        Event::AcidActivation { carbon } => acid_activation(step, carbon),
        Event::Functionalisation { carbon, element } => functionalisation(step, carbon, element),
        _ => Ok(()),
    }
}

/// Returns true for a ketone with a methylene group on its α-carbon, which adds amines, and an alcohol in acid, before the carbonyl group does (Clayden, Greeves and
/// Warren, chapter 22).
pub fn is_vinyl_ketone(it: &Facts, ketone: u32) -> bool {
    it.group(ketone) == Group::Ketone && it.next_to(ketone).any(|alpha| it.has_methylene(alpha))
}

/// Returns true for the carbon of a ketone whose other side bears a heteroatom and hydrogen, as 3-piperidones do: they enolise to both.
fn enolises_beside_heteroatom(step: &Step<'_>, carbon: u32) -> bool {
    let it = &step.before;
    let is_rival = |other: u32| {
        other != carbon
            && it.is_sp3(other)
            && it.hydrogens(other) > 1
            && it.next_to(other).any(|next| matches!(it.element(next), N | O | S))
            && step.is_untouched(other)
    };
    let is_plain = it.is_sp3(carbon) && it.next_to(carbon).filter(|&next| it.is_acceptor(next)).count() == 1;
    is_plain
        && it
            .next_to(carbon)
            .any(|ketone| it.group(ketone) == Group::Ketone && it.next_to(ketone).any(is_rival))
}
