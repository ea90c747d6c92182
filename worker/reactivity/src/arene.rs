//! Electrophilic aromatic substitution: the ring and the position that react.
//!
//! A score (`arene_score.rs`) decides if a ring takes an electrophile at all, and the site model (`arene_sites.rs`) which
//! position it takes. Sources are at the functions, and in those modules.

use chem::Order;

use crate::arene_competition;
use crate::arene_position::{is_crowded_pechmann, position};
use crate::arene_score::score;
use crate::arene_sites::Electrophile;
use crate::change::{Facts, Step};
use crate::claisen::Claisen;
use crate::competition::{closed_ring_size, gains_ring_bond};
use crate::event::Event;
use crate::friedel_crafts::{
    alkylates_nitroarene, carbon_electrophile, check_ring_closure, is_between_nitrogens, lewis_acid,
    loses_protection, takes_vilsmeier_reagent,
};
use crate::group::{Group, aromatic_positions, positions_beside};
use crate::lithiation::is_lithiated;
use crate::queries::*;
use crate::refusal::Refusal;

/// Score that a ring needs for thiocyanogen: anilines, indoles and pyrroles take it, anisoles do not (Wood, Org. React. 1946, 3, 240).
const LEAST_FOR_THIOCYANOGEN: i32 = 30;
/// Score that a ring needs for a nitrile and acid: resorcinols and pyrroles (Spoerri and DuBois, Org. React. 1949, 5, 387).
const LEAST_FOR_NITRILE: i32 = 15;
/// Score that a ring needs for an N–F reagent: anisoles, anilides, pyrazoles (March, chapter 11).
const LEAST_FOR_FLUORINE: i32 = 0;
/// Score that a ring needs for the cation of an aldehyde.
const LEAST_FOR_ALDEHYDE: i32 = 12;

type Verdict = Result<(), Refusal>;

/// Checks a substitution of an aromatic hydrogen.
pub fn check(step: &Step<'_>, event: &Event) -> Verdict {
    let Event::AromaticSubstitution { carbon, electrophile, element } = *event else { return Ok(()) };
    if let Some(claisen) = electrophile.and_then(|allyl| Claisen::of(step, carbon, allyl)) {
        return claisen.check(step);
    }
    let oxide = aromatic_positions(&step.before.structure, carbon)
        .iter()
        .any(|&(atom, _)| step.before.element(atom) == N && step.before.at(atom).charge == 1);
    let small = electrophile.and_then(|electrophile| closed_ring_size(step, carbon, electrophile));
    if small.is_some_and(|ring| ring < 5) {
        return Err(Refusal::Strained);
    }
    if let Some(electrophile) = electrophile {
        partner(step, carbon, electrophile, oxide)?;
    }
    let is_formamide =
        |other: u32| step.before.group(other) == Group::Amide && step.before.hydrogens(other) > 0;
    if oxide
        && (matches!(element, N | CL | BR | I) || electrophile.is_some_and(is_formamide))
        && step.atoms().any(|atom| is_richer_than_oxide(step, atom))
    {
        return Err(Refusal::Position);
    }
    if oxide || gains_ring_bond(step, carbon) {
        return Ok(());
    }
    match element {
        N if loses_acid_to_nitration(step, carbon) || loses_boron_to_nitration(&step.before, carbon) => {
            Err(Refusal::CompetingGroup)
        }
        CL | BR | I if is_poor_quinolone(&step.before, carbon) => Err(Refusal::Arene),
        N | CL | BR if is_one_of_two_in_benzimidazole(&step.before, carbon) => Err(Refusal::Position),
        N | CL | BR | I if is_between_azine_nitrogens(&step.before, carbon) => Err(Refusal::Arene),
        N => nitrogen(step, carbon, electrophile),
        O => Err(Refusal::NoLeavingGroup),
        F | CL | BR | I => halogen(step, carbon, electrophile, element),
        S => sulfur(step, carbon, electrophile),
        C => electrophile.map_or(Ok(()), |electrophile| carbon_electrophile(step, carbon, electrophile)),
        // Borates and stannyl halides take lithiated rings; diborons and boranes need iridium.
        B | SN if electrophile.is_some_and(|other| element == SN || step.before.count(other, O) == 3) => {
            if is_lithiated(step, carbon) {
                Ok(())
            } else {
                Err(Refusal::Position)
            }
        }
        B => borylation(step, carbon),
        _ => Ok(()),
    }
}

