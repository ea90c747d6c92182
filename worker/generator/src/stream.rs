//! One batch of strings, generated step by step.
//!
//! A batch as long as its longest member would spend half its work on members that are done, so a
//! slot whose string has ended goes to the next string at once. When none is left to begin, the
//! batch shrinks.

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::{
    draw::Draw,
    network::{Network, State},
    pack::ModelPack,
};

/// Slots of a batch. More would make the matrix products a little faster and the end of a stream,
/// where slots run dry, longer.
const SLOTS: usize = 128;

/// The strings of one stretch of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stretch {
    /// The run's seed.
    pub(crate) seed: u64,
    /// Number of the first string within the run.
    pub(crate) first: u64,
    /// Strings wanted.
    pub(crate) count: usize,
}

/// What the model wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Raw {
    pub(crate) text: String,
    /// Whether the model ended the string itself; otherwise it was cut at the pack's `max_length`.
    pub(crate) ended: bool,
}

/// A string in the making.
struct Slot {
    /// Place in the stretch.
    place: usize,
    rng: Xoshiro256PlusPlus,
    tokens: Vec<u32>,
}

impl Slot {
    fn begin(stretch: Stretch, place: usize) -> Self {
        // Every string has a generator of its own, so what it says does not depend on how strings
        // are spread over slots, stretches and threads.
        let string = stretch.first.wrapping_add(place as u64);
        let seed = stretch.seed ^ string.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        Self { place, rng: Xoshiro256PlusPlus::seed_from_u64(seed), tokens: Vec::new() }
    }
}

/// Generates a stretch of strings, in order; `None` when `stop` said so first.
///
/// `stop` is asked before every step and `ended` is called for each string as it ends, with its place
/// in the stretch.
pub(crate) fn generate<T: Clone>(
    network: &Network,
    pack: &ModelPack,
    stretch: Stretch,
    stop: impl Fn() -> bool,
    ended: impl Fn(Raw) -> T,
) -> candle_core::Result<Option<Vec<T>>> {
    let mut results: Vec<Option<T>> = vec![None; stretch.count];
    let mut batch = Batch::new(network, pack, stretch)?;
    while !batch.slots.is_empty() {
        if stop() {
            return Ok(None);
        }
        for (place, raw) in batch.step()? {
            results[place] = Some(ended(raw));
        }
    }
    Ok(Some(results.into_iter().flatten().collect()))
}

struct Batch<'a> {
    network: &'a Network,
    pack: &'a ModelPack,
    stretch: Stretch,
    draw: Draw,
    slots: Vec<Slot>,
    begun: usize,
    state: State,
    /// By slot: the token to take next.
    tokens: Vec<u32>,
    /// By slot: whether that token is the first of its string.
    fresh: Vec<bool>,
}

impl<'a> Batch<'a> {
    fn new(network: &'a Network, pack: &'a ModelPack, stretch: Stretch) -> candle_core::Result<Self> {
        let len = SLOTS.min(stretch.count);
        Ok(Self {
            network,
            pack,
            stretch,
            draw: Draw::new(pack),
            slots: (0..len).map(|place| Slot::begin(stretch, place)).collect(),
            begun: len,
            state: network.start(len)?,
            tokens: vec![pack.vocabulary.bos(); len],
            fresh: vec![true; len],
        })
    }

    /// Advances every slot by one token and hands out the strings that ended.
    fn step(&mut self) -> candle_core::Result<Vec<(usize, Raw)>> {
        let logits = self.network.step(&self.tokens, &self.fresh, &mut self.state)?;
        let mut finished = Vec::new();
        let mut dry = Vec::new();
        for (n, logits) in logits.chunks_exact(self.pack.vocabulary.len()).enumerate() {
            let slot = &mut self.slots[n];
            let token = self.draw.next(logits, &mut slot.rng);
            let ended = token == self.pack.vocabulary.eos();
            if !ended {
                slot.tokens.push(token);
            }
            // One for the token that begins every string, and one for that which ends it.
            let full = slot.tokens.len() + 2 > self.pack.generation.max_length;
            if !(ended || full) {
                (self.tokens[n], self.fresh[n]) = (token, false);
                continue;
            }
            let text = self.pack.vocabulary.text(&slot.tokens);
            finished.push((slot.place, Raw { text, ended }));
            if self.begun < self.stretch.count {
                *slot = Slot::begin(self.stretch, self.begun);
                self.begun += 1;
                (self.tokens[n], self.fresh[n]) = (self.pack.vocabulary.bos(), true);
            } else {
                dry.push(n);
            }
        }
        if !dry.is_empty() {
            self.drop_slots(&dry)?;
        }
        Ok(finished)
    }

    /// Takes the slots numbered `dry`, ascending, out of the batch.
    fn drop_slots(&mut self, dry: &[usize]) -> candle_core::Result<()> {
        let stays = |n: usize| dry.binary_search(&n).is_err();
        let kept: Vec<u32> = (0..).take(self.slots.len()).filter(|n| stays(*n as usize)).collect();
        for n in dry.iter().rev() {
            self.slots.remove(*n);
            self.tokens.remove(*n);
            self.fresh.remove(*n);
        }
        if kept.is_empty() { Ok(()) } else { self.state.keep(&kept) }
    }
}
