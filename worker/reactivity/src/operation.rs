//! Operations of a step, by their usual reagents, for `attacked_groups.rs`.

use chem::Order;

use crate::asymmetric::is_dihydroxylation;
use crate::change::{Facts, Step};
use crate::event::Event;
use crate::friedel_crafts::takes_vilsmeier_reagent;
use crate::group::Group;
use crate::halogenation::is_displaced_by_ion;
use crate::named::named;
use crate::nitrile::becomes_imidate;
use crate::queries::*;

named! {
/// Operation with a reagent that attacks free groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepOperation {
    /// A lactam, or hydroxyl group of a ring, becomes a halide.
    RingChlorination,
    /// An amide or hydrazide becomes an imidoyl or hydrazonoyl chloride.
    ImidoylChlorination,
    /// An acid becomes an acyl halide.
    AcidHalogenation,
    /// An alcohol becomes a halide.
    AlcoholHalogenation,
    /// The same by a tetrahalomethane and a phosphine.
    Appel,
    /// Acylation by phosgene.
    Phosgenation,
    /// Sulfonylation by a sulfonic anhydride.
    SulfonicAnhydride,
    Diazotisation,
    /// Oxidation of a sulfide by a peracid that the step lists.
    SulfurByPeracid,
    /// The same by other oxidants, which work in acid, and so spare amines.
    SulfurOxidation,
    /// Oxidation of the nitrogen of an azine.
    AzineOxidation,
    /// Oxidation of other nitrogen.
    AmineOxidation,
    Epoxidation,
    /// A peracid makes an ester of a ketone.
    BaeyerVilliger,
    /// Osmium adds to a C=C bond.
    Dihydroxylation,
    /// Ozone cleaves a C=C bond.
    Ozonolysis,
    /// Hydroxide takes the place of a halogen of an arene.
    Hydroxylation,
    /// A halide and sulfur dioxide give a sulfinate, which takes an amine as it is oxidised.
    Aminosulfonylation,
    /// An aryl halide, carbon monoxide and an amine give an amide; with an alcohol or water an ester or acid.
    Carbonylation,
    /// Boron tribromide or an acid makes a phenol of its alkyl ether.
    EtherCleavage,
    /// Methyl fluorosulfonyldifluoroacetate and copper make a trifluoromethyl group of an aryl halide.
    CopperTrifluoromethylation,
    /// An imine becomes an amine, by a hydride.
    ImineReduction,
    /// Hydrogen takes the place of oxygen on an sp3 carbon, by a silane and acid.
    IonicHydrogenation,
    /// Hydrogen chloride and an alcohol make an imidate of a nitrile.
    Pinner,
    /// Selenium dioxide oxidises a C–H bond.
    SeleniumOxidation,
    /// An enolate adds to an imine.
    EnolateAddition,
    /// Trimethyl(trifluoromethyl)silane makes a ketone of an ester.
    Trifluoromethylation,
    /// A metal joins the enolate of an ester or nitrile to an arene.
    EnolateArylation,
    /// A triflating reagent and base make an enol triflate of a ketone.
    EnolTriflation,
    /// An orthoester and acetic anhydride make an alkoxymethylene group of an active methylene group.
    OrthoesterCondensation,
    /// Acetic anhydride or isopropenyl acetate and acid make an enol ester of a ketone.
    EnolAcylation,
    /// Bromine or palladium makes an enone of an enol ester or silyl enol ether.
    EnolOxidation,
    /// Phosphoryl chloride and an amine make an amidine of an amide.
    AmidineFormation,
    /// Thionyl chloride, then ruthenium tetroxide, makes a cyclic sulfate of a diol.
    CyclicSulfation,
    /// A ruthenium carbene joins two alkenes.
    Metathesis,
    /// A nitroalkane loses water to the nitrile oxide, by an isocyanate or the like.
    NitrileOxide,
    /// Lawesson's reagent or a phosphorus sulfide makes a thioamide.
    Thionation,
    /// Phosphoryl chloride, trifluoroacetic anhydride or the like makes a nitrile of an amide.
    AmideDehydration,
    /// Hydrazine or methylamine frees an amine of its phthalimide.
    PhthalimideRemoval,
    /// Hydrazine makes a hydrazide of an ester, hydroxylamine a hydroxamic acid.
    Hydrazinolysis,
    /// Borane, then hydrogen peroxide, makes an alcohol of an alkene.
    Hydroboration,
    /// Nitric acid nitrates an arene.
    Nitration,
    /// Chlorosulfonic acid makes a sulfonyl chloride of an arene.
    Chlorosulfonation,
    /// Dimethylformamide and phosphoryl chloride formylate an arene.
    Vilsmeier,
    /// An N-halosuccinimide halogenates an arene.
    HalosuccinimideOnArene,
    /// Bromine or the like, in acid, which spares amines, halogenates an arene.
    HalogenOnArene,
}
}

