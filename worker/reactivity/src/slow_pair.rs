//! Pairs of a nucleophile and an electrophile that are too slow for one another, or that something else in the mixture overtakes.
//!
//! Sources: Clayden, Greeves and Warren, chapter 11 (imines of diaryl ketones form by titanium reagents or by way of oximes; the Strecker reaction is
//! reversible) and chapter 15 (tertiary halides eliminate); March, chapter 16 (imides are opened by amines before esters of arenes are) and chapter 10
//! (carbamates without N–H cannot react by way of the isocyanate).

use crate::arylation::has_open_boron;
use crate::attacked_groups::FAST_ARENE;
use crate::base_labile::{is_amino_ester, is_ester_of_alcohol};
use crate::change::{Facts, Step};
use crate::cleavage::is_acetate_of_alcohol;
use crate::competition::closed_ring_size;
use crate::electrophile;
use crate::event::Event;
use crate::group::{Group, aromatic_positions, positions_beside};
use crate::queries::*;
use crate::refusal::Refusal;

/// Rank of a chloride that takes an amine in the cold: 2,4-dichloropyrimidine-5-carboxylic acid.
const FAST_CHLORIDE: i32 = 80;

/// Refuses such pairs.
///
/// # Errors
/// Fails with [`Refusal::Unreactive`], [`Refusal::NotActivated`], [`Refusal::Hindered`] or [`Refusal::CompetingGroup`], for lost groups with [`Refusal::StereoScrambled`] or [`Refusal::Unstable`].
pub fn check(step: &Step<'_>, events: &[Event]) -> Result<(), Refusal> {
    let it = &step.before;
    for event in events {
        match *event {
            Event::ReductiveAmination { nitrogen, carbon } if is_diaryl_ketone(it, nitrogen, carbon) => {
                return Err(Refusal::Unreactive);
            }
            Event::Imination { nitrogen, .. } if is_hydrazine_beside_acetate(step, nitrogen) => {
                return Err(Refusal::CompetingGroup);
            }
            Event::Imination { nitrogen, carbon } if is_of_aminonitrile(it, nitrogen, carbon) => {
                return Err(Refusal::Unreactive);
            }
            Event::Alkylation { nucleophile, carbon, .. }
                if it.carbons(carbon) == 3 && it.is_alpha(carbon) && is_poor_aniline(it, nucleophile) =>
            {
                return Err(Refusal::Hindered);
            }
            Event::Acylation { nucleophile, carbon }
                if it.element(nucleophile) == N && closed_ring_size(step, nucleophile, carbon).is_none() =>
            {
                aminolysis(step, nucleophile, carbon)?;
                if it.group(carbon) == Group::Acid && is_on_neopentylic_branch(it, nucleophile) {
                    return Err(Refusal::Hindered);
                }
                if it.group(carbon) == Group::Acid
                    && step.atoms().any(|atom| is_taken_before_acid(step, nucleophile, atom))
                {
                    return Err(Refusal::CompetingGroup);
                }
            }
            Event::Arylation { nucleophile, carbon, leaving } => {
                if it.element(leaving) == F && is_drawn_by_carboxylate(step, carbon, nucleophile) {
                    return Err(Refusal::NotActivated);
                }
                if is_halogen(it.element(leaving)) && is_transesterified(step, nucleophile, carbon) {
                    return Err(Refusal::CompetingGroup);
                }
                if it.element(nucleophile) == N {
                    aromatic_amination(step, nucleophile, carbon, leaving)?;
                }
            }
            Event::Alkylation { nucleophile, leaving, .. }
                if step.atoms().any(|atom| is_taken_before_alkylation(step, nucleophile, leaving, atom)) =>
            {
                return Err(Refusal::CompetingGroup);
            }
            Event::Silylation { nucleophile } if is_crowded_silylation(step, nucleophile) => {
                return Err(Refusal::Hindered);
            }
            Event::ReductiveAmination { carbon, .. } | Event::Imination { carbon, .. }
                if racemises_beside_arene(step, carbon) =>
            {
                return Err(Refusal::StereoScrambled);
            }
            Event::Aldol { carbon, .. } | Event::Acetalisation { carbon }
                if is_formaldehyde_beside_amine(step, carbon) =>
            {
                return Err(Refusal::CompetingGroup);
            }
            // The primary amine that forms is the better nucleophile (Clayden, Greeves and Warren, chapter 22).
            Event::ConjugateAddition { nucleophile, carbon, .. }
                if it.group(nucleophile) == Group::Ammonia && it.hydrogens(carbon) == 2 =>
            {
                return Err(Refusal::CompetingGroup);
            }
            Event::ReductiveEtherification { .. }
                if step.atoms().any(|atom| is_free_base(it, atom) && step.is_untouched(atom)) =>
            {
                return Err(Refusal::CompetingGroup);
            }
            _ => {}
        }
    }
    for (nitrogen, carbon) in step.joined() {
        if is_formamide_nitrogen(it, nitrogen) && is_formaldehyde_beside_amine(step, carbon) {
            return Err(Refusal::CompetingGroup);
        }
        if it.is_amine(nitrogen) && is_plain_thiourea(it, carbon) {
            return Err(Refusal::Unreactive);
        }
        if is_hydrazine_beside_thiourea(step, nitrogen, carbon) || alkylates_diamine(step, nitrogen, carbon) {
            return Err(Refusal::CompetingGroup);
        }
    }
    Ok(())
}

