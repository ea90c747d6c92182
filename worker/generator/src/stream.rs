//! A batch of strings, generated step by step.
//!
//! A batch as long as its longest member would spend half its work on members that are done, so a
//! slot whose string has ended goes to the next string at once. When there is none to begin, the
//! batch shrinks.

use crate::{
    draw::Draw,
    engine::{Engine, State},
    outline::Outline,
    pack::ModelPack,
    slot::{Lost, Slot},
};

/// Slots of a batch, whole tiles of the byte kernel. More would make matrix products a little faster, and a sample's last
/// strings, which nothing follows, slower.
pub(crate) const SLOTS: usize = 128;

/// What the model wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Raw {
    pub(crate) text: String,
    pub(crate) end: End,
}

/// How a string ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// The model ended it.
    Itself,
    /// It reached the pack's `max_length` and was cut there.
    TooLong,
    /// It could not become a molecule any more and was cut.
    Hopeless,
}

/// What becomes of strings that cannot become a molecule any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hopeless {
    /// They go on.
    Continue,
    /// They are cut where that is certain.
    Cut,
    /// There are none: what would make them so is not drawn, and where that leaves next to nothing, they
    /// are taken back. Those that cannot be brought to an end even so are cut.
    Avoid,
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
        trial: Outline::default(),
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

/// What a slot does next.
enum Next {
    /// It gives the network this token.
    Token(u32),
    /// It gives the network the token that begins every string.
    Anew,
    End(End),
}

struct Batch<'a> {
    engine: &'a Engine,
    pack: &'a ModelPack,
    seed: u64,
    hopeless: Hopeless,
    draw: Draw,
    /// What a slot's outline would be.
    trial: Outline,
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
        self.engine.step(&self.tokens, &self.fresh, &mut self.state)?;
        let bos = self.pack.vocabulary.bos();
        let mut dry = Vec::new();
        for n in 0..self.slots.len() {
            if let Some(token) = self.slots[n].give_again() {
                (self.tokens[n], self.fresh[n]) = (token, false);
                continue;
            }
            let end = match self.advance(n) {
                Next::Token(token) => {
                    (self.tokens[n], self.fresh[n]) = (token, false);
                    continue;
                }
                Next::Anew => {
                    (self.tokens[n], self.fresh[n]) = (bos, true);
                    continue;
                }
                Next::End(end) => end,
            };
            let slot = &mut self.slots[n];
            ends.take(slot.number, Raw { text: self.pack.vocabulary.text(&slot.tokens), end });
            match ends.next() {
                Some(number) => {
                    slot.begin_again(self.seed, number);
                    (self.tokens[n], self.fresh[n]) = (bos, true);
                }
                None => dry.push(n),
            }
        }
        if !dry.is_empty() {
            self.drop_slots(&dry)?;
        }
        Ok(())
    }

    /// Draws the next token of slot `n`.
    fn advance(&mut self, n: usize) -> Next {
        let (vocabulary, slot, trial) = (&self.pack.vocabulary, &mut self.slots[n], &mut self.trial);
        let logits = &self.state.logits()[n * vocabulary.len()..(n + 1) * vocabulary.len()];
        let mut fits = |token| {
            trial.clone_from(&slot.outline);
            if token == vocabulary.eos() { trial.end() } else { trial.read(vocabulary.symbols(token)) }
        };
        let token = match self.hopeless {
            Hopeless::Continue => Some(self.draw.next(logits, &mut slot.rng)),
            Hopeless::Cut => Some(self.draw.next(logits, &mut slot.rng)).filter(|token| fits(*token)),
            Hopeless::Avoid => self.draw.next_fitting(logits, &mut slot.rng, fits),
        };
        // One for the token that begins every string, and one for that which ends it.
        let has_room = slot.tokens.len() + 2 < self.pack.generation.max_length;
        let end = match token {
            Some(token) if token == vocabulary.eos() => return Next::End(End::Itself),
            Some(token) if has_room => {
                if self.hopeless != Hopeless::Continue {
                    std::mem::swap(&mut slot.outline, trial);
                }
                if self.hopeless == Hopeless::Avoid {
                    slot.keep(&self.state, n);
                }
                slot.push(token);
                return Next::Token(token);
            }
            Some(token) => {
                slot.tokens.push(token);
                End::TooLong
            }
            None => End::Hopeless,
        };
        if self.hopeless != Hopeless::Avoid {
            return Next::End(end);
        }
        match slot.rewind(vocabulary, &mut self.state, n) {
            Ok(token) => token.map_or(Next::Anew, Next::Token),
            Err(Lost) => Next::End(end),
        }
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
