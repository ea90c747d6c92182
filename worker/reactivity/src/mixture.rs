//! Reaction mixtures with incompatible components.

use chem::Order;

use crate::change::{Facts, Step};
use crate::electrophile;
use crate::event::Event;
use crate::group::{Group, aromatic_positions};
use crate::labile_acid;
use crate::queries::*;
use crate::refusal::Refusal;
use crate::ring_closure;
use crate::small_ring::is_fused_across;
use crate::stability::{self, is_bridgehead};

type Verdict = Result<(), Refusal>;

/// Most bonds between an amine and an aldehyde of its molecule that find each other.
const LONGEST_REACH: u32 = 12;

/// Checks the molecules of the reaction mixture, individually and together.
pub fn check(step: &Step<'_>, events: &[Event]) -> Verdict {
    let it = &step.before;
    // A β-keto acid is there only to lose carbon dioxide.
    let is_kept_keto_acid = |atom: u32| labile_acid::is_keto_acid(it, atom) && step.image(atom).is_some();
    let kept =
        |atom: u32| stability::is_stable(it, atom) && !is_lone_ion(step, atom) && !is_kept_keto_acid(atom);
    if !step.atoms().all(kept) {
        return Err(Refusal::Unstable);
    }
    let is_never_made =
        |atom: u32| stability::is_never_made(step.after, atom) || is_fused_across(step.after, atom);
    if events.iter().any(|event| frees_unstable(step, event))
        || (0..step.after.atoms() as u32).any(is_never_made)
    {
        return Err(Refusal::Unstable);
    }
    ring_closure::check(step, events)?;
    water(step)?;
    fluoride(step)?;
    cyanohydrins(step)?;
    self_reacting(step)?;
    thiols(step)?;
    organometals(step, events)?;
    small_rings(step)
}

/// Returns true if an atom that the step frees, or a halide or sulfonate that it makes, makes the product too unstable to keep, there or beside it.
fn frees_unstable(step: &Step<'_>, event: &Event) -> bool {
    if frees_amine_of_aldehyde(step, event) || makes_amine_of_halide(step, event) {
        return true;
    }
    let freed = match *event {
        Event::Cleavage { atom, .. } => atom,
        Event::NitroReduction { nitrogen } => nitrogen,
        Event::Deoxyhalogenation { carbon, .. } => carbon,
        Event::Sulfonylation { nucleophile, .. } => nucleophile,
        _ => return false,
    };
    let is_unstable = |atom: u32| !stability::is_stable(step.after, atom);
    // The amine that a nitro group becomes takes the halide of the next molecule.
    let is_reactive_halide = |atom: u32| {
        step.after.group(atom) == Group::SulfonylHalide
            || step.after.is_alkyl_halide(atom) && is_unstable(atom)
    };
    let frees_amine = matches!(event, Event::NitroReduction { .. });
    step.image(freed).is_some_and(|image| is_unstable(image) || step.after.next_to(image).any(is_unstable))
        || frees_amine && (0..step.after.atoms() as u32).any(is_reactive_halide)
}

/// Returns true if a nitrile or azide becomes an amine that takes the halide of its own molecule (Mandolini, Adv. Phys. Org. Chem. 1986).
fn makes_amine_of_halide(step: &Step<'_>, event: &Event) -> bool {
    let it = step.after;
    let nitrogen = match *event {
        Event::AzideReduction { nitrogen } => Some(nitrogen),
        Event::NitrileReduction { carbon } => step.before.triply(carbon),
        _ => None,
    };
    nitrogen.and_then(|nitrogen| step.image(nitrogen)).is_some_and(|amine| {
        (0..it.atoms() as u32).any(|atom| it.is_alkyl_halide(atom) && takes_halide(it, amine, atom))
    })
}

