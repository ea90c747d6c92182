//! Substitution at sp2 carbon: by addition and elimination, or by palladium, nickel and copper.

use crate::alkylation::{carbon_leaves, is_oxocarbenium};
use crate::change::{Facts, Step};
use crate::competition::{check_unreacted_acyl_electrophiles, closed_ring_size, nucleophiles};
use crate::electrophile;
use crate::event::Event;
use crate::group::{Group, aromatic_positions};
use crate::halide_order;
use crate::queries::*;
use crate::reagent::{Reagent, TIE_MARGIN};
use crate::refusal::Refusal;

type Verdict = Result<(), Refusal>;

/// Activation that a free hydroxyl group ortho or para takes, as base makes it the strongest donor (Miller 1968).
const PHENOLATE: i32 = 28;

/// Difference of rank within which a metal does not tell two like halides of an arene apart.
const LIKE_HALIDES: i32 = 3;

/// Rank of a halide that an amine takes at room temperature: 4-fluoropyrimidine, 4-chloroquinazoline.
const FAST_SNAR: i32 = 70;
/// Rank of one that an alkylamine takes well below the heat that palladium needs for a chloride: 2-fluoronitrobenzene.
const WARM_SNAR: i32 = 58;

pub fn arylation(step: &Step<'_>, events: &[Event], nucleophile: u32, carbon: u32, leaving: u32) -> Verdict {
    let before = &step.before;
    if before.element(leaving) == C {
        let migrates = carbon_leaves(step, nucleophile, carbon, leaving, false);
        return if migrates { Ok(()) } else { Err(Refusal::NoLeavingGroup) };
    }
    if is_sulfamic(before, nucleophile) {
        return Err(Refusal::Unreactive);
    }
    if matches!(before.element(leaving), B | SN | SI) {
        // Chan–Lam and relatives: metal on the carbon, no SNAr.
        return if before.element(leaving) == SI { Err(Refusal::NoLeavingGroup) } else { Ok(()) };
    }
    let phenolate = is_beside_phenol(before, carbon);
    let activation = electrophile::activation(before, carbon) - if phenolate { PHENOLATE } else { 0 };
    let leaves = electrophile::aryl_leaving(before, leaving);
    let poor_leaver = leaves.is_some_and(|rank| rank <= -12);
    let hydroxyl = before.element(leaving) == O && before.degree(leaving) == 1;
    let azine = aromatic_positions(&before.structure, carbon)
        .iter()
        .any(|&(atom, distance)| distance != 2 && before.element(atom) == N && before.hydrogens(atom) == 0);
    let fluoride = before.element(leaving) == F;
    let ring = closed_ring_size(step, nucleophile, carbon).is_some();
    let activated = match leaves {
        None => false,
        Some(_) if before.element(leaving) == N && before.at(leaving).charge == 0 => {
            before.is_nitro(leaving) && activation >= 24
        }
        // Phosphonium salts and oxychlorides turn an azine's oxygen into a leaving group, for amines and thiols.
        Some(_) if hydroxyl => activation >= 28 && azine && before.element(nucleophile) != O,
        Some(_) if poor_leaver => activation >= 28,
        Some(_) if fluoride && activation >= 11 && !matches!(before.element(nucleophile), N) => true,
        Some(_) if electrophile::takes_strong_anion(before, nucleophile, carbon, leaving) => true,
        Some(_) => {
            activation >= electrophile::needed_activation(before, nucleophile, leaving)
                || (ring && activation >= 8)
                || is_uracil_c6(before, carbon) && before.element(nucleophile) == N
        }
    };
    let metal = halide_order::leaves_in_couplings(before, leaving)
        && by_metal(before, nucleophile, leaving)
        && !(phenolate && before.element(leaving) == CL);
    if !activated && !metal {
        return Err(if leaves.is_none() { Refusal::NoLeavingGroup } else { Refusal::NotActivated });
    }
    let is_bound_by_metal = matches!(before.element(nucleophile), N | O | S) || before.is_cyano(nucleophile);
    let needs_heat = before.element(nucleophile) == N && electrophile::needs_heat(before, carbon, leaving);
    if (!activated && is_bound_by_metal || needs_heat)
        && step.atoms().any(|atom| has_open_boron(before, atom) && step.is_untouched(atom))
    {
        return Err(Refusal::CompetingGroup);
    }
    if leaves_better_chloride(step, nucleophile, carbon, leaving) {
        return Err(Refusal::CompetingGroup);
    }
    if ring {
        return Ok(());
    }
    if step.atoms().any(|atom| step.is_untouched(atom) && takes_amine_first(before, nucleophile, atom)) {
        return Err(Refusal::CompetingGroup);
    }
    // Copper takes the nitrogen of an azole as well (Ley and Thomas, Angew. Chem. Int. Ed. 2003, 42, 5400).
    if !activated && before.group(nucleophile) == Group::Phenol && step.keeps_free_azole() {
        return Err(Refusal::CompetingGroup);
    }
    let is_sulfinate = before.element(nucleophile) == S && before.oxo(nucleophile) == 1;
    let is_large = before.count(nucleophile, SI) > 1
        || !activated && (before.element(nucleophile) == O || is_sulfinate && before.element(leaving) != I);
    if is_large && is_crowded(before, carbon)
        || before.element(nucleophile) == B && is_between_groups(before, carbon)
        || !activated && is_weak_nitrogen(before, nucleophile) && is_between_groups(before, carbon)
    {
        return Err(Refusal::Hindered);
    }
    if metal && step.atoms().any(|atom| is_between_carbonyls(before, atom) && step.is_untouched(atom)) {
        return Err(Refusal::CompetingGroup);
    }
    check_unreacted_acyl_electrophiles(step, carbon, 60)?;
    let by_snar = electrophile::aryl(before, carbon);
    let better_alkyl = electrophile::competing_site(step, carbon, by_snar.max(60), electrophile::alkyl);
    if better_alkyl.is_some() {
        return Err(Refusal::CompetingGroup);
    }
    let rival_snar = activated
        && by_snar > 0
        && electrophile::clearly_more_reactive(step, carbon, by_snar, electrophile::aryl).is_some();
    let by_coupling = halide_order::coupling(before, carbon);
    let rival_metal = metal
        && electrophile::clearly_more_reactive(step, carbon, by_coupling, halide_order::coupling).is_some();
    let snar_first = !activated
        && electrophile::competing_site(step, carbon, 50, electrophile::aryl).is_some()
        && matches!(before.element(nucleophile), N | S);
    if snar_first {
        return Err(Refusal::CompetingGroup);
    }
    // An amine takes such a halide before palladium has a chance.
    let is_amine = before.element(nucleophile) == N && nucleophile_needs_no_base(before, nucleophile);
    let is_fast = |facts: &Facts, atom: u32| electrophile::aryl(facts, atom).max(0);
    let is_alkylamine = matches!(before.group(nucleophile), Group::PrimaryAmine | Group::SecondaryAmine);
    let fast = if is_alkylamine && before.element(leaving) == CL { WARM_SNAR } else { FAST_SNAR };
    let is_sulfur = before.element(nucleophile) == S;
    if rival_snar
        && (is_amine || is_sulfur)
        && electrophile::competing_site(step, carbon, fast, is_fast).is_some()
    {
        return Err(Refusal::CompetingGroup);
    }
    // The amide of an acid needs palladium, whatever the ring.
    let is_amide = before.group(nucleophile) == Group::AmideNitrogen && !before.is_aromatic(nucleophile);
    let refused = match (activated && !is_amide, metal) {
        (true, true) => rival_snar && rival_metal,
        (true, false) => rival_snar,
        _ => rival_metal,
    };
    if refused
        || !activated
            && (leaves_like_halide(step, carbon, leaving) || has_own_halide(step, nucleophile, leaving))
    {
        return Err(Refusal::CompetingGroup);
    }
    // Palladium and an activated ring may prefer different nucleophiles.
    let by_snar = activated.then(|| nucleophiles(step, events, nucleophile, carbon, Reagent::Aryl));
    let by_metal = metal.then(|| {
        let by = |reagent| nucleophiles(step, events, nucleophile, carbon, reagent);
        by(Reagent::Palladium).or_else(|_| by(Reagent::Copper))
    });
    match (by_snar, by_metal) {
        (Some(Ok(())), _) | (_, Some(Ok(()))) => Ok(()),
        (Some(refused), _) | (_, Some(refused)) => refused,
        (None, None) => Ok(()),
    }
}

