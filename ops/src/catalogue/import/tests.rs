use std::{fs, io::Write as _, sync::Arc};

use catalogue_tables::query;
use flate2::{Compression, write::GzEncoder};
use test_support::with_database;

use super::*;

/// Writes a file, with gzip if its name says so, and returns the options to import it.
fn file(folder: &tempfile::TempDir, name: &str, text: &str) -> CatalogueImport {
    let path = folder.path().join(name);
    let bytes = if name.ends_with(".gz") {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    } else {
        text.as_bytes().to_vec()
    };
    fs::write(&path, bytes).unwrap();
    CatalogueImport { files: vec![path], vendor: Some("House".into()), ..CatalogueImport::default() }
}

const OFFERS: &str = "smiles,cs_id,pack,uom,price_usd,lead_time_days_to_US\n\
                      OCC,1,10,g,20,3\nOCC,1,100,g,90,\nc1ccccc1Br,2,1,kg,50,7\n";

#[tokio::test]
async fn the_same_file_again_changes_nothing_but_the_time() {
    with_database(async |database| {
        let folder = tempfile::tempdir().unwrap();
        let import_it = file(&folder, "offers.csv.gz", OFFERS);

        let first = import(database, &import_it).await.unwrap();
        let second = import(database, &import_it).await.unwrap();

        let merged = |new_building_blocks, new_offers, replaced_offers| ImportCounts {
            new_building_blocks,
            new_offers,
            replaced_offers,
            removed_offers: 0,
        };
        assert_eq!(
            first,
            Imported { loaded: 3, left_out: 0, doubtful: 0, racemates: 0, merged: Some(merged(2, 3, 0)) }
        );
        assert_eq!(
            second,
            Imported { loaded: 3, left_out: 0, doubtful: 0, racemates: 0, merged: Some(merged(0, 0, 3)) }
        );
        let prices: Vec<(String, Option<f64>, Option<f64>)> = sqlx::query_as(
            "select smiles, normalised_usd, lead_time_days_to_us from offers
             join building_blocks on building_blocks.id = building_block_id order by offers.cs_id, pack",
        )
        .fetch_all(database)
        .await
        .unwrap();
        assert_eq!(
            prices,
            [
                ("CCO".into(), Some(2.0), Some(3.0)),
                ("CCO".into(), Some(0.9), None),
                ("Brc1ccccc1".into(), Some(0.05), Some(7.0)),
            ]
        );
    })
    .await;
}

#[tokio::test]
async fn a_price_that_changes_is_kept_and_one_that_stays_is_not() {
    with_database(async |database| {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str, prices: [&str; 3], day: u32| {
            let rows: String = (1..)
                .zip(prices)
                .map(|(id, price)| format!("CCO,{id},1,g,{price},2026-01-{day:02}\n"))
                .collect();
            file(&folder, name, &format!("smiles,cs_id,pack,uom,price_usd,api_timestamp\n{rows}"))
        };

        import(database, &at("one.csv", ["5", "6", ""], 1)).await.unwrap();
        import(database, &at("two.csv", ["5", "7", "8"], 2)).await.unwrap();
        import(database, &at("three.csv", ["5", "9", "8"], 3)).await.unwrap();

        let block: i32 = sqlx::query_scalar("select id from building_blocks where smiles = 'CCO'")
            .fetch_one(&mut *database)
            .await
            .unwrap();
        let past = query::past_prices(database, block).await.unwrap();
        let past: Vec<_> = past
            .iter()
            .map(|price| (&*price.cs_id, price.price_usd, price.normalised_usd, price.said_at.to_string()))
            .collect();
        assert_eq!(
            past,
            [
                ("2", Some(7.0), Some(7.0), "2026-01-02 00:00:00 UTC".to_owned()),
                ("2", Some(6.0), Some(6.0), "2026-01-01 00:00:00 UTC".to_owned()),
                ("3", None, None, "2026-01-01 00:00:00 UTC".to_owned()),
            ]
        );
    })
    .await;
}

