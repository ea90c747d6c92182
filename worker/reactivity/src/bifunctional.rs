//! Molecules with two groups of which the step claims one, although the other reacts as well.
//!
//! Sources: Clayden, Greeves and Warren for cyclisations of halo amines and the loss of carbon dioxide from β-keto acids;
//! Smith, "March's Advanced Organic Chemistry", for the Wurtz coupling, which gives all three products; Miller, "Aromatic
//! Nucleophilic Substitution" (1968), for chloroazines.

use crate::alkylation::is_oxocarbenium;
use crate::change::{Facts, Step};
use crate::competition::builds_ring;
use crate::electrophile;
use crate::event::Event;
use crate::group::{Group, aromatic_positions};
use crate::mixture::takes_halide;
use crate::queries::*;
use crate::refusal::Refusal;
use crate::site::{is_acylated_amidine, is_chelated};

type Verdict = Result<(), Refusal>;

/// Rank of a chloroazine that takes an amine at room temperature: chloropyrimidine, 4-chloroquinazoline.
const FAST_ARENE: i32 = 60;

/// Checks the molecules of a step for second groups that react under its conditions.
///
/// # Errors
/// Returns the reason why the step stops at no single product.
pub fn check(step: &Step<'_>, events: &[Event]) -> Verdict {
    for event in events {
        match *event {
            event if reacts_with_its_own(step, event) => return Err(Refusal::SelfReacting),
            Event::Acylation { nucleophile, carbon } if leaves_twin_anhydride(step, nucleophile, carbon) => {
                return Err(Refusal::CompetingGroup);
            }
            Event::Alkylation { nucleophile, carbon, leaving }
                if is_alkylated_again(step, nucleophile, carbon, leaving) =>
            {
                return Err(Refusal::CompetingGroup);
            }
            Event::Alkylation { nucleophile, carbon, leaving }
                if is_methylation_beside_amine(step, nucleophile, carbon, leaving)
                    || is_free_glycosyl_donor(step, nucleophile, carbon, leaving) =>
            {
                return Err(Refusal::CompetingGroup);
            }
            Event::Alkylation { nucleophile, carbon, leaving }
                if is_far_end_of_lactam(step, nucleophile, carbon, leaving) =>
            {
                return Err(Refusal::CompetingGroup);
            }
            Event::Alkylation { nucleophile, carbon, .. }
                if closes_aminothiazole(step, nucleophile, carbon) =>
            {
                return Err(Refusal::SelfReacting);
            }
            Event::Alkylation { nucleophile, .. } if is_beside_ring_nitrogen(&step.before, nucleophile) => {
                return Err(Refusal::CompetingGroup);
            }
            Event::Alkylation { nucleophile, leaving, .. }
                if is_acid_beside_amine(step, nucleophile, leaving) =>
            {
                return Err(Refusal::CompetingGroup);
            }
            Event::AromaticSubstitution { electrophile: Some(carbon), .. }
                if matches!(
                    step.before.group(carbon),
                    Group::Aldehyde | Group::AcylHalide | Group::Anhydride
                ) && (step.leaves_amine() || leaves_phosphoric_acid(step)) =>
            {
                return Err(Refusal::CompetingGroup);
            }
            Event::Coupling { metal: donor, carbon, leaving }
            | Event::Arylation { nucleophile: donor, carbon, leaving }
                if matches!(step.before.element(donor), B | C)
                    && is_chloride_beside_azolate(step, carbon, leaving) =>
            {
                return Err(Refusal::CompetingGroup);
            }
            // Palladium couples the alkyne of the next molecule before it brings an amine.
            Event::Arylation { nucleophile, carbon, leaving }
                if step.before.element(nucleophile) == N
                    && matches!(step.before.element(leaving), BR | I)
                    && electrophile::activation(&step.before, carbon) < electrophile::ACTIVATED
                    && step.atoms().any(|atom| {
                        step.before.group(atom) == Group::TerminalAlkyne
                            && step.is_untouched(atom)
                            && step.are_in_same_molecule(atom, carbon)
                    }) =>
            {
                return Err(Refusal::CompetingGroup);
            }
            // The carboxylate takes the sulfonyl chloride, and the mixed anhydride the alcohol.
            Event::Sulfonylation { nucleophile, .. }
                if matches!(
                    step.before.group(nucleophile),
                    Group::PrimaryAlcohol | Group::SecondaryAlcohol
                ) && step.atoms().any(|atom| step.is_kept_acid(atom)) =>
            {
                return Err(Refusal::CompetingGroup);
            }
            Event::Coupling { metal: donor, carbon, .. }
            | Event::Arylation { nucleophile: donor, carbon, .. }
                if takes_palladium(step, donor)
                    && step
                        .atoms()
                        .any(|atom| step.is_untouched(atom) && is_taken_by_palladium(step, carbon, atom)) =>
            {
                return Err(Refusal::CompetingGroup);
            }
            Event::Functionalisation { element: CL | BR | I, .. } if leaves_phosphoric_acid(step) => {
                return Err(Refusal::Incompatible);
            }
            _ => {}
        }
    }
    if step.atoms().any(|acid| becomes_ring_beside_twin(step, acid)) {
        return Err(Refusal::CompetingGroup);
    }
    for &(a, b, _) in &step.change.made {
        couples_two_halides(step, a, b)?;
        couples_beside_free_azole(step, a, b)?;
        couples_two_acyl_groups(step, a, b)?;
        for (from, to) in [(a, b), (b, a)] {
            refuse_better_arene(step, from, to)?;
            refuse_oxidative_amination(step, from, to)?;
            refuse_slow_aminolysis(step, from, to)?;
            refuse_strecker_of_amide(step, from, to)?;
            refuse_amination_beside_sulfur(step, from, to)?;
            refuse_trimethylsilyl_ester(step, from, to)?;
        }
    }
    Ok(())
}

