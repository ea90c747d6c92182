//! Reaction mixtures with incompatible components, and molecules that cannot be kept.

use chem::{Order, is_odd};

use crate::change::{Facts, Step};
use crate::electrophile;
use crate::event::Event;
use crate::group::Group;
use crate::queries::*;
use crate::refusal::Refusal;

type Verdict = Result<(), Refusal>;

/// Checks the molecules of the reaction mixture, individually and together.
pub fn check(step: &Step<'_>, events: &[Event]) -> Verdict {
    for atom in step.atoms() {
        if is_unstable(&step.before, atom) || is_lone_ion(step, atom) {
            return Err(Refusal::Unstable);
        }
    }
    if is_anti_bredt(&step.before) {
        return Err(Refusal::Unstable);
    }
    fluoride(step)?;
    self_reacting(step)?;
    thiols(step)?;
    organometals(step, events)?;
    small_rings(step)
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
        C | N | O | S => charge == -1 && it.next_to(atom).all(|next| it.at(next).charge <= 0) && size() > 3,
        _ => false,
    }
}

/// Refuses fluoride as a nucleophile on an arene unless the ring is activated.
fn fluoride(step: &Step<'_>) -> Verdict {
    let it = &step.before;
    let unactivated = step.change.made.iter().any(|&(a, b, _)| {
        [(a, b), (b, a)].iter().any(|&(carbon, halide)| {
            it.element(halide) == F
                && it.at(halide).charge == -1
                && it.is_aromatic_carbon(carbon)
                && electrophile::activation(it, carbon) < electrophile::ACTIVATED
        })
    });
    if unactivated { Err(Refusal::NotActivated) } else { Ok(()) }
}

/// Returns true for an atom that makes its molecule too unstable to store.
fn is_unstable(it: &Facts, atom: u32) -> bool {
    let about = it.at(atom);
    match it.element(atom) {
        C => unstable_carbon(it, atom),
        N => {
            let diazonium = about.charge == 1 && it.triply(atom).is_some_and(|next| it.element(next) == N);
            let halogen = it.next_to(atom).any(|next| is_heavy_halogen(it.element(next)));
            diazonium || (halogen && about.hydrogens > 0)
        }
        O => it.count(atom, F) + it.count(atom, BR) + it.count(atom, I) > 0 && it.degree(atom) == 1,
        _ => false,
    }
}

fn unstable_carbon(it: &Facts, atom: u32) -> bool {
    let hydroxyls = it.next_to(atom).filter(|&next| it.element(next) == O && it.hydrogens(next) > 0).count();
    let on = |element: u8| it.count(atom, element);
    if it.is_sp3(atom) {
        let halogens = on(CL) + on(BR) + on(I);
        let drawn = it.next_to(atom).any(|next| {
            it.is_trifluoromethyl(next)
                || it.is_carbonyl(next)
                || it.count(next, CL) > 1
                || it.count(next, F) > 1
        });
        let amines = it
            .next_to(atom)
            .filter(|&next| matches!(it.group(next), Group::PrimaryAmine | Group::SecondaryAmine))
            .count();
        let free_amine = it.next_to(atom).any(|next| {
            matches!(it.group(next), Group::PrimaryAmine | Group::SecondaryAmine | Group::TertiaryAmine)
        });
        let in_ring = it.is_in_ring(atom);
        // Hydrates, hemiaminals, halohydrins of one carbon, α-halo amines, unprotected aminals.
        return (hydroxyls > 1 && !drawn && on(B) == 0)
            || (hydroxyls > 0 && free_amine && !drawn && !in_ring)
            || (hydroxyls > 0 && halogens > 0)
            || (free_amine && halogens + on(F) > 0 && on(F) < 2)
            || (amines > 1 && !in_ring);
    }
    match it.group(atom) {
        // Carbamic acids, half esters of carbonic acid, formyl halides.
        Group::Carbamate | Group::Carbonate => {
            it.next_to(atom).any(|next| it.element(next) == O && it.hydrogens(next) > 0)
        }
        Group::AcylHalide => it.hydrogens(atom) > 0 && on(F) == 0,
        // Tertiary chloroformates lose carbon dioxide and an alkene.
        Group::Chloroformate => {
            let is_tertiary =
                |oxygen| it.next_to(oxygen).any(|next| it.is_sp3(next) && it.carbons(next) == 3);
            it.next_to(atom).any(is_tertiary)
        }
        Group::Alkene => is_unstable_enol(it, atom) || is_small_ring_cumulene(it, atom),
        Group::Alkyne | Group::TerminalAlkyne => {
            it.around(atom).iter().any(|bond| bond.order == Order::Triple && (1..=7).contains(&bond.ring))
        }
        _ => false,
    }
}

