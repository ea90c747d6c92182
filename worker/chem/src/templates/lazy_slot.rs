//! A lazily made value that can be dropped again.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

/// A slot for a value that is costly to make and takes much memory.
#[derive(Default)]
pub(crate) struct LazySlot<T> {
    made: Mutex<Option<Arc<T>>>,
    /// Set if requested since [`Self::drop_unused_value`] was last called.
    is_used: AtomicBool,
}

impl<T> LazySlot<T> {
    pub const fn new() -> Self {
        Self { made: Mutex::new(None), is_used: AtomicBool::new(false) }
    }

    /// Returns the value and makes it if there is none. Two concurrent callers may both make it.
    pub fn get_or_make(&self, make: impl FnOnce() -> T) -> Arc<T> {
        self.is_used.store(true, Ordering::Relaxed);
        let known = self.made.lock().clone();
        known.unwrap_or_else(|| {
            let made = Arc::new(make());
            *self.made.lock() = Some(Arc::clone(&made));
            made
        })
    }

    pub fn is_made(&self) -> bool {
        self.made.lock().is_some()
    }

    /// Drops the value if it was not requested since the last call.
    pub fn drop_unused_value(&self) {
        if !self.is_used.swap(false, Ordering::Relaxed) {
            *self.made.lock() = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_asked_for_is_forgotten_at_the_second_call() {
        let kept = LazySlot::new();
        let first = kept.get_or_make(|| 1);

        kept.drop_unused_value();
        let again = kept.get_or_make(|| 2);
        kept.drop_unused_value();
        let still = kept.is_made();
        kept.drop_unused_value();

        assert_eq!((*first, *again, still, kept.is_made()), (1, 1, true, false));
        assert_eq!(*kept.get_or_make(|| 3), 3);
    }
}
