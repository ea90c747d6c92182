//! Step-by-step generation of a batch of strings.
//!
//! If a batch ran until its longest member ended, half its work would go to finished members. So a slot whose string
//! has ended starts the next string at once. When there are no more strings, the batch shrinks. Tokens are drawn for
//! groups of slots, on all threads of the batch.

use rayon::prelude::*;

use crate::{
    config::GenerationConfig,
    decoration::{Decoration, NextStage},
    engine::{NetworkEngine, State},
    linking::Linking,
    partial_smiles::PartialSmiles,
    slot::{RewindLimitReached, Slot},
    token_sampler::TokenSampler,
    vocabulary::Vocabulary,
    worker_threads::BatchResources,
};

/// Slots that a thread draws for at a time; at least the size of a batch on a CPU.
const STRINGS_PER_DRAW: usize = 128;

/// Model and settings for generating strings.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GenerationContext<'a> {
    pub(crate) engine: &'a NetworkEngine,
    pub(crate) vocabulary: &'a Vocabulary,
    pub(crate) settings: GenerationConfig,
    /// Seed of the run.
    pub(crate) seed: u64,
    pub(crate) dead_ends: DeadEndPolicy,
    /// Parts that every string begins with, if any.
    pub(crate) decoration: Option<&'a Decoration>,
}

/// String as the model wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RawString {
    pub(crate) text: String,
    pub(crate) end: StringEnd,
}

/// Reason why a string ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StringEnd {
    /// The model ended it.
    EndToken,
    /// The string reached the pack's `max_length` and was cut there.
    TooLong,
    /// The string could not become a molecule any more and was cut.
    Hopeless,
}

/// Treatment of strings that cannot become a molecule any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DeadEndPolicy {
    /// They continue.
    Continue,
    /// They are cut as soon as they are certainly invalid.
    Cut,
    /// They are avoided: tokens that would make a string invalid are not drawn. If almost no token is left, the
    /// string goes back. Strings that still cannot be completed are cut.
    Avoid,
}

/// Source of string numbers and receiver of finished strings.
pub(crate) trait StringQueue {
    /// Returns the number of the next string to start, if any.
    fn next(&mut self) -> Option<u64>;

    /// Receives the string with this number.
    fn take(&mut self, number: u64, raw: RawString);

    /// Returns true if no more strings are needed.
    fn is_over(&self) -> bool;
}

/// Generates strings until there is none to start and none unfinished.
pub(crate) fn generate(
    source: GenerationContext,
    resources: BatchResources,
    ends: &mut impl StringQueue,
) -> candle_core::Result<()> {
    let numbers = std::iter::from_fn(|| ends.next()).take(resources.slots);
    let slots: Vec<Slot> = numbers.map(|number| Slot::begin(source.seed, number)).collect();
    if slots.is_empty() {
        return Ok(());
    }
    let sampler = || SlotSampler {
        source,
        draw: TokenSampler::new(source.vocabulary, source.settings),
        trial: PartialSmiles::default(),
    };
    let mut batch = StringBatch {
        source,
        resources,
        samplers: (0..slots.len().div_ceil(STRINGS_PER_DRAW)).map(|_| sampler()).collect(),
        state: source.engine.start(slots.len())?,
        tokens: vec![source.vocabulary.bos(); slots.len()],
        fresh: vec![true; slots.len()],
        actions: vec![SlotAction::Anew; slots.len()],
        slots,
    };
    if source.decoration.is_some() {
        batch.begin_all();
    }
    while !batch.slots.is_empty() && !ends.is_over() {
        batch.step(ends)?;
    }
    Ok(())
}

/// Continuation of a string that has ended.
enum Stage {
    /// The string is complete.
    Complete(RawString),
    /// The string begins anew with a prompt: the token to feed next, as [`Slot::rewind`] gives it.
    Prompt(Option<u32>),
}

