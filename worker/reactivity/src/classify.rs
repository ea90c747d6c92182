//! The class of a step.
//!
//! Reactions that several events make up are known by their whole change: [`carbon`] and [`heterocycle`]. Any other step
//! of several events has the name of the event that builds most of its product, and a step without events that of its
//! [`conversion`]. No agents are known here: where they decide, the name is that of the usual conditions.

mod aromatic_ring;
mod carbon;
mod conversion;
mod heterocycle;
mod step;
mod substitution;

use chem::Order;

use crate::alkylation::is_doubly_activated;
use crate::asymmetric::{self, StereoSource};
use crate::change::{Facts, Step};
use crate::claisen::Claisen;
use crate::electrophile;
use crate::event::{Event, events};
use crate::group::{Group, aromatic_positions};
use crate::protecting_group;
use crate::queries::*;
use crate::reaction_class::{Category, ReactionClass, class};
use crate::redox::is_reduced_by_hydride;
use step::is_michael_acceptor;

/// Returns the class of a step, which takes microseconds.
#[must_use]
pub fn classify(step: &Step<'_>) -> ReactionClass {
    let events = events(step);
    let class = carbon::class(step, &events)
        .or_else(|| heterocycle::class(step).map(|class| event_or(step, &events, class)))
        .or_else(|| by_events(step, &events))
        .or_else(|| conversion::class(step))
        .unwrap_or_default();
    if step.prochiral { stereoselective(step, &events, class) } else { class }
}

/// Class of a reaction that a chiral catalyst or an enzyme makes stereoselective.
fn stereoselective(step: &Step<'_>, events: &[Event], class: ReactionClass) -> ReactionClass {
    use StereoSource::{ChiralCatalyst, Enzyme};
    let Ok(Some(source)) = asymmetric::source(step, events) else { return class };
    match (source, class.name) {
        (ChiralCatalyst, "carbonyl reduction") => class!("asymmetric carbonyl reduction"),
        (ChiralCatalyst, "hydrogenation" | "heteroarene hydrogenation") => class!("asymmetric hydrogenation"),
        (ChiralCatalyst, "imine or oxime reduction") => class!("asymmetric imine reduction"),
        (ChiralCatalyst, "reductive amination") => class!("asymmetric reductive amination"),
        (ChiralCatalyst, "epoxidation") => class!("asymmetric epoxidation"),
        (ChiralCatalyst, "dihydroxylation") => class!("asymmetric dihydroxylation"),
        (ChiralCatalyst, "sulfur oxidation") => class!("asymmetric sulfoxidation"),
        (Enzyme, "carbonyl reduction") => class!("enzymatic carbonyl reduction"),
        (Enzyme, "reductive amination") => class!("enzymatic transamination"),
        _ => class,
    }
}

/// Cyclic acetals, ethers of diols, derivatives of diamines and rings that one event closes are named after what makes them, not as heterocycles.
fn event_or(step: &Step<'_>, events: &[Event], class: ReactionClass) -> ReactionClass {
    let is_formed =
        |event: &Event| matches!(*event, Event::Acetalisation { carbon } if is_acetal(step, carbon));
    if events.iter().any(is_formed) {
        return class!("acetal formation");
    }
    let is_sulfate = |event: &Event| {
        matches!(*event, Event::SulfurOxidation { sulfur }
            if step.lost(sulfur).any(|(gone, _)| is_heavy_halogen(step.before.element(gone))))
    };
    if events.iter().any(is_sulfate) {
        return class!("cyclic sulfate formation");
    }
    let is_ether = |event: &Event| matches!(*event, Event::Alkylation { nucleophile, .. } if step.before.element(nucleophile) == O);
    let is_acylation = |event: &Event| matches!(event, Event::Acylation { .. });
    let one_kind = events.len() == 1 || events.iter().all(is_ether) || events.iter().all(is_acylation);
    let named = by_events(step, events).filter(|it| events.len() == 1 || it.name != "ester aminolysis");
    match class.name {
        "heterocyclisation" if one_kind => named.unwrap_or(class),
        _ => class,
    }
}

