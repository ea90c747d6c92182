//! Targets with isotopes: they have the routes of the target without isotopes, from labelled building blocks.

use std::sync::{Arc, OnceLock};

use crate::toy::{AMIDE, REDUCTIVE_AMINATION, expansions, model, shipped, stock, task, text, texts};
use chem::Molecule;
use synth::{RetroModel, Stop, Task, plan};

fn full() -> &'static Arc<RetroModel> {
    static MODEL: OnceLock<Arc<RetroModel>> = OnceLock::new();
    MODEL.get_or_init(shipped)
}

/// Returns the first route with the shipped model, each step as text.
fn first_route(target: &str, blocks: &[&str]) -> Vec<String> {
    let task = Task { stop: Stop::FirstRoute, ..task(target) };
    let plan = plan(full(), &stock(blocks), &task, &expansions(60));
    plan.routes().next().map(text).unwrap_or_default()
}

fn canonical(smiles: &str) -> String {
    smiles.parse::<Molecule>().unwrap().canonical_smiles()
}

#[test]
fn a_labelled_target_is_made_from_a_labelled_block() {
    for (target, blocks, labelled) in LABELLED {
        let steps = first_route(target, blocks);

        let uses = |block: &&str| steps.iter().any(|step| step.contains(&canonical(block)));
        println!("{target}: {steps:?}");
        assert!(labelled.iter().all(uses), "{target}: {steps:?}");
    }
}

/// Targets, the stock, and the blocks that the route must use.
const LABELLED: &[(&str, &[&str], &[&str])] = &[
    // Methyl ether, methyl amine, methyl amide: the and siblings.
    (
        "[2H]C([2H])([2H])Oc1ccc(NC(C)=O)cc1",
        &["[2H]C([2H])([2H])I", "CC(=O)Nc1ccc(O)cc1"],
        &["[2H]C([2H])([2H])I"],
    ),
    (
        "[3H]C([3H])([3H])Oc1ccc(NC(C)=O)cc1",
        &["[3H]C([3H])([3H])I", "CC(=O)Nc1ccc(O)cc1"],
        &["[3H]C([3H])([3H])I"],
    ),
    (
        "[2H][13C]([2H])([2H])Oc1ccc(NC(C)=O)cc1",
        &["[2H][13C]([2H])([2H])I", "CC(=O)Nc1ccc(O)cc1"],
        &["[2H][13C]([2H])([2H])I"],
    ),
    (
        "[2H]C([2H])([2H])NC(=O)c1ccc(F)cc1",
        &["[2H]C([2H])([2H])N", "O=C(O)c1ccc(F)cc1"],
        &["[2H]C([2H])([2H])N"],
    ),
    (
        "[2H]C([2H])([2H])N(C)C(=O)c1ccc(F)cc1",
        &["[2H]C([2H])([2H])NC", "O=C(O)c1ccc(F)cc1"],
        &["[2H]C([2H])([2H])NC"],
    ),
    // Sold with deuterium on the nitrogen as well.
    (
        "[2H]C([2H])([2H])NC(=O)c1ccc(F)cc1",
        &["[2H]N([2H])C([2H])([2H])[2H]", "O=C(O)c1ccc(F)cc1"],
        &["O=C(O)c1ccc(F)cc1"],
    ),
    // Coupling of a labelled aryl part.
    (
        "[2H]c1c([2H])c([2H])c(-c2ccncc2)c([2H])c1[2H]",
        &["OB(O)c1c([2H])c([2H])c([2H])c([2H])c1[2H]", "Brc1ccncc1"],
        &["OB(O)c1c([2H])c([2H])c([2H])c([2H])c1[2H]"],
    ),
    (
        "[2H]C([2H])([2H])c1ccc(-c2ccncc2)cc1",
        &["[2H]C([2H])([2H])c1ccc(B(O)O)cc1", "Brc1ccncc1"],
        &["[2H]C([2H])([2H])c1ccc(B(O)O)cc1"],
    ),
    // Reductions with labelled hydride: the reagent brings the deuterium.
    ("[2H]C([2H])(O)c1ccc(-c2ccccc2)cc1", &["COC(=O)c1ccc(-c2ccccc2)cc1"], &["COC(=O)c1ccc(-c2ccccc2)cc1"]),
    ("[2H]C(C)(O)c1ccc(-c2ccccc2)cc1", &["CC(=O)c1ccc(-c2ccccc2)cc1"], &["CC(=O)c1ccc(-c2ccccc2)cc1"]),
    // Oxidation to a deuterated aldehyde.
    (
        "[2H]C(=O)c1ccc(-c2ccccc2)cc1",
        &["[2H]C([2H])(O)c1ccc(-c2ccccc2)cc1"],
        &["[2H]C([2H])(O)c1ccc(-c2ccccc2)cc1"],
    ),
    // A labelled ring as a block.
    (
        "[2H]C1([2H])CCN(C(=O)c2ccc(F)cc2)CC1",
        &["[2H]C1([2H])CCNCC1", "O=C(O)c1ccc(F)cc1"],
        &["[2H]C1([2H])CCNCC1"],
    ),
    (
        "O=C(c1ccc(F)cc1)N1C([2H])([2H])C([2H])([2H])C([2H])([2H])C([2H])([2H])C1([2H])[2H]",
        &["[2H]N1C([2H])([2H])C([2H])([2H])C([2H])([2H])C([2H])([2H])C1([2H])[2H]", "O=C(O)c1ccc(F)cc1"],
        &["O=C(O)c1ccc(F)cc1"],
    ),
];

