//! Steps whose reagent does not do what is drawn, whatever the conditions.
//!
//! Sources: Krimen and Cota, Org. React. 1969, 17, 213, for the Ritter reaction, whose cation is flat; Smith, "March's Advanced Organic
//! Chemistry", chapter 10, for acyl halides, which hydrogen halides do not make, and chapter 11, for Friedel–Crafts alkylations, which a
//! basic nitrogen beside the carbon forbids; Stahl, Angew. Chem. Int. Ed. 2004, 43, 3400, for palladium and oxygen, which stop at the
//! carbonyl compound; Grimmett, "Imidazole and Benzimidazole Synthesis" (1997), for lithiated imidazoles; Krise and others, J. Med. Chem.
//! 1999, 42, 3094, for phosphonooxymethyl groups, whose reagent is the di-tert-butyl ester; Swamy and others, Chem. Rev. 2009, 109, 2551,
//! for the Mitsunobu reaction.

use chem::Order;

use crate::change::{Facts, Step};
use crate::event::Event;
use crate::group::{Group, aromatic_positions};
use crate::queries::*;
use crate::redox::is_deoxygenated_beside_halide;
use crate::refusal::Refusal;

type Verdict = Result<(), Refusal>;

/// Refuses such steps.
///
/// # Errors
/// Fails with [`Refusal::NoLeavingGroup`], [`Refusal::Unreactive`], [`Refusal::CompetingGroup`], [`Refusal::StereoScrambled`] or
/// [`Refusal::Unstable`], as a chemist would say it.
pub fn check(step: &Step<'_>, events: &[Event]) -> Verdict {
    if step.joined().any(|(amine, hydrazine)| exchanges_hydrazine(step, amine, hydrazine)) {
        return Err(Refusal::NoLeavingGroup);
    }
    let groups = |(nitrogen, carbon): (u32, u32)| (step.before.group(nitrogen), step.before.group(carbon));
    // Amides take hydroxylamine as thioamides or imidoyl chlorides alone (Eloy and Lenaers, Chem. Rev. 1962, 62, 155).
    if step.joined().any(|pair| groups(pair) == (Group::Hydroxylamine, Group::Amide)) {
        return Err(Refusal::Unreactive);
    }
    for event in events {
        match *event {
            Event::Alkylation { nucleophile, carbon, leaving } => {
                alkylation(step, nucleophile, carbon, leaving)?;
            }
            Event::AcidActivation { carbon } if takes_halide_ion(step, carbon) => {
                return Err(Refusal::NoLeavingGroup);
            }
            Event::AcidOxidation { carbon } if step.before.is_sp3(carbon) && brings_dioxygen(step) => {
                return Err(Refusal::Unreactive);
            }
            Event::Acylation { nucleophile, carbon } if is_slow_ester(step, nucleophile, carbon) => {
                return Err(Refusal::Unreactive);
            }
            Event::AromaticSubstitution { element: CL | BR | I, .. }
                if step.atoms().any(|atom| is_metal_on_carbon(step, atom)) =>
            {
                return Err(Refusal::Incompatible);
            }
            Event::AromaticSubstitution { carbon, electrophile: Some(other), .. } => {
                aromatic_substitution(step, carbon, other)?;
            }
            Event::Arylation { nucleophile, .. }
            | Event::ReductiveAmination { nitrogen: nucleophile, .. }
                if is_mustard(&step.before, nucleophile) =>
            {
                return Err(Refusal::SelfReacting);
            }
            Event::Functionalisation { carbon, element: O } if is_riley_of_azole(step, carbon) => {
                return Err(Refusal::Unreactive);
            }
            Event::Aldol { carbon, .. } if closes_to_epoxide(step, carbon) => {
                return Err(Refusal::SelfReacting);
            }
            Event::MetalAddition { metal, carbon } if is_plain_petasis(step, metal, carbon) => {
                return Err(Refusal::Unreactive);
            }
            _ => {}
        }
    }
    if takes_two_nucleophiles(step, events) || step.atoms().any(|atom| is_lactone_of_polyol(step, atom)) {
        return Err(Refusal::CompetingGroup);
    }
    for (from, to) in step.joined() {
        if step.before.group(from) == Group::Hydroxylamine
            && step.before.is_cyano(to)
            && step.atoms().any(|atom| is_open_carbonyl(step, atom))
        {
            return Err(Refusal::CompetingGroup);
        }
        // Cyanide is a nucleophile, and a C–H has nothing that leaves.
        let is_cyanide = step.before.is_cyano(from) && step.before.carbons(from) == 0;
        if is_cyanide && step.before.is_sp3(to) && step.loses_only_hydrogen(to) {
            return Err(Refusal::NoLeavingGroup);
        }
        // An amidoxime's oxygen is a weaker nucleophile than an amine.
        let acylates = || matches!(step.before.group(to), Group::Acid | Group::AcylHalide | Group::Anhydride);
        if acylates() && is_amidoxime(&step.before, from) && step.leaves_amine() {
            return Err(Refusal::CompetingGroup);
        }
        // A template that takes the carbonyl group of a carbamate for that of the acid.
        let loses_acid = || step.lost(from).any(|(gone, _)| step.before.group(gone) == Group::Acid);
        if step.before.group(to) == Group::Carbamate && step.before.element(from) == C && loses_acid() {
            return Err(Refusal::CarbonSource);
        }
        if arylates_to_hydrocarbon(step, from, to) || closes_thiazole_of_plain_ketone(step, from, to) {
            return Err(Refusal::OxidationState);
        }
        if loses_group_of_hydrazone(step, from, to) {
            return Err(Refusal::SelfReacting);
        }
    }
    if step.atoms().any(|atom| is_reduced_to_halide(step, atom) || is_amine_dehydrogenated_twice(step, atom))
    {
        return Err(Refusal::OxidationState);
    }
    if step.atoms().any(|atom| is_deoxygenated_beside_halide(step, atom)) {
        return Err(Refusal::CompetingGroup);
    }
    if step.atoms().any(|atom| is_free_phosphonooxymethyl_donor(&step.before, atom)) {
        return Err(Refusal::Unstable);
    }
    Ok(())
}

