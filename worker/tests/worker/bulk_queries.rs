//! Tests of bulk queries on a toy chemistry: many molecules, invalid ones, and the catalogue.

use std::{
    io::Read,
    sync::Arc,
    time::{Duration, Instant},
};

use base64::{Engine, engine::general_purpose::STANDARD};
use catalogue::SnapshotFolder;
use contract::{
    Analogue, BulkQuery, BulkQueryJob, BulkQueryResult, CatalogueCriterion, CatalogueSearchResult,
    Conditions, Country, Edge, ExpandedMolecule, Makeability, MakeableRoute, MoleculeAvailability,
    NOT_REACHED, Node, NodeData, RouteGraph, RouteLimits, StepCheck, StepEvidence, Synthesizability,
};
use flate2::read::GzDecoder;
use serde::de::DeserializeOwned;
use synth::{BatchLimits, SearchUrgency};
use worker::{BulkQueryHandler, CatalogueView, SearchHandler, load_planner};

use crate::support::{MACHINE, TestDatabase, insert_block, models, offer};

const ACCOUNT: &str = "acc_1";

/// N-ethylacetamide, propane, an unclosed ring, two components, an empty string.
const SMILES: [&str; 5] = ["O=C(C)NCC", "CCC", "C1CC", "CCN.CCO", ""];
/// Expected errors of the invalid ones.
const FAULTS: [Option<&str>; 5] = [
    None,
    None,
    Some("ring bond 1 opened at byte 1 is never closed"),
    Some("more than one component, the second begins after byte 3"),
    Some("the string is empty"),
];

async fn run_query<T: DeserializeOwned>(
    database: &TestDatabase,
    smiles: &[&str],
    query: BulkQuery,
    time: Duration,
) -> Vec<T> {
    let (looked, worked_seconds): (BulkQueryResult<T>, f64) = answer(database, smiles, query, time).await;
    assert_eq!((looked.deadline_seconds, looked.total_elapsed), (30.0, worked_seconds));
    looked.items
}

/// Runs a bulk query. Returns its answer and the seconds of work that it took.
async fn answer<T: DeserializeOwned>(
    database: &TestDatabase,
    smiles: &[&str],
    query: BulkQuery,
    time: Duration,
) -> (T, f64) {
    let (dir, folder) = (models(), tempfile::tempdir().unwrap());
    let folder = SnapshotFolder::new(folder.path().join("catalogue"), MACHINE.threads.get());
    let settings = synth::PlannerSettings { cores: 2, ..synth::PlannerSettings::default() };
    let handler = BulkQueryHandler {
        search: SearchHandler {
            pool: database.pool.clone(),
            planner: load_planner(&dir.path().join("uspto_retro"), settings).unwrap(),
            catalogue: CatalogueView::load(&database.pool.clone().into(), folder).await.unwrap(),
        },
    };
    let job = BulkQueryJob {
        account_id: ACCOUNT.to_owned(),
        engine: None,
        smiles: smiles.iter().map(|&smiles| smiles.to_owned()).collect(),
        deadline_seconds: 30.0,
        query,
    };
    let allowance = BatchLimits {
        urgency: SearchUrgency::Bulk,
        latest: Instant::now() + time,
        cancelled: Arc::default(),
    };
    let outcome = handler.answer(job, allowance).await.unwrap();
    let zipped = STANDARD.decode(outcome.zipped).unwrap();
    let mut body = String::new();
    GzDecoder::new(&zipped[..]).read_to_string(&mut body).unwrap();
    (serde_json::from_str(&body).unwrap(), outcome.worked_seconds)
}

const LONG: Duration = Duration::from_secs(30);

