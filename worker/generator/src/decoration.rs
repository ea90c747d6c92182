//! Decoration of parts by strings that begin with them (PromptSMILES, Thomas et al., J. Cheminform. 2024).
//!
//! A part is written so that its string ends at its first attachment point, and the model goes on from there. Then
//! the molecule is written anew so that it ends at the next point. A model knows some spellings better than others:
//! the first prompt is the spelling of the highest likelihood, a later one that of the fewest tokens. Rings that are
//! opened in a branch and closed after it count against a spelling: toolkits hardly write them, and a model that has
//! not seen any takes the number that closes one for a new ring.

use std::sync::Arc;

use chem::{Molecule, OpenMolecule, Part, Token};

use crate::{
    SampleError,
    engine::{NetworkEngine, SavedState},
    fixed_parts::FixedParts,
    likelihood::negative_log_likelihoods,
    prompt::{self, Prompt},
    vocabulary::Vocabulary,
};

/// Ways through a part whose spellings are compared for the first prompt, and for each later one.
const WAYS: (usize, usize) = (16, 3);
/// Cost of a ring that is opened in a branch and closed after it, in nats or tokens.
const RING_ACROSS_BRANCH: usize = 8;

/// Parts prepared for a model.
#[derive(Debug)]
pub(crate) struct Decoration {
    fixed: FixedParts,
    first: Arc<Prompt>,
}

/// Continuation of a string whose substituent is complete.
#[derive(Debug)]
pub(crate) enum NextStage {
    /// All points have substituents.
    Complete,
    /// The molecule is written anew, and the next substituent follows.
    Prompt(OpenMolecule, Arc<Prompt>),
    /// The string does not go on as a substituent.
    Failed,
}

impl Decoration {
    /// Prepares the parts for strings of at most `max_length` tokens.
    ///
    /// # Errors
    /// Fails if the model cannot write a part, or if the network fails.
    pub(crate) fn new(
        fixed: &FixedParts,
        engine: &NetworkEngine,
        vocabulary: &Vocabulary,
        max_length: usize,
    ) -> Result<Self, SampleError> {
        let unwritable = |part: &Part| SampleError::Unwritable { part: part.as_canonical().to_owned() };
        if let Some(part) = fixed.parts().iter().find(|part| !is_writable(part, vocabulary, max_length)) {
            return Err(unwritable(part));
        }
        let spellings = fixed.parts()[0].open().endings(WAYS.0).into_iter();
        let encoded = spellings.filter_map(|text| Some((beginning(&text, vocabulary, max_length)?, text)));
        let (strings, texts): (Vec<_>, Vec<_>) = encoded.unzip();
        let mut losses = negative_log_likelihoods(engine, vocabulary.len(), &strings)?;
        for (loss, text) in losses.iter_mut().zip(&texts) {
            *loss += (RING_ACROSS_BRANCH * rings_across_branches(text)) as f64;
        }
        let best = (0..losses.len()).min_by(|a, b| losses[*a].total_cmp(&losses[*b]));
        let prompt = best.and_then(|best| Prompt::new(texts[best].clone(), vocabulary));
        let prompt = prompt.ok_or_else(|| unwritable(&fixed.parts()[0]))?;
        let state = state_after(prompt.tokens(), engine, vocabulary)?;
        Ok(Self { fixed: fixed.clone(), first: Arc::new(prompt.with_state(state)) })
    }

    /// Returns the prompt that every string begins with.
    pub(crate) fn first(&self) -> &Arc<Prompt> {
        &self.first
    }

    /// Returns the fragments to be joined to a finished string, beside the one that it begins with.
    pub(crate) fn linked(&self) -> &[Part] {
        match &self.fixed {
            FixedParts::Scaffold(_) => &[],
            FixedParts::Fragments(fragments) => &fragments.parts()[1..],
        }
    }

    /// Returns the molecule that strings with the first prompt decorate.
    pub(crate) fn open(&self) -> &OpenMolecule {
        self.fixed.parts()[0].open()
    }

