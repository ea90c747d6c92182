//! Aryl halides that a nucleophile does not displace: without an acceptor ortho or para, with a donor that base makes of the ring, or beside one
//! just like them.
//!
//! Sources: Miller, "Aromatic Nucleophilic Substitution" (1968): an acceptor meta to the leaving group hardly counts, and anions of
//! hydroxyazines hold their halogen; Ley and Thomas, Angew. Chem. Int. Ed. 2003, 42, 5400, for Ullmann ethers, which take bromides and iodides;
//! Hudlicky, "Reductions in Organic Chemistry", for the hydrogenolysis of several chlorines.

use crate::change::{Facts, Step};
use crate::competition::closed_ring_size;
use crate::electrophile;
use crate::event::Event;
use crate::group::{Group, aromatic_positions};
use crate::halide_order;
use crate::queries::*;
use crate::refusal::Refusal;

/// Lead in couplings from which one of two chlorines on a ring is taken alone.
const LEAD_OF_A_CHLORIDE: i32 = 12;

/// Activation by two nitro groups meta to a fluoride, which is enough.
const TWO_META_NITRO: i32 = 24;

/// Refuses substitutions and reductions of such halides.
///
/// # Errors
/// Fails with [`Refusal::NotActivated`], or with [`Refusal::CompetingGroup`] for one of two halides that are alike.
pub fn check(step: &Step<'_>, events: &[Event]) -> Result<(), Refusal> {
    let it = &step.before;
    for event in events {
        match *event {
            Event::Arylation { nucleophile, carbon, leaving }
                if closed_ring_size(step, nucleophile, carbon).is_none()
                    && is_inert(it, nucleophile, carbon, leaving) =>
            {
                return Err(Refusal::NotActivated);
            }
            Event::Arylation { nucleophile, carbon, leaving }
                if closed_ring_size(step, nucleophile, carbon).is_none()
                    && (is_held_by_azole(it, nucleophile, carbon, leaving)
                        || is_azole_and_vinylogous_amide(it, nucleophile, carbon, leaving)) =>
            {
                return Err(Refusal::NotActivated);
            }
            Event::Arylation { carbon, leaving, .. }
                if is_between_amines(it, carbon) || is_rich_in_pyrimidine(it, carbon, leaving) =>
            {
                return Err(Refusal::NotActivated);
            }
            Event::Arylation { nucleophile, carbon, leaving }
                if it.is_cyano(nucleophile) && is_chloride_of_diazole(it, carbon, leaving)
                    || is_azole_on_adenine(it, nucleophile, carbon, leaving) =>
            {
                return Err(Refusal::NotActivated);
            }
            Event::Arylation { nucleophile, carbon, .. }
                if is_beside_free_aniline(it, nucleophile, carbon) =>
            {
                return Err(Refusal::Hindered);
            }
            Event::Arylation { nucleophile, carbon, leaving }
                if is_para_fluoride(step, nucleophile, carbon, leaving)
                    || matches!(it.element(nucleophile), O | S)
                        && leaves_nitro_group(step, carbon, leaving)
                    || leaves_chloride_beside_ester(step, carbon, leaving)
                    || leaves_better_fluoride(step, carbon, leaving)
                    || matches!(it.element(nucleophile), N | O | S)
                        && (leaves_fluoride_of_pyridine(step, carbon, leaving)
                            || leaves_halide_across_pyrimidine(step, carbon, leaving))
                    || leaves_bromide_of_aminopyrimidine(step, carbon, leaving) =>
            {
                return Err(Refusal::CompetingGroup);
            }
            Event::Alkynylation { carbon, leaving, .. } | Event::Heck { carbon, leaving, .. }
                if is_chloride_of_diazole(it, carbon, leaving) =>
            {
                return Err(Refusal::NotActivated);
            }
            Event::Coupling { carbon, leaving, .. }
                if is_chloride_of_diazole(it, carbon, leaving) && it.is_on_free_azole(carbon) =>
            {
                return Err(Refusal::NotActivated);
            }
            Event::Dehalogenation { carbon, halogen } if has_twin(step, carbon, halogen) => {
                return Err(Refusal::CompetingGroup);
            }
            _ => {}
        }
    }
    if step.joined().any(|(halogen, carbon)| exchanges_inert_chloride(step, halogen, carbon)) {
        return Err(Refusal::NotActivated);
    }
    // A thione has to become a sulfide or sulfone first, and then takes amines (Joule and Mills 2010, chapter 14).
    let takes_sulfur = |(amide, carbon): (u32, u32)| {
        it.group(amide) == Group::AmideNitrogen
            && it.is_aromatic(carbon)
            && step.lost(carbon).any(|(gone, _)| it.element(gone) == S)
    };
    if step.joined().any(takes_sulfur) { Err(Refusal::Unreactive) } else { Ok(()) }
}

