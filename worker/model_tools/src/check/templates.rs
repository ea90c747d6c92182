//! Checks of a template pack: table and network load and fit together, and the templates apply to ordinary molecules.

use std::{
    fs::File,
    io::{self, Read as _},
    path::Path,
    sync::{Arc, atomic::AtomicBool},
    time::{Duration, Instant},
};

use catalogue::StockView;
use flate2::read::MultiGzDecoder;
use serde_json::Value;
use synth::{Budget, Constraints, GroupOrder, RetroModel, Stop, TargetPurchase, Task, plan};

use super::{CheckReport, weights};
use crate::PackFolder;

/// Maximum size of a decompressed table in bytes: a hundred times the usual size.
const MAX_TABLE_BYTES: u64 = 1 << 30;
/// Optional files of a pack, besides the two required ones.
const OPTIONAL: [&str; 4] =
    ["sites.safetensors", "plausibility.safetensors", "precedents.safetensors", "reactants.safetensors"];
/// Products of the most common reactions: an amide, a biaryl, an ester, a sulfonamide, an aryl ether, an amine.
const ORDINARY: [&str; 6] = [
    "CC(=O)Nc1ccc(O)cc1",
    "Cc1ccc(-c2ccc(OC)cc2)cc1",
    "CCOC(=O)c1ccccc1",
    "CCNS(=O)(=O)c1ccc(C)cc1",
    "COc1ccc(OCc2ccccc2)cc1",
    "CCN(CC)Cc1ccccc1",
];
/// Timeout for expanding the molecules.
const EXPANSION_TIMEOUT: Duration = Duration::from_secs(20);

/// Checks a template pack.
pub fn check(pack: &PackFolder, report: &mut CheckReport) {
    let table = pack.folder.join("templates.csv.gz");
    if let Err(fault) = check_decompression(&table) {
        return report.faults.push(format!("{}: {fault}", table.display()));
    }
    for name in OPTIONAL {
        let file = pack.folder.join(name);
        if file.exists() {
            report.faults.extend(weights::faults(&file));
        }
    }
    let model = match RetroModel::load(&pack.folder) {
        Ok(model) => Arc::new(model),
        Err(fault) => return report.faults.push(format!("{:#}", anyhow::Error::new(fault))),
    };
    let promised = pack.config.as_ref().and_then(|config| config.get("n_templates")).and_then(Value::as_u64);
    if promised.is_some_and(|promised| promised != model.templates() as u64) {
        report.warnings.push(format!(
            "{}: `n_templates` is {}, but there are {}",
            pack.folder.join("config.json").display(),
            promised.unwrap_or_default(),
            model.templates()
        ));
    }
    report.notes.push(format!("{} templates, and a network with an output for each", model.templates()));
    let skipped = model.skipped_templates();
    if skipped > 0 {
        report.warnings.push(format!(
            "{}: {skipped} of {} templates cannot be read and are never used",
            table.display(),
            model.templates()
        ));
    }
    expand_ordinary(&model, &table, report);
}

/// Checks that a table decompresses to a reasonable size.
fn check_decompression(table: &Path) -> io::Result<()> {
    let unpacked = MultiGzDecoder::new(File::open(table)?);
    let bytes = io::copy(&mut unpacked.take(MAX_TABLE_BYTES + 1), &mut io::sink())?;
    if bytes > MAX_TABLE_BYTES {
        return Err(io::Error::other(format!("unpacks to more than {MAX_TABLE_BYTES} bytes")));
    }
    Ok(())
}

/// Expands ordinary molecules by one step each.
fn expand_ordinary(model: &Arc<RetroModel>, table: &Path, report: &mut CheckReport) {
    let begun = Instant::now();
    let nothing_on_the_shelf = StockView::in_memory([]);
    let (mut reactions, mut applications, mut opened) = (0, 0, 0);
    for smiles in ORDINARY {
        let task = Task {
            target: smiles.parse().expect("check: an ordinary molecule is a molecule"),
            max_depth: 1,
            stop: Stop::Budget,
            target_purchase: TargetPurchase::Mask,
            max_groups: 1,
            max_group_size: 1,
            group_order: GroupOrder::Total,
            constraints: Constraints::default(),
        };
        let mut budget = Budget::until(begun + EXPANSION_TIMEOUT, Arc::new(AtomicBool::new(false)));
        budget.max_expansions = Some(1);
        let counts = plan(model, &nothing_on_the_shelf, &task, &budget).counts;
        reactions += counts.reactions;
        applications += counts.template_applications;
        opened += u32::from(counts.reactions > 0);
    }
    let figures = format!(
        "{opened} of {} ordinary molecules taken apart: {reactions} reactions from {applications} templates in {:.2} s",
        ORDINARY.len(),
        begun.elapsed().as_secs_f64()
    );
    if opened == 0 {
        report.warnings.push(format!("{}: {figures}", table.display()));
    } else {
        report.notes.push(figures);
    }
}
