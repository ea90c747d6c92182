//! Oxidations and reductions: the groups that the reagent would attack first.
//!
//! Orders of reduction and of oxidation as in Clayden, Greeves and Warren (chapters 23 and 24) and Hudlicky,
//! "Reductions in Organic Chemistry" and "Oxidations in Organic Chemistry".

use crate::arylation::keeps_arylboron;
use crate::change::{Facts, Step};
use crate::cleavage::{is_shielded_alkene, keeps_chloride_of_azine, keeps_hydrogenable_group};
use crate::electrophile;
use crate::event::Event;
use crate::group::{Group, aromatic_positions};
use crate::queries::*;
use crate::reagent::TIE_MARGIN;
use crate::refusal::Refusal;

type Verdict = Result<(), Refusal>;

/// Checks an event that is an oxidation or a reduction.
pub fn check(step: &Step<'_>, event: &Event) -> Verdict {
    match *event {
        // The amine that forms opens the epoxide of the next molecule.
        Event::NitroReduction { .. } | Event::AzideReduction { .. } | Event::NitrileReduction { .. }
            if step.keeps_epoxide() =>
        {
            Err(Refusal::CompetingGroup)
        }
        Event::CarbonylReduction { carbon } => carbonyl(step, carbon),
        Event::AcylReduction { carbon } => acyl(step, carbon),
        Event::AmideReduction { carbon } => {
            // Aluminium hydride opens epoxides.
            if step.keeps_epoxide() || keeps_second_acyl(step, carbon) {
                return Err(Refusal::CompetingGroup);
            }
            refuse_beside_carbamate(step, carbon)?;
            // Borane reduces amides before esters.
            refuse_unreacted(step, carbon, |group| {
                matches!(
                    group,
                    Group::Aldehyde
                        | Group::Ketone
                        | Group::Acid
                        | Group::AcylHalide
                        | Group::Anhydride
                        | Group::Azide
                        | Group::Nitrile
                )
            })?;
            let formamide = step.before.hydrogens(carbon) > 0;
            if formamide { Ok(()) } else { refuse_unreacted_same_kind(step, carbon, Group::Amide) }
        }
        Event::NitrileReduction { carbon } => {
            refuse_unreacted(step, carbon, |group| {
                matches!(
                    group,
                    Group::Aldehyde
                        | Group::Ketone
                        | Group::AcylHalide
                        | Group::Azide
                        | Group::Nitro
                        | Group::Sulfoxide
                )
            })?;
            refuse_unreacted_same_kind(step, carbon, Group::Nitrile)
        }
        Event::NitroReduction { nitrogen } => {
            refuse_unreacted(step, nitrogen, |group| matches!(group, Group::Azide | Group::AcylHalide))?;
            refuse_unreacted_same_kind(step, nitrogen, Group::Nitro)
        }
        Event::AzideReduction { nitrogen } => refuse_unreacted_same_kind(step, nitrogen, Group::Azide),
        Event::Hydrogenation { carbon, partner } => hydrogenation(step, carbon, partner),
        Event::Dehalogenation { carbon, halogen } => dehalogenation(step, carbon, halogen),
        Event::AlcoholOxidation { carbon } => alcohol(step, carbon),
        Event::AcidOxidation { carbon } => acid_oxidation(step, carbon),
        Event::SulfurOxidation { sulfur } => {
            refuse_unreacted(step, sulfur, |group| {
                matches!(group, Group::Thiol | Group::Thiophenol | Group::PrimaryAmine)
            })?;
            refuse_unreacted_same_kind(step, sulfur, Group::Sulfide)
        }
        Event::Epoxidation { carbon, partner } => richer_alkene(step, carbon, partner),
        _ => Ok(()),
    }
}

/// Refuses the reduction of a carbamate to the methylamine, which aluminium hydride alone does, beside groups that it takes first (Hudlicky, "Reductions in Organic
/// Chemistry").
fn refuse_beside_carbamate(step: &Step<'_>, carbon: u32) -> Verdict {
    if step.before.group(carbon) != Group::Carbamate {
        return Ok(());
    }
    refuse_unreacted(step, carbon, |group| {
        matches!(
            group,
            Group::Ester | Group::Amide | Group::Nitro | Group::Imide | Group::Carbamate | Group::Weinreb
        )
    })
}

