//! Every format, and every header as its vendor writes it.

use std::{fs, sync::Arc};

use catalogue::{
    COUNTRIES,
    read::{ColumnProfile, Compression, FileFormat, KnownKeys, Options},
};

use crate::{
    all_shown, found, found_with, options,
    packed::{ALL, packed, parquet},
};

#[test]
fn vendors_and_planners_files_are_read_by_their_own_headers() {
    let cases: [(&str, &str, &str, &[&str]); 13] = [
        (
            "askcos",
            "buyables.csv",
            "smiles,ppg,lead_time,source,properties\nOCC,2.5,1 week,sigma,\nCCN,3,,emolecules,\n",
            &["CCO sigma - - - 2.50", "CCN emolecules - - - 3.00"],
        ),
        (
            "askcos",
            "buyables.json",
            r#"[{"_id": "1", "smiles": "CCO", "ppg": 2.5, "source": "sigma", "properties": [{"name": "x", "value": 1}]}]"#,
            &["CCO sigma - - - 2.50"],
        ),
        (
            "emolecules",
            "version.smi",
            "isosmiles version_id parent_id\nOCC 601 500\nC[C@H](N)O 602 501\n",
            &["CCO eMolecules 601 - - -", "C[C@H](N)O eMolecules 602 - - -"],
        ),
        (
            "molport",
            "iis_smiles-000-000-000--000-499-999.txt",
            "SMILES\tSMILES_CANONICAL\tMOLPORTID\tSTANDARD_INCHI\tINCHIKEY\tPRICERANGE_1MG\tPRICERANGE_50MG\tPRICE_1G\tBEST_LEAD_TIME\n\
             OCC\tCCO\tMolPort-001\tInChI=1S/C2H6O/c1-2-3/h3H,2H2,1H3\tLFQSCWFLJHTTHZ-UHFFFAOYSA-N\t< 50\t50 - 100\t250\t7\n\
             CCN\tCCN\tMolPort-002\t\t\t> 100\t\t\t\n",
            &[
                "CCO MolPort MolPort-001 1mg 50.00 50000.00",
                "CCO MolPort MolPort-001 50mg 100.00 2000.00",
                "CCO MolPort MolPort-001 1g 250.00 250.00",
                "CCN MolPort MolPort-002 - - -",
            ],
        ),
        (
            "enamine",
            "stock.csv",
            "SMILES;Catalog ID;CAS\nOCC;EN300-1;64-17-5\n",
            &["CCO Enamine EN300-1 - - -"],
        ),
        (
            "enamine",
            "REAL.cxsmiles",
            "smiles\tidnumber\tType\nC[C@H](N)O |&1:1|\tZ1\tM\n",
            &["CC(N)O Enamine Z1 - - -"],
        ),
        ("enamine", "bb.csv", "\u{feff}sep=,\r\nCatalogId,Smiles\r\nEN1,OCC\r\n", &["CCO Enamine EN1 - - -"]),
        (
            "mcule",
            "mcule.tsv",
            "smiles\tmcule_id\tprice\tpack_size\nOCC\tMCULE-1\t$ 1,200\t5 g\n",
            &["CCO Mcule MCULE-1 5g 1200.00 240.00"],
        ),
        (
            "chemspace",
            "offers.csv",
            "smiles,vendorName,vendorCode,packMg,priceUsd,priceEur,leadTimeDays\nOCC,Acme,A-1,250,10,9,14\n",
            &["CCO Acme A-1 250mg 10.00 40.00"],
        ),
        (
            "chemspace",
            "search.json",
            r#"{"count": 1, "items": [{"csId": "CSSB1", "link": "https://example.com/1", "smiles": "CCO", "properties": {"mw": 46},
              "offers": [{"vendorName": "Acme", "vendorCode": "A-1", "leadTimeDays": 14, "prices": [{"packMg": 250, "priceUsd": 10}, {"packMg": 1000, "priceUsd": 25}]},
                         {"vendorName": "Bolt", "vendorCode": "B-1", "prices": [{"packMg": 100, "priceUsd": 7}]}]}]}"#,
            &[
                "CCO Acme A-1 250mg 10.00 40.00",
                "CCO Acme A-1 1000mg 25.00 25.00",
                "CCO Bolt B-1 100mg 7.00 70.00",
            ],
        ),
        (
            "synplanner",
            "building_blocks.csv",
            "SMILES,sigma_ppg,molport_ppg\nOCC,2.5,0\nCCN,,4\n",
            &["CCO sigma - - - 2.50", "CCN molport - - - 4.00"],
        ),
        (
            "generic",
            "list.smi",
            "OCC Z1\n[Na+].CC(=O)[O-]\n",
            &["CCO House Z1 - - -", "CC(=O)O House - - - -"],
        ),
        ("generic", "list.txt", "[Na+].[OH-],Z1\nCCO,Z2\n", &["O House Z1 - - -", "CCO House Z2 - - -"]),
    ];
    for (profile, name, text, expected) in cases {
        // The profile's default vendor applies if the user names none.
        let vendor = if profile == "generic" { Some("House".to_owned()) } else { None };

        let found = found_with(name, text.as_bytes(), &Options { vendor, ..options() }).unwrap();

        assert_eq!(found.outline.profile, profile, "{name}");
        assert_eq!(all_shown(&found), expected, "{name}");
        assert_eq!(found.rejects, [], "{name}");
    }
}

