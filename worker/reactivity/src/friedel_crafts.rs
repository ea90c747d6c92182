//! Friedel–Crafts reactions: the acid, the cations, and the groups that either of them takes.
//!
//! Sources: Olah, "Friedel-Crafts Chemistry" (1973); Smith, "March's Advanced Organic Chemistry", chapter 11; others at the functions.

use crate::arene_score::score;
use crate::change::{Facts, Step};
use crate::cleavage::keeps_lewis_acid_labile_group;
use crate::group::{Group, aromatic_positions};
use crate::queries::*;
use crate::refusal::Refusal;

type Verdict = Result<(), Refusal>;

/// Score from which a position needs no acid to react with an acyl or sulfonyl group.
const ELECTRON_RICH: i32 = 40;

/// Score of a ring with a donor, which takes a tertiary acylium ion before the ion loses carbon monoxide.
const LEAST_WITH_ACYLIUM: i32 = 14;

/// Refuses a reaction that needs a strong acid, if the step keeps a protecting group that the acid removes.
pub fn lewis_acid(step: &Step<'_>, carbon: u32) -> Verdict {
    let poor = score(&step.before, carbon) < ELECTRON_RICH;
    if poor && keeps_lewis_acid_labile_group(step) { Err(Refusal::Incompatible) } else { Ok(()) }
}

/// Returns true for the position beside the sulfur or oxygen of a thiophene or furan that an azine shares: the other one takes electrophiles (Joule and
/// Mills, chapter 19).
pub fn is_alpha_of_thienoazine(it: &Facts, carbon: u32) -> bool {
    let is_shared = |atom: u32| it.is_shared_by_aromatic_rings(atom);
    let has_azine = |fusion: u32| {
        let positions = aromatic_positions(&it.structure, fusion);
        positions.iter().any(|&(atom, _)| it.group(atom) == Group::Azine && it.ring(atom) == 6)
    };
    it.ring(carbon) == 5
        && it.next_to(carbon).any(|hetero| {
            matches!(it.element(hetero), O | S)
                && it.next_to(hetero).any(|fusion| is_shared(fusion) && has_azine(fusion))
        })
}

/// Returns true for a tertiary acyl chloride and a ring without a donor, which takes the tertiary cation that is left when the acylium ion loses carbon monoxide
/// (Rothstein and Saville, J. Chem. Soc. 1949, 1946). Cyclopropyl cations do not form.
pub fn loses_carbon_monoxide(it: &Facts, carbon: u32, acyl: u32) -> bool {
    let is_tertiary = |next: u32| it.is_sp3(next) && it.carbons(next) == 4 && it.ring(next) != 3;
    it.next_to(acyl).any(is_tertiary) && score(it, carbon) < LEAST_WITH_ACYLIUM
}

/// Refuses Friedel–Crafts reactions beside free amines, which bind the Lewis acid or are acylated.
pub fn refuse_free_amines(step: &Step<'_>) -> Verdict {
    let amine = |group| {
        matches!(
            group,
            Group::PrimaryAmine
                | Group::SecondaryAmine
                | Group::Aniline
                | Group::SecondaryAniline
                | Group::Hydrazine
        )
    };
    let competing = step.atoms().any(|atom| amine(step.before.group(atom)) && step.is_untouched(atom));
    if competing { Err(Refusal::CompetingGroup) } else { Ok(()) }
}

/// Refuses Friedel–Crafts acylation beside a free alcohol, which is acylated first or leaves as a cation (March, chapter 11).
pub fn refuse_free_alcohols(step: &Step<'_>) -> Verdict {
    let before = &step.before;
    let competing = step.atoms().any(|atom| {
        matches!(before.group(atom), Group::PrimaryAlcohol | Group::SecondaryAlcohol | Group::TertiaryAlcohol)
            && before.hydrogens(atom) > 0
            && step.is_untouched(atom)
    });
    if competing { Err(Refusal::CompetingGroup) } else { Ok(()) }
}

/// Refuses Friedel–Crafts acylation of an aromatic aldehyde, which binds the Lewis acid and condenses, unless the ring needs none (March, chapter 11).
pub fn refuse_aryl_aldehydes(step: &Step<'_>, carbon: u32) -> Verdict {
    let before = &step.before;
    let is_aryl_aldehyde = |atom: u32| {
        before.group(atom) == Group::Aldehyde
            && step.is_untouched(atom)
            && before.next_to(atom).any(|next| before.is_aromatic(next))
    };
    let competing = score(before, carbon) < ELECTRON_RICH && step.atoms().any(is_aryl_aldehyde);
    if competing { Err(Refusal::CompetingGroup) } else { Ok(()) }
}

/// Refuses Friedel–Crafts reactions beside a benzylic halide, which alkylates every arene of the mixture.
pub fn refuse_benzylic_halides(step: &Step<'_>) -> Verdict {
    let before = &step.before;
    let competing = step.atoms().any(|atom| {
        before.is_sp3(atom)
            && step.is_untouched(atom)
            && before.next_to(atom).any(|next| before.is_aromatic(next))
            && before.next_to(atom).any(|next| is_heavy_halogen(before.element(next)))
    });
    if competing { Err(Refusal::SelfReacting) } else { Ok(()) }
}

/// Refuses primary alkyl electrophiles whose cation rearranges, and a single enantiomer that comes from a cation.
pub fn alkyl(step: &Step<'_>, carbon: u32) -> Verdict {
    let before = &step.before;
    let is_epoxide = before.is_beside_epoxide_oxygen(carbon);
    let is_defined = step.image(carbon).is_some_and(|image| step.after.at(image).centre.is_some());
    if is_defined && !is_epoxide {
        return Err(Refusal::StereoScrambled);
    }
    let primary = before.carbons(carbon) == 1 && before.hydrogens(carbon) == 2;
    let helped = before.is_benzylic_or_allylic(carbon)
        || before.next_to(carbon).any(|next| before.hydrogens(next) == 3 || before.ring(next) == 3)
        || before.is_alpha(carbon)
        || before
            .next_to(carbon)
            .any(|next| matches!(before.element(next), O | N) && step.image(next).is_some());
    if primary && !helped { Err(Refusal::Arene) } else { Ok(()) }
}

/// Returns true for a carbon of a pyrazole or imidazole with its N-H, whose nitrogens take alkyl halides (Joule and Mills 2010, chapters 24 and 25).
pub fn is_on_free_azole(before: &Facts, carbon: u32) -> bool {
    before.ring(carbon) == 5
        && before.distances(carbon, 2).into_iter().any(|(atom, _)| {
            before.group(atom) == Group::Azole && before.ring(atom) == 5 && before.hydrogens(atom) > 0
        })
}

pub fn is_tertiary(before: &Facts, carbon: u32) -> bool {
    before.is_saturated(carbon) && before.carbons(carbon) == 3 && before.aryls(carbon) == 0
}

/// Refuses a tertiary alkyl group beside any group but hydroxyl, which it leaves for a freer position, and beside protecting groups that its
/// acid removes (Olah, "Friedel-Crafts Chemistry", 1973).
pub fn tertiary_alkyl(step: &Step<'_>, carbon: u32) -> Verdict {
    let before = &step.before;
    let is_crowded = before.next_to(carbon).any(|ortho| {
        before.next_to(ortho).any(|group| {
            !before.is_aromatic(group) && before.group(group) != Group::Phenol && before.element(group) != F
        })
    });
    match () {
        () if is_crowded => Err(Refusal::Hindered),
        () if keeps_lewis_acid_labile_group(step) => Err(Refusal::Incompatible),
        () => Ok(()),
    }
}
