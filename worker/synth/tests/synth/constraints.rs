//! Routes under constraints, compared with all possible routes filtered by the meaning of the constraint.
//!
//! The search follows the target's atoms through sources and atom orders. Here every atom of the target is a distinct
//! isotope, so the chemistry itself tracks them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, LazyLock, Mutex};

use chem::{Molecule, Pattern, PreparedMolecule, SmilesSkeleton, Template};
use proptest::prelude::*;
use synth::{
    Algorithm, Category, ConstraintKind, ConstraintRef, Constraints, Planner, PlannerSettings,
    ProtectingGroups, ResultWithout, RetroModel, SearchResult, Stop, TargetBond, TargetPurchase, Task,
    explain,
};

use crate::toy::*;

/// Template: acid chloride from acid.
const CHLORINATION: &str =
    "([C:1]-[C;H0;D3;+0:2](=[O;D1;H0:3])-[Cl;H0;D1;+0])>>([C:1]-[C;H0;D3;+0:2](=[O;D1;H0:3])-O)";
const TEMPLATES: [&str; 5] = [AMIDE, AMIDE_FROM_CHLORIDE, SAPONIFICATION, REDUCTIVE_AMINATION, CHLORINATION];
/// Targets: two different amides, two amides that a symmetry of the target exchanges, and amides of which two give
/// the same pieces without symmetry.
const TARGETS: [&str; 3] = ["CCCNC(=O)CCC(=O)NCC", "CCNC(=O)CCC(=O)NCC", "CCNC(=O)CNC(=O)CNC(C)=O"];
/// Molecules that may be for sale.
const STOCK: [&str; 24] = [
    "CCN",
    "CCCN",
    "CC=O",
    "N",
    "CC(=O)O",
    "CC(=O)Cl",
    "COC(C)=O",
    "COC(=O)CCC(=O)O",
    "O=C(Cl)CCC(=O)OC",
    "COC(=O)CN",
    "CC(=O)NCC(=O)O",
    "CC(=O)NCC(=O)OC",
    "CCNC(=O)CN",
    "NCC(=O)NCC(=O)OC",
    "NCC(=O)NCC(=O)O",
    "CCNC(=O)CCC(=O)OC",
    "CCCNC(=O)CCC(=O)OC",
    "CCNC(=O)CCC(=O)Cl",
    "CCCNC(=O)CCC(=O)O",
    "CCNC(=O)CCC(=O)O",
    "CC(=O)NCC(=O)NCC(=O)O",
    "CC(=O)NCC(=O)NCC(=O)OC",
    "CC(=O)NCC(=O)Cl",
    "CCNC(=O)CNC(=O)CN",
];
/// Number of these that leave much to be made.
const SPARSE_STOCK_SIZE: usize = 15;
const MAX_DEPTH: u32 = 4;
/// Isotope of the target's first atom.
const FIRST_ISOTOPE: u16 = 101;

static MODEL: LazyLock<Arc<RetroModel>> = LazyLock::new(|| model(&TEMPLATES.map(|template| (template, 1.0))));

/// Step of a route, written without isotopes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct EnumeratedStep {
    product: String,
    precursors: Vec<String>,
    class: &'static str,
    protects: bool,
    template: usize,
    /// Bonds of the target that it breaks.
    broken: BTreeSet<TargetBond>,
}

/// Route with unordered steps. A molecule that is made twice has two steps.
#[derive(Debug, Clone, Default)]
struct EnumeratedRoute {
    steps: Vec<EnumeratedStep>,
    bought: BTreeSet<String>,
}

/// Exhaustive enumeration for a target: every way, down to a depth, to make a molecule in which the target's atoms
/// are isotopes.
struct ExhaustiveSearch<'a> {
    templates: Vec<Template>,
    stock: BTreeSet<String>,
    breaks: &'a [TargetBond],
}

