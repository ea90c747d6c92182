//! Functional groups, and which reactions they do not survive.
//!
//! What a reaction is shows in the groups that it uses up and makes; what it would harm are groups that its product
//! still has. Each such group asks for protection, which costs steps that the route does not list. The table is
//! what textbooks agree on (Wuts and Greene, "Protective Groups in Organic Synthesis", reactivity charts; Smith,
//! "March's Advanced Organic Chemistry"), coarse on purpose: a conflict makes a step dearer, it does not forbid it. Of 1,500 recorded
//! reactions of USPTO-50k, which nobody would call impossible, 4.7 % have one.

use std::sync::LazyLock;

use chem::{Molecule, Pattern, PreparedMolecule};

/// A functional group, by what its first atom is and is not.
struct Group {
    name: &'static str,
    any: &'static [&'static str],
    none: &'static [&'static str],
}

/// The groups; a [`Class`] names them.
const GROUPS: &[Group] = &[
    group("alcohol", &["[O;D1;H1;+0]-[C;+0]"], &["O-C=O", "O-C=C", "O-C=N", "O-C=S"]),
    group("phenol", &["[O;D1;H1;+0]-c"], &[]),
    group("acid", &["[O;D1;H1;+0]-[C;D3]=[O;D1]"], &[]),
    group(
        "amine",
        &["[N;D1;H2;+0]-[C;+0]", "[N;D2;H1;+0](-[C;+0])-[C;+0]"],
        &["N-C=O", "N-C=N", "N-C=S", "N-C=C", "N-C#N", "N-c"],
    ),
    group("aniline", &["[N;D1;H2;+0]-c", "[N;D2;H1;+0](-c)-[#6]"], &["N-C=O", "N-C=N", "N-C=S", "N-C#N"]),
    group("thiol", &["[S;D1;H1;+0]-[#6]"], &[]),
    group("azole", &["[n;D2;H1;+0]"], &[]),
    group("aldehyde", &["[C;D2;H1](=[O;D1])-[#6]", "[C;D1;H2]=[O;D1]"], &[]),
    group("ketone", &["[C;D3](=[O;D1])(-[#6])-[#6]"], &[]),
    group("ester", &["[C;D3](=[O;D1])(-[O;D2]-[#6])-[#6]"], &[]),
    group("acyl halide", &["[C](=[O;D1])-[Cl;D1]", "[C](=[O;D1])-[Br;D1]", "[C](=[O;D1])-[F;D1]"], &[]),
    group("anhydride", &["[O;D2](-[C]=[O;D1])-[C]=[O;D1]"], &[]),
    group("sulfonyl halide", &["[S;D4](=[O;D1])(=[O;D1])-[Cl;D1]"], &[]),
    group("isocyanate", &["[N;D2]=[C;D2]=[O;D1]"], &[]),
    group("nitrile", &["[C;D2]#[N;D1]"], &[]),
    group("nitro", &["[N;D3;+](=[O;D1])-[O;D1;-]"], &[]),
    group("azide", &["[N;D2;+](=[N;D1;-])=[N;D2]"], &[]),
    group(
        "alkyl halide",
        &["[Cl;D1]-[C]", "[Br;D1]-[C]", "[I;D1]-[C]"],
        &["*-C=O", "*-C=C", "*-C=N", "*-C-F"],
    ),
    group("aryl halide", &["[Br;D1]-c", "[I;D1]-c"], &[]),
    group("activated aryl halide", &["[F;D1]-c", "[Cl;D1]-c"], &[]),
    group("alkene", &["[C;+0]=[C;+0]"], &[]),
    group("alkyne", &["[C;+0]#[C;+0]"], &[]),
    group("terminal alkyne", &["[C;D1;H1]#[C]"], &[]),
    group("boronic acid", &["[B;D3](-[O])(-[O])-[#6]"], &[]),
    group("organometallic", &["[Mg]-[#6]", "[Li]-[#6]", "[Zn]-[#6]"], &[]),
    group("Boc", &["[C;D3](=[O;D1])(-[#7])-[O;D2]-[C;D4](-[C;D1])(-[C;D1])-[C;D1]"], &[]),
    group("tert-butyl ester", &["[C;D3](=[O;D1])(-[#6])-[O;D2]-[C;D4](-[C;D1])(-[C;D1])-[C;D1]"], &[]),
    group("Cbz", &["[C;D3](=[O;D1])(-[#7])-[O;D2]-[C;D2;H2]-c"], &[]),
    group("benzyl ether", &["[O;D2](-[C;D2;H2]-c)-[#6]"], &["O-C=O"]),
    group("silyl ether", &["[Si]-[O;D2]-[#6]"], &[]),
    group("acetal", &["[C;+0](-[O;D2]-[C])-[O;D2]-[C]"], &["C=O", "C=C", "C=N"]),
];

