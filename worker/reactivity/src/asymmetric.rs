//! Sources of a configuration that no precursor and no template brings: chiral catalysts, enzymes and separations.
//!
//! A flat atom (of C=O, C=N or C=C, or of an aromatic ring) or the sulfur of a sulfide becomes a stereocentre. Here stands by what means chemists make one enantiomer of
//! such a centre: Noyori and Hashiguchi, Acc. Chem. Res. 1997, 30, 97 and Corey and Helal, Angew. Chem. Int. Ed.
//! 1998, 37, 1986 (ketones with one guiding side); Moore and others, Acc. Chem. Res. 2007, 40, 1412 (ketoreductases);
//! Savile and others, Science 2010, 329, 305 (transaminases); Knowles and Noyori, Acc. Chem. Res. 2007, 40, 1238 and
//! Roseblade and Pfaltz, the same, 1402 (alkenes); Katsuki and Sharpless, J. Am. Chem. Soc. 1980, 102, 5974, Jacobsen and
//! others, the same, 1991, 113, 7063, and Tokunaga and others, Science 1997, 277, 936 (epoxides); Collet and others,
//! "Enantiomers, Racemates, and Resolutions", 1981 (salts of amines and acids); Robak, Herbage and Ellman, Chem. Rev.
//! 2010, 110, 3600 (imines of tert-butanesulfinamide); Pitchen and others, J. Am. Chem. Soc. 1984, 106, 8188 and Cotton and
//! others, Tetrahedron: Asymmetry 2000, 11, 3819 (sulfoxides); Wang, Lu, Yu, Zhu and Zhou, J. Am. Chem. Soc. 2003, 125, 10536
//! (quinolines); Kolb, VanNieuwenhze and Sharpless, Chem. Rev. 1994, 94, 2483 (diols); Lebel and others, Chem. Rev. 2003, 103, 977 (cyclopropanes). Where nothing of this is known, the isomers have to be separated.

use std::fmt;

use chem::{Bond, Order};

use crate::change::Step;
use crate::event::Event;
use crate::group::Group;
use crate::queries::*;
use crate::refusal::Refusal;

/// Means by which a step gives one stereoisomer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StereoSource {
    /// Chiral auxiliary that a precursor bears: additions to and reductions of imines of tert-butanesulfinamide.
    Auxiliary,
    /// Chiral catalyst or reagent: asymmetric hydrogenation, transfer hydrogenation, CBS reduction, epoxidation.
    ChiralCatalyst,
    /// Enzyme: ketoreductase, transaminase.
    Enzyme,
    /// The racemate is made, and resolved as a salt, by a lipase or by hydrolytic kinetic resolution.
    Resolution,
    /// The isomers are made together, and separated by chromatography.
    Separation,
}

impl StereoSource {
    /// Molecules of the mixture that give one molecule of the product: half of a racemate is lost.
    #[must_use]
    pub fn molecules_per_product(self) -> u32 {
        match self {
            Self::Auxiliary | Self::ChiralCatalyst | Self::Enzyme => 1,
            Self::Resolution | Self::Separation => 2,
        }
    }
}

impl fmt::Display for StereoSource {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Auxiliary => "chiral auxiliary",
            Self::ChiralCatalyst => "chiral catalyst",
            Self::Enzyme => "enzyme",
            Self::Resolution => "resolution of the racemate, half of which is lost",
            Self::Separation => "separation of the stereoisomers, half of which are lost",
        })
    }
}

