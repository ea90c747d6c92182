//! The benchmark kit's templates and network on a few of its targets, if the kit is available.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::toy::{expansions, stock, task, text};
use synth::{RetroModel, Stop, Task, plan};

/// Path of the kit: beside the repository, or as `RETORT_SHARED` says.
fn kit() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let shared = std::env::var_os("RETORT_SHARED").map_or(beside, PathBuf::from);
    Some(shared.join("bench/kit")).filter(|kit| kit.join("policy.safetensors").exists())
}

#[test]
fn the_kit_plans_its_targets() {
    let Some(kit) = kit() else {
        println!("skipped: no benchmark kit");
        return;
    };
    let model = Arc::new(RetroModel::load(&kit).unwrap());
    assert_eq!(model.templates(), 11_623);
    assert!(model.skipped_templates() < 20, "{}", model.skipped_templates());
    let stock =
        stock(&["CC(=O)O", "Nc1ccc(O)cc1", "CC(=O)Cl", "OB(O)c1ccccc1", "Brc1ccncc1", "CC(=O)OC(C)=O"]);
    let cases = [("CC(=O)Nc1ccc(O)cc1", "Nc1ccc(O)cc1"), ("c1ccc(-c2ccncc2)cc1", "OB(O)c1ccccc1")];
    for (target, block) in cases {
        let task = Task { stop: Stop::FirstRoute, ..task(target) };

        let plan = plan(&model, &stock, &task, &expansions(30));

        let steps = plan.routes().next().map(text).unwrap_or_default();
        assert!(steps.len() == 1 && steps[0].contains(block), "{target}: {steps:?}");
    }
}
