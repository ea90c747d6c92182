//! Free groups that the reagent of a step attacks as well as the wanted one, or before it: `tables/attacked_groups.tsv`.
//!
//! An operation stands for its usual reagents: phosphorus and sulfur chlorides, tetrahalomethanes with a phosphine, sulfonic anhydrides,
//! nitrous acid, peracids. A row names a group and the hydrogens that it has to bear. Amino groups of azines stay with phosphorus
//! chlorides and nitrous acid, and acids in the chlorination of a ring, as water gives them back (Joule and Mills, chapter 8).

use std::sync::LazyLock;

use chem::Table;

use crate::arylation::is_between_carbonyls;
use crate::carbon_acid::is_active_methylene;
use crate::change::{Facts, Step};
use crate::cleavage::{is_acylimidoyl_chloride, keeps_acid_labile_group};
use crate::electrophile;
use crate::event::Event;
use crate::group::{Group, aromatic_positions, has_conjugated_nitro};
use crate::halide_order;
use crate::named::ranks;
use crate::operation::{self, StepOperation};
use crate::queries::*;
use crate::refusal::Refusal;

/// Rank of an aryl halide that hydrazine takes before it takes an ester: a fluoride beside a nitro group.
pub const FAST_ARENE: i32 = 60;

/// Rank of an alkyl halide that hydrazine takes as soon as an ester: a primary chloride.
const TAKEN_HALIDE: i32 = 45;

/// Hydrogens that an attacked group has to bear, by group; `None` for a group that stays.
type Attacked = [Option<u8>; Group::ALL.len()];

