//! Molecules that two of their own groups use up, so that they are neither bought nor kept.
//!
//! Sources: Dyer and Wright, J. Am. Chem. Soc. 1959, 81, 2138, and Hegarty and Frost, J. Chem. Soc., Perkin Trans. 2 1973, 1719, for aryl carbamates with a nucleophile in reach;
//! Joule and Mills 2010, chapter 25, for benzimidazoles and benzoxazoles; Knochel, "Handbook of Functionalized Organometallics" (2005), chapter 4, for Grignard reagents with a second bromide;
//! d'Ischia and others, Pigment Cell Melanoma Res. 2013, 26, 616, for dihydroxyindoles, which air turns into melanin; Clayden, Greeves and Warren, chapter 15, for triflates, and chapter 20, for silyl enol ethers;
//! Coppola, J. Heterocycl. Chem. 1999, 36, 563, for benzoxazinones; Smith, "March's Advanced Organic Chemistry", chapter 16, for acyl groups on sulfur.

use crate::change::Facts;
use crate::group::Group;
use crate::queries::*;

/// Returns true for an atom of such a group.
pub fn reacts_with_itself(it: &Facts, atom: u32) -> bool {
    match it.element(atom) {
        C => {
            is_vinyl_amidine(it, atom)
                || is_bromoalkyl_metal(it, atom)
                || is_closing_carbamate(it, atom)
                || is_glyoxylyl_halide(it, atom)
                || is_halo_diazo(it, atom)
                || is_halide_of_own_nucleophile(it, atom)
                || is_anilinopropanal(it, atom)
        }
        N => is_isocyanide_beside_nucleophile(it, atom) || is_free_dihydroxyindole(it, atom),
        O => is_silyl_enol_ether_of_alcohol(it, atom),
        S => is_triflate_of_amine(it, atom) || is_acylated_isothiourea(it, atom),
        _ => false,
    }
}

/// Returns true for an atom of such a group that goes as it forms, so that no step ends with it.
pub fn closes_as_it_forms(it: &Facts, atom: u32) -> bool {
    is_closing_carbamate(it, atom)
        || is_glyoxylyl_halide(it, atom)
        || is_halo_diazo(it, atom)
        || is_halide_of_own_nucleophile(it, atom)
        || is_acylated_isothiourea(it, atom)
}

/// Returns true for the acyl carbon of an acid halide that its own molecule takes: an amide N–H ortho to it closes the 3,1-benzoxazin-4-one, the N–H of its own pyrazole or imidazole couples two
/// molecules to the diketopiperazine, and a free boronic acid exchanges oxygen for halogen.
fn is_halide_of_own_nucleophile(it: &Facts, acyl: u32) -> bool {
    if it.group(acyl) != Group::AcylHalide || it.count(acyl, O) == 0 {
        return false;
    }
    let is_amide = |next: u32| it.group(next) == Group::AmideNitrogen && it.hydrogens(next) > 0;
    let bears_amide = |ortho: u32| it.is_aromatic_carbon(ortho) && it.next_to(ortho).any(is_amide);
    let is_closing = |ipso: u32| {
        it.is_aromatic_carbon(ipso)
            && (it.ring(ipso) == 6 && it.next_to(ipso).any(bears_amide)
                || it.azole_nitrogens(ipso).count() == 2
                    && it.azole_nitrogens(ipso).any(|nitrogen| it.hydrogens(nitrogen) > 0))
    };
    let is_boronic_acid = |atom: u32| {
        it.element(atom) == B && it.next_to(atom).filter(|&next| it.is_hydroxyl(next)).count() > 1
    };
    it.next_to(acyl).any(is_closing)
        || it.distances(acyl, 12).into_iter().any(|(atom, _)| is_boronic_acid(atom))
}

