//! One step by itself: what speaks against it, whether it gives its product, and what the model proposes to make a molecule
//! of. Routes and searches ask here; nothing here knows of either.

pub mod assess;
pub mod explain;
pub mod forwards;
pub mod one_step;
pub mod proposals;
pub mod trial;
pub mod validate;
