//! Friedel–Crafts reactions and other substitutions by carbon: the acid, the cations, and the groups that either of them takes.
//!
//! Sources: Olah, "Friedel-Crafts Chemistry" (1973); Smith, "March's Advanced Organic Chemistry", chapter 11; others at the functions.

use crate::arene_position::{lithiation_or, position};
use crate::arene_score::score;
use crate::arene_sites::Electrophile;
use crate::arylation::is_beside_phenol;
use crate::change::{Facts, Step};
use crate::cleavage::{keeps_acid_labile_group, keeps_lewis_acid_labile_group};
use crate::competition::gains_ring_bond;
use crate::group::{Group, aromatic_positions, positions_beside};
use crate::lithiation::is_lithiated;
use crate::queries::*;
use crate::refusal::Refusal;

type Verdict = Result<(), Refusal>;

/// Score from which a position needs no acid to react with an acyl or sulfonyl group.
const ELECTRON_RICH: i32 = 40;

/// Score of a ring with a donor, which takes a tertiary acylium ion before the ion loses carbon monoxide.
const LEAST_WITH_ACYLIUM: i32 = 14;

/// Score that a ring needs for the Vilsmeier reagent.
const LEAST_FOR_VILSMEIER: i32 = 14;
/// Score that a ring needs for formylation with a Lewis acid: an alkyl group beside or across.
const LEAST_FOR_RIECHE: i32 = 8;

/// Score that a phenol needs for formylation by hexamine in acid: 2,6-dihalophenols (Duff 1941).
const LEAST_FOR_DUFF: i32 = 0;

/// Checks an acylation that closes a ring, alone or with a second one.
pub fn check_ring_closure(step: &Step<'_>, carbon: u32, acyl: u32) -> Verdict {
    if closes_lactam_first(step, carbon, acyl) {
        return Err(Refusal::CompetingGroup);
    }
    if step.before.group(acyl) != Group::Anhydride && is_of_pyridine(&step.before, carbon) {
        return Err(Refusal::Arene);
    }
    if step.are_in_same_molecule(carbon, acyl) && closes_beside_substituent(step, carbon) {
        return Err(Refusal::Position);
    }
    refuse_anthraquinone_of_poor_ring(step, carbon, acyl)
}

/// Refuses the two acylations of one benzene ring by a diacid's halide or anhydride, unless donors help both: the second meets the first one's ketone
/// (March, chapter 11). Free amines are acylated first, also where a phenol closes the ring.
fn refuse_anthraquinone_of_poor_ring(step: &Step<'_>, carbon: u32, acyl: u32) -> Verdict {
    let before = &step.before;
    if step.are_in_same_molecule(carbon, acyl) || !gains_ring_bond(step, carbon) {
        return Ok(());
    }
    refuse_free_amines(step)?;
    refuse_free_alcohols(step)?;
    let positions = aromatic_positions(&before.structure, carbon);
    let is_poor =
        positions.iter().any(|&(atom, _)| before.next_to(atom).any(|next| before.impoverishes_ring(next)));
    if is_poor { Err(Refusal::Arene) } else { Ok(()) }
}