/// Checks what an electrophile of the mixture does with the ring, also where they close another.
fn partner(step: &Step<'_>, carbon: u32, electrophile: u32, oxide: bool) -> Verdict {
    let before = &step.before;
    let is_acyl = matches!(before.group(electrophile), Group::Acid | Group::AcylHalide | Group::Anhydride);
    match () {
        // A carbon that gives up nothing but hydrogen is no electrophile.
        () if before.is_sp3(electrophile) && step.loses_only_hydrogen(electrophile) => {
            Err(Refusal::NoLeavingGroup)
        }
        () if is_acyl && is_inert_azine(before, carbon) => Err(Refusal::NotActivated),
        // N-oxides take nucleophiles, nitric acid and metals, but no carbenium ions, and acyl groups on oxygen (Joule and Mills 2010, chapter 8).
        () if oxide && (gives_carbenium_ion(step, electrophile) || acylates(step, electrophile)) => {
            Err(Refusal::Arene)
        }
        () if is_too_poor_for_closure(step, carbon, electrophile)
            || alkylates_nitroarene(step, carbon, electrophile)
            || is_plain_aminoazine(step, carbon, electrophile)
            || is_aminoazine_and_haloketone(step, carbon, electrophile) =>
        {
            Err(Refusal::Arene)
        }
        () if is_crowded_pechmann(step, carbon, electrophile) => Err(Refusal::Position),
        () if loses_protection(step, carbon, electrophile) => Err(Refusal::Incompatible),
        () if is_acyl => check_ring_closure(step, carbon, electrophile),
        () => Ok(()),
    }
}

/// Returns true for C5 or C6 of a substituted benzimidazole whose benzene ring is free, which electrophiles do not tell apart (Joule and Mills, chapter 25).
fn is_one_of_two_in_benzimidazole(before: &Facts, carbon: u32) -> bool {
    let bond = before.around(carbon).iter().find(|bond| bond.ring == 6 && bond.order == Order::Aromatic);
    let Some(ring) = bond.and_then(|bond| before.smallest_cycle(carbon, bond.to)) else { return false };
    let fusions: Vec<u32> =
        ring.iter().copied().filter(|&atom| before.is_shared_by_aromatic_rings(atom)).collect();
    let nitrogen = |fusion: u32| before.next_to(fusion).find(|&next| before.element(next) == N);
    let is_substituted = |atom: u32| before.degree(atom) == 3;
    let is_free = ring.iter().all(|&atom| fusions.contains(&atom) || before.hydrogens(atom) == 1);
    let is_imidazole = match fusions[..] {
        [a, b] => nitrogen(a).zip(nitrogen(b)).is_some_and(|(a, b)| {
            is_substituted(a) != is_substituted(b)
                && before.hydrogens(a) + before.hydrogens(b) == 0
                && before.next_to(a).any(|next| before.bond(next, b).is_some() && !ring.contains(&next))
        }),
        _ => false,
    };
    is_free && is_imidazole && !fusions.iter().any(|&fusion| before.bond(fusion, carbon).is_some())
}

/// Returns true for a free position of a ring with a donor, which nitric acid and halogens take before that of an N-oxide (Joule and Mills 2010, chapter 8).
fn is_richer_than_oxide(step: &Step<'_>, atom: u32) -> bool {
    step.before.is_aromatic_carbon(atom)
        && step.before.hydrogens(atom) > 0
        && step.is_untouched(atom)
        && takes_vilsmeier_reagent(&step.before, atom)
}

