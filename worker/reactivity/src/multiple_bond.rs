//! Double and triple bonds whose reagent goes elsewhere than drawn: to the other carbon, to a ring, or nowhere.
//!
//! Sources: Clayden, Greeves and Warren, chapters 19 and 22, for the carbon that electrophiles and nucleophiles take; Campbell and Campbell, Chem. Rev.
//! 1942, 31, 77, for the hydrogenation of alkynes to Z alkenes; those at the functions.

use crate::change::{Facts, Step};
use crate::event::Event;
use crate::group::Group;
use crate::queries::*;
use crate::refusal::Refusal;

/// Refuses such steps.
///
/// # Errors
/// Fails with [`Refusal::Position`] for the other carbon, with [`Refusal::CompetingGroup`] for a group of the molecule that is faster, with [`Refusal::Unreactive`], [`Refusal::SelfReacting`] and [`Refusal::Strained`] for alkynes that
/// react otherwise or close no ring, and with [`Refusal::StereoScrambled`] for the other alkene.
pub fn check(step: &Step<'_>, events: &[Event]) -> Result<(), Refusal> {
    for event in events {
        match *event {
            Event::Alkynylation { alkyne, .. } if is_terminal_ynone(&step.before, alkyne) => {
                return Err(Refusal::Unreactive);
            }
            Event::Alkynylation { alkyne, .. } if is_acetylene(&step.before, alkyne) => {
                return Err(Refusal::CompetingGroup);
            }
            Event::Alkynylation { alkyne, carbon, .. } if closes_to_benzofuran(step, alkyne, carbon) => {
                return Err(Refusal::SelfReacting);
            }
            Event::Heck { alkene, carbon, .. }
                if is_allylic_alcohol(step, alkene)
                    || is_methacrylate_and_crowded_ring(&step.before, alkene, carbon)
                    || is_plain_olefin(&step.before, alkene)
                        && !step.are_in_same_molecule(alkene, carbon) =>
            {
                return Err(Refusal::Position);
            }
            Event::ConjugateAddition { nucleophile, carbon, partner }
                if step.hydrogens_gained(partner) > 0
                    && adds_against_acceptor(&step.before, nucleophile, carbon, partner) =>
            {
                return Err(Refusal::Position);
            }
            Event::ConjugateAddition { nucleophile, carbon, partner }
                if takes_own_halonium(step, nucleophile, carbon, partner) =>
            {
                return Err(Refusal::CompetingGroup);
            }
            Event::Hydrogenation { carbon, partner } if makes_trans_alkene(step, carbon, partner) => {
                return Err(Refusal::StereoScrambled);
            }
            _ => {}
        }
    }
    for (from, to) in step.joined() {
        let is_other_carbon = is_plain_vinylic_halogenation(step, from, to)
            || is_against_markovnikov(&step.before, from, to)
            || adds_oxygen_beside_acceptor(step, from, to);
        if is_other_carbon {
            return Err(Refusal::Position);
        }
        if is_esterified_by_ozone(step, from, to)
            || is_carbenoid_of_enone(&step.before, from, to)
            || acylates_acceptor(step, from, to)
            || acylates_enamide(step, from, to)
            || alkylates_plain_alkene(step, from, to)
            || formylates_poor_alkene(step, from, to)
        {
            return Err(Refusal::Unreactive);
        }
        if closes_cycloalkyne(step, from, to) {
            return Err(Refusal::Strained);
        }
    }
    Ok(())
}

