//! Bifunctional molecules that close on themselves under the conditions of a step, before the wanted bond forms.
//!
//! Sources: Mandolini (Adv. Phys. Org. Chem. 1986) for the rates of closure by ring size, 3, 5 and 6 before 7; Bordwell
//! (Acc. Chem. Res. 1988) for acidities.

use crate::alkylation::is_doubly_activated;
use crate::change::{Facts, Step};
use crate::competition::closed_ring_size;
use crate::electrophile;
use crate::event::Event;
use crate::group::{Group, aromatic_positions, positions_beside};
use crate::queries::*;
use crate::refusal::Refusal;

/// Rank of an alkyl electrophile from which rings close at room temperature.
const CLOSING_RANK: i32 = 45;

/// Rank of an alkyl electrophile that phenoxides take at once: benzyl chloride, a bromide.
const FAST_RANK: i32 = 66;

/// Checks the molecules of the reaction mixture for closures that its events would start.
///
/// # Errors
/// Fails with [`Refusal::SelfReacting`] for a molecule that closes.
pub fn check(step: &Step<'_>, events: &[Event]) -> Result<(), Refusal> {
    let it = &step.before;
    let closes = events.iter().any(|event| match *event {
        Event::Alkylation { nucleophile, carbon, leaving } => {
            needs_strong_base(it, nucleophile)
                && (enolate_closes(step, carbon) || phenoxide_closes(step, nucleophile))
                || needs_base(it, nucleophile)
                    && (amide_closes(step, carbon)
                        || alkylates_its_own_kind(step, nucleophile)
                        || alkylates_its_own_acid(step, nucleophile, carbon)
                        || carboxylate_closes(step, nucleophile, carbon))
                || has_aldehyde(step, carbon)
                || alcohol_closes(step, nucleophile, carbon)
                || alkoxide_closes(step, nucleophile, carbon)
                || is_behind_cyclopropane(step, nucleophile, carbon)
                || malonate_closes(step, nucleophile, carbon)
                || is_weak_phenoxide_beside_acid(step, nucleophile, carbon)
                || catechol_closes(step, nucleophile, leaving)
                || phenol_closes_across(step, nucleophile, carbon)
        }
        Event::Sulfonylation { nucleophile, .. } => acid_closes(step, nucleophile),
        Event::Hydrolysis { carbon, .. } => urea_closes(step, carbon),
        Event::Cleavage { atom, root } if is_saponified(it, atom, root) => {
            it.next_to(atom).any(|carbon| urea_closes(step, carbon))
        }
        Event::Cleavage { atom, root } if is_amide(it, atom) && it.group(root) == Group::Amide => it
            .distances(atom, 2)
            .into_iter()
            .any(|(carbon, distance)| distance == 2 && amide_closes(step, carbon)),
        _ => false,
    });
    let closes = closes
        || step.change.made.iter().any(|&(a, b, _)| claisen_closes(step, a, b) || claisen_closes(step, b, a));
    if closes { Err(Refusal::SelfReacting) } else { Ok(()) }
}

/// Returns true if the molecule of an alkyl halide or sulfonate has an enolisable aldehyde, which bases and amines condense before (Clayden,
/// Greeves and Warren, chapter 26): chemists use the acetal.
fn has_aldehyde(step: &Step<'_>, carbon: u32) -> bool {
    let it = &step.before;
    let is_enolisable = |aldehyde: u32| {
        it.next_to(aldehyde).any(|alpha| alpha != carbon && it.is_sp3(alpha) && it.hydrogens(alpha) > 0)
    };
    electrophile::alkyl(it, carbon) >= CLOSING_RANK
        && step.atoms().any(|atom| {
            it.group(atom) == Group::Aldehyde
                && step.is_untouched(atom)
                && step.are_in_same_molecule(atom, carbon)
                && is_enolisable(atom)
        })
}

/// Returns true for an O–H or N–H acid, which attacks as its anion.
fn needs_base(it: &Facts, nucleophile: u32) -> bool {
    needs_strong_base(it, nucleophile)
        || it.hydrogens(nucleophile) > 0
            && matches!(
                it.group(nucleophile),
                Group::Phenol
                    | Group::OximeOxygen
                    | Group::Azole
                    | Group::ImideNitrogen
                    | Group::SulfonamideNitrogen
                    | Group::AcidOxygen
            )
}

