//! Names of substitutions: by nucleophile, electrophile and leaving group.
//!
//! Agents are not known. An aryl halide that is not activated takes amines with palladium (Hartwig, Acc. Chem. Res. 2008, 41,
//! 1534), azoles and amides with copper (Ullmann, Goldberg; Evano and others, Chem. Rev. 2008, 108, 3054).

use crate::change::{Facts, Step};
use crate::electrophile;
use crate::friedel_crafts;
use crate::group::{Group, aromatic_positions};
use crate::lithiation;
use crate::queries::*;
use crate::reaction_class::{ReactionClass, class};
use crate::stereo::is_turned;

pub fn alkylation(step: &Step<'_>, nucleophile: u32, carbon: u32, leaving: u32) -> ReactionClass {
    let it = &step.before;
    if nucleophile == leaving {
        return from_reagent(step, carbon);
    }
    // By difluorocarbene, from chlorodifluoroacetate and its kin.
    if it.count(carbon, F) == 2 && step.image(carbon).is_some_and(|image| step.after.hydrogens(image) > 0) {
        return class!("difluoromethylation");
    }
    if step.becomes_carbonyl(carbon) {
        if let Some(class) = carbonic(step, nucleophile, carbon) {
            return class;
        }
        // By an oxide, whose nitrogen or sulfur leaves (Kornblum; Ganem and Boeckman, Tetrahedron Lett. 1974, 15, 917).
        if it.element(nucleophile) == O
            && step.image(carbon).is_some_and(|image| step.after.hydrogens(image) > 0)
        {
            return class!("alkyl halide oxidation");
        }
    }
    if it.aryls(carbon) > 2 {
        return class!("trityl protection");
    }
    if matches!(it.element(nucleophile), N | O | S) && is_anomeric(it, carbon) {
        return class!("glycosylation");
    }
    if it.element(nucleophile) == N && it.triply(nucleophile).is_some() {
        return class!("Ritter reaction");
    }
    let group = it.group(nucleophile);
    if it.is_hydroxyl(leaving) && it.element(nucleophile) != C {
        return match group {
            // By diphenyl phosphorazidate (Thompson and others, J. Org. Chem. 1993, 58, 5886).
            Group::Azide if it.next_to(nucleophile).any(|next| it.element(next) == P) => {
                class!("Thompson azidation")
            }
            // The atom map says which oxygen stays, although that is unknown unless the carbon is inverted.
            Group::AcidOxygen if is_turned(step, carbon) => class!("Mitsunobu reaction"),
            Group::AcidOxygen => class!("esterification"),
            Group::Hemiacetal => class!("acetal formation"),
            Group::PrimaryAmine | Group::SecondaryAmine | Group::Aniline | Group::SecondaryAniline => {
                class!("N-alkylation")
            }
            Group::PrimaryAlcohol | Group::SecondaryAlcohol | Group::TertiaryAlcohol => {
                class!("dehydrative etherification")
            }
            _ => class!("Mitsunobu reaction"),
        };
    }
    if it.element(leaving) == O && it.ring(leaving) == 3 {
        return class!("epoxide opening");
    }
    let benzyl = it.next_to(carbon).any(|next| it.is_aromatic(next)) && it.carbons(carbon) == 1;
    let on_oxygen = it.next_to(carbon).any(|next| next != leaving && it.element(next) == O);
    let oxide = step.image(nucleophile).is_some_and(|image| step.after.oxo(image) > 0);
    match (it.element(nucleophile), group) {
        (_, Group::Azide) => class!("azide substitution"),
        _ if it.is_cyano(nucleophile) => class!("cyanide substitution"),
        (P, _) if oxide => class!("Michaelis-Arbuzov reaction"),
        (P, _) => class!("phosphonium salt formation"),
        (C, _) if it.count(carbon, O) == 3 => class!("orthoester condensation"),
        (C, _) if it.count(carbon, N) > 0 && on_oxygen => class!("enamine formation"),
        (C, _) if is_plain_enolate(it, nucleophile) => class!("enolate alkylation"),
        (C, _) => class!("C-alkylation"),
        (
            N,
            Group::AmideNitrogen
            | Group::CarbamateNitrogen
            | Group::ImideNitrogen
            | Group::UreaNitrogen
            | Group::ThioamideNitrogen,
        ) => class!("amide N-alkylation"),
        (N, Group::SulfonamideNitrogen) => class!("sulfonamide N-alkylation"),
        (N, _) if step.image(nucleophile).is_some_and(|image| step.after.is_onium(image)) => {
            class!("quaternisation")
        }
        (N, _) if it.is_aromatic(nucleophile) => class!("heteroaryl N-alkylation"),
        (N, _) => class!("N-alkylation"),
        (O, _) if step.image(nucleophile).is_some_and(|image| step.after.ring(image) == 3) => {
            class!("halohydrin cyclisation")
        }
        (O, _) if on_oxygen && group != Group::AcidOxygen => class!("acetal formation"),
        (O, Group::AcidOxygen) => class!("esterification by alkylation"),
        (O, Group::Water) => class!("halide hydrolysis"),
        (O, _) if benzyl => class!("O-benzylation"),
        (O, _) => class!("Williamson ether synthesis"),
        (S, _) if oxide => class!("sulfone formation"),
        (S, _) if becomes_thiol(step, nucleophile) => class!("thiolation"),
        (S, _) => class!("S-alkylation"),
        (element, _) if is_halogen(element) => class!("halide exchange"),
        _ => class!("alkylation"),
    }
}