#[test]
fn labels_stay_on_their_atoms() {
    let model = model(&[(AMIDE, 1.0)]);
    let stock = stock(&["[2H]C([2H])([2H])C(=O)O", "CC(=O)O", "NC1CCC([2H])CC1", "NCC"]);

    let plan = plan(&model, &stock, &task("[2H]C([2H])([2H])C(=O)NCC"), &expansions(10));

    assert_eq!(texts(&plan), [["CCN.[2H]C([2H])([2H])C(=O)O>>[2H]C([2H])([2H])C(=O)NCC"]]);
}

#[test]
fn equal_places_with_different_isotopes_are_apart() {
    let model = model(&[(AMIDE, 1.0)]);
    let stock = stock(&["CN", "[2H]C([2H])([2H])N", "CNC(=O)CC(=O)O", "[2H]C([2H])([2H])NC(=O)CC(=O)O"]);

    let plan = plan(&model, &stock, &task("[2H]C([2H])([2H])NC(=O)CC(=O)NC"), &expansions(10));

    let mut routes = texts(&plan);
    routes.sort();
    let target = "[2H]C([2H])([2H])NC(=O)CC(=O)NC";
    assert_eq!(
        routes,
        [
            [format!("CN.[2H]C([2H])([2H])NC(=O)CC(=O)O>>{target}")],
            [format!("CNC(=O)CC(=O)O.[2H]C([2H])([2H])N>>{target}")],
        ]
    );
}

#[test]
fn a_reagent_may_bring_either_isotope() {
    let model = model(&[(REDUCTIVE_AMINATION, 1.0)]);
    let target = "[2H]C(C)NCC";

    for aldehyde in ["CC=O", "[2H]C(C)=O"] {
        let plan = plan(&model, &stock(&[aldehyde, "CCN"]), &task(target), &expansions(10));

        let used = texts(&plan).concat().iter().any(|step| step.contains(&canonical(aldehyde)));
        assert!(used, "{aldehyde}: {:?}", texts(&plan));
    }
}

#[test]
fn a_configuration_by_isotopes_is_kept_or_the_step_left_out() {
    let model = model(&[(AMIDE, 1.0)]);
    let amines = ["C[C@H]([2H])N", "C[C@@H]([2H])N"];
    for (amine, other) in [(0, 1), (1, 0)] {
        let target = canonical(&format!("CC(=O)N{}", ["[C@@H]([2H])C", "[C@H]([2H])C"][amine]));
        let found = |block: &str| {
            let plan = plan(&model, &stock(&[block, "CC(=O)O"]), &task(&target), &expansions(10));
            texts(&plan).len()
        };

        assert_eq!((found(amines[amine]), found(amines[other])), (1, 0), "{target}");
    }
}