static ATTACKED: LazyLock<[Attacked; StepOperation::ALL.len()]> = LazyLock::new(|| {
    let table = Table {
        file: "attacked_groups.tsv",
        text: include_str!("../tables/attacked_groups.tsv"),
        columns: ["operation", "group", "hydrogens", "source"],
        keys: 2,
    };
    let rows = table.read(|[operation, group, hydrogens, _]| {
        let [hydrogens] = ranks([hydrogens])?;
        let hydrogens = u8::try_from(hydrogens).map_err(|_| format!("`{hydrogens}` is no count"))?;
        Ok((StepOperation::named(operation)?, Group::named(group)?, hydrogens))
    });
    let mut of_operations = [[None; Group::ALL.len()]; StepOperation::ALL.len()];
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
    let operations = events.iter().filter_map(|event| operation::of_event(step, event));
    let without_event = events.is_empty().then(|| operation::without_event(step)).flatten();
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

fn check_operation(step: &Step<'_>, operation: StepOperation, own: u32) -> Result<(), Refusal> {
    let it = &step.before;
    let attacked = &ATTACKED[operation as usize];
    // The acid's own oxygen, and those that are equivalent to it.
    let is_own = |atom: u32| {
        step.are_equivalent(atom, own)
            || operation == StepOperation::AcidHalogenation
                && it.next_to(own).any(|next| step.are_equivalent(next, atom))
    };
    let is_attacked = |atom: u32| {
        attacked[it.group(atom) as usize].is_some_and(|least| it.hydrogens(atom) >= least)
            && it.bond(atom, own).is_none()
            && step.is_untouched(atom)
            && !is_own(atom)
    };
    if attacks_other_site(step, operation, own) || step.atoms().any(is_attacked) {
        return Err(Refusal::CompetingGroup);
    }
    Ok(())
}

/// Returns true if the operation attacks a site that no group of the table names.
fn attacks_other_site(step: &Step<'_>, operation: StepOperation, own: u32) -> bool {
    let it = &step.before;
    let keeps =
        |wanted: &dyn Fn(u32) -> bool| step.atoms().any(|atom| step.is_untouched(atom) && wanted(atom));
    match operation {
        StepOperation::AzineOxidation => keeps(&|atom| is_rich_alkene(it, atom)),
        StepOperation::SeleniumOxidation => {
            let is_benzylic = it.next_to(own).any(|next| it.is_aromatic(next));
            is_benzylic && keeps(&|atom| is_beside_multiple_bond(it, atom))
        }
        StepOperation::Epoxidation => {
            is_enone_for_peracid(step, own)
                || keeps(&|atom| step.is_kept_acid(atom) && is_in_reach_of_epoxide(it, atom, own))
                || is_lone_alkene(it, own) && keeps(&|atom| is_basic_azine(it, atom))
                || keeps(&|atom| is_rich_indole(it, atom) || is_rich_furan(it, atom))
        }
        StepOperation::BaeyerVilliger => {
            let is_thiophene =
                |next: u32| it.is_aromatic(next) && it.ring(next) == 5 && it.count(next, S) > 0;
            it.next_to(own).any(is_thiophene)
                || keeps(&|atom| {
                    is_rival_alkene(it, atom) || is_basic_azine(it, atom) || is_rich_furan(it, atom)
                })
        }
        StepOperation::Diazotisation => keeps(&|atom| {
            is_amine_of_same_pyrimidine(it, atom, own)
                || is_amine_in_reach(it, atom, own)
                || is_coupled_methine(it, atom)
        }),
        StepOperation::Nitration | StepOperation::Chlorosulfonation => {
            keeps(&|atom| is_rival_alkene(it, atom)) || keeps_acid_labile_group(step)
        }
        StepOperation::HalogenOnArene => keeps(&|atom| {
            is_rival_alkene(it, atom)
                || matches!(it.group(atom), Group::Alkyne | Group::TerminalAlkyne)
                || is_oxidised_by_halogen(it, atom)
        }),
        StepOperation::HalosuccinimideOnArene => keeps(&|atom| is_oxidised_by_halogen(it, atom)),
        StepOperation::RingChlorination => keeps(&|atom| is_other_end_of_hydrazide(it, atom, own)),
        StepOperation::PhthalimideRemoval => keeps(&|atom| is_alkylating_beside_acyl(it, atom)),
        StepOperation::Vilsmeier => {
            keeps(&|atom| is_chlorinated_lactam(it, atom)) || keeps_acid_labile_group(step)
        }
        StepOperation::Hydrazinolysis => keeps(&|atom| {
            electrophile::aryl(it, atom) >= FAST_ARENE
                || it.is_alkyl_halide(atom) && electrophile::alkyl(it, atom) >= TAKEN_HALIDE
        }),
        StepOperation::AmidineFormation => step.gained(own).any(|(amine, _)| {
            keeps(&|atom| it.is_alkyl_halide(atom) && step.are_in_same_molecule(atom, amine))
        }),
        StepOperation::Thionation => closes_to_benzothiazine(it, own),
        StepOperation::Ozonolysis => {
            let substituents = carbons_of_alkene(it, own);
            is_fragmented_by_ozone(step, own) || keeps(&|atom| carbons_of_alkene(it, atom) > substituents)
        }
        StepOperation::EnolateArylation => {
            it.ring(own) == 3
                || keeps(&|atom| electrophile::aryl(it, atom) > 0)
                || it.next_to(own).any(|next| it.group(next) == Group::Anhydride)
                || keeps(&|atom| is_carbon_acid(it, atom))
        }
        StepOperation::Carbonylation => {
            let is_hydroxyl = |atom: u32| {
                matches!(it.group(atom), Group::Phenol | Group::PrimaryAlcohol | Group::SecondaryAlcohol)
            };
            is_beside_ring_nitrogen(it, own) && keeps(&|atom| is_hydroxyl(atom) && it.hydrogens(atom) > 0)
                || keeps(&|atom| is_of_amino_acid(step, atom, own) || is_opened_isoxazole(it, atom))
        }
        StepOperation::CopperTrifluoromethylation => keeps(&|atom| is_between_ketones(it, atom)),
        StepOperation::EtherCleavage => {
            keeps(&|atom| is_polymerised_by_acid(it, atom) || is_acylimidoyl_chloride(it, atom))
        }
        // Another halide that reacts with a metal as fast as the wanted one, which needs a metal.
        StepOperation::Hydroxylation | StepOperation::Aminosulfonylation => {
            let rank = halide_order::coupling(it, own);
            electrophile::aryl(it, own) <= 0
                && keeps(&|atom| it.is_aromatic_carbon(atom) && halide_order::coupling(it, atom) >= rank)
        }
        _ => false,
    }
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

/// Returns true for the N–H of a pyridone, quinolone or quinazolinone, of which phosphoryl chloride makes the chloride (Joule and Mills 2010, chapters 8 and 14). Uracils are slower.
fn is_chlorinated_lactam(it: &Facts, nitrogen: u32) -> bool {
    let positions = || aromatic_positions(&it.structure, nitrogen).into_iter().map(|(atom, _)| atom);
    it.element(nitrogen) == N
        && it.is_aromatic(nitrogen)
        && it.hydrogens(nitrogen) == 1
        && it.ring(nitrogen) == 6
        && positions().filter(|&atom| it.is_carbonyl(atom)).count() == 1
}

/// Returns true for the second carbonyl group of a phthalazinedione or pyridazinedione, which phosphoryl chloride takes as soon as the first (Joule and Mills 2010, chapter 14).
fn is_other_end_of_hydrazide(it: &Facts, atom: u32, own: u32) -> bool {
    let nitrogen =
        |carbon: u32| it.next_to(carbon).find(|&next| it.element(next) == N && it.is_aromatic(next));
    it.is_aromatic_carbon(atom)
        && it.ring(atom) == 6
        && it.is_carbonyl(atom)
        && nitrogen(atom).zip(nitrogen(own)).is_some_and(|(a, b)| it.bond(a, b).is_some())
}

/// Returns true for the carbon of a halide beside a carbonyl group, which hydrazine takes in the cold (March, chapter 10).
fn is_alkylating_beside_acyl(it: &Facts, carbon: u32) -> bool {
    it.is_alkyl_halide(carbon) && it.is_alpha(carbon)
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

/// Returns true for the acid of a γ,δ-unsaturated acid, which opens the epoxide to a lactone of five as it forms (March, chapter 15).
fn is_in_reach_of_epoxide(it: &Facts, acid: u32, carbon: u32) -> bool {
    let far = it.doubly(carbon, |far| it.element(far) == C);
    let near = it.distances(acid, 4);
    let distance = |end: u32| near.iter().find(|&&(atom, _)| atom == end).map(|&(_, distance)| distance);
    [Some(carbon), far].into_iter().flatten().filter_map(distance).min() == Some(4)
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

/// Returns true for the free acid in the molecule of the amine that a carbonylation is to take: its carboxylate takes the acyl complex as well (March, chapter 10).
fn is_of_amino_acid(step: &Step<'_>, acid: u32, amine: u32) -> bool {
    step.before.element(amine) == N && step.is_kept_acid(acid) && step.are_in_same_molecule(acid, amine)
}

/// Returns true for C3 of an isoxazole without a group there, whose proton a hot amine takes: the ring opens to the cyano enol (Joule and Mills 2010, chapter 25).
fn is_opened_isoxazole(it: &Facts, carbon: u32) -> bool {
    it.is_isoxazole_c3(carbon) && it.hydrogens(carbon) > 0
}

/// Returns true for the amino group of an azine or azole beside its ring nitrogen, which palladium's acyl complexes take last.
fn is_beside_ring_nitrogen(it: &Facts, nitrogen: u32) -> bool {
    let is_nitrogen = |next: u32| it.element(next) == N && it.is_aromatic(next);
    it.next_to(nitrogen).any(|ipso| it.is_aromatic(ipso) && it.next_to(ipso).any(is_nitrogen))
}

/// Returns true for the sulfur of a dialkyl sulfide, and for that of a sulfinamide or sulfinimine, which halogens oxidise (March, chapter 19; Robak, Herbage and Ellman 2010).
fn is_oxidised_by_halogen(it: &Facts, sulfur: u32) -> bool {
    let is_dialkyl_sulfide =
        || it.group(sulfur) == Group::Sulfide && it.next_to(sulfur).all(|next| it.is_sp3(next));
    let is_sulfinamide = || it.oxo(sulfur) == 1 && it.count(sulfur, N) == 1 && it.carbons(sulfur) == 1;
    it.element(sulfur) == S && (is_dialkyl_sulfide() || is_sulfinamide())
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

/// Returns true for the nitrogen of an indole without an acceptor on it or beside it, whose C2 and C3 peracids take (Joule and Mills 2010, chapter 20).
fn is_rich_indole(it: &Facts, nitrogen: u32) -> bool {
    let is_ring = |atom: u32| it.is_aromatic(atom) && it.ring(atom) == 5;
    it.element(nitrogen) == N
        && is_ring(nitrogen)
        && it.azole_nitrogens(nitrogen).count() == 1
        && (it.hydrogens(nitrogen) > 0 || it.degree(nitrogen) == 3)
        && it.next_to(nitrogen).any(|next| it.is_shared_by_aromatic_rings(next))
        && it.next_to(nitrogen).all(|next| {
            is_ring(next) && !it.bears_acceptor(next) && it.element(next) == C
                || !it.is_aromatic(next) && !it.is_acceptor(next)
        })
        && it
            .distances(nitrogen, 2)
            .into_iter()
            .all(|(atom, _)| !is_ring(atom) || it.element(atom) != C || !it.bears_acceptor(atom))
}

/// Returns true for the oxygen of a furan without an acceptor and with an open position beside it, which peracids open (Joule and Mills 2010, chapter 18).
fn is_rich_furan(it: &Facts, oxygen: u32) -> bool {
    let ring = || {
        it.distances(oxygen, 2).into_iter().map(|(atom, _)| atom).filter(|&atom| {
            atom != oxygen && it.is_aromatic(atom) && it.ring(atom) == 5 && it.shares_arene(atom, oxygen)
        })
    };
    it.element(oxygen) == O
        && it.is_aromatic(oxygen)
        && it.ring(oxygen) == 5
        && ring().all(|atom| {
            it.element(atom) == C && !it.is_shared_by_aromatic_rings(atom) && !it.bears_acceptor(atom)
        })
        && it.next_to(oxygen).any(|beside| it.hydrogens(beside) > 0)
}

/// Returns true for a C–H between two acyl groups of a ketone or of a ring, whose enol diazonium ions and nitrous acid take (March, chapter 12).
fn is_coupled_methine(it: &Facts, carbon: u32) -> bool {
    let is_of_ring = |acyl: u32| it.bond(carbon, acyl).is_some_and(|bond| bond.ring > 0);
    is_between_ketones(it, carbon)
        || is_active_methylene(it, carbon)
            && it.next_to(carbon).filter(|&acyl| it.is_carbonyl(acyl) && is_of_ring(acyl)).count() == 2
}

/// Returns true for a C–H between two carbonyl groups, one of them a ketone's, whose enolate takes difluorocarbene (Chen and Wu 1989).
fn is_between_ketones(it: &Facts, carbon: u32) -> bool {
    is_between_carbonyls(it, carbon)
        && it.next_to(carbon).any(|acyl| matches!(it.group(acyl), Group::Ketone | Group::Aldehyde))
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

/// Returns true for the second amino group of an arene beside the one that becomes the diazonium ion, or across a fusion from it, whose nitrogen closes on the ion to a
/// triazole or triazine (Clayden, Greeves and Warren, chapter 22).
fn is_amine_in_reach(it: &Facts, amine: u32, own: u32) -> bool {
    let is_fusion = |atom: u32| it.is_shared_by_aromatic_rings(atom);
    let bears_amine = |atom: u32| it.is_aromatic_carbon(atom) && it.bond(atom, amine).is_some();
    it.element(amine) == N
        && !it.is_aromatic(amine)
        && it.hydrogens(amine) == 2
        && it.next_to(own).filter(|&ipso| it.is_aromatic(ipso)).any(|ipso| {
            it.next_to(ipso).any(|next| {
                next != own
                    && (bears_amine(next)
                        || is_fusion(next) && it.next_to(next).any(|peri| peri != ipso && bears_amine(peri)))
            })
        })
}

/// Returns true for a carbon of a double bond without an acceptor and with carbons on it, which takes electrophiles as well.
fn is_rival_alkene(it: &Facts, atom: u32) -> bool {
    carbons_of_alkene(it, atom) > 0 && it.is_plain_alkene(atom)
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
        for &operation in StepOperation::ALL {
            assert!(ATTACKED[operation as usize].iter().any(Option::is_some), "{operation:?}");
        }
        let ring = &ATTACKED[StepOperation::RingChlorination as usize];
        assert_eq!(ring[Group::AmideNitrogen as usize], Some(2));
        assert_eq!(ring[Group::PoorAniline as usize], None);
    }
}