#[tokio::test]
async fn an_offer_has_the_time_that_its_file_says_else_that_of_the_import() {
    with_database(async |database| {
        let folder = tempfile::tempdir().unwrap();
        let rows = "smiles,cs_id,Last updated\nCCO,1,2024-05-06T07:08:09.5+02:00\nCCN,2,\nCCC,3,9999-01-01\n";
        let mut import_it = file(&folder, "times.csv", rows);
        import_it.is_all = true;

        let imported = import(database, &import_it).await.unwrap();
        // Offers of the file stay, however old their time stamp is.
        let again = import(database, &import_it).await.unwrap();

        assert_eq!((imported.loaded, imported.left_out), (2, 1));
        assert_eq!(again.merged.unwrap().removed_offers, 0);
        let times: Vec<(String, bool)> = sqlx::query_as(
            "select (api_timestamp at time zone 'UTC')::text, api_timestamp > now() - interval '1 hour' from offers order by cs_id",
        )
        .fetch_all(database)
        .await
        .unwrap();
        assert_eq!(times[0], ("2024-05-06 05:08:09.5".to_owned(), false));
        assert!(times[1].1, "{times:?}");
    })
    .await;
}

#[tokio::test]
async fn a_building_block_that_lost_its_last_offer_to_another_is_gone() {
    with_database(async |database| {
        let folder = tempfile::tempdir().unwrap();
        let first = file(&folder, "first.csv", "smiles,cs_id\nCCO,1\nCCN,2\nCCC,3\n");
        let second = file(&folder, "second.csv", "smiles,cs_id\nCCN,1\nCCN,2\n");

        import(database, &first).await.unwrap();
        import(database, &second).await.unwrap();

        let blocks: Vec<String> = sqlx::query_scalar("select smiles from building_blocks order by smiles")
            .fetch_all(&mut *database)
            .await
            .unwrap();
        assert_eq!(blocks, ["CCC", "CCN"]);
        // Searches that missed both notifications see that there were two imports.
        let version: i64 =
            sqlx::query_scalar("select version from catalogue_version").fetch_one(database).await.unwrap();
        assert_eq!(version, 3);
    })
    .await;
}

/// Structure, id and pack of an offer.
type OfferRow = (String, Option<String>, Option<f64>);

/// Building blocks with the offers of each: SMILES, id, pack.
async fn offers(database: &mut PgConnection) -> Vec<OfferRow> {
    let offers = sqlx::query_as(
        "select smiles, cs_id, pack from building_blocks
         left join offers on building_block_id = building_blocks.id order by smiles collate \"C\", cs_id, pack",
    );
    offers.fetch_all(database).await.unwrap()
}

fn offer(smiles: &str, id: &str, pack: Option<f64>) -> OfferRow {
    (smiles.to_owned(), Some(id.to_owned()), pack)
}

#[tokio::test]
async fn of_one_id_with_two_structures_the_later_row_counts_and_is_reported() {
    let packs = Some(1.0);
    let cases: [(&[&str], &[OfferRow], &str); 4] = [
        (
            &["smiles,cs_id\nCCO,1\nCCN,1\nCCC,2\n"],
            &[offer("CCC", "2", None), offer("CCN", "1", None)],
            "House, id 1\ttwo structures\t`CCO` is left out, since a later row has `CCN`",
        ),
        (
            &["smiles,cs_id,pack,uom\nCCO,1,1,g\nCCO,1,5,g\nCCN,1,1,g\n"],
            &[offer("CCN", "1", packs)],
            "House, id 1\ttwo structures\t`CCO` is left out, since a later row has `CCN`",
        ),
        (
            &["smiles,cs_id\nCCO,1\n", "smiles,cs_id\nCCN,1\n"],
            &[offer("CCN", "1", None)],
            "House, id 1\ttwo structures\twas `CCO` and is now `CCN`",
        ),
        (
            &["smiles,cs_id,pack,uom\nCCO,1,5,g\n", "smiles,cs_id,pack,uom\nCCN,1,1,g\n"],
            &[offer("CCN", "1", packs)],
            "House, id 1\ttwo structures\twas `CCO` and is now `CCN`",
        ),
    ];
    for (texts, expected, reported) in cases {
        with_database(async |database| {
            let folder = tempfile::tempdir().unwrap();
            for text in texts {
                let mut import_it = file(&folder, "offers.csv", text);
                import_it.rejects = Some(folder.path().join("rejects.tsv"));
                import(database, &import_it).await.unwrap();
            }

            assert_eq!(offers(database).await, expected, "{texts:?}");
            let rejects = fs::read_to_string(folder.path().join("rejects.tsv")).unwrap();
            assert_eq!(rejects.lines().skip(1).collect::<Vec<_>>(), [reported], "{texts:?}");
        })
        .await;
    }
}

