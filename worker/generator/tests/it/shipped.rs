//! Test that the packs that ship load and produce molecules.

use std::{fs, path::Path};

use generator::{Device, ModelPack, SampleBudget, Sampler};
use serde_json::Value;

use crate::sampling::assert_distinct_valid_canonical;

#[test]
fn every_shipped_model_gives_distinct_valid_molecules() {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../models");
    let mut seen = 0;
    for entry in fs::read_dir(models).unwrap() {
        let dir = entry.unwrap().path();
        let Ok(config) = fs::read(dir.join("config.json")) else { continue };
        let config: Value = serde_json::from_slice(&config).unwrap();
        if config["model_type"] != "smiles_gru" {
            continue;
        }
        let pack = ModelPack::load(&dir).unwrap();
        assert!(dir.ends_with(&pack.id), "the folder of a shipped pack has its id as name: {}", pack.id);

        let sample =
            Sampler::new(&pack, Device::Cpu).unwrap().sample(200, 1, &SampleBudget::unlimited()).unwrap();

        assert_eq!(sample.len(), 200);
        assert_distinct_valid_canonical(&sample);
        seen += 1;
    }
    assert!(seen > 0, "no model pack ships");
}
