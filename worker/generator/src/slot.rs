//! A string in the making, and its way back when it has gone wrong.
//!
//! Where next to nothing fits, the mistake lies some tokens back: a ring left open, one nitrogen too many.
//! Then the string is taken back to an earlier token and goes on from there by other draws, from further
//! back each time the same place cannot be passed. Beginning anew would give fewer long molecules than the
//! model means to write, for these have more places to go wrong.

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::{
    engine::{Kept, State},
    outline::Outline,
    vocabulary::Vocabulary,
};

/// A string is taken back to a multiple of as many tokens: states are kept for these.
const STRIDE: usize = 8;
/// How often a string is taken back before it is given up.
const MOST_REWINDS: u32 = 16;

/// A string in the making.
#[derive(Debug)]
pub(crate) struct Slot {
    pub(crate) number: u64,
    pub(crate) rng: Xoshiro256PlusPlus,
    pub(crate) tokens: Vec<u32>,
    pub(crate) outline: Outline,
    /// How many of the tokens the network has been given.
    given: usize,
    /// Before every `STRIDE`th token's turn: the network's state. Those from `n_kept` on are only room.
    kept: Vec<Kept>,
    n_kept: usize,
    rewinds: u32,
    /// The length that the string could not get beyond, and the strides it was last taken back for that.
    stuck_at: usize,
    strides: usize,
}

impl Slot {
    pub(crate) fn begin(seed: u64, number: u64) -> Self {
        Self {
            number,
            rng: random(seed, number),
            tokens: Vec::new(),
            outline: Outline::default(),
            given: 0,
            kept: Vec::new(),
            n_kept: 0,
            rewinds: 0,
            stuck_at: 0,
            strides: 0,
        }
    }

    /// Begins another string in the room of this one.
    pub(crate) fn begin_again(&mut self, seed: u64, number: u64) {
        (self.number, self.rng) = (number, random(seed, number));
        (self.given, self.n_kept, self.rewinds, self.stuck_at, self.strides) = (0, 0, 0, 0, 0);
        self.tokens.clear();
        self.outline.clear();
    }

    /// A token that the network has to be given again, if any.
    pub(crate) fn give_again(&mut self) -> Option<u32> {
        let token = self.tokens.get(self.given).copied();
        self.given += usize::from(token.is_some());
        token
    }

    /// Adds a token, which the network is given next.
    pub(crate) fn push(&mut self, token: u32) {
        self.tokens.push(token);
        self.given = self.tokens.len();
    }

    /// Keeps the state of the network, which has been given all tokens so far, if there is a place for it.
    pub(crate) fn keep(&mut self, state: &State, member: usize) {
        let place = self.tokens.len() / STRIDE;
        if self.tokens.len() % STRIDE != STRIDE - 1 || place != self.n_kept {
            return;
        }
        if place == self.kept.len() {
            self.kept.push(Kept::default());
        }
        self.n_kept += usize::from(state.keep(member, &mut self.kept[place]));
    }

    /// Takes the string back and gives the token that the network is given next, in the state that is
    /// [restored](Self::restore); `None` when that is the token that begins every string. Fails when it has been
    /// done too often.
    pub(crate) fn rewind(&mut self, vocabulary: &Vocabulary) -> Result<Option<u32>, Lost> {
        if self.rewinds == MOST_REWINDS || self.tokens.is_empty() {
            return Err(Lost);
        }
        self.rewinds += 1;
        let is_further = self.tokens.len() > self.stuck_at;
        self.stuck_at = self.stuck_at.max(self.tokens.len());
        self.strides = if is_further { 1 } else { 2 * self.strides };
        let places = self.stuck_at.div_ceil(STRIDE).saturating_sub(self.strides);

        self.tokens.truncate(places * STRIDE);
        self.outline.clear();
        for token in &self.tokens {
            // They fitted when they were drawn.
            let _ = self.outline.read(vocabulary.symbols(*token));
        }
        if places == 0 || places > self.n_kept {
            (self.given, self.n_kept) = (0, 0);
            return Ok(None);
        }
        (self.given, self.n_kept) = (self.tokens.len(), places);
        Ok(self.tokens.last().copied())
    }

    /// Gives the network the state that it had where the string was taken back to.
    pub(crate) fn restore(&self, state: &mut State, member: usize) {
        if let Some(kept) = self.n_kept.checked_sub(1) {
            state.restore(member, &self.kept[kept]);
        }
    }
}

/// A string that cannot be brought to an end.
#[derive(Debug)]
pub(crate) struct Lost;

/// Every string has a generator of its own, so what it says does not depend on how strings are spread over
/// slots and threads.
fn random(seed: u64, number: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed ^ number.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15))
}
