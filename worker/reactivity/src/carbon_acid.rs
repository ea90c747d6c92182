//! Carbon acids of one mixture: the proton that base takes, and what the carbanion does then.
//!
//! Sources: Harris and Harris, Org. React. 1969, 17, 155, for the dianions of β-keto esters, whose γ-carbon adds to aldehydes and does not condense; Bordwell, Acc. Chem.
//! Res. 1988, 21, 456, for acidities; Touster, Org. React. 1953, 7, 327, for nitrosation, which needs a ketone or two acceptors; Clayden, Greeves and Warren, chapter 26,
//! for acyl chlorides, whose ketenes and ketones take the carbanion of a hydrocarbon, chapter 17 for E1cB reactions, and chapter 20 for phenols, whose ketones base turns back; Doran, "Medicinal Chemistry" 1959, 4, 1, for
//! barbituric acids, which chemists alkylate as malonic esters; Luzzio, Tetrahedron 2001, 57, 915, for nitroaldols; van Leusen and van Leusen, Org. React. 2001, 57, 417, for tosylmethyl isocyanide.

use crate::change::{Facts, Step};
use crate::event::Event;
use crate::group::{Group, aromatic_positions};
use crate::queries::*;
use crate::refusal::Refusal;

type Verdict = Result<(), Refusal>;

/// Refuses carbanions that the most acidic C–H of the mixture does not give.
///
/// # Errors
/// Fails with [`Refusal::CompetingGroup`], [`Refusal::SelfReacting`] or [`Refusal::Unreactive`].
pub fn check(step: &Step<'_>, events: &[Event]) -> Verdict {
    let it = &step.before;
    for event in events {
        match *event {
            Event::Aldol { nucleophile, carbon }
                if condenses_at_gamma(step, nucleophile, carbon)
                    || is_of_free_imide(it, nucleophile)
                    || is_behind_active_methine(step, nucleophile)
                    || is_beside_leaving_group(step, nucleophile)
                    || takes_amine_first(step, nucleophile, carbon) =>
            {
                return Err(Refusal::CompetingGroup);
            }
            Event::Aldol { nucleophile, .. }
                if is_of_free_amide(it, nucleophile) && !becomes_arene(step, nucleophile) =>
            {
                return Err(Refusal::Unreactive);
            }
            Event::Aldol { nucleophile, carbon } if is_nitroaldol_of_phenol(step, nucleophile, carbon) => {
                return Err(Refusal::SelfReacting);
            }
            Event::Alkylation { nucleophile, carbon, .. } | Event::Acylation { nucleophile, carbon }
                if it.is_sp3(nucleophile)
                    && !step.are_in_same_molecule(nucleophile, carbon)
                    && is_beside_leaving_group(step, nucleophile) =>
            {
                return Err(Refusal::SelfReacting);
            }
            Event::Alkylation { nucleophile, carbon, leaving }
                if it.is_sp3(nucleophile)
                    && it.is_sp3(carbon)
                    && is_heavy_halogen(it.element(leaving))
                    && !step.are_in_same_molecule(nucleophile, carbon)
                    && (is_eliminated_by_carbanion(it, nucleophile, carbon)
                        || is_isocyanomethyl(it, nucleophile) && it.is_alpha(carbon)) =>
            {
                return Err(Refusal::SelfReacting);
            }
            Event::Alkylation { nucleophile, leaving, .. }
                if is_heavy_halogen(it.element(leaving)) && is_enolate_beside_victim(step, nucleophile) =>
            {
                return Err(Refusal::CompetingGroup);
            }
            Event::Alkylation { nucleophile, leaving, .. }
                if is_heavy_halogen(it.element(leaving))
                    && (is_of_free_malonyl_ring(it, nucleophile)
                        || is_of_hidden_catechol(it, nucleophile)) =>
            {
                return Err(Refusal::CompetingGroup);
            }
            Event::Arylation { nucleophile, .. } if is_of_pyrazolidinedione(it, nucleophile) => {
                return Err(Refusal::Unreactive);
            }
            Event::Acylation { nucleophile, carbon }
                if it.group(carbon) == Group::AcylHalide && is_hydrocarbon_acid(it, nucleophile) =>
            {
                return Err(Refusal::CompetingGroup);
            }
            _ => {}
        }
    }
    for (from, to) in step.joined() {
        if is_metalated(step, from) && is_kept_active_methylene(step, to) {
            return Err(Refusal::CompetingGroup);
        }
        if closes_azole_of_enol(step, from, to) {
            return Err(Refusal::CompetingGroup);
        }
        if is_reformatsky_to_alkene(step, from, to) {
            if step.atoms().any(|atom| it.is_nitro(atom) && step.is_untouched(atom)) {
                return Err(Refusal::Incompatible);
            }
            if is_skipped_enone(it, to) {
                return Err(Refusal::CompetingGroup);
            }
        }
        if is_nitrite(it, from) && is_plain_enolate(step, to) {
            return Err(Refusal::Unreactive);
        }
    }
    Ok(())
}