/// Checks the substitution by a carbon electrophile: an acyl or alkyl group, carbon dioxide, a formyl group.
pub fn carbon_electrophile(step: &Step<'_>, carbon: u32, electrophile: u32) -> Verdict {
    let before = &step.before;
    let group = before.group(electrophile);
    let image = step.image(electrophile);
    let formyl = image.is_some_and(|image| step.after.group(image) == Group::Aldehyde);
    // Cyanide is a nucleophile; an electrophilic source of a cyano group loses a halide or sulfinate.
    let is_sp = image.is_some_and(|image| step.after.triply(image).is_some());
    if is_sp && step.lost(electrophile).all(|(gone, _)| before.element(gone) == SI) {
        return Err(Refusal::NoLeavingGroup);
    }
    match group {
        Group::CarbonDioxide => lithiation_or(step, carbon, 20),
        _ if formyl && matches!(group, Group::Amide | Group::Ester) => {
            lithiation_or(step, carbon, LEAST_FOR_VILSMEIER)
        }
        _ if formyl => lewis_acid_formylation(step, carbon),
        Group::Anhydride if is_between_nitrogens(before, carbon) => Err(Refusal::Arene),
        Group::AcylHalide | Group::Anhydride | Group::Acid | Group::Isocyanate | Group::Chloroformate => {
            acylation(step, carbon, electrophile)
        }
        Group::Organoboron | Group::Organotin | Group::Organometal | Group::Organozinc => {
            Err(Refusal::NoLeavingGroup)
        }
        Group::Nitrile => position(step, carbon, 15, Electrophile::Acylation),
        Group::Ester | Group::Amide | Group::Weinreb | Group::ActiveEster => {
            lithiation_or(step, carbon, 1000)
        }
        Group::Aldehyde if is_haloaldehyde(before, electrophile) => Err(Refusal::Arene),
        Group::Aldehyde if is_enal(before, electrophile) && !is_lithiated(step, carbon) => {
            Err(Refusal::Arene)
        }
        // A lithiated ring gives the alcohol; only a rich one is alkylated by way of its cation.
        Group::Aldehyde | Group::Ketone
            if step.lost(electrophile).any(|(gone, _)| before.element(gone) == O) =>
        {
            position(step, carbon, 12, Electrophile::Formylation)
        }
        // The carbinol of two arenes, one of them rich, ionises in acid and takes a second ring (March, chapter 11).
        Group::Aldehyde if before.aryls(electrophile) > 0 && !is_lithiated(step, carbon) => {
            Err(Refusal::SelfReacting)
        }
        Group::Aldehyde if is_formaldehyde_with_aniline(before, carbon, electrophile) => {
            Err(Refusal::SelfReacting)
        }
        Group::Aldehyde | Group::Ketone | Group::ImineCarbon => lithiation_or(step, carbon, 12),
        Group::Alkene if before.azole_nitrogens(carbon).count() > 1 => Err(Refusal::Arene),
        // The acid that makes a cation of a plain alkene.
        Group::Alkene if before.is_plain_alkene(electrophile) && keeps_acid_labile_group(step) => {
            Err(Refusal::Incompatible)
        }
        Group::Alkene => position(step, carbon, -14, Electrophile::Acylation),
        Group::Alkyl => alkylation(step, carbon, electrophile),
        _ => Ok(()),
    }
}

/// Checks an acylation of the ring.
fn acylation(step: &Step<'_>, carbon: u32, acyl: u32) -> Verdict {
    let before = &step.before;
    let group = before.group(acyl);
    refuse_free_amines(step)?;
    refuse_benzylic_halides(step)?;
    refuse_free_alcohols(step)?;
    if is_alpha_of_thienoazine(before, carbon) || is_across_drawn_quaternary(before, carbon) {
        return Err(Refusal::Position);
    }
    if is_carbon_2_of_azole(before, carbon) || is_of_pyridine(before, carbon) {
        return Err(Refusal::Arene);
    }
    if group == Group::AcylHalide && loses_carbon_monoxide(before, carbon, acyl) {
        return Err(Refusal::Arene);
    }
    // An acid needs polyphosphoric acid or trifluoroacetic anhydride, also with a rich ring.
    if group == Group::Acid && keeps_lewis_acid_labile_group(step) {
        return Err(Refusal::Incompatible);
    }
    lewis_acid(step, carbon)?;
    refuse_aryl_aldehydes(step, carbon)?;
    if is_beta_of_sulfonylpyrrole(before, carbon) {
        return Ok(());
    }
    position(step, carbon, -16, Electrophile::Acylation)
}

/// Checks an alkylation of the ring by a saturated carbon.
fn alkylation(step: &Step<'_>, carbon: u32, electrophile: u32) -> Verdict {
    let before = &step.before;
    if before.is_saturated(electrophile) {
        alkyl(step, electrophile)?;
    }
    if before.is_beside_epoxide_oxygen(electrophile) && is_poor_pyrrole(before, carbon) {
        return Err(Refusal::Arene);
    }
    if before.is_on_free_azole(carbon) || is_quaternised_first(step, carbon, electrophile) {
        return Err(Refusal::CompetingGroup);
    }
    if is_tertiary(before, electrophile) {
        tertiary_alkyl(step, carbon)?;
    }
    refuse_free_amines(step)?;
    refuse_benzylic_halides(step)?;
    position(step, carbon, -14, Electrophile::Acylation)
}