/// Checks the substitution by sulfur: a sulfonic acid, thiocyanogen or a disulfide.
fn sulfur(step: &Step<'_>, carbon: u32, electrophile: Option<u32>) -> Verdict {
    let before = &step.before;
    let is_weak = electrophile.is_some_and(|sulfur| is_weak_sulfur(before, sulfur));
    if is_weak && score(before, carbon) < LEAST_FOR_THIOCYANOGEN && !is_lithiated(step, carbon) {
        return Err(Refusal::Arene);
    }
    if !is_weak && electrophile.is_some() && is_between_nitrogens(before, carbon) {
        return Err(Refusal::Arene);
    }
    let is_taken_first = |atom: u32| {
        before.hydrogens(atom) > 0
            && matches!(
                before.group(atom),
                Group::SulfonamideNitrogen
                    | Group::AmideNitrogen
                    | Group::PrimaryAmine
                    | Group::SecondaryAmine
            )
            && step.is_untouched(atom)
    };
    if electrophile.is_some_and(|sulfur| is_sulfenyl_chloride(before, sulfur))
        && step.atoms().any(is_taken_first)
    {
        return Err(Refusal::CompetingGroup);
    }
    if is_beside_sulfonylated_amide(before, carbon) {
        return Err(Refusal::Position);
    }
    lewis_acid(step, carbon)?;
    position(step, carbon, -30, Electrophile::Sulfonation)
}

/// Returns true for the sulfur of thiocyanate, of a disulfide or of a sulfenyl chloride.
fn is_weak_sulfur(before: &Facts, sulfur: u32) -> bool {
    before.group(sulfur) == Group::Disulfide
        || is_sulfenyl_chloride(before, sulfur)
        || before.next_to(sulfur).any(|next| before.is_cyano(next))
}

/// Returns true for the sulfur of a sulfenyl chloride, which takes the N–H of amines, amides and sulfonamides (Kühle, Synthesis 1970, 561).
fn is_sulfenyl_chloride(before: &Facts, sulfur: u32) -> bool {
    before.oxo(sulfur) == 0 && before.count(sulfur, CL) == 1 && before.carbons(sulfur) == 1
}

/// Returns true for a saturated carbon that loses a halide or an oxygen.
fn gives_carbenium_ion(step: &Step<'_>, carbon: u32) -> bool {
    let is_leaving =
        |gone: u32| is_heavy_halogen(step.before.element(gone)) || step.before.element(gone) == O;
    step.before.is_sp3(carbon) && step.lost(carbon).any(|(gone, _)| is_leaving(gone))
}

/// Returns true for the acyl carbon of a chloride, anhydride or chloroformate.
fn acylates(step: &Step<'_>, acyl: u32) -> bool {
    matches!(step.before.group(acyl), Group::AcylHalide | Group::Anhydride | Group::Chloroformate)
}

/// Returns true if a nitrile is to close a ketone on the arene, or an aldehyde the lactone of a benzoic acid, and the ring has no donor for either (Spoerri and DuBois, Org. React.
/// 1949, 5, 387; March, chapter 11).
fn is_too_poor_for_closure(step: &Step<'_>, carbon: u32, electrophile: u32) -> bool {
    let it = &step.before;
    let least = match it.group(electrophile) {
        Group::Nitrile => LEAST_FOR_NITRILE,
        Group::Aldehyde
            if step.gained(electrophile).any(|(oxygen, _)| it.group(oxygen) == Group::AcidOxygen) =>
        {
            LEAST_FOR_ALDEHYDE
        }
        _ => return false,
    };
    gains_ring_bond(step, carbon) && score(it, carbon) < least
}

/// Returns true for a carbon of an aminoazine without a second donor and the alkene of an enone with which it closes a dihydropyridine: only the lactams and diamines are enamines enough, and the
/// ring nitrogen of a plain 2-aminopyridine takes the enone itself (Joule and Mills 2010, chapters 8 and 28).
fn is_plain_aminoazine(step: &Step<'_>, carbon: u32, alkene: u32) -> bool {
    let it = &step.before;
    let is_donor = |next: u32| {
        it.element(next) == N && !it.is_aromatic(next) && it.is_saturated(next) || it.is_hydroxyl(next)
    };
    let has = |wanted: &dyn Fn(u32) -> bool| {
        aromatic_positions(&it.structure, carbon).iter().any(|&(atom, _)| wanted(atom))
    };
    it.group(alkene) == Group::Alkene
        && gains_ring_bond(step, carbon)
        && it.ring(carbon) == 6
        && has(&|atom| it.group(atom) == Group::Azine && it.ring(atom) == 6)
        && !has(&|atom| it.is_carbonyl(atom))
        && positions_beside(&it.structure, carbon, is_donor) < 2
}

