//! Molecules that cannot be kept: they decompose at the bench, or do not exist.
//!
//! Sources: Clayden, Greeves and Warren for hydrates, hemiaminals and enols; Cox and others (J. Am. Chem. Soc. 2016,
//! 2017) for the half-lives of boronic acids; Turro (Acc. Chem. Res. 1969) for cyclopropanones; Bredt (1924).

use chem::Order;

use crate::change::Facts;
use crate::group::{Group, aromatic_positions};
use crate::hidden_cleavage::is_boc;
use crate::labile_acid::{is_enamino_acid, is_labile_acid, is_labile_boronic_acid, loses_group_as_it_forms};
use crate::labile_pair::{is_free_aminal, is_mixed_anhydride};
use crate::queries::*;
use crate::self_reactive::{closes_as_it_forms, reacts_with_itself};
use crate::vinylogous::is_enamine_carbinol;

/// Returns true unless the atom makes its molecule too unstable to store.
pub fn is_stable(it: &Facts, atom: u32) -> bool {
    !(is_unstable(it, atom)
        || is_labile_acid(it, atom)
        || is_anti_bredt(it, atom)
        || closes_on_ring_nitrogen(it, atom)
        || reacts_with_itself(it, atom))
}

/// Returns true if the atom's group decomposes as it forms, so that no step ends with it, even where the product is the target.
pub fn is_never_made(it: &Facts, atom: u32) -> bool {
    is_labile_centre(it, atom)
        || is_free_hydrazonoyl_halide(it, atom)
        || loses_group_as_it_forms(it, atom)
        || is_azinyl_isocyanate(it, atom)
        || it.group(atom) == Group::AcylHalide && closes_to_azlactone(it, atom)
        || is_free_azadiene(it, atom)
        || closes_on_ring_nitrogen(it, atom)
        || is_enamine_carbinol(it, atom)
        || is_mustard_agent(it, atom)
        || is_mixed_anhydride(it, atom)
        || is_free_aminal(it, atom)
        || closes_as_it_forms(it, atom)
}

/// Returns true for the sulfur or nitrogen of a mustard agent of Schedule 1 of the Chemical Weapons Convention (A.4 and A.6), which no laboratory makes on its way to something else.
fn is_mustard_agent(it: &Facts, atom: u32) -> bool {
    let has_halide = |alpha: u32| {
        it.hydrogens(alpha) == 2
            && it.next_to(alpha).any(|beta| it.hydrogens(beta) == 2 && it.count(beta, CL) == 1)
    };
    let is_small = |alpha: u32| {
        has_halide(alpha)
            || it.hydrogens(alpha) == 3
            || it.hydrogens(alpha) == 2 && it.next_to(alpha).any(|beta| it.hydrogens(beta) == 3)
    };
    matches!((it.element(atom), it.degree(atom)), (S, 2) | (N, 3))
        && it.next_to(atom).filter(|&alpha| has_halide(alpha)).count() > 1
        && it.next_to(atom).all(is_small)
}

fn is_unstable(it: &Facts, atom: u32) -> bool {
    let about = it.at(atom);
    match it.element(atom) {
        B => is_unstable_boronic_acid(it, atom) || is_labile_boronic_acid(it, atom),
        C => unstable_carbon(it, atom),
        N => {
            let diazonium = about.charge == 1 && it.triply(atom).is_some_and(|next| it.element(next) == N);
            let halogen = it.next_to(atom).any(|next| is_heavy_halogen(it.element(next)));
            diazonium
                || (halogen && about.hydrogens > 0)
                || is_nitrosoamide(it, atom)
                || is_of_purine_without_proton(it, atom)
                || is_free_aminothiophene(it, atom)
                || is_free_glycosylamine(it, atom)
        }
        // Acids of phosphorus that phosphorylate themselves (Corbridge, "Phosphorus", 2013, chapter 5).
        P => {
            let is_halide =
                it.count(atom, F) == 0 && it.next_to(atom).any(|next| is_heavy_halogen(it.element(next)));
            is_halide && it.next_to(atom).any(|next| it.element(next) == O && it.hydrogens(next) > 0)
        }
        S => is_closing_sulfonyl_chloride(it, atom),
        O => it.count(atom, F) + it.count(atom, BR) + it.count(atom, I) > 0 && it.degree(atom) == 1,
        _ => false,
    }
}

