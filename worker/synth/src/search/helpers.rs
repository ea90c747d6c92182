//! Helper threads on other cores, and the channel on which they report finished molecules to a search.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use crate::cores::CoreShare;
use crate::graph::nodes::MoleculeId;

/// Helper threads of a search.
pub struct Help<'a> {
    pub core_share: CoreShare<'a>,
    pub running: usize,
    /// Set when the search needs no more help.
    pub stopped: Arc<AtomicBool>,
    done: (Sender<MoleculeId>, Receiver<MoleculeId>),
}

impl Drop for Help<'_> {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::Relaxed);
    }
}

impl<'a> Help<'a> {
    /// Creates the state for as many helpers as the core share allows.
    pub fn new(core_share: CoreShare<'a>) -> Self {
        Self { core_share, running: 0, stopped: Arc::default(), done: channel() }
    }

    /// Registers a helper at work on `id`. Dropping the report signals its end.
    pub fn report(&mut self, id: MoleculeId) -> CompletionReport {
        self.running += 1;
        CompletionReport { id, to: self.done.0.clone() }
    }

    /// Molecule that a helper has finished, if there is one within `timeout`.
    pub fn result_within(&mut self, timeout: Duration) -> Option<MoleculeId> {
        if self.running == 0 {
            return None;
        }
        let done = self.done.1.recv_timeout(timeout).ok()?;
        self.running -= 1;
        Some(done)
    }
}

/// Report of a helper on a molecule. Sent when dropped, so it arrives even if the helper panics.
pub struct CompletionReport {
    id: MoleculeId,
    to: Sender<MoleculeId>,
}

impl Drop for CompletionReport {
    fn drop(&mut self) {
        // A finished search no longer receives.
        let _ = self.to.send(self.id);
    }
}
