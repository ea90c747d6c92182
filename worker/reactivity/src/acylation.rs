//! Acylation: which carbonyl compounds acylate, and which nucleophiles they acylate.

use chem::Order;

use crate::change::{Facts, Step};
use crate::competition::{builds_ring, check_unreacted_acyl_electrophiles, closed_ring_size, nucleophiles};
use crate::electrophile;
use crate::event::Event;
use crate::group::{Group, aromatic_positions};
use crate::queries::*;
use crate::reagent::Reagent;
use crate::refusal::Refusal;

type Verdict = Result<(), Refusal>;

/// Rank of an alkyl electrophile that an amine takes before an ester: benzyl chloride, a primary bromide.
const FAST_ALKYLATION: i32 = 66;

pub fn acylation(step: &Step<'_>, events: &[Event], nucleophile: u32, carbon: u32) -> Verdict {
    let before = &step.before;
    let (donor, acceptor) = (before.group(nucleophile), before.group(carbon));
    let ring = closed_ring_size(step, nucleophile, carbon);
    if ring.is_some_and(|ring| ring < 5) {
        return Err(Refusal::Strained);
    }
    if before.element(nucleophile) == C {
        check_enolate(step, nucleophile, carbon)?;
    }
    let is_isothiocyanate =
        || acceptor == Group::Isocyanate && before.next_to(carbon).any(|next| before.is_isothiocyanate(next));
    if donor == Group::AmideNitrogen && !before.is_aromatic(nucleophile) && is_isothiocyanate() {
        return Err(Refusal::Unreactive);
    }
    if builds_ring(step, nucleophile, carbon) {
        return Ok(());
    }
    if events.iter().any(|event| joins_third_molecule(step, [nucleophile, carbon], event)) {
        return Err(Refusal::CompetingGroup);
    }
    // Hydrogen and palladium remove a benzyl group, and the anhydride is already present to acylate the freed amine.
    let debenzylated =
        || step.lost(nucleophile).any(|(gone, _)| before.is_sp3(gone) && before.is_benzylic_or_allylic(gone));
    if donor == Group::TertiaryAmine
        && !matches!(acceptor, Group::Chloroformate | Group::AcylHalide)
        && !(is_boc_anhydride(before, carbon) && debenzylated())
    {
        return Err(Refusal::NoLeavingGroup);
    }
    let leaving = step.lost(carbon).find(|&(_, order)| order == Order::Single).map(|(gone, _)| gone);
    let migrates = leaving.is_some_and(|leaving| before.bond(nucleophile, leaving).is_some());
    match acceptor {
        Group::Ketone | Group::Aldehyde => {
            let good = leaving.is_some_and(|gone| {
                before.element(gone) != C
                    || before.is_cyano(gone)
                    || before.next_to(gone).filter(|&next| is_halogen(before.element(next))).count() == 3
                    || before.next_to(gone).any(|next| next != carbon && before.is_acceptor(next))
            });
            if !good && !migrates {
                return Err(Refusal::NoLeavingGroup);
            }
        }
        Group::Amide | Group::Carbamate | Group::Urea
            if ring.is_none()
                && before.element(nucleophile) != C
                && leaving.is_some_and(|gone| before.element(gone) == N)
                && !is_activated_amide(before, carbon, leaving) =>
        {
            return Err(Refusal::NoLeavingGroup);
        }
        Group::Acid if ring.is_none() => match donor {
            Group::AmideNitrogen
            | Group::CarbamateNitrogen
            | Group::UreaNitrogen
            | Group::ImideNitrogen
            | Group::Diarylamine
            | Group::Indole => return Err(Refusal::Unreactive),
            _ if before.element(nucleophile) == C => return Err(Refusal::Unreactive),
            _ => {}
        },
        Group::Ester | Group::Anhydride | Group::ActiveEster | Group::Thioester if ring.is_none() => {
            match donor {
                Group::AmideNitrogen | Group::UreaNitrogen | Group::Diarylamine
                    if acceptor == Group::Ester =>
                {
                    return Err(Refusal::Unreactive);
                }
                _ => {}
            }
        }
        _ => {}
    }
    if before.element(nucleophile) == C {
        return Ok(());
    }
    // Anilines displace no alkoxide from a carbamate (Thavonekham, Synthesis 1997, 1189: phenoxide).
    let is_alkoxide = |gone: u32| {
        before.element(gone) == O
            && before.aryls(gone) == 0
            && before.next_to(gone).all(|next| !before.is_alpha(next))
    };
    if acceptor == Group::Carbamate
        && ring.is_none()
        && matches!(donor, Group::Aniline | Group::SecondaryAniline)
        && leaving.is_some_and(is_alkoxide)
    {
        return Err(Refusal::Unreactive);
    }
    if ring.is_none()
        && is_dihalogenated_aniline(before, nucleophile)
        && (is_carbamoyl_chloride(before, carbon) || is_alkyl_isocyanate(before, carbon))
    {
        return Err(Refusal::Unreactive);
    }
    let own = electrophile::acyl(before, carbon);
    let rank = if acceptor == Group::Acid { 70 } else { own };
    check_unreacted_acyl_electrophiles(step, carbon, rank)?;
    if acceptor == Group::Ester && ring.is_none() {
        refuse_unreacted_halide(step, carbon, donor)?;
        refuse_second_ester_of_azole(step, carbon)?;
        refuse_slower_ester(step, carbon)?;
    }
    let is_acylating = matches!(acceptor, Group::Acid | Group::AcylHalide | Group::Anhydride);
    if is_acylating
        && ring.is_none()
        && (is_behind_alcohol(step, nucleophile)
            || leaves_anomeric_hydroxyl(step, nucleophile)
            || takes_glyoxylic_acid(step, nucleophile, carbon))
    {
        return Err(Refusal::CompetingGroup);
    }
    if acceptor == Group::Acid && ring.is_none() {
        refuse_unreacted_acid(step, carbon)?;
        refuse_guanidino_acid(step, carbon)?;
    }
    nucleophiles(step, events, nucleophile, carbon, Reagent::Acyl)?;
    refuse_unreacted_aldehyde(step, carbon, donor)?;
    Ok(())
}