/// Coupling of an alkenylboronic acid with an aryl bromide.
const COUPLING: &str = "([CH;D2;+0:1]-[c;H0;D3;+0:2])>>(O-B(-O)-[CH;D2;+0:1]).(Br-[c;H0;D3;+0:2])";

#[test]
fn a_double_bond_whose_configuration_rests_on_isotopes_is_kept_or_the_step_left_out() {
    // A template, the target, the block of its configuration, that of the other, and the partner.
    let cases = [
        (AMIDE, "[2H]/C=C/C(=O)NCC", "[2H]/C=C/C(=O)O", "[2H]/C=C\\C(=O)O", "CCN"),
        (AMIDE, "[2H]/C=C\\C(=O)NCC", "[2H]/C=C\\C(=O)O", "[2H]/C=C/C(=O)O", "CCN"),
        (AMIDE, "[3H]/C([2H])=C/C(=O)NCC", "[3H]/C([2H])=C/C(=O)O", "[2H]/C([3H])=C/C(=O)O", "CCN"),
        (AMIDE, "[2H]/C=C(/[2H])C(=O)NCC", "[2H]/C=C(/[2H])C(=O)O", "[2H]/C=C(\\[2H])C(=O)O", "CCN"),
        (AMIDE, "C/C([13CH3])=C/C(=O)NCC", "C/C([13CH3])=C/C(=O)O", "C/C([13CH3])=C\\C(=O)O", "CCN"),
        (
            AMIDE,
            "C/C(C([2H])([2H])[2H])=C/C(=O)NCC",
            "C/C(C([2H])([2H])[2H])=C/C(=O)O",
            "[2H]C([2H])([2H])/C(C)=C/C(=O)O",
            "CCN",
        ),
        (AMIDE, "CC(=O)NC/C=C/[2H]", "NC/C=C/[2H]", "NC/C=C\\[2H]", "CC(=O)O"),
        // What the step replaces is at the double bond itself.
        (COUPLING, "[2H]/C=C/c1ccccc1", "[2H]/C=C/B(O)O", "[2H]/C=C\\B(O)O", "Brc1ccccc1"),
        (COUPLING, "[2H]/C=C\\c1ccccc1", "[2H]/C=C\\B(O)O", "[2H]/C=C/B(O)O", "Brc1ccccc1"),
    ];
    for (template, target, right, wrong, partner) in cases {
        let model = model(&[(template, 1.0)]);
        let found = |block: &str| {
            let plan = plan(&model, &stock(&[block, partner]), &task(target), &expansions(10));
            texts(&plan)
        };

        let with_right = found(right);
        assert!(
            with_right.concat().iter().any(|step| step.contains(&canonical(right))),
            "{target}: {with_right:?}"
        );
        assert_eq!(found(wrong), [[""; 0]; 0], "{target}");
        let flat = wrong.replace(['/', '\\'], "");
        assert_eq!(found(&flat), [[""; 0]; 0], "{target}");
    }
}

#[test]
#[ignore = "prints figures"]
fn isotopes_cost_little_time() {
    let blocks = ["[2H]C([2H])([2H])I", "CI", "CC(=O)Nc1ccc(O)cc1"];
    for target in
        ["COc1ccc(-c2ccncc2)cc1C(=O)NC1CCOCC1", "[2H]C([2H])([2H])Oc1ccc(-c2ccncc2)cc1C(=O)NC1CCOCC1"]
    {
        for _ in 0..3 {
            let start = std::time::Instant::now();
            let plan = plan(full(), &stock(&blocks), &task(target), &expansions(60));
            println!(
                "{target}: {:.3} s, {} expansions",
                start.elapsed().as_secs_f64(),
                plan.counts.expansions
            );
        }
    }
}
