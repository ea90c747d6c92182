//! Selectivity rules: check that a reaction mixture gives the product of a step, and that nothing else would react
//! first.
//!
//! A [`Step`] holds the reaction mixture, the wanted product and the atom map. It is split into events ("an amine is
//! acylated by this acid chloride"). Each event is asked three questions. Does it happen at all (is there a leaving
//! group, is the ring activated, is the proton acidic)? Would another group in the mixture, which the product still
//! has, react sooner? Does the stereochemistry come out as drawn? Besides, the mixture must contain nothing that
//! cannot be kept or that destroys itself.
//!
//! The decision that matters: this is a table of what chemists agree on, with its sources, not a fit; the positions of
//! arenes alone have a fitted model (`arene_sites.rs`). It refuses only
//! with a reason; a step that no event describes passes. Structures are those that templates make: atoms of reagents
//! that a route does not list are not in the mixture.

mod acid_labile_esters;
mod acidity;
mod acylation;
mod alkoxide_shift;
mod alkylation;
mod amine_closure;
mod angular_methyl;
mod arene;
mod arene_competition;
mod arene_position;
mod arene_score;
mod arene_sites;
mod aromatisation;
mod arylation;
mod asymmetric;
mod attacked_groups;
mod azole;
mod base_labile;
mod beta_lactam;
mod bifunctional;
mod c_h_sites;
mod carbanion;
mod carbon_acid;
mod carbonyl;
mod change;
mod claisen;
mod classify;
mod cleavage;
mod closing_product;
mod competition;
mod conditions;
mod crowded_alcohol;
mod crowded_amine;
mod crowded_carbon;
mod diverted;
mod donors;
mod electrophile;
mod elimination;
mod ester_exchange;
mod event;
mod fischer;
mod fluorination;
mod free_acid;
mod friedel_crafts;
mod group;
mod halide_order;
mod halogenation;
mod hidden_cleavage;
mod hueckel;
mod kept_group;
mod labile_acid;
mod labile_groups;
mod labile_pair;
mod leaving_group;
mod lewis_acid;
mod lithiation;
mod mechanism;
mod metal_addition;
mod michael_acceptor;
mod mixture;
mod multiple_bond;
mod named;
mod new_organometal;
mod nitrile;
mod nucleophile;
mod operation;
mod origin;
mod phthalide;
mod polar;
mod protecting_group;
mod queries;
mod quinone_methide;
mod reaction_class;
mod reagent;
mod redox;
mod refusal;
mod richer_ring;
mod ring_closure;
mod rival_base;
mod rival_chloroazine;
mod rival_halide;
mod rules;
mod self_reactive;
mod site;
mod slow_alkylation;
mod slow_pair;
mod small_ring;
mod stability;
mod stereo;
mod stopped_reduction;
mod substituent;
mod surroundings;
mod thioester;
mod unactivated;
mod unsuited_reagent;
mod vinylogous;
mod weak_amine;
mod wrong_partner;

pub use asymmetric::StereoSource;
pub use change::{Facts, Step};
pub use classify::classify;
pub use conditions::{ComponentRole, StepConditions};
pub use reaction_class::{CLASS_NAMES, Category, ReactionClass};
pub use refusal::Refusal;
pub use rules::{Certainty, Soundness, check, describe};
pub use surroundings::surroundings;