/// Returns true for a chloride of a pyrazole or imidazole without an acceptor, which palladium and copper leave, unless a boronic acid and a bulky phosphine help; chemists use the
/// bromide or iodide (Schröter, Stock and Bach, Tetrahedron 2005, 61, 2245).
fn is_chloride_of_diazole(it: &Facts, carbon: u32, leaving: u32) -> bool {
    it.element(leaving) == CL
        && it.count(carbon, N) < 2
        && it.azole_nitrogens(carbon).count() == 2
        && !aromatic_positions(&it.structure, carbon).iter().any(|&(atom, _)| it.bears_acceptor(atom))
}

/// Returns true for a carbon of a pyrazole, imidazole or triazole of one ring without an acceptor.
fn is_of_plain_azole(it: &Facts, carbon: u32) -> bool {
    let positions = aromatic_positions(&it.structure, carbon);
    it.azole_nitrogens(carbon).count() > 1
        && positions.iter().all(|&(atom, _)| {
            matches!(it.element(atom), C | N)
                && !it.is_shared_by_aromatic_rings(atom)
                && !it.bears_acceptor(atom)
        })
}

/// Returns true for a nitrogen, oxygen or sulfur and a halide of such an azole with its N–H, whose anion holds it, and for an amine and a sulfide of such an azole, which has to become the sulfone
/// first (Joule and Mills 2010, chapters 24, 25 and 29).
fn is_held_by_azole(it: &Facts, nucleophile: u32, carbon: u32, leaving: u32) -> bool {
    let is_halide = is_halogen(it.element(leaving)) && it.is_on_free_azole(carbon);
    let is_sulfide = it.element(leaving) == S && it.oxo(leaving) == 0 && it.element(nucleophile) == N;
    matches!(it.element(nucleophile), N | O | S) && (is_halide || is_sulfide) && is_of_plain_azole(it, carbon)
}

/// Returns true for the nitrogen of an enaminone, a vinylogous amide, and a halide of such an azole. Palladium brings it to benzene rings (Edmondson, Mastracchio and Parmee, Org. Lett. 2000,
/// 2, 1109).
fn is_azole_and_vinylogous_amide(it: &Facts, nitrogen: u32, carbon: u32, leaving: u32) -> bool {
    let is_vinylogous = |near: u32| it.doubly(near, |far| it.element(far) == C && it.is_alpha(far)).is_some();
    it.group(nitrogen) == Group::Enamine
        && is_halogen(it.element(leaving))
        && it.next_to(nitrogen).any(is_vinylogous)
        && is_of_plain_azole(it, carbon)
}

/// Returns true for a bromide or iodide that takes the place of a chloride of an arene without activation; copper exchanges bromides (Klapars and Buchwald, J. Am. Chem. Soc. 2002, 124, 14844).
fn exchanges_inert_chloride(step: &Step<'_>, halogen: u32, carbon: u32) -> bool {
    let it = &step.before;
    matches!(it.element(halogen), BR | I)
        && it.is_aromatic_carbon(carbon)
        && step.lost(carbon).any(|(gone, _)| it.element(gone) == CL)
        && electrophile::activation(it, carbon) < electrophile::ACTIVATED
}

/// Returns true for the nitrogen of an azole and the chloride at C2 of an adenine, whose amino group makes the ring rich: chemists take the iodide and copper, or build the azole of the hydrazine
/// (Joule and Mills 2010, chapter 27).
fn is_azole_on_adenine(it: &Facts, nitrogen: u32, carbon: u32, leaving: u32) -> bool {
    let positions = || aromatic_positions(&it.structure, carbon).into_iter();
    let bears_amine = |atom: u32| it.next_to(atom).any(|next| it.group(next) == Group::PoorAniline);
    // Both ends of the fusion hold a nitrogen of the imidazole.
    let is_fusion = |atom: u32| {
        it.is_shared_by_aromatic_rings(atom)
            && it.next_to(atom).any(|next| it.element(next) == N && it.ring(next) == 5)
    };
    it.element(leaving) == CL
        && it.element(nitrogen) == N
        && it.is_aromatic(nitrogen)
        && it.ring(carbon) == 6
        && it.next_to(carbon).filter(|&next| it.group(next) == Group::Azine).count() == 2
        && positions().any(|(atom, distance)| distance == 2 && bears_amine(atom))
        && positions().filter(|&(atom, _)| is_fusion(atom)).count() > 1
}

