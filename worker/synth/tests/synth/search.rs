//! Search results on a toy chemistry.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use crate::toy::*;
use catalogue::{BlockRow, Masks, Offer, Region, StockView};
use chem::Molecule;
use synth::{Budget, GroupOrder, Planner, PlannerSettings, SearchUrgency, Stop, TargetPurchase, Task, plan};

const DIAMIDE: &str = "CCCNC(=O)CCC(=O)NCC";

fn amide() -> Arc<synth::RetroModel> {
    model(&[(AMIDE, 1.0)])
}

#[test]
fn a_target_in_the_catalogue_needs_no_reaction_where_that_is_allowed() {
    let task = Task { target_purchase: TargetPurchase::Allow, ..task("CC(=O)NC") };

    let plan = plan(&amide(), &stock(&["CNC(C)=O", "CC(=O)O"]), &task, &expansions(10));

    assert_eq!(texts(&plan), [Vec::<String>::new()]);
    assert_eq!(plan.groups[0].steps, 0);
    let route = plan.routes().next().unwrap();
    let blocks: Vec<_> = route.molecules().map(|molecule| molecule.building_block).collect();
    assert_eq!(blocks, [Some(0)]);
}

#[test]
fn a_target_in_the_catalogue_is_made_where_buying_it_is_masked() {
    let plan = plan(&amide(), &stock(&["CC(=O)NC", "CC(=O)O", "CN"]), &task("CC(=O)NC"), &expansions(10));

    assert_eq!(texts(&plan), [["CC(=O)O.CN>>CNC(C)=O"]]);
    let target = plan.routes().next().unwrap().molecules().next().unwrap();
    assert_eq!((target.building_block, target.closest_building_block), (None, 1.0));
}

#[test]
fn a_route_of_one_step_is_described_in_full() {
    let task = Task { stop: Stop::FirstRoute, ..task("CC(=O)NCC") };

    let plan = plan(&amide(), &stock(&["CC(=O)O", "CCN"]), &task, &expansions(10));

    let route = plan.routes().next().unwrap();
    let facts: Vec<_> = route
        .molecules()
        .map(|node| (node.smiles.as_str(), node.building_block, node.depth, node.expanded))
        .collect();
    assert_eq!(
        facts,
        [("CCNC(C)=O", None, 0, true), ("CC(=O)O", Some(0), 1, false), ("CCN", Some(1), 1, false)]
    );
    let edges: Vec<_> =
        route.graph.edges().map(|(product, precursor)| (product.index(), precursor.index())).collect();
    assert_eq!(edges, [(0, 1), (0, 2)]);
    let (_, step) = route.steps().next().unwrap();
    assert_eq!((step.template, step.template_hash.as_str()), (0, "hash0"));
    // Acetic acid and ethylamine, 60.05 and 45.08 g a mole, at a dollar a gram.
    assert!((route.usd_per_mol.unwrap() - 105.14).abs() < 0.01);
    assert_eq!(route.lead_time_days, Some(5.0));
    assert!((route.molecules().next().unwrap().mw - 87.122).abs() < 0.01);
    assert_eq!((plan.counts.validated_routes, plan.counts.unvalidated_routes), (1, 0));
    assert!(plan.timings.first_route.is_some());
}

#[test]
fn a_route_of_two_steps_is_found_through_a_molecule_that_is_not_for_sale() {
    let model = model(&[(AMIDE, 1.0), (SAPONIFICATION, 1.0)]);

    let plan = plan(&model, &stock(&["COC(C)=O", "CCN"]), &task("CC(=O)NCC"), &expansions(20));

    assert_eq!(texts(&plan), [["CC(=O)O.CCN>>CCNC(C)=O", "COC(C)=O>>CC(=O)O"]]);
    assert_eq!(plan.groups[0].steps, 2);
}

#[test]
fn both_branches_of_a_convergent_route_are_made() {
    let model = model(&[(AMIDE, 1.0), (SAPONIFICATION, 1.0), (REDUCTIVE_AMINATION, 1.0)]);
    let task = Task { max_depth: 2, ..task("CCCNCCNC(=O)CC") };

    let plan = plan(&model, &stock(&["CCC(=O)OC", "CCCNCCN"]), &task, &expansions(20));

    assert_eq!(texts(&plan), [["CCC(=O)O.CCCNCCN>>CCCNCCNC(=O)CC", "CCC(=O)OC>>CCC(=O)O"]]);
}