/// Returns true for the N–H of an amide that is not part of a ring.
fn is_amide(it: &Facts, nitrogen: u32) -> bool {
    it.group(nitrogen) == Group::AmideNitrogen && it.hydrogens(nitrogen) > 0 && !it.is_in_ring(nitrogen)
}

/// Returns true if a carbon with a leaving group is β to the nitrogen of an amide, whose oxygen displaces the leaving
/// group with base (oxazolines: Wiley and Bennett, Chem. Rev. 1949).
fn amide_closes(step: &Step<'_>, carbon: u32) -> bool {
    let it = &step.before;
    electrophile::alkyl(it, carbon) >= CLOSING_RANK
        && !it.is_beside_epoxide_oxygen(carbon)
        && it
            .next_to(carbon)
            .filter(|&next| it.is_sp3(next))
            .any(|next| it.next_to(next).any(|nitrogen| is_amide(it, nitrogen)))
}

/// Returns true if the attacked molecule has a free acid, which base turns into the better nucleophile: it closes a lactone of five to
/// seven, and esterifies a fast halide before an amide's nitrogen attacks (Mandolini, Adv. Phys. Org. Chem. 1986). The salt of a haloacetic acid takes its own kind.
fn carboxylate_closes(step: &Step<'_>, nucleophile: u32, carbon: u32) -> bool {
    let it = &step.before;
    let rank = electrophile::alkyl(it, carbon);
    let is_slower = needs_strong_base(it, nucleophile) && rank >= FAST_RANK;
    rank >= CLOSING_RANK
        && !it.is_beside_epoxide_oxygen(carbon)
        && it.distances(carbon, 12).into_iter().any(|(atom, distance)| {
            it.group(atom) == Group::AcidOxygen
                && it.hydrogens(atom) > 0
                && step.is_untouched(atom)
                && (matches!(distance, 4..=6)
                    || is_slower && distance > 6
                    || distance == 2 && is_weak_amide(it, nucleophile))
        })
}

/// Returns true for the N–H of an amide, carbamate, urea or sulfonamide in no aromatic ring.
fn is_weak_amide(it: &Facts, nitrogen: u32) -> bool {
    let is_acylated = matches!(
        it.group(nitrogen),
        Group::AmideNitrogen | Group::CarbamateNitrogen | Group::UreaNitrogen | Group::SulfonamideNitrogen
    );
    is_acylated && it.hydrogens(nitrogen) > 0 && !it.is_aromatic(nitrogen)
}

/// Returns true if an alcohol of the attacked molecule closes on its leaving group before the nucleophile comes: tetrahydrofurans in any base,
/// tetrahydropyrans and epoxides in one that takes the alcohol's proton.
fn alcohol_closes(step: &Step<'_>, nucleophile: u32, carbon: u32) -> bool {
    let it = &step.before;
    let is_strong = needs_strong_base(it, nucleophile);
    let is_carbanion = it.is_sp3(nucleophile) && it.hydrogens(nucleophile) > 0;
    let is_in_reach = |distance: u32| distance == 4 || is_strong && matches!(distance, 2 | 5);
    // Either nitrogen of an azole is its anion's.
    let is_azole = it.element(nucleophile) == N && it.is_aromatic(nucleophile);
    (needs_base(it, nucleophile) || is_carbanion || is_azole)
        && electrophile::alkyl(it, carbon) >= CLOSING_RANK
        && !it.is_beside_epoxide_oxygen(carbon)
        && it.distances(carbon, 5).into_iter().any(|(atom, distance)| {
            matches!(it.group(atom), Group::PrimaryAlcohol | Group::SecondaryAlcohol | Group::TertiaryAlcohol)
                && step.is_untouched(atom)
                && is_in_reach(distance)
        })
}