/// Returns true for a carbon of a ring of six across from the nitrogen of an azine.
fn is_across_azine(it: &Facts, carbon: u32) -> bool {
    aromatic_positions(&it.structure, carbon)
        .iter()
        .any(|&(far, distance)| distance == 3 && it.group(far) == Group::Azine && it.ring(far) == 6)
}

/// Returns true for a halide beside the nitrogen of a pyridine or quinoline that keeps a nitro group across from it, which alkoxides, phenoxides and thiolates displace first
/// (Joule and Mills 2010, chapter 8). A fluoride leaves as soon.
fn leaves_nitro_group(step: &Step<'_>, carbon: u32, leaving: u32) -> bool {
    let it = &step.before;
    let bears_nitro = |atom: u32| it.next_to(atom).any(|next| it.is_nitro(next) && step.is_untouched(next));
    is_heavy_halogen(it.element(leaving))
        && it.ring(carbon) == 6
        && it.next_to(carbon).any(|next| it.group(next) == Group::Azine)
        && aromatic_positions(&it.structure, carbon)
            .iter()
            .any(|&(atom, _)| bears_nitro(atom) && is_across_azine(it, atom))
}

fn is_inert(it: &Facts, nucleophile: u32, carbon: u32, leaving: u32) -> bool {
    let is_phenol = it.group(nucleophile) == Group::Phenol;
    let is_anion = is_phenol || matches!(it.element(nucleophile), O | S);
    let is_poor = || has_conjugated_acceptor(it, carbon);
    let is_slow = match it.element(leaving) {
        F if electrophile::takes_strong_anion(it, nucleophile, carbon, leaving) => false,
        F => electrophile::activation(it, carbon) < TWO_META_NITRO && !is_poor(),
        CL if is_phenol => electrophile::activation(it, carbon) < electrophile::ACTIVATED || !is_poor(),
        _ => false,
    };
    is_slow || is_anion && is_heavy_halogen(it.element(leaving)) && is_held_by_lactam(it, carbon)
}

/// Returns true for a carbon between two that bear amino groups, which neither SNAr nor a metal makes a third (Hartwig, Acc. Chem. Res. 2008, 41, 1534).
fn is_between_amines(it: &Facts, carbon: u32) -> bool {
    let is_amino = |next: u32| {
        matches!(it.group(next), Group::Aniline | Group::SecondaryAniline | Group::PoorAniline)
            && it.hydrogens(next) > 0
    };
    let bears_amine = |&ortho: &u32| it.is_aromatic_carbon(ortho) && it.next_to(ortho).any(is_amino);
    it.ring(carbon) == 6 && it.next_to(carbon).filter(bears_amine).count() == 2
}

/// Returns true for C5 of an aminopyrimidine and its chlorine, or any halogen if a carbonyl group is at the other side: it is the enamine's carbon, and the nitrogens
/// of the ring activate 2, 4 and 6 (Joule and Mills, chapter 14).
fn is_rich_in_pyrimidine(it: &Facts, carbon: u32, leaving: u32) -> bool {
    let ring = || it.next_to(carbon).filter(|&next| it.is_aromatic_carbon(next));
    let has_amine = |ortho: u32| {
        it.next_to(ortho).any(|next| it.element(next) == N && !it.is_aromatic(next) && it.is_saturated(next))
    };
    let is_nitrogen = |&&(atom, distance): &&(u32, u32)| distance == 2 && it.element(atom) == N;
    it.ring(carbon) == 6
        && is_heavy_halogen(it.element(leaving))
        && ring().count() == 2
        && ring().any(has_amine)
        && (it.element(leaving) == CL || ring().any(|ortho| it.is_carbonyl(ortho)))
        && aromatic_positions(&it.structure, carbon).iter().filter(is_nitrogen).count() == 2
}

