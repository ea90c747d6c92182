//! Cleavage of protecting groups, and hydrolysis of esters and amides: the group that goes first.

use chem::Order;

use crate::arylation::is_beside_phenol;
use crate::change::{Facts, Step};
use crate::event::Event;
use crate::group::{Group, aromatic_positions};
use crate::protecting_group::{
    ProtectingGroup, acid_lability, acyl_hindrance, azine_bonus, base_lability, boc_position_bonus,
    hydrogenolysis_lability, protecting_group, silyl_position_bonus,
};
use crate::queries::*;
use crate::refusal::Refusal;

type Verdict = Result<(), Refusal>;

/// Checks a cleavage or hydrolysis.
pub fn check(step: &Step<'_>, event: &Event) -> Verdict {
    match *event {
        // Water removes the alcohols from a borate.
        Event::Cleavage { atom, .. }
            if step.before.next_to(atom).any(|next| step.before.element(next) == B) =>
        {
            Ok(())
        }
        Event::Cleavage { atom, root } => match protecting_group(&step.before, atom, root) {
            Some(protecting_group) => cleavage(step, protecting_group, atom, root),
            None => unprotected_release(step, atom, root),
        },
        Event::Hydrolysis { carbon, .. } => hydrolysis(step, carbon),
        _ => Ok(()),
    }
}

/// All protecting groups of the reaction mixture that the step keeps, with the atoms at both ends of their bond.
fn kept(step: &Step<'_>) -> Vec<(ProtectingGroup, u32, u32)> {
    let before = &step.before;
    let mut kept = Vec::new();
    for atom in step.atoms().filter(|&atom| matches!(before.element(atom), N | O | S)) {
        if before.is_aromatic(atom) && before.element(atom) != N {
            continue;
        }
        for bond in before.around(atom).iter().filter(|bond| bond.order == Order::Single) {
            let stays = matches!((step.image(atom), step.image(bond.to)),
                (Some(a), Some(b)) if step.after.bond(a, b).is_some());
            if let Some(protecting_group) = protecting_group(before, atom, bond.to).filter(|_| stays) {
                kept.push((protecting_group, atom, bond.to));
            }
        }
    }
    kept
}

/// Returns true if the step keeps a protecting group that aluminium chloride or chlorosulfonic acid removes.
pub fn keeps_lewis_acid_labile_group(step: &Step<'_>) -> bool {
    let before = &step.before;
    kept(step).into_iter().any(|(protecting_group, atom, _)| match protecting_group {
        ProtectingGroup::Tetrahydropyranyl | ProtectingGroup::Acetal if before.is_phenolic(atom) => false,
        protecting_group => protecting_group.removal().by_lewis_acid,
    })
}

/// Returns true if the step keeps a protecting group that a hydrogen halide removes, also one of a phenol; a methylenedioxy ring holds (Wuts and Greene, chapter 3).
pub fn keeps_acid_labile_group(step: &Step<'_>) -> bool {
    let before = &step.before;
    kept(step).into_iter().any(|(protecting_group, atom, root)| {
        let is_of_ring = before.bond(atom, root).is_some_and(|bond| bond.ring > 0);
        let is_labile =
            protecting_group.removal().by_lewis_acid || protecting_group == ProtectingGroup::Methoxymethyl;
        is_labile && !(is_of_ring && before.is_phenolic(atom))
    })
}

