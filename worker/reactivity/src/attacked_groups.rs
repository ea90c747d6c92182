//! Free groups that the reagent of a step attacks as well as the wanted one, or before it: `tables/attacked_groups.tsv`.
//!
//! An operation stands for its usual reagents: phosphorus and sulfur chlorides, tetrahalomethanes with a phosphine, sulfonic anhydrides,
//! nitrous acid, peracids. A row names a group and the hydrogens that it has to bear. Amino groups of azines stay with phosphorus
//! chlorides and nitrous acid, and acids in the chlorination of a ring, as water gives them back (Joule and Mills, chapter 8).

use std::sync::LazyLock;

use chem::{Order, Table};

use crate::asymmetric::is_dihydroxylation;
use crate::change::{Facts, Step};
use crate::electrophile;
use crate::event::Event;
use crate::group::{Group, aromatic_positions, has_conjugated_nitro};
use crate::halide_order;
use crate::named::{named, ranks};
use crate::queries::*;
use crate::refusal::Refusal;

named! {
/// Operation with a reagent that attacks free groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operation {
    /// A lactam, or hydroxyl group of a ring, becomes a halide.
    RingChlorination,
    /// An amide or hydrazide becomes an imidoyl or hydrazonoyl chloride.
    ImidoylChlorination,
    /// An acid becomes an acyl halide.
    AcidHalogenation,
    /// An alcohol becomes a halide.
    AlcoholHalogenation,
    /// The same by a tetrahalomethane and a phosphine.
    Appel,
    /// Acylation by phosgene.
    Phosgenation,
    /// Sulfonylation by a sulfonic anhydride.
    SulfonicAnhydride,
    Diazotisation,
    /// Oxidation of a sulfide by a peracid that the step lists.
    SulfurByPeracid,
    /// The same by other oxidants, which work in acid, and so spare amines.
    SulfurOxidation,
    /// Oxidation of the nitrogen of an azine.
    AzineOxidation,
    /// Oxidation of other nitrogen.
    AmineOxidation,
    Epoxidation,
    /// Osmium adds to a C=C bond.
    Dihydroxylation,
    /// Ozone cleaves a C=C bond.
    Ozonolysis,
    /// Hydroxide takes the place of a halogen of an arene.
    Hydroxylation,
    /// A halide and sulfur dioxide give a sulfinate, which takes an amine as it is oxidised.
    Aminosulfonylation,
    /// An aryl halide, carbon monoxide and an amine give an amide; with an alcohol or water an ester or acid.
    Carbonylation,
    /// Boron tribromide or an acid makes a phenol of its alkyl ether.
    EtherCleavage,
    /// Methyl fluorosulfonyldifluoroacetate and copper make a trifluoromethyl group of an aryl halide.
    CopperTrifluoromethylation,
    /// An imine becomes an amine, by a hydride.
    ImineReduction,
    /// Hydrogen takes the place of oxygen on an sp3 carbon, by a silane and acid.
    IonicHydrogenation,
    /// Hydrogen chloride and an alcohol make an imidate of a nitrile.
    Pinner,
    /// Selenium dioxide oxidises a C–H bond.
    SeleniumOxidation,
    /// An enolate adds to an imine.
    EnolateAddition,
    /// Trimethyl(trifluoromethyl)silane makes a ketone of an ester.
    Trifluoromethylation,
    /// A metal joins the enolate of an ester or nitrile to an arene.
    EnolateArylation,
    /// A triflating reagent and base make an enol triflate of a ketone.
    EnolTriflation,
    /// An orthoester and acetic anhydride make an alkoxymethylene group of an active methylene group.
    OrthoesterCondensation,
    /// A nitroalkane loses water to the nitrile oxide, by an isocyanate or the like.
    NitrileOxide,
    /// Lawesson's reagent or a phosphorus sulfide makes a thioamide.
    Thionation,
    /// An N-halosuccinimide halogenates an arene.
    HalosuccinimideOnArene,
    /// Bromine or the like, in acid, which spares amines, halogenates an arene.
    HalogenOnArene,
}
}

/// Hydrogens that an attacked group has to bear, by group; `None` for a group that stays.
type Attacked = [Option<u8>; Group::ALL.len()];

