//! Reactivity of electrophiles, for each kind of nucleophile.
//!
//! Orders are in `tables/electrophiles.tsv` and `tables/carbonyls.tsv`, leaving groups in
//! [`leaving_group`](crate::leaving_group). The code adds corrections for the surroundings.
//!
//! Sources: Clayden, Greeves and Warren for the order of carbonyl compounds; Streitwieser (Chem. Rev. 1956) for SN2
//! rates by substitution; Miller, "Aromatic Nucleophilic Substitution" (1968), and the σ⁻ constants
//! of Hansch, Leo and Taft (Chem. Rev. 1991) for activation in SNAr.

use std::sync::LazyLock;

use chem::{Order, Table};

use crate::change::{Facts, Step};
use crate::group::{Group, aromatic_positions, positions_beside};
use crate::halide_order::crowding;
use crate::leaving_group::leaving_ranks;
use crate::named::{named, ranks};
use crate::queries::*;
use crate::reagent::TIE_MARGIN;

/// Activation from which an aromatic halide reacts with nucleophiles without a metal.
pub const ACTIVATED: i32 = 16;
/// Activation from which amines and alkoxides displace chloride, bromide and iodide.
const ACTIVATED_CHLORIDE: i32 = 24;
/// The same for anilines: 4-chloropyridine, no 2-chloropyridine (Miller 1968).
const ACTIVATED_FOR_ANILINE: i32 = 36;
/// Activation from which a strong anion displaces fluoride.
const ACTIVATED_FOR_ANION: i32 = 4;
/// Activation from which weak nucleophiles react.
pub const STRONGLY_ACTIVATED: i32 = 40;

/// Ranks of an electrophilic group; 0: is not attacked.
#[derive(Debug, Clone, Copy, Default)]
struct ElectrophileRanks {
    /// Towards N, O and S nucleophiles.
    heteroatom: i32,
    /// Towards Grignard and lithium reagents, before corrections.
    organometal: i32,
}

static ELECTROPHILES: LazyLock<[ElectrophileRanks; Group::ALL.len()]> = LazyLock::new(|| {
    let table = Table {
        file: "electrophiles.tsv",
        text: include_str!("../tables/electrophiles.tsv"),
        columns: ["group", "heteroatom", "organometal", "source"],
        keys: 1,
    };
    let rows = table.read(|[group, fields @ .., _]| Ok((Group::named(group)?, ranks(fields)?)));
    let mut of_groups = [ElectrophileRanks::default(); Group::ALL.len()];
    for (group, [heteroatom, organometal]) in rows.expect("electrophile: a test reads the table") {
        of_groups[group as usize] = ElectrophileRanks { heteroatom, organometal };
    }
    of_groups
});

/// Rank of a carbonyl or sulfonyl electrophile towards N, O and S nucleophiles; 0 for none.
pub fn acyl(facts: &Facts, atom: u32) -> i32 {
    ELECTROPHILES[facts.group(atom) as usize].heteroatom
}

/// Rank of an sp3 carbon with a leaving group in an SN2; 0 for none.
pub fn alkyl(facts: &Facts, carbon: u32) -> i32 {
    if !facts.is_sp3(carbon) {
        return 0;
    }
    let leaving = facts.next_to(carbon).filter_map(|next| leaving_rank(facts, carbon, next)).max();
    let Some(leaving) = leaving else { return 0 };
    let epoxide = facts.is_beside_epoxide_oxygen(carbon);
    // Epihalohydrins react at the epoxide and close again, which looks like a substitution of the halide.
    let beside_epoxide = !epoxide
        && facts
            .next_to(carbon)
            .any(|next| facts.next_to(next).any(|far| facts.element(far) == O && facts.ring(far) == 3));
    let help = match () {
        () if facts.is_alpha(carbon) => 40,
        () if facts.is_benzylic_or_allylic(carbon) || beside_epoxide => 14,
        () => 0,
    };
    let hindrance = match facts.carbons(carbon) {
        _ if facts.is_neopentylic(carbon) && !epoxide => return 1,
        0 | 1 => 0,
        2 => 30,
        _ => return 1,
    };
    (leaving - hindrance + help + if facts.hydrogens(carbon) == 3 { 12 } else { 0 }).max(1)
}

