//! Plans routes to a list of targets and reports the number solved and the time.
//!
//! `plan MODEL_DIR STOCK.csv[.gz] TARGETS.csv [--seconds 4] [--expansions N] [--all|--sound] [--routes] [--algorithm
//! retro_star|breadth_first] [--cores 1] [--cache-mb 0] [--memory-mb 512] [--groups 5] [--group-size 10] [--depth 5]
//! [--trees FILE] [--nearest] [--common]`
//!
//! The stock has the columns `smiles` and, if prices are known, `usd_per_g`; `--common` adds the common chemicals that
//! a service always has. The targets have `smiles`, optionally `id`, and, if routes must break or keep bonds, `bonds_to_break` and `bonds_to_keep`, as `1-2 5-6` by the map
//! numbers of their atoms. Lines that are not molecules are counted and skipped. Without `--cache-mb` every target is
//! searched with an empty cache. `--all` uses the whole budget instead of stopping at the first route, `--sound` stops at
//! the first without a doubtful step; `--nearest`
//! only times the search for the nearest building block of each target. `--expansions N` ends each search by its
//! number of expansions, which makes it reproducible. `--trees` writes a line of JSON for each target: `{"id": …,
//! "seconds": …, "routes": [TREE, …], "features": […]}`, best first. A TREE is `[smiles, [TREE, …]]`. The weights of
//! the route order were fitted to the features.

#![allow(clippy::print_stdout, reason = "a program that reports")]

use std::collections::BTreeSet;
use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};

use catalogue::common_chemicals::CHEMICALS;
use catalogue::{BlockRow, Offer, Stock, StockView};
use chem::{Limits, MappedMolecule, Molecule};
use flate2::read::MultiGzDecoder;
use petgraph::graph::NodeIndex;
use serde_json::{Value, json};
use synth::{
    Algorithm, Budget, Constraints, GroupOrder, Planner, PlannerSettings, RetroModel, Route, RouteStep,
    SearchResult, Stop, TargetBond, TargetPurchase, Task,
};

/// The same allocator as in the worker.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [model, stock, targets, options @ ..] = arguments.as_slice() else {
        return Err("usage: plan MODEL_DIR STOCK.csv TARGETS.csv [--seconds S] [--all] [--routes]".into());
    };
    let number =
        |name: &str| options.iter().position(|option| option == name).and_then(|at| options.get(at + 1));
    let seconds: f64 = number("--seconds").map_or(Ok(4.0), |text| text.parse())?;
    let max_expansions: Option<u64> = number("--expansions").map(|text| text.parse()).transpose()?;
    let count = |name: &str, default: usize| number(name).map_or(Ok(default), |text| text.parse());
    let settings = PlannerSettings {
        algorithm: number("--algorithm").map_or(Ok(Algorithm::default()), |name| name.parse())?,
        cache_bytes: count("--cache-mb", 0)? << 20,
        memory_bytes: count("--memory-mb", 512)? << 20,
        cores: count("--cores", 1)?,
    };
    let shape = Task {
        max_depth: u32::try_from(count("--depth", 5)?)?,
        max_groups: count("--groups", 5)?,
        max_group_size: count("--group-size", 10)?,
        ..task("C".parse()?)
    };
    let flag = |name: &str| options.iter().any(|option| option == name);

    let start = Instant::now();
    let model = Arc::new(RetroModel::load(Path::new(model))?);
    println!(
        "{} templates, {} skipped, {:.2?}",
        model.templates(),
        model.skipped_templates(),
        start.elapsed()
    );
    let start = Instant::now();
    let catalogue = read_stock(Path::new(stock), flag("--common"))?;
    println!("{} building blocks, {:.2?}", catalogue.snapshot().len(), start.elapsed());
    if flag("--nearest") {
        return time_nearest(&catalogue, Path::new(targets));
    }
    let planner = Planner::new(model, settings);

    let stop = match () {
        () if flag("--all") => Stop::Budget,
        () if flag("--sound") => Stop::FirstSoundRoute,
        () => Stop::FirstRoute,
    };
    println!(
        "target\tfirst_s\ttotal_s\tcpu_s\tgroups\troutes\texpanded\tbatches\tapplied\tnodes\trefused\texhausted"
    );
    let mut trees = number("--trees").map(File::create).transpose()?.map(BufWriter::new);
    let mut plans = Vec::new();
    let columns = read_columns(Path::new(targets), &["smiles"], &["id", "bonds_to_break", "bonds_to_keep"])?;
    for (at, line) in columns.into_iter().enumerate() {
        let Ok(target) = MappedMolecule::parse(&line[0], Limits::TARGET) else {
            println!("{at}\tnot a molecule: {}", line[0]);
            continue;
        };
        let constraints = Constraints {
            bonds_to_break: bonds(&line[2], &target)?,
            bonds_to_keep: bonds(&line[3], &target)?,
            ..Constraints::default()
        };
        let target = target.molecule().clone();
        let start = Instant::now();
        let deadline = start + Duration::from_secs_f64(seconds);
        let budget = Budget { max_expansions, ..Budget::until(deadline, Arc::new(AtomicBool::new(false))) };
        let cpu = cpu_seconds();
        let plan = planner.plan(&catalogue, &Task { target, stop, constraints, ..shape.clone() }, &budget);
        let cpu = cpu_seconds() - cpu;
        report(at, &plan, start.elapsed(), cpu);
        if flag("--routes") {
            print_routes(&plan);
        }
        if let Some(trees) = &mut trees {
            writeln!(trees, "{}", trees_of(&line[1], &plan, start.elapsed()))?;
        }
        plans.push((plan, start.elapsed(), cpu));
    }
    summarise(&plans, seconds);
    Ok(())
}