/// Returns true if a carbon becomes that of an acetal or thioacetal.
fn is_acetal(step: &Step<'_>, carbon: u32) -> bool {
    step.image(carbon).is_some_and(|image| {
        step.after.is_sp3(image) && step.after.count(image, O) + step.after.count(image, S) > 1
    })
}

/// Class of the event that names the step: one that bonds two molecules, before cleavages and other changes.
fn by_events(step: &Step<'_>, events: &[Event]) -> Option<ReactionClass> {
    if events.is_empty()
        && let Some(hetero) = replaces_boron(step)
    {
        let hydroxyl = step.image(hetero).is_some_and(|image| step.after.hydrogens(image) > 0);
        return Some(if step.before.element(hetero) == O && hydroxyl {
            class!("boronic acid oxidation")
        } else {
            class!("Chan-Lam coupling")
        });
    }
    let classes = events.iter().map(|event| of(step, event));
    let named = classes.filter(|class| class.category != Category::Other);
    named.min_by_key(|class| match class.category {
        Category::CarbonCarbon => 0,
        Category::Acylation | Category::HeteroatomAlkylation => 1,
        Category::Protection => 2,
        Category::Addition => 3,
        Category::Reduction | Category::Oxidation => 4,
        Category::Interconversion => 5,
        Category::Deprotection => 6,
        Category::Heterocycle | Category::Other => 7,
    })
}

/// Heteroatom that replaces boron on a carbon.
fn replaces_boron(step: &Step<'_>) -> Option<u32> {
    let it = &step.before;
    let boron = |carbon: u32| step.lost(carbon).any(|(gone, _)| it.element(gone) == B);
    let replaces = |&(carbon, other): &(u32, u32)| matches!(it.element(other), N | O | S) && boron(carbon);
    step.joined().find(replaces).map(|(_, other)| other)
}

