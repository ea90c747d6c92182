//! A table of correct and incorrect single steps: those that the service must return, and those that it must not.
//!
//! Each row is queried as a user would: the product alone, one step deep, with the row's precursors in stock. The
//! origin of the rows is in `data/SOURCES.md`.

use std::path::Path;
use std::sync::{Arc, atomic::AtomicBool};
use std::thread;
use std::time::{Duration, Instant};

use catalogue::{BlockRow, Offer, StockView};
use chem::Molecule;
use synth::{
    Budget, Constraints, GroupOrder, RetroModel, StereoSource, Stop, TargetPurchase, Task, explain, plan,
};

/// Row of a table.
struct Row {
    category: String,
    precursors: Vec<String>,
    product: String,
}

/// Returns the rows of a table. If its first column is a verdict, returns only those with the given verdict.
fn rows(table: &str, verdict: Option<&str>) -> Vec<Row> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(table);
    let text = std::fs::read_to_string(path).unwrap();
    text.lines()
        .skip(1)
        .filter_map(|line| {
            let mut fields = line.split('\t');
            if verdict.is_some() && fields.next() != verdict {
                return None;
            }
            let category = fields.next().unwrap().to_owned();
            let (precursors, product) = fields.next().unwrap().split_once(">>").unwrap();
            let precursors = precursors.split('.').map(str::to_owned).collect();
            Some(Row { category, precursors, product: product.to_owned() })
        })
        .collect()
}

/// Returns the means by which the step gives its configuration, if the step is among the one-step routes to its
/// product: `Some(None)` if it needs none.
fn returned(model: &Arc<RetroModel>, row: &Row) -> Option<Option<StereoSource>> {
    let mut wanted: Vec<String> = row.precursors.iter().map(|smiles| canonical(smiles)).collect();
    wanted.sort_unstable();
    let task = Task {
        target: row.product.parse().unwrap(),
        max_depth: 1,
        stop: Stop::Budget,
        target_purchase: TargetPurchase::Mask,
        max_groups: 1000,
        max_group_size: 1000,
        group_order: GroupOrder::Total,
        constraints: Constraints::default(),
    };
    let deadline = Instant::now() + Duration::from_secs(600);
    let budget =
        Budget { max_expansions: Some(60), ..Budget::until(deadline, Arc::new(AtomicBool::new(false))) };
    let plan = plan(model, &stock(&row.precursors), &task, &budget);
    plan.routes().find_map(|route| {
        route.steps().find_map(|(product, step)| {
            let mut names: Vec<&str> =
                route.precursors(product).map(|molecule| molecule.smiles.as_str()).collect();
            names.sort_unstable();
            (names == wanted).then_some(step.stereo_source)
        })
    })
}

/// Returns a stock of these molecules, each at one dollar a gram.
fn stock(smiles: &[String]) -> StockView {
    StockView::in_memory((0..).zip(smiles).map(|(id, smiles)| {
        let molecule: Molecule = smiles.parse().unwrap();
        (BlockRow::of(id, &molecule), vec![Offer::of(1).at(1.0).within(5.0)])
    }))
}

/// Returns the shipped model.
fn shipped() -> Arc<RetroModel> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../models/uspto_retro");
    Arc::new(RetroModel::load(&folder).unwrap())
}

fn canonical(smiles: &str) -> String {
    smiles.parse::<Molecule>().unwrap().canonical_smiles()
}

/// Splits the rows into those that are returned with a source of configuration that `counts`, and the others.
fn partition_returned(
    model: &Arc<RetroModel>,
    rows: Vec<Row>,
    counts: fn(Option<StereoSource>) -> bool,
) -> (Vec<Row>, Vec<Row>) {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let share = rows.len().div_ceil(cores);
    let returned: Vec<bool> = thread::scope(|scope| {
        let parts: Vec<_> = rows
            .chunks(share)
            .map(|part| {
                let is_returned = move |row: &Row| returned(model, row).is_some_and(counts);
                scope.spawn(move || part.iter().map(is_returned).collect::<Vec<_>>())
            })
            .collect();
        parts.into_iter().flat_map(|part| part.join().unwrap()).collect()
    });
    let mut returned = returned.into_iter();
    rows.into_iter().partition(|_| returned.next().unwrap())
}

/// Returns the model's explanation of a step that is not returned.
fn reason(model: &RetroModel, row: &Row) -> String {
    let molecules: Vec<Molecule> = row.precursors.iter().map(|smiles| smiles.parse().unwrap()).collect();
    let found = explain(model, &row.product.parse().unwrap(), &molecules);
    let mut reasons: Vec<String> = found
        .iter()
        .map(|found| found.fault.map_or_else(|| "stands".to_owned(), |fault| fault.to_string()))
        .collect();
    reasons.sort_unstable();
    reasons.dedup();
    if reasons.is_empty() { "no template".to_owned() } else { reasons.join("; ") }
}