/// Returns true for a carbon with a hydrogen between two acceptors.
pub fn is_active_methylene(it: &Facts, carbon: u32) -> bool {
    it.is_sp3(carbon)
        && it.hydrogens(carbon) > 0
        && it.next_to(carbon).filter(|&next| it.is_acceptor(next) && !it.is_aromatic(next)).count() > 1
}

/// Returns true for the γ-carbon of a β-keto ester, amide or nitrile that makes a double bond with an aldehyde of another molecule: its methylene group does so. Diketones go by way of their
/// boron complexes (Pabon, Recl. Trav. Chim. Pays-Bas 1964, 83, 379).
fn condenses_at_gamma(step: &Step<'_>, gamma: u32, aldehyde: u32) -> bool {
    let it = &step.before;
    let is_between = |alpha: u32| {
        alpha != gamma
            && is_active_methylene(it, alpha)
            && step.is_untouched(alpha)
            && it
                .next_to(alpha)
                .any(|next| matches!(it.group(next), Group::Ester | Group::Amide | Group::Nitrile))
    };
    it.is_sp3(gamma)
        && step.lost_oxo(aldehyde)
        && !step.are_in_same_molecule(gamma, aldehyde)
        && it
            .next_to(gamma)
            .any(|ketone| it.group(ketone) == Group::Ketone && it.next_to(ketone).any(is_between))
}

/// Returns true for the carbon of an alkylarene, without an acceptor or heteroatom.
fn is_hydrocarbon_acid(it: &Facts, carbon: u32) -> bool {
    it.is_sp3(carbon)
        && it.hydrogens(carbon) > 0
        && it.next_to(carbon).all(|next| it.element(next) == C && !it.is_acceptor(next))
        && it.aryls(carbon) > 0
}

/// Returns true for an sp2 carbon that brings a metal or exchanges its halogen for one.
fn is_metalated(step: &Step<'_>, carbon: u32) -> bool {
    let it = &step.before;
    it.element(carbon) == C && step.lost(carbon).any(|(gone, _)| matches!(it.element(gone), LI | MG | BR | I))
}

/// Returns true for a ketone or imine that becomes a tertiary alcohol or amine beside a methylene group between it and a second acceptor, whose proton the metal takes.
fn is_kept_active_methylene(step: &Step<'_>, ketone: u32) -> bool {
    let it = &step.before;
    let is_alcohol = || {
        step.image(ketone).is_some_and(|image| {
            step.after.is_sp3(image)
                && step
                    .after
                    .next_to(image)
                    .any(|next| step.after.is_hydroxyl(next) || step.after.element(next) == N)
        })
    };
    matches!(it.group(ketone), Group::Ketone | Group::ImineCarbon)
        && is_alcohol()
        && it.next_to(ketone).any(|alpha| is_active_methylene(it, alpha) && step.is_untouched(alpha))
}

