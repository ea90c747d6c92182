//! Building of molecules from the components of a draft.

use chem_fast::implicit_hydrogens;
use chematic::core::ez_markers::{self, EzFact, EzFactEnd};
use chematic::core::{
    Atom, AtomIdx, BondOrder, Chirality, Element, Molecule as Graph, MoleculeBuilder, STEREO_H_SENTINEL,
};

use super::digests::Digests;
use super::draft::DraftGraph;
use super::parts::{Parts, Precursor};
use super::script::Script;
use super::script_stereo::WrittenCentre;
use crate::graph::index::index;
use crate::molecules::key;
use crate::molecules::molecule::Molecule;
use crate::templates::matching::masks::{DOUBLE, SINGLE, TRIPLE};
use crate::templates::matching::target::{DoubleBond, HYDROGEN, MatchTarget, TargetCentre};

/// Largest number of centres that one step may make of flat atoms: the two ends of a double bond.
pub(crate) const MAX_FLATTENED: usize = 2;

const SULFUR: u8 = 16;

/// The fate of a stated stereocentre.
enum CentreFate {
    /// Still stated, with its neighbours (atoms of the draft) in this order.
    Kept(Vec<u16>),
    Lost,
    /// Undecided: RDKit's rule depends on how the molecule was written.
    Unsure,
}

/// The result of building a draft.
pub(crate) enum BuildResult {
    Molecules(Vec<Precursor>),
    /// Molecules in which these stated centres of the target are flat: atoms of a double bond or an aromatic ring.
    Prochiral(Vec<Precursor>, Vec<u32>),
    /// Stated stereo is gone in another way.
    StereoLost,
    Unsure,
}

/// Builds the molecules of a draft, in the order of their keys. `parts` caches molecules made before.
pub(crate) fn molecules(
    script: &Script,
    draft: &DraftGraph,
    target: &MatchTarget,
    parts: &Parts,
) -> BuildResult {
    if target.has_other_stereo {
        return BuildResult::Unsure;
    }
    let stereo = match Stereo::of(script, draft, target) {
        Ok(stereo) => stereo,
        Err(made) => return made,
    };
    let count = draft.components.iter().max().map_or(0, |&last| usize::from(last) + 1);
    let mut digests = Digests::new(draft, count);
    for (at, clockwise, order) in &stereo.centres {
        digests.add_centre(*at, *clockwise, order);
    }
    for &(cis, atoms) in &stereo.double_bonds {
        digests.add_double_bond(cis, atoms);
    }
    let part = |component| {
        parts.get_or_make(digests.of(component), || Part::new(draft, component, &stereo)?.finish())
    };
    let precursors: Option<Vec<Precursor>> = (0..count).map(part).collect();
    let Some(mut precursors) = precursors else { return BuildResult::Unsure };
    precursors.sort_by_key(|precursor| precursor.molecule.key());
    if stereo.flattened.is_empty() {
        BuildResult::Molecules(precursors)
    } else {
        BuildResult::Prochiral(precursors, stereo.flattened)
    }
}

/// The stereo that a draft states.
#[derive(Default)]
struct Stereo {
    /// Centre atom, clockwise flag, and order of neighbours.
    centres: Vec<(usize, bool, Vec<u16>)>,
    /// Flag for the first and last of these four atoms being on one side of the double bond between the middle two.
    double_bonds: Vec<(bool, [usize; 4])>,
    /// Centres of the target that are flat in the draft, at most [`MAX_FLATTENED`].
    flattened: Vec<u32>,
}

impl Stereo {
    /// Collects the stereo that the target states and keeps and that the template writes; otherwise returns the
    /// result of the draft.
    fn of(script: &Script, draft: &DraftGraph, target: &MatchTarget) -> Result<Self, BuildResult> {
        let mut stereo = Self::default();
        stereo.keep(script, draft, target)?;
        stereo.write(script, draft, target)?;
        Ok(stereo)
    }

