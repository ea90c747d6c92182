//! Stock amounts as inventories state them.

use catalogue::InStock;

use crate::found;

/// Stock of a file's offers: the stated amount, the grams of the building block, and the location.
fn stock(text: &str) -> Vec<String> {
    let found = found("inventory.csv", text.as_bytes());
    assert_eq!(found.rejects, [], "{text}");
    let shown = found.entries.iter().map(|entry| {
        let amount = entry.in_stock.as_ref().map_or_else(
            || "?".to_owned(),
            |InStock { amount, uom, grams }| {
                let grams = grams.map_or_else(|| "?".to_owned(), |grams| format!("{grams:.3}"));
                format!("{amount} {uom} = {grams} g")
            },
        );
        format!("{amount} @ {}", entry.location.as_deref().unwrap_or("-"))
    });
    shown.collect()
}

#[test]
fn an_amount_has_its_unit_beside_it_in_its_name_or_in_a_column() {
    let cases: [(&str, &[&str]); 7] = [
        (
            "smiles,amount,location\nCCO,2.5 g,B3\nCCO,>100mg,\n",
            &["2.5 g = 2.500 g @ B3", "100 mg = 0.100 g @ -"],
        ),
        ("smiles,Stock (mg),Shelf\nCCO,50,A 1\n", &["50 mg = 0.050 g @ A 1"]),
        ("smiles,Quantity available,amount_unit\nCCO,3,mmol\n", &["3 mmol = 0.138 g @ -"]),
        // The unit of packs applies if the record has no pack.
        ("smiles,amount,unit\nCCO,3,kg\n", &["3 kg = 3000.000 g @ -"]),
        ("smiles,amount,density\nCCO,10 mL,0.789\nCCO,10 mL,\n", &["10 mL = 7.890 g @ -", "10 mL = ? g @ -"]),
        // The rest of the weight is the acid.
        ("smiles,amount\nCCN.Cl,2 g\n", &["2 g = 1.106 g @ -"]),
        (
            "smiles,stock,price\nCCO,in stock,\nCCO,no,5\nCCO,0 g,5\n",
            &["? @ -", "? @ -", "0 g = 0.000 g @ -"],
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(stock(text), expected, "{text}");
    }
}

#[test]
fn a_bottle_is_counted_once_in_however_many_packs_more_can_be_had() {
    let found = stock("smiles,amount,location,PRICE_1G,PRICE_5G\nCCO,2 g,B3,5,20\n");

    assert_eq!(found, ["2 g = 2.000 g @ B3", "? @ -"]);
}

#[test]
fn an_amount_that_is_none_is_left_out_with_its_reason() {
    let text = "smiles,amount,unit,pack\nCCO,0 g,,\nCCO,sold out,,\nCCO,-2 g,,\nCCO,Berlin,,\nCCO,5,g,1\nCCO,5,cups,\nCCO,1e300 g,,\n";

    let found = found("inventory.csv", text.as_bytes());

    let reasons: Vec<&str> = found.rejects.iter().map(|(_, reason)| reason.as_str()).collect();
    let no_amount = |text: &str| {
        format!(
            "amount `{text}` is not an amount with a unit (2.5 g; --column amount=amount:mg says the unit, =ignore leaves it out)"
        )
    };
    assert_eq!(
        reasons,
        [
            "none in stock: amount is 0, and there is no price",
            "none in stock: amount is 0, and there is no price",
            "amount `-2 g` is negative",
            &no_amount("Berlin"),
            &no_amount("5"),
            "unknown unit `cups` (known: kg, g, mg, ug, mol, mmol, umol, L, mL, uL)",
            "amount `1e300 g` is beyond all reason",
        ]
    );
}