/// Returns true for a secondary amine on a branched carbon beside a quaternary one, which takes acyl chlorides, and no acid with a coupling reagent (Montalbetti and Falque, Tetrahedron 2005, 61, 10827).
fn is_on_neopentylic_branch(it: &Facts, amine: u32) -> bool {
    it.group(amine) == Group::SecondaryAmine
        && it.next_to(amine).any(|alpha| {
            it.is_sp3(alpha) && it.carbons(alpha) == 2 && !it.is_in_ring(alpha) && it.is_neopentylic(alpha)
        })
}

/// Returns true for a secondary amine on a carbon with three chains, which palladium and heat leave (Hartwig, Acc. Chem. Res. 2008, 41, 1534).
fn is_secondary_on_quaternary_carbon(it: &Facts, amine: u32) -> bool {
    it.group(amine) == Group::SecondaryAmine
        && it.next_to(amine).any(|alpha| it.is_sp3(alpha) && it.carbons(alpha) == 3)
}

/// Returns true for ammonia and primary alkylamines.
fn is_small_or_primary(it: &Facts, amine: u32) -> bool {
    matches!(it.group(amine), Group::Ammonia | Group::PrimaryAmine)
}

/// Returns true for the nitrogen of an indole or pyrrole with a sulfonyl group, which a hot amine takes off (Wuts and Greene, chapter 7).
fn is_sulfonylated_pyrrole(it: &Facts, nitrogen: u32) -> bool {
    it.element(nitrogen) == N
        && it.is_aromatic(nitrogen)
        && it.ring(nitrogen) == 5
        && it.next_to(nitrogen).any(|next| it.element(next) == S && it.oxo(next) == 2)
}

/// Returns true for a free amine or amidine, which condenses with an aldehyde before an alcohol does (Clayden, Greeves and Warren, chapter 11).
fn is_free_base(it: &Facts, nitrogen: u32) -> bool {
    it.hydrogens(nitrogen) > 0 && (it.is_amine(nitrogen) || it.group(nitrogen) == Group::Amidine)
}

/// Returns true for the N–H of an amide.
fn is_formamide_nitrogen(it: &Facts, nitrogen: u32) -> bool {
    it.group(nitrogen) == Group::AmideNitrogen && it.hydrogens(nitrogen) > 0
}

/// Returns true for the carbon of thiourea itself, which guanylates no amine before its sulfur is alkylated or oxidised (Katritzky and Rogovoy, ARKIVOC 2005, iv, 49).
fn is_plain_thiourea(it: &Facts, carbon: u32) -> bool {
    it.element(carbon) == C
        && it.count(carbon, N) == 2
        && it.doubly(carbon, |next| it.element(next) == S).is_some()
        && it.next_to(carbon).all(|next| it.element(next) == S || it.hydrogens(next) == 2)
}

