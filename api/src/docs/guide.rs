//! Guides of users and operators at `/docs/guide`, from the Markdown in `api/guide` and `ops/guide`.
//!
//! The pages are in the binary, since a release has no checkout. They are rendered once and need no script. Only the
//! search does: it looks through `/docs/guide.json` in the browser.

use std::sync::LazyLock;

use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde_json::{Value, json};

use super::markdown::{LinkTarget, Rendered, render};
use crate::embedded::{File, HTML, JSON};

/// Markdown file of the repository.
struct Source {
    /// Path from the repository's root.
    file: &'static str,
    address: &'static str,
    text: &'static str,
}

macro_rules! page {
    ($folder:literal, $name:literal, $address:literal) => {
        Source {
            file: concat!($folder, "/", $name, ".md"),
            address: $address,
            text: include_str!(concat!("../../../", $folder, "/", $name, ".md")),
        }
    };
}

const FOR_USERS: &[Source] = &[
    page!("api/guide", "index", "/docs/guide"),
    page!("api/guide", "sampling", "/docs/guide/sampling"),
    page!("api/guide", "conditions", "/docs/guide/conditions"),
    page!("api/guide", "planning", "/docs/guide/planning"),
    page!("api/guide", "constraints", "/docs/guide/constraints"),
    page!("api/guide", "batches", "/docs/guide/batches"),
    page!("api/guide", "bulk-queries", "/docs/guide/bulk-queries"),
    page!("api/guide", "catalogue", "/docs/guide/catalogue"),
    page!("api/guide", "files", "/docs/guide/files"),
    page!("api/guide", "models", "/docs/guide/models"),
    page!("api/guide", "console", "/docs/guide/console"),
    page!("api/guide", "python", "/docs/guide/python"),
    page!("api/guide", "cli", "/docs/guide/cli"),
    page!("api/guide", "plug-ins", "/docs/guide/plug-ins"),
    page!("api/guide", "errors", "/docs/guide/errors"),
];

const FOR_OPERATORS: &[Source] = &[
    page!("ops/guide", "index", "/docs/guide/operators"),
    page!("ops/guide", "install", "/docs/guide/operators/install"),
    page!("ops/guide", "settings", "/docs/guide/operators/settings"),
    page!("ops/guide", "scale", "/docs/guide/operators/scale"),
    page!("ops/guide", "upgrade", "/docs/guide/operators/upgrade"),
    page!("ops/guide", "backup", "/docs/guide/operators/backup"),
    page!("ops/guide", "identity", "/docs/guide/operators/identity"),
    page!("ops/guide", "observability", "/docs/guide/operators/observability"),
    page!("ops/guide", "incidents", "/docs/guide/operators/incidents"),
    page!("ops/guide", "jobs", "/docs/guide/operators/jobs"),
    page!("ops/guide", "database", "/docs/guide/operators/database"),
    page!("ops/guide", "capacity", "/docs/guide/operators/capacity"),
];

static RENDERED: LazyLock<Vec<(&Source, Rendered)>> = LazyLock::new(|| {
    sources().map(|source| (source, render(source.text, |link| target(source, link)))).collect()
});

/// Address and HTML of each page.
static PAGES: LazyLock<Vec<(&str, String)>> = LazyLock::new(|| {
    let documents = RENDERED.iter();
    documents
        .map(|(source, page)| (source.address, document(source, page, &RENDERED).into_string()))
        .collect()
});

/// Sections of all pages, as JSON.
static INDEX: LazyLock<String> = LazyLock::new(|| {
    let sections = RENDERED.iter().flat_map(|(source, page)| {
        page.sections.iter().map(move |section| {
            let words: Vec<_> = section.text.split_whitespace().collect();
            json!({
                "address": format!("{}#{}", source.address, section.anchor),
                "page": page.title(),
                "heading": section.heading,
                "text": words.join(" "),
            })
        })
    });
    Value::from_iter(sections).to_string()
});

/// Returns all pages of the guides and the index of the search.
pub fn files() -> impl Iterator<Item = File> {
    let pages = PAGES.iter().map(|(address, html)| (*address, HTML, html.as_str()));
    pages.chain([("/docs/guide.json", JSON, INDEX.as_str())])
}

fn sources() -> impl Iterator<Item = &'static Source> {
    FOR_USERS.iter().chain(FOR_OPERATORS)
}

/// Resolves `link` in the Markdown of `source`.
fn target(source: &Source, link: &str) -> LinkTarget {
    if link.starts_with('#') || link.contains("://") {
        return LinkTarget::Address(link.to_owned());
    }
    let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
    let mut parts: Vec<_> = source.file.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        match part {
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    let file = parts.join("/");
    match sources().find(|page| page.file == file) {
        Some(page) if anchor.is_empty() => LinkTarget::Address(page.address.to_owned()),
        Some(page) => LinkTarget::Address(format!("{}#{anchor}", page.address)),
        None if anchor.is_empty() => LinkTarget::File(file),
        None => LinkTarget::File(format!("{file}#{anchor}")),
    }
}

/// Returns the page's document, with the contents of the guides beside its text.
fn document(source: &Source, page: &Rendered, all: &[(&Source, Rendered)]) -> Markup {
    let (users, operators) = all.split_at(FOR_USERS.len());
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (page.title()) " · Retort" }
                link rel="stylesheet" href="/docs/reference.css";
                script src="/docs/guide.js" type="module" {}
            }
            body {
                a.skip href="#main" { "Skip to the page" }
                header {
                    p { a href="/" { "Retort" } " · " a href="/docs/guide" { "Guide" } " · " a href="/docs" { "API reference" } }
                }
                .columns {
                    nav aria-label="Contents" {
                        form #search role="search" hidden {
                            label { "Search the guide" input #query type="search" autocomplete="off"; }
                            ul #found aria-live="polite" {}
                        }
                        details #contents {
                            summary { "Contents" }
                            ul {
                                li { "For users" (contents(users, source)) }
                                li { "For operators" (contents(operators, source)) }
                            }
                        }
                    }
                    main #main { (PreEscaped(&page.html)) }
                }
            }
        }
    }
}

/// Returns links to `pages`, and below the `current` one links to its sections.
fn contents(pages: &[(&Source, Rendered)], current: &Source) -> Markup {
    html! {
        ul {
            @for (source, page) in pages {
                @let is_current = source.address == current.address;
                li {
                    a href=(source.address) aria-current=[is_current.then_some("page")] { (page.title()) }
                    @if is_current {
                        ul {
                            @for section in page.sections.iter().filter(|section| section.level == 2) {
                                li { a href={ "#" (section.anchor) } { (section.heading) } }
                            }
                        }
                    }
                }
            }
        }
    }
}