/// Returns true for an acid that becomes part of an aromatic ring while its twin stays: phosphoryl chloride or hot acid takes both (Joule and Mills, chapter 29).
fn becomes_ring_beside_twin(step: &Step<'_>, acid: u32) -> bool {
    step.before.group(acid) == Group::Acid
        && step.lost_oxo(acid)
        && step.image(acid).is_some_and(|image| step.after.is_aromatic(image))
        && step.atoms().any(|other| {
            other != acid
                && step.are_equivalent(other, acid)
                && step.are_in_same_molecule(other, acid)
                && step.is_untouched(other)
        })
}

/// Returns true if the product of an amine's alkylation still has a leaving group that an amine of the same molecule
/// takes: bis-halides do not stop at the first halide.
fn product_closes(step: &Step<'_>, nucleophile: u32) -> bool {
    let it = step.after;
    let is_amine_before = matches!(
        step.before.group(nucleophile),
        Group::Ammonia | Group::PrimaryAmine | Group::SecondaryAmine
    );
    let atoms = || 0..it.atoms() as u32;
    is_amine_before
        && atoms().filter(|&atom| it.is_alkyl_halide(atom)).any(|halide| {
            atoms().filter(|&atom| it.is_amine(atom)).any(|amine| takes_halide(it, amine, halide))
        })
}

/// Returns true if an amine does not stop at the first alkyl group: ammonia or a primary amine with a phenacyl halide, whose product
/// takes a second one or closes to a pyrazine (Clayden, Greeves and Warren, on over-alkylation), and a free
/// primary amino acid with any halide, as its amine is there only in base, which makes esters too.
fn is_alkylated_again(step: &Step<'_>, nucleophile: u32, carbon: u32, leaving: u32) -> bool {
    let it = &step.before;
    let is_primary = matches!(it.group(nucleophile), Group::Ammonia | Group::PrimaryAmine);
    if !is_primary || !is_heavy_halogen(it.element(leaving)) || step.are_in_same_molecule(nucleophile, carbon)
    {
        return false;
    }
    let is_open = it.next_to(nucleophile).all(|next| it.hydrogens(next) > 0);
    let is_phenacyl =
        it.hydrogens(carbon) == 2 && it.next_to(carbon).any(|next| it.group(next) == Group::Ketone);
    let is_amino_acid = it.distances(nucleophile, 4).into_iter().any(|(atom, distance)| {
        distance > 2
            && it.group(atom) == Group::AcidOxygen
            && it.hydrogens(atom) > 0
            && step.is_untouched(atom)
    });
    is_open && is_phenacyl || is_amino_acid
}