#[test]
fn a_convergent_route_joins_what_both_halves_give() {
    let model = model(&[(SUZUKI, 1.0), (AMIDE, 1.0)]);
    let stock = stock(&["O=C(O)Cc1ccc(Br)cc1", "CCN", "OB(O)c1ccncc1"]);

    let plan = plan(&model, &stock, &task("CCNC(=O)Cc1ccc(-c2ccncc2)cc1"), &expansions(50));

    let convergent = [
        "CCNC(=O)Cc1ccc(Br)cc1.OB(O)c1ccncc1>>CCNC(=O)Cc1ccc(-c2ccncc2)cc1",
        "CCN.O=C(O)Cc1ccc(Br)cc1>>CCNC(=O)Cc1ccc(Br)cc1",
    ];
    let linear = [
        "CCN.O=C(O)Cc1ccc(-c2ccncc2)cc1>>CCNC(=O)Cc1ccc(-c2ccncc2)cc1",
        "O=C(O)Cc1ccc(Br)cc1.OB(O)c1ccncc1>>O=C(O)Cc1ccc(-c2ccncc2)cc1",
    ];
    let found = texts(&plan);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found.iter().any(|route| *route == convergent), "{found:?}");
    assert!(found.iter().any(|route| *route == linear), "{found:?}");
    assert_eq!(plan.groups.len(), 2);
}

#[test]
fn no_branch_is_longer_than_the_depth_limit() {
    let model = model(&[(AMIDE, 1.0), (SAPONIFICATION, 1.0)]);
    let stock = stock(&["COC(C)=O", "CCN"]);
    let within = |max_depth| {
        let task = Task { max_depth, ..task("CC(=O)NCC") };
        plan(&model, &stock, &task, &expansions(50)).solved()
    };

    assert_eq!((within(1), within(2)), (false, true));
}

#[test]
fn masks_exclude_building_blocks_at_or_above_their_limit() {
    let us = Region::of_country("US").unwrap();
    let ca = Region::of_country("CA").unwrap();
    let mut offer = Offer::of(1).at(10.0);
    offer.lead_time_days[0] = Some(9.0);
    offer.lead_time_days[2] = Some(1.0);
    let acid = BlockRow::of(0, &"CC(=O)O".parse().unwrap());
    let stock = StockView::in_memory([(acid, vec![offer]), row(1, "CN", 0.5)]);
    let none = Masks::default;
    let cases = [
        ("no mask", none(), true),
        ("price at the limit", Masks { usd_gte: Some(10.0), ..none() }, false),
        ("price below the limit", Masks { usd_gte: Some(10.1), ..none() }, true),
        ("lead time at the limit", Masks { lead_gte: Some(9.0), region: us, ..none() }, false),
        ("lead time below the limit", Masks { lead_gte: Some(9.5), region: us, ..none() }, true),
        ("lead time unknown in the region", Masks { lead_gte: Some(6.0), region: ca, ..none() }, true),
        ("weight above the limit", Masks { mw_gte: Some(60.0), ..none() }, false),
        ("weight at the limit", Masks { mw_gte: Some(60.052), ..none() }, false),
        ("weight below the limit", Masks { mw_gte: Some(60.1), ..none() }, true),
    ];
    for (name, masks, solved) in cases {
        let plan = plan(&amide(), &stock.under(masks), &task("CC(=O)NC"), &expansions(10));

        assert_eq!(plan.solved(), solved, "{name}");
    }
}

#[test]
fn a_molecule_is_never_made_from_itself() {
    let model = model(&[(SAPONIFICATION, 1.0), (METHYL_ESTER, 1.0)]);

    let plan = plan(&model, &stock(&["CO"]), &task("CCC(=O)O"), &expansions(100));

    assert!(!plan.solved());
    assert!(plan.exhausted);
    // Acid, ester, and the methanol that the reverse step needs.
    assert_eq!(plan.counts.molecules, 3);
}

#[test]
fn a_step_that_would_also_hit_another_site_is_refused() {
    // Both nitrogens of the diamine are primary amines; only one of them is to be acylated.
    let stock = stock(&["CC(=O)O", "CC(CN)CCN"]);

    let plan = plan(&amide(), &stock, &task("CC(CCN)CNC(C)=O"), &expansions(10));

    assert!(!plan.solved());
    assert_eq!(plan.counts.refusals.unsound, 1);
}

