//! Substitution at sp3 carbon: leaving groups, steric hindrance, and the nucleophiles that displace a hydroxyl group.

use crate::acylation::refuse_unreacted_aldehyde;
use crate::change::{Facts, Step};
use crate::competition::{
    check_unreacted_acyl_electrophiles, closed_ring_size, forms_several_bonds, nucleophiles,
};
use crate::electrophile;
use crate::event::Event;
use crate::group::{Group, aromatic_positions};
use crate::queries::*;
use crate::reagent::Reagent;
use crate::refusal::Refusal;

type Verdict = Result<(), Refusal>;

/// Refuses the exchange of an acetal's alcohol for one of three or more free hydroxyl groups of a molecule (Nicolaou and Mitchell, Angew. Chem. Int.
/// Ed. 2001, 40, 1576, on glycosylation). A diol that closes a ring chooses by its size.
fn refuse_polyol(step: &Step<'_>, events: &[Event], nucleophile: u32, carbon: u32) -> Verdict {
    let before = &step.before;
    let is_rival = |&atom: &u32| {
        matches!(before.group(atom), Group::PrimaryAlcohol | Group::SecondaryAlcohol)
            && before.hydrogens(atom) > 0
            && step.is_untouched(atom)
            && step.are_in_same_molecule(atom, nucleophile)
            && !step.are_equivalent(atom, nucleophile)
    };
    let closes = |event: &Event| matches!(*event, Event::Alkylation { nucleophile: other, carbon: same, .. } if same == carbon && other != nucleophile);
    if step.are_in_same_molecule(nucleophile, carbon) || events.iter().any(closes) {
        return Ok(());
    }
    if step.atoms().filter(is_rival).count() > 1 { Err(Refusal::CompetingGroup) } else { Ok(()) }
}

pub fn alkylation(step: &Step<'_>, events: &[Event], nucleophile: u32, carbon: u32, leaving: u32) -> Verdict {
    let before = &step.before;
    let exchange = is_oxocarbenium(before, carbon, leaving);
    check_leaving_group(step, nucleophile, carbon, leaving)?;
    if closes_to_hydantoin(before, carbon, leaving) {
        return Err(Refusal::SelfReacting);
    }
    if exchange {
        let is_free_thiol =
            |atom: u32| before.element(atom) == S && before.hydrogens(atom) > 0 && step.is_untouched(atom);
        // The acid that opens an acetal gives the thioacetal (Clayden, Greeves and Warren, chapter 46).
        if before.element(nucleophile) != S && step.atoms().any(is_free_thiol) {
            return Err(Refusal::CompetingGroup);
        }
        return refuse_polyol(step, events, nucleophile, carbon);
    }
    let own_is_carbon = before.element(nucleophile) == C;
    let is_reactive = before.is_aromatic(nucleophile) || is_acidic(before, nucleophile);
    if own_is_carbon && (!is_reactive || stays_vinylic(step, nucleophile)) {
        return Err(Refusal::Unreactive);
    }
    let ring = closed_ring_size(step, nucleophile, carbon);
    check_hindrance(step, nucleophile, carbon, leaving, ring)?;
    if ring.is_none() && before.element(leaving) == CL && is_beside_fluorines(before, carbon) {
        return Err(Refusal::Unreactive);
    }
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
    check_unreacted_acyl_electrophiles(step, carbon, 60)?;
    // Trityl chloride ionises, and needs no other electrophile to stay away.
    if own > 0 && ring.is_none() && before.aryls(carbon) < 3 {
        // A leaving group beside the opening epoxide is no competitor: it leaves on the other path to the same two
        // bonds.
        let epoxide = before.ring(leaving) == 3;
        let beside = |atom: u32| {
            before.bond(atom, leaving).is_none()
                && before.next_to(atom).any(|next| before.bond(next, leaving).is_some())
        };
        let better = |facts: &Facts, atom: u32| {
            if epoxide && beside(atom) {
                return 0;
            }
            electrophile::alkyl(facts, atom).max(electrophile::aryl(facts, atom) - 15)
        };
        if electrophile::competing_site(step, carbon, own, better).is_some() {
            return Err(Refusal::CompetingGroup);
        }
    }
    refuse_unreacted_aldehyde(step, carbon, before.group(nucleophile))?;
    if racemises_halide(before, nucleophile, carbon) {
        return Err(Refusal::StereoScrambled);
    }
    if ring.is_none() && leaves_half_of_diol(step, nucleophile, carbon) {
        return Err(Refusal::CompetingGroup);
    }
    if leaves_better_picolyl(step, nucleophile) {
        return Err(Refusal::CompetingGroup);
    }
    nucleophiles(step, events, nucleophile, carbon, Reagent::Alkyl)
}

