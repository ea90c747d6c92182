//! Molecules that the base, hydride or metal of a step changes before its own bond is made, or right after it.
//!
//! Sources: Clayden, Greeves and Warren, "Organic Chemistry", chapter 6 (cyanohydrins lose cyanide to base), chapter 10 (γ-alkoxides of esters
//! close to lactones), chapter 15 (halohydrins close to epoxides) and chapter 22 (β-heteroatoms leave from ketones); Pinnick, Chang, Foster and
//! Govindan, J. Org. Chem. 1980, 45, 4505, for enolates of cyclopropanecarboxylates, which condense with the ester unless it is the tert-butyl ester.

use crate::alkylation::is_doubly_activated;
use crate::change::{Facts, Step};
use crate::event::Event;
use crate::group::{Group, aromatic_positions};
use crate::queries::*;
use crate::refusal::Refusal;

type Verdict = Result<(), Refusal>;

/// Refuses steps whose base reacts elsewhere.
///
/// # Errors
/// Fails with [`Refusal::SelfReacting`].
pub fn check(step: &Step<'_>, events: &[Event]) -> Verdict {
    let by_event = events.iter().any(|event| match *event {
        Event::Alkylation { nucleophile, .. } if is_of_hydroxyarylboronic_acid(&step.before, nucleophile) => {
            true
        }
        Event::Alkylation { nucleophile, carbon, leaving }
            if is_heavy_halogen(step.before.element(leaving))
                && is_aldol(&step.before, nucleophile)
                && step.before.count(carbon, O) == 0 =>
        {
            true
        }
        Event::Alkylation { nucleophile, carbon, leaving }
            if !step.before.is_hydroxyl(leaving)
                && is_glycolate(&step.before, nucleophile)
                && is_slow_halide(&step.before, carbon) =>
        {
            true
        }
        Event::Alkylation { nucleophile, carbon, .. } if step.before.group(nucleophile) == Group::Water => {
            closes_to_epoxide(step, carbon) && has_free_amine(&step.before, carbon)
        }
        Event::Cleavage { atom, root } => {
            step.before.next_to(atom).any(|acyl| is_haloacrylate(&step.before, acyl))
                && step.after.has_cis_alkene()
                || takes_base(&step.before, atom, root)
                    && step
                        .atoms()
                        .any(|atom| is_oxo_aldehyde(step, atom) || is_chloromethyl_ester(step, atom))
                || step.before.element(root) == SI
                    && step.atoms().any(|atom| is_chloromethyl_ester(step, atom))
                || step.before.carbons(root) < 3
                    && step.before.next_to(atom).any(|acyl| is_open_haloacrylate(&step.before, acyl))
        }
        Event::Alkylation { nucleophile, carbon, leaving } => {
            is_heavy_halogen(step.before.element(leaving))
                && step.before.is_sp3(nucleophile)
                && (closes_to_epoxide(step, carbon)
                    || is_beside_halo_ketone(step, nucleophile)
                    || is_cyclopropanecarboxylate(&step.before, nucleophile))
        }
        Event::Acylation { nucleophile, .. } => {
            step.before.is_sp3(nucleophile)
                && (is_beside_aldol(step, nucleophile)
                    || is_beside_halo_ketone(step, nucleophile)
                    || step.atoms().any(|atom| is_gamma_halide(step, atom))
                    || step.atoms().any(|atom| is_acyloxymethyl(&step.before, atom)))
        }
        Event::Aldol { nucleophile, carbon } | Event::Olefination { ylide: nucleophile, carbon } => {
            is_beside_aldol(step, nucleophile)
                // The amine of a Knoevenagel condensation takes the proton between two acceptors.
                || is_beside_halo_ketone(step, nucleophile) && !is_doubly_activated(&step.before, nucleophile)
                || is_aldol_ketone(step, carbon)
                || step.atoms().any(|atom| is_beta_halo_ketone(step, atom))
        }
        Event::ReductiveAmination { carbon, .. } | Event::Imination { carbon, .. } => {
            is_aryloxy_ketone(&step.before, carbon)
        }
        Event::ConjugateAddition { nucleophile, .. } => is_beside_halo_ketone(step, nucleophile),
        Event::Arylation { nucleophile, .. } => {
            is_cyanohydrin_oxygen(&step.before, nucleophile)
                || step.before.is_alcohol(nucleophile)
                    && step.atoms().any(|atom| is_mannich_ketone(step, atom))
        }
        Event::Coupling { metal, .. } => {
            matches!(step.before.group(metal), Group::Organoboron | Group::Organotin)
                && keeps_cis_acrylate(step)
        }
        Event::Epoxidation { carbon, partner } => loses_halide_to_base(step, [carbon, partner]),
        Event::MetalAddition { metal, carbon } => {
            step.before.group(metal) == Group::Organometal && closes_to_lactone(step, carbon)
        }
        _ => false,
    });
    let by_reduction = || {
        step.atoms().any(|atom| match step.before.group(atom) {
            Group::Nitrile => is_reduced_cyanohydrin(step, atom),
            Group::Ketone => is_deoxygenated_beside_azole(step, atom),
            _ => false,
        })
    };
    if by_event || by_reduction() { Err(Refusal::SelfReacting) } else { Ok(()) }
}