/// Returns true for a halogen in the place of a hydrogen of a plain alkene, which it adds to, or which takes it at the allylic carbon (March, chapters
/// 14 and 15), and of an alkene with an acceptor, whose near carbon keeps the halogen as hydrogen halide leaves.
fn is_plain_vinylic_halogenation(step: &Step<'_>, halogen: u32, carbon: u32) -> bool {
    let it = &step.before;
    let is_plain = |atom: u32, partner: u32| {
        it.next_to(atom).all(|next| next == partner || it.is_sp3(next) && it.element(next) == C)
    };
    let is_far = |atom: u32, partner: u32| {
        it.is_alpha(partner) && !it.is_alpha(atom) && it.next_to(atom).all(|next| it.element(next) == C)
    };
    is_heavy_halogen(it.element(halogen))
        && it.group(carbon) == Group::Alkene
        && step.loses_only_hydrogen(carbon)
        && it.doubly(carbon, |next| it.element(next) == C).is_some_and(|partner| {
            is_plain(carbon, partner) && is_plain(partner, carbon) || is_far(carbon, partner)
        })
}

/// Returns true for the far end of an allylic alcohol with a hydrogen beside its hydroxyl group, which palladium hydride turns into the ketone (Beletskaya and
/// Cheprakov, Chem. Rev. 2000, 100, 3009), if the product still is the alcohol.
fn is_allylic_alcohol(step: &Step<'_>, end: u32) -> bool {
    let it = &step.before;
    let is_carbinol = |carbinol: u32| {
        it.is_sp3(carbinol)
            && it.hydrogens(carbinol) > 0
            && it.next_to(carbinol).any(|next| it.is_hydroxyl(next))
            && step.is_untouched(carbinol)
    };
    it.doubly(end, |near| it.element(near) == C)
        .is_some_and(|near| it.next_to(near).any(|next| next != end && is_carbinol(next)))
}

/// Returns true for the end of a 1-alkene with a hydrocarbon chain, which takes the aryl group at either carbon and loses either hydrogen (Beletskaya and Cheprakov,
/// Chem. Rev. 2000, 100, 3009).
fn is_plain_olefin(it: &Facts, end: u32) -> bool {
    let is_chain = |next: u32| {
        it.is_sp3(next)
            && it.hydrogens(next) > 0
            && it.next_to(next).all(|far| it.element(far) == C && !it.is_aromatic(far))
    };
    it.hydrogens(end) == 2
        && it
            .doubly(end, |near| it.element(near) == C && it.hydrogens(near) == 1)
            .is_some_and(|near| it.next_to(near).any(|next| next != end && is_chain(next)))
}

/// Returns true for the methylene group of a methacrylate and a halide between two groups: palladium takes hydrogen from the methyl group as well, to the benzylacrylate, and more so where
/// the ring is crowded (Beletskaya and Cheprakov, Chem. Rev. 2000, 100, 3009).
fn is_methacrylate_and_crowded_ring(it: &Facts, alkene: u32, carbon: u32) -> bool {
    let has_chain = |near: u32| {
        it.is_alpha(near) && it.next_to(near).any(|next| it.is_sp3(next) && it.hydrogens(next) > 0)
    };
    let is_group = |ortho: &u32| it.is_aromatic_carbon(*ortho) && it.hydrogens(*ortho) == 0;
    it.hydrogens(alkene) == 2
        && it.doubly(alkene, has_chain).is_some()
        && it.next_to(carbon).filter(is_group).count() == 2
}

/// Returns true for a carbon of acetylene, which couples at both ends: chemists take trimethylsilylacetylene (Chinchilla and Nájera, Chem. Rev. 2007, 107, 874).
fn is_acetylene(it: &Facts, alkyne: u32) -> bool {
    it.hydrogens(alkyne) > 0 && it.is_ethynyl(alkyne)
}

/// Returns true for the terminal carbon of an ynone, which takes the amine of a Sonogashira coupling (Chinchilla and Nájera, Chem. Rev. 2007, 107, 874).
fn is_terminal_ynone(it: &Facts, alkyne: u32) -> bool {
    it.triply(alkyne).is_some_and(|inner| {
        it.next_to(inner).any(|next| matches!(it.group(next), Group::Ketone | Group::Aldehyde))
    })
}

