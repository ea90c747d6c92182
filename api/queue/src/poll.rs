//! Schedule on which apalis polls for jobs.
//!
//! Its own LISTEN loses a notification that comes while a fetch is in flight, and the job then waits for the next
//! tick. Here a notification starts a burst of polls at growing intervals, so that one of them comes after the fetch.
//! A slow timer always runs for jobs that no notification announces.

use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use apalis::prelude::{PollSnapshot, PollStrategy};
use futures::task::AtomicWaker;
use tokio::time::{Instant, Sleep};

/// Poll interval without notifications.
const IDLE_INTERVAL: Duration = Duration::from_secs(1);

/// Poll interval without notifications if there are so many workers that only some are notified of a job. Workers
/// that end jobs poll all the time, and a thousand futile polls a second cost the database a core.
const IDLE_INTERVAL_MANY_WORKERS: Duration = Duration::from_secs(5);

/// First pause of a burst; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(2);

/// Polls in a burst: after 2, 4, 8 … 128 ms.
const POLLS_PER_BURST: u32 = 7;

/// Notifier that wakes the poll strategy; many calls before a poll count as one.
#[derive(Debug, Default)]
pub(crate) struct PollNotifier {
    is_woken: AtomicBool,
    has_many_workers: AtomicBool,
    waker: AtomicWaker,
}

impl PollNotifier {
    pub(crate) fn wake(&self) {
        self.is_woken.store(true, Ordering::Release);
        self.waker.wake();
    }

    /// Records if the last job was announced to only some of many workers.
    pub(crate) fn set_many_workers(&self, many: bool) {
        self.has_many_workers.store(many, Ordering::Relaxed);
    }
}

/// Polls at every wake-up, a few times after it, and once a second.
#[derive(Debug)]
pub(crate) struct NotifiedPolling {
    notifier: Arc<PollNotifier>,
    left: u32,
    timer: Pin<Box<Sleep>>,
}

impl NotifiedPolling {
    pub(crate) fn new(notifier: Arc<PollNotifier>) -> Self {
        Self { notifier, left: 0, timer: Box::pin(tokio::time::sleep(IDLE_INTERVAL)) }
    }

    fn next_pause(&mut self) -> Duration {
        if self.left == 0 {
            return if self.notifier.has_many_workers.load(Ordering::Relaxed) {
                IDLE_INTERVAL_MANY_WORKERS
            } else {
                IDLE_INTERVAL
            };
        }
        self.left -= 1;
        FIRST_PAUSE * 2_u32.pow(POLLS_PER_BURST - 1 - self.left)
    }
}

impl PollStrategy for NotifiedPolling {
    fn poll_drive(&mut self, context: &mut Context<'_>, _: &PollSnapshot) -> Poll<Option<()>> {
        self.notifier.waker.register(context.waker());
        let mut is_due = self.notifier.is_woken.swap(false, Ordering::AcqRel);
        if is_due {
            self.left = POLLS_PER_BURST;
            let pause = self.next_pause();
            self.timer.as_mut().reset(Instant::now() + pause);
        }
        while self.timer.as_mut().poll(context).is_ready() {
            is_due = true;
            let pause = self.next_pause();
            self.timer.as_mut().reset(Instant::now() + pause);
        }
        if is_due { Poll::Ready(Some(())) } else { Poll::Pending }
    }
}
