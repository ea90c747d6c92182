//! Changes of a step: bonds made, broken and reordered, hydrogens and charges.

use chem::{Order, Structure};

use crate::group::{Group, aromatic_positions, groups};
use crate::queries::{C, O, S, StructureQueries};

/// Molecule with the functional group of each of its atoms.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    pub(crate) structure: Structure,
    pub(crate) groups: Vec<Group>,
    molecule: Option<chem::Molecule>,
}

impl Facts {
    /// Analyses a molecule, which takes some tens of microseconds.
    #[must_use]
    pub fn of(molecule: &chem::Molecule) -> Self {
        let structure = Structure::of(molecule);
        let groups = groups(&structure);
        Self { structure, groups, molecule: Some(molecule.clone()) }
    }

    /// Number of atoms.
    #[must_use]
    pub fn atoms(&self) -> usize {
        self.structure.len()
    }

    /// Returns true if the molecule is its own mirror image.
    pub(crate) fn is_achiral(&self) -> bool {
        self.molecule.as_ref().is_some_and(chem::Molecule::is_achiral)
    }

    /// Returns true if a double bond with a hydrogen at each end is written as trans.
    pub(crate) fn has_trans_alkene(&self) -> bool {
        self.is_written_with(["/C=C/", r"\C=C\"])
    }

    /// Returns true if a double bond with a hydrogen at each end is written as cis.
    pub(crate) fn has_cis_alkene(&self) -> bool {
        self.is_written_with([r"/C=C\", r"\C=C/"])
    }

    /// Returns true if the canonical SMILES has one of these parts.
    fn is_written_with(&self, parts: [&str; 2]) -> bool {
        self.molecule.as_ref().is_some_and(|molecule| {
            let smiles = molecule.canonical_smiles();
            parts.iter().any(|part| smiles.contains(part))
        })
    }

    /// Functional group of an atom.
    pub(crate) fn group(&self, atom: u32) -> Group {
        self.groups[atom as usize]
    }

    /// Returns true for an aromatic carbon beside the nitrogen of an azine or across from one.
    pub(crate) fn has_conjugated_azine(&self, atom: u32) -> bool {
        aromatic_positions(&self.structure, atom).iter().any(|&(other, distance)| {
            distance != 2 && self.group(other) == Group::Azine && self.ring(other) == 6
        })
    }

    /// Returns true for a carbon of an azole with two nitrogens or more and its N–H, whose nitrogens take electrophiles and whose anion holds
    /// substituents (Joule and Mills 2010, chapters 24, 25 and 29).
    pub(crate) fn is_on_free_azole(&self, carbon: u32) -> bool {
        self.azole_nitrogens(carbon)
            .any(|nitrogen| self.group(nitrogen) == Group::Azole && self.hydrogens(nitrogen) > 0)
    }

    /// Returns true for a carbon of a C=C bond without an acceptor at either end.
    pub(crate) fn is_plain_alkene(&self, atom: u32) -> bool {
        self.group(atom) == Group::Alkene
            && !self.is_alpha(atom)
            && self.doubly(atom, |next| self.element(next) == C && !self.is_alpha(next)).is_some()
    }

    /// Returns true for the oxygen of a primary, secondary or tertiary alcohol.
    pub(crate) fn is_alcohol(&self, oxygen: u32) -> bool {
        matches!(self.group(oxygen), Group::PrimaryAlcohol | Group::SecondaryAlcohol | Group::TertiaryAlcohol)
    }

    /// Returns true for an alkylamine with hydrogen.
    pub(crate) fn is_amine(&self, nitrogen: u32) -> bool {
        matches!(self.group(nitrogen), Group::PrimaryAmine | Group::SecondaryAmine)
            && self.hydrogens(nitrogen) > 0
    }

    /// Returns true for the nitrogen of an alkylamine, whatever else it bears.
    pub(crate) fn is_alkylamine(&self, nitrogen: u32) -> bool {
        matches!(self.group(nitrogen), Group::PrimaryAmine | Group::SecondaryAmine | Group::TertiaryAmine)
    }

    /// Returns true for ammonia, and for the nitrogen of a primary or secondary alkylamine or aniline.
    pub(crate) fn is_simple_amine(&self, nitrogen: u32) -> bool {
        matches!(
            self.group(nitrogen),
            Group::Ammonia
                | Group::PrimaryAmine
                | Group::SecondaryAmine
                | Group::Aniline
                | Group::SecondaryAniline
        )
    }

    /// Returns true for the nitrogen of an arylamine, whatever else it bears.
    pub(crate) fn is_arylamine(&self, nitrogen: u32) -> bool {
        matches!(
            self.group(nitrogen),
            Group::Aniline
                | Group::SecondaryAniline
                | Group::TertiaryAniline
                | Group::PoorAniline
                | Group::Diarylamine
        )
    }

    /// Returns true for the nitrogen of an aniline that has a hydrogen.
    pub(crate) fn is_free_aniline(&self, atom: u32) -> bool {
        matches!(self.group(atom), Group::Aniline | Group::SecondaryAniline) && self.hydrogens(atom) > 0
    }
}

impl StructureQueries for Facts {
    fn structure(&self) -> &Structure {
        &self.structure
    }
}

/// Step with the reaction mixture, the wanted product and the atom map.
#[derive(Debug)]
pub struct Step<'a> {
    /// All precursors, with their atoms numbered consecutively.
    pub(crate) before: Facts,
    pub(crate) after: &'a Facts,
    /// For each atom before, the molecule of the reaction mixture that it belongs to.
    pub(crate) molecule_of: Vec<u8>,
    /// For each atom before, the atom after.
    pub(crate) image: Vec<Option<u32>>,
    /// For each atom after, the atom before.
    pub(crate) origin: Vec<Option<u32>>,
    pub(crate) change: StepChange,
    /// Set if flat atoms become stereocentres, and the template does not say how.
    pub(crate) prochiral: bool,
}

/// Bonds that a step changes. Atoms are numbered as before the step.
#[derive(Debug, Default)]
pub struct StepChange {
    /// New bonds between atoms of the reaction mixture.
    pub made: Vec<(u32, u32, Order)>,
    /// New bonds to atoms that no precursor provides, which are numbered as after the step.
    pub added: Vec<(u32, u32, Order)>,
    /// Bonds that exist only before. An atom that leaves has no image.
    pub broken: Vec<(u32, u32, Order)>,
    /// Bonds whose order changes, with the orders before and after.
    pub reordered: Vec<(u32, u32, Order, Order)>,
}

impl<'a> Step<'a> {
    /// Builds the step from `precursor_facts` to `product`. For each atom of each molecule of the reaction mixture, `sources`
    /// gives the atom of the product that it becomes.
    #[must_use]
    pub fn new<'b>(
        precursor_facts: impl IntoIterator<Item = (&'b Facts, &'b [Option<u32>])>,
        product: &'a Facts,
    ) -> Self {
        let mut before = Facts::default();
        let (mut molecule_of, mut image) = (Vec::new(), Vec::new());
        for (number, (facts, sources)) in precursor_facts.into_iter().enumerate() {
            before.structure.append(&facts.structure);
            before.groups.extend_from_slice(&facts.groups);
            image.extend_from_slice(sources);
            image.resize(before.structure.len(), None);
            molecule_of.resize(before.structure.len(), number as u8);
        }
        let mut origin = vec![None; product.structure.len()];
        for (atom, target) in image.iter().enumerate() {
            if let Some(target) = *target {
                origin[target as usize] = Some(atom as u32);
            }
        }
        let mut map = AtomMap { before: &before, after: product, image, origin };
        map.keep_carbonyl_oxygens();
        map.complete();
        let AtomMap { image, origin, .. } = map;
        let change = StepChange::of(&before, product, &image, &origin);
        Self { before, after: product, molecule_of, image, origin, change, prochiral: false }
    }

    /// Says whether flat atoms become stereocentres of the product though the template does not say how.
    #[must_use]
    pub fn with_prochiral(self, prochiral: bool) -> Self {
        Self { prochiral, ..self }
    }

    /// Atom of the product that an atom of the reaction mixture becomes.
    pub fn image(&self, atom: u32) -> Option<u32> {
        self.image[atom as usize]
    }

    /// Number of hydrogens that an atom gains; 0 for an atom that leaves.
    pub fn hydrogens_gained(&self, atom: u32) -> i32 {
        self.image(atom).map_or(0, |image| {
            i32::from(self.after.hydrogens(image)) - i32::from(self.before.hydrogens(atom))
        })
    }

    /// Bonds broken at an atom: the other atom and the order.
    pub fn lost(&self, atom: u32) -> impl Iterator<Item = (u32, Order)> + '_ {
        at(&self.change.broken, atom)
    }

    /// Bonds made at an atom, within the reaction mixture.
    pub fn gained(&self, atom: u32) -> impl Iterator<Item = (u32, Order)> + '_ {
        at(&self.change.made, atom)
    }