/// Returns the source of the centres that the step makes of flat atoms; `None` if its mechanism makes them.
///
/// # Errors
/// Returns a refusal if no chemist would make them so.
pub fn source(step: &Step<'_>, events: &[Event]) -> Result<Option<StereoSource>, Refusal> {
    let is_made = |&atom: &u32| {
        let image = step.image(atom);
        image.is_some_and(|image| step.after.at(image).centre.is_some())
            && step.before.at(atom).centre.is_none()
            && !step.is_untouched(atom)
    };
    let made: Vec<u32> = step.atoms().filter(is_made).collect();
    if let [centre] = made[..]
        && is_beside_auxiliary(step, centre)
    {
        return Ok(Some(StereoSource::Auxiliary));
    }
    if let [sulfur] = made[..]
        && step.before.element(sulfur) == S
    {
        return sulfoxide(step, sulfur).map(Some);
    }
    if let [carbon, partner] = made[..]
        && let Some(source) = trans_cyclopropane(step, carbon, partner)
    {
        return Ok(Some(source));
    }
    if made.iter().any(|&centre| is_labile(step, centre) || is_saturated_enal(step, centre)) {
        return Err(Refusal::StereoFromNowhere);
    }
    if let [carbon] = made[..]
        && is_hydrogenated_beside_azine_nitrogen(step, events, carbon)
    {
        return Ok(Some(StereoSource::ChiralCatalyst));
    }
    if !is_plain_addition(step, events) {
        // Whatever makes a racemate, its enantiomers can be separated; diastereomers would have to be known.
        let makes_racemate = made.len() == 1 && !has_several_centres(step);
        return if makes_racemate { Ok(Some(apart(step))) } else { Err(Refusal::StereoFromNowhere) };
    }
    let is_achiral = step.after.is_achiral();
    let by_reagent = match made[..] {
        [centre] => by_reagent(step, centre),
        // Both hydrogens, or both bonds of the oxygen, come to one face of a double bond, which a ring holds.
        [carbon, partner] if is_in_ring_with(step, carbon, partner) => {
            let is_epoxide = is_epoxidised(step, carbon);
            if !is_epoxide && are_on_one_side(step, carbon, partner) != Some(true) {
                return Err(Refusal::StereoFromNowhere);
            }
            if is_achiral {
                return Ok(None);
            }
            if is_epoxide {
                epoxide(step, carbon)
            } else if step.hydrogens_gained(carbon) > 0 {
                alkene(step, carbon, partner)
            } else {
                None
            }
        }
        // Of an open alkene, one configuration of the two is that of the trans alkene.
        [carbon, partner] if are_on_one_side(step, carbon, partner) == Some(false) => {
            let by_reagent = if is_dihydroxylation(step) {
                Some(StereoSource::ChiralCatalyst)
            } else if is_epoxidised(step, carbon) {
                epoxide(step, carbon)
            } else {
                None
            };
            return by_reagent.map(Some).ok_or(Refusal::StereoFromNowhere);
        }
        _ => return Err(Refusal::StereoFromNowhere),
    };
    // Of cis and trans isomers without a mirror image, no chiral reagent makes one.
    let by_reagent = by_reagent.filter(|_| !is_achiral);
    Ok(Some(by_reagent.unwrap_or_else(|| apart(step))))
}

/// Returns the way to one trans cyclopropane. Diazo esters give it by a chiral catalyst, allylic alcohols by Charette's
/// dioxaborolane; ylides and other carbenoids give the racemate of a trans alkene. Such an addition keeps the geometry of the alkene, and an
/// alkene that has none written is taken for the trans one.
fn trans_cyclopropane(step: &Step<'_>, carbon: u32, partner: u32) -> Option<StereoSource> {
    let (before, after) = (&step.before, step.after);
    let (first, second) = (step.image(carbon)?, step.image(partner)?);
    let is_closed = |atom: u32, image: u32| after.ring(image) == 3 && before.ring(atom) != 3;
    let are_closed =
        is_closed(carbon, first) && is_closed(partner, second) && after.bond(first, second).is_some();
    if !are_closed || are_on_one_side(step, carbon, partner)? {
        return None;
    }
    let is_carbene = before.bond(carbon, partner).is_none();
    let is_allylic_alcohol = [carbon, partner]
        .into_iter()
        .any(|end| before.next_to(end).any(|next| before.is_sp3(next) && before.count(next, O) == 1));
    match () {
        () if is_carbene || is_allylic_alcohol => Some(StereoSource::ChiralCatalyst),
        () => (centres(step) == 2).then_some(StereoSource::Separation),
    }
}

/// Returns the way to one configuration of a sulfoxide. Titanium tartrates tell an aromatic ring from an alkyl group.
fn sulfoxide(step: &Step<'_>, sulfur: u32) -> Result<StereoSource, Refusal> {
    let before = &step.before;
    let aromatic = before.next_to(sulfur).filter(|&next| before.is_aromatic(next)).count();
    if aromatic == 1 && before.next_to(sulfur).all(|next| before.element(next) == C) {
        return Ok(StereoSource::ChiralCatalyst);
    }
    if has_several_centres(step) { Err(Refusal::StereoFromNowhere) } else { Ok(apart(step)) }
}

