//! The class of a step.
//!
//! A step of several events has the name of the event that builds most of its product.

use crate::alkylation::is_doubly_activated;
use crate::change::Step;
use crate::cleavage;
use crate::competition::product_ring_size;
use crate::electrophile;
use crate::event::{Event, events};
use crate::group::Group;
use crate::queries::*;
use crate::reaction_class::{Category, ReactionClass, class};

/// Returns the class of a step, which takes microseconds.
#[must_use]
pub fn classify(step: &Step<'_>) -> ReactionClass {
    let events = events(step);
    let acetal = events.iter().any(|event| matches!(event, Event::Acetalisation { .. }));
    if builds_heterocycle(step) && !acetal {
        return heterocycle(step);
    }
    if events.is_empty() && couples_boron(step) {
        return class!("Chan-Lam coupling");
    }
    // An event that bonds two molecules names the step, before cleavages and other changes.
    let classes = events.iter().map(|event| of(step, event));
    let first = classes.min_by_key(|class| match class.category {
        Category::CarbonCarbon => 0,
        Category::Acylation | Category::HeteroatomAlkylation => 1,
        Category::Protection => 2,
        Category::Addition => 3,
        Category::Reduction | Category::Oxidation => 4,
        Category::Interconversion => 5,
        Category::Deprotection => 6,
        Category::Heterocycle | Category::Other => 7,
    });
    first.unwrap_or_default()
}

/// Returns true if a heteroatom replaces boron on a carbon.
fn couples_boron(step: &Step<'_>) -> bool {
    let it = &step.before;
    let boron = |carbon: u32| step.lost(carbon).any(|(gone, _)| it.element(gone) == B);
    step.change.made.iter().any(|&(a, b, _)| {
        [(a, b), (b, a)]
            .iter()
            .any(|&(carbon, other)| matches!(it.element(other), N | O | S) && boron(carbon))
    })
}

/// Returns true if the step makes a bond to a heteroatom in a ring of five or six.
fn builds_heterocycle(step: &Step<'_>) -> bool {
    step.change.made.iter().any(|&(a, b, _)| {
        let hetero = |atom: u32| !matches!(step.before.element(atom), C | B);
        (hetero(a) || hetero(b)) && matches!(product_ring_size(step, a, b), Some(5 | 6))
    })
}

/// Class of the heterocycle that forms, by the ring of a new bond.
fn heterocycle(step: &Step<'_>) -> ReactionClass {
    let ring = step.change.made.iter().find_map(|&(a, b, _)| {
        let (a, b) = (step.image(a)?, step.image(b)?);
        smallest_ring(step, a, b)
    });
    let Some(ring) = ring else { return class!("heterocycle formation") };
    let after = &step.after;
    let aromatic = ring.iter().all(|&atom| after.is_aromatic(atom));
    let count = |element: u8| ring.iter().filter(|&&atom| after.element(atom) == element).count();
    let adjacent = ring.iter().enumerate().any(|(at, &atom)| {
        let next = ring[(at + 1) % ring.len()];
        after.element(atom) == N && after.element(next) == N
    });
    match (ring.len(), aromatic, count(N), count(O), count(S)) {
        (5, true, 1, 0, 0) => class!("pyrrole or indole synthesis"),
        (5, true, 2, 0, 0) if adjacent => class!("pyrazole synthesis"),
        (5, true, 2, 0, 0) => class!("imidazole synthesis"),
        (5, true, 3, 0, 0) => class!("triazole synthesis"),
        (5, true, 4, 0, 0) => class!("tetrazole synthesis"),
        (5, true, 0, 1, 0) => class!("furan synthesis"),
        (5, true, 0, 0, 1) => class!("thiophene synthesis"),
        (5, true, 1, 1, 0) => class!("oxazole or isoxazole synthesis"),
        (5, true, 1, 0, 1) => class!("thiazole synthesis"),
        (5, true, 2, 1, 0) => class!("oxadiazole synthesis"),
        (5, true, 2, 0, 1) => class!("thiadiazole synthesis"),
        (6, true, 1, 0, 0) => class!("pyridine or quinoline synthesis"),
        (6, true, 2, 0, 0) if adjacent => class!("pyridazine synthesis"),
        (6, true, 2, 0, 0) => class!("pyrimidine or pyrazine synthesis"),
        (6, true, 3, 0, 0) => class!("triazine synthesis"),
        (6, true, 0, 1, 0) => class!("pyranone or chromone synthesis"),
        (_, false, _, _, _) => class!("heterocyclisation"),
        _ => class!("heterocycle formation"),
    }
}