/// Returns true if acid frees the amine of an amino aldehyde: a primary or open secondary alkylamine, which makes imines and aminals, or that of 2- or 4-aminobenzaldehyde, which condenses with itself
/// in acid (Smith and Opie, Org. Synth. 1948, 28, 11).
fn frees_amine_of_aldehyde(step: &Step<'_>, event: &Event) -> bool {
    let it = step.after;
    let Event::Cleavage { atom, .. } = *event else { return false };
    let Some(amine) = step.image(atom) else { return false };
    let is_near_aldehyde = || {
        it.distances(amine, LONGEST_REACH).into_iter().any(|(other, _)| it.group(other) == Group::Aldehyde)
    };
    let is_ortho_or_para = |ipso: u32| {
        aromatic_positions(&it.structure, ipso).into_iter().any(|(ring, distance)| {
            distance != 2 && it.next_to(ring).any(|next| it.group(next) == Group::Aldehyde)
        }) && aromatic_positions(&it.structure, ipso).iter().all(|&(ring, _)| it.element(ring) == C)
    };
    match it.group(amine) {
        Group::PrimaryAmine => is_near_aldehyde(),
        Group::Aniline | Group::PoorAniline if it.hydrogens(amine) == 2 => {
            it.next_to(amine).any(|ipso| it.is_aromatic_carbon(ipso) && is_ortho_or_para(ipso))
        }
        _ => false,
    }
}

/// Returns true for an atom whose charge a proton would remove, in a molecule of more than three atoms (for an
/// ammonium ion, more than one). Otherwise templates that write acids and amines as ions could evade the checks for
/// acids and amines. Cyanide, nitrite and the like are small.
fn is_lone_ion(step: &Step<'_>, atom: u32) -> bool {
    let it = &step.before;
    let charge = it.at(atom).charge;
    let size = || step.atoms().filter(|&other| step.are_in_same_molecule(atom, other)).take(4).count();
    match it.element(atom) {
        N if charge == 1 => it.hydrogens(atom) > 0 && size() > 1,
        // Hydroxide is water that a base has deprotonated.
        O if charge == -1 && it.degree(atom) == 0 => true,
        O if is_sulfinate(it, atom) => false,
        C | N | O | S => charge == -1 && it.next_to(atom).all(|next| it.at(next).charge <= 0) && size() > 3,
        _ => false,
    }
}

/// Returns true for the anion of a sulfinic acid, which is sold and used as its sodium salt.
fn is_sulfinate(it: &Facts, oxygen: u32) -> bool {
    it.next_to(oxygen)
        .any(|sulfur| it.element(sulfur) == S && it.degree(sulfur) == 3 && it.carbons(sulfur) == 1)
}

/// Refuses a cyanohydrin that is kept beside an amine or ammonia, which takes the place of its hydroxyl group (Strecker).
fn cyanohydrins(step: &Step<'_>) -> Verdict {
    let it = &step.before;
    let is_amine = |atom: u32| {
        it.hydrogens(atom) > 0
            && matches!(
                it.group(atom),
                Group::Ammonia | Group::Ammonium | Group::PrimaryAmine | Group::SecondaryAmine
            )
    };
    let is_cyanohydrin = |carbon: u32| {
        let is_hydroxyl =
            |next: u32| it.element(next) == O && it.hydrogens(next) > 0 && step.is_untouched(next);
        it.is_sp3(carbon)
            && it.next_to(carbon).any(is_hydroxyl)
            && it.next_to(carbon).any(|next| it.group(next) == Group::Nitrile)
    };
    if step.atoms().any(is_cyanohydrin) && step.atoms().any(is_amine) {
        return Err(Refusal::Incompatible);
    }
    Ok(())
}

/// Refuses steps that bring oxygen from water or an oxidant beside a group that water takes at once.
fn water(step: &Step<'_>) -> Verdict {
    let it = &step.before;
    let is_inorganic = |atom: u32| it.element(atom) == O && it.carbons(atom) == 0;
    let brings_oxygen = step.change.added.iter().any(|&(_, new, _)| step.after.element(new) == O)
        || step.change.made.iter().any(|&(a, b, _)| is_inorganic(a) != is_inorganic(b));
    let is_sensitive =
        |atom: u32| matches!(it.group(atom), Group::AcylHalide | Group::Isocyanate | Group::Chloroformate);
    let is_kept = |atom: u32| is_sensitive(atom) && step.is_untouched(atom);
    if brings_oxygen && step.atoms().any(is_kept) { Err(Refusal::Incompatible) } else { Ok(()) }
}

/// Refuses fluoride as a nucleophile on an arene unless the ring is activated.
fn fluoride(step: &Step<'_>) -> Verdict {
    let it = &step.before;
    let unactivated = step.joined().any(|(carbon, halide)| {
        it.element(halide) == F
            && it.at(halide).charge == -1
            && it.is_aromatic_carbon(carbon)
            && electrophile::activation(it, carbon) < electrophile::ACTIVATED
    });
    if unactivated { Err(Refusal::NotActivated) } else { Ok(()) }
}