/// Returns true for a nitrogen of hydrazine and an ester beside a thiourea or thioamide that stays, which hydrazine takes as well (Kurzer and Wilkinson, Chem. Rev. 1970, 70, 111).
fn is_hydrazine_beside_thiourea(step: &Step<'_>, nitrogen: u32, acyl: u32) -> bool {
    let it = &step.before;
    let is_open = |atom: u32| {
        it.group(atom) == Group::ThiocarbonylSulfur
            && step.is_untouched(atom)
            && it.next_to(atom).any(|carbon| it.count(carbon, N) > 0 && !it.is_in_ring(carbon))
    };
    it.group(nitrogen) == Group::Hydrazine && it.group(acyl) == Group::Ester && step.atoms().any(is_open)
}

/// Returns true for an alkyl-1,2-diamine and an aldehyde that close an imidazoline beside a primary bromide or iodide, which the diamine takes (Clayden, Greeves and Warren, chapter 15).
fn alkylates_diamine(step: &Step<'_>, amine: u32, aldehyde: u32) -> bool {
    let it = &step.before;
    let is_bromide = |atom: u32| {
        it.is_sp3(atom)
            && it.hydrogens(atom) == 2
            && it.count(atom, BR) + it.count(atom, I) == 1
            && step.is_untouched(atom)
    };
    it.group(amine) == Group::PrimaryAmine
        && it.group(aldehyde) == Group::Aldehyde
        && step.gained(aldehyde).filter(|&(other, _)| it.group(other) == Group::PrimaryAmine).count() == 2
        && step.atoms().any(is_bromide)
}

/// Acceptors ortho or para to a position of a benzene ring, outside of it; `None` for a ring with a nitrogen or nitro group.
fn acceptors_of_benzene(it: &Facts, carbon: u32) -> Option<Vec<u32>> {
    let positions = aromatic_positions(&it.structure, carbon);
    let is_strong = |atom: u32| it.element(atom) != C || it.next_to(atom).any(|next| it.is_nitro(next));
    if it.ring(carbon) != 6 || positions.iter().any(|&(atom, _)| is_strong(atom)) {
        return None;
    }
    let acceptors = positions.iter().filter(|&&(_, distance)| distance != 2).flat_map(|&(atom, _)| {
        it.next_to(atom).filter(|&next| !it.is_aromatic(next) && it.impoverishes_ring(next))
    });
    Some(acceptors.collect())
}

/// Returns true for a fluorobenzene whose only acceptors are free acids: their anions, which an alkylamine or alkoxide makes, activate no ring (Miller 1968). The amides of anilines and strong bases take
/// rings with more halogens.
fn is_drawn_by_carboxylate(step: &Step<'_>, carbon: u32, nucleophile: u32) -> bool {
    let it = &step.before;
    let is_acid = |&acceptor: &u32| it.next_to(acceptor).any(|oxygen| step.is_kept_acid(oxygen));
    let is_plain = || positions_beside(&it.structure, carbon, |next| is_halogen(it.element(next))) == 0;
    (it.is_amine(nucleophile)
        || matches!(it.group(nucleophile), Group::PrimaryAlcohol | Group::SecondaryAlcohol))
        && closed_ring_size(step, nucleophile, carbon).is_none()
        && is_plain()
        && acceptors_of_benzene(it, carbon)
            .is_some_and(|acceptors| !acceptors.is_empty() && acceptors.iter().all(is_acid))
}

/// Returns true for an alcohol whose alkoxide is to take the halide of a benzene ring that only an ester of methanol or ethanol activates: the ester is exchanged first (March, 16-64).
fn is_transesterified(step: &Step<'_>, nucleophile: u32, carbon: u32) -> bool {
    let it = &step.before;
    let is_ester = |&acceptor: &u32| is_ester_of_alcohol(it, acceptor, 1) && step.is_untouched(acceptor);
    matches!(it.group(nucleophile), Group::PrimaryAlcohol | Group::SecondaryAlcohol)
        && closed_ring_size(step, nucleophile, carbon).is_none()
        && acceptors_of_benzene(it, carbon)
            .is_some_and(|acceptors| !acceptors.is_empty() && acceptors.iter().all(is_ester))
}

