//! The events of a step, in the terms of organic chemistry.
//!
//! A step is split into events, each about one bond or group. A step of several reactions (a reductive amination, a
//! Fischer indole) is several events. Changes that no event describes are left to the templates.

use chem::Order;

use crate::change::{Facts, Step};
use crate::group::Group;
use crate::queries::*;

/// Event of a step. Atoms are those of the reaction mixture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// `nucleophile` replaces `leaving` on an sp3 carbon.
    Alkylation { nucleophile: u32, carbon: u32, leaving: u32 },
    /// `nucleophile` is acylated: at a carbonyl group that loses a substituent, or at an isocyanate or like cumulene.
    Acylation { nucleophile: u32, carbon: u32 },
    /// `nucleophile` replaces a halogen, or the rest of an anhydride or imide, on sulfur(VI).
    Sulfonylation { nucleophile: u32, sulfur: u32 },
    /// `nucleophile` is silylated.
    Silylation { nucleophile: u32 },
    /// A heteroatom replaces `leaving` on an aromatic carbon.
    Arylation { nucleophile: u32, carbon: u32, leaving: u32 },
    /// A heteroatom replaces `leaving` on a carbon of a C=C bond.
    Vinylation { nucleophile: u32, carbon: u32, leaving: u32 },
    /// Carbon with a metal, boron or tin replaces `leaving` on another carbon.
    Coupling { metal: u32, carbon: u32, leaving: u32 },
    /// An alkyne's C–H replaces `leaving` on an sp2 carbon.
    Alkynylation { alkyne: u32, carbon: u32, leaving: u32 },
    /// An alkene's C–H replaces `leaving` on an sp2 carbon.
    Heck { alkene: u32, carbon: u32, leaving: u32 },
    /// An aromatic C–H replaces `leaving` on an sp2 carbon.
    DirectArylation { arene: u32, carbon: u32, leaving: u32 },
    /// Carbon with a metal adds to an electrophile: carbonyl, nitrile, imine, acyl compound.
    MetalAddition { metal: u32, carbon: u32 },
    /// An amine and a carbonyl group give an amine.
    ReductiveAmination { nitrogen: u32, carbon: u32 },
    /// A nitrogen and a carbonyl group give C=N.
    Imination { nitrogen: u32, carbon: u32 },
    /// A phosphorus ylide, or like reagent, and a carbonyl group give C=C.
    Olefination { ylide: u32, carbon: u32 },
    /// A C–H next to an acceptor adds to a carbonyl group, with or without loss of water.
    Aldol { nucleophile: u32, carbon: u32 },
    /// A nucleophile adds to the far end of an activated C=C or C≡C bond, or of one that is not activated.
    ConjugateAddition { nucleophile: u32, carbon: u32, partner: u32 },
    /// An electrophile replaces hydrogen on an aromatic carbon; `electrophile` is `None` if it comes from an unlisted
    /// reagent.
    AromaticSubstitution { carbon: u32, electrophile: Option<u32>, element: u8 },
    /// A heteroatom replaces hydrogen on an sp3 carbon.
    Functionalisation { carbon: u32, element: u8 },
    /// A halogen replaces a hydroxyl group.
    Deoxyhalogenation { carbon: u32, oxygen: u32 },
    /// A ketone or aldehyde becomes an alcohol.
    CarbonylReduction { carbon: u32 },
    /// An acid or ester becomes an alcohol or aldehyde.
    AcylReduction { carbon: u32 },
    /// An amide becomes an amine.
    AmideReduction { carbon: u32 },
    /// A nitrile becomes an amine or aldehyde.
    NitrileReduction { carbon: u32 },
    /// A nitro group becomes an amine or hydroxylamine.
    NitroReduction { nitrogen: u32 },
    /// An azide becomes an amine.
    AzideReduction { nitrogen: u32 },
    /// Hydrogen adds to C=C or C≡C.
    Hydrogenation { carbon: u32, partner: u32 },
    /// Hydrogen replaces a halogen.
    Dehalogenation { carbon: u32, halogen: u32 },
    /// An alcohol becomes an aldehyde or ketone.
    AlcoholOxidation { carbon: u32 },
    /// An alcohol or aldehyde becomes an acid.
    AcidOxidation { carbon: u32 },
    /// Sulfur is oxidised.
    SulfurOxidation { sulfur: u32 },
    /// Nitrogen is oxidised.
    NitrogenOxidation { nitrogen: u32 },
    /// C=C becomes an epoxide.
    Epoxidation { carbon: u32, partner: u32 },
    /// A heteroatom is released: the group that begins at `root` leaves `atom`, which gains hydrogen.
    Cleavage { atom: u32, root: u32 },
    /// An acyl compound is hydrolysed: a hydroxyl group replaces `leaving` on its carbonyl carbon.
    Hydrolysis { carbon: u32, leaving: u32 },
    /// An acid becomes an acyl halide.
    AcidActivation { carbon: u32 },
    /// A lactam's carbonyl group, or its hydroxyl group as the other tautomer, in an aromatic ring becomes a halide.
    LactamHalogenation { carbon: u32 },
    /// An alcohol or thiol replaces a carbonyl group's oxygen.
    Acetalisation { carbon: u32 },
    /// An aniline's nitrogen leaves as dinitrogen.
    Diazotisation { carbon: u32, nitrogen: u32 },
    /// An alcohol and a carbonyl group give an ether.
    ReductiveEtherification { oxygen: u32, carbon: u32 },
    /// A carbon migrates to the nitrogen of its amide or acyl azide, whose carbonyl group leaves.
    Degradation { carbon: u32, nitrogen: u32 },
    /// Two alkenes exchange their ends.
    Metathesis { carbon: u32, partner: u32 },
}

