//! Standard forms of molecules that can be written in several ways: without charges, independent of the tautomer,
//! without the salt.
//!
//! Each file adds what it computes to [`Molecule`](crate::Molecule). `tautomer` and `parent` import `neutral`. The
//! folder imports `molecules`, `graph` and `smiles`; no other module imports it.

mod neutral;
pub(crate) mod parent;
mod tautomer;