/// Returns true for the carbon of a hydrazonoyl halide whose nitrogen is free, which loses hydrogen halide to the diazo compound, or has an acyl group, which
/// closes the oxadiazole (Joule and Mills, chapter 29).
fn is_free_hydrazonoyl_halide(it: &Facts, carbon: u32) -> bool {
    let is_open = |nitrogen: u32| {
        it.hydrogens(nitrogen) == 2
            || it.next_to(nitrogen).any(|acyl| it.is_carbonyl(acyl) && it.count(acyl, O) == 1)
    };
    it.next_to(carbon).any(|next| is_heavy_halogen(it.element(next)))
        && !it.is_aromatic(carbon)
        && it
            .doubly(carbon, |imine| {
                it.element(imine) == N && it.next_to(imine).any(|next| it.element(next) == N && is_open(next))
            })
            .is_some()
}

/// Returns true for the carbon of an N–H imine with a methylene group on its α-carbon, a 1-azadiene that adds itself (Clayden, Greeves and Warren, chapter 22).
fn is_free_azadiene(it: &Facts, carbon: u32) -> bool {
    it.group(carbon) == Group::ImineCarbon
        && it.doubly(carbon, |nitrogen| it.element(nitrogen) == N && it.hydrogens(nitrogen) > 0).is_some()
        && it.next_to(carbon).all(|next| matches!(it.group(next), Group::Imine) || it.element(next) == C)
        && it.next_to(carbon).any(|alpha| it.element(alpha) == C && it.has_methylene(alpha))
}

/// Returns true for the carbon of a halide two bonds from an amino group beside the nitrogen of an azine or azole, which closes to the fused imidazoline (Joule and Mills
/// 2010, chapter 28).
fn closes_on_ring_nitrogen(it: &Facts, carbon: u32) -> bool {
    let has_lone_pair = |atom: u32| {
        it.element(atom) == N && it.is_aromatic(atom) && it.degree(atom) == 2 && it.hydrogens(atom) == 0
    };
    let is_amino = |nitrogen: u32| {
        it.element(nitrogen) == N
            && !it.is_aromatic(nitrogen)
            && it
                .next_to(nitrogen)
                .any(|ipso| it.is_aromatic_carbon(ipso) && it.next_to(ipso).any(has_lone_pair))
    };
    it.is_alkyl_halide(carbon)
        && it.hydrogens(carbon) == 2
        && it
            .next_to(carbon)
            .any(|beta| it.is_sp3(beta) && it.hydrogens(beta) > 0 && it.next_to(beta).any(is_amino))
}

/// Returns true for the oxygen of an ether or ester.
fn is_ether_oxygen(it: &Facts, oxygen: u32) -> bool {
    it.element(oxygen) == O && it.hydrogens(oxygen) == 0 && it.is_saturated(oxygen)
}

/// Returns true for a stereocentre with a hydroxyl group and the nitrogen of an amide in an open chain: it opens to the aldehyde and closes again
/// (Clayden, Greeves and Warren, chapter 11).
fn is_labile_centre(it: &Facts, carbon: u32) -> bool {
    let is_amide = |next: u32| matches!(it.group(next), Group::AmideNitrogen | Group::CarbamateNitrogen);
    it.at(carbon).centre.is_some()
        && !it.is_in_ring(carbon)
        && it.next_to(carbon).any(is_amide)
        && it.next_to(carbon).any(|next| it.is_hydroxyl(next))
}

/// Returns true for the carbon of a halomethyl ether whose oxygen is on the carbon of an acetal, which the acid that comes with it opens.
fn is_halomethyl_acetal(it: &Facts, carbon: u32) -> bool {
    it.next_to(carbon).filter(|&next| is_ether_oxygen(it, next)).any(|oxygen| {
        it.next_to(oxygen).any(|acetal| acetal != carbon && it.is_sp3(acetal) && it.count(acetal, O) > 1)
    })
}

