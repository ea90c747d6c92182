//! Groups that do not stay together on one atom: the acyl groups of mixed anhydrides, and a free amine beside a second nitrogen.
//!
//! Sources: Smith, "March's Advanced Organic Chemistry", chapter 16, for mixed anhydrides, which become the two symmetrical ones and pass on either group; Clayden, Greeves and
//! Warren, chapter 11, for aminals, which lose an amine to the imine.

use crate::change::Facts;
use crate::group::Group;
use crate::queries::*;

/// Returns true for an acyl carbon of an open anhydride of two different plain acids. Pivalic, trifluoroacetic, carbonic and formic anhydrides and those of crowded benzoic
/// acids are used as they form.
pub fn is_mixed_anhydride(it: &Facts, acyl: u32) -> bool {
    let is_halogenated = |alpha: u32| it.next_to(alpha).any(|next| is_halogen(it.element(next)));
    let is_substituted = |ortho: u32| it.is_aromatic(ortho) && it.hydrogens(ortho) == 0;
    let is_crowded = |alpha: u32| {
        it.is_sp3(alpha) && it.carbons(alpha) == 4
            || it.is_aromatic(alpha) && it.next_to(alpha).filter(|&ortho| is_substituted(ortho)).count() > 1
    };
    let is_plain = |carbon: u32| {
        it.group(carbon) == Group::Anhydride
            && it.count(carbon, C) == 1
            && it
                .next_to(carbon)
                .filter(|&alpha| it.element(alpha) == C)
                .all(|alpha| !is_halogenated(alpha) && !is_crowded(alpha))
    };
    let is_partner = |other: u32| other != acyl && is_plain(other) && it.at(other).class != it.at(acyl).class;
    is_plain(acyl)
        && it
            .next_to(acyl)
            .filter(|&oxygen| it.group(oxygen) == Group::AnhydrideOxygen && !it.is_in_ring(oxygen))
            .any(|oxygen| it.next_to(oxygen).any(is_partner))
}

/// Returns true for a saturated carbon with a free amino group and a second nitrogen that is not acylated, without an acceptor: it loses ammonia.
pub fn is_free_aminal(it: &Facts, carbon: u32) -> bool {
    let is_donor = |next: u32| {
        matches!(
            it.group(next),
            Group::PrimaryAmine
                | Group::SecondaryAmine
                | Group::TertiaryAmine
                | Group::SecondaryAniline
                | Group::TertiaryAniline
                | Group::Diarylamine
        )
    };
    it.is_sp3(carbon)
        && it.count(carbon, N) > 1
        && it.next_to(carbon).any(|next| it.group(next) == Group::PrimaryAmine)
        && it.next_to(carbon).filter(|&next| is_donor(next)).count() > 1
        && !it.next_to(carbon).any(|next| it.is_acceptor(next) || it.is_trifluoromethyl(next))
}