fn task(target: Molecule) -> Task {
    Task {
        target,
        max_depth: 5,
        stop: Stop::FirstRoute,
        target_purchase: TargetPurchase::Mask,
        max_groups: 5,
        max_group_size: 10,
        group_order: GroupOrder::Total,
        constraints: Constraints::default(),
    }
}

/// Parses bonds of the target, written as `1-2 5-6`.
fn bonds(text: &str, target: &MappedMolecule) -> Result<Vec<TargetBond>, Box<dyn Error>> {
    let bond = |pair: &str| {
        let (a, b) =
            pair.split_once('-').ok_or_else(|| format!("{pair}: expected two map numbers, as 1-2"))?;
        let (a, b) = (target.atom(a.parse()?)?, target.atom(b.parse()?)?);
        Ok((a.min(b), a.max(b)))
    };
    text.split_whitespace().map(bond).collect()
}

fn report(at: usize, plan: &SearchResult, total: Duration, cpu: f64) {
    let first = plan.timings.first_route.map_or("-".to_owned(), |time| format!("{:.3}", time.as_secs_f64()));
    let counts = &plan.counts;
    println!(
        "{at}\t{first}\t{:.3}\t{cpu:.3}\t{}\t{}\t{}\t{}\t{}\t{}\t{}+{}\t{}",
        total.as_secs_f64(),
        plan.groups.len(),
        counts.validated_routes,
        counts.expanded_molecules,
        counts.expansions,
        counts.template_applications,
        counts.graph_nodes(),
        counts.refusals.unsound + counts.refusals.product_not_regained,
        counts.refusals.competing_site,
        plan.exhausted,
    );
}

fn print_routes(plan: &SearchResult) {
    if !plan.solved() {
        println!("  no route; missing: {}", plan.stopped_by.join(" . "));
    }
    for group in &plan.groups {
        println!("  {} {} ({} variations)", group.steps, group.key, group.variations.len());
        let steps: Vec<_> = group.variations[0][0].steps().collect();
        for &(place, step) in steps.iter().rev() {
            print_step(&group.variations[0][0], place, step);
        }
    }
}

/// Prints a step as a chemist reads it: what becomes what, its name, agents, doubts.
fn print_step(route: &Route, place: NodeIndex, step: &RouteStep) {
    let precursors: Vec<_> = route.precursors(place).map(|node| &*node.smiles).collect();
    let conditions = step.records.conditions(step.class, &precursors);
    let agents: Vec<_> = conditions.iter().map(|(_, name, count)| format!("{name} {count}")).collect();
    let warnings: Vec<_> = step.warnings.iter().map(ToString::to_string).collect();
    let needs = step.stereo_source.map(|source| format!("; needs {source}")).unwrap_or_default();
    println!("    {} >> {}", precursors.join(" . "), route.graph.molecule(place).smiles);
    println!(
        "      {}, plausibility {:.3}, probability {:.4}, {} recorded, nearest {:.2}; {}{needs}; {}",
        step.class.name,
        step.plausibility,
        step.probability,
        step.records.reactions,
        step.precedent.map_or(0.0, |nearest| nearest.tanimoto),
        agents.join(", "),
        warnings.join("; ")
    );
}

/// Formats all routes of a search result as nested lists, best first.
fn trees_of(id: &str, plan: &SearchResult, total: Duration) -> Value {
    let mut routes: Vec<&Route> = plan.routes().collect();
    routes.sort_by(|a, b| a.total.total_cmp(&b.total));
    let trees: Vec<Value> = routes.iter().map(|route| tree(route, route.graph.target())).collect();
    let features: Vec<Value> = routes.iter().map(|route| features(route)).collect();
    json!({ "id": id, "seconds": total.as_secs_f64(), "routes": trees, "features": features })
}