/// Returns true for a benzylic carbon ortho or para to a free amine: its halide is an azaquinone methide and acid, as in `quinone_methide.rs`,
/// which the amine of the next molecule takes.
fn is_aminobenzyl(it: &Facts, atom: u32) -> bool {
    let is_free = |amine: u32| {
        it.is_free_aniline(amine) || it.group(amine) == Group::Diarylamine && it.hydrogens(amine) > 0
    };
    it.next_to(atom).filter(|&ring| it.is_aromatic_carbon(ring) && it.ring(ring) == 6).any(|ring| {
        aromatic_positions(&it.structure, ring)
            .iter()
            .any(|&(position, distance)| distance != 2 && it.next_to(position).any(is_free))
    })
}

/// Returns true for a sulfonyl chloride with an alcohol that closes the ring of a five- or six-membered sultone (Roberts and Williams,
/// Tetrahedron 1987, 43, 1027).
fn is_closing_sulfonyl_chloride(it: &Facts, sulfur: u32) -> bool {
    let is_alcohol = |atom: u32| matches!(it.group(atom), Group::PrimaryAlcohol | Group::SecondaryAlcohol);
    it.oxo(sulfur) == 2
        && it.count(sulfur, CL) == 1
        && it
            .distances(sulfur, 5)
            .into_iter()
            .any(|(atom, distance)| distance > 3 && is_alcohol(atom) && it.hydrogens(atom) > 0)
}

fn unstable_carbon(it: &Facts, atom: u32) -> bool {
    let hydroxyls = it.next_to(atom).filter(|&next| it.element(next) == O && it.hydrogens(next) > 0).count();
    let on = |element: u8| it.count(atom, element);
    if it.is_sp3(atom) {
        let halogens = on(CL) + on(BR) + on(I);
        let drawn = it.next_to(atom).any(|next| {
            it.is_trifluoromethyl(next)
                || it.is_carbonyl(next)
                || it.count(next, CL) > 1
                || it.count(next, F) > 1
        });
        let amines = it
            .next_to(atom)
            .filter(|&next| matches!(it.group(next), Group::PrimaryAmine | Group::SecondaryAmine))
            .count();
        let free_amine = it.next_to(atom).any(|next| {
            matches!(it.group(next), Group::PrimaryAmine | Group::SecondaryAmine | Group::TertiaryAmine)
        });
        let in_ring = it.is_in_ring(atom);
        // Hydrates, hemiaminals and their esters, halohydrins of one carbon, α-halo amines, unprotected aminals.
        return (hydroxyls > 1 && !drawn && on(B) == 0)
            || (hydroxyls > 0 && free_amine && !drawn && !in_ring)
            || (free_amine && !in_ring && it.next_to(atom).any(|oxygen| is_acyloxy(it, oxygen)))
            || (hydroxyls > 0 && halogens + on(F) > 0)
            || (free_amine && halogens + on(F) > 0 && on(F) < 2)
            || (hydroxyls > 0
                && !drawn
                && !in_ring
                && it
                    .next_to(atom)
                    .any(|next| is_ether_oxygen(it, next) || it.group(next) == Group::Sulfide))
            || is_labile_centre(it, atom)
            || (halogens == 1
                && (is_free_glycosyl(it, atom)
                    || is_aminobenzyl(it, atom)
                    || is_halomethyl_acetal(it, atom)))
            || (amines > 1 && !in_ring)
            || is_free_aminal(it, atom)
            || is_phenol_tautomer(it, atom)
            || is_enamine_carbinol(it, atom)
            || is_ionising_sulfonate(it, atom);
    }
    if is_free_hydrazonoyl_halide(it, atom) || is_free_azadiene(it, atom) {
        return true;
    }
    if is_three_ring_ketone(it, atom)
        || is_alkanoyl_isothiocyanate(it, atom)
        || is_azinyl_isocyanate(it, atom)
        || is_enamino_acid(it, atom)
        || is_mixed_anhydride(it, atom)
    {
        return true;
    }
    match it.group(atom) {
        // Carbamic acids, half esters of carbonic acid, formyl halides.
        Group::Carbamate | Group::Carbonate => {
            it.next_to(atom).any(|next| it.element(next) == O && it.hydrogens(next) > 0)
        }
        // Cyanoformic acid (Murphy and others, Science 2014, 344, 75).
        // 2,3-Dioxo acids lose carbon dioxide as β-keto acids do.
        Group::Acid => {
            let is_diketone = |next: u32| {
                it.group(next) == Group::Ketone && it.next_to(next).any(|far| it.group(far) == Group::Ketone)
            };
            it.next_to(atom).any(|next| it.group(next) == Group::Nitrile || is_diketone(next))
        }
        // Propioloyl chloride loses carbon monoxide and gives chloroacetylene (Balfour, Greig and Visaisouk, J. Org. Chem. 1974, 39, 725).
        Group::AcylHalide => {
            it.hydrogens(atom) > 0 && on(F) == 0
                || is_keto_acyl_halide(it, atom)
                || is_boc_aminoacyl_halide(it, atom)
                || closes_to_azlactone(it, atom)
                || it.next_to(atom).any(|next| it.is_ethynyl(next))
        }
        Group::Anhydride => is_keto_acyl_halide(it, atom),
        // Tertiary chloroformates lose carbon dioxide and an alkene, chloroformic acid loses hydrogen chloride.
        Group::Chloroformate => {
            let is_tertiary =
                |oxygen| it.next_to(oxygen).any(|next| it.is_sp3(next) && it.carbons(next) == 3);
            hydroxyls > 0 || it.next_to(atom).any(is_tertiary)
        }
        Group::Alkene => is_unstable_enol(it, atom) || is_small_ring_cumulene(it, atom),
        Group::Alkyne | Group::TerminalAlkyne => {
            it.around(atom).iter().any(|bond| bond.order == Order::Triple && (1..=7).contains(&bond.ring))
        }
        _ => false,
    }
}