#[tokio::test]
async fn two_files_of_one_import_have_one_structure_for_an_id() {
    with_database(async |database| {
        let folder = tempfile::tempdir().unwrap();
        let mut import_it = file(&folder, "one.csv", "smiles,cs_id\nCCO,1\n");
        import_it.files.extend(file(&folder, "two.csv", "smiles,cs_id\nCCN,1\n").files);

        let imported = import(database, &import_it).await.unwrap();

        assert_eq!(imported.merged.unwrap().new_building_blocks, 1);
        assert_eq!(offers(database).await, [offer("CCN", "1", None)]);
    })
    .await;
}

#[tokio::test]
async fn a_block_that_nobody_offers_is_found_and_removed() {
    with_database(async |database| {
        let folder = tempfile::tempdir().unwrap();
        import(database, &file(&folder, "offers.csv", "smiles,cs_id\nCCO,1\nCCN,2\n")).await.unwrap();
        sqlx::query("delete from offers where cs_id = '1'").execute(&mut *database).await.unwrap();

        let faults = catalogue_tables::verify::verify(database, |_| {}).await.unwrap();
        let removed = crate::catalogue::vendors::remove_orphans(database).await.unwrap();

        assert_eq!(faults.iter().map(|fault| fault.smiles.as_str()).collect::<Vec<_>>(), ["CCO"]);
        assert_eq!(removed.iter().map(|(_, smiles)| smiles.as_str()).collect::<Vec<_>>(), ["CCO"]);
        assert_eq!(catalogue_tables::verify::verify(database, |_| {}).await.unwrap(), []);
        assert_eq!(crate::catalogue::vendors::remove_orphans(database).await.unwrap(), []);
    })
    .await;
}

#[tokio::test]
async fn broken_rows_are_written_down_and_the_rest_loads() {
    with_database(async |database| {
        let folder = tempfile::tempdir().unwrap();
        let rows = "smiles\tprice_usd\nCCO\t1\nC1CC\t1\n\nCCN\t-1\nCCC\t\n";
        let mut import_it = file(&folder, "broken.tsv", rows);
        import_it.rejects = Some(folder.path().join("errors.tsv"));

        let imported = import(database, &import_it).await.unwrap();

        assert_eq!((imported.loaded, imported.left_out), (2, 2));
        let errors = fs::read_to_string(folder.path().join("errors.tsv")).unwrap();
        let lines: Vec<&str> = errors.lines().collect();
        assert_eq!(lines.len(), 3);
        assert!(lines[1].starts_with("3\tunreadable SMILES\tSMILES `C1CC`: ring bond 1"), "{}", lines[1]);
        assert_eq!(lines[2], "5\tnumber out of range\tprice_usd `-1` is negative");
    })
    .await;
}

#[tokio::test]
async fn a_row_whose_parent_is_a_counter_ion_loads_with_a_warning_by_line() {
    with_database(async |database| {
        let folder = tempfile::tempdir().unwrap();
        let rows = "smiles\nC1CNC1.OC(=O)C(F)(F)F\nCCN(CC)CC.Cl\nCC(=O)O\n[Na+].CC(=O)[O-]\n";
        let mut import_it = file(&folder, "salts.csv", rows);
        import_it.rejects = Some(folder.path().join("errors.tsv"));

        let imported = import(database, &import_it).await.unwrap();

        assert_eq!((imported.loaded, imported.left_out, imported.doubtful), (4, 0, 2));
        let errors = fs::read_to_string(folder.path().join("errors.tsv")).unwrap();
        assert_eq!(
            errors.lines().skip(1).collect::<Vec<_>>(),
            [
                "3\twarning\t`CCN(CC)CC.Cl` is taken for `CCN(CC)CC`, a known counter-ion or solvate (triethylamine)",
                "5\twarning\t`CC(=O)[O-].[Na+]` is taken for `CC(=O)O`, a known counter-ion or solvate (acetic acid)",
            ]
        );
        let blocks: Vec<String> =
            sqlx::query_scalar("select smiles from building_blocks order by smiles collate \"C\"")
                .fetch_all(database)
                .await
                .unwrap();
        assert_eq!(blocks, ["C1CNC1", "CC(=O)O", "CCN(CC)CC"]);
    })
    .await;
}

