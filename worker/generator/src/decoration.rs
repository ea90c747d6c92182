//! Decoration of parts by strings that begin with them (PromptSMILES, Thomas et al., J. Cheminform. 2024).
//!
//! A part is written so that its string ends at its first attachment point, and the model goes on from there. Then
//! the molecule is written anew so that it ends at the next point. A model knows some spellings better than others:
//! the first prompt is the spelling of the highest likelihood, a later one that of the fewest tokens.

use std::sync::Arc;

use chem::{Molecule, OpenMolecule, Part};

use crate::{
    engine::{NetworkEngine, SavedState},
    fixed_parts::FixedParts,
    likelihood::negative_log_likelihoods,
    prompt::{self, Prompt},
    vocabulary::Vocabulary,
};

/// Spellings of a part that are compared for the first prompt, and for each later one.
const SPELLINGS: (usize, usize) = (48, 6);

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
    /// Prepares the parts; `None` if the model's vocabulary cannot express the first, or no string of `max_length`
    /// tokens has room for it.
    pub(crate) fn new(
        fixed: &FixedParts,
        engine: &NetworkEngine,
        vocabulary: &Vocabulary,
        max_length: usize,
    ) -> candle_core::Result<Option<Self>> {
        let spellings = fixed.parts()[0].open().endings(SPELLINGS.0);
        let with_tokens = |text: String| {
            let tokens = prompt::encode(&text, vocabulary)?;
            // The tokens that begin and end a string, and one to draw.
            let has_room = tokens.len() + 3 <= max_length;
            has_room.then(|| (text, [&[vocabulary.bos()][..], &tokens].concat()))
        };
        let (texts, strings): (Vec<_>, Vec<_>) = spellings.into_iter().filter_map(with_tokens).unzip();
        let losses = negative_log_likelihoods(engine, vocabulary.len(), &strings)?;
        let best = (0..losses.len()).min_by(|a, b| losses[*a].total_cmp(&losses[*b]));
        let Some(prompt) = best.and_then(|best| Prompt::new(texts[best].clone(), vocabulary)) else {
            return Ok(None);
        };
        let state = state_after(prompt.tokens(), engine, vocabulary)?;
        Ok(Some(Self { fixed: fixed.clone(), first: Arc::new(prompt.with_state(state)) }))
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
        let spellings = open.endings(SPELLINGS.1).into_iter().filter_map(|text| {
            let tokens = prompt::encode(&text, vocabulary)?.len();
            Some((tokens, text))
        });
        let shortest = spellings.min_by_key(|(tokens, _)| *tokens);
        match shortest.and_then(|(_, text)| Prompt::new(text, vocabulary)) {
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
