//! Protecting groups, esters and amides: the order in which they are cleaved.
//!
//! The orders are those of Wuts and Greene, "Protective Groups in Organic Synthesis" (reactivity charts 1 to 10). They are
//! in `tables/protecting_groups.tsv`, a column for each reagent. The code adds corrections for the surroundings.

use std::sync::LazyLock;

use chem::{Order, Table};

use crate::change::{Facts, Step};
use crate::event::Event;
use crate::group::{Group, aromatic_positions};
use crate::named::{named, ranks};
use crate::queries::*;
use crate::reaction_class::{ReactionClass, class};
use crate::refusal::Refusal;

type Verdict = Result<(), Refusal>;

named! {
/// Protecting group of a heteroatom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ProtectingGroup {
    Trityl,
    Trimethylsilyl,
    Triethylsilyl,
    TertButyldimethylsilyl,
    Triisopropylsilyl,
    TertButyldiphenylsilyl,
    OtherSilyl,
    Tetrahydropyranyl,
    Acetal,
    Boc,
    TertButylEster,
    TertButylEther,
    Methoxybenzyl,
    Methoxymethyl,
    Cbz,
    Fmoc,
    Alloc,
    Allyl,
    BenzylEster,
    BenzylEther,
    BenzylAmine,
    /// Enol ether.
    Vinyl,
    /// Alkyl ether of a phenol, other than a methyl ether.
    ArylAlkyl,
    /// Ester whose alcohol or phenol stays.
    Acyl,
    Trifluoroacetyl,
    /// Ester whose acid stays.
    Ester,
    Amide,
    Phthalimide,
    ArylMethyl,
    AlkylMethyl,
    Sulfonyl,
}
}

/// Removal of a protecting group: its class, and the rank for each reagent; 0: not removed.
#[derive(Debug, Clone, Copy)]
struct Removal {
    class: ReactionClass,
    /// By acid.
    acid: i32,
    /// By hydroxide; `None`: as the ester that it is.
    base: Option<i32>,
    /// By hydrogen and palladium.
    hydrogen: i32,
    /// By fluoride.
    fluoride: i32,
    /// True if boron tribromide or hot acid removes the group too.
    by_strong_acid: bool,
    /// True if aluminium chloride or chlorosulfonic acid removes the group too.
    by_lewis_acid: bool,
}

/// Removals by [`ProtectingGroup`].
static REMOVALS: LazyLock<Vec<Removal>> = LazyLock::new(|| {
    let table = Table {
        file: "protecting_groups.tsv",
        text: include_str!("../tables/protecting_groups.tsv"),
        columns: [
            "group",
            "removal",
            "acid",
            "base",
            "hydrogen",
            "fluoride",
            "strong_acid",
            "lewis_acid",
            "source",
        ],
        keys: 1,
    };
    let rows = table.read(|[group, removal, acid, base, hydrogen, fluoride, strong_acid, lewis_acid, _]| {
        let group = ProtectingGroup::named(group)?;
        let class = ReactionClass::named(removal).ok_or(format!("`{removal}` is no reaction class"))?;
        let base = if base == "ester" { None } else { Some(ranks([base])?[0]) };
        let [acid, hydrogen, fluoride] = ranks([acid, hydrogen, fluoride])?;
        let by_strong_acid = yes_or_no(strong_acid)?;
        let by_lewis_acid = yes_or_no(lewis_acid)?;
        Ok((group, Removal { class, acid, base, hydrogen, fluoride, by_strong_acid, by_lewis_acid }))
    });
    let mut rows = rows.expect("cleavage: a test reads the table");
    rows.sort_by_key(|&(group, _)| group as usize);
    assert_eq!(rows.len(), ProtectingGroup::ALL.len(), "cleavage: the table has a row for each group");
    rows.into_iter().map(|(_, removal)| removal).collect()
});

fn yes_or_no(field: &str) -> Result<bool, String> {
    match field {
        "yes" => Ok(true),
        "no" => Ok(false),
        field => Err(format!("`{field}` is neither yes nor no")),
    }
}

impl ProtectingGroup {
    fn removal(self) -> &'static Removal {
        &REMOVALS[self as usize]
    }

    fn is_silyl(self) -> bool {
        self.removal().fluoride > 0
    }
}

/// Class of the removal of the group between `atom` and `root`.
pub fn class(it: &Facts, atom: u32, root: u32) -> ReactionClass {
    protecting_group(it, atom, root)
        .map_or(class!("deprotection"), |protecting_group| protecting_group.removal().class)
}

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