/// Returns true for a nitrogen of hydrazine itself beside an acetate that stays, which it takes off (Wuts and Greene, chapter 2).
fn is_hydrazine_beside_acetate(step: &Step<'_>, nitrogen: u32) -> bool {
    let it = &step.before;
    let is_bare = |next: u32| it.element(next) == N && it.degree(next) == 1;
    is_bare(nitrogen)
        && it.next_to(nitrogen).all(is_bare)
        && step.atoms().any(|atom| step.is_untouched(atom) && is_acetate_of_alcohol(it, atom))
}

/// Returns true for ammonia or a secondary amine and a ketone between two arenes, and an N-alkylaniline and a ketone on one, whose carbonyl group is hydride's.
fn is_diaryl_ketone(it: &Facts, nitrogen: u32, ketone: u32) -> bool {
    let most_aryls = match it.group(nitrogen) {
        Group::Ammonia | Group::SecondaryAmine => 1,
        Group::SecondaryAniline | Group::Diarylamine => 0,
        _ => return false,
    };
    it.group(ketone) == Group::Ketone && it.aryls(ketone) > most_aryls
}

/// Returns true for an α-aminonitrile of an aldehyde or ketone, which loses cyanide as it condenses; its C–H is so acidic that a stereocentre is lost
/// as well. Aminoacetonitrile forms imines.
fn is_of_aminonitrile(it: &Facts, nitrogen: u32, carbonyl: u32) -> bool {
    let is_strecker = |alpha: u32| {
        it.is_sp3(alpha)
            && it.next_to(alpha).any(|next| it.is_cyano(next))
            && it.carbons(alpha) > 1
            && (it.group(carbonyl) == Group::Ketone || it.at(alpha).centre.is_some())
    };
    it.group(nitrogen) == Group::PrimaryAmine && it.next_to(nitrogen).any(is_strecker)
}

/// Returns true for the nitrogen of an aniline with an acceptor ortho or para to it.
fn is_poor_aniline(it: &Facts, nitrogen: u32) -> bool {
    let is_poor = |ipso: u32| {
        aromatic_positions(&it.structure, ipso)
            .iter()
            .any(|&(atom, distance)| distance != 2 && it.bears_acceptor(atom))
    };
    matches!(it.group(nitrogen), Group::Aniline | Group::SecondaryAniline | Group::PoorAniline)
        && it.next_to(nitrogen).any(|ipso| it.is_aromatic_carbon(ipso) && is_poor(ipso))
}

/// Checks the attack of an amine on an ester or carbamate.
fn aminolysis(step: &Step<'_>, amine: u32, acyl: u32) -> Result<(), Refusal> {
    let it = &step.before;
    let is_open_imide = |atom: u32| {
        it.group(atom) == Group::Imide
            && it.is_in_ring(atom)
            && step.is_untouched(atom)
            && it.next_to(atom).any(|next| {
                it.group(next) == Group::ImideNitrogen && it.hydrogens(next) == 0 && !it.is_aromatic(next)
            })
    };
    match it.group(acyl) {
        Group::Ester if step.atoms().any(is_open_imide) => Err(Refusal::CompetingGroup),
        Group::Ester
            if !is_fluorinated_ester(it, acyl)
                && step.atoms().any(|atom| is_fluorinated_ester(it, atom) && step.is_untouched(atom)) =>
        {
            Err(Refusal::CompetingGroup)
        }
        Group::Ester
            if is_plain_ester(it, acyl) && (is_zwitterion(step, amine) || is_drawn_aniline(it, amine)) =>
        {
            Err(Refusal::Unreactive)
        }
        Group::Ester if is_on_quaternary_carbon(it, acyl) => Err(Refusal::Hindered),
        Group::Ester if is_of_amino_acid(it, amine) && is_alkyl_ester_of_amino_acid(it, acyl) => {
            Err(Refusal::Unreactive)
        }
        Group::Ester if is_on_branched_carbon(it, acyl) && is_drawn_amine(it, amine) => {
            Err(Refusal::Unreactive)
        }
        Group::Carbamate if it.group(amine) == Group::SecondaryAmine && is_arylcarbamate(it, acyl) => {
            Err(Refusal::Unreactive)
        }
        _ => Ok(()),
    }
}

