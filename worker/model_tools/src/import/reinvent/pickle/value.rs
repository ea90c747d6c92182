//! Contents of a pickle, as nodes that refer to each other.

use super::NameUse;

/// The number of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Id(u32);

impl Id {
    /// Creates an id; there are never more nodes than a `u32` can count.
    pub(super) const fn new(index: usize) -> Self {
        Self(index as u32)
    }

    pub(super) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub enum PickleNode {
    None,
    Bool(bool),
    Int(i64),
    /// An integer beyond 64 bits, whose value is never needed.
    Long,
    Float(f64),
    Text(String),
    Bytes(Vec<u8>),
    List(Vec<Id>),
    Tuple(Vec<Id>),
    Set(Vec<Id>),
    Dict(Vec<(Id, Id)>),
    /// A class or function; `name` includes its module.
    Name {
        name: String,
        meaning: NameUse,
    },
    /// A recorded call of `class` with the tuple `arguments`, and the `state` that its result would be given.
    Object {
        class: String,
        arguments: Id,
        state: Option<Id>,
    },
    /// An object outside the pickle, by its persistent id.
    Persistent(Id),
}

/// A pickle that has been read.
#[derive(Debug)]
pub struct Pickled {
    nodes: Vec<PickleNode>,
    root: Id,
}

impl Pickled {
    pub(super) const fn new(nodes: Vec<PickleNode>, root: Id) -> Self {
        Self { nodes, root }
    }

    /// Returns the top-level value.
    pub const fn root(&self) -> Id {
        self.root
    }

    /// Returns a value.
    pub fn node(&self, id: Id) -> &PickleNode {
        &self.nodes[id.index()]
    }

    /// Returns the entries of a dictionary whose keys are texts.
    pub fn entries(&self, id: Id) -> Option<impl Iterator<Item = (&str, Id)>> {
        let PickleNode::Dict(pairs) = self.node(id) else { return None };
        Some(pairs.iter().filter_map(|(key, value)| Some((self.text(*key)?, *value))))
    }

    /// Returns an entry of a dictionary, or a part of an object's state; the last one if there are several.
    pub fn field(&self, id: Id, name: &str) -> Option<Id> {
        let dict = match self.node(id) {
            PickleNode::Object { state, .. } => (*state)?,
            _ => id,
        };
        self.entries(dict)?.filter(|(key, _)| *key == name).last().map(|(_, value)| value)
    }

    /// Returns a text.
    pub fn text(&self, id: Id) -> Option<&str> {
        match self.node(id) {
            PickleNode::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns an integer that is a count.
    pub fn count(&self, id: Id) -> Option<usize> {
        match self.node(id) {
            PickleNode::Int(number) => usize::try_from(*number).ok(),
            _ => None,
        }
    }

    /// Returns the items of a list or tuple.
    pub fn items(&self, id: Id) -> Option<&[Id]> {
        match self.node(id) {
            PickleNode::List(items) | PickleNode::Tuple(items) => Some(items),
            _ => None,
        }
    }
}