/// State, before the step, of an atom that gets a new bond.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BondPartner {
    Metal,
    Ylide,
    Acyl,
    Isocyanate,
    Sulfonyl,
    Silyl,
    Aryl(u32),
    Vinyl(u32),
    Alkyl(u32),
    /// The carbonyl group loses its oxygen.
    CarbonylGone,
    /// The carbonyl group, imine or nitrile gains a bond.
    CarbonylAdd,
    AlkeneAdd(u32),
    ArylHydrogen,
    AlkyneHydrogen,
    VinylHydrogen,
    AlkylHydrogen,
    Nucleophile,
    Halogen,
    Other,
}

/// Returns the events of a step.
pub fn events(step: &Step<'_>) -> Vec<Event> {
    let mut events = Vec::new();
    for &(a, b, order) in &step.change.made {
        if let Some(epoxide) = epoxide(step, a, b).or_else(|| epoxide(step, b, a)) {
            if !events.contains(&epoxide) {
                events.push(epoxide);
            }
            continue;
        }
        let (ends, swapped) = ([end(step, a, b), end(step, b, a)], [end(step, b, a), end(step, a, b)]);
        let found = made(step, ends, a, b, order).or_else(|| made(step, swapped, b, a, order));
        events.extend(found);
    }
    for &(atom, new, order) in &step.change.added {
        events.extend(added(step, atom, new, order));
    }
    for atom in step.atoms().filter(|&atom| step.image(atom).is_some()) {
        changed(step, atom, &mut events);
    }
    events
}

/// Opening of an epoxide whose oxygen is this atom, at this carbon.
fn epoxide(step: &Step<'_>, oxygen: u32, carbon: u32) -> Option<Event> {
    let double =
        |at: u32| step.reordered(at).find(|&(_, was, _)| was == Order::Double).map(|(other, _, _)| other);
    let partner =
        double(carbon).filter(|_| step.before.element(oxygen) == O && step.before.element(carbon) == C)?;
    step.gained(oxygen)
        .any(|(other, _)| other == partner)
        .then_some(Event::Epoxidation { carbon: carbon.min(partner), partner: carbon.max(partner) })
}

fn end(step: &Step<'_>, atom: u32, other: u32) -> BondPartner {
    let before = &step.before;
    let lost = |wanted: &dyn Fn(u8) -> bool| {
        step.lost(atom).find(|&(gone, _)| wanted(before.element(gone))).map(|(gone, _)| gone)
    };
    match before.element(atom) {
        C => carbon_end(step, atom, other),
        S | P if lost(&is_halogen).is_some() && before.oxo(atom) > 0 => BondPartner::Sulfonyl,
        // Sulfonic anhydrides and sulfonimides: triflic anhydride, N-phenyltriflimide.
        S if before.oxo(atom) == 2 && lost(&|element| matches!(element, N | O)).is_some() => {
            BondPartner::Sulfonyl
        }
        // Aryl esters of phosphoric and phosphonic acids: pentafluorophenyl phosphoramidates.
        P if before.oxo(atom) > 0
            && step.lost(atom).any(|(gone, _)| before.element(gone) == O && before.aryls(gone) > 0) =>
        {
            BondPartner::Sulfonyl
        }
        SI => BondPartner::Silyl,
        F | CL | BR | I => BondPartner::Halogen,
        _ if step.hydrogens_gained(atom) < 0
            || before.at(atom).charge < 0
            || lost(&|element| matches!(element, SI | LI | MG | SN | B)).is_some() =>
        {
            BondPartner::Nucleophile
        }
        _ => BondPartner::Other,
    }
}