/// Returns true for a group that a free alkylamine takes before it displaces a halide: an aldehyde, whose imine forms at once, and the
/// ester of a phenol (Clayden, Greeves and Warren, chapters 10 and 11).
fn takes_amine_first(it: &Facts, nucleophile: u32, atom: u32) -> bool {
    let is_of_phenol =
        |oxygen: u32| it.element(oxygen) == O && it.next_to(oxygen).any(|next| it.is_aromatic(next));
    match (it.group(nucleophile), it.group(atom)) {
        (Group::PrimaryAmine, Group::Aldehyde) => true,
        (Group::PrimaryAmine | Group::SecondaryAmine, Group::Ester) => it.next_to(atom).any(is_of_phenol),
        _ => false,
    }
}

/// Returns true for the nitrogen of sulfamic acid, which is a zwitterion.
fn is_sulfamic(it: &Facts, nitrogen: u32) -> bool {
    let is_acid =
        |sulfur: u32| it.element(sulfur) == S && it.next_to(sulfur).any(|next| it.is_hydroxyl(next));
    it.element(nitrogen) == N && it.next_to(nitrogen).any(is_acid)
}

/// Returns true for a carbon beside a ring nitrogen and across a double bond from a carbonyl group of a uracil: a vinylogous acyl halide (alogliptin:
/// Feng and others, J. Med. Chem. 2007, 50, 2297).
fn is_uracil_c6(it: &Facts, carbon: u32) -> bool {
    let positions = aromatic_positions(&it.structure, carbon);
    it.ring(carbon) == 6
        && it.next_to(carbon).any(|next| it.is_aromatic(next) && it.element(next) == N)
        && positions.iter().filter(|&&(atom, _)| it.is_carbonyl(atom)).count() == 2
}

