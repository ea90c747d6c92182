//! Drawing of molecules.
//!
//! `plan` computes the layout: positions of atoms and kinds of bonds. `picture` and `molfile` write it. The folder
//! imports only `molecules`, and no other module imports it.

mod molfile;
mod picture;
mod plan;

pub use molfile::molfile;
pub use picture::{Drawing, drawing, drawing_to_scale};