/// Returns true for the nitrogen of an ortho-substituted aniline and an aldehyde beside an active methylene group that are to close an azole: such an aldehyde is an enol, and makes the enamine (Clayden, Greeves
/// and Warren, chapter 20).
fn closes_azole_of_enol(step: &Step<'_>, nitrogen: u32, aldehyde: u32) -> bool {
    let it = &step.before;
    it.is_arylamine(nitrogen)
        && it.group(aldehyde) == Group::Aldehyde
        && it.next_to(aldehyde).any(|alpha| is_active_methylene(it, alpha))
        && step
            .image(aldehyde)
            .is_some_and(|image| step.after.is_aromatic(image) && step.after.ring(image) == 5)
}

/// Returns true for the nitrogen of nitrous acid or its esters.
fn is_nitrite(it: &Facts, nitrogen: u32) -> bool {
    it.element(nitrogen) == N && it.count(nitrogen, O) == 2 && it.oxo(nitrogen) == 1 && !it.is_nitro(nitrogen)
}

/// Returns true for the α-carbon of an ester, amide or acid with no second group that makes it acidic.
fn is_plain_enolate(step: &Step<'_>, carbon: u32) -> bool {
    let it = &step.before;
    let mut acceptors = it.next_to(carbon).filter(|&next| it.is_acceptor(next));
    it.is_sp3(carbon)
        && acceptors
            .next()
            .is_some_and(|acyl| matches!(it.group(acyl), Group::Ester | Group::Amide | Group::Acid))
        && acceptors.next().is_none()
        && it.aryls(carbon) == 0
}

/// Returns true for the methylene group of a barbituric acid or pyrazolidinedione with a free N–H, whose anion a halide takes twice, and on nitrogen.
fn is_of_free_malonyl_ring(it: &Facts, carbon: u32) -> bool {
    let acyls = || it.next_to(carbon).filter(|&acyl| it.is_carbonyl(acyl) && !it.is_aromatic(acyl));
    let bears_proton = |acyl: u32| {
        it.next_to(acyl).any(|nitrogen| {
            it.element(nitrogen) == N && it.hydrogens(nitrogen) > 0 && it.is_in_ring(nitrogen)
        })
    };
    let bears_nitrogen = |acyl: u32| it.count(acyl, N) == 1;
    it.is_sp3(carbon)
        && it.hydrogens(carbon) == 2
        && it.is_in_ring(carbon)
        && acyls().count() == 2
        && acyls().all(bears_nitrogen)
        && acyls().any(bears_proton)
}

/// Returns true for a nitrogen of a pyrazolidine-3,5-dione, an acid like acetic acid, whose spread charge takes no aryl halide.
fn is_of_pyrazolidinedione(it: &Facts, nitrogen: u32) -> bool {
    let acyl_of = |nitrogen: u32| it.next_to(nitrogen).find(|&acyl| it.is_carbonyl(acyl));
    let is_closed = |other: u32| {
        acyl_of(nitrogen).zip(acyl_of(other)).is_some_and(|(one, two)| {
            it.next_to(one).any(|between| it.element(between) == C && it.bond(between, two).is_some())
        })
    };
    it.element(nitrogen) == N
        && it.hydrogens(nitrogen) > 0
        && it.ring(nitrogen) == 5
        && !it.is_aromatic(nitrogen)
        && it.next_to(nitrogen).any(|other| it.element(other) == N && is_closed(other))
}

/// Returns true for a carbon of a ring of six with two carbonyl groups, fused to an arene and with two saturated carbons that have hydrogen: the base of an alkylation makes the dihydroxynaphthalene of it.
fn is_of_hidden_catechol(it: &Facts, carbon: u32) -> bool {
    if !it.is_sp3(carbon) || it.hydrogens(carbon) == 0 {
        return false;
    }
    let bond = it.around(carbon).iter().find(|bond| bond.ring == 6);
    let Some(ring) = bond.and_then(|bond| it.smallest_cycle(carbon, bond.to)) else { return false };
    let count = |wanted: &dyn Fn(u32) -> bool| ring.iter().filter(|&&atom| wanted(atom)).count();
    ring.len() == 6
        && count(&|atom| it.is_carbonyl(atom) && !it.is_aromatic(atom)) == 2
        && count(&|atom| it.is_aromatic(atom)) == 2
        && count(&|atom| it.is_sp3(atom) && it.hydrogens(atom) > 0) == 2
}

