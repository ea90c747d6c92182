//! Molecules as pictures.
//!
//! The plan says where atoms lie and what bonds look like, the picture writes that down. Imports nothing but
//! `molecules`, and nobody imports it.

mod picture;
mod plan;

pub use picture::drawing;