/// Returns true for hydrogen chloride or iodide and the end of a double bond that has more hydrogen, without an acceptor at the other one: only
/// hydrogen bromide adds so, by radicals (Clayden, Greeves and Warren, chapters 19 and 37).
fn is_against_markovnikov(it: &Facts, halogen: u32, carbon: u32) -> bool {
    let is_more_substituted = |partner: u32| {
        it.hydrogens(partner) < it.hydrogens(carbon)
            && !it.next_to(partner).any(|next| it.is_acceptor(next) || it.is_trifluoromethyl(next))
    };
    matches!(it.element(halogen), CL | I)
        && it.degree(halogen) == 0
        && it.group(carbon) == Group::Alkene
        && it.doubly(carbon, |next| it.element(next) == C).is_some_and(is_more_substituted)
}

/// Returns true for an alcohol, other than the methanol in which alkenes are cleaved, that joins a carbon of an alkene beside ozone (Marshall and
/// Garofalo, J. Org. Chem. 1993, 58, 3675).
fn is_esterified_by_ozone(step: &Step<'_>, oxygen: u32, carbon: u32) -> bool {
    let it = &step.before;
    let is_ozone = |atom: u32| it.element(atom) == O && it.at(atom).charge == 1 && it.count(atom, O) == 2;
    it.group(carbon) == Group::Alkene
        && it.element(oxygen) == O
        && it.next_to(oxygen).any(|next| it.carbons(next) > 0)
        && step.atoms().any(is_ozone)
}

/// Returns true for diiodomethane and the double bond of an enone or its imine: zinc carbenoids are electrophiles, and such rings come from sulfur ylides
/// (Charette and Beauchemin, Org. React. 2001, 58, 1).
fn is_carbenoid_of_enone(it: &Facts, methylene: u32, carbon: u32) -> bool {
    let is_near_carbonyl = |atom: u32| {
        it.next_to(atom)
            .any(|next| matches!(it.group(next), Group::Ketone | Group::Aldehyde | Group::ImineCarbon))
    };
    let partner = || it.doubly(carbon, |next| it.element(next) == C);
    it.count(methylene, I) == 2
        && it.group(carbon) == Group::Alkene
        && (is_near_carbonyl(carbon) || partner().is_some_and(is_near_carbonyl))
}

/// Returns true for an alkene with a halogen or an acceptor and the carbon of a formamide: the Vilsmeier reagent is a weak electrophile (Jones and Stanforth,
/// Org. React. 2000, 56, 355).
fn formylates_poor_alkene(step: &Step<'_>, carbon: u32, formamide: u32) -> bool {
    let it = &step.before;
    let bears_halogen = |atom: u32| it.next_to(atom).any(|next| is_heavy_halogen(it.element(next)));
    let is_donor = |next: u32| matches!(it.element(next), N | O);
    let gives = |atom: u32| it.next_to(atom).any(is_donor);
    let is_conjugated = |atom: u32| it.next_to(atom).any(|next| it.is_aromatic(next));
    it.group(formamide) == Group::Amide
        && it.hydrogens(formamide) > 0
        && it.group(carbon) == Group::Alkene
        && step.loses_only_hydrogen(carbon)
        && it.doubly(carbon, |far| it.element(far) == C).is_some_and(|far| {
            let ends = [carbon, far];
            let is_poor = ends.iter().any(|&end| it.is_alpha(end))
                || ends.iter().any(|&end| bears_halogen(end)) && !ends.iter().any(|&end| is_conjugated(end));
            is_poor && !ends.iter().any(|&end| gives(end))
        })
}

/// Returns true for a C–H of the double bond of an acceptor and an acyl halide or anhydride: both are electrophiles, and enol ethers and enamines are what they
/// acylate (Clayden, Greeves and Warren, chapter 26).
fn acylates_acceptor(step: &Step<'_>, carbon: u32, acyl: u32) -> bool {
    let it = &step.before;
    let gives =
        |atom: u32| it.next_to(atom).any(|next| matches!(it.element(next), N | O | S) && it.oxo(next) == 0);
    matches!(it.group(acyl), Group::AcylHalide | Group::Anhydride)
        && it.group(carbon) == Group::Alkene
        && step.loses_only_hydrogen(carbon)
        && it
            .doubly(carbon, |far| it.element(far) == C)
            .is_some_and(|far| (it.is_alpha(carbon) || it.is_alpha(far)) && !gives(carbon) && !gives(far))
}

