//! Parses the fields of a request and collects every fault, in the words of Pydantic v2.
//!
//! serde stops at the first fault and lacks Pydantic's messages. So a body is split into its members once, each left
//! as raw text, and a small function parses each field: `body.required("size", integer(1, Some(10_000)))`. A parser
//! returns a valid value or a [`FieldFault`]; [`Faults::settle`] returns the value or all the faults.
//!
//! Where JSON and Pydantic differ we follow JSON Schema, since clients validate against the published document: `5.0`
//! is the integer five, while `"5"`, `1.5` and `true` are not integers. A name that occurs twice is refused, because
//! parsers disagree on which one counts.

mod fault;
mod json;

use std::{collections::HashSet, fmt};

use contract::{ErrorItem, Location};
use serde_json::value::RawValue;

use crate::word_pattern::is_word;

use self::json::{Members, input, members};
pub use self::{
    fault::{Faults, FieldFault},
    json::InputValue,
};

/// Unread members of a body or query.
#[derive(Debug)]
pub struct Fields<'a, 'f> {
    /// Location of the members: the enclosing names.
    location: Vec<Location>,
    inputs: Vec<(String, InputValue<'a>)>,
    faults: &'f mut Faults,
}

impl<'a, 'f> Fields<'a, 'f> {
    /// Splits a JSON object into its members; `None`, with its fault, if `bytes` is no JSON object.
    pub fn body(bytes: &'a [u8], faults: &'f mut Faults) -> Option<Self> {
        match members(bytes) {
            Ok(inputs) => Some(Self { location: vec!["body".into()], inputs, faults }),
            Err(item) => {
                faults.push(item);
                None
            }
        }
    }

    /// Takes the parameters of a query. The last of repeated parameters counts, as in FastAPI.
    pub fn query(pairs: Vec<(String, String)>, faults: &'f mut Faults) -> Self {
        let mut seen = HashSet::new();
        let mut inputs: Vec<_> = pairs
            .into_iter()
            .rev()
            .filter(|(name, _)| seen.insert(name.clone()))
            .map(|(name, text)| (name, InputValue::Query(text)))
            .collect();
        inputs.reverse();
        Self { location: vec!["query".into()], inputs, faults }
    }