/// Returns true for a free enol, or an enamine with two hydrogens, that nothing keeps from tautomerising.
fn is_unstable_enol(it: &Facts, atom: u32) -> bool {
    let free = it.next_to(atom).any(|next| {
        matches!(it.group(next), Group::Enol) || (it.group(next) == Group::Enamine && it.hydrogens(next) == 2)
    });
    if !free {
        return false;
    }
    // A carbonyl or cyano group across the double bond, or on the carbon itself, stabilises it.
    let partner = it.doubly(atom, |next| it.element(next) == C);
    let kept = partner.is_some_and(|partner| {
        it.is_alpha(partner)
            || it.is_alpha(atom)
            || it.count(partner, N) + it.count(partner, O) + it.count(atom, N) > 1
            || it.next_to(partner).any(|next| it.is_aromatic(next) && it.element(next) != C)
    });
    !kept
}

fn is_small_ring_cumulene(it: &Facts, atom: u32) -> bool {
    let doubles: Vec<_> = it.around(atom).iter().filter(|bond| bond.order == Order::Double).collect();
    doubles.len() == 2 && doubles.iter().all(|bond| (1..=8).contains(&bond.ring))
}

/// Returns true if a double bond begins at the bridgehead of a small bicycle (Bredt's rule).
fn is_anti_bredt(it: &Facts) -> bool {
    (0..it.structure.len() as u32).any(|atom| {
        let ring_bonds: Vec<_> = it.around(atom).iter().filter(|bond| bond.ring > 0).collect();
        ring_bonds.len() == 3
            && !it.is_aromatic(atom)
            && ring_bonds.iter().any(|bond| bond.order == Order::Double)
            && is_bridgehead(it, atom)
    })
}

/// Returns true if three bridges of one to three atoms each lead from the atom to the same other atom.
fn is_bridgehead(it: &Facts, atom: u32) -> bool {
    let arms: Vec<u32> = it.around(atom).iter().filter(|bond| bond.ring > 0).map(|bond| bond.to).collect();
    let reach = |start: u32| -> Vec<(u32, u32)> {
        let mut found = vec![(start, 1)];
        let mut next = 0;
        while let Some(&(at, distance)) = found.get(next) {
            next += 1;
            if distance == 4 {
                continue;
            }
            for bond in it.around(at).iter().filter(|bond| bond.ring > 0 && bond.to != atom) {
                if !found.iter().any(|&(known, _)| known == bond.to) {
                    found.push((bond.to, distance + 1));
                }
            }
        }
        found
    };
    let [a, b, c] = arms[..] else { return false };
    let (a, b, c) = (reach(a), reach(b), reach(c));
    let steps =
        |list: &[(u32, u32)], atom: u32| list.iter().find(|&&(at, _)| at == atom).map(|&(_, steps)| steps);
    a.iter().any(|&(far, from_a)| {
        let (Some(from_b), Some(from_c)) = (steps(&b, far), steps(&c, far)) else { return false };
        let branches = it.around(far).iter().filter(|bond| bond.ring > 0).count() >= 3;
        // Bridges have `steps - 1` atoms; the bicycle has their sum and the two heads.
        let bridges = [from_a - 1, from_b - 1, from_c - 1];
        branches
            && bridges.iter().all(|&bridge| bridge > 0)
            && bridges.iter().sum::<u32>() <= 6
            && distinct(it, atom, far, &arms)
    })
}

/// Returns true if the shortest paths to `far` by the three arms share no atom. Approximate: it checks that no arm is
/// next to another.
fn distinct(it: &Facts, atom: u32, far: u32, arms: &[u32]) -> bool {
    arms.iter()
        .all(|&arm| arm != far && !arms.iter().any(|&other| other != arm && it.bond(arm, other).is_some()))
        && it.bond(atom, far).is_none()
}