#[test]
fn tables_of_structures_are_read_as_rdkit_reads_them() {
    // The data beside each structure come from RDKit (2026.09.1) for the same table.
    let bytes = fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/structures.sdf")).unwrap();
    let text = String::from_utf8(bytes.clone()).unwrap();
    let expected: Vec<&str> =
        text.split("<canonical>\n").skip(1).map(|rest| rest.lines().next().unwrap()).collect();

    let found = found("structures.sdf", &bytes);

    let canonical: Vec<&str> =
        found.entries.iter().map(|entry| entry.structure.full_canonical.as_str()).collect();
    assert_eq!((found.outline.format, found.rejects), (FileFormat::Sdf, vec![]));
    assert_eq!(canonical, expected);
}

#[test]
fn data_of_a_structure_are_columns() {
    let table =
        "\r\n\r\n\r\n  1  0  0  0  0  0  0  0  0  0999 V2000\r\n    0.0    0.0    0.0    C   0  0\r\n";
    let table = table.replace("    0.0    0.0    0.0    C  ", "    0.0000    0.0000    0.0000 C  ");
    let record = format!(
        "{table}M  END\r\n>  <ID>\r\nEN1\r\n\r\n>  <PRICE_5G>\r\n10\r\n\r\n>  <Catalog ID>\r\n\r\n$$$$\r\n"
    );

    let found = found("enamine.sdf", format!("{record}{record}").as_bytes());

    assert_eq!(all_shown(&found), vec!["C House EN1 5g 10.00 2.00"; 2]);
    assert_eq!(found.entries[1].position.number, 16);
}