/// Returns true for a carbon beside an ester, an amide or an acid and no second acceptor, whose enolate takes a strong base (Clayden, Greeves and
/// Warren, chapter 25).
fn is_plain_enolate(it: &Facts, carbon: u32) -> bool {
    it.is_sp3(carbon)
        && it.next_to(carbon).filter(|&next| it.is_acceptor(next)).count() == 1
        && it.next_to(carbon).any(|next| matches!(it.group(next), Group::Ester | Group::Amide | Group::Acid))
        && it.next_to(carbon).all(|next| it.element(next) == C && !it.is_aromatic(next))
}

/// Returns true for the anomeric carbon of a sugar: beside the oxygen of its ring, of which at least two more carbons bear
/// oxygen or a CH2 that does.
fn is_anomeric(it: &Facts, carbon: u32) -> bool {
    let in_ring = |atom: u32| matches!(it.ring(atom), 5 | 6);
    let Some(oxygen) = it.next_to(carbon).find(|&next| it.element(next) == O && in_ring(next)) else {
        return false;
    };
    let beside = |atom: u32| it.next_to(atom).filter(|&next| it.is_sp3(next) && in_ring(next));
    let near: Vec<u32> = beside(carbon).chain(beside(oxygen)).filter(|&atom| atom != carbon).collect();
    let mut ring: Vec<u32> = near.iter().flat_map(|&atom| beside(atom)).chain(near.iter().copied()).collect();
    ring.sort_unstable();
    ring.dedup();
    let hydroxymethyl = |atom: u32| it.is_sp3(atom) && !it.is_in_ring(atom) && it.count(atom, O) > 0;
    let bears_oxygen = |atom: u32| {
        it.next_to(atom).any(|next| next != oxygen && (it.element(next) == O || hydroxymethyl(next)))
    };
    ring.iter().filter(|&&atom| atom != carbon && bears_oxygen(atom)).count() > 1
}

/// Returns true for sulfur, as that of hydrogen sulfide, its salts or thiourea, that ends as a free thiol or thione.
fn becomes_thiol(step: &Step<'_>, sulfur: u32) -> bool {
    step.image(sulfur).is_some_and(|image| step.after.degree(image) == 1)
}

/// Substitution by an atom that no precursor provides.
fn from_reagent(step: &Step<'_>, carbon: u32) -> ReactionClass {
    match step.new_bonds(carbon).next().map(|bond| bond.element) {
        Some(O) => class!("halide hydrolysis"),
        Some(N) => class!("N-alkylation"),
        Some(C) => class!("C-alkylation"),
        Some(S) => class!("S-alkylation"),
        _ => class!("alkylation"),
    }
}

