//! Numbers as vendors write them.

use crate::currency::Currency;

/// Parses a number: `1250`, `1,250.50`, `12,5`.
///
/// Commas followed by three digits each separate thousands; a single comma followed by one or two digits, without a
/// point, is a decimal comma. Infinite values and NaN are rejected.
#[must_use]
pub(crate) fn number(text: &str) -> Option<f64> {
    let finite = |text: &str| text.parse().ok().filter(|number: &f64| number.is_finite());
    if !text.contains(',') {
        return finite(text);
    }
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let mut groups = whole.trim_start_matches(['-', '+']).split(',');
    let digits = |group: &str| !group.is_empty() && group.bytes().all(|byte| byte.is_ascii_digit());
    let first = groups.next().filter(|first| digits(first))?;
    let groups: Vec<&str> = groups.collect();
    if first.len() <= 3 && groups.iter().all(|group| group.len() == 3 && digits(group)) {
        return finite(&text.replace(',', ""));
    }
    let is_decimal = fraction.is_empty() && !text.contains('.');
    match groups[..] {
        [decimals] if is_decimal && decimals.len() <= 2 && digits(decimals) => {
            finite(&text.replace(',', "."))
        }
        _ => None,
    }
}

/// Parses a price and the currency written beside it: `12.50`, `$12.50`, `12,50 €`, `EUR 12`.
#[must_use]
pub(crate) fn money(text: &str) -> Option<(f64, Option<Currency>)> {
    if let Some(amount) = number(text) {
        return Some((amount, None));
    }
    let text = text.strip_prefix("US$").map_or(text, |rest| &text[text.len() - rest.len() - 1..]);
    let begin = text.find(|character: char| character.is_ascii_digit() || ".-+".contains(character))?;
    let end = text.rfind(|character: char| character.is_ascii_digit() || character == '.')? + 1;
    let amount = number(text.get(begin..end)?)?;
    let currency = match (text[..begin].trim(), text[end..].trim()) {
        (code, "") | ("", code) => code.parse().ok()?,
        _ => return None,
    };
    Some((amount, Some(currency)))
}

/// Parses the upper end of a price range (`50 - 100`, `< 50`) or a single price. `Some(None)` is a range without an
/// upper end (`> 100`).
#[must_use]
pub(crate) fn parse_price_range(text: &str) -> Option<Option<(f64, Option<Currency>)>> {
    if text.starts_with(['>', '≥']) {
        return Some(None);
    }
    let text = text.trim_start_matches(['<', '≤', '=']).trim();
    if let Some(price) = money(text) {
        return Some(Some(price));
    }
    let (low, high) = text.split_once(['-', '–'])?;
    money(low.trim())?;
    money(high.trim()).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comma_is_a_thousand_or_a_decimal_one() {
        let cases = [
            ("12.5", Some(12.5)),
            ("1e3", Some(1000.0)),
            ("1,250", Some(1250.0)),
            ("1,250,000.5", Some(1_250_000.5)),
            ("-1,250", Some(-1250.0)),
            ("12,5", Some(12.5)),
            ("12,50", Some(12.5)),
            ("1,2,3", None),
            ("1234,5678", None),
            (",5", None),
            ("1,25.5", None),
            ("NaN", None),
            ("inf", None),
            ("", None),
        ];
        for (text, expected) in cases {
            assert_eq!(number(text), expected, "{text}");
        }
    }

    #[test]
    fn a_price_may_say_its_currency() {
        let eur = "EUR".parse().ok();
        let cases = [
            ("12.50", Some((12.5, None))),
            ("$12.50", Some((12.5, Some(Currency::USD)))),
            ("US$ 1,200", Some((1200.0, Some(Currency::USD)))),
            ("12,50 €", Some((12.5, eur))),
            ("EUR 12", Some((12.0, eur))),
            ("¥12", None),
            ("cheap", None),
            ("EUR 12 USD", None),
            ("-", None),
        ];
        for (text, expected) in cases {
            assert_eq!(money(text), expected, "{text}");
        }
    }

    #[test]
    fn a_range_is_its_upper_end() {
        let usd = |amount| Some(Some((amount, None)));
        let cases = [
            ("50 - 100", usd(100.0)),
            ("50-100", usd(100.0)),
            ("< 50", usd(50.0)),
            ("75", usd(75.0)),
            ("> 500", Some(None)),
            ("dear", None),
            ("-5", usd(-5.0)),
        ];
        for (text, expected) in cases {
            assert_eq!(parse_price_range(text), expected, "{text}");
        }
    }
}
