use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Below this many units of work a bar would only flicker.
const WORTH_A_BAR: u64 = 1 << 20;

/// How far a long work is, on standard error; silent where nobody watches or the work is short.
#[derive(Debug)]
pub struct Progress {
    bar: Option<ProgressBar>,
}

impl Progress {
    /// A bar for `total` rows (or bytes) of work called `label`. Silent with `quiet`, where standard error
    /// is no terminal, and for small totals: then it costs nothing.
    pub fn new(label: &str, total: u64, quiet: bool) -> Self {
        if quiet || total < WORTH_A_BAR || !std::io::stderr().is_terminal() {
            return Self::silent();
        }
        let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr_with_hz(8));
        if let Ok(style) = ProgressStyle::with_template("{msg} {wide_bar} {percent}% {eta}") {
            bar.set_style(style);
        }
        bar.set_message(label.to_owned());
        bar.enable_steady_tick(Duration::from_millis(250));
        Self { bar: Some(bar) }
    }

    /// One that says nothing.
    pub fn silent() -> Self {
        Self { bar: None }
    }

    /// `units` more are done.
    pub fn advance(&self, units: u64) {
        if let Some(bar) = &self.bar {
            bar.inc(units);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
