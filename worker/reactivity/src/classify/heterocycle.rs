//! Names of ring syntheses, by the ring that forms. Names after Joule and Mills, "Heterocyclic Chemistry".

use crate::change::Step;
use crate::classify::aromatic_ring;
use crate::group::Group;
use crate::queries::*;
use crate::reaction_class::{ReactionClass, class};

/// Class of the heterocycle that the step closes; `None` if it closes none.
pub fn class(step: &Step<'_>) -> Option<ReactionClass> {
    if esterifies_boron(step) {
        return Some(class!("boronic ester formation"));
    }
    if opens_isoxazole(step) {
        return Some(class!("isoxazole ring opening"));
    }
    let rings: Vec<Ring> = step
        .change
        .made
        .iter()
        .filter_map(|&(a, b, _)| {
            let atoms = smallest_ring(step, step.image(a)?, step.image(b)?)?;
            Some(Ring { atoms, ends: [a, b] })
        })
        .collect();
    if rings.iter().any(|ring| ring.closes_on_arene(step, Group::Amide)) {
        return Some(class!("Bischler-Napieralski reaction"));
    }
    let aldehyde_or_ketone = [Group::Aldehyde, Group::Ketone];
    if aldehyde_or_ketone.iter().any(|&group| rings.iter().any(|ring| ring.closes_on_arene(step, group))) {
        return Some(class!("Pictet-Spengler reaction"));
    }
    if rings.iter().any(|ring| ring.is_closed_by_boron(step)) {
        return Some(class!("lithiation-borylation"));
    }
    if closes_by_thionation(step) {
        return Some(class!("cyclisation by thionation"));
    }
    if let Some(class) = rings
        .iter()
        .find_map(|ring| ring.closes_on_alkyne(step).filter(|class| class.name == "Larock heteroannulation"))
    {
        return Some(class);
    }
    let closes = |ring: &&Ring| ring.has_heteroatom_at_end(step) || ring.becomes_heteroaromatic(step);
    let ring = rings.iter().find(closes)?;
    Some(ring.class(step))
}

/// Returns true if sulfur from a reagent that is not listed becomes that of an aromatic ring (Ozturk and others, Chem. Rev. 2010, 110, 3419).
fn closes_by_thionation(step: &Step<'_>) -> bool {
    let added = &step.change.added;
    added.iter().any(|&(_, new, _)| {
        step.after.element(new) == S
            && step.after.is_aromatic(new)
            && added.iter().filter(|&&(_, other, _)| other == new).count() == 2
    })
}

/// Returns true if boron exchanges one oxygen for another (Hall, "Boronic Acids", chapter 1).
fn esterifies_boron(step: &Step<'_>) -> bool {
    let it = &step.before;
    step.joined().any(|(boron, oxygen)| {
        it.element(boron) == B && it.element(oxygen) == O && it.hydrogens(oxygen) > 0 && it.carbons(boron) > 0
    })
}

/// Returns true if the N-O bond of an aromatic ring breaks: by base without a substituent beside nitrogen, else by hydrogen.
fn opens_isoxazole(step: &Step<'_>) -> bool {
    let it = &step.before;
    step.change.broken.iter().any(|&(a, b, _)| {
        let elements = [it.element(a), it.element(b)];
        let ring = [a, b].iter().all(|&atom| it.is_aromatic(atom) && it.ring(atom) == 5);
        ring && (elements == [N, O] || elements == [O, N])
    })
}

/// Ring of five or six atoms that a new bond closes.
struct Ring {
    /// Atoms as after the step, in order.
    atoms: Vec<u32>,
    /// Atoms of the new bond, as before the step.
    ends: [u32; 2],
}

impl Ring {
    fn has_heteroatom_at_end(&self, step: &Step<'_>) -> bool {
        self.atoms.len() > 4 && self.ends.iter().any(|&end| !matches!(step.before.element(end), C | B))
    }

    /// Returns true if the ring is an aromatic heterocycle that was none before (Gould-Jacobs, Madelung, Conrad-Limpach).
    fn becomes_heteroaromatic(&self, step: &Step<'_>) -> bool {
        let after = step.after;
        let aromatic = self.atoms.iter().all(|&atom| after.is_aromatic(atom));
        let hetero = self.atoms.iter().any(|&atom| after.element(atom) != C);
        let was_open = self.ends.iter().any(|&end| !step.before.is_aromatic(end));
        self.atoms.len() > 4 && aromatic && hetero && was_open
    }

    /// Returns true if an arene takes boron that its own molecule holds afterwards: benzoxaboroles.
    fn is_closed_by_boron(&self, step: &Step<'_>) -> bool {
        let it = &step.before;
        let [a, b] = self.ends;
        [(a, b), (b, a)].iter().any(|&(arene, boron)| it.is_aromatic(arene) && it.element(boron) == B)
    }

    /// Returns true if the ring has two new bonds between carbons, and a nitrogen: cycloaddition of an azomethine ylide.
    fn joins_carbons_twice(&self, step: &Step<'_>) -> bool {
        let is_in_ring = |atom: u32| step.image(atom).is_some_and(|image| self.atoms.contains(&image));
        let is_carbon = |atom: u32| step.before.element(atom) == C;
        let joins =
            |&&(a, b, _): &&(u32, u32, _)| is_carbon(a) && is_carbon(b) && is_in_ring(a) && is_in_ring(b);
        step.change.made.iter().filter(joins).count() > 1
    }