/// Returns true for an aniline between two halogens.
fn is_dihalogenated_aniline(before: &Facts, nitrogen: u32) -> bool {
    let bears_halogen = |ortho: &u32| {
        before.is_aromatic(*ortho) && before.next_to(*ortho).any(|next| is_halogen(before.element(next)))
    };
    before
        .next_to(nitrogen)
        .any(|ipso| before.is_aromatic(ipso) && before.next_to(ipso).filter(bears_halogen).count() == 2)
}

/// Returns true for the chloride of a disubstituted carbamic acid, which acylates by no isocyanate and is slow (March, chapter 10).
fn is_carbamoyl_chloride(before: &Facts, carbon: u32) -> bool {
    before.count(carbon, CL) == 1
        && before.next_to(carbon).any(|next| before.element(next) == N && before.hydrogens(next) == 0)
}

/// Returns true for a secondary amine between a tertiary carbon and another than methyl that has a primary alcohol in its molecule, which an acyl halide takes
/// first (Clayden, Greeves and Warren, chapter 23).
fn is_behind_alcohol(step: &Step<'_>, amine: u32) -> bool {
    let it = &step.before;
    let is_tertiary = |next: u32| it.is_sp3(next) && it.carbons(next) == 3;
    it.group(amine) == Group::SecondaryAmine
        && !it.is_in_ring(amine)
        && it.next_to(amine).any(is_tertiary)
        && it.next_to(amine).all(|next| it.hydrogens(next) < 3)
        && step.atoms().any(|atom| {
            it.group(atom) == Group::PrimaryAlcohol
                && it.hydrogens(atom) > 0
                && step.is_untouched(atom)
                && step.are_in_same_molecule(atom, amine)
        })
}

/// Returns true for a hydroxyl group of a free sugar, whose anomeric hydroxyl group is as good a nucleophile and better an acid (Boons and Hale, "Organic Synthesis with
/// Carbohydrates", chapter 2).
fn leaves_anomeric_hydroxyl(step: &Step<'_>, own: u32) -> bool {
    let it = &step.before;
    matches!(it.group(own), Group::PrimaryAlcohol | Group::SecondaryAlcohol)
        && step.atoms().any(|atom| {
            it.group(atom) == Group::Hemiacetal
                && step.is_untouched(atom)
                && step.are_in_same_molecule(atom, own)
        })
}

/// Returns true for an amine and the acid of glyoxylic acid, whose aldehyde it takes first (Clayden, Greeves and Warren, chapter 11).
fn takes_glyoxylic_acid(step: &Step<'_>, amine: u32, acid: u32) -> bool {
    let it = &step.before;
    it.element(amine) == N
        && it.next_to(acid).any(|next| it.group(next) == Group::Aldehyde && step.is_untouched(next))
}

/// Returns true if a second acylation of the step joins another molecule to these two, and either pair of partners is not of one kind: nothing decides
/// which amine takes which acyl group. Phosgene and its like take two on one carbon.
fn joins_third_molecule(step: &Step<'_>, own: [u32; 2], event: &Event) -> bool {
    let Event::Acylation { nucleophile, carbon } = *event else { return false };
    let are_alike = |(own, other): (&u32, &u32)| own == other || step.are_equivalent(*own, *other);
    let others = [nucleophile, carbon];
    let is_new = |atom: u32| !own.iter().any(|&own| step.are_in_same_molecule(own, atom));
    let is_amine = |atom: u32| step.before.element(atom) == N;
    carbon != own[1]
        && is_amine(own[0])
        && is_amine(nucleophile)
        && others.iter().any(|&atom| is_new(atom))
        && !own.iter().zip(&others).all(are_alike)
}