#[tokio::test]
async fn a_file_that_ends_too_soon_changes_nothing() {
    with_database(async |database| {
        let folder = tempfile::tempdir().unwrap();
        let import_it = file(&folder, "cut.csv.gz", OFFERS);
        let whole = fs::read(&import_it.files[0]).unwrap();
        fs::write(&import_it.files[0], &whole[..whole.len() - 20]).unwrap();

        let failure = import(database, &import_it).await.unwrap_err();

        assert!(failure.to_string().contains("nothing was imported"), "{failure}");
        let info = query::info(database).await.unwrap();
        assert_eq!(
            info,
            query::CatalogueInfo { building_blocks: 0, priced_building_blocks: 0, vendors: vec![] }
        );
    })
    .await;
}

#[tokio::test]
async fn a_row_that_names_its_vendor_needs_none_for_the_file() {
    with_database(async |database| {
        let folder = tempfile::tempdir().unwrap();
        let rows = "smiles,vendor_name\nCCO,One\nCCO,Other\n\"CCN\",\"Two, \\ or three\"\n";
        let import_it = CatalogueImport { vendor: None, ..file(&folder, "vendors.csv", rows) };

        let imported = import(database, &import_it).await.unwrap();

        let merged = imported.merged.unwrap();
        assert_eq!((merged.new_building_blocks, merged.new_offers), (2, 3));
        let info = query::info(database).await.unwrap();
        let names: Vec<&str> = info.vendors.iter().map(|vendor| vendor.name.as_str()).collect();
        assert_eq!(names, ["One", "Other", "Two, \\ or three"]);
    })
    .await;
}

#[tokio::test]
async fn a_dry_run_reports_what_an_import_would_do() {
    let folder = tempfile::tempdir().unwrap();
    let mut import_it = file(&folder, "one.csv", "smiles,cs_id\nCCO,1\nC1CC,2\n");
    import_it.files.extend(file(&folder, "two.smi", "CCN Z2\n*C Z3\n").files);
    import_it.rejects = Some(folder.path().join("rejects.tsv"));
    import_it.save_profile = Some(folder.path().join("profile.json"));

    let imported = try_out(&import_it).unwrap();

    assert_eq!(imported, Imported { loaded: 2, left_out: 2, doubtful: 0, racemates: 0, merged: None });
    let rejects = fs::read_to_string(folder.path().join("rejects.tsv")).unwrap();
    let places: Vec<&str> = rejects.lines().skip(1).map(|line| line.split('\t').next().unwrap()).collect();
    let place = |name: &str, line: u64| format!("{}:{line}", folder.path().join(name).display());
    assert_eq!(places, [place("one.csv", 3), place("two.smi", 2)]);
    let profile = fs::read_to_string(folder.path().join("profile.json")).unwrap();
    assert_eq!(
        serde_json::from_str::<serde_json::Value>(&profile).unwrap(),
        json!({ "profile": "generic", "columns": { "smiles": "smiles", "cs_id": "id" } })
    );
}

