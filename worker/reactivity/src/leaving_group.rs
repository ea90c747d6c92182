//! Leaving groups, and the ease with which they leave.
//!
//! `tables/leaving_groups.tsv` has a column for each kind of substitution. Sources: Streitwieser (Chem. Rev. 1956) for
//! SN2; Stang (Synthesis 1982) for triflates; Miller, "Aromatic Nucleophilic Substitution" (1968), for SNAr; Fitzgerald and others (J. Am. Chem. Soc. 2005)
//! for oxidative addition in couplings.

use std::sync::LazyLock;

use chem::Table;

use crate::change::Facts;
use crate::group::Group;
use crate::named::{named, ranks};
use crate::queries::*;

named! {
/// Leaving group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LeavingGroup {
    Iodide,
    Bromide,
    Chloride,
    Fluoride,
    /// Sulfonate with a carbon of two or more fluorines: triflate, nonaflate and the like.
    Triflate,
    /// Other sulfonate.
    Sulfonate,
    Epoxide,
    Hydroxyl,
    /// Oxygen of an ether or ester.
    Alkoxy,
    Sulfone,
    Sulfoxide,
    Thio,
    Nitro,
    Ammonium,
    Diazonium,
}
}

/// Ranks of a leaving group; `None`: does not leave.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LeavingRanks {
    /// On an sp3 carbon.
    pub sn2: Option<i32>,
    /// On an activated aromatic carbon: what it adds to the activation.
    pub snar: Option<i32>,
    /// In couplings with palladium, nickel or copper.
    pub coupling: Option<i32>,
}

static RANKS: LazyLock<[LeavingRanks; LeavingGroup::ALL.len()]> = LazyLock::new(|| {
    let table = Table {
        file: "leaving_groups.tsv",
        text: include_str!("../tables/leaving_groups.tsv"),
        columns: ["leaving_group", "sn2", "snar", "coupling", "source"],
        keys: 1,
    };
    let rank = |field| if field == "-" { Ok(None) } else { ranks([field]).map(|[rank]| Some(rank)) };
    let rows = table.read(|[leaving, sn2, snar, coupling, _]| {
        let ranks = LeavingRanks { sn2: rank(sn2)?, snar: rank(snar)?, coupling: rank(coupling)? };
        Ok((LeavingGroup::named(leaving)?, ranks))
    });
    let mut of_groups = [LeavingRanks::default(); LeavingGroup::ALL.len()];
    for (leaving, ranks) in rows.expect("leaving_group: a test reads the table") {
        of_groups[leaving as usize] = ranks;
    }
    of_groups
});

/// Ranks of the leaving group that begins with an atom; `None` if it begins with no leaving group.
pub fn leaving_ranks(facts: &Facts, atom: u32) -> Option<LeavingRanks> {
    LeavingGroup::of(facts, atom).map(|leaving| RANKS[leaving as usize])
}

impl LeavingGroup {
    fn of(facts: &Facts, atom: u32) -> Option<Self> {
        Some(match facts.element(atom) {
            I => Self::Iodide,
            BR => Self::Bromide,
            CL => Self::Chloride,
            F => Self::Fluoride,
            O if facts.group(atom) == Group::SulfonateOxygen => {
                let is_triflate = facts
                    .next_to(atom)
                    .filter(|&next| facts.element(next) == S)
                    .any(|sulfur| facts.next_to(sulfur).any(|carbon| facts.count(carbon, F) > 1));
                if is_triflate { Self::Triflate } else { Self::Sulfonate }
            }
            O if facts.ring(atom) == 3 => Self::Epoxide,
            O if facts.hydrogens(atom) > 0 || facts.at(atom).charge < 0 => Self::Hydroxyl,
            O => Self::Alkoxy,
            S => match facts.oxo(atom) {
                2 => Self::Sulfone,
                1 => Self::Sulfoxide,
                _ => Self::Thio,
            },
            N if facts.is_nitro(atom) => Self::Nitro,
            N if facts.at(atom).charge == 1 && facts.triply(atom).is_some() => Self::Diazonium,
            N if facts.at(atom).charge == 1 => Self::Ammonium,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_a_row_for_each_leaving_group() {
        for &leaving in LeavingGroup::ALL {
            assert_ne!(RANKS[leaving as usize], LeavingRanks::default(), "{leaving:?}");
        }
        let iodide = LeavingRanks { sn2: Some(82), snar: Some(-4), coupling: Some(150) };
        assert_eq!(RANKS[LeavingGroup::Iodide as usize], iodide);
    }
}