/// Returns true for a free enol, or an enamine with N–H, that nothing keeps from tautomerising.
fn is_unstable_enol(it: &Facts, atom: u32) -> bool {
    let is_enamine = |next: u32| it.group(next) == Group::Enamine && it.hydrogens(next) > 0;
    let enol = it.next_to(atom).any(|next| it.group(next) == Group::Enol);
    if !enol && !it.next_to(atom).any(is_enamine) {
        return false;
    }
    // An acceptor across the double bond, or further along it, stabilises both. One on the carbon itself stabilises an enol and no
    // enamine: free dehydroamino acids are imines of keto acids (Schmidt, Lieberknecht and Wild, Synthesis 1988, 159).
    let is_vinylogous = |next: u32| it.doubly(next, |far| it.is_alpha(far) || it.is_acceptor(far)).is_some();
    let kept = it.doubly(atom, |next| it.element(next) == C).is_some_and(|partner| {
        it.is_alpha(partner)
            || enol && it.is_alpha(atom)
            || it.count(partner, N) + it.count(partner, O) + it.count(atom, N) > 1
            || it
                .next_to(partner)
                .any(|next| it.is_aromatic(next) && it.element(next) != C || is_vinylogous(next))
    });
    !kept
}

/// Returns true for the carbon of an isocyanate beside the nitrogen of an azine or azole, which dimerises (Ozaki, Chem. Rev. 1972, 72, 457).
fn is_azinyl_isocyanate(it: &Facts, carbon: u32) -> bool {
    let is_imine = |next: u32| it.element(next) == N && it.is_aromatic(next) && it.degree(next) == 2;
    it.group(carbon) == Group::Isocyanate
        && it.next_to(carbon).filter(|&nitrogen| it.element(nitrogen) == N).any(|nitrogen| {
            it.next_to(nitrogen).any(|ipso| it.is_aromatic_carbon(ipso) && it.next_to(ipso).any(is_imine))
        })
}

/// Returns true for the nitrogen of an N-nitrosoamide, which loses nitrogen on warming (White, J. Am. Chem. Soc. 1955, 77, 6008).
fn is_nitrosoamide(it: &Facts, nitrogen: u32) -> bool {
    let is_nitroso = |next: u32| it.element(next) == N && it.at(next).charge == 0 && it.oxo(next) == 1;
    let is_acyl = |next: u32| it.is_carbonyl(next) && it.count(next, N) == 1 && it.count(next, O) == 1;
    it.next_to(nitrogen).any(is_nitroso) && it.next_to(nitrogen).any(is_acyl)
}

