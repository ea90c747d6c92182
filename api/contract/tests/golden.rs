//! Tests that stored data stays readable. Each golden file was written by a released shape and must still decode.

#![allow(clippy::unwrap_used, reason = "a golden file that cannot be read has failed its test")]

use std::fmt::Debug;

use chrono::{DateTime, TimeZone, Utc};
use contract::{
    AsyncSampleJob, AtomPair, BulkQuery, BulkQueryJob, BulkQueryOutcome, CatalogueCriterion, Cause,
    ConditionRefusals, Country, Edge, JobFailure, LikelihoodJob, Likelihoods, MAX_SEED, Makeability,
    MakeableRoute, MoleculeLikelihood, Node, NodeData, OwnBlock, PlanJob, ProgressReporting, PropertyRange,
    ProtectingGroups, RouteGraph, RouteLimits, SampleConditions, SampleId, SampleJob, StepCheck,
    StoredAsyncSampleJob, StoredBulkQueryJob, StoredLikelihoodJob, StoredPlanJob, StoredSampleJob,
    StoredTreeSearchJob, TreeSearchJob, TreeSearchRequest,
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

fn deadline() -> DateTime<Utc> {
    Utc.with_ymd_and_hms(2026, 1, 2, 3, 4, 5).unwrap()
}

fn assert_golden<T: Serialize + DeserializeOwned + PartialEq + Debug>(golden: &str, value: &T) {
    let written: Value = serde_json::from_str(golden).unwrap();

    assert_eq!(serde_json::from_str::<T>(golden).unwrap(), *value);
    assert_eq!(serde_json::to_value(value).unwrap(), written);
}

#[test]
fn a_stored_sample_job_keeps_its_shape() {
    let job = SampleJob {
        sample_id: "smp_01jd6xq1v3m4c5t6y7z8a9b0cd".parse().unwrap(),
        account_id: "acc_1".to_owned(),
        size: 10,
        model_id: None,
        seed: u64::MAX,
        conditions: SampleConditions::default(),
        details: false,
        deadline: deadline(),
    };

    assert_golden(include_str!("golden/sample_job_v1.json"), &StoredSampleJob::from(job));
}

/// Conditions of every kind.
fn conditions() -> SampleConditions {
    let one = |text: &str| vec![text.to_owned()];
    let range = |gte, lte| PropertyRange { gte, lte };
    SampleConditions {
        scaffold: Some("[*:1]c1ccccc1".to_owned()),
        fragments: vec!["[*]C".to_owned(), "[*]N".to_owned()],
        substructures_required: one("[#7]"),
        substructures_never: one("[#6]Cl"),
        similar_to: one("CCO"),
        similarity_gte: Some(0.25),
        similarity_lt: Some(0.75),
        properties: [("mw", range(Some(300.0), Some(450.5))), ("qed", range(Some(0.5), None))]
            .map(|(name, range)| (name.to_owned(), range))
            .into(),
        alerts: one("pains"),
        temperature: Some(0.5),
        top_p: Some(0.875),
        seed: Some(MAX_SEED),
        exclude: one("smp_01jd6xq1v3m4c5t6y7z8a9b0cd"),
        synthesizable: None,
    }
}

#[test]
fn stored_sample_jobs_with_conditions_keep_their_shape() {
    let sample_id: SampleId = "smp_01jd6xq1v3m4c5t6y7z8a9b0cd".parse().unwrap();
    let job = SampleJob {
        sample_id,
        account_id: "acc_1".to_owned(),
        size: 10,
        model_id: Some("druglike_gru".to_owned()),
        seed: MAX_SEED,
        conditions: conditions(),
        details: true,
        deadline: deadline(),
    };
    let model_id = "druglike_gru".to_owned();
    let order = AsyncSampleJob { sample_id, model_id, size: 10, conditions: conditions(), details: true };

    assert_golden(include_str!("golden/sample_job_v2.json"), &StoredSampleJob::from(job));
    assert_golden(include_str!("golden/order_job_v4.json"), &StoredAsyncSampleJob::of_chunk(order.clone()));
    assert_golden(include_str!("golden/order_job_v2.json"), &StoredAsyncSampleJob::from(order));
}

/// Limits of every kind on routes.
fn route_limits() -> RouteLimits {
    RouteLimits {
        max_steps: Some(4),
        max_usd_per_mol: Some(250.5),
        ships_to: Some(Country::De),
        max_lead_time_days: Some(14.0),
        max_seconds_each: 0.125,
    }
}

#[test]
fn stored_jobs_of_makeable_samples_keep_their_shape() {
    let sample_id: SampleId = "smp_01jd6xq1v3m4c5t6y7z8a9b0cd".parse().unwrap();
    let conditions = SampleConditions { synthesizable: Some(route_limits()), ..SampleConditions::default() };
    let model_id = "druglike_gru".to_owned();
    let job = SampleJob {
        sample_id,
        account_id: "acc_1".to_owned(),
        size: 10,
        model_id: Some(model_id.clone()),
        seed: 7,
        conditions: conditions.clone(),
        details: false,
        deadline: deadline(),
    };
    let order = AsyncSampleJob { sample_id, model_id, size: 10, conditions, details: false };
    let query = StoredBulkQueryJob::V1(BulkQueryJob {
        account_id: "acc_1".to_owned(),
        engine: None,
        smiles: vec!["CCO".to_owned()],
        deadline_seconds: 2.0,
        query: BulkQuery::Makeability { limits: route_limits() },
    });

    assert_golden(include_str!("golden/sample_job_v3.json"), &StoredSampleJob::from(job));
    assert_golden(include_str!("golden/order_job_v3.json"), &StoredAsyncSampleJob::from(order));
    assert_golden(include_str!("golden/look_job_makeability.json"), &query);
}

#[test]
fn an_answer_about_makeable_molecules_keeps_its_shape() {
    let route = MakeableRoute { steps: 2, usd_per_mol: Some(12.5), building_blocks: 3, plausibility: 0.75 };
    let results = vec![Makeability::Makeable(route), Makeability::NoRoute, Makeability::NotReached];

    assert_golden(include_str!("golden/look_answer_makeability.json"), &results);
    assert_golden(r#"{"problem":"no_searcher"}"#, &JobFailure::NoSearcher);
}

#[test]
fn conditions_are_empty_only_without_any() {
    let one_each = serde_json::to_value(conditions()).unwrap();

    assert!(SampleConditions::default().is_empty());
    for (name, value) in one_each.as_object().unwrap() {
        let only: SampleConditions = serde_json::from_value(serde_json::json!({ name: value })).unwrap();
        assert!(!only.is_empty(), "{name}");
    }
    assert_eq!(one_each.as_object().unwrap().len(), 13);
}

#[test]
fn a_stored_tree_search_job_keeps_its_shape() {
    let request = TreeSearchRequest::new("CC(=O)Nc1ccc(O)cc1");

    let job = StoredTreeSearchJob::V1(TreeSearchJob {
        request,
        account_id: None,
        engine: None,
        reporting: ProgressReporting::Nothing,
        compact: false,
        deadline: deadline(),
    });

    assert_golden(include_str!("golden/treesearch_job_v1.json"), &job);
}

#[test]
fn a_stored_tree_search_job_with_events_keeps_its_shape() {
    let job = TreeSearchJob {
        request: TreeSearchRequest::new("CC(=O)Nc1ccc(O)cc1"),
        account_id: None,
        engine: None,
        reporting: ProgressReporting::Events,
        compact: false,
        deadline: deadline(),
    };

    assert_golden(include_str!("golden/treesearch_job_v1_told.json"), &StoredTreeSearchJob::V1(job));
}

#[test]
fn a_stored_plan_job_keeps_its_shape() {
    let job = PlanJob {
        plan_id: "pln_01jd6xq1v3m4c5t6y7z8a9b0cd".to_owned(),
        engine: "uspto_retro".to_owned(),
        expected_seconds: 1.0,
    };

    assert_golden(include_str!("golden/plan_job_v1.json"), &StoredPlanJob::V1(job));
}

/// Builds a route of one step to an ether.
fn route() -> RouteGraph {
    let node = |id: &str, smiles: &str, block: Option<i32>| Node {
        id: id.to_owned(),
        data: NodeData {
            smiles: smiles.to_owned(),
            mw: 32.04,
            is_building_block: block.is_some(),
            building_block_idx: block,
            closest_building_block: 1.0,
            depth: u32::from(block.is_some()),
            expanded: block.is_none(),
            in_solution_path: true,
        },
        standing: None,
    };
    let edge =
        Edge { source: "a".to_owned(), target: "b".to_owned(), plausibility: Some(0.5), evidence: None };
    RouteGraph {
        directed: true,
        multigraph: false,
        graph: None,
        nodes: vec![node("a", "COC", None), node("b", "CO", Some(7))],
        edges: vec![edge],
    }
}

#[test]
fn a_stored_bulk_query_job_and_its_outcome_keep_their_shapes() {
    let ships_to = Some(Country::Us);
    let catalogue = |sought| BulkQuery::Catalogue { sought, limit: 25, ships_to, max_offers: 10 };
    let looks = [
        BulkQuery::Expansions { limit: 50, check: StepCheck::Rules },
        BulkQuery::BuildingBlocks { ships_to: Some(Country::Us), max_offers: 10, inchikey: true },
        BulkQuery::Synthesizability { max_seconds: 0.05 },
        catalogue(CatalogueCriterion::Structure { smiles: "CCO".to_owned() }),
        catalogue(CatalogueCriterion::Similar { smiles: "CCO".to_owned(), least: 0.3 }),
        catalogue(CatalogueCriterion::Substructure { pattern: "[OH]".to_owned() }),
        catalogue(CatalogueCriterion::Number { text: "EN300".to_owned() }),
        BulkQuery::Analogues { route: Box::new(route()), building_block: "CO".to_owned() },
    ];
    let job = |query| {
        StoredBulkQueryJob::V1(BulkQueryJob {
            account_id: "acc_1".to_owned(),
            engine: Some("uspto_retro".to_owned()),
            smiles: if matches!(query, BulkQuery::Catalogue { .. }) {
                Vec::new()
            } else {
                vec!["CCO".to_owned()]
            },
            deadline_seconds: 120.0,
            query,
        })
    };
    let outcome = BulkQueryOutcome { zipped: "H4sIAAAAAAAA".to_owned(), worked_seconds: 0.25 };

    assert_golden(include_str!("golden/look_jobs_v1.json"), &looks.map(job).to_vec());
    assert_golden(include_str!("golden/look_outcome.json"), &outcome);
}

#[test]
fn a_stored_likelihood_job_and_its_outcome_keep_their_shapes() {
    let job = LikelihoodJob {
        model_id: "druglike_gru".to_owned(),
        smiles: vec!["CCO".to_owned(), "C1CC".to_owned()],
    };
    let item = |smiles: &str, error: Option<&str>, loss| MoleculeLikelihood {
        smiles: smiles.to_owned(),
        error: error.map(str::to_owned),
        negative_log_likelihood: loss,
    };
    let outcome = Likelihoods {
        object: Default::default(),
        model_id: "druglike_gru".to_owned(),
        items: vec![item("CCO", None, Some(6.25)), item("C1CC", Some("ring bond 1 is not closed"), None)],
    };

    assert_golden(include_str!("golden/likelihood_job_v1.json"), &StoredLikelihoodJob::V1(job));
    assert_golden(include_str!("golden/likelihood_outcome.json"), &outcome);
}

#[test]
fn a_stored_asynchronous_sample_job_keeps_its_shape() {
    let job = AsyncSampleJob {
        sample_id: "smp_01jd6xq1v3m4c5t6y7z8a9b0cd".parse().unwrap(),
        model_id: "druglike_gru".to_owned(),
        size: 500,
        conditions: SampleConditions::default(),
        details: false,
    };

    assert_golden(include_str!("golden/order_job_v1.json"), &StoredAsyncSampleJob::from(job.clone()));
    assert_golden(include_str!("golden/order_job_v1.json"), &StoredAsyncSampleJob::of_chunk(job));
}

#[test]
fn a_stored_tree_search_job_with_constraints_keeps_its_shape() {
    let own = |smiles: &str, usd_per_gram| OwnBlock { smiles: smiles.to_owned(), usd_per_gram };
    let one = |text: &str| vec![text.to_owned()];
    let request = TreeSearchRequest {
        bonds_to_break: vec![AtomPair(1, 2)],
        bonds_to_keep: vec![AtomPair(3, 4)],
        fragments_to_keep: one("c1ccccc1"),
        molecules_never: one("CO"),
        substructures_never: one("[#6]Cl"),
        building_blocks_required: one("CN"),
        building_blocks_own: vec![own("CN", Some(2.5)), own("CC", None)],
        reaction_classes_only: one("amide coupling"),
        reaction_classes_never: one("nitration"),
        reaction_classes_required: one("amide coupling"),
        templates_never: one("t"),
        max_steps: Some(3),
        protecting_groups: ProtectingGroups::Never,
        ..TreeSearchRequest::new("C[C:1](=O)[NH:2][c:3]1[cH:4]cccc1")
    };

    let job = StoredTreeSearchJob::V1(TreeSearchJob {
        request,
        account_id: None,
        engine: None,
        reporting: ProgressReporting::Nothing,
        compact: false,
        deadline: deadline(),
    });

    assert_golden(include_str!("golden/treesearch_job_v1_constraints.json"), &job);
}

#[test]
fn a_stored_problem_keeps_its_shape() {
    let problems = vec![
        JobFailure::UnknownModel { model_id: "m".to_owned() },
        JobFailure::SizeUnreachable { model_id: "m".to_owned(), wanted: 10, reached: 9 },
        JobFailure::BadTarget { reason: "r".to_owned() },
        JobFailure::DeadlinePassed,
        JobFailure::Cancelled,
        JobFailure::CancelledByOperator,
        JobFailure::Abandoned { attempts: 3, cause: None },
        JobFailure::Abandoned { attempts: 3, cause: Some(Cause::Database) },
        JobFailure::Internal,
    ];

    assert_golden(include_str!("golden/problems.json"), &problems);
}

#[test]
fn a_stored_sample_whose_conditions_were_too_narrow_keeps_its_shape_and_names_ten_of_them() {
    let refused = |condition: &str, count| ConditionRefusals { condition: condition.to_owned(), count };
    let of = |refused| JobFailure::ConditionsTooNarrow { wanted: 10, found: 3, refused };
    let problem = of(vec![refused("properties.mw", 321), refused("substructures_never[1]", 4)]);
    let many = of((0..30).map(|at| refused(&format!("substructures_never[{at}]"), 1)).collect());

    assert_golden(include_str!("golden/problem_conditions_too_narrow.json"), &problem);
    let unwritable = JobFailure::UnwritablePart { field: "scaffold".to_owned() };
    assert_golden(r#"{"problem": "unwritable_part", "field": "scaffold"}"#, &unwritable);
    assert_eq!(
        problem.to_string(),
        "3 of the 10 molecules satisfied the conditions in time; candidates refused: properties.mw 321, \
         substructures_never[1] 4"
    );
    assert_eq!(of(vec![]).to_string(), "3 of the 10 molecules satisfied the conditions in time");
    assert_eq!(many.to_string().matches("substructures_never").count(), 10);
}
