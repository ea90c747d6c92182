//! Reaction classes, by the names that chemists use.
//!
//! The categories are the ten of the RSC's name reaction ontology and of NameRxn, which Schneider and others (J. Med.
//! Chem. 2016, 59, 4385) use to count the reactions of medicinal chemists. The names are those of textbooks. A step
//! of several events has the name of the event that builds most of its product.

use std::fmt;

use crate::alkylation::is_doubly_activated;
use crate::change::Step;
use crate::cleavage;
use crate::competition::ring_after;
use crate::electrophile;
use crate::event::{Event, events};
use crate::group::Group;
use crate::queries::*;

/// Category of a reaction. The number is the category's in NameRxn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Category {
    /// Heteroatom alkylation and arylation.
    HeteroatomAlkylation = 1,
    /// Acylation and related processes.
    Acylation = 2,
    /// C–C bond formation.
    CarbonCarbon = 3,
    /// Heterocycle formation.
    Heterocycle = 4,
    /// Protection.
    Protection = 5,
    /// Deprotection.
    Deprotection = 6,
    /// Reduction.
    Reduction = 7,
    /// Oxidation.
    Oxidation = 8,
    /// Functional group interconversion.
    Interconversion = 9,
    /// Functional group addition.
    Addition = 10,
    /// Reaction without a name here.
    Other = 0,
}

/// Name and category of a reaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReactionClass {
    /// Category of the reaction.
    pub category: Category,
    /// Name of the reaction, in lower case except for names of people.
    pub name: &'static str,
}

impl Default for ReactionClass {
    fn default() -> Self {
        class(Category::Other, "other reaction")
    }
}

impl fmt::Display for Category {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::HeteroatomAlkylation => "heteroatom alkylation and arylation",
            Self::Acylation => "acylation and related processes",
            Self::CarbonCarbon => "C-C bond formation",
            Self::Heterocycle => "heterocycle formation",
            Self::Protection => "protection",
            Self::Deprotection => "deprotection",
            Self::Reduction => "reduction",
            Self::Oxidation => "oxidation",
            Self::Interconversion => "functional group interconversion",
            Self::Addition => "functional group addition",
            Self::Other => "other",
        })
    }
}

/// Returns the class of a step, which takes microseconds.
#[must_use]
pub fn classify(step: &Step<'_>) -> ReactionClass {
    let events = events(step);
    let acetal = events.iter().any(|event| matches!(event, Event::Acetalisation { .. }));
    if builds_heterocycle(step) && !acetal {
        return class(Category::Heterocycle, heterocycle(step));
    }
    if events.is_empty() && couples_boron(step) {
        return class(Category::HeteroatomAlkylation, "Chan-Lam coupling");
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

const fn class(category: Category, name: &'static str) -> ReactionClass {
    ReactionClass { category, name }
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
        (hetero(a) || hetero(b)) && matches!(ring_after(step, a, b), Some(5 | 6))
    })
}