/// Returns true for a carbon that loses its carbonyl group to nitrogen (Curtius, Hofmann) beside an amide with N–H: the isocyanate closes to the hydantoin (March 2013, 18-14).
fn closes_to_hydantoin(before: &Facts, carbon: u32, leaving: u32) -> bool {
    let is_free = |nitrogen: u32| before.element(nitrogen) == N && before.hydrogens(nitrogen) > 0;
    before.is_carbonyl(leaving)
        && before.next_to(carbon).any(|amide| {
            amide != leaving && before.group(amide) == Group::Amide && before.next_to(amide).any(is_free)
        })
}

/// Returns true for a C–H on a double bond without a donor that takes an alkyl group and keeps the bond: base takes the γ-proton, or a leaving group (Clayden, Greeves and Warren, chapter
/// 26). Enamines, enol ethers and 1,3-diketones are nucleophiles.
fn stays_vinylic(step: &Step<'_>, carbon: u32) -> bool {
    let before = &step.before;
    let is_plain = |partner: u32| {
        !before
            .next_to(partner)
            .any(|next| matches!(before.element(next), N | O | S) && before.is_saturated(next))
    };
    before.group(carbon) == Group::Alkene
        && step.hydrogens_gained(carbon) < 0
        && step.reordered(carbon).next().is_none()
        && step.lost(carbon).next().is_none()
        && before.doubly(carbon, |next| before.element(next) == C).is_some_and(is_plain)
}

/// Returns true for a primary carbon beside one with two or more fluorines, whose chloride is inert (Hine and Ghirardelli, J. Org. Chem. 1958, 23, 1550).
fn is_beside_fluorines(before: &Facts, carbon: u32) -> bool {
    before.hydrogens(carbon) == 2 && before.next_to(carbon).any(|next| before.count(next, F) > 1)
}

/// Returns true if the anion of an amide takes a stereocentre beside an acceptor: it is the base that racemises the halide and its product.
fn racemises_halide(before: &Facts, nucleophile: u32, carbon: u32) -> bool {
    before.group(nucleophile) == Group::AmideNitrogen
        && !before.is_aromatic(nucleophile)
        && before.hydrogens(carbon) > 0
        && before.is_alpha(carbon)
        && before.at(carbon).centre.is_some()
}

/// Returns true if one hydroxyl group of a 1,2-diol is alkylated and the other, on a secondary carbon, stays: base makes either anion, which share a
/// proton. Trityl chloride and tin acetals choose.
fn leaves_half_of_diol(step: &Step<'_>, own: u32, carbon: u32) -> bool {
    let it = &step.before;
    let is_other = |atom: u32| it.group(atom) == Group::SecondaryAlcohol && step.is_untouched(atom);
    it.group(own) == Group::PrimaryAlcohol
        && it.aryls(carbon) < 2
        && it.distances(own, 3).into_iter().any(|(atom, distance)| distance == 3 && is_other(atom))
}