/// Returns true if a halide is to take the acid of a mixture with a free amine, amidine or guanidine, which base sets free as well: amino acids are esterified in acid
/// (Clayden, Greeves and Warren, chapter 23).
fn is_acid_beside_amine(step: &Step<'_>, nucleophile: u32, leaving: u32) -> bool {
    step.before.group(nucleophile) == Group::AcidOxygen
        && (is_heavy_halogen(step.before.element(leaving))
            || step.before.group(leaving) == Group::SulfonateOxygen)
        && (step.leaves_amine() || step.atoms().any(|atom| is_free_amidine(step, atom)))
}

/// Returns true for a nitrogen with hydrogen of an amidine or guanidine without an acyl group, which the step leaves.
fn is_free_amidine(step: &Step<'_>, atom: u32) -> bool {
    let it = &step.before;
    it.group(atom) == Group::Amidine
        && it.hydrogens(atom) > 0
        && !it.is_aromatic(atom)
        && step.is_untouched(atom)
        && !is_acylated_amidine(it, atom)
}

/// Returns true for a methyl halide that is to take an oxygen beside a free amine: even one on a tertiary carbon is methylated (March, chapter
/// 10). Primary iodides and benzylic and allylic halides take an amine before a phenol, too.
fn is_methylation_beside_amine(step: &Step<'_>, nucleophile: u32, carbon: u32, leaving: u32) -> bool {
    let it = &step.before;
    let is_fast = || {
        it.group(nucleophile) == Group::Phenol
            && it.hydrogens(carbon) == 2
            && (it.element(leaving) == I || it.is_benzylic_or_allylic(carbon))
    };
    it.element(nucleophile) == O
        && (it.hydrogens(carbon) == 3 || is_fast())
        && is_heavy_halogen(it.element(leaving))
        && step.atoms().any(|atom| it.is_amine(atom) && !is_tritylated(it, atom) && step.is_untouched(atom))
}

/// Returns true for a nitrogen on a carbon with three aromatic rings.
fn is_tritylated(it: &Facts, nitrogen: u32) -> bool {
    it.next_to(nitrogen).any(|carbon| it.next_to(carbon).filter(|&next| it.is_aromatic(next)).count() == 3)
}

/// Returns true for a glycosyl ester with free hydroxyl groups, which it takes as soon as a Lewis acid activates it (Clayden, Greeves and
/// Warren, chapter 49).
fn is_free_glycosyl_donor(step: &Step<'_>, nucleophile: u32, carbon: u32, leaving: u32) -> bool {
    let it = &step.before;
    let is_alcohol = |atom: u32| {
        matches!(it.group(atom), Group::PrimaryAlcohol | Group::SecondaryAlcohol)
            && it.hydrogens(atom) > 0
            && step.is_untouched(atom)
            && step.are_in_same_molecule(atom, carbon)
    };
    let is_ester = it.group(leaving) == Group::EsterOxygen;
    is_ester
        && is_oxocarbenium(it, carbon, leaving)
        && !step.are_in_same_molecule(nucleophile, carbon)
        && step.atoms().any(is_alcohol)
}