pub fn acylation(step: &Step<'_>, nucleophile: u32, carbon: u32) -> ReactionClass {
    let it = &step.before;
    if let Some(class) = carbonic(step, nucleophile, carbon) {
        return class;
    }
    let acid = matches!(
        it.group(carbon),
        Group::Acid
            | Group::AcylHalide
            | Group::Anhydride
            | Group::Ester
            | Group::ActiveEster
            | Group::Thioester
            | Group::Amide
    );
    match it.group(nucleophile) {
        Group::Hydrazine if acid => return class!("hydrazide formation"),
        Group::Hydroxylamine if acid && it.carbons(nucleophile) > 0 => {
            return class!("Weinreb amide formation");
        }
        Group::Hydroxylamine if acid => return class!("hydroxamic acid formation"),
        Group::Azide => return class!("azide substitution"),
        _ => {}
    }
    if step.image(nucleophile).is_some_and(|image| step.after.is_isothiocyanate(image)) {
        return class!("isothiocyanate formation");
    }
    let acyl_azole = it.count(carbon, N) > 0;
    match (it.element(nucleophile), it.group(carbon)) {
        (N, Group::Acid) => class!("amide coupling"),
        (N, Group::AcylHalide) => class!("amide formation from acid halide"),
        (N, Group::Anhydride) => class!("amide formation from anhydride"),
        (N, Group::ActiveEster) if acyl_azole => class!("amide coupling"),
        (N, Group::ActiveEster) => class!("amide formation from active ester"),
        (N, Group::Thioester) => class!("amide formation from active ester"),
        (N, Group::Ester) => class!("ester aminolysis"),
        (N, _) => class!("N-acylation"),
        (O, Group::Acid) if becomes_active_ester(step, carbon) => class!("active ester formation"),
        (O, Group::Acid) => class!("esterification"),
        (O, Group::Ester) => class!("transesterification"),
        (O, Group::Imide) => class!("imide alcoholysis"),
        (O, _) => class!("O-acylation"),
        (S, _) => class!("S-acylation"),
        (C, Group::Ester) => class!("Claisen condensation"),
        (C, _) => class!("C-acylation"),
        _ => class!("acylation"),
    }
}

fn becomes_active_ester(step: &Step<'_>, carbon: u32) -> bool {
    step.image(carbon).is_some_and(|image| step.after.group(image) == Group::ActiveEster)
}

/// Class of the derivative of carbonic acid that forms, by its substituents; `None` if the carbon is another.
fn carbonic(step: &Step<'_>, nucleophile: u32, carbon: u32) -> Option<ReactionClass> {
    let (it, after) = (&step.before, step.after);
    let image = step.image(carbon)?;
    if after.hydrogens(image) > 0 || after.count(image, C) > 0 || it.element(nucleophile) == C {
        return None;
    }
    let thio = it.carbonyl(carbon).is_some_and(|other| it.element(other) == S);
    let cumulated =
        after.is_carbonyl(image) && after.doubly(image, |next| after.element(next) == N).is_some();
    let halogen = after.next_to(image).any(|next| is_halogen(after.element(next)));
    let oxygens = after.next_to(image).filter(|&next| after.element(next) == O && after.degree(next) > 1);
    let oxygens: Vec<u32> = oxygens.collect();
    Some(match (after.count(image, N), &oxygens[..]) {
        _ if cumulated && thio => class!("isothiocyanate formation"),
        _ if cumulated => class!("isocyanate formation"),
        _ if halogen => class!("phosgenation"),
        (2.., _) if thio => class!("thiourea formation"),
        (2.., _) => class!("urea formation"),
        (1, &[oxygen]) if it.group(carbon) != Group::Isocyanate => carbamate(after, image, oxygen),
        (1, _) => class!("carbamate formation"),
        (0, &[a, b]) if [a, b].iter().any(|&oxygen| is_tert_butyl(after, oxygen, image)) => {
            class!("Boc protection")
        }
        _ => class!("carbonate formation"),
    })
}

fn carbamate(after: &Facts, carbon: u32, oxygen: u32) -> ReactionClass {
    let Some(alkyl) = after.next_to(oxygen).find(|&next| next != carbon) else {
        return class!("carbamate formation");
    };
    let next_to = |wanted: &dyn Fn(u32) -> bool| after.is_sp3(alkyl) && after.next_to(alkyl).any(wanted);
    let fluorenyl = |next| after.is_sp3(next) && after.ring(next) == 5 && after.aryls(next) == 2;
    match () {
        () if is_tert_butyl(after, oxygen, carbon) => class!("Boc protection"),
        () if next_to(&fluorenyl) => class!("Fmoc protection"),
        () if next_to(&|next| after.is_aromatic_carbon(next)) && after.hydrogens(alkyl) == 2 => {
            class!("Cbz protection")
        }
        () => class!("carbamate formation"),
    }
}

fn is_tert_butyl(after: &Facts, oxygen: u32, carbon: u32) -> bool {
    after.next_to(oxygen).any(|next| {
        next != carbon
            && after.is_sp3(next)
            && after.next_to(next).filter(|&far| after.hydrogens(far) == 3).count() == 3
    })
}