/// Reactions that use up one of each of `uses` and make one of each of `makes`, and what they harm.
struct Class {
    name: &'static str,
    uses: &'static [&'static [&'static str]],
    makes: &'static [&'static [&'static str]],
    harms: &'static [&'static str],
}

/// The classes; a reaction may be of several.
const CLASSES: &[Class] = &[
    class(
        "organometallic addition or coupling",
        &[&["organometallic"]],
        &[],
        &[
            "alcohol",
            "phenol",
            "acid",
            "amine",
            "aniline",
            "thiol",
            "azole",
            "aldehyde",
            "ketone",
            "ester",
            "acyl halide",
            "nitro",
            "nitrile",
            "terminal alkyne",
        ],
    ),
    class(
        "acylation or sulfonylation",
        &[&["acyl halide", "anhydride", "sulfonyl halide", "isocyanate"]],
        &[],
        &["alcohol", "phenol", "amine", "aniline", "thiol"],
    ),
    class(
        "coupling of an acid with an amine",
        &[&["acid"], &["amine", "aniline"]],
        &[],
        &["amine", "thiol", "acid"],
    ),
    class("esterification", &[&["acid"], &["alcohol", "phenol"]], &[&["ester"]], &["amine", "acid", "thiol"]),
    class(
        "alkylation",
        &[&["alkyl halide"], &["amine", "aniline", "alcohol", "phenol", "thiol", "azole", "acid"]],
        &[],
        &["amine", "thiol", "phenol", "acid"],
    ),
    class(
        "reductive amination",
        &[&["aldehyde", "ketone"], &["amine", "aniline"]],
        &[],
        &["aldehyde", "ketone", "amine"],
    ),
    class(
        "reduction of a carbonyl group",
        &[&["aldehyde", "ketone"]],
        &[&["alcohol"]],
        &["aldehyde", "ketone", "acyl halide"],
    ),
    class(
        "reduction of an acid or ester",
        &[&["acid", "ester"]],
        &[&["alcohol", "aldehyde"]],
        &["aldehyde", "ketone", "ester", "nitrile", "nitro", "azide", "alkyl halide"],
    ),
    class(
        "reduction of a nitro group or azide",
        &[&["nitro", "azide"]],
        &[&["amine", "aniline"]],
        &["alkene", "alkyne", "azide", "nitro", "aldehyde", "benzyl ether", "Cbz"],
    ),
    class(
        "hydrogenolysis",
        &[&["Cbz", "benzyl ether"]],
        &[&["amine", "alcohol", "phenol", "aniline"]],
        &["alkene", "alkyne", "nitro", "azide", "aryl halide", "Cbz", "benzyl ether"],
    ),
    class(
        "deprotection by acid",
        &[&["Boc", "tert-butyl ester"]],
        &[&["amine", "aniline", "azole", "acid"]],
        &["Boc", "tert-butyl ester", "silyl ether", "acetal"],
    ),
    class("cleavage of a silyl ether", &[&["silyl ether"]], &[&["alcohol", "phenol"]], &["silyl ether"]),
    class("hydrolysis of an ester", &[&["ester"]], &[&["acid"]], &["ester", "acyl halide", "alkyl halide"]),
    class(
        "oxidation of an alcohol",
        &[&["alcohol"]],
        &[&["aldehyde", "ketone", "acid"]],
        &["alcohol", "thiol", "amine"],
    ),
    class("Suzuki coupling", &[&["boronic acid"]], &[], &["aryl halide", "boronic acid", "thiol"]),
    class(
        "aromatic substitution",
        &[&["activated aryl halide"], &["amine", "aniline", "alcohol", "phenol", "thiol", "azole"]],
        &[],
        &["amine", "thiol", "phenol"],
    ),
];

const fn group(name: &'static str, any: &'static [&'static str], none: &'static [&'static str]) -> Group {
    Group { name, any, none }
}

const fn class(
    name: &'static str,
    uses: &'static [&'static [&'static str]],
    makes: &'static [&'static [&'static str]],
    harms: &'static [&'static str],
) -> Class {
    Class { name, uses, makes, harms }
}

/// How many of each group a molecule has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Groups([u8; GROUPS.len()]);

impl Groups {
    /// Counts the groups of a molecule; none in one too large for masks.
    pub fn of(molecule: &Molecule) -> Self {
        let prepared = PreparedMolecule::new(molecule);
        let atoms = |patterns: &[Pattern]| -> Vec<u32> {
            patterns.iter().filter_map(|pattern| pattern.first_atoms(&prepared)).flatten().collect()
        };
        let mut counts = [0; GROUPS.len()];
        for (count, (any, none)) in counts.iter_mut().zip(&TABLE.patterns) {
            let mut found = atoms(any);
            if !found.is_empty() && !none.is_empty() {
                let not = atoms(none);
                found.retain(|atom| !not.contains(atom));
            }
            found.sort_unstable();
            found.dedup();
            *count = u8::try_from(found.len()).unwrap_or(u8::MAX);
        }
        Self(counts)
    }

    fn plus(self, other: Self) -> Self {
        let mut sum = self;
        sum.0.iter_mut().zip(other.0).for_each(|(a, b)| *a = a.saturating_add(b));
        sum
    }
}

/// A group that a step would harm, by names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Conflict {
    /// What kind of reaction the step is.
    pub class: &'static str,
    /// What its product still has.
    pub group: &'static str,
}

/// The conflicts of a step, given the groups of its product and of its precursors, each group once.
pub fn conflicts(product: Groups, precursors: impl Iterator<Item = Groups>) -> Vec<Conflict> {
    let before = precursors.fold(Groups([0; GROUPS.len()]), Groups::plus);
    let used = |group: usize| before.0[group] > product.0[group];
    let made = |group: usize| product.0[group] > before.0[group];
    let mut found: Vec<Conflict> = Vec::new();
    for (class, numbers) in CLASSES.iter().zip(&TABLE.classes) {
        let is_it = numbers.uses.iter().all(|any| any.iter().any(|&group| used(group)))
            && numbers.makes.iter().all(|any| any.iter().any(|&group| made(group)));
        if !is_it {
            continue;
        }
        for &group in &numbers.harms {
            let name = GROUPS[group].name;
            if product.0[group].min(before.0[group]) > 0 && found.iter().all(|known| known.group != name) {
                found.push(Conflict { class: class.name, group: name });
            }
        }
    }
    found
}

/// The tables, with patterns parsed and names looked up.
struct Table {
    patterns: Vec<(Vec<Pattern>, Vec<Pattern>)>,
    classes: Vec<Numbers>,
}

struct Numbers {
    uses: Vec<Vec<usize>>,
    makes: Vec<Vec<usize>>,
    harms: Vec<usize>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let parse = |texts: &[&str]| -> Vec<Pattern> {
        texts
            .iter()
            .map(|text| Pattern::parse(text).expect("compatibility: the table's patterns parse"))
            .collect()
    };
    let number = |name: &&str| {
        GROUPS
            .iter()
            .position(|group| group.name == *name)
            .expect("compatibility: the table's names are there")
    };
    let numbers = |names: &[&[&str]]| -> Vec<Vec<usize>> {
        names.iter().map(|any| any.iter().map(number).collect()).collect()
    };
    Table {
        patterns: GROUPS.iter().map(|group| (parse(group.any), parse(group.none))).collect(),
        classes: CLASSES
            .iter()
            .map(|class| Numbers {
                uses: numbers(class.uses),
                makes: numbers(class.makes),
                harms: class.harms.iter().map(number).collect(),
            })
            .collect(),
    }
});

#[cfg(test)]
mod tests {
    use super::*;

    fn groups(smiles: &str) -> Groups {
        Groups::of(&smiles.parse().unwrap())
    }

    fn names(smiles: &str) -> Vec<&'static str> {
        let counts = groups(smiles);
        GROUPS.iter().zip(counts.0).filter(|(_, count)| *count > 0).map(|(group, _)| group.name).collect()
    }

    fn found(reaction: &str) -> Vec<(&'static str, &'static str)> {
        let (precursors, product) = reaction.split_once(">>").unwrap();
        conflicts(groups(product), precursors.split('.').map(groups))
            .into_iter()
            .map(|conflict| (conflict.class, conflict.group))
            .collect()
    }

    #[test]
    fn every_pattern_can_be_matched_by_masks() {
        let benzene = PreparedMolecule::new(&"c1ccccc1".parse().unwrap());
        for (group, (any, none)) in GROUPS.iter().zip(&TABLE.patterns) {
            for (pattern, text) in any.iter().chain(none).zip(group.any.iter().chain(group.none)) {
                assert!(pattern.first_atoms(&benzene).is_some(), "{}: {text}", group.name);
            }
        }
    }

    #[test]
    fn groups_are_told_apart() {
        assert_eq!(names("CCO"), ["alcohol"]);
        assert_eq!(names("Oc1ccccc1"), ["phenol"]);
        assert_eq!(names("CC(=O)O"), ["acid"]);
        assert_eq!(names("CCNC"), ["amine"]);
        assert_eq!(names("CC(=O)NC"), Vec::<&str>::new());
        assert_eq!(names("CNc1ccccc1"), ["aniline"]);
        assert_eq!(names("CC(=O)CC=O"), ["aldehyde", "ketone"]);
        assert_eq!(names("CC(=O)OC(C)(C)C"), ["ester", "tert-butyl ester"]);
        assert_eq!(names("CN(C)C(=O)OC(C)(C)C"), ["Boc"]);
        assert_eq!(names("FC(F)(F)c1cc(Br)ccc1[N+](=O)[O-]"), ["nitro", "aryl halide"]);
        assert_eq!(names("C1COC(C)O1"), ["acetal"]);
        assert_eq!(names("C[Mg]Br"), ["organometallic"]);
    }

    #[test]
    fn what_a_reaction_would_harm_is_found_and_what_it_uses_is_not() {
        assert_eq!(found("CC(=O)C.C[Mg]Br>>CC(C)(C)O"), []);
        assert_eq!(
            found("CC(=O)CCC(=O)OC.C[Mg]Br>>CC(C)(O)CCC(=O)OC"),
            [("organometallic addition or coupling", "ester")]
        );
        assert_eq!(found("CC(=O)Cl.NCC>>CCNC(C)=O"), []);
        assert_eq!(found("CC(=O)Cl.NCCO>>OCCNC(C)=O"), [("acylation or sulfonylation", "alcohol")]);
        assert_eq!(
            found("CC(=O)O.NCC1CCNCC1>>CC(=O)NCC1CCNCC1"),
            [("coupling of an acid with an amine", "amine")]
        );
        assert_eq!(
            found("CC(C)(C)OC(=O)N1CCC(NC(=O)OC(C)(C)C)CC1>>CC(C)(C)OC(=O)NC1CCNCC1"),
            [("deprotection by acid", "Boc")]
        );
    }

    /// How often recorded reactions are said to harm something: `RETORT_REACTIONS` names a file of
    /// `precursors>>product` lines.
    #[test]
    #[ignore = "prints figures"]
    #[allow(clippy::print_stdout, reason = "a report")]
    fn figures() {
        let path = std::env::var_os("RETORT_REACTIONS").expect("RETORT_REACTIONS names a file of reactions");
        let (mut reactions, mut harming) = (0, 0);
        let mut by_conflict = std::collections::BTreeMap::new();
        for line in std::fs::read_to_string(path).unwrap().lines() {
            let found = found(line);
            reactions += 1;
            harming += u32::from(!found.is_empty());
            for conflict in found {
                *by_conflict.entry(conflict).or_insert(0) += 1;
            }
        }
        println!("{harming} of {reactions} recorded reactions harm a group");
        let mut rows: Vec<_> = by_conflict.into_iter().collect();
        rows.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
        for ((class, group), count) in rows {
            println!("{count:6} {class}: {group}");
        }
    }
}
