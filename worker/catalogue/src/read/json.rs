//! JSON objects as records: answers of vendors' services, and tables as JSON lines.
//!
//! An object becomes rows of names and texts. Fields of inner objects are named `outer.inner`. A list of objects
//! whose name [stands for offers](NESTED) yields one row per object, each with the fields of the outer object. Other
//! lists of objects are ignored.

use serde_json::{Map, Value};

use crate::fault::{RecordFault, shorten};

/// Names of lists that hold offers, or objects with offers.
const OFFER_LISTS: [&str; 4] = ["items", "offers", "prices", "packs"];

/// Maximum number of rows of one object.
const MAX_ROWS: usize = 10_000;

/// Maximum total size of the rows of one object, bytes.
const MAX_ROW_BYTES: usize = 1 << 24;

/// Pairs of name and text, at least one.
pub(crate) type Row = Vec<(String, String)>;

/// The rows of an object.
pub(crate) fn rows(record: &[u8]) -> Result<Vec<Row>, RecordFault> {
    let object: Map<String, Value> = serde_json::from_slice(record)
        .map_err(|error| RecordFault::Json { reason: shorten(&error.to_string()) })?;
    let mut rows = Rows { rows: Vec::new(), size: 0 };
    rows.add(&object, &Row::new())?;
    Ok(rows.rows)
}

struct Rows {
    rows: Vec<Row>,
    size: usize,
}

impl Rows {
    /// Adds the rows of an object, with the fields of `outer` in each.
    fn add(&mut self, object: &Map<String, Value>, outer: &Row) -> Result<(), RecordFault> {
        let mut row = outer.clone();
        let mut nested: Vec<&Vec<Value>> = Vec::new();
        flatten(object, "", &mut row, &mut nested);
        let inner = nested.iter().flat_map(|list| list.iter()).filter_map(Value::as_object);
        let before = self.rows.len();
        for object in inner {
            self.add(object, &row)?;
        }
        if self.rows.len() == before {
            self.size += row.iter().map(|(name, text)| name.len() + text.len()).sum::<usize>();
            self.rows.push(row);
        }
        if self.rows.len() > MAX_ROWS || self.size > MAX_ROW_BYTES {
            return Err(RecordFault::TooManyOffers { limit: MAX_ROWS });
        }
        Ok(())
    }
}

fn flatten<'a>(
    object: &'a Map<String, Value>,
    prefix: &str,
    row: &mut Row,
    nested: &mut Vec<&'a Vec<Value>>,
) {
    for (name, value) in object {
        match value {
            Value::Object(inner) => flatten(inner, &format!("{prefix}{name}."), row, nested),
            Value::Array(list) if OFFER_LISTS.contains(&name.as_str()) => nested.push(list),
            value => {
                let Some(text) = text(value) else { continue };
                let name = format!("{prefix}{name}");
                // Fields of the inner object override those of the outer one.
                row.retain(|(known, _)| *known != name);
                row.push((name, text));
            }
        }
    }
}

/// Text of a number. One with three decimals gets a fourth, so that its point cannot be taken for a mark between
/// thousands.
pub(crate) fn number_text(number: &str) -> String {
    let has_three_decimals = number.split_once('.').is_some_and(|(_, decimals)| decimals.len() == 3);
    if has_three_decimals { format!("{number}0") } else { number.to_owned() }
}

/// Converts a value to text; `None` for null and for lists of anything but plain values.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::Null | Value::Object(_) => None,
        Value::Bool(value) => Some(value.to_string()),
        Value::Number(number) => Some(number_text(&number.to_string())),
        Value::String(text) => Some(text.clone()),
        Value::Array(list) if list.iter().any(|value| value.is_object() || value.is_array()) => None,
        Value::Array(list) => Some(list.iter().filter_map(text).collect::<Vec<_>>().join(",")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(record: &str) -> Result<Vec<String>, RecordFault> {
        let rows = rows(record.as_bytes())?;
        let pair = |(name, text): &(String, String)| format!("{name}={text}");
        Ok(rows.iter().map(|row| row.iter().map(pair).collect::<Vec<_>>().join(" ")).collect())
    }

    #[test]
    fn each_offer_within_a_record_is_a_row() {
        let record = r#"{"smiles": "CCO", "offers": [
            {"vendor": "A", "ships": ["US", "DE"], "prices": [{"pack": 1, "price": 2.5}, {"pack": 5}]},
            {"vendor": "B", "prices": []}], "more": {"mw": 46, "x": null}, "properties": [{"name": "x"}]}"#;

        assert_eq!(
            shown(record).unwrap(),
            [
                "more.mw=46 smiles=CCO ships=US,DE vendor=A pack=1 price=2.5",
                "more.mw=46 smiles=CCO ships=US,DE vendor=A pack=5",
                "more.mw=46 smiles=CCO vendor=B",
            ]
        );
    }

    #[test]
    fn what_is_no_object_has_its_fault() {
        for record in ["[1]", "1", "{\"a\"", "{} {}", "{\"a\": 1e999}"] {
            assert!(matches!(shown(record), Err(RecordFault::Json { .. })), "{record}");
        }
        let many = format!("{{\"offers\": [{}]}}", vec!["{}"; MAX_ROWS + 1].join(","));
        assert_eq!(shown(&many), Err(RecordFault::TooManyOffers { limit: MAX_ROWS }));
    }
}