    /// Returns true if an aldehyde joins two carbons of the ring, each at the end of an enamine (Hantzsch, Liebigs Ann. Chem. 1882, 215, 1).
    fn joins_two_enamines(&self, step: &Step<'_>) -> bool {
        let after = step.after;
        let is_enamine = |carbon: u32| {
            self.atoms.contains(&carbon)
                && after
                    .doubly(carbon, |next| after.element(next) == C && after.count(next, N) == 1)
                    .is_some()
        };
        let joins = |atom: u32| {
            step.before.group(atom) == Group::Aldehyde
                && step.lost_oxo(atom)
                && step
                    .image(atom)
                    .is_some_and(|image| after.next_to(image).filter(|&next| is_enamine(next)).count() == 2)
        };
        step.atoms().any(joins)
    }

    /// Returns true if a carbonyl group that becomes an iminium ion closes a ring of six on an arene.
    fn closes_on_arene(&self, step: &Step<'_>, group: Group) -> bool {
        let it = &step.before;
        let [a, b] = self.ends;
        [(a, b), (b, a)].iter().any(|&(arene, carbon)| {
            let on_nitrogen = step.image(carbon).is_some_and(|carbon| step.after.count(carbon, N) > 0);
            self.atoms.len() == 6
                && it.is_aromatic_carbon(arene)
                && it.hydrogens(arene) > 0
                && it.group(carbon) == group
                && step.lost_oxo(carbon)
                && on_nitrogen
                && !self.atoms.iter().all(|&atom| step.after.is_aromatic(atom))
        })
    }

    /// Returns true if an atom of this element stands between two carbonyl groups of carbon acids in the ring.
    fn joins_two_carbonyl_groups(&self, step: &Step<'_>, element: u8) -> bool {
        let after = step.after;
        let acyl =
            |atom: u32| after.is_carbonyl(atom) && after.carbons(atom) > 0 && self.atoms.contains(&atom);
        let joins = |atom: u32| after.next_to(atom).filter(|&next| acyl(next)).count() > 1;
        self.atoms.iter().any(|&atom| after.element(atom) == element && joins(atom))
    }

    /// Class of a ring whose heteroatom adds to an alkyne: that of its own molecule, or one that joins the aryl halide beside it (Larock and
    /// Yum, J. Am. Chem. Soc. 1991, 113, 6689).
    fn closes_on_alkyne(&self, step: &Step<'_>) -> Option<ReactionClass> {
        let it = &step.before;
        let [a, b] = self.ends;
        let (alkyne, donor) = if it.element(a) == C { (a, b) } else { (b, a) };
        let far = it.triply(alkyne).filter(|&far| it.element(far) == C)?;
        if !matches!(it.element(donor), N | O) || it.hydrogens(donor) == 0 {
            return None;
        }
        let is_lost = |gone: u32| is_heavy_halogen(it.element(gone));
        let joins_arene = |atom: u32| {
            step.gained(atom)
                .any(|(aryl, _)| it.is_aromatic(aryl) && step.lost(aryl).any(|(gone, _)| is_lost(gone)))
        };
        match () {
            () if joins_arene(alkyne) || joins_arene(far) => Some(class!("Larock heteroannulation")),
            () if step.change.made.len() == 1 && it.element(donor) == N => {
                Some(class!("alkyne hydroamination"))
            }
            () => None,
        }
    }

    fn class(&self, step: &Step<'_>) -> ReactionClass {
        let (ring, after) = (&self.atoms, step.after);
        let aromatic = ring.iter().all(|&atom| after.is_aromatic(atom));
        let count = |element: u8| ring.iter().filter(|&&atom| after.element(atom) == element).count();
        let nitro = self.ends.into_iter().find(|&end| step.before.is_nitro(end));
        if step.atoms().any(|atom| step.is_bartoli_indole(atom)) {
            return class!("Bartoli indole synthesis");
        }
        if nitro.is_some_and(|nitro| self.ends.iter().any(|&end| step.is_cadogan_closure(nitro, end))) {
            return class!("Cadogan cyclisation");
        }
        if aromatic && reduces_nitro(step) {
            return class!("reductive cyclisation");
        }
        if let Some(class) = self.closes_on_alkyne(step) {
            return class;
        }
        if let Some(class) = aromatic_ring::class(after, ring) {
            return class;
        }
        match (ring.len(), aromatic, count(N), count(O), count(S)) {
            (6, true, 0, 1, 0) => class!("pyranone or chromone synthesis"),
            _ if self.joins_two_carbonyl_groups(step, N) => class!("imide formation"),
            _ if self.joins_two_carbonyl_groups(step, O) => class!("anhydride formation"),
            (6, false, 1, 0, 0) if self.joins_two_enamines(step) => {
                class!("Hantzsch dihydropyridine synthesis")
            }
            (5, false, 1, 0, 0) if self.joins_carbons_twice(step) => class!("1,3-dipolar cycloaddition"),
            (_, false, _, _, _) if reduces_nitro(step) => class!("reductive cyclisation"),
            (_, false, _, _, _) => class!("heterocyclisation"),
            _ => class!("heterocycle formation"),
        }
    }
}

/// Returns true if a nitro group changes, other than that of a nitroalkane, which becomes the nitrile oxide.
fn reduces_nitro(step: &Step<'_>) -> bool {
    let it = &step.before;
    let becomes_nitrile_oxide =
        |nitro: u32| it.next_to(nitro).any(|carbon| it.is_sp3(carbon) && step.forms_bond(carbon));
    step.atoms().any(|atom| {
        it.group(atom) == Group::Nitro && !step.is_untouched(atom) && !becomes_nitrile_oxide(atom)
    })
}

/// Atoms of a smallest ring through a bond of the product, of at most six, in order.
fn smallest_ring(step: &Step<'_>, a: u32, b: u32) -> Option<Vec<u32>> {
    let after = step.after;
    after.bond(a, b).filter(|bond| (3..=6).contains(&bond.ring))?;
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