/// Returns true for an ester with fluorine on its α-carbon, the first that an amine takes (Clayden, Greeves and Warren, chapter 10).
fn is_fluorinated_ester(it: &Facts, acyl: u32) -> bool {
    it.group(acyl) == Group::Ester && it.next_to(acyl).any(|alpha| it.count(alpha, F) > 0)
}

/// Returns true for an amine on the α-carbon of an ester, amide or acid.
fn is_of_amino_acid(it: &Facts, amine: u32) -> bool {
    it.is_amine(amine)
        && it.next_to(amine).any(|alpha| {
            it.is_sp3(alpha)
                && it.next_to(alpha).any(|acyl| {
                    matches!(it.group(acyl), Group::Ester | Group::Amide | Group::Acid | Group::Weinreb)
                })
        })
}

/// Returns true for the alkyl ester of an amino acid, which takes the nitrogen of another one too slowly to make a peptide, and diketopiperazines form (Sewald and Jakubke 2009).
fn is_alkyl_ester_of_amino_acid(it: &Facts, acyl: u32) -> bool {
    is_ester_of_alcohol(it, acyl, 2)
        && it
            .next_to(acyl)
            .any(|alpha| it.is_sp3(alpha) && it.next_to(alpha).any(|next| it.element(next) == N))
}

/// Returns true for the open ester of a primary or secondary alcohol without halogens, a nitrile or the like on it, and without a second acyl group, fluorine or acylacetic ester's ketone.
fn is_plain_ester(it: &Facts, acyl: u32) -> bool {
    let is_drawn = |alpha: u32| {
        it.is_acceptor(alpha)
            || it.is_alpha(alpha) && !it.is_aromatic(alpha) && acceptors(it, alpha) > 1
            || it.count(alpha, F) > 0
    };
    let is_activating = |alkyl: u32| {
        it.is_alpha(alkyl)
            || it.next_to(alkyl).any(|next| it.next_to(next).any(|far| is_halogen(it.element(far))))
    };
    // The phenol of a salicylate helps the amine (Clayden, Greeves and Warren, chapter 10).
    let is_chelated = |ipso: u32| {
        it.is_aromatic(ipso)
            && it.next_to(ipso).any(|ortho| it.next_to(ortho).any(|next| it.group(next) == Group::Phenol))
    };
    let alkyls = it.next_to(acyl).filter(|&oxygen| it.group(oxygen) == Group::EsterOxygen);
    is_ester_of_alcohol(it, acyl, 2)
        && !it.is_in_ring(acyl)
        && it.hydrogens(acyl) == 0
        && !it.next_to(acyl).any(|alpha| is_drawn(alpha) || is_chelated(alpha))
        && !alkyls.flat_map(|oxygen| it.next_to(oxygen)).any(|alkyl| alkyl != acyl && is_activating(alkyl))
}

/// Number of acceptors on an atom.
fn acceptors(it: &Facts, atom: u32) -> usize {
    it.next_to(atom).filter(|&next| it.is_acceptor(next)).count()
}

/// Returns true for the amine of a free amino acid, an ammonium ion in what esters bear (Sewald and Jakubke 2009). Chemists take active esters, or the acid and a coupling reagent.
fn is_zwitterion(step: &Step<'_>, amine: u32) -> bool {
    step.before.is_amine(amine)
        && step.atoms().any(|acid| step.is_kept_acid(acid) && step.are_in_same_molecule(acid, amine))
}