static ATTACKED: LazyLock<[Attacked; Operation::ALL.len()]> = LazyLock::new(|| {
    let table = Table {
        file: "attacked_groups.tsv",
        text: include_str!("../tables/attacked_groups.tsv"),
        columns: ["operation", "group", "hydrogens", "source"],
        keys: 2,
    };
    let rows = table.read(|[operation, group, hydrogens, _]| {
        let [hydrogens] = ranks([hydrogens])?;
        let hydrogens = u8::try_from(hydrogens).map_err(|_| format!("`{hydrogens}` is no count"))?;
        Ok((Operation::named(operation)?, Group::named(group)?, hydrogens))
    });
    let mut of_operations = [[None; Group::ALL.len()]; Operation::ALL.len()];
    for (operation, group, hydrogens) in rows.expect("attacked_groups: a test reads the table") {
        of_operations[operation as usize][group as usize] = Some(hydrogens);
    }
    of_operations
});

/// Refuses a step whose reagent attacks a group that stays.
///
/// # Errors
/// Fails with [`Refusal::CompetingGroup`].
pub fn check(step: &Step<'_>, events: &[Event]) -> Result<(), Refusal> {
    let operations = events.iter().filter_map(|event| operation(step, event));
    let without_event = events.is_empty().then(|| operation_without_event(step)).flatten();
    operations.chain(without_event).try_for_each(|(operation, own)| check_operation(step, operation, own))
}

/// Returns true for an allylic or propargylic carbon with hydrogen, which selenium dioxide takes before that of a heteroarene (March, chapter 19).
fn is_beside_multiple_bond(it: &Facts, carbon: u32) -> bool {
    let is_open = |next: u32| {
        it.doubly(next, |far| it.element(far) == C)
            .or(it.triply(next).filter(|&far| it.element(far) == C))
            .is_some()
    };
    it.is_sp3(carbon) && it.hydrogens(carbon) > 0 && it.next_to(carbon).any(is_open)
}

fn check_operation(step: &Step<'_>, operation: Operation, own: u32) -> Result<(), Refusal> {
    let it = &step.before;
    let attacked = &ATTACKED[operation as usize];
    // The acid's own oxygen, and those that are equivalent to it.
    let is_own = |atom: u32| {
        step.are_equivalent(atom, own)
            || operation == Operation::AcidHalogenation
                && it.next_to(own).any(|next| step.are_equivalent(next, atom))
    };
    let is_attacked = |atom: u32| {
        attacked[it.group(atom) as usize].is_some_and(|least| it.hydrogens(atom) >= least)
            && it.bond(atom, own).is_none()
            && step.is_untouched(atom)
            && !is_own(atom)
    };
    let keeps =
        |wanted: &dyn Fn(u32) -> bool| step.atoms().any(|atom| step.is_untouched(atom) && wanted(atom));
    // What is attacked that no group names.
    let is_refused = match operation {
        Operation::AzineOxidation => keeps(&|atom| is_rich_alkene(it, atom)),
        Operation::SeleniumOxidation => {
            let is_benzylic = it.next_to(own).any(|next| it.is_aromatic(next));
            is_benzylic && keeps(&|atom| is_beside_multiple_bond(it, atom))
        }
        Operation::Epoxidation => {
            is_enone_for_peracid(step, own)
                || is_lone_alkene(it, own) && keeps(&|atom| is_basic_azine(it, atom))
        }
        Operation::Diazotisation => keeps(&|atom| is_amine_of_same_pyrimidine(it, atom, own)),
        Operation::Thionation => closes_to_benzothiazine(it, own),
        Operation::Ozonolysis => {
            let substituents = carbons_of_alkene(it, own);
            is_fragmented_by_ozone(step, own) || keeps(&|atom| carbons_of_alkene(it, atom) > substituents)
        }
        Operation::EnolateArylation => {
            it.ring(own) == 3
                || it.next_to(own).any(|next| it.group(next) == Group::Anhydride)
                || keeps(&|atom| is_carbon_acid(it, atom))
        }
        Operation::Carbonylation => {
            let is_hydroxyl = |atom: u32| {
                matches!(it.group(atom), Group::Phenol | Group::PrimaryAlcohol | Group::SecondaryAlcohol)
            };
            is_beside_ring_nitrogen(it, own) && keeps(&|atom| is_hydroxyl(atom) && it.hydrogens(atom) > 0)
        }
        Operation::EtherCleavage => {
            keeps(&|atom| is_polymerised_by_acid(it, atom) || is_acylimidoyl_chloride(it, atom))
        }
        // Another halide that reacts with a metal as fast as the wanted one, which needs a metal.
        Operation::Hydroxylation | Operation::Aminosulfonylation => {
            let rank = halide_order::coupling(it, own);
            electrophile::aryl(it, own) <= 0
                && keeps(&|atom| it.is_aromatic_carbon(atom) && halide_order::coupling(it, atom) >= rank)
        }
        _ => false,
    } || step.atoms().any(is_attacked);
    if is_refused { Err(Refusal::CompetingGroup) } else { Ok(()) }
}