/// Returns true if the carbon is that of an imine whose nitrogen bears a sulfinyl group of one configuration, which
/// stays.
fn is_beside_auxiliary(step: &Step<'_>, carbon: u32) -> bool {
    let before = &step.before;
    let is_sulfinyl = |atom: u32| {
        before.element(atom) == S
            && before.at(atom).centre.is_some()
            && step.image(atom).is_some_and(|image| step.after.at(image).centre.is_some())
    };
    before
        .doubly(carbon, |other| before.element(other) == N)
        .is_some_and(|nitrogen| before.next_to(nitrogen).any(is_sulfinyl))
}

/// Returns true if the step is one reduction, epoxidation or addition to a double bond, with nothing else at once.
/// Reductions of imines and dihydroxylations have no event.
fn is_plain_addition(step: &Step<'_>, events: &[Event]) -> bool {
    match events {
        [] => step.change.made.is_empty() && (step.change.added.is_empty() || is_dihydroxylation(step)),
        [event] => matches!(
            event,
            Event::CarbonylReduction { .. }
                | Event::ReductiveAmination { .. }
                | Event::Hydrogenation { .. }
                | Event::Epoxidation { .. }
                | Event::MetalAddition { .. }
                | Event::ConjugateAddition { .. }
        ),
        _ => false,
    }
}

/// Returns true if the step adds hydroxyl groups, and nothing else, to both ends of a double bond between carbons.
pub fn is_dihydroxylation(step: &Step<'_>) -> bool {
    let [(a, first, _), (b, second, _)] = step.change.added[..] else { return false };
    let is_alkene = step.before.bond(a, b).is_some_and(|bond| bond.order == Order::Double);
    let is_hydroxyl = |new: u32| step.after.element(new) == O && step.after.hydrogens(new) == 1;
    is_alkene && is_hydroxyl(first) && is_hydroxyl(second)
}

/// Returns true if an azine ring fused to an arene, as that of quinoline, is hydrogenated and its carbon beside nitrogen becomes the centre.
fn is_hydrogenated_beside_azine_nitrogen(step: &Step<'_>, events: &[Event], carbon: u32) -> bool {
    let before = &step.before;
    let is_azine =
        |next: u32| before.is_aromatic(next) && before.element(next) == N && before.ring(next) == 6;
    before.is_aromatic(carbon)
        && before.next_to(carbon).any(is_azine)
        && before.next_to(carbon).filter(|&next| before.element(next) == C).count() == 2
        && events.iter().all(|event| matches!(event, Event::Hydrogenation { .. }))
}

/// Returns true if a new centre would racemise at the bench: its hydrogen is acidic between two acceptors, or between
/// an aldehyde or ketone and an aromatic ring, a halogen or a primary amine.
fn is_labile(step: &Step<'_>, centre: u32) -> bool {
    let after = step.after;
    let Some(centre) = step.image(centre).filter(|&image| after.hydrogens(image) > 0) else { return false };
    let acceptors = after.next_to(centre).filter(|&next| after.is_acceptor(next)).count();
    let has_carbonyl =
        after.next_to(centre).any(|next| matches!(after.group(next), Group::Aldehyde | Group::Ketone));
    let has_second = after.next_to(centre).any(|next| {
        after.is_aromatic(next) || is_halogen(after.element(next)) || after.group(next) == Group::PrimaryAmine
    });
    acceptors > 1 || has_carbonyl && has_second
}

/// Returns true for the carbon of an enal that becomes a centre beside the aldehyde: the catalyst reduces the enol, and the aldehyde epimerises (Clayden, Greeves and Warren, chapter
/// 20).
fn is_saturated_enal(step: &Step<'_>, centre: u32) -> bool {
    let before = &step.before;
    step.hydrogens_gained(centre) > 0
        && before.doubly(centre, |partner| before.element(partner) == C).is_some()
        && before.next_to(centre).any(|next| before.group(next) == Group::Aldehyde && step.is_untouched(next))
}

/// Returns true if the substituents of two ring atoms that become centres lie on one side of the ring; `None` if one of the atoms has no
/// [`turn`].
fn are_on_one_side(step: &Step<'_>, a: u32, b: u32) -> Option<bool> {
    let (a, b) = (step.image(a)?, step.image(b)?);
    // Read along the ring, equal turns are equal sides.
    Some(turn(step, a, b, false)? == turn(step, b, a, true)?)
}

