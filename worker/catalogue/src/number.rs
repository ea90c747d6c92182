//! Numbers as vendors write them, and the decimal mark of a column.
//!
//! `1.234` is one and a bit with a decimal point and a thousand with a decimal comma. So a column's style is decided
//! from its values before any of them counts, and a value that would differ by a factor of 1,000 in a column of
//! unknown style is refused. Groups of digits are separated by the other mark, by spaces or by apostrophes (ISO
//! 80000-1, 7.3; CLDR, number symbols), also in the Indian way (`1,23,456`).

use crate::currency::Currency;
use crate::number_style::NumberStyle;

/// Reason why a text is no number of its column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NumberFault {
    /// The text is no number in any style.
    NotANumber,
    /// The text has two values, and the column's style is unknown.
    Ambiguous,
    /// The text is a number of the other style only.
    OtherStyle,
}

/// Marks between groups of digits in both styles: spaces (usual, no-break, narrow, thin, of a digit's width) and
/// apostrophes.
const GROUP_MARKS: [char; 10] = [' ', '\u{a0}', '\u{202f}', '\u{2009}', '\u{2007}', '\'', '’', '‘', 'ʼ', '′'];

/// Digits of a number that is finite in any case.
const MAX_DIGITS: usize = 300;

/// Parses a number in the style of its column.
pub(crate) fn number(text: &str, style: NumberStyle) -> Result<f64, NumberFault> {
    if let Some(found) = digits(text, style == NumberStyle::Point) {
        return Ok(found);
    }
    match (both(text), style) {
        ((None, None), _) => Err(NumberFault::NotANumber),
        ((Some(point), Some(comma)), _) if point.to_bits() == comma.to_bits() => Ok(point),
        ((Some(_), Some(_)), NumberStyle::Undecided) => Err(NumberFault::Ambiguous),
        ((Some(point), _), NumberStyle::Point) | ((Some(point), None), NumberStyle::Undecided) => Ok(point),
        ((_, Some(comma)), NumberStyle::Comma) | ((None, Some(comma)), NumberStyle::Undecided) => Ok(comma),
        ((Some(_), None), NumberStyle::Comma) | ((None, Some(_)), NumberStyle::Point) => {
            Err(NumberFault::OtherStyle)
        }
    }
}

/// Parses a number outside a column, with a decimal point or else a decimal comma.
#[must_use]
pub(crate) fn plain_number(text: &str) -> Option<f64> {
    digits(text, true).or_else(|| {
        let (point, comma) = both(text);
        point.or(comma)
    })
}

/// Value of a text of digits, with a decimal point among them if `has_points`. Nearly all numbers are such texts, which need no further look.
fn digits(text: &str, has_points: bool) -> Option<f64> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit() || (has_points && byte == b'.'));
    if is_plain && text.len() <= MAX_DIGITS { text.parse().ok() } else { None }
}

/// Values with a decimal point and with a decimal comma.
pub(crate) fn both(text: &str) -> (Option<f64>, Option<f64>) {
    (value(text, '.', ','), value(text, ',', '.'))
}