    /// Copies the stereo that the target states. Fails if stereo is lost that must be kept, or if its fate is
    /// undecided.
    fn keep(&mut self, script: &Script, draft: &DraftGraph, target: &MatchTarget) -> Result<(), BuildResult> {
        for centre in &target.centres {
            let place = draft.place(centre.atom);
            let is_among = |atoms: &[u8]| atoms.iter().any(|&atom| place == Some(usize::from(atom)));
            if is_among(&script.stereo.removed) {
                continue;
            }
            match (centre_fate(centre, draft, target), place) {
                (CentreFate::Kept(order), Some(at)) => {
                    self.centres.push((at, centre.clockwise ^ is_among(&script.stereo.inverted), order));
                }
                (CentreFate::Lost, _) if script.stereo.is_matched => {}
                (CentreFate::Lost, Some(at))
                    if self.flattened.len() < MAX_FLATTENED && is_flat(draft, at) =>
                {
                    self.flattened.push(u32::from(centre.atom));
                }
                (CentreFate::Lost, _) => return Err(BuildResult::StereoLost),
                _ => return Err(BuildResult::Unsure),
            }
        }
        for double_bond in &target.double_bonds {
            match double_bond_fate(double_bond, draft, target) {
                DoubleBondFate::Kept(atoms) => self.double_bonds.push((double_bond.cis, atoms)),
                DoubleBondFate::Lost if script.stereo.is_matched => {}
                DoubleBondFate::Lost => return Err(BuildResult::StereoLost),
                DoubleBondFate::Unsure => return Err(BuildResult::Unsure),
            }
        }
        Ok(())
    }

    /// Adds the stereo that the template writes. Undecided if it overrides the target's own stereo, or if the atom is
    /// not an ordinary centre.
    fn write(
        &mut self,
        script: &Script,
        draft: &DraftGraph,
        target: &MatchTarget,
    ) -> Result<(), BuildResult> {
        for WrittenCentre { atom, clockwise, order } in &script.stereo.centres {
            let at = usize::from(*atom);
            let (now, around) = (draft.atoms[at], draft.around(at));
            let hydrogens = usize::from(order.contains(&HYDROGEN));
            let is_usual = now.element == 6
                && usize::from(now.hydrogens) == hydrogens
                && around.len() + hydrogens == order.len()
                && around.iter().all(|&(_, order)| order == SINGLE);
            let is_stated = |source| target.centres.iter().any(|centre| centre.atom == source);
            if !is_usual || draft.sources[at].is_some_and(is_stated) {
                return Err(BuildResult::Unsure);
            }
            self.centres.push((at, *clockwise, order.to_vec()));
        }
        for &(cis, atoms) in &script.stereo.double_bonds {
            let atoms = atoms.map(usize::from);
            let stated = target.double_bonds.iter().flat_map(|double| double.ends);
            if stated.filter_map(|end| draft.place(end)).any(|end| atoms.contains(&end)) {
                return Err(BuildResult::Unsure);
            }
            self.double_bonds.push((cis, atoms));
        }
        Ok(())
    }
}

/// Returns true if an atom of the draft is aromatic, has a double bond, or is the sulfur of a sulfide.
fn is_flat(draft: &DraftGraph, at: usize) -> bool {
    let (atom, around) = (draft.atoms[at], draft.around(at));
    atom.aromatic
        || around.iter().any(|&(_, order)| order == DOUBLE)
        || atom.element == SULFUR && around.len() == 2
}

#[derive(Default)]
struct Part {
    graph: MoleculeBuilder,
    sources: Vec<Option<u32>>,
    /// Double bonds of stated configuration. The flag is set if the first and last of the four atoms are on one side.
    double_bonds: Vec<(bool, [AtomIdx; 4])>,
}