/// Returns true for a C–H between two carbonyl groups, which a metal arylates before N–H and O–H (Culkin and Hartwig, Acc. Chem. Res. 2003, 36, 234).
pub fn is_between_carbonyls(it: &Facts, carbon: u32) -> bool {
    it.is_sp3(carbon)
        && it.hydrogens(carbon) > 0
        && it.next_to(carbon).filter(|&next| it.is_carbonyl(next)).count() > 1
}

/// Returns true for a carbon of an arene with substituents at both sides, which leave no room for a disilylamide, nor for an ether or, unless it is
/// an iodide, a sulfone by copper.
fn is_crowded(it: &Facts, carbon: u32) -> bool {
    it.next_to(carbon).filter(|&next| it.is_aromatic_carbon(next) && it.hydrogens(next) == 0).count() > 1
}

/// Returns true for a carbon of an arene with an alkyl or alkoxy group at both sides, where a diboron gives the arene without the halogen
/// (Ishiyama, Murata and Miyaura, J. Org. Chem. 1995, 60, 7508).
fn is_between_groups(it: &Facts, carbon: u32) -> bool {
    let bears_group = |ortho: u32| {
        it.is_aromatic_carbon(ortho)
            && it.next_to(ortho).any(|next| !it.is_aromatic(next) && matches!(it.element(next), C | O))
    };
    it.next_to(carbon).filter(|&ortho| bears_group(ortho)).count() > 1
}

/// Returns true for the N–H of a lactam, an amide or an azole, which copper and palladium bring to no carbon between two groups (Surry and Buchwald, Chem. Sci. 2010, 1,
/// 13).
fn is_weak_nitrogen(it: &Facts, nitrogen: u32) -> bool {
    matches!(
        it.group(nitrogen),
        Group::AmideNitrogen
            | Group::CarbamateNitrogen
            | Group::UreaNitrogen
            | Group::ImideNitrogen
            | Group::Azole
            | Group::Indole
    )
}

/// Returns true for a carbon of a triazole or tetrazole with its N–H, whose anion holds the halide and binds palladium: chemists protect it first (Joule and Mills,
/// chapter 29).
fn is_on_free_triazole(it: &Facts, carbon: u32) -> bool {
    it.is_aromatic(carbon)
        && it.azole_nitrogens(carbon).count() > 2
        && it.azole_nitrogens(carbon).any(|nitrogen| it.hydrogens(nitrogen) > 0)
}

/// Returns true if the nucleophile takes a chlorine that needs a metal and leaves one that needs none, as 2-chloroquinolines have.
fn leaves_better_chloride(step: &Step<'_>, nucleophile: u32, carbon: u32, leaving: u32) -> bool {
    let it = &step.before;
    let is_activated = |carbon: u32, chlorine: u32| {
        electrophile::activation(it, carbon) >= electrophile::needed_activation(it, nucleophile, chlorine)
    };
    let is_better = |atom: u32| {
        it.is_aromatic_carbon(atom)
            && step.is_untouched(atom)
            && it.next_to(atom).any(|next| it.element(next) == CL && is_activated(atom, next))
    };
    it.element(leaving) == CL && !is_activated(carbon, leaving) && step.atoms().any(is_better)
}