/// Returns true for an aniline with a trifluoromethyl group beside it or with two acceptors on its ring, too weak for an ester without a strong base (March, chapter 16).
fn is_drawn_aniline(it: &Facts, amine: u32) -> bool {
    let bears_trifluoromethyl =
        |ortho: u32| it.is_aromatic(ortho) && it.next_to(ortho).any(|next| it.is_trifluoromethyl(next));
    let is_poor = |ipso: u32| {
        let count =
            positions_beside(&it.structure, ipso, |next| !it.is_aromatic(next) && it.impoverishes_ring(next));
        count > 1 || it.next_to(ipso).any(bears_trifluoromethyl)
    };
    matches!(it.group(amine), Group::Aniline | Group::SecondaryAniline | Group::PoorAniline)
        && it.next_to(amine).any(|ipso| it.is_aromatic_carbon(ipso) && is_poor(ipso))
}

/// Returns true for an ester on a carbon with three carbon chains, which amines do not attack (Clayden, Greeves and Warren, chapter 10). Cyclopropanes and malonates
/// are open.
fn is_on_quaternary_carbon(it: &Facts, acyl: u32) -> bool {
    it.next_to(acyl).any(|alpha| {
        it.is_sp3(alpha)
            && it.carbons(alpha) == 4
            && it.ring(alpha) != 3
            && it.next_to(alpha).filter(|&next| it.is_acceptor(next)).count() == 1
    })
}

/// Returns true for an ester on a carbon with two chains in no ring.
fn is_on_branched_carbon(it: &Facts, acyl: u32) -> bool {
    it.next_to(acyl).any(|alpha| it.is_sp3(alpha) && it.carbons(alpha) == 3 && !it.is_in_ring(alpha))
}

/// Returns true for a primary amine two carbons from a sulfonyl, cyano or trifluoromethyl group, a weak nucleophile.
fn is_drawn_amine(it: &Facts, amine: u32) -> bool {
    let draws = |group: u32| {
        it.element(group) == S && it.oxo(group) == 2 || it.is_cyano(group) || it.is_trifluoromethyl(group)
    };
    it.group(amine) == Group::PrimaryAmine
        && it.distances(amine, 3).into_iter().any(|(atom, distance)| distance > 1 && draws(atom))
}

/// Returns true for a tertiary alcohol and the chloride of a silicon with a tert-butyl group or two isopropyl groups (Wuts and Greene, chapter 2).
fn is_crowded_silylation(step: &Step<'_>, oxygen: u32) -> bool {
    let it = &step.before;
    let branches = |silicon: u32| {
        it.next_to(silicon)
            .filter(|&next| it.element(next) == C)
            .map(|next| it.carbons(next))
            .max()
            .unwrap_or(0)
    };
    it.group(oxygen) == Group::TertiaryAlcohol
        && step.gained(oxygen).any(|(silicon, _)| {
            it.element(silicon) == SI
                && branches(silicon) > 2
                && step.lost(silicon).any(|(gone, _)| it.element(gone) == CL)
        })
}

/// Returns true for ammonia and for a primary amine on a carbon with at most one chain.
fn is_open_amine(it: &Facts, amine: u32) -> bool {
    match it.group(amine) {
        Group::Ammonia => true,
        Group::PrimaryAmine => it.next_to(amine).all(|next| it.carbons(next) < 2),
        _ => false,
    }
}

/// Returns true for the kept acyl carbon of an amide without N–H whose nitrogen is on C2 or C4 of a pyridine, an acylating agent that a hot amine takes (Joule and Mills 2010, chapter 8).
fn is_acylated_aminopyridine(step: &Step<'_>, acyl: u32) -> bool {
    let it = &step.before;
    let is_on_pyridine = |nitrogen: u32| {
        it.element(nitrogen) == N
            && it.hydrogens(nitrogen) == 0
            && !it.is_aromatic(nitrogen)
            && it.next_to(nitrogen).any(|ipso| it.is_aromatic_carbon(ipso) && it.has_conjugated_azine(ipso))
    };
    it.group(acyl) == Group::Amide
        && !it.is_in_ring(acyl)
        && step.is_untouched(acyl)
        && it.next_to(acyl).any(is_on_pyridine)
}