    pub fn required<T>(
        &mut self,
        name: &str,
        read: impl FnOnce(&InputValue<'a>) -> Result<T, FieldFault>,
    ) -> Option<T> {
        let read = match self.take(name) {
            Some(input) => read(&input),
            None => Err(FieldFault::new("missing", "Field required")),
        };
        self.note(name, read)
    }

    pub fn optional<T>(
        &mut self,
        name: &str,
        default: T,
        read: impl FnOnce(&InputValue<'a>) -> Result<T, FieldFault>,
    ) -> Option<T> {
        match self.take(name) {
            Some(input) => self.note(name, read(&input)),
            None => Some(default),
        }
    }

    /// Parses an array of at most `most` items; null or a missing field gives an empty list. Each fault has its
    /// item's location.
    pub fn list<T>(
        &mut self,
        name: &str,
        most: usize,
        read: impl Fn(&InputValue<'_>) -> Result<T, FieldFault>,
    ) -> Option<Option<Vec<T>>> {
        let raw = match self.take(name) {
            None | Some(InputValue::Null) => return Some(None),
            Some(InputValue::Array(raw)) => raw,
            Some(_) => {
                return self.note(name, Err(FieldFault::new("list_type", "Input should be a valid list")));
            }
        };
        let items: Vec<&RawValue> = serde_json::from_str(raw).expect("fields: the body is JSON");
        if items.len() > most {
            let msg = format!("List should have at most {most} items after validation, not {}", items.len());
            return self.note(name, Err(FieldFault::new("too_long", msg)));
        }
        let mut read_items = Some(Vec::with_capacity(items.len()));
        for (index, item) in items.into_iter().enumerate() {
            if self.faults.stop().is_set() {
                return None;
            }
            let item = input(item.get()).expect("fields: the body is JSON");
            match read(&item) {
                Ok(item) => {
                    if let Some(items) = &mut read_items {
                        items.push(item);
                    }
                }
                Err(fault) => {
                    self.faults.push(fault.inside(&self.location, [name.into(), index.into()]));
                    read_items = None;
                }
            }
        }
        read_items.map(Some)
    }

    /// Parses a required array of 1 to `most` items.
    pub fn required_list<T>(
        &mut self,
        name: &str,
        most: usize,
        read: impl Fn(&InputValue<'_>) -> Result<T, FieldFault>,
    ) -> Option<Vec<T>> {
        match self.inputs.iter().find(|(other, _)| other == name) {
            Some((_, InputValue::Array(_))) => {}
            Some(_) => {
                self.take(name);
                return self.note(name, Err(FieldFault::new("list_type", "Input should be a valid list")));
            }
            None => return self.note(name, Err(FieldFault::new("missing", "Field required"))),
        }
        let items = self.list(name, most, read)?.unwrap_or_default();
        if items.is_empty() {
            let msg = "List should have at least 1 item after validation, not 0";
            return self.note(name, Err(FieldFault::new("too_short", msg)));
        }
        Some(items)
    }

    /// Parses the members of the required object `name` with `read`.
    pub fn object<T>(&mut self, name: &str, read: impl FnOnce(Fields<'_, '_>) -> Option<T>) -> Option<T> {
        let raw = self.required(name, raw_object)?;
        self.members(name, raw, read)
    }

    /// Parses the members of the object `name` with `read`; null or a missing field gives `None`.
    pub fn optional_object<T>(
        &mut self,
        name: &str,
        read: impl FnOnce(Fields<'_, '_>) -> Option<T>,
    ) -> Option<Option<T>> {
        let raw = self.optional(name, None, |input| match input {
            InputValue::Null => Ok(None),
            input => raw_object(input).map(Some),
        })?;
        match raw {
            Some(raw) => self.members(name, raw, read).map(Some),
            None => Some(None),
        }
    }

    fn members<T>(
        &mut self,
        name: &str,
        raw: &str,
        read: impl FnOnce(Fields<'_, '_>) -> Option<T>,
    ) -> Option<T> {
        let location: Vec<Location> = self.location.iter().cloned().chain([name.into()]).collect();
        match members(raw.as_bytes()) {
            Ok(inputs) => read(Fields { location, inputs, faults: &mut *self.faults }),
            Err(item) => {
                self.faults.push(ErrorItem { loc: location, ..item });
                None
            }
        }
    }

    /// Records a fault of one value.
    pub fn fault(&mut self, name: &str, fault: FieldFault) {
        self.faults.push(fault.inside(&self.location, [name.into()]));
    }

    /// Records a fault of the members as a whole.
    pub fn fault_of_all(&mut self, fault: FieldFault) {
        self.faults.push(fault.inside(&self.location, []));
    }

    /// Refuses all members that were not read.
    pub fn finish(self) {
        self.finish_with(|| FieldFault::new("extra_forbidden", "Extra inputs are not permitted"));
    }

    /// Refuses all members that were not read, each with this fault.
    pub fn finish_with(self, fault: impl Fn() -> FieldFault) {
        for (name, _) in self.inputs {
            self.faults.push(fault().inside(&self.location, [name.as_str().into()]));
        }
    }

    fn take(&mut self, name: &str) -> Option<InputValue<'a>> {
        let index = self.inputs.iter().position(|(other, _)| other == name)?;
        Some(self.inputs.remove(index).1)
    }

    fn note<T>(&mut self, name: &str, read: Result<T, FieldFault>) -> Option<T> {
        read.map_err(|fault| self.faults.push(fault.inside(&self.location, [name.into()]))).ok()
    }
}

/// Parses an integer from `least` to `most`. A number beyond 64 bits is clamped to the nearest 64-bit one.
pub fn integer(least: i64, most: Option<i64>) -> impl Fn(&InputValue<'_>) -> Result<i64, FieldFault> {
    move |input| {
        let value = match input {
            InputValue::Number(text) => integer_of_number(text)?,
            InputValue::Query(text) => integer_of_query(text)?,
            _ => return Err(FieldFault::new("int_type", "Input should be a valid integer")),
        };
        match most {
            _ if value < least => Err(at_least(least)),
            Some(most) if value > most => Err(at_most(most)),
            _ => Ok(value),
        }
    }
}

fn integer_of_number(text: &str) -> Result<i64, FieldFault> {
    if !text.contains(['.', 'e', 'E']) {
        return Ok(clamped_integer(text));
    }
    let value = finite(text)?;
    if value.fract() == 0.0 {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "it is whole, and saturating is what is wanted"
        )]
        return Ok(value as i64);
    }
    Err(FieldFault::new(
        "int_from_float",
        "Input should be a valid integer, got a number with a fractional part",
    ))
}

fn integer_of_query(text: &str) -> Result<i64, FieldFault> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        let msg = "Input should be a valid integer, unable to parse string as an integer";
        return Err(FieldFault::new("int_parsing", msg));
    }
    Ok(clamped_integer(text))
}