/// Operation of an event with the atom that it changes; `None` for other events.
fn operation(step: &Step<'_>, event: &Event) -> Option<(Operation, u32)> {
    let it = &step.before;
    Some(match *event {
        Event::LactamHalogenation { carbon } => (Operation::RingChlorination, carbon),
        Event::AcidActivation { carbon } => (Operation::AcidHalogenation, carbon),
        Event::Deoxyhalogenation { carbon, oxygen } if comes_from_tetrahalide(step, carbon) => {
            (Operation::Appel, oxygen)
        }
        Event::Deoxyhalogenation { oxygen, .. } => (Operation::AlcoholHalogenation, oxygen),
        Event::Acylation { nucleophile, carbon } if it.count(carbon, CL) > 1 => {
            (Operation::Phosgenation, nucleophile)
        }
        Event::Sulfonylation { nucleophile, sulfur } if comes_from_anhydride(step, sulfur) => {
            (Operation::SulfonicAnhydride, nucleophile)
        }
        Event::Diazotisation { nitrogen, .. } => (Operation::Diazotisation, nitrogen),
        Event::Alkylation { nucleophile, carbon, .. }
            if it.is_sp3(nucleophile) && it.is_sp3(carbon) && it.count(carbon, O) == 3 =>
        {
            (Operation::OrthoesterCondensation, nucleophile)
        }
        Event::SulfurOxidation { sulfur }
            if step.gained(sulfur).any(|(oxygen, _)| it.is_oxidising_oxygen(oxygen)) =>
        {
            (Operation::SulfurByPeracid, sulfur)
        }
        Event::Cleavage { atom, root } if is_aryl_ether(it, atom, root) => (Operation::EtherCleavage, root),
        Event::SulfurOxidation { sulfur } => (Operation::SulfurOxidation, sulfur),
        Event::NitrogenOxidation { nitrogen } if it.group(nitrogen) == Group::Azine => {
            (Operation::AzineOxidation, nitrogen)
        }
        Event::NitrogenOxidation { nitrogen } => (Operation::AmineOxidation, nitrogen),
        Event::Epoxidation { carbon, .. } => (Operation::Epoxidation, carbon),
        Event::AromaticSubstitution { carbon, electrophile, element: CL | BR | I } => match electrophile {
            Some(halogen) if it.count(halogen, N) > 0 => (Operation::HalosuccinimideOnArene, carbon),
            _ => (Operation::HalogenOnArene, carbon),
        },
        Event::Functionalisation { carbon, element: O }
            if step.atoms().any(|atom| it.element(atom) == SE) =>
        {
            (Operation::SeleniumOxidation, carbon)
        }
        Event::MetalAddition { metal, carbon }
            if it.is_trifluoromethyl(metal) && it.group(carbon) == Group::Ester =>
        {
            (Operation::Trifluoromethylation, carbon)
        }
        Event::Arylation { nucleophile, carbon, .. } if it.group(nucleophile) == Group::Water => {
            (Operation::Hydroxylation, carbon)
        }
        Event::Arylation { nucleophile, carbon, .. } if it.is_sulfur_dioxide(nucleophile) => {
            (Operation::Aminosulfonylation, carbon)
        }
        Event::Metathesis { carbon, partner } if it.element(partner) == O && is_ozonised(step, carbon) => {
            (Operation::Ozonolysis, carbon)
        }
        Event::Aldol { carbon, .. } if it.doubly(carbon, |other| it.element(other) == N).is_some() => {
            (Operation::EnolateAddition, carbon)
        }
        _ => return None,
    })
}