pub fn arylation(step: &Step<'_>, nucleophile: u32, carbon: u32, leaving: u32) -> ReactionClass {
    let it = &step.before;
    let image = step.image(nucleophile);
    let hydroxyl = image.is_some_and(|image| step.after.hydrogens(image) > 0);
    let oxide = image.is_some_and(|image| step.after.oxo(image) > 1);
    let from_metal = matches!(it.element(leaving), B | SN | SI);
    let snar = !from_metal && is_snar(it, nucleophile, carbon, leaving);
    match it.element(nucleophile) {
        _ if it.is_cyano(nucleophile) => class!("aryl cyanation"),
        B if it.count(nucleophile, O) > 2 => class!("lithiation-borylation"),
        B => class!("Miyaura borylation"),
        SN => class!("stannylation"),
        O if from_metal && hydroxyl => class!("boronic acid oxidation"),
        element if is_halogen(element) => class!("aryl halide exchange"),
        _ if from_metal => class!("Chan-Lam coupling"),
        N if it.group(nucleophile) == Group::Azide => class!("azide substitution"),
        O if hydroxyl || it.group(nucleophile) == Group::Water => class!("aryl hydroxylation"),
        S if it.is_sulfur_dioxide(nucleophile) && step.gains(nucleophile, N) => {
            class!("sulfonamide formation")
        }
        S if it.is_sulfur_dioxide(nucleophile) => class!("sulfinic acid formation"),
        S if oxide => class!("sulfone formation"),
        S if becomes_thiol(step, nucleophile) => class!("thiolation"),
        N if snar => class!("SNAr amination"),
        O if snar => class!("SNAr ether synthesis"),
        S if snar => class!("SNAr thioether synthesis"),
        N if is_by_copper(it, nucleophile, carbon, leaving) => class!("Ullmann-Goldberg coupling"),
        N => class!("Buchwald-Hartwig amination"),
        O => class!("Ullmann ether synthesis"),
        S => class!("aryl thioether coupling"),
        P => class!("C-P coupling"),
        _ => class!("arylation"),
    }
}

/// Returns true if a nucleophile replaces the leaving group without a metal, as it usually does.
fn is_snar(it: &Facts, nucleophile: u32, carbon: u32, leaving: u32) -> bool {
    // A carbonyl group of the ring is conjugated through the double bond between them, as in 6-chlorouracil.
    let vinylogous = aromatic_positions(&it.structure, carbon)
        .iter()
        .any(|&(atom, distance)| distance == 2 && it.is_carbonyl(atom));
    let activation = electrophile::activation(it, carbon) + if vinylogous { 30 } else { 0 };
    let strong = matches!(
        it.group(nucleophile),
        Group::PrimaryAmine | Group::SecondaryAmine | Group::Thiol | Group::Thiophenol
    ) || it.element(nucleophile) == O;
    let needed = electrophile::needed_activation(it, nucleophile, leaving);
    let is_amide = it.group(nucleophile) == Group::AmideNitrogen && !it.is_aromatic(nucleophile);
    match it.element(leaving) {
        CL | BR | I if is_amide => false,
        CL | BR | I if needed == electrophile::STRONGLY_ACTIVATED => activation >= needed,
        CL => activation >= needed.max(20),
        BR | I => activation >= if strong { 30 } else { 36 },
        O if it.group(leaving) == Group::SulfonateOxygen => activation >= 30,
        _ => true,
    }
}

/// Returns true if copper is the usual metal: for azoles, amides and ammonia, and next to an acid (Jourdan and Ullmann). Amides take
/// chlorides with palladium (Yin and Buchwald, J. Am. Chem. Soc. 2002, 124, 6043).
fn is_by_copper(it: &Facts, nucleophile: u32, carbon: u32, leaving: u32) -> bool {
    let ortho_acid = aromatic_positions(&it.structure, carbon)
        .iter()
        .any(|&(atom, distance)| distance == 1 && it.next_to(atom).any(|next| it.group(next) == Group::Acid));
    let copper = match it.group(nucleophile) {
        Group::AmideNitrogen | Group::UreaNitrogen | Group::ImideNitrogen => it.element(leaving) != CL,
        group => group == Group::Ammonia,
    };
    copper || ortho_acid || it.is_aromatic(nucleophile)
}