/// Returns true for an amine that takes a nitrogen from a hydrazine: hydrazine is a nucleophile, and its own bond stays.
fn exchanges_hydrazine(step: &Step<'_>, amine: u32, hydrazine: u32) -> bool {
    let it = &step.before;
    it.element(amine) == N
        && it.element(hydrazine) == N
        && step.lost(hydrazine).any(|(gone, _)| it.group(gone) == Group::Hydrazine)
}

/// Returns true for a metal that stays on a carbon, which halogens take from it (Knochel and others, Angew. Chem. Int. Ed. 2003, 42, 4302).
fn is_metal_on_carbon(step: &Step<'_>, metal: u32) -> bool {
    let it = &step.before;
    matches!(it.element(metal), MG | LI | ZN) && it.count(metal, C) > 0 && step.is_untouched(metal)
}

/// Returns true for an aryl halide whose metal adds to an aldehyde or ketone that is to lose its oxygen too: that is a second step (March, chapter 16).
fn arylates_to_hydrocarbon(step: &Step<'_>, aryl: u32, carbon: u32) -> bool {
    let it = &step.before;
    let loses =
        |atom: u32, elements: &[u8]| step.lost(atom).any(|(gone, _)| elements.contains(&it.element(gone)));
    it.is_aromatic_carbon(aryl)
        && loses(aryl, &[CL, BR, I, MG, LI])
        && matches!(it.group(carbon), Group::Ketone | Group::Aldehyde)
        && loses(carbon, &[O])
        && step.image(carbon).is_some_and(|image| {
            step.after.is_sp3(image) && step.after.hydrogens(image) > it.hydrogens(carbon)
        })
}

/// Returns true for an aldehyde or ketone that becomes an alkyl halide: its reduction to the alcohol is left out.
fn is_reduced_to_halide(step: &Step<'_>, carbon: u32) -> bool {
    matches!(step.before.group(carbon), Group::Aldehyde | Group::Ketone)
        && step.lost_oxo(carbon)
        && step.hydrogens_gained(carbon) > 0
        && [CL, BR, I].into_iter().any(|halogen| step.gains(carbon, halogen))
}

