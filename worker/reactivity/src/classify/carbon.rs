//! Reactions of carbon with a name of their own, which the events of a step do not tell apart. Names after Smith, "March's
//! Advanced Organic Chemistry", and Kürti and Czakó, "Strategic Applications of Named Reactions".

use chem::Order;

use super::step::{NewBond, arylates_alkene};
use crate::change::Step;
use crate::event::Event;
use crate::group::Group;
use crate::queries::*;
use crate::reaction_class::{ReactionClass, class};

/// Class of a step that is such a reaction.
pub fn class(step: &Step<'_>, events: &[Event]) -> Option<ReactionClass> {
    let kinds = [
        gabriel_colman,
        japp_klingemann,
        rearrangement,
        one_carbon,
        multicomponent,
        carbene,
        diazo,
        oxidative_cleavage,
        doebner,
        decarboxylative,
        heck_of_allylic_alcohol,
    ];
    let degraded = events.iter().any(|event| matches!(event, Event::Degradation { .. }));
    degraded
        .then_some(class!("Curtius or Hofmann rearrangement"))
        .or_else(|| kinds.iter().find_map(|kind| kind(step)))
}

/// Ring enlargement of a phthalimide or saccharin: the carbanion beside nitrogen takes the acyl group from it (Allen, Chem. Rev. 1950, 47, 275).
fn gabriel_colman(step: &Step<'_>) -> Option<ReactionClass> {
    let it = &step.before;
    let takes_acyl = |(carbanion, acyl): (u32, u32)| {
        it.element(carbanion) == C
            && it.is_carbonyl(acyl)
            && step.lost(acyl).any(|(gone, _)| {
                it.element(gone) == N && it.ring(gone) == 5 && it.next_to(carbanion).any(|next| next == gone)
            })
    };
    step.joined().any(takes_acyl).then_some(class!("Gabriel-Colman rearrangement"))
}

/// The diazonium ion takes the place of an acyl group (Phillips, Org. React. 1959, 10, 143).
fn japp_klingemann(step: &Step<'_>) -> Option<ReactionClass> {
    let it = &step.before;
    let is_hydrazone = |bond: NewBond| {
        bond.element == N && bond.order == Order::Double && step.after.count(bond.image, N) > 0
    };
    let replaced = |atom: u32| {
        it.is_sp3(atom)
            && step.lost(atom).any(|(gone, _)| it.is_carbonyl(gone))
            && step.new_bonds(atom).any(is_hydrazone)
    };
    step.atoms().any(replaced).then_some(class!("Japp-Klingemann reaction"))
}

/// Beckmann, Baeyer-Villiger and Dakin: a heteroatom enters a bond between a carbonyl carbon and another.
fn rearrangement(step: &Step<'_>) -> Option<ReactionClass> {
    let it = &step.before;
    step.change
        .broken
        .iter()
        .flat_map(|&(a, b, _)| [(a, b), (b, a)])
        .find_map(|(centre, moved)| {
            if it.element(centre) != C || it.element(moved) != C {
                return None;
            }
            let gained: Vec<_> = step.new_bonds(moved).filter(|bond| matches!(bond.element, N | O)).collect();
            let image = step.image(centre);
            let inserted = gained
                .iter()
                .find(|bond| image.is_some_and(|image| step.after.bond(image, bond.image).is_some()))?;
            match inserted.element {
                N if [centre, moved].iter().any(|&atom| it.group(atom) == Group::Acid)
                    || inserted.origin.is_some_and(|origin| it.group(origin) == Group::Azide) =>
                {
                    Some(class!("Curtius or Hofmann rearrangement"))
                }
                N if step.hydrogens_gained(centre) > 0 => Some(class!("reductive Beckmann rearrangement")),
                N => Some(class!("Beckmann rearrangement")),
                _ if it.is_carbonyl(centre) => Some(class!("Baeyer-Villiger oxidation")),
                _ => None,
            }
        })
        .or_else(|| step.atoms().find_map(|atom| replacement(step, atom)))
}

