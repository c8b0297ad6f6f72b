//! The collector's sleep, from which other threads wake it at no cost where it does not sleep.

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

    /// Wakes the collector if it sleeps without a time limit, for work that can wait for the end of a short sleep.
    #[inline]
    pub fn notify(&self) {
        // The fence is between storing the work and checking for a sleeper, and `park` has one the other way round, so that one
        // of the two sees the other.
        fence(Ordering::SeqCst);
        if self.state.load(Ordering::Relaxed) == ASLEEP {
            self.wake();
        }
    }

    /// Wakes the collector if it sleeps at all, for work that cannot wait.
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

    /// Parks for `most`, without limit where that is `None`, or until it is notified; not at all when `is_work` finds some. May
    /// return early. Only the collector's thread calls this.
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
                    // Work alternately interrupts a sleep with a limit and one without.
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