/// Refuses pairs of groups within one molecule that react before the molecule can be used.
fn self_reacting(step: &Step<'_>) -> Verdict {
    let it = &step.before;
    let strong_amine = |group| {
        matches!(group, Group::PrimaryAmine | Group::SecondaryAmine | Group::Hydrazine | Group::Hydroxylamine)
    };
    let aniline = |group| matches!(group, Group::Aniline | Group::SecondaryAniline);
    let alcohol = |group| matches!(group, Group::PrimaryAlcohol | Group::SecondaryAlcohol);
    let is_oxygen_acid = |group| matches!(group, Group::Phenol | Group::AcidOxygen | Group::Thiophenol);
    if step.atoms().any(|atom| has_epoxide(step, atom) || methylates_its_amine(step, atom)) {
        return Err(Refusal::SelfReacting);
    }
    for nucleophile in step.atoms().filter(|&atom| it.hydrogens(atom) > 0 && it.element(atom) != C) {
        let own = it.group(nucleophile);
        for other in step.atoms().filter(|&other| step.are_in_same_molecule(nucleophile, other)) {
            let clash = match it.group(other) {
                Group::AcylHalide if closes_as_acyl(it, nucleophile, other) || own == Group::AcidOxygen => {
                    true
                }
                Group::Isocyanate if own == Group::Azole => true,
                Group::SulfonylHalide if own == Group::Phenol && it.count(other, CL) > 0 => true,
                Group::AcylHalide if own == Group::Azole && it.next_to(other).any(|next| it.is_sp3(next)) => {
                    true
                }
                Group::Isocyanate if is_oxygen_acid(own) && it.count(other, O) > 0 => true,
                Group::AcylHalide | Group::Isocyanate | Group::Chloroformate | Group::SulfonylHalide => {
                    strong_amine(own)
                        || aniline(own)
                        || own == Group::Thiol
                        || alcohol(own) && it.group(other) != Group::SulfonylHalide
                }
                Group::Anhydride | Group::ActiveEster => strong_amine(own),
                Group::Aldehyde => {
                    matches!(own, Group::PrimaryAmine | Group::Hydrazine)
                        || own == Group::SecondaryAmine && {
                            let next = carbon_of(it, other);
                            it.is_sp3(next) || it.is_carbonyl(next)
                        }
                }
                Group::Ketone => matches!(own, Group::Hydrazine) && it.hydrogens(nucleophile) == 2,
                // Only amines and thiols react fast enough.
                Group::Alkyl if !strong_amine(own) && own != Group::Thiol => false,
                Group::Alkyl => {
                    let epoxide = it.is_beside_epoxide_oxygen(other);
                    if epoxide && matches!(own, Group::PrimaryAmine | Group::SecondaryAmine | Group::Thiol) {
                        return Err(Refusal::SelfReacting);
                    }
                    takes_halide(it, nucleophile, other)
                }
                Group::Organometal => true,
                _ => false,
            };
            if clash {
                return Err(Refusal::SelfReacting);
            }
        }
    }
    Ok(())
}

/// Returns true if the N–H of an amide, carbamate or guanidine closes on an acyl halide of its own chain, in a ring of five, for a guanidine
/// also of six (Mandolini, Adv. Phys. Org. Chem. 1986).
fn closes_as_acyl(it: &Facts, nitrogen: u32, acyl: u32) -> bool {
    let reach = match it.group(nitrogen) {
        Group::AmideNitrogen | Group::CarbamateNitrogen => 4..=4,
        Group::Amidine => 4..=5,
        _ => return false,
    };
    let is_on_arene = || it.next_to(nitrogen).any(|next| it.is_aromatic(next));
    !it.is_in_ring(nitrogen) && !is_on_arene() && reach.contains(&path(it, nitrogen, acyl))
}

/// Returns true for a tertiary amine in the molecule of a methyl phosphate, which methylates it (Corbridge 2013, chapter 5).
fn methylates_its_amine(step: &Step<'_>, amine: u32) -> bool {
    let it = &step.before;
    let is_phosphate_oxygen =
        |oxygen: u32| it.element(oxygen) == O && it.next_to(oxygen).any(|next| it.element(next) == P);
    let is_methyl = |atom: u32| it.hydrogens(atom) == 3 && it.next_to(atom).any(is_phosphate_oxygen);
    it.group(amine) == Group::TertiaryAmine
        && it.next_to(amine).any(|next| it.hydrogens(next) == 3)
        && step.atoms().any(|atom| is_methyl(atom) && step.are_in_same_molecule(atom, amine))
}

