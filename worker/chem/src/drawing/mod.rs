//! Molecules as pictures.
//!
//! The plan says where atoms lie and what bonds look like, the picture and the connection table write that down. Imports nothing but
//! `molecules`, and nobody imports it.

mod molfile;
mod picture;
mod plan;

pub use molfile::molfile;
pub use picture::{Drawing, drawing, drawing_to_scale};