fn carbon_end(step: &Step<'_>, atom: u32, other: u32) -> BondPartner {
    let before = &step.before;
    let mut leaving = None;
    for (gone, order) in step.lost(atom) {
        match before.element(gone) {
            LI | MG | ZN | CU | CD | B | SN => return BondPartner::Metal,
            SI if before.element(other) == C => return BondPartner::Metal,
            P => return BondPartner::Ylide,
            O | S if order == Order::Double => return BondPartner::CarbonylGone,
            N if order != Order::Single && order != Order::Aromatic => return BondPartner::CarbonylGone,
            _ if order == Order::Single => leaving = Some(gone),
            _ => {}
        }
    }
    if let Some(leaving) = leaving {
        return match () {
            // The carbanion of tosylmethyl isocyanide adds; its sulfinate leaves as the ring becomes aromatic (van Leusen
            // and van Leusen, Org. React. 2001, 57, 417).
            () if before.element(leaving) == S && is_isocyanomethyl(before, atom) => {
                BondPartner::AlkylHydrogen
            }
            () if before.is_aromatic(atom) => BondPartner::Aryl(leaving),
            () if before.is_carbonyl(atom) => BondPartner::Acyl,
            () if before.is_saturated(atom) => BondPartner::Alkyl(leaving),
            () if before.doubly(atom, |next| before.element(next) == C).is_some() => {
                BondPartner::Vinyl(leaving)
            }
            () => BondPartner::Other,
        };
    }
    for (next, was, now) in step.reordered(atom) {
        if was > now && now != Order::Aromatic && was != Order::Aromatic {
            return match before.element(next) {
                N | O | S if before.group(atom) == Group::Isocyanate => BondPartner::Isocyanate,
                N | O | S => BondPartner::CarbonylAdd,
                _ => BondPartner::AlkeneAdd(next),
            };
        }
    }
    if step.hydrogens_gained(atom) < 0 {
        return match before.group(atom) {
            _ if before.is_aromatic(atom) => BondPartner::ArylHydrogen,
            Group::TerminalAlkyne => BondPartner::AlkyneHydrogen,
            _ if before.is_saturated(atom) => BondPartner::AlkylHydrogen,
            Group::Alkene => BondPartner::VinylHydrogen,
            _ => BondPartner::Other,
        };
    }
    BondPartner::Other
}

/// Returns true for a carbon beside the nitrogen of an isocyanide.
fn is_isocyanomethyl(it: &Facts, carbon: u32) -> bool {
    it.next_to(carbon)
        .any(|next| it.element(next) == N && it.at(next).charge > 0 && it.triply(next).is_some())
}

