//! One form for what can be written in several: without charges, without a choice of tautomer, without its salt.
//!
//! Each file adds what it computes to [`Molecule`](crate::Molecule). `tautomer` and `parent` import `neutral`; the folder
//! imports `molecules`, `graph` and `smiles`, and nobody imports it.

mod neutral;
pub(crate) mod parent;
mod tautomer;