#[test]
fn a_stock_of_keys_is_matched_with_what_is_known() {
    const ETHANOL: &str = "LFQSCWFLJHTTHZ-UHFFFAOYSA-N";
    let known = [(ETHANOL.to_owned(), "CCO".to_owned())];
    let options = Options { vendor: None, keys: Arc::new(KnownKeys::from_iter(known)), ..options() };
    let read = |name: &str, bytes: &[u8]| found_with(name, bytes, &options).unwrap();

    let texts = [
        format!("inchi_key\n{ETHANOL}\nQUSNBJAOOMFDIB-UHFFFAOYSA-N\nethanol\n"),
        format!(",inchi_key\n0,{ETHANOL}\n1,QUSNBJAOOMFDIB-UHFFFAOYSA-N\n2,ethanol\n"),
    ];
    for text in texts {
        let found = read("stock.csv", text.as_bytes());

        assert_eq!(
            (found.outline.profile, all_shown(&found)),
            ("aizynthfinder", vec!["CCO stock - - - -".to_owned()])
        );
        assert_eq!(
            found.rejects,
            [
                (3, "no known structure has the InChIKey QUSNBJAOOMFDIB-UHFFFAOYSA-N".to_owned()),
                (4, "`ethanol` is not an InChIKey".to_owned())
            ]
        );
    }
    // Files written by pandas 3.1: thirty keys each, ethanol's among them.
    for name in ["stock_table.hdf5.gz", "stock_fixed.hdf5.gz"] {
        let bytes = fs::read(format!("{}/tests/data/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap();

        let found = read(name, &bytes);

        assert_eq!(
            (found.outline.format, found.entries.len(), found.rejects.len()),
            (FileFormat::Hdf5, 1, 29)
        );
    }
}

#[test]
fn a_table_in_parquet_is_read_by_rows() {
    let row = |texts: [&str; 3]| texts.map(ToOwned::to_owned).to_vec();
    let rows = [row(["OCC", "1", "10"]), row(["C1CC", "2", "10"]), row(["CCN", "3", ""])];
    let bytes = parquet(&["SMILES", "cs_id", "usd_per_g"], &rows);

    let found = found("offers.parquet", &bytes);

    assert_eq!(found.outline.format, FileFormat::Parquet);
    assert_eq!(all_shown(&found), ["CCO House 1 - - 10.00", "CCN House 3 - - -"]);
    assert_eq!((found.entries[1].position.number, found.rejects[0].0), (3, 2));
    let packed = found_with("offers.parquet.gz", &packed(&bytes, Compression::Gzip), &options());
    assert!(packed.unwrap_err().to_string().contains("unpack it first"));
}

#[test]
fn a_file_in_several_packed_parts_is_one_file() {
    for how in ALL {
        let parts = [packed(b"smiles\nCCO\nCC", how), packed(b"N\nCCC\n", how)].concat();

        let found = found("parts", &parts);

        assert_eq!((found.outline.compression, all_shown(&found).len()), (how, 3));
    }
}

#[test]
fn other_currencies_are_worth_what_the_rates_say() {
    let text = "smiles,pack,uom,price,currency\nCCO,1,g,10,EUR\nCCO,1,g,10 £,\nCCO,1,g,10,\nCCO,1,g,10,CHF\n";
    let options = Options { rates: "EUR = 1.5\nGBP = 2".parse().unwrap(), ..options() };

    let found = found_with("offers.csv", text.as_bytes(), &options).unwrap();

    let prices: Vec<Option<f64>> = found.entries.iter().map(|entry| entry.price_usd).collect();
    assert_eq!(prices, [Some(15.0), Some(20.0), Some(10.0)]);
    assert_eq!(found.rejects, [(5, "a price in CHF, and no rate for it (--rates)".to_owned())]);
}

#[test]
fn where_it_does_not_ship_there_is_no_lead_time() {
    let text = "smiles,lead_time,lead_time_days_to_CN,ships_to_US,ships_to_DE,api_timestamp\n\
                CCO,2-3 weeks,does not ship,no,yes,2026-01-31\n";

    let found = found("offers.csv", text.as_bytes());

    let entry = &found.entries[0];
    let days = COUNTRIES.map(|code| if ["US", "CN"].contains(&code) { None } else { Some(21.0) });
    let ships = COUNTRIES.map(|code| match code {
        "US" | "CN" => Some(false),
        "DE" => Some(true),
        _ => None,
    });
    assert_eq!((entry.lead_time_days, entry.ships_to), (days, ships));
    assert_eq!(entry.api_timestamp.unwrap().to_rfc3339(), "2026-01-31T00:00:00+00:00");
}

#[test]
fn a_profile_that_was_kept_reads_the_file_again() {
    let text = "Struktur;Nr;Preis\nOCC;1;\"12,50\"\n".as_bytes();
    let given = [("Struktur", "smiles"), ("nr", "id"), ("Preis", "price_per_gram:EUR")];
    let columns = given.map(|(name, meaning)| (name.to_owned(), meaning.to_owned())).into_iter().collect();
    let rates = "EUR = 2".parse().unwrap();
    let options =
        Options { profile: ColumnProfile { columns, ..ColumnProfile::default() }, rates, ..options() };
    let first = found_with("preise.csv", text, &options).unwrap();

    let kept = serde_json::to_string(&first.outline.to_profile()).unwrap();
    let profile = serde_json::from_str(&kept).unwrap();
    let second = found_with("preise.csv", text, &Options { profile, ..options }).unwrap();

    assert_eq!(all_shown(&first), ["CCO House 1 - - 25.00"]);
    assert_eq!(second, first);
}