/// Returns true for the oxygen of a pyrimidinone, quinazolinone or pyridazinone and a primary halide or sulfonate, which the nitrogen beside takes, and for the nitrogen of a thiolactam or thioamide, whose sulfur
/// does (Joule and Mills 2010, chapters 8 and 14).
fn is_far_end_of_lactam(step: &Step<'_>, nucleophile: u32, carbon: u32, leaving: u32) -> bool {
    let it = &step.before;
    let is_halide = is_heavy_halogen(it.element(leaving)) || it.group(leaving) == Group::SulfonateOxygen;
    let is_thio = |next: u32| {
        it.doubly(next, |sulfur| {
            it.element(sulfur) == S && it.degree(sulfur) == 1 && step.is_untouched(sulfur)
        })
        .is_some()
    };
    let is_of_diazine = |ipso: u32| {
        let nitrogens =
            aromatic_positions(&it.structure, ipso).into_iter().filter(|&(atom, _)| it.element(atom) == N);
        it.is_aromatic(ipso) && it.ring(ipso) == 6 && it.is_carbonyl(ipso) && nitrogens.count() == 2
    };
    let has_free_nitrogen =
        |ipso: u32| it.next_to(ipso).any(|next| it.element(next) == N && it.hydrogens(next) > 0);
    is_halide
        && !step.are_in_same_molecule(nucleophile, carbon)
        && match it.element(nucleophile) {
            N => it.hydrogens(nucleophile) > 0 && it.next_to(nucleophile).any(is_thio),
            O => {
                it.hydrogens(carbon) > 1
                    && it.next_to(nucleophile).any(|ipso| is_of_diazine(ipso) && has_free_nitrogen(ipso))
            }
            _ => false,
        }
}

/// Returns true for the sulfur of thiourea or of a primary thioamide and a halide beside a ketone that stays: the thiazole forms (Joule and Mills 2010, chapter 24).
fn closes_aminothiazole(step: &Step<'_>, sulfur: u32, carbon: u32) -> bool {
    let it = &step.before;
    let is_amide = |next: u32| it.next_to(next).any(|far| it.element(far) == N && it.hydrogens(far) == 2);
    it.element(sulfur) == S
        && it.doubly(sulfur, is_amide).is_some()
        && it.next_to(carbon).any(|ketone| it.group(ketone) == Group::Ketone && step.is_untouched(ketone))
}

/// Returns true for the imide N–H of an aromatic pyrimidinedione with another N–H of its rings, which is alkylated first: N1 of uracils, N7 of
/// xanthines (Joule and Mills, chapters 14 and 27).
fn is_beside_ring_nitrogen(it: &Facts, nitrogen: u32) -> bool {
    let carbonyls = it.next_to(nitrogen).filter(|&next| it.is_carbonyl(next)).count();
    let is_free = |atom: u32| it.element(atom) == N && it.is_aromatic(atom) && it.hydrogens(atom) > 0;
    is_free(nitrogen)
        && carbonyls == 2
        && it.distances(nitrogen, 3).into_iter().any(|(atom, _)| atom != nitrogen && is_free(atom))
}

/// Refuses a bond from N to N by an aminating agent that brings its nitrogen with an N–O bond, beside a thiol or thione, whose sulfur takes it
/// (Wallace, Org. Prep. Proced. Int. 1982, 14, 265).
fn refuse_amination_beside_sulfur(step: &Step<'_>, aminating: u32, nitrogen: u32) -> Verdict {
    let it = &step.before;
    let brings = it.element(aminating) == N
        && it.element(nitrogen) == N
        && step.lost(aminating).any(|(gone, _)| it.element(gone) == O);
    let is_soft = |atom: u32| {
        it.element(atom) == S
            && step.is_untouched(atom)
            && (it.hydrogens(atom) > 0 || it.doubly(atom, |next| it.element(next) == C).is_some())
    };
    if brings && step.atoms().any(is_soft) { Err(Refusal::CompetingGroup) } else { Ok(()) }
}

/// Refuses a trimethylsilyl ester as a product, which water takes at once (Wuts, "Greene's Protective Groups", chapter 5).
fn refuse_trimethylsilyl_ester(step: &Step<'_>, oxygen: u32, silicon: u32) -> Verdict {
    let it = &step.before;
    let methyls = it.next_to(silicon).filter(|&next| it.element(next) == C && it.hydrogens(next) == 3);
    let is_labile =
        it.group(oxygen) == Group::AcidOxygen && it.element(silicon) == SI && methyls.count() == 3;
    if is_labile { Err(Refusal::Unstable) } else { Ok(()) }
}