impl Part {
    /// Builds a component of a draft; `None` if it has an atom or a bond that no molecule has.
    fn new(draft: &DraftGraph, component: usize, stereo: &Stereo) -> Option<Self> {
        let mut part = Self::default();
        let mut places = vec![0; draft.atoms.len()];
        let is_here = |at: usize| usize::from(draft.components[at]) == component;
        for at in (0..draft.atoms.len()).filter(|&at| is_here(at)) {
            let atom = draft.atoms[at];
            let mut new = Atom::new(Element::from_atomic_number(atom.element)?);
            new.charge = atom.charge;
            new.aromatic = atom.aromatic;
            new.isotope = (atom.isotope != 0).then_some(atom.isotope);
            new.hydrogen_count = (!is_usual(draft, at)).then_some(atom.hydrogens);
            if let Some(&(_, clockwise, _)) = stereo.centres.iter().find(|centre| centre.0 == at) {
                new.chirality = if clockwise { Chirality::Clockwise } else { Chirality::CounterClockwise };
                new.hydrogen_count = Some(atom.hydrogens);
            }
            places[at] = part.sources.len();
            part.graph.add_atom(new);
            part.sources.push(draft.sources[at].map(u32::from));
        }
        for at in (0..draft.atoms.len()).filter(|&at| is_here(at)) {
            for &(next, order) in draft.around(at).iter().filter(|&&(next, _)| usize::from(next) >= at) {
                let order = match order {
                    SINGLE => BondOrder::Single,
                    DOUBLE => BondOrder::Double,
                    TRIPLE => BondOrder::Triple,
                    _ => BondOrder::Aromatic,
                };
                part.graph.add_bond(index(places[at]), index(places[usize::from(next)]), order).ok()?;
            }
        }
        for (at, _, order) in stereo.centres.iter().filter(|centre| is_here(centre.0)) {
            let name = |&atom: &u16| match atom {
                HYDROGEN => STEREO_H_SENTINEL,
                atom => index(places[usize::from(atom)]).0,
            };
            part.graph.set_stereo_neighbor_order(index(places[*at]), order.iter().map(name).collect());
        }
        for (cis, atoms) in stereo.double_bonds.iter().filter(|(_, atoms)| is_here(atoms[0])) {
            part.double_bonds.push((*cis, atoms.map(|atom| index(places[atom]))));
        }
        Some(part)
    }

    /// Finishes the molecule; `None` if only the canonical form shows whether the stereo is meaningful.
    fn finish(self) -> Option<Precursor> {
        let mut graph: Graph = self.graph.build();
        let bond = |a, b| graph.bond_between(a, b).map(|(bond, _)| bond);
        let fact = |&(cis, [side, end, other_end, other_side]): &(bool, [AtomIdx; 4])| {
            let ends = [
                EzFactEnd { atom: end, reference: bond(side, end)?, up: true },
                EzFactEnd { atom: other_end, reference: bond(other_side, other_end)?, up: cis },
            ];
            Some(EzFact { double: bond(end, other_end)?, ends })
        };
        let facts: Vec<EzFact> = self.double_bonds.iter().map(fact).collect::<Option<_>>()?;
        // Marks shared by two double bonds may also determine a third.
        if !ez_markers::write_ez_facts(&mut graph, &facts)
            || facts.len() > 1 && ez_markers::read_ez_facts(&graph)?.0.len() != facts.len()
        {
            return None;
        }
        let key = key::of_graph(&graph)?;
        Some(Precursor { molecule: Molecule::from_perceived(&graph, key), sources: self.sources.into() })
    }
}

/// The fate of a double bond of stated configuration.
enum DoubleBondFate {
    /// Still stated, by four atoms of the draft in a row: a side atom, the two ends, the other side atom.
    Kept([usize; 4]),
    Lost,
    Unsure,
}