/// Returns true for a carbon beside the nitrogen of an azine with the boronic ester that stays, which a hot amine takes off (Cox and others, J. Am. Chem. Soc. 2016, 138, 9145).
fn is_lost_boronate(step: &Step<'_>, carbon: u32) -> bool {
    let it = &step.before;
    it.ring(carbon) == 6
        && has_open_boron(it, carbon)
        && step.is_untouched(carbon)
        && it.next_to(carbon).any(|next| it.group(next) == Group::Azine)
}

/// Returns true for a secondary amine of an open chain with two free hydroxyethyl groups, which holds the metal that an inert halide needs, and reduces the halide (Hartwig, Acc. Chem. Res.
/// 2008, 41, 1534).
fn is_diethanolamine(it: &Facts, amine: u32) -> bool {
    it.group(amine) == Group::SecondaryAmine
        && !it.is_in_ring(amine)
        && it.next_to(amine).all(|alpha| it.has_beta_hydroxyl(alpha))
}

/// Returns true for the free nitrogen of an aldehyde's hydrazone, which goes to the azine before it takes an aryl halide. Palladium arylates that of benzophenone
/// (Wagaw, Yang and Buchwald, J. Am. Chem. Soc. 1999, 121, 10251).
fn is_aldehyde_hydrazone(it: &Facts, nitrogen: u32) -> bool {
    let is_of_aldehyde =
        |imine: u32| it.doubly(imine, |next| it.element(next) == C && it.hydrogens(next) > 0).is_some();
    it.hydrogens(nitrogen) == 2
        && it.next_to(nitrogen).any(|next| it.element(next) == N && is_of_aldehyde(next))
}

/// Returns true for the anhydride of a molecule whose acid an alcohol is to esterify, which it opens first, and for an aldehyde, which cyanide takes before a halide
/// (Clayden, Greeves and Warren, chapters 6 and 10).
fn is_taken_before_alkylation(step: &Step<'_>, nucleophile: u32, leaving: u32, atom: u32) -> bool {
    let it = &step.before;
    let is_taken = match it.group(atom) {
        Group::Anhydride => it.group(nucleophile) == Group::AcidOxygen && it.is_hydroxyl(leaving),
        Group::Aldehyde => it.is_cyano(nucleophile),
        _ => false,
    };
    is_taken && step.is_untouched(atom)
}

/// Returns true for formaldehyde beside a free amine, with which it condenses before a C–H does (Clayden, Greeves and Warren, chapter 26).
fn is_formaldehyde_beside_amine(step: &Step<'_>, aldehyde: u32) -> bool {
    let it = &step.before;
    it.group(aldehyde) == Group::Aldehyde
        && it.carbons(aldehyde) == 0
        && step.atoms().any(|atom| it.is_amine(atom) && step.is_untouched(atom))
}

/// Returns true for a ketone that condenses with a nitrogen beside a stereocentre with an aryl group, whose hydrogen the enamine loses (Clayden, Greeves and Warren,
/// chapter 20), if the product is to have its configuration.
fn racemises_beside_arene(step: &Step<'_>, ketone: u32) -> bool {
    let it = &step.before;
    let is_defined = |atom: u32| it.at(atom).centre.is_some();
    let is_kept = |atom: u32| step.image(atom).is_some_and(|image| step.after.at(image).centre.is_some());
    it.group(ketone) == Group::Ketone
        && it.next_to(ketone).any(|alpha| {
            it.is_sp3(alpha)
                && it.hydrogens(alpha) == 1
                && it.aryls(alpha) > 0
                && is_defined(alpha)
                && is_kept(alpha)
        })
}

/// Returns true for a carbamate of a phenol whose nitrogen has an arene and no hydrogen.
fn is_arylcarbamate(it: &Facts, acyl: u32) -> bool {
    let is_bound = |next: u32| {
        it.element(next) == N && !it.is_aromatic(next) && it.hydrogens(next) == 0 && it.aryls(next) > 0
    };
    let is_phenoxide = |next: u32| it.element(next) == O && it.aryls(next) > 0;
    it.next_to(acyl).any(is_bound) && it.next_to(acyl).any(is_phenoxide)
}