/// Atoms of a smallest ring through a bond of the product, of at most six, in order.
fn smallest_ring(step: &Step<'_>, a: u32, b: u32) -> Option<Vec<u32>> {
    let after = &step.after;
    let mut paths = vec![vec![a]];
    for _ in 0..5 {
        let mut longer = Vec::new();
        for path in &paths {
            let &last = path.last().expect("classify: a path has an atom");
            for next in after.next_to(last) {
                if next == b && path.len() > 1 {
                    return Some([&path[..], &[b]].concat());
                }
                if !path.contains(&next) && next != b && after.is_in_ring(next) {
                    longer.push([&path[..], &[next]].concat());
                }
            }
        }
        paths = longer;
    }
    None
}

fn of(step: &Step<'_>, event: &Event) -> ReactionClass {
    let it = &step.before;
    match *event {
        Event::Alkylation { nucleophile, carbon, leaving } => alkylation(step, nucleophile, carbon, leaving),
        Event::Acylation { nucleophile, carbon } => acylation(step, nucleophile, carbon),
        Event::Sulfonylation { nucleophile, .. } => match it.element(nucleophile) {
            N => class!("sulfonamide formation"),
            _ => class!("sulfonate ester formation"),
        },
        Event::Silylation { .. } => class!("silyl protection"),
        Event::Arylation { nucleophile, carbon, leaving } => arylation(step, nucleophile, carbon, leaving),
        Event::Vinylation { .. } => class!("vinylic substitution"),
        Event::Coupling { metal, .. } => match it.group(metal) {
            _ if it.is_cyano(metal) => class!("aryl cyanation"),
            Group::Organoboron => class!("Suzuki coupling"),
            Group::Organotin => class!("Stille coupling"),
            Group::Organozinc => class!("Negishi coupling"),
            _ if it.next_to(metal).any(|next| it.element(next) == SI) => class!("Hiyama coupling"),
            _ => class!("Kumada coupling"),
        },
        Event::Alkynylation { .. } => class!("Sonogashira coupling"),
        Event::Heck { .. } => class!("Heck reaction"),
        Event::DirectArylation { .. } => class!("C-H arylation"),
        Event::MetalAddition { carbon, .. } => match it.group(carbon) {
            Group::Weinreb => class!("Weinreb ketone synthesis"),
            Group::CarbonDioxide => class!("carboxylation"),
            Group::Alkyl => class!("organometallic alkylation"),
            _ => class!("Grignard or organolithium addition"),
        },
        Event::ReductiveAmination { .. } => class!("reductive amination"),
        Event::ReductiveEtherification { .. } => class!("reductive etherification"),
        Event::Imination { nitrogen, .. } => match it.group(nitrogen) {
            Group::Hydrazine => class!("hydrazone formation"),
            Group::Hydroxylamine => class!("oxime formation"),
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
        Event::Aldol { nucleophile, .. } => {
            let doubly = is_doubly_activated(it, nucleophile);
            if doubly { class!("Knoevenagel condensation") } else { class!("aldol reaction") }
        }
        Event::ConjugateAddition { nucleophile, .. } => match it.element(nucleophile) {
            C => class!("Michael addition"),
            _ => class!("conjugate addition"),
        },
        Event::AromaticSubstitution { electrophile, element, .. } => aromatic(step, electrophile, element),
        Event::Functionalisation { element, .. } => match element {
            O => class!("C-H oxidation"),
            element if is_halogen(element) => class!("C-H halogenation"),
            _ => class!("C-H functionalisation"),
        },
        Event::Deoxyhalogenation { .. } => class!("alcohol to halide"),
        Event::CarbonylReduction { .. } => class!("carbonyl reduction"),
        Event::AcylReduction { .. } => class!("ester or acid reduction"),
        Event::AmideReduction { .. } => class!("amide reduction"),
        Event::NitrileReduction { .. } => class!("nitrile reduction"),
        Event::NitroReduction { .. } => class!("nitro reduction"),
        Event::AzideReduction { .. } => class!("azide reduction"),
        Event::Hydrogenation { .. } => class!("hydrogenation"),
        Event::Dehalogenation { .. } => class!("dehalogenation"),
        Event::AlcoholOxidation { .. } => class!("alcohol oxidation"),
        Event::AcidOxidation { .. } => class!("oxidation to carboxylic acid"),
        Event::SulfurOxidation { .. } => class!("sulfur oxidation"),
        Event::NitrogenOxidation { .. } => class!("N-oxidation"),
        Event::Epoxidation { .. } => class!("epoxidation"),
        Event::Cleavage { atom, root } => cleavage::class(it, atom, root),
        Event::Hydrolysis { carbon, leaving } => match it.group(carbon) {
            Group::Nitrile => class!("nitrile hydrolysis"),
            _ if it.element(leaving) == N => class!("amide hydrolysis"),
            _ => class!("ester hydrolysis"),
        },
        Event::AcidActivation { .. } => class!("acid chloride formation"),
        Event::LactamHalogenation { .. } => class!("hydroxyazine to halide"),
        Event::Acetalisation { .. } => class!("acetal formation"),
        Event::Diazotisation { .. } => class!("Sandmeyer reaction"),
        Event::Degradation { .. } => class!("Curtius or Hofmann rearrangement"),
        Event::Metathesis { .. } => class!("olefin metathesis"),
    }
}

fn alkylation(step: &Step<'_>, nucleophile: u32, carbon: u32, leaving: u32) -> ReactionClass {
    let it = &step.before;
    if it.element(leaving) == O && it.hydrogens(leaving) > 0 && it.element(nucleophile) != C {
        return match it.group(nucleophile) {
            // The atom map says which oxygen stays, although that is unknown.
            Group::AcidOxygen => class!("esterification"),
            _ => class!("Mitsunobu reaction"),
        };
    }
    if it.element(leaving) == O && it.ring(leaving) == 3 {
        return class!("epoxide opening");
    }
    let benzyl = it.next_to(carbon).any(|next| it.is_aromatic(next)) && it.carbons(carbon) == 1;
    match (it.element(nucleophile), it.group(nucleophile)) {
        (_, Group::Azide) => class!("azide substitution"),
        _ if it.is_cyano(nucleophile) => class!("cyanide substitution"),
        (C, _) => class!("C-alkylation"),
        (N, Group::AmideNitrogen | Group::CarbamateNitrogen | Group::ImideNitrogen) => {
            class!("amide N-alkylation")
        }
        (N, Group::SulfonamideNitrogen) => class!("sulfonamide N-alkylation"),
        (N, Group::Azole | Group::Indole) => class!("heteroaryl N-alkylation"),
        (N, _) => class!("N-alkylation"),
        (O, Group::AcidOxygen) => class!("esterification by alkylation"),
        (O, _) if benzyl => class!("O-benzylation"),
        (O, _) => class!("Williamson ether synthesis"),
        (S, _) => class!("S-alkylation"),
        (element, _) if is_halogen(element) => class!("halide exchange"),
        _ => class!("alkylation"),
    }
}

fn acylation(step: &Step<'_>, nucleophile: u32, carbon: u32) -> ReactionClass {
    let it = &step.before;
    let tert_butyl = it.next_to(carbon).any(|oxygen| {
        it.element(oxygen) == O && it.next_to(oxygen).any(|next| it.is_sp3(next) && it.carbons(next) == 3)
    });
    let benzyl = it.next_to(carbon).any(|oxygen| {
        it.element(oxygen) == O
            && it.next_to(oxygen).any(|next| {
                it.is_sp3(next) && it.next_to(next).any(|far| it.is_aromatic(far) && it.element(far) == C)
            })
    });
    let carbonate = it.next_to(carbon).filter(|&next| it.element(next) == O).count() > 2;
    match (it.element(nucleophile), it.group(carbon)) {
        (N | O, Group::Anhydride | Group::Carbonate | Group::ActiveEster | Group::OtherCarbonyl)
            if tert_butyl && carbonate =>
        {
            class!("Boc protection")
        }
        (N, Group::Chloroformate) if benzyl => class!("Cbz protection"),
        (N, Group::Chloroformate | Group::Carbonate) => class!("carbamate formation"),
        (N, Group::Isocyanate) => class!("urea formation"),
        (O, Group::Isocyanate) => class!("carbamate formation"),
        (N, Group::Acid) => class!("amide coupling"),
        (N, Group::AcylHalide) => class!("amide formation from acid halide"),
        (N, Group::Anhydride) => class!("amide formation from anhydride"),
        (N, Group::Ester | Group::ActiveEster | Group::Thioester) => class!("ester aminolysis"),
        (N, Group::Urea | Group::Carbamate) => class!("urea formation"),
        (N, _) => class!("N-acylation"),
        (O, Group::Acid) => class!("esterification"),
        (O, Group::Ester) => class!("transesterification"),
        (O, _) => class!("O-acylation"),
        (S, _) => class!("S-acylation"),
        (C, Group::Ester) => class!("Claisen condensation"),
        (C, _) => class!("C-acylation"),
        _ => class!("acylation"),
    }
}

fn arylation(step: &Step<'_>, nucleophile: u32, carbon: u32, leaving: u32) -> ReactionClass {
    let it = &step.before;
    let metal_on_carbon = matches!(it.element(leaving), B | SN | SI);
    let snar = electrophile::aryl(it, carbon) > 0 || it.element(leaving) == F;
    match it.element(nucleophile) {
        _ if it.is_cyano(nucleophile) => class!("aryl cyanation"),
        B => class!("Miyaura borylation"),
        _ if metal_on_carbon => class!("Chan-Lam coupling"),
        N if snar => class!("SNAr amination"),
        O if snar => class!("SNAr ether synthesis"),
        S if snar => class!("SNAr thioether synthesis"),
        N => class!("Buchwald-Hartwig amination"),
        O => class!("Ullmann ether synthesis"),
        S => class!("aryl thioether coupling"),
        element if is_halogen(element) => class!("aryl halide exchange"),
        _ => class!("arylation"),
    }
}

fn aromatic(step: &Step<'_>, electrophile: Option<u32>, element: u8) -> ReactionClass {
    let it = &step.before;
    match element {
        N => class!("nitration"),
        F => class!("aromatic fluorination"),
        CL => class!("aromatic chlorination"),
        BR => class!("aromatic bromination"),
        I => class!("aromatic iodination"),
        S => class!("aromatic sulfonation"),
        B => class!("C-H borylation"),
        C => match electrophile.map(|atom| it.group(atom)) {
            Some(Group::AcylHalide | Group::Anhydride | Group::Acid) => class!("Friedel-Crafts acylation"),
            Some(Group::Amide) => class!("Vilsmeier formylation"),
            _ => class!("Friedel-Crafts alkylation"),
        },
        _ => class!("aromatic substitution"),
    }
}

#[cfg(test)]
mod tests {
    use crate::CLASS_NAMES;
    use crate::cleavage::removals;

    #[test]
    fn every_class_is_given_to_some_step() {
        let source = concat!(include_str!("classify.rs"), include_str!("reaction_class.rs"));
        let removals: Vec<_> = removals().map(|class| class.name).collect();

        for name in CLASS_NAMES {
            let is_given = source.contains(&format!("class!(\"{name}\")")) || removals.contains(name);
            assert!(is_given, "{name}");
        }
    }
}
