//! Protecting groups of heteroatoms: how they are recognised, and how soon each reagent removes them.
//!
//! The orders are those of Wuts and Greene, "Protective Groups in Organic Synthesis" (reactivity charts 1 to 10). They are
//! in `tables/protecting_groups.tsv`, a column for each reagent. The code adds corrections for the surroundings.

use std::sync::LazyLock;

use chem::Table;

use crate::change::Facts;
use crate::group::{Group, aromatic_positions};
use crate::named::{named, ranks};
use crate::queries::*;
use crate::reaction_class::{ReactionClass, class};

named! {
/// Protecting group of a heteroatom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProtectingGroup {
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
pub struct Removal {
    pub class: ReactionClass,
    /// By acid.
    pub acid: i32,
    /// By hydroxide; `None`: as the ester that it is.
    pub base: Option<i32>,
    /// By hydrogen and palladium.
    pub hydrogen: i32,
    /// By fluoride.
    pub fluoride: i32,
    /// True if boron tribromide or hot acid removes the group too.
    pub by_strong_acid: bool,
    /// True if aluminium chloride or chlorosulfonic acid removes the group too.
    pub by_lewis_acid: bool,
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
    let mut rows = rows.expect("protecting_group: a test reads the table");
    rows.sort_by_key(|&(group, _)| group as usize);
    assert_eq!(
        rows.len(),
        ProtectingGroup::ALL.len(),
        "protecting_group: the table has a row for each group"
    );
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
    /// Returns its removal.
    pub fn removal(self) -> &'static Removal {
        &REMOVALS[self as usize]
    }

    /// Returns true for a silyl group, which fluoride removes.
    pub fn is_silyl(self) -> bool {
        self.removal().fluoride > 0
    }
}

/// Class of the removal of the group between `atom` and `root`.
pub fn class(it: &Facts, atom: u32, root: u32) -> ReactionClass {
    protecting_group(it, atom, root)
        .map_or(class!("deprotection"), |protecting_group| protecting_group.removal().class)
}

/// Protecting group that begins with the bond from a heteroatom to `root`.
pub fn protecting_group(it: &Facts, atom: u32, root: u32) -> Option<ProtectingGroup> {
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
pub fn acid_lability(it: &Facts, protecting_group: ProtectingGroup, atom: u32) -> i32 {
    let rank = protecting_group.removal().acid;
    match protecting_group {
        // The ring's other bond holds the alcohol near.
        ProtectingGroup::Tetrahydropyranyl if it.ring(atom) > 0 && it.element(atom) == O => rank - 10,
        ProtectingGroup::Methoxybenzyl | ProtectingGroup::TertButylEther if it.element(atom) != O => 0,
        _ => rank,
    }
}

/// Rank of a protecting group's removal by hydrogen and palladium; 0: not removed.
pub fn hydrogenolysis_lability(it: &Facts, protecting_group: ProtectingGroup, atom: u32) -> i32 {
    match protecting_group {
        ProtectingGroup::Methoxybenzyl if it.element(atom) != O => 0,
        // Amides keep their benzyl groups.
        ProtectingGroup::BenzylAmine if it.is_alpha(atom) => 0,
        protecting_group => protecting_group.removal().hydrogen,
    }
}

/// Rank of a protecting group's removal by hydroxide; 0: not removed.
pub fn base_lability(it: &Facts, protecting_group: ProtectingGroup, atom: u32) -> i32 {
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
pub fn azine_bonus(it: &Facts, acyl: u32) -> i32 {
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
pub fn acyl_hindrance(it: &Facts, acyl: u32) -> i32 {
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

/// Bonus on a silyl ether's removal rank for its position.
pub fn silyl_position_bonus(it: &Facts, atom: u32) -> i32 {
    let carbon = it.next_to(atom).find(|&next| it.element(next) == C);
    carbon.map_or(0, |carbon| match it.carbons(carbon) {
        _ if it.is_aromatic(carbon) => 12,
        0 | 1 => 8,
        2 => 0,
        _ => -8,
    })
}

/// Bonus on a Boc group's removal rank for its position.
pub fn boc_position_bonus(it: &Facts, atom: u32) -> i32 {
    match () {
        () if it.is_aromatic(atom) => 3,
        () if it.next_to(atom).filter(|&next| it.is_carbonyl(next)).count() > 1 => 2,
        () if it.next_to(atom).any(|next| it.is_aromatic(next)) => 1,
        () => 0,
    }
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
