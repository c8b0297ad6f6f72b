//! How many executions came to the part that a target is for.

use std::sync::atomic::{AtomicU64, Ordering};

/// Executions between two lines.
const EVERY: u64 = 1 << 16;

static ALL: AtomicU64 = AtomicU64::new(0);
static ACCEPTED: AtomicU64 = AtomicU64::new(0);

/// Counts an execution, and prints the share of accepted ones now and then.
pub fn count(is_accepted: bool) {
    let accepted = ACCEPTED.fetch_add(u64::from(is_accepted), Ordering::Relaxed) + u64::from(is_accepted);
    let all = ALL.fetch_add(1, Ordering::Relaxed) + 1;
    if all % EVERY == 0 {
        eprintln!("accepted: {accepted} of {all}");
    }
}