/// Operation of a step that has no event, with the atom that it changes.
fn operation_without_event(step: &Step<'_>) -> Option<(Operation, u32)> {
    let it = &step.before;
    let is_enolate = |atom: u32| {
        it.is_sp3(atom)
            && step.hydrogens_gained(atom) < 0
            && it
                .next_to(atom)
                .any(|next| matches!(it.group(next), Group::Ester | Group::Nitrile | Group::Anhydride))
    };
    let loses_halide =
        |atom: u32| it.is_aromatic(atom) && step.lost(atom).any(|(gone, _)| is_halogen(it.element(gone)));
    let joined = step.joined().find_map(|(from, to)| {
        Some(match () {
            () if is_enolate(from) && loses_halide(to) => (Operation::EnolateArylation, from),
            () if it.is_difluorocarbene_source(from) && loses_halide(to) => {
                (Operation::CopperTrifluoromethylation, from)
            }
            () if is_carbon_monoxide(it, from) && matches!(it.element(to), N | O) => {
                (Operation::Carbonylation, to)
            }
            () if it.is_hydroxyl(from) && becomes_imidate(step, to) => (Operation::Pinner, to),
            () if it.group(from) == Group::CarbonylOxygen && it.element(to) == S && it.oxo(to) > 1 => {
                (Operation::EnolTriflation, from)
            }
            () if becomes_nitrile_oxide(step, from) => (Operation::NitrileOxide, from),
            () if it.group(from) == Group::Amide && it.element(to) == S && step.lost_oxo(from) => {
                (Operation::Thionation, from)
            }
            () => return None,
        })
    });
    if joined.is_some() {
        return joined;
    }
    if is_dihydroxylation(step) {
        return step.change.added.first().map(|&(own, ..)| (Operation::Dihydroxylation, own));
    }
    if let Some(own) = step.atoms().find(|&atom| is_ozonised(step, atom)) {
        return Some((Operation::Ozonolysis, own));
    }
    let is_chlorinated =
        |&atom: &u32| it.group(atom) == Group::Amide && step.gains(atom, CL) && step.lost_oxo(atom);
    if let Some(own) = step.atoms().find(is_chlorinated) {
        return Some((Operation::ImidoylChlorination, own));
    }
    let gains_hydrogen = |&atom: &u32| it.element(atom) == C && step.hydrogens_gained(atom) > 0;
    step.atoms().filter(gains_hydrogen).find_map(|atom| {
        let is_imine = it.doubly(atom, |next| it.group(next) == Group::Imine).is_some();
        let loses_oxygen = it.is_sp3(atom) && step.lost(atom).any(|(gone, _)| it.element(gone) == O);
        match () {
            () if is_imine => Some((Operation::ImineReduction, atom)),
            () if loses_oxygen => Some((Operation::IonicHydrogenation, atom)),
            () => None,
        }
    })
}

/// Returns true for the oxygen of a phenol and the carbon of a plain alkyl group that it loses.
fn is_aryl_ether(it: &Facts, oxygen: u32, root: u32) -> bool {
    it.element(oxygen) == O
        && it.next_to(oxygen).any(|next| it.is_aromatic(next))
        && it.is_sp3(root)
        && it.hydrogens(root) > 1
        && it.count(root, O) == 1
        && !it.is_benzylic_or_allylic(root)
}

/// Returns true for the end of a vinylarene and for the alkene of an enal, which strong acid polymerises (Clayden, Greeves and Warren,
/// chapter 19).
fn is_polymerised_by_acid(it: &Facts, atom: u32) -> bool {
    let other = it.doubly(atom, |next| it.element(next) == C);
    let is_vinylarene =
        |other: u32| it.hydrogens(atom) == 2 && it.next_to(other).any(|next| it.is_aromatic(next));
    it.element(atom) == C
        && other.is_some_and(|other| {
            is_vinylarene(other) || it.next_to(other).any(|next| it.group(next) == Group::Aldehyde)
        })
}