/// Refuses a step in which a primary amine or similar donor leaves an aldehyde unreacted, or a hydrazine leaves a
/// ketone.
pub fn refuse_unreacted_aldehyde(step: &Step<'_>, carbon: u32, donor: Group) -> Verdict {
    let least = match donor {
        Group::PrimaryAmine => 95,
        Group::Hydrazine | Group::Hydroxylamine => 60,
        _ => return Ok(()),
    };
    if leaves_carbonyl_unreacted(step, carbon, least) { Err(Refusal::CompetingGroup) } else { Ok(()) }
}

/// Returns true if an amide-like carbon can lose its nitrogen: an acyl azole, an N-acyl imide, an aniline of a urea.
fn is_activated_amide(before: &Facts, carbon: u32, leaving: Option<u32>) -> bool {
    leaving.is_some_and(|gone| {
        matches!(before.group(gone), Group::ImideNitrogen | Group::Azide | Group::Ammonia)
            || before.is_aromatic(gone)
            || before.group(carbon) == Group::Urea
            || before.at(gone).charge != 0
    })
}

/// Refuses a step that leaves another acid unreacted, which a coupling reagent would activate as well.
fn refuse_unreacted_acid(step: &Step<'_>, own: u32) -> Verdict {
    let competing = step.atoms().any(|atom| {
        atom != own
            && step.before.group(atom) == Group::Acid
            && step.is_untouched(atom)
            && !step.are_equivalent(atom, own)
    });
    if competing { Err(Refusal::CompetingGroup) } else { Ok(()) }
}

/// Refuses the coupling of a 4-guanidinobutanoic acid, which closes to the pyrrolidinone once it is activated.
fn refuse_guanidino_acid(step: &Step<'_>, carbon: u32) -> Verdict {
    let before = &step.before;
    let closes = before.distances(carbon, 4).into_iter().any(|(atom, distance)| {
        distance == 4
            && before.group(atom) == Group::Amidine
            && before.hydrogens(atom) > 0
            && before.next_to(atom).any(|next| before.is_sp3(next))
            && step.is_untouched(atom)
    });
    if closes { Err(Refusal::SelfReacting) } else { Ok(()) }
}

/// Checks the carbon nucleophile of an acylation: an enolate, which a stronger acid of the mixture would quench.
pub fn check_enolate(step: &Step<'_>, nucleophile: u32, carbon: u32) -> Verdict {
    let before = &step.before;
    if !before.is_sp3(nucleophile) {
        return Ok(());
    }
    refuse_enolised_stereocentre(step, nucleophile, carbon)?;
    if is_alpha_of_acid(step, nucleophile) {
        return Err(Refusal::Unreactive);
    }
    let is_activated = before.next_to(nucleophile).filter(|&next| before.is_acceptor(next)).count() > 1;
    let is_acid = |atom: u32| {
        matches!(before.group(atom), Group::AmideNitrogen | Group::ImideNitrogen)
            && before.hydrogens(atom) > 0
            && step.is_untouched(atom)
    };
    // An ester of the same molecule closes the ring of a tetramic acid by way of the dianion (Lacey 1954).
    let is_closure = step.are_in_same_molecule(nucleophile, carbon);
    if !is_activated && !is_closure && step.atoms().any(is_acid) {
        Err(Refusal::CompetingGroup)
    } else {
        Ok(())
    }
}

/// Returns true for a carbon beside an acid that the step keeps: base makes the carboxylate, which has no enolate
/// (Claisen condensations need the ester).
fn is_alpha_of_acid(step: &Step<'_>, alpha: u32) -> bool {
    let is_kept =
        |acid: u32| step.before.group(acid) == Group::Acid && !step.lost(acid).any(|(gone, _)| gone == alpha);
    step.before.next_to(alpha).any(is_kept)
}

/// Refuses a Claisen condensation of a ketone with an ester whose α-carbon is a stereocentre with a hydrogen: the base
/// racemises it.
fn refuse_enolised_stereocentre(step: &Step<'_>, nucleophile: u32, carbon: u32) -> Verdict {
    let before = &step.before;
    let is_ketone_enolate = before.is_sp3(nucleophile)
        && before.next_to(nucleophile).any(|next| before.group(next) == Group::Ketone);
    let is_kept = |alpha: u32| {
        before.hydrogens(alpha) > 0
            && before.at(alpha).centre.is_some()
            && step.image(alpha).is_some_and(|image| step.after.at(image).centre.is_some())
    };
    if is_ketone_enolate && before.group(carbon) == Group::Ester && before.next_to(carbon).any(is_kept) {
        return Err(Refusal::StereoScrambled);
    }
    Ok(())
}

