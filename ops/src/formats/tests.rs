use contract::{TreeSearchRequest, TreeSearchResult};
use serde_json::json;

use super::*;

fn planned(name: Option<&str>) -> PlannedTarget {
    let answer = include_str!("../../../api/clients/python/tests/data/prazosin.json");
    let answer: TreeSearchResult = serde_json::from_str(answer).unwrap();
    let request = TreeSearchRequest::new(&answer.search_smiles);
    PlannedTarget { name: name.map(ToOwned::to_owned), asked: request, outcome: Ok(answer) }
}

fn refused() -> PlannedTarget {
    PlannedTarget {
        name: Some("=salt".to_owned()),
        asked: TreeSearchRequest::new("CC.CC"),
        outcome: Err("more than one component".to_owned()),
    }
}

fn written(format: RouteFormat, target_count: TargetCount, all: &[PlannedTarget]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out");
    let mut output = RouteOutput::open(format, target_count, Some(&path)).unwrap();
    all.iter().for_each(|one| output.add(one.clone()).unwrap());
    output.finish().unwrap();
    std::fs::read_to_string(path).unwrap()
}

fn value(format: RouteFormat, target_count: TargetCount, all: &[PlannedTarget]) -> Value {
    serde_json::from_str(&written(format, target_count, all)).unwrap()
}

/// The expected InChIKeys are RDKit's.
#[test]
fn routes_for_other_programs_are_those_that_the_service_writes() {
    let expected = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    let aizynth = expected(include_str!("../../../api/contract/tests/data/prazosin.aizynth.json"));
    let retrocast = expected(include_str!("../../../api/contract/tests/data/prazosin.retrocast.json"));

    assert_eq!(value(RouteFormat::Aizynth, TargetCount::One, &[planned(None)]), aizynth);
    let ours = value(RouteFormat::Retrocast, TargetCount::One, &[planned(None)]);
    assert_eq!(
        ours["COc1cc2nc(N3CCN(C(=O)c4ccco4)CC3)nc(N)c2cc1OC"],
        json!([{ "rank": 1, "route": retrocast[0] }])
    );
}

#[test]
fn several_targets_are_a_table_of_aizynthfinders_and_predictions_of_retrocasts() {
    let all = [planned(Some("Prazosin")), refused()];

    let table = value(RouteFormat::Aizynth, TargetCount::Several, &all);
    let predictions = value(RouteFormat::Retrocast, TargetCount::Several, &all);

    let solved: Vec<&Value> = table["data"].as_array().unwrap().iter().map(|row| &row["is_solved"]).collect();
    assert_eq!(
        (solved, &table["schema"]["primaryKey"]),
        (vec![&json!(true), &json!(false)], &json!(["index"]))
    );
    // REINVENT multiplies the first two scores with a power of the third.
    let mut tree = table["data"][0]["trees"][0].clone();
    assert_eq!(
        tree["scores"],
        json!({ "retort score": 0.2245, "stock availability": 1.0, "reaction class membership": 1.0, "number of reactions": 2 })
    );
    tree["scores"] = json!({ "retort score": 0.2245 });
    assert_eq!(json!([tree]), value(RouteFormat::Aizynth, TargetCount::One, &all));
    assert_eq!((predictions["Prazosin"].as_array().unwrap().len(), &predictions["=salt"]), (1, &json!([])));
}

#[test]
fn a_line_of_the_table_has_the_best_route_or_the_fault() {
    let table = written(RouteFormat::Csv, TargetCount::Several, &[planned(Some("Prazosin")), refused()]);

    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(
        lines,
        [
            "name,smiles,solved,routes,steps,plausibility,order_usd,usd_per_mol,lead_time_days,reactions,error",
            "Prazosin,COc1cc2nc(N3CCN(C(=O)c4ccco4)CC3)nc(N)c2cc1OC,true,1,2,0.9968,15.30,1308.33,11,\
             C1CNCCN1.COc1cc2nc(Cl)nc(N)c2cc1OC>>COc1cc2nc(N3CCNCC3)nc(N)c2cc1OC \
             COc1cc2nc(N3CCNCC3)nc(N)c2cc1OC.O=C(Cl)c1ccco1>>COc1cc2nc(N3CCN(C(=O)c4ccco4)CC3)nc(N)c2cc1OC,",
            "'=salt,CC.CC,false,0,,,,,,,more than one component",
        ]
    );
    assert_eq!(written(RouteFormat::Csv, TargetCount::Several, &[]).lines().count(), 1);
}

#[test]
fn one_answer_is_itself_and_several_are_a_list_with_what_went_wrong() {
    let one = value(RouteFormat::Json, TargetCount::One, &[planned(None)]);
    let several = value(RouteFormat::Json, TargetCount::Several, &[planned(Some("Prazosin")), refused()]);

    assert_eq!(one["search_smiles"], several[0]["answer"]["search_smiles"]);
    assert_eq!((&several[0]["name"], &several[0]["error"]), (&json!("Prazosin"), &Value::Null));
    assert_eq!(
        (&several[1]["answer"], &several[1]["error"]),
        (&Value::Null, &json!("more than one component"))
    );
    assert_eq!(value(RouteFormat::Json, TargetCount::Several, &[]), json!([]));
}

#[test]
fn a_picture_has_every_molecule_at_one_scale_and_every_step() {
    let picture = written(RouteFormat::Svg, TargetCount::One, &[planned(None)]);

    assert_eq!(picture.matches("<svg x=").count(), 5);
    assert!(
        picture.contains(">1. SNAr amination</text>") && picture.contains(">2. amide formation</text>"),
        "{picture}"
    );
    // The target stands to the right of everything that it is made from.
    let places = picture
        .split("<svg x=\"")
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap().parse::<f64>().unwrap());
    let places: Vec<f64> = places.collect();
    assert_eq!(places.iter().copied().fold(0.0, f64::max), places[4]);
    assert!(!picture.contains("href") && !picture.contains("NaN"));
}
