//! Substitution of hydroxyl groups by halogens, and of hydrogen on sp3 carbon by heteroatoms.

use crate::alkylation::is_acidic;
use crate::change::{Facts, Step};
use crate::cleavage::keeps_acid_labile_group;
use crate::competition::gains_ring_bond;
use crate::group::{Group, aromatic_positions};
use crate::queries::*;
use crate::refusal::Refusal;
use crate::stability::{is_acyloxy, is_bridgehead_within};
use crate::{arene_score, electrophile, redox};

type Verdict = Result<(), Refusal>;

pub fn deoxyhalogenation(step: &Step<'_>, carbon: u32, oxygen: u32) -> Verdict {
    let before = &step.before;
    if is_displaced_by_ion(step, carbon, oxygen) {
        return displacement_by_ion(step, carbon);
    }
    if takes_hydrogen_halide(step, carbon) {
        if before.next_to(carbon).any(|next| before.is_cyclopropane(next)) {
            return Err(Refusal::SelfReacting);
        }
        if keeps_acid_labile_group(step) {
            return Err(Refusal::Incompatible);
        }
        let opens_lactone = before.group(oxygen) == Group::EsterOxygen;
        if opens_lactone && step.atoms().any(|atom| is_taken_by_hydrogen_halide(step, atom)) {
            return Err(Refusal::CompetingGroup);
        }
    }
    if is_slow_neopentyl(step, carbon) {
        return Err(Refusal::Hindered);
    }
    if leaves_half_of_mustard(step, carbon) {
        return Err(Refusal::SelfReacting);
    }
    let rank = |atom: u32| match before.group(atom) {
        Group::PrimaryAlcohol | Group::SecondaryAlcohol | Group::TertiaryAlcohol => {
            let carbon = before.next_to(atom).next();
            let helped = carbon.is_some_and(|carbon| before.is_benzylic_or_allylic(carbon));
            10 + i32::from(helped) * 6
        }
        Group::AcidOxygen => 20,
        Group::PrimaryAmine | Group::SecondaryAmine => 15,
        Group::Aniline | Group::SecondaryAniline | Group::Thiol => 12,
        _ => 0,
    };
    let own = rank(oxygen);
    let competing = step.keeps_epoxide()
        || own > 0
            && step.atoms().any(|atom| {
                rank(atom) >= own
                    && atom != oxygen
                    && step.is_untouched(atom)
                    && !step.are_equivalent(atom, oxygen)
            });
    if competing { Err(Refusal::CompetingGroup) } else { Ok(()) }
}

/// Returns true for a halide ion and the sulfonate of an alcohol, which it displaces in neutral medium: potassium fluoride and cryptand, lithium bromide.
pub fn is_displaced_by_ion(step: &Step<'_>, carbon: u32, oxygen: u32) -> bool {
    let it = &step.before;
    it.group(oxygen) == Group::SulfonateOxygen
        && step
            .gained(carbon)
            .any(|(halogen, _)| is_halogen(it.element(halogen)) && it.at(halogen).charge == -1)
}

/// Checks the displacement of a sulfonate by a halide ion. Fluoride takes the proton of a free acid, phenol or thiol, whose anion is the better nucleophile (Miller and others, Angew. Chem. Int. Ed.
/// 2008, 47, 8998).
fn displacement_by_ion(step: &Step<'_>, carbon: u32) -> Verdict {
    let it = &step.before;
    if it.carbons(carbon) > 2 {
        return Err(Refusal::Hindered);
    }
    let is_acid = |atom: u32| {
        matches!(
            it.group(atom),
            Group::AcidOxygen | Group::SulfonicOxygen | Group::Phenol | Group::Thiol | Group::Thiophenol
        ) && it.hydrogens(atom) > 0
            && step.is_untouched(atom)
    };
    let is_fluoride = step.gained(carbon).any(|(halogen, _)| it.element(halogen) == F);
    if is_fluoride && step.atoms().any(is_acid) { Err(Refusal::CompetingGroup) } else { Ok(()) }
}