/// Decides the fate of a double bond. If both ends keep their neighbours, the configuration is kept. RDKit's rules
/// for other cases depend on how the template is written.
fn double_bond_fate(double_bond: &DoubleBond, draft: &DraftGraph, target: &MatchTarget) -> DoubleBondFate {
    let order = |a: usize, b: usize| {
        draft.around(a).iter().find(|&&(next, _)| usize::from(next) == b).map(|&(_, order)| order)
    };
    let [Some(a), Some(b)] = double_bond.ends.map(|end| draft.place(end)) else {
        return DoubleBondFate::Lost;
    };
    let is_bare = |end: usize| draft.around(end).len() == 1;
    if order(a, b) != Some(DOUBLE) || is_bare(a) || is_bare(b) {
        return DoubleBondFate::Lost;
    }
    let is_untouched = |(end, at): (u8, usize)| {
        let before = target.around(end);
        before.len() == draft.around(at).len()
            && target.atoms[usize::from(end)] == draft.atoms[at]
            && before
                .iter()
                .all(|&(next, was)| draft.place(next).is_some_and(|place| order(at, place) == Some(was)))
    };
    let sides = double_bond.sides.map(|side| draft.place(side));
    match sides {
        [Some(side), Some(other)] if double_bond.ends.into_iter().zip([a, b]).all(is_untouched) => {
            DoubleBondFate::Kept([side, a, b, other])
        }
        _ => DoubleBondFate::Unsure,
    }
}

/// Returns true if an atom is written without brackets, so that its hydrogens follow from its bonds.
fn is_usual(draft: &DraftGraph, at: usize) -> bool {
    let atom = draft.atoms[at];
    let (mut aromatic, mut plain) = (0, 0);
    for &(_, order) in draft.around(at) {
        match order {
            SINGLE => plain += 1,
            DOUBLE => plain += 2,
            TRIPLE => plain += 3,
            _ => aromatic += 1,
        }
    }
    let usual = match (atom.aromatic, atom.element) {
        (true, 6) => u8::try_from(3 - aromatic - plain).unwrap_or(0),
        (true, _) => 0,
        (false, element) => implicit_hydrogens(element, 0, plain),
    };
    let organic = matches!(atom.element, 5..=9 | 15..=17 | 35 | 53);
    organic && atom.charge == 0 && atom.isotope == 0 && atom.hydrogens == usual
}

/// Decides the fate of a centre (RDKit's `checkAndCorrectChiralityOfMatchingAtomsInProduct`), where it depends on the
/// molecule alone. A centre keeps its configuration, and one neighbour may be replaced by another.
fn centre_fate(centre: &TargetCentre, draft: &DraftGraph, target: &MatchTarget) -> CentreFate {
    let Some(at) = draft.place(centre.atom) else { return CentreFate::Lost };
    let before = target.around(centre.atom);
    let after = draft.around(at);
    let (was, now) = (target.atoms[usize::from(centre.atom)], draft.atoms[at]);
    let is_bonded = |source: u16| {
        let place = draft.place(u8::try_from(source).ok()?)?;
        after.iter().any(|&(next, _)| usize::from(next) == place).then_some(place as u16)
    };
    let mut order = Vec::with_capacity(4);
    let mut gone = Vec::new();
    for (slot, &neighbour) in centre.order.iter().enumerate() {
        match (neighbour, is_bonded(neighbour)) {
            (HYDROGEN, _) => order.push(HYDROGEN),
            (_, Some(place)) => order.push(place),
            (_, None) => {
                gone.push(slot);
                order.push(HYDROGEN);
            }
        }
    }
    let touched = was != now || !gone.is_empty() || before.len() != after.len();
    if !touched && before.iter().map(|link| link.1).eq(after.iter().map(|link| link.1)) {
        return CentreFate::Kept(order);
    }
    if now.element == SULFUR && after.len() == 2 {
        return CentreFate::Lost;
    }
    if was.element != 6 || now.element != 6 {
        return if touched { CentreFate::Unsure } else { CentreFate::Kept(order) };
    }
    if now.hydrogens > 1 || after.len() < 3 || after.iter().any(|link| link.1 != SINGLE) {
        return CentreFate::Lost;
    }
    if before.len() != after.len() || was.hydrogens != now.hydrogens || gone.len() > 1 {
        return CentreFate::Unsure;
    }
    if let Some(&slot) = gone.first() {
        let came = after.iter().map(|link| link.0).find(|next| !order.contains(next));
        let Some(came) = came else { return CentreFate::Unsure };
        order[slot] = came;
    }
    CentreFate::Kept(order)
}
