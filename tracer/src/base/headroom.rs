//! Measures how much memory the process may still take where its limits are finite (RLIMIT_AS, RLIMIT_DATA).
//!
//! A program that gets no memory usually ends, and must not do so because the tracer took the last of it. So the tracer leaves
//! [`KEPT`] bytes alone. It checks now and then, by reading a file into its stack.

#![expect(unsafe_code, reason = "calls libc")]

use std::fs::File;
use std::io::{self, Read};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::base::memory;

/// Bytes that are left to the program.
pub const KEPT: u64 = 128 << 20;

/// Bytes of address space that the C library sets aside for a thread when it first allocates.
const ARENA: u64 = 64 << 20;

/// Bytes that a thread takes when it starts: an arena, and its stack.
const THREAD: u64 = ARENA + (4 << 20);

/// Bytes that a thread needs at least: its stack, and a few pages where no address space is left for an arena of its own.
const LAST_THREAD: u64 = (2 << 20) + (256 << 10);

/// Number of threads that may be allocating for the first time.
static FIRST_USES: AtomicU64 = AtomicU64::new(0);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Limits {
    space: u64,
    data: u64,
}

/// True where the tracer may take no more memory. Checked now and then, and before the tracer takes much.
#[must_use]
pub fn is_gone() -> bool {
    if !memory::is_short() && left().is_some_and(|left| left < KEPT) {
        memory::run_short();
    }
    memory::is_short()
}

/// Checks that a thread may be started; reserves nothing.
///
/// # Errors
/// The rest of the memory is left to the program. Memory is short then.
pub fn for_a_thread() -> io::Result<()> {
    match left() {
        Some(left) if left < KEPT + THREAD => {
            memory::run_short();
            let message = format!("the limit on memory leaves {} MiB", left >> 20);
            Err(io::Error::new(io::ErrorKind::OutOfMemory, message))
        }
        _ => Ok(()),
    }
}

/// True if a thread that ends soon fits into the rest of the memory, which it may take at the end of the process.
#[must_use]
pub fn fits_last_thread() -> bool {
    left().is_none_or(|left| left >= LAST_THREAD)
}

/// True if the calling thread, which may never have allocated, may use thread-local values for the first time. Otherwise memory
/// is short.
#[cold]
#[must_use]
pub fn for_first_use() -> bool {
    // Threads that come here at the same time must together leave as much to the program as one does.
    let arenas = (FIRST_USES.fetch_add(1, Ordering::SeqCst) + 1).saturating_mul(ARENA);
    if left().is_some_and(|left| left < KEPT + arenas) {
        memory::run_short();
    }
    let may_be_used = !memory::is_short() && memory::is_there_for_others();
    FIRST_USES.fetch_sub(1, Ordering::SeqCst);
    may_be_used
}

/// Bytes that the process may still take; `None` without a limit, or where its use is unknown.
fn left() -> Option<u64> {
    // Miri has no limits, nor the function that reads them.
    if cfg!(miri) {
        return None;
    }
    let limits = limits();
    if limits == (Limits { space: u64::MAX, data: u64::MAX }) {
        return None;
    }
    let mut text = [0; 256];
    let length = File::open("/proc/self/statm").and_then(|mut file| file.read(&mut text)).ok()?;
    // SAFETY: the call only returns a number.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    within(limits, str::from_utf8(&text[..length]).ok()?, u64::try_from(page).ok()?)
}

fn limits() -> Limits {
    let limit = |of| {
        let mut limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
        // SAFETY: the call writes `limit` only.
        unsafe { libc::getrlimit(of, &raw mut limit) };
        limit.rlim_cur
    };
    Limits { space: limit(libc::RLIMIT_AS), data: limit(libc::RLIMIT_DATA) }
}

/// The smaller rest of both limits. `statm` has the use of the process in pages: all of it is the first field, data the sixth.
fn within(limits: Limits, statm: &str, page: u64) -> Option<u64> {
    let mut numbers = statm.split_ascii_whitespace().map(|number| number.parse::<u64>().ok());
    let (space, data) = (numbers.next()??, numbers.nth(4)??);
    let left = |limit: u64, pages: u64| limit.saturating_sub(pages.saturating_mul(page));
    Some(left(limits.space, space).min(left(limits.data, data)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearer_limit_counts() {
        let statm = "1000 300 200 10 0 400 0\n";
        let left = |space, data| within(Limits { space, data }, statm, 4096);
        assert_eq!(left(5_000 * 4096, u64::MAX), Some(4_000 * 4096));
        assert_eq!(left(5_000 * 4096, 500 * 4096), Some(100 * 4096));
        assert_eq!(left(999 * 4096, u64::MAX), Some(0), "it was set below what there is");
        assert_eq!(within(Limits { space: 1, data: 1 }, "what", 4096), None);
    }

    #[test]
    fn without_a_limit_nothing_is_short() {
        assert!(!is_gone() && for_a_thread().is_ok() && for_first_use() && fits_last_thread());
    }
}