fn of(step: &Step<'_>, event: &Event) -> ReactionClass {
    let it = &step.before;
    match *event {
        Event::Alkylation { nucleophile, carbon, leaving } => {
            substitution::alkylation(step, nucleophile, carbon, leaving)
        }
        Event::Acylation { nucleophile, carbon }
            if it.group(nucleophile) == Group::Water
                && step.lost(carbon).any(|(gone, _)| it.element(gone) == N) =>
        {
            class!("amide hydrolysis")
        }
        Event::Acylation { nucleophile, carbon } => substitution::acylation(step, nucleophile, carbon),
        Event::Sulfonylation { nucleophile, sulfur } => match it.element(nucleophile) {
            _ if it.element(sulfur) == P => class!("phosphorylation"),
            F => class!("sulfonyl fluoride formation"),
            N if step.image(sulfur).is_some_and(|image| {
                step.after.next_to(image).any(|next| is_heavy_halogen(step.after.element(next)))
            }) =>
            {
                class!("sulfamoyl chloride formation")
            }
            N => class!("sulfonamide formation"),
            O if step.image(sulfur).is_some_and(|image| step.after.count(image, N) > 0) => {
                class!("sulfamate ester formation")
            }
            _ if it.next_to(sulfur).any(|next| it.is_trifluoromethyl(next)) => class!("triflation"),
            _ if it.next_to(sulfur).any(|next| it.is_hydroxyl(next)) => class!("sulfation"),
            _ => class!("sulfonate ester formation"),
        },
        Event::Silylation { .. } => class!("silyl protection"),
        Event::Arylation { nucleophile, carbon, leaving } => {
            substitution::arylation(step, nucleophile, carbon, leaving)
        }
        Event::Vinylation { nucleophile, .. } if it.element(nucleophile) == B => class!("Miyaura borylation"),
        Event::Vinylation { .. } => class!("vinylic substitution"),
        Event::Coupling { leaving, .. } if it.ring(leaving) == 3 => class!("epoxide opening"),
        Event::Coupling { metal, .. } | Event::MetalAddition { metal, .. }
            if it.is_trifluoromethyl(metal) =>
        {
            class!("trifluoromethylation")
        }
        Event::Coupling { metal, carbon, leaving } => match it.group(metal) {
            _ if it.is_cyano(metal) && it.element(leaving) == N => class!("Sandmeyer reaction"),
            _ if it.is_cyano(metal) && it.is_sp3(carbon) => class!("cyanide substitution"),
            _ if it.is_cyano(metal) => class!("aryl cyanation"),
            Group::Organometal if it.is_sp3(carbon) => class!("organometallic alkylation"),
            Group::Organoboron if it.element(leaving) == S && it.oxo(leaving) == 0 => {
                class!("Liebeskind-Srogl coupling")
            }
            Group::Organoboron => class!("Suzuki coupling"),
            Group::Organotin => class!("Stille coupling"),
            Group::Organozinc => class!("Negishi coupling"),
            _ if it.next_to(metal).any(|next| it.element(next) == SI) => class!("Hiyama coupling"),
            _ => class!("Kumada coupling"),
        },
        Event::Alkynylation { .. } => class!("Sonogashira coupling"),
        Event::Heck { .. } => class!("Heck reaction"),
        Event::DirectArylation { carbon, .. } if electrophile::activation(it, carbon) >= 30 => {
            class!("Friedel-Crafts arylation")
        }
        Event::DirectArylation { .. } => class!("C-H arylation"),
        Event::MetalAddition { metal, carbon } => match it.group(carbon) {
            _ if is_michael_acceptor(it, carbon) && it.group(metal) == Group::Organometal => {
                class!("organocuprate addition")
            }
            Group::Weinreb => class!("Weinreb ketone synthesis"),
            Group::Nitrile if becomes_carbinamine(step, carbon) => class!("reductive nitrile alkylation"),
            Group::CarbonDioxide => class!("carboxylation"),
            Group::Nitrile
                if step.gained(carbon).any(|(beta, _)| step.is_titanacyclopropane(beta, carbon)) =>
            {
                class!("Kulinkovich-Szymoniak reaction")
            }
            Group::Alkyl => class!("organometallic alkylation"),
            _ => class!("Grignard or organolithium addition"),
        },
        Event::ReductiveAmination { .. } => class!("reductive amination"),
        // Hydride and the water of the work-up.
        Event::ReductiveEtherification { carbon, .. } if it.group(carbon) == Group::Nitrile => {
            class!("nitrile reduction")
        }
        Event::ReductiveEtherification { carbon, .. }
            if it.doubly(carbon, |next| it.element(next) == N && it.at(next).charge == 1).is_some() =>
        {
            class!("O-H insertion")
        }
        Event::ReductiveEtherification { .. } => class!("reductive etherification"),
        Event::Imination { carbon, .. } if matches!(it.group(carbon), Group::Amide | Group::Urea) => {
            class!("amidine or guanidine formation")
        }
        Event::Imination { nitrogen, .. } => match it.group(nitrogen) {
            _ if it.next_to(nitrogen).any(|next| it.element(next) == S && it.oxo(next) == 1) => {
                class!("sulfinimine formation")
            }
            Group::Hydrazine => class!("hydrazone formation"),
            Group::Hydroxylamine => class!("oxime formation"),
            _ if step.image(nitrogen).is_some_and(|image| step.after.is_isothiocyanate(image)) => {
                class!("isothiocyanate formation")
            }
            _ => class!("imine formation"),
        },
        Event::Olefination { ylide, .. } => {
            let phosphonate = it.next_to(ylide).any(|next| it.element(next) == P && it.count(next, O) > 1);
            if phosphonate {
                class!("Horner-Wadsworth-Emmons olefination")
            } else {
                class!("Wittig olefination")
            }
        }
        Event::Aldol { nucleophile, carbon } => aldol(step, nucleophile, carbon),
        Event::ConjugateAddition { partner, .. }
            if [CL, BR, I].into_iter().any(|halogen| step.gains(partner, halogen)) =>
        {
            class!("halohydrin or haloether formation")
        }
        // The copper of a cuprate is an agent, and the lithium or magnesium reagent the precursor.
        Event::ConjugateAddition { nucleophile, carbon, .. }
            if is_michael_acceptor(it, carbon)
                && (it.count(nucleophile, LI) > 0 || it.count(nucleophile, MG) > 0) =>
        {
            class!("organocuprate addition")
        }
        Event::ConjugateAddition { nucleophile, carbon, partner } => {
            alkene_addition(it, nucleophile, carbon, partner)
        }
        Event::AromaticSubstitution { carbon, electrophile: Some(allyl), .. }
            if Claisen::of(step, carbon, allyl).is_some() =>
        {
            class!("Claisen rearrangement")
        }
        Event::AromaticSubstitution { carbon, electrophile, element } => {
            substitution::aromatic(step, carbon, electrophile, element)
        }
        // By the anhydride or chloride of an acid, on the methyl group beside (Boekelheide and Linn, J. Am. Chem. Soc. 1954, 76, 1286).
        Event::Functionalisation { .. } if substitution::reduces_oxide(step) => {
            class!("N-oxide rearrangement")
        }
        Event::Functionalisation { carbon, element } => match element {
            O => class!("C-H oxidation"),
            element if is_halogen(element) && it.is_alpha(carbon) => class!("alpha-halogenation"),
            element if is_halogen(element) => class!("C-H halogenation"),
            _ => class!("C-H functionalisation"),
        },
        Event::Deoxyhalogenation { carbon, oxygen }
            if step.gains(carbon, F) && it.group(oxygen) == Group::SulfonateOxygen =>
        {
            class!("nucleophilic fluorination")
        }
        Event::Deoxyhalogenation { oxygen, .. } if step.before.ring(oxygen) == 3 => class!("epoxide opening"),
        Event::Deoxyhalogenation { carbon, .. } if step.gains(carbon, F) => class!("deoxyfluorination"),
        Event::Deoxyhalogenation { oxygen, .. }
            if it.group(oxygen) == Group::EsterOxygen && it.is_in_ring(oxygen) =>
        {
            class!("lactone opening")
        }
        Event::Deoxyhalogenation { .. } => class!("alcohol to halide"),
        Event::CarbonylReduction { .. } => class!("carbonyl reduction"),
        Event::AcylReduction { carbon, .. } if it.group(carbon) == Group::AcylHalide => {
            class!("acyl halide reduction")
        }
        Event::AcylReduction { carbon } if it.group(carbon) == Group::Weinreb => {
            class!("Weinreb amide reduction")
        }
        Event::AcylReduction { .. } => class!("ester or acid reduction"),
        Event::AmideReduction { .. } => class!("amide reduction"),
        Event::NitrileReduction { .. } => class!("nitrile reduction"),
        Event::NitroReduction { .. } => class!("nitro reduction"),
        Event::AzideReduction { .. } => class!("azide reduction"),
        Event::Hydrogenation { .. } if reduces_pyridinium(step) => class!("pyridinium reduction"),
        Event::Hydrogenation { carbon, partner }
            if it.group(carbon) == Group::Alkene && is_reduced_by_hydride(step, carbon, partner) =>
        {
            class!("nitroalkene reduction")
        }
        Event::Hydrogenation { carbon, .. } if is_heteroarene(it, carbon) => {
            class!("heteroarene hydrogenation")
        }
        Event::Hydrogenation { .. } => class!("hydrogenation"),
        Event::Dehalogenation { .. } => class!("dehalogenation"),
        Event::AlcoholOxidation { .. } => class!("alcohol oxidation"),
        Event::AcidOxidation { .. } => class!("oxidation to carboxylic acid"),
        Event::SulfurOxidation { sulfur } if step.gains(sulfur, N) => {
            class!("sulfoximine or sulfilimine formation")
        }
        Event::SulfurOxidation { sulfur } if step.gains(sulfur, CL) => class!("sulfonyl chloride formation"),
        Event::SulfurOxidation { .. } => class!("sulfur oxidation"),
        Event::NitrogenOxidation { .. } => class!("N-oxidation"),
        Event::Epoxidation { .. } => class!("epoxidation"),
        Event::Cleavage { atom, root } => cleaved(step, atom, root),
        Event::Hydrolysis { carbon, leaving } => match it.group(carbon) {
            Group::Nitrile => class!("nitrile hydrolysis"),
            _ if it.element(leaving) == C => class!("oxidation to carboxylic acid"),
            _ if it.element(leaving) == N => class!("amide hydrolysis"),
            _ => class!("ester hydrolysis"),
        },
        Event::AcidActivation { carbon, .. } if step.gains(carbon, F) => class!("acyl fluoride formation"),
        Event::AcidActivation { .. } => class!("acid chloride formation"),
        Event::LactamHalogenation { .. } => class!("hydroxyazine to halide"),
        Event::Acetalisation { carbon } if is_acetal(step, carbon) => class!("acetal formation"),
        Event::Acetalisation { carbon }
            if step.carbon_bonds().any(|(a, b, _, _)| a == carbon || b == carbon) =>
        {
            class!("vinylic substitution")
        }
        Event::Acetalisation { .. } => ReactionClass::default(),
        Event::Diazotisation { carbon, .. } => match step.new_bonds(carbon).next().map(|bond| bond.element) {
            Some(F) => class!("Balz-Schiemann reaction"),
            Some(O) => class!("diazonium hydrolysis"),
            _ => class!("Sandmeyer reaction"),
        },
        Event::Degradation { .. } => class!("Curtius or Hofmann rearrangement"),
        Event::Metathesis { partner, .. } if it.element(partner) == C => class!("olefin metathesis"),
        Event::Metathesis { .. } => class!("imine formation"),
    }
}