    /// Atoms that the step bonds within the reaction mixture, each pair in both orders.
    pub fn joined(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.change.made.iter().flat_map(|&(a, b, _)| [(a, b), (b, a)])
    }

    /// Returns true if the atom forms a new bond, to an atom of the reaction mixture or of an unlisted reagent.
    pub fn forms_bond(&self, atom: u32) -> bool {
        self.gained(atom).next().is_some() || self.change.added.iter().any(|&(at, _, _)| at == atom)
    }

    /// Returns true for the ring's oxygen and the acetal carbon of a lactol that a hydride opens to the diol, by way of the aldehyde.
    pub fn opens_lactol(&self, oxygen: u32, carbon: u32) -> bool {
        let it = &self.before;
        it.bond(oxygen, carbon).is_some_and(|bond| bond.ring > 0)
            && it.next_to(carbon).any(|next| next != oxygen && it.is_hydroxyl(next))
            && self.hydrogens_gained(carbon) > 0
            && self.image(carbon).is_some_and(|image| self.after.is_sp3(image))
    }

    /// Returns true if the atom loses hydrogen, and no bond of it breaks or changes its order.
    pub fn loses_only_hydrogen(&self, atom: u32) -> bool {
        self.hydrogens_gained(atom) < 0
            && self.lost(atom).next().is_none()
            && self.reordered(atom).next().is_none()
    }

