//! Settings page of the operator's guide: it has the API's names, defaults and ranges as the code has them.

use std::collections::BTreeSet;

use api::config::Config;
use repository::{Setting, settings, text};

/// Returns the settings of a process with one variable beside the database, as text; the error if they are refused.
fn config(name: &str, value: &str) -> Result<String, String> {
    let database = ("DATABASE_URL".to_owned(), "postgres://db/retort".to_owned());
    let variables = [database, (name.to_owned(), value.to_owned())].into();
    Config::from_variables(&variables).map(|config| format!("{config:?}")).map_err(|error| error.to_string())
}

/// Returns the variables that the code reads.
fn names() -> BTreeSet<String> {
    let code = ["api/src/config.rs", "api/src/config/reader.rs"].map(text);
    let code = code.iter().filter_map(|text| text.split("#[cfg(test)]").next());
    let literals = code.flat_map(|text| text.split('"').skip(1).step_by(2));
    let is_name =
        |text: &&str| text.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_') && text.len() > 3;
    literals.filter(is_name).map(str::to_owned).collect()
}

/// Returns the page's rows that the API reads.
fn rows() -> Vec<Setting> {
    let names = names();
    settings().into_iter().filter(|row| names.contains(&row.name)).collect()
}

#[test]
fn the_page_has_every_setting_of_the_api_and_no_other() {
    let page = settings();
    let of_the_api = page.iter().filter(|row| row.section.starts_with("API: ")).map(|row| row.name.clone());
    let of_both = page.iter().filter(|row| row.section == "API and workers").map(|row| row.name.clone());
    let of_both: BTreeSet<_> = of_both.collect();

    let expected: BTreeSet<_> = names().into_iter().filter(|name| !of_both.contains(name)).collect();

    assert!(expected.len() > 30, "{expected:?}");
    assert_eq!(of_the_api.collect::<BTreeSet<_>>(), expected);
}

#[test]
fn a_setting_at_the_pages_default_is_as_if_it_were_unset() {
    let unset = config("NO_SETTING", "").unwrap();
    let mut compared = 0;
    for row in rows() {
        let Some(default) = row.default() else { continue };

        assert_eq!(config(&row.name, &default), Ok(unset.clone()), "{}: {default}", row.name);
        // Another value makes a difference, or the comparison would mean nothing.
        let another = row.examples().0.into_iter().rfind(|value| *value != default);
        let another = another.or_else(|| Some((default.parse::<u64>().ok()? + 1).to_string()));
        if let Some(another) = another {
            assert_ne!(config(&row.name, &another).as_ref(), Ok(&unset), "{}: {another}", row.name);
            compared += 1;
        }
    }
    assert!(compared > 25, "{compared}");
}

#[test]
fn values_are_allowed_and_refused_as_the_page_says() {
    let mut refused = 0;
    for row in rows() {
        let (allowed, excluded) = row.examples();
        for value in allowed {
            assert!(config(&row.name, &value).is_ok(), "{}: {value} is refused", row.name);
        }
        for value in excluded {
            let fault = config(&row.name, &value).expect_err(&row.name);
            assert!(fault.contains(&row.name), "{}: {fault}", row.name);
            refused += 1;
        }
    }
    assert!(refused > 25, "{refused}");
}