/// Event of a new bond, if its atoms come in this order.
fn made(step: &Step<'_>, ends: [BondPartner; 2], a: u32, b: u32, order: Order) -> Option<Event> {
    let is_carbon = step.before.element(a) == C;
    Some(match ends {
        [_, BondPartner::Alkyl(leaving) | BondPartner::Aryl(leaving)]
            if step.before.element(a) == N
                && step.before.is_carbonyl(leaving)
                && step.before.bond(a, leaving).is_some() =>
        {
            Event::Degradation { carbon: b, nitrogen: a }
        }
        [BondPartner::Nucleophile, BondPartner::Alkyl(leaving)] => {
            Event::Alkylation { nucleophile: a, carbon: b, leaving }
        }
        [
            BondPartner::AlkylHydrogen | BondPartner::AlkyneHydrogen | BondPartner::VinylHydrogen,
            BondPartner::Alkyl(leaving),
        ] => Event::Alkylation { nucleophile: a, carbon: b, leaving },
        [BondPartner::Other, BondPartner::Alkyl(leaving)] if !is_carbon || step.before.is_cyano(a) => {
            Event::Alkylation { nucleophile: a, carbon: b, leaving }
        }
        [BondPartner::Other, BondPartner::Acyl] if step.before.group(a) == Group::TertiaryAmine => {
            Event::Acylation { nucleophile: a, carbon: b }
        }
        [BondPartner::Nucleophile, BondPartner::Acyl | BondPartner::Isocyanate] => {
            Event::Acylation { nucleophile: a, carbon: b }
        }
        [BondPartner::Nucleophile, BondPartner::Sulfonyl] => {
            Event::Sulfonylation { nucleophile: a, sulfur: b }
        }
        [BondPartner::Nucleophile, BondPartner::Silyl] => Event::Silylation { nucleophile: a },
        [BondPartner::Nucleophile, BondPartner::Aryl(leaving)] => {
            Event::Arylation { nucleophile: a, carbon: b, leaving }
        }
        [_, BondPartner::Aryl(nitrogen)] if is_diazotised(step, b, nitrogen, a) => {
            Event::Diazotisation { carbon: b, nitrogen }
        }
        [BondPartner::Other, BondPartner::Aryl(leaving)] if !is_carbon || step.before.is_cyano(a) => {
            Event::Arylation { nucleophile: a, carbon: b, leaving }
        }
        [BondPartner::Nucleophile, BondPartner::Vinyl(leaving)] => {
            Event::Vinylation { nucleophile: a, carbon: b, leaving }
        }
        [
            BondPartner::Metal,
            BondPartner::Aryl(leaving) | BondPartner::Vinyl(leaving) | BondPartner::Alkyl(leaving),
        ] => Event::Coupling { metal: a, carbon: b, leaving },
        [
            BondPartner::Metal,
            BondPartner::Acyl
            | BondPartner::CarbonylAdd
            | BondPartner::Isocyanate
            | BondPartner::CarbonylGone,
        ] => Event::MetalAddition { metal: a, carbon: b },
        [BondPartner::AlkyneHydrogen, BondPartner::Aryl(leaving) | BondPartner::Vinyl(leaving)] => {
            Event::Alkynylation { alkyne: a, carbon: b, leaving }
        }
        [BondPartner::VinylHydrogen, BondPartner::Aryl(leaving) | BondPartner::Vinyl(leaving)] => {
            Event::Heck { alkene: a, carbon: b, leaving }
        }
        [BondPartner::ArylHydrogen, BondPartner::Aryl(leaving) | BondPartner::Vinyl(leaving)]
            if step.before.element(b) == C =>
        {
            Event::DirectArylation { arene: a, carbon: b, leaving }
        }
        [BondPartner::Nucleophile, BondPartner::CarbonylGone]
            if step.before.element(a) == N && order == Order::Double =>
        {
            Event::Imination { nitrogen: a, carbon: b }
        }
        [BondPartner::Nucleophile, BondPartner::CarbonylGone]
            if step.before.element(a) == N && step.hydrogens_gained(b) > 0 =>
        {
            Event::ReductiveAmination { nitrogen: a, carbon: b }
        }
        [BondPartner::Nucleophile, BondPartner::CarbonylGone]
            if matches!(step.before.element(a), O | S) && step.hydrogens_gained(b) <= 0 =>
        {
            Event::Acetalisation { carbon: b }
        }
        [BondPartner::Nucleophile, BondPartner::CarbonylGone]
            if step.before.element(a) == O && step.hydrogens_gained(b) > 0 =>
        {
            Event::ReductiveEtherification { oxygen: a, carbon: b }
        }
        [BondPartner::Halogen, BondPartner::CarbonylGone] if step.before.is_aromatic(b) => {
            Event::LactamHalogenation { carbon: b }
        }
        [BondPartner::Halogen, BondPartner::Aryl(leaving)] if step.before.is_hydroxyl(leaving) => {
            Event::LactamHalogenation { carbon: b }
        }
        [_, BondPartner::Other | BondPartner::Nucleophile]
            if step.before.element(a) == S && step.before.is_oxidising_oxygen(b) =>
        {
            Event::SulfurOxidation { sulfur: a }
        }
        [_, BondPartner::Other | BondPartner::Nucleophile]
            if step.before.element(a) == N && step.before.is_oxidising_oxygen(b) =>
        {
            Event::NitrogenOxidation { nitrogen: a }
        }
        [BondPartner::Ylide, BondPartner::CarbonylGone] => Event::Olefination { ylide: a, carbon: b },
        [BondPartner::AlkylHydrogen, BondPartner::CarbonylGone | BondPartner::CarbonylAdd] => {
            Event::Aldol { nucleophile: a, carbon: b }
        }
        [BondPartner::AlkylHydrogen, BondPartner::Acyl] => Event::Acylation { nucleophile: a, carbon: b },
        [
            BondPartner::Nucleophile | BondPartner::AlkylHydrogen | BondPartner::Metal,
            BondPartner::AlkeneAdd(partner),
        ] => Event::ConjugateAddition { nucleophile: a, carbon: b, partner },
        [BondPartner::ArylHydrogen, _] => {
            Event::AromaticSubstitution { carbon: a, electrophile: Some(b), element: step.before.element(b) }
        }
        [BondPartner::AlkylHydrogen, _] if step.before.element(b) == O && is_alcohol_carbon(step, a) => {
            Event::AcidOxidation { carbon: a }
        }
        [BondPartner::AlkylHydrogen, _] if step.before.element(b) != C => {
            Event::Functionalisation { carbon: a, element: step.before.element(b) }
        }
        [BondPartner::Halogen, BondPartner::Alkyl(leaving)] if step.before.element(leaving) == O => {
            Event::Deoxyhalogenation { carbon: b, oxygen: leaving }
        }
        [BondPartner::Halogen, BondPartner::Acyl] => Event::AcidActivation { carbon: b },
        _ if order == Order::Double && is_carbon && step.before.group(a) == Group::Alkene => {
            Event::Metathesis { carbon: a, partner: b }
        }
        _ => return None,
    })
}

