//! Search algorithms: the choice of the open molecule to expand next, over one graph.
//!
//! The search grows the graph, keeps its fields up to date and stops; an algorithm only chooses. All algorithms end
//! in the same graph when nothing is left to try. They differ in what they find before that.

mod breadth_first;
mod retro_star;

use std::fmt;
use std::str::FromStr;

use crate::graph::Graph;
use crate::graph::nodes::MoleculeId;

/// Search algorithm, by its name in the configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Algorithm {
    /// Expands the open leaf of the cheapest partial route (Retro*, Chen et al. 2020).
    #[default]
    RetroStar,
    /// Expands the shallowest open molecule, with all its templates. Complete and slow; the reference for testing the
    /// others.
    BreadthFirst,
}

impl Algorithm {
    /// Every algorithm.
    pub const ALL: [Self; 2] = [Self::RetroStar, Self::BreadthFirst];

    /// The algorithm's state at the start of a search.
    pub(crate) fn start(self) -> Box<dyn SelectionStrategy> {
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

/// Error for an unknown algorithm name.
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

/// Selection strategy of an algorithm.
pub(crate) trait SelectionStrategy {
    /// Returns the open molecule to expand next; `None` when none is open. The graph's fields are up to date, and
    /// molecules that a helper is working on are not open.
    fn next(&mut self, graph: &Graph) -> Option<MoleculeId>;

    /// Number of templates to try at a time on a molecule of which `tried` have been tried.
    fn batch(&self, tried: usize) -> usize {
        // In the graph's order of cost, about ten templates are equally good; the improbable ones are tried by the
        // hundred. Batches of five, ten and twenty solve about as many of the benchmark kit's targets in the same
        // time (that of 300 expansions with ten). Twenty find a tenth fewer first disconnections.
        match tried {
            0..50 => 10,
            50..200 => 40,
            _ => 160,
        }
    }
}
