//! The ways to evaluate a network: candle-nn's layers on any device, and on a processor two that are faster, in single
//! precision and in bytes.

use candle_core::{Device, Result};

use crate::{fused, int8, pack::ModelPack, reference};

/// How exactly a sampler computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precision {
    /// In single precision, as the model was trained.
    Single,
    /// In bytes: many times as fast on a processor, and as good (see `int8`).
    Bytes,
}

/// A network, ready to step.
#[derive(Debug)]
pub(crate) enum Engine {
    Reference(reference::Network),
    Fused(fused::Network),
    Bytes(int8::Network),
}

/// How an engine computes, by which it is decided what a batch holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operations {
    /// Gates in one pass, on a processor.
    Fused,
    /// The reference's operations, one after the other, on any device.
    Plain,
}

/// The hidden state of a batch.
#[derive(Debug)]
pub(crate) enum State {
    Single(reference::State),
    Bytes(int8::State),
}

impl Engine {
    /// Prepares a pack's weights; what is in bytes runs on the processor, whatever the device.
    pub(crate) fn new(pack: &ModelPack, device: &Device, precision: Precision) -> Result<Self> {
        match precision {
            Precision::Single if device.is_cpu() => fused::Network::new(pack).map(Self::Fused),
            Precision::Single => Self::reference(pack, device),
            Precision::Bytes => int8::Network::new(pack, int8::Kernel::best()).map(Self::Bytes),
        }
    }

    /// Prepares the reference network: what a GPU computes, on any device.
    pub(crate) fn reference(pack: &ModelPack, device: &Device) -> Result<Self> {
        reference::Network::new(pack, device).map(Self::Reference)
    }

    /// How it computes.
    pub(crate) fn operations(&self) -> Operations {
        match self {
            Self::Reference(_) => Operations::Plain,
            Self::Fused(_) | Self::Bytes(_) => Operations::Fused,
        }
    }

    /// The state before the first token.
    pub(crate) fn start(&self, members: usize) -> Result<State> {
        match self {
            Self::Reference(network) => network.start(members).map(State::Single),
            Self::Fused(network) => network.start(members).map(State::Single),
            Self::Bytes(network) => Ok(State::Bytes(network.start(members))),
        }
    }

    /// Takes one token for every member of the batch and scores the next ones: see [`State::logits`].
    ///
    /// Members marked in `fresh` begin anew: what `state` holds for them is forgotten.
    pub(crate) fn step(&self, tokens: &[u32], fresh: &[bool], state: &mut State) -> Result<()> {
        match (self, state) {
            (Self::Reference(network), State::Single(state)) => network.step(tokens, fresh, state),
            (Self::Fused(network), State::Single(state)) => network.step(tokens, fresh, state),
            (Self::Bytes(network), State::Bytes(state)) => {
                network.step(tokens, fresh, state);
                Ok(())
            }
            _ => candle_core::bail!("the state of another engine"),
        }
    }
}

/// One member's hidden state, kept to come back to.
#[derive(Debug, Clone, Default)]
pub(crate) struct Kept(int8::Kept);

impl State {
    /// The scores of the last step, `[batch, vocab]`.
    pub(crate) fn logits(&self) -> &[f32] {
        match self {
            Self::Single(state) => &state.logits,
            Self::Bytes(state) => state.logits(),
        }
    }

    /// Keeps a member's hidden state; says whether it did. Tensors are not taken apart: who wants to come
    /// back to a state of theirs has to take the tokens again.
    pub(crate) fn keep(&self, member: usize, kept: &mut Kept) -> bool {
        match self {
            Self::Single(_) => false,
            Self::Bytes(state) => {
                state.keep(member, &mut kept.0);
                true
            }
        }
    }

    /// Gives a member the hidden state that was kept.
    pub(crate) fn restore(&mut self, member: usize, kept: &Kept) {
        if let Self::Bytes(state) = self {
            state.restore(member, &kept.0);
        }
    }

    /// Takes members, ascending, out of the batch; the last ones move to their places, as
    /// [`Vec::swap_remove`] does from the last of `members` to the first.
    pub(crate) fn swap_remove(&mut self, members: &[usize]) -> Result<()> {
        match self {
            Self::Single(state) => state.swap_remove(members),
            Self::Bytes(state) => {
                state.swap_remove(members);
                Ok(())
            }
        }
    }
}