#[test]
fn a_dry_run_reports_ids_with_two_structures_as_an_import_does() {
    let folder = tempfile::tempdir().unwrap();
    let mut import_it = file(
        &folder,
        "one.csv",
        "smiles,cs_id,pack,uom\nCCO,1,1,g\nCCO,1,5,g\nCCN,1,1,g\nCCC,2,1,g\nOCC,3,1,g\n,4,,\nCC,,,\nCCC,,,\n",
    );
    import_it.files.extend(file(&folder, "two.csv", "smiles,cs_id\nCCF,2\nCCO,3\nCCO,1\nCCCC,1\n").files);
    import_it.rejects = Some(folder.path().join("rejects.tsv"));

    try_out(&import_it).unwrap();

    let rejects = fs::read_to_string(folder.path().join("rejects.tsv")).unwrap();
    let reported: Vec<&str> = rejects.lines().filter(|line| line.contains("two structures")).collect();
    assert_eq!(
        reported,
        [
            "House, id 1\ttwo structures\t`CCN` is left out, since a later row has `CCCC`",
            "House, id 1\ttwo structures\t`CCO` is left out, since a later row has `CCCC`",
            "House, id 2\ttwo structures\t`CCC` is left out, since a later row has `CCF`",
        ]
    );
}

#[test]
fn racemates_and_unknown_enantiomers_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let rows = "C[C@H](F)Cl |&1:1| Z1\nC[C@H](F)Cl |o1:1| Z2\nC[C@H](F)Cl |a:1| Z3\nCCO |&1:1| Z4\n\
                C[C@H](O)[C@@H](N)C |a:1,&1:3| Z5\nCC(F)Cl Z6\n";
    let mut import_it = file(&folder, "real.cxsmiles", rows);
    import_it.rejects = Some(folder.path().join("notes.tsv"));

    let imported = try_out(&import_it).unwrap();

    assert_eq!((imported.loaded, imported.left_out, imported.racemates), (6, 0, 3));
    let notes = fs::read_to_string(folder.path().join("notes.tsv")).unwrap();
    assert_eq!(
        notes.lines().skip(1).collect::<Vec<_>>(),
        [
            "1\tracemate\tloads without its configuration, as `CC(F)Cl`",
            "2\tracemate\tloads without its configuration, as `CC(F)Cl`",
            "5\tracemate\tloads without its configuration, as `CC(N)[C@H](C)O`",
        ]
    );
}

#[tokio::test]
async fn a_stock_of_keys_offers_what_the_catalogue_knows() {
    with_database(async |database| {
        let folder = tempfile::tempdir().unwrap();
        import(database, &file(&folder, "known.csv", "smiles\nCCO\nCCN\n")).await.unwrap();
        let keys = "inchi_key\nLFQSCWFLJHTTHZ-UHFFFAOYSA-N\nUHOVQNZJYSORNB-UHFFFAOYSA-N\n";
        let mut stock = CatalogueImport { vendor: Some("Stock".into()), ..file(&folder, "stock.csv", keys) };
        assert!(stock.has_keys().unwrap());
        stock.keys = Arc::new(known_keys(database).await.unwrap());

        let imported = import(database, &stock).await.unwrap();

        assert_eq!((imported.loaded, imported.left_out), (1, 1));
        let merged = imported.merged.unwrap();
        assert_eq!((merged.new_building_blocks, merged.new_offers), (0, 1));
    })
    .await;
}

#[tokio::test]
async fn several_files_load_together_or_not_at_all() {
    with_database(async |database| {
        let folder = tempfile::tempdir().unwrap();
        let mut import_it = file(&folder, "one.csv", "smiles,cs_id,usd_per_g\nCCO,1,5\n");
        import_it.files.extend(file(&folder, "two.csv", "smiles,cs_id,usd_per_g\nCCO,1,7\n").files);
        let mut broken = import_it.clone();
        broken.files.extend(file(&folder, "three.csv.gz", OFFERS).files);
        let whole = fs::read(&broken.files[2]).unwrap();
        fs::write(&broken.files[2], &whole[..whole.len() - 20]).unwrap();

        let failure = import(database, &broken).await.unwrap_err();
        assert!(failure.to_string().contains("nothing was imported"), "{failure}");
        let imported = import(database, &import_it).await.unwrap();

        // For one entry the last offer of the last file counts.
        assert_eq!((imported.loaded, imported.merged.unwrap().new_offers), (2, 1));
        let price: f64 =
            sqlx::query_scalar("select normalised_usd from offers").fetch_one(database).await.unwrap();
        assert!((price - 7.0).abs() < 1e-9);
    })
    .await;
}