/// Returns true for N1 of a purine that bears the hydrogen or group which its imidazole lacks, with no carbonyl or imino group in its ring: the molecule is the 7H or 9H form, which reacts there (Joule and
/// Mills 2010, chapter 27).
fn is_of_purine_without_proton(it: &Facts, nitrogen: u32) -> bool {
    let in_ring = |atom: u32| {
        it.next_to(atom).filter(move |&next| it.bond(atom, next).is_some_and(|bond| bond.ring > 0))
    };
    if !it.is_aromatic(nitrogen)
        || it.ring(nitrogen) != 6
        || it.degree(nitrogen) + usize::from(it.hydrogens(nitrogen)) != 3
    {
        return false;
    }
    let Some(ring) = it
        .next_to(nitrogen)
        .find_map(|next| it.smallest_cycle(nitrogen, next).filter(|ring| ring.len() == 6))
    else {
        return false;
    };
    let is_fusion = |atom: u32| in_ring(atom).count() == 3;
    let outside = |atom: u32| in_ring(atom).find(|next| !ring.contains(next));
    let fused: Vec<u32> = ring.iter().copied().filter(|&atom| is_fusion(atom)).filter_map(outside).collect();
    let is_bare = |&atom: &u32| it.element(atom) == N && it.degree(atom) == 2 && it.hydrogens(atom) == 0;
    let is_imidazole = matches!(fused[..], [a, b] if it.distances(a, 2).iter().any(|&(atom, distance)| atom == b && distance == 2));
    !in_ring(nitrogen).any(is_fusion)
        && ring.iter().filter(|&&atom| it.element(atom) == N).count() == 2
        && ring.iter().all(|&atom| {
            it.doubly(atom, |next| {
                matches!(it.element(next), O | S | N) && !ring.contains(&next) && !fused.contains(&next)
            })
            .is_none()
        })
        && is_imidazole
        && fused.iter().all(is_bare)
}

/// Returns true for the amino group of a 2-aminothiophene or 2-aminofuran whose ring has no acceptor (Norris in Gronowitz, "Thiophene
/// and Its Derivatives", part 2, 1986; Joule and Mills 2010, chapters 17 and 18).
fn is_free_aminothiophene(it: &Facts, nitrogen: u32) -> bool {
    let is_rich = |ipso: u32| {
        let hetero = it.next_to(ipso).find(|&next| it.is_aromatic(next) && matches!(it.element(next), O | S));
        hetero
            .and_then(|hetero| it.smallest_cycle(ipso, hetero))
            .is_some_and(|ring| !is_poor_ring(it, ring.into_iter()))
    };
    it.hydrogens(nitrogen) == 2 && it.next_to(nitrogen).any(|ipso| it.is_aromatic(ipso) && is_rich(ipso))
}

/// Returns true for the amino group of a glycosylamine or other hemiaminal ether without protecting groups on its hydroxyl groups: it
/// loses ammonia to water and to itself (Isbell and Frush, J. Org. Chem. 1958, 23, 1309).
fn is_free_glycosylamine(it: &Facts, nitrogen: u32) -> bool {
    let is_protected =
        |oxygen: u32| it.element(oxygen) == O && it.hydrogens(oxygen) == 0 && !it.is_in_ring(oxygen);
    let protected = |anomer: u32| {
        let near = it.distances(anomer, 5).into_iter();
        near.filter(|&(atom, distance)| distance > 1 && it.is_saturated(atom) && is_protected(atom)).count()
    };
    it.hydrogens(nitrogen) == 2
        && it.group(nitrogen) == Group::PrimaryAmine
        && it.next_to(nitrogen).any(|anomer| {
            it.is_sp3(anomer)
                && it.next_to(anomer).any(|oxygen| it.element(oxygen) == O && it.hydrogens(oxygen) == 0)
                && protected(anomer) < 2
        })
}

