//! Substitutions and additions: whether they happen, and what would react instead.

use chem::Order;

use crate::change::{Facts, Step};
use crate::event::Event;
use crate::group::Group;
use crate::look::*;
use crate::nucleophile::{self, Reagent};
use crate::refusal::Refusal;
use crate::{cleavage, electrophile, redox};

type Verdict = Result<(), Refusal>;

/// Checks an event that is a substitution or an addition.
pub fn check(step: &Step<'_>, events: &[Event], event: &Event) -> Verdict {
    let before = &step.before;
    match *event {
        Event::Alkylation { nucleophile, carbon, leaving } => {
            alkylation(step, events, nucleophile, carbon, leaving)
        }
        Event::Acylation { nucleophile, carbon } => acylation(step, events, nucleophile, carbon),
        Event::Sulfonylation { nucleophile, sulfur } => {
            nucleophiles(step, events, nucleophile, sulfur, Reagent::Sulfonyl)?;
            if before.group(nucleophile) == Group::AmideNitrogen && !before.is_aromatic(nucleophile) {
                return Err(Refusal::Unreactive);
            }
            Ok(())
        }
        Event::Silylation { nucleophile } => {
            nucleophiles(step, events, nucleophile, nucleophile, Reagent::Silyl)
        }
        Event::Arylation { nucleophile, carbon, leaving } => {
            arylation(step, events, nucleophile, carbon, leaving)
        }
        Event::Vinylation { nucleophile, carbon, leaving } => vinylation(step, nucleophile, carbon, leaving),
        Event::Coupling { metal, carbon, leaving } => coupling(step, metal, carbon, leaving),
        Event::Alkynylation { carbon, leaving, .. }
        | Event::Heck { carbon, leaving, .. }
        | Event::DirectArylation { carbon, leaving, .. } => halide(step, carbon, leaving),
        Event::MetalAddition { metal, carbon } => metal_addition(step, metal, carbon),
        Event::ReductiveAmination { nitrogen, carbon } | Event::Imination { nitrogen, carbon } => {
            imination(step, events, nitrogen, carbon)
        }
        Event::Acetalisation { carbon } if before.group(carbon) != Group::Acid => {
            carbonyl_electrophile(step, carbon, true)
        }
        Event::LactamHalogenation { carbon } => lactam_halogenation(step, carbon),
        Event::Metathesis { carbon, partner } => match closes_ring(step, carbon, partner) {
            Some(ring) if ring < 5 => Err(Refusal::Strained),
            _ => Ok(()),
        },
        Event::Olefination { carbon, .. } => carbonyl_electrophile(step, carbon, false),
        Event::Aldol { carbon, nucleophile } => {
            if !is_acidic(before, nucleophile) {
                return Err(Refusal::Unreactive);
            }
            // Stabilised carbanions add to the far end of an enone.
            let enone = before.group(carbon) == Group::Ketone
                && before.next_to(carbon).any(|next| {
                    before
                        .doubly(next, |far| before.element(far) == C)
                        .is_some_and(|far| before.carbons(far) < 3 && step.is_untouched(far))
                });
            if enone && is_doubly_activated(before, nucleophile) {
                return Err(Refusal::Spared);
            }
            carbonyl_electrophile(step, carbon, true)
        }
        Event::ConjugateAddition { nucleophile, carbon, partner } => {
            conjugate_addition(step, events, nucleophile, carbon, partner)
        }
        Event::Deoxyhalogenation { carbon, oxygen } => deoxyhalogenation(step, carbon, oxygen),
        Event::AcidActivation { carbon } => acid_activation(step, carbon),
        Event::Functionalisation { carbon, element } => functionalisation(step, carbon, element),
        _ => Ok(()),
    }
}

// --- nucleophiles -------------------------------------------------------------------------------------------------

/// Refuses a step in which a better nucleophile than the one that reacts is left alone.
fn nucleophiles(step: &Step<'_>, events: &[Event], own: u32, electrophile: u32, reagent: Reagent) -> Verdict {
    let mut rank = nucleophile::rank(&step.before, own, reagent);
    if rank == 0 {
        rank = unranked(step, own, reagent);
    }
    if rank == 0 || reacts_elsewhere(events, own) {
        return Ok(());
    }
    if builds_ring(step, own, electrophile) {
        return Ok(());
    }
    // Rings of three, five and six close before anything else reacts.
    if closes_ring(step, own, electrophile).is_some_and(|ring| matches!(ring, 3 | 5 | 6)) {
        rank += 40;
    }
    match nucleophile::spared(step, own, rank, reagent) {
        Some(_) => Err(Refusal::Spared),
        None => Ok(()),
    }
}