fn cleavage(step: &Step<'_>, protecting_group: ProtectingGroup, atom: u32, root: u32) -> Verdict {
    let before = &step.before;
    if step.opens_lactol(atom, root) {
        return Ok(());
    }
    // An atom that another cleavage of the step frees keeps no group.
    let kept: Vec<_> = kept(step)
        .into_iter()
        .filter(|&(_, other, end)| {
            step.is_untouched(other)
                && other != atom
                && !(step.are_equivalent(other, atom) && step.are_equivalent(end, root))
        })
        .collect();
    let beats = |rank: &dyn Fn(ProtectingGroup, u32, u32) -> i32, margin: i32| {
        let own = rank(protecting_group, atom, root);
        own > 0
            && !kept
                .iter()
                .any(|&(protecting_group, atom, root)| rank(protecting_group, atom, root) > own + margin)
    };
    // Trifluoroacetic acid takes ketals of acetone with a Boc group, and all that is labile with the tert-butyl group of a sulfonamide.
    let is_lost = match protecting_group {
        ProtectingGroup::Boc => kept.iter().any(|&(_, _, root)| is_ketal_of_acetone(before, root)),
        ProtectingGroup::TertButylEther if before.group(atom) == Group::SulfonamideNitrogen => {
            keeps_acid_labile_group(step)
        }
        _ => false,
    };
    if is_lost {
        return Err(Refusal::CompetingGroup);
    }
    let acid_rank = |protecting_group, atom, _root| acid_lability(before, protecting_group, atom);
    let by_acid = beats(&acid_rank, 8) && !step.keeps_epoxide();
    // Methoxide in methanol takes acyl groups off alcohols and leaves a methyl ester as it is.
    let base_rank = |other: ProtectingGroup, oxygen: u32, _| {
        let is_exchanged = protecting_group == ProtectingGroup::Acyl && is_small_ester(before, oxygen);
        if is_exchanged { 0 } else { base_lability(before, other, oxygen) }
    };
    let by_base = beats(&base_rank, -3) && !keeps_base_labile_group(step, protecting_group, atom);
    let by_hydrogen = beats(&|protecting_group, atom, _| hydrogenolysis_lability(before, protecting_group, atom), 3)
            && !keeps_hydrogenable_group(step)
            // Chloroformates take benzyl groups off amines as well.
            && (protecting_group == ProtectingGroup::BenzylAmine || !keeps_chloride_of_azine(step));
    let works = match protecting_group {
        protecting_group if protecting_group.is_silyl() => {
            let rank =
                |protecting_group: ProtectingGroup, atom: u32| match protecting_group.removal().fluoride {
                    0 => 0,
                    rank => rank + silyl_position_bonus(before, atom),
                };
            let own = rank(protecting_group, atom);
            let by_fluoride =
                !kept.iter().any(|&(protecting_group, atom, _)| rank(protecting_group, atom) > own - 3);
            let like_silyl =
                kept.iter().any(|&(protecting_group, other, _)| rank(protecting_group, other) > own - 3);
            by_fluoride || (by_acid && !like_silyl)
        }
        ProtectingGroup::Boc => {
            let other_boc = kept.iter().any(|&(protecting_group, other, _)| {
                protecting_group == ProtectingGroup::Boc
                    && boc_position_bonus(before, other) >= boc_position_bonus(before, atom)
            });
            by_acid && !other_boc
        }
        ProtectingGroup::Alloc | ProtectingGroup::Allyl => true,
        ProtectingGroup::Fmoc | ProtectingGroup::Trifluoroacetyl | ProtectingGroup::Phthalimide => true,
        ProtectingGroup::Cbz | ProtectingGroup::BenzylEther => {
            by_hydrogen || (before.is_phenolic(atom) && by_acid_strong(before, &kept))
        }
        ProtectingGroup::BenzylAmine => {
            by_hydrogen
                && !kept.iter().any(|&(other, nitrogen, end)| {
                    other == ProtectingGroup::BenzylAmine
                        && are_alike_benzylamines(before, [atom, root], [nitrogen, end])
                })
        }
        ProtectingGroup::BenzylEster => by_hydrogen || by_base,
        ProtectingGroup::Methoxybenzyl => by_acid || by_hydrogen || before.element(atom) == N,
        ProtectingGroup::Trityl
        | ProtectingGroup::Tetrahydropyranyl
        | ProtectingGroup::Acetal
        | ProtectingGroup::TertButylEster
        | ProtectingGroup::TertButylEther
        | ProtectingGroup::Methoxymethyl => {
            by_acid
                && !kept.iter().any(|&(other, _, _)| {
                    other == protecting_group && protecting_group != ProtectingGroup::TertButylEther
                })
                || before.element(atom) != O
        }
        ProtectingGroup::Acyl | ProtectingGroup::Ester => by_base,
        ProtectingGroup::Amide => {
            by_base || before.element(atom) != N || by_acidic_alcohol(before, &kept, atom)
        }
        ProtectingGroup::ArylMethyl | ProtectingGroup::ArylAlkyl if is_lactim_oxygen(before, atom) => {
            let is_alike = |&(_, other, _): &(ProtectingGroup, u32, u32)| is_lactim_oxygen(before, other);
            !keeps_acid_labile_group(step) && !kept.iter().any(is_alike)
        }
        ProtectingGroup::ArylMethyl => aryl_methyl(step, &kept, atom),
        ProtectingGroup::AlkylMethyl => by_acid_strong(before, &kept) && before.hydrogens(root) > 0,
        ProtectingGroup::ArylAlkyl => by_acid_strong(before, &kept),
        _ => true,
    };
    if works { Ok(()) } else { Err(Refusal::CompetingGroup) }
}