/// Returns true if the alcohol that base is to join to another halide has one of its own, on which it closes to the epoxide, tetrahydrofuran or tetrahydropyran
/// (Mandolini, Adv. Phys. Org. Chem. 1986). Acetals of such alcohols form without base.
fn alkoxide_closes(step: &Step<'_>, nucleophile: u32, carbon: u32) -> bool {
    let it = &step.before;
    let is_alcohol = matches!(
        it.group(nucleophile),
        Group::PrimaryAlcohol | Group::SecondaryAlcohol | Group::TertiaryAlcohol
    );
    is_alcohol
        && !step.are_in_same_molecule(nucleophile, carbon)
        && step
            .lost(carbon)
            .any(|(gone, _)| is_heavy_halogen(it.element(gone)) || it.group(gone) == Group::SulfonateOxygen)
        && it.aryls(carbon) < 3
        && !it.next_to(carbon).any(|next| it.element(next) == O && step.image(next).is_some())
        && it.distances(nucleophile, 5).into_iter().any(|(atom, distance)| {
            matches!(distance, 2 | 4 | 5) && it.is_alkyl_halide(atom) && step.is_untouched(atom)
        })
}

/// Returns true if a molecule has a phenol or oxime and a benzylic, allylic or other fast halide that the base of the
/// step brings together, unless that is the wanted ring.
fn alkylates_its_own_kind(step: &Step<'_>, nucleophile: u32) -> bool {
    let it = &step.before;
    let is_acid =
        |&atom: &u32| matches!(it.group(atom), Group::Phenol | Group::OximeOxygen) && it.hydrogens(atom) > 0;
    let is_halide = |&atom: &u32| electrophile::alkyl(it, atom) >= FAST_RANK && !step.forms_bond(atom);
    step.atoms().filter(is_acid).any(|acid| {
        (acid == nucleophile || step.is_untouched(acid))
            && step.atoms().filter(is_halide).any(|halide| step.are_in_same_molecule(acid, halide))
    })
}

/// Returns true for an acid and a halide whose molecule keeps an acid of its own, which takes it as well.
fn alkylates_its_own_acid(step: &Step<'_>, nucleophile: u32, carbon: u32) -> bool {
    let it = &step.before;
    it.group(nucleophile) == Group::AcidOxygen
        && it.next_to(carbon).any(|next| is_heavy_halogen(it.element(next)))
        && step.atoms().any(|acid| step.is_kept_acid(acid) && step.are_in_same_molecule(acid, carbon))
}

/// Returns true for a phenol with four fluorines or two nitro groups and a halo acid, whose carboxylate is as strong a base and the better nucleophile: the acid alkylates itself (Bordwell
/// 1988). Chemists take the ester.
fn is_weak_phenoxide_beside_acid(step: &Step<'_>, phenol: u32, carbon: u32) -> bool {
    let it = &step.before;
    let is_acid = |atom: u32| step.is_kept_acid(atom) && step.are_in_same_molecule(atom, carbon);
    let is_weak = |ipso: u32| {
        let count = |wanted: &dyn Fn(u32) -> bool| positions_beside(&it.structure, ipso, wanted);
        count(&|next| it.element(next) == F) > 3 || count(&|next| it.is_nitro(next)) > 1
    };
    it.group(phenol) == Group::Phenol
        && it.is_alkyl_halide(carbon)
        && it.next_to(phenol).any(is_weak)
        && step.atoms().any(is_acid)
}

/// Returns true if alkoxide closes the ester that is to condense with another: its α-carbon reaches a leaving group of its
/// own molecule in a ring of three, five or six.
fn claisen_closes(step: &Step<'_>, alpha: u32, acyl: u32) -> bool {
    let it = &step.before;
    let is_condensation = it.is_sp3(alpha)
        && it.is_alpha(alpha)
        && it.group(acyl) == Group::Ester
        && step.lost(acyl).any(|(gone, _)| it.group(gone) == Group::EsterOxygen);
    is_condensation
        && it.distances(alpha, 5).into_iter().any(|(carbon, distance)| {
            matches!(distance, 2 | 4 | 5)
                && electrophile::alkyl(it, carbon) >= CLOSING_RANK
                && ring_allows(it, alpha, carbon)
        })
}

/// Returns true for a nucleophile whose base also takes the proton beside a ketone: an amide, an alcohol, an indole.
fn needs_strong_base(it: &Facts, nucleophile: u32) -> bool {
    let has_proton = it.hydrogens(nucleophile) > 0;
    has_proton
        && matches!(
            it.group(nucleophile),
            Group::AmideNitrogen
                | Group::CarbamateNitrogen
                | Group::UreaNitrogen
                | Group::Indole
                | Group::PrimaryAlcohol
                | Group::SecondaryAlcohol
                | Group::TertiaryAlcohol
        )
}

