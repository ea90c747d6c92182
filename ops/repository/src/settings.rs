//! Table of settings in `ops/guide/settings.md`, for the tests that compare it with the code that reads them.

use crate::text;

/// Row of the table; a row of several names is several of these.
#[derive(Debug)]
pub struct Setting {
    /// Heading of the table's section.
    pub section: String,
    /// Name of the variable.
    pub name: String,
    default: String,
    range: String,
}

/// All settings of the page, in its order.
#[must_use]
pub fn settings() -> Vec<Setting> {
    read(&text("ops/guide/settings.md"))
}

fn read(page: &str) -> Vec<Setting> {
    let mut settings = Vec::new();
    for part in page.split("\n## ").skip(1) {
        let section = part.lines().next().unwrap_or_default();
        let mut rows = part.lines().filter(|line| line.starts_with('|')).map(cells);
        let mut header = Vec::new();
        for row in rows.by_ref() {
            if row[0] == "setting" {
                header = row;
                continue;
            }
            let cell = |name| header.iter().position(|cell| *cell == name).map_or("", |column| row[column]);
            for name in row[0].split(", ").filter(|name| name.starts_with('`')) {
                settings.push(Setting {
                    section: section.to_owned(),
                    name: name.trim_matches('`').to_owned(),
                    default: cell("default").to_owned(),
                    range: cell("range or values").to_owned(),
                });
            }
        }
    }
    settings
}

fn cells(line: &str) -> Vec<&str> {
    line.trim_matches('|').split('|').map(str::trim).collect()
}

/// Text in backticks, if `cell` is nothing else.
fn quoted(cell: &str) -> Option<&str> {
    let inside = cell.strip_prefix('`')?.strip_suffix('`')?;
    (!inside.contains('`')).then_some(inside)
}

/// Number that `text` begins with.
fn number(text: &str) -> Option<u64> {
    let digits: String = text.chars().take_while(|digit| digit.is_ascii_digit() || *digit == ',').collect();
    digits.replace(',', "").parse().ok()
}

impl Setting {
    /// Default as a value that can be set; `None` where the page explains it in words or names another setting.
    #[must_use]
    pub fn default(&self) -> Option<String> {
        let value =
            quoted(&self.default).filter(|text| !text.contains(|letter: char| letter.is_ascii_uppercase()));
        // A number per thread depends on the machine.
        let is_fixed = !self.default.contains(" per ");
        value.map(str::to_owned).or_else(|| Some(number(&self.default).filter(|_| is_fixed)?.to_string()))
    }

    /// Values that the page allows and values that it excludes: the ends of a range and their neighbours, or choices.
    #[must_use]
    pub fn examples(&self) -> (Vec<String>, Vec<String>) {
        let range = self.range.split(';').next().unwrap_or_default();
        let choices: Option<Vec<_>> = range.split(", ").map(quoted).collect();
        let is_word = |text: &&str| text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
        if let Some(choices) = choices.filter(|choices| choices.iter().all(is_word)) {
            return (choices.into_iter().map(str::to_owned).collect(), vec!["no_choice".to_owned()]);
        }
        let (zero, rest) = match range.strip_prefix("0, ") {
            Some(rest) => (Some(0), rest),
            None => (None, range),
        };
        let (least, most) = match rest.split_once(" to ") {
            Some((least, most)) => (number(least), number(most)),
            None => (number(rest).filter(|_| rest.ends_with(" or more")), None),
        };
        let below = match rest.starts_with("over 0") {
            true => Some(0),
            false => least.and_then(|least| least.checked_sub(1)).filter(|below| zero != Some(*below)),
        };
        let texts = |numbers: [Option<u64>; 3]| {
            numbers.into_iter().flatten().map(|number| number.to_string()).collect()
        };
        (texts([zero, least, most]), texts([below, most.map(|most| most + 1), None]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_give_defaults_and_the_ends_of_ranges() {
        let page = "# Settings\n\n## API: x\n\n| setting | default | range or values | meaning |\n|---|---|---|---|\n\
                    | `A`, `B` | 2,592,000 (30 days) | 1 to 86,400 | x |\n| `C` | `A` | 0, 366 to 36,600 | x |\n\
                    | `D` | `on` | `on`, `off` | x |\n| `E` | none | over 0, to 5 | x |\n| `F` | 34; worker: more | 6 or more; y | x |\n";

        let read: Vec<_> = read(page)
            .into_iter()
            .map(|row| {
                let (allowed, excluded) = row.examples();
                (row.name.clone(), row.default().unwrap_or_default(), allowed.join(" "), excluded.join(" "))
            })
            .collect();

        let expected = [
            ("A", "2592000", "1 86400", "0 86401"),
            ("B", "2592000", "1 86400", "0 86401"),
            ("C", "", "0 366 36600", "365 36601"),
            ("D", "on", "on off", "no_choice"),
            ("E", "", "5", "0 6"),
            ("F", "34", "6", "5"),
        ];
        let expected = expected.map(|(name, default, allowed, excluded)| {
            (name.to_owned(), default.to_owned(), allowed.to_owned(), excluded.to_owned())
        });
        assert_eq!(read, expected);
    }
}
