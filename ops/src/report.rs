//! Routes as a page that is kept, sent and printed.
//!
//! The page is drawn by the console's own modules (`api/console/report.js` and what it imports), which are in it as `data:` addresses that
//! an import map names, beside the answers as JSON. So there is one source for how a route looks, no bundler, and a file that asks for
//! nothing: its policy lets only these scripts run, by their hashes. Without scripts it shows the routes as text.

use std::collections::BTreeMap;

use anyhow::Context as _;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use maud::{DOCTYPE, PreEscaped, html};
use sha2::{Digest as _, Sha256};

use crate::{failure::Failure, planned::Planned, route_tree};

/// What modules call each other in the page, whose own address says nothing to a module in a `data:` address.
const PREFIX: &str = "console/";

/// A module by its name.
macro_rules! module {
    ($name:literal) => {
        ($name, include_str!(concat!("../../api/console/", $name, ".js")))
    };
}

/// The modules of the report.
const MODULES: [(&str, &str); 15] = [
    module!("answer"),
    module!("constraints"),
    module!("csv"),
    module!("drawing"),
    module!("elements"),
    module!("nothing"),
    module!("orientation"),
    module!("paper"),
    module!("picture"),
    module!("reacting"),
    module!("report"),
    module!("scheme"),
    module!("shopping"),
    module!("words"),
    ("openchemlib", include_str!("../../api/console/vendor/openchemlib/openchemlib.js")),
];

/// What it looks like: the console's tokens and drawings, and the page.
const STYLE: &str = concat!(
    include_str!("../../api/console/console.css"),
    include_str!("../../api/console/plan.css"),
    include_str!("../../api/console/report.css"),
);

/// The report of `planned`, one target or several.
///
/// # Errors
/// Fails where an answer cannot be written as JSON.
pub fn page(planned: &[Planned]) -> Result<String, Failure> {
    let answers = serde_json::to_string(planned).context("writing the answers into the report")?;
    // A script's text ends at the first `</script`, whatever JSON thinks of it.
    let answers = answers.replace('<', "\\u003c");
    let modules = import_map()?;
    let start = format!("import \"{PREFIX}report.js\";");
    let policy = format!(
        "default-src 'none'; script-src {} {} data:; style-src {}; img-src data:; base-uri 'none'; form-action 'none'",
        hash(&modules),
        hash(&start),
        hash(STYLE)
    );
    let title = match planned {
        [one] => format!("Routes to {}", one.name.as_deref().unwrap_or_else(|| one.smiles())),
        several => format!("Routes to {} targets", several.len()),
    };
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta http-equiv="content-security-policy" content=(policy);
                title { (title) }
                style { (PreEscaped(STYLE)) }
                script type="importmap" { (PreEscaped(&modules)) }
            }
            body .report {
                main #report {}
                noscript { pre { (text(planned)) } }
                script #answers type="application/json" { (PreEscaped(&answers)) }
                script type="module" { (PreEscaped(&start)) }
            }
        }
    };
    Ok(page.into_string())
}

/// The modules by what they are called, as addresses that hold them.
fn import_map() -> Result<String, Failure> {
    let address = |(name, text): &(&str, &str)| {
        let text = text.replace("from \"./", &format!("from \"{PREFIX}"));
        (format!("{PREFIX}{name}.js"), format!("data:text/javascript;base64,{}", STANDARD.encode(text)))
    };
    let imports: BTreeMap<String, String> = MODULES.iter().map(address).collect();
    let map = serde_json::to_string(&BTreeMap::from([("imports", imports)]));
    Ok(map.context("writing the report's modules")?)
}

/// What a policy calls a script or a style sheet whose text is this (Content Security Policy Level 3, section 2.3.1).
fn hash(text: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)))
}

/// The routes for who runs no scripts.
fn text(planned: &[Planned]) -> String {
    let one = |planned: &Planned| match &planned.outcome {
        Ok(answer) => route_tree::render(answer, planned.asked.ships_to),
        Err(why) => format!("{}\n{why}\n", planned.smiles()),
    };
    planned.iter().map(one).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests;
