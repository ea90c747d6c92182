//! The steps of the short way, one after the other, in room that is used again.

use std::cell::RefCell;

use super::{graph, kekule, parse, ranks, rings, sanitise, stereo, walk, write};
use crate::smiles::limits::Limits;

/// What is known of an ordinary molecule.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Ordinary {
    pub canonical: String,
    pub heavy_atoms: usize,
    /// Whether an atom has an unpaired electron.
    pub has_radicals: bool,
}

/// Room that is used again for every molecule of a thread; holds nothing between calls.
#[derive(Default)]
struct Workspace {
    reader: parse::Reader,
    graph: graph::Graph,
    rings: rings::Rings,
    kekuliser: kekule::Kekuliser,
    shapes: sanitise::Shapes,
    stereo: stereo::Stereo,
    ranker: ranks::Ranker,
    walk: walk::Walk,
    text: Vec<u8>,
}

thread_local! {
    static WORKSPACE: RefCell<Workspace> = RefCell::default();
}

/// Reads a string and writes it canonically; `None` where it is not ordinary, or no molecule.
pub(crate) fn canonicalise(smiles: &str, limits: Limits) -> Option<Ordinary> {
    WORKSPACE.with_borrow_mut(|workspace| workspace.canonicalise(smiles, limits))
}

impl Workspace {
    fn canonicalise(&mut self, smiles: &str, limits: Limits) -> Option<Ordinary> {
        let Self { reader, graph, rings, kekuliser, shapes, stereo, ranker, walk, text } = self;
        reader.read(smiles, limits, graph)?;
        sanitise::sanitise(graph, rings, kekuliser, shapes)?;
        stereo.clear();
        if sanitise::has_stereo(graph) {
            stereo.perceive(graph, rings, shapes)?;
        }
        ranker.rank(graph, rings, stereo)?;
        walk.walk(graph, walk::Over { rings, shapes, stereo, ranks: &ranker.classes })?;
        text.clear();
        write::write(text, graph, &walk.parts)?;
        let canonical = String::from_utf8(text.clone()).ok()?;
        let has_radicals = graph.atoms.iter().any(|atom| atom.radicals != 0);
        Some(Ordinary { canonical, heavy_atoms: graph.atoms.len(), has_radicals })
    }
}
