//! How the collector sleeps, and how it is woken without a cost to those who do not need to wake it.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering, fence};
use std::thread::Thread;
use std::time::Duration;

const AWAKE: u8 = 0;
const DOZING: u8 = 1;
const ASLEEP: u8 = 2;

/// What the collector sleeps beside. Others put something where it will look and then touch the bell.
#[derive(Debug, Default)]
pub struct Bell {
    state: AtomicU8,
    sleeper: OnceLock<Thread>,
}

impl Bell {
    /// Says which thread sleeps here; the first one counts.
    pub fn belong_to(&self, thread: Thread) {
        let _ = self.sleeper.set(thread);
    }

    /// Work has come that can wait for the end of a doze: rings only when the collector is asleep.
    #[inline]
    pub fn touch(&self) {
        // Between putting the work down and looking whether someone sleeps, as `sleep` does it the other way
        // round: one of the two sees the other.
        fence(Ordering::SeqCst);
        if self.state.load(Ordering::Relaxed) == ASLEEP {
            self.wake();
        }
    }

    /// Work has come that cannot wait: rings when the collector is not awake.
    #[inline]
    pub fn ring(&self) {
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

    /// Sleeps for `most`, without end where that is `None`, or until the bell is rung; not at all when `is_work`
    /// finds some. May return early. Only called by the thread that it belongs to.
    pub fn sleep(&self, most: Option<Duration>, is_work: impl FnOnce() -> bool) {
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

    #[test]
    fn no_work_is_slept_over() {
        let shared = Arc::new((Bell::default(), AtomicU32::new(0)));
        let worker = std::thread::spawn({
            let shared = Arc::clone(&shared);
            move || {
                let (bell, work) = &*shared;
                bell.belong_to(std::thread::current());
                let mut done = 0;
                while done < 20_000 {
                    // Alternately: work that rings for a doze, work that touches a sleep.
                    let most = (done % 2 == 0).then_some(Duration::from_secs(3600));
                    bell.sleep(most, || work.load(Ordering::Relaxed) > done);
                    done = work.load(Ordering::Relaxed).max(done);
                }
            }
        });
        let (bell, work) = &*shared;
        for _ in 0..20_000 {
            work.fetch_add(1, Ordering::Relaxed);
            bell.ring();
        }
        worker.join().unwrap();
    }
}
