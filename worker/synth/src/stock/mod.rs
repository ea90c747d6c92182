//! What can be bought: the catalogue under a request's masks, and the building block most like a molecule. Its files
//! import nothing of the crate beside each other.

pub mod catalogue;
pub mod nearest;
