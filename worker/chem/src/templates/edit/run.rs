//! Applying a script to a molecule: every match, every draft, judged.

use std::collections::HashSet;
use std::ops::ControlFlow;

use super::draft::Draft;
use super::judge::{self, Verdict};
use super::script::Script;
use crate::templates::matching::matcher;
use crate::templates::matching::target::Target;

/// Matches looked at before a template is taken to have said what it has to say.
const MAX_MATCHES: usize = 1000;

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// Every match was looked at, or as many as are allowed.
    Done,
    /// The caller's time is over.
    Stopped,
    /// A match needs the long way; what was found so far stands.
    Unsure,
}

/// Calls `each` with the draft of every match that gives molecules and the atoms matched, and goes the long way when it gives false.
///
/// Matches that build the same thing on the same atoms are drafted once: a template with three like groups (a Boc
/// group) matches six times in one place. `go_on` is asked before each match.
pub(crate) fn run(
    script: &Script,
    target: &Target,
    go_on: &mut dyn FnMut() -> bool,
    each: &mut dyn FnMut(&Draft, &[u8]) -> bool,
) -> End {
    let mut draft = Draft::default();
    let mut seen = HashSet::new();
    let mut matches = 0;
    let mut end = End::Done;
    matcher::matches(&script.query, target, &mut |images| {
        if !go_on() {
            end = End::Stopped;
            return ControlFlow::Break(());
        }
        if !reaches_all(target, images) {
            return ControlFlow::Continue(());
        }
        matches += 1;
        if matches > MAX_MATCHES {
            return ControlFlow::Break(());
        }
        if !seen.insert(script.signature(images)) {
            return ControlFlow::Continue(());
        }
        draft.fill(script, target, images);
        let sure = match judge::judge(script, target, &mut draft) {
            Verdict::Molecules => each(&draft, images),
            Verdict::Nothing => true,
            Verdict::Unsure => false,
        };
        if sure {
            return ControlFlow::Continue(());
        }
        end = End::Unsure;
        ControlFlow::Break(())
    });
    end
}

/// Whether every molecule of the target has a part in the match.
fn reaches_all(target: &Target, images: &[u8]) -> bool {
    target.molecules < 2
        || (0..target.molecules).all(|molecule| {
            images.iter().any(|&image| usize::from(target.molecule_of[usize::from(image)]) == molecule)
        })
}