/// Value with this decimal mark; `other` may separate groups.
fn value(text: &str, decimal: char, other: char) -> Option<f64> {
    let (sign, rest) = match text.strip_prefix(['-', '−']) {
        Some(rest) => ("-", rest),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    let (mantissa, exponent) = rest.split_at(rest.find(['e', 'E']).unwrap_or(rest.len()));
    let (whole, fraction) = mantissa.split_once(decimal).unwrap_or((mantissa, ""));
    // `12,-` is a price without cents.
    let fraction =
        if mantissa.len() > whole.len() { fraction.trim_end_matches(['-', '–', '—']) } else { fraction };
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_digits(fraction) || (whole.is_empty() && (fraction.is_empty() || decimal == ',')) {
        return None;
    }
    let whole = if is_digits(whole) { whole.to_owned() } else { ungrouped(whole, other, exponent)? };
    let found: f64 = format!("{sign}{whole}.{fraction}{exponent}").parse().ok()?;
    found.is_finite().then_some(found)
}

/// Digits of a number with groups; `None` for groups of the wrong size, and with an exponent.
fn ungrouped(whole: &str, other: char, exponent: &str) -> Option<String> {
    let mark = whole.chars().find(|character| !character.is_ascii_digit())?;
    if !exponent.is_empty() || !(mark == other || GROUP_MARKS.contains(&mark)) {
        return None;
    }
    let groups: Vec<&str> = whole.split(mark).collect();
    let (&first, rest) = groups.split_first()?;
    let (&last, middle) = rest.split_last()?;
    let of =
        |group: &str, length: usize| group.len() == length && group.bytes().all(|byte| byte.is_ascii_digit());
    let is_western = (1..=3).any(|length| of(first, length)) && middle.iter().all(|group| of(group, 3));
    let is_indian =
        mark == ',' && (1..=2).any(|length| of(first, length)) && middle.iter().all(|group| of(group, 2));
    ((is_western || is_indian) && of(last, 3) && !first.starts_with('0')).then(|| groups.concat())
}

/// Parses a price and the currency written beside it: `12.50`, `$12.50`, `12,50 €`, `EUR 12`.
pub(crate) fn money(text: &str, style: NumberStyle) -> Result<(f64, Option<Currency>), NumberFault> {
    match number(text, style) {
        Ok(amount) => return Ok((amount, None)),
        Err(NumberFault::NotANumber) => {}
        Err(fault) => return Err(fault),
    }
    let text = text.strip_prefix("US$").map_or(text, |rest| &text[text.len() - rest.len() - 1..]);
    let (before, amount, after) = amount_in(text).ok_or(NumberFault::NotANumber)?;
    let currency: Currency = match (before.trim(), after.trim()) {
        (code, "") | ("", code) => code.parse().map_err(|_| NumberFault::NotANumber)?,
        _ => return Err(NumberFault::NotANumber),
    };
    let is_dollars = before.trim_end().ends_with(['$', '£']) && !amount.contains('.');
    match number(amount, style) {
        // A sum in dollars has no three decimals behind a comma.
        Err(NumberFault::Ambiguous) if is_dollars => {
            Ok((plain_number(amount).ok_or(NumberFault::Ambiguous)?, Some(currency)))
        }
        amount => Ok((amount?, Some(currency))),
    }
}

/// The number in a text, with the text before and behind it.
fn amount_in(text: &str) -> Option<(&str, &str, &str)> {
    let first = text.find(|character: char| character.is_ascii_digit())?;
    let begin = text[..first].trim_end_matches(['.', ',', '-', '+', '−']).len();
    let last = text.rfind(|character: char| character.is_ascii_digit())? + 1;
    let behind = &text[last..];
    let cents = behind.strip_prefix(['.', ',']).map(|rest| rest.trim_start_matches(['-', '–', '—']));
    let end = text.len() - cents.map_or(behind.len(), str::len);
    Some((&text[..begin], &text[begin..end], &text[end..]))
}

/// Parses the upper end of a price range (`50 - 100`, `< 50`) or a single price. `Ok(None)` is a range without an
/// upper end (`> 100`).
pub(crate) fn parse_price_range(
    text: &str,
    style: NumberStyle,
) -> Result<Option<(f64, Option<Currency>)>, NumberFault> {
    if text.starts_with(['>', '≥']) {
        return Ok(None);
    }
    let text = text.trim_start_matches(['<', '≤', '=']).trim();
    match (money(text, style), text.split_once(['-', '–'])) {
        (Err(NumberFault::NotANumber), Some((low, high))) => {
            money(low.trim(), style)?;
            money(high.trim(), style).map(Some)
        }
        (price, _) => price.map(Some),
    }
}

/// Values of a column that have one possible decimal mark, counted.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct StyleEvidence {
    points: usize,
    commas: usize,
}