/// Returns true for a saturated electrophile and a benzene ring with a nitro group and no donor (March, chapter 11).
pub fn alkylates_nitroarene(step: &Step<'_>, carbon: u32, alkyl: u32) -> bool {
    let it = &step.before;
    it.group(alkyl) == Group::Alkyl
        && it.ring(carbon) == 6
        && positions_beside(&it.structure, carbon, |next| it.is_nitro(next)) > 0
        && score(it, carbon) < LEAST_WITH_ACYLIUM
        && !is_lithiated(step, carbon)
}

/// Returns true for an alkyl halide or alcohol that needs a strong acid to join the ring beside a protecting group that the acid removes.
pub fn loses_protection(step: &Step<'_>, carbon: u32, alkyl: u32) -> bool {
    needs_lewis_acid(step, carbon, alkyl) && keeps_lewis_acid_labile_group(step)
}

/// Returns true for an alkyl halide or alcohol and a benzene ring without a free phenol, whose anion needs no acid (Olah, "Friedel-Crafts Chemistry", 1973).
fn needs_lewis_acid(step: &Step<'_>, carbon: u32, alkyl: u32) -> bool {
    let it = &step.before;
    it.group(alkyl) == Group::Alkyl
        && step.lost(alkyl).any(|(gone, _)| is_heavy_halogen(it.element(gone)) || it.is_hydroxyl(gone))
        && it.ring(carbon) == 6
        && !is_beside_phenol(it, carbon)
        && !is_lithiated(step, carbon)
}

/// Returns true for an alkyl halide and an arene with the nitrogen of an azine or azole in its rings, which takes it first (Joule and Mills 2010, chapters 8 and 28).
fn is_quaternised_first(step: &Step<'_>, carbon: u32, alkyl: u32) -> bool {
    let it = &step.before;
    step.lost(alkyl).any(|(gone, _)| is_heavy_halogen(it.element(gone)))
        && !step.are_in_same_molecule(carbon, alkyl)
        && step.atoms().any(|atom| it.group(atom) == Group::Azine && it.shares_arene(carbon, atom))
        && !is_lithiated(step, carbon)
}

/// Checks formylation by dichloromethyl methyl ether and a Lewis acid (Rieche, Gross and Höft, Chem. Ber. 1960, 93, 88), which takes rings
/// down to those of alkylbenzenes.
fn lewis_acid_formylation(step: &Step<'_>, carbon: u32) -> Verdict {
    lewis_acid(step, carbon)?;
    let by_hexamine = is_beside_phenol(&step.before, carbon);
    if !by_hexamine {
        refuse_free_alcohols(step)?;
    }
    let least = if by_hexamine { LEAST_FOR_DUFF } else { LEAST_FOR_RIECHE };
    position(step, carbon, least, Electrophile::Formylation)
}

/// Refuses a reaction that needs a strong acid, if the step keeps a protecting group that the acid removes.
pub fn lewis_acid(step: &Step<'_>, carbon: u32) -> Verdict {
    let poor = score(&step.before, carbon) < ELECTRON_RICH;
    if poor && keeps_lewis_acid_labile_group(step) { Err(Refusal::Incompatible) } else { Ok(()) }
}