/// Acidity of a C–H beside the 4-position (first) or 2-position of an azine, then by its hydrogens; `None` for other
/// carbons (pKa of 4-picoline 32, of 2-picoline 34: Fraser and others, J. Org. Chem. 1985).
fn picolyl_acidity(before: &Facts, carbon: u32) -> Option<(bool, u8)> {
    if !before.is_sp3(carbon) || before.hydrogens(carbon) == 0 || before.is_alpha(carbon) {
        return None;
    }
    let ring = before.next_to(carbon).find(|&next| before.is_aromatic_carbon(next))?;
    let positions = aromatic_positions(&before.structure, ring);
    let has_nitrogen_at = |wanted: u32| {
        positions.iter().any(|&(atom, distance)| {
            distance == wanted
                && before.element(atom) == N
                && before.degree(atom) == 2
                && before.ring(atom) == 6
        })
    };
    (has_nitrogen_at(1) || has_nitrogen_at(3)).then(|| (has_nitrogen_at(3), before.hydrogens(carbon)))
}

/// Returns true if the step alkylates a picolyl carbon and leaves another that is as acidic.
fn leaves_better_picolyl(step: &Step<'_>, own: u32) -> bool {
    let acidity = |atom: u32| picolyl_acidity(&step.before, atom);
    let Some(own_acidity) = acidity(own) else { return false };
    step.atoms().any(|atom| {
        acidity(atom).is_some_and(|other| other >= own_acidity)
            && step.is_untouched(atom)
            && !step.are_equivalent(atom, own)
    })
}

/// Returns true if a carbon can lose `leaving` with help from the lone pair of another heteroatom on it: acetals,
/// aminals and the like.
pub fn is_oxocarbenium(before: &Facts, carbon: u32, leaving: u32) -> bool {
    before.next_to(carbon).any(|next| {
        next != leaving
            && matches!(before.element(next), N | O | S)
            && before.is_saturated(next)
            && !before.next_to(next).any(|other| other != carbon && before.is_nitro(other))
            && before.oxo(next) == 0
    })
}