/// Returns true for the amide of a nitrogen that keeps a second acyl, thioacyl or imidoyl group: hydride takes the acyl group off it, as off acyl
/// imidazoles and carbazoles (March, chapter 10).
fn keeps_second_acyl(step: &Step<'_>, carbon: u32) -> bool {
    let it = &step.before;
    let is_acyl = |atom: u32| {
        atom != carbon
            && step.is_untouched(atom)
            && it.doubly(atom, |next| matches!(it.element(next), N | O | S)).is_some()
    };
    it.next_to(carbon)
        .filter(|&next| it.element(next) == N && it.is_saturated(next))
        .any(|nitrogen| it.next_to(nitrogen).any(is_acyl))
}

/// Refuses a step that leaves such a group unreacted.
fn refuse_unreacted(step: &Step<'_>, own: u32, victim: impl Fn(Group) -> bool) -> Verdict {
    let competing = step.atoms().any(|atom| {
        atom != own
            && step.before.bond(atom, own).is_none()
            && victim(step.before.group(atom))
            && step.is_untouched(atom)
            && !step.are_equivalent(atom, own)
    });
    if competing { Err(Refusal::CompetingGroup) } else { Ok(()) }
}

/// Refuses a step that leaves another group of the kind unreacted.
fn refuse_unreacted_same_kind(step: &Step<'_>, own: u32, kind: Group) -> Verdict {
    let own_kind = step.before.group(own) == kind;
    if own_kind { refuse_unreacted(step, own, |group| group == kind) } else { Ok(()) }
}

fn carbonyl(step: &Step<'_>, carbon: u32) -> Verdict {
    let own = electrophile::carbonyl(&step.before, carbon);
    match electrophile::competing_site(step, carbon, own, electrophile::carbonyl) {
        Some(_) => Err(Refusal::CompetingGroup),
        None => Ok(()),
    }
}

/// Checks the reduction of an acid, ester or similar compound: groups that hydride reduces sooner must not be left
/// unreacted.
fn acyl(step: &Step<'_>, carbon: u32) -> Verdict {
    let before = &step.before;
    let own = before.group(carbon);
    refuse_unreacted(step, carbon, |group| {
        matches!(group, Group::Aldehyde | Group::Ketone | Group::AcylHalide | Group::Anhydride)
            || (matches!(own, Group::Ester | Group::Amide | Group::Weinreb) && group == Group::ActiveEster)
    })?;
    let is_aldehyde = || step.image(carbon).is_some_and(|image| step.after.group(image) == Group::Aldehyde);
    if own == Group::Ester && step.atoms().any(|other| is_twin_ester(step, carbon, other)) {
        return Err(Refusal::CompetingGroup);
    }
    match own {
        Group::Ester => refuse_unreacted_same_kind(step, carbon, Group::Ester),
        // Hydride takes the aldehyde before the carboxylate.
        Group::Acid if is_aldehyde() => Err(Refusal::OxidationState),
        Group::Acid => refuse_unreacted_same_kind(step, carbon, Group::Acid),
        Group::Amide => refuse_unreacted(step, carbon, |group| matches!(group, Group::Ester)),
        _ => Ok(()),
    }
}

/// Returns true for the second of two alkyl esters of a molecule that are alike, which hydride takes as well (March, chapter 19). Esters of arenes and malonates are slower, once one is reduced.
fn is_twin_ester(step: &Step<'_>, own: u32, other: u32) -> bool {
    let before = &step.before;
    other != own
        && before.group(other) == Group::Ester
        && step.are_equivalent(own, other)
        && step.are_in_same_molecule(own, other)
        && step.is_untouched(other)
        && before.next_to(own).any(|alpha| before.is_sp3(alpha) && before.bond(alpha, other).is_none())
}

