//! A batch of strings, generated step by step.
//!
//! A batch as long as its longest member would spend half its work on members that are done, so a
//! slot whose string has ended goes to the next string at once. When there is none to begin, the
//! batch shrinks.

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::{
    draw::Draw,
    engine::{Engine, State},
    outline::Outline,
    pack::ModelPack,
};

/// Slots of a batch. More would make matrix products in single precision a little faster, and a
/// sample's last strings, which nothing follows, slower.
pub(crate) const SLOTS: usize = 96;

/// What the model wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Raw {
    pub(crate) text: String,
    /// Whether the model ended the string itself and it was not refused; otherwise it was cut.
    pub(crate) ended: bool,
}

/// What becomes of strings that cannot become a molecule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hopeless {
    /// They go on.
    Continue,
    /// They are cut where that is certain.
    Cut,
}

/// Where a batch's strings come from and go to.
pub(crate) trait Ends {
    /// The number of the next string to begin, if any.
    fn next(&mut self) -> Option<u64>;

    /// Takes the string with this number.
    fn take(&mut self, number: u64, raw: Raw);

    /// Whether nobody wants the rest.
    fn is_over(&self) -> bool;
}

/// A string in the making.
struct Slot {
    number: u64,
    rng: Xoshiro256PlusPlus,
    tokens: Vec<u32>,
    outline: Outline,
}

impl Slot {
    fn begin(seed: u64, number: u64) -> Self {
        // Every string has a generator of its own, so what it says does not depend on how strings
        // are spread over slots and threads.
        let seed = seed ^ number.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        Self { number, rng, tokens: Vec::new(), outline: Outline::default() }
    }
}

/// Generates strings of the run `seed` until there is none to begin and none in the making.
pub(crate) fn generate(
    engine: &Engine,
    pack: &ModelPack,
    seed: u64,
    hopeless: Hopeless,
    ends: &mut impl Ends,
) -> candle_core::Result<()> {
    let numbers = std::iter::from_fn(|| ends.next()).take(SLOTS);
    let slots: Vec<Slot> = numbers.map(|number| Slot::begin(seed, number)).collect();
    if slots.is_empty() {
        return Ok(());
    }
    let mut batch = Batch {
        engine,
        pack,
        seed,
        hopeless,
        draw: Draw::new(pack),
        state: engine.start(slots.len())?,
        tokens: vec![pack.vocabulary.bos(); slots.len()],
        fresh: vec![true; slots.len()],
        slots,
    };
    while !batch.slots.is_empty() && !ends.is_over() {
        batch.step(ends)?;
    }
    Ok(())
}

struct Batch<'a> {
    engine: &'a Engine,
    pack: &'a ModelPack,
    seed: u64,
    hopeless: Hopeless,
    draw: Draw,
    slots: Vec<Slot>,
    state: State,
    /// By slot: the token to take next.
    tokens: Vec<u32>,
    /// By slot: whether that token is the first of its string.
    fresh: Vec<bool>,
}

impl Batch<'_> {
    /// Advances every slot by one token.
    fn step(&mut self, ends: &mut impl Ends) -> candle_core::Result<()> {
        let vocabulary = &self.pack.vocabulary;
        let logits = self.engine.step(&self.tokens, &self.fresh, &mut self.state)?;
        let mut dry = Vec::new();
        for (n, logits) in logits.chunks_exact(vocabulary.len()).enumerate() {
            let slot = &mut self.slots[n];
            let token = self.draw.next(logits, &mut slot.rng);
            let ended = token == vocabulary.eos();
            if !ended {
                slot.tokens.push(token);
            }
            let hopeless = self.hopeless == Hopeless::Cut
                && !(if ended { slot.outline.can_end() } else { slot.outline.read(vocabulary.piece(token)) });
            // One for the token that begins every string, and one for that which ends it.
            let full = slot.tokens.len() + 2 > self.pack.generation.max_length;
            if !(ended || full || hopeless) {
                (self.tokens[n], self.fresh[n]) = (token, false);
                continue;
            }
            ends.take(slot.number, Raw { text: vocabulary.text(&slot.tokens), ended: ended && !hopeless });
            match ends.next() {
                Some(number) => {
                    *slot = Slot::begin(self.seed, number);
                    (self.tokens[n], self.fresh[n]) = (vocabulary.bos(), true);
                }
                None => dry.push(n),
            }
        }
        if !dry.is_empty() {
            self.drop_slots(&dry)?;
        }
        Ok(())
    }

    /// Takes the slots numbered `dry`, ascending, out of the batch.
    fn drop_slots(&mut self, dry: &[usize]) -> candle_core::Result<()> {
        for n in dry.iter().rev() {
            self.slots.swap_remove(*n);
            self.tokens.swap_remove(*n);
            self.fresh.swap_remove(*n);
        }
        self.state.swap_remove(dry)
    }
}
