//! Application of a script to a molecule: drafts every match and validates it.

use std::collections::HashSet;
use std::ops::ControlFlow;

use super::draft::Draft;
use super::judge::{self, Verdict};
use super::script::Script;
use crate::templates::matching::matcher;
use crate::templates::matching::target::Target;

/// Maximum number of matches of one template.
const MAX_MATCHES: usize = 1000;

/// The way in which a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// Every match was processed, or the maximum number.
    Done,
    /// The caller's time is up.
    Stopped,
    /// The callback stopped the run.
    Left,
}

/// Calls `each` with the draft and the matched atoms of every match that gives molecules, until it breaks. The draft
/// is `None` if a match needs the general path.
///
/// Matches that build the same thing on the same atoms are drafted once: a template with three equivalent groups (a
/// Boc group) matches six times at one place. `go_on` is called before each match.
pub(crate) fn run(
    script: &Script,
    target: &Target,
    go_on: &mut dyn FnMut() -> bool,
    mut each: impl FnMut(Option<&Draft>, &[u8]) -> ControlFlow<()>,
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
        let going = match judge::judge(script, target, &mut draft) {
            Verdict::Molecules => each(Some(&draft), images),
            Verdict::Nothing => ControlFlow::Continue(()),
            Verdict::Unsure => each(None, images),
        };
        if going.is_break() {
            end = End::Left;
        }
        going
    });
    end
}

/// Returns true if every molecule of the target takes part in the match.
fn reaches_all(target: &Target, images: &[u8]) -> bool {
    target.molecules < 2
        || (0..target.molecules).all(|molecule| {
            images.iter().any(|&image| usize::from(target.molecule_of[usize::from(image)]) == molecule)
        })
}