fn hydrogenation(step: &Step<'_>, carbon: u32, partner: u32) -> Verdict {
    let before = &step.before;
    if before.is_aromatic(carbon) && step.atoms().any(|atom| is_kept_benzylic_halide(step, atom)) {
        return Err(Refusal::CompetingGroup);
    }
    if is_reduced_by_hydride(step, carbon, partner) {
        return refuse_unreacted(step, carbon, |group| {
            matches!(group, Group::Aldehyde | Group::Ketone | Group::AcylHalide | Group::ImineCarbon)
        });
    }
    if before.is_aromatic(carbon) {
        // Hydrogenation of benzene rings needs conditions that no other unsaturated group survives.
        let benzene =
            aromatic_positions(&before.structure, carbon).iter().all(|&(atom, _)| before.element(atom) == C);
        let victim = keeps_hydrogenable_group(step)
            || benzene && step.atoms().any(|atom| keeps_benzyl_group(step, atom))
            || step.atoms().any(|atom| is_kept_furan(step, atom) || is_kept_aryl_ketone(step, atom));
        return if victim { Err(Refusal::CompetingGroup) } else { Ok(()) };
    }
    let own_alkyne = before.triply(carbon).is_some();
    let conjugated = before.is_alpha(carbon) || before.is_alpha(partner);
    let victim = step.atoms().any(|atom| {
        step.is_untouched(atom)
            && match before.group(atom) {
                Group::Nitro | Group::Azide => true,
                Group::Alkyne | Group::TerminalAlkyne => true,
                Group::Alkene if !own_alkyne => {
                    let hindrance = |a: u32, b: u32| before.degree(a) + before.degree(b);
                    let other = before.doubly(atom, |next| before.element(next) == C).unwrap_or(atom);
                    !is_shielded_alkene(before, atom)
                        && hindrance(atom, other) <= hindrance(carbon, partner)
                        && !conjugated
                }
                Group::Halogen => before.element(atom) == I,
                // Divalent sulfur with a double bond or a hydrogen holds the metal (Hudlicky, "Reductions in Organic Chemistry").
                Group::ThiocarbonylSulfur | Group::Thiol | Group::Thiophenol => true,
                _ => false,
            }
    });
    if victim || keeps_chloride_of_azine(step) { Err(Refusal::CompetingGroup) } else { Ok(()) }
}

/// Returns true for what borohydrides and the like reduce without a metal: the double bond of a nitroalkene, and the nitrogen's ring of a quinoline, isoquinoline, indole or N-alkylazinium
/// ion, in acid (Hassner and Heathcock, J. Org. Chem. 1964, 29, 1350; Gribble, Chem. Soc. Rev. 1998, 27, 395; Rueping and others, Angew. Chem. Int. Ed. 2006, 45, 3683). Nitro and azido groups
/// stay beside a nitroalkene alone.
pub fn is_reduced_by_hydride(step: &Step<'_>, carbon: u32, partner: u32) -> bool {
    let before = &step.before;
    let bears_nitro = |end: u32| before.next_to(end).any(|next| before.is_nitro(next));
    if !before.is_aromatic(carbon) {
        return before.group(carbon) == Group::Alkene && (bears_nitro(carbon) || bears_nitro(partner));
    }
    let is_of_ring = |nitrogen: u32| {
        before.element(nitrogen) == N
            && before.is_aromatic(nitrogen)
            && (before.at(nitrogen).charge == 1 && before.count(nitrogen, O) == 0
                || is_in_fused_ring(before, nitrogen))
            && !stays_aromatic(step, nitrogen)
    };
    let is_oxidant = |atom: u32| matches!(before.group(atom), Group::Nitro | Group::Azide);
    aromatic_positions(&before.structure, carbon).iter().any(|&(atom, _)| is_of_ring(atom))
        && !step.atoms().any(is_oxidant)
}

/// Returns true for the nitrogen of a ring with a fused benzene ring.
fn is_in_fused_ring(before: &Facts, nitrogen: u32) -> bool {
    let positions = aromatic_positions(&before.structure, nitrogen);
    positions.iter().filter(|&&(atom, _)| before.is_shared_by_aromatic_rings(atom)).count() == 2
}

/// Returns true for an oxygen that keeps its benzyl group, and for an amine that keeps one and its ring.
fn keeps_benzyl_group(step: &Step<'_>, atom: u32) -> bool {
    let before = &step.before;
    let is_benzyl = |next: u32| {
        before.is_sp3(next)
            && before.next_to(next).any(|far| {
                before.is_aromatic(far) && (before.element(atom) == O || stays_aromatic(step, far))
            })
    };
    (before.element(atom) == O
        || matches!(
            before.group(atom),
            Group::SecondaryAmine | Group::TertiaryAmine | Group::SecondaryAniline | Group::TertiaryAniline
        ))
        && before.next_to(atom).any(is_benzyl)
        && before.hydrogens(atom) == 0
        && step.is_untouched(atom)
}

