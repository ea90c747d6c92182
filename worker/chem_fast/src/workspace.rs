//! The steps of the fast path in sequence, in reused buffers.

use std::cell::RefCell;

use super::limits::Limits;
use super::{graph, kekule, parse, ranks, rings, sanitise, stereo, traversal, write};

/// The results for an ordinary molecule.
#[derive(Debug, PartialEq, Eq)]
pub struct CanonicalResult {
    /// Canonical SMILES.
    pub canonical: String,
    /// Number of heavy atoms.
    pub heavy_atoms: usize,
    /// Set if an atom has an unpaired electron.
    pub has_radicals: bool,
}

/// Reused buffers of one thread; hold no data between calls.
#[derive(Default)]
struct Workspace {
    reader: parse::Parser,
    graph: graph::Graph,
    rings: rings::Rings,
    kekuliser: kekule::Kekuliser,
    shapes: sanitise::AtomGeometry,
    stereo: stereo::Stereo,
    ranker: ranks::Ranker,
    walk: traversal::Traversal,
    text: Vec<u8>,
}

thread_local! {
    static WORKSPACE: RefCell<Workspace> = RefCell::default();
}

/// Parses a string and writes it canonically; `None` if it is not ordinary or not a molecule.
#[must_use]
pub fn canonicalise(smiles: &str, limits: Limits) -> Option<CanonicalResult> {
    WORKSPACE.with_borrow_mut(|workspace| workspace.canonicalise(smiles, limits))
}

impl Workspace {
    fn canonicalise(&mut self, smiles: &str, limits: Limits) -> Option<CanonicalResult> {
        let Self { reader, graph, rings, kekuliser, shapes, stereo, ranker, walk, text } = self;
        reader.read(smiles, limits, graph)?;
        sanitise::sanitise(graph, rings, kekuliser, shapes)?;
        stereo.clear();
        if sanitise::has_stereo(graph) {
            stereo.perceive(graph, rings, shapes)?;
        }
        ranker.rank(graph, rings, stereo)?;
        walk.walk(graph, traversal::TraversalInput { rings, shapes, stereo, ranks: &ranker.classes })?;
        text.clear();
        write::write(text, graph, &walk.parts)?;
        let canonical = String::from_utf8(text.clone()).ok()?;
        let has_radicals = graph.atoms.iter().any(|atom| atom.radicals != 0);
        Some(CanonicalResult { canonical, heavy_atoms: graph.atoms.len(), has_radicals })
    }
}