/// Protecting group that begins with the bond from a heteroatom to `root`.
fn protecting_group(it: &Facts, atom: u32, root: u32) -> Option<ProtectingGroup> {
    let on_acyl = it.next_to(atom).any(|next| next != root && it.is_carbonyl(next) && !it.is_aromatic(next));
    match it.element(root) {
        SI => {
            let methyls = it.next_to(root).filter(|&next| it.hydrogens(next) == 3).count() as i32;
            let bulky = it.next_to(root).filter(|&next| it.carbons(next) == 4).count() as i32;
            Some(match (methyls, bulky, it.aryls(root)) {
                (3, _, _) => ProtectingGroup::Trimethylsilyl,
                (2, 1, _) => ProtectingGroup::TertButyldimethylsilyl,
                (_, 1, 2) => ProtectingGroup::TertButyldiphenylsilyl,
                (0, 0, 0) if it.next_to(root).any(|next| it.carbons(next) == 3) => {
                    ProtectingGroup::Triisopropylsilyl
                }
                (0, 0, 0) => ProtectingGroup::Triethylsilyl,
                _ => ProtectingGroup::OtherSilyl,
            })
        }
        S if it.oxo(root) == 2 => Some(ProtectingGroup::Sulfonyl),
        C if it.is_carbonyl(root) && !it.is_aromatic(root) => acyl_protecting_group(it, atom, root),
        C if it.group(root) == Group::Alkene && it.group(atom) == Group::Ether => {
            Some(ProtectingGroup::Vinyl)
        }
        C if it.is_saturated(root) => {
            let oxygen = it.next_to(root).any(|next| next != atom && it.element(next) == O);
            Some(match () {
                () if it.aryls(root) >= 3 => ProtectingGroup::Trityl,
                () if oxygen && it.ring(root) >= 5 => ProtectingGroup::Tetrahydropyranyl,
                () if oxygen && it.hydrogens(root) == 2 => ProtectingGroup::Methoxymethyl,
                () if oxygen => ProtectingGroup::Acetal,
                () if it.carbons(root) == 3 && on_acyl => ProtectingGroup::TertButylEster,
                () if it.carbons(root) == 3 && it.aryls(root) == 0 => ProtectingGroup::TertButylEther,
                () if it.aryls(root) > 0 && it.carbons(root) == 1 && on_acyl && it.element(atom) == O => {
                    ProtectingGroup::BenzylEster
                }
                // A benzylic or allylic bond of the atom's own ring stays.
                () if (it.aryls(root) > 0 || is_allyl(it, root))
                    && it.bond(atom, root).is_some_and(|bond| bond.ring > 0) =>
                {
                    return None;
                }
                () if it.aryls(root) == 1 && has_para_methoxy(it, root) => ProtectingGroup::Methoxybenzyl,
                () if it.aryls(root) > 0 && it.element(atom) == O => ProtectingGroup::BenzylEther,
                () if it.aryls(root) > 0 && it.element(atom) == N => ProtectingGroup::BenzylAmine,
                () if is_allyl(it, root) => ProtectingGroup::Allyl,
                () if on_acyl && it.element(atom) == O => ProtectingGroup::Ester,
                () if it.element(atom) == O && it.next_to(atom).any(|next| it.is_aromatic(next)) => {
                    if it.hydrogens(root) == 3 {
                        ProtectingGroup::ArylMethyl
                    } else {
                        ProtectingGroup::ArylAlkyl
                    }
                }
                () if it.element(atom) == O => ProtectingGroup::AlkylMethyl,
                () => return None,
            })
        }
        _ => None,
    }
}

fn acyl_protecting_group(it: &Facts, atom: u32, root: u32) -> Option<ProtectingGroup> {
    let oxygen =
        it.next_to(root).find(|&next| next != atom && it.element(next) == O && it.is_saturated(next));
    let Some(oxygen) = oxygen else {
        let fluorinated = it.next_to(root).any(|next| it.is_trifluoromethyl(next));
        return Some(match it.element(atom) {
            _ if fluorinated => ProtectingGroup::Trifluoroacetyl,
            N if it.group(atom) == Group::ImideNitrogen && it.is_in_ring(atom) => {
                ProtectingGroup::Phthalimide
            }
            N => ProtectingGroup::Amide,
            O => ProtectingGroup::Acyl,
            _ => return None,
        });
    };
    let alkyl = it.next_to(oxygen).find(|&next| next != root)?;
    let fluorenyl =
        it.next_to(alkyl).any(|next| it.is_sp3(next) && it.ring(next) == 5 && it.carbons(next) == 3);
    Some(match () {
        () if it.is_sp3(alkyl) && it.carbons(alkyl) == 3 && it.ring(alkyl) == 0 => ProtectingGroup::Boc,
        () if fluorenyl && it.hydrogens(alkyl) == 2 => ProtectingGroup::Fmoc,
        () if it.is_sp3(alkyl) && it.next_to(alkyl).any(|next| it.is_aromatic(next)) => ProtectingGroup::Cbz,
        () if is_allyl(it, alkyl) => ProtectingGroup::Alloc,
        () => ProtectingGroup::Amide,
    })
}