/// Returns true for the carbon of a ketal of acetone and a diol.
fn is_ketal_of_acetone(before: &Facts, carbon: u32) -> bool {
    before.is_sp3(carbon)
        && before.count(carbon, O) == 2
        && before.next_to(carbon).filter(|&next| before.hydrogens(next) == 3).count() == 2
}

impl Facts {
    fn is_phenolic(&self, atom: u32) -> bool {
        self.next_to(atom).any(|next| self.is_aromatic(next))
    }
}

/// Returns true for the oxygen of an alkyl group on a carbon beside the nitrogen of an azine, or across from it, which a hydrogen halide or trimethylsilyl iodide takes to the lactam before other aryl ethers
/// (Joule and Mills 2010, chapter 8).
fn is_lactim_oxygen(before: &Facts, oxygen: u32) -> bool {
    before.group(oxygen) == Group::ArylEther
        && before.next_to(oxygen).any(|ipso| before.is_aromatic(ipso) && before.has_conjugated_azine(ipso))
}

/// Returns true for benzyl groups of two tertiary amines, neither of which a branch, a ring or a heteroarene makes slower (Wuts and Greene, chapter 7).
fn are_alike_benzylamines(before: &Facts, one: [u32; 2], other: [u32; 2]) -> bool {
    let is_plain = |[nitrogen, root]: [u32; 2]| {
        before.group(nitrogen) == Group::TertiaryAmine
            && before.hydrogens(root) == 2
            && before.bond(nitrogen, root).is_some_and(|bond| bond.ring == 0)
            && before.next_to(root).any(|ipso| {
                before.is_aromatic(ipso)
                    && before.ring(ipso) == 6
                    && aromatic_positions(&before.structure, ipso)
                        .iter()
                        .all(|&(atom, _)| before.element(atom) == C)
            })
    };
    is_plain(one) && is_plain(other)
}

/// Returns true if acid in an alcohol frees this aniline of its acyl group: esters of other acids remain esters, and amides of alkylamines are
/// slower.
fn by_acidic_alcohol(before: &Facts, kept: &[(ProtectingGroup, u32, u32)], atom: u32) -> bool {
    let is_acetate = |acyl: u32| before.next_to(acyl).any(|next| before.hydrogens(next) == 3);
    before.is_phenolic(atom)
        && !kept.iter().any(|&(protecting_group, other, root)| match protecting_group {
            ProtectingGroup::Acyl => is_acetate(root) || before.is_phenolic(other),
            ProtectingGroup::Trifluoroacetyl => true,
            ProtectingGroup::Amide => before.is_phenolic(other) && !before.is_in_ring(other),
            protecting_group => acid_lability(before, protecting_group, other) > 50,
        })
}

/// Returns true if no kept protecting group is removed by boron tribromide or hot acid.
fn by_acid_strong(before: &Facts, kept: &[(ProtectingGroup, u32, u32)]) -> bool {
    !kept.iter().any(|&(protecting_group, atom, root)| match protecting_group {
        ProtectingGroup::TertButylEther if before.group(atom) == Group::SulfonamideNitrogen => true,
        ProtectingGroup::TertButylEther | ProtectingGroup::Allyl if before.element(atom) != O => false,
        // The salt of an amine is no leaving group.
        ProtectingGroup::Methoxybenzyl
            if matches!(before.group(atom), Group::SecondaryAmine | Group::TertiaryAmine) =>
        {
            false
        }
        // Secondary alkyl groups leave as cations before methyl groups do, and ethers of two alkyl groups are the more basic ones.
        ProtectingGroup::Ester => before.carbons(root) > 1,
        ProtectingGroup::ArylAlkyl => before.carbons(root) > 1 && before.ring(atom) == 0,
        ProtectingGroup::AlkylMethyl => before.group(atom) == Group::Ether && before.ring(atom) == 0,
        protecting_group => protecting_group.removal().by_strong_acid,
    })
}

