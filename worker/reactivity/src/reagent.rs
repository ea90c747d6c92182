//! Nucleophilic groups, for each kind of reagent: `tables/nucleophiles.tsv`.
//!
//! Each column of the table is the order for one kind of reagent. Numbers of different columns cannot be compared.
//! Sources: Mayr's nucleophilicity scale (Mayr and Patz, Angew. Chem. Int. Ed. 1994) for the order of amines, sulfur
//! and oxygen; acidities in DMSO (Bordwell, Acc. Chem. Res. 1988) for the order of deprotonation and the column `pka`;
//! Surry and Buchwald (Angew. Chem. Int. Ed. 2008) for palladium; Klapars and others (J. Am. Chem. Soc. 2002) for
//! copper; Clayden, Greeves and Warren for the rest.

use std::sync::LazyLock;

use chem::Table;

use crate::group::Group;
use crate::named::{named, ranks};

/// Rank difference below which sites react alike.
pub const TIE_MARGIN: i32 = 5;

named! {
/// Reagent that a nucleophile reacts with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reagent {
    /// Acyl chlorides, anhydrides, coupled acids, chloroformates, isocyanates.
    Acyl,
    /// Sulfonyl halides.
    Sulfonyl,
    /// Alkyl halides, sulfonates and epoxides, with base.
    Alkyl,
    /// Activated aryl halides.
    Aryl,
    /// Aryl halides with palladium.
    Palladium,
    /// Aryl halides and boronic acids with copper.
    Copper,
    /// Aldehydes and ketones.
    Carbonyl,
    /// Silyl halides.
    Silyl,
    /// Michael acceptors.
    Acceptor,
}
}

impl Reagent {
    /// Margin by which the rank of an unreacted site that needs other conditions has to be lower. Alkylations and
    /// arylations at one of two such sites are run for the mixture that they give. For these, only a clearly better
    /// site speaks against the step.
    pub fn required_margin(self) -> i32 {
        match self {
            Self::Alkyl | Self::Aryl | Self::Palladium | Self::Copper => -TIE_MARGIN,
            Self::Acyl | Self::Sulfonyl | Self::Carbonyl | Self::Silyl | Self::Acceptor => TIE_MARGIN,
        }
    }

    pub fn is_metal(self) -> bool {
        matches!(self, Self::Palladium | Self::Copper)
    }
}

/// Row of the table.
#[derive(Debug, Clone, Copy, Default)]
pub struct Nucleophile {
    /// pKa in DMSO; `None` for a nucleophile that needs no base.
    pub pka: Option<i32>,
    /// Error of a site's rank.
    pub error: i32,
    /// Ranks in the order of [`Reagent`]; 0: does not react.
    ranks: [i32; Reagent::ALL.len()],
}

static NUCLEOPHILES: LazyLock<[Nucleophile; Group::ALL.len()]> = LazyLock::new(|| {
    let table = Table {
        file: "nucleophiles.tsv",
        text: include_str!("../tables/nucleophiles.tsv"),
        columns: [
            "group",
            "pka",
            "error",
            "acyl",
            "sulfonyl",
            "alkyl",
            "aryl",
            "palladium",
            "copper",
            "carbonyl",
            "silyl",
            "acceptor",
            "source",
        ],
        keys: 1,
    };
    let rows = table.read(|[group, pka, error, fields @ .., _]| {
        let pka = if pka == "-" { None } else { Some(ranks([pka])?[0]) };
        let [error] = ranks([error])?;
        Ok((Group::named(group)?, Nucleophile { pka, error, ranks: ranks(fields)? }))
    });
    let mut of_groups = [Nucleophile::default(); Group::ALL.len()];
    for (group, nucleophile) in rows.expect("nucleophile: a test reads the table") {
        of_groups[group as usize] = nucleophile;
    }
    of_groups
});

/// Row of a group.
pub fn nucleophile(group: Group) -> &'static Nucleophile {
    &NUCLEOPHILES[group as usize]
}

/// Rank of a group before its surroundings count; 0: does not react.
pub fn group_rank(group: Group, reagent: Reagent) -> i32 {
    nucleophile(group).ranks[reagent as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_read_from_the_table() {
        assert_eq!(group_rank(Group::Thiol, Reagent::Acceptor), 110);
        assert_eq!(nucleophile(Group::Alkyl).ranks, [0; 9]);
        assert_eq!(nucleophile(Group::Phenol).pka, Some(18));
    }
}