/// Base rank for [`alkyl`] of `leaving` as a leaving group on an sp3 carbon; `None` if it does not leave.
fn leaving_rank(facts: &Facts, carbon: u32, leaving: u32) -> Option<i32> {
    // A carbon with several halogens, or with a lone pair beside it, follows other rules.
    if facts.next_to(carbon).filter(|&next| is_halogen(facts.element(next))).count() > 1 {
        return None;
    }
    leaving_ranks(facts, leaving)?.sn2
}

/// Activation of an aromatic carbon for nucleophilic attack by the ring around it.
pub fn activation(facts: &Facts, carbon: u32) -> i32 {
    let mut sum = 0;
    for (atom, distance) in aromatic_positions(facts.structure(), carbon) {
        let conjugated = distance == 1 || distance == 3;
        sum += match facts.element(atom) {
            N if facts.at(atom).charge == 1 && conjugated => 34,
            N if facts.degree(atom) == 2 && facts.hydrogens(atom) == 0 => match distance {
                // The N–N bond makes C3 of a pyrazole the slower position, and C5 is conjugated with N2 (Joule and Mills 2010, chapter 25).
                1 if is_beside_pyrrolic(facts, atom, |_| true) => 14,
                2 if is_beside_pyrrolic(facts, atom, |next| facts.bond(next, carbon).is_some()) => 22,
                1 if facts.ring(atom) == 5 => 24,
                1 => 30,
                3 => 38,
                _ => 5,
            },
            // The bridgehead of an imidazopyridine, which the other ring makes a pyridinium.
            N if distance == 1 && facts.ring(carbon) == 6 && facts.is_shared_by_aromatic_rings(atom) => 16,
            O | S if distance == 1 => 6,
            _ => {
                let quinolone = conjugated && carries_ring_carbonyl(facts, carbon, atom);
                let fused = distance == 1 && facts.is_shared_by_aromatic_rings(atom);
                substituent(facts, atom, distance, conjugated)
                    + if quinolone { 28 } else { 0 }
                    + if fused { 6 } else { 0 }
            }
        };
    }
    sum
}

/// Returns true for a nitrogen of a ring of five beside a `wanted` one that gives the ring two electrons and has a group on it.
fn is_beside_pyrrolic(facts: &Facts, nitrogen: u32, wanted: impl Fn(u32) -> bool) -> bool {
    facts.ring(nitrogen) == 5
        && facts.next_to(nitrogen).any(|next| {
            facts.element(next) == N && facts.is_aromatic(next) && facts.degree(next) == 3 && wanted(next)
        })
}

/// Returns true if an aromatic atom is bonded to a carbonyl group that is part of a ring fused to its own
/// (quinolones).
fn carries_ring_carbonyl(facts: &Facts, carbon: u32, atom: u32) -> bool {
    facts.next_to(atom).any(|next| {
        facts.is_aromatic(next)
            && facts.is_carbonyl(next)
            && facts.bond(next, carbon).is_none()
            && !facts.next_to(next).any(|far| facts.bond(far, carbon).is_some())
    })
}

fn substituent(facts: &Facts, atom: u32, distance: u32, conjugated: bool) -> i32 {
    let outside = facts.around(atom).iter().filter(|bond| bond.order != Order::Aromatic).map(|bond| bond.to);
    outside
        .map(|next| match facts.element(next) {
            _ if facts.is_nitro(next) => [12, 42][usize::from(conjugated)],
            O if conjugated && facts.bond(atom, next).is_some_and(|bond| bond.order == Order::Double) => 12,
            _ if facts.is_trifluoromethyl(next) => [4, 11][usize::from(conjugated)],
            _ if facts.is_acceptor(next) && !facts.is_aromatic(next) => [4, 18][usize::from(conjugated)],
            C if conjugated && facts.is_vinylogous_acceptor(next) => 13,
            F | CL | BR | I => [4, 3][usize::from(distance == 3)],
            N if facts.is_saturated(next) && !facts.is_alpha(next) => [-8, -16][usize::from(conjugated)],
            N | O | S if conjugated && facts.is_saturated(next) => -12,
            O if facts.is_saturated(next) => -4,
            _ => 0,
        })
        .sum()
}