fn stays_aromatic(step: &Step<'_>, atom: u32) -> bool {
    step.image(atom).is_some_and(|image| step.after.is_aromatic(image))
}

/// Returns true for a benzylic halide that stays, which hydrogen and a metal take first (Rylander 1985, chapter 13).
fn is_kept_benzylic_halide(step: &Step<'_>, carbon: u32) -> bool {
    let before = &step.before;
    before.is_alkyl_halide(carbon) && before.aryls(carbon) > 0 && step.is_untouched(carbon)
}

/// Returns true for a ketone or aldehyde on an aromatic carbon that hydrogen makes a saturated one: it takes hydrogen as soon, to the alcohol or the hydrocarbon (Hudlicky, "Reductions in
/// Organic Chemistry").
fn is_kept_aryl_ketone(step: &Step<'_>, ketone: u32) -> bool {
    let before = &step.before;
    matches!(before.group(ketone), Group::Ketone | Group::Aldehyde)
        && step.is_untouched(ketone)
        && before.next_to(ketone).any(|ipso| before.is_aromatic(ipso) && !stays_aromatic(step, ipso))
}

fn dehalogenation(step: &Step<'_>, carbon: u32, halogen: u32) -> Verdict {
    let before = &step.before;
    let rank = |element: u8| match element {
        I => 3,
        BR => 2,
        CL => 1,
        _ => 0,
    };
    let own = rank(before.element(halogen));
    if own == 0 {
        return Err(Refusal::NoLeavingGroup);
    }
    // Chlorides of azoles and benzenes are alike.
    let least = if own > 1 || before.has_conjugated_azine(carbon) { own + 1 } else { own };
    let competing = step.atoms().any(|atom| {
        let on_arene = before.next_to(atom).any(|next| before.is_aromatic(next));
        step.is_untouched(atom)
            && !step.are_equivalent(atom, halogen)
            && rank(before.element(atom)) >= least
            && on_arene == before.is_aromatic(carbon)
    });
    // Palladium couples such a halide with the boron of the next molecule.
    let couples = before.is_aromatic(carbon) && keeps_arylboron(step);
    if competing || couples { Err(Refusal::CompetingGroup) } else { Ok(()) }
}

/// Rank of an alcohol's oxidation, for its carbon; 0 for none.
fn oxidisable(step: &Step<'_>, carbon: u32) -> i32 {
    let before = &step.before;
    let alcohol = before
        .next_to(carbon)
        .any(|next| matches!(before.group(next), Group::PrimaryAlcohol | Group::SecondaryAlcohol));
    if !alcohol {
        return 0;
    }
    let helped = if before.is_benzylic_or_allylic(carbon) { 12 } else { 0 };
    (if before.carbons(carbon) < 2 { 60 } else { 52 }) + helped
}

fn alcohol(step: &Step<'_>, carbon: u32) -> Verdict {
    let before = &step.before;
    let own = oxidisable(step, carbon);
    refuse_unreacted(step, carbon, |group| {
        matches!(
            group,
            Group::Thiol | Group::Thiophenol | Group::PrimaryAmine | Group::SecondaryAmine | Group::Hydrazine
        )
    })?;
    refuse_ortho_diamines(step)?;
    if loses_halide_as_carbonyl(before, carbon) {
        return Err(Refusal::SelfReacting);
    }
    if is_of_polyol(step, carbon) || closes_to_lactol(step, carbon) {
        return Err(Refusal::CompetingGroup);
    }
    let competing = own > 0
        && step.atoms().any(|atom| {
            atom != carbon
                && !step.are_equivalent(atom, carbon)
                && step.is_untouched(atom)
                && oxidisable(step, atom) > own - TIE_MARGIN
                && before.element(atom) == C
        });
    if competing { Err(Refusal::CompetingGroup) } else { Ok(()) }
}

/// Returns true for the primary alcohol of a molecule that keeps two secondary ones in no sugar, which the usual oxidants take as well (March, chapter 19).
fn is_of_polyol(step: &Step<'_>, carbon: u32) -> bool {
    let before = &step.before;
    let is_kept = |&atom: &u32| {
        before.group(atom) == Group::SecondaryAlcohol
            && before.hydrogens(atom) > 0
            && step.is_untouched(atom)
            && !is_of_sugar(before, atom)
    };
    before.next_to(carbon).any(|next| before.group(next) == Group::PrimaryAlcohol)
        && step.atoms().filter(is_kept).nth(1).is_some()
}