impl<'a> GenerationContext<'a> {
    /// Returns the way in which fragments are joined to finished strings, if there are any.
    pub(crate) fn linking(&self) -> Option<Linking<'a>> {
        let decoration = self.decoration.filter(|decoration| !decoration.linked().is_empty())?;
        Some(Linking { decoration, engine: self.engine, vocabulary: self.vocabulary })
    }

    /// Begins a string with the first prompt, if there is one. Returns the token to feed next, as [`Slot::rewind`]
    /// does.
    fn begin(&self, slot: &mut Slot) -> Option<u32> {
        slot.begin_with(self.decoration?.first().clone(), self.vocabulary)
    }

    /// Decides how a string that has ended goes on.
    fn next_stage(&self, slot: &mut Slot, raw: RawString) -> Stage {
        let (Some(decoration), Some(prompt), StringEnd::EndToken) = (self.decoration, &slot.prompt, raw.end)
        else {
            return Stage::Complete(raw);
        };
        let open = slot.open.as_ref().unwrap_or(decoration.open());
        match decoration.after(open, prompt, &raw.text, self.vocabulary) {
            NextStage::Complete => Stage::Complete(raw),
            NextStage::Failed => Stage::Complete(RawString { end: StringEnd::Hopeless, ..raw }),
            NextStage::Prompt(open, prompt) => {
                slot.open = Some(open);
                Stage::Prompt(slot.begin_with(prompt, self.vocabulary))
            }
        }
    }
}

/// Next action of a slot.
#[derive(Debug, Clone, Copy)]
enum SlotAction {
    /// Feed this token to the network.
    Token(u32),
    /// The string went back: restore the saved state and feed this token.
    Back(u32),
    /// Feed the token that begins every string.
    Anew,
    End(StringEnd),
}

struct StringBatch<'a> {
    source: GenerationContext<'a>,
    resources: BatchResources<'a>,
    /// Token samplers, one for every [`STRINGS_PER_DRAW`] slots.
    samplers: Vec<SlotSampler<'a>>,
    slots: Vec<Slot>,
    state: State,
    /// Next action of each slot.
    actions: Vec<SlotAction>,
    /// Next token of each slot.
    tokens: Vec<u32>,
    /// For each slot, true if that token is the first of its string.
    fresh: Vec<bool>,
}

impl StringBatch<'_> {
    /// Begins all strings with the first prompt.
    fn begin_all(&mut self) {
        for (n, slot) in self.slots.iter_mut().enumerate() {
            let token = self.source.begin(slot);
            if token.is_some() {
                slot.restore(&mut self.state, n);
            }
            (self.tokens[n], self.fresh[n]) =
                (token.unwrap_or(self.source.vocabulary.bos()), token.is_none());
        }
    }

    /// Advances every slot by one token.
    fn step(&mut self, ends: &mut impl StringQueue) -> candle_core::Result<()> {
        self.source.engine.step(&self.tokens, &self.fresh, &mut self.state)?;
        self.draw();
        let vocabulary = self.source.vocabulary;
        let mut dry = Vec::new();
        for (n, (slot, next)) in self.slots.iter_mut().zip(&self.actions).enumerate() {
            let token = match *next {
                SlotAction::Token(token) => Some(token),
                SlotAction::Back(token) => {
                    slot.restore(&mut self.state, n);
                    Some(token)
                }
                SlotAction::Anew => None,
                SlotAction::End(end) => {
                    let raw = RawString { text: vocabulary.text(&slot.tokens), end };
                    let token = match self.source.next_stage(slot, raw) {
                        Stage::Prompt(token) => token,
                        Stage::Complete(raw) => {
                            ends.take(slot.number, raw);
                            match ends.next() {
                                Some(number) => {
                                    slot.restart(self.source.seed, number);
                                    self.source.begin(slot)
                                }
                                None => {
                                    dry.push(n);
                                    None
                                }
                            }
                        }
                    };
                    if token.is_some() {
                        slot.restore(&mut self.state, n);
                    }
                    token
                }
            };
            (self.tokens[n], self.fresh[n]) = (token.unwrap_or(vocabulary.bos()), token.is_none());
        }
        if !dry.is_empty() {
            self.drop_slots(&dry)?;
        }
        Ok(())
    }

    /// Decides the next action of every slot.
    fn draw(&mut self) {
        let Self { source, resources, samplers, slots, state, actions, .. } = self;
        let (vocab, state) = (source.vocabulary.len(), &*state);
        resources.pool.install(|| {
            let slots = slots.par_chunks_mut(STRINGS_PER_DRAW).zip(actions.par_chunks_mut(STRINGS_PER_DRAW));
            let logits = state.logits().par_chunks(STRINGS_PER_DRAW * vocab);
            let parts = slots.zip(logits).zip(samplers).enumerate();
            parts.for_each(|(part, (((slots, actions), logits), sampler))| {
                let members = slots.iter_mut().zip(actions).zip(logits.chunks_exact(vocab));
                for (member, ((slot, next), logits)) in (part * STRINGS_PER_DRAW..).zip(members) {
                    *next = sampler.next(slot, logits, state, member);
                }
            });
        });
    }

    /// Removes the slots numbered `dry`, in ascending order, from the batch.
    fn drop_slots(&mut self, dry: &[usize]) -> candle_core::Result<()> {
        for n in dry.iter().rev() {
            self.slots.swap_remove(*n);
            self.tokens.swap_remove(*n);
            self.fresh.swap_remove(*n);
        }
        self.actions.truncate(self.slots.len());
        self.state.swap_remove(dry)
    }
}

