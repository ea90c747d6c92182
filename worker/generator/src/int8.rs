//! The network in bytes, which a CPU multiplies fastest.
//!
//! Weights are signed bytes with a scale per output. Inputs are hidden states, which lie within ±1, so one fixed
//! scale of 1/127 serves them all and nothing has to be measured at run time. The input of each token to the first
//! layer is a table of bytes, with a scale and an offset per output. Sums of products are exact, and the rest is
//! plain single-precision arithmetic in a fixed order. So every CPU draws the same strings from the same seed, with
//! AMX, AVX-512 VNNI, AVX2 or none of them.

mod gates;
mod kernel;
mod matrix;
mod network;
mod rate;
mod table;

pub(crate) use kernel::Kernel;
pub(crate) use network::{Network, SavedMemberState, State};
pub use rate::ByteRates;