#[test]
fn equivalent_sites_do_not_compete() {
    let plan = plan(&amide(), &stock(&["CC(=O)O", "NCCN"]), &task("NCCNC(C)=O"), &expansions(10));

    assert_eq!(texts(&plan), [["CC(=O)O.NCCN>>CC(=O)NCCN"]]);
}

#[test]
fn stereo_is_kept_and_the_other_enantiomer_is_no_substitute() {
    let target = "CC[C@H](C)NC(C)=O";
    let right = stock(&["CC(=O)O", "CC[C@H](C)N"]);
    let wrong = stock(&["CC(=O)O", "CC[C@@H](C)N", "CCC(C)N"]);

    assert!(plan(&amide(), &right, &task(target), &expansions(10)).solved());
    assert!(!plan(&amide(), &wrong, &task(target), &expansions(10)).solved());
}

#[test]
fn acid_and_acid_chloride_are_variations_of_one_backbone() {
    let model = model(&[(AMIDE, 2.0), (AMIDE_FROM_CHLORIDE, 1.0)]);
    let stock = stock(&["CC(=O)O", "CC(=O)Cl", "CCN"]);

    let plan = plan(&model, &stock, &task("CC(=O)NCC"), &expansions(10));

    assert_eq!(plan.groups.len(), 1);
    assert_eq!(texts(&plan), [["CC(=O)O.CCN>>CCNC(C)=O"], ["CC(=O)Cl.CCN>>CCNC(C)=O"]]);
    assert_eq!(plan.groups[0].variations.len(), 2);
}

#[test]
fn another_disconnection_is_another_backbone() {
    let model = model(&[(AMIDE, 1.0), (REDUCTIVE_AMINATION, 1.0)]);
    let stock = stock(&["CC(=O)O", "NCCNCCC", "CCC=O", "CC(=O)NCCN"]);

    let plan = plan(&model, &stock, &task("CCCNCCNC(C)=O"), &expansions(20));

    let firsts: Vec<_> = plan.groups.iter().map(|group| text(&group.variations[0][0])).collect();
    assert_eq!(plan.groups.len(), firsts.len());
    assert!(firsts.contains(&vec!["CC(=O)NCCN.CCC=O>>CCCNCCNC(C)=O".to_owned()]), "{firsts:?}");
    assert!(
        plan.groups.windows(2).all(|pair| (pair[0].steps, &pair[0].key) != (pair[1].steps, &pair[1].key))
    );
}

#[test]
fn an_interconversion_changes_the_number_of_steps_and_not_the_key() {
    let model = model(&[(AMIDE, 1.0), (SAPONIFICATION, 1.0)]);
    let key = |blocks: &[&str]| {
        let plan = plan(&model, &stock(blocks), &task("CC(=O)NCC"), &expansions(20));
        (plan.groups[0].steps, plan.groups[0].key.clone())
    };

    let (short, one) = key(&["CC(=O)O", "CCN"]);
    let (long, other) = key(&["COC(C)=O", "CCN"]);

    assert_eq!((short, long), (1, 2));
    assert_eq!(one, other);
    assert!(one.len() == 17 && one.starts_with('b'));
}

#[test]
fn cheaper_variations_come_first_where_that_is_asked_for() {
    let model = model(&[(AMIDE, 2.0), (AMIDE_FROM_CHLORIDE, 1.0)]);
    let stock = StockView::in_memory([row(0, "CC(=O)O", 9.0), row(1, "CC(=O)Cl", 3.0), row(2, "CCN", 1.0)]);
    let task = Task { group_order: GroupOrder::Cost, max_group_size: 1, ..task("CC(=O)NCC") };

    let plan = plan(&model, &stock, &task, &expansions(10));

    assert_eq!(texts(&plan), [["CC(=O)Cl.CCN>>CCNC(C)=O"]]);
    let price = plan.routes().next().unwrap().usd_per_mol.unwrap();
    assert!((price - (3.0 * 78.498 + 45.085)).abs() < 0.01, "{price}");
}

