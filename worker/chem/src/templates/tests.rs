//! Tests of the fast path against the general path, with the cost of both.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test may stop and report")]

use std::collections::BTreeSet;
use std::io::Read;
use std::ops::ControlFlow;

use super::apply::DuplicatePolicy;
use super::edit::parts::Precursor;
use super::edit::script::Script;
use super::index::MAX_SITES;
use super::index::TemplateIndex;
use super::matching::matcher;
use super::matching::target::MatchTarget;
use super::outcome::Outcome;
use super::prepared::PreparedMolecule;
use super::template::Template;
use super::{apply, forward};
use crate::molecules::molecule::Molecule;

/// Loads the templates that ship with the project.
fn templates() -> Vec<Template> {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../models/uspto_retro/templates.csv.gz");
    let mut text = String::new();
    flate2::read::GzDecoder::new(std::fs::File::open(file).unwrap()).read_to_string(&mut text).unwrap();
    let smarts = text.lines().skip(1).filter_map(|line| line.split('\t').nth(1));
    smarts.filter_map(|smarts| Template::parse(smarts).ok()).collect()
}

/// Reads canonical SMILES: from the file that the environment variable names, or from the project's own.
fn molecules() -> Vec<Molecule> {
    match std::env::var_os("RETORT_TEMPLATE_TARGETS") {
        Some(file) => {
            let text = std::fs::read_to_string(file).unwrap();
            text.lines().filter_map(|smiles| smiles.parse::<Molecule>().ok()).collect()
        }
        None => {
            let rows = include_str!("../../tests/data/molecules.tsv").lines().skip(1);
            rows.map(|row| Molecule::trusted(row.split('\t').nth(1).unwrap()).unwrap()).collect()
        }
    }
}

fn text(outcomes: &[Outcome]) -> BTreeSet<String> {
    outcomes
        .iter()
        .map(|outcome| {
            let mut parts: Vec<_> =
                outcome.precursors.iter().map(|part| part.molecule.canonical_smiles()).collect();
            parts.sort_unstable();
            parts.join(".")
        })
        .collect()
}

/// Returns true if a side of a template matches more than 1,000 times, where chematic gives no result.
fn matches_too_often(script: Option<&Script>, target: Option<&MatchTarget>) -> bool {
    let (Some(script), Some(target)) = (script, target) else { return false };
    let mut count = 0;
    matcher::matches(&script.query, target, &mut |_| {
        count += 1;
        ControlFlow::Continue(())
    });
    count > 1000
}

#[test]
fn what_is_made_on_the_graph_is_what_the_long_way_makes() {
    let (templates, molecules) = (templates(), molecules());
    let complete = std::env::var_os("RETORT_COMPLETE").is_some();
    let step = if complete { 1 } else { 7 };
    let (mut pairs, mut quick, mut long, mut unscripted) = (0, 0, 0, 0);
    let (mut runs, mut long_runs) = (0, 0);
    let mut wrong = vec![];
    for (nth, molecule) in molecules.iter().enumerate() {
        let product = PreparedMolecule::new(molecule);
        let share = templates.iter().skip(nth % step).step_by(step);
        for template in share.filter(|template| template.may_match(&product)) {
            if product.target().is_none() {
                continue;
            }
            pairs += 1;
            unscripted += usize::from(template.script.is_none());
            let Some(outcomes) = apply::on_the_graph(template, &product, DuplicatePolicy::Once, &mut || true)
            else {
                long += 1;
                continue;
            };
            quick += 1;
            let expected = apply::the_long_way(template, &product, DuplicatePolicy::Once, &mut || true);
            // chematic builds nothing where a centre of a cage becomes flat (a quaternary carbon of morphine).
            let is_flattened = outcomes.iter().all(|outcome| !outcome.made_centres.is_empty());
            let (ours, theirs) = (text(&outcomes), text(&expected));
            let is_given_up = || matches_too_often(template.script.as_ref(), product.target());
            if ours != theirs && !(theirs.is_empty() && (is_flattened || is_given_up())) {
                wrong.push(format!(
                    "{molecule:?} {:?}\n only here: {:?}\n only there: {:?}",
                    template.text,
                    ours.difference(&theirs).collect::<Vec<_>>(),
                    theirs.difference(&ours).collect::<Vec<_>>()
                ));
            }
            for outcome in outcomes.iter().take(2) {
                let precursors: Vec<_> =
                    outcome.precursors.iter().map(|part| part.molecule.clone()).collect();
                runs += 1;
                let products = forward::on_the_graph(template, &precursors);
                long_runs += usize::from(products.is_none());
                let expected = forward::the_long_way(template, &precursors);
                let keys = |products: &[Precursor]| {
                    products.iter().map(|part| part.molecule.key()).collect::<BTreeSet<_>>()
                };
                let target = MatchTarget::new(&precursors.iter().collect::<Vec<_>>());
                if expected.is_empty() && matches_too_often(template.forward_script.as_ref(), target.as_ref())
                {
                    continue;
                }
                let is_given = template.gives(&precursors, molecule.key());
                if is_given != keys(&expected).contains(&molecule.key()) {
                    wrong.push(format!("{molecule:?} of {precursors:?} by {:?}: {is_given}", template.text));
                }
                let Some(products) = products else { continue };
                for part in products.iter().map(|product| &product.molecule) {
                    if part.key() != Molecule::trusted(part.as_canonical()).unwrap().key() {
                        wrong.push(format!(
                            "key of {part:?}, forwards by {:?} from {precursors:?}",
                            template.text
                        ));
                    }
                }
                if keys(&products) != keys(&expected) {
                    wrong.push(format!(
                        "forwards {:?} {precursors:?}: {products:?} here, {expected:?} there",
                        template.text
                    ));
                }
            }
            for part in outcomes.iter().flat_map(|outcome| &outcome.precursors) {
                let again = Molecule::trusted(part.molecule.as_canonical()).unwrap();
                if part.molecule.key() != again.key() {
                    wrong.push(format!("key of {again:?}, by {:?} from {molecule:?}", template.text));
                }
                if part.molecule.fingerprint() != again.fingerprint() {
                    wrong.push(format!("fingerprint of {again:?}, by {:?} from {molecule:?}", template.text));
                }
                assert!(part.sources.iter().flatten().all(|&source| (source as usize) < molecule.atoms()));
            }
        }
    }
    println!("{pairs} pairs match: {quick} on the graph, {long} the long way ({unscripted} by template)");
    println!("{runs} forward runs, {long_runs} the long way");
    for line in wrong.iter().take(30) {
        println!("{line}");
    }
    assert!(wrong.is_empty(), "{} differ", wrong.len());
    assert!(quick > pairs / 2, "{quick} of {pairs}");
}