/// Operation of an event with the atom that it changes; `None` for other events.
pub fn of_event(step: &Step<'_>, event: &Event) -> Option<(StepOperation, u32)> {
    let it = &step.before;
    Some(match *event {
        Event::LactamHalogenation { carbon } => (StepOperation::RingChlorination, carbon),
        Event::AcidActivation { carbon } => (StepOperation::AcidHalogenation, carbon),
        Event::Deoxyhalogenation { carbon, oxygen } if is_displaced_by_ion(step, carbon, oxygen) => {
            return None;
        }
        Event::Deoxyhalogenation { carbon, oxygen } if comes_from_tetrahalide(step, carbon) => {
            (StepOperation::Appel, oxygen)
        }
        Event::Deoxyhalogenation { oxygen, .. } => (StepOperation::AlcoholHalogenation, oxygen),
        Event::Acylation { nucleophile, carbon } if it.count(carbon, CL) > 1 => {
            (StepOperation::Phosgenation, nucleophile)
        }
        Event::Acylation { nucleophile, carbon } if is_hydrazinolysis(it, nucleophile, carbon) => {
            (StepOperation::Hydrazinolysis, carbon)
        }
        Event::Sulfonylation { nucleophile, sulfur } if comes_from_anhydride(step, sulfur) => {
            (StepOperation::SulfonicAnhydride, nucleophile)
        }
        Event::Diazotisation { nitrogen, .. } => (StepOperation::Diazotisation, nitrogen),
        Event::Alkylation { nucleophile, carbon, .. }
            if it.is_sp3(nucleophile) && it.is_sp3(carbon) && it.count(carbon, O) == 3 =>
        {
            (StepOperation::OrthoesterCondensation, nucleophile)
        }
        Event::Cleavage { atom, root } if is_phthalimide(it, atom, root) => {
            (StepOperation::PhthalimideRemoval, atom)
        }
        Event::Cleavage { atom, root } if is_aryl_ether(it, atom, root) => {
            (StepOperation::EtherCleavage, root)
        }
        Event::AromaticSubstitution { carbon, electrophile, element } => {
            (aromatic_substitution(it, carbon, electrophile, element)?, carbon)
        }
        Event::Functionalisation { carbon, element: O }
            if step.atoms().any(|atom| it.element(atom) == SE) =>
        {
            (StepOperation::SeleniumOxidation, carbon)
        }
        Event::MetalAddition { metal, carbon }
            if it.is_trifluoromethyl(metal) && it.group(carbon) == Group::Ester =>
        {
            (StepOperation::Trifluoromethylation, carbon)
        }
        Event::Arylation { nucleophile, carbon, .. } if it.group(nucleophile) == Group::Water => {
            (StepOperation::Hydroxylation, carbon)
        }
        Event::Arylation { nucleophile, carbon, .. } if it.is_sulfur_dioxide(nucleophile) => {
            (StepOperation::Aminosulfonylation, carbon)
        }
        Event::Aldol { carbon, .. } if it.doubly(carbon, |other| it.element(other) == N).is_some() => {
            (StepOperation::EnolateAddition, carbon)
        }
        Event::SulfurOxidation { sulfur }
            if step.lost(sulfur).any(|(gone, _)| is_heavy_halogen(it.element(gone))) =>
        {
            (StepOperation::CyclicSulfation, sulfur)
        }
        Event::Imination { nitrogen, carbon }
            if it.group(carbon) == Group::Amide
                && it.hydrogens(carbon) == 0
                && !step.are_in_same_molecule(nitrogen, carbon) =>
        {
            (StepOperation::AmidineFormation, carbon)
        }
        Event::Metathesis { carbon, partner } if it.element(partner) == C => {
            (StepOperation::Metathesis, carbon)
        }
        _ => return oxidation(step, event),
    })
}

/// Operation of an oxidation.
fn oxidation(step: &Step<'_>, event: &Event) -> Option<(StepOperation, u32)> {
    let it = &step.before;
    Some(match *event {
        Event::SulfurOxidation { sulfur }
            if step.gained(sulfur).any(|(oxygen, _)| it.is_oxidising_oxygen(oxygen)) =>
        {
            (StepOperation::SulfurByPeracid, sulfur)
        }
        Event::SulfurOxidation { sulfur } => (StepOperation::SulfurOxidation, sulfur),
        Event::NitrogenOxidation { nitrogen } if it.group(nitrogen) == Group::Azine => {
            (StepOperation::AzineOxidation, nitrogen)
        }
        Event::NitrogenOxidation { nitrogen } => (StepOperation::AmineOxidation, nitrogen),
        Event::Epoxidation { carbon, .. } => (StepOperation::Epoxidation, carbon),
        Event::Hydrolysis { carbon, leaving }
            if it.group(carbon) == Group::Ketone && it.element(leaving) == C && step.gains(leaving, O) =>
        {
            (StepOperation::BaeyerVilliger, carbon)
        }
        Event::Metathesis { carbon, partner } if it.element(partner) == O && is_ozonised(step, carbon) => {
            (StepOperation::Ozonolysis, carbon)
        }
        _ => return None,
    })
}