/// Returns true if an aniline's nitrogen is replaced by something that a diazonium salt accepts.
fn is_diazotised(step: &Step<'_>, carbon: u32, nitrogen: u32, entering: u32) -> bool {
    let before = &step.before;
    before.element(nitrogen) == N
        && before.hydrogens(nitrogen) == 2
        && before.degree(nitrogen) == 1
        && before.is_aromatic(carbon)
        && (matches!(before.element(entering), F | CL | BR | I | O | S | B) || before.is_cyano(entering))
        && !matches!(before.group(entering), Group::PrimaryAlcohol | Group::SecondaryAlcohol | Group::Phenol)
}

/// Event of a bond to an atom that no precursor provides.
fn added(step: &Step<'_>, atom: u32, new: u32, order: Order) -> Option<Event> {
    let (before, element) = (&step.before, step.after.element(new));
    let left = step.lost(atom).find(|&(_, order)| order == Order::Single).map(|(gone, _)| gone);
    let loses_hydrogen = step.hydrogens_gained(atom) < 0;
    Some(match before.element(atom) {
        S if element == O => Event::SulfurOxidation { sulfur: atom },
        N if element == O => Event::NitrogenOxidation { nitrogen: atom },
        C if before.is_aromatic(atom)
            && left.is_some_and(|gone| {
                before.group(gone) == Group::Aniline || before.group(gone) == Group::PoorAniline
            }) =>
        {
            Event::Diazotisation { carbon: atom, nitrogen: left? }
        }
        C if before.is_aromatic(atom)
            && is_halogen(element)
            && step.lost(atom).any(|(_, order)| order == Order::Double) =>
        {
            Event::LactamHalogenation { carbon: atom }
        }
        C if before.group(atom) == Group::Alkene && element == O && step.after.degree(new) == 2 => {
            let partner = step.reordered(atom).find(|&(_, was, _)| was == Order::Double)?.0;
            if partner < atom {
                return None;
            }
            Event::Epoxidation { carbon: atom, partner }
        }
        C if before.is_aromatic(atom) && left.is_none() && loses_hydrogen => {
            Event::AromaticSubstitution { carbon: atom, electrophile: None, element }
        }
        C if matches!(before.group(atom), Group::Aldehyde) && element == O && left.is_none() => {
            Event::AcidOxidation { carbon: atom }
        }
        C if before.group(atom) == Group::Nitrile && element == O && order == Order::Single => {
            let (leaving, _) = step.lost(atom).find(|&(gone, _)| before.element(gone) == N)?;
            Event::Hydrolysis { carbon: atom, leaving }
        }
        C if before.is_carbonyl(atom) => match left {
            Some(_) if is_halogen(element) => Event::AcidActivation { carbon: atom },
            Some(leaving) if element == O => Event::Hydrolysis { carbon: atom, leaving },
            _ => return None,
        },
        C if before.is_saturated(atom) => match left {
            Some(oxygen) if is_halogen(element) && before.element(oxygen) == O => {
                Event::Deoxyhalogenation { carbon: atom, oxygen }
            }
            Some(leaving) if order == Order::Single && !is_halogen(element) => {
                Event::Alkylation { nucleophile: leaving, carbon: atom, leaving }
            }
            None if loses_hydrogen && is_alcohol_carbon(step, atom) && order == Order::Double => {
                Event::AcidOxidation { carbon: atom }
            }
            None if loses_hydrogen && is_alcohol_carbon(step, atom) && element == O => {
                Event::AcidOxidation { carbon: atom }
            }
            None if loses_hydrogen => Event::Functionalisation { carbon: atom, element },
            _ => return None,
        },
        _ => return None,
    })
}