/// Name of the heterocycle that forms, by the ring of a new bond.
fn heterocycle(step: &Step<'_>) -> &'static str {
    let ring = step.change.made.iter().find_map(|&(a, b, _)| {
        let (a, b) = (step.image(a)?, step.image(b)?);
        smallest_ring(step, a, b)
    });
    let Some(ring) = ring else { return "heterocycle formation" };
    let after = &step.after;
    let aromatic = ring.iter().all(|&atom| after.is_aromatic(atom));
    let count = |element: u8| ring.iter().filter(|&&atom| after.element(atom) == element).count();
    let adjacent = ring.iter().enumerate().any(|(at, &atom)| {
        let next = ring[(at + 1) % ring.len()];
        after.element(atom) == N && after.element(next) == N
    });
    match (ring.len(), aromatic, count(N), count(O), count(S)) {
        (5, true, 1, 0, 0) => "pyrrole or indole synthesis",
        (5, true, 2, 0, 0) if adjacent => "pyrazole synthesis",
        (5, true, 2, 0, 0) => "imidazole synthesis",
        (5, true, 3, 0, 0) => "triazole synthesis",
        (5, true, 4, 0, 0) => "tetrazole synthesis",
        (5, true, 0, 1, 0) => "furan synthesis",
        (5, true, 0, 0, 1) => "thiophene synthesis",
        (5, true, 1, 1, 0) => "oxazole or isoxazole synthesis",
        (5, true, 1, 0, 1) => "thiazole synthesis",
        (5, true, 2, 1, 0) => "oxadiazole synthesis",
        (5, true, 2, 0, 1) => "thiadiazole synthesis",
        (6, true, 1, 0, 0) => "pyridine or quinoline synthesis",
        (6, true, 2, 0, 0) if adjacent => "pyridazine synthesis",
        (6, true, 2, 0, 0) => "pyrimidine or pyrazine synthesis",
        (6, true, 3, 0, 0) => "triazine synthesis",
        (6, true, 0, 1, 0) => "pyranone or chromone synthesis",
        (_, false, _, _, _) => "heterocyclisation",
        _ => "heterocycle formation",
    }
}

/// Atoms of a smallest ring through a bond of the product, of at most six, in order.
fn smallest_ring(step: &Step<'_>, a: u32, b: u32) -> Option<Vec<u32>> {
    let after = &step.after;
    let mut paths = vec![vec![a]];
    for _ in 0..5 {
        let mut longer = Vec::new();
        for path in &paths {
            let &last = path.last().expect("class: a path has an atom");
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
    use Category as Is;
    let it = &step.before;
    match *event {
        Event::Alkylation { nucleophile, carbon, leaving } => alkylation(step, nucleophile, carbon, leaving),
        Event::Acylation { nucleophile, carbon } => acylation(step, nucleophile, carbon),
        Event::Sulfonylation { nucleophile, .. } => match it.element(nucleophile) {
            N => class(Is::Acylation, "sulfonamide formation"),
            _ => class(Is::Acylation, "sulfonate ester formation"),
        },
        Event::Silylation { .. } => class(Is::Protection, "silyl protection"),
        Event::Arylation { nucleophile, carbon, leaving } => arylation(step, nucleophile, carbon, leaving),
        Event::Vinylation { .. } => class(Is::HeteroatomAlkylation, "vinylic substitution"),
        Event::Coupling { metal, .. } => class(
            Is::CarbonCarbon,
            match it.group(metal) {
                _ if it.is_cyano(metal) => "aryl cyanation",
                Group::Organoboron => "Suzuki coupling",
                Group::Organotin => "Stille coupling",
                Group::Organozinc => "Negishi coupling",
                _ if it.next_to(metal).any(|next| it.element(next) == SI) => "Hiyama coupling",
                _ => "Kumada coupling",
            },
        ),
        Event::Alkynylation { .. } => class(Is::CarbonCarbon, "Sonogashira coupling"),
        Event::Heck { .. } => class(Is::CarbonCarbon, "Heck reaction"),
        Event::DirectArylation { .. } => class(Is::CarbonCarbon, "C-H arylation"),
        Event::MetalAddition { carbon, .. } => class(
            Is::CarbonCarbon,
            match it.group(carbon) {
                Group::Weinreb => "Weinreb ketone synthesis",
                Group::CarbonDioxide => "carboxylation",
                Group::Alkyl => "organometallic alkylation",
                _ => "Grignard or organolithium addition",
            },
        ),
        Event::ReductiveAmination { .. } => class(Is::HeteroatomAlkylation, "reductive amination"),
        Event::ReductiveEtherification { .. } => class(Is::HeteroatomAlkylation, "reductive etherification"),
        Event::Imination { nitrogen, .. } => class(
            Is::Interconversion,
            match it.group(nitrogen) {
                Group::Hydrazine => "hydrazone formation",
                Group::Hydroxylamine => "oxime formation",
                _ => "imine formation",
            },
        ),
        Event::Olefination { ylide, .. } => {
            let phosphonate = it.next_to(ylide).any(|next| it.element(next) == P && it.count(next, O) > 1);
            class(
                Is::CarbonCarbon,
                if phosphonate { "Horner-Wadsworth-Emmons olefination" } else { "Wittig olefination" },
            )
        }
        Event::Aldol { nucleophile, .. } => {
            let doubly = is_doubly_activated(it, nucleophile);
            class(Is::CarbonCarbon, if doubly { "Knoevenagel condensation" } else { "aldol reaction" })
        }
        Event::ConjugateAddition { nucleophile, .. } => match it.element(nucleophile) {
            C => class(Is::CarbonCarbon, "Michael addition"),
            _ => class(Is::HeteroatomAlkylation, "conjugate addition"),
        },
        Event::AromaticSubstitution { electrophile, element, .. } => aromatic(step, electrophile, element),
        Event::Functionalisation { element, .. } => match element {
            O => class(Is::Oxidation, "C-H oxidation"),
            element if is_halogen(element) => class(Is::Addition, "C-H halogenation"),
            _ => class(Is::Addition, "C-H functionalisation"),
        },
        Event::Deoxyhalogenation { .. } => class(Is::Interconversion, "alcohol to halide"),
        Event::CarbonylReduction { .. } => class(Is::Reduction, "carbonyl reduction"),
        Event::AcylReduction { .. } => class(Is::Reduction, "ester or acid reduction"),
        Event::AmideReduction { .. } => class(Is::Reduction, "amide reduction"),
        Event::NitrileReduction { .. } => class(Is::Reduction, "nitrile reduction"),
        Event::NitroReduction { .. } => class(Is::Reduction, "nitro reduction"),
        Event::AzideReduction { .. } => class(Is::Reduction, "azide reduction"),
        Event::Hydrogenation { .. } => class(Is::Reduction, "hydrogenation"),
        Event::Dehalogenation { .. } => class(Is::Reduction, "dehalogenation"),
        Event::AlcoholOxidation { .. } => class(Is::Oxidation, "alcohol oxidation"),
        Event::AcidOxidation { .. } => class(Is::Oxidation, "oxidation to carboxylic acid"),
        Event::SulfurOxidation { .. } => class(Is::Oxidation, "sulfur oxidation"),
        Event::NitrogenOxidation { .. } => class(Is::Oxidation, "N-oxidation"),
        Event::Epoxidation { .. } => class(Is::Oxidation, "epoxidation"),
        Event::Cleavage { atom, root } => class(Is::Deprotection, cleavage::name(it, atom, root)),
        Event::Hydrolysis { carbon, leaving } => match it.group(carbon) {
            Group::Nitrile => class(Is::Interconversion, "nitrile hydrolysis"),
            _ if it.element(leaving) == N => class(Is::Deprotection, "amide hydrolysis"),
            _ => class(Is::Deprotection, "ester hydrolysis"),
        },
        Event::AcidActivation { .. } => class(Is::Interconversion, "acid chloride formation"),
        Event::LactamHalogenation { .. } => class(Is::Interconversion, "hydroxyazine to halide"),
        Event::Acetalisation { .. } => class(Is::Protection, "acetal formation"),
        Event::Diazotisation { .. } => class(Is::Interconversion, "Sandmeyer reaction"),
        Event::Degradation { .. } => class(Is::Interconversion, "Curtius or Hofmann rearrangement"),
        Event::Metathesis { .. } => class(Is::CarbonCarbon, "olefin metathesis"),
    }
}

fn alkylation(step: &Step<'_>, nucleophile: u32, carbon: u32, leaving: u32) -> ReactionClass {
    use Category as Is;
    let it = &step.before;
    if it.element(leaving) == O && it.hydrogens(leaving) > 0 && it.element(nucleophile) != C {
        return match it.group(nucleophile) {
            // The atom map says which oxygen stays, although that is unknown.
            Group::AcidOxygen => class(Is::Acylation, "esterification"),
            _ => class(Is::HeteroatomAlkylation, "Mitsunobu reaction"),
        };
    }
    if it.element(leaving) == O && it.ring(leaving) == 3 {
        return class(Is::HeteroatomAlkylation, "epoxide opening");
    }
    let benzyl = it.next_to(carbon).any(|next| it.is_aromatic(next)) && it.carbons(carbon) == 1;
    match (it.element(nucleophile), it.group(nucleophile)) {
        (_, Group::Azide) => class(Is::Interconversion, "azide substitution"),
        _ if it.is_cyano(nucleophile) => class(Is::CarbonCarbon, "cyanide substitution"),
        (C, _) => class(Is::CarbonCarbon, "C-alkylation"),
        (N, Group::AmideNitrogen | Group::CarbamateNitrogen | Group::ImideNitrogen) => {
            class(Is::HeteroatomAlkylation, "amide N-alkylation")
        }
        (N, Group::SulfonamideNitrogen) => class(Is::HeteroatomAlkylation, "sulfonamide N-alkylation"),
        (N, Group::Azole | Group::Indole) => class(Is::HeteroatomAlkylation, "heteroaryl N-alkylation"),
        (N, _) => class(Is::HeteroatomAlkylation, "N-alkylation"),
        (O, Group::AcidOxygen) => class(Is::Acylation, "esterification by alkylation"),
        (O, _) if benzyl => class(Is::HeteroatomAlkylation, "O-benzylation"),
        (O, _) => class(Is::HeteroatomAlkylation, "Williamson ether synthesis"),
        (S, _) => class(Is::HeteroatomAlkylation, "S-alkylation"),
        (element, _) if is_halogen(element) => class(Is::Interconversion, "halide exchange"),
        _ => class(Is::HeteroatomAlkylation, "alkylation"),
    }
}

fn acylation(step: &Step<'_>, nucleophile: u32, carbon: u32) -> ReactionClass {
    use Category as Is;
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
            class(Is::Protection, "Boc protection")
        }
        (N, Group::Chloroformate) if benzyl => class(Is::Protection, "Cbz protection"),
        (N, Group::Chloroformate | Group::Carbonate) => class(Is::Acylation, "carbamate formation"),
        (N, Group::Isocyanate) => class(Is::Acylation, "urea formation"),
        (O, Group::Isocyanate) => class(Is::Acylation, "carbamate formation"),
        (N, Group::Acid) => class(Is::Acylation, "amide coupling"),
        (N, Group::AcylHalide) => class(Is::Acylation, "amide formation from acid halide"),
        (N, Group::Anhydride) => class(Is::Acylation, "amide formation from anhydride"),
        (N, Group::Ester | Group::ActiveEster | Group::Thioester) => class(Is::Acylation, "ester aminolysis"),
        (N, Group::Urea | Group::Carbamate) => class(Is::Acylation, "urea formation"),
        (N, _) => class(Is::Acylation, "N-acylation"),
        (O, Group::Acid) => class(Is::Acylation, "esterification"),
        (O, Group::Ester) => class(Is::Acylation, "transesterification"),
        (O, _) => class(Is::Acylation, "O-acylation"),
        (S, _) => class(Is::Acylation, "S-acylation"),
        (C, Group::Ester) => class(Is::CarbonCarbon, "Claisen condensation"),
        (C, _) => class(Is::CarbonCarbon, "C-acylation"),
        _ => class(Is::Acylation, "acylation"),
    }
}

fn arylation(step: &Step<'_>, nucleophile: u32, carbon: u32, leaving: u32) -> ReactionClass {
    use Category as Is;
    let it = &step.before;
    let metal_on_carbon = matches!(it.element(leaving), B | SN | SI);
    let snar = electrophile::aryl(it, carbon) > 0 || it.element(leaving) == F;
    match it.element(nucleophile) {
        _ if it.is_cyano(nucleophile) => class(Is::CarbonCarbon, "aryl cyanation"),
        B => class(Is::Interconversion, "Miyaura borylation"),
        _ if metal_on_carbon => class(Is::HeteroatomAlkylation, "Chan-Lam coupling"),
        N if snar => class(Is::HeteroatomAlkylation, "SNAr amination"),
        O if snar => class(Is::HeteroatomAlkylation, "SNAr ether synthesis"),
        S if snar => class(Is::HeteroatomAlkylation, "SNAr thioether synthesis"),
        N => class(Is::HeteroatomAlkylation, "Buchwald-Hartwig amination"),
        O => class(Is::HeteroatomAlkylation, "Ullmann ether synthesis"),
        S => class(Is::HeteroatomAlkylation, "aryl thioether coupling"),
        element if is_halogen(element) => class(Is::Interconversion, "aryl halide exchange"),
        _ => class(Is::HeteroatomAlkylation, "arylation"),
    }
}

fn aromatic(step: &Step<'_>, electrophile: Option<u32>, element: u8) -> ReactionClass {
    use Category as Is;
    let it = &step.before;
    match element {
        N => class(Is::Addition, "nitration"),
        F => class(Is::Addition, "aromatic fluorination"),
        CL => class(Is::Addition, "aromatic chlorination"),
        BR => class(Is::Addition, "aromatic bromination"),
        I => class(Is::Addition, "aromatic iodination"),
        S => class(Is::Addition, "aromatic sulfonation"),
        B => class(Is::Addition, "C-H borylation"),
        C => class(
            Is::CarbonCarbon,
            match electrophile.map(|atom| it.group(atom)) {
                Some(Group::AcylHalide | Group::Anhydride | Group::Acid) => "Friedel-Crafts acylation",
                Some(Group::Amide) => "Vilsmeier formylation",
                _ => "Friedel-Crafts alkylation",
            },
        ),
        _ => class(Is::Addition, "aromatic substitution"),
    }
}