/// Returns true for a nitrogen and the halide between a free amino group, which binds palladium, and another group (Hartwig, Acc. Chem. Res. 2008, 41, 1534).
fn is_beside_free_aniline(it: &Facts, nucleophile: u32, carbon: u32) -> bool {
    let ortho = || it.next_to(carbon).filter(|&next| it.is_aromatic_carbon(next));
    it.element(nucleophile) == N
        && it.ring(carbon) == 6
        && ortho()
            .any(|next| it.next_to(next).any(|amine| it.is_free_aniline(amine) && it.hydrogens(amine) == 2))
        && ortho().filter(|&next| it.hydrogens(next) == 0).count() == 2
        && electrophile::activation(it, carbon) < electrophile::ACTIVATED
}

/// Returns true for an amine and the fluoride para to a nitro group that leaves one beside it, whose hydrogen bond brings the amine there (Miller 1968).
fn is_para_fluoride(step: &Step<'_>, amine: u32, carbon: u32, leaving: u32) -> bool {
    let it = &step.before;
    let is_nitro = |atom: u32| it.next_to(atom).any(|next| it.is_nitro(next));
    let is_fluoride =
        |ortho: u32| step.is_untouched(ortho) && it.is_aromatic_carbon(ortho) && it.count(ortho, F) > 0;
    let has_nearer = |&(nitro, distance): &(u32, u32)| {
        distance == 3 && is_nitro(nitro) && it.next_to(nitro).any(is_fluoride)
    };
    it.element(leaving) == F
        && matches!(it.group(amine), Group::Ammonia | Group::PrimaryAmine)
        && aromatic_positions(&it.structure, carbon).iter().any(has_nearer)
}

/// Returns true for a chloride of an azine that leaves the one across from its nitrogen and beside a carboxyl group, which takes nucleophiles first (Joule and
/// Mills 2010, chapters 8 and 14).
fn leaves_chloride_beside_ester(step: &Step<'_>, carbon: u32, leaving: u32) -> bool {
    let it = &step.before;
    let is_carboxyl = |next: u32| matches!(it.group(next), Group::Acid | Group::Ester | Group::Amide);
    let is_beside = |atom: u32| {
        it.next_to(atom).any(|ortho| it.is_aromatic_carbon(ortho) && it.next_to(ortho).any(is_carboxyl))
    };
    let positions = |atom: u32| aromatic_positions(&it.structure, atom);
    let is_better = |&(atom, _): &(u32, u32)| {
        it.count(atom, CL) > 0 && step.is_untouched(atom) && is_beside(atom) && is_across_azine(it, atom)
    };
    it.element(leaving) == CL
        && it.ring(carbon) == 6
        && !is_beside(carbon)
        && positions(carbon).iter().any(is_better)
}

/// Returns true for a fluoride of a benzene ring without an acceptor beside it or across, if the ring keeps one that has it (Miller 1968).
fn leaves_better_fluoride(step: &Step<'_>, carbon: u32, leaving: u32) -> bool {
    let it = &step.before;
    let positions = |atom: u32| aromatic_positions(&it.structure, atom);
    let is_activated = |atom: u32| {
        positions(atom).iter().any(|&(other, distance)| distance != 2 && it.bears_acceptor(other))
    };
    it.element(leaving) == F
        && it.ring(carbon) == 6
        && positions(carbon).iter().all(|&(atom, _)| it.element(atom) == C)
        && !is_activated(carbon)
        && positions(carbon)
            .iter()
            .any(|&(atom, _)| it.count(atom, F) > 0 && step.is_untouched(atom) && is_activated(atom))
}

/// Returns true for a chloride or bromide beside the nitrogen of a pyridine whose other side, or the carbon across from it, keeps a fluoride, which leaves first (Joule and Mills 2010, chapter 8).
fn leaves_fluoride_of_pyridine(step: &Step<'_>, carbon: u32, leaving: u32) -> bool {
    let it = &step.before;
    let is_of_ring = |atom: u32| it.ring(atom) == 6 && it.group(atom) == Group::Azine;
    matches!(it.element(leaving), CL | BR)
        && it.next_to(carbon).filter(|&next| is_of_ring(next)).any(|nitrogen| {
            aromatic_positions(&it.structure, nitrogen).iter().any(|&(atom, distance)| {
                distance != 2 && atom != carbon && it.count(atom, F) > 0 && step.is_untouched(atom)
            })
        })
        && it.next_to(carbon).filter(|&next| it.element(next) == N && it.is_aromatic(next)).count() == 1
}

