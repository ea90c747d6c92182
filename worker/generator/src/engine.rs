//! Implementations of the network: candle-nn's layers on any device, and two faster ones on a CPU, in single
//! precision and in bytes.

use candle_core::{Device, Result};

use crate::{fused, int8, pack::ModelPack, reference};

/// Numerical precision of a sampler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precision {
    /// Single precision, as the model was trained.
    Single,
    /// Bytes: many times as fast on a CPU, and as good (see `int8`).
    Bytes,
}

/// A network that is ready to step.
#[derive(Debug)]
pub(crate) enum NetworkEngine {
    Reference(reference::Network),
    Fused(fused::Network),
    Bytes(int8::Network),
}

/// Kind of operations of an engine, which decides the size of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KernelStyle {
    /// Gates computed in one pass, on a CPU.
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

impl NetworkEngine {
    /// Prepares a pack's weights. Byte precision always runs on the CPU, whatever the device.
    pub(crate) fn new(pack: &ModelPack, device: &Device, precision: Precision) -> Result<Self> {
        match precision {
            Precision::Single if device.is_cpu() => fused::Network::new(pack).map(Self::Fused),
            Precision::Single => Self::reference(pack, device),
            Precision::Bytes => int8::Network::new(pack, int8::Kernel::best()).map(Self::Bytes),
        }
    }

    /// Prepares the reference network, which is what a GPU computes, on any device.
    pub(crate) fn reference(pack: &ModelPack, device: &Device) -> Result<Self> {
        reference::Network::new(pack, device).map(Self::Reference)
    }

    /// Returns the kind of operations.
    pub(crate) fn operations(&self) -> KernelStyle {
        match self {
            Self::Reference(_) => KernelStyle::Plain,
            Self::Fused(_) | Self::Bytes(_) => KernelStyle::Fused,
        }
    }

    /// Returns the state before the first token.
    pub(crate) fn start(&self, members: usize) -> Result<State> {
        match self {
            Self::Reference(network) => network.start(members).map(State::Single),
            Self::Fused(network) => network.start(members).map(State::Single),
            Self::Bytes(network) => Ok(State::Bytes(network.start(members))),
        }
    }

    /// Feeds one token for every member of the batch and computes the scores of the next tokens: see
    /// [`State::logits`].
    ///
    /// Members marked in `fresh` restart: their part of `state` is reset.
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

/// Saved hidden state of one member.
#[derive(Debug, Clone, Default)]
pub(crate) struct SavedState(int8::SavedMemberState);

impl State {
    /// Returns the scores of the last step, `[batch, vocab]`.
    pub(crate) fn logits(&self) -> &[f32] {
        match self {
            Self::Single(state) => &state.logits,
            Self::Bytes(state) => state.logits(),
        }
    }

    /// Saves a member's hidden state and returns true if it did. States in tensors cannot be saved; to return to one,
    /// the tokens must be fed again.
    pub(crate) fn keep(&self, member: usize, kept: &mut SavedState) -> bool {
        match self {
            Self::Single(_) => false,
            Self::Bytes(state) => {
                state.keep(member, &mut kept.0);
                true
            }
        }
    }

    /// Restores a member's saved hidden state.
    pub(crate) fn restore(&mut self, member: usize, kept: &SavedState) {
        if let Self::Bytes(state) = self {
            state.restore(member, &kept.0);
        }
    }

    /// Removes members, given in ascending order, from the batch. The last ones move to their positions, as
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