/// The rank of a nucleophile that the table does not know: carbon acids and what has no proton.
fn unranked(step: &Step<'_>, own: u32, reagent: Reagent) -> i32 {
    let before = &step.before;
    match (reagent, before.element(own)) {
        (Reagent::Alkyl, C) if before.is_sp3(own) => 33,
        _ => 0,
    }
}

/// Whether the nucleophile takes part in several bonds: then it is a ring that forms, and no one rank says enough.
fn reacts_elsewhere(events: &[Event], own: u32) -> bool {
    let is_own = |event: &&Event| {
        matches!(**event,
            Event::Alkylation { nucleophile, .. }
            | Event::Acylation { nucleophile, .. }
            | Event::Arylation { nucleophile, .. }
            | Event::Vinylation { nucleophile, .. }
            | Event::ConjugateAddition { nucleophile, .. }
            | Event::Imination { nitrogen: nucleophile, .. }
            | Event::ReductiveAmination { nitrogen: nucleophile, .. } if nucleophile == own)
    };
    events.iter().filter(is_own).count() > 1
}

/// The size of the smallest ring that the new bond between two atoms is in, where they were of one molecule before.
pub fn closes_ring(step: &Step<'_>, a: u32, b: u32) -> Option<u8> {
    if !step.are_together(a, b) {
        return None;
    }
    let (a, b) = (step.image(a)?, step.image(b)?);
    step.after.bond(a, b).map(|bond| bond.ring).filter(|&ring| ring > 0)
}

/// Whether the new bond is one of several by which two molecules become a ring: what reacts first is then decided by
/// which ring forms.
pub fn builds_ring(step: &Step<'_>, a: u32, b: u32) -> bool {
    if step.are_together(a, b) {
        return false;
    }
    let (Some(a), Some(b)) = (step.image(a), step.image(b)) else { return false };
    step.after.bond(a, b).is_some_and(|bond| bond.ring > 0)
}

/// Electrophiles that every free nucleophile attacks at once, left alone: acyl, sulfonyl halides, isocyanates.
fn hot_electrophile_spared(step: &Step<'_>, own: u32, own_rank: i32) -> Verdict {
    let spared = electrophile::spared(step, own, own_rank.max(30), electrophile::acyl);
    if spared.is_some() { Err(Refusal::Spared) } else { Ok(()) }
}

// --- acylation ----------------------------------------------------------------------------------------------------