fn is_allyl(it: &Facts, carbon: u32) -> bool {
    it.is_sp3(carbon) && it.next_to(carbon).any(|next| it.group(next) == Group::Alkene)
}

fn has_para_methoxy(it: &Facts, benzyl: u32) -> bool {
    let ipso = it.next_to(benzyl).find(|&next| it.is_aromatic(next));
    ipso.is_some_and(|ipso| {
        aromatic_positions(&it.structure, ipso).iter().any(|&(atom, distance)| {
            matches!(distance, 1 | 3) && it.next_to(atom).any(|next| it.group(next) == Group::ArylEther)
        })
    })
}

/// Rank of a protecting group's removal by acid; 0: not removed.
fn acid_lability(it: &Facts, protecting_group: ProtectingGroup, atom: u32) -> i32 {
    let rank = protecting_group.removal().acid;
    match protecting_group {
        // The ring's other bond holds the alcohol near.
        ProtectingGroup::Tetrahydropyranyl if it.ring(atom) > 0 => rank - 10,
        ProtectingGroup::Methoxybenzyl | ProtectingGroup::TertButylEther if it.element(atom) != O => 0,
        _ => rank,
    }
}

/// Rank of a protecting group's removal by hydrogen and palladium; 0: not removed.
fn hydrogenolysis_lability(it: &Facts, protecting_group: ProtectingGroup, atom: u32) -> i32 {
    match protecting_group {
        ProtectingGroup::Methoxybenzyl if it.element(atom) != O => 0,
        // Amides keep their benzyl groups.
        ProtectingGroup::BenzylAmine if it.is_alpha(atom) => 0,
        protecting_group => protecting_group.removal().hydrogen,
    }
}

/// Rank of a protecting group's removal by hydroxide; 0: not removed.
fn base_lability(it: &Facts, protecting_group: ProtectingGroup, atom: u32) -> i32 {
    match (protecting_group, protecting_group.removal().base) {
        (ProtectingGroup::Amide, _) if it.next_to(atom).filter(|&next| it.is_carbonyl(next)).count() > 1 => {
            40
        }
        (_, Some(rank)) => rank,
        (_, None) => ester_lability(it, atom),
    }
}

/// Rank of the hydrolysis of the ester at an atom; 0 if there is none.
fn ester_lability(it: &Facts, atom: u32) -> i32 {
    let acyl = it.next_to(atom).find(|&next| it.is_carbonyl(next) && !it.is_aromatic(next));
    let alkyl = it.next_to(atom).find(|&next| Some(next) != acyl);
    let (Some(acyl), Some(alkyl)) = (acyl, alkyl) else { return 0 };
    if it.group(acyl) == Group::Carbamate {
        return 10;
    }
    let ease = match it.carbons(alkyl) {
        _ if it.is_aromatic(alkyl) => 88,
        0 => 74,
        1 => 70,
        2 => 55,
        _ => 8,
    };
    ease - acyl_hindrance(it, acyl) + azine_bonus(it, acyl)
}

/// Bonus on the hydrolysis of an ester on a carbon beside the nitrogen of an azine, isoxazole, oxazole or thiazole, which draws electrons as a second carbonyl group
/// would (Joule and Mills, chapters 8, 24 and 25).
fn azine_bonus(it: &Facts, acyl: u32) -> i32 {
    let is_isoxazole_oxygen = |next: u32| {
        it.element(next) == O
            && it.is_aromatic(next)
            && it.next_to(next).any(|far| it.group(far) == Group::Azine)
    };
    let is_poor = |ipso: u32| {
        let positions = aromatic_positions(&it.structure, ipso);
        it.next_to(ipso).any(|next| it.group(next) == Group::Azine || is_isoxazole_oxygen(next))
            && (it.ring(ipso) == 6 || positions.iter().any(|&(atom, _)| matches!(it.element(atom), O | S)))
    };
    if it.next_to(acyl).any(|ipso| it.is_aromatic_carbon(ipso) && is_poor(ipso)) { 12 } else { 0 }
}