/// Returns true for a carbon of an aminoazine without a carbonyl or hydroxyl group on its ring and an α-halo ketone with which it closes a pyrrole: the ring's nitrogen takes the halide and closes the imidazole (Joule and
/// Mills 2010, chapter 28).
fn is_aminoazine_and_haloketone(step: &Step<'_>, carbon: u32, alpha: u32) -> bool {
    let it = &step.before;
    let positions = aromatic_positions(&it.structure, carbon);
    it.is_alkyl_halide(alpha)
        && it.next_to(alpha).any(|next| matches!(it.group(next), Group::Ketone | Group::Aldehyde))
        && gains_ring_bond(step, carbon)
        && it.ring(carbon) == 6
        && positions.iter().any(|&(atom, _)| it.group(atom) == Group::Azine && it.ring(atom) == 6)
        && !positions
            .iter()
            .any(|&(atom, _)| it.is_carbonyl(atom) || it.next_to(atom).any(|next| it.is_hydroxyl(next)))
}

/// Returns true for the carbon between the nitrogens of a pyrimidine, which takes no electrophile (Joule and Mills 2010, chapter 14).
fn is_between_azine_nitrogens(before: &Facts, carbon: u32) -> bool {
    before.ring(carbon) == 6
        && before
            .next_to(carbon)
            .filter(|&next| before.element(next) == N && before.is_aromatic(next))
            .count()
            > 1
}

/// Returns true if the arene has a free acid and three alkoxy groups: nitric acid takes the place of carbon dioxide (March, chapter 11).
fn loses_acid_to_nitration(step: &Step<'_>, carbon: u32) -> bool {
    let before = &step.before;
    let count = |wanted: &dyn Fn(u32) -> bool| positions_beside(&before.structure, carbon, wanted);
    count(&|next| before.group(next) == Group::Acid && step.is_untouched(next)) > 0
        && count(&|next| matches!(before.group(next), Group::ArylEther | Group::Phenol)) > 2
}

/// Returns true if the arene has a boronic acid or ester and an alkyl or alkoxy group, an amine, or two halogens: nitric acid takes the place of boron, or does not choose (Hall, "Boronic
/// Acids", 2011, chapter 1).
fn loses_boron_to_nitration(before: &Facts, carbon: u32) -> bool {
    let count = |wanted: &dyn Fn(u32) -> bool| positions_beside(&before.structure, carbon, wanted);
    let is_donor = |next: u32| {
        before.is_sp3(next) && before.count(next, F) == 0
            || matches!(before.element(next), N | O) && before.is_saturated(next)
    };
    count(&|next| before.element(next) == B) > 0
        && (count(&|next| !before.is_aromatic(next) && is_donor(next)) > 0
            || count(&|next| is_halogen(before.element(next))) > 1)
}

/// Returns true if the only donor ortho or para is a nitrogen with a sulfonyl group and a second acyl or sulfonyl group, which gives none.
fn is_beside_sulfonylated_amide(before: &Facts, carbon: u32) -> bool {
    let is_sulfonyl = |next: u32| before.element(next) == S && before.oxo(next) == 2;
    let is_poor = |nitrogen: u32| {
        before.element(nitrogen) == N
            && before.next_to(nitrogen).any(is_sulfonyl)
            && before.next_to(nitrogen).filter(|&next| is_sulfonyl(next) || before.is_carbonyl(next)).count()
                > 1
    };
    aromatic_positions(&before.structure, carbon)
        .iter()
        .any(|&(atom, distance)| distance != 2 && (is_poor(atom) || before.next_to(atom).any(is_poor)))
}