/// Returns true if the molecule of the nucleophile keeps the iodide, or the bromide beside one, that the metal is to take from the other: it couples with its own kind.
fn has_own_halide(step: &Step<'_>, nucleophile: u32, leaving: u32) -> bool {
    let it = &step.before;
    let least = it.element(leaving);
    step.atoms().any(|atom| {
        matches!(it.element(atom), BR | I)
            && it.element(atom) >= least
            && step.is_untouched(atom)
            && step.are_in_same_molecule(atom, nucleophile)
            && it.next_to(atom).any(|ipso| it.is_aromatic_carbon(ipso))
    })
}

/// Returns true for a carbon ortho or para to a free hydroxyl group.
pub fn is_beside_phenol(before: &Facts, carbon: u32) -> bool {
    let is_free = |next: u32| before.group(next) == Group::Phenol && before.hydrogens(next) > 0;
    aromatic_positions(&before.structure, carbon)
        .iter()
        .any(|&(atom, distance)| distance != 2 && before.next_to(atom).any(is_free))
}

/// Returns true for a nitrogen that attacks as it is.
fn nucleophile_needs_no_base(before: &Facts, nitrogen: u32) -> bool {
    matches!(
        before.group(nitrogen),
        Group::Ammonia | Group::PrimaryAmine | Group::SecondaryAmine | Group::Hydrazine | Group::Aniline
    )
}

/// Checks the heteroatoms that replace boron with copper (Chan and Lam).
pub fn chan_lam(step: &Step<'_>, events: &[Event]) -> Verdict {
    let before = &step.before;
    let loses_boron = |carbon: u32| step.lost(carbon).any(|(gone, _)| before.element(gone) == B);
    for (nucleophile, carbon) in step.joined() {
        if matches!(before.element(nucleophile), N | O | S) && loses_boron(carbon) {
            if keeps_arylboron(step) {
                return Err(Refusal::CompetingGroup);
            }
            if is_flanked_lactam(before, nucleophile)
                || is_peri_to_group(before, nucleophile)
                || is_flanked_nitropyrazole(before, nucleophile)
            {
                return Err(Refusal::Hindered);
            }
            nucleophiles(step, events, nucleophile, carbon, Reagent::Copper)?;
        }
    }
    Ok(())
}

/// Returns true for the nitrogen of an aromatic lactam between its carbonyl group and a ring carbon with a branched chain.
fn is_flanked_lactam(before: &Facts, nitrogen: u32) -> bool {
    let is_branched = |chain: u32| before.is_sp3(chain) && before.hydrogens(chain) < 2;
    before.group(nitrogen) == Group::AmideNitrogen
        && before.is_aromatic(nitrogen)
        && before.next_to(nitrogen).any(|next| before.next_to(next).any(is_branched))
}

/// Returns true for a nitrogen of a pyrazole with a nitro group and a group beside either nitrogen: the weak base finds no room for copper (Joule and Mills 2010, chapter 25).
fn is_flanked_nitropyrazole(before: &Facts, nitrogen: u32) -> bool {
    let is_ring_nitrogen = |next: u32| before.element(next) == N && before.is_aromatic(next);
    let is_flank = |&(atom, _): &(u32, u32)| {
        before.is_aromatic_carbon(atom)
            && before.degree(atom) > 2
            && before.next_to(atom).any(is_ring_nitrogen)
    };
    let positions = aromatic_positions(&before.structure, nitrogen);
    before.ring(nitrogen) == 5
        && before.count(nitrogen, N) == 1
        && positions.iter().filter(|position| is_flank(position)).count() == 2
        && electrophile::is_nitroazole(before, nitrogen)
}

/// Returns true for the nitrogen of a quinolone beside a fusion whose next carbon has a substituent, which leaves copper no room.
fn is_peri_to_group(before: &Facts, nitrogen: u32) -> bool {
    let is_substituted = |peri: u32| {
        before.is_aromatic_carbon(peri)
            && before.hydrogens(peri) == 0
            && !before.is_shared_by_aromatic_rings(peri)
            && before.ring(peri) == 6
    };
    before.is_aromatic(nitrogen)
        && before.ring(nitrogen) == 6
        && before.hydrogens(nitrogen) == 1
        && before.next_to(nitrogen).filter(|&next| before.is_shared_by_aromatic_rings(next)).any(|fusion| {
            before
                .next_to(fusion)
                .any(|peri| peri != nitrogen && before.bond(peri, nitrogen).is_none() && is_substituted(peri))
        })
}