/// Returns true for the carbon of a 4-chloropyrimidin-2-one, which water takes as it takes an acyl chloride (Joule and Mills, chapter 14).
fn is_acylimidoyl_chloride(it: &Facts, atom: u32) -> bool {
    let is_acylated =
        |next: u32| it.group(next) == Group::Azine && it.next_to(next).any(|far| it.is_carbonyl(far));
    it.count(atom, CL) == 1 && it.is_aromatic(atom) && it.next_to(atom).any(is_acylated)
}

fn is_carbon_monoxide(it: &Facts, carbon: u32) -> bool {
    it.element(carbon) == C && it.at(carbon).charge == -1 && it.count(carbon, O) == 1
}

/// Returns true for the carbon of a nitroalkane that loses both hydrogens to a new bond.
fn becomes_nitrile_oxide(step: &Step<'_>, carbon: u32) -> bool {
    let it = &step.before;
    it.is_sp3(carbon)
        && step.hydrogens_gained(carbon) < -1
        && it.next_to(carbon).any(|next| it.is_nitro(next))
}

/// Returns true for a peracid in the mixture and a carbon of a double bond beside a ketone or aldehyde, which is too poor for it: hydroperoxide adds to such bonds (Clayden,
/// Greeves and Warren, chapter 23).
fn is_enone_for_peracid(step: &Step<'_>, carbon: u32) -> bool {
    let it = &step.before;
    let is_peracid = |atom: u32| {
        it.element(atom) == O && it.count(atom, O) > 0 && it.next_to(atom).any(|acyl| it.is_carbonyl(acyl))
    };
    let is_poor = |end: u32| {
        it.next_to(end).any(|next| matches!(it.group(next), Group::Ketone | Group::Aldehyde | Group::Nitrile))
    };
    let far = it.doubly(carbon, |far| it.element(far) == C);
    (is_poor(carbon) || far.is_some_and(is_poor)) && step.atoms().any(is_peracid)
}

/// Returns true for an amide on the nitrogen of an arene with a ketone ortho to it: the thioamide closes with it to the benzothiazine.
fn closes_to_benzothiazine(it: &Facts, amide: u32) -> bool {
    let bears_ketone = |ortho: u32| {
        it.is_aromatic_carbon(ortho) && it.next_to(ortho).any(|next| it.group(next) == Group::Ketone)
    };
    it.next_to(amide).filter(|&nitrogen| it.element(nitrogen) == N).any(|nitrogen| {
        it.next_to(nitrogen).any(|ipso| it.is_aromatic(ipso) && it.next_to(ipso).any(bears_ketone))
    })
}

/// Returns true for the carbon of a nitrile that keeps a double bond to its nitrogen.
fn becomes_imidate(step: &Step<'_>, carbon: u32) -> bool {
    step.before.group(carbon) == Group::Nitrile
        && step.reordered(carbon).any(|(_, was, now)| was == Order::Triple && now == Order::Double)
}

/// Returns true for the amino group of an azine or azole beside its ring nitrogen, which palladium's acyl complexes take last.
fn is_beside_ring_nitrogen(it: &Facts, nitrogen: u32) -> bool {
    let is_nitrogen = |next: u32| it.element(next) == N && it.is_aromatic(next);
    it.next_to(nitrogen).any(|ipso| it.is_aromatic(ipso) && it.next_to(ipso).any(is_nitrogen))
}

/// Returns true for a carbon that loses a doubly bound carbon and gains an oxygen.
fn is_ozonised(step: &Step<'_>, carbon: u32) -> bool {
    step.before.element(carbon) == C && step.loses(carbon, C, Order::Double) && step.gains(carbon, O)
}

/// Number of carbons at both ends of the plain C=C bond of an atom; 0 for other atoms.
fn carbons_of_alkene(it: &Facts, carbon: u32) -> usize {
    if it.group(carbon) != Group::Alkene {
        return 0;
    }
    let other = it.doubly(carbon, |next| it.group(next) == Group::Alkene);
    other.map_or(0, |other| it.carbons(carbon) + it.carbons(other))
}

/// Returns true for a C–H beside a nitrile, an ester or a nitro group, or on an arene with a nitro group.
fn is_carbon_acid(it: &Facts, atom: u32) -> bool {
    let is_acceptor = |next: u32| matches!(it.group(next), Group::Nitrile | Group::Ester | Group::Nitro);
    let bears_nitro = |ring: u32| has_conjugated_nitro(&it.structure, ring);
    it.is_sp3(atom)
        && it.hydrogens(atom) > 0
        && it.next_to(atom).any(|next| is_acceptor(next) || it.is_aromatic_carbon(next) && bears_nitro(next))
}