    /// Returns true if the step leaves an epoxide unreacted.
    pub fn keeps_epoxide(&self) -> bool {
        let epoxide = |atom: u32| self.before.element(atom) == O && self.before.ring(atom) == 3;
        self.atoms().any(|atom| epoxide(atom) && self.is_untouched(atom))
    }

    /// Returns true if the step leaves the N–H of an azole.
    pub fn keeps_free_azole(&self) -> bool {
        self.atoms().any(|atom| {
            self.before.group(atom) == Group::Azole
                && self.before.hydrogens(atom) > 0
                && self.is_untouched(atom)
        })
    }

    /// Returns true for the nitro group of a biaryl that loses its oxygens to a phosphine and closes the pyrrole ring of a carbazole (Freeman, Butler and Freedman, J. Org. Chem.
    /// 2005, 70, 5014).
    pub fn is_cadogan_closure(&self, nitrogen: u32, carbon: u32) -> bool {
        let it = &self.before;
        it.is_nitro(nitrogen)
            && it.is_aromatic_carbon(carbon)
            && self.are_in_same_molecule(nitrogen, carbon)
            && self.image(nitrogen).is_some_and(|image| {
                self.after.is_aromatic(image)
                    && self.after.ring(image) == 5
                    && self.after.count(image, O) == 0
            })
    }

    /// Returns true for the nitroarene that takes a vinyl Grignard reagent to the indole (Bartoli, Dalpozzo and Nardi, Chem. Soc. Rev. 2014, 43, 4728): the vinyl carbon joins the nitrogen.
    pub fn is_bartoli_indole(&self, nitrogen: u32) -> bool {
        let it = &self.before;
        let becomes_indole = |image: u32| {
            self.after.is_aromatic(image) && self.after.ring(image) == 5 && self.after.hydrogens(image) == 1
        };
        let joins_vinyl = |atom: u32| {
            self.gained(atom).any(|(vinyl, _)| {
                it.doubly(vinyl, |other| it.element(other) == C).is_some() && !it.is_aromatic(vinyl)
            })
        };
        let bears_group = |ipso: u32| {
            it.is_aromatic(ipso)
                && it.next_to(ipso).any(|ortho| it.is_aromatic_carbon(ortho) && it.hydrogens(ortho) == 0)
        };
        it.is_nitro(nitrogen)
            && self.image(nitrogen).is_some_and(becomes_indole)
            && joins_vinyl(nitrogen)
            && it.next_to(nitrogen).any(bears_group)
            && self.atoms().any(|atom| it.group(atom) == Group::Organometal && !self.is_untouched(atom))
    }