/// Returns true for the oxo group of an aldehyde or ketone that stays, of which hydroxylamine makes the oxime before the amidoxime of a nitrile.
fn is_open_carbonyl(step: &Step<'_>, atom: u32) -> bool {
    matches!(step.before.group(atom), Group::Aldehyde | Group::Ketone) && step.is_untouched(atom)
}

/// Returns true for selenium dioxide and the methyl group of a ring of five, which has no enamine form (Rabjohn, Org. React. 1976, 24, 261).
fn is_riley_of_azole(step: &Step<'_>, carbon: u32) -> bool {
    let it = &step.before;
    it.next_to(carbon).any(|ring| it.is_aromatic(ring) && it.ring(ring) == 5)
        && step.atoms().any(|atom| it.element(atom) == SE)
}

/// Returns true for the carbonyl carbon of an α-bromo or α-iodo aldehyde or ketone that takes an enolate: the alkoxide closes to the epoxide (Darzens: March,
/// chapter 16).
fn closes_to_epoxide(step: &Step<'_>, carbon: u32) -> bool {
    let it = &step.before;
    let has_halogen =
        |alpha: u32| it.is_sp3(alpha) && it.next_to(alpha).any(|next| matches!(it.element(next), BR | I));
    !step.lost_oxo(carbon) && it.next_to(carbon).any(|alpha| has_halogen(alpha) && step.is_untouched(alpha))
}

/// Returns true for the sulfur of a thioamide and the carbon of a ketone without a leaving group there, which the Hantzsch synthesis needs. Thioureas take
/// iodine along (Dodson and King, J. Am. Chem. Soc. 1945, 67, 2242).
fn closes_thiazole_of_plain_ketone(step: &Step<'_>, sulfur: u32, carbon: u32) -> bool {
    let it = &step.before;
    let is_thioamide = |thio: u32| it.count(thio, N) == 1 && it.doubly(thio, |next| next == sulfur).is_some();
    it.element(sulfur) == S
        && it.next_to(sulfur).any(is_thioamide)
        && it.is_sp3(carbon)
        && it.is_alpha(carbon)
        && step.hydrogens_gained(carbon) < 0
        && step.lost(carbon).next().is_none()
}

/// Returns true for a hydrazine and the ketone of a β-keto ester with a halogen, an acyloxy or a hydroxyl group between, and for hydrazine itself and the ketone of any α-halide with hydrogen: the hydrazone loses it
/// to the azoalkene, which takes more hydrazine to the osazone (Attanasi and Filippone, Synlett 1997, 1128).
fn loses_group_of_hydrazone(step: &Step<'_>, nitrogen: u32, ketone: u32) -> bool {
    let it = &step.before;
    let leaves = |group: u32| {
        matches!(it.element(group), CL | BR | I)
            || it.group(group) == Group::EsterOxygen
            || it.is_hydroxyl(group)
    };
    let is_between = |alpha: u32| {
        it.is_sp3(alpha)
            && it.next_to(alpha).any(|acyl| it.group(acyl) == Group::Ester)
            && it.next_to(alpha).any(|group| leaves(group) && step.is_untouched(group))
    };
    let is_plain = it.degree(nitrogen) == 1
        && it.next_to(nitrogen).all(|other| it.group(other) == Group::Hydrazine && it.degree(other) == 1);
    let is_halide =
        |alpha: u32| it.is_alkyl_halide(alpha) && it.hydrogens(alpha) > 0 && step.is_untouched(alpha);
    it.group(nitrogen) == Group::Hydrazine
        && it.group(ketone) == Group::Ketone
        && step.lost_oxo(ketone)
        && it.next_to(ketone).any(|alpha| is_between(alpha) || is_plain && is_halide(alpha))
}

/// Returns true for a lactone that becomes a lactol beside two or more free hydroxyl groups, which take the hydride and bind the aluminium (Hudlicky, "Reductions in Organic
/// Chemistry").
fn is_lactone_of_polyol(step: &Step<'_>, carbon: u32) -> bool {
    let it = &step.before;
    let is_free = |&atom: &u32| {
        matches!(it.group(atom), Group::PrimaryAlcohol | Group::SecondaryAlcohol)
            && it.hydrogens(atom) > 0
            && step.is_untouched(atom)
            && step.are_in_same_molecule(atom, carbon)
    };
    it.group(carbon) == Group::Ester
        && it.is_in_ring(carbon)
        && step.hydrogens_gained(carbon) == 1
        && step.atoms().filter(is_free).nth(1).is_some()
}