/// Handedness of a ring atom of the product, read from one ring neighbour over the other to its substituent; `other`
/// comes first if `is_after`. Hydroxyl groups that both atoms gain count as an oxygen that bridges them. `None` if the atom is in several
/// rings or has no hydrogen.
fn turn(step: &Step<'_>, atom: u32, other: u32, is_after: bool) -> Option<bool> {
    let after = step.after;
    let (ring, outside): (Vec<Bond>, Vec<Bond>) =
        after.around(atom).iter().filter(|bond| bond.to != other).partition(|bond| {
            bond.ring > 0 || after.element(bond.to) == O && step.origin[bond.to as usize].is_none()
        });
    let ([ring], [outside]) = (&ring[..], &outside[..]) else { return None };
    let [from, to] = if is_after { [other, ring.to] } else { [ring.to, other] };
    if after.hydrogens(atom) == 1 { after.handedness(atom, [from, to, outside.to]) } else { None }
}

/// Returns the way to separate the isomers: as salts of an amine or acid, if they are enantiomers.
fn apart(step: &Step<'_>) -> StereoSource {
    let after = step.after;
    let has_salt = (0..after.atoms() as u32).any(|atom| {
        let is_base =
            matches!(after.group(atom), Group::PrimaryAmine | Group::SecondaryAmine | Group::TertiaryAmine);
        is_base || after.group(atom) == Group::Acid
    });
    if has_salt && !has_several_centres(step) { StereoSource::Resolution } else { StereoSource::Separation }
}

/// Returns true if the product has more than one stereocentre.
fn has_several_centres(step: &Step<'_>) -> bool {
    centres(step) > 1
}

/// Number of stereocentres of the product.
fn centres(step: &Step<'_>) -> usize {
    let atoms = 0..step.after.atoms() as u32;
    atoms.filter(|&atom| step.after.at(atom).centre.is_some()).count()
}

/// Returns the catalyst or enzyme that gives this centre.
fn by_reagent(step: &Step<'_>, centre: u32) -> Option<StereoSource> {
    if is_epoxidised(step, centre) {
        return epoxide(step, centre);
    }
    if step.hydrogens_gained(centre) <= 0 {
        return None;
    }
    let before = &step.before;
    let softened = step.reordered(centre).find(|&(_, was, now)| was == Order::Double && now == Order::Single);
    match softened {
        Some((partner, _, _)) if before.element(partner) == O => ketone(step, centre),
        Some((partner, _, _)) if before.element(partner) == N => amine(step, centre),
        Some((partner, _, _)) if before.element(partner) == C => alkene(step, centre, partner),
        _ if step.gained(centre).any(|(other, _)| before.element(other) == N) => amine(step, centre),
        _ => None,
    }
}

/// Ketone to alcohol: a catalyst tells an aromatic, unsaturated or heteroatom side from an alkyl side, an enzyme
/// methyl from a longer chain.
fn ketone(step: &Step<'_>, carbon: u32) -> Option<StereoSource> {
    let [a, b] = sides(step, carbon)?;
    if guidance(step, a) != guidance(step, b) {
        return Some(StereoSource::ChiralCatalyst);
    }
    is_methyl_beside_chain(step, a, b).then_some(StereoSource::Enzyme)
}

/// Ketone or imine to amine: transaminases make primary amines of methyl ketones; catalysts hydrogenate imines with an
/// aromatic side.
fn amine(step: &Step<'_>, carbon: u32) -> Option<StereoSource> {
    let [a, b] = sides(step, carbon)?;
    let nitrogen = step
        .image(carbon)
        .and_then(|image| step.after.next_to(image).find(|&next| step.after.element(next) == N))?;
    if step.after.hydrogens(nitrogen) == 2 && is_methyl_beside_chain(step, a, b) {
        return Some(StereoSource::Enzyme);
    }
    (step.before.is_aromatic(a) != step.before.is_aromatic(b)).then_some(StereoSource::ChiralCatalyst)
}