/// Checks an iridium-catalysed borylation of a benzene ring, which takes a C–H without a neighbour: two that differ give a mixture
/// (Ishiyama and others, J. Am. Chem. Soc. 2002, 124, 390).
fn borylation(step: &Step<'_>, carbon: u32) -> Verdict {
    let it = &step.before;
    let ring = aromatic_positions(&it.structure, carbon);
    let is_benzene =
        it.ring(carbon) == 6 && ring.iter().all(|&(atom, _)| it.element(atom) == C && it.ring(atom) == 6);
    let is_open = |atom: u32| {
        it.hydrogens(atom) == 1
            && it.next_to(atom).filter(|&next| it.is_aromatic(next)).all(|next| it.hydrogens(next) == 1)
    };
    let has_rival =
        ring.iter().any(|&(atom, _)| atom != carbon && is_open(atom) && !step.are_equivalent(atom, carbon));
    if is_benzene && has_rival { Err(Refusal::Position) } else { Ok(()) }
}

fn nitrogen(step: &Step<'_>, carbon: u32, electrophile: Option<u32>) -> Verdict {
    let image = step.image(carbon);
    let new = image.and_then(|image| {
        step.after.next_to(image).find(|&next| step.after.element(next) == N && !step.after.is_aromatic(next))
    });
    let nitro_or_azo = new.is_some_and(|new| step.after.is_nitro(new) || !step.after.is_saturated(new));
    if !nitro_or_azo {
        return Err(Refusal::NoLeavingGroup);
    }
    if is_beta_of_benzazine(&step.before, carbon) || is_peri_in_carbostyril(&step.before, carbon) {
        return Err(Refusal::Position);
    }
    let azo = electrophile.is_some() && new.is_some_and(|new| step.after.count(new, N) > 0);
    if azo {
        position(step, carbon, 15, Electrophile::Formylation)
    } else {
        refuse_nitration_beside_amine(step, carbon)?;
        let is_destroyed =
            |atom: u32| is_oxidised_phenol(&step.before, atom) || is_lost_in_mixed_acid(&step.before, atom);
        if step.atoms().any(|atom| is_destroyed(atom) && step.is_untouched(atom)) {
            return Err(Refusal::Incompatible);
        }
        position(step, carbon, -75, Electrophile::Nitration)
    }
}

/// Returns true for a carbon of the benzene ring of a quinolone-3-carboxylate that bears halogens and no donor: the chlorination of delafloxacin needs the amine at C7 (Haight and others, Org. Process Res. Dev.
/// 2006, 10, 751).
fn is_poor_quinolone(before: &Facts, carbon: u32) -> bool {
    let ring = aromatic_positions(&before.structure, carbon);
    let is_pyridone = |fusion: u32| {
        before.next_to(fusion).any(|acyl| {
            before.is_aromatic(acyl)
                && before.is_carbonyl(acyl)
                && before.next_to(acyl).any(|next| before.is_aromatic(next) && before.bears_acceptor(next))
        })
    };
    let outside =
        |atom: u32| before.next_to(atom).filter(|&next| !before.is_aromatic(next)).collect::<Vec<_>>();
    let of_ring = || {
        ring.iter().filter(|&&(atom, _)| {
            before.is_aromatic_carbon(atom) && !before.is_carbonyl(atom) && before.ring(atom) == 6
        })
    };
    before.ring(carbon) == 6
        && ring.iter().any(|&(atom, _)| before.is_shared_by_aromatic_rings(atom) && is_pyridone(atom))
        && of_ring().any(|&(atom, _)| outside(atom).iter().any(|&next| is_halogen(before.element(next))))
        && !of_ring().any(|&(atom, _)| {
            outside(atom)
                .iter()
                .any(|&next| matches!(before.element(next), N | O | S) && before.is_saturated(next))
        })
}

/// Returns true for C5 or C7 of a 2-quinolone whose benzene ring is free: nitric acid takes C6, across from the nitrogen, then C8 (Joule and Mills 2010, chapter 9).
fn is_peri_in_carbostyril(before: &Facts, carbon: u32) -> bool {
    let is_lactam_nitrogen = |atom: u32| {
        before.element(atom) == N
            && before.is_aromatic(atom)
            && before.next_to(atom).any(|next| before.is_carbonyl(next))
    };
    let positions = aromatic_positions(&before.structure, carbon);
    let is_free =
        |distance: u32| positions.iter().any(|&(atom, away)| away == distance && before.hydrogens(atom) > 0);
    before.ring(carbon) == 6
        && positions.iter().any(|&(atom, distance)| {
            distance == 2
                && before.is_shared_by_aromatic_rings(atom)
                && before.next_to(atom).any(is_lactam_nitrogen)
        })
        && is_free(1)
        && positions.iter().all(|&(atom, _)| {
            before.is_shared_by_aromatic_rings(atom)
                || before.ring(atom) != 6
                || before.degree(atom) == 2
                || before.is_carbonyl(atom)
                || before.bears_acceptor(atom)
        })
}