/// Returns true if the attacked molecule has an enolisable C–H beside a ketone or aldehyde from which a ring of three,
/// five or six closes at the attacked carbon.
fn enolate_closes(step: &Step<'_>, carbon: u32) -> bool {
    let it = &step.before;
    let is_enolisable = |atom: u32| {
        it.is_sp3(atom)
            && it.hydrogens(atom) > 0
            && it.next_to(atom).any(|next| matches!(it.group(next), Group::Ketone | Group::Aldehyde))
    };
    it.distances(carbon, 5).into_iter().any(|(atom, distance)| {
        matches!(distance, 2 | 4 | 5)
            && is_enolisable(atom)
            && (ring_allows(it, atom, carbon) || distance == 2 && is_across_cyclohexanone(it, atom, carbon))
    })
}

/// Returns true for the α-carbon of a cyclohexanone and its carbon 4, which close to the bicyclo[3.1.0]hexanone (Clayden, Greeves and Warren, chapter 31).
fn is_across_cyclohexanone(it: &Facts, alpha: u32, carbon: u32) -> bool {
    let is_six = |atom: u32| it.ring(atom) == 6;
    let between = it.next_to(alpha).filter(|&next| it.bond(next, carbon).is_some());
    let is_ketone = |next: u32| it.group(next) == Group::Ketone && is_six(next);
    is_six(alpha)
        && is_six(carbon)
        && between.count() == 1
        && it.next_to(alpha).any(is_ketone)
        && !it.next_to(carbon).any(is_ketone)
}

/// Returns true for the carbon between two acceptors that takes one end of 1,2-dibromoethane or the like and keeps a hydrogen: its second anion closes the cyclopropane before
/// another halide comes (Clayden, Greeves and Warren, chapter 31).
fn malonate_closes(step: &Step<'_>, nucleophile: u32, carbon: u32) -> bool {
    let it = &step.before;
    it.is_sp3(nucleophile)
        && is_doubly_activated(it, nucleophile)
        && step.image(nucleophile).is_some_and(|image| step.after.hydrogens(image) > 0)
        && it.next_to(carbon).any(|beta| it.is_alkyl_halide(beta) && step.is_untouched(beta))
}

/// Returns true for a phenol that closes a ring of seven or more though the enolate of a ketone closes one of three at the same carbon.
fn is_behind_cyclopropane(step: &Step<'_>, phenol: u32, carbon: u32) -> bool {
    let it = &step.before;
    let is_enolisable = |atom: u32| {
        it.is_sp3(atom)
            && it.hydrogens(atom) > 0
            && it.next_to(atom).any(|next| it.group(next) == Group::Ketone)
    };
    let distances = it.distances(carbon, 2);
    it.group(phenol) == Group::Phenol
        && closed_ring_size(step, phenol, carbon).is_some_and(|ring| ring > 6)
        && distances.into_iter().any(|(atom, distance)| distance == 2 && is_enolisable(atom))
}

/// Returns true unless both atoms are in rings, which may hold them apart.
fn ring_allows(it: &Facts, a: u32, b: u32) -> bool {
    !(it.is_in_ring(a) && it.is_in_ring(b))
}

/// Returns true if another phenol or thiol of the mixture closes a ring of five to seven at an alkyl electrophile of its
/// own molecule.
fn phenoxide_closes(step: &Step<'_>, nucleophile: u32) -> bool {
    let it = &step.before;
    step.atoms().any(|atom| {
        atom != nucleophile
            && matches!(it.group(atom), Group::Phenol | Group::Thiol | Group::Thiophenol)
            && it.hydrogens(atom) > 0
            && it.distances(atom, 6).into_iter().any(|(carbon, distance)| {
                distance >= 4 && it.is_sp3(carbon) && electrophile::alkyl(it, carbon) >= CLOSING_RANK
            })
    })
}