/// Returns true for a free alcohol, or the oxygen of an open ether of two alkyl groups, which hydrogen bromide takes before a lactone (March, chapter 10).
fn is_taken_by_hydrogen_halide(step: &Step<'_>, oxygen: u32) -> bool {
    let it = &step.before;
    let is_alcohol =
        matches!(it.group(oxygen), Group::PrimaryAlcohol | Group::SecondaryAlcohol | Group::TertiaryAlcohol);
    let is_ether = it.group(oxygen) == Group::Ether && !it.is_in_ring(oxygen);
    (is_alcohol || is_ether) && step.is_untouched(oxygen)
}

/// Returns true for a neopentylic alcohol and phosphorus tribromide or hydrogen bromide, whose phosphite does not take bromide and ionises with a shift, and for a secondary one of an open chain
/// (March, chapter 10).
fn is_slow_neopentyl(step: &Step<'_>, carbon: u32) -> bool {
    let it = &step.before;
    let is_slow_donor = |halogen: u32| {
        let is_phosphorus = |next: u32| it.element(next) == P && it.carbons(next) == 0;
        it.element(halogen) == BR && (it.degree(halogen) == 0 || it.next_to(halogen).any(is_phosphorus))
    };
    let is_secondary =
        || it.hydrogens(carbon) == 1 && !it.is_in_ring(carbon) && !it.is_benzylic_or_allylic(carbon);
    it.is_neopentylic(carbon)
        && (it.hydrogens(carbon) == 2 && step.gained(carbon).any(|(halogen, _)| is_slow_donor(halogen))
            || is_secondary())
}

/// Returns true for one of two hydroxyethyl groups on an amine, if the other keeps its hydroxyl group: the first chloride makes the aziridinium ion, which takes the other alcohol to the
/// morpholine (Clayden, Greeves and Warren, chapter 36).
fn leaves_half_of_mustard(step: &Step<'_>, carbon: u32) -> bool {
    let it = &step.before;
    let is_amine = |nitrogen: u32| {
        matches!(
            it.group(nitrogen),
            Group::SecondaryAmine | Group::TertiaryAmine | Group::TertiaryAniline | Group::SecondaryAniline
        )
    };
    let is_kept = |oxygen: u32| it.is_hydroxyl(oxygen) && step.is_untouched(oxygen);
    let bears_kept = |beta: u32| it.is_sp3(beta) && it.next_to(beta).any(is_kept);
    it.next_to(carbon).filter(|&alpha| it.is_sp3(alpha)).any(|alpha| {
        it.next_to(alpha).filter(|&nitrogen| is_amine(nitrogen)).any(|nitrogen| {
            it.next_to(nitrogen).any(|other| other != alpha && it.next_to(other).any(bears_kept))
        })
    })
}

/// Returns true for a carbon that takes its halogen from a hydrogen halide. By way of a cation on a cyclopropane it gives the homoallylic halide (Clayden,
/// Greeves and Warren, chapter 36), and the strong acid removes Boc and tert-butyl groups, acetals and silyl ethers (Wuts and Greene, chart 1).
fn takes_hydrogen_halide(step: &Step<'_>, carbon: u32) -> bool {
    let it = &step.before;
    step.gained(carbon).any(|(halogen, _)| is_halogen(it.element(halogen)) && it.degree(halogen) == 0)
}

/// Refuses the replacement of a phenol's hydroxyl group: only rings like those of azines lose it to phosphorus halides.
pub fn lactam_halogenation(step: &Step<'_>, carbon: u32) -> Verdict {
    let before = &step.before;
    let is_phenol = step.lost(carbon).any(|(gone, _)| before.group(gone) == Group::Phenol);
    let is_poor = electrophile::activation(before, carbon) >= electrophile::ACTIVATED;
    if leaves_twin_lactam(step, carbon) {
        return Err(Refusal::CompetingGroup);
    }
    // Phosphoryl chloride phosphorylates 3-isoxazolols and leaves them (Joule and Mills 2010, chapter 25).
    if before.is_isoxazole_c3(carbon) || is_phenol && !is_poor { Err(Refusal::NotActivated) } else { Ok(()) }
}