/// Returns true for the methylene group of a chloromethyl ester that stays, which hydroxide, methoxide and fluoride take at once (March, chapter 10).
fn is_chloromethyl_ester(step: &Step<'_>, carbon: u32) -> bool {
    let it = &step.before;
    it.is_alkyl_halide(carbon)
        && step.is_untouched(carbon)
        && it.next_to(carbon).any(|oxygen| it.group(oxygen) == Group::EsterOxygen)
}

/// Returns true for an acyl group that leaves an oxygen, and for the methyl or primary alkyl group of an ester.
fn takes_base(it: &Facts, oxygen: u32, root: u32) -> bool {
    let is_alkyl = || it.is_sp3(root) && it.carbons(root) < 2 && !it.is_benzylic_or_allylic(root);
    it.element(oxygen) == O && it.is_carbonyl(root) || it.group(oxygen) == Group::EsterOxygen && is_alkyl()
}

/// Returns true for the aldehyde of an α-oxo aldehyde that stays: hydroxide and methoxide turn it into the α-hydroxy acid or ester (Clayden, Greeves and Warren, chapter 36).
fn is_oxo_aldehyde(step: &Step<'_>, aldehyde: u32) -> bool {
    let it = &step.before;
    it.group(aldehyde) == Group::Aldehyde
        && step.is_untouched(aldehyde)
        && it.next_to(aldehyde).any(|next| it.group(next) == Group::Ketone)
}

/// Returns true for the kept carbonyl carbon of a β-amino ketone of an open chain, which loses the amine to an alkoxide (Clayden, Greeves and Warren, chapter 22).
fn is_mannich_ketone(step: &Step<'_>, ketone: u32) -> bool {
    let it = &step.before;
    let bears_amine = |beta: u32| {
        it.is_sp3(beta)
            && it.next_to(beta).any(|amine| {
                matches!(it.group(amine), Group::SecondaryAmine | Group::TertiaryAmine)
                    && it.smallest_cycle(beta, amine).is_none()
            })
    };
    it.group(ketone) == Group::Ketone
        && step.is_untouched(ketone)
        && it
            .next_to(ketone)
            .any(|alpha| it.is_sp3(alpha) && it.hydrogens(alpha) > 0 && it.next_to(alpha).any(bears_amine))
}

/// Returns true for the carbon of a halide with a free hydroxyl group beside it: a carbanion is base enough to close the epoxide.
fn closes_to_epoxide(step: &Step<'_>, carbon: u32) -> bool {
    let it = &step.before;
    it.next_to(carbon)
        .filter(|&beside| it.is_sp3(beside))
        .any(|beside| it.next_to(beside).any(|oxygen| it.is_hydroxyl(oxygen) && step.is_untouched(oxygen)))
}

/// Returns true for the α-carbon of a cyclopropanecarboxylate of a primary or secondary alcohol without a second acceptor.
fn is_cyclopropanecarboxylate(it: &Facts, alpha: u32) -> bool {
    it.is_cyclopropane(alpha)
        && it.next_to(alpha).filter(|&next| it.is_acceptor(next)).count() == 1
        && it.aryls(alpha) == 0
        && it.next_to(alpha).any(|acyl| is_ester_of_alcohol(it, acyl, 2))
}

/// Returns true for the acyl carbon of an ester whose alcohol has at most so many carbons on its own carbon: one for primary ones, two for secondary ones.
pub fn is_ester_of_alcohol(it: &Facts, acyl: u32, most_carbons: usize) -> bool {
    it.group(acyl) == Group::Ester
        && it.next_to(acyl).filter(|&oxygen| it.group(oxygen) == Group::EsterOxygen).any(|oxygen| {
            it.next_to(oxygen)
                .any(|alkyl| alkyl != acyl && it.is_sp3(alkyl) && it.carbons(alkyl) <= most_carbons)
        })
}

