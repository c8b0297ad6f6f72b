//! Progress bars on standard error, for work that takes long enough to wonder about.

use std::cell::Cell;
use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Work of fewer bytes or parts is done before a bar could be read.
const MIN_TOTAL: u64 = 1 << 20;

const TICK: Duration = Duration::from_millis(125);

/// The time left is that of the rest at the present speed.
const BYTES_TEMPLATE: &str = "{msg} {wide_bar} {binary_bytes} of {binary_total_bytes}, {eta} left";
const PARTS_TEMPLATE: &str = "{msg} {wide_bar} {percent} %, {eta} left";
/// The end of this work is not known.
const ENDLESS_TEMPLATE: &str = "{msg} {spinner} {elapsed}";

#[derive(Debug)]
pub struct Progress {
    bar: Option<ProgressBar>,
    /// The label, the number of files, and the number of those that are done.
    files: Option<(&'static str, usize, Cell<usize>)>,
    /// Updates the bar of [`Self::reading`].
    reader: Option<(Arc<AtomicBool>, JoinHandle<()>)>,
}

impl Progress {
    /// Shows nothing with `quiet`, without a terminal, and for small totals.
    pub fn new(label: &'static str, total: u64, quiet: bool) -> Self {
        Self::shown(total, quiet, |target| Self::on(target, label, total, PARTS_TEMPLATE))
    }

    /// A bar for `count` files of `bytes` in all, which shows the number of the file, the bytes and the time left.
    pub fn files(label: &'static str, count: usize, bytes: u64, quiet: bool) -> Self {
        Self::shown(bytes, quiet, |target| Self::with_files(target, label, count, bytes))
    }

    /// A bar of the bytes that the process reads from now on, out of `total`. When all is read its label becomes `next`, the
    /// work on what was read, with the time that has passed.
    pub fn reading(total: u64, next: &'static str, quiet: bool) -> Self {
        let mut progress =
            Self::shown(total, quiet, |target| Self::on(target, "reading", total, BYTES_TEMPLATE));
        if let (Some(bar), Some(start)) = (progress.bar.clone(), bytes_read()) {
            let is_done = Arc::new(AtomicBool::new(false));
            let stop = Arc::clone(&is_done);
            let follow = move || {
                let mut is_read = false;
                while !stop.load(Ordering::Relaxed) {
                    let read = bytes_read().unwrap_or(start).saturating_sub(start);
                    bar.set_position(read.min(total));
                    if read >= total && !is_read {
                        is_read = true;
                        bar.set_message(next);
                        set_style(&bar, ENDLESS_TEMPLATE);
                    }
                    std::thread::park_timeout(TICK);
                }
            };
            progress.reader = Some((is_done, std::thread::spawn(follow)));
        }
        progress
    }

    fn shown(total: u64, quiet: bool, bar: impl FnOnce(ProgressDrawTarget) -> Self) -> Self {
        if quiet || total < MIN_TOTAL || !std::io::stderr().is_terminal() {
            return Self { bar: None, files: None, reader: None };
        }
        let progress = bar(ProgressDrawTarget::stderr_with_hz(8));
        progress.bar.iter().for_each(|bar| bar.enable_steady_tick(Duration::from_millis(250)));
        progress
    }

    fn on(target: ProgressDrawTarget, label: &'static str, total: u64, template: &str) -> Self {
        let bar = ProgressBar::with_draw_target(Some(total), target);
        set_style(&bar, template);
        bar.set_message(label);
        Self { bar: Some(bar), files: None, reader: None }
    }

    fn with_files(target: ProgressDrawTarget, label: &'static str, count: usize, bytes: u64) -> Self {
        let mut progress = Self::on(target, label, bytes, BYTES_TEMPLATE);
        progress.files = Some((label, count, Cell::new(0)));
        progress.file_done(0, 0);
        progress
    }

    pub fn advance(&self, units: u64) {
        if let (Some(bar), None) = (&self.bar, &self.reader) {
            bar.inc(units);
        }
    }

    /// Adds a finished file of this many bytes.
    pub fn advance_file(&self, bytes: u64) {
        self.file_done(1, bytes);
    }

    fn file_done(&self, files: usize, bytes: u64) {
        if let (Some(bar), Some((label, count, done))) = (&self.bar, &self.files) {
            done.set(done.get() + files);
            bar.set_message(format!("{label} {} of {count} files", done.get()));
            bar.inc(bytes);
        }
    }
}

fn set_style(bar: &ProgressBar, template: &str) {
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
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
    use std::io;
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn the_bytes_read_follow_the_reads_of_the_process() {
        let Some(before) = bytes_read() else { return };
        let program = std::fs::read("/proc/self/exe").expect("the running program");
        let after = bytes_read().expect("counted before");
        assert!(after - before >= program.len() as u64, "{before} {after} {}", program.len());
    }

    /// A terminal of 72 columns that keeps the last line.
    #[derive(Debug, Clone, Default)]
    struct Line(Arc<Mutex<String>>);

    impl Line {
        fn text(&self) -> String {
            self.0.lock().unwrap().trim_end().to_owned()
        }
    }

    impl indicatif::TermLike for Line {
        fn width(&self) -> u16 {
            72
        }

        fn move_cursor_up(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn move_cursor_down(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn move_cursor_right(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn move_cursor_left(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn write_line(&self, text: &str) -> io::Result<()> {
            self.write_str(text)
        }

        fn write_str(&self, text: &str) -> io::Result<()> {
            self.0.lock().unwrap().push_str(text);
            Ok(())
        }

        fn clear_line(&self) -> io::Result<()> {
            self.0.lock().unwrap().clear();
            Ok(())
        }

        fn flush(&self) -> io::Result<()> {
            Ok(())
        }
    }

    fn target(line: &Line) -> ProgressDrawTarget {
        ProgressDrawTarget::term_like(Box::new(line.clone()))
    }

    #[test]
    fn a_bar_of_files_says_which_file_it_is_the_bytes_and_the_time_left() {
        let line = Line::default();
        let progress = Progress::with_files(target(&line), "merging", 4, 8 << 20);
        progress.advance_file(1 << 20);
        progress.advance_file(3 << 20);
        progress.bar.as_ref().unwrap().force_draw();
        let text = line.text();
        assert!(text.starts_with("merging 2 of 4 files "), "{text}");
        assert!(text.contains(" 4.00 MiB of 8.00 MiB, ") && text.ends_with(" left"), "{text}");
        assert!(text.chars().count() <= 72, "{text}");
    }

    #[test]
    fn a_bar_of_parts_says_the_percentage_and_the_time_left() {
        let line = Line::default();
        let progress = Progress::on(target(&line), "writing", 200, PARTS_TEMPLATE);
        progress.advance(50);
        progress.bar.as_ref().unwrap().force_draw();
        let text = line.text();
        assert!(
            text.starts_with("writing ") && text.contains(" 25 %, ") && text.ends_with(" left"),
            "{text}"
        );
    }

    #[test]
    fn without_a_terminal_there_is_no_bar() {
        let progress = Progress::reading(1 << 30, "computing", true);
        assert!(progress.bar.is_none() && progress.reader.is_none());
    }
}