/// Returns true if a pyrimidinedione keeps its second carbonyl group beside an N–H, or as the hydroxyl group of the other tautomer: phosphoryl chloride takes both
/// (Joule and Mills 2010, chapter 14).
fn leaves_twin_lactam(step: &Step<'_>, own: u32) -> bool {
    let it = &step.before;
    let is_free = |nitrogen: u32| {
        it.element(nitrogen) == N
            && it.is_aromatic(nitrogen)
            && (it.hydrogens(nitrogen) > 0 || it.degree(nitrogen) == 2)
    };
    let is_between = |atom: u32| it.next_to(atom).filter(|&next| is_free(next)).count() == 2;
    let is_hydroxyl = |next: u32| it.is_hydroxyl(next) || it.group(next) == Group::CarbonylOxygen;
    let positions = aromatic_positions(&it.structure, own);
    it.ring(own) == 6
        && positions.iter().filter(|&&(atom, _)| it.element(atom) == N && it.ring(atom) == 6).count() == 2
        && positions.iter().all(|&(atom, _)| it.element(atom) != N || is_free(atom))
        && positions.iter().any(|&(atom, distance)| {
            distance == 2
                && (is_between(atom) || is_between(own))
                && it.next_to(atom).any(|next| is_hydroxyl(next) && step.is_untouched(next))
        })
}

pub fn acid_activation(step: &Step<'_>, carbon: u32) -> Verdict {
    if is_carbamate_of_amino_acid(&step.before, carbon) { Err(Refusal::SelfReacting) } else { Ok(()) }
}

/// Returns true for the acid carbon of an α-amino acid with an N-alkoxycarbonyl group. The halide of such an acid closes
/// to the N-carboxyanhydride (Leuchs 1906); only that of Fmoc can be isolated (Carpino, J. Am. Chem. Soc. 1990).
fn is_carbamate_of_amino_acid(before: &Facts, carbon: u32) -> bool {
    let is_fluorenyl = |alkyl: u32| {
        before
            .next_to(alkyl)
            .filter(|&next| before.is_sp3(next))
            .any(|next| before.next_to(next).filter(|&far| before.is_aromatic(far)).count() == 2)
    };
    let closes = |carbamate: u32| {
        before.group(carbamate) == Group::Carbamate
            && before.next_to(carbamate).any(|oxygen| {
                before.element(oxygen) == O
                    && before.next_to(oxygen).any(|alkyl| before.is_sp3(alkyl) && !is_fluorenyl(alkyl))
            })
    };
    before.next_to(carbon).filter(|&alpha| before.is_sp3(alpha)).any(|alpha| {
        before
            .next_to(alpha)
            .filter(|&nitrogen| before.element(nitrogen) == N)
            .any(|nitrogen| before.next_to(nitrogen).any(closes))
    })
}