/// Returns true for the carbon of a sulfonate that ionises as it forms: with two aryl groups or three carbons on it, or benzylic on a ring with a donor beside
/// or across, or on a furan, thiophene or pyrrole (Winstein, Grunwald and Jones, J. Am. Chem. Soc. 1951, 73, 2700; Clayden, Greeves and Warren, chapter 15). A
/// benzylic carbon with a hydrocarbon chain needs no donor.
fn is_ionising_sulfonate(it: &Facts, carbon: u32) -> bool {
    let is_plain_alkyl = |next: u32| it.is_sp3(next) && it.next_to(next).all(|far| it.element(far) == C);
    let is_branched = it.next_to(carbon).any(is_plain_alkyl);
    let gives_cation = |ring: u32| {
        let positions = aromatic_positions(&it.structure, ring);
        !is_poor_ring(it, positions.iter().map(|&(atom, _)| atom))
            && (it.ring(ring) == 5
                && it.next_to(ring).any(|next| it.is_aromatic(next) && it.element(next) != C)
                || is_branched
                    && !positions
                        .iter()
                        .any(|&(atom, _)| it.next_to(atom).any(|next| is_halogen(it.element(next))))
                || positions.iter().any(|&(atom, distance)| {
                    distance != 2 && it.next_to(atom).any(|next| gives_electrons(it, next))
                }))
    };
    it.next_to(carbon).any(|next| it.group(next) == Group::SulfonateOxygen)
        && !it.is_alpha(carbon)
        && !it.next_to(carbon).any(|next| it.is_trifluoromethyl(next))
        && (it.aryls(carbon) > 1
            || it.carbons(carbon) == 3 && !is_bridgehead(it, carbon)
            || it.next_to(carbon).any(|ring| it.is_aromatic_carbon(ring) && gives_cation(ring)))
}

/// Returns true for a substituent that gives a ring electrons enough for the cation beside it.
fn gives_electrons(it: &Facts, substituent: u32) -> bool {
    let is_fluorinated = it.next_to(substituent).any(|next| it.count(next, F) > 0 && it.is_sp3(next));
    !is_fluorinated
        && matches!(
            it.group(substituent),
            Group::ArylEther
                | Group::Acetal
                | Group::Phenol
                | Group::SecondaryAniline
                | Group::TertiaryAniline
                | Group::Sulfide
        )
}

/// Returns true if one of these atoms of a ring is the nitrogen of an azine or azole, or bears an acceptor.
fn is_poor_ring(it: &Facts, mut ring: impl Iterator<Item = u32>) -> bool {
    ring.any(|atom| {
        it.element(atom) == N && it.degree(atom) == 2 && it.hydrogens(atom) == 0
            || it.next_to(atom).any(|next| it.impoverishes_ring(next) || it.is_vinylogous_acceptor(next))
    })
}

/// Returns true for the saturated carbon of a cyclohexadienone that is the ketone of a phenol or naphthol (Clayden, Greeves and Warren,
/// chapter 20). Anthrones keep: there two rings gain by it.
fn is_phenol_tautomer(it: &Facts, carbon: u32) -> bool {
    // Most carbons are told by their neighbours, without a search for their ring.
    let unsaturated = it.next_to(carbon).filter(|&next| !it.is_saturated(next));
    if it.hydrogens(carbon) == 0 || unsaturated.count() < 2 {
        return false;
    }
    let bond = it.around(carbon).iter().find(|bond| bond.ring == 6);
    let Some(ring) = bond.and_then(|bond| it.smallest_cycle(carbon, bond.to)) else { return false };
    let count = |wanted: &dyn Fn(u32) -> bool| ring.iter().filter(|&&atom| wanted(atom)).count();
    let is_alkene = |atom: u32| {
        it.element(atom) == C
            && it.doubly(atom, |next| it.element(next) == C && ring.contains(&next)).is_some()
    };
    count(&|atom| it.is_carbonyl(atom) && !it.is_aromatic(atom)) == 1
        && count(&is_alkene) >= 2
        && count(&is_alkene) + count(&|atom| it.is_aromatic_carbon(atom)) == 4
}

/// Returns true for the acyl carbon of an alkanoyl isothiocyanate, which is made for the next step in place. Aroyl isothiocyanates
/// keep long enough (Frank and Smith, Org. Synth. 1948, 28, 89).
fn is_alkanoyl_isothiocyanate(it: &Facts, carbon: u32) -> bool {
    it.is_carbonyl(carbon)
        && it.next_to(carbon).any(|next| it.is_sp3(next) && it.hydrogens(next) > 0)
        && it.next_to(carbon).any(|next| it.element(next) == N && it.is_isothiocyanate(next))
}

