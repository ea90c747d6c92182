//! Samples to order, by a real sampler.

use std::collections::HashSet;

use chem::{AlertSet, Limits, Molecule, Part, Pattern, Property};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use test_support::eventually;

use crate::{
    client::{ApiClient, good},
    installation::{Installation, Role},
    process::output,
};

const SAMPLES: &str = "/generator/v1/samples";
const SIZE: usize = 40;

/// Makes a sample with these conditions; returns its molecules.
async fn sample(caller: &ApiClient, conditions: &Value) -> Vec<Molecule> {
    molecules(&created(caller, conditions).await)
}

async fn created(caller: &ApiClient, conditions: &Value) -> Value {
    let mut body = json!({ "size": SIZE, "model_id": "druglike_gru" });
    body.as_object_mut().unwrap().extend(conditions.as_object().unwrap().clone());
    println!("{body}");
    caller.create(SAMPLES, &body).await
}

fn smiles(sample: &Value) -> Vec<&str> {
    sample["smiles"].as_array().unwrap().iter().map(|smiles| smiles.as_str().unwrap()).collect()
}

/// Parses the molecules, which are distinct and as many as were asked for.
fn molecules(sample: &Value) -> Vec<Molecule> {
    let smiles = smiles(sample);
    assert_eq!(smiles.iter().collect::<HashSet<_>>().len(), SIZE, "{sample}");
    smiles.into_iter().map(|smiles| smiles.parse().unwrap()).collect()
}

async fn sampling() -> (Installation, ApiClient) {
    let mut installation = Installation::new().await;
    installation.lift_rate_limits();
    installation.start_worker(Role::Sample, &[("SAMPLER_MODELS", "druglike_gru")]).await;
    installation.start_api().await;
    let caller = installation.account("owner");
    (installation, caller)
}