/// Returns true for an aldehyde two carbons from a free aniline, which adds to the next molecule's and leaves acrolein (March, chapter 16).
fn is_anilinopropanal(it: &Facts, aldehyde: u32) -> bool {
    let bears_aniline = |beta: u32| it.is_sp3(beta) && it.next_to(beta).any(|next| it.is_free_aniline(next));
    it.group(aldehyde) == Group::Aldehyde
        && it.next_to(aldehyde).any(|alpha| it.is_sp3(alpha) && it.next_to(alpha).any(bears_aniline))
}

/// Returns true for the sulfur of an S-acylisothiourea, whose acyl group goes to a nitrogen.
fn is_acylated_isothiourea(it: &Facts, sulfur: u32) -> bool {
    let is_isothiourea = |carbon: u32| {
        it.element(carbon) == C
            && !it.is_aromatic(carbon)
            && it.count(carbon, N) == 2
            && it.doubly(carbon, |next| it.element(next) == N && !it.is_aromatic(next)).is_some()
    };
    it.element(sulfur) == S
        && it.degree(sulfur) == 2
        && it.next_to(sulfur).any(is_isothiourea)
        && it.next_to(sulfur).any(|acyl| it.carbonyl(acyl).is_some_and(|other| it.element(other) == O))
}

/// Returns true for the carbon of an aryl carbamate with a free amine that closes a cyclic urea of five or six atoms, or a free alcohol that closes an oxazolidinone: the phenol leaves.
fn is_closing_carbamate(it: &Facts, carbon: u32) -> bool {
    let is_aryl_oxygen = |oxygen: u32| it.element(oxygen) == O && it.aryls(oxygen) == 1;
    let is_amine = |atom: u32| matches!(it.group(atom), Group::PrimaryAmine | Group::SecondaryAmine);
    if it.group(carbon) != Group::Carbamate || !it.next_to(carbon).any(is_aryl_oxygen) {
        return false;
    }
    let near = it.distances(carbon, 5);
    near.iter().any(|&(atom, distance)| {
        let closes = match distance {
            4 => is_amine(atom) || it.is_alcohol(atom) && it.hydrogens(atom) > 0,
            5 => is_amine(atom),
            _ => false,
        };
        closes && it.is_open_path(&near, atom, distance)
    })
}

/// Returns true for the acyl carbon of a glyoxylyl halide, which nobody keeps: it loses carbon monoxide and polymerises.
fn is_glyoxylyl_halide(it: &Facts, acyl: u32) -> bool {
    it.group(acyl) == Group::AcylHalide && it.next_to(acyl).any(|next| it.group(next) == Group::Aldehyde)
}

/// Returns true for the carbon of a diazo compound with a halide at the next carbon, which leaves to the vinyldiazonium ion.
fn is_halo_diazo(it: &Facts, carbon: u32) -> bool {
    it.is_diazo(carbon) && it.next_to(carbon).any(|beta| it.is_alkyl_halide(beta))
}

/// Returns true for the carbon of a free acrylamidine, whose nitrogen adds to the double bond of the next molecule.
fn is_vinyl_amidine(it: &Facts, carbon: u32) -> bool {
    !it.is_aromatic(carbon)
        && it.count(carbon, N) == 2
        && it.doubly(carbon, |nitrogen| it.element(nitrogen) == N && it.hydrogens(nitrogen) > 0).is_some()
        && it.next_to(carbon).any(|alpha| it.has_methylene(alpha))
}

/// Returns true for the carbon of a Grignard or lithium reagent of an open chain with bromine or iodine: it closes the small ring, or couples with its own kind.
fn is_bromoalkyl_metal(it: &Facts, carbon: u32) -> bool {
    it.group(carbon) == Group::Organometal
        && it.is_sp3(carbon)
        && it
            .distances(carbon, 5)
            .into_iter()
            .any(|(atom, _)| it.is_sp3(atom) && it.count(atom, BR) + it.count(atom, I) > 0)
}

