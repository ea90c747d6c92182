//! When apalis looks for jobs.
//!
//! Its own LISTEN loses a notification that comes while a fetch is in flight, and a job then waits for the
//! next tick. Here a notification starts a burst of looks at growing distances, so that one of them falls
//! after the fetch, and a slow timer is always armed for what no notification announces.

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

/// The pause without notifications.
const IDLE: Duration = Duration::from_secs(1);

/// The same where workers are so many that only some are told of a job: those who end jobs look, all the time, and a thousand looks
/// a second for nothing are a core of the database's.
const IDLE_IN_A_CROWD: Duration = Duration::from_secs(5);

/// The first pause of a burst; each further one is twice as long.
const FIRST: Duration = Duration::from_millis(2);

/// Looks in a burst: after 2, 4, 8 … 128 ms.
const BURST: u32 = 7;

/// Wakes the strategy; many calls before it looks count as one.
#[derive(Debug, Default)]
pub(crate) struct Bell {
    rung: AtomicBool,
    in_a_crowd: AtomicBool,
    waker: AtomicWaker,
}

impl Bell {
    pub(crate) fn ring(&self) {
        self.rung.store(true, Ordering::Release);
        self.waker.wake();
    }

    /// Whether the last job was told to some workers of many.
    pub(crate) fn heard_in_a_crowd(&self, is_crowd: bool) {
        self.in_a_crowd.store(is_crowd, Ordering::Relaxed);
    }
}

/// Looks at every ring of the bell, a few times after it, and once a second.
#[derive(Debug)]
pub(crate) struct OnBell {
    bell: Arc<Bell>,
    left: u32,
    timer: Pin<Box<Sleep>>,
}

impl OnBell {
    pub(crate) fn new(bell: Arc<Bell>) -> Self {
        Self { bell, left: 0, timer: Box::pin(tokio::time::sleep(IDLE)) }
    }

    fn next_pause(&mut self) -> Duration {
        if self.left == 0 {
            return if self.bell.in_a_crowd.load(Ordering::Relaxed) { IDLE_IN_A_CROWD } else { IDLE };
        }
        self.left -= 1;
        FIRST * 2_u32.pow(BURST - 1 - self.left)
    }
}

impl PollStrategy for OnBell {
    fn poll_drive(&mut self, context: &mut Context<'_>, _: &PollSnapshot) -> Poll<Option<()>> {
        self.bell.waker.register(context.waker());
        let mut look = self.bell.rung.swap(false, Ordering::AcqRel);
        if look {
            self.left = BURST;
            let pause = self.next_pause();
            self.timer.as_mut().reset(Instant::now() + pause);
        }
        while self.timer.as_mut().poll(context).is_ready() {
            look = true;
            let pause = self.next_pause();
            self.timer.as_mut().reset(Instant::now() + pause);
        }
        if look { Poll::Ready(Some(())) } else { Poll::Pending }
    }
}