/// Checks the replacement of hydrogen on an sp3 carbon by a heteroatom. It allows halogen next to an acceptor, an
/// arene or a double bond, and little else.
pub fn functionalisation(step: &Step<'_>, carbon: u32, element: u8) -> Verdict {
    let before = &step.before;
    let free = is_acidic(before, carbon) || before.is_benzylic_or_allylic(carbon);
    let beside_heteroatom = before
        .next_to(carbon)
        .any(|next| matches!(before.element(next), N | O | S) && !is_acyloxy(before, next));
    let allowed = match element {
        F | CL | BR | I => free || beside_heteroatom || before.carbons(carbon) >= 3,
        O => free || beside_heteroatom,
        N => is_acidic(before, carbon) || gains_ring_bond(step, carbon),
        _ => true,
    };
    if !allowed {
        return Err(Refusal::NoLeavingGroup);
    }
    if element == O {
        oxidation(step, carbon)?;
    }
    if element == N && is_weakly_nitrosated(step, carbon) {
        return Err(Refusal::Unreactive);
    }
    if is_halogen(element) && is_of_nitrite(before, carbon) {
        return Err(Refusal::Unstable);
    }
    if is_heavy_halogen(element) && is_beside_amide_alone(before, carbon) {
        return Err(Refusal::Unreactive);
    }
    // A bridgehead has no enol, up to bicyclo[3.3.1]nonanes (Bredt 1924).
    if is_heavy_halogen(element) && before.is_alpha(carbon) && is_bridgehead_within(before, carbon, 7) {
        return Err(Refusal::Unreactive);
    }
    if is_heavy_halogen(element) {
        // Bromine and the like react first with amines, thiols, double bonds and electron-rich rings. Radicals, which
        // take hydrogen from beside an arene, leave alkoxy-activated rings unreacted, but not phenols and anilines.
        let radical = before.is_benzylic_or_allylic(carbon) && !is_acidic(before, carbon);
        if leaves_sulfinylmethylene(step, carbon)
            || leaves_allylic_rival(step, carbon)
            || radical && leaves_benzylic_rival(step, carbon)
            || before.aryls(carbon) > 0
                && !before.is_alpha(carbon)
                && step.atoms().any(|atom| is_open_azole(before, atom))
            || !radical && comes_as_element(step, carbon) && leaves_rich_ring_or_enone(step, carbon)
        {
            return Err(Refusal::CompetingGroup);
        }
        if leaves_halogenated_group(step, radical) {
            return Err(Refusal::CompetingGroup);
        }
    }
    Ok(())
}

/// Returns true for a C–H that becomes an oxime by nitrous acid or its ester, though it has but one acceptor, and no ketone or aryl group (Touster, Org. React. 1953, 7, 327).
fn is_weakly_nitrosated(step: &Step<'_>, carbon: u32) -> bool {
    let (it, after) = (&step.before, step.after);
    let is_oxime = |image: u32| {
        after.doubly(image, |next| after.element(next) == N && after.count(next, O) == 1).is_some()
    };
    let is_weak = |next: u32| {
        matches!(it.group(next), Group::Amide | Group::Weinreb | Group::Ester | Group::Acid | Group::Nitrile)
    };
    let acceptors = || it.next_to(carbon).filter(|&next| it.is_acceptor(next));
    acceptors().count() == 1
        && acceptors().all(is_weak)
        && it.aryls(carbon) == 0
        && step.image(carbon).is_some_and(is_oxime)
}

/// Returns true if the step leaves a group that bromine and the like take before an sp3 C–H.
fn leaves_halogenated_group(step: &Step<'_>, radical: bool) -> bool {
    let before = &step.before;
    let rich = if radical { 45 } else { 30 };
    step.atoms().any(|atom| {
        step.is_untouched(atom)
            && match before.group(atom) {
                Group::PrimaryAmine
                | Group::SecondaryAmine
                | Group::Thiol
                | Group::Thiophenol
                | Group::Enamine => true,
                Group::Phenol | Group::Aniline | Group::SecondaryAniline | Group::TertiaryAniline => radical,
                Group::Alkene => before.is_plain_alkene(atom),
                Group::Aryl if before.hydrogens(atom) > 0 => {
                    arene_score::score(before, atom) > rich || is_rich_azole(before, atom)
                }
                _ => false,
            }
    })
}