    /// Returns true for the β-carbon of an alkyl Grignard reagent whose two carbons join that of a nitrile, by way of the titanacyclopropane (Bertus and Szymoniak, Synlett 2007,
    /// 1346).
    pub fn is_titanacyclopropane(&self, beta: u32, nitrile: u32) -> bool {
        let it = &self.before;
        it.is_sp3(beta)
            && it.group(nitrile) == Group::Nitrile
            && self.image(nitrile).is_some_and(|image| self.after.is_cyclopropane(image))
            && it.next_to(beta).any(|alpha| {
                it.group(alpha) == Group::Organometal && self.gained(alpha).any(|(other, _)| other == nitrile)
            })
    }

    /// Returns true if the step leaves an alkylamine with hydrogen unreacted.
    pub fn leaves_amine(&self) -> bool {
        self.atoms().any(|atom| self.before.is_amine(atom) && self.is_untouched(atom))
    }

    /// Returns true for the O–H of a carboxylic acid that the step leaves.
    pub fn is_kept_acid(&self, atom: u32) -> bool {
        self.before.group(atom) == Group::AcidOxygen
            && self.before.hydrogens(atom) > 0
            && self.is_untouched(atom)
    }

    /// Bonds of the atom whose order changes: the other atom, the orders before and after.
    pub fn reordered(&self, atom: u32) -> impl Iterator<Item = (u32, Order, Order)> + '_ {
        self.change.reordered.iter().filter_map(move |&(a, b, before, after)| {
            (a == atom).then_some((b, before, after)).or((b == atom).then_some((a, before, after)))
        })
    }

    /// Returns true if the step does not change the atom's hydrogens, charge and bonds.
    pub fn is_untouched(&self, atom: u32) -> bool {
        let Some(image) = self.image(atom) else { return false };
        let is_in = |a: u32, b: u32| a == atom || b == atom;
        self.hydrogens_gained(atom) == 0
            && self.before.at(atom).charge == self.after.at(image).charge
            && !self.change.made.iter().any(|&(a, b, _)| is_in(a, b))
            && !self.change.broken.iter().any(|&(a, b, _)| is_in(a, b))
            && !self.change.added.iter().any(|&(a, _, _)| a == atom)
            && !self.change.reordered.iter().any(|&(a, b, _, _)| is_in(a, b))
    }

    /// Returns true if two atoms of the reaction mixture are equivalent by symmetry.
    pub fn are_equivalent(&self, a: u32, b: u32) -> bool {
        self.before.at(a).class == self.before.at(b).class
    }

    /// Returns true if two atoms belong to the same molecule of the reaction mixture.
    pub fn are_in_same_molecule(&self, a: u32, b: u32) -> bool {
        self.molecule_of[a as usize] == self.molecule_of[b as usize]
    }

    /// All atoms of the reaction mixture.
    pub fn atoms(&self) -> impl Iterator<Item = u32> + use<> {
        0..self.before.structure.len() as u32
    }
}

/// Atom map of a template, corrected to agree with the mechanism.
struct AtomMap<'a> {
    before: &'a Facts,
    after: &'a Facts,
    image: Vec<Option<u32>>,
    origin: Vec<Option<u32>>,
}

