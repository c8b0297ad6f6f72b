//! Watches a statement while it runs: its progress, and Ctrl-C.

use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use cli::Progress;
use duckdb::Interrupter;
use platform::signals::{Handler, INTERRUPT};

/// Shorter statements get no bar.
const PATIENCE: Duration = Duration::from_millis(500);
/// The time between two looks.
const TICK: Duration = Duration::from_millis(125);
/// The length of the bar: thousandths of a percent.
const WHOLE: u64 = 100 << 14;

pub(crate) fn has_terminal() -> bool {
    std::io::stderr().is_terminal()
}

/// A bar on standard error while a statement runs.
#[derive(Debug)]
pub(crate) struct ProgressOfStatement {
    is_done: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl ProgressOfStatement {
    pub(crate) fn start(interrupter: Interrupter, quiet: bool) -> Self {
        let is_done = Arc::new(AtomicBool::new(false));
        let stop = Arc::clone(&is_done);
        let follow = move || {
            std::thread::park_timeout(PATIENCE);
            if stop.load(Ordering::Relaxed) {
                return;
            }
            let progress = Progress::new("computing", WHOLE, quiet);
            let mut shown = 0;
            while !stop.load(Ordering::Relaxed) {
                let done = interrupter.progress().map_or(0, |percent| (percent * f64::from(1 << 14)) as u64);
                if done > shown {
                    progress.advance(done - shown);
                    shown = done;
                }
                std::thread::park_timeout(TICK);
            }
        };
        let is_shown = !quiet && has_terminal();
        Self { is_done, thread: is_shown.then(|| std::thread::spawn(follow)) }
    }
}

impl Drop for ProgressOfStatement {
    fn drop(&mut self) {
        self.is_done.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // The bar is gone before anything is printed.
            let _ = thread.join();
        }
    }
}

/// Ctrl-C ends the statement that runs.
#[derive(Debug)]
pub(crate) struct Interrupts(Handler);

impl Interrupts {
    /// # Errors
    /// Where the system gives no handler.
    pub(crate) fn start(interrupter: Interrupter) -> std::io::Result<Self> {
        Handler::start(&[INTERRUPT], move |_| interrupter.interrupt()).map(Self)
    }
}

impl Drop for Interrupts {
    fn drop(&mut self) {
        self.0.close();
    }
}
