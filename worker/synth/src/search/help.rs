//! Helpers on other cores, and how they tell a search what they are done with.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use crate::cores::Seat;
use crate::graph::nodes::MoleculeId;

/// The helpers' side of a search.
pub struct Help<'a> {
    pub seat: Seat<'a>,
    pub at_work: usize,
    /// Set when the search needs nothing more.
    pub over: Arc<AtomicBool>,
    done: (Sender<MoleculeId>, Receiver<MoleculeId>),
}

impl Drop for Help<'_> {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
    }
}

impl<'a> Help<'a> {
    /// Of those that the seat may have at work.
    pub fn new(seat: Seat<'a>) -> Self {
        Self { seat, at_work: 0, over: Arc::default(), done: channel() }
    }

    /// A helper's word on `id`, given when it is dropped.
    pub fn report(&mut self, id: MoleculeId) -> Report {
        self.at_work += 1;
        Report { id, to: self.done.0.clone() }
    }

    /// What a helper is done with, if one is within `patience`.
    pub fn done_within(&mut self, patience: Duration) -> Option<MoleculeId> {
        if self.at_work == 0 {
            return None;
        }
        let done = self.done.1.recv_timeout(patience).ok()?;
        self.at_work -= 1;
        Some(done)
    }
}

/// Tells the search that a helper is done with a molecule, however it ends.
pub struct Report {
    id: MoleculeId,
    to: Sender<MoleculeId>,
}

impl Drop for Report {
    fn drop(&mut self) {
        // A search that is over does not listen any more.
        let _ = self.to.send(self.id);
    }
}