/// Returns true for the oxygen of a methyl ether beside the carbonyl group of a 4-pyridone or pyranone, which magnesium and lithium halides free without an acid (dolutegravir: Johns and others, J. Med. Chem.
/// 2013, 56, 5901).
fn is_beside_pyridone(it: &Facts, oxygen: u32) -> bool {
    it.next_to(oxygen).filter(|&ipso| it.is_aromatic_carbon(ipso)).any(|ipso| {
        it.next_to(ipso)
            .any(|ortho| it.is_aromatic(ortho) && it.is_carbonyl(ortho) && it.count(ortho, C) == 2)
    })
}

/// Returns true if boron tribromide cleaves this methyl ether of a phenol. Ethers next to a carbonyl group react
/// first.
fn aryl_methyl(step: &Step<'_>, kept: &[(ProtectingGroup, u32, u32)], atom: u32) -> bool {
    let before = &step.before;
    if is_beside_pyridone(before, atom) {
        return true;
    }
    let chelated = |oxygen: u32| {
        before.next_to(oxygen).filter(|&next| before.is_aromatic(next)).any(|ipso| {
            before.next_to(ipso).filter(|&next| before.is_aromatic(next)).any(|ortho| {
                before.next_to(ortho).any(|next| before.is_carbonyl(next) && !before.is_aromatic(next))
            })
        })
    };
    let like = kept.iter().any(|&(protecting_group, other, _)| {
        protecting_group == ProtectingGroup::ArylMethyl
            && other != atom
            && (!chelated(atom) || chelated(other))
    });
    !like && by_acid_strong(before, kept)
}

/// Returns true if hydrogen and palladium would reduce another group.
pub fn keeps_hydrogenable_group(step: &Step<'_>) -> bool {
    let before = &step.before;
    step.atoms().any(|atom| {
        step.is_untouched(atom)
            && match before.group(atom) {
                Group::Nitro | Group::Azide | Group::Alkyne | Group::TerminalAlkyne => true,
                Group::Alkene => !is_shielded_alkene(before, atom),
                Group::Halogen => matches!(before.element(atom), BR | I),
                _ => false,
            }
    })
}

/// Returns true if hydrogen and palladium would take a chlorine beside the nitrogen of an azine or across from it (Joule and Mills, chapters 8 and 14).
pub fn keeps_chloride_of_azine(step: &Step<'_>) -> bool {
    let it = &step.before;
    let is_activated = |ipso: u32| it.ring(ipso) == 6 && it.has_conjugated_azine(ipso);
    step.atoms()
        .any(|atom| it.element(atom) == CL && step.is_untouched(atom) && it.next_to(atom).any(is_activated))
}

/// Returns true if a double bond is so substituted, or so stabilised, that it is not hydrogenated.
pub fn is_shielded_alkene(it: &Facts, atom: u32) -> bool {
    let Some(partner) = it.doubly(atom, |next| it.element(next) == C) else { return true };
    let ends = [atom, partner];
    let substituents: usize = ends.iter().map(|&end| it.degree(end) - 1).sum();
    let hetero = ends.iter().any(|&end| {
        it.next_to(end).any(|next| matches!(it.element(next), N | O | S) && it.is_saturated(next))
    });
    substituents >= 4 || hetero || (it.is_in_ring(atom) && it.is_in_ring(partner) && substituents >= 3)
}