/// The two carbons beside the carbon of a ketone or imine.
fn sides(step: &Step<'_>, carbon: u32) -> Option<[u32; 2]> {
    let before = &step.before;
    let sides: Vec<u32> = before.next_to(carbon).filter(|&next| before.element(next) == C).collect();
    sides.try_into().ok()
}

/// Returns true if one of two carbons is a methyl group and the other has two more carbons or a ring beside it.
fn is_methyl_beside_chain(step: &Step<'_>, a: u32, b: u32) -> bool {
    let before = &step.before;
    let is_methyl = |atom: u32| before.degree(atom) == 1;
    let is_chain = |atom: u32| {
        before.degree(atom) > 2 || before.next_to(atom).filter(|&next| before.degree(next) > 1).count() > 1
    };
    is_methyl(a) && is_chain(b) || is_methyl(b) && is_chain(a)
}

/// Strength with which a carbon beside a ketone guides a catalyst: 2 if it is aromatic or unsaturated, 1 with a
/// heteroatom or an acceptor, else 0.
fn guidance(step: &Step<'_>, carbon: u32) -> u8 {
    let before = &step.before;
    let has_heteroatom = before.next_to(carbon).any(|next| before.element(next) != C);
    // The ketone itself is one of them.
    let acceptors = before.next_to(carbon).filter(|&next| before.is_acceptor(next)).count();
    match () {
        () if !before.is_saturated(carbon) => 2,
        () if has_heteroatom || acceptors > 1 => 1,
        () => 0,
    }
}

/// C=C to CH-CH: with an acylamino, acyloxy or carbonyl group, or a hydroxymethyl group, that holds the metal, or with
/// an aromatic ring on an alkene with three substituents.
fn alkene(step: &Step<'_>, carbon: u32, partner: u32) -> Option<StereoSource> {
    let before = &step.before;
    let ends = [carbon, partner];
    let around = || {
        ends.iter()
            .flat_map(|&end| before.next_to(end).map(move |next| (end, next)))
            .filter(|&(_, next)| !ends.contains(&next))
    };
    let holds = around().any(|(_, next)| {
        // Ketones are hydrogenated by way of their enolates, and epimerise.
        before.is_acceptor(next) && before.group(next) != Group::Ketone
            || matches!(before.group(next), Group::AmideNitrogen | Group::CarbamateNitrogen)
            || before.group(next) == Group::EsterOxygen
            || before.next_to(next).any(|far| before.group(far) == Group::PrimaryAlcohol)
    });
    // An enamine without an acyl group is hydrolysed, or binds the metal elsewhere.
    let is_styrene = around().count() == 3
        && around().any(|(_, next)| before.is_aromatic_carbon(next))
        && !around().any(|(_, next)| before.element(next) == N);
    (holds || is_styrene).then_some(StereoSource::ChiralCatalyst)
}

/// C=C to epoxide: of allylic alcohols with tartrate, of aromatic alkenes and enones with a chiral catalyst; a terminal
/// epoxide is resolved by its hydrolysis.
fn epoxide(step: &Step<'_>, carbon: u32) -> Option<StereoSource> {
    let before = &step.before;
    let partner = before.doubly(carbon, |other| before.element(other) == C)?;
    let guided = [carbon, partner].into_iter().any(|end| {
        before.next_to(end).any(|next| {
            next != carbon
                && next != partner
                && (before.is_aromatic(next)
                    || before.is_carbonyl(next)
                    || before.next_to(next).any(|far| {
                        before.element(far) == O && before.hydrogens(far) == 1 && before.is_sp3(next)
                    }))
        })
    });
    let is_terminal = before.degree(partner) == 1 || before.degree(carbon) == 1;
    if guided { Some(StereoSource::ChiralCatalyst) } else { is_terminal.then_some(StereoSource::Resolution) }
}

/// Returns true if the step makes the carbon one of an epoxide.
fn is_epoxidised(step: &Step<'_>, carbon: u32) -> bool {
    step.image(carbon).is_some_and(|image| {
        step.after.next_to(image).any(|next| step.after.element(next) == O && step.after.ring(next) == 3)
            && !step.before.is_beside_epoxide_oxygen(carbon)
    })
}

/// Returns true if both ends of a double bond are in one ring.
fn is_in_ring_with(step: &Step<'_>, a: u32, b: u32) -> bool {
    step.before.bond(a, b).is_some_and(|bond| bond.ring > 0)
}