/// Refuses an amide as the nitrogen of a Strecker reaction: it adds to no aldehyde (March, chapter 16).
fn refuse_strecker_of_amide(step: &Step<'_>, nitrogen: u32, carbon: u32) -> Verdict {
    let it = &step.before;
    let is_refused = it.group(nitrogen) == Group::AmideNitrogen
        && matches!(it.group(carbon), Group::Aldehyde | Group::Ketone)
        && !step.are_in_same_molecule(nitrogen, carbon)
        && step.gained(carbon).any(|(other, _)| it.is_cyano(other));
    if is_refused { Err(Refusal::Unreactive) } else { Ok(()) }
}

/// Returns true if the step leaves the O–H of a phosphoric or sulfonic acid, which halogenating agents replace.
fn leaves_phosphoric_acid(step: &Step<'_>) -> bool {
    step.atoms().any(|atom| {
        step.before.group(atom) == Group::SulfonicOxygen
            && step.before.hydrogens(atom) > 0
            && step.is_untouched(atom)
    })
}

/// Chlorine, bromine or iodine that a carbon loses in the step.
pub fn lost_halogen(step: &Step<'_>, carbon: u32) -> Option<u32> {
    let mut lost = step.lost(carbon).map(|(gone, _)| gone);
    lost.find(|&gone| is_heavy_halogen(step.before.element(gone)))
}

/// Refuses a bond between the carbons of two different alkyl halides: metals couple each with its own kind as well.
fn couples_two_halides(step: &Step<'_>, a: u32, b: u32) -> Verdict {
    let it = &step.before;
    let is_alkyl_halide = |carbon: u32| it.is_sp3(carbon) && lost_halogen(step, carbon).is_some();
    let is_mixture = !step.are_in_same_molecule(a, b) && !step.are_equivalent(a, b);
    if is_mixture && is_alkyl_halide(a) && is_alkyl_halide(b) { Err(Refusal::CompetingGroup) } else { Ok(()) }
}

/// Refuses a bond between the carbons of an aryl and an alkyl halide beside the N–H of an azole or indole, whose proton the zinc reagent takes (Knochel and Singer, Chem. Rev.
/// 1993, 93, 2117).
fn couples_beside_free_azole(step: &Step<'_>, a: u32, b: u32) -> Verdict {
    let it = &step.before;
    let loses_halogen = |carbon: u32| lost_halogen(step, carbon).is_some();
    let is_pair = |aryl: u32, alkyl: u32| it.is_aromatic_carbon(aryl) && it.is_sp3(alkyl);
    let is_free = |atom: u32| {
        matches!(it.group(atom), Group::Azole | Group::Indole)
            && it.hydrogens(atom) > 0
            && step.is_untouched(atom)
    };
    let is_refused =
        (is_pair(a, b) || is_pair(b, a)) && loses_halogen(a) && loses_halogen(b) && step.atoms().any(is_free);
    if is_refused { Err(Refusal::CompetingGroup) } else { Ok(()) }
}

/// Returns true for a free tetrazole or 1,2,4-oxadiazol-5-one beside a plain aryl chloride that palladium is to take: its anion holds the metal (Düfert, Billingsley and Buchwald, J. Am. Chem. Soc. 2013, 135,
/// 12877).
fn is_chloride_beside_azolate(step: &Step<'_>, carbon: u32, leaving: u32) -> bool {
    let it = &step.before;
    let is_azolate = |nitrogen: u32| {
        let ring = || {
            it.distances(nitrogen, 2)
                .into_iter()
                .map(|(atom, _)| atom)
                .filter(|&atom| it.is_aromatic(atom) && it.ring(atom) == 5)
        };
        it.is_aromatic(nitrogen)
            && it.element(nitrogen) == N
            && it.ring(nitrogen) == 5
            && it.hydrogens(nitrogen) > 0
            && step.is_untouched(nitrogen)
            && (ring().filter(|&atom| it.element(atom) == N).count() == 4
                || ring().any(|atom| it.is_carbonyl(atom)) && ring().any(|atom| it.element(atom) == O))
    };
    it.element(leaving) == CL
        && electrophile::activation(it, carbon) < electrophile::ACTIVATED
        && step.atoms().any(is_azolate)
}

/// Returns true for the boron of a borylation, and the carbon of a boronic acid or stannane, which palladium joins to a halide.
fn takes_palladium(step: &Step<'_>, donor: u32) -> bool {
    let it = &step.before;
    it.element(donor) == B && it.count(donor, B) > 0
        || matches!(it.group(donor), Group::Organoboron | Group::Organotin)
}