/// Parses `text`, digits with an optional sign, and clamps it to 64 bits.
fn clamped_integer(text: &str) -> i64 {
    text.parse().unwrap_or(if text.starts_with('-') { i64::MIN } else { i64::MAX })
}

/// Parses a finite number.
pub fn number(input: &InputValue<'_>) -> Result<f64, FieldFault> {
    match input {
        InputValue::Number(text) => finite(text),
        _ => Err(FieldFault::new("float_type", "Input should be a valid number")),
    }
}

/// Parses a number above 0 and at most `most`.
pub fn positive(most: f64) -> impl Fn(&InputValue<'_>) -> Result<f64, FieldFault> {
    move |input| match number(input)? {
        value if value <= 0.0 => Err(FieldFault::new("greater_than", "Input should be greater than 0")),
        value if value > most => Err(at_most(most)),
        value => Ok(value),
    }
}

/// Parses a number from `least` to `most`.
pub fn between(least: f64, most: f64) -> impl Fn(&InputValue<'_>) -> Result<f64, FieldFault> {
    move |input| match number(input)? {
        value if value < least => Err(at_least(least)),
        value if value > most => Err(at_most(most)),
        value => Ok(value),
    }
}

fn finite(text: &str) -> Result<f64, FieldFault> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        _ => Err(FieldFault::new("finite_number", "Input should be a finite number")),
    }
}

/// Parses `true` or `false`.
pub fn boolean(input: &InputValue<'_>) -> Result<bool, FieldFault> {
    match input {
        InputValue::Bool(value) => Ok(*value),
        _ => Err(FieldFault::new("bool_type", "Input should be a valid boolean")),
    }
}

/// Parses a text of `least` to `most` characters without NUL, which the database cannot store.
pub fn text(least: usize, most: Option<usize>) -> impl Fn(&InputValue<'_>) -> Result<String, FieldFault> {
    move |input| {
        let value = characters(input, least, most)?;
        if value.contains('\0') {
            return Err(FieldFault::new(
                "string_pattern_mismatch",
                r"String should match pattern '^[^\x00]*$'",
            ));
        }
        Ok(value.to_owned())
    }
}

/// Parses a text of `least` to `most` characters that matches `^\w+$`.
pub fn word(least: usize, most: Option<usize>) -> impl Fn(&InputValue<'_>) -> Result<String, FieldFault> {
    move |input| {
        let value = characters(input, least, most)?;
        if is_word(value) {
            return Ok(value.to_owned());
        }
        Err(FieldFault::new("string_pattern_mismatch", r"String should match pattern '^\w+$'"))
    }
}

