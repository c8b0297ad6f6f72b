use std::num::NonZero;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::available_parallelism;

/// The bound that the user sets; 0 before.
static LIMIT: AtomicUsize = AtomicUsize::new(0);

/// Permits that are in use.
static TAKEN: AtomicUsize = AtomicUsize::new(0);

/// Leave to run one thread beside the one that asks. Dropping it lets another thread run.
#[derive(Debug)]
pub struct Permit(());

/// Bounds the threads that work at the same time. Threads that run already go on.
pub fn set_limit(threads: NonZero<usize>) {
    LIMIT.store(threads.get(), Ordering::Relaxed);
}

/// How many threads may work at the same time: without [`set_limit`] the cores that the process may use, by its affinity
/// and the limits of its control groups.
pub fn limit() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    match LIMIT.load(Ordering::Relaxed) {
        0 => *CORES.get_or_init(|| available_parallelism().map_or(1, NonZero::get)),
        set => set,
    }
}

/// Permits for `wanted` threads beside this one, or for fewer where others work already.
pub fn permits(wanted: usize) -> Vec<Permit> {
    let most = limit() - 1;
    let take = |taken: usize| {
        let free = most.saturating_sub(taken).min(wanted);
        (free > 0).then_some(taken + free)
    };
    let before = TAKEN.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take);
    let granted = before.map_or(0, |taken| most.saturating_sub(taken).min(wanted));
    (0..granted).map(|_| Permit(())).collect()
}

/// How many permits [`permits`] would give at this moment.
pub fn free() -> usize {
    (limit() - 1).saturating_sub(TAKEN.load(Ordering::Relaxed))
}

impl Drop for Permit {
    fn drop(&mut self) {
        TAKEN.fetch_sub(1, Ordering::Relaxed);
    }
}
