//! A string being generated, and its backtracking.
//!
//! If almost no token fits, the mistake lies some tokens back, such as a ring left open or one nitrogen too many.
//! Then the string goes back to an earlier token and continues from there with other draws. If the same place cannot
//! be passed, it goes back further each time. Starting over instead would give fewer long molecules than the model's
//! distribution has, since these have more places to go wrong. A string never goes back into its prompt.

use std::sync::Arc;

use chem::OpenMolecule;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::{
    engine::{SavedState, State},
    partial_smiles::PartialSmiles,
    prompt::Prompt,
    vocabulary::Vocabulary,
};

/// Distance of backtracking points in tokens; network states are saved at multiples of it after the prompt.
const CHECKPOINT_INTERVAL: usize = 8;
/// Maximum number of times that a string goes back before it is given up.
const MAX_REWINDS: u32 = 16;

/// A string being generated.
#[derive(Debug)]
pub(crate) struct Slot {
    pub(crate) number: u64,
    pub(crate) rng: Xoshiro256PlusPlus,
    pub(crate) tokens: Vec<u32>,
    pub(crate) outline: PartialSmiles,
    /// Beginning of the string that is not drawn.
    pub(crate) prompt: Option<Arc<Prompt>>,
    /// Molecule that the string decorates, if it is not the one of all strings' first prompt.
    pub(crate) open: Option<OpenMolecule>,
    /// Number of tokens that have been fed to the network.
    given: usize,
    /// Network states saved before every `CHECKPOINT_INTERVAL`th token. Entries from `n_kept` on are unused buffers.
    kept: Vec<SavedState>,
    n_kept: usize,
    rewinds: u32,
    /// Drawn length that the string could not pass, and the number of strides that it last went back from there.
    dead_end_length: usize,
    rewind_steps: usize,
}

impl Slot {
    pub(crate) fn begin(seed: u64, number: u64) -> Self {
        Self {
            number,
            rng: random(seed, number),
            tokens: Vec::new(),
            outline: PartialSmiles::default(),
            prompt: None,
            open: None,
            given: 0,
            kept: Vec::new(),
            n_kept: 0,
            rewinds: 0,
            dead_end_length: 0,
            rewind_steps: 0,
        }
    }

    /// Starts another string and reuses the buffers.
    pub(crate) fn restart(&mut self, seed: u64, number: u64) {
        (self.number, self.rng) = (number, random(seed, number));
        (self.given, self.n_kept, self.rewinds, self.dead_end_length, self.rewind_steps) = (0, 0, 0, 0, 0);
        (self.prompt, self.open) = (None, None);
        self.tokens.clear();
        self.outline.clear();
    }

    /// Begins the string anew with a prompt. Returns the token to feed next, as [`Self::rewind`] does.
    pub(crate) fn begin_with(&mut self, prompt: Arc<Prompt>, vocabulary: &Vocabulary) -> Option<u32> {
        (self.n_kept, self.rewinds, self.dead_end_length, self.rewind_steps) = (0, 0, 0, 0);
        self.tokens.clear();
        self.tokens.extend_from_slice(prompt.tokens());
        self.prompt = Some(prompt);
        self.read_again(vocabulary);
        self.first_token()
    }

    /// Returns the number of tokens that are not drawn.
    fn prompt_length(&self) -> usize {
        self.prompt.as_ref().map_or(0, |prompt| prompt.tokens().len())
    }

    /// Returns the token to feed next if no token has been drawn: the last of the prompt if the state before it is
    /// known, else `None` for the token that begins every string, after which the prompt's tokens are fed.
    fn first_token(&mut self) -> Option<u32> {
        let has_state = self.prompt.as_ref().is_some_and(|prompt| prompt.state().is_some());
        self.given = if has_state { self.tokens.len() } else { 0 };
        self.tokens.last().copied().filter(|_| has_state)
    }

    fn read_again(&mut self, vocabulary: &Vocabulary) {
        self.outline.clear();
        for token in &self.tokens {
            // These tokens fitted when they were drawn, and a prompt is the beginning of a molecule.
            let _ = self.outline.read(vocabulary.symbols(*token));
        }
    }

    /// Returns the next token that must be fed to the network again, if any.
    pub(crate) fn next_replayed(&mut self) -> Option<u32> {
        let token = self.tokens.get(self.given).copied();
        self.given += usize::from(token.is_some());
        token
    }

    /// Adds a token, which is fed to the network next.
    pub(crate) fn push(&mut self, token: u32) {
        self.tokens.push(token);
        self.given = self.tokens.len();
    }

    /// Saves the network's state, which includes all tokens so far, if this is a backtracking point.
    pub(crate) fn keep(&mut self, state: &State, member: usize) {
        let drawn = self.tokens.len() - self.prompt_length();
        let place = drawn / CHECKPOINT_INTERVAL;
        if drawn % CHECKPOINT_INTERVAL != CHECKPOINT_INTERVAL - 1 || place != self.n_kept {
            return;
        }
        if place == self.kept.len() {
            self.kept.push(SavedState::default());
        }
        self.n_kept += usize::from(state.keep(member, &mut self.kept[place]));
    }

    /// Goes back to an earlier token. Returns the token to feed next, after the state has been
    /// [restored](Self::restore); `None` if that is the token that begins every string. Fails if this has happened
    /// too often.
    pub(crate) fn rewind(&mut self, vocabulary: &Vocabulary) -> Result<Option<u32>, RewindLimitReached> {
        let prompt = self.prompt_length();
        let drawn = self.tokens.len() - prompt;
        if self.rewinds == MAX_REWINDS || drawn == 0 {
            return Err(RewindLimitReached);
        }
        self.rewinds += 1;
        let is_further = drawn > self.dead_end_length;
        self.dead_end_length = self.dead_end_length.max(drawn);
        self.rewind_steps = if is_further { 1 } else { 2 * self.rewind_steps };
        let places = self.dead_end_length.div_ceil(CHECKPOINT_INTERVAL).saturating_sub(self.rewind_steps);

        self.tokens.truncate(prompt + places * CHECKPOINT_INTERVAL);
        self.read_again(vocabulary);
        if places == 0 {
            self.n_kept = 0;
            return Ok(self.first_token());
        }
        if places > self.n_kept {
            (self.given, self.n_kept) = (0, 0);
            return Ok(None);
        }
        (self.given, self.n_kept) = (self.tokens.len(), places);
        Ok(self.tokens.last().copied())
    }

    /// Restores the network state of the point that the string went back to, or of its prompt.
    pub(crate) fn restore(&self, state: &mut State, member: usize) {
        let of_prompt = || self.prompt.as_ref().and_then(|prompt| prompt.state());
        let kept = self.n_kept.checked_sub(1).map(|kept| &self.kept[kept]);
        if let Some(kept) = kept.or_else(of_prompt) {
            state.restore(member, kept);
        }
    }
}

/// A string that cannot be completed.
#[derive(Debug)]
pub(crate) struct RewindLimitReached;

/// Creates the random number generator of a string, so that the string does not depend on the distribution over slots
/// and threads.
fn random(seed: u64, number: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed ^ number.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15))
}