impl AtomMap<'_> {
    /// Keeps the doubly bonded oxygen of an acid in place. Templates do not distinguish which oxygen leaves.
    fn keep_carbonyl_oxygens(&mut self) {
        for carbon in 0..self.image.len() as u32 {
            let Some(here) = self.image[carbon as usize] else { continue };
            let order_after =
                |atom: Option<u32>| atom.and_then(|atom| self.after.bond(here, atom)).map(|bond| bond.order);
            let Some(double) = self.before.doubly(carbon, |atom| self.is_terminal(atom)) else { continue };
            let double_stays = order_after(self.image[double as usize]) == Some(Order::Double);
            let single = self.before.around(carbon).iter().find(|bond| {
                bond.order == Order::Single
                    && self.before.element(bond.to) == self.before.element(double)
                    && order_after(self.image[bond.to as usize]) == Some(Order::Double)
            });
            if let Some(single) = single.map(|bond| bond.to).filter(|_| !double_stays) {
                self.swap(double, single);
                continue;
            }
            self.keep_diol_oxygen(carbon, double);
        }
    }

    /// Swaps the oxygens where a template puts a carbonyl group's oxygen into an acetal and loses an alcohol's. The
    /// reverse is true.
    fn keep_diol_oxygen(&mut self, carbon: u32, double: u32) {
        let Some(oxygen) = self.image[double as usize] else { return };
        let single = |atom: Option<u32>| {
            atom.and_then(|atom| self.after.bond(oxygen, atom))
                .is_some_and(|bond| bond.order == Order::Single)
        };
        if !single(self.image[carbon as usize]) {
            return;
        }
        let lost =
            self.after.next_to(oxygen).filter_map(|next| self.origin[next as usize]).find_map(|next| {
                (next != carbon).then(|| {
                    self.before.next_to(next).find(|&gone| {
                        self.image[gone as usize].is_none()
                            && self.before.element(gone) == O
                            && self.before.degree(gone) == 1
                    })
                })?
            });
        if let Some(lost) = lost {
            self.swap(double, lost);
        }
    }

    fn is_terminal(&self, atom: u32) -> bool {
        matches!(self.before.element(atom), O | S) && self.before.degree(atom) == 1
    }

    fn swap(&mut self, a: u32, b: u32) {
        self.image.swap(a as usize, b as usize);
        for atom in [a, b] {
            if let Some(image) = self.image[atom as usize] {
                self.origin[image as usize] = Some(atom);
            }
        }
    }

    /// Pairs atoms that the template has on both sides without mapping them: the oxygen of a carbonyl group that it
    /// writes as leaving and coming back.
    fn complete(&mut self) {
        let mut open: Vec<u32> =
            (0..self.image.len() as u32).filter(|&atom| self.image[atom as usize].is_some()).collect();
        while let Some(atom) = open.pop() {
            let Some(here) = self.image[atom as usize] else { continue };
            for bond in self.before.around(atom) {
                if self.image[bond.to as usize].is_some() {
                    continue;
                }
                let twin = self.after.around(here).iter().find(|new| {
                    self.origin[new.to as usize].is_none()
                        && new.order == bond.order
                        && self.after.element(new.to) == self.before.element(bond.to)
                        && self.after.degree(new.to) == self.before.degree(bond.to)
                });
                if let Some(twin) = twin {
                    self.image[bond.to as usize] = Some(twin.to);
                    self.origin[twin.to as usize] = Some(bond.to);
                    open.push(bond.to);
                }
            }
        }
    }
}

fn at(bonds: &[(u32, u32, Order)], atom: u32) -> impl Iterator<Item = (u32, Order)> + '_ {
    bonds.iter().filter_map(move |&(a, b, order)| {
        (a == atom).then_some((b, order)).or((b == atom).then_some((a, order)))
    })
}

impl StepChange {
    fn of(before: &Facts, after: &Facts, image: &[Option<u32>], origin: &[Option<u32>]) -> Self {
        let mut change = Self::default();
        for atom in 0..image.len() as u32 {
            let Some(here) = image[atom as usize] else { continue };
            for bond in before.around(atom) {
                match image[bond.to as usize] {
                    None => change.broken.push((atom, bond.to, bond.order)),
                    Some(_) if bond.to < atom => {}
                    Some(there) => match after.bond(here, there) {
                        None => change.broken.push((atom, bond.to, bond.order)),
                        Some(now) if now.order != bond.order => {
                            change.reordered.push((atom, bond.to, bond.order, now.order));
                        }
                        Some(_) => {}
                    },
                }
            }
            for bond in after.around(here) {
                match origin[bond.to as usize] {
                    None => change.added.push((atom, bond.to, bond.order)),
                    Some(other) if other > atom && before.bond(atom, other).is_none() => {
                        change.made.push((atom, other, bond.order));
                    }
                    Some(_) => {}
                }
            }
        }
        change
    }
}