/// Deduction for steric hindrance next to a carbonyl carbon.
fn acyl_hindrance(it: &Facts, acyl: u32) -> i32 {
    it.next_to(acyl)
        .map(|next| match it.carbons(next) {
            4 => 30,
            _ if it.is_aromatic(next) => 5,
            3 => 5,
            _ => 0,
        })
        .max()
        .unwrap_or(0)
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

fn cleavage(step: &Step<'_>, protecting_group: ProtectingGroup, atom: u32, root: u32) -> Verdict {
    let before = &step.before;
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
    let acid_rank = |protecting_group, atom, _root| acid_lability(before, protecting_group, atom);
    let by_acid = beats(&acid_rank, 8) && !step.keeps_epoxide();
    let by_base = beats(&|protecting_group, atom, _| base_lability(before, protecting_group, atom), -3)
        && !keeps_base_labile_group(step, protecting_group, atom);
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
        ProtectingGroup::BenzylAmine => by_hydrogen,
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
        ProtectingGroup::ArylMethyl => aryl_methyl(step, &kept, atom),
        ProtectingGroup::AlkylMethyl => by_acid_strong(before, &kept) && before.hydrogens(root) > 0,
        ProtectingGroup::ArylAlkyl => by_acid_strong(before, &kept),
        _ => true,
    };
    if works { Ok(()) } else { Err(Refusal::CompetingGroup) }
}

impl Facts {
    fn is_phenolic(&self, atom: u32) -> bool {
        self.next_to(atom).any(|next| self.is_aromatic(next))
    }
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
        // Secondary alkyl groups leave as cations before methyl groups do, and ethers of two alkyl groups are the more basic ones.
        ProtectingGroup::Ester => before.carbons(root) > 1,
        ProtectingGroup::ArylAlkyl => before.carbons(root) > 1 && before.ring(atom) == 0,
        ProtectingGroup::AlkylMethyl => before.group(atom) == Group::Ether && before.ring(atom) == 0,
        protecting_group => protecting_group.removal().by_strong_acid,
    })
}

/// Returns true if boron tribromide cleaves this methyl ether of a phenol. Ethers next to a carbonyl group react
/// first.
fn aryl_methyl(step: &Step<'_>, kept: &[(ProtectingGroup, u32, u32)], atom: u32) -> bool {
    let before = &step.before;
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

/// Bonus on a silyl ether's removal rank for its position.
fn silyl_position_bonus(it: &Facts, atom: u32) -> i32 {
    let carbon = it.next_to(atom).find(|&next| it.element(next) == C);
    carbon.map_or(0, |carbon| match it.carbons(carbon) {
        _ if it.is_aromatic(carbon) => 12,
        0 | 1 => 8,
        2 => 0,
        _ => -8,
    })
}

/// Bonus on a Boc group's removal rank for its position.
fn boc_position_bonus(it: &Facts, atom: u32) -> i32 {
    match () {
        () if it.is_aromatic(atom) => 3,
        () if it.next_to(atom).filter(|&next| it.is_carbonyl(next)).count() > 1 => 2,
        () if it.next_to(atom).any(|next| it.is_aromatic(next)) => 1,
        () => 0,
    }
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
    step.atoms().any(|other| {
        step.is_untouched(other)
            && match before.group(other) {
                Group::AcylHalide | Group::Anhydride | Group::ActiveEster | Group::SulfonylHalide => true,
                // Acid in an alcohol frees anilines, and an ester remains an ester.
                Group::Ester => protecting_group == ProtectingGroup::Amide && !anilide,
                // Methyl and ethyl carbamates need hot alkali or acid.
                Group::Nitrile => is_carbamate,
                Group::TertiaryAlcohol => {
                    is_carbamate && before.next_to(other).any(|next| before.is_benzylic_or_allylic(next))
                }
                _ => false,
            }
    })
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
                && rank(atom) > own - 3
        });
    if competing { Err(Refusal::CompetingGroup) } else { Ok(()) }
}

/// Classes of all removals.
#[cfg(test)]
pub fn removals() -> impl Iterator<Item = ReactionClass> {
    REMOVALS.iter().map(|removal| removal.class)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reaction_class::Category;

    #[test]
    fn removals_are_read_from_the_table() {
        let boc = ProtectingGroup::Boc.removal();

        assert_eq!((boc.class.name, boc.acid, boc.base), ("Boc removal", 78, Some(0)));
        assert_eq!(ProtectingGroup::Ester.removal().base, None);
        assert!(
            ProtectingGroup::ALL
                .iter()
                .all(|&group| group.removal().class.category == Category::Deprotection)
        );
        assert!(ProtectingGroup::Triethylsilyl.is_silyl() && !ProtectingGroup::Trityl.is_silyl());
    }
}