/// Replacement of a substituent by a hydroxyl or amino group of an unlisted reagent: Dakin, Curtius, and the oxidation of boronic acids.
fn replacement(step: &Step<'_>, atom: u32) -> Option<ReactionClass> {
    let it = &step.before;
    let (gains_oxygen, gains_nitrogen) = (step.gains(atom, O), step.gains(atom, N));
    step.lost(atom).find_map(|(gone, _)| match it.group(gone) {
        Group::Aldehyde | Group::Ketone if gains_oxygen && it.is_aromatic(atom) => {
            Some(class!("Dakin oxidation"))
        }
        Group::Acid if gains_nitrogen => Some(class!("Curtius or Hofmann rearrangement")),
        _ if gains_oxygen && it.element(gone) == B => {
            let is_ether =
                step.new_bonds(atom).any(|bond| bond.element == O && step.after.degree(bond.image) > 1);
            Some(if is_ether { class!("Chan-Lam coupling") } else { class!("boronic acid oxidation") })
        }
        _ => None,
    })
}

/// Reactions of carbon monoxide, carbon dioxide and isocyanides.
fn one_carbon(step: &Step<'_>) -> Option<ReactionClass> {
    let it = &step.before;
    let bonds_carbon = |atom: u32| step.new_bonds(atom).any(|bond| bond.element == C);
    step.atoms().filter(|&atom| it.element(atom) == C && step.forms_bond(atom)).find_map(|atom| {
        let partner = it.triply(atom);
        match partner.map(|partner| (it.element(partner), it.at(partner).charge, it.degree(partner))) {
            Some((O, _, _)) => Some(class!("carbonylation")),
            Some((N, 1, 2)) if !step.gains_ring_bond(atom) => Some(class!("Ugi or Passerini reaction")),
            _ if it.group(atom) == Group::CarbonDioxide && it.degree(atom) == 2 && bonds_carbon(atom) => {
                Some(class!("carboxylation"))
            }
            _ => None,
        }
    })
}

/// Strecker, Bucherer and Bergs, Mannich, cyanohydrin: a carbonyl carbon gains a carbon, with a nitrogen or alone.
fn multicomponent(step: &Step<'_>) -> Option<ReactionClass> {
    let it = &step.before;
    step.atoms().find_map(|centre| {
        let carbonyl = matches!(it.group(centre), Group::Aldehyde | Group::Ketone);
        let imine = it.group(centre) == Group::ImineCarbon;
        if !carbonyl && !imine {
            return None;
        }
        let nitrogen = imine || step.lost_oxo(centre) && step.gains(centre, N);
        let carbon = step.gained(centre).map(|(other, _)| other).find(|&other| it.element(other) == C)?;
        let metal = step.lost(carbon).any(|(gone, _)| matches!(it.element(gone), LI | MG | ZN | SN));
        let closes_ring = step.gains_ring_bond(centre);
        match nitrogen {
            true if it.is_cyano(carbon) && closes_ring => Some(class!("Bucherer-Bergs reaction")),
            true if it.is_cyano(carbon) => Some(class!("Strecker reaction")),
            false
                if it.is_cyano(carbon) && step.reordered(centre).any(|(_, _, now)| now == Order::Single) =>
            {
                Some(class!("cyanohydrin formation"))
            }
            true if carbonyl && step.lost(carbon).any(|(gone, _)| it.element(gone) == B) => {
                Some(class!("Petasis reaction"))
            }
            true if carbonyl && !metal && !closes_ring => Some(class!("Mannich reaction")),
            _ => None,
        }
    })
}

/// Rings of three from ylides, diazo compounds and diiodomethane.
fn carbene(step: &Step<'_>) -> Option<ReactionClass> {
    let it = &step.before;
    let in_new_ring = |atom: u32| {
        step.new_bonds(atom).any(|bond| {
            step.image(atom)
                .and_then(|image| step.after.bond(image, bond.image))
                .is_some_and(|bond| bond.ring == 3)
        })
    };
    let is_ylide = |atom: u32| {
        step.lost(atom).any(|(gone, _)| it.element(gone) == S && it.at(gone).charge == 1) && in_new_ring(atom)
    };
    let joins_two_carbons = |atom: u32| {
        let loses_two = step.lost(atom).filter(|&(gone, _)| is_halogen(it.element(gone))).count() > 1;
        (loses_two || it.is_diazo(atom))
            && in_new_ring(atom)
            && step.new_bonds(atom).filter(|bond| bond.element == C).count() > 1
    };
    step.atoms().filter(|&atom| it.element(atom) == C).find_map(|atom| match () {
        () if is_ylide(atom) => Some(class!("Corey-Chaykovsky reaction")),
        () if joins_two_carbons(atom) => Some(class!("cyclopropanation")),
        () => None,
    })
}