/// Returns true for the oxygen or the nitrogen of an amidoxime.
fn is_amidoxime(it: &Facts, atom: u32) -> bool {
    let is_hydroxyl = |&(other, _): &(u32, u32)| it.is_hydroxyl(other) && it.count(other, N) == 1;
    matches!(it.element(atom), N | O) && it.distances(atom, 3).iter().any(is_hydroxyl)
}

/// Returns true for the nitrogen of a primary amine that becomes that of a nitrile, which takes an oxidant and no dehydration (March, chapter 19).
fn is_amine_dehydrogenated_twice(step: &Step<'_>, nitrogen: u32) -> bool {
    step.before.group(nitrogen) == Group::PrimaryAmine
        && step.image(nitrogen).is_some_and(|image| step.after.group(image) == Group::NitrileNitrogen)
        && step.change.made.is_empty()
}

/// Returns true for an amine with hydrogen and a halogen two carbons away, which closes to the aziridinium ion before a halide of an arene or a carbonyl group takes it (Clayden,
/// Greeves and Warren, chapter 36).
fn is_mustard(it: &Facts, amine: u32) -> bool {
    let has_halogen = |beta: u32| it.is_alkyl_halide(beta);
    matches!(it.group(amine), Group::PrimaryAmine | Group::SecondaryAmine)
        && it.next_to(amine).any(|alpha| it.is_sp3(alpha) && it.next_to(alpha).any(has_halogen))
}

/// Returns true for the boronic acid and the aldehyde of a Petasis reaction without a hydroxyl or carboxyl group beside the aldehyde, which brings the boron to the
/// iminium ion (Candeias and others, Chem. Rev. 2010, 110, 6169), and for a nitrogen that is no amine.
fn is_plain_petasis(step: &Step<'_>, metal: u32, carbon: u32) -> bool {
    let it = &step.before;
    let is_helper = |atom: u32| it.is_hydroxyl(atom) || it.is_carbonyl(atom) && atom != carbon;
    let is_helped = it.distances(carbon, 3).into_iter().any(|(atom, distance)| match distance {
        1 => is_helper(atom),
        2 => it.element(atom) == O && is_helper(atom),
        3 => it.group(atom) == Group::Phenol && is_helper(atom),
        _ => false,
    });
    let nitrogen = step.gained(carbon).map(|(other, _)| other).find(|&other| it.element(other) == N);
    it.group(metal) == Group::Organoboron
        && it.group(carbon) == Group::Aldehyde
        && nitrogen.is_some_and(|nitrogen| {
            !is_helped
                || !matches!(
                    it.group(nitrogen),
                    Group::PrimaryAmine | Group::SecondaryAmine | Group::Aniline | Group::SecondaryAniline
                )
        })
}

/// Returns true if two nucleophiles of different molecules replace halogens of one: nothing decides which takes which.
fn takes_two_nucleophiles(step: &Step<'_>, events: &[Event]) -> bool {
    let it = &step.before;
    let alkylations: Vec<(u32, u32)> = events
        .iter()
        .filter_map(|event| match *event {
            Event::Alkylation { nucleophile, carbon, leaving } if is_heavy_halogen(it.element(leaving)) => {
                Some((nucleophile, carbon))
            }
            _ => None,
        })
        .collect();
    alkylations.iter().enumerate().any(|(at, &(one, carbon))| {
        alkylations[..at].iter().any(|&(other, second)| {
            carbon != second
                && step.are_in_same_molecule(carbon, second)
                && !step.are_in_same_molecule(one, other)
                && !step.are_equivalent(one, other)
        })
    })
}

/// Returns true for an amine that takes one end of 1,2-dichloroethane or 1,2-dibromoethane and keeps the other: the second halide leaves faster than the first, by way of the
/// aziridinium ion (Clayden, Greeves and Warren, chapter 36).
fn keeps_nitrogen_mustard(step: &Step<'_>, amine: u32, carbon: u32) -> bool {
    let it = &step.before;
    let keeps_halide = |beta: u32| {
        it.hydrogens(beta) == 2
            && it.next_to(beta).any(|next| is_heavy_halogen(it.element(next)) && step.is_untouched(next))
    };
    matches!(
        it.group(amine),
        Group::PrimaryAmine | Group::SecondaryAmine | Group::Aniline | Group::SecondaryAniline
    ) && it.hydrogens(carbon) == 2
        && it.next_to(carbon).any(|next| is_heavy_halogen(it.element(next)))
        && it.next_to(carbon).any(keeps_halide)
}

