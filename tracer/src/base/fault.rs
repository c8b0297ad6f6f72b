//! Places where a test makes the tracer panic. They exist only in builds with debug assertions, which are not released.

/// Panics where `RTL_FAULT` names the place: as `PLACE`, or `PLACE:COUNT` after `COUNT` passages.
#[cfg(debug_assertions)]
pub fn point(place: &str) {
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU64, Ordering};
    static FAULT: OnceLock<Option<(String, u64)>> = OnceLock::new();
    static PASSED: AtomicU64 = AtomicU64::new(0);
    let read = || {
        let fault = std::env::var("RTL_FAULT").ok()?;
        let (place, count) = fault.rsplit_once(':').unwrap_or((&fault, "0"));
        Some((place.to_owned(), count.parse().unwrap_or(0)))
    };
    let Some((faulty, count)) = FAULT.get_or_init(read) else { return };
    if faulty == place && PASSED.fetch_add(1, Ordering::Relaxed) == *count {
        panic!("a fault on purpose: {place}");
    }
}

#[cfg(not(debug_assertions))]
#[inline(always)]
pub fn point(_place: &str) {}