/// Returns true for the carbon of an α-halo ether in a ring with free hydroxyl groups, which it alkylates: glycosyl halides are made and used
/// with protected ones (Boons and Hale, "Organic Synthesis with Carbohydrates", chapter 4).
fn is_free_glycosyl(it: &Facts, carbon: u32) -> bool {
    let is_alcohol = |atom: u32| {
        matches!(it.group(atom), Group::PrimaryAlcohol | Group::SecondaryAlcohol) && it.hydrogens(atom) > 0
    };
    it.next_to(carbon).any(|oxygen| it.element(oxygen) == O && it.is_in_ring(oxygen))
        && it.distances(carbon, 6).into_iter().any(|(atom, _)| is_alcohol(atom))
}

/// Returns true for the acyl carbon of a β-keto acid's halide or anhydride with a hydrogen between: it loses the acid to the acylketene, which dimerises
/// (Hyatt and Raynolds, Org. React. 1994, 45, 159).
fn is_keto_acyl_halide(it: &Facts, acyl: u32) -> bool {
    it.next_to(acyl).any(|alpha| {
        it.is_sp3(alpha)
            && it.hydrogens(alpha) > 0
            && it.next_to(alpha).any(|next| matches!(it.group(next), Group::Ketone | Group::Aldehyde))
    })
}

/// Returns true for the acyl carbon of the halide of a Boc amino acid, which loses tert-butyl halide to the N-carboxyanhydride (Leuchs 1906).
fn is_boc_aminoacyl_halide(it: &Facts, acyl: u32) -> bool {
    let is_amine = |nitrogen: u32| {
        it.element(nitrogen) == N && it.next_to(nitrogen).any(|root| is_boc(it, nitrogen, root))
    };
    it.next_to(acyl).filter(|&alpha| it.is_sp3(alpha)).any(|alpha| it.next_to(alpha).any(is_amine))
}

/// Returns true for the acyl halide of an N-acyl amino acid with its N–H, which closes to the azlactone (Sewald and Jakubke, "Peptides", 2009).
fn closes_to_azlactone(it: &Facts, acyl: u32) -> bool {
    let is_amide = |nitrogen: u32| {
        it.group(nitrogen) == Group::AmideNitrogen && it.hydrogens(nitrogen) == 1 && !it.is_in_ring(nitrogen)
    };
    it.next_to(acyl).filter(|&alpha| it.is_sp3(alpha)).any(|alpha| it.next_to(alpha).any(is_amide))
}

fn is_small_ring_cumulene(it: &Facts, atom: u32) -> bool {
    let doubles: Vec<_> = it.around(atom).iter().filter(|bond| bond.order == Order::Double).collect();
    doubles.len() == 2 && doubles.iter().all(|bond| (1..=8).contains(&bond.ring))
}

/// Returns true if a double bond begins at this bridgehead of a small bicycle (Bredt's rule).
fn is_anti_bredt(it: &Facts, atom: u32) -> bool {
    let ring_bonds = || it.around(atom).iter().filter(|bond| bond.ring > 0);
    ring_bonds().count() == 3
        && !it.is_aromatic(atom)
        && ring_bonds().any(|bond| bond.order == Order::Double)
        && is_bridgehead(it, atom)
}

/// Returns true for the oxygen of an acyloxy, phosphoryloxy or sulfonyloxy group.
pub fn is_acyloxy(it: &Facts, oxygen: u32) -> bool {
    it.element(oxygen) == O
        && it.is_saturated(oxygen)
        && it
            .next_to(oxygen)
            .any(|next| it.is_carbonyl(next) || matches!(it.element(next), P | S) && it.oxo(next) > 0)
}

/// Returns true for the carbonyl carbon of a saturated ring of three: cyclopropanones, α-lactones, α-lactams.
fn is_three_ring_ketone(it: &Facts, atom: u32) -> bool {
    let is_ring_bond = |bond: &chem::Bond| bond.ring == 3;
    it.is_carbonyl(atom)
        && it.around(atom).iter().any(is_ring_bond)
        && it
            .around(atom)
            .iter()
            .filter(|bond| is_ring_bond(bond))
            .all(|bond| bond.order == Order::Single && it.is_saturated(bond.to))
}