/// Returns true for the primary amine of an α-amino ester of a primary alcohol.
pub fn is_amino_ester(it: &Facts, amine: u32) -> bool {
    let is_ester = |acyl: u32| is_ester_of_alcohol(it, acyl, 1);
    it.group(amine) == Group::PrimaryAmine
        && it.next_to(amine).any(|alpha| it.hydrogens(alpha) > 0 && it.next_to(alpha).any(is_ester))
}

/// Returns true for the carbon of an acyloxymethyl ester or carbonate, which enolates, ammonia and amines take apart to formaldehyde.
pub fn is_acyloxymethyl(it: &Facts, carbon: u32) -> bool {
    it.is_sp3(carbon)
        && it.next_to(carbon).filter(|&oxygen| it.group(oxygen) == Group::EsterOxygen).count() > 1
}

/// Returns true if a cis acrylate with nitrogen or oxygen at its far end comes through the heat of a Suzuki or Stille coupling: base or phosphine makes the
/// nucleophile leave and come back (Clayden, Greeves and Warren, chapter 22).
fn keeps_cis_acrylate(step: &Step<'_>) -> bool {
    let it = &step.before;
    let is_acrylate = |beta: u32| {
        it.group(beta) == Group::Alkene
            && it.hydrogens(beta) == 1
            && it.next_to(beta).any(|next| matches!(it.element(next), N | O))
            && it.doubly(beta, |alpha| it.hydrogens(alpha) == 1 && it.is_alpha(alpha)).is_some()
            && step.is_untouched(beta)
    };
    step.atoms().any(is_acrylate) && step.after.has_cis_alkene()
}

/// Returns true if the double bond is that of an enone, which hydroperoxide and base take, and the ketone keeps a halogen two carbons away, which
/// that base takes off.
fn loses_halide_to_base(step: &Step<'_>, ends: [u32; 2]) -> bool {
    let it = &step.before;
    let has_halogen = |beta: u32| it.is_alkyl_halide(beta);
    let is_labile =
        |alpha: u32| it.is_sp3(alpha) && it.hydrogens(alpha) > 0 && it.next_to(alpha).any(has_halogen);
    ends.into_iter()
        .flat_map(|end| it.next_to(end))
        .any(|ketone| it.group(ketone) == Group::Ketone && it.next_to(ketone).any(is_labile))
}

/// Returns true for an aldehyde or ketone that becomes an alkoxide three bonds from the carbonyl carbon of an ester, with which it closes the lactone.
/// Esters of secondary and tertiary alcohols hold.
pub fn closes_to_lactone(step: &Step<'_>, carbon: u32) -> bool {
    let it = &step.before;
    let is_open_ester =
        |acyl: u32| is_ester_of_alcohol(it, acyl, 1) && !it.is_in_ring(acyl) && step.is_untouched(acyl);
    matches!(it.group(carbon), Group::Aldehyde | Group::Ketone)
        && it
            .distances(carbon, 3)
            .into_iter()
            .any(|(atom, distance)| distance == 3 && it.element(atom) == C && is_open_ester(atom))
}

/// Returns true for the nitrile of a free cyanohydrin that becomes an aldehyde: the hydride is a base first.
fn is_reduced_cyanohydrin(step: &Step<'_>, nitrile: u32) -> bool {
    let it = &step.before;
    let has_hydroxyl =
        |beside: u32| it.next_to(beside).any(|oxygen| it.is_hydroxyl(oxygen) && step.is_untouched(oxygen));
    step.image(nitrile).is_some_and(|image| step.after.group(image) == Group::Aldehyde)
        && it.next_to(nitrile).any(|beside| it.is_sp3(beside) && has_hydroxyl(beside))
}

/// Returns true for a ketone on an azole that loses its oxygen, where the ring's nitrogen is two carbons away: it leaves from the anion of the hydrazone,
/// and the azole bears no cation beside it. Pyrroles hold their nitrogen.
fn is_deoxygenated_beside_azole(step: &Step<'_>, ketone: u32) -> bool {
    let it = &step.before;
    let is_azole = |nitrogen: u32| {
        it.element(nitrogen) == N
            && it.is_aromatic(nitrogen)
            && it.distances(nitrogen, 2).into_iter().any(|(other, distance)| {
                distance > 0 && it.group(other) == Group::Azine && it.ring(other) == 5
            })
    };
    let leaves = |beta: u32| it.is_sp3(beta) && it.next_to(beta).any(is_azole);
    it.is_in_ring(ketone)
        && it.aryls(ketone) == 1
        && step.hydrogens_gained(ketone) == 2
        && step.lost_oxo(ketone)
        && it.next_to(ketone).filter(|&alpha| it.is_sp3(alpha)).any(|alpha| it.next_to(alpha).any(leaves))
}