/// Activation from which an aromatic halide takes a nucleophile without a metal. N–H of amides, amino azines, and anilines with a second group
/// on nitrogen, take only rings like those of pyrimidine or nitrobenzene; other halides than fluoride need more for N and O.
///
/// The lithium amide of an aniline takes the halide beside a carboxylate or an ester, which holds the lithium (Davis and others, Org. Process Res.
/// Dev. 2005, 9, 843).
pub fn needed_activation(facts: &Facts, nucleophile: u32, leaving: u32) -> i32 {
    if facts.group(nucleophile) == Group::Aniline && is_beside_carboxyl(facts, leaving) {
        return ACTIVATED;
    }
    let is_weak = match facts.group(nucleophile) {
        Group::AmideNitrogen => !facts.is_aromatic(nucleophile),
        Group::CarbamateNitrogen | Group::UreaNitrogen | Group::SecondaryAniline | Group::Diarylamine => true,
        Group::PoorAniline => true,
        _ => false,
    };
    let is_slow = is_heavy_halogen(facts.element(leaving)) && matches!(facts.element(nucleophile), N | O);
    match (is_weak, is_slow) {
        (true, _) => STRONGLY_ACTIVATED,
        (false, true) if facts.group(nucleophile) == Group::Aniline => ACTIVATED_FOR_ANILINE,
        (false, true) => ACTIVATED_CHLORIDE,
        (false, false) => ACTIVATED,
    }
}

/// Returns true for a chloride or bromide that the nitrogen of a pyridine alone activates, which takes amines above 120 °C (Miller 1968).
pub fn needs_heat(facts: &Facts, carbon: u32, leaving: u32) -> bool {
    matches!(facts.element(leaving), CL | BR)
        && (ACTIVATED_CHLORIDE..ACTIVATED_FOR_ANILINE).contains(&activation(facts, carbon))
}

/// Returns true if the anion of an alcohol or azole displaces this fluoride: such anions take rings that hardly help (fluorobenzonitriles with the
/// nitrile meta, the benzene rings of quinazolines and quinolines), in DMSO at 60 to 140 °C.
pub fn takes_strong_anion(facts: &Facts, nucleophile: u32, carbon: u32, leaving: u32) -> bool {
    let has_nitro = || {
        let mut ring = aromatic_positions(facts.structure(), carbon).into_iter();
        ring.any(|(atom, _)| facts.next_to(atom).any(|next| facts.is_nitro(next)))
    };
    facts.element(leaving) == F
        && match facts.group(nucleophile) {
            // Alkoxides reduce nitroarenes that they do not substitute.
            Group::PrimaryAlcohol | Group::SecondaryAlcohol => {
                !has_nitro() && !is_fused_to_donor(facts, carbon)
            }
            group => group == Group::Azole && !is_nitroazole(facts, nucleophile),
        }
        && (activation(facts, carbon) >= ACTIVATED_FOR_ANION || is_fused_to_azine(facts, carbon))
}

/// Returns true for a nitrogen of an azole with a nitro group, whose anion is a weak nucleophile.
pub fn is_nitroazole(facts: &Facts, nitrogen: u32) -> bool {
    positions_beside(facts.structure(), nitrogen, |next| facts.is_nitro(next)) > 0
}

/// Returns true for a carbon of a benzene ring without an acceptor that is fused to an azole by its oxygen, sulfur or substituted nitrogen, which gives the
/// ring electrons.
fn is_fused_to_donor(facts: &Facts, carbon: u32) -> bool {
    let is_donor = |next: u32| {
        facts.ring(next) == 5
            && facts.is_aromatic(next)
            && (matches!(facts.element(next), O | S)
                || facts.element(next) == N && facts.degree(next) + usize::from(facts.hydrogens(next)) == 3)
    };
    let positions = aromatic_positions(facts.structure(), carbon);
    facts.ring(carbon) == 6
        && positions
            .iter()
            .any(|&(atom, _)| facts.is_shared_by_aromatic_rings(atom) && facts.next_to(atom).any(is_donor))
        && !positions.iter().any(|&(atom, _)| facts.bears_acceptor(atom))
}

/// Returns true for a carbon of a benzene ring that is fused to an azine.
fn is_fused_to_azine(facts: &Facts, carbon: u32) -> bool {
    let is_beside_azine = |fusion: u32| {
        facts.is_shared_by_aromatic_rings(fusion)
            && facts.next_to(fusion).any(|next| facts.group(next) == Group::Azine && facts.ring(next) == 6)
    };
    facts.ring(carbon) == 6
        && aromatic_positions(facts.structure(), carbon).iter().any(|&(atom, _)| is_beside_azine(atom))
}