pub fn aromatic(step: &Step<'_>, carbon: u32, electrophile: Option<u32>, element: u8) -> ReactionClass {
    let it = &step.before;
    match element {
        N if electrophile.is_some_and(|atom| step.becomes_nitroso(atom)) => class!("nitrosation"),
        N => class!("nitration"),
        F => class!("aromatic fluorination"),
        CL | BR | I if is_lithiated_first(step, carbon) => class!("lithiation-halogenation"),
        CL | BR if reduces_oxide(step) => class!("deoxygenative halogenation"),
        CL => class!("aromatic chlorination"),
        BR => class!("aromatic bromination"),
        I => class!("aromatic iodination"),
        S if electrophile.is_some_and(|sulfur| chlorosulfonyl(step, sulfur)) => class!("chlorosulfonation"),
        S if electrophile.is_some_and(|sulfur| it.oxo(sulfur) > 1 && it.count(sulfur, C) > 0) => {
            class!("sulfone formation")
        }
        S if electrophile.is_some_and(|sulfur| it.next_to(sulfur).any(|next| it.is_cyano(next))) => {
            class!("thiocyanation")
        }
        S if electrophile.is_some_and(|sulfur| it.oxo(sulfur) == 0 && it.carbons(sulfur) > 0) => {
            class!("sulfenylation")
        }
        S => class!("aromatic sulfonation"),
        B if electrophile.is_some_and(|boron| it.count(boron, O) == 3) => class!("lithiation-borylation"),
        B => class!("C-H borylation"),
        C => match electrophile.map(|atom| (atom, it.group(atom))) {
            Some((atom, _)) if it.is_cyano(atom) && reduces_oxide(step) => class!("Reissert-Henze reaction"),
            Some((atom, _)) if it.is_cyano(atom) => class!("aryl cyanation"),
            // Rings that the Vilsmeier reagent does not take are lithiated.
            Some((atom, Group::Amide))
                if it.hydrogens(atom) > 0 && !friedel_crafts::takes_vilsmeier_reagent(it, carbon) =>
            {
                class!("Bouveault aldehyde synthesis")
            }
            Some((atom, Group::Amide)) if it.hydrogens(atom) > 0 => class!("Vilsmeier formylation"),
            // Trifluoromethyl radicals from the iodide or a sulfinate (Langlois, Laurent and Roidot, Tetrahedron Lett. 1991, 32, 7525).
            Some((atom, _)) if it.count(atom, F) == 3 => class!("trifluoromethylation"),
            // Dichloromethyl methyl ether (Rieche, Gross and Hoeft, Chem. Ber. 1960, 93, 88).
            Some((atom, _)) if brings_aldehyde(step, atom) => {
                class!("Rieche formylation")
            }
            Some((
                _,
                Group::AcylHalide
                | Group::Anhydride
                | Group::Acid
                | Group::Ester
                | Group::Amide
                | Group::Chloroformate
                | Group::Carbonate
                | Group::Isocyanate,
            )) => class!("Friedel-Crafts acylation"),
            Some((atom, Group::Aldehyde | Group::Ketone)) if !step.lost_oxo(atom) => {
                if is_lithiated_first(step, carbon) {
                    class!("lithiation-hydroxyalkylation")
                } else {
                    class!("Friedel-Crafts hydroxyalkylation")
                }
            }
            // Fuson and McKeever, Org. React. 1942, 1, 63.
            Some((atom, Group::Aldehyde))
                if step.gained(atom).any(|(other, _)| is_halogen(it.element(other))) =>
            {
                class!("Blanc chloromethylation")
            }
            Some((_, Group::Aldehyde | Group::Ketone)) => class!("reductive C-alkylation"),
            _ => class!("Friedel-Crafts alkylation"),
        },
        // By the anhydride of an acid (Joule and Mills 2010, chapter 8).
        O if reduces_oxide(step) => class!("N-oxide rearrangement"),
        _ => class!("aromatic substitution"),
    }
}

/// Returns true for an aromatic proton that a base takes, of a ring that is too poor for mild electrophiles.
fn is_lithiated_first(step: &Step<'_>, carbon: u32) -> bool {
    lithiation::is_lithiated(step, carbon) && !friedel_crafts::takes_vilsmeier_reagent(&step.before, carbon)
}

/// Returns true for a saturated carbon that is that of an aldehyde after the step.
fn brings_aldehyde(step: &Step<'_>, atom: u32) -> bool {
    step.before.is_sp3(atom)
        && step.image(atom).is_some_and(|image| step.after.group(image) == Group::Aldehyde)
}

/// Returns true if a sulfonyl group still bears a halogen after the step.
fn chlorosulfonyl(step: &Step<'_>, sulfur: u32) -> bool {
    step.image(sulfur)
        .is_some_and(|image| step.after.next_to(image).any(|next| is_halogen(step.after.element(next))))
}

/// Returns true if the N-oxide of an aromatic ring loses its oxygen.
pub fn reduces_oxide(step: &Step<'_>) -> bool {
    let it = &step.before;
    step.change.broken.iter().flat_map(|&(a, b, _)| [(a, b), (b, a)]).any(|(nitrogen, oxygen)| {
        it.element(nitrogen) == N && it.is_aromatic(nitrogen) && it.element(oxygen) == O
    })
}