/// Returns the features for ranking a route: `[steps, Σ -ln probability, Σ -ln plausibility, least plausibility, Σ 1
/// - precedent, depth, blocks, USD per mole, total]`.
fn features(route: &Route) -> Value {
    let sum = |of: fn(&RouteStep) -> f64| route.steps().map(|(_, step)| of(step)).sum::<f64>();
    let depth = route.molecules().map(|node| node.depth).max();
    let blocks = route.molecules().filter(|node| node.building_block.is_some()).count();
    json!([
        route.steps().count(),
        -sum(|step| f64::from(step.probability).ln()),
        -sum(|step| f64::from(step.plausibility.max(1e-9)).ln()),
        route.steps().map(|(_, step)| step.plausibility).fold(1.0, f32::min),
        sum(|step| 1.0 - f64::from(step.precedent.map_or(1.0, |near| near.tanimoto))),
        depth,
        blocks,
        route.usd_per_mol,
        route.total,
    ])
}

/// Builds the tree of a node; repeated precursors appear once.
fn tree(route: &Route, node: NodeIndex) -> Value {
    let below: Vec<Value> =
        route.graph.precursors(node).map(|(precursor, _)| tree(route, precursor)).collect();
    json!([route.graph.molecule(node).smiles, below])
}

fn summarise(plans: &[(SearchResult, Duration, f64)], seconds: f64) {
    let mut firsts: Vec<f64> = plans
        .iter()
        .filter_map(|(plan, ..)| plan.timings.first_route)
        .map(|time| time.as_secs_f64())
        .collect();
    firsts.sort_by(f64::total_cmp);
    let within = |limit: f64| firsts.iter().filter(|&&time| time <= limit).count();
    let sum =
        |count: fn(&SearchResult) -> u64| plans.iter().map(|(plan, ..)| count(plan)).sum::<u64>() as f64;
    let time = |part: fn(&SearchResult) -> Duration| {
        plans.iter().map(|(plan, ..)| part(plan)).sum::<Duration>().as_secs_f64()
    };
    let cpu: f64 = plans.iter().map(|(.., cpu)| cpu).sum();
    let within_cpu = |limit| plans.iter().filter(|(plan, _, cpu)| plan.solved() && *cpu <= limit).count();
    println!("whole plans within 1 CPU s {}, within 4 CPU s {}", within_cpu(1.0), within_cpu(4.0));
    println!(
        "a CPU second expands {:.0} molecules and applies {:.0} templates",
        sum(|plan| plan.counts.expanded_molecules) / cpu,
        sum(|plan| plan.counts.template_applications) / cpu
    );
    let total: f64 = plans.iter().map(|(_, total, _)| total.as_secs_f64()).sum();
    println!(
        "targets {}, solved {}: within 1 s {}, within 4 s {}",
        plans.len(),
        firsts.len(),
        within(1.0),
        within(4.0)
    );
    println!(
        "median time to the first validated route {:.3} s",
        firsts.get(firsts.len() / 2).unwrap_or(&f64::NAN)
    );
    println!(
        "molecules expanded {:.0}/s, batches {:.0}/s, template applications {:.0}/s",
        sum(|plan| plan.counts.expanded_molecules) / total,
        sum(|plan| plan.counts.expansions) / total,
        sum(|plan| plan.counts.template_applications) / total,
    );
    let disconnections = |plan: &SearchResult| {
        let first = |route: &Route| {
            let (place, _) = route.steps().next()?;
            Some(route.precursors(place).map(|node| node.smiles.clone()).collect::<Vec<_>>())
        };
        plan.routes().filter_map(first).collect::<BTreeSet<_>>().len()
    };
    println!(
        "backbones {}, first disconnections {}, routes {}",
        plans.iter().map(|(plan, ..)| plan.groups.len()).sum::<usize>(),
        plans.iter().map(|(plan, ..)| disconnections(plan)).sum::<usize>(),
        plans.iter().map(|(plan, ..)| plan.routes().count()).sum::<usize>(),
    );
    let bytes = plans.iter().map(|(plan, ..)| plan.counts.graph_bytes).max().unwrap_or(0);
    println!("largest graph {} MB", bytes >> 20);
    let candidates = sum(|plan| plan.counts.unvalidated_routes + plan.counts.validated_routes);
    let reading = time(|plan| plan.timings.extraction);
    println!("{candidates} candidate routes, {:.0} in 50 ms of reading them", candidates / reading * 0.05);
    println!(
        "search {:.2} s, extraction {:.2} s, validation {:.2} s; longest {:.3} s",
        time(|plan| plan.timings.search),
        time(|plan| plan.timings.extraction),
        time(|plan| plan.timings.validation),
        plans.iter().map(|(_, total, _)| total.as_secs_f64()).fold(0.0, f64::max),
    );
    let open = plans.iter().filter(|(plan, ..)| !plan.exhausted);
    let shares: Vec<f64> = open.map(|(_, total, _)| 100.0 * total.as_secs_f64() / seconds).collect();
    println!(
        "searches with something left to try used {:.1} % of their time, at least {:.1} %",
        shares.iter().sum::<f64>() / shares.len() as f64,
        shares.iter().copied().fold(f64::INFINITY, f64::min),
    );
}