fn alkylation(step: &Step<'_>, nucleophile: u32, carbon: u32, leaving: u32) -> Verdict {
    let it = &step.before;
    // A halide that takes an alcohol is no ester.
    let is_acyl = |image: u32| step.after.is_carbonyl(image) && !it.is_carbonyl(carbon);
    if it.is_alcohol(nucleophile)
        && is_heavy_halogen(it.element(leaving))
        && it.hydrogens(carbon) > 0
        && step.image(carbon).is_some_and(is_acyl)
    {
        return Err(Refusal::OxidationState);
    }
    let is_hydroxyl = it.is_hydroxyl(leaving);
    let is_defined = || step.image(carbon).is_some_and(|image| step.after.at(image).centre.is_some());
    if is_hydroxyl && it.group(nucleophile) == Group::NitrileNitrogen && is_defined() {
        return Err(Refusal::StereoScrambled);
    }
    if is_hydroxyl && (is_plain_sulfamide(it, nucleophile) || is_drawn_carbinol(it, carbon)) {
        return Err(Refusal::Unreactive);
    }
    if keeps_nitrogen_mustard(step, nucleophile, carbon) {
        return Err(Refusal::SelfReacting);
    }
    if opens_epoxide_by_amide(step, nucleophile, leaving) || is_homopropargylation(it, nucleophile, carbon) {
        return Err(Refusal::Unreactive);
    }
    // Base takes cyanohydrins apart (Clayden, Greeves and Warren, chapter 6).
    let is_cyanohydrin = |next: u32| it.is_sp3(next) && it.next_to(next).any(|cyano| it.is_cyano(cyano));
    if it.is_hydroxyl(nucleophile)
        && is_heavy_halogen(it.element(leaving))
        && it.next_to(nucleophile).any(is_cyanohydrin)
    {
        return Err(Refusal::SelfReacting);
    }
    if closes_on_tertiary_amide(it, nucleophile, carbon, leaving)
        || is_branched_on_flanked_lactam(it, nucleophile, carbon)
    {
        return Err(Refusal::Hindered);
    }
    // In a Mitsunobu reaction the azole's N–H is as acidic as a hydroxyazine and more nucleophilic.
    let is_hydroxyazine = it.group(nucleophile) == Group::Phenol
        && it
            .next_to(nucleophile)
            .any(|ring| it.next_to(ring).any(|next| it.group(next) == Group::Azine && it.ring(next) == 6));
    if is_hydroxyl && is_hydroxyazine && step.keeps_free_azole() {
        return Err(Refusal::CompetingGroup);
    }
    // The acid that makes a cation of a free sugar condenses it with itself, and amides are poor acceptors (Boons and Hale, chapter 4).
    let is_free = |atom: u32| {
        matches!(it.group(atom), Group::PrimaryAlcohol | Group::SecondaryAlcohol)
            && step.is_untouched(atom)
            && step.are_in_same_molecule(atom, carbon)
    };
    if it.group(leaving) == Group::Hemiacetal
        && it.group(nucleophile) == Group::AmideNitrogen
        && !it.is_aromatic(nucleophile)
        && step.atoms().any(is_free)
    {
        return Err(Refusal::CompetingGroup);
    }
    // Phosphoric acid with all its hydroxyl groups is alkylated more than once.
    let is_phosphoric = it.next_to(nucleophile).any(|acid| {
        it.element(acid) == P
            && it.next_to(acid).filter(|&next| it.element(next) == O && it.hydrogens(next) > 0).count() > 1
    });
    if is_phosphoric && it.element(nucleophile) == O { Err(Refusal::CompetingGroup) } else { Ok(()) }
}

