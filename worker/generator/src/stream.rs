//! A batch of strings, generated step by step.
//!
//! A batch as long as its longest member would spend half its work on members that are done, so a
//! slot whose string has ended goes to the next string at once. When there is none to begin, the
//! batch shrinks. Tokens are drawn for some slots at a time, by as many threads as the batch has.

use rayon::prelude::*;

use crate::{
    crew::Berth,
    draw::Draw,
    engine::{Engine, State},
    outline::Outline,
    pack::ModelPack,
    slot::{Lost, Slot},
};

/// Slots that a thread draws for at a time; not fewer than a batch on a processor has.
const DRAWN_TOGETHER: usize = 128;

/// What strings are made of.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Source<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) pack: &'a ModelPack,
    /// Of the run.
    pub(crate) seed: u64,
    pub(crate) hopeless: Hopeless,
}

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

/// Generates strings until there is none to begin and none in the making.
pub(crate) fn generate(source: Source, berth: Berth, ends: &mut impl Ends) -> candle_core::Result<()> {
    let numbers = std::iter::from_fn(|| ends.next()).take(berth.slots);
    let slots: Vec<Slot> = numbers.map(|number| Slot::begin(source.seed, number)).collect();
    if slots.is_empty() {
        return Ok(());
    }
    let scribe = || Scribe { source, draw: Draw::new(source.pack), trial: Outline::default() };
    let mut batch = Batch {
        source,
        berth,
        scribes: (0..slots.len().div_ceil(DRAWN_TOGETHER)).map(|_| scribe()).collect(),
        state: source.engine.start(slots.len())?,
        tokens: vec![source.pack.vocabulary.bos(); slots.len()],
        fresh: vec![true; slots.len()],
        nexts: vec![Next::Anew; slots.len()],
        slots,
    };
    while !batch.slots.is_empty() && !ends.is_over() {
        batch.step(ends)?;
    }
    Ok(())
}

/// What a slot does next.
#[derive(Debug, Clone, Copy)]
enum Next {
    /// It gives the network this token.
    Token(u32),
    /// It was taken back, and gives the network this token in the state of then.
    Back(u32),
    /// It gives the network the token that begins every string.
    Anew,
    End(End),
}

struct Batch<'a> {
    source: Source<'a>,
    berth: Berth<'a>,
    /// One for every [`DRAWN_TOGETHER`] slots.
    scribes: Vec<Scribe<'a>>,
    slots: Vec<Slot>,
    state: State,
    /// By slot: what it does next.
    nexts: Vec<Next>,
    /// By slot: the token to take next.
    tokens: Vec<u32>,
    /// By slot: whether that token is the first of its string.
    fresh: Vec<bool>,
}

impl Batch<'_> {
    /// Advances every slot by one token.
    fn step(&mut self, ends: &mut impl Ends) -> candle_core::Result<()> {
        self.source.engine.step(&self.tokens, &self.fresh, &mut self.state)?;
        self.draw();
        let vocabulary = &self.source.pack.vocabulary;
        let mut dry = Vec::new();
        for (n, (slot, next)) in self.slots.iter_mut().zip(&self.nexts).enumerate() {
            let token = match *next {
                Next::Token(token) => Some(token),
                Next::Back(token) => {
                    slot.restore(&mut self.state, n);
                    Some(token)
                }
                Next::Anew => None,
                Next::End(end) => {
                    ends.take(slot.number, Raw { text: vocabulary.text(&slot.tokens), end });
                    match ends.next() {
                        Some(number) => slot.begin_again(self.source.seed, number),
                        None => dry.push(n),
                    }
                    None
                }
            };
            (self.tokens[n], self.fresh[n]) = (token.unwrap_or(vocabulary.bos()), token.is_none());
        }
        if !dry.is_empty() {
            self.drop_slots(&dry)?;
        }
        Ok(())
    }

    /// Decides what every slot does next.
    fn draw(&mut self) {
        let Self { source, berth, scribes, slots, state, nexts, .. } = self;
        let (vocab, state) = (source.pack.vocabulary.len(), &*state);
        berth.pool.install(|| {
            let slots = slots.par_chunks_mut(DRAWN_TOGETHER).zip(nexts.par_chunks_mut(DRAWN_TOGETHER));
            let logits = state.logits().par_chunks(DRAWN_TOGETHER * vocab);
            let parts = slots.zip(logits).zip(scribes).enumerate();
            parts.for_each(|(part, (((slots, nexts), logits), scribe))| {
                let members = slots.iter_mut().zip(nexts).zip(logits.chunks_exact(vocab));
                for (member, ((slot, next), logits)) in (part * DRAWN_TOGETHER..).zip(members) {
                    *next = scribe.next(slot, logits, state, member);
                }
            });
        });
    }

    /// Takes the slots numbered `dry`, ascending, out of the batch.
    fn drop_slots(&mut self, dry: &[usize]) -> candle_core::Result<()> {
        for n in dry.iter().rev() {
            self.slots.swap_remove(*n);
            self.tokens.swap_remove(*n);
            self.fresh.swap_remove(*n);
        }
        self.nexts.truncate(self.slots.len());
        self.state.swap_remove(dry)
    }
}

/// Decides what slots do next; holds nothing but settings and room to work in.
struct Scribe<'a> {
    source: Source<'a>,
    draw: Draw,
    /// What a slot's outline would be.
    trial: Outline,
}

impl Scribe<'_> {
    /// What `slot` does next, given its logits, `[vocab]`; `state` is the batch's and the slot's in it `member`.
    fn next(&mut self, slot: &mut Slot, logits: &[f32], state: &State, member: usize) -> Next {
        if let Some(token) = slot.give_again() {
            return Next::Token(token);
        }
        let (Source { pack, hopeless, .. }, trial) = (self.source, &mut self.trial);
        let vocabulary = &pack.vocabulary;
        let mut fits = |token| {
            trial.clone_from(&slot.outline);
            if token == vocabulary.eos() { trial.end() } else { trial.read(vocabulary.symbols(token)) }
        };
        let token = match hopeless {
            Hopeless::Continue => Some(self.draw.next(logits, &mut slot.rng)),
            Hopeless::Cut => Some(self.draw.next(logits, &mut slot.rng)).filter(|token| fits(*token)),
            Hopeless::Avoid => self.draw.next_fitting(logits, &mut slot.rng, fits),
        };
        // One for the token that begins every string, and one for that which ends it.
        let has_room = slot.tokens.len() + 2 < pack.generation.max_length;
        let end = match token {
            Some(token) if token == vocabulary.eos() => return Next::End(End::Itself),
            Some(token) if has_room => {
                if hopeless != Hopeless::Continue {
                    std::mem::swap(&mut slot.outline, trial);
                }
                if hopeless == Hopeless::Avoid {
                    slot.keep(state, member);
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
        if hopeless != Hopeless::Avoid {
            return Next::End(end);
        }
        match slot.rewind(vocabulary) {
            Ok(token) => token.map_or(Next::Anew, Next::Back),
            Err(Lost) => Next::End(end),
        }
    }
}
