//! Electrophiles beside a second ring that takes them first.
//!
//! Sources: Brown and Okamoto, J. Am. Chem. Soc. 1958, 80, 4979, for σ⁺, by which an anisole is a hundred times as fast as an anilide; Joule and
//! Mills, chapters 20 and 24, for the benzene ring of indoles in acid and for C4 of pyrazoles, which takes bromine from
//! N-bromosuccinimide at room temperature; Kuivila and Hendrickson, J. Am. Chem. Soc. 1952, 74, 5068, for the halogenolysis of boronic acids.

use crate::arylation::keeps_arylboron;
use crate::change::{Facts, Step};
use crate::event::Event;
use crate::group::{Group, aromatic_positions};
use crate::queries::*;
use crate::refusal::Refusal;

/// Refuses substitutions of one ring beside a richer one, and radical brominations beside a free pyrazole C4.
///
/// # Errors
/// Fails with [`Refusal::Position`] or [`Refusal::CompetingGroup`], and with [`Refusal::Incompatible`] beside a boronic acid.
pub fn check(step: &Step<'_>, events: &[Event]) -> Result<(), Refusal> {
    let it = &step.before;
    for event in events {
        match *event {
            Event::AromaticSubstitution { carbon, element, .. } if matches!(element, N | S | CL | BR | I) => {
                if matches!(element, CL | BR | I) && keeps_arylboron(step) {
                    return Err(Refusal::Incompatible);
                }
                let is_richer = |atom: u32| {
                    is_benzoyl_site(it, carbon) && donor(it, atom) == Donor::Ether
                        || is_anisole_site(it, atom) && is_anilide_site(it, carbon)
                        || element == N
                            && is_nitro(step, carbon)
                            && is_indole_site(it, atom)
                            && it.ring(carbon) == 6
                        || element == N
                            && is_nitro(step, carbon)
                            && is_azolium_site(it, carbon)
                            && (donor(it, atom) == Donor::Ether || is_plain_benzene_site(it, atom))
                };
                let is_rival = |atom: u32| {
                    it.is_aromatic_carbon(atom)
                        && it.hydrogens(atom) > 0
                        && is_richer(atom)
                        && step.is_untouched(atom)
                        && !are_in_one_ring_system(it, atom, carbon)
                };
                if step.atoms().any(is_rival) {
                    return Err(Refusal::Position);
                }
            }
            Event::Functionalisation { carbon, element: BR }
                if it.is_benzylic_or_allylic(carbon)
                    && !it.is_alpha(carbon)
                    && step.atoms().any(|atom| is_pyrazole_site(it, atom) && step.is_untouched(atom)) =>
            {
                return Err(Refusal::CompetingGroup);
            }
            _ => {}
        }
    }
    Ok(())
}

fn is_nitro(step: &Step<'_>, carbon: u32) -> bool {
    step.image(carbon).is_some_and(|image| step.after.next_to(image).any(|next| step.after.is_nitro(next)))
}

/// Best donor ortho or para to a position of a benzene ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Donor {
    None,
    Amide,
    Ether,
}

fn donor(it: &Facts, carbon: u32) -> Donor {
    if it.ring(carbon) != 6 {
        return Donor::None;
    }
    let of = |next: u32| match it.group(next) {
        Group::ArylEther => Donor::Ether,
        Group::AmideNitrogen | Group::CarbamateNitrogen | Group::UreaNitrogen if !it.is_aromatic(next) => {
            Donor::Amide
        }
        // A methylenedioxy group.
        Group::Acetal if it.is_in_ring(next) => Donor::Ether,
        Group::Phenol | Group::Aniline | Group::SecondaryAniline | Group::TertiaryAniline => Donor::Ether,
        _ => Donor::None,
    };
    aromatic_positions(&it.structure, carbon)
        .iter()
        .filter(|&&(_, distance)| distance != 2)
        .flat_map(|&(atom, _)| it.next_to(atom).map(of))
        .max()
        .unwrap_or(Donor::None)
}

/// Returns true for a position whose best donor is an amide's nitrogen.
fn is_anilide_site(it: &Facts, carbon: u32) -> bool {
    donor(it, carbon) == Donor::Amide
}