/// Returns true if palladium or copper couples this nucleophile with an unactivated aryl halide.
fn by_metal(before: &Facts, nucleophile: u32, leaving: u32) -> bool {
    let heavy = matches!(before.element(leaving), BR | I | O);
    match before.group(nucleophile) {
        Group::PrimaryAlcohol | Group::SecondaryAlcohol => heavy,
        Group::TertiaryAlcohol | Group::AcidOxygen => false,
        _ if before.is_cyano(nucleophile) => true,
        _ => matches!(before.element(nucleophile), N | O | S | P | SE | B | SI | SN),
    }
}

pub fn vinylation(step: &Step<'_>, nucleophile: u32, carbon: u32, leaving: u32) -> Verdict {
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
    let metal = before.element(leaving) == B || matches!(before.element(nucleophile), B | SN);
    // A dipole that adds to an enamine or enol ether loses the amine or alcohol again, as the ring becomes aromatic
    // (Huisgen, 1,3-Dipolar Cycloaddition Chemistry, chapter 1).
    let eliminated = matches!(before.element(leaving), N | O)
        && step.image(carbon).is_some_and(|image| step.after.is_aromatic(image));
    if activated || copper || metal || eliminated { Ok(()) } else { Err(Refusal::NotActivated) }
}

/// Checks the halide of a coupling.
pub fn halide(step: &Step<'_>, carbon: u32, leaving: u32) -> Verdict {
    let before = &step.before;
    if is_on_free_triazole(before, carbon) {
        return Err(Refusal::Unreactive);
    }
    // The cyanide of a Sandmeyer reaction comes with copper.
    let cyanide = step.gained(carbon).any(|(other, _)| before.is_cyano(other));
    if cyanide && before.element(leaving) == N && before.hydrogens(leaving) == 2 {
        return Ok(());
    }
    if !halide_order::leaves_in_couplings(before, leaving) {
        let thioether = before.element(leaving) == S;
        let metal = matches!(before.element(leaving), B | SN | SI);
        return if thioether || metal { Ok(()) } else { Err(Refusal::NoLeavingGroup) };
    }
    if before.element(leaving) == CL && before.is_isoxazole_c3(carbon) {
        return Err(Refusal::NotActivated);
    }
    let own = halide_order::coupling(before, carbon);
    let is_better =
        || electrophile::clearly_more_reactive(step, carbon, own, halide_order::coupling).is_some();
    if own > 0 && (is_better() || leaves_activated_halide(step) || leaves_like_halide(step, carbon, leaving))
    {
        return Err(Refusal::CompetingGroup);
    }
    Ok(())
}

/// Returns true if the step leaves the same halogen, bromine or iodine, on another carbon of its arene, where a metal takes it as soon. Those of
/// azines differ by more than the ranks know.
fn leaves_like_halide(step: &Step<'_>, own: u32, leaving: u32) -> bool {
    let before = &step.before;
    let halogen = before.element(leaving);
    let rank = halide_order::coupling(before, own);
    let is_plain = |atom: u32| electrophile::activation(before, atom) < electrophile::ACTIVATED;
    let is_alike = |atom: u32| {
        before.is_aromatic_carbon(atom)
            && before.count(atom, halogen) > 0
            && is_plain(atom)
            && halide_order::coupling(before, atom) > rank - LIKE_HALIDES
            && before.shares_arene(own, atom)
    };
    // Chlorides of one benzene ring are alike too.
    let is_benzene_chloride = || {
        halogen == CL
            && before.ring(own) == 6
            && aromatic_positions(&before.structure, own).iter().any(|&(atom, distance)| {
                distance == 1 && before.count(atom, CL) > 0 && step.is_untouched(atom)
            })
            && !aromatic_positions(&before.structure, own)
                .iter()
                .any(|&(atom, _)| before.element(atom) != C || before.bears_acceptor(atom))
    };
    (matches!(halogen, BR | I) || is_benzene_chloride())
        && is_plain(own)
        && step.atoms().any(|atom| {
            atom != own && step.is_untouched(atom) && !step.are_equivalent(atom, own) && is_alike(atom)
        })
}

