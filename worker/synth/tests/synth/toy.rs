//! A toy chemistry: a handful of templates, a network with constant output, a small stock.

#![allow(dead_code, reason = "each test file uses a part of it")]

use std::collections::HashMap;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use candle_core::{Device, Tensor};
use catalogue::{BlockRow, Offer, StockView};
use chem::Molecule;
use flate2::Compression;
use flate2::write::GzEncoder;
use synth::{Budget, Constraints, GroupOrder, RetroModel, Route, SearchResult, Stop, TargetPurchase, Task};

/// Returns the shipped model.
pub fn shipped() -> Arc<RetroModel> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../models/uspto_retro");
    Arc::new(RetroModel::load(&folder).unwrap())
}

/// Template: amide from acid and amine.
pub const AMIDE: &str = "([C:1]-[C;H0;D3;+0:2](=[O;D1;H0:3])-[NH;D2;+0:4]-[C:5])\
                         >>(O-[C;H0;D3;+0:2](-[C:1])=[O;D1;H0:3]).([C:5]-[NH2;D1;+0:4])";
/// Template: amide from acid chloride and amine.
pub const AMIDE_FROM_CHLORIDE: &str = "([C:1]-[C;H0;D3;+0:2](=[O;D1;H0:3])-[NH;D2;+0:4]-[C:5])\
                                       >>(Cl-[C;H0;D3;+0:2](-[C:1])=[O;D1;H0:3]).([C:5]-[NH2;D1;+0:4])";
/// Template: ester from acid and alcohol.
pub const ESTER: &str = "([C:1]-[C;H0;D3;+0:2](=[O;D1;H0:3])-[O;H0;D2;+0:4]-[C:5])\
                         >>(O-[C;H0;D3;+0:2](-[C:1])=[O;D1;H0:3]).([C:5]-[OH;D1;+0:4])";
/// Template: acid from its methyl ester.
pub const SAPONIFICATION: &str = "([C:1]-[C:2](=[O;D1;H0:3])-[OH;D1;+0:4])\
                                  >>C-[O;H0;D2;+0:4]-[C:2](-[C:1])=[O;D1;H0:3]";
/// Template: methyl ester from its acid. With the one above it forms a cycle.
pub const METHYL_ESTER: &str = "([C:1]-[C:2](=[O;D1;H0:3])-[O;H0;D2;+0:4]-[CH3;D1;+0:5])\
                                >>([C:1]-[C:2](=[O;D1;H0:3])-[OH;D1;+0:4]).(O-[CH3;D1;+0:5])";
/// Template: biaryl from bromide and boronic acid.
pub const SUZUKI: &str = "([c:1]:[c;H0;D3;+0:2](:[c:3])-[c;H0;D3;+0:4](:[c:5]):[c:6])\
                          >>(Br-[c;H0;D3;+0:2](:[c:1]):[c:3]).(O-B(-O)-[c;H0;D3;+0:4](:[c:5]):[c:6])";
/// Template: secondary amine from amine and aldehyde.
pub const REDUCTIVE_AMINATION: &str = "([C:1]-[CH2;D2;+0:2]-[NH;D2;+0:3]-[C:4])\
                                       >>(O=[CH;D2;+0:2]-[C:1]).([C:4]-[NH2;D1;+0:3])";

/// Returns a model that gives every molecule the same probabilities, in proportion to the weights.
pub fn model(templates: &[(&str, f32)]) -> Arc<RetroModel> {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), templates);
    Arc::new(RetroModel::load(dir.path()).unwrap())
}

/// Writes the files of [`model`].
pub fn write(dir: &Path, templates: &[(&str, f32)]) {
    let mut table = String::from("\tretro_template\ttemplate_hash\tlibrary_occurrence\tlibrary_index\n");
    for (row, (smarts, _)) in templates.iter().enumerate() {
        table += &format!("{row}\t{smarts}\thash{row}\t3\t{row}\n");
    }
    write_table(dir, &table);
    let biases: Vec<f32> = templates.iter().map(|(_, weight)| weight.ln()).collect();
    write_weights(dir, templates.len(), &biases);
}

pub fn write_table(dir: &Path, table: &str) {
    let file = std::fs::File::create(dir.join("templates.csv.gz")).unwrap();
    let mut encoder = GzEncoder::new(file, Compression::fast());
    encoder.write_all(table.as_bytes()).unwrap();
    encoder.finish().unwrap();
}

pub fn write_weights(dir: &Path, templates: usize, biases: &[f32]) {
    let zeros = |shape: (usize, usize)| Tensor::zeros(shape, candle_core::DType::F32, &Device::Cpu).unwrap();
    let tensors = HashMap::from([
        ("layer1.weight", zeros((4, 2048))),
        ("layer1.bias", zeros((1, 4)).flatten_all().unwrap()),
        ("layer2.weight", zeros((templates, 4))),
        ("layer2.bias", Tensor::new(biases, &Device::Cpu).unwrap()),
    ]);
    candle_core::safetensors::save(&tensors, dir.join("policy.safetensors")).unwrap();
}

/// Returns a stock in which the `i`-th molecule has id `i` and costs one dollar a gram in every region.
pub fn stock(smiles: &[&str]) -> StockView {
    StockView::in_memory(smiles.iter().enumerate().map(|(id, smiles)| row(id as i32, smiles, 1.0)))
}

pub fn row(id: i32, smiles: &str, usd: f32) -> (BlockRow, Vec<Offer>) {
    let molecule: Molecule = smiles.parse().unwrap();
    (BlockRow::of(id, &molecule), vec![Offer::of(1).at(usd).within(5.0)])
}

/// Returns the task of finding every route to `smiles` within five steps.
pub fn task(smiles: &str) -> Task {
    Task {
        target: smiles.parse().unwrap(),
        max_depth: 5,
        stop: Stop::Budget,
        target_purchase: TargetPurchase::Mask,
        max_groups: 10,
        max_group_size: 10,
        group_order: GroupOrder::Total,
        constraints: Constraints::default(),
    }
}

/// Returns a budget that ends after `most` expansions.
pub fn expansions(most: u64) -> Budget {
    let deadline = Instant::now() + Duration::from_secs(600);
    Budget { max_expansions: Some(most), ..Budget::until(deadline, Arc::new(AtomicBool::new(false))) }
}

/// Returns a route as text: each step as `precursor.precursor>>product`, the target's first.
pub fn text(route: &Route) -> Vec<String> {
    let step = |(product, _)| {
        let precursors: Vec<_> = route.precursors(product).map(|molecule| molecule.smiles.as_str()).collect();
        format!("{}>>{}", precursors.join("."), route.graph.molecule(product).smiles)
    };
    route.steps().map(step).collect()
}

/// Returns the routes of a plan as text, group by group.
pub fn texts(plan: &SearchResult) -> Vec<Vec<String>> {
    plan.routes().map(text).collect()
}