/// Returns true for the α-carbon of an imide with its N–H, whose anion is no enolate. Sulfur beside it makes the carbon acidic: thiazolidinediones condense.
fn is_of_free_imide(it: &Facts, alpha: u32) -> bool {
    it.is_sp3(alpha)
        && it.count(alpha, S) == 0
        && it.next_to(alpha).any(|acyl| {
            it.group(acyl) == Group::Imide
                && it.next_to(acyl).any(|nitrogen| it.element(nitrogen) == N && it.hydrogens(nitrogen) > 0)
        })
}

/// Returns true for the α-carbon of a plain carbonyl group beside the C–H between two others, which is far more acidic.
fn is_behind_active_methine(step: &Step<'_>, alpha: u32) -> bool {
    let it = &step.before;
    it.is_sp3(alpha)
        && !is_active_methylene(it, alpha)
        && it.next_to(alpha).any(|next| is_active_methylene(it, next) && step.is_untouched(next))
}

/// Returns true for the enolate of an ester, amide or imide and an aldehyde beside a free primary amine, which makes the imine.
fn takes_amine_first(step: &Step<'_>, alpha: u32, aldehyde: u32) -> bool {
    let it = &step.before;
    it.group(aldehyde) == Group::Aldehyde
        && it.next_to(alpha).any(|acyl| matches!(it.group(acyl), Group::Ester | Group::Amide | Group::Imide))
        && step.atoms().any(|atom| it.group(atom) == Group::PrimaryAmine && step.is_untouched(atom))
}

/// Returns true for the α-carbon of a carbonyl group whose other neighbour bears a halogen or sulfonate that stays: base makes the alkene of it first.
fn is_beside_leaving_group(step: &Step<'_>, alpha: u32) -> bool {
    let it = &step.before;
    let is_kept = |next: u32| {
        step.is_untouched(next)
            && (is_heavy_halogen(it.element(next)) || it.group(next) == Group::SulfonateOxygen)
    };
    it.is_sp3(alpha)
        && it.next_to(alpha).any(|acyl| it.is_acceptor(acyl) && !it.is_aromatic(acyl))
        && it.next_to(alpha).any(|beta| it.is_sp3(beta) && it.next_to(beta).any(is_kept))
}

/// Returns true for the carbanion of a carbon acid with at most one acceptor and the halide of a β-halo carbonyl compound, which it turns into the acrylate. Malonates add to that.
fn is_eliminated_by_carbanion(it: &Facts, nucleophile: u32, carbon: u32) -> bool {
    it.hydrogens(nucleophile) > 0
        && !is_active_methylene(it, nucleophile)
        && !it.is_alpha(carbon)
        && it.next_to(carbon).any(|alpha| {
            it.is_sp3(alpha)
                && it.hydrogens(alpha) > 0
                && it.next_to(alpha).any(|acyl| {
                    matches!(it.group(acyl), Group::Ester | Group::Ketone | Group::Aldehyde | Group::Nitrile)
                })
        })
}

/// Returns true for the carbon of an isocyanide, between it and the sulfonyl group that leaves as an α-halo carbonyl compound joins it.
fn is_isocyanomethyl(it: &Facts, carbon: u32) -> bool {
    it.next_to(carbon)
        .any(|next| it.element(next) == N && it.at(next).charge > 0 && it.triply(next).is_some())
        && it.next_to(carbon).any(|next| it.group(next) == Group::Sulfone)
}