/// Refuses nitration ortho or para to a free amine on a benzene ring without an acceptor: nitric acid oxidises the free base and nitrates the
/// salt meta, so chemists acetylate first (Clayden, Greeves and Warren, chapter 21).
fn refuse_nitration_beside_amine(step: &Step<'_>, carbon: u32) -> Verdict {
    let before = &step.before;
    let positions = aromatic_positions(&before.structure, carbon);
    let beside = positions.iter().any(|&(atom, distance)| {
        distance != 2
            && before.ring(atom) == 6
            && before.next_to(atom).any(|next| before.is_free_aniline(next))
    });
    let is_poor = positions.iter().any(|&(atom, _)| {
        before.element(atom) != C || before.next_to(atom).any(|next| before.impoverishes_ring(next))
    });
    if beside && !is_poor { Err(Refusal::Incompatible) } else { Ok(()) }
}

/// Returns true for a naphthol, and for a phenol across the ring from another or from an amine: nitric acid oxidises them to the quinone (Clayden, Greeves and Warren,
/// chapter 21; March, chapter 19).
fn is_oxidised_phenol(it: &Facts, atom: u32) -> bool {
    let is_free =
        |other: u32| it.group(other) == Group::Phenol && it.hydrogens(other) > 0 || it.is_free_aniline(other);
    let is_across = |&(other, distance): &(u32, u32)| distance == 3 && it.next_to(other).any(is_free);
    it.group(atom) == Group::Phenol
        && it.hydrogens(atom) > 0
        && it.next_to(atom).any(|ipso| {
            let positions = aromatic_positions(&it.structure, ipso);
            let is_fusion = |&(other, _): &(u32, u32)| it.is_shared_by_aromatic_rings(other);
            let is_carbon = |&(other, _): &(u32, u32)| it.is_aromatic_carbon(other);
            positions.iter().any(is_across)
                || positions.iter().any(is_fusion) && positions.iter().all(is_carbon)
        })
}

/// Returns true for the nitrogen of an azole or indole with an alkoxycarbonyl group, and for that of a hydrazone, which the acid takes off
/// (Wuts and Greene, chapter 7).
fn is_lost_in_mixed_acid(it: &Facts, atom: u32) -> bool {
    let is_acylated = || it.next_to(atom).any(|next| it.group(next) == Group::Carbamate);
    it.group(atom) == Group::Hydrazone || it.element(atom) == N && it.is_aromatic(atom) && is_acylated()
}

fn halogen(step: &Step<'_>, carbon: u32, electrophile: Option<u32>, element: u8) -> Verdict {
    // Hydrogen halides bring no positive halogen.
    if electrophile.is_some_and(|halogen| step.before.degree(halogen) == 0) {
        return Err(Refusal::NoLeavingGroup);
    }
    if element == F && (has_free_quinol(step) || step.atoms().any(|atom| is_kept_boron(step, atom))) {
        return Err(Refusal::Incompatible);
    }
    if element == F && score(&step.before, carbon) < LEAST_FOR_FLUORINE && !is_lithiated(step, carbon) {
        return Err(Refusal::Arene);
    }
    let kind = match element {
        BR => Electrophile::Bromine,
        I => Electrophile::Iodine,
        _ => Electrophile::Chlorine,
    };
    let is_inert =
        is_inert_azine(&step.before, carbon) || is_between_triazole_nitrogens(&step.before, carbon);
    let verdict = arene_competition::halogen(step, carbon, electrophile)
        .and_then(|()| if is_inert { Err(Refusal::Arene) } else { position(step, carbon, -80, kind) });
    // Iodine can also be introduced by lithiation.
    match verdict {
        Err(_) if element == I && is_lithiated(step, carbon) => Ok(()),
        verdict => verdict,
    }
}