/// Returns true for a free thiol, an acyl or sulfonyl chloride or isocyanate, which the base or metal of a coupling takes, and for a terminal alkyne in the molecule of the aryl halide, which
/// is coupled as well (Metal-Catalyzed Cross-Coupling Reactions, de Meijere and Diederich, 2004, chapters 2 and 5).
fn is_taken_by_palladium(step: &Step<'_>, halide: u32, atom: u32) -> bool {
    let it = &step.before;
    match it.group(atom) {
        Group::Thiol | Group::Thiophenol => it.hydrogens(atom) > 0,
        Group::AcylHalide | Group::Chloroformate | Group::Isocyanate => {
            atom != halide && !it.is_isothiocyanate(atom)
        }
        Group::SulfonylHalide => it.count(atom, F) == 0,
        Group::TerminalAlkyne => it.hydrogens(atom) > 0 && step.are_in_same_molecule(atom, halide),
        _ => false,
    }
}

/// Refuses a bond between the acyl carbons of two esters, acids or the like: both are electrophiles.
fn couples_two_acyl_groups(step: &Step<'_>, a: u32, b: u32) -> Verdict {
    let it = &step.before;
    let is_acyl = |carbon: u32| {
        matches!(
            it.group(carbon),
            Group::Ester
                | Group::ActiveEster
                | Group::Acid
                | Group::AcylHalide
                | Group::Anhydride
                | Group::Amide
        )
    };
    let is_refused = is_acyl(a) && is_acyl(b) && !step.are_in_same_molecule(a, b);
    if is_refused { Err(Refusal::NoLeavingGroup) } else { Ok(()) }
}

/// Refuses an amine that takes an ester or displaces sulfur from C=N and leaves a chloroazine, the better electrophile.
fn refuse_better_arene(step: &Step<'_>, amine: u32, carbon: u32) -> Verdict {
    let it = &step.before;
    if !it.is_amine(amine) || step.are_in_same_molecule(amine, carbon) {
        return Ok(());
    }
    let is_slow = matches!(it.group(carbon), Group::Ester | Group::Thioester)
        || it.group(carbon) == Group::ImineCarbon && step.lost(carbon).any(|(gone, _)| it.element(gone) == S);
    let competing = || electrophile::competing_site(step, carbon, FAST_ARENE, electrophile::aryl);
    if is_slow && competing().is_some() { Err(Refusal::CompetingGroup) } else { Ok(()) }
}

/// Refuses a bond between an sp3 C–H and the N–H of an amine or amide of another molecule: no oxidant does that beside
/// the N–H.
fn refuse_oxidative_amination(step: &Step<'_>, nitrogen: u32, carbon: u32) -> Verdict {
    let it = &step.before;
    let is_nitrogen = it.hydrogens(nitrogen) > 0
        && matches!(
            it.group(nitrogen),
            Group::PrimaryAmine | Group::SecondaryAmine | Group::AmideNitrogen | Group::Aniline
        );
    let is_plain = it.is_sp3(carbon) && step.loses_only_hydrogen(carbon);
    if is_nitrogen && is_plain && !step.are_in_same_molecule(nitrogen, carbon) {
        return Err(Refusal::NoLeavingGroup);
    }
    Ok(())
}

/// Refuses the aminolysis of an ester by an aniline that a nitro group or a carbonyl group beside it makes too weak
/// (amino azines take esters as their anions). The second nitrogen of an anthranilamide closes the ring all the same, except on the ester of an amino acid, whose
/// α-carbon loses its proton to the base first.
fn refuse_slow_aminolysis(step: &Step<'_>, nitrogen: u32, carbon: u32) -> Verdict {
    let it = &step.before;
    let is_weak = match it.group(nitrogen) {
        Group::PoorAniline => it.next_to(nitrogen).any(|ipso| {
            aromatic_positions(&it.structure, ipso)
                .iter()
                .any(|&(atom, _)| it.next_to(atom).any(|next| it.is_nitro(next)))
                || is_of_lactam(it, ipso)
        }),
        Group::Aniline | Group::SecondaryAniline => is_chelated(it, nitrogen),
        _ => false,
    };
    let of_amino_acid = || it.next_to(carbon).any(|alpha| it.is_sp3(alpha) && it.count(alpha, N) > 0);
    let is_open = || !builds_ring(step, nitrogen, carbon);
    let is_refused = is_weak
        && it.group(carbon) == Group::Ester
        && !step.are_in_same_molecule(nitrogen, carbon)
        && (of_amino_acid() || is_open());
    if is_refused { Err(Refusal::Unreactive) } else { Ok(()) }
}

