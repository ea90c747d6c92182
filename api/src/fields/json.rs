//! Splitting of JSON into its members, each left as raw text.

use std::{collections::HashSet, fmt};

use contract::ErrorItem;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::fault::FieldFault;

/// Raw value of a request.
#[derive(Debug, PartialEq)]
pub enum InputValue<'a> {
    Null,
    Bool(bool),
    /// JSON number as raw text.
    Number(&'a str),
    Text(String),
    /// Text of a query parameter, from which numbers are parsed too.
    Query(String),
    /// Array as raw text.
    Array(&'a str),
    /// Object as raw text.
    Object(&'a str),
}

/// Splits `bytes`, a JSON object, into its members, in order.
pub fn members(bytes: &[u8]) -> Result<Vec<(String, InputValue<'_>)>, ErrorItem> {
    let text = std::str::from_utf8(bytes).map_err(|error| json_invalid(error.valid_up_to(), &"not UTF-8"))?;
    let missing = || FieldFault::new("missing", "Field required").at(["body".into()]);
    if text.trim().is_empty() {
        return Err(missing());
    }
    // The syntax of the whole is checked first: this pass needs no stack, however deep the nesting is.
    let whole: &RawValue = serde_json::from_str(text).map_err(|error| syntax(text, 0, &error))?;
    // This pass does not unescape what it skips; later parsers rely on valid escapes.
    if let Some(offset) = lone_surrogate(text) {
        return Err(json_invalid(offset, &"lone surrogate in hex escape"));
    }
    match whole.get().as_bytes().first() {
        Some(b'{') => {}
        Some(b'n') => return Err(missing()),
        _ => {
            let msg = "Input should be a valid dictionary or object to extract fields from";
            return Err(FieldFault::new("model_attributes_type", msg).at(["body".into()]));
        }
    }
    let members: Members<'_> = serde_json::from_str(text).map_err(|error| syntax(text, 0, &error))?;
    let mut seen = HashSet::new();
    let mut inputs = Vec::with_capacity(members.0.len());
    for (name, raw) in members.0 {
        let offset = raw.get().as_ptr().addr() - text.as_ptr().addr();
        if !seen.insert(name.clone()) {
            return Err(json_invalid(offset, &format!("the name `{name}` occurs twice")));
        }
        let input = input(raw.get()).map_err(|error| syntax(raw.get(), offset, &error))?;
        inputs.push((name, input));
    }
    Ok(inputs)
}

/// Returns the end of the first unpaired surrogate escape in `text`, which is valid JSON otherwise.
fn lone_surrogate(text: &str) -> Option<usize> {
    let unit = |at: usize| u16::from_str_radix(text.get(at..at + 6)?.strip_prefix("\\u")?, 16).ok();
    let mut at = 0;
    while let Some(found) = text.get(at..).and_then(|rest| rest.find('\\')) {
        let escape = at + found;
        at = match unit(escape) {
            None => escape + 2,
            Some(0xd800..=0xdbff) if matches!(unit(escape + 6), Some(0xdc00..=0xdfff)) => escape + 12,
            Some(0xd800..=0xdfff) => return Some(escape + 6),
            Some(_) => escape + 6,
        };
    }
    None
}

/// Classifies the value `raw`, a part of the text that `members` has checked.
pub fn input(raw: &str) -> Result<InputValue<'_>, serde_json::Error> {
    Ok(match raw.as_bytes().first() {
        Some(b'n') => InputValue::Null,
        Some(b't') => InputValue::Bool(true),
        Some(b'f') => InputValue::Bool(false),
        Some(b'"') => InputValue::Text(serde_json::from_str(raw)?),
        Some(b'[') => InputValue::Array(raw),
        Some(b'{') => InputValue::Object(raw),
        _ => InputValue::Number(raw),
    })
}

/// Members of an object with raw values; serde's maps would merge equal names.
pub struct Members<'a>(pub Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;

        impl<'de> Visitor<'de> for InOrder {
            type Value = Vec<(String, &'de RawValue)>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(members)
            }
        }

        deserializer.deserialize_map(InOrder).map(Members)
    }
}

/// Converts a syntax error of `text`, which starts at byte `start` of the body, to a fault at its byte offset.
fn syntax(text: &str, start: usize, error: &serde_json::Error) -> ErrorItem {
    let line_start: usize =
        text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
    let offset = if error.is_eof() { text.len() } else { line_start + error.column().saturating_sub(1) };
    json_invalid(start + offset, error)
}

/// Builds the fault: `loc` ends in the offset, as in FastAPI, and the message is Pydantic's.
fn json_invalid(offset: usize, reason: &dyn fmt::Display) -> ErrorItem {
    FieldFault::new("json_invalid", format!("Invalid JSON: {reason}")).at(["body".into(), offset.into()])
}

#[cfg(test)]
mod tests {
    use contract::Location;

    use super::*;

    #[test]
    fn members_keep_their_order_and_may_not_repeat() {
        let names = |text: &'static str| {
            members(text.as_bytes())
                .map(|members| members.into_iter().map(|(name, _)| name).collect::<Vec<_>>())
                .map_err(|item| (item.kind, item.loc))
        };

        assert_eq!(names(r#"{"b":1,"a":[{"b":2,"b":3}]}"#), Ok(vec!["b".to_owned(), "a".to_owned()]));
        let fault = ("json_invalid".to_owned(), vec!["body".into(), 12_usize.into()]);
        assert_eq!(names(r#"{"a":1, "a":2}"#), Err(fault));
    }

    #[test]
    fn a_body_of_very_many_members_is_read_in_no_time() {
        let text: String = (0..90_000).map(|n| format!(r#","{n}":1"#)).collect();
        let begun = std::time::Instant::now();

        let members = members(format!("{{{}}}", &text[1..]).as_bytes()).map(|members| members.len());

        assert_eq!(members, Ok(90_000));
        assert!(begun.elapsed().as_secs() < 5);
    }

    #[test]
    fn escapes_of_pairs_and_of_backslashes_are_no_halves() {
        for text in [r#"{"a": "\ud83d\ude00"}"#, r#"{"a": "\\ud800"}"#, r#"{"a": ["\\\\", "\u00e9\n"]}"#] {
            assert!(members(text.as_bytes()).is_ok(), "{text}");
        }
    }

    #[test]
    fn malformed_json_is_refused_at_its_byte() {
        let nested = "[".repeat(500_000);
        let cases: [(&str, usize); 13] = [
            ("nonsense", 1),
            (r#"{"size": }"#, 9),
            (r#"{"size": 5"#, 10),
            (r#"{"size": NaN}"#, 9),
            ("{\"size\": 5,\n  \"x\": Infinity}", 19),
            (r#"{"size": 5} x"#, 12),
            ("{'size': 5}", 1),
            (r#"{"a": "\ud800"}"#, 13),
            (r#"{"a": ["\udde1"]}"#, 14),
            (r#"{"a": {"\ud800\n": 1}}"#, 14),
            (r#"{"a": "\ud83d\u0041"}"#, 13),
            (r#"{"\uDBFF": 1}"#, 8),
            (&nested, 500_000),
        ];
        for (text, offset) in cases {
            let item = members(text.as_bytes()).unwrap_err();

            assert_eq!(item.kind, "json_invalid", "{}", item.msg);
            assert_eq!(item.loc, ["body".into(), Location::from(offset)], "{}", item.msg);
        }
    }
}