/// Returns true for an isocyanate in the molecule of an epoxide: they close to oxazolidinones (Herweh and Kauffman, Tetrahedron Lett. 1971, 12, 809).
fn has_epoxide(step: &Step<'_>, isocyanate: u32) -> bool {
    let it = &step.before;
    it.group(isocyanate) == Group::Isocyanate
        && it.count(isocyanate, O) > 0
        && step
            .atoms()
            .any(|atom| it.is_beside_epoxide_oxygen(atom) && step.are_in_same_molecule(atom, isocyanate))
}

/// Returns true if an amine or thiol takes a leaving group of its own molecule, which closes a ring or makes a polymer.
pub fn takes_halide(it: &Facts, nucleophile: u32, carbon: u32) -> bool {
    let rank = electrophile::alkyl(it, carbon);
    let chloride = it.next_to(carbon).any(|next| it.element(next) == CL);
    let own = it.group(nucleophile);
    // Computing a path costs more than everything else here.
    rank >= 45 && {
        let reach = path(it, nucleophile, carbon);
        let hot = rank >= 70 && !chloride || matches!(reach, 4 | 5);
        hot && reach < 12 && (matches!(own, Group::SecondaryAmine | Group::Thiol) || reach != 2)
    }
}

/// Refuses thiols beside unhindered Michael acceptors. They add to each other with a trace of base, and amines are
/// bases.
fn thiols(step: &Step<'_>) -> Verdict {
    let it = &step.before;
    let is_thiol =
        |&atom: &u32| matches!(it.group(atom), Group::Thiol | Group::Thiophenol) && it.hydrogens(atom) > 0;
    for thiol in step.atoms().filter(is_thiol) {
        for acceptor in step.atoms().filter(|&atom| is_open_acceptor(it, atom)) {
            if step.are_in_same_molecule(thiol, acceptor) {
                return Err(Refusal::SelfReacting);
            }
            if step.is_untouched(thiol) && step.is_untouched(acceptor) {
                return Err(Refusal::CompetingGroup);
            }
        }
    }
    Ok(())
}

/// Returns true if a carbon is the unshielded far end of a double bond that is conjugated with an acceptor.
fn is_open_acceptor(it: &Facts, atom: u32) -> bool {
    it.group(atom) == Group::Alkene
        && it.hydrogens(atom) > 0
        && !it.next_to(atom).any(|next| it.is_aromatic(next) || matches!(it.element(next), N | O | S))
        && it.doubly(atom, |next| it.element(next) == C && it.is_alpha(next)).is_some()
}

/// Carbon next to a carbonyl carbon, or the carbonyl carbon itself.
fn carbon_of(it: &Facts, carbonyl: u32) -> u32 {
    it.next_to(carbonyl).find(|&next| it.element(next) == C).unwrap_or(carbonyl)
}

/// Number of bonds between two atoms, at most 12.
fn path(it: &Facts, a: u32, b: u32) -> u32 {
    it.distances(a, 12).into_iter().find(|&(atom, _)| atom == b).map_or(u32::MAX, |(_, distance)| distance)
}

/// Refuses a hydrogen halide beside a metal that stays on its carbon, which takes the proton (March, chapter 12).
fn refuse_hydrogen_halide(step: &Step<'_>, metals: &[u32]) -> Verdict {
    let it = &step.before;
    let is_hydrogen_halide =
        |atom: u32| is_heavy_halogen(it.element(atom)) && it.degree(atom) == 0 && it.at(atom).charge == 0;
    let is_kept = metals.iter().any(|&metal| step.is_untouched(metal));
    if is_kept && step.atoms().any(is_hydrogen_halide) { Err(Refusal::Incompatible) } else { Ok(()) }
}