/// Returns true for an aromatic carbon with a heteroatom in its ring.
fn is_heteroarene(it: &Facts, carbon: u32) -> bool {
    it.is_aromatic(carbon)
        && aromatic_positions(&it.structure, carbon).iter().any(|&(atom, _)| it.element(atom) != C)
}

/// Returns true for the carbon of an imine whose nitrogen takes an acyl group that closes a ring of four.
fn closes_lactam_of_four(step: &Step<'_>, imine: u32) -> bool {
    let it = &step.before;
    it.next_to(imine).filter(|&nitrogen| it.element(nitrogen) == N).any(|nitrogen| {
        step.image(nitrogen).is_some_and(|image| step.after.ring(image) == 4)
            && step.gained(nitrogen).any(|(acyl, _)| it.is_carbonyl(acyl))
    })
}

fn aldol(step: &Step<'_>, nucleophile: u32, carbon: u32) -> ReactionClass {
    let it = &step.before;
    let condensed = step.gained(nucleophile).any(|(other, order)| other == carbon && order == Order::Double);
    let lactam = it.next_to(nucleophile).any(|next| {
        matches!(it.group(next), Group::Amide | Group::Imide | Group::Carbamate | Group::Thioester)
    });
    match () {
        () if it.group(carbon) == Group::ImineCarbon && closes_lactam_of_four(step, carbon) => {
            class!("Staudinger beta-lactam synthesis")
        }
        () if it.group(carbon) == Group::ImineCarbon => class!("Mannich reaction"),
        () if it.next_to(nucleophile).any(|next| it.is_nitro(next)) => class!("Henry reaction"),
        () if condensed && it.hydrogens(carbon) > 1 && !is_doubly_activated(it, nucleophile) => {
            class!("alpha-methylenation")
        }
        () if condensed && (lactam || is_doubly_activated(it, nucleophile)) => {
            class!("Knoevenagel condensation")
        }
        () => class!("aldol reaction"),
    }
}

