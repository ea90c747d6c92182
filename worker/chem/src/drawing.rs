//! Drawing of molecules.
//!
//! `plan` computes the layout: positions of atoms and kinds of bonds. `picture` and `molfile` write it. The folder
//! imports only `molecules`, and no other module imports it.

mod drawing_layout;
mod molfile;
mod picture;

pub use molfile::molfile;
pub use picture::{Drawing, drawing, drawing_to_scale};