/// Returns true if bromine or chlorine is to take the α-carbon of a ketone and leaves a free phenol or aniline with an open position beside or across, and
/// no acceptor there, or the double bond of an enone: the ring is faster than the enol, so chemists use copper(II) bromide or protect (Clayden, Greeves and Warren, chapters 20 and 21).
fn leaves_rich_ring_or_enone(step: &Step<'_>, carbon: u32) -> bool {
    let it = &step.before;
    let is_rich = |ipso: u32| {
        let positions = aromatic_positions(&it.structure, ipso);
        let conjugated = || positions.iter().filter(|&&(_, distance)| distance != 2).map(|&(atom, _)| atom);
        conjugated().any(|atom| it.is_aromatic_carbon(atom) && it.hydrogens(atom) > 0)
            && !conjugated().any(|atom| it.element(atom) == N || it.bears_acceptor(atom))
    };
    let is_donor = |atom: u32| {
        matches!(it.group(atom), Group::Phenol | Group::Aniline | Group::SecondaryAniline)
            && it.hydrogens(atom) > 0
    };
    // The double bond of the enone adds the halogen.
    let is_enone = |ketone: u32| {
        it.group(ketone) == Group::Ketone
            && it.next_to(ketone).any(|next| it.group(next) == Group::Alkene && step.is_untouched(next))
    };
    it.next_to(carbon).any(is_enone)
        || step.atoms().any(|atom| {
            is_donor(atom)
                && step.is_untouched(atom)
                && it.next_to(atom).any(|ipso| it.ring(ipso) == 6 && is_rich(ipso))
        })
}

/// Returns true if the carbon takes its halogen from the element itself.
fn comes_as_element(step: &Step<'_>, carbon: u32) -> bool {
    let it = &step.before;
    let is_element = |halogen: u32| {
        is_halogen(it.element(halogen))
            && it.degree(halogen) == 1
            && it.next_to(halogen).all(|next| is_halogen(it.element(next)))
    };
    step.gained(carbon).any(|(halogen, _)| is_element(halogen))
}

/// Checks the oxidation of a C–H bond.
fn oxidation(step: &Step<'_>, carbon: u32) -> Verdict {
    redox::oxidant(step, carbon)?;
    let is_acid = step.image(carbon).is_some_and(|image| step.after.group(image) == Group::Acid);
    if is_acid && leaves_benzylic_rival(step, carbon) { Err(Refusal::CompetingGroup) } else { Ok(()) }
}

/// Returns true if radicals, or an oxidant, take hydrogen from one benzylic carbon of hydrocarbon chains and leave another with one or two hydrogens, which gives it up
/// as fast (March, chapters 14 and 19).
fn leaves_benzylic_rival(step: &Step<'_>, own: u32) -> bool {
    let it = &step.before;
    let is_benzylic = |atom: u32| {
        it.is_sp3(atom)
            && it.next_to(atom).any(|next| it.is_aromatic(next))
            && it.next_to(atom).all(|next| it.element(next) == C)
    };
    // Oxygen and nitrogen help the radical.
    let is_helped = |atom: u32| {
        it.is_sp3(atom)
            && it.next_to(atom).any(|next| it.is_aromatic(next))
            && it.next_to(atom).any(|next| {
                matches!(
                    it.group(next),
                    Group::PrimaryAlcohol
                        | Group::SecondaryAlcohol
                        | Group::Ether
                        | Group::ArylEther
                        | Group::TertiaryAmine
                )
            })
    };
    is_benzylic(own)
        && step.atoms().any(|atom| {
            atom != own
                && (is_benzylic(atom) || is_helped(atom))
                && (1..=2).contains(&it.hydrogens(atom))
                && step.is_untouched(atom)
                && !step.are_equivalent(atom, own)
                && step.are_in_same_molecule(atom, own)
        })
}

/// Returns true if a halogen takes hydrogen from an allylic methyl group and leaves a CH2 or CH group of a hydrocarbon chain on the same double bond, which gives it up
/// more easily (March, chapter 14).
fn leaves_allylic_rival(step: &Step<'_>, own: u32) -> bool {
    let it = &step.before;
    let is_rival = |atom: u32| {
        it.is_sp3(atom)
            && (1..=2).contains(&it.hydrogens(atom))
            && it.next_to(atom).all(|next| it.element(next) == C)
            && !it.is_alpha(atom)
            && step.is_untouched(atom)
    };
    it.hydrogens(own) == 3
        && it.next_to(own).filter(|&near| it.group(near) == Group::Alkene).any(|near| {
            let far = it.doubly(near, |far| it.element(far) == C);
            it.next_to(near).any(is_rival) || far.is_some_and(|far| it.next_to(far).any(is_rival))
        })
}