fn matching(index: &TemplateIndex, product: &PreparedMolecule) -> Vec<u32> {
    index.matches(product).templates.iter().map(|found| found.template).collect()
}

#[test]
fn the_index_finds_the_templates_that_may_match() {
    let (templates, molecules) = (templates(), molecules());
    let index = TemplateIndex::new((0..).zip(&templates));
    let odd = ["*CC(=O)O", "[2H]C([2H])([2H])O", "[H][H]", "C", "[Na+].[Cl-]", "CC(=O)O.CCN"];
    let long = format!("CC(=O)N{}", "CC(C)OC(=O)CN".repeat(20));
    let odd = odd.into_iter().chain([long.as_str()]).map(|smiles| smiles.parse::<Molecule>().unwrap());
    let products: Vec<_> = molecules.into_iter().take(300).chain(odd).collect();
    assert!(products.len() > 250);

    for molecule in products {
        let product = PreparedMolecule::new(&molecule);

        let found = matching(&index, &product);

        let one_by_one = (0_u32..).zip(&templates).filter(|(_, template)| template.may_match(&product));
        assert_eq!(found, one_by_one.map(|(number, _)| number).collect::<Vec<_>>(), "{molecule:?}");
    }
}

#[test]
fn the_index_finds_every_site_that_a_template_uses() {
    let (templates, molecules) = (templates(), molecules());
    let index = TemplateIndex::new((0..).zip(&templates));
    let mut used = 0;
    for molecule in molecules.iter().take(100) {
        let product = PreparedMolecule::new(molecule);
        let matches = index.matches(&product);
        for found in matches.templates.iter().filter(|found| found.count > 0) {
            let sites = matches.sites_of(found);
            for outcome in templates[found.template as usize].apply(&product) {
                used += outcome.sites.len();
                assert!(
                    sites.len() == MAX_SITES || outcome.sites.iter().all(|site| sites.contains(site)),
                    "{molecule:?}"
                );
            }
        }
    }
    assert!(used > 1_000, "{used}");
}

#[test]
fn a_template_applies_at_each_of_the_like_groups() {
    let index = TemplateIndex::new([(0, &Template::parse("[C:1]-[OH:2]>>[C:1]=[O:2]").unwrap())]);

    let matches = index.matches(&PreparedMolecule::new(&"OCCCO".parse::<Molecule>().unwrap()));

    let sites = matches.sites_of(&matches.templates[0]).iter().map(|site| site.atoms().collect::<Vec<_>>());
    assert_eq!(sites.collect::<Vec<_>>(), [[0, 1], [3, 4]]);
}