/// Decides the next action of slots; holds only settings and buffers.
struct SlotSampler<'a> {
    source: GenerationContext<'a>,
    draw: TokenSampler,
    /// Check of the string with the candidate token, a buffer.
    trial: PartialSmiles,
}

impl SlotSampler<'_> {
    /// Decides the next action of `slot` from its logits, `[vocab]`; `member` is its index in the batch's `state`.
    fn next(&mut self, slot: &mut Slot, logits: &[f32], state: &State, member: usize) -> SlotAction {
        if let Some(token) = slot.next_replayed() {
            return SlotAction::Token(token);
        }
        let (GenerationContext { vocabulary, settings, dead_ends, .. }, trial) =
            (self.source, &mut self.trial);
        let allowed = slot.prompt.as_ref().and_then(|prompt| prompt.allowed_after(&slot.tokens));
        let mut fits = |token| {
            trial.clone_from(&slot.outline);
            if token == vocabulary.eos() { trial.end() } else { trial.read(vocabulary.symbols(token)) }
        };
        let token = match dead_ends {
            DeadEndPolicy::Continue => Some(self.draw.next(logits, allowed, &mut slot.rng)),
            DeadEndPolicy::Cut => {
                Some(self.draw.next(logits, allowed, &mut slot.rng)).filter(|token| fits(*token))
            }
            DeadEndPolicy::Avoid => self.draw.next_fitting(logits, allowed, &mut slot.rng, fits),
        };
        // Two more tokens: those that begin and end every string.
        let has_room = slot.tokens.len() + 2 < settings.max_length;
        let end = match token {
            Some(token) if token == vocabulary.eos() => return SlotAction::End(StringEnd::EndToken),
            Some(token) if has_room => {
                if dead_ends != DeadEndPolicy::Continue {
                    std::mem::swap(&mut slot.outline, trial);
                }
                if dead_ends == DeadEndPolicy::Avoid {
                    slot.keep(state, member);
                }
                slot.push(token);
                return SlotAction::Token(token);
            }
            Some(token) => {
                slot.tokens.push(token);
                StringEnd::TooLong
            }
            None => StringEnd::Hopeless,
        };
        if dead_ends != DeadEndPolicy::Avoid {
            return SlotAction::End(end);
        }
        match slot.rewind(vocabulary) {
            Ok(token) => token.map_or(SlotAction::Anew, SlotAction::Back),
            Err(RewindLimitReached) => SlotAction::End(end),
        }
    }
}