/// Operation of an electrophilic aromatic substitution, by its electrophile. Formylation of a ring that is too poor for it goes by way of a lithium compound.
fn aromatic_substitution(
    it: &Facts,
    carbon: u32,
    electrophile: Option<u32>,
    element: u8,
) -> Option<StepOperation> {
    let is_bonded = |wanted: u8| electrophile.is_some_and(|atom| it.count(atom, wanted) > 0);
    Some(match element {
        CL | BR | I if is_bonded(N) => StepOperation::HalosuccinimideOnArene,
        CL | BR | I if is_bonded(P) => StepOperation::RingChlorination,
        CL | BR | I => StepOperation::HalogenOnArene,
        N if electrophile.is_none_or(|atom| it.at(atom).charge == 1 && it.count(atom, O) > 1) => {
            StepOperation::Nitration
        }
        S if is_bonded(CL) && electrophile.is_some_and(|atom| it.oxo(atom) == 2) => {
            StepOperation::Chlorosulfonation
        }
        C if electrophile.is_some_and(|atom| it.group(atom) == Group::Amide && it.hydrogens(atom) == 1)
            && takes_vilsmeier_reagent(it, carbon) =>
        {
            StepOperation::Vilsmeier
        }
        _ => return None,
    })
}

/// Operation of a step that has no event, with the atom that it changes.
pub fn without_event(step: &Step<'_>) -> Option<(StepOperation, u32)> {
    let joined = step.joined().find_map(|(from, to)| of_new_bond(step, from, to));
    if joined.is_some() {
        return joined;
    }
    if is_dihydroxylation(step) {
        return step.change.added.first().map(|&(own, ..)| (StepOperation::Dihydroxylation, own));
    }
    if let Some(own) = step.atoms().find(|&atom| is_ozonised(step, atom)) {
        return Some((StepOperation::Ozonolysis, own));
    }
    step.atoms().find_map(|atom| of_atom(step, atom).map(|operation| (operation, atom)))
}

/// Operation that makes a bond between two atoms of the mixture, with the atom that it changes.
fn of_new_bond(step: &Step<'_>, from: u32, to: u32) -> Option<(StepOperation, u32)> {
    let it = &step.before;
    let is_enolate = |atom: u32| {
        it.is_sp3(atom)
            && step.hydrogens_gained(atom) < 0
            && it
                .next_to(atom)
                .any(|next| matches!(it.group(next), Group::Ester | Group::Nitrile | Group::Anhydride))
    };
    let loses_halide =
        |atom: u32| it.is_aromatic(atom) && step.lost(atom).any(|(gone, _)| is_halogen(it.element(gone)));
    Some(match () {
        () if is_enolate(from) && loses_halide(to) => (StepOperation::EnolateArylation, from),
        () if it.is_difluorocarbene_source(from) && loses_halide(to) => {
            (StepOperation::CopperTrifluoromethylation, from)
        }
        () if is_carbon_monoxide(it, from) && matches!(it.element(to), N | O) => {
            (StepOperation::Carbonylation, to)
        }
        () if it.is_hydroxyl(from) && becomes_imidate(step, to) => (StepOperation::Pinner, to),
        () if it.group(from) == Group::CarbonylOxygen && it.element(to) == S && it.oxo(to) > 1 => {
            (StepOperation::EnolTriflation, from)
        }
        () if it.group(from) == Group::CarbonylOxygen
            && matches!(it.group(to), Group::Anhydride | Group::AcylHalide | Group::Ester) =>
        {
            (StepOperation::EnolAcylation, from)
        }
        () if becomes_nitrile_oxide(step, from) => (StepOperation::NitrileOxide, from),
        () if it.group(from) == Group::Amide && it.element(to) == S && step.lost_oxo(from) => {
            (StepOperation::Thionation, from)
        }
        () => return None,
    })
}