fn alkene_addition(it: &Facts, nucleophile: u32, carbon: u32, partner: u32) -> ReactionClass {
    let activated = it.is_acceptor(partner)
        || it.is_alpha(partner)
        || it.next_to(partner).any(|next| it.is_aromatic(next));
    let enol_ether = it.next_to(carbon).any(|next| it.element(next) == O);
    match it.element(nucleophile) {
        C if it.count(nucleophile, B) > 0 => class!("Hayashi-Miyaura addition"),
        C if activated && [LI, MG, ZN].into_iter().any(|metal| it.count(nucleophile, metal) > 0) => {
            class!("organocuprate addition")
        }
        C => class!("Michael addition"),
        element if is_halogen(element) => class!("hydrohalogenation"),
        _ if it.group(nucleophile) == Group::Water && it.triply(carbon).is_some() => {
            class!("alkyne hydration")
        }
        _ if it.group(nucleophile) == Group::Water => class!("alkene hydration"),
        O | N if enol_ether => class!("acetal formation"),
        O if it.group(nucleophile) == Group::AcidOxygen => class!("esterification"),
        _ if !activated => class!("alkene hydrofunctionalisation"),
        _ => class!("conjugate addition"),
    }
}

/// Returns true if a pyridinium ring is reduced: borohydride stops at the tetrahydropyridine.
fn reduces_pyridinium(step: &Step<'_>) -> bool {
    let it = &step.before;
    let is_reduced = |atom: u32| {
        it.element(atom) == N
            && it.is_aromatic(atom)
            && it.at(atom).charge > 0
            && step.image(atom).is_some_and(|image| !step.after.is_aromatic(image))
    };
    step.atoms().any(is_reduced)
}