impl StyleEvidence {
    /// Counts the numbers in a field: `$ 1,234.50`, `0,5 g`, `50 - 100`.
    pub(crate) fn see(&mut self, field: &str) {
        if !field.contains(['.', ',']) {
            return;
        }
        let is_part = |character: char| {
            character.is_ascii_digit() || ['.', ','].contains(&character) || GROUP_MARKS.contains(&character)
        };
        for part in field.split(|character| !is_part(character)) {
            match both(part.trim_matches(|character: char| !character.is_ascii_digit())) {
                (Some(_), None) => self.points += 1,
                (None, Some(_)) => self.commas += 1,
                _ => {}
            }
        }
    }

    /// Sum of the counts of two columns.
    pub(crate) const fn and(self, other: Self) -> Self {
        Self { points: self.points + other.points, commas: self.commas + other.commas }
    }

    /// The style, if all counted values agree.
    pub(crate) const fn style(self) -> NumberStyle {
        match self {
            Self { points: 1.., commas: 0 } => NumberStyle::Point,
            Self { points: 0, commas: 1.. } => NumberStyle::Comma,
            _ => NumberStyle::Undecided,
        }
    }

    /// Returns true if no value was counted.
    pub(crate) const fn is_empty(self) -> bool {
        self.points == 0 && self.commas == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use NumberFault::{Ambiguous, NotANumber, OtherStyle};
    use NumberStyle::{Comma, Point, Undecided};

    #[test]
    fn a_number_has_the_value_of_its_columns_style() {
        let cases = [
            // Text, with a decimal point, with a decimal comma, of unknown style.
            ("12", Ok(12.0), Ok(12.0), Ok(12.0)),
            ("1e3", Ok(1000.0), Ok(1000.0), Ok(1000.0)),
            ("12.5", Ok(12.5), Err(OtherStyle), Ok(12.5)),
            ("12,5", Err(OtherStyle), Ok(12.5), Ok(12.5)),
            ("1.234", Ok(1.234), Ok(1234.0), Err(Ambiguous)),
            ("1,234", Ok(1234.0), Ok(1.234), Err(Ambiguous)),
            ("-1,250", Ok(-1250.0), Ok(-1.25), Err(Ambiguous)),
            ("0.125", Ok(0.125), Err(OtherStyle), Ok(0.125)),
            ("0,125", Err(OtherStyle), Ok(0.125), Ok(0.125)),
            ("1234.500", Ok(1234.5), Err(OtherStyle), Ok(1234.5)),
            ("1.234,50", Err(OtherStyle), Ok(1234.5), Ok(1234.5)),
            ("12.345,00", Err(OtherStyle), Ok(12345.0), Ok(12345.0)),
            ("1.000,5", Err(OtherStyle), Ok(1000.5), Ok(1000.5)),
            ("1,234.50", Ok(1234.5), Err(OtherStyle), Ok(1234.5)),
            ("1.234.567", Err(OtherStyle), Ok(1_234_567.0), Ok(1_234_567.0)),
            ("1,234,567", Ok(1_234_567.0), Err(OtherStyle), Ok(1_234_567.0)),
            ("1,23,456.00", Ok(123_456.0), Err(OtherStyle), Ok(123_456.0)),
            ("1'234.50", Ok(1234.5), Err(OtherStyle), Ok(1234.5)),
            ("1’234", Ok(1234.0), Ok(1234.0), Ok(1234.0)),
            ("1 234,50", Err(OtherStyle), Ok(1234.5), Ok(1234.5)),
            ("1\u{202f}234,567", Err(OtherStyle), Ok(1234.567), Ok(1234.567)),
            ("1\u{a0}234\u{a0}567.8", Ok(1_234_567.8), Err(OtherStyle), Ok(1_234_567.8)),
            ("1.234e2", Ok(123.4), Err(OtherStyle), Ok(123.4)),
            ("1.234,-", Err(OtherStyle), Ok(1234.0), Ok(1234.0)),
            ("−5", Ok(-5.0), Ok(-5.0), Ok(-5.0)),
            ("12.5,0", Err(NotANumber), Err(NotANumber), Err(NotANumber)),
            ("1,2,3", Err(NotANumber), Err(NotANumber), Err(NotANumber)),
            ("12 34", Err(NotANumber), Err(NotANumber), Err(NotANumber)),
            ("1,25.5", Err(NotANumber), Err(NotANumber), Err(NotANumber)),
            ("1'23.5", Err(NotANumber), Err(NotANumber), Err(NotANumber)),
            (",5", Err(NotANumber), Err(NotANumber), Err(NotANumber)),
            ("NaN", Err(NotANumber), Err(NotANumber), Err(NotANumber)),
            ("inf", Err(NotANumber), Err(NotANumber), Err(NotANumber)),
            ("1e999", Err(NotANumber), Err(NotANumber), Err(NotANumber)),
            ("-", Err(NotANumber), Err(NotANumber), Err(NotANumber)),
            ("", Err(NotANumber), Err(NotANumber), Err(NotANumber)),
        ];
        for (text, point, comma, undecided) in cases {
            let found = [Point, Comma, Undecided].map(|style| number(text, style));

            assert_eq!(found, [point, comma, undecided], "{text}");
        }
    }

    #[test]
    fn a_price_may_say_its_currency() {
        let eur = "EUR".parse().ok();
        let cases = [
            ("12.50", Ok((12.5, None))),
            ("$12.50", Ok((12.5, Some(Currency::USD)))),
            ("US$ 1,200", Ok((1200.0, Some(Currency::USD)))),
            ("12,50 €", Ok((12.5, eur))),
            ("€1.234,50", Ok((1234.5, eur))),
            ("1 234,50 EUR", Ok((1234.5, eur))),
            ("CHF 1'234.-", Ok((1234.0, "CHF".parse().ok()))),
            ("EUR 12", Ok((12.0, eur))),
            ("$ 1.200", Err(Ambiguous)),
            ("€1.200", Err(Ambiguous)),
            ("¥12", Err(NotANumber)),
            ("cheap", Err(NotANumber)),
            ("EUR 12 USD", Err(NotANumber)),
            ("-", Err(NotANumber)),
        ];
        for (text, expected) in cases {
            assert_eq!(money(text, Undecided), expected, "{text}");
        }
    }

    #[test]
    fn a_range_is_its_upper_end() {
        let usd = |amount| Ok(Some((amount, None)));
        let cases = [
            ("50 - 100", usd(100.0)),
            ("50-100", usd(100.0)),
            ("1.000-2.000,50", usd(2000.5)),
            ("< 50", usd(50.0)),
            ("75", usd(75.0)),
            ("> 500", Ok(None)),
            ("dear", Err(NotANumber)),
            ("-5", usd(-5.0)),
        ];
        for (text, expected) in cases {
            let style = if text.contains(',') { Comma } else { Point };
            assert_eq!(parse_price_range(text, style), expected, "{text}");
        }
    }

    #[test]
    fn a_style_is_what_all_telling_values_have() {
        let style = |fields: &[&str]| {
            let mut evidence = StyleEvidence::default();
            fields.iter().for_each(|field| evidence.see(field));
            evidence.style()
        };

        assert_eq!(style(&["1.234", "12,50", "7"]), Comma);
        assert_eq!(style(&["$ 1,234", "0.5 g"]), Point);
        assert_eq!(style(&["12.5 - 13.5 €"]), Point);
        assert_eq!(style(&["1.234", "5"]), Undecided);
        assert_eq!(style(&["12.5", "12,5"]), Undecided);
    }
}