/// Returns true for the carbon of an alcohol that becomes a β-halo carbonyl compound whose α-hydrogen a nitrogen or an arene makes more acidic: it loses hydrogen halide (Clayden, Greeves and Warren, chapter 17).
fn loses_halide_as_carbonyl(before: &Facts, carbon: u32) -> bool {
    before.next_to(carbon).any(|alpha| {
        before.is_sp3(alpha)
            && before.hydrogens(alpha) > 0
            && before.next_to(alpha).any(|next| before.element(next) == N || before.is_aromatic(next))
            && before.next_to(alpha).any(|beta| before.is_alkyl_halide(beta))
    })
}

/// Returns true for a primary alcohol that becomes an aldehyde four or five atoms from a free primary one, with which it closes the lactol, and the oxidant goes on to the lactone (March, chapter 19).
fn closes_to_lactol(step: &Step<'_>, carbon: u32) -> bool {
    let before = &step.before;
    let is_other = |oxygen: u32| {
        before.group(oxygen) == Group::PrimaryAlcohol
            && before.hydrogens(oxygen) > 0
            && step.is_untouched(oxygen)
    };
    before.carbons(carbon) == 1
        && before
            .distances(carbon, 5)
            .into_iter()
            .any(|(atom, distance)| matches!(distance, 4 | 5) && is_other(atom))
}

/// Returns true for a hydroxyl group on a ring with oxygen, or beside one.
fn is_of_sugar(before: &Facts, hydroxyl: u32) -> bool {
    before.next_to(hydroxyl).any(|bearer| {
        before.ring(bearer) > 4
            && before
                .distances(bearer, 2)
                .into_iter()
                .any(|(ring, _)| before.element(ring) == O && before.is_in_ring(ring))
    })
}

fn acid(step: &Step<'_>, carbon: u32) -> Verdict {
    refuse_ortho_diamines(step)?;
    refuse_unreacted(step, carbon, |group| {
        matches!(
            group,
            Group::Thiol
                | Group::Thiophenol
                | Group::Aldehyde
                | Group::PrimaryAmine
                | Group::SecondaryAmine
                | Group::PrimaryAlcohol
                | Group::Sulfide
        )
    })
}

/// Checks the oxidation of an alcohol or aldehyde to the acid. Oxidants that take an alcohol so far also take phenols, anilines and secondary alcohols; only in sugars
/// does TEMPO choose the primary one (Epp and Widlanski, J. Org. Chem. 1999, 64, 293).
fn acid_oxidation(step: &Step<'_>, carbon: u32) -> Verdict {
    acid(step, carbon)?;
    let before = &step.before;
    if !before.is_sp3(carbon) {
        return Ok(());
    }
    let is_oxidised = |atom: u32| match before.group(atom) {
        Group::SecondaryAlcohol => !is_of_sugar(before, atom),
        Group::Phenol | Group::Aniline | Group::SecondaryAniline | Group::Hydrazine => {
            before.hydrogens(atom) > 0
        }
        _ => false,
    };
    let competing = step.atoms().any(|atom| step.is_untouched(atom) && is_oxidised(atom));
    if competing { Err(Refusal::CompetingGroup) } else { Ok(()) }
}

/// Refuses a step by an oxidant that attacks C–H while a more easily oxidised group is left unreacted.
pub fn oxidant(step: &Step<'_>, carbon: u32) -> Verdict {
    acid(step, carbon)?;
    // An oxidant that turns a methyl group into an acid also cleaves double and triple bonds.
    let is_acid = step.image(carbon).is_some_and(|image| step.after.group(image) == Group::Acid);
    refuse_unreacted(step, carbon, |group| match group {
        Group::SecondaryAlcohol | Group::Aniline | Group::Phenol => true,
        Group::Alkene | Group::Alkyne | Group::TerminalAlkyne => is_acid,
        _ => false,
    })
}