/// Returns true for the carbon of a secondary alcohol with an aryl and a trifluoromethyl group, which the fluorines keep from SN2: its phosphate or phosphonium salt stays (March, chapter 10). Chemists take the
/// triflate.
fn is_drawn_carbinol(it: &Facts, carbon: u32) -> bool {
    it.is_sp3(carbon)
        && it.hydrogens(carbon) == 1
        && it.aryls(carbon) > 0
        && it.next_to(carbon).any(|next| it.is_trifluoromethyl(next))
}

/// Returns true for a nitrogen of a sulfamide without an acyl or aryl group, too weak an acid for a Mitsunobu reaction (Swamy and others 2009: pKa below 13).
fn is_plain_sulfamide(it: &Facts, nitrogen: u32) -> bool {
    it.group(nitrogen) == Group::SulfonamideNitrogen
        && it.next_to(nitrogen).all(|next| !it.is_carbonyl(next) && !it.is_aromatic(next))
        && it.next_to(nitrogen).any(|sulfur| it.element(sulfur) == S && it.count(sulfur, N) == 2)
}

/// Returns true for the nitrogen of an alkanamide, benzamide or lactam and an epoxide, which its anion deprotonates and its oxygen attacks (Clayden, Greeves
/// and Warren, chapters 10 and 15). Carbamates and anilides go on to rings.
fn opens_epoxide_by_amide(step: &Step<'_>, nitrogen: u32, leaving: u32) -> bool {
    let it = &step.before;
    it.group(nitrogen) == Group::AmideNitrogen
        && it.ring(leaving) == 3
        && it.aryls(nitrogen) == 0
        && !it.is_aromatic(nitrogen)
        && !step.are_in_same_molecule(nitrogen, leaving)
}

/// Returns true for a secondary carbon and the nitrogen of a hydroxyazine between its carbonyl group and a substituent: the oxygen takes it (Joule and Mills
/// 2010, chapter 8).
fn is_branched_on_flanked_lactam(it: &Facts, nitrogen: u32, carbon: u32) -> bool {
    let is_substituted =
        |next: u32| it.is_aromatic_carbon(next) && !it.is_carbonyl(next) && it.hydrogens(next) == 0;
    it.element(nitrogen) == N
        && it.is_aromatic(nitrogen)
        && it.ring(nitrogen) == 6
        && it.carbons(carbon) == 2
        && it.next_to(nitrogen).any(|next| it.is_carbonyl(next))
        && it.next_to(nitrogen).any(is_substituted)
}

/// Returns true for the enolate of a plain ester, ketone or amide and a homopropargyl halide, which it turns into vinylacetylene and whose alkyne takes its
/// charge (March, chapter 17).
fn is_homopropargylation(it: &Facts, enolate: u32, carbon: u32) -> bool {
    let is_propargylic = |next: u32| it.is_sp3(next) && it.next_to(next).any(|alkyne| it.is_ethynyl(alkyne));
    it.is_sp3(enolate)
        && it.next_to(enolate).filter(|&next| it.is_acceptor(next)).count() == 1
        && it.next_to(carbon).any(is_propargylic)
}

/// Returns true for an alcohol and the tertiary halide beside an amide without N–H, which eliminates; with N–H the aziridinone takes the alcohol (March,
/// chapter 10).
fn closes_on_tertiary_amide(it: &Facts, oxygen: u32, carbon: u32, leaving: u32) -> bool {
    let is_amide = |acyl: u32| {
        it.group(acyl) == Group::Amide
            && it.next_to(acyl).any(|next| it.element(next) == N && it.hydrogens(next) == 0)
    };
    it.is_hydroxyl(oxygen)
        && is_heavy_halogen(it.element(leaving))
        && it.hydrogens(carbon) == 0
        && it.carbons(carbon) == 3
        && it.next_to(carbon).any(is_amide)
}

/// Returns true if the halogen of an acyl halide comes from a hydrogen halide.
fn takes_halide_ion(step: &Step<'_>, carbon: u32) -> bool {
    let it = &step.before;
    it.group(carbon) == Group::Acid
        && step.gained(carbon).any(|(halogen, _)| is_halogen(it.element(halogen)) && it.degree(halogen) == 0)
}

fn brings_dioxygen(step: &Step<'_>) -> bool {
    let it = &step.before;
    step.atoms().any(|atom| {
        it.element(atom) == O
            && it.around(atom).iter().any(|bond| bond.order == Order::Double && it.element(bond.to) == O)
    })
}