/// Returns true for a carbon of an aromatic lactam with its N–H, or of its hydroxyazine, which base deprotonates before an amino group on the ring takes an ester: guanines and
/// cytosines (Joule and Mills 2010, chapter 14).
fn is_of_lactam(it: &Facts, ipso: u32) -> bool {
    let is_acid = |atom: u32| {
        it.group(atom) == Group::AmideNitrogen && it.is_aromatic(atom) && it.hydrogens(atom) > 0
            || it.next_to(atom).any(|next| it.group(next) == Group::Phenol && it.hydrogens(next) > 0)
    };
    it.ring(ipso) == 6 && aromatic_positions(&it.structure, ipso).iter().any(|&(atom, _)| is_acid(atom))
}

/// Returns true if the molecule of the halide takes it, or a second halide, itself.
fn reacts_with_its_own(step: &Step<'_>, event: Event) -> bool {
    match event {
        Event::Alkylation { nucleophile, carbon, leaving } => {
            product_closes(step, nucleophile)
                || step.atoms().any(|acid| closes_as_acid(step, nucleophile, carbon, leaving, acid))
        }
        Event::Arylation { nucleophile, carbon, .. } if step.before.group(nucleophile) == Group::Phenol => {
            step.atoms().any(|atom| is_phenol_of_halide(step, atom, carbon))
        }
        _ => false,
    }
}

/// Returns true for the free acid of a halide that closes with it to a lactone of five or six atoms before a nitrogen or oxygen of another molecule takes the halide
/// (Mandolini, Adv. Phys. Org. Chem. 1986): chemists take the ester.
fn closes_as_acid(step: &Step<'_>, nucleophile: u32, carbon: u32, leaving: u32, acid: u32) -> bool {
    let it = &step.before;
    step.is_kept_acid(acid)
        && step.are_in_same_molecule(acid, carbon)
        && !step.are_in_same_molecule(nucleophile, carbon)
        && is_heavy_halogen(it.element(leaving))
        && matches!(it.element(nucleophile), N | O)
        && it
            .distances(carbon, 5)
            .into_iter()
            .any(|(atom, distance)| atom == acid && matches!(distance, 4 | 5))
}

/// Returns true for a free phenol on the arene of a halide that a phenol of another molecule is to take: its anion holds the halogen, and takes that of the next
/// molecule (Miller 1968).
fn is_phenol_of_halide(step: &Step<'_>, phenol: u32, carbon: u32) -> bool {
    let it = &step.before;
    it.group(phenol) == Group::Phenol
        && it.hydrogens(phenol) > 0
        && step.is_untouched(phenol)
        && step.are_in_same_molecule(phenol, carbon)
        && it.next_to(phenol).any(|ipso| it.shares_arene(ipso, carbon))
}

/// Returns true for one of two like anhydrides of a molecule that an alcohol or amine opens while the other stays: both react alike (Clayden, Greeves and Warren, chapter 10).
fn leaves_twin_anhydride(step: &Step<'_>, nucleophile: u32, carbon: u32) -> bool {
    let it = &step.before;
    it.group(carbon) == Group::Anhydride
        && !step.are_in_same_molecule(nucleophile, carbon)
        && step.atoms().any(|atom| {
            it.group(atom) == Group::Anhydride
                && step.is_untouched(atom)
                && step.are_in_same_molecule(atom, carbon)
                && step.are_equivalent(atom, carbon)
                && it.next_to(atom).filter(|&next| it.element(next) == O).all(|next| step.is_untouched(next))
        })
}