/// Refuses groups that do not leave an sp3 carbon.
fn check_leaving_group(step: &Step<'_>, nucleophile: u32, carbon: u32, leaving: u32) -> Verdict {
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
        // Dimethyl carbonate, ethylene carbonate and methyl phosphates alkylate; small lactones open.
        Group::EsterOxygen => {
            let carbonate = other.is_some_and(|other| before.group(other) == Group::Carbonate);
            carbonate || helped || before.ring(leaving) == 4
        }
        Group::Ether | Group::ArylEther => {
            // Four-membered ethers open; benzhydryl and trityl ethers cleave.
            before.ring(leaving) == 4 || before.aryls(carbon) > 1
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
    // A Mannich base loses its amine; so does gramine.
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

/// Returns true if a C–C bond breaks in favour of a new one at the carbon: migrations, decarboxylations,
/// aminonitriles.
pub fn carbon_leaves(step: &Step<'_>, nucleophile: u32, carbon: u32, leaving: u32, lone_pair: bool) -> bool {
    let before = &step.before;
    let cyanide = before.is_cyano(leaving);
    let migrates = before.bond(nucleophile, leaving).is_some();
    // Curtius, Hofmann, Schmidt, Lossen: the nitrogen ends at the former position of the carbonyl group, and brings
    // no carbon.
    let nitrogen_alone = before.element(nucleophile) == N
        && before.carbons(nucleophile) == 0
        && before.is_carbonyl(leaving)
        && before.carbons(carbon) + before.hydrogens(carbon) as usize > 1;
    let kept_elsewhere = step.image(leaving).is_some() && before.is_carbonyl(leaving);
    let strained = before.bond(carbon, leaving).is_some_and(|bond| bond.ring == 3);
    (cyanide && lone_pair) || migrates || nitrogen_alone || kept_elsewhere || strained
}

fn check_hindrance(
    step: &Step<'_>,
    nucleophile: u32,
    carbon: u32,
    leaving: u32,
    ring: Option<u8>,
) -> Verdict {
    let before = &step.before;
    let epoxide = before.ring(leaving) == 3;
    let aryls = before.aryls(carbon);
    if epoxide || ring.is_some_and(|ring| (3..=7).contains(&ring)) || before.element(leaving) == C {
        return Ok(());
    }
    // Inversion at a cyclopropane needs angles that the ring does not allow.
    if before.is_cyclopropane(carbon) {
        return Err(Refusal::Hindered);
    }
    if before.carbons(carbon) >= 3 {
        let stable = aryls > 1
            || before.is_alpha(carbon) && before.element(leaving) != O
            || (before.element(nucleophile) == N && before.group(nucleophile) == Group::NitrileNitrogen)
            || matches!(before.group(nucleophile), Group::AcidOxygen | Group::Thiol | Group::Thiophenol)
                && before.element(leaving) == O
            || before.is_aromatic_carbon(nucleophile)
            // Copper activates propargyl chlorides by way of the allenylidene.
            || before.next_to(carbon).any(|next| before.group(next) == Group::TerminalAlkyne);
        return if stable { Ok(()) } else { Err(Refusal::Hindered) };
    }
    let quaternary = before.next_to(carbon).find(|&next| before.is_sp3(next) && before.carbons(next) == 4);
    let soft = matches!(before.element(nucleophile), S | I | BR)
        || matches!(before.group(nucleophile), Group::Azide | Group::ThioamideNitrogen)
        || before.is_cyano(nucleophile);
    // Rings of three and four hold their substituents back, but not from branched alkoxides.
    let is_open = |next: u32| match before.ring(next) {
        3 => true,
        4 => !matches!(before.group(nucleophile), Group::SecondaryAlcohol | Group::TertiaryAlcohol),
        _ => false,
    };
    match quaternary {
        Some(next) if !soft && !is_open(next) => Err(Refusal::Hindered),
        _ => Ok(()),
    }
}

/// Returns true for an end of glycerol.
fn is_of_glycerol(before: &Facts, end: u32) -> bool {
    let carries = |atom: u32, carbons: usize| {
        before.count(atom, O) == 1 && before.carbons(atom) == carbons && before.is_sp3(atom)
    };
    carries(end, 1)
        && before.next_to(end).any(|middle| {
            carries(middle, 2)
                && before
                    .next_to(middle)
                    .filter(|&next| before.element(next) == C)
                    .all(|next| carries(next, 1))
        })
}

/// Checks a hydroxyl group that leaves as phosphine oxide, or as water from a carbon that can bear a cation.
fn mitsunobu(step: &Step<'_>, events: &[Event], nucleophile: u32, carbon: u32, ring: Option<u8>) -> Verdict {
    let before = &step.before;
    let aryls = before.aryls(carbon);
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
        Group::TertiaryAlcohol => cation,
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
    // Glycerol becomes acrolein, and that part of the quinoline (Skraup; Joule and Mills, 9.15).
    let condensed = step.image(carbon).is_some_and(|image| step.after.is_aromatic(image));
    if condensed && before.element(nucleophile) == N && is_of_glycerol(before, carbon) {
        return Ok(());
    }
    if !acidic {
        return Err(Refusal::NoLeavingGroup);
    }
    if before.element(nucleophile) == C {
        return Ok(());
    }
    // A more acidic nucleophile, or a less hindered alcohol, would react instead.
    let rival = step.atoms().any(|atom| {
        let rank = |group| match group {
            Group::PrimaryAlcohol | Group::Hemiacetal => 3,
            Group::SecondaryAlcohol => 2,
            Group::TertiaryAlcohol => 1,
            _ => 0,
        };
        let own = before.next_to(carbon).map(|next| rank(before.group(next))).max().unwrap_or(0);
        let other = rank(before.group(atom));
        other > 0
            && other >= own
            && step.is_untouched(atom)
            && !before.next_to(carbon).any(|next| step.are_equivalent(next, atom))
            && ring.is_none()
    });
    if rival {
        return Err(Refusal::CompetingGroup);
    }
    let amine =
        |atom: u32| matches!(before.group(atom), Group::Thiol | Group::Thiophenol | Group::AcidOxygen);
    // A mercapto acid is esterified unless a cation takes its sulfur.
    let is_thiol = matches!(before.group(nucleophile), Group::Thiol | Group::Thiophenol);
    if is_thiol && !cation && step.atoms().any(|atom| step.is_kept_acid(atom)) {
        return Err(Refusal::CompetingGroup);
    }
    if step.atoms().any(|atom| step.is_untouched(atom) && is_rival_in_mitsunobu(step, nucleophile, atom)) {
        return Err(Refusal::CompetingGroup);
    }
    // An amine adds to the azodicarboxylate and takes the phosphonium ion (Swamy and others, Chem. Rev. 2009, 109, 2551).
    let is_of_azodicarboxylate = matches!(
        before.group(nucleophile),
        Group::Phenol
            | Group::ImideNitrogen
            | Group::SulfonamideNitrogen
            | Group::Azole
            | Group::OximeOxygen
            | Group::Thiol
            | Group::Thiophenol
            | Group::OtherSulfur
    );
    if is_of_azodicarboxylate && !cation && step.leaves_amine() {
        return Err(Refusal::CompetingGroup);
    }
    let own_is_strong = amine(nucleophile);
    if !own_is_strong
        && !forms_several_bonds(events, nucleophile)
        && step.atoms().any(|atom| amine(atom) && step.is_untouched(atom))
    {
        return Err(Refusal::CompetingGroup);
    }
    match before.group(nucleophile) {
        Group::Phenol | Group::Azole | Group::ImideNitrogen | Group::SulfonamideNitrogen => {
            nucleophiles(step, events, nucleophile, carbon, Reagent::Alkyl)
        }
        _ => Ok(()),
    }
}

/// Returns true for the second N–H of a uracil, which is as acidic as the first (Swamy and others, Chem. Rev. 2009, 109, 2551), for a free
/// amidine, which takes the proton and the alkyl group, and for a free hydroxylamine, which takes an acid as well and reduces azodicarboxylates.
fn is_rival_in_mitsunobu(step: &Step<'_>, own: u32, atom: u32) -> bool {
    let it = &step.before;
    let is_lactam = |atom: u32| it.element(atom) == N && it.is_aromatic(atom);
    let shares_carbonyl =
        || it.next_to(own).any(|next| it.is_carbonyl(next) && it.bond(next, atom).is_some());
    it.hydrogens(atom) > 0
        && (it.group(atom) == Group::Amidine
            && !it.is_aromatic(atom)
            && !it.next_to(atom).any(|next| it.is_carbonyl(next))
            || it.group(own) == Group::AcidOxygen
                && it.group(atom) == Group::OximeOxygen
                && it.next_to(atom).any(|next| it.group(next) == Group::Hydroxylamine)
            || is_lactam(own) && is_lactam(atom) && shares_carbonyl())
}

/// Returns true if a base or acid makes a nucleophile of a carbon's C–H.
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
        || before.aryls(carbon) > 1
}

/// Returns true for a methyl group between the nitrogens of an imidazole or purine, which a base of amines does not
/// deprotonate. That of a benzimidazole condenses with aldehydes in the melt.
pub fn is_methyl_of_imidazole(before: &Facts, carbon: u32) -> bool {
    let is_fused_to_benzene = |atom: u32| {
        before.aryls(atom) == 3
            && before.next_to(atom).all(|next| before.element(next) == C || before.ring(next) == 5)
    };
    let is_benzo = |nitrogen: u32| before.next_to(nitrogen).any(is_fused_to_benzene);
    let ring = before.next_to(carbon).find(|&next| before.is_aromatic(next) && before.ring(next) == 5);
    ring.is_some_and(|ring| {
        let nitrogens = || before.next_to(ring).filter(|&next| before.element(next) == N);
        nitrogens().count() == 2
            && nitrogens().all(|nitrogen| before.at(nitrogen).charge == 0)
            && !nitrogens().all(is_benzo)
    })
}

pub fn is_doubly_activated(before: &Facts, carbon: u32) -> bool {
    before.next_to(carbon).filter(|&next| before.is_acceptor(next)).count() > 1
}
