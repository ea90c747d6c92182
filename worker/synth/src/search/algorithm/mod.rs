//! Which open molecule to expand next: the search algorithms, over one graph.
//!
//! The search grows the graph, keeps its fields true and stops; an algorithm only chooses. All of them end in
//! the same graph when nothing is left to try, so they differ in what they find before that.

mod breadth_first;
mod retro_star;

use std::fmt;
use std::str::FromStr;

use crate::graph::Graph;
use crate::graph::nodes::MoleculeId;

/// A search algorithm, by the name that configuration gives it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Algorithm {
    /// The open leaf of the cheapest partial route (Retro*, Chen et al. 2020).
    #[default]
    RetroStar,
    /// The shallowest open molecule, with all its templates: complete, slow, and what the others are tested against.
    BreadthFirst,
}

impl Algorithm {
    /// Every algorithm.
    pub const ALL: [Self; 2] = [Self::RetroStar, Self::BreadthFirst];

    /// The algorithm's state at the start of a search.
    pub(crate) fn start(self) -> Box<dyn Choice> {
        match self {
            Self::RetroStar => Box::new(retro_star::RetroStar),
            Self::BreadthFirst => Box::new(breadth_first::BreadthFirst::default()),
        }
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::RetroStar => "retro_star",
            Self::BreadthFirst => "breadth_first",
        })
    }
}

/// There is no algorithm of this name.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("no search algorithm is called `{0}`; there are retro_star and breadth_first")]
pub struct UnknownAlgorithm(String);

impl FromStr for Algorithm {
    type Err = UnknownAlgorithm;

    fn from_str(name: &str) -> Result<Self, UnknownAlgorithm> {
        let named = Self::ALL.into_iter().find(|algorithm| algorithm.to_string() == name);
        named.ok_or_else(|| UnknownAlgorithm(name.to_owned()))
    }
}

/// How an algorithm chooses.
pub(crate) trait Choice {
    /// The open molecule to expand next; `None` when none is open. The graph's fields are true, and molecules
    /// that a helper is at work on are not open.
    fn next(&mut self, graph: &Graph) -> Option<MoleculeId>;

    /// How many templates are tried at a time on a molecule of which `tried` have been tried.
    fn batch(&self, tried: usize) -> usize {
        // In the graph's order of cost, ten templates are as many as are about as good as each other; the
        // improbable ones are tried by the hundred. Batches of five, ten and twenty solve about as many of the benchmark
        // kit's targets as each other in as much time (that of 300 expansions with ten), and twenty find a tenth fewer
        // first disconnections.
        match tried {
            0..50 => 10,
            50..200 => 40,
            _ => 160,
        }
    }
}
