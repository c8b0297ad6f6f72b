//! How the collector sleeps, and how it is woken without a cost to those who do not need to wake it.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering, fence};
use std::thread::Thread;
use std::time::Duration;

const AWAKE: u8 = 0;
const DOZING: u8 = 1;
const ASLEEP: u8 = 2;

/// Parks the collector. Other threads queue work and then notify it.
#[derive(Debug, Default)]
pub struct Parker {
    state: AtomicU8,
    sleeper: OnceLock<Thread>,
}

impl Parker {
    /// Sets the thread that parks; only the first call counts.
    pub fn set_thread(&self, thread: Thread) {
        let _ = self.sleeper.set(thread);
    }

    /// Wakes the collector where it is asleep without a time limit: for work that can wait for the end of a doze.
    #[inline]
    pub fn notify(&self) {
        // Between putting the work down and looking whether someone sleeps, as `park` does it the other way
        // round: one of the two sees the other.
        fence(Ordering::SeqCst);
        if self.state.load(Ordering::Relaxed) == ASLEEP {
            self.wake();
        }
    }

    /// Wakes the collector where it is not awake: for work that cannot wait.
    #[inline]
    pub fn notify_at_once(&self) {
        fence(Ordering::SeqCst);
        if self.state.load(Ordering::Relaxed) != AWAKE {
            self.wake();
        }
    }

    #[cold]
    fn wake(&self) {
        if self.state.swap(AWAKE, Ordering::SeqCst) != AWAKE
            && let Some(thread) = self.sleeper.get()
        {
            thread.unpark();
        }
    }

    /// Parks for `most`, without limit where that is `None`, or until it is notified; not at all when `is_work`
    /// finds some. May return early. Only called by the thread that it belongs to.
    pub fn park(&self, most: Option<Duration>, is_work: impl FnOnce() -> bool) {
        self.state.store(if most.is_some() { DOZING } else { ASLEEP }, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        if !is_work() {
            match most {
                Some(most) => std::thread::park_timeout(most),
                None => std::thread::park(),
            }
        }
        self.state.store(AWAKE, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicU32;

    use super::*;

    const ROUNDS: u32 = if cfg!(miri) { 100 } else { 20_000 };

    #[test]
    fn no_work_is_slept_over() {
        let shared = Arc::new((Parker::default(), AtomicU32::new(0)));
        let worker = std::thread::spawn({
            let shared = Arc::clone(&shared);
            move || {
                let (parker, work) = &*shared;
                parker.set_thread(std::thread::current());
                let mut done = 0;
                while done < ROUNDS {
                    // Alternately: work that interrupts a doze, work that interrupts a sleep.
                    let most = (done % 2 == 0).then_some(Duration::from_secs(3600));
                    parker.park(most, || work.load(Ordering::Relaxed) > done);
                    done = work.load(Ordering::Relaxed).max(done);
                }
            }
        });
        let (parker, work) = &*shared;
        for _ in 0..ROUNDS {
            work.fetch_add(1, Ordering::Relaxed);
            parker.notify_at_once();
        }
        worker.join().unwrap();
    }
}