/// Returns true for a phenol beside a second one or an aniline that takes one end of a dihalide or epichlorohydrin: the base brings the other to the second end, to the dioxane,
/// morpholine or dioxepane ring (Clayden, Greeves and Warren, chapter 15).
fn catechol_closes(step: &Step<'_>, phenol: u32, leaving: u32) -> bool {
    let (it, after) = (&step.before, step.after);
    let is_free = |next: u32| {
        next != phenol
            && it.hydrogens(next) > 0
            && step.is_untouched(next)
            && matches!(it.group(next), Group::Phenol | Group::Aniline | Group::SecondaryAniline)
    };
    let is_in_reach = |image: u32| {
        after.distances(image, 6).into_iter().any(|(atom, distance)| {
            distance > 4 && after.is_sp3(atom) && electrophile::alkyl(after, atom) >= CLOSING_RANK
        })
    };
    let bears_free = |ortho: u32| {
        it.is_aromatic_carbon(ortho)
            && it
                .next_to(ortho)
                .filter(|&next| is_free(next))
                .filter_map(|next| step.image(next))
                .any(is_in_reach)
    };
    it.group(phenol) == Group::Phenol
        && !it.is_hydroxyl(leaving)
        && it.next_to(phenol).any(|ipso| it.is_aromatic_carbon(ipso) && it.next_to(ipso).any(bears_free))
}

/// Returns true if the alcohol that is sulfonylated is the γ- or δ-hydroxyl group of a free acid, which closes to a
/// lactone.
fn acid_closes(step: &Step<'_>, nucleophile: u32) -> bool {
    let it = &step.before;
    matches!(it.group(nucleophile), Group::PrimaryAlcohol | Group::SecondaryAlcohol)
        && it.distances(nucleophile, 6).into_iter().any(|(atom, distance)| {
            it.group(atom) == Group::AcidOxygen && it.hydrogens(atom) > 0 && matches!(distance, 5 | 6)
        })
}

/// Returns true for the oxygen of an ester of a primary alcohol that only hydroxide cleaves: acid cleaves tertiary ones,
/// hydrogen benzyl esters, palladium allyl esters.
pub fn is_saponified(it: &Facts, oxygen: u32, root: u32) -> bool {
    it.group(oxygen) == Group::EsterOxygen && it.carbons(root) < 2 && !it.is_benzylic_or_allylic(root)
}

/// Returns true if hydroxide would take the ester of an α-ureido acid: the far nitrogen closes to the hydantoin first.
fn urea_closes(step: &Step<'_>, carbon: u32) -> bool {
    let it = &step.before;
    let has_far_nitrogen = |near: u32| {
        it.next_to(near).filter(|&urea| it.group(urea) == Group::Urea).any(|urea| {
            it.next_to(urea).any(|far| far != near && it.element(far) == N && it.hydrogens(far) > 0)
        })
    };
    it.group(carbon) == Group::Ester
        && it
            .next_to(carbon)
            .filter(|&alpha| it.is_sp3(alpha))
            .any(|alpha| it.next_to(alpha).any(|near| it.element(near) == N && has_far_nitrogen(near)))
}

/// Returns true if an amine, with its base, is to take the halide of a chain of two or four carbons across from a free phenol, which closes on the ring to the spirodienone (Baird and
/// Winstein, J. Am. Chem. Soc. 1963, 85, 567).
fn phenol_closes_across(step: &Step<'_>, nucleophile: u32, carbon: u32) -> bool {
    let it = &step.before;
    let faces_phenol = |ipso: u32| {
        aromatic_positions(&it.structure, ipso).into_iter().any(|(ring, distance)| {
            distance == 3 && it.next_to(ring).any(|oxygen| it.group(oxygen) == Group::Phenol)
        })
    };
    let near = || it.distances(carbon, 4);
    let is_chain_end = |&(atom, distance): &(u32, u32)| {
        matches!(distance, 2 | 4)
            && it.ring(atom) == 6
            && it.is_aromatic_carbon(atom)
            && it.next_to(atom).any(|next| it.is_sp3(next) && !it.is_in_ring(next))
            && faces_phenol(atom)
    };
    it.is_amine(nucleophile)
        && it.is_sp3(carbon)
        && step.lost(carbon).any(|(gone, _)| is_heavy_halogen(it.element(gone)))
        && near().iter().filter(|near| is_chain_end(near)).any(|&(ipso, distance)| {
            it.distances(ipso, distance).into_iter().filter(|&(atom, _)| it.is_sp3(atom)).count() as u32
                >= distance
        })
}