/// Returns true for a chloride or bromide between the nitrogens of a pyrimidine that keeps a heavy halogen at C4, which leaves as soon or sooner (Joule and Mills 2010, chapter 14).
fn leaves_halide_across_pyrimidine(step: &Step<'_>, carbon: u32, leaving: u32) -> bool {
    let it = &step.before;
    let nitrogens = |atom: u32| it.next_to(atom).filter(|&next| it.group(next) == Group::Azine).count();
    let is_rival = |atom: u32| {
        nitrogens(atom) == 1
            && it.next_to(atom).any(|next| is_heavy_halogen(it.element(next)) && step.is_untouched(next))
    };
    let ring = aromatic_positions(&it.structure, carbon);
    matches!(it.element(leaving), CL | BR)
        && it.ring(carbon) == 6
        && nitrogens(carbon) == 2
        && ring
            .iter()
            .all(|&(atom, _)| !it.next_to(atom).any(|next| it.element(next) == N && !it.is_aromatic(next)))
        && ring.iter().any(|&(atom, distance)| distance == 2 && is_rival(atom))
}

/// Returns true if the ring has an acceptor or a ring nitrogen ortho or para to the carbon, or is a ring of five or a fused one, which other
/// rules judge.
fn has_conjugated_acceptor(it: &Facts, carbon: u32) -> bool {
    it.ring(carbon) != 6
        || aromatic_positions(&it.structure, carbon).iter().any(|&(atom, distance)| {
            it.element(atom) != C
                || it.is_shared_by_aromatic_rings(atom)
                || distance != 2
                    && it.next_to(atom).any(|next| it.is_withdrawing(next) || it.is_vinylogous_acceptor(next))
        })
}

/// Returns true for a carbon of an azine whose ring has a hydroxyl group beside a nitrogen, the lactam that base ionises.
fn is_held_by_lactam(it: &Facts, carbon: u32) -> bool {
    let is_lactam =
        |atom: u32| it.next_to(atom).any(|next| it.group(next) == Group::Phenol && it.hydrogens(next) > 0);
    let positions = aromatic_positions(&it.structure, carbon);
    it.ring(carbon) == 6
        && positions.iter().any(|&(atom, _)| it.group(atom) == Group::Azine && it.ring(atom) == 6)
        && positions.iter().any(|&(atom, _)| {
            it.ring(atom) == 6
                && is_lactam(atom)
                && it.next_to(atom).any(|next| it.group(next) == Group::Azine)
        })
}

/// Returns true if the ring keeps another halogen of the same element that leaves as soon.
fn has_twin(step: &Step<'_>, carbon: u32, halogen: u32) -> bool {
    let it = &step.before;
    let own = halide_order::coupling(it, carbon);
    it.is_aromatic(carbon)
        && aromatic_positions(&it.structure, carbon).iter().any(|&(other, _)| {
            it.count(other, it.element(halogen)) > 0
                && step.is_untouched(other)
                && halide_order::coupling(it, other) > own - LEAD_OF_A_CHLORIDE
        })
}

/// Returns true for C4 of an aminopyrimidine and its chlorine, if C2 keeps a bromine or iodine: the amino group makes the two positions alike, and the heavier halogen
/// leaves as soon (Joule and Mills 2010, chapter 14).
fn leaves_bromide_of_aminopyrimidine(step: &Step<'_>, carbon: u32, leaving: u32) -> bool {
    let it = &step.before;
    let is_nitrogen = |next: u32| it.element(next) == N && it.is_aromatic(next);
    let has_bromide = |atom: u32| {
        it.next_to(atom).filter(|&next| is_nitrogen(next)).count() == 2
            && it.next_to(atom).any(|next| matches!(it.element(next), BR | I) && step.is_untouched(next))
    };
    let has_amine = |atom: u32| it.next_to(atom).any(|next| it.group(next) == Group::PoorAniline);
    let positions = || aromatic_positions(&it.structure, carbon).into_iter().map(|(atom, _)| atom);
    it.element(leaving) == CL
        && it.ring(carbon) == 6
        && positions().any(has_bromide)
        && positions().any(has_amine)
}