/// Returns true for a fluoride or chloride ortho to an acid or ester.
fn is_beside_carboxyl(facts: &Facts, leaving: u32) -> bool {
    let is_carboxyl = |next: u32| matches!(facts.group(next), Group::Acid | Group::Ester);
    matches!(facts.element(leaving), F | CL)
        && facts.next_to(leaving).filter(|&ipso| facts.is_aromatic(ipso)).any(|ipso| {
            facts.next_to(ipso).any(|ortho| facts.is_aromatic(ortho) && facts.next_to(ortho).any(is_carboxyl))
        })
}

/// Contribution of a leaving group to the rank of an SNAr; `None` if it does not leave.
pub fn aryl_leaving(facts: &Facts, leaving: u32) -> Option<i32> {
    leaving_ranks(facts, leaving)?.snar
}

/// Rank of an aromatic carbon with a leaving group in an SNAr; 0 if it is not activated.
pub fn aryl(facts: &Facts, carbon: u32) -> i32 {
    if !facts.is_aromatic_carbon(carbon) {
        return 0;
    }
    let leaves =
        |&next: &u32| is_halogen(facts.element(next)) || (facts.element(next) == S && facts.oxo(next) > 0);
    let Some(leaving) = facts.next_to(carbon).find(leaves) else { return 0 };
    let activation = activation(facts, carbon);
    match aryl_leaving(facts, leaving) {
        Some(leaving) if activation >= ACTIVATED => (activation + leaving - crowding(facts, carbon)).max(1),
        _ => 0,
    }
}

/// Rank of a carbonyl group towards hydride, amines, ylides and enolates; 0 if they do not attack it.
pub fn carbonyl(facts: &Facts, carbon: u32) -> i32 {
    let Some(kind) = Carbonyl::of(facts, carbon) else { return 0 };
    let rank = CARBONYLS[kind as usize];
    if facts.group(carbon) != Group::Ketone || kind == Carbonyl::VinylogousAcid {
        return rank;
    }
    let acceptor = facts.next_to(carbon).any(|next| facts.is_acceptor(next) || facts.count(next, F) > 1);
    let conjugated =
        facts.next_to(carbon).any(|next| facts.doubly(next, |other| facts.element(other) == C).is_some());
    rank + if acceptor { 15 } else { 0 } - if conjugated { 10 } else { 0 }
}

named! {
/// Carbonyl group that nucleophiles add to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Carbonyl {
    AcylHalide,
    Formaldehyde,
    Aldehyde,
    AromaticAldehyde,
    /// A pyrrole's aldehyde is a vinylogous formamide.
    PyrroleAldehyde,
    /// Ketone in a ring of four to six.
    RingKetone,
    MethylKetone,
    DialkylKetone,
    ArylKetone,
    DiarylKetone,
    /// Ketone that a double bond conjugates with a heteroatom.
    VinylogousAcid,
}
}

static CARBONYLS: LazyLock<[i32; Carbonyl::ALL.len()]> = LazyLock::new(|| {
    let table = Table {
        file: "carbonyls.tsv",
        text: include_str!("../tables/carbonyls.tsv"),
        columns: ["carbonyl", "rank", "source"],
        keys: 1,
    };
    let rows = table.read(|[kind, rank, _]| Ok((Carbonyl::named(kind)?, ranks([rank])?)));
    let mut of_kinds = [0; Carbonyl::ALL.len()];
    for (kind, [rank]) in rows.expect("electrophile: a test reads the table") {
        of_kinds[kind as usize] = rank;
    }
    of_kinds
});