/// Returns true for the phenol of a free hydroxyarylboronic acid: base adds to the boron and leaves the phenol, so chemists take the ester of pinacol (Hall, "Boronic Acids",
/// 2011, chapter 1).
fn is_of_hydroxyarylboronic_acid(it: &Facts, oxygen: u32) -> bool {
    let is_free = |boron: u32| it.element(boron) == B && it.next_to(boron).any(|next| it.is_hydroxyl(next));
    it.group(oxygen) == Group::Phenol
        && it.next_to(oxygen).any(|ipso| {
            aromatic_positions(&it.structure, ipso).iter().any(|&(atom, _)| it.next_to(atom).any(is_free))
        })
}

/// Returns true for a carbon of a halohydrin with a free amine in reach, which opens the epoxide that base makes before water does.
fn has_free_amine(it: &Facts, carbon: u32) -> bool {
    it.distances(carbon, 4)
        .into_iter()
        .any(|(atom, _)| matches!(it.group(atom), Group::PrimaryAmine | Group::SecondaryAmine))
}

/// Returns true for the hydroxyl group of an aldol, which the base that an alkyl halide needs takes apart or turns into the enone (Clayden, Greeves and Warren, chapter 26).
pub fn is_aldol(it: &Facts, oxygen: u32) -> bool {
    let is_enolisable = |alpha: u32| {
        it.is_sp3(alpha)
            && it.hydrogens(alpha) > 0
            && it.next_to(alpha).any(|next| matches!(it.group(next), Group::Ketone | Group::Aldehyde))
    };
    it.is_hydroxyl(oxygen)
        && it.next_to(oxygen).any(|carbinol| it.is_sp3(carbinol) && it.next_to(carbinol).any(is_enolisable))
}

/// Returns true for the oxygen of a free cyanohydrin.
fn is_cyanohydrin_oxygen(it: &Facts, oxygen: u32) -> bool {
    it.is_hydroxyl(oxygen)
        && it.next_to(oxygen).any(|carbon| {
            it.is_sp3(carbon) && it.next_to(carbon).any(|next| it.group(next) == Group::Nitrile)
        })
}

/// Returns true for the α-carbon of a ketone with chlorine or a heavier halogen on its other α-carbon, whose proton the base takes first: epoxides by Darzens, cyclopropanones and esters by Favorskii
/// (Clayden, Greeves and Warren, chapters 26 and 36).
fn is_beside_halo_ketone(step: &Step<'_>, alpha: u32) -> bool {
    let it = &step.before;
    let is_halide = |other: u32| {
        other != alpha && it.is_alkyl_halide(other) && it.hydrogens(other) > 0 && step.is_untouched(other)
    };
    it.is_sp3(alpha)
        && it
            .next_to(alpha)
            .any(|ketone| it.group(ketone) == Group::Ketone && it.next_to(ketone).any(is_halide))
}

/// Returns true for a carbon beside the ketone or aldehyde of an aldol.
fn is_beside_aldol(step: &Step<'_>, alpha: u32) -> bool {
    step.before.is_sp3(alpha) && step.before.next_to(alpha).any(|ketone| is_aldol_ketone(step, ketone))
}

/// Returns true for the carbonyl group of an aldol with its free hydroxyl group, which the base or amine of a condensation takes apart or turns into the enone (Clayden, Greeves and Warren, chapter
/// 26).
fn is_aldol_ketone(step: &Step<'_>, carbonyl: u32) -> bool {
    let it = &step.before;
    matches!(it.group(carbonyl), Group::Ketone | Group::Aldehyde)
        && it.distances(carbonyl, 3).into_iter().any(|(oxygen, distance)| {
            distance == 3
                && step.is_untouched(oxygen)
                && is_aldol(it, oxygen)
                && it.next_to(oxygen).any(|carbinol| it.is_sp3(carbinol))
        })
}

