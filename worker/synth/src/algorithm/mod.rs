//! Which open molecule to expand next: the search algorithms, over one graph.
//!
//! The search grows the graph, keeps its fields true and stops; an algorithm only chooses. All of them end in
//! the same graph when nothing is left to try, so they differ in what they find before that.

mod breadth_first;
mod mcts;
mod retro_star;

use std::fmt;
use std::str::FromStr;

use crate::graph::{Graph, MoleculeId};

/// A search algorithm, by the name that configuration gives it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Algorithm {
    /// The open leaf of the cheapest partial route (Retro*, Chen et al. 2020).
    #[default]
    RetroStar,
    /// Monte Carlo tree search with a policy prior (Segler et al. 2018).
    Mcts,
    /// The shallowest open molecule, with all its templates: complete, slow, and what the others are tested against.
    BreadthFirst,
}

impl Algorithm {
    /// Every algorithm.
    pub const ALL: [Self; 3] = [Self::RetroStar, Self::Mcts, Self::BreadthFirst];

    /// The algorithm's state at the start of a search.
    pub(crate) fn start(self) -> Box<dyn Choice> {
        match self {
            Self::RetroStar => Box::new(retro_star::RetroStar),
            Self::Mcts => Box::new(mcts::Mcts::default()),
            Self::BreadthFirst => Box::new(breadth_first::BreadthFirst::default()),
        }
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::RetroStar => "retro_star",
            Self::Mcts => "mcts",
            Self::BreadthFirst => "breadth_first",
        })
    }
}

/// There is no algorithm of this name.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("no search algorithm is called `{0}`; there are retro_star, mcts and breadth_first")]
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

    /// Hears that `expanded`, which it chose, has more reactions now, or none. The graph's fields are true.
    fn learn(&mut self, _graph: &Graph, _expanded: MoleculeId) {}

    /// How many of its most probable templates may be tried on a molecule from the start. More may be whenever nothing
    /// else is left to try.
    fn templates(&self) -> usize {
        // Monte Carlo tree search solves 25 of the benchmark kit's 50 targets with 20 templates, 23 with 50 or 200, of
        // the shipped model, 300 expansions each.
        20
    }

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