/// Returns true for a position of the benzene ring of quinoline or isoquinoline that is not beside the fusion, where one beside it is free: acids
/// take the latter (Joule and Mills, chapter 9).
fn is_beta_of_benzazine(before: &Facts, carbon: u32) -> bool {
    let shared = |atom: u32| before.next_to(atom).find(|&next| before.is_shared_by_aromatic_rings(next));
    let is_of_azine = |fusion: u32| {
        let positions = aromatic_positions(&before.structure, fusion);
        positions.iter().any(|&(atom, _)| before.group(atom) == Group::Azine && before.ring(atom) == 6)
            && !positions.iter().any(|&(atom, _)| before.is_carbonyl(atom))
    };
    let is_free_alpha = |atom: u32| {
        before.is_aromatic_carbon(atom) && before.hydrogens(atom) > 0 && shared(atom).is_some_and(is_of_azine)
    };
    let in_benzene = || {
        aromatic_positions(&before.structure, carbon)
            .iter()
            .all(|&(atom, distance)| distance == 3 || before.element(atom) == C)
    };
    before.ring(carbon) == 6
        && shared(carbon).is_none()
        && in_benzene()
        && !arene_competition::is_activated(before, carbon)
        && before.next_to(carbon).any(is_free_alpha)
}

/// Returns true for a carbon between two nitrogens of a substituted 1,2,4-triazole, whose bromides come by lithiation; those with N–H are
/// halogenated as anions (Joule and Mills, chapter 29).
fn is_between_triazole_nitrogens(before: &Facts, carbon: u32) -> bool {
    let ring = aromatic_positions(&before.structure, carbon);
    let nitrogens = || {
        ring.iter().map(|&(atom, _)| atom).filter(|&atom| before.element(atom) == N && before.ring(atom) == 5)
    };
    before.ring(carbon) == 5
        && before.count(carbon, N) == 2
        && nitrogens().count() > 2
        && nitrogens().all(|atom| before.hydrogens(atom) == 0)
}

/// Returns true for a position of an azine that no donor activates: it takes neither halogen nor acylium ions (Joule and Mills, chapter 8).
fn is_inert_azine(before: &Facts, carbon: u32) -> bool {
    is_in_azine(before, carbon) && !arene_competition::is_activated(before, carbon)
}

/// Returns true for a carbon of a six-membered ring with a nitrogen that gives no electrons, or that an azole shares.
fn is_in_azine(before: &Facts, carbon: u32) -> bool {
    let is_shared = |atom: u32| before.element(atom) == N && before.is_shared_by_aromatic_rings(atom);
    // Across the fusion of quinoline the nitrogen is part of the other ring.
    let is_across = |atom: u32| {
        before
            .next_to(carbon)
            .any(|next| before.is_shared_by_aromatic_rings(next) && before.bond(next, atom).is_some())
    };
    before.ring(carbon) == 6
        && aromatic_positions(&before.structure, carbon).iter().any(|&(atom, _)| {
            let is_azine = before.group(atom) == Group::Azine && before.ring(atom) == 6;
            is_shared(atom) || is_azine && !is_across(atom)
        })
}

/// Returns true for the boron of an arene, which N–F reagents replace (Hall, "Boronic Acids", 2011, chapter 1).
fn is_kept_boron(step: &Step<'_>, boron: u32) -> bool {
    let before = &step.before;
    before.element(boron) == B && before.aryls(boron) > 0 && step.is_untouched(boron)
}

/// Returns true for a free catechol or hydroquinone, which N–F reagents oxidise to the quinone.
fn has_free_quinol(step: &Step<'_>) -> bool {
    let before = &step.before;
    let is_phenol = |atom: u32| before.group(atom) == Group::Phenol && before.hydrogens(atom) > 0;
    step.atoms().filter(|&atom| is_phenol(atom)).any(|atom| {
        before
            .distances(atom, 5)
            .into_iter()
            .any(|(other, distance)| matches!(distance, 3 | 5) && is_phenol(other))
    })
}