#[test]
fn the_order_of_templates_does_not_change_what_an_index_finds() {
    let (templates, molecules) = (templates(), molecules());
    let index = TemplateIndex::new((0..).zip(&templates));
    let backwards = TemplateIndex::new((0..).zip(&templates).collect::<Vec<_>>().into_iter().rev());

    for molecule in molecules.iter().take(60) {
        let product = PreparedMolecule::new(molecule);

        assert_eq!(matching(&backwards, &product), matching(&index, &product), "{molecule:?}");
    }
}

#[test]
fn an_index_finds_templates_by_the_numbers_it_was_given() {
    let sides = ["[C:1]-[O:2]>>[C:1].[O:2]", "[C:1]-[N:2]>>[C:1].[N:2]", "[C:1]-[O:2]>>[C:1]-Cl.[O:2]"];
    let templates = sides.map(|smarts| Template::parse(smarts).unwrap());
    let index = TemplateIndex::new([(7, &templates[0]), (9, &templates[1]), (3, &templates[2])]);
    let found = |smiles: &str| matching(&index, &PreparedMolecule::new(&smiles.parse::<Molecule>().unwrap()));

    assert_eq!(
        (found("CCO"), found("CN"), found("CC"), found("NCO")),
        (vec![3, 7], vec![9], vec![], vec![3, 7, 9])
    );
    let none = matching(&TemplateIndex::default(), &PreparedMolecule::new(&"C".parse::<Molecule>().unwrap()));
    assert!(none.is_empty());
}

#[test]
#[ignore = "prints figures"]
fn what_things_cost() {
    let (templates, molecules) = (templates(), molecules());
    let prepared: Vec<_> = molecules.iter().take(200).map(PreparedMolecule::new).collect();
    let screened = prepared.iter().filter(|product| product.target().is_some());
    let started = cpu_seconds();
    let again: Vec<_> = molecules.iter().take(200).map(PreparedMolecule::new).collect();
    per("preparing a molecule", started, again.len());
    let started = cpu_seconds();
    let pairs: Vec<_> = screened
        .flat_map(|product| templates.iter().map(move |template| (template, product)))
        .filter(|(template, product)| template.may_match(product))
        .collect();
    per("screening a pair", started, prepared.len() * templates.len());
    let started = cpu_seconds();
    let index = TemplateIndex::new((0..).zip(&templates));
    per("making an index", started, 1);
    println!("{index:?}");
    let started = cpu_seconds();
    let found: usize = prepared.iter().map(|product| index.matches(product).templates.len()).sum();
    per("finding the templates that may match", started, prepared.len());
    println!("({found} pairs)");
    let short = |&&(template, product): &&(&Template, &PreparedMolecule)| {
        apply::on_the_graph(template, product, DuplicatePolicy::Once, &mut || true).is_some()
    };
    let quick: Vec<_> = pairs.iter().filter(short).collect();
    println!("{} matching pairs, {} on the graph", pairs.len(), quick.len());
    for round in ["first", "second"] {
        let started = cpu_seconds();
        let outcomes: Vec<_> =
            quick.iter().map(|(template, product)| (template, template.apply(product))).collect();
        per(&format!("{round} application on the graph, a match"), started, quick.len());
        let outcomes: Vec<_> =
            outcomes.iter().flat_map(|(template, all)| all.iter().map(move |one| (template, one))).collect();
        let runs: Vec<(_, Vec<Molecule>)> = outcomes
            .iter()
            .map(|(template, one)| {
                (template, one.precursors.iter().map(|part| part.molecule.clone()).collect())
            })
            .filter(|(template, parts): &(_, Vec<_>)| forward::on_the_graph(template, parts).is_some())
            .collect();
        println!("{} outcomes, {} of them run forwards on the graph", outcomes.len(), runs.len());
        let started = cpu_seconds();
        let products: usize = runs.iter().map(|(template, parts)| template.forward_traced(parts).len()).sum();
        per(&format!("{round} forward run on the graph"), started, runs.len());
        println!("({products} products)");
    }
    let long: Vec<_> = pairs.iter().filter(|pair| !short(pair)).take(500).collect();
    let started = cpu_seconds();
    let outcomes: usize = long.iter().map(|(template, product)| template.apply(product).len()).sum();
    per("application the long way, a match", started, long.len());
    println!("({outcomes} outcomes)");
}

fn per(what: &str, started: f64, count: usize) {
    println!("{what}: {:.3} µs", (cpu_seconds() - started) * 1e6 / count as f64);
}

/// Returns this thread's CPU time, which unlike wall time does not depend on the load of the machine.
fn cpu_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    text.split(' ').next().unwrap().parse::<f64>().unwrap() / 1e9
}