/// Returns true for a C–H of an enamide or enecarbamate with its N–H and an acyl halide or anhydride, which goes to the nitrogen if anywhere (Carbery, Org. Biomol. Chem. 2008, 6, 3455).
/// Trifluoroacetic anhydride takes the carbon.
fn acylates_enamide(step: &Step<'_>, carbon: u32, acyl: u32) -> bool {
    let it = &step.before;
    let is_amide = |next: u32| {
        matches!(it.group(next), Group::AmideNitrogen | Group::CarbamateNitrogen)
            && it.hydrogens(next) > 0
            && step.is_untouched(next)
    };
    matches!(it.group(acyl), Group::AcylHalide | Group::Anhydride)
        && !it.next_to(acyl).any(|alpha| it.is_trifluoromethyl(alpha))
        && it.group(carbon) == Group::Alkene
        && step.loses_only_hydrogen(carbon)
        && it.doubly(carbon, |far| it.next_to(far).any(is_amide)).is_some()
}

/// Returns true for a plain alkene whose double bond moves as its carbon takes an alkyl halide that forms no cation: no base makes a carbanion of it (Clayden, Greeves and Warren, chapter
/// 15). Radicals of polyhalides and halo esters add to alkenes.
fn alkylates_plain_alkene(step: &Step<'_>, alkene: u32, alkyl: u32) -> bool {
    let it = &step.before;
    let moves = |far: u32| {
        it.next_to(far).any(|next| {
            next != alkene
                && it.is_sp3(next)
                && step.hydrogens_gained(next) < 0
                && step.reordered(next).any(|(other, _, _)| other == far)
        })
    };
    it.is_plain_alkene(alkene)
        && it.is_alkyl_halide(alkyl)
        && it.carbons(alkyl) < 3
        && !it.is_alpha(alkyl)
        && !step.are_in_same_molecule(alkene, alkyl)
        && step.lost(alkyl).any(|(gone, _)| is_heavy_halogen(it.element(gone)))
        && it.doubly(alkene, moves).is_some()
}

/// Returns true for water or an alcohol that is to take a halonium ion with an acid, amide, carbamate or alcohol of its own, which closes a ring of five or six first: iodolactones,
/// oxazolines, oxazolidinones and tetrahydrofurans (March, chapter 15).
fn takes_own_halonium(step: &Step<'_>, oxygen: u32, carbon: u32, partner: u32) -> bool {
    let it = &step.before;
    let is_nucleophile = |atom: u32, distance: u32| match it.group(atom) {
        Group::AcidOxygen | Group::PrimaryAlcohol | Group::SecondaryAlcohol => {
            it.hydrogens(atom) > 0 && matches!(distance, 4 | 5)
        }
        Group::CarbonylOxygen => {
            distance == 4
                && it.next_to(atom).any(|acyl| {
                    matches!(it.group(acyl), Group::Amide | Group::Carbamate | Group::Urea)
                        && it.next_to(acyl).any(|next| {
                            it.element(next) == N
                                && it.hydrogens(next) > 0
                                && it.next_to(next).any(|allyl| it.bond(allyl, carbon).is_some())
                        })
                })
        }
        _ => false,
    };
    it.is_hydroxyl(oxygen)
        && [CL, BR, I].into_iter().any(|halogen| step.gains(partner, halogen))
        && !step.are_in_same_molecule(oxygen, carbon)
        && it
            .distances(carbon, 5)
            .into_iter()
            .any(|(atom, distance)| step.is_untouched(atom) && is_nucleophile(atom, distance))
}