fn is_alcohol_carbon(step: &Step<'_>, atom: u32) -> bool {
    step.before.next_to(atom).any(|next| {
        step.before.element(next) == O
            && (step.before.hydrogens(next) > 0 || step.before.group(next) == Group::SilylEther)
    })
}

/// Adds the events of one atom that takes part in no new bond.
fn changed(step: &Step<'_>, atom: u32, events: &mut Vec<Event>) {
    let is_new = step.forms_bond(atom);
    let gained = step.hydrogens_gained(atom);
    match step.before.element(atom) {
        C if !is_new && gained > 0 => events.extend(reduced_carbon(step, atom, gained)),
        C if !is_new && gained < 0 => events.extend(oxidised_carbon(step, atom)),
        N if step.before.is_nitro(atom) && step.lost(atom).any(|(_, order)| order == Order::Double) => {
            events.push(Event::NitroReduction { nitrogen: atom });
        }
        N if step.before.group(atom) == Group::Azide
            && step.lost(atom).any(|(gone, _)| step.before.element(gone) == N) =>
        {
            events.push(Event::AzideReduction { nitrogen: atom });
        }
        N | O | S if gained > 0 || is_freed_as_lactam(step, atom) => {
            let root = step.lost(atom).find(|&(gone, order)| {
                order == Order::Single
                    && matches!(step.before.element(gone), C | SI | S | P | B)
                    && !step.forms_bond(gone)
            });
            events.extend(root.map(|(root, _)| Event::Cleavage { atom, root }));
        }
        _ => {}
    }
}

/// Returns true for the oxygen of an alkoxyazine that loses its alkyl group and becomes the carbonyl group of the lactam.
fn is_freed_as_lactam(step: &Step<'_>, oxygen: u32) -> bool {
    let before = &step.before;
    before.group(oxygen) == Group::ArylEther
        && step
            .reordered(oxygen)
            .any(|(ipso, was, now)| before.is_aromatic(ipso) && was == Order::Single && now == Order::Double)
}

fn reduced_carbon(step: &Step<'_>, atom: u32, gained: i32) -> Option<Event> {
    let before = &step.before;
    let softened = step.reordered(atom).find(|&(_, was, now)| was > now);
    let lost: Vec<(u32, Order)> = step.lost(atom).collect();
    let hydrogenated = step.reordered(atom).find(|&(partner, was, now)| {
        was > now
            && before.element(partner) == C
            && partner > atom
            && step.hydrogens_gained(partner) > 0
            && step.gained(partner).next().is_none()
    });
    let halogen = lost.iter().find(|&&(gone, _)| is_halogen(before.element(gone)));
    Some(match (before.group(atom), softened) {
        (Group::Aldehyde | Group::Ketone, Some((other, _, _))) if before.element(other) == O => {
            Event::CarbonylReduction { carbon: atom }
        }
        (Group::Acid | Group::Ester | Group::AcylHalide | Group::Anhydride | Group::ActiveEster, _)
            if !lost.is_empty() =>
        {
            Event::AcylReduction { carbon: atom }
        }
        (Group::Weinreb | Group::Amide, _)
            if lost.iter().any(|&(gone, order)| before.element(gone) == N && order == Order::Single) =>
        {
            Event::AcylReduction { carbon: atom }
        }
        (Group::Amide | Group::Imide | Group::Carbamate, _)
            if lost.iter().any(|&(gone, order)| before.element(gone) == O && order == Order::Double) =>
        {
            Event::AmideReduction { carbon: atom }
        }
        (Group::Nitrile, _) if gained >= 1 => Event::NitrileReduction { carbon: atom },
        _ if hydrogenated.is_some() => Event::Hydrogenation { carbon: atom, partner: hydrogenated?.0 },
        (_, None) if halogen.is_some() => Event::Dehalogenation { carbon: atom, halogen: halogen?.0 },
        _ => return None,
    })
}

fn oxidised_carbon(step: &Step<'_>, atom: u32) -> Option<Event> {
    let before = &step.before;
    let hardened = step.reordered(atom).find(|&(other, was, now)| {
        was == Order::Single && now == Order::Double && before.element(other) == O
    });
    (hardened.is_some() && before.is_saturated(atom)).then_some(Event::AlcoholOxidation { carbon: atom })
}