/// Checks the C–H of a direct arylation. Palladium takes that of azoles, of N-oxides and between fluorines, and none of a plain azine
/// (Alberico, Scott and Lautens, Chem. Rev. 2007, 107, 174), unless the ring closes.
pub fn direct_arylation(step: &Step<'_>, arene: u32, carbon: u32, leaving: u32) -> Verdict {
    let before = &step.before;
    let positions = aromatic_positions(&before.structure, arene);
    let is_azine =
        positions.iter().any(|&(atom, _)| before.group(atom) == Group::Azine && before.ring(atom) == 6);
    let is_oxide = positions.iter().any(|&(atom, _)| before.at(atom).charge > 0);
    let fluorines = before.next_to(arene).map(|next| before.count(next, F)).sum::<usize>();
    let is_directed = before.next_to(arene).any(|ortho| {
        before.next_to(ortho).any(|next| {
            let is_heteroarene = || {
                before.bond(ortho, next).is_some_and(|bond| bond.ring == 0)
                    && is_beside_nitrogen(before, next)
            };
            before.group(next) == Group::AmideNitrogen || before.is_aromatic(next) && is_heteroarene()
        })
    });
    let is_inert = before.ring(arene) == 6 && (is_azine || !is_directed) && !is_oxide && fluorines < 2;
    if is_inert && !step.are_in_same_molecule(arene, carbon) {
        return Err(Refusal::Unreactive);
    }
    // The nitrogen of a free pyrazole takes a chloropyrimidine (Joule and Mills 2010, chapter 25).
    if before.is_on_free_azole(arene)
        && before.element(leaving) == CL
        && electrophile::activation(before, carbon) >= electrophile::ACTIVATED
    {
        return Err(Refusal::CompetingGroup);
    }
    halide(step, carbon, leaving)
}

/// Returns true for an aromatic atom beside a nitrogen of its ring, which brings palladium to the C–H beside the ring that it is on.
fn is_beside_nitrogen(before: &Facts, atom: u32) -> bool {
    before.next_to(atom).any(|next| before.element(next) == N && before.is_aromatic(next))
}

/// Returns true if the step leaves a bromide or iodide that is benzylic, allylic or beside a carbonyl group: palladium
/// and the base take it as well.
fn leaves_activated_halide(step: &Step<'_>) -> bool {
    let before = &step.before;
    let has_halide = |carbon: u32| before.count(carbon, BR) + before.count(carbon, I) == 1;
    step.atoms().any(|atom| {
        before.is_sp3(atom)
            && has_halide(atom)
            && step.is_untouched(atom)
            && (before.is_benzylic_or_allylic(atom) || before.is_alpha(atom))
    })
}

/// Returns true for the carbon of a boronic acid or ester. Trifluoroborates and boron with nitrogen on it are protected.
pub fn has_open_boron(before: &Facts, carbon: u32) -> bool {
    before.next_to(carbon).any(|boron| before.element(boron) == B && before.count(boron, O) == 2)
}

/// Returns true if the step leaves the boronic acid or ester of an arene.
pub fn keeps_arylboron(step: &Step<'_>) -> bool {
    let before = &step.before;
    step.atoms()
        .any(|atom| before.is_aromatic(atom) && has_open_boron(before, atom) && step.is_untouched(atom))
}

/// Returns true if the step leaves a halide in the molecule of its boronic acid, boronic ester or stannane that couples as soon as the
/// wanted one, or a second boronic acid: such molecules make oligomers.
fn couples_with_its_own_kind(step: &Step<'_>, metal: u32, carbon: u32) -> bool {
    let before = &step.before;
    let own = halide_order::coupling(before, carbon);
    let competes = |atom: u32| {
        let is_rival_halide = step.are_in_same_molecule(atom, metal)
            && halide_order::coupling(before, atom) > own - TIE_MARGIN
            && !step.are_equivalent(atom, carbon);
        let is_rival_boron = before.group(atom) == Group::Organoboron
            && has_open_boron(before, atom)
            && !step.are_equivalent(atom, metal)
            && step.are_in_same_molecule(atom, carbon);
        step.is_untouched(atom) && (is_rival_halide || is_rival_boron)
    };
    (before.group(metal) == Group::Organoboron && has_open_boron(before, metal)
        || before.group(metal) == Group::Organotin)
        && own > 0
        && step.atoms().any(competes)
}

pub fn coupling(step: &Step<'_>, metal: u32, carbon: u32, leaving: u32) -> Verdict {
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
    if couples_with_its_own_kind(step, metal, carbon) {
        return Err(Refusal::CompetingGroup);
    }
    halide(step, carbon, leaving)
}