/// Returns true for the nitrogen of an aryl isocyanide with a free amine, phenol or thiol ortho to it, which closes to the benzimidazole, benzoxazole or benzothiazole.
fn is_isocyanide_beside_nucleophile(it: &Facts, nitrogen: u32) -> bool {
    let is_nucleophile = |atom: u32| {
        it.hydrogens(atom) > 0
            && (it.is_simple_amine(atom) || matches!(it.group(atom), Group::Phenol | Group::Thiophenol))
    };
    it.at(nitrogen).charge == 1
        && it.triply(nitrogen).is_some_and(|carbon| it.element(carbon) == C)
        && it.next_to(nitrogen).filter(|&ipso| it.is_aromatic(ipso)).any(|ipso| {
            it.next_to(ipso).any(|ortho| it.is_aromatic(ortho) && it.next_to(ortho).any(is_nucleophile))
        })
}

/// Returns true for the N–H of an indole with two free hydroxyl groups side by side and no acceptor.
fn is_free_dihydroxyindole(it: &Facts, nitrogen: u32) -> bool {
    if it.group(nitrogen) != Group::Indole || it.hydrogens(nitrogen) == 0 {
        return false;
    }
    let ring = || {
        it.distances(nitrogen, 4)
            .into_iter()
            .map(|(atom, _)| atom)
            .filter(|&atom| it.is_aromatic_carbon(atom) && it.shares_arene(atom, nitrogen))
    };
    let is_hydroxylated =
        |atom: u32| it.next_to(atom).any(|next| it.group(next) == Group::Phenol && it.hydrogens(next) > 0);
    ring().any(|atom| {
        is_hydroxylated(atom)
            && it.next_to(atom).any(|next| it.is_aromatic_carbon(next) && is_hydroxylated(next))
    }) && !ring().any(|atom| it.bears_acceptor(atom))
}

/// Returns true for the sulfur of an alkyl triflate whose molecule has a free amine, which it alkylates at room temperature.
fn is_triflate_of_amine(it: &Facts, sulfur: u32) -> bool {
    let is_amine = |atom: u32| matches!(it.group(atom), Group::PrimaryAmine | Group::SecondaryAmine);
    it.oxo(sulfur) == 2
        && it.next_to(sulfur).any(|carbon| it.is_trifluoromethyl(carbon))
        && it.next_to(sulfur).any(|oxygen| {
            it.group(oxygen) == Group::SulfonateOxygen && it.next_to(oxygen).any(|alkyl| it.is_sp3(alkyl))
        })
        && it.distances(sulfur, 12).into_iter().any(|(atom, _)| is_amine(atom))
}

/// Returns true for the oxygen of a trimethylsilyl enol ether whose molecule has a free primary or secondary alcohol: the silyl group goes to it, and a silyl chloride takes it first.
fn is_silyl_enol_ether_of_alcohol(it: &Facts, oxygen: u32) -> bool {
    let is_trimethylsilyl = |silicon: u32| {
        it.element(silicon) == SI && it.next_to(silicon).filter(|&next| it.hydrogens(next) == 3).count() == 3
    };
    let is_free = |atom: u32| {
        matches!(it.group(atom), Group::PrimaryAlcohol | Group::SecondaryAlcohol) && it.hydrogens(atom) > 0
    };
    it.group(oxygen) == Group::SilylEther
        && it.next_to(oxygen).any(is_trimethylsilyl)
        && it.next_to(oxygen).any(|carbon| it.group(carbon) == Group::Alkene)
        && it.distances(oxygen, 12).into_iter().any(|(atom, _)| is_free(atom))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aryl_carbamates_close_with_a_nucleophile_two_or_three_carbons_away() {
        let closes = |smiles: &str| {
            let facts = Facts::of(&smiles.parse().unwrap());
            (0..facts.atoms() as u32).any(|atom| reacts_with_itself(&facts, atom))
        };

        assert!(closes("NCCNC(=O)Oc1ccccc1"));
        assert!(closes("CC(O)CNC(=O)Oc1ccccc1"));
        assert!(!closes("COCCNC(=O)Oc1ccccc1"));
        assert!(!closes("OC1CCN(C(=O)Oc2ccccc2)CC1"));
    }
}