/// Returns true if hydroxide would attack another group.
fn keeps_base_labile_group(step: &Step<'_>, protecting_group: ProtectingGroup, atom: u32) -> bool {
    let before = &step.before;
    let anilide = before.is_phenolic(atom);
    let is_carbamate = protecting_group == ProtectingGroup::Amide
        && before.next_to(atom).any(|next| before.group(next) == Group::Carbamate);
    // The ester that the step hydrolyses as well: hot acid makes an amino acid of an acylaminomalonate.
    let is_freed = |acyl: u32| {
        before.next_to(acyl).any(|oxygen| {
            before.group(oxygen) == Group::EsterOxygen
                && step.image(oxygen).is_some()
                && !step.is_untouched(oxygen)
        })
    };
    step.atoms().any(|other| {
        step.is_untouched(other)
            && match before.group(other) {
                Group::AcylHalide | Group::Anhydride | Group::ActiveEster | Group::SulfonylHalide => true,
                // Acid in an alcohol frees anilines, and an ester remains an ester.
                Group::Ester => protecting_group == ProtectingGroup::Amide && !anilide && !is_freed(other),
                // Isocyanates take hydroxide, and the imides of rings open (Clayden, Greeves and Warren, chapter 10).
                Group::Isocyanate => true,
                Group::Imide | Group::Weinreb => is_open_imide(before, other),
                Group::Alkyl => {
                    is_hydrolysed_halide(before, other)
                        || protecting_group == ProtectingGroup::Ester
                            && is_hydrolysed_trifluoromethyl(before, other)
                }
                _ if protecting_group == ProtectingGroup::Ester
                    && is_hydrolysed_sulfonyl_group(before, other) =>
                {
                    true
                }
                Group::Aryl => {
                    !anilide && (is_hydrolysed_chloride(before, other) || is_chloropyrimidine(before, other))
                }
                Group::EsterOxygen => {
                    protecting_group == ProtectingGroup::Ester && is_acetate_of_alcohol(before, other)
                }
                // Methyl and ethyl carbamates need hot alkali or acid.
                Group::Nitrile => is_carbamate,
                Group::TertiaryAlcohol => {
                    is_carbamate && before.next_to(other).any(|next| before.is_benzylic_or_allylic(next))
                }
                _ => false,
            }
    })
}

/// Returns true for a carbonyl group of a ring's imide without N–H.
pub fn is_open_imide(it: &Facts, carbon: u32) -> bool {
    let is_imide = |nitrogen: u32| {
        it.group(nitrogen) == Group::ImideNitrogen
            && it.hydrogens(nitrogen) == 0
            && !it.is_aromatic(nitrogen)
            && it
                .next_to(nitrogen)
                .filter(|&next| matches!(it.group(next), Group::Imide | Group::Weinreb))
                .count()
                == 2
    };
    it.is_in_ring(carbon) && it.next_to(carbon).any(is_imide)
}

/// Returns true for a benzylic or allylic bromide or iodide, or one beside a carbonyl group, which hydroxide takes as fast as a methyl ester (March, chapter 10).
fn is_hydrolysed_halide(it: &Facts, carbon: u32) -> bool {
    it.is_sp3(carbon)
        && it.hydrogens(carbon) > 0
        && it.next_to(carbon).any(|next| matches!(it.element(next), BR | I))
        && (it.is_benzylic_or_allylic(carbon) || it.is_alpha(carbon))
}

/// Returns true for a trifluoromethyl group that an anion of its ring pushes fluoride from: on an imidazole with its N–H, beside the N–H of a pyrrole, on C5 of a uracil, and ortho or para to a free
/// phenol (Kimoto and Cohen, J. Org. Chem. 1979, 44, 2902; Sakai and Santi, J. Med. Chem. 1973, 16, 1079).
fn is_hydrolysed_trifluoromethyl(it: &Facts, carbon: u32) -> bool {
    let has_proton = |atom: u32| it.element(atom) == N && it.is_aromatic(atom) && it.hydrogens(atom) > 0;
    let is_labile = |ipso: u32| {
        let positions = aromatic_positions(&it.structure, ipso);
        let nitrogens: Vec<u32> = it.azole_nitrogens(ipso).collect();
        let is_fused = || positions.iter().any(|&(atom, _)| it.is_shared_by_aromatic_rings(atom));
        match it.ring(ipso) {
            5 => {
                let is_imidazole = nitrogens.len() == 2
                    && nitrogens.iter().all(|&atom| it.count(atom, N) == 0)
                    && nitrogens.iter().any(|&atom| has_proton(atom));
                let is_pyrrole = nitrogens.len() == 1 && it.next_to(ipso).any(has_proton);
                (is_imidazole || is_pyrrole) && !is_fused()
            }
            6 => {
                is_beside_phenol(it, ipso)
                    || it.next_to(ipso).all(|next| it.element(next) == C)
                        && positions.iter().any(|&(atom, _)| has_proton(atom))
                        && positions.iter().filter(|&&(atom, _)| it.is_carbonyl(atom)).count() == 2
            }
            _ => false,
        }
    };
    it.is_trifluoromethyl(carbon)
        && it.next_to(carbon).any(|ipso| it.is_aromatic_carbon(ipso) && is_labile(ipso))
}