/// Checks Grignard and lithium reagents: their own stability, and the groups beside them.
fn organometals(step: &Step<'_>, events: &[Event]) -> Verdict {
    let it = &step.before;
    let metals: Vec<u32> = step.atoms().filter(|&atom| it.group(atom) == Group::Organometal).collect();
    let zincs: Vec<u32> = step.atoms().filter(|&atom| it.group(atom) == Group::Organozinc).collect();
    for &carbon in metals.iter().chain(&zincs) {
        let magnesium = metals.contains(&carbon);
        let acyl = it.is_carbonyl(carbon);
        let alpha_halogen = it.next_to(carbon).any(|next| is_halogen(it.element(next))) && it.is_sp3(carbon);
        let beta_leaving = it.is_sp3(carbon)
            && it.next_to(carbon).any(|next| {
                it.is_sp3(next)
                    && it.next_to(next).any(|far| {
                        is_halogen(it.element(far))
                            || (it.element(far) == O && it.ring(far) != 5 && magnesium)
                    })
            });
        let enolate = magnesium && it.is_sp3(carbon) && it.is_alpha(carbon);
        if acyl || alpha_halogen || beta_leaving || enolate {
            return Err(Refusal::Unstable);
        }
        if keeps_metal(step, carbon) || is_beside_own_amide(step, carbon) {
            return Err(Refusal::Incompatible);
        }
    }
    if !zincs.is_empty() && step.atoms().any(|atom| is_quenched_by(step, atom)) {
        return Err(Refusal::Incompatible);
    }
    if metals.is_empty() {
        return Ok(());
    }
    refuse_hydrogen_halide(step, &metals)?;
    let coupling = events.iter().any(|event| matches!(event, Event::Coupling { .. }));
    for atom in step.atoms() {
        let involved = !step.is_untouched(atom) && !step.are_in_same_molecule(atom, metals[0]);
        let own = step.are_in_same_molecule(atom, metals[0]);
        let ethynyl = it.triply(atom).is_some_and(|next| it.group(next) == Group::Organometal);
        let proton = it.hydrogens(atom) > 0
            && (matches!(it.element(atom), N | O | S) || it.group(atom) == Group::TerminalAlkyne && !ethynyl);
        let acid_as_electrophile = it.group(atom) == Group::AcidOxygen
            && events.iter().any(|event| matches!(*event, Event::MetalAddition { carbon, .. } if it.bond(carbon, atom).is_some()),
            );
        // One portion of a methyl or ethyl reagent takes the proton of an amide or similar group first.
        let second_portion = !own
            && metals
                .iter()
                .all(|&metal| it.carbons(metal) < 2 && it.is_sp3(metal) && it.hydrogens(metal) > 1)
            && matches!(it.group(atom), Group::AmideNitrogen | Group::SulfonamideNitrogen | Group::Indole);
        let proton = proton && !second_portion;
        let oxidant = matches!(it.group(atom), Group::Nitro | Group::Azide) && !step.is_bartoli_indole(atom);
        if (proton && !acid_as_electrophile && (own || !involved)) || oxidant {
            return Err(Refusal::Incompatible);
        }
        let electrophile = electrophile::organometal(it, atom);
        if own && it.group(atom) == Group::Carbamate && metals.iter().any(|&metal| it.is_sp3(metal)) {
            return Err(Refusal::SelfReacting);
        }
        let epoxide = it.is_beside_epoxide_oxygen(atom);
        let mild = matches!(it.group(atom), Group::Alkyl) && !epoxide;
        if own && electrophile > 45 && !mild {
            return Err(Refusal::SelfReacting);
        }
        if coupling
            && step.is_untouched(atom)
            && matches!(it.group(atom), Group::Aldehyde | Group::Ketone | Group::AcylHalide)
        {
            return Err(Refusal::Incompatible);
        }
    }
    Ok(())
}

/// Returns true for the carbon of an organometal that comes through the step with its metal: water, acids and amines protonate it (Clayden, Greeves and Warren, chapter 9).
fn keeps_metal(step: &Step<'_>, carbon: u32) -> bool {
    step.image(carbon)
        .is_some_and(|image| matches!(step.after.group(image), Group::Organometal | Group::Organozinc))
}

/// Returns true for the carbon of a Reformatsky reagent beside the N–H of its own amide, which protonates it.
fn is_beside_own_amide(step: &Step<'_>, carbon: u32) -> bool {
    let it = &step.before;
    let is_free = |nitrogen: u32| it.element(nitrogen) == N && it.hydrogens(nitrogen) > 0;
    it.group(carbon) == Group::Organozinc
        && it.next_to(carbon).any(|acyl| it.group(acyl) == Group::Amide && it.next_to(acyl).any(is_free))
}