impl ExhaustiveSearch<'_> {
    fn routes(&self, target: &str) -> Vec<EnumeratedRoute> {
        self.ways(&labelled(target), MAX_DEPTH, true)
    }

    fn ways(&self, molecule: &str, left: u32, is_target: bool) -> Vec<EnumeratedRoute> {
        let name = plain(molecule);
        let bonds = bonds(molecule);
        let holds = self.breaks.iter().any(|bond| bonds.contains(bond));
        if !is_target && !holds && self.stock.contains(&name) {
            return vec![EnumeratedRoute { bought: BTreeSet::from([name]), ..EnumeratedRoute::default() }];
        }
        let mut all = Vec::new();
        let product = PreparedMolecule::new(&Molecule::trusted(molecule).unwrap());
        for (template, compiled) in self.templates.iter().enumerate().filter(|_| left > 0) {
            for outcome in compiled.apply(&product) {
                let parts: Vec<String> =
                    outcome.precursors.iter().map(|part| part.molecule.canonical_smiles()).collect();
                let Some((class, protects)) = verdict(&name, &parts, template) else { continue };
                let mut precursors: Vec<String> = parts.iter().map(|part| plain(part)).collect();
                precursors.sort();
                let whole: BTreeSet<TargetBond> = parts.iter().flat_map(|part| self::bonds(part)).collect();
                let broken = bonds.difference(&whole).copied().collect();
                let step =
                    EnumeratedStep { product: name.clone(), precursors, class, protects, template, broken };
                let mut ways = vec![EnumeratedRoute { steps: vec![step], ..EnumeratedRoute::default() }];
                for part in &parts {
                    let below = self.ways(part, left - 1, false);
                    ways = ways.iter().flat_map(|way| below.iter().map(|more| way.and(more))).collect();
                }
                all.extend(ways);
            }
        }
        all
    }
}

impl EnumeratedRoute {
    fn and(&self, other: &Self) -> Self {
        let mut both = self.clone();
        both.steps.extend(other.steps.iter().cloned());
        both.bought.extend(other.bought.iter().cloned());
        both
    }

    /// Returns true if it makes no molecule in two ways and buys none that it makes.
    fn is_consistent(&self) -> bool {
        let mut made: BTreeMap<&str, &Vec<String>> = BTreeMap::new();
        self.steps.iter().all(|step| {
            !self.bought.contains(&step.product)
                && *made.entry(&step.product).or_insert(&step.precursors) == &step.precursors
        })
    }

    /// Returns the steps as text.
    fn text(&self) -> BTreeSet<String> {
        self.steps.iter().map(|step| format!("{}>>{}", step.precursors.join("."), step.product)).collect()
    }

    /// Returns true if it meets the constraints.
    fn meets(&self, target: &str, wanted: &Constraints) -> bool {
        let names =
            |molecules: &[Molecule]| molecules.iter().map(Molecule::canonical_smiles).collect::<Vec<_>>();
        let has_class = |class: &String| self.steps.iter().any(|step| step.class == class);
        let others = || self.steps.iter().flat_map(|step| &step.precursors).filter(|name| *name != target);
        let broken = |bond: &TargetBond| self.steps.iter().any(|step| step.broken.contains(bond));
        let matches = |pattern: &Arc<Pattern>, name: &String| pattern.matches(&name.parse().unwrap());
        wanted.bonds_to_break.iter().all(broken)
            && !wanted.bonds_to_keep.iter().any(broken)
            && !wanted.fragments_to_keep.iter().flatten().any(broken)
            && names(&wanted.molecules_never).iter().all(|never| others().all(|name| name != never))
            && wanted.substructures_never.iter().all(|never| !others().any(|name| matches(never, name)))
            && names(&wanted.building_blocks_required).iter().all(|block| self.bought.contains(block))
            && (wanted.reaction_classes_only.is_empty()
                || self
                    .steps
                    .iter()
                    .all(|step| wanted.reaction_classes_only.iter().any(|name| name == step.class)))
            && !wanted.reaction_classes_never.iter().any(has_class)
            && wanted.reaction_classes_required.iter().all(has_class)
            && !self
                .steps
                .iter()
                .any(|step| wanted.templates_never.contains(&format!("hash{}", step.template)))
            && wanted.max_steps.is_none_or(|most| self.text().len() <= most as usize)
            && (wanted.protecting_groups == ProtectingGroups::Allowed
                || !self.steps.iter().any(|step| step.protects))
    }
}

/// Returns the target with an isotope on each atom, in the order of its canonical SMILES.
fn labelled(target: &str) -> String {
    let molecule: Molecule = target.parse().unwrap();
    let (canonical, mut labelled) = (molecule.canonical_smiles(), String::new());
    let structure = chem::Structure::of(&molecule);
    let mut at = 0;
    for character in canonical.chars() {
        if character.is_ascii_alphabetic() {
            let hydrogens = structure.atom(at).hydrogens;
            labelled += &format!("[{}{character}H{hydrogens}]", FIRST_ISOTOPE + u16::try_from(at).unwrap());
            at += 1;
        } else {
            labelled.push(character);
        }
    }
    labelled.parse::<Molecule>().unwrap().canonical_smiles()
}