/// Returns true for the oxygen of water or an alcohol that joins the carbon beside an acceptor as a halogen joins the far one: the halonium ion opens at
/// the carbon that is better off as a cation (Clayden, Greeves and Warren, chapter 19).
fn adds_oxygen_beside_acceptor(step: &Step<'_>, oxygen: u32, carbon: u32) -> bool {
    let it = &step.before;
    let takes_halogen = |far: u32| step.gained(far).any(|(other, _)| is_heavy_halogen(it.element(other)));
    it.is_hydroxyl(oxygen)
        && it.group(carbon) == Group::Alkene
        && it.is_alpha(carbon)
        && it
            .doubly(carbon, |far| it.element(far) == C)
            .is_some_and(|far| !it.is_alpha(far) && takes_halogen(far))
}

/// Returns true for an oxygen or nitrogen that adds to the carbon beside an acceptor, whose far carbon takes it (Clayden, Greeves and Warren, chapter 22).
fn adds_against_acceptor(it: &Facts, nucleophile: u32, carbon: u32, partner: u32) -> bool {
    let is_acceptor =
        |next: u32| matches!(it.group(next), Group::Amide | Group::Ester | Group::Ketone | Group::Nitrile);
    matches!(it.element(nucleophile), N | O)
        && it.hydrogens(nucleophile) > 0
        && it.next_to(carbon).any(is_acceptor)
        && it.doubly(carbon, |next| next == partner).is_some()
        && it.next_to(partner).all(|next| next == carbon || it.is_sp3(next))
}

/// Returns true if hydrogen adds to an alkyne and the only alkene of the product is trans. Hydride makes that of propargyl alcohols.
fn makes_trans_alkene(step: &Step<'_>, carbon: u32, partner: u32) -> bool {
    let it = &step.before;
    let is_alkene =
        |atom: u32| step.image(atom).is_some_and(|image| step.after.group(image) == Group::Alkene);
    let bears_hydroxyl = |atom: u32| {
        it.next_to(atom).any(|next| it.next_to(next).any(|far| it.element(far) == O && it.hydrogens(far) > 0))
    };
    it.triply(carbon) == Some(partner)
        && is_alkene(carbon)
        && !bears_hydroxyl(carbon)
        && !bears_hydroxyl(partner)
        && !step.atoms().any(|atom| it.group(atom) == Group::Alkene)
        && step.after.has_trans_alkene()
}

/// Returns true for a bond that closes a ring of up to nine atoms with a triple bond (Krebs and Wilke, Top. Curr. Chem. 1983, 109, 189).
fn closes_cycloalkyne(step: &Step<'_>, a: u32, b: u32) -> bool {
    let after = step.after;
    let Some((a, b)) = step.image(a).zip(step.image(b)) else { return false };
    after.bond(a, b).is_some_and(|bond| (3..10).contains(&bond.ring))
        && after.smallest_cycle(a, b).is_some_and(|ring| {
            ring.iter().any(|&atom| after.triply(atom).is_some_and(|far| ring.contains(&far)))
        })
}

/// Returns true for an alkyne that joins the carbon beside a free phenol and stays: palladium, copper and base close it to the benzofuran (Arcadi, Cacchi and
/// Marinelli, Synthesis 1986, 749). A silyl group keeps it open.
fn closes_to_benzofuran(step: &Step<'_>, alkyne: u32, carbon: u32) -> bool {
    let it = &step.before;
    let is_phenol =
        |next: u32| it.group(next) == Group::Phenol && it.hydrogens(next) > 0 && step.is_untouched(next);
    let is_silylated = it.triply(alkyne).is_some_and(|far| it.count(far, SI) > 0);
    let bears_phenol =
        |ortho: u32| it.is_aromatic_carbon(ortho) && it.ring(ortho) == 6 && it.next_to(ortho).any(is_phenol);
    it.is_aromatic_carbon(carbon) && !is_silylated && it.next_to(carbon).any(bears_phenol)
}