#[tokio::test(flavor = "multi_thread")]
async fn molecules_are_expanded_and_invalid_ones_get_an_error() {
    let database = TestDatabase::with_schema().await;
    let amine = insert_block(&database.pool, "CCN").await;
    offer(&database.pool, amine, "Acme", Some(2.0), Some(4.0)).await;

    let items: Vec<ExpandedMolecule> =
        run_query(&database, &SMILES, BulkQuery::Expansions { limit: 50, check: StepCheck::Forwards }, LONG)
            .await;

    let faults: Vec<_> = items.iter().map(|item| item.error.as_deref()).collect();
    assert_eq!(faults, FAULTS);
    let names: Vec<_> = items.iter().map(|item| item.smiles.as_str()).collect();
    assert_eq!(names, ["CCNC(C)=O", "CCC", "C1CC", "CCN.CCO", ""]);
    assert!(items[1..].iter().all(|item| item.precursors.is_empty()));
    let [set] = &items[0].precursors[..] else { panic!("{items:?}") };
    assert_eq!(
        (&set.smiles[..], &set.in_stock[..]),
        (&["CC(=O)O".into(), "CCN".into()][..], &[false, true][..])
    );
    assert_eq!((set.probability, set.plausibility, set.precedents), (1.0, 1.0, 3));
    assert_eq!((set.template_id.as_str(), set.reaction_class.as_str()), ("amide", "amide coupling"));
}

/// Route to N-ethylacetamide from its acid and its amine.
fn route() -> RouteGraph {
    let node = |smiles: &str, depth: u32| Node {
        id: smiles.to_owned(),
        data: NodeData {
            smiles: smiles.to_owned(),
            mw: 1.0,
            is_building_block: depth > 0,
            building_block_idx: (depth > 0).then_some(7),
            closest_building_block: 1.0,
            depth,
            expanded: depth == 0,
            in_solution_path: true,
        },
        standing: None,
    };
    let edge = |precursor: &str| Edge {
        source: TARGET.to_owned(),
        target: precursor.to_owned(),
        plausibility: Some(0.25),
        evidence: Some(StepEvidence {
            reaction_class: "amide coupling".to_owned(),
            reaction_category: "other".to_owned(),
            template: "amide".to_owned(),
            probability: 0.5,
            precedents: 3,
            patents: Vec::new(),
            conditions: Conditions::default(),
            precedent_similarity: None,
            precedent_cosine: None,
            template_id: None,
            rank: None,
            needs: None,
            warnings: Vec::new(),
        }),
    };
    RouteGraph {
        directed: true,
        multigraph: false,
        graph: None,
        nodes: vec![node(TARGET, 0), node("CC(=O)O", 1), node("CCN", 1)],
        edges: vec![edge("CC(=O)O"), edge("CCN")],
    }
}

const TARGET: &str = "CCNC(C)=O";