/// Returns the target's atom number from the isotope of a written atom, if the atom is one of the target's.
fn isotope(atom: &str) -> Option<u32> {
    let digits: String = atom.chars().take_while(char::is_ascii_digit).collect();
    digits.parse::<u32>().ok()?.checked_sub(u32::from(FIRST_ISOTOPE))
}

/// Returns the bonds of the target that a molecule with isotopes has.
fn bonds(molecule: &str) -> BTreeSet<TargetBond> {
    let written = SmilesSkeleton::read(molecule);
    let atom = |at: usize| isotope(written.atoms[at]);
    let bond = |bond: &chem::SkeletonBond| Some((atom(bond.atoms.0)?, atom(bond.atoms.1)?));
    written.bonds.iter().filter_map(bond).map(|(a, b)| (a.min(b), a.max(b))).collect()
}

/// Returns the canonical SMILES without isotopes.
fn plain(molecule: &str) -> String {
    let mut plain = String::new();
    for character in molecule.chars() {
        if !(character.is_ascii_digit() && plain.ends_with(['[', '\u{1}'])) {
            plain.push(character);
            continue;
        }
        // Isotopes are the digits directly after a bracket.
        if plain.ends_with('[') {
            plain.push('\u{1}');
        }
    }
    plain.replace('\u{1}', "").parse::<Molecule>().unwrap().canonical_smiles()
}