/// Returns true for the hydroxyl group of a glycolate of a primary alcohol, whose alkoxide makes oligomers before it takes a slow halide (March, chapter 10). Esters of tert-butyl alcohol
/// hold.
fn is_glycolate(it: &Facts, oxygen: u32) -> bool {
    it.group(oxygen) == Group::PrimaryAlcohol
        && it.next_to(oxygen).any(|methylene| {
            it.hydrogens(methylene) == 2 && it.next_to(methylene).any(|acyl| is_ester_of_alcohol(it, acyl, 1))
        })
}

/// Returns true for a carbon with hydrogen that is neither a methyl group nor benzylic, allylic, or beside an acceptor or a second heteroatom.
fn is_slow_halide(it: &Facts, carbon: u32) -> bool {
    it.is_sp3(carbon)
        && it.hydrogens(carbon) < 3
        && !it.is_benzylic_or_allylic(carbon)
        && !it.is_alpha(carbon)
        && it.degree(carbon) - it.carbons(carbon) == 1
}

/// Returns true for the ester of a 2-haloacrylic acid, which takes hydroxide at its methylene group, and hydrogen at its halogen and its double bond (Clayden, Greeves and Warren, chapter 22).
fn is_open_haloacrylate(it: &Facts, acyl: u32) -> bool {
    it.group(acyl) == Group::Ester
        && it.next_to(acyl).any(|alpha| {
            it.has_methylene(alpha) && it.next_to(alpha).any(|next| is_heavy_halogen(it.element(next)))
        })
}

/// Returns true for the ester of a 3-haloacrylic acid with a hydrogen beside the carbonyl group, which hydroxide turns into the propiolate if the halogen is anti to it
/// (Clayden, Greeves and Warren, chapter 17).
fn is_haloacrylate(it: &Facts, acyl: u32) -> bool {
    let has_halogen = |beta: u32| {
        it.hydrogens(beta) == 1 && it.next_to(beta).any(|next| is_heavy_halogen(it.element(next)))
    };
    is_ester_of_alcohol(it, acyl, 2)
        && it.next_to(acyl).any(|alpha| {
            it.hydrogens(alpha) == 1
                && it.doubly(alpha, |beta| it.element(beta) == C && has_halogen(beta)).is_some()
        })
}

/// Returns true for the kept halogen's carbon of a β-halo ketone or aldehyde: the ylide makes the enone (Clayden, Greeves and Warren, chapter 17).
fn is_beta_halo_ketone(step: &Step<'_>, carbon: u32) -> bool {
    let it = &step.before;
    let is_acyl = |acyl: u32| matches!(it.group(acyl), Group::Ketone | Group::Aldehyde);
    it.is_alkyl_halide(carbon)
        && step.is_untouched(carbon)
        && it
            .next_to(carbon)
            .any(|alpha| it.is_sp3(alpha) && it.hydrogens(alpha) > 0 && it.next_to(alpha).any(is_acyl))
}

/// Returns true for the kept halogen's carbon three from an ester or ketone with hydrogens between: the base of a condensation closes the cyclopropane (Clayden, Greeves and Warren, chapter 31).
fn is_gamma_halide(step: &Step<'_>, carbon: u32) -> bool {
    let it = &step.before;
    let is_acyl = |acyl: u32| matches!(it.group(acyl), Group::Ester | Group::Ketone);
    let is_enolisable =
        |alpha: u32| it.is_sp3(alpha) && it.hydrogens(alpha) > 0 && it.next_to(alpha).any(is_acyl);
    it.is_alkyl_halide(carbon)
        && step.is_untouched(carbon)
        && it.next_to(carbon).any(|beta| it.is_sp3(beta) && it.next_to(beta).any(is_enolisable))
}

/// Returns true for a ketone or aldehyde two carbons from a phenol's oxygen or an acyloxy group, which an amine takes off to the enone (Clayden, Greeves and Warren, chapter 22).
fn is_aryloxy_ketone(it: &Facts, carbonyl: u32) -> bool {
    let leaves = |oxygen: u32| {
        matches!(it.group(oxygen), Group::ArylEther | Group::EsterOxygen) && it.ring(oxygen) == 0
    };
    let bears_oxygen = |beta: u32| it.is_sp3(beta) && it.next_to(beta).any(leaves);
    matches!(it.group(carbonyl), Group::Ketone | Group::Aldehyde)
        && it
            .next_to(carbonyl)
            .any(|alpha| it.is_sp3(alpha) && it.hydrogens(alpha) > 0 && it.next_to(alpha).any(bears_oxygen))
}