/// Returns true for the boron of a free boronic acid that loses its boron within minutes of warm base: beside the
/// nitrogen of an azine; at the 4-position of a pyrimidine, which is the same; between two halogens of an azine; on a
/// pyrrole or indole with its N–H; at C2 of a thiazole or oxazole. Between two nitrogens of an azine or azole its esters do so as well; only MIDA esters and borates keep.
fn is_unstable_boronic_acid(it: &Facts, boron: u32) -> bool {
    let free = it.next_to(boron).filter(|&next| it.element(next) == O && it.hydrogens(next) > 0).count();
    let Some(ipso) = it.next_to(boron).find(|&next| it.is_aromatic_carbon(next)) else { return false };
    let neighbours = || it.next_to(ipso).filter(|&next| it.is_aromatic(next));
    if neighbours().all(|next| it.element(next) == N) {
        return it.degree(boron) == 3;
    }
    if free < 2 {
        return false;
    }
    let ring: Vec<u32> = it
        .distances(ipso, 3)
        .into_iter()
        .map(|(atom, _)| atom)
        .filter(|&atom| it.is_aromatic(atom))
        .collect();
    if it.ring(ipso) == 5 && neighbours().all(|next| it.element(next) != C) {
        return true;
    }
    if it.ring(ipso) == 6 {
        let is_halogenated = |atom: u32| it.next_to(atom).any(|next| is_halogen(it.element(next)));
        let has_nitrogen = ring.iter().any(|&atom| it.element(atom) == N && it.ring(atom) == 6);
        return neighbours().any(|next| it.element(next) == N)
            || has_nitrogen && neighbours().filter(|&next| is_halogenated(next)).count() > 1;
    }
    let hetero: Vec<u32> = ring
        .iter()
        .copied()
        .filter(|&atom| it.ring(atom) == 5 && matches!(it.element(atom), N | O | S))
        .collect();
    matches!(hetero[..], [nitrogen] if it.element(nitrogen) == N && it.hydrogens(nitrogen) > 0)
}

/// Returns true if three bridges of one to three atoms each lead from the atom to the same other atom.
pub fn is_bridgehead(it: &Facts, atom: u32) -> bool {
    is_bridgehead_within(it, atom, 6)
}

/// Returns true for a bridgehead of a bicycle whose bridges have at most so many atoms.
pub fn is_bridgehead_within(it: &Facts, atom: u32, most: u32) -> bool {
    let arms: Vec<u32> = it.around(atom).iter().filter(|bond| bond.ring > 0).map(|bond| bond.to).collect();
    let reach = |start: u32| -> Vec<(u32, u32)> {
        let mut found = vec![(start, 1)];
        let mut next = 0;
        while let Some(&(at, distance)) = found.get(next) {
            next += 1;
            if distance == 4 {
                continue;
            }
            for bond in it.around(at).iter().filter(|bond| bond.ring > 0 && bond.to != atom) {
                if !found.iter().any(|&(known, _)| known == bond.to) {
                    found.push((bond.to, distance + 1));
                }
            }
        }
        found
    };
    let [a, b, c] = arms[..] else { return false };
    let (a, b, c) = (reach(a), reach(b), reach(c));
    let steps =
        |list: &[(u32, u32)], atom: u32| list.iter().find(|&&(at, _)| at == atom).map(|&(_, steps)| steps);
    a.iter().any(|&(far, from_a)| {
        let (Some(from_b), Some(from_c)) = (steps(&b, far), steps(&c, far)) else { return false };
        let branches = it.around(far).iter().filter(|bond| bond.ring > 0).count() >= 3;
        // Bridges have `steps - 1` atoms; the bicycle has their sum and the two heads.
        let bridges = [from_a - 1, from_b - 1, from_c - 1];
        branches
            && bridges.iter().all(|&bridge| bridge > 0)
            && bridges.iter().sum::<u32>() <= most
            && distinct(it, atom, far, &arms)
    })
}

/// Returns true if the shortest paths to `far` by the three arms share no atom. Approximate: it checks that no arm is
/// next to another.
fn distinct(it: &Facts, atom: u32, far: u32, arms: &[u32]) -> bool {
    arms.iter()
        .all(|&arm| arm != far && !arms.iter().any(|&other| other != arm && it.bond(arm, other).is_some()))
        && it.bond(atom, far).is_none()
}