    /// Decides how a string with `prompt`, which decorates `open`, goes on after its end.
    pub(crate) fn after(
        &self,
        open: &OpenMolecule,
        prompt: &Prompt,
        text: &str,
        vocabulary: &Vocabulary,
    ) -> NextStage {
        if open.points() == 1 {
            return NextStage::Complete;
        }
        let Some(open) = text.strip_prefix(prompt.text()).and_then(|rest| open.continued(rest)) else {
            return NextStage::Failed;
        };
        let spellings = open.endings(WAYS.1).into_iter().filter_map(|text| {
            let tokens = prompt::encode(&text, vocabulary)?.len();
            Some((tokens + RING_ACROSS_BRANCH * rings_across_branches(&text), text))
        });
        let best = spellings.min_by_key(|(cost, _)| *cost);
        match best.and_then(|(_, text)| Prompt::new(text, vocabulary)) {
            Some(prompt) => NextStage::Prompt(open, Arc::new(prompt)),
            None => NextStage::Failed,
        }
    }

    /// Returns true if the molecule of a finished string contains all parts, with substituents at their points alone.
    ///
    /// If a part states configurations, all that the string states must be real: a centre with two equal
    /// substituents is none, and then a centre of the part may be lost.
    pub(crate) fn is_kept(&self, text: &str, molecule: &Molecule) -> bool {
        let parts = self.fixed.parts();
        let canonical = molecule.as_canonical();
        let keeps_stereo = || stereo(text) == stereo(canonical);
        !canonical.contains('.')
            && (!parts.iter().any(Part::has_stereo) || keeps_stereo())
            && parts.iter().all(|part| part.is_in(molecule))
    }
}

/// Returns true if the vocabulary can express the part, and strings of `max_length` tokens have room for it.
fn is_writable(part: &Part, vocabulary: &Vocabulary, max_length: usize) -> bool {
    part.open().endings(WAYS.0).iter().any(|text| beginning(text, vocabulary, max_length).is_some())
}

/// Encodes the beginning of a string, with the token that begins every string; `None` if the vocabulary cannot
/// express it, or there is no room for another token.
fn beginning(text: &str, vocabulary: &Vocabulary, max_length: usize) -> Option<Vec<u32>> {
    let mut tokens = vocabulary.encode(text)?;
    // The last token gives way to another, and then comes the end.
    (tokens.len() < max_length).then(|| {
        tokens.pop();
        tokens
    })
}

/// Returns the number of ring bonds that are opened in a branch and closed after it.
fn rings_across_branches(text: &str) -> usize {
    // Open rings: the number and the depth of the branch.
    let (mut open, mut depth, mut across): (Vec<(u32, usize)>, usize, usize) = (Vec::new(), 0, 0);
    for symbol in chem::tokens(text) {
        match symbol {
            Token::Open => depth += 1,
            Token::Close => depth -= 1,
            Token::Ring(number) => match open.iter().position(|(it, _)| *it == number) {
                Some(place) => {
                    let (_, opened_at) = open.swap_remove(place);
                    across += usize::from(opened_at > depth);
                }
                None => open.push((number, depth)),
            },
            _ => {}
        }
    }
    across
}

/// Returns the number of centres that a string states, and whether it states a double bond's configuration.
fn stereo(text: &str) -> (usize, bool) {
    let centres = text.split('[').filter(|atom| atom.contains('@')).count();
    (centres, text.contains(['/', '\\']))
}

/// Returns the network's state after the first token and all of `tokens` but the last; `None` without tokens, or if
/// the engine cannot save states.
fn state_after(
    tokens: &[u32],
    engine: &NetworkEngine,
    vocabulary: &Vocabulary,
) -> candle_core::Result<Option<SavedState>> {
    let Some((_, before)) = tokens.split_last() else { return Ok(None) };
    let mut state = engine.start(1)?;
    engine.step(&[vocabulary.bos()], &[true], &mut state)?;
    for token in before {
        engine.step(&[*token], &[false], &mut state)?;
    }
    let mut saved = SavedState::default();
    Ok(state.keep(0, &mut saved).then_some(saved))
}

#[cfg(test)]
mod tests {
    use super::rings_across_branches;

    #[test]
    fn a_ring_that_leaves_its_branch_is_counted() {
        for (text, count) in [
            ("c1ccccc1C(CC1)CCC1", 1),
            ("C1CC(c2ccccc2)CCC1", 0),
            ("c1ccc2c(c1)CCC2", 0),
            ("C(C1)(C2)CC12", 2),
            ("", 0),
        ] {
            assert_eq!(rings_across_branches(text), count, "{text}");
        }
    }
}
