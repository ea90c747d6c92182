//! Doc comments begin with a noun phrase or a verb in the third person.

use repository::{files, text};

/// Question words and a pronoun, which make a reader guess the noun that is meant.
const FORBIDDEN: [&str; 10] =
    ["What", "Who", "Whoever", "Whose", "Whether", "How", "Why", "Where", "When", "It"];

/// Returns the first lines of the doc comments in `source` that begin with such a word, with their line numbers.
fn offending(source: &str) -> Vec<(usize, &str)> {
    let mut inside = false;
    let mut found = Vec::new();
    for (number, line) in (1..).zip(source.lines()) {
        let line = line.trim_start();
        let comment = ["//!", "///"].iter().find_map(|prefix| line.strip_prefix(prefix));
        let begins = comment.is_some() && !inside;
        inside = comment.is_some();
        let Some(comment) = comment.filter(|_| begins) else { continue };
        let word = comment.split_whitespace().next().unwrap_or_default();
        if FORBIDDEN.contains(&word) {
            found.push((number, line));
        }
    }
    found
}

#[test]
fn no_doc_comment_begins_with_a_question_word() {
    let mut found = Vec::new();
    for file in files("").into_iter().filter(|file| file.ends_with(".rs")) {
        let source = text(&file);
        found.extend(offending(&source).into_iter().map(|(number, line)| format!("{file}:{number}: {line}")));
    }
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn only_the_first_line_of_a_comment_counts() {
    let source = "/// What it is.\nfn one() {}\n\n/// The sum,\n/// What follows is free.\nfn two() {}\n    //! Whether it is.\n";
    assert_eq!(offending(source), [(1, "/// What it is."), (7, "//! Whether it is.")]);
}