/// Returns true for the carbon of an alkyl sulfonate, which a carboxylate or hydroxide takes, for the sulfur of an aryl triflate, and for a sulfone beside the nitrogen of an azine or across from it, which hydroxide
/// takes (March, chapters 10 and 13; Joule and Mills 2010, chapters 8 and 14).
fn is_hydrolysed_sulfonyl_group(it: &Facts, sulfur: u32) -> bool {
    let is_alkyl_sulfonate = |oxygen: u32| {
        it.group(oxygen) == Group::SulfonateOxygen
            && it.next_to(oxygen).any(|carbon| it.is_sp3(carbon) && it.hydrogens(carbon) == 2)
    };
    let is_triflate = || {
        it.next_to(sulfur).any(|next| it.group(next) == Group::SulfonateOxygen)
            && it.next_to(sulfur).any(|next| it.is_trifluoromethyl(next))
    };
    let is_on_diazine = |ipso: u32| {
        let nitrogens = aromatic_positions(&it.structure, ipso).into_iter().filter(|&(atom, distance)| {
            distance != 2 && it.group(atom) == Group::Azine && it.ring(atom) == 6
        });
        it.is_aromatic(ipso) && nitrogens.count() > 1
    };
    it.element(sulfur) == S
        && it.oxo(sulfur) == 2
        && (it.next_to(sulfur).any(is_alkyl_sulfonate)
            || is_triflate()
            || it.group(sulfur) == Group::Sulfone && it.next_to(sulfur).any(is_on_diazine))
}

/// Returns true for the carbon of a 4-chloropyrimidin-2-one, which water takes as it takes an acyl chloride (Joule and Mills, chapter 14).
pub fn is_acylimidoyl_chloride(it: &Facts, atom: u32) -> bool {
    let is_acylated =
        |next: u32| it.group(next) == Group::Azine && it.next_to(next).any(|far| it.is_carbonyl(far));
    it.count(atom, CL) == 1 && it.is_aromatic(atom) && it.next_to(atom).any(is_acylated)
}

/// Returns true for the carbon of a chloropyrimidine beside a ring nitrogen, which the heat that an amide of an alkylamine needs hydrolyses (Joule and Mills 2010, chapter 14).
fn is_chloropyrimidine(it: &Facts, carbon: u32) -> bool {
    let positions = || aromatic_positions(&it.structure, carbon);
    it.count(carbon, CL) == 1
        && it.ring(carbon) == 6
        && positions().iter().filter(|&&(atom, distance)| distance != 2 && it.element(atom) == N).count() > 1
}

/// Returns true for the carbon of a 4-chloropyrimidin-2-one or 4-chloroquinazoline, which hydroxide and methoxide take as fast as an ester (Joule and Mills, chapter 14).
fn is_hydrolysed_chloride(it: &Facts, carbon: u32) -> bool {
    let is_azine = |next: u32| it.group(next) == Group::Azine && it.count(next, C) == 2;
    let is_fusion = |next: u32| it.is_shared_by_aromatic_rings(next) && it.ring(next) == 6;
    let is_amidine = |azine: u32| it.next_to(azine).any(|between| it.count(between, N) > 1);
    is_acylimidoyl_chloride(it, carbon)
        || it.count(carbon, CL) == 1
            && it.ring(carbon) == 6
            && it.next_to(carbon).any(is_fusion)
            && it.next_to(carbon).any(|next| is_azine(next) && is_amidine(next))
}