/// Returns true for a position of a benzene ring with a carbonyl group and no donor ortho or para to it.
fn is_benzoyl_site(it: &Facts, carbon: u32) -> bool {
    donor(it, carbon) == Donor::None
        && it.ring(carbon) == 6
        && aromatic_positions(&it.structure, carbon)
            .iter()
            .all(|&(atom, _)| it.is_aromatic_carbon(atom) && !it.is_carbonyl(atom))
        && aromatic_positions(&it.structure, carbon)
            .iter()
            .any(|&(atom, _)| it.next_to(atom).any(|next| it.is_carbonyl(next)))
}

/// Returns true for the position para to an alkoxy group of a ring without acceptors or halogens.
fn is_anisole_site(it: &Facts, carbon: u32) -> bool {
    if it.ring(carbon) != 6 {
        return false;
    }
    let positions = aromatic_positions(&it.structure, carbon);
    let is_para_ether = positions.iter().any(|&(atom, distance)| {
        distance == 3 && it.next_to(atom).any(|next| it.group(next) == Group::ArylEther)
    });
    is_para_ether
        && !positions
            .iter()
            .any(|&(atom, _)| it.element(atom) != C || it.next_to(atom).any(|next| it.is_withdrawing(next)))
}

/// Returns true for a free position of the benzene ring of an indole whose nitrogen has no acyl group.
fn is_indole_site(it: &Facts, carbon: u32) -> bool {
    let is_pyrrole = |atom: u32| {
        it.element(atom) == N
            && it.is_aromatic(atom)
            && it.ring(atom) == 5
            && (it.hydrogens(atom) > 0 || it.degree(atom) == 3)
            && !it.next_to(atom).any(|next| it.is_acceptor(next))
    };
    it.ring(carbon) == 6
        && aromatic_positions(&it.structure, carbon).iter().any(|&(atom, distance)| {
            distance > 1 && it.is_shared_by_aromatic_rings(atom) && it.next_to(atom).any(is_pyrrole)
        })
        && aromatic_positions(&it.structure, carbon)
            .iter()
            .all(|&(atom, distance)| distance == 3 || it.element(atom) == C)
}

/// Returns true for the free C4 of a pyrazole without acceptors.
fn is_pyrazole_site(it: &Facts, carbon: u32) -> bool {
    if !it.is_aromatic_carbon(carbon) || it.ring(carbon) != 5 || it.hydrogens(carbon) == 0 {
        return false;
    }
    let flanks: Vec<u32> =
        it.next_to(carbon).filter(|&next| it.is_aromatic_carbon(next) && it.ring(next) == 5).collect();
    let nitrogen = |atom: u32| it.next_to(atom).find(|&next| it.element(next) == N && it.is_aromatic(next));
    let [a, b] = flanks[..] else { return false };
    let is_drawn = |atom: u32| {
        it.next_to(atom)
            .any(|next| it.is_acceptor(next) && !it.is_aromatic(next) || it.is_trifluoromethyl(next))
    };
    nitrogen(a).zip(nitrogen(b)).is_some_and(|(first, second)| it.bond(first, second).is_some())
        && ![a, b].into_iter().any(is_drawn)
}

/// Returns true for a position of an imidazole or pyrazole, which nitrates as the cation: phenyl rings beside it take nitric acid first (Joule and Mills 2010, chapters 24 and
/// 25: 4-phenylimidazole and 1-phenylpyrazole give the nitrophenyl compounds).
fn is_azolium_site(it: &Facts, carbon: u32) -> bool {
    it.ring(carbon) == 5
        && it.azole_nitrogens(carbon).count() == 2
        && it.azole_nitrogens(carbon).any(|nitrogen| it.group(nitrogen) == Group::Azine)
}

/// Returns true for a position of a benzene ring without an acceptor or halogen.
fn is_plain_benzene_site(it: &Facts, carbon: u32) -> bool {
    it.ring(carbon) == 6
        && aromatic_positions(&it.structure, carbon).iter().all(|&(atom, _)| {
            it.is_aromatic_carbon(atom)
                && !it.is_shared_by_aromatic_rings(atom)
                && !it.next_to(atom).any(|next| it.is_withdrawing(next))
        })
}

fn are_in_one_ring_system(it: &Facts, a: u32, b: u32) -> bool {
    aromatic_positions(&it.structure, a).iter().any(|&(atom, _)| atom == b)
}