/// Acylation of a diazo compound, and the halide that takes the place of the nitrogen (Arndt and Eistert, Ber. Dtsch. Chem. Ges. 1935, 68, 200).
fn diazo(step: &Step<'_>) -> Option<ReactionClass> {
    let it = &step.before;
    let is_acyl = |atom: u32| matches!(it.group(atom), Group::AcylHalide | Group::Anhydride | Group::Acid);
    step.atoms().filter(|&atom| it.is_diazo(atom)).find_map(|atom| {
        let gains = |wanted: &dyn Fn(u32) -> bool| step.gained(atom).any(|(other, _)| wanted(other));
        match () {
            () if gains(&|other| is_halogen(it.element(other))) => Some(class!("haloketone formation")),
            () if gains(&is_acyl) => Some(class!("diazoketone formation")),
            () => None,
        }
    })
}

/// Heck reaction of an allylic alcohol, whose double bond moves to the carbinol (Melpolder and Heck, J. Org. Chem. 1976, 41, 265).
fn heck_of_allylic_alcohol(step: &Step<'_>) -> Option<ReactionClass> {
    let becomes_ketone = |atom: u32| step.before.is_sp3(atom) && step.becomes_carbonyl(atom);
    (arylates_alkene(step) && step.atoms().any(becomes_ketone)).then_some(class!("Heck reaction"))
}

/// Cleavage of C=C, and of glycols and ketols, to carbonyl groups.
fn oxidative_cleavage(step: &Step<'_>) -> Option<ReactionClass> {
    let it = &step.before;
    let becomes_carbonyl = |atom: u32| step.image(atom).is_some() && step.becomes_carbonyl(atom);
    step.change.broken.iter().find_map(|&(a, b, order)| {
        let is_carbon = it.element(a) == C && it.element(b) == C;
        let hydroxyl =
            |atom: u32| it.next_to(atom).any(|next| it.element(next) == O && it.hydrogens(next) > 0);
        let formed = becomes_carbonyl(a) || becomes_carbonyl(b);
        match order {
            Order::Double if is_carbon && formed => Some(class!("ozonolysis")),
            Order::Single
                if is_carbon
                    && formed
                    && (hydroxyl(a) || it.is_carbonyl(a))
                    && (hydroxyl(b) || it.is_carbonyl(b)) =>
            {
                Some(class!("glycol cleavage"))
            }
            _ => None,
        }
    })
}

/// Knoevenagel condensation of a malonic acid, which loses carbon dioxide.
fn doebner(step: &Step<'_>) -> Option<ReactionClass> {
    let it = &step.before;
    let made = |&(a, b, order): &(u32, u32, Order)| {
        order == Order::Double
            && [(a, b), (b, a)].iter().any(|&(acid, carbonyl)| {
                step.lost_oxo(carbonyl)
                    && it.element(acid) == C
                    && step.lost(acid).any(|(gone, _)| it.group(gone) == Group::Acid)
            })
    };
    step.change.made.iter().any(made).then_some(class!("Doebner-Knoevenagel condensation"))
}

/// Coupling of an acid, which loses carbon dioxide, with a halide (Zuo and others, Science 2014, 345, 437), or of a malonic half ester with an
/// acid or its chloride (Brooks, Lu and Masamune, Angew. Chem. Int. Ed. 1979, 18, 72).
fn decarboxylative(step: &Step<'_>) -> Option<ReactionClass> {
    let it = &step.before;
    let acylates = |(acid, acyl): (u32, u32)| {
        matches!(it.group(acyl), Group::AcylHalide | Group::Acid)
            && step.lost(acid).any(|(gone, _)| it.element(acid) == C && it.group(gone) == Group::Acid)
    };
    if step.joined().any(acylates) {
        return Some(class!("decarboxylative acylation"));
    }
    let couples = |(acid, halide): (u32, u32)| {
        step.leaving_halogen(halide).is_some()
            && step.lost(acid).any(|(gone, _)| it.element(acid) == C && it.group(gone) == Group::Acid)
    };
    step.joined().any(couples).then_some(class!("decarboxylative coupling"))
}
