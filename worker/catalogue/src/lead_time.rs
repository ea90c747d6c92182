//! Lead times and destinations as vendors write them.
//!
//! A text that is not in these tables is a fault, because a wrong number of days would be trusted.
//!
//! | text | days |
//! |---|---|
//! | `5`, `5 days`, `5d` | 5 |
//! | `2-3 weeks`, `2 to 3 weeks`, `up to 3 weeks`, `within 3 weeks`, `~3 weeks`, `< 3 weeks` | the upper end, 21 |
//! | `1 month` | 30 |
//! | `3 business days`, `3 working days` | × 7/5, rounded up: 5 |
//! | `48 hours` | rounded up: 2 |
//! | `in stock`, `stock`, `on stock`, `available`, `immediate` | [`IN_STOCK_DAYS`] |
//! | nothing, `n/a`, `-`, `unknown`, `on request`, `tbd` | unknown |
//! | `no`, `does not ship`, `not available`, `unavailable` | the vendor does not ship there |

use crate::{number::plain_number, region::COUNTRIES};

/// Days assumed from an order to the delivery of a product in stock.
pub const IN_STOCK_DAYS: f64 = 3.0;

/// A vendor's statement about the lead time to a country.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LeadTime {
    /// Number of days.
    Days(f64),
    /// Not known.
    Unknown,
    /// The vendor does not ship there.
    DoesNotShip,
}

impl LeadTime {
    /// Parses a text by the table above; `None` if it is not listed. Letter case does not matter.
    #[must_use]
    pub fn of(text: &str) -> Option<Self> {
        let text = text.trim().to_lowercase().replace(['_', '\u{a0}'], " ");
        if let Some(days) = plain_number(&text) {
            return Some(Self::Days(days));
        }
        Some(match text.as_str() {
            "" | "n/a" | "na" | "-" | "?" | "unknown" | "on request" | "upon request" | "tbd" | "null"
            | "none" => Self::Unknown,
            "no" | "does not ship" | "not shipped" | "not available" | "unavailable" => Self::DoesNotShip,
            "in stock" | "in-stock" | "stock" | "on stock" | "available" | "immediate" | "immediately"
            | "same day" => Self::Days(IN_STOCK_DAYS),
            text => Self::Days(days_in(text)?),
        })
    }
}

/// Parses a number, or a range of which the upper end counts, and a unit into days.
fn days_in(text: &str) -> Option<f64> {
    let mut text = text.strip_suffix('.').unwrap_or(text);
    for before in ["up to", "within", "approx.", "approximately", "about", "ca.", "max.", "~", "<", "≤"] {
        text = text.strip_prefix(before).unwrap_or(text).trim_start();
    }
    let end = text.rfind(|character: char| character.is_ascii_digit())? + 1;
    let (amounts, unit) = (&text[..end], text[end..].trim());
    let amounts = amounts.replace(['–', '—'], "-").replace(" to ", "-");
    let upper = match amounts.split_once('-') {
        Some((low, high)) => {
            plain_number(low.trim()).zip(plain_number(high.trim())).filter(|(low, high)| low <= high)?.1
        }
        None => plain_number(amounts.trim())?,
    };
    Some(match unit {
        "h" | "hour" | "hours" => (upper / 24.0).ceil(),
        "d" | "day" | "days" | "calendar days" => upper,
        "bd" | "business day" | "business days" | "working day" | "working days" | "workdays" => {
            (upper * 7.0 / 5.0).ceil()
        }
        "w" | "wk" | "wks" | "week" | "weeks" => upper * 7.0,
        "mo" | "month" | "months" => upper * 30.0,
        _ => return None,
    })
}

/// Index of a country in [`COUNTRIES`], by its code in any letter case; `UK` means `GB`.
#[must_use]
pub(crate) fn country(code: &str) -> Option<usize> {
    let code = if code.eq_ignore_ascii_case("uk") { "GB" } else { code };
    COUNTRIES.iter().position(|known| known.eq_ignore_ascii_case(code))
}

/// Parses a statement about shipping to one country: `Some(None)` if the field says nothing, `None` if the text is
/// not understood.
#[must_use]
pub(crate) fn ships(text: &str) -> Option<Option<bool>> {
    Some(match text.trim().to_lowercase().as_str() {
        "yes" | "y" | "true" | "t" | "1" | "ships" => Some(true),
        "no" | "n" | "false" | "f" | "0" | "does not ship" => Some(false),
        "" | "unknown" | "n/a" | "?" | "null" => None,
        _ => return None,
    })
}

/// Parses a list of destination codes: `US, CA`, `worldwide`. Countries that are not in the list are not served;
/// codes of countries outside [`COUNTRIES`] are ignored.
#[must_use]
pub(crate) fn destinations(text: &str) -> Option<[Option<bool>; 8]> {
    if ["worldwide", "all", "*"].contains(&text.to_lowercase().as_str()) {
        return Some([Some(true); 8]);
    }
    let mut served = [Some(false); 8];
    let list = text.trim_matches(['[', ']']);
    for code in list.split(|character: char| ",;|/\"'".contains(character) || character.is_whitespace()) {
        let is_code = code.len() == 2 && code.bytes().all(|byte| byte.is_ascii_alphabetic());
        match country(code) {
            _ if code.is_empty() => {}
            Some(place) => served[place] = Some(true),
            None if is_code => {}
            None => return None,
        }
    }
    Some(served)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lead_times_are_read_by_the_table() {
        use LeadTime::{Days, DoesNotShip, Unknown};
        let cases = [
            ("5", Some(Days(5.0))),
            ("7.5", Some(Days(7.5))),
            ("5 days", Some(Days(5.0))),
            ("5d", Some(Days(5.0))),
            ("2-3 weeks", Some(Days(21.0))),
            ("2 – 3 Weeks", Some(Days(21.0))),
            ("2 to 3 weeks", Some(Days(21.0))),
            ("Up to 3 weeks.", Some(Days(21.0))),
            ("1 month", Some(Days(30.0))),
            ("3 business days", Some(Days(5.0))),
            ("5-10 working days", Some(Days(14.0))),
            ("48 hours", Some(Days(2.0))),
            ("In stock", Some(Days(IN_STOCK_DAYS))),
            ("on request", Some(Unknown)),
            ("Does not ship", Some(DoesNotShip)),
            ("3-2 weeks", None),
            ("> 4 weeks", None),
            ("4+ weeks", None),
            ("soon", None),
            ("three weeks", None),
            ("2 fortnights", None),
        ];
        for (text, expected) in cases {
            assert_eq!(LeadTime::of(text), expected, "{text}");
        }
    }

    #[test]
    fn a_list_of_destinations_says_where_it_does_not_ship() {
        let served = |codes: &[&str]| COUNTRIES.map(|code| Some(codes.contains(&code)));
        assert_eq!(destinations("US; ca, UK,JP"), Some(served(&["US", "CA", "GB"])));
        assert_eq!(destinations("[\"DE\",\"FR\"]"), Some(served(&["DE", "FR"])));
        assert_eq!(destinations("worldwide"), Some([Some(true); 8]));
        assert_eq!(destinations("Europe"), None);
    }
}