fn characters<'i>(
    input: &'i InputValue<'_>,
    least: usize,
    most: Option<usize>,
) -> Result<&'i str, FieldFault> {
    let (InputValue::Text(value) | InputValue::Query(value)) = input else {
        return Err(FieldFault::new("string_type", "Input should be a valid string"));
    };
    check_length(value, least, most)?;
    Ok(value)
}

fn check_length(value: &str, least: usize, most: Option<usize>) -> Result<(), FieldFault> {
    let chars = value.chars().count();
    let bound = |bound: usize| format!("{bound} character{}", if bound == 1 { "" } else { "s" });
    match most {
        _ if chars < least => {
            Err(FieldFault::new("string_too_short", format!("String should have at least {}", bound(least))))
        }
        Some(most) if chars > most => {
            Err(FieldFault::new("string_too_long", format!("String should have at most {}", bound(most))))
        }
        _ => Ok(()),
    }
}

/// Parses one of `choices` by its name.
pub fn choice<'c, T: Copy>(
    choices: &'c [T],
    name: impl Fn(T) -> &'static str + 'c,
) -> impl Fn(&InputValue<'_>) -> Result<T, FieldFault> + 'c {
    move |input| {
        let chosen = choices.iter().find(
            |choice| matches!(input, InputValue::Text(text) | InputValue::Query(text) if text == name(**choice)),
        );
        chosen.copied().ok_or_else(|| not_among(choices.iter().map(|choice| name(*choice))))
    }
}

/// Fault of a name that is not among `names`, of which there are several.
pub fn not_among(names: impl Iterator<Item = &'static str>) -> FieldFault {
    let names: Vec<_> = names.map(|name| format!("'{name}'")).collect();
    let (last, others) = names.split_last().expect("fields: a choice is among some");
    FieldFault::new("enum", format!("Input should be {} or {last}", others.join(", ")))
}

fn raw_object<'a>(input: &InputValue<'a>) -> Result<&'a str, FieldFault> {
    match input {
        InputValue::Object(raw) => Ok(raw),
        _ => Err(FieldFault::new("dict_type", "Input should be a valid dictionary")),
    }
}