fn comes_from_tetrahalide(step: &Step<'_>, carbon: u32) -> bool {
    let it = &step.before;
    let is_tetrahalide = |source: u32| {
        it.element(source) == C
            && it.next_to(source).filter(|&next| is_halogen(it.element(next))).count() == 4
    };
    step.gained(carbon).any(|(halogen, _)| it.next_to(halogen).any(is_tetrahalide))
}

fn comes_from_anhydride(step: &Step<'_>, sulfur: u32) -> bool {
    let it = &step.before;
    step.lost(sulfur).any(|(gone, _)| it.element(gone) == O && it.count(gone, S) == 2)
}

/// Returns true for a carbon of a double bond with two or more alkyl groups and no acceptor, which a peracid takes before an azine.
fn is_rich_alkene(it: &Facts, atom: u32) -> bool {
    it.group(atom) == Group::Alkene
        && it.doubly(atom, |next| it.element(next) == C).is_some_and(|other| {
            it.carbons(atom) + it.carbons(other) > 3 && !it.is_alpha(atom) && !it.is_alpha(other)
        })
}

/// Returns true for a carbon of a double bond with one alkyl group, which is slower than a pyridine.
fn is_lone_alkene(it: &Facts, atom: u32) -> bool {
    it.doubly(atom, |next| it.element(next) == C)
        .is_some_and(|other| it.carbons(atom) + it.carbons(other) < 4)
}

/// Returns true for the nitrogen of a pyridine that no halogen or acceptor weakens.
fn is_basic_azine(it: &Facts, atom: u32) -> bool {
    it.group(atom) == Group::Azine
        && it.ring(atom) == 6
        && it.distances(atom, 3).into_iter().all(|(ring, distance)| {
            distance == 0
                || !it.is_aromatic(ring)
                || it.element(ring) == C
                    && it.next_to(ring).all(|next| {
                        it.is_aromatic(next) || !is_halogen(it.element(next)) && !it.is_acceptor(next)
                    })
        })
}

/// Returns true for the amino group of a pyrimidine with a free position that has another one, which becomes the diazonium ion: nitrous acid nitrosates C5 instead, and
/// takes either (Joule and Mills 2010, chapter 14).
fn is_amine_of_same_pyrimidine(it: &Facts, amine: u32, own: u32) -> bool {
    let Some(ipso) = it.next_to(own).next() else { return false };
    let ring = || aromatic_positions(&it.structure, ipso).into_iter().map(|(atom, _)| atom);
    it.group(amine) == Group::PoorAniline
        && it.hydrogens(amine) == 2
        && ring().any(|atom| it.bond(atom, amine).is_some())
        && ring().filter(|&atom| it.element(atom) == N).count() == 2
        && ring().all(|atom| !it.is_shared_by_aromatic_rings(atom))
        && ring().any(|atom| it.is_aromatic_carbon(atom) && it.hydrogens(atom) > 0)
}

/// Returns true for the double bond of a free tertiary allylic alcohol, or of a secondary one that ozone is to take to the ester or acid: the hydroxyl group breaks the
/// next bond as well (Bailey 1958).
fn is_fragmented_by_ozone(step: &Step<'_>, own: u32) -> bool {
    let it = &step.before;
    let is_acyl =
        || step.image(own).is_some_and(|image| matches!(step.after.group(image), Group::Ester | Group::Acid));
    let is_free = |carbinol: u32| {
        it.is_sp3(carbinol)
            && it.next_to(carbinol).any(|next| it.is_hydroxyl(next) && step.is_untouched(next))
            && (it.carbons(carbinol) == 3 || is_acyl())
    };
    it.next_to(own).any(is_free)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_rows_for_each_operation() {
        for &operation in Operation::ALL {
            assert!(ATTACKED[operation as usize].iter().any(Option::is_some), "{operation:?}");
        }
        let ring = &ATTACKED[Operation::RingChlorination as usize];
        assert_eq!(ring[Group::AmideNitrogen as usize], Some(2));
        assert_eq!(ring[Group::PoorAniline as usize], None);
    }
}