/// Prints the impossible steps that are returned, and returns their number. A step that says by what it makes its
/// configuration claims something else.
fn wrongly_returned(rows: Vec<Row>) -> usize {
    let all = rows.len();
    let (returned, _) = partition_returned(&shipped(), rows, |source| source.is_none());
    for row in &returned {
        println!("RETURNED\t{}\t{}>>{}", row.category, row.precursors.join("."), row.product);
    }
    println!("{} of {all} impossible steps are returned", returned.len());
    returned.len()
}

/// Prints the working steps that are not returned, and gives the fraction of those that are.
fn share_returned(rows: Vec<Row>) -> f64 {
    let model = shipped();
    let (returned, missing) = partition_returned(&model, rows, |_| true);
    for row in &missing {
        let reason = reason(&model, row);
        println!("MISSING\t{}\t{}>>{}\t{reason}", row.category, row.precursors.join("."), row.product);
    }
    let all = returned.len() + missing.len();
    println!("{} of {all} steps that work are returned", returned.len());
    returned.len() as f64 / all as f64
}

#[test]
fn steps_are_called_what_chemists_call_them() {
    let model = shipped();
    let named = [
        ("CC(=O)O.NCc1ccccc1>>CC(=O)NCc1ccccc1", "amide coupling"),
        ("CC(=O)Cl.Nc1ccccc1>>CC(=O)Nc1ccccc1", "amide formation from acid halide"),
        ("Brc1ccccc1.OB(O)c1ccncc1>>c1ccc(-c2ccncc2)cc1", "Suzuki coupling"),
        ("CC(C)(C)OC(=O)NCc1ccccc1>>NCc1ccccc1", "Boc removal"),
        ("CC(C)(C)OC(=O)OC(=O)OC(C)(C)C.NCc1ccccc1>>CC(C)(C)OC(=O)NCc1ccccc1", "Boc protection"),
        ("O=Cc1ccccc1.C1COCCN1>>c1ccc(CN2CCOCC2)cc1", "reductive amination"),
        ("O=[N+]([O-])c1ccccc1>>Nc1ccccc1", "nitro reduction"),
        ("N#Cc1ccc(F)cc1.C1COCCN1>>N#Cc1ccc(N2CCOCC2)cc1", "SNAr amination"),
        ("COC(=O)c1ccccc1>>O=C(O)c1ccccc1", "ester hydrolysis"),
        ("CCBr.Oc1ccccc1>>CCOc1ccccc1", "Williamson ether synthesis"),
        ("NNc1ccccc1.CC(=O)CC(C)=O>>Cc1cc(C)n(-c2ccccc2)n1", "pyrazole synthesis"),
        ("C#CC(C)O.Ic1ccccc1>>CC(O)C#Cc1ccccc1", "Sonogashira coupling"),
    ];
    for (reaction, name) in named {
        let (precursors, product) = reaction.split_once(">>").unwrap();
        let precursors: Vec<Molecule> = precursors.split('.').map(|smiles| smiles.parse().unwrap()).collect();

        let found = explain(&model, &product.parse().unwrap(), &precursors);

        let names: Vec<&str> = found.iter().map(|found| found.class.name).collect();
        assert!(names.contains(&name), "{reaction}: {names:?}");
    }
}

/// Returns true if a template that proposes the step gives it this name.
fn has_name(model: &RetroModel, row: &Row) -> bool {
    let precursors: Vec<Molecule> = row.precursors.iter().map(|smiles| smiles.parse().unwrap()).collect();
    let found = explain(model, &row.product.parse().unwrap(), &precursors);
    found.iter().any(|found| found.class.name == row.category)
}

#[test]
fn reactions_of_a_kind_have_its_name() {
    let (model, rows) = (shipped(), rows("named_steps.tsv", None));
    let cores = thread::available_parallelism().map_or(1, usize::from);

    let wrong: Vec<&Row> = thread::scope(|scope| {
        let model = &model;
        let find = |part| {
            scope.spawn(move || <[Row]>::iter(part).filter(|row| !has_name(model, row)).collect::<Vec<_>>())
        };
        let parts: Vec<_> = rows.chunks(rows.len().div_ceil(cores)).map(find).collect();
        parts.into_iter().flat_map(|part| part.join().unwrap()).collect()
    });

    for row in &wrong {
        println!("NAMED OTHERWISE\t{}\t{}>>{}", row.category, row.precursors.join("."), row.product);
    }
    assert!(wrong.is_empty());
}

#[test]
fn no_impossible_step_is_returned() {
    assert_eq!(wrongly_returned(rows("wrong_steps.tsv", None)), 0);
}

#[test]
fn steps_that_work_are_returned() {
    assert!(share_returned(rows("right_steps.tsv", None)) >= 0.97);
}

#[test]
fn blindly_written_steps_are_classified() {
    assert!(wrongly_returned(rows("blind_steps.tsv", Some("wrong"))) <= 1);
    assert!(share_returned(rows("blind_steps.tsv", Some("right"))) >= 0.96);
}