/// Reports the time to find the nearest building block.
fn time_nearest(catalogue: &StockView, targets: &Path) -> Result<(), Box<dyn Error>> {
    const ROUNDS: u32 = 20;
    let fingerprints: Vec<_> = read_columns(targets, &["smiles"], &[])?
        .into_iter()
        .filter_map(|line| Some(line[0].parse::<Molecule>().ok()?.fingerprint()))
        .collect();
    let cpu = cpu_seconds();
    let mut sum = 0.0;
    for _ in 0..ROUNDS {
        let nearest = catalogue.nearest(&fingerprints, 1);
        sum += nearest.iter().flatten().map(|&(_, similarity)| f64::from(similarity)).sum::<f64>();
    }
    let queries = f64::from(ROUNDS) * fingerprints.len() as f64;
    let microseconds = (cpu_seconds() - cpu) / queries * 1e6;
    println!("nearest building block: {microseconds:.0} us a query, mean similarity {:.4}", sum / queries);
    Ok(())
}

/// Returns the CPU seconds of this thread, which do not depend on the load of the machine; Linux only, else 0.
fn cpu_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds: f64 = text.split(' ').next().and_then(|field| field.parse().ok()).unwrap_or(0.0);
    nanoseconds / 1e9
}

/// Reads the stock, with what every laboratory has if that is wanted.
fn read_stock(path: &Path, with_common: bool) -> Result<StockView, Box<dyn Error>> {
    let mut lines = read_columns(path, &["smiles"], &["usd_per_g"])?;
    if with_common {
        lines.extend(CHEMICALS.iter().map(|&(_, smiles)| vec![smiles.to_owned(), String::new()]));
    }
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let row = |(id, line): (i32, &Vec<String>)| {
        let molecule: Molecule = line[0].parse().ok()?;
        Some((BlockRow::of(id, &molecule), vec![Offer::of(1)]))
    };
    let numbered: Vec<_> = (0..).zip(&lines).collect();
    let rows: Vec<(BlockRow, Vec<Offer>)> = thread::scope(|scope| {
        let parts: Vec<_> = numbered
            .chunks(lines.len().div_ceil(cores).max(1))
            .map(|part| scope.spawn(move || part.iter().copied().filter_map(row).collect::<Vec<_>>()))
            .collect();
        parts.into_iter().flat_map(|part| part.join().expect("a molecule can be read")).collect()
    });
    println!("{} lines are not molecules", lines.len() - rows.len());
    let start = Instant::now();
    let catalogue = StockView::in_memory(rows);
    println!("the catalogue was made of its rows in {:.2?}", start.elapsed());
    Ok(catalogue)
}

/// Reads the fields of every line: required columns first, then optional ones, empty if missing.
fn read_columns(path: &Path, needed: &[&str], optional: &[&str]) -> Result<Vec<Vec<String>>, Box<dyn Error>> {
    let file = File::open(path)?;
    let plain: Box<dyn Read> = if path.extension().is_some_and(|end| end == "gz") {
        Box::new(MultiGzDecoder::new(file))
    } else {
        Box::new(file)
    };
    let mut reader = csv::Reader::from_reader(plain);
    let header = reader.headers()?.clone();
    let place = |column: &&str| header.iter().position(|name| name == *column);
    if let Some(missing) = needed.iter().find(|column| place(column).is_none()) {
        return Err(format!("{}: needs the column {missing}", path.display()).into());
    }
    let places: Vec<Option<usize>> = needed.iter().chain(optional).map(place).collect();
    let mut lines = Vec::new();
    for record in reader.records() {
        let record = record?;
        let field = |at: &Option<usize>| at.map_or_else(String::new, |at| record[at].to_owned());
        lines.push(places.iter().map(field).collect());
    }
    Ok(lines)
}