/// Returns true for the position beside the sulfur or oxygen of a thiophene or furan that an azine shares: the other one takes electrophiles (Joule and
/// Mills, chapter 19).
fn is_alpha_of_thienoazine(it: &Facts, carbon: u32) -> bool {
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

/// Returns true for C2 of an imidazole or benzimidazole, whose salt is poorest there (Joule and Mills 2010, chapter 24).
pub fn is_between_nitrogens(before: &Facts, carbon: u32) -> bool {
    before.ring(carbon) == 5 && before.next_to(carbon).all(|next| before.element(next) == N)
}

/// Returns true for the aldehyde of an enal, which acid polymerises, and whose carbinol ionises to the allyl cation and takes a second ring (March, chapter 11).
fn is_enal(it: &Facts, aldehyde: u32) -> bool {
    it.next_to(aldehyde).any(|alpha| it.group(alpha) == Group::Alkene)
}

/// Returns true for a ring closure between the chain and a substituent where the other side of the chain is free: that side is
/// acylated, para to the substituent (Sethna, in "Friedel-Crafts and Related Reactions", ed. Olah, volume 3, 1964).
fn closes_beside_substituent(step: &Step<'_>, carbon: u32) -> bool {
    let it = &step.before;
    let in_new_ring =
        |atom: u32| step.image(atom).is_some_and(|image| !it.is_aromatic(atom) && step.after.ring(image) > 0);
    let ring = |atom: u32| it.next_to(atom).filter(|&next| it.is_aromatic_carbon(next));
    let is_free = |atom: u32| it.is_aromatic_carbon(atom) && it.hydrogens(atom) > 0;
    let bears_chain = |atom: u32| it.next_to(atom).any(in_new_ring);
    let other_side = |chain: u32| {
        ring(chain)
            .filter(|&side| side != carbon)
            .any(|side| is_free(side) && ring(side).filter(|&next| next != chain).any(is_free))
    };
    let has_substituent = |atom: u32| {
        it.hydrogens(atom) == 0 && it.next_to(atom).any(|next| !it.is_aromatic(next) && it.ring(next) == 0)
    };
    it.ring(carbon) == 6
        && ring(carbon).any(|chain| bears_chain(chain) && other_side(chain))
        && ring(carbon).any(|next| !bears_chain(next) && has_substituent(next))
}

/// Returns true for C2 of a thiazole or oxazole, which is poor and whose nitrogen binds the Lewis acid: chemists lithiate it (Joule and Mills 2010, chapter 24). That of
/// an N-alkylimidazole is acylated in base.
fn is_carbon_2_of_azole(it: &Facts, carbon: u32) -> bool {
    it.ring(carbon) == 5
        && it.next_to(carbon).any(|next| it.element(next) == N && it.is_aromatic(next))
        && it.next_to(carbon).any(|next| matches!(it.element(next), O | S) && it.is_aromatic(next))
}

/// Returns true for a carbon of a pyridine without an amino or hydroxyl group, whose salt or complex with the Lewis acid takes no acyl group (Joule and Mills 2010, chapter 8).
fn is_of_pyridine(it: &Facts, carbon: u32) -> bool {
    let positions = aromatic_positions(&it.structure, carbon);
    let is_donor = |next: u32| {
        it.element(next) == N && it.is_saturated(next)
            || it.is_hydroxyl(next)
            || it.element(next) == O && it.degree(next) == 1
    };
    it.ring(carbon) == 6
        && positions.iter().any(|&(atom, _)| it.group(atom) == Group::Azine && it.ring(atom) == 6)
        && positions.iter().all(|&(atom, _)| it.ring(atom) == 6)
        && !positions
            .iter()
            .any(|&(atom, _)| it.next_to(atom).any(|next| !it.is_aromatic(next) && is_donor(next)))
}

/// Returns true for a tertiary acyl chloride and a ring without a donor, which takes the tertiary cation that is left when the acylium ion loses carbon monoxide
/// (Rothstein and Saville, J. Chem. Soc. 1949, 1946). Cyclopropyl cations do not form.
fn loses_carbon_monoxide(it: &Facts, carbon: u32, acyl: u32) -> bool {
    let is_tertiary = |next: u32| it.is_sp3(next) && it.carbons(next) == 4 && it.ring(next) != 3;
    it.next_to(acyl).any(is_tertiary) && score(it, carbon) < LEAST_WITH_ACYLIUM
}

/// Refuses Friedel–Crafts reactions beside free amines, which bind the Lewis acid or are acylated.
fn refuse_free_amines(step: &Step<'_>) -> Verdict {
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

/// Refuses Friedel–Crafts acylation beside a free alcohol or thiol, which is acylated first or leaves as a cation (March, chapter 11).
fn refuse_free_alcohols(step: &Step<'_>) -> Verdict {
    let before = &step.before;
    let competing = step.atoms().any(|atom| {
        matches!(
            before.group(atom),
            Group::PrimaryAlcohol
                | Group::SecondaryAlcohol
                | Group::TertiaryAlcohol
                | Group::Thiol
                | Group::Thiophenol
        ) && before.hydrogens(atom) > 0
            && step.is_untouched(atom)
    });
    if competing { Err(Refusal::CompetingGroup) } else { Ok(()) }
}

/// Refuses Friedel–Crafts acylation of an aromatic aldehyde, which binds the Lewis acid and condenses, unless the ring needs none (March, chapter 11).
fn refuse_aryl_aldehydes(step: &Step<'_>, carbon: u32) -> Verdict {
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
fn refuse_benzylic_halides(step: &Step<'_>) -> Verdict {
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
fn alkyl(step: &Step<'_>, carbon: u32) -> Verdict {
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

/// Returns true for a tertiary carbon without an aryl group.
fn is_tertiary(before: &Facts, carbon: u32) -> bool {
    before.is_saturated(carbon) && before.carbons(carbon) == 3 && before.aryls(carbon) == 0
}

/// Refuses a tertiary alkyl group beside any group but hydroxyl, which it leaves for a freer position, and beside protecting groups that its
/// acid removes (Olah, "Friedel-Crafts Chemistry", 1973).
fn tertiary_alkyl(step: &Step<'_>, carbon: u32) -> Verdict {
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

/// Returns true for C3 of a pyrrole with a sulfonyl group on its nitrogen, which aluminium chloride acylates there (Kakushima and others, J. Org.
/// Chem. 1983, 48, 3214).
fn is_beta_of_sulfonylpyrrole(before: &Facts, carbon: u32) -> bool {
    let positions = aromatic_positions(&before.structure, carbon);
    before.ring(carbon) == 5
        && positions.iter().any(|&(atom, distance)| {
            distance == 2
                && before.element(atom) == N
                && before.next_to(atom).any(|next| before.element(next) == S && before.oxo(next) == 2)
        })
        && !positions.iter().any(|&(atom, _)| before.is_shared_by_aromatic_rings(atom))
}

/// Returns true if the Vilsmeier reagent takes this position.
pub fn takes_vilsmeier_reagent(facts: &Facts, carbon: u32) -> bool {
    score(facts, carbon) >= LEAST_FOR_VILSMEIER
}

/// Returns true for formaldehyde and a ring with an amino group: it takes the nitrogen first, and what the ring makes of it is the diarylmethane (March, chapters 11 and 16).
fn is_formaldehyde_with_aniline(it: &Facts, carbon: u32, aldehyde: u32) -> bool {
    it.hydrogens(aldehyde) == 2 && positions_beside(&it.structure, carbon, |next| it.is_arylamine(next)) > 0
}

/// Returns true for an aldehyde with a halogen beside it, whose carbinol on a rich ring ionises and takes a second ring (March, chapter 11).
fn is_haloaldehyde(it: &Facts, aldehyde: u32) -> bool {
    it.next_to(aldehyde).any(|alpha| it.is_alkyl_halide(alpha))
}

/// Returns true for a carbon of a pyrrole, furan or thiophene with an acceptor, which opens no epoxide: the acid that would help polymerises it (Joule and Mills 2010,
/// chapters 16 to 18).
fn is_poor_pyrrole(it: &Facts, carbon: u32) -> bool {
    it.ring(carbon) == 5
        && aromatic_positions(&it.structure, carbon).iter().any(|&(atom, _)| it.bears_acceptor(atom))
}

/// Returns true for the acyl group of a chain whose aniline closes a lactam of five or six atoms, faster than the arene closes a larger ring (Mandolini, Adv. Phys. Org.
/// Chem. 1986): 2-anilinophenylacetic acids give oxindoles.
fn closes_lactam_first(step: &Step<'_>, carbon: u32, acyl: u32) -> bool {
    let it = &step.before;
    let is_aniline = |atom: u32| {
        matches!(it.group(atom), Group::Aniline | Group::SecondaryAniline | Group::Diarylamine)
            && it.hydrogens(atom) > 0
            && step.is_untouched(atom)
    };
    step.are_in_same_molecule(carbon, acyl)
        && it
            .distances(acyl, 5)
            .into_iter()
            .any(|(atom, distance)| matches!(distance, 4 | 5) && is_aniline(atom))
}

/// Returns true for a position of a benzene ring whose one group is a quaternary carbon with an acceptor, which directs to meta and para alike: ethyl 2-methyl-2-phenylpropanoate (D'Ambra, US 5,578,610).
fn is_across_drawn_quaternary(it: &Facts, carbon: u32) -> bool {
    let positions = aromatic_positions(&it.structure, carbon);
    let is_drawn = |next: u32| it.is_sp3(next) && it.carbons(next) == 4 && it.is_alpha(next);
    let mut groups =
        positions.iter().flat_map(|&(atom, _)| it.next_to(atom)).filter(|&next| !it.is_aromatic(next));
    it.ring(carbon) == 6
        && positions
            .iter()
            .all(|&(atom, _)| it.is_aromatic_carbon(atom) && !it.is_shared_by_aromatic_rings(atom))
        && groups.next().is_some_and(is_drawn)
        && groups.next().is_none()
}