/// Returns true for the oxygen of a methyl or ethyl ester.
fn is_small_ester(it: &Facts, oxygen: u32) -> bool {
    let is_small = |alkyl: u32| {
        it.hydrogens(alkyl) == 3
            || it.hydrogens(alkyl) == 2 && it.next_to(alkyl).any(|next| it.hydrogens(next) == 3)
    };
    it.group(oxygen) == Group::EsterOxygen && it.next_to(oxygen).any(|next| it.is_sp3(next) && is_small(next))
}

/// Returns true for the oxygen of the acetate of a primary or secondary alcohol, which hydroxide takes as fast as a methyl ester (March, chapter 10).
pub fn is_acetate_of_alcohol(it: &Facts, oxygen: u32) -> bool {
    let is_acetyl = |acyl: u32| it.is_carbonyl(acyl) && it.next_to(acyl).any(|next| it.hydrogens(next) == 3);
    let is_open =
        |carbinol: u32| it.is_sp3(carbinol) && it.hydrogens(carbinol) > 0 && it.carbons(carbinol) > 0;
    it.next_to(oxygen).any(is_acetyl) && it.next_to(oxygen).any(is_open)
}

/// Checks the release of a heteroatom from a group that is no protecting group.
fn unprotected_release(step: &Step<'_>, atom: u32, root: u32) -> Verdict {
    let before = &step.before;
    let leaves_alone = step.image(root).is_none();
    // A plain N-alkyl group is not removed: the von Braun reaction and chloroformates need more than a step states.
    let plain = before.element(root) == C
        && before.is_saturated(root)
        && before.element(atom) == N
        && !before.is_benzylic_or_allylic(root)
        && !before.is_alpha(root)
        && !before.next_to(root).any(|next| next != atom && matches!(before.element(next), N | O | S | SI));
    let aryl =
        before.element(root) == C && before.is_aromatic(root) && matches!(before.element(atom), N | O | S);
    if leaves_alone
        && (plain && before.carbons(root) != 3
            || aryl
                && !before.next_to(atom).any(|n| before.is_nitro(n))
                && crate::electrophile::activation(before, root) < 30)
    {
        return Err(Refusal::NoLeavingGroup);
    }
    Ok(())
}

/// Checks the hydrolysis of an acyl compound to its acid.
fn hydrolysis(step: &Step<'_>, carbon: u32) -> Verdict {
    let before = &step.before;
    let rank = |atom: u32| match before.group(atom) {
        Group::AcylHalide | Group::Anhydride | Group::ActiveEster => 100,
        Group::Ester | Group::Thioester => {
            let oxygen = before.next_to(atom).find(|&next| {
                matches!(before.group(next), Group::EsterOxygen | Group::Sulfide | Group::OtherSulfur)
            });
            let root = oxygen.and_then(|oxygen| before.next_to(oxygen).find(|&next| next != atom));
            match (oxygen, root) {
                (Some(_), Some(root)) if before.is_aromatic(root) => 88,
                (Some(_), Some(root)) if before.is_sp3(root) && before.carbons(root) == 3 => 8,
                (Some(_), Some(root)) => {
                    [74, 70, 55, 8][before.carbons(root).min(3)] - acyl_hindrance(before, atom)
                        + azine_bonus(before, atom)
                }
                _ => 60,
            }
        }
        Group::Carbonate => 70,
        Group::Nitrile => 20,
        Group::Amide | Group::Weinreb => 12,
        _ => 0,
    };
    let own = rank(carbon);
    let competing = own > 0
        && step.atoms().any(|atom| {
            atom != carbon
                && step.is_untouched(atom)
                && !step.are_equivalent(atom, carbon)
                && (rank(atom) > own - 3
                    || is_hydrolysed_halide(before, atom)
                    || is_hydrolysed_sulfonyl_group(before, atom)
                    || is_hydrolysed_chloride(before, atom))
        });
    if competing { Err(Refusal::CompetingGroup) } else { Ok(()) }
}
