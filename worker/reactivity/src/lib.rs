//! What would happen in the flask: whether a step gives its product, or whether something else would react first.
//!
//! A [`Step`] says what is in the flask, what is wanted and which atom becomes which. It is taken apart into events
//! ("an amine is acylated by this acid chloride"), and each event is asked three things: does it happen at all (is there
//! a leaving group, is the ring activated, is the proton acidic)? Would something else in the flask that the product
//! still has react sooner? Does the stereo come out as drawn? Besides, the flask must hold nothing that cannot be kept or
//! that destroys itself.
//!
//! The decision that matters: this is a table of what chemists agree on, with its sources, not a fit. It refuses only
//! what it has a reason for; a step that no event describes passes. Structures are those that templates make: atoms of
//! reagents that a route does not list are not in the flask.

mod acylation;
mod alkylation;
mod arene;
mod arylation;
mod carbonyl;
mod change;
mod class;
mod cleavage;
mod electrophile;
mod event;
mod flask;
mod group;
mod halogenation;
mod judge;
mod look;
mod names;
mod nucleophile;
mod origin;
mod polar;
mod redox;
mod refusal;
mod rivals;
mod stereo;

pub use change::{Facts, Step};
pub use class::{Category, ReactionClass, classify};
pub use judge::{Certainty, describe, judge};
pub use names::CLASS_NAMES;
pub use refusal::Refusal;