/// Returns true if an amine with a free acid in its molecule is to take the plain ester of an arene, which only amides of the metal do.
fn is_slow_ester(step: &Step<'_>, nucleophile: u32, carbon: u32) -> bool {
    let it = &step.before;
    let is_aromatic = || it.next_to(carbon).any(|next| it.is_aromatic(next));
    it.group(carbon) == Group::Ester
        && matches!(it.group(nucleophile), Group::PrimaryAmine | Group::SecondaryAmine)
        && is_aromatic()
        && !has_ortho_hydroxyl(it, carbon)
        && step.atoms().any(|atom| step.are_in_same_molecule(atom, nucleophile) && step.is_kept_acid(atom))
}

/// Returns true for a carbonyl group ortho to a hydroxyl group, whose hydrogen bond activates it: methoxide and glycine give the glycinamides of
/// 3-hydroxypyridine-2-carboxylates and 4-hydroxyisoquinoline-3-carboxylates.
fn has_ortho_hydroxyl(it: &Facts, carbon: u32) -> bool {
    it.next_to(carbon).filter(|&ipso| it.is_aromatic(ipso)).any(|ipso| {
        it.next_to(ipso).any(|ortho| {
            it.is_aromatic(ortho) && it.next_to(ortho).any(|next| it.group(next) == Group::Phenol)
        })
    })
}

fn aromatic_substitution(step: &Step<'_>, carbon: u32, other: u32) -> Verdict {
    let it = &step.before;
    // An N–H azole gives its own anion, which carbon dioxide takes back; protected ones are lithiated between their nitrogens.
    if it.group(other) == Group::CarbonDioxide && it.is_on_free_azole(carbon) {
        return Err(Refusal::Unreactive);
    }
    if it.group(other) == Group::ActiveEster && step.loses(other, O, Order::Double) {
        return Err(Refusal::NoLeavingGroup);
    }
    // A ketone alkylates indoles and pyrroles with a silane, and no azole with a second nitrogen (Joule and Mills, chapters 20 and 25).
    let nitrogens =
        aromatic_positions(&it.structure, carbon).iter().filter(|&&(atom, _)| it.element(atom) == N).count();
    if it.group(other) == Group::Ketone
        && it.ring(carbon) == 5
        && nitrogens > 1
        && step.hydrogens_gained(other) > 0
    {
        return Err(Refusal::Arene);
    }
    let lost = |wanted: fn(u8) -> bool| step.lost(other).any(|(gone, _)| wanted(it.element(gone)));
    let is_primary = it.is_sp3(other) && it.carbons(other) == 1 && it.hydrogens(other) == 2;
    let has_basic_nitrogen = || {
        it.next_to(other).filter(|&next| it.is_sp3(next)).any(|next| {
            it.next_to(next).any(|far| {
                matches!(it.group(far), Group::PrimaryAmine | Group::SecondaryAmine | Group::TertiaryAmine)
                    && it.ring(other) == 0
            })
        })
    };
    let leaves = lost(|element| element == O) || lost(is_heavy_halogen);
    if is_primary
        && leaves
        && !it.is_benzylic_or_allylic(other)
        && it.ring(other) == 0
        && has_basic_nitrogen()
    {
        return Err(Refusal::Arene);
    }
    Ok(())
}

/// Returns true for the carbon of an acyloxymethyl or halomethyl phosphate with a free P–O–H: it acylates or decomposes, and alkylates nothing.
fn is_free_phosphonooxymethyl_donor(it: &Facts, carbon: u32) -> bool {
    if !it.is_sp3(carbon) || it.hydrogens(carbon) != 2 || it.degree(carbon) != 2 {
        return false;
    }
    let is_phosphate = |oxygen: u32| {
        it.element(oxygen) == O
            && it.next_to(oxygen).any(|acid| {
                it.element(acid) == P
                    && it.next_to(acid).any(|next| it.element(next) == O && it.hydrogens(next) > 0)
            })
    };
    let leaves = |next: u32| {
        is_heavy_halogen(it.element(next))
            || it.element(next) == O && it.next_to(next).any(|acyl| it.is_carbonyl(acyl))
    };
    it.next_to(carbon).any(is_phosphate) && it.next_to(carbon).any(leaves)
}
