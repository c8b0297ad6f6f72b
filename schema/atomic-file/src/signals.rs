//! The temporaries of this process, and their removal when a signal ends it.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::{fs, io};

use platform::signals::{self, Handler};

static TEMPORARIES: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
/// A bit for each signal that removes the temporaries.
static REMOVING: AtomicU64 = AtomicU64::new(0);
static HANDLER: Once = Once::new();

/// From now on SIGINT, SIGTERM and SIGHUP remove the temporaries of this process before they end it. For programs only:
/// a library must not change the signals of its process.
pub fn remove_on_signals() {
    REMOVING.store(bits(signals::ENDS), Ordering::Relaxed);
}

/// Undoes [`remove_on_signals`] for `signals`, which the program handles itself from now on.
pub fn keep_on_signals(signals: &[i32]) {
    REMOVING.fetch_and(!bits(signals), Ordering::Relaxed);
}

fn bits(signals: &[i32]) -> u64 {
    signals.iter().fold(0, |bits, signal| bits | 1 << (signal - 1))
}

/// Removes the temporaries of this process and ends it, from any thread, whatever the others do.
pub fn exit(code: u8) -> ! {
    let temporaries = temporaries();
    temporaries.iter().for_each(|path| remove(path));
    signals::exit_at_once(code)
}

/// A temporary that a signal removes, as long as this lives.
#[derive(Debug)]
pub(crate) struct Registered(PathBuf);

impl Registered {
    /// Creates a temporary, whose path `path` returns. No signal ends the process between its creation and its registration.
    pub(crate) fn create<T>(
        create: impl FnOnce() -> io::Result<T>,
        path: impl FnOnce(&T) -> PathBuf,
    ) -> io::Result<(T, Self)> {
        if REMOVING.load(Ordering::Relaxed) != 0 {
            HANDLER.call_once(handle);
        }
        let mut temporaries = temporaries();
        let created = create()?;
        let path = path(&created);
        temporaries.push(path.clone());
        Ok((created, Self(path)))
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        temporaries().retain(|temporary| *temporary != self.0);
    }
}

/// Until the guard is dropped, no signal that removes temporaries ends the process, and no temporary comes into being.
pub(crate) fn hold() -> MutexGuard<'static, Vec<PathBuf>> {
    temporaries()
}

fn temporaries() -> MutexGuard<'static, Vec<PathBuf>> {
    TEMPORARIES.lock().unwrap_or_else(PoisonError::into_inner)
}

fn handle() {
    let ignored = ignored(&fs::read_to_string("/proc/self/status").unwrap_or_default());
    // Signals that this process ignores, as under nohup, stay ignored, and those that it handles itself are not caught.
    let caught = bits(signals::ENDS) & REMOVING.load(Ordering::Relaxed) & !ignored;
    let caught = signals::ENDS.iter().copied().filter(|&signal| caught & bits(&[signal]) != 0);
    let end = |signal| {
        if REMOVING.load(Ordering::Relaxed) & bits(&[signal]) == 0 {
            return;
        }
        // Held until the end: no new temporary comes into being.
        let temporaries = temporaries();
        temporaries.iter().for_each(|path| remove(path));
        signals::end_by(signal);
    };
    // A failure gives the signals up.
    let _ = Handler::start(&caught.collect::<Vec<_>>(), end);
}

/// How often a folder is removed that gets new files meanwhile.
const ATTEMPTS: usize = 100;

fn remove(path: &Path) {
    let is_left = || path.symlink_metadata().is_ok();
    for _ in 0..ATTEMPTS {
        let _ = fs::remove_file(path).or_else(|_| fs::remove_dir_all(path));
        if !is_left() {
            return;
        }
    }
}

/// The signals that a process ignores, a bit each, from its `/proc/PID/status`.
fn ignored(status: &str) -> u64 {
    let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    line.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}