/// Parses an array of two items.
pub fn pair<T>(
    read: impl Fn(&InputValue<'_>) -> Result<T, FieldFault>,
) -> impl Fn(&InputValue<'_>) -> Result<(T, T), FieldFault> {
    move |array| {
        let InputValue::Array(raw) = array else {
            return Err(FieldFault::new("list_type", "Input should be a valid list"));
        };
        let items: Vec<&RawValue> = serde_json::from_str(raw).expect("fields: the body is JSON");
        let [first, second] = items[..] else {
            let count = items.len();
            let kind = if count < 2 { "too_short" } else { "too_long" };
            return Err(FieldFault::new(
                kind,
                format!("List should have 2 items after validation, not {count}"),
            ));
        };
        let item = |at: usize, item: &RawValue| {
            let item = input(item.get()).expect("fields: the body is JSON");
            read(&item).map_err(|fault| fault.within(at))
        };
        Ok((item(0, first)?, item(1, second)?))
    }
}

/// Splits an object into its members, in order. Each name must be among `names` and occur at most once.
pub fn object<'a>(
    object: &InputValue<'a>,
    names: &[&str],
) -> Result<Vec<(String, InputValue<'a>)>, FieldFault> {
    let &InputValue::Object(raw) = object else {
        return Err(FieldFault::new("dict_type", "Input should be a valid dictionary"));
    };
    let members: Members<'_> = serde_json::from_str(raw).expect("fields: the body is JSON");
    let mut read: Vec<(String, InputValue<'_>)> = Vec::with_capacity(members.0.len().min(names.len()));
    for (name, raw) in members.0 {
        if !names.contains(&name.as_str()) {
            return Err(
                FieldFault::new("extra_forbidden", "Extra inputs are not permitted").within(name.as_str())
            );
        }
        if read.iter().any(|(other, _)| *other == name) {
            return Err(FieldFault::new("json_invalid", format!("the name `{name}` occurs twice"))
                .within(name.as_str()));
        }
        let input = input(raw.get()).expect("fields: the body is JSON");
        read.push((name, input));
    }
    Ok(read)
}

/// Parses a value with `read`, or returns `None` for null.
pub fn nullable<T>(
    read: impl FnOnce(&InputValue<'_>) -> Result<T, FieldFault>,
) -> impl FnOnce(&InputValue<'_>) -> Result<Option<T>, FieldFault> {
    move |input| if *input == InputValue::Null { Ok(None) } else { read(input).map(Some) }
}

fn at_least(bound: impl fmt::Display) -> FieldFault {
    FieldFault::new("greater_than_equal", format!("Input should be greater than or equal to {bound}"))
}

fn at_most(bound: impl fmt::Display) -> FieldFault {
    FieldFault::new("less_than_equal", format!("Input should be less than or equal to {bound}"))
}

#[cfg(test)]
mod tests {
    use http_errors::ApiError;

    use super::*;

    #[test]
    fn an_integer_is_what_json_schema_calls_one() {
        let read = |text| integer(1, Some(10_000))(&InputValue::Number(text)).map_err(|fault| fault.kind);

        assert_eq!(read("5"), Ok(5));
        assert_eq!(read("5.0"), Ok(5));
        assert_eq!(read("1e4"), Ok(10_000));
        assert_eq!(read("1.5"), Err("int_from_float"));
        assert_eq!(read("0"), Err("greater_than_equal"));
        assert_eq!(read("-99999999999999999999"), Err("greater_than_equal"));
        assert_eq!(read("99999999999999999999"), Err("less_than_equal"));
        assert_eq!(read("1e999"), Err("finite_number"));
    }

    #[test]
    fn reading_a_list_stops_when_its_caller_leaves() {
        let stop = crate::body_validation::CancelFlag::default();
        let mut faults = Faults::default();
        faults.stop_by(stop.clone());
        let read = std::cell::Cell::new(0);
        let mut fields = Fields::body(br#"{"names": ["a", "b", "c"]}"#, &mut faults).unwrap();

        let list = fields.list("names", 3, |_: &InputValue<'_>| {
            read.set(read.get() + 1);
            stop.set();
            Ok(())
        });
        fields.finish();

        assert_eq!((list.is_none(), read.get()), (true, 1));
        assert!(matches!(faults.settle(Some(())), Err(ApiError::Unavailable { .. })));
    }

    #[test]
    fn a_list_is_read_item_by_item_and_each_fault_has_its_place() {
        let read = |body: &str| {
            let mut faults = Faults::default();
            let mut fields = Fields::body(body.as_bytes(), &mut faults).unwrap();
            let list = fields.list("names", 2, text(1, None));
            fields.finish();
            (list, faults.items.into_iter().map(|item| (item.kind, item.loc)).collect::<Vec<_>>())
        };
        let at =
            |kind: &str, index: usize| (kind.to_owned(), vec!["body".into(), "names".into(), index.into()]);
        let whole = |kind: &str| vec![(kind.to_owned(), vec!["body".into(), "names".into()])];

        assert_eq!(read(r#"{"names": ["a", "b"]}"#), (Some(Some(vec!["a".into(), "b".into()])), vec![]));
        assert_eq!(read(r#"{"names": []}"#), (Some(Some(vec![])), vec![]));
        assert_eq!(read(r#"{"names": null}"#), (Some(None), vec![]));
        assert_eq!(read("{}"), (Some(None), vec![]));
        assert_eq!(read(r#"{"names": "a"}"#), (None, whole("list_type")));
        assert_eq!(read(r#"{"names": ["a", "b", "c"]}"#), (None, whole("too_long")));
        assert_eq!(
            read(r#"{"names": [[], ""]}"#),
            (None, vec![at("string_type", 0), at("string_too_short", 1)])
        );
    }
}
