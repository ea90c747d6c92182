//! Alkyl electrophiles that the base of a step turns into alkenes before a nucleophile displaces their leaving group.
//!
//! Sources: Clayden, Greeves and Warren, chapter 17, for E1cB beside carbonyl groups and E2 of secondary homobenzylic sulfonates; Doering and
//! Weil, J. Am. Chem. Soc. 1947, 69, 2461, for the pyridylethyl system, which eliminates and adds as acrylates do; Heasley, Codding and
//! others, J. Org. Chem. 1965, 30, 3463, for the transannular ethers of 4-halocyclohexanols; Org. Synth. coll. vol. 9, 68, for 2-bromoacryloyl
//! compounds from 2,3-dihalides and triethylamine.

use chem::Order;

use crate::alkylation::is_doubly_activated;
use crate::base_labile::is_aldol;
use crate::change::{Facts, Step};
use crate::competition::closed_ring_size;
use crate::event::Event;
use crate::group::{Group, aromatic_positions, has_conjugated_nitro};
use crate::queries::*;
use crate::refusal::Refusal;

/// Refuses steps whose electrophile loses its leaving group to an alkene, or to an ether of its own.
///
/// # Errors
/// Fails with [`Refusal::SelfReacting`].
pub fn check(step: &Step<'_>, events: &[Event]) -> Result<(), Refusal> {
    let is_lost = |event: &Event| match *event {
        Event::Alkylation { nucleophile, carbon, leaving } if is_substitution(step, carbon, leaving) => {
            closed_ring_size(step, nucleophile, carbon).is_none()
                && (is_beside_benzylic_halide(step, carbon)
                    || eliminates(step, nucleophile, carbon, leaving)
                    || is_cyclohexyl_alkoxide(&step.before, nucleophile))
        }
        Event::Alkylation { nucleophile, carbon, leaving } => {
            step.before.is_hydroxyl(leaving)
                && (is_stilbene_carbinol(&step.before, nucleophile, carbon)
                    || is_beside_carbon_acid(&step.before, carbon))
        }
        // The amine of its making turns the sulfonate of an aldol into the enone.
        Event::Sulfonylation { nucleophile, .. } => is_aldol(&step.before, nucleophile),
        Event::Acylation { nucleophile, carbon } => {
            step.before.element(nucleophile) == N && has_vicinal_dihalide(&step.before, carbon)
        }
        Event::MetalAddition { carbon, .. } => step
            .before
            .next_to(carbon)
            .any(|oxygen| step.before.element(oxygen) == O && is_halocyclohexane(&step.before, carbon)),
        _ => false,
    };
    if events.iter().any(is_lost) || makes_aziridine(step) {
        return Err(Refusal::SelfReacting);
    }
    if makes_acidic_centre(step) { Err(Refusal::StereoScrambled) } else { Ok(()) }
}

/// Returns true for a carbon with a leaving group beside a benzylic one with a halogen that stays: base takes the benzylic hydrogen to the halostyrene (Clayden, Greeves and Warren, chapter 17).
fn is_beside_benzylic_halide(step: &Step<'_>, carbon: u32) -> bool {
    let it = &step.before;
    it.next_to(carbon).any(|beta| {
        it.is_alkyl_halide(beta) && it.hydrogens(beta) == 1 && it.aryls(beta) > 0 && step.is_untouched(beta)
    })
}

/// Returns true if the new double bond makes a cyclopentadiene, an indene or the like of a ring whose fifth atom is a stereocentre with hydrogen: its anion is aromatic,
/// and the hydrogen shifts (Clayden, Greeves and Warren, chapters 8 and 35).
fn makes_acidic_centre(step: &Step<'_>) -> bool {
    let after = step.after;
    let is_new = |&(a, b, was, now): &(u32, u32, Order, Order)| {
        was == Order::Single
            && now == Order::Double
            && step.before.element(a) == C
            && step.before.element(b) == C
    };
    let is_flat = |atom: u32| after.is_aromatic(atom) || after.doubly(atom, |_| true).is_some();
    let is_acidic = |atom: u32| {
        let ring = || after.around(atom).iter().filter(|bond| bond.ring == 5).map(|bond| bond.to);
        after.at(atom).centre.is_some()
            && after.hydrogens(atom) == 1
            && after.ring(atom) == 5
            && ring().count() == 2
            && ring().all(|next| {
                is_flat(next)
                    && after
                        .around(next)
                        .iter()
                        .any(|bond| bond.ring == 5 && bond.to != atom && is_flat(bond.to))
            })
    };
    step.change.reordered.iter().any(is_new) && (0..after.atoms() as u32).any(is_acidic)
}

/// Returns true for a carbon beside the C–H of a malonate, β-keto ester or nitroalkane, whose activated hydroxyl group leaves for the alkene.
fn is_beside_carbon_acid(it: &Facts, carbon: u32) -> bool {
    let is_acid = |beta: u32| {
        it.is_sp3(beta)
            && it.hydrogens(beta) > 0
            && (is_doubly_activated(it, beta) || it.next_to(beta).any(|next| it.is_nitro(next)))
    };
    it.is_sp3(carbon) && it.next_to(carbon).any(is_acid)
}