/// Returns true for the α-carbon of a free acid whose dianion's bases take a ketone or aldehyde that stays, and of a plain carbonyl group whose base takes a nitroarene of its molecule.
fn is_enolate_beside_victim(step: &Step<'_>, alpha: u32) -> bool {
    let it = &step.before;
    let acceptors = || it.next_to(alpha).filter(|&next| it.is_acceptor(next));
    let keeps = |wanted: &dyn Fn(u32) -> bool| {
        step.atoms()
            .any(|atom| step.is_untouched(atom) && step.are_in_same_molecule(atom, alpha) && wanted(atom))
    };
    let is_plain = || {
        acceptors().count() == 1
            && acceptors().all(|acyl| {
                matches!(it.group(acyl), Group::Ketone | Group::Ester | Group::Amide | Group::Nitrile)
            })
    };
    it.is_sp3(alpha)
        && (acceptors().count() == 1
            && acceptors().all(|acyl| it.group(acyl) == Group::Acid)
            && keeps(&|atom| matches!(it.group(atom), Group::Ketone | Group::Aldehyde))
            || it.aryls(alpha) == 0
                && is_plain()
                && keeps(&|atom| it.is_nitro(atom) && it.next_to(atom).any(|next| it.is_aromatic(next))))
}

/// Returns true for the α-carbon of an amide or lactam with its N–H and no second group that makes it acidic.
fn is_of_free_amide(it: &Facts, alpha: u32) -> bool {
    it.is_sp3(alpha)
        && it.aryls(alpha) == 0
        && it.next_to(alpha).all(|next| it.element(next) == C || it.element(next) == O)
        && it.next_to(alpha).filter(|&next| it.is_acceptor(next)).count() == 1
        && it.next_to(alpha).any(|acyl| {
            it.group(acyl) == Group::Amide
                && it.next_to(acyl).any(|nitrogen| it.element(nitrogen) == N && it.hydrogens(nitrogen) > 0)
        })
}

/// Returns true for a nitroalkane and the aldehyde of a free ortho or para phenol that stop at the alcohol: its phenolate loses water by way of the quinone methide.
fn is_nitroaldol_of_phenol(step: &Step<'_>, alpha: u32, aldehyde: u32) -> bool {
    let it = &step.before;
    let is_alcohol = || {
        step.image(aldehyde).is_some_and(|image| {
            step.after.is_sp3(image) && step.after.next_to(image).any(|next| step.after.is_hydroxyl(next))
        })
    };
    let bears_phenol = |ring: u32| it.next_to(ring).any(|next| it.group(next) == Group::Phenol);
    it.next_to(alpha).any(|next| it.is_nitro(next))
        && it.group(aldehyde) == Group::Aldehyde
        && is_alcohol()
        && it.next_to(aldehyde).filter(|&ipso| it.is_aromatic_carbon(ipso)).any(|ipso| {
            aromatic_positions(&it.structure, ipso)
                .into_iter()
                .any(|(ring, distance)| distance != 2 && bears_phenol(ring))
        })
}

fn becomes_arene(step: &Step<'_>, atom: u32) -> bool {
    step.image(atom).is_some_and(|image| step.after.is_aromatic(image))
}

/// Returns true for the α-carbon of an α-halo ester and a ketone that become an unsaturated ester by way of the zinc reagent. Zinc and acid reduce nitro groups (Rathke, Org. React. 1975, 22, 423).
fn is_reformatsky_to_alkene(step: &Step<'_>, alpha: u32, ketone: u32) -> bool {
    let it = &step.before;
    it.is_sp3(alpha)
        && step.lost(alpha).any(|(gone, _)| is_heavy_halogen(it.element(gone)))
        && it.next_to(alpha).any(|acyl| it.group(acyl) == Group::Ester)
        && it.group(ketone) == Group::Ketone
        && step.lost_oxo(ketone)
}

/// Returns true for a ketone whose α-carbon with hydrogen bears a double bond, which the zinc reagent's base conjugates.
fn is_skipped_enone(it: &Facts, ketone: u32) -> bool {
    it.next_to(ketone).any(|alpha| {
        it.is_sp3(alpha)
            && it.hydrogens(alpha) > 0
            && it.next_to(alpha).any(|beta| it.group(beta) == Group::Alkene)
    })
}