impl Carbonyl {
    fn of(facts: &Facts, carbon: u32) -> Option<Self> {
        match facts.group(carbon) {
            Group::AcylHalide => Some(Self::AcylHalide),
            Group::Aldehyde if facts.next_to(carbon).any(|next| is_pyrrolic(facts, next)) => {
                Some(Self::PyrroleAldehyde)
            }
            Group::Aldehyde if facts.hydrogens(carbon) == 2 => Some(Self::Formaldehyde),
            Group::Aldehyde if facts.aryls(carbon) > 0 => Some(Self::AromaticAldehyde),
            Group::Aldehyde => Some(Self::Aldehyde),
            Group::Ketone if facts.next_to(carbon).any(|next| is_vinylogous(facts, next)) => {
                Some(Self::VinylogousAcid)
            }
            Group::Ketone => Some(match (facts.aryls(carbon), facts.ring(carbon)) {
                (0, 4..=6) => Self::RingKetone,
                (0, _) if facts.next_to(carbon).any(|next| facts.hydrogens(next) == 3) => Self::MethylKetone,
                (0, _) => Self::DialkylKetone,
                (1, _) => Self::ArylKetone,
                _ => Self::DiarylKetone,
            }),
            _ => None,
        }
    }
}

/// Returns true if an aromatic carbon is next to the nitrogen of a pyrrole.
fn is_pyrrolic(facts: &Facts, carbon: u32) -> bool {
    facts.is_aromatic(carbon)
        && facts.next_to(carbon).any(|next| {
            facts.element(next) == N
                && facts.is_aromatic(next)
                && facts.ring(next) == 5
                && facts.degree(next) + usize::from(facts.hydrogens(next)) == 3
        })
}

/// Returns true if a carbon next to a carbonyl group conjugates it with a heteroatom.
fn is_vinylogous(facts: &Facts, carbon: u32) -> bool {
    facts.doubly(carbon, |next| facts.element(next) == C).is_some_and(|far| {
        facts.next_to(far).any(|next| matches!(facts.element(next), N | O) && facts.is_saturated(next))
    })
}

/// Rank of an electrophile towards Grignard and lithium reagents; 0 for none.
pub fn organometal(facts: &Facts, atom: u32) -> i32 {
    let group = facts.group(atom);
    let rank = ELECTROPHILES[group as usize].organometal;
    match group {
        Group::Ketone => rank + carbonyl(facts, atom) / 4,
        Group::ImineCarbon if !facts.group_of_imine_is_plain(atom) => 0,
        Group::Alkyl => match alkyl(facts, atom) {
            0 | 1 => 0,
            _ if facts.next_to(atom).any(|next| facts.element(next) == I) => 42,
            _ if facts.is_beside_epoxide_oxygen(atom) => 46,
            _ => 20,
        },
        _ => rank,
    }
}

impl Facts {
    /// Returns true if the nitrogen of an imine has only carbon on it.
    fn group_of_imine_is_plain(&self, carbon: u32) -> bool {
        self.doubly(carbon, |next| self.element(next) == N)
            .is_some_and(|nitrogen| self.group(nitrogen) == Group::Imine)
    }
}

/// Returns an aromatic carbon that is left unreacted although, by `rank`, it would clearly react sooner than `own`.
/// Two similar carbons do not count, since either may be meant: positions of polyhalogenated rings differ by more
/// than these ranks know.
pub fn clearly_more_reactive(
    step: &Step<'_>,
    own: u32,
    own_rank: i32,
    rank: impl Fn(&Facts, u32) -> i32,
) -> Option<u32> {
    spared_above(step, own, own_rank + TIE_MARGIN, rank)
}

/// Returns an electrophile that is left unreacted although, by `rank`, it would react sooner than `own`, or as soon.
pub fn competing_site(
    step: &Step<'_>,
    own: u32,
    own_rank: i32,
    rank: impl Fn(&Facts, u32) -> i32,
) -> Option<u32> {
    spared_above(step, own, (own_rank - TIE_MARGIN).max(0), rank)
}

fn spared_above(step: &Step<'_>, own: u32, least: i32, rank: impl Fn(&Facts, u32) -> i32) -> Option<u32> {
    step.atoms().find(|&atom| {
        atom != own
            && step.is_untouched(atom)
            && !step.are_equivalent(atom, own)
            && rank(&step.before, atom) > least
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_read_from_the_tables() {
        assert_eq!(ELECTROPHILES[Group::Nitrile as usize].organometal, 48);
        assert_eq!(ELECTROPHILES[Group::AcylHalide as usize].heteroatom, 100);
        assert!(CARBONYLS.iter().all(|&rank| rank > 0));
        assert_eq!(CARBONYLS[Carbonyl::AromaticAldehyde as usize], 97);
    }
}