/// Returns the class of a step that a template proposes, and whether it is a protection or deprotection; `None` if
/// the step is invalid.
fn verdict(product: &str, parts: &[String], template: usize) -> Option<(&'static str, bool)> {
    type Verdicts = HashMap<(String, Vec<String>, usize), Option<(&'static str, bool)>>;
    static KNOWN: LazyLock<Mutex<Verdicts>> = LazyLock::new(Mutex::default);
    let precursors: Vec<String> = parts.iter().map(|part| plain(part)).collect();
    let key = (product.to_owned(), precursors, template);
    if let Some(known) = KNOWN.lock().unwrap().get(&key) {
        return *known;
    }
    let molecules: Vec<Molecule> = key.1.iter().map(|smiles| smiles.parse().unwrap()).collect();
    let proposals = explain(&MODEL, &product.parse().unwrap(), &molecules);
    let stands = proposals.iter().find(|it| it.template as usize == template && it.fault.is_none());
    let protects = |category| matches!(category, Category::Protection | Category::Deprotection);
    let effect = stands.map(|it| (it.class.name, protects(it.class.category)));
    KNOWN.lock().unwrap().insert(key, effect);
    effect
}

/// Returns the routes of the exhaustive enumeration that meet these constraints.
fn expected(target: &str, sold: &[&str], constraints: &Constraints) -> BTreeSet<BTreeSet<String>> {
    let everything = ExhaustiveSearch {
        templates: TEMPLATES.iter().map(|template| Template::parse(template).unwrap()).collect(),
        stock: sold.iter().map(|smiles| smiles.parse::<Molecule>().unwrap().canonical_smiles()).collect(),
        breaks: &constraints.bonds_to_break,
    };
    let routes = everything.routes(target).into_iter();
    let wanted = routes.filter(|route| route.is_consistent() && route.meets(&plain(target), constraints));
    wanted.map(|route| route.text()).collect()
}

fn found(
    target: &str,
    sold: &[&str],
    constraints: &Constraints,
    stop: Stop,
    algorithm: Algorithm,
) -> SearchResult {
    let settings = PlannerSettings { algorithm, cache_bytes: 0, ..PlannerSettings::default() };
    let constraints = constraints.clone();
    let task = Task {
        stop,
        max_depth: MAX_DEPTH,
        max_groups: 1000,
        max_group_size: 1000,
        constraints,
        ..task(target)
    };
    Planner::new(Arc::clone(&MODEL), settings).plan(&stock(sold), &task, &expansions(10_000))
}

fn steps(plan: &SearchResult) -> BTreeSet<BTreeSet<String>> {
    texts(plan).into_iter().map(|route| route.into_iter().collect()).collect()
}

/// Picks some of the target's bonds.
fn some_bonds(target: &str, places: &[usize]) -> Vec<TargetBond> {
    let canonical = target.parse::<Molecule>().unwrap().canonical_smiles();
    let written = SmilesSkeleton::read(&canonical);
    let bond = |&place: &usize| {
        let (a, b) = written.bonds[place % written.bonds.len()].atoms;
        (u32::try_from(a.min(b)).unwrap(), u32::try_from(a.max(b)).unwrap())
    };
    places.iter().map(bond).collect::<BTreeSet<_>>().into_iter().collect()
}

/// Strategy for a target and a kind of constraint on it. Some kinds are twice as likely, and sometimes several are
/// combined.
fn target_and_constraints() -> impl Strategy<Value = (&'static str, Constraints)> {
    let places = || prop::collection::vec(0_usize..40, 1..3);
    let blocks = || prop::sample::subsequence(&STOCK[..], 1..3);
    let classes = || {
        let names = [
            "amide coupling",
            "amide formation from acid halide",
            "ester hydrolysis",
            "acid chloride formation",
        ];
        prop::sample::subsequence(names.map(str::to_owned).to_vec(), 1..4)
    };
    let molecules = |smiles: Vec<&str>| smiles.into_iter().map(|smiles| smiles.parse().unwrap()).collect();
    let none = Constraints::default;
    let one = (prop::sample::select(&TARGETS[..]), 0..11_usize, places(), blocks(), classes(), 1_u32..5)
        .prop_map(move |(target, kind, places, blocks, classes, count)| {
            let patterns = ["[CX3](=O)Cl", "[CH1]=O", "[OX2H1]", "COC=O"];
            let pattern = Arc::new(Pattern::parse(patterns[count as usize % patterns.len()]).unwrap());
            let constraints = match kind {
                0 => Constraints { bonds_to_break: some_bonds(target, &places), ..none() },
                1 => Constraints { bonds_to_keep: some_bonds(target, &places), ..none() },
                2 => Constraints { fragments_to_keep: vec![some_bonds(target, &places)], ..none() },
                3 => Constraints { molecules_never: molecules(blocks), ..none() },
                4 => Constraints { substructures_never: vec![pattern], ..none() },
                5 => Constraints { building_blocks_required: molecules(blocks), ..none() },
                6 => Constraints { reaction_classes_only: classes, ..none() },
                7 => Constraints { reaction_classes_never: classes, ..none() },
                8 => Constraints { reaction_classes_required: classes, ..none() },
                9 => Constraints { templates_never: vec![format!("hash{}", count - 1)], ..none() },
                _ => Constraints { max_steps: Some(count), ..none() },
            };
            (target, constraints)
        });
    let groups = prop::sample::select(vec![ProtectingGroups::Allowed, ProtectingGroups::Never]);
    (one, places(), prop::bool::ANY, 1_u32..6, groups).prop_map(
        |((target, one), places, more, most, groups)| {
            if !more {
                return (target, one);
            }
            let bonds_to_break = some_bonds(target, &places[..1]);
            (target, Constraints { bonds_to_break, max_steps: Some(most), protecting_groups: groups, ..one })
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    #[test]
    fn the_routes_are_those_of_all_there_are_that_are_wanted(
        (target, constraints) in target_and_constraints(),
        sold in prop::sample::subsequence(&STOCK[..], 8..=STOCK.len()),
    ) {
        let expected = expected(target, &sold, &constraints);

        for algorithm in Algorithm::ALL {
            let plan = found(target, &sold, &constraints, Stop::Budget, algorithm);

            prop_assert!(plan.exhausted);
            prop_assert_eq!(&steps(&plan), &expected, "{}", algorithm);
            prop_assert_eq!(plan.counts.validated_routes, expected.len() as u64, "{}", algorithm);
        }
        let first = found(target, &sold, &constraints, Stop::FirstRoute, Algorithm::RetroStar);
        prop_assert_eq!(first.solved(), !expected.is_empty());
        prop_assert!(steps(&first).is_subset(&expected));
    }
}

#[test]
fn there_are_routes_to_choose_from() {
    let counts =
        TARGETS.map(|target| expected(target, &STOCK[..SPARSE_STOCK_SIZE], &Constraints::default()).len());

    assert_eq!(counts, [6, 3, 5]);
}

/// Returns the first route to the target, a chain of similar amides, with this bond of its canonical SMILES kept or
/// broken.
fn first_route(target: &str, constraints: Constraints) -> Option<Vec<String>> {
    let task = Task { stop: Stop::FirstRoute, constraints, max_depth: MAX_DEPTH, ..task(target) };
    let plan = synth::plan(&MODEL, &stock(&STOCK), &task, &expansions(2000));
    texts(&plan).into_iter().next()
}

#[test]
fn equivalent_bonds_are_distinguished_though_the_pieces_are_equal() {
    // N-acetylglycylglycine ethylamide: CCNC(=O)CNC(=O)CNC(C)=O.
    let target = TARGETS[2];
    let amide = [(2, 3), (6, 7), (10, 11)];

    for kept in amide {
        let constraints = Constraints { bonds_to_keep: vec![kept], ..Constraints::default() };

        assert!(first_route(target, constraints).is_some(), "{kept:?}");
    }
    let none = Constraints { bonds_to_keep: amide.to_vec(), ..Constraints::default() };
    assert_eq!(first_route(target, none), None);
}

#[test]
fn what_can_be_bought_is_made_where_a_bond_of_it_is_to_be_broken() {
    // CCCNC(=O)CCC(=O)NCC; both halves that still contain one of its amides are for sale.
    let target = TARGETS[0];

    let bought = first_route(target, Constraints::default()).unwrap();
    let broken =
        first_route(target, Constraints { bonds_to_break: vec![(3, 4), (8, 10)], ..Constraints::default() });

    assert_eq!(bought.len(), 1, "{bought:?}");
    let broken = broken.unwrap();
    assert!(broken.len() > 1 && broken.iter().any(|step| step.ends_with(">>CCNC(=O)CCC(=O)O")), "{broken:?}");
}

#[test]
fn the_target_is_not_bought_where_a_bond_of_it_is_to_be_broken() {
    let route = |bonds_to_break: Vec<TargetBond>| {
        let constraints = Constraints { bonds_to_break, ..Constraints::default() };
        let task = Task {
            target_purchase: TargetPurchase::Allow,
            stop: Stop::FirstRoute,
            constraints,
            ..task("CCNC(=O)CN")
        };
        texts(&synth::plan(&MODEL, &stock(&["CCNC(=O)CN"]), &task, &expansions(100))).into_iter().next()
    };

    assert_eq!(route(Vec::new()), Some(Vec::new()));
    assert_eq!(route(vec![(2, 3)]), None);
}

#[test]
fn the_constraint_that_forbids_every_route_is_named() {
    let constraints = Constraints {
        bonds_to_keep: vec![(0, 1), (3, 4), (8, 10)],
        molecules_never: vec!["CO".parse().unwrap()],
        reaction_classes_required: vec!["Suzuki coupling".to_owned()],
        ..Constraints::default()
    };

    let plan = found(TARGETS[0], &STOCK, &constraints, Stop::Budget, Algorithm::RetroStar);
    let alone = |constraints: Constraints| {
        let plan = found(TARGETS[0], &STOCK, &constraints, Stop::Budget, Algorithm::RetroStar);
        let forbids = plan.constraints.iter().filter(|effect| effect.alone == Some(ResultWithout::Forbids));
        (plan.solved(), forbids.map(|effect| effect.rule).collect::<Vec<_>>())
    };
    let without_suzuki = constraints.without(ConstraintRef::item(ConstraintKind::ReactionClassesRequired, 0));

    assert!(!plan.solved());
    assert!(plan.constraints.iter().all(|effect| effect.alone == Some(ResultWithout::Innocent)));
    let kept = alone(Constraints { bonds_to_keep: vec![(0, 1), (3, 4)], ..without_suzuki });
    assert_eq!(kept, (true, Vec::new()));
    let classes = Constraints { bonds_to_keep: Vec::new(), ..constraints };
    assert_eq!(
        alone(classes),
        (false, vec![ConstraintRef::item(ConstraintKind::ReactionClassesRequired, 0)])
    );
}

#[test]
fn a_search_without_constraints_says_nothing_of_any() {
    let plan = found(TARGETS[0], &STOCK, &Constraints::default(), Stop::Budget, Algorithm::RetroStar);

    assert!(plan.solved() && plan.constraints.is_empty());
}
