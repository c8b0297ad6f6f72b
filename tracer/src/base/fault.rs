//! Where tests have the tracer fail. The library has nothing of it: only `tests/faulty` is built with `cfg(faulty)`.

/// Panics here once, where `RTL_FAULT` says so: as `PLACE` or `PLACE:TIMES_BEFORE`.
#[cfg(faulty)]
pub fn point(place: &str) {
    use std::sync::atomic::{AtomicU64, Ordering};
    static PASSED: AtomicU64 = AtomicU64::new(0);
    let Ok(wanted) = std::env::var("RTL_FAULT") else { return };
    let (wanted, before) = wanted.split_once(':').unwrap_or((&wanted, "0"));
    if wanted == place && PASSED.fetch_add(1, Ordering::Relaxed) == before.parse().unwrap_or(0) {
        panic!("a fault on purpose: {place}");
    }
}

/// Nothing happens here.
#[cfg(not(faulty))]
#[inline(always)]
pub fn point(_place: &str) {}