/// Refuses a step in which an amine takes an ester and leaves an alkyl halide unreacted, which it alkylates sooner.
fn refuse_unreacted_halide(step: &Step<'_>, own: u32, donor: Group) -> Verdict {
    let is_amine = matches!(
        donor,
        Group::Ammonia
            | Group::PrimaryAmine
            | Group::SecondaryAmine
            | Group::Hydrazine
            | Group::Hydroxylamine
    );
    let competing = || electrophile::competing_site(step, own, FAST_ALKYLATION, electrophile::alkyl);
    if is_amine && competing().is_some() { Err(Refusal::CompetingGroup) } else { Ok(()) }
}

/// Refuses a step in which one of two esters on a ring of five with nitrogen stays: neither is clearly the better one.
fn refuse_second_ester_of_azole(step: &Step<'_>, own: u32) -> Verdict {
    let before = &step.before;
    let azole = |acyl: u32| {
        before.next_to(acyl).find(|&ring| before.is_aromatic_carbon(ring) && before.ring(ring) == 5)
    };
    let Some(ring) = azole(own) else { return Ok(()) };
    let near = before.distances(ring, 2);
    let has_nitrogen = near.iter().any(|&(atom, _)| before.is_aromatic(atom) && before.element(atom) == N);
    let is_second = |atom: u32| {
        atom != own
            && before.group(atom) == Group::Ester
            && step.is_untouched(atom)
            && !step.are_equivalent(atom, own)
            && azole(atom).is_some_and(|other| near.iter().any(|&(near, _)| near == other))
    };
    if has_nitrogen && step.atoms().any(is_second) { Err(Refusal::CompetingGroup) } else { Ok(()) }
}

/// Refuses the ester of an arene without another acceptor, or of a tertiary carbon, beside an open one of an alkanoic or oxalic acid, which amines take first
/// (March, chapter 10).
fn refuse_slower_ester(step: &Step<'_>, own: u32) -> Verdict {
    let before = &step.before;
    let is_open_alkoxide = |oxygen: u32| {
        before.group(oxygen) == Group::EsterOxygen
            && before.next_to(oxygen).all(|next| before.is_carbonyl(next) || before.hydrogens(next) > 1)
    };
    let is_open =
        |alpha: u32| before.is_sp3(alpha) && before.hydrogens(alpha) > 1 || before.is_carbonyl(alpha);
    let is_rival = |acyl: u32| {
        before.group(acyl) == Group::Ester
            && before.next_to(acyl).any(is_open)
            && before.next_to(acyl).any(is_open_alkoxide)
            && step.is_untouched(acyl)
    };
    let is_slow = before.next_to(own).any(|next| {
        before.is_sp3(next) && before.carbons(next) == 4
            || before.is_aromatic_carbon(next) && is_plain_arene(before, next, own)
    });
    if is_slow && step.atoms().any(is_rival) { Err(Refusal::CompetingGroup) } else { Ok(()) }
}

/// Returns true for a ring position without an acceptor, a hydroxyl group or the nitrogen of an azine near it, beside its own acyl group.
fn is_plain_arene(before: &Facts, ipso: u32, acyl: u32) -> bool {
    aromatic_positions(&before.structure, ipso).iter().all(|&(atom, _)| {
        let gives = before.element(atom) == C
            || before.element(atom) == N && (before.hydrogens(atom) > 0 || before.degree(atom) == 3);
        gives
            && !before
                .next_to(atom)
                .any(|next| next != acyl && (before.impoverishes_ring(next) || before.is_hydroxyl(next)))
    })
}

/// Returns true if an aldehyde or ketone of at least this rank is left unreacted.
fn leaves_carbonyl_unreacted(step: &Step<'_>, own: u32, least: i32) -> bool {
    electrophile::competing_site(step, own, least, electrophile::carbonyl).is_some()
}

/// Returns true if a carbon is one of the two acylating carbons of Boc anhydride.
fn is_boc_anhydride(before: &Facts, carbon: u32) -> bool {
    before.count(carbon, O) == 3
        && before
            .next_to(carbon)
            .any(|oxygen| before.next_to(oxygen).any(|next| before.is_sp3(next) && before.carbons(next) == 3))
}

/// Returns true for an isocyanate on a saturated carbon, which is slower than that of an arene (March, chapter 16).
fn is_alkyl_isocyanate(before: &Facts, carbon: u32) -> bool {
    let is_alkyl = |nitrogen: u32| before.next_to(nitrogen).any(|next| before.is_sp3(next));
    before.group(carbon) == Group::Isocyanate
        && before.doubly(carbon, |nitrogen| before.element(nitrogen) == N && is_alkyl(nitrogen)).is_some()
        && !before.next_to(carbon).any(|next| before.is_isothiocyanate(next))
}