/// Returns true for the free O–H of an acid or the S–H of a thiol, which protonate zinc reagents too; alcohols and N–H do so
/// slowly (Manolikakes and others, J. Org. Chem. 2008, 73, 8422).
fn is_quenched_by(step: &Step<'_>, atom: u32) -> bool {
    let it = &step.before;
    it.hydrogens(atom) > 0
        && step.is_untouched(atom)
        && matches!(
            it.group(atom),
            Group::AcidOxygen | Group::SulfonicOxygen | Group::Thiol | Group::Thiophenol
        )
}

/// Refuses rings that no ring closure gives: small cyclophanes, and amides at a bridgehead.
fn small_rings(step: &Step<'_>) -> Verdict {
    let after = step.after;
    for &(a, b, order) in &step.change.made {
        let (Some(from), Some(to)) = (step.image(a), step.image(b)) else { continue };
        if !step.are_in_same_molecule(a, b)
            || order != Order::Single
            || after.bond(from, to).is_none_or(|bond| bond.ring == 0)
        {
            continue;
        }
        let twisted = [(from, to), (to, from)].into_iter().any(|(nitrogen, acyl)| {
            after.element(nitrogen) == N && after.is_carbonyl(acyl) && is_bridgehead(after, nitrogen)
        });
        if twisted || is_cyclophane(after, from, to) || is_trans_fused(after, from, to) {
            return Err(Refusal::Strained);
        }
    }
    Ok(())
}

/// Returns true if the smallest ring through a bond spans the meta or para positions of a benzene ring and is too
/// small for that.
fn is_cyclophane(it: &Facts, from: u32, to: u32) -> bool {
    let Some(ring) = it.smallest_cycle(from, to) else { return false };
    let size = ring.len();
    let held = |span: usize| {
        (0..size).any(|start| {
            let part: Vec<u32> = (0..=span).map(|step| ring[(start + step) % size]).collect();
            let aromatic = part
                .windows(2)
                .all(|pair| it.bond(pair[0], pair[1]).is_some_and(|bond| bond.order == Order::Aromatic));
            // The ring leaves the benzene ring here, and the return path inside it is the other part of its six
            // atoms.
            let before = ring[(start + size - 1) % size];
            let after = ring[(start + span + 1) % size];
            let leaves = !it.is_aromatic(before) && !it.is_aromatic(after);
            aromatic
                && leaves
                && aromatic_positions(&it.structure, part[0])
                    .iter()
                    .any(|&(atom, distance)| atom == part[span] && distance as usize == span)
                && same_ring(it, part[0], part[span], span)
        })
    };
    (size <= 9 && held(2)) || (size <= 11 && held(3))
}

/// Returns true if the ring of up to six atoms through a bond is trans-fused to one of three or four.
fn is_trans_fused(it: &Facts, from: u32, to: u32) -> bool {
    let Some(ring) = it.smallest_cycle(from, to).filter(|ring| ring.len() <= 6) else { return false };
    (0..ring.len()).any(|place| {
        let at = |step: usize| ring[(place + step) % ring.len()];
        let (outer_a, a, b, outer_b) = (at(0), at(1), at(2), at(3));
        let small = it.bond(a, b).is_some_and(|bond| (3..=4).contains(&bond.ring));
        let inner = |atom: u32, other: u32| {
            it.around(atom)
                .iter()
                .find(|bond| (3..=4).contains(&bond.ring) && bond.to != other && !ring.contains(&bond.to))
                .map(|bond| bond.to)
        };
        let (Some(inner_a), Some(inner_b)) = (inner(a, b), inner(b, a)) else { return false };
        let hands = (it.handedness(a, [b, inner_a, outer_a]), it.handedness(b, [a, inner_b, outer_b]));
        small && matches!(hands, (Some(one), Some(other)) if one == other)
    })
}

/// Returns true if two aromatic atoms `span` bonds apart belong to one six-membered ring.
fn same_ring(it: &Facts, a: u32, b: u32, span: usize) -> bool {
    // The path the other way round the ring has six less `span` bonds.
    let mut ways = vec![vec![a]];
    for _ in 0..6 - span {
        ways = ways
            .into_iter()
            .flat_map(|way| {
                let last = way[way.len() - 1];
                it.around(last)
                    .iter()
                    .filter(|bond| bond.order == Order::Aromatic && !way.contains(&bond.to))
                    .map(|bond| [way.clone(), vec![bond.to]].concat())
                    .collect::<Vec<_>>()
            })
            .collect();
    }
    ways.iter().any(|way| way[way.len() - 1] == b)
}