/// Operation that changes an atom without a new bond within the mixture.
fn of_atom(step: &Step<'_>, atom: u32) -> Option<StepOperation> {
    let it = &step.before;
    if it.element(atom) != C {
        return None;
    }
    let is_amide = it.group(atom) == Group::Amide && step.lost_oxo(atom);
    let becomes_nitrile = || step.image(atom).is_some_and(|image| step.after.is_cyano(image));
    let gains_hydrogen = |atom: u32| step.hydrogens_gained(atom) > 0;
    let is_imine = || it.doubly(atom, |next| it.group(next) == Group::Imine).is_some();
    let loses_oxygen = || it.is_sp3(atom) && step.lost(atom).any(|(gone, _)| it.element(gone) == O);
    match () {
        () if is_amide && step.gains(atom, CL) => Some(StepOperation::ImidoylChlorination),
        () if is_amide && becomes_nitrile() => Some(StepOperation::AmideDehydration),
        () if gains_hydrogen(atom) && is_imine() => Some(StepOperation::ImineReduction),
        () if gains_hydrogen(atom) && loses_oxygen() => Some(StepOperation::IonicHydrogenation),
        () if becomes_enone(step, atom) => Some(StepOperation::EnolOxidation),
        () if is_hydrated(step, atom) => Some(StepOperation::Hydroboration),
        () => None,
    }
}

/// Returns true for the carbon of an enol ester or enol ether that becomes the carbonyl group of an enone.
fn becomes_enone(step: &Step<'_>, carbon: u32) -> bool {
    let it = &step.before;
    let joins_next =
        |alpha: u32| step.reordered(alpha).any(|(_, was, now)| was == Order::Single && now == Order::Double);
    it.group(carbon) == Group::Alkene
        && it.next_to(carbon).any(|oxygen| it.element(oxygen) == O && it.degree(oxygen) > 1)
        && step.image(carbon).is_some_and(|image| step.after.is_carbonyl(image))
        && it.doubly(carbon, |alpha| it.element(alpha) == C).is_some_and(joins_next)
}

/// Returns true for the methylene end of an alkene that gains the oxygen of an unlisted reagent, and hydrogen at its other end.
fn is_hydrated(step: &Step<'_>, end: u32) -> bool {
    let it = &step.before;
    it.group(end) == Group::Alkene
        && it.hydrogens(end) == 2
        && step.gains(end, O)
        && it.doubly(end, |near| it.element(near) == C && step.hydrogens_gained(near) > 0).is_some()
}

/// Returns true for hydrazine or hydroxylamine, or one with a free end, and the acyl carbon of an ester.
fn is_hydrazinolysis(it: &Facts, nitrogen: u32, acyl: u32) -> bool {
    matches!(it.group(nitrogen), Group::Hydrazine | Group::Hydroxylamine)
        && it.hydrogens(nitrogen) == 2
        && it.group(acyl) == Group::Ester
}

/// Returns true for the nitrogen of a phthalimide and a carbonyl group of it.
fn is_phthalimide(it: &Facts, nitrogen: u32, root: u32) -> bool {
    it.group(nitrogen) == Group::ImideNitrogen
        && it.group(root) == Group::Imide
        && it.is_in_ring(root)
        && it.aryls(root) > 0
}

/// Returns true for the oxygen of a phenol and the carbon of a plain alkyl group that it loses.
fn is_aryl_ether(it: &Facts, oxygen: u32, root: u32) -> bool {
    it.element(oxygen) == O
        && it.next_to(oxygen).any(|next| it.is_aromatic(next))
        && it.is_sp3(root)
        && it.hydrogens(root) > 1
        && it.count(root, O) == 1
        && !it.is_benzylic_or_allylic(root)
}

fn is_carbon_monoxide(it: &Facts, carbon: u32) -> bool {
    it.element(carbon) == C && it.at(carbon).charge == -1 && it.count(carbon, O) == 1
}

/// Returns true for the carbon of a nitroalkane that loses both hydrogens to a new bond.
fn becomes_nitrile_oxide(step: &Step<'_>, carbon: u32) -> bool {
    let it = &step.before;
    it.is_sp3(carbon)
        && step.hydrogens_gained(carbon) < -1
        && it.next_to(carbon).any(|next| it.is_nitro(next))
}

/// Returns true for a carbon that loses a doubly bound carbon and gains an oxygen.
fn is_ozonised(step: &Step<'_>, carbon: u32) -> bool {
    step.before.element(carbon) == C && step.loses(carbon, C, Order::Double) && step.gains(carbon, O)
}

fn comes_from_tetrahalide(step: &Step<'_>, carbon: u32) -> bool {
    let it = &step.before;
    let is_tetrahalide = |source: u32| {
        it.element(source) == C
            && it.next_to(source).filter(|&next| is_halogen(it.element(next))).count() == 4
    };
    step.gained(carbon).any(|(halogen, _)| it.next_to(halogen).any(is_tetrahalide))
}

fn comes_from_anhydride(step: &Step<'_>, sulfur: u32) -> bool {
    let it = &step.before;
    step.lost(sulfur).any(|(gone, _)| it.element(gone) == O && it.count(gone, S) == 2)
}