/// Returns true for a halide, a sulfonate or an epoxide; alcohols need no base.
fn is_substitution(step: &Step<'_>, carbon: u32, leaving: u32) -> bool {
    let it = &step.before;
    it.is_sp3(carbon)
        && (is_heavy_halogen(it.element(leaving))
            || it.group(leaving) == Group::SulfonateOxygen
            || it.element(leaving) == O && it.ring(leaving) == 3)
}

/// Kind of nucleophile, by the base that comes with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Base {
    /// An amine, which adds to the alkene as well and gives the same product where the carbon is primary.
    Amine,
    /// The anion of an alcohol, phenol, amide or azole.
    Anion,
    /// Soft or weakly basic nucleophiles: azide, thiolates, cyanide, carboxylates.
    Soft,
}

impl Base {
    fn of(it: &Facts, nucleophile: u32) -> Self {
        match it.group(nucleophile) {
            Group::Ammonia
            | Group::PrimaryAmine
            | Group::SecondaryAmine
            | Group::Aniline
            | Group::SecondaryAniline => Self::Amine,
            Group::PrimaryAlcohol
            | Group::SecondaryAlcohol
            | Group::TertiaryAlcohol
            | Group::Phenol
            | Group::AmideNitrogen
            | Group::CarbamateNitrogen
            | Group::UreaNitrogen
            | Group::SulfonamideNitrogen
            | Group::Indole
            | Group::EsterOxygen => Self::Anion,
            _ => Self::Soft,
        }
    }
}

fn eliminates(step: &Step<'_>, nucleophile: u32, carbon: u32, leaving: u32) -> bool {
    let it = &step.before;
    let base = Base::of(it, nucleophile);
    let is_cyanide = it.is_cyano(nucleophile);
    if is_cyanide && is_of_vicinal_dihalide(it, carbon) {
        return true;
    }
    if (base == Base::Anion || is_cyanide) && it.next_to(carbon).any(|beta| is_nitrobenzylic(it, beta)) {
        return true;
    }
    if base == Base::Soft {
        return false;
    }
    let is_primary = it.hydrogens(carbon) == 2;
    let is_epoxide = it.ring(leaving) == 3;
    let mut beta = it.next_to(carbon).filter(|&beta| it.is_sp3(beta) && it.hydrogens(beta) > 0);
    // The far end of an epoxide opens; its other carbon is the one that loses oxygen to a base.
    if is_epoxide {
        return it.next_to(leaving).filter(|&other| other != carbon).any(|other| {
            it.next_to(other).any(|beta| {
                beta != carbon
                    && it.is_sp3(beta)
                    && it.hydrogens(beta) > 0
                    && it.next_to(beta).any(|next| matches!(it.group(next), Group::Ketone | Group::Aldehyde))
            })
        });
    }
    beta.any(|beta| {
        // 2-(2-Pyridyl)ethyl sulfonates take phenoxides (pioglitazone).
        let is_activated =
            has_acceptor(it, beta) || is_heavy_halogen(it.element(leaving)) && is_azine_methylene(it, beta);
        let is_halogenated = it.next_to(beta).any(|next| is_heavy_halogen(it.element(next)));
        let is_homobenzylic =
            !is_primary && it.hydrogens(beta) == 2 && it.next_to(beta).any(|next| it.is_aromatic(next));
        is_activated && (base == Base::Anion || !is_primary || is_halogenated)
            || is_homobenzylic && it.carbons(carbon) == 2 && !it.is_in_ring(carbon)
    }) || base == Base::Amine && is_alpha_of_dihalide(it, carbon)
}

/// Returns true for a carbon beside a carbonyl group other than that of an acid, a nitrile, a sulfone or a nitro group.
fn has_acceptor(it: &Facts, beta: u32) -> bool {
    it.next_to(beta).any(|next| {
        it.is_acceptor(next)
            && !it.is_aromatic(next)
            && it.group(next) != Group::Acid
            && it.group(next) != Group::Sulfoxide
    })
}

/// Returns true for a CH2 ortho or para to a nitro group, whose proton a phenoxide or cyanide takes: the styrene forms (Clayden, Greeves and Warren, chapter 17).
fn is_nitrobenzylic(it: &Facts, beta: u32) -> bool {
    it.is_sp3(beta)
        && it.hydrogens(beta) > 0
        && it
            .next_to(beta)
            .any(|ring| it.is_aromatic_carbon(ring) && has_conjugated_nitro(&it.structure, ring))
}

