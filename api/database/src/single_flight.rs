//! Single-flight calls: callers that arrive while a call is running share its result instead of queueing for another.

use futures::{
    FutureExt,
    future::{BoxFuture, Shared},
};
use parking_lot::Mutex;

/// A shared result of a call; `None` if the call panicked.
pub type SharedResult<T> = Shared<BoxFuture<'static, Option<T>>>;

/// The running call, or the last result.
#[derive(Debug)]
pub struct SingleFlight<T: Clone>(Mutex<Option<SharedResult<T>>>);

impl<T: Clone> Default for SingleFlight<T> {
    fn default() -> Self {
        Self(Mutex::new(None))
    }
}

impl<T: Clone + Send + Sync + 'static> SingleFlight<T> {
    /// Joins the running call, or starts one with `start`.
    ///
    /// The call runs on its own, even if callers stop waiting for it.
    pub fn join<F>(&self, start: impl FnOnce() -> F) -> SharedResult<T>
    where
        F: Future<Output = T> + Send + 'static,
    {
        let mut current = self.0.lock();
        match &*current {
            Some(shared) if shared.peek().is_none() => shared.clone(),
            _ => {
                let task = tokio::spawn(start());
                let shared = task.map(Result::ok).boxed().shared();
                current.insert(shared).clone()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    };

    use tokio::sync::Semaphore;

    use super::*;

    #[tokio::test]
    async fn concurrent_callers_share_one_answer_and_later_ones_start_anew() {
        let (flight, shared, gate) =
            (SingleFlight::default(), Arc::new(AtomicU32::new(0)), Arc::new(Semaphore::new(0)));
        let join = || {
            let (shared, gate) = (shared.clone(), gate.clone());
            flight.join(|| async move {
                gate.acquire().await.unwrap().forget();
                shared.fetch_add(1, Ordering::Relaxed) + 1
            })
        };

        // The first caller leaves, and the others still get their result.
        drop(join());
        let both = futures::future::join(join(), join());
        gate.add_permits(1);
        assert_eq!(both.await, (Some(1), Some(1)));

        gate.add_permits(1);
        assert_eq!(join().await, Some(2));
    }

    #[tokio::test]
    async fn a_flight_that_panics_is_started_anew() {
        let flight = SingleFlight::default();

        assert_eq!(flight.join(|| async { panic!("on purpose") }).await, None::<u32>);
        assert_eq!(flight.join(|| async { 1 }).await, Some(1));
    }
}