#[test]
fn routes_come_in_the_order_of_their_totals() {
    let model = model(&[(AMIDE, 3.0), (AMIDE_FROM_CHLORIDE, 2.0), (SAPONIFICATION, 1.0)]);
    let acids =
        ["CC(=O)O", "CC(=O)Cl", "CCN", "CCCN", "O=C(O)CCC(=O)O", "O=C(Cl)CCC(=O)O", "CCNC(=O)CCC(=O)O"];

    let plan = plan(&model, &stock(&acids), &task(DIAMIDE), &expansions(200));

    let totals: Vec<f64> = plan.groups.iter().map(|group| group.variations[0][0].total).collect();
    assert!(totals.is_sorted(), "{totals:?}");
    assert!(!totals.is_empty());
    for group in &plan.groups {
        let totals: Vec<f64> = group.variations.iter().map(|routes| routes[0].total).collect();
        assert!(totals.is_sorted(), "{totals:?}");
    }
}

#[test]
fn the_same_search_gives_the_same_plan() {
    let model = model(&[(AMIDE, 3.0), (AMIDE_FROM_CHLORIDE, 2.0), (SAPONIFICATION, 1.0), (ESTER, 1.0)]);
    let stock = stock(&["CCN", "CCCN", "O=C(O)CCC(=O)O", "O=C(Cl)CCC(=O)O", "COC(=O)CCC(=O)OC"]);
    let once = plan(&model, &stock, &task(DIAMIDE), &expansions(30));

    let again = plan(&model, &stock, &task(DIAMIDE), &expansions(30));

    assert_eq!((&once.groups, once.counts), (&again.groups, again.counts));
}

#[test]
fn a_search_whose_deadline_has_passed_tries_nothing() {
    let budget = Budget::until(Instant::now(), Arc::new(AtomicBool::new(false)));

    let plan = plan(&amide(), &stock(&["CC(=O)O", "CN"]), &task("CC(=O)NC"), &budget);

    assert_eq!((plan.counts.template_applications, plan.solved(), plan.exhausted), (0, false, false));
}

#[test]
fn a_cancelled_search_tries_nothing() {
    let budget = Budget { cancelled: Arc::new(AtomicBool::new(true)), ..expansions(10) };

    let plan = plan(&amide(), &stock(&["CC(=O)O", "CN"]), &task("CC(=O)NC"), &budget);

    assert_eq!((plan.counts.template_applications, plan.solved()), (0, false));
}

#[test]
fn a_background_search_pauses_and_then_finds_the_same() {
    const PAUSED_FOR: Duration = Duration::from_millis(300);
    let planner = Planner::new(amide(), PlannerSettings::default());
    let (stock, task) = (stock(&["CCCN", "CCN", "O=C(O)CCC(=O)O"]), task(DIAMIDE));
    let alone = planner.plan(&stock, &task, &expansions(50));
    let interactive = planner.priority(SearchUrgency::Interactive);
    // Less time than the search is paused.
    let time = Budget::until(Instant::now() + PAUSED_FOR / 2, Arc::new(AtomicBool::new(false)));
    let budget =
        Budget { priority: planner.priority(SearchUrgency::Batch), max_expansions: Some(50), ..time };

    let (over, stood) = std::thread::scope(|scope| {
        let searching = scope.spawn(|| planner.plan(&stock, &task, &budget));
        std::thread::sleep(PAUSED_FOR);
        let over = searching.is_finished();
        drop(interactive);
        (over, searching.join().unwrap())
    });

    assert!(!over && alone.solved());
    assert_eq!((stood.groups, stood.counts), (alone.groups, alone.counts));
}

#[test]
fn a_search_with_nothing_left_to_try_says_so() {
    let plan = plan(&amide(), &stock(&["CN"]), &task("CCO"), &expansions(100));

    assert!(plan.exhausted);
    assert!(!plan.solved());
    assert_eq!(plan.counts.graph_nodes(), 1);
}

#[test]
fn a_molecule_that_is_needed_twice_is_one_node() {
    let plan = plan(&amide(), &stock(&["CC(=O)O", "NCCN"]), &task("CC(=O)NCCNC(C)=O"), &expansions(50));

    let route = plan.routes().next().unwrap();
    let mut smiles: Vec<_> = route.molecules().map(|node| &node.smiles).collect();
    smiles.sort();
    smiles.dedup();
    assert_eq!(smiles.len(), route.molecules().count());
    let acid: Molecule = "CC(=O)O".parse().unwrap();
    let acid = route.molecules().find(|node| node.smiles == acid.canonical_smiles()).unwrap();
    assert_eq!(acid.depth, 1);
}
