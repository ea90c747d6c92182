//! Application of a script to a molecule: drafts every match and validates it.

use std::collections::HashSet;
use std::ops::ControlFlow;

use super::draft::DraftGraph;
use super::script::Script;
use super::validate::{self, Validity};
use crate::templates::matching::matcher;
use crate::templates::matching::target::MatchTarget;

/// Maximum number of matches of one template.
const MAX_MATCHES: usize = 1000;

/// The way in which a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunEnd {
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
/// Boc group) matches six times at one place. `should_continue` is called before each match.
pub(crate) fn run(
    script: &Script,
    target: &MatchTarget,
    should_continue: &mut dyn FnMut() -> bool,
    mut each: impl FnMut(Option<&DraftGraph>, &[u8]) -> ControlFlow<()>,
) -> RunEnd {
    let mut draft = DraftGraph::default();
    let mut seen = HashSet::new();
    let mut matches = 0;
    let mut end = RunEnd::Done;
    matcher::matches(&script.query, target, &mut |images| {
        if !should_continue() {
            end = RunEnd::Stopped;
            return ControlFlow::Break(());
        }
        if !covers_all_molecules(target, images) {
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
        let going = match validate::validate(script, target, &mut draft) {
            Validity::Molecules => each(Some(&draft), images),
            Validity::Nothing => ControlFlow::Continue(()),
            Validity::Unsure => each(None, images),
        };
        if going.is_break() {
            end = RunEnd::Left;
        }
        going
    });
    end
}

/// Returns true if every molecule of the target takes part in the match.
fn covers_all_molecules(target: &MatchTarget, images: &[u8]) -> bool {
    target.molecules < 2
        || (0..target.molecules).all(|molecule| {
            images.iter().any(|&image| usize::from(target.molecule_of[usize::from(image)]) == molecule)
        })
}
