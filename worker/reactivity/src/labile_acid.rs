//! Acids that lose a group as they form: carbon dioxide, carbonyl sulfide, boric acid.
//!
//! Sources: Clayden, Greeves and Warren, chapter 25, for β-keto acids; Smith, "March's Advanced Organic Chemistry", chapter 12, for nitro acids, which lose carbon dioxide
//! as anions, and chapter 16, for thiocarbamic acids; Matteson, J. Organomet. Chem. 1999, 581, 51, for α-amino boronic acids, whose carbon moves from boron to nitrogen.

use crate::arylation::has_open_boron;
use crate::change::Facts;
use crate::group::Group;
use crate::queries::*;

/// Returns true for the acid carbon of an α-nitro acid, a thiocarbamic acid or a 2-pyridylmalonic acid.
pub fn is_labile_acid(it: &Facts, acid: u32) -> bool {
    is_nitro_acid(it, acid) || is_thiocarbamic_acid(it, acid) || is_azinylmalonic_acid(it, acid)
}

/// Returns true for the acid carbon of a free β-keto acid or of its enol, which loses carbon dioxide (Clayden, Greeves and Warren, chapter 25).
pub fn is_keto_acid(it: &Facts, acid: u32) -> bool {
    let is_keto = |alpha: u32| {
        it.is_sp3(alpha)
            && it.next_to(alpha).any(|next| matches!(it.group(next), Group::Ketone | Group::Aldehyde))
    };
    let is_enol = |alpha: u32| {
        it.doubly(alpha, |beta| {
            it.element(beta) == C && !it.is_in_ring(beta) && it.next_to(beta).any(|next| it.is_hydroxyl(next))
        })
        .is_some()
    };
    it.group(acid) == Group::Acid
        && it.next_to(acid).any(|alpha| it.element(alpha) == C && (is_keto(alpha) || is_enol(alpha)))
}

/// Returns true for the acid carbon of a β-enamino acid, a vinylogous carbamic acid, which loses carbon dioxide as β-keto acids do.
pub fn is_enamino_acid(it: &Facts, acid: u32) -> bool {
    let has_amine = |beta: u32| {
        it.next_to(beta).any(|next| it.element(next) == N && it.is_saturated(next) && !it.is_aromatic(next))
    };
    it.group(acid) == Group::Acid
        && it
            .next_to(acid)
            .filter_map(|alpha| it.doubly(alpha, |beta| it.element(beta) == C))
            .any(|beta| has_amine(beta) && !it.next_to(beta).any(|next| it.is_carbonyl(next)))
}

/// Returns true for the acid carbon of an α-nitro acid.
fn is_nitro_acid(it: &Facts, acid: u32) -> bool {
    it.group(acid) == Group::Acid
        && it.next_to(acid).any(|alpha| it.is_sp3(alpha) && it.next_to(alpha).any(|next| it.is_nitro(next)))
}

/// Returns true for the acid carbon of a malonic acid or half ester on C2 or C4 of a pyridine, whose nitrogen takes the proton as carbon dioxide leaves (Joule and Mills 2010, chapter 8).
fn is_azinylmalonic_acid(it: &Facts, acid: u32) -> bool {
    let is_malonic = |alpha: u32| {
        it.is_sp3(alpha)
            && it.next_to(alpha).any(|other| {
                other != acid && matches!(it.group(other), Group::Ester | Group::Acid | Group::Amide)
            })
            && it.next_to(alpha).any(|ipso| it.is_aromatic_carbon(ipso) && it.has_conjugated_azine(ipso))
    };
    it.group(acid) == Group::Acid && it.next_to(acid).any(is_malonic)
}

/// Returns true for the carbon of a free thiocarbamic or dithiocarbamic acid.
fn is_thiocarbamic_acid(it: &Facts, carbon: u32) -> bool {
    let is_thiol = |next: u32| it.element(next) == S && it.hydrogens(next) > 0;
    it.element(carbon) == C
        && !it.is_aromatic(carbon)
        && it.count(carbon, N) == 1
        && it.next_to(carbon).any(is_thiol)
        && it.doubly(carbon, |next| matches!(it.element(next), O | S)).is_some()
}

/// Returns true for the boron of a free boronic acid whose carbon bears a free amine.
pub fn is_labile_boronic_acid(it: &Facts, boron: u32) -> bool {
    let has_amine = |alpha: u32| {
        it.is_sp3(alpha)
            && it
                .next_to(alpha)
                .any(|next| matches!(it.group(next), Group::PrimaryAmine | Group::SecondaryAmine))
    };
    it.element(boron) == B
        && it.next_to(boron).filter(|&next| it.is_hydroxyl(next)).count() > 1
        && it.next_to(boron).any(has_amine)
}

/// Returns true for the boron of an open boronic ester on the carbon beside the nitrogen of an azine, which falls off in the work-up: chemists take the halide and the other partner's boron
/// (Cox and others, J. Am. Chem. Soc. 2016, 138, 9145).
fn is_azinyl_boronate(it: &Facts, boron: u32) -> bool {
    let is_beside_azine = |ipso: u32| {
        it.ring(ipso) == 6
            && has_open_boron(it, ipso)
            && it.next_to(ipso).any(|next| it.group(next) == Group::Azine)
    };
    it.element(boron) == B && it.next_to(boron).any(is_beside_azine)
}

/// Returns true for an atom of an acid that loses a group as it forms, so that no step ends with it.
pub fn loses_group_as_it_forms(it: &Facts, atom: u32) -> bool {
    is_keto_acid(it, atom)
        || is_labile_acid(it, atom)
        || is_labile_boronic_acid(it, atom)
        || is_azinyl_boronate(it, atom)
}