/// Returns true for the carbon of an alkyl nitrite or nitrate, whose O–N bond breaks before a C–H bond does (March, chapter 14).
fn is_of_nitrite(it: &Facts, carbon: u32) -> bool {
    let is_nitrogen = |next: u32| it.element(next) == N && it.oxo(next) > 0;
    it.next_to(carbon).any(|oxygen| it.element(oxygen) == O && it.next_to(oxygen).any(is_nitrogen))
}

/// Returns true if the step leaves a C–H between the ketone of the halogenated carbon and a sulfoxide or sulfone, which enolises first (Clayden, Greeves and Warren,
/// chapter 20).
fn leaves_sulfinylmethylene(step: &Step<'_>, own: u32) -> bool {
    let it = &step.before;
    let bears_sulfinyl = |alpha: u32| {
        it.next_to(alpha).any(|next| it.element(next) == S && (it.oxo(next) > 0 || it.at(next).charge > 0))
    };
    let is_rival = |alpha: u32| {
        alpha != own
            && it.is_sp3(alpha)
            && it.hydrogens(alpha) > 0
            && step.is_untouched(alpha)
            && bears_sulfinyl(alpha)
    };
    !bears_sulfinyl(own)
        && it
            .next_to(own)
            .filter(|&ketone| it.group(ketone) == Group::Ketone)
            .any(|ketone| it.next_to(ketone).any(is_rival))
}

/// Returns true for a carbon of a chain that an amide alone activates, which has no enol: halogens take acids as their halides (Clayden, Greeves and
/// Warren, chapter 20).
fn is_beside_amide_alone(it: &Facts, carbon: u32) -> bool {
    let is_amide = |next: u32| it.group(next) == Group::Amide && !it.is_in_ring(next);
    it.next_to(carbon).filter(|&next| it.is_acceptor(next)).count() == 1
        && it.next_to(carbon).any(is_amide)
        && !it.is_benzylic_or_allylic(carbon)
        && it.next_to(carbon).all(|next| it.element(next) == C)
}

/// Returns true for the N–H of an azole, indole or pyrrole with an open carbon in its ring of five, which N-bromosuccinimide takes on nitrogen and carbon before a methyl group (Joule and Mills 2010, chapters 20, 24
/// and 25).
fn is_open_azole(it: &Facts, nitrogen: u32) -> bool {
    let is_open = |atom: u32| it.is_aromatic_carbon(atom) && it.ring(atom) == 5 && it.hydrogens(atom) > 0;
    matches!(it.group(nitrogen), Group::Azole | Group::Indole)
        && it.hydrogens(nitrogen) > 0
        && it.distances(nitrogen, 2).into_iter().any(|(atom, _)| is_open(atom))
}

/// Returns true for the position of a pyrrole, an imidazole or a pyrazole without an acceptor that halogens take, before radicals take hydrogen
/// beside the ring (Joule and Mills, chapters 16, 24 and 25).
fn is_rich_azole(it: &Facts, carbon: u32) -> bool {
    let positions = aromatic_positions(&it.structure, carbon);
    let is_nitrogen = |&(atom, _): &(u32, u32)| it.element(atom) == N;
    let nitrogens: Vec<(u32, u32)> = positions.iter().copied().filter(is_nitrogen).collect();
    let takes_halogen = match nitrogens[..] {
        [_] => true,
        // 4 of pyrazole lies across from both nitrogens, 4 and 5 of imidazole beside one.
        [(a, near), (b, far)] => near + far > if it.bond(a, b).is_some() { 3 } else { 2 },
        _ => false,
    };
    let is_poor = |atom: u32| it.next_to(atom).any(|next| it.impoverishes_ring(next));
    it.ring(carbon) == 5
        && takes_halogen
        && positions.iter().all(|&(atom, _)| matches!(it.element(atom), C | N) && !is_poor(atom))
}