/// Returns true for a CH2 at a position of an azine or azole from which the ring takes the negative charge: 2 and 4 of pyridine, 2 of thiazole.
fn is_azine_methylene(it: &Facts, beta: u32) -> bool {
    let is_pyridine = |atom: u32| it.element(atom) == N && it.degree(atom) == 2 && it.hydrogens(atom) == 0;
    it.next_to(beta).filter(|&ring| it.is_aromatic_carbon(ring)).any(|ring| {
        if it.ring(ring) == 5 {
            return it.next_to(ring).any(|next| it.element(next) == S) && is_thiazole(it, ring);
        }
        aromatic_positions(&it.structure, ring)
            .iter()
            .any(|&(atom, distance)| distance != 2 && is_pyridine(atom) && it.ring(atom) == 6)
    })
}

/// Returns true if a thiazole's nitrogen is in the ring of this carbon beside sulfur.
fn is_thiazole(it: &Facts, ring: u32) -> bool {
    it.distances(ring, 2).into_iter().any(|(atom, distance)| {
        distance > 0
            && it.element(atom) == N
            && it.is_aromatic(atom)
            && it.ring(atom) == 5
            && it.degree(atom) == 2
    })
}

/// Returns true for the acyl carbon of a 2,3-dihalopropanoyl compound.
fn has_vicinal_dihalide(it: &Facts, acyl: u32) -> bool {
    it.next_to(acyl).any(|alpha| is_alpha_of_dihalide(it, alpha))
}

/// Returns true for a carbon of a vicinal dihalide whose other one bears hydrogen: cyanide is base enough for the alkene, and the β-halo nitrile would lose the second halide (March, chapter 17).
fn is_of_vicinal_dihalide(it: &Facts, carbon: u32) -> bool {
    it.next_to(carbon)
        .any(|beta| it.is_alkyl_halide(beta) && it.hydrogens(beta) > 0 && it.count(beta, F) == 0)
}

fn is_alpha_of_dihalide(it: &Facts, alpha: u32) -> bool {
    it.is_alkyl_halide(alpha)
        && it.hydrogens(alpha) > 0
        && it.next_to(alpha).any(|next| it.is_carbonyl(next))
        && it.next_to(alpha).any(|beta| it.is_alkyl_halide(beta) && it.count(beta, F) == 0)
}

/// Returns true if the nucleophile is the oxygen of a 4-halocyclohexanol, whose alkoxide closes or eliminates.
fn is_cyclohexyl_alkoxide(it: &Facts, oxygen: u32) -> bool {
    it.element(oxygen) == O
        && it.hydrogens(oxygen) > 0
        && it.next_to(oxygen).any(|carbon| is_halocyclohexane(it, carbon))
}

/// Returns true for a carbon across a cyclohexane from one with a halide or sulfonate.
fn is_halocyclohexane(it: &Facts, carbon: u32) -> bool {
    let leaves = |far: u32| {
        it.is_sp3(far)
            && it.ring(far) == 6
            && it
                .next_to(far)
                .any(|next| is_heavy_halogen(it.element(next)) || it.group(next) == Group::SulfonateOxygen)
    };
    it.ring(carbon) == 6
        && it
            .distances(carbon, 3)
            .into_iter()
            .any(|(far, distance)| distance == 3 && leaves(far) && is_across(it, carbon, far))
}

/// Returns true if two paths of three ring bonds join the atoms.
fn is_across(it: &Facts, a: u32, b: u32) -> bool {
    let ring = |atom: u32| {
        it.around(atom).iter().filter(|bond| bond.ring == 6).map(|bond| bond.to).collect::<Vec<_>>()
    };
    let (near, far) = (ring(a), ring(b));
    near.iter().filter(|&&next| ring(next).iter().any(|other| far.contains(other))).count() == 2
}

/// Returns true if the product is a secondary amine with a halide β to its nitrogen and a carbonyl group between them.
fn makes_aziridine(step: &Step<'_>) -> bool {
    let (before, after) = (&step.before, step.after);
    step.joined().any(|(nitrogen, carbon)| {
        matches!(before.group(nitrogen), Group::PrimaryAmine | Group::SecondaryAmine)
            && step.image(nitrogen).zip(step.image(carbon)).is_some_and(|(nitrogen, alpha)| {
                matches!(after.group(nitrogen), Group::SecondaryAmine)
                    && after.is_sp3(alpha)
                    && after.next_to(alpha).any(|beta| {
                        after.is_sp3(beta)
                            && after.next_to(beta).any(|next| is_heavy_halogen(after.element(next)))
                    })
                    && after.next_to(alpha).any(|next| after.is_carbonyl(next))
            })
    })
}

/// Returns true for a benzylic carbon whose hydroxyl group a Mitsunobu reaction activates and whose neighbour is benzylic too: the stilbene forms (Swamy and others, Chem.
/// Rev. 2009, 109, 2551). Retention by acylation keeps the ester.
fn is_stilbene_carbinol(it: &Facts, nucleophile: u32, carbon: u32) -> bool {
    it.element(nucleophile) == O
        && it.aryls(carbon) > 0
        && it.next_to(carbon).any(|beta| it.is_sp3(beta) && it.hydrogens(beta) > 1 && it.aryls(beta) > 0)
}