/// Class of the release of the group between `atom` and `root`.
fn cleaved(step: &Step<'_>, atom: u32, root: u32) -> ReactionClass {
    if step.opens_lactol(atom, root) {
        return class!("carbonyl reduction");
    }
    let it = &step.before;
    let is_silylethyl = |oxygen: u32| {
        it.element(oxygen) == O
            && it
                .next_to(oxygen)
                .filter(|&next| next != root)
                .any(|methylene| it.next_to(methylene).any(|next| it.is_sp3(next) && it.count(next, SI) > 0))
    };
    let beside = |element: u8| it.next_to(atom).any(|next| it.element(next) == element);
    match protecting_group::class(it, atom, root) {
        _ if it.ring(atom) == 3 => class!("epoxide reduction"),
        _ if it.element(root) == S && it.oxo(root) == 1 => class!("sulfinyl removal"),
        _ if it.element(atom) == O && beside(B) => class!("boronic ester hydrolysis"),
        _ if it.element(atom) == O
            && it.next_to(atom).any(|next| it.element(next) == P && it.count(next, C) > 0) =>
        {
            class!("phosphonate dealkylation")
        }
        _ if it.element(atom) == O && beside(P) => class!("phosphate dealkylation"),
        _ if it.is_sp3(root) && it.next_to(root).any(is_silylethyl) => class!("SEM removal"),
        class
            if it.element(atom) == N
                && it.is_sp3(root)
                && matches!(class.name, "ether cleavage" | "deprotection") =>
        {
            class!("N-dealkylation")
        }
        class => class,
    }
}

/// Returns true for a nitrile that becomes the carbon of a primary amine with hydrogen: a hydride takes the imine of the metal's addition.
fn becomes_carbinamine(step: &Step<'_>, nitrile: u32) -> bool {
    step.image(nitrile).is_some_and(|image| {
        let after = step.after;
        after.is_sp3(image)
            && after.hydrogens(image) == 1
            && after.next_to(image).any(|next| after.element(next) == N && after.hydrogens(next) == 2)
    })
}

#[cfg(test)]
mod tests {
    use super::aromatic_ring;
    use crate::CLASS_NAMES;
    use crate::protecting_group::removals;

    #[test]
    fn every_class_is_given_to_some_step() {
        let source = concat!(
            include_str!("classify.rs"),
            include_str!("classify/carbon.rs"),
            include_str!("classify/conversion.rs"),
            include_str!("classify/heterocycle.rs"),
            include_str!("classify/substitution.rs"),
            include_str!("reaction_class.rs"),
        );
        let of_tables = removals().chain(aromatic_ring::CLASSES.values().copied());
        let of_tables: Vec<_> = of_tables.map(|class| class.name).collect();

        for name in CLASS_NAMES {
            let is_given = source.contains(&format!("class!(\"{name}\")")) || of_tables.contains(name);
            assert!(is_given, "{name}");
        }
    }
}