/// Refuses an epoxidation that leaves a double bond that a peracid would attack first.
fn richer_alkene(step: &Step<'_>, carbon: u32, partner: u32) -> Verdict {
    let before = &step.before;
    let rank = |a: u32, b: u32| {
        let drawn = [a, b].into_iter().filter(|&end| before.is_alpha(end)).count() as i32;
        (before.carbons(a) + before.carbons(b)) as i32 * 10 - 15 * drawn
    };
    let own = rank(carbon, partner);
    let competing = step.atoms().any(|atom| {
        before.group(atom) == Group::Alkene
            && step.is_untouched(atom)
            && before.doubly(atom, |next| before.element(next) == C).is_some_and(|other| {
                step.is_untouched(other) && rank(atom, other) > own && !step.are_equivalent(atom, carbon)
            })
    });
    if competing { Err(Refusal::CompetingGroup) } else { Ok(()) }
}

/// Returns true for the oxygen of a furan that the step keeps, which hydrogen takes before a benzene or pyridine ring (Hudlicky, "Reductions in Organic Chemistry").
fn is_kept_furan(step: &Step<'_>, atom: u32) -> bool {
    let before = &step.before;
    before.element(atom) == O
        && before.is_aromatic(atom)
        && before.count(atom, C) == 2
        && !before
            .next_to(atom)
            .any(|next| before.is_shared_by_aromatic_rings(next) || before.count(next, N) > 0)
        && step.is_untouched(atom)
}

/// Refuses an oxidation beside two amino groups with hydrogen ortho to each other, which become the diimine: phenylenediamines, tetrahydroquinoxalines and tetrahydropterins
/// (Joule and Mills 2010, chapter 14).
fn refuse_ortho_diamines(step: &Step<'_>) -> Verdict {
    let before = &step.before;
    let is_amine = |atom: u32| {
        matches!(before.group(atom), Group::Aniline | Group::SecondaryAniline | Group::PoorAniline)
            && before.hydrogens(atom) > 0
            && step.is_untouched(atom)
    };
    // The nitrogen of a tetrahydropterin may bear a methyl group.
    let is_of_pterin = |atom: u32| {
        before.group(atom) == Group::TertiaryAniline
            && before.ring(atom) == 6
            && before.next_to(atom).any(|ipso| {
                let ring = aromatic_positions(&before.structure, ipso);
                ring.iter().filter(|&&(next, _)| before.element(next) == N).count() == 2
            })
    };
    let is_first = |atom: u32| before.is_free_aniline(atom) && is_amine(atom) || is_of_pterin(atom);
    let has_second = |atom: u32| {
        before.next_to(atom).filter(|&ipso| before.is_aromatic(ipso)).any(|ipso| {
            before.next_to(ipso).any(|ortho| {
                before.is_aromatic_carbon(ortho)
                    && before.next_to(ortho).any(|next| next != atom && is_amine(next))
            })
        })
    };
    if step.atoms().any(|atom| is_first(atom) && has_second(atom)) {
        return Err(Refusal::Incompatible);
    }
    Ok(())
}

/// Returns true for a carbon that loses its thiocarbonyl group to a radical reductant, which takes bromine and iodine first, and for a ketone between alkyl groups that
/// becomes a methylene group beside a halogen, which base or zinc takes off (March, chapters 10 and 19).
pub fn is_deoxygenated_beside_halide(step: &Step<'_>, carbon: u32) -> bool {
    let it = &step.before;
    if it.element(carbon) != C || step.hydrogens_gained(carbon) < 1 {
        return false;
    }
    let is_thiocarbonyl = |next: u32| it.doubly(next, |far| it.element(far) == S).is_some();
    let is_kept = |atom: u32| {
        matches!(it.element(atom), BR | I)
            && step.is_untouched(atom)
            && step.are_in_same_molecule(atom, carbon)
    };
    let by_radical = step
        .lost(carbon)
        .any(|(oxygen, _)| it.element(oxygen) == O && it.next_to(oxygen).any(is_thiocarbonyl));
    let by_base = it.group(carbon) == Group::Ketone
        && step.hydrogens_gained(carbon) == 2
        && step.lost_oxo(carbon)
        && it.aryls(carbon) == 0;
    by_radical && step.atoms().any(is_kept)
        || by_base
            && it.next_to(carbon).any(|alpha| {
                it.is_alkyl_halide(alpha)
                    || it.group(alpha) == Group::Alkene
                        && it.next_to(alpha).any(|next| is_heavy_halogen(it.element(next)))
            })
}
