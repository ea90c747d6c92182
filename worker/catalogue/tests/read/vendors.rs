//! Files of ten rows as vendors and planners give them today.

use catalogue::read::Options;

use crate::{all_shown, found_with, options};

/// Ten building blocks.
const BLOCKS: [&str; 10] = [
    "CCO",
    "CCN",
    "Nc1ccccc1",
    "OB(O)c1ccco1",
    "C[C@H](N)C(=O)O",
    "O=Cc1ccncc1",
    "BrCc1ccccc1",
    "C1COCCN1",
    "N#Cc1ccccc1",
    "CC(=O)Cl",
];

/// A header and ten rows made of each block and its number, from 1.
fn rows(header: &str, row: impl Fn(&str, usize) -> String) -> String {
    let rows: String = (1..).zip(BLOCKS).map(|(number, smiles)| row(smiles, number) + "\n").collect();
    if header.is_empty() { rows } else { format!("{header}\n{rows}") }
}

/// An SDF of ten atoms of carbon with the data of each number.
fn sdf(data: impl Fn(usize) -> Vec<(&'static str, String)>) -> String {
    let record = |number| {
        let data: String =
            data(number).iter().map(|(name, text)| format!("> <{name}>\n{text}\n\n")).collect();
        format!(
            "\n  -OEChem-\n\n  1  0  0  0  0  0  0  0  0  0999 V2000\n    0.0000    0.0000    0.0000 C   0  0\nM  END\n{data}$$$$\n"
        )
    };
    (1..=10).map(record).collect()
}

#[test]
fn ten_rows_of_each_vendor_are_ten_entries_or_more() {
    // File, text, profile, offers, and the third offer.
    let cases: Vec<(&str, String, &str, usize, &str)> = vec![
        (
            "mcule_purchasable_in_stock_prices.csv",
            rows(
                "Mcule ID,SMILES,Price 1 (USD),Amount 1 (mg),Delivery time 1 (days),Price 2 (USD),Amount 2 (mg),Delivery time 2 (days)",
                |smiles, number| format!("MCULE-{number},{smiles},1{number}.5,100,5,4{number},1000,12"),
            ),
            "mcule",
            20,
            "CCN Mcule MCULE-2 100mg 12.50 125.00",
        ),
        (
            "mcule_purchasable_full.smi",
            rows("", |smiles, number| format!("{smiles}\tMCULE-{number}")),
            "generic",
            10,
            "Nc1ccccc1 House MCULE-3 - - -",
        ),
        (
            "Enamine_REAL_lead-like.cxsmiles",
            rows(
                "smiles\tid\tMW\tHAC\tsLogP\tHBA\tHBD\tRotBonds\tFSP3\tTPSA\tlead-like\t350/3_lead-like\tfragments\tmol_type\tInChIKey",
                |smiles, number| format!("{smiles}\tZ{number}\t46.1\t3\t-0.1\t1\t1\t0\t1\t20.2\t1\t1\t1\tM\t"),
            ),
            "enamine",
            10,
            "Nc1ccccc1 Enamine Z3 - - -",
        ),
        (
            "Enamine_Building_Blocks_Stock.sdf",
            sdf(|number| {
                vec![("ID", format!("EN300-{number}")), ("Catalog ID", format!("EN300-{number}")), ("CAS", "1-2-3".into()), ("Link", "https://example.com".into())]
            }),
            "enamine",
            10,
            "C Enamine EN300-3 - - -",
        ),
        (
            "chemspace.csv",
            rows("CHEMSPACE_ID,SMILES,CAS,Pack 1 (mg),Price 1 (USD),Pack 2 (mg),Price 2 (USD)", |smiles, number| {
                format!("CSSB{number},{smiles},,250,{number}0,1000,{number}5")
            }),
            "chemspace",
            20,
            "CCN Chemspace CSSB2 250mg 20.00 80.00",
        ),
        (
            "fulldb_smiles-001.txt",
            rows(
                "SMILES\tSMILES_CANONICAL\tMOLPORTID\tSTANDARD_INCHI\tINCHIKEY\tPRICERANGE_1MG\tPRICERANGE_5MG\tPRICERANGE_50MG\tBEST_LEAD_TIME",
                |smiles, number| format!("{smiles}\t{smiles}\tMolPort-{number}\t\t\t< 50\t50 - 100\t> 100\t7"),
            ),
            "molport",
            20,
            "CCN MolPort MolPort-2 1mg 50.00 50000.00",
        ),
        (
            "emolecules_plus.tsv",
            rows(
                "eMolecules ID\tSMILES\tSupplier Name\tSupplier Catalog Number\tPack Size\tUnit\tPrice (USD)\tTier",
                |smiles, number| format!("{number}00\t{smiles}\tSupplier {number}\tS-{number}\t5\tg\t1{number}.50\t1"),
            ),
            "emolecules",
            10,
            "Nc1ccccc1 Supplier 3 S-3 5g 13.50 2.70",
        ),
        (
            "ChemDiv_Building_Blocks.sdf",
            sdf(|number| vec![("IDNUMBER", format!("K405-{number:04}")), ("MW", "16".into()), ("AVAILABLE", "50 mg".into())]),
            "chemdiv",
            10,
            "C ChemDiv K405-0003 - - -",
        ),
        (
            "LC_Building_Blocks.sdf",
            sdf(|number| vec![("IDNUMBER", format!("F1234-{number:04}")), ("FORMULA", "CH4".into())]),
            "lifechemicals",
            10,
            "C Life Chemicals F1234-0003 - - -",
        ),
        (
            "H04P050.smi",
            rows("", |smiles, number| format!("{smiles} ZINCabc{number:09}")),
            "generic",
            10,
            "Nc1ccccc1 House ZINCabc000000003 - - -",
        ),
        (
            "zinc22_selection.txt",
            rows("smiles\tzinc_id\ttranche\tmwt", |smiles, number| format!("{smiles}\tZINC{number:012}\tH04P050\t46.1")),
            "zinc",
            10,
            "Nc1ccccc1 ZINC ZINC000000000003 - - -",
        ),
        (
            "buyables.json",
            format!(
                "[{}]",
                (1..).zip(BLOCKS).map(|(number, smiles)| format!(
                    "{{\"_id\": {{\"$oid\": \"{number}\"}}, \"smiles\": \"{smiles}\", \"ppg\": {number}.125, \"source\": \"emolecules\", \"lead_time\": \"1 week\", \"properties\": [{{\"name\": \"state\", \"value\": \"solid\"}}]}}"
                )).collect::<Vec<_>>().join(",\n")
            ),
            "askcos",
            10,
            "Nc1ccccc1 emolecules - - - 3.12",
        ),
        (
            "building_blocks.tsv",
            rows("SMILES\tsigma_ppg\tmolport_ppg", |smiles, number| format!("{smiles}\t{number}.5\t0")),
            "synplanner",
            10,
            "Nc1ccccc1 sigma - - - 3.50",
        ),
        (
            "Enamine_Stock.csv",
            rows("Catalog ID;SMILES;CAS;MW;Link", |smiles, number| {
                format!("EN300-{number};{smiles};1-2-3;46,1;https://example.com/{number}")
            }),
            "enamine",
            10,
            "Nc1ccccc1 Enamine EN300-3 - - -",
        ),
        (
            "molport_stock.sdf",
            sdf(|number| {
                vec![
                    ("PUBCHEM_EXT_DATASOURCE_REGID", format!("MolPort-{number}")),
                    ("MOLPORTID", format!("MolPort-{number}")),
                    ("PRICERANGE_1G", "50 - 100".into()),
                    ("BEST_LEAD_TIME", "7".into()),
                ]
            }),
            "molport",
            10,
            "C MolPort MolPort-3 1g 100.00 100.00",
        ),
        (
            "version.smi",
            rows("isosmiles version_id parent_id", |smiles, number| format!("{smiles} {number}01 {number}00")),
            "emolecules",
            10,
            "Nc1ccccc1 eMolecules 301 - - -",
        ),
        (
            "chemspace_search.json",
            format!(
                "{{\"count\": 10, \"items\": [{}]}}",
                (1..).zip(BLOCKS).map(|(number, smiles)| format!(
                    "{{\"csId\": \"CSSB{number}\", \"smiles\": \"{smiles}\", \"cas\": \"\", \"offers\": [{{\"vendorName\": \"Acme\", \"vendorCode\": \"A-{number}\", \"leadTimeDays\": 14, \"prices\": [{{\"packMg\": 250, \"priceUsd\": {number}0}}]}}]}}"
                )).collect::<Vec<_>>().join(",\n")
            ),
            "chemspace",
            10,
            "Nc1ccccc1 Acme A-3 250mg 30.00 120.00",
        ),
        (
            "ChemSpace_salts.tsv",
            rows("Chemspace ID\tSMILES\tVendor\tLead time", |smiles, number| {
                format!("CSSB{number}\t{smiles}.Cl\tAcme\t5 days")
            }),
            "chemspace",
            10,
            "Nc1ccccc1 Acme CSSB3 - - -",
        ),
        (
            "zinc20_selection.csv",
            rows("zinc_id,smiles,inchikey", |smiles, number| format!("ZINC{number:012},{smiles},")),
            "zinc",
            10,
            "Nc1ccccc1 ZINC ZINC000000000003 - - -",
        ),
        (
            "H17P200-N-xaa.smi",
            rows("", |smiles, number| format!("{smiles}\tZINCtm00000{number}\t{smiles}\tH17")),
            "generic",
            10,
            "Nc1ccccc1 House ZINCtm000003 - - -",
        ),
        (
            "buyables.csv",
            rows("smiles,ppg,source,lead_time", |smiles, number| format!("{smiles},{number}.5,emolecules,1 week")),
            "askcos",
            10,
            "Nc1ccccc1 emolecules - - - 3.50",
        ),
        (
            "building_blocks.smi",
            rows("", |smiles, number| format!("{smiles}\tBB-{number}")),
            "generic",
            10,
            "Nc1ccccc1 House BB-3 - - -",
        ),
        ("syntheseus_stock.txt", rows("", |smiles, _| smiles.to_owned()), "generic", 10, "Nc1ccccc1 House - - - -"),
        (
            "retrocast_stock.csv",
            rows("SMILES,InChIKey", |smiles, _| format!("{smiles},LFQSCWFLJHTTHZ-UHFFFAOYSA-N")),
            "generic",
            10,
            "Nc1ccccc1 House - - - -",
        ),
    ];
    for (name, text, profile, offers, third) in cases {
        let vendor = Some("House".to_owned()).filter(|_| profile == "generic");

        let found = found_with(name, text.as_bytes(), &Options { vendor, ..options() }).unwrap();

        assert_eq!(found.rejects, [], "{name}");
        assert_eq!((found.outline.profile, found.entries.len()), (profile, offers), "{name}");
        assert_eq!(all_shown(&found)[2], third, "{name}");
    }
}