#[tokio::test(flavor = "multi_thread")]
async fn every_molecule_satisfies_every_condition() {
    let (_installation, caller) = sampling().await;
    let pattern = |smarts: &str| Pattern::parse(smarts).unwrap();

    let ranged = json!({ "properties": { "mw": { "gte": 300, "lte": 350 }, "qed": { "gte": 0.7 }, "rings": { "lte": 3 } } });
    for molecule in sample(&caller, &ranged).await {
        let value = |name| Property::from_name(name).unwrap().of(&molecule);
        assert!((300.0..=350.0).contains(&value("mw")) && value("qed") >= 0.7 && value("rings") <= 3.0);
    }

    let parts = json!({ "substructures_required": ["C(=O)N", "c1ccccc1"], "substructures_never": ["[F,Cl,Br,I]", "S"] });
    for molecule in sample(&caller, &parts).await {
        let has = |smarts| pattern(smarts).matches(&molecule);
        assert!(has("C(=O)N") && has("c1ccccc1") && !has("[F,Cl,Br,I]") && !has("S"));
    }

    let seed: Molecule = "CC(=O)Nc1ccc(O)cc1".parse().unwrap();
    let similar = json!({ "similar_to": ["CC(=O)Nc1ccc(O)cc1", "C1CCCCC1"], "similarity_gte": 0.2, "similarity_lt": 0.6 });
    let other: Molecule = "C1CCCCC1".parse().unwrap();
    for molecule in sample(&caller, &similar).await {
        let to = |seed: &Molecule| molecule.fingerprint().tanimoto(&seed.fingerprint());
        assert!((0.2..0.6).contains(&to(&seed).max(to(&other))));
    }

    let parts = |parts: &[&str]| -> Vec<Part> {
        parts.iter().map(|smiles| Part::parse(smiles, Limits::TARGET).unwrap()).collect()
    };
    let scaffold = "[*:1]c1ccc2[nH]nc([*:2])c2c1";
    for molecule in sample(&caller, &json!({ "scaffold": scaffold })).await {
        assert!(parts(&[scaffold])[0].is_in(&molecule), "{}", molecule.as_canonical());
    }
    let fragments = ["[*]c1ccccc1", "[*]N1CCOCC1"];
    for molecule in sample(&caller, &json!({ "fragments": fragments })).await {
        assert!(parts(&fragments).iter().all(|part| part.is_in(&molecule)), "{}", molecule.as_canonical());
    }
    let unwritable = json!({ "size": 1, "scaffold": "[*]c1cc[te]c1" });
    assert_eq!(caller.post(SAMPLES, &unwritable).await.status(), StatusCode::UNPROCESSABLE_ENTITY);

    let harmless = json!({ "alerts": AlertSet::ALL.map(AlertSet::name) });
    for molecule in sample(&caller, &harmless).await {
        assert!(AlertSet::ALL.iter().all(|alerts| alerts.first_match(&molecule).is_none()));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn makeable_molecules_have_routes_and_other_accounts_samples_do_not_wait_for_them() {
    let mut installation = Installation::new().await;
    installation.lift_rate_limits();
    installation.import_demo_catalogue();
    installation.start_worker(Role::Sample, &[("SAMPLER_MODELS", "druglike_gru")]).await;
    installation.start_api().await;
    let caller = installation.account("owner");
    let limits = json!({ "synthesizable": { "max_steps": 3, "max_seconds_each": 0.2 } });
    let body = json!({ "size": 5, "synthesizable": limits["synthesizable"], "details": true });
    assert_eq!(caller.post(SAMPLES, &body).await.status(), StatusCode::SERVICE_UNAVAILABLE);
    installation.start_worker(Role::Search, &[]).await;

    let made = caller.create(SAMPLES, &body).await;

    let molecules = smiles(&made);
    let routes = &made["details"]["routes"];
    println!("{molecules:?} {routes}");
    assert_eq!((molecules.len(), routes["plausibility"].as_array().unwrap().len()), (5, 5));
    assert!(routes["steps"].as_array().unwrap().iter().all(|steps| steps.as_u64().unwrap() <= 3));
    let again = json!({ "smiles": molecules, "max_seconds": 1 });
    let answer = caller.create("/synth/v1/synthesizability", &again).await;
    assert!(answer["items"].as_array().unwrap().iter().all(|item| item["solved"] == true), "{answer}");

    // This one waits for searchers until its deadline, with the only slot of the sampler.
    let never = json!({ "size": 1, "synthesizable": { "max_usd_per_mol": 1e-9 } });
    let other = installation.account("other");
    let waiting = tokio::spawn(async move { caller.post(SAMPLES, &never).await.status() });
    installation.running_job(Role::Sample).await;
    sample(&other, &json!({ "properties": { "mw": { "gte": 250 } } })).await;

    assert!(!waiting.is_finished());
    waiting.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_seed_gives_the_same_sample_and_another_way_of_drawing_another() {
    let (_installation, caller) = sampling().await;
    let draw = async |conditions: Value| {
        let sample = created(&caller, &conditions).await;
        molecules(&sample);
        smiles(&sample).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };

    let first = draw(json!({ "seed": 7 })).await;
    let range = json!({ "mw": { "gte": 250 } });
    let heavy = draw(json!({ "seed": 7, "properties": range })).await;

    assert_eq!(draw(json!({ "seed": 7 })).await, first);
    assert_eq!(draw(json!({ "seed": 7, "properties": range })).await, heavy);
    for other in
        [json!({ "seed": 8 }), json!({ "seed": 7, "temperature": 0.5 }), json!({ "seed": 7, "top_p": 0.5 })]
    {
        assert_ne!(draw(other.clone()).await, first, "{other}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn molecules_of_excluded_samples_do_not_come_again_and_details_stand_beside_the_others() {
    let (installation, caller) = sampling().await;
    // The same seed would give the same molecules.
    let known = created(&caller, &json!({ "seed": 7 })).await;

    let other = created(&caller, &json!({ "seed": 7, "exclude": [known["id"]], "details": true })).await;

    let (known, new): (HashSet<_>, HashSet<_>) =
        (smiles(&known).into_iter().collect(), smiles(&other).into_iter().collect());
    assert_eq!((new.len(), known.intersection(&new).count()), (SIZE, 0));
    let details = &other["details"]["properties"];
    assert_eq!(details.as_object().unwrap().len(), Property::ALL.len());
    for property in Property::ALL {
        let values = details[property.name()].as_array().unwrap();
        for (value, molecule) in values.iter().zip(molecules(&other)) {
            assert!((value.as_f64().unwrap() - property.of(&molecule)).abs() < 1e-4, "{}", property.name());
        }
        assert_eq!(values.len(), SIZE);
    }
    let losses = other["details"]["negative_log_likelihood"].as_array().unwrap();
    assert!(losses.len() == SIZE && losses.iter().all(|loss| loss.as_f64().unwrap() > 0.0), "{losses:?}");
    let asked = json!({ "smiles": smiles(&other), "model_id": "druglike_gru" });
    let scored = caller.create("/generator/v1/likelihoods", &asked).await;
    let again: Vec<&Value> =
        scored["items"].as_array().unwrap().iter().map(|item| &item["negative_log_likelihood"]).collect();
    assert_eq!(again, losses.iter().collect::<Vec<_>>());
    let first = smiles(&other)[0];
    let mut scoring = installation.retort_as("owner");
    scoring.args(["likelihoods", "--model", "druglike_gru", first]);
    assert_eq!(output(scoring), format!("{first}\t{}\n", losses[0]));
    let path = format!("{SAMPLES}/{}", other["id"].as_str().unwrap());
    assert_eq!(caller.read(&path).await, other);
    // Ready molecules have details, too.
    let plain = created(&caller, &json!({ "details": true })).await;
    assert_eq!(plain["details"]["properties"]["mw"].as_array().unwrap().len(), SIZE);
}

#[tokio::test(flavor = "multi_thread")]
async fn too_narrow_a_request_is_a_504_that_counts_and_goes_on_in_the_background_if_asked() {
    let mut installation = Installation::new().await;
    installation.lift_rate_limits();
    installation.set("SAMPLE_DEADLINE_SECONDS", "4");
    installation.start_worker(Role::Sample, &[("SAMPLER_MODELS", "druglike_gru")]).await;
    installation.start_api().await;
    let caller = installation.account("owner");
    let never =
        json!({ "size": SIZE, "properties": { "mw": { "lte": 20 } }, "substructures_required": ["[#6]"] });
    let rare = json!({ "size": 3, "substructures_required": ["[#35]"], "properties": { "mw": { "lte": 400 } }, "details": true });

    let refused = caller.post(SAMPLES, &never).await;

    assert_eq!(refused.status(), StatusCode::GATEWAY_TIMEOUT);
    let text = refused.text().await.unwrap();
    assert!(text.contains("0 of the 40 molecules satisfied the conditions in time"), "{text}");
    assert!(text.contains("properties.mw ") && text.contains("respond-async"), "{text}");
    let request = caller.request(Method::POST, SAMPLES).header("prefer", "respond-async");
    let pending = request.json(&rare).send().await.unwrap();
    let path = pending.headers()["location"].to_str().unwrap().to_owned();
    let sample = eventually("the sample is completed", async || {
        let sample = good(caller.get(&path).await).await;
        (sample["status"] == "completed").then_some(sample)
    })
    .await;
    let bromine = Pattern::parse("[#35]").unwrap();
    assert_eq!(smiles(&sample).len(), 3);
    assert!(smiles(&sample).into_iter().all(|smiles| bromine.matches(&smiles.parse().unwrap())));
    assert_eq!(sample["details"]["properties"]["mw"].as_array().unwrap().len(), 3);
}