/// Refuses pairs of groups within one molecule that react before the molecule can be used.
fn self_reacting(step: &Step<'_>) -> Verdict {
    let it = &step.before;
    let strong_amine = |group| {
        matches!(group, Group::PrimaryAmine | Group::SecondaryAmine | Group::Hydrazine | Group::Hydroxylamine)
    };
    let aniline = |group| matches!(group, Group::Aniline | Group::SecondaryAniline);
    let alcohol = |group| matches!(group, Group::PrimaryAlcohol | Group::SecondaryAlcohol);
    for nucleophile in step.atoms().filter(|&atom| it.hydrogens(atom) > 0 && it.element(atom) != C) {
        let own = it.group(nucleophile);
        for other in step.atoms().filter(|&other| step.are_in_same_molecule(nucleophile, other)) {
            let clash = match it.group(other) {
                Group::AcylHalide | Group::Isocyanate | Group::Chloroformate | Group::SulfonylHalide => {
                    strong_amine(own)
                        || aniline(own)
                        || own == Group::Thiol
                        || alcohol(own) && it.group(other) != Group::SulfonylHalide
                }
                Group::Anhydride | Group::ActiveEster => strong_amine(own),
                Group::Aldehyde => {
                    matches!(own, Group::PrimaryAmine | Group::Hydrazine)
                        || (own == Group::SecondaryAmine && it.is_sp3(carbon_of(it, other)))
                }
                Group::Ketone => matches!(own, Group::Hydrazine) && it.hydrogens(nucleophile) == 2,
                // Only amines and thiols react fast enough.
                Group::Alkyl if !strong_amine(own) && own != Group::Thiol => false,
                Group::Alkyl => {
                    let epoxide = it.next_to(other).any(|next| it.element(next) == O && it.ring(next) == 3);
                    if epoxide && matches!(own, Group::PrimaryAmine | Group::SecondaryAmine | Group::Thiol) {
                        return Err(Refusal::SelfReacting);
                    }
                    let rank = electrophile::alkyl(it, other);
                    let chloride = it.next_to(other).any(|next| it.element(next) == CL);
                    // Computing a path costs more than everything else here.
                    rank >= 45 && {
                        let reach = path(it, nucleophile, other);
                        let hot = rank >= 70 && !chloride || matches!(reach, 4 | 5);
                        hot && reach < 12
                            && (!strong_amine(own) || own == Group::SecondaryAmine || reach != 2)
                    }
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

/// Number of bonds between two atoms.
fn path(it: &Facts, a: u32, b: u32) -> u32 {
    it.distances(a, 12).into_iter().find(|&(atom, _)| atom == b).map_or(u32::MAX, |(_, distance)| distance)
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
    }
    if metals.is_empty() {
        return Ok(());
    }
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
        let oxidant = matches!(it.group(atom), Group::Nitro | Group::Azide);
        if (proton && !acid_as_electrophile && (own || !involved)) || oxidant {
            return Err(Refusal::Incompatible);
        }
        let electrophile = electrophile::organometal(it, atom);
        let epoxide = it.next_to(atom).any(|next| it.element(next) == O && it.ring(next) == 3);
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
    let Some(ring) = smallest_cycle(it, from, to) else { return false };
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
                && crate::group::aromatic_positions(&it.structure, part[0])
                    .iter()
                    .any(|&(atom, distance)| atom == part[span] && distance as usize == span)
                && same_ring(it, part[0], part[span], span)
        })
    };
    (size <= 9 && held(2)) || (size <= 11 && held(3))
}

/// Returns true if the ring of up to six atoms through a bond is trans-fused to one of three or four.
fn is_trans_fused(it: &Facts, from: u32, to: u32) -> bool {
    let Some(ring) = smallest_cycle(it, from, to).filter(|ring| ring.len() <= 6) else { return false };
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
        let hands = (chirality(it, a, [b, inner_a, outer_a]), chirality(it, b, [a, inner_b, outer_b]));
        small && matches!(hands, (Some(one), Some(other)) if one == other)
    })
}

/// Chirality of a specified stereocentre: true if its neighbours go clockwise with these first and the remaining one
/// last.
fn chirality(it: &Facts, atom: u32, first: [u32; 3]) -> Option<bool> {
    let centre = it.at(atom).centre.as_ref()?;
    let rest = centre.order.iter().find(|next| !first.contains(next))?;
    let places: Vec<usize> = first
        .iter()
        .chain([rest])
        .map(|wanted| centre.order.iter().position(|next| next == wanted))
        .collect::<Option<_>>()?;
    Some(centre.clockwise ^ is_odd(&places))
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

/// Atoms of a smallest ring through a bond, in order.
pub fn smallest_cycle(it: &Facts, from: u32, to: u32) -> Option<Vec<u32>> {
    let mut ways: Vec<(u32, usize)> = vec![(from, usize::MAX)];
    let mut next = 0;
    while let Some(&(atom, _)) = ways.get(next) {
        for other in it.next_to(atom) {
            if (atom == from && other == to) || ways.iter().any(|&(known, _)| known == other) {
                continue;
            }
            ways.push((other, next));
            if other == to {
                let mut cycle = vec![to];
                let mut at = next;
                while at != usize::MAX {
                    cycle.push(ways[at].0);
                    at = ways[at].1;
                }
                return Some(cycle);
            }
        }
        next += 1;
    }
    None
}
