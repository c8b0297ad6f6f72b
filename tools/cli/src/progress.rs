use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Shorter work gets no bar.
const MIN_TOTAL: u64 = 1 << 20;

/// The time between two looks at the bytes read.
const TICK: Duration = Duration::from_millis(125);

/// A progress bar on standard error.
#[derive(Debug)]
pub struct Progress {
    bar: Option<ProgressBar>,
    /// Updates the bar of [`Self::reading`].
    reader: Option<(Arc<AtomicBool>, JoinHandle<()>)>,
}

impl Progress {
    /// A bar called `label` for `total` units of work (rows or bytes). Silent with `quiet`, without a terminal, and
    /// for small totals.
    pub fn new(label: &str, total: u64, quiet: bool) -> Self {
        if quiet || total < MIN_TOTAL || !std::io::stderr().is_terminal() {
            return Self { bar: None, reader: None };
        }
        let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr_with_hz(8));
        if let Ok(style) = ProgressStyle::with_template("{msg} {wide_bar} {percent}% {eta}") {
            bar.set_style(style);
        }
        bar.set_message(label.to_owned());
        bar.enable_steady_tick(Duration::from_millis(250));
        Self { bar: Some(bar), reader: None }
    }

    /// A bar of the bytes that the process reads from now on, out of `total`. It needs no [`Self::advance`], and when all
    /// is read its label becomes `next`, the work on what was read.
    pub fn reading(total: u64, next: &'static str, quiet: bool) -> Self {
        let mut progress = Self::new("reading", total, quiet);
        if let (Some(bar), Some(start)) = (progress.bar.clone(), bytes_read()) {
            let is_done = Arc::new(AtomicBool::new(false));
            let stop = Arc::clone(&is_done);
            let follow = move || {
                while !stop.load(Ordering::Relaxed) {
                    let read = bytes_read().unwrap_or(start).saturating_sub(start);
                    bar.set_position(read.min(total));
                    if read >= total {
                        bar.set_message(next);
                    }
                    std::thread::park_timeout(TICK);
                }
            };
            progress.reader = Some((is_done, std::thread::spawn(follow)));
        }
        progress
    }

    /// Adds `units` of finished work.
    pub fn advance(&self, units: u64) {
        if let (Some(bar), None) = (&self.bar, &self.reader) {
            bar.inc(units);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((is_done, thread)) = self.reader.take() {
            is_done.store(true, Ordering::Relaxed);
            thread.thread().unpark();
            // A panic of the thread lost no result.
            let _ = thread.join();
        }
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// The bytes that this process has read so far, where the system counts them.
fn bytes_read() -> Option<u64> {
    let counts = std::fs::read_to_string("/proc/self/io").ok()?;
    counts.lines().find_map(|line| line.strip_prefix("rchar: "))?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_read_follow_the_reads_of_the_process() {
        let Some(before) = bytes_read() else { return };
        let program = std::fs::read("/proc/self/exe").expect("the running program");
        let after = bytes_read().expect("counted before");
        assert!(after - before >= program.len() as u64, "{before} {after} {}", program.len());
    }

    #[test]
    fn without_a_terminal_there_is_no_bar() {
        let progress = Progress::reading(1 << 30, "computing", true);
        assert!(progress.bar.is_none() && progress.reader.is_none());
    }
}