fn acylation(step: &Step<'_>, events: &[Event], nucleophile: u32, carbon: u32) -> Verdict {
    let before = &step.before;
    let (donor, acceptor) = (before.group(nucleophile), before.group(carbon));
    let ring = closes_ring(step, nucleophile, carbon);
    if ring.is_some_and(|ring| ring < 5) {
        return Err(Refusal::Strained);
    }
    if builds_ring(step, nucleophile, carbon) {
        return Ok(());
    }
    if donor == Group::TertiaryAmine && !matches!(acceptor, Group::Chloroformate | Group::AcylHalide) {
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
    if before.element(nucleophile) != C {
        let own = electrophile::acyl(before, carbon);
        let rank = if acceptor == Group::Acid { 70 } else { own };
        hot_electrophile_spared(step, carbon, rank)?;
        if acceptor == Group::Acid && ring.is_none() {
            another_acid(step, carbon)?;
        }
        nucleophiles(step, events, nucleophile, carbon, Reagent::Acyl)?;
        aldehyde_spared(step, carbon, donor)?;
    }
    Ok(())
}

/// Primary amines and their like leave no aldehyde alone, hydrazines no ketone either.
fn aldehyde_spared(step: &Step<'_>, carbon: u32, donor: Group) -> Verdict {
    let least = match donor {
        Group::PrimaryAmine => 95,
        Group::Hydrazine | Group::Hydroxylamine => 60,
        _ => return Ok(()),
    };
    if free_carbonyl(step, carbon, least) { Err(Refusal::Spared) } else { Ok(()) }
}

/// Whether an amide-like carbon lets its nitrogen go: an acyl azole, an N-acyl imide, an aniline of a urea.
fn is_activated_amide(before: &Facts, carbon: u32, leaving: Option<u32>) -> bool {
    leaving.is_some_and(|gone| {
        matches!(before.group(gone), Group::ImideNitrogen | Group::Azide | Group::Ammonia)
            || before.is_aromatic(gone)
            || before.group(carbon) == Group::Urea
            || before.at(gone).charge != 0
    })
}

/// Another acid that a coupling reagent would activate as well.
fn another_acid(step: &Step<'_>, own: u32) -> Verdict {
    let spared = step.atoms().any(|atom| {
        atom != own
            && step.before.group(atom) == Group::Acid
            && step.is_untouched(atom)
            && !step.are_alike(atom, own)
    });
    if spared { Err(Refusal::Spared) } else { Ok(()) }
}

/// Whether an aldehyde or ketone of at least this rank is left alone.
fn free_carbonyl(step: &Step<'_>, own: u32, least: i32) -> bool {
    electrophile::spared(step, own, least, electrophile::carbonyl).is_some()
}

// --- alkylation ---------------------------------------------------------------------------------------------------

fn alkylation(step: &Step<'_>, events: &[Event], nucleophile: u32, carbon: u32, leaving: u32) -> Verdict {
    let before = &step.before;
    let exchange = is_oxocarbenium(before, carbon, leaving);
    leaving_group(step, nucleophile, carbon, leaving)?;
    if exchange {
        return Ok(());
    }
    let own_is_carbon = before.element(nucleophile) == C;
    if own_is_carbon && !is_acidic(before, nucleophile) && !before.is_aromatic(nucleophile) {
        return Err(Refusal::Unreactive);
    }
    let ring = closes_ring(step, nucleophile, carbon);
    crowding(step, nucleophile, carbon, leaving, ring)?;
    let hydroxyl = before.element(leaving) == O
        && (before.hydrogens(leaving) > 0 || before.at(leaving).charge < 0)
        && before.group(leaving) != Group::AcidOxygen;
    if hydroxyl {
        return mitsunobu(step, events, nucleophile, carbon, ring);
    }
    if before.is_aromatic(nucleophile) && own_is_carbon {
        return Ok(());
    }
    let own = electrophile::alkyl(before, carbon);
    hot_electrophile_spared(step, carbon, 60)?;
    if own > 0 && ring.is_none() {
        let better = |facts: &Facts, atom: u32| {
            electrophile::alkyl(facts, atom).max(electrophile::aryl(facts, atom) - 15)
        };
        if electrophile::spared(step, carbon, own, better).is_some() {
            return Err(Refusal::Spared);
        }
    }
    aldehyde_spared(step, carbon, before.group(nucleophile))?;
    nucleophiles(step, events, nucleophile, carbon, Reagent::Alkyl)
}

/// Whether a carbon can lose `leaving` to the lone pair of another heteroatom on it: acetals, aminals and the like.
fn is_oxocarbenium(before: &Facts, carbon: u32, leaving: u32) -> bool {
    before.next_to(carbon).any(|next| {
        next != leaving
            && matches!(before.element(next), N | O | S)
            && before.is_saturated(next)
            && !before.next_to(next).any(|other| other != carbon && before.is_nitro(other))
            && before.oxo(next) == 0
    })
}

/// Refuses what does not leave an sp3 carbon.
fn leaving_group(step: &Step<'_>, nucleophile: u32, carbon: u32, leaving: u32) -> Verdict {
    let before = &step.before;
    let helped = before.is_benzylic_or_allylic(carbon);
    let lone_pair = is_oxocarbenium(before, carbon, leaving);
    let good = match before.element(leaving) {
        CL | BR | I => true,
        F => before.element(nucleophile) == SI || lone_pair,
        SI | P | B => true,
        O => oxygen_leaves(step, nucleophile, carbon, leaving, helped, lone_pair),
        N => nitrogen_leaves(step, nucleophile, carbon, leaving, lone_pair),
        S => {
            before.at(leaving).charge > 0
                || lone_pair
                || before.ring(leaving) == 3
                || (before.oxo(leaving) == 2 && (helped || before.count(leaving, O) > 2))
        }
        C => carbon_leaves(step, nucleophile, carbon, leaving, lone_pair),
        _ => true,
    };
    if good { Ok(()) } else { Err(Refusal::NoLeavingGroup) }
}

fn oxygen_leaves(
    step: &Step<'_>,
    nucleophile: u32,
    carbon: u32,
    leaving: u32,
    helped: bool,
    lone_pair: bool,
) -> bool {
    let before = &step.before;
    let other = before.next_to(leaving).find(|&next| next != carbon);
    match before.group(leaving) {
        Group::SulfonateOxygen | Group::PrimaryAlcohol | Group::SecondaryAlcohol | Group::TertiaryAlcohol => {
            true
        }
        _ if lone_pair || before.ring(leaving) == 3 || before.at(leaving).charge > 0 => true,
        // Dimethyl carbonate and ethylene carbonate alkylate, small lactones open; methyl phosphates too.
        Group::EsterOxygen => {
            let carbonate = other.is_some_and(|other| before.group(other) == Group::Carbonate);
            let imidate = false;
            carbonate || helped || imidate || before.ring(leaving) == 4
        }
        Group::Ether | Group::ArylEther => {
            // Four-membered ethers open; benzhydryl and trityl ethers let go.
            before.ring(leaving) == 4
                || before.next_to(carbon).filter(|&next| before.is_aromatic(next)).count() > 1
        }
        Group::OtherOxygen => true,
        Group::AcidOxygen => false,
        _ => before.element(nucleophile) != N || other.is_none(),
    }
}

fn nitrogen_leaves(step: &Step<'_>, nucleophile: u32, carbon: u32, leaving: u32, lone_pair: bool) -> bool {
    let before = &step.before;
    if lone_pair || before.at(leaving).charge > 0 || before.ring(leaving) == 3 {
        return true;
    }
    // A Mannich base gives its amine back; gramine as well.
    let mannich = before.next_to(carbon).any(|next| before.is_sp3(next) && before.is_alpha(next));
    let gramine = before.next_to(carbon).any(|next| {
        before.is_aromatic(next)
            && before.next_to(next).any(|far| before.ring(far) == 5 && before.is_aromatic(far))
    });
    let tertiary = before.group(leaving) == Group::TertiaryAmine;
    let diazo = before.count(leaving, N) > 0 && !before.is_saturated(leaving);
    let isourea = before.group(leaving) == Group::OtherNitrogen;
    let carbon_nucleophile = before.element(nucleophile) == C;
    diazo || isourea || (tertiary && (mannich || gramine || (carbon_nucleophile && lone_pair)))
}

/// Whether a C–C bond breaks in favour of a new one at the carbon: migrations, decarboxylations, aminonitriles.
fn carbon_leaves(step: &Step<'_>, nucleophile: u32, carbon: u32, leaving: u32, lone_pair: bool) -> bool {
    let before = &step.before;
    let cyanide = before.is_cyano(leaving);
    let migrates = before.bond(nucleophile, leaving).is_some();
    // Curtius, Hofmann, Schmidt, Lossen: the nitrogen ends where the carbonyl group was, and came without carbon.
    let nitrogen_alone = before.element(nucleophile) == N
        && before.carbons(nucleophile) == 0
        && before.is_carbonyl(leaving)
        && before.carbons(carbon) + before.hydrogens(carbon) as usize > 1;
    let kept_elsewhere = step.image(leaving).is_some() && before.is_carbonyl(leaving);
    let strained = before.bond(carbon, leaving).is_some_and(|bond| bond.ring == 3);
    (cyanide && lone_pair) || migrates || nitrogen_alone || kept_elsewhere || strained
}

fn crowding(step: &Step<'_>, nucleophile: u32, carbon: u32, leaving: u32, ring: Option<u8>) -> Verdict {
    let before = &step.before;
    let epoxide = before.ring(leaving) == 3;
    let aryls = before.next_to(carbon).filter(|&next| before.is_aromatic(next)).count();
    if epoxide || ring.is_some_and(|ring| (3..=7).contains(&ring)) || before.element(leaving) == C {
        return Ok(());
    }
    if before.carbons(carbon) >= 3 {
        let stable = aryls > 1
            || before.is_alpha(carbon) && before.element(leaving) != O
            || (before.element(nucleophile) == N && before.group(nucleophile) == Group::NitrileNitrogen)
            || matches!(before.group(nucleophile), Group::AcidOxygen | Group::Thiol | Group::Thiophenol)
                && before.element(leaving) == O
            || before.is_aromatic_carbon(nucleophile);
        return if stable { Ok(()) } else { Err(Refusal::Hindered) };
    }
    let quaternary = before.next_to(carbon).find(|&next| before.is_sp3(next) && before.carbons(next) == 4);
    let soft = matches!(before.element(nucleophile), S | I | BR)
        || matches!(before.group(nucleophile), Group::Azide | Group::ThioamideNitrogen)
        || before.is_cyano(nucleophile);
    match quaternary {
        Some(next) if !soft && !(3..=4).contains(&before.ring(next)) => Err(Refusal::Hindered),
        _ => Ok(()),
    }
}

/// A hydroxyl group that leaves as phosphine oxide, or as water from a carbon that bears a cation.
fn mitsunobu(step: &Step<'_>, events: &[Event], nucleophile: u32, carbon: u32, ring: Option<u8>) -> Verdict {
    let before = &step.before;
    let aryls = before.next_to(carbon).filter(|&next| before.is_aromatic(next)).count();
    let cation = aryls > 1 || (aryls == 1 && before.carbons(carbon) >= 3);
    let acidic = match before.group(nucleophile) {
        Group::Phenol
        | Group::AcidOxygen
        | Group::ImideNitrogen
        | Group::SulfonamideNitrogen
        | Group::Azole
        | Group::Thiol
        | Group::Thiophenol
        | Group::OximeOxygen
        | Group::Azide
        | Group::Enol
        | Group::OtherNitrogen
        | Group::OtherOxygen
        | Group::OtherSulfur
        | Group::ThioamideNitrogen
        | Group::ThiocarbonylSulfur => true,
        Group::AmideNitrogen | Group::UreaNitrogen => before.is_aromatic(nucleophile) || ring.is_some(),
        Group::PrimaryAlcohol | Group::SecondaryAlcohol => {
            cation || ring.is_some_and(|ring| (5..=6).contains(&ring))
        }
        Group::NitrileNitrogen => before.carbons(carbon) >= 3 || aryls > 0,
        _ if before.element(nucleophile) == C => {
            before.is_aromatic(nucleophile)
                || before.is_cyano(nucleophile)
                || is_doubly_activated(before, nucleophile)
        }
        _ if matches!(before.element(nucleophile), N) => {
            cation || ring.is_some_and(|ring| (5..=6).contains(&ring))
        }
        _ => true,
    };
    if !acidic {
        return Err(Refusal::NoLeavingGroup);
    }
    if before.element(nucleophile) == C {
        return Ok(());
    }
    // A more acidic nucleophile, or a less hindered alcohol, would be taken instead.
    let rival = step.atoms().any(|atom| {
        let rank = |group| match group {
            Group::PrimaryAlcohol => 3,
            Group::SecondaryAlcohol => 2,
            Group::TertiaryAlcohol => 1,
            _ => 0,
        };
        let own = before.next_to(carbon).map(|next| rank(before.group(next))).max().unwrap_or(0);
        let other = rank(before.group(atom));
        other > 0
            && other >= own
            && step.is_untouched(atom)
            && !before.next_to(carbon).any(|next| step.are_alike(next, atom))
            && ring.is_none()
    });
    if rival {
        return Err(Refusal::Spared);
    }
    let amine =
        |atom: u32| matches!(before.group(atom), Group::Thiol | Group::Thiophenol | Group::AcidOxygen);
    let own_is_strong = amine(nucleophile);
    if !own_is_strong
        && !reacts_elsewhere(events, nucleophile)
        && step.atoms().any(|atom| amine(atom) && step.is_untouched(atom))
    {
        return Err(Refusal::Spared);
    }
    Ok(())
}

/// Whether a base or acid makes a nucleophile of a carbon's C–H.
pub fn is_acidic(before: &Facts, carbon: u32) -> bool {
    if before.hydrogens(carbon) == 0 || before.group(carbon) == Group::TerminalAlkyne {
        return true;
    }
    let poor_ring = |next: u32| {
        before.is_aromatic(next)
            && (electrophile::activation(before, next) >= electrophile::ACTIVATED
                || before.next_to(next).any(|far| {
                    before.is_aromatic(far) && before.element(far) == N && before.degree(far) == 2
                }))
    };
    let mut near = before.next_to(carbon);
    near.any(|next| {
        before.is_acceptor(next)
            || poor_ring(next)
            || matches!(before.element(next), P | SI)
            || (before.element(next) == S && before.ring(next) == 6)
            || before.at(next).charge > 0
            // Vinylogous: the gamma position of an enone, the methyl group of an acetylacetone.
            || before.doubly(next, |other| before.element(other) == C).is_some_and(|far| before.is_alpha(far))
            || before.next_to(next).any(|other| other != carbon && before.is_aromatic(next) && before.is_nitro(other))
    }) || is_doubly_activated(before, carbon)
        || before.next_to(carbon).filter(|&next| before.is_aromatic(next)).count() > 1
}

fn is_doubly_activated(before: &Facts, carbon: u32) -> bool {
    before.next_to(carbon).filter(|&next| before.is_acceptor(next)).count() > 1
}

// --- arylation, vinylation, coupling ------------------------------------------------------------------------------

fn arylation(step: &Step<'_>, events: &[Event], nucleophile: u32, carbon: u32, leaving: u32) -> Verdict {
    let before = &step.before;
    if before.element(leaving) == C {
        let migrates = carbon_leaves(step, nucleophile, carbon, leaving, false);
        return if migrates { Ok(()) } else { Err(Refusal::NoLeavingGroup) };
    }
    if matches!(before.element(leaving), B | SN | SI) {
        // Chan–Lam and relatives: metal on the carbon, no SNAr.
        return if before.element(leaving) == SI { Err(Refusal::NoLeavingGroup) } else { Ok(()) };
    }
    let activation = electrophile::activation(before, carbon);
    let leaves = electrophile::aryl_leaving(before, leaving);
    let poor_leaver = leaves.is_some_and(|rank| rank <= -12);
    let hydroxyl = before.element(leaving) == O && before.degree(leaving) == 1;
    let azine = crate::group::aromatic_positions(&before.structure, carbon)
        .iter()
        .any(|&(atom, distance)| distance != 2 && before.element(atom) == N && before.hydrogens(atom) == 0);
    let fluoride = before.element(leaving) == F;
    let ring = closes_ring(step, nucleophile, carbon).is_some();
    let activated = match leaves {
        None => false,
        Some(_) if before.element(leaving) == N && before.at(leaving).charge == 0 => {
            before.is_nitro(leaving) && activation >= 24
        }
        // Phosphonium salts and oxychlorides make a leaving group of an azine's oxygen, for amines and thiols.
        Some(_) if hydroxyl => activation >= 28 && azine && before.element(nucleophile) != O,
        Some(_) if poor_leaver => activation >= 28,
        Some(_) if fluoride && activation >= 11 && !matches!(before.element(nucleophile), N) => true,
        Some(_) => activation >= electrophile::ACTIVATED || (ring && activation >= 8),
    };
    let metal = electrophile::leaves_in_couplings(before, leaving) && by_metal(before, nucleophile, leaving);
    if !activated && !metal {
        return Err(if leaves.is_none() { Refusal::NoLeavingGroup } else { Refusal::NotActivated });
    }
    if ring {
        return Ok(());
    }
    hot_electrophile_spared(step, carbon, 60)?;
    let by_snar = electrophile::aryl(before, carbon);
    let better_alkyl = electrophile::spared(step, carbon, by_snar.max(60), electrophile::alkyl);
    if better_alkyl.is_some() {
        return Err(Refusal::Spared);
    }
    let rival_snar =
        activated && by_snar > 0 && electrophile::spared(step, carbon, by_snar, electrophile::aryl).is_some();
    let rival_metal = metal
        && electrophile::spared(step, carbon, electrophile::coupling(before, carbon), electrophile::coupling)
            .is_some();
    let snar_first = !activated
        && electrophile::spared(step, carbon, 50, electrophile::aryl).is_some()
        && matches!(before.element(nucleophile), N | S);
    if snar_first {
        return Err(Refusal::Spared);
    }
    let refused = match (activated, metal) {
        (true, true) => rival_snar && rival_metal,
        (true, false) => rival_snar,
        _ => rival_metal,
    };
    if refused {
        return Err(Refusal::Spared);
    }
    // What palladium couples first and what attacks an activated ring first need not be the same.
    let by_snar = activated.then(|| nucleophiles(step, events, nucleophile, carbon, Reagent::Aryl));
    let by_metal = metal.then(|| nucleophiles(step, events, nucleophile, carbon, Reagent::Metal));
    match (by_snar, by_metal) {
        (Some(Ok(())), _) | (_, Some(Ok(()))) => Ok(()),
        (Some(refused), _) | (_, Some(refused)) => refused,
        (None, None) => Ok(()),
    }
}

/// Whether palladium or copper joins this nucleophile to an aryl halide that nothing activates.
fn by_metal(before: &Facts, nucleophile: u32, leaving: u32) -> bool {
    let heavy = matches!(before.element(leaving), BR | I | O);
    match before.group(nucleophile) {
        Group::PrimaryAlcohol | Group::SecondaryAlcohol => heavy,
        Group::TertiaryAlcohol | Group::AcidOxygen => false,
        _ if before.is_cyano(nucleophile) => true,
        _ => matches!(before.element(nucleophile), N | O | S | P | SE | B | SI | SN),
    }
}

fn vinylation(step: &Step<'_>, nucleophile: u32, carbon: u32, leaving: u32) -> Verdict {
    let before = &step.before;
    let activated = before
        .doubly(carbon, |next| before.element(next) == C)
        .is_some_and(|far| before.is_alpha(far) || before.is_acceptor(far));
    let amide = matches!(
        before.group(nucleophile),
        Group::AmideNitrogen
            | Group::CarbamateNitrogen
            | Group::Azole
            | Group::Indole
            | Group::Thiol
            | Group::Thiophenol
    );
    let copper = amide && matches!(before.element(leaving), BR | I);
    if activated || copper || before.element(leaving) == B { Ok(()) } else { Err(Refusal::NotActivated) }
}

/// The halide's side of a coupling.
fn halide(step: &Step<'_>, carbon: u32, leaving: u32) -> Verdict {
    let before = &step.before;
    // Sandmeyer's cyanide comes with copper.
    let cyanide = step.gained(carbon).any(|(other, _)| before.is_cyano(other));
    if cyanide && before.element(leaving) == N && before.hydrogens(leaving) == 2 {
        return Ok(());
    }
    if !electrophile::leaves_in_couplings(before, leaving) {
        let thioether = before.element(leaving) == S;
        let metal = matches!(before.element(leaving), B | SN | SI);
        return if thioether || metal { Ok(()) } else { Err(Refusal::NoLeavingGroup) };
    }
    let own = electrophile::coupling(before, carbon);
    if own > 0 && electrophile::spared(step, carbon, own, electrophile::coupling).is_some() {
        return Err(Refusal::Spared);
    }
    Ok(())
}

fn coupling(step: &Step<'_>, metal: u32, carbon: u32, leaving: u32) -> Verdict {
    let before = &step.before;
    if before.is_sp3(carbon) {
        let organometal = before.group(metal);
        let tertiary = before.carbons(carbon) >= 3;
        let secondary = before.carbons(carbon) == 2;
        let epoxide = before.ring(leaving) == 3;
        let leaves = is_heavy_halogen(before.element(leaving))
            || before.group(leaving) == Group::SulfonateOxygen
            || epoxide
            || before.at(leaving).charge > 0
            || is_oxocarbenium(before, carbon, leaving)
            || before.is_benzylic_or_allylic(carbon) && before.element(leaving) == O
            || before.is_cyano(leaving);
        return match organometal {
            _ if !leaves => Err(Refusal::NoLeavingGroup),
            _ if tertiary && !epoxide => Err(Refusal::Hindered),
            Group::Organoboron | Group::Organotin if secondary && !before.is_benzylic_or_allylic(carbon) => {
                Err(Refusal::Hindered)
            }
            _ => Ok(()),
        };
    }
    halide(step, carbon, leaving)
}

// --- carbonyl groups ----------------------------------------------------------------------------------------------

/// Refuses a step at a carbonyl group while a better one is left alone, or at one that is none.
fn carbonyl_electrophile(step: &Step<'_>, carbon: u32, aldol: bool) -> Verdict {
    let before = &step.before;
    let own = electrophile::carbonyl(before, carbon);
    if own == 0 {
        let other = matches!(before.group(carbon), Group::ImineCarbon | Group::Nitrile | Group::Imide);
        let anhydride =
            matches!(before.group(carbon), Group::Anhydride | Group::OtherCarbonyl | Group::Isocyanate);
        return if other || anhydride || aldol || before.is_aromatic(carbon) {
            Ok(())
        } else {
            Err(Refusal::Unreactive)
        };
    }
    match electrophile::spared(step, carbon, own, electrophile::carbonyl) {
        Some(_) => Err(Refusal::Spared),
        None => Ok(()),
    }
}

fn imination(step: &Step<'_>, events: &[Event], nitrogen: u32, carbon: u32) -> Verdict {
    let before = &step.before;
    let own = electrophile::carbonyl(before, carbon);
    if own > 0 && closes_ring(step, nitrogen, carbon).is_none() {
        if electrophile::spared(step, carbon, own, electrophile::carbonyl).is_some() {
            return Err(Refusal::Spared);
        }
        nucleophiles(step, events, nitrogen, carbon, Reagent::Carbonyl)?;
    }
    hot_electrophile_spared(step, carbon, 60)
}

fn metal_addition(step: &Step<'_>, metal: u32, carbon: u32) -> Verdict {
    let before = &step.before;
    let own = electrophile::organometal(before, carbon);
    let mild = !matches!(before.group(metal), Group::Organometal);
    if mild {
        return Ok(());
    }
    if own == 0 {
        return match before.group(carbon) {
            Group::Acid | Group::Amide | Group::ImineCarbon | Group::Other | Group::Alkyl => Ok(()),
            Group::Carbamate | Group::Urea | Group::Imide | Group::OtherCarbonyl => Ok(()),
            _ if before.is_aromatic(carbon) => Ok(()),
            _ => Err(Refusal::Unreactive),
        };
    }
    match electrophile::spared(step, carbon, own, electrophile::organometal) {
        Some(_) => Err(Refusal::Spared),
        None => Ok(()),
    }
}

fn conjugate_addition(
    step: &Step<'_>,
    events: &[Event],
    nucleophile: u32,
    carbon: u32,
    partner: u32,
) -> Verdict {
    let before = &step.before;
    // A second bond to the partner is a cycloaddition; metals and strong acids add to plain alkenes.
    let partner_bonds =
        step.gained(partner).next().is_some() || step.change.added.iter().any(|&(a, _, _)| a == partner);
    if partner_bonds || before.is_aromatic(carbon) || matches!(before.element(nucleophile), B | SI | SN) {
        return Ok(());
    }
    if matches!(before.group(nucleophile), Group::Organometal) {
        let aldehyde = before
            .next_to(partner)
            .any(|next| before.group(next) == Group::Aldehyde && step.is_untouched(next));
        return if aldehyde { Err(Refusal::Spared) } else { Ok(()) };
    }
    let is_acceptor = |atom: u32| {
        before.is_alpha(atom)
            || before.is_acceptor(atom)
            || before.next_to(atom).any(|next| {
                before.is_aromatic(next) && electrophile::activation(before, next) >= electrophile::ACTIVATED
            })
            || before.doubly(atom, |far| before.element(far) == C && before.is_alpha(far)).is_some()
    };
    let allene = before.triply(carbon).is_some();
    let internal = closes_ring(step, nucleophile, carbon).is_some();
    let acid_catalysed = matches!(
        before.group(nucleophile),
        Group::AcidOxygen
            | Group::PrimaryAlcohol
            | Group::Phenol
            | Group::Thiol
            | Group::Thiophenol
            | Group::Water
    ) && (before.carbons(carbon) >= 3 || before.element(nucleophile) == S)
        || before.count(carbon, O) > 0;
    if !is_acceptor(partner) {
        return if acid_catalysed || internal || allene && internal {
            Ok(())
        } else {
            Err(Refusal::NotActivated)
        };
    }
    if before.element(nucleophile) == C && !is_acidic(before, nucleophile) {
        return Err(Refusal::Unreactive);
    }
    nucleophiles(step, events, nucleophile, carbon, Reagent::Acceptor)
}

// --- halogenations ------------------------------------------------------------------------------------------------

fn deoxyhalogenation(step: &Step<'_>, carbon: u32, oxygen: u32) -> Verdict {
    let before = &step.before;
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
    let epoxide = |atom: u32| before.element(atom) == O && before.ring(atom) == 3 && step.is_untouched(atom);
    let spared = step.atoms().any(epoxide)
        || own > 0
            && step.atoms().any(|atom| {
                rank(atom) >= own
                    && atom != oxygen
                    && step.is_untouched(atom)
                    && !step.are_alike(atom, oxygen)
            });
    let _ = carbon;
    if spared { Err(Refusal::Spared) } else { Ok(()) }
}

/// Phosphorus oxychloride takes the hydroxyl groups of alcohols and dehydrates primary amides as well.
fn lactam_halogenation(step: &Step<'_>, carbon: u32) -> Verdict {
    let before = &step.before;
    let spared = step.atoms().any(|atom| {
        step.is_untouched(atom)
            && !step.are_alike(atom, carbon)
            && match before.group(atom) {
                Group::PrimaryAlcohol | Group::SecondaryAlcohol | Group::TertiaryAlcohol => true,
                Group::PrimaryAmine | Group::SecondaryAmine => true,
                Group::AmideNitrogen => before.hydrogens(atom) == 2,
                _ => false,
            }
    });
    if spared { Err(Refusal::Spared) } else { Ok(()) }
}

fn acid_activation(step: &Step<'_>, carbon: u32) -> Verdict {
    let before = &step.before;
    let spared = step.atoms().any(|atom| {
        step.is_untouched(atom)
            && !before.next_to(carbon).any(|next| step.are_alike(next, atom))
            && matches!(
                before.group(atom),
                Group::PrimaryAmine
                    | Group::SecondaryAmine
                    | Group::Aniline
                    | Group::SecondaryAniline
                    | Group::PrimaryAlcohol
                    | Group::SecondaryAlcohol
                    | Group::AcidOxygen
                    | Group::Thiol
                    | Group::Hydrazine
            )
    });
    if spared { Err(Refusal::Spared) } else { Ok(()) }
}

/// A heteroatom in place of hydrogen on an sp3 carbon: halogen next to an acceptor, an arene or a double bond, and little
/// else.
fn functionalisation(step: &Step<'_>, carbon: u32, element: u8) -> Verdict {
    let before = &step.before;
    let free = is_acidic(before, carbon) || before.is_benzylic_or_allylic(carbon);
    let beside_heteroatom = before.next_to(carbon).any(|next| matches!(before.element(next), N | O | S));
    let allowed = match element {
        F | CL | BR | I => free || beside_heteroatom || before.carbons(carbon) >= 3,
        O => free || beside_heteroatom,
        N => is_acidic(before, carbon) || cleavage::is_new_ring(step, carbon),
        _ => true,
    };
    if !allowed {
        return Err(Refusal::NoLeavingGroup);
    }
    if element == O {
        redox::oxidant(step, carbon)?;
    }
    if is_heavy_halogen(element) {
        // Bromine and its kin go to amines, thiols, double bonds and rings that are rich in electrons first.
        let spared = step.atoms().any(|atom| {
            step.is_untouched(atom)
                && match before.group(atom) {
                    Group::PrimaryAmine
                    | Group::SecondaryAmine
                    | Group::Thiol
                    | Group::Thiophenol
                    | Group::Enamine => true,
                    Group::Alkene => {
                        !before.is_alpha(atom)
                            && before
                                .doubly(atom, |next| before.element(next) == C && !before.is_alpha(next))
                                .is_some()
                    }
                    Group::Aryl => before.hydrogens(atom) > 0 && crate::arene::score(before, atom) > 30,
                    _ => false,
                }
        });
        if spared {
            return Err(Refusal::Spared);
        }
    }
    Ok(())
}