/// Returns true for a group that the amine takes before a coupling reagent has made an acid ready for it: for alkylamines a benzylic or allylic bromide or iodide,
/// or a chloride of a pyrimidine across from a nitrogen and beside the acid; for anilines an aldehyde (Clayden, Greeves and Warren, chapters 11 and 15). Acyl halides are
/// faster.
fn is_taken_before_acid(step: &Step<'_>, amine: u32, atom: u32) -> bool {
    let it = &step.before;
    let is_bromide = || {
        it.is_sp3(atom)
            && it.count(atom, BR) + it.count(atom, I) == 1
            && it.is_benzylic_or_allylic(atom)
            && !it.is_alpha(atom)
    };
    step.is_untouched(atom)
        && match it.group(amine) {
            Group::PrimaryAmine | Group::SecondaryAmine => {
                is_bromide() || electrophile::aryl(it, atom) >= FAST_CHLORIDE
            }
            Group::Aniline => it.group(atom) == Group::Aldehyde,
            _ => false,
        }
}

/// Checks the amination of a halide that needs a nitro group or much heat: amines on quaternary carbons, and ammonia or methylamine and a chloropyridine beside an
/// ester of a primary alcohol, which they take as well.
fn aromatic_amination(step: &Step<'_>, amine: u32, carbon: u32, leaving: u32) -> Result<(), Refusal> {
    let it = &step.before;
    let is_quaternary = |next: u32| it.is_sp3(next) && it.carbons(next) == 3;
    let is_plain_ring = || {
        aromatic_positions(&it.structure, carbon)
            .iter()
            .all(|&(atom, _)| it.element(atom) == C && !it.next_to(atom).any(|next| it.is_nitro(next)))
    };
    if it.element(leaving) == F
        && it.group(amine) == Group::PrimaryAmine
        && it.next_to(amine).any(is_quaternary)
        && is_plain_ring()
    {
        return Err(Refusal::Hindered);
    }
    let is_small = match it.group(amine) {
        Group::Ammonia => true,
        Group::PrimaryAmine => it.next_to(amine).all(|next| it.hydrogens(next) == 3),
        _ => false,
    };
    let is_taken = |atom: u32| is_ester_of_alcohol(it, atom, 1) && step.is_untouched(atom);
    if step.atoms().any(|atom| is_lost_boronate(step, atom)) {
        return Err(Refusal::Unstable);
    }
    if is_heavy_halogen(it.element(leaving))
        && closed_ring_size(step, amine, carbon).is_none()
        && is_secondary_on_quaternary_carbon(it, amine)
    {
        return Err(Refusal::Hindered);
    }
    if is_small_or_primary(it, amine)
        && electrophile::needs_heat(it, carbon, leaving)
        && step.atoms().any(|atom| is_sulfonylated_pyrrole(it, atom) && step.is_untouched(atom))
    {
        return Err(Refusal::CompetingGroup);
    }
    // An amino ester makes the piperazinedione in the heat that such a halide needs (Sewald and Jakubke 2009).
    if is_amino_ester(it, amine) && electrophile::needs_heat(it, carbon, leaving) {
        return Err(Refusal::SelfReacting);
    }
    if is_open_amine(it, amine) && step.atoms().any(|atom| is_acylated_aminopyridine(step, atom)) {
        return Err(Refusal::CompetingGroup);
    }
    if is_diethanolamine(it, amine) && electrophile::activation(it, carbon) < electrophile::ACTIVATED {
        return Err(Refusal::Unreactive);
    }
    if is_aldehyde_hydrazone(it, amine) && closed_ring_size(step, amine, carbon).is_none() {
        return Err(Refusal::Unreactive);
    }
    let is_hydrazine = it.group(amine) == Group::Hydrazine && it.degree(amine) == 1;
    if is_hydrazine && electrophile::aryl(it, carbon) < FAST_ARENE && step.atoms().any(is_taken) {
        return Err(Refusal::CompetingGroup);
    }
    if is_small && electrophile::needs_heat(it, carbon, leaving) && step.atoms().any(is_taken) {
        return Err(Refusal::CompetingGroup);
    }
    Ok(())
}