async fn analogues(database: &TestDatabase, others: &[&str], route: RouteGraph) -> Vec<Analogue> {
    let asked = BulkQuery::Analogues { route: Box::new(route), building_block: "NCC".to_owned() };
    run_query(database, others, asked, LONG).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_route_gives_another_molecule_with_another_block() {
    let database = TestDatabase::with_schema().await;
    let amine = insert_block(&database.pool, "CCCN").await;
    offer(&database.pool, amine, "Acme", Some(2.0), Some(4.0)).await;

    let summary = analogues(&database, &["NCCC", "OCCN", "CCC", "C1CC", "OC(C)=O"], route()).await;

    let made = summary[0].route.as_ref().unwrap();
    let names: Vec<_> = made.nodes.iter().map(|node| node.data.smiles.as_str()).collect();
    assert_eq!(
        (names, summary[0].target.as_deref()),
        (vec!["CCCNC(C)=O", "CC(=O)O", "CCCN"], Some("CCCNC(C)=O"))
    );
    assert_eq!((summary[0].in_stock, summary[1].in_stock), (true, false));
    assert_eq!(
        (made.nodes[2].data.building_block_idx, made.nodes[1].data.building_block_idx),
        (Some(amine), Some(7))
    );
    assert!((made.nodes[0].data.mw - 101.149).abs() < 0.01, "{}", made.nodes[0].data.mw);
    let ends: Vec<_> = made.edges.iter().map(|edge| (&edge.source, &edge.target)).collect();
    let ids: Vec<_> = made.nodes.iter().map(|node| &node.id).collect();
    assert_eq!(ends, [(ids[0], ids[1]), (ids[0], ids[2])]);
    let evidence = made.edges[1].evidence.as_ref().unwrap();
    assert_eq!(
        (evidence.template.as_str(), evidence.probability, summary[0].plausibility),
        ("amide", 1.0, Some(1.0))
    );
    let near = summary[1].route.as_ref().unwrap().nodes[2].data.closest_building_block;
    assert!(near > 0.0 && near < 1.0, "{near}");
    let faults: Vec<_> = summary[2..].iter().map(|item| item.error.as_deref().unwrap()).collect();
    assert_eq!(
        faults,
        [
            "the step to CCNC(C)=O: the template does not match these molecules",
            "ring bond 1 opened at byte 1 is never closed",
            "the step to CCNC(C)=O: the template does not match these molecules",
        ]
    );
    assert!(summary[2..].iter().all(|item| item.route.is_none() && item.target.is_none()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_step_that_the_engine_does_not_know_is_named() {
    let database = TestDatabase::with_schema().await;
    let mut other = route();
    for edge in &mut other.edges {
        edge.evidence.as_mut().unwrap().template = "another engine's".to_owned();
    }

    let summary = analogues(&database, &["CCCN", "C1CC"], other).await;

    assert_eq!(summary[0].error.as_deref(), Some("the engine does not know the step to CCNC(C)=O"));
    assert_eq!(summary[1].error.as_deref(), FAULTS[2]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_sold_says_where_and_what_is_not_says_nothing() {
    let database = TestDatabase::with_schema().await;
    let acid = insert_block(&database.pool, "CC(=O)O").await;
    offer(&database.pool, acid, "Zenith", Some(20_000.0), Some(3.0)).await;
    offer(&database.pool, acid, "Acme", Some(30_000.0), Some(4.0)).await;
    let sold = |max_offers, inchikey| BulkQuery::BuildingBlocks {
        ships_to: Some(Country::Us),
        max_offers,
        inchikey,
    };

    let items: Vec<MoleculeAvailability> =
        run_query(&database, &["CC(=O)[O-]", "CCC", "OC(C)=O", "x"], sold(1, true), LONG).await;

    let acetate = &items[0];
    assert_eq!((acetate.smiles.as_str(), acetate.in_stock), ("CC(=O)[O-]", true));
    assert_eq!((acetate.building_block_idx, acetate.price), (Some(acid), Some(20_000.0)));
    assert_eq!(
        (acetate.lead_time_days, &acetate.vendors[..]),
        (Some(3.0), &["Acme".into(), "Zenith".into()][..])
    );
    let offers: Vec<_> = acetate.offers.iter().map(|offer| offer.vendor_name.as_str()).collect();
    assert_eq!(offers, ["Zenith"]);
    assert_eq!((items[1].in_stock, items[1].price, items[1].offers.len()), (false, None, 0));
    let keys: Vec<_> = items.iter().map(|item| item.inchikey.as_deref()).collect();
    let acetic = Some("QTBSBXVTEAMEQO-UHFFFAOYSA-N");
    assert_eq!(
        keys,
        [Some("QTBSBXVTEAMEQO-UHFFFAOYSA-M"), Some("ATUOYWHBWRKTHZ-UHFFFAOYSA-N"), acetic, None]
    );
    assert_eq!((&items[2].offers, items[2].smiles.as_str()), (&acetate.offers, "CC(=O)O"));
    assert!(items[3].error.as_deref().is_some_and(|error| error.contains("byte 0")), "{items:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn offers_of_a_hidden_vendor_are_left_out() {
    let database = TestDatabase::with_schema().await;
    let acid = insert_block(&database.pool, "CC(=O)O").await;
    offer(&database.pool, acid, "Ours", Some(1.0), Some(3.0)).await;
    let private = "update vendors set is_private = true where name = 'Ours'";
    sqlx::query(private).execute(&database.pool).await.unwrap();
    let sold = BulkQuery::BuildingBlocks { ships_to: None, max_offers: 10, inchikey: false };

    let hidden: Vec<MoleculeAvailability> = run_query(&database, &["CC(=O)O"], sold.clone(), LONG).await;
    let shown = "insert into organisations (id, name) values ('org_lab', 'lab');
        insert into accounts (id, email, name, password_hash, scopes, organisation_id)
        values ('acc_1', 'a@example.org', 'A', 'x', '{}', 'org_lab');
        insert into vendor_organisations (vendor_id, organisation_id) select id, 'org_lab' from vendors";
    sqlx::raw_sql(shown).execute(&database.pool).await.unwrap();
    let seen: Vec<MoleculeAvailability> = run_query(&database, &["CC(=O)O"], sold, LONG).await;

    assert_eq!((hidden[0].in_stock, hidden[0].vendors.len()), (false, 0));
    assert_eq!((seen[0].in_stock, &seen[0].vendors[..]), (true, &["Ours".to_owned()][..]));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_can_be_made_or_bought_is_solved() {
    let database = TestDatabase::with_schema().await;
    let (acid, amine) =
        (insert_block(&database.pool, "CC(=O)O").await, insert_block(&database.pool, "CCN").await);
    offer(&database.pool, acid, "Acme", Some(1.0), Some(3.0)).await;
    offer(&database.pool, amine, "Acme", Some(2.0), Some(3.0)).await;
    let small = BulkQuery::Synthesizability { max_seconds: 1.0 };

    let items: Vec<Synthesizability> =
        run_query(&database, &["O=C(C)NCC", "CCN", "CCC", "C1CC"], small, LONG).await;

    // Acetic acid and ethylamine: 60.05 and 45.08 g/mol, at one and two dollars per gram.
    let summary = |item: &Synthesizability| (item.solved, item.steps, item.price, item.plausibility);
    assert_eq!(summary(&items[0]), (true, Some(1), Some(150.22), Some(1.0)));
    assert_eq!(summary(&items[1]), (true, Some(0), Some(90.17), Some(1.0)));
    assert_eq!(summary(&items[2]), (false, None, None, None));
    assert_eq!((summary(&items[3]), items[3].error.as_deref()), ((false, None, None, None), FAULTS[2]));
    assert_eq!(items[2].error, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_route_counts_only_within_its_limits() {
    let database = TestDatabase::with_schema().await;
    for (smiles, usd, days) in [("CCN", 2.0, 3.0), ("CC(=O)O", 1.0, 10.0)] {
        let block = insert_block(&database.pool, smiles).await;
        offer(&database.pool, block, "Acme", Some(usd), Some(days)).await;
    }
    let within = async |limits: RouteLimits| -> Vec<Makeability> {
        let limits = RouteLimits { max_seconds_each: 1.0, ..limits };
        run_query(&database, &["O=C(C)NCC", "CCC", "C1CC"], BulkQuery::Makeability { limits }, LONG).await
    };
    let limits = RouteLimits::default;

    let all = within(RouteLimits {
        max_steps: Some(1),
        max_usd_per_mol: Some(150.22),
        max_lead_time_days: Some(10.0),
        ..limits()
    })
    .await;

    let route = MakeableRoute { steps: 1, usd_per_mol: Some(150.22), building_blocks: 2, plausibility: 1.0 };
    assert_eq!(all, [Makeability::Makeable(route), Makeability::NoRoute, Makeability::NoRoute]);
    for narrow in [
        RouteLimits { max_usd_per_mol: Some(150.21), ..limits() },
        RouteLimits { max_lead_time_days: Some(9.5), ..limits() },
        RouteLimits { max_steps: Some(0), ..limits() },
    ] {
        assert_eq!(within(narrow).await, [Makeability::NoRoute; 3]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn molecules_that_a_call_does_not_reach_say_so() {
    let database = TestDatabase::with_schema().await;
    let small = BulkQuery::Synthesizability { max_seconds: 1.0 };

    let items: Vec<Synthesizability> = run_query(&database, &["OCC", "C1CC"], small, Duration::ZERO).await;

    let summary: Vec<_> = items.iter().map(|item| (item.smiles.as_str(), item.error.as_deref())).collect();
    assert_eq!(summary, [("OCC", Some(NOT_REACHED)), ("C1CC", Some(NOT_REACHED))]);
}

/// Alcohols, an acid and two aromatic molecules of one vendor, which ships the last one to no country.
const BLOCKS: [&str; 7] = ["CCO", "CCCO", "CCCCO", "OC(C)CO", "CC(=O)O", "Brc1ccccc1", "Oc1ccccc1"];

async fn catalogue() -> (TestDatabase, Vec<i32>) {
    let (database, mut ids) = (TestDatabase::with_schema().await, Vec::new());
    for (place, smiles) in (0..).zip(BLOCKS) {
        let id = insert_block(&database.pool, smiles).await;
        offer(&database.pool, id, "Acme", Some(f64::from(place) + 1.0), Some(3.0)).await;
        ids.push(id);
    }
    let nowhere = "update offers set refuses = 255 where building_block_id = $1";
    sqlx::query(nowhere).bind(ids[6]).execute(&database.pool).await.unwrap();
    (database, ids)
}

fn search(sought: CatalogueCriterion, limit: u32) -> BulkQuery {
    BulkQuery::Catalogue { sought, limit, ships_to: Some(Country::Us), max_offers: 1 }
}

async fn search_catalogue(
    database: &TestDatabase,
    sought: CatalogueCriterion,
    limit: u32,
) -> CatalogueSearchResult {
    let (found, worked_seconds): (CatalogueSearchResult, f64) =
        answer(database, &[], search(sought, limit), LONG).await;
    assert_eq!(found.total_elapsed, worked_seconds);
    found
}

fn names(found: &CatalogueSearchResult) -> Vec<&str> {
    found.items.iter().map(|item| item.sold.smiles.as_str()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_catalogue_has_a_structure_as_what_it_is_bought_as() {
    let (database, ids) = catalogue().await;
    let structure = |smiles: &str| CatalogueCriterion::Structure { smiles: smiles.to_owned() };

    let acetate = search_catalogue(&database, structure("CC(=O)[O-]"), 25).await;
    let nothing = search_catalogue(&database, structure("CCC"), 25).await;

    let [block] = &acetate.items[..] else { panic!("{acetate:?}") };
    assert_eq!((block.sold.smiles.as_str(), block.sold.building_block_idx), ("CC(=O)O", Some(ids[4])));
    assert_eq!((block.sold.price, block.sold.lead_time_days, block.mw), (Some(5.0), Some(3.0), 60.052));
    assert_eq!((&block.sold.vendors[..], block.sold.offers.len()), (&["Acme".to_owned()][..], 1));
    assert_eq!((block.similarity, acetate.more, acetate.searched), (None, false, 1.0));
    assert_eq!((nothing.items.len(), nothing.more), (0, false));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_catalogue_is_searched_by_similarity_the_most_similar_first() {
    let (database, _) = catalogue().await;
    let similar = |least| CatalogueCriterion::Similar { smiles: "CCCO".to_owned(), least };
    let molecule = |smiles: &str| smiles.parse::<chem::Molecule>().unwrap().fingerprint();
    let similarity = |smiles| f64::from(molecule("CCCO").tanimoto(&molecule(smiles)));

    let all = search_catalogue(&database, similar(0.3), 25).await;
    let first = search_catalogue(&database, similar(0.0), 2).await;

    // Phenol is not shipped to any country.
    let summary: Vec<_> = all.items.iter().map(|item| (item.sold.smiles.as_str(), item.similarity)).collect();
    let rounded = |smiles| Some((similarity(smiles) * 1e4).round() / 1e4);
    assert_eq!(summary, [("CCCO", Some(1.0)), ("CCCCO", rounded("CCCCO")), ("CCO", rounded("CCO"))]);
    assert!(similarity("CCCCO") > similarity("CCO") && similarity("CC(O)CO") < 0.3);
    assert_eq!((all.more, all.searched), (false, 1.0));
    assert_eq!((names(&first), first.more), (vec!["CCCO", "CCCCO"], true));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_catalogue_is_searched_for_a_part_of_molecules_the_lightest_first() {
    let (database, _) = catalogue().await;
    let part = |pattern: &str| CatalogueCriterion::Substructure { pattern: pattern.to_owned() };

    let alcohols = search_catalogue(&database, part("[CX4][OH]"), 3).await;
    let rings = search_catalogue(&database, part("C1=CC=CC=C1"), 25).await;
    let nothing = search_catalogue(&database, part("C#N"), 25).await;

    assert_eq!((names(&alcohols), alcohols.more), (vec!["CCO", "CCCO", "CCCCO"], true));
    assert_eq!((names(&rings), rings.more, rings.searched), (vec!["Brc1ccccc1"], false, 1.0));
    assert_eq!((nothing.items.len(), nothing.searched), (0, 1.0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_for_a_part_that_has_no_time_says_how_little_of_the_catalogue_it_saw() {
    let (database, _) = catalogue().await;
    let part = CatalogueCriterion::Substructure { pattern: "C".to_owned() };

    let (found, _): (CatalogueSearchResult, f64) =
        answer(&database, &[], search(part, 25), Duration::ZERO).await;

    assert_eq!((found.items.len(), found.more, found.searched), (0, true, 0.0));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_catalogue_is_searched_by_how_a_vendors_number_begins() {
    let (database, ids) = catalogue().await;
    let renumber = "update offers set cs_id = case building_block_id
        when $1 then 'AB-1' when $2 then 'ab-10' when $3 then 'AB%2' when $4 then 'AB-100' else cs_id end";
    sqlx::query(renumber)
        .bind(ids[3])
        .bind(ids[0])
        .bind(ids[1])
        .bind(ids[6])
        .execute(&database.pool)
        .await
        .unwrap();
    let number = |text: &str| CatalogueCriterion::Number { text: text.to_owned() };

    let both = search_catalogue(&database, number("Ab-1"), 25).await;
    let first = search_catalogue(&database, number("AB-1"), 1).await;
    let percent = search_catalogue(&database, number("ab%"), 25).await;
    let nothing = search_catalogue(&database, number("B-1"), 25).await;

    assert_eq!((names(&both), both.more), (vec!["CC(O)CO", "CCO"], false));
    assert_eq!((names(&first), first.more), (vec!["CC(O)CO"], true));
    assert_eq!((names(&percent), nothing.items.len()), (vec!["CCCO"], 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_catalogue_leaves_blocks_of_hidden_vendors_out() {
    let (database, ids) = catalogue().await;
    let private = "update vendors set is_private = true";
    sqlx::query(private).execute(&database.pool).await.unwrap();

    for sought in [
        CatalogueCriterion::Structure { smiles: "CCO".to_owned() },
        CatalogueCriterion::Similar { smiles: "CCO".to_owned(), least: 0.0 },
        CatalogueCriterion::Substructure { pattern: "C".to_owned() },
        CatalogueCriterion::Number { text: format!("E-{}", ids[0]) },
    ] {
        let found = search_catalogue(&database, sought.clone(), 25).await;

        assert_eq!((found.items.len(), found.more), (0, false), "{sought:?}");
    }
}
