//! Messages on standard error: warnings, and with RTL_DEBUG the course of events.

use std::fmt::Arguments;
use std::os::fd::RawFd;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use crate::base::counters::{Lost, Snapshot};
use crate::base::output_sink::{self, OutputSink};
use crate::base::process;

static LEVEL: AtomicU8 = AtomicU8::new(0);

/// Sets the level of RTL_DEBUG: 0 for warnings, 1 also for events, 2 also for packets.
pub fn set_level(level: u8) {
    LEVEL.store(level, Ordering::Relaxed);
}

#[inline]
pub fn is_enabled(level: u8) -> bool {
    LEVEL.load(Ordering::Relaxed) >= level
}

/// Prints a line at every level. Drops it where standard error is full or closed.
pub fn warn(line: Arguments<'_>) {
    let line = format!("rtl: {line}\n");
    if takes_a_line(libc::STDERR_FILENO) {
        process::within_any_file_size(|| write(libc::STDERR_FILENO, &line));
    }
}

/// Does not use the lock of Rust's standard error, which a thread that the child of a fork does not have may have held.
#[expect(unsafe_code, reason = "calls libc")]
fn write(file: RawFd, line: &str) {
    // SAFETY: the call only reads the line.
    unsafe { libc::write(file, line.as_ptr().cast(), line.len()) };
}

/// True if a line can be written without harm: writing to a full pipe would block the program, and to one that nobody reads would
/// kill it (SIGPIPE).
#[expect(unsafe_code, reason = "calls libc")]
fn takes_a_line(file: RawFd) -> bool {
    let mut poll = libc::pollfd { fd: file, events: libc::POLLOUT, revents: 0 };
    // SAFETY: there is one entry, which outlives the call; with a timeout of 0 it does not wait.
    unsafe { libc::poll(&raw mut poll, 1, 0) };
    poll.revents == libc::POLLOUT
}

/// Prints a line about records that a file lacks; a program with callbacks reads its counters instead.
pub fn warn_of_file(line: Arguments<'_>) {
    if is_enabled(1) || matches!(output_sink::output_sink(), OutputSink::File) {
        warn(line);
    }
}

/// Prints a line once: the first caller sets `printed`.
pub fn warn_once(printed: &AtomicBool, line: Arguments<'_>) {
    if !printed.swap(true, Ordering::Relaxed) {
        warn(line);
    }
}

pub fn debug(line: Arguments<'_>) {
    if is_enabled(1) {
        warn(line);
    }
}

/// A hint for the line about lost kernels or barriers: the setting that would have helped, if there is one.
#[must_use]
pub fn hint(counts: &Snapshot, buffer: usize) -> String {
    let is_full = counts.lost.iter().any(|(why, _)| matches!(why, Lost::Behind | Lost::Buffer));
    let twice = (buffer >> 20).saturating_mul(2);
    if is_full { format!("; hint: RTL_BUFFER={twice}M") } else { String::new() }
}

/// The line about lost ops such as `kernel dispatches`; `None` where none were lost.
#[must_use]
pub fn loss(counts: &Snapshot, what: &str) -> Option<String> {
    let (missing, reasons) = missing(counts)?;
    let late = counts.lost.iter().find(|(why, _)| *why == Lost::Ended).map_or(0, |&(_, count)| count);
    let seen = counts.seen.saturating_sub(late);
    Some(format!("{missing} of {seen} {what} are not in the trace: {reasons}"))
}

/// The line about lost ranges and markers; `None` where none were lost.
#[must_use]
pub fn ranges_lost(counts: &Snapshot) -> Option<String> {
    let (missing, reasons) = missing(counts)?;
    Some(format!("{missing} ranges or markers are not in the trace: {reasons}"))
}

/// The total over the reasons and a list of them; `None` where nothing is missing. Losses of other threads while the process ends
/// are only counted, because nobody expects them in the file.
fn missing(counts: &Snapshot) -> Option<(u64, String)> {
    let lost = counts.lost.iter().filter(|(why, _)| *why != Lost::Ended);
    let lost = lost.map(|(why, count)| (count, format!("{count} {}", why.description())));
    let (counts, reasons): (Vec<u64>, Vec<String>) = lost.unzip();
    (!reasons.is_empty()).then(|| (counts.iter().sum(), reasons.join(", ")))
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::fd::AsRawFd;

    use super::*;
    use crate::base::counters::{Counters, Skipped};

    #[test]
    fn a_loss_is_one_line_with_its_reasons_and_what_was_skipped_on_purpose_is_none() {
        let counters = Counters::default();
        counters.see(10);
        counters.record(6);
        counters.skip(Skipped::Signal, 1);
        assert_eq!(loss(&counters.snapshot(), "copies"), None);
        counters.lose(Lost::Times, 2);
        counters.lose(Lost::Unfinished, 1);
        let line = loss(&counters.snapshot(), "kernel dispatches").unwrap();
        assert_eq!(
            line,
            "3 of 10 kernel dispatches are not in the trace: 2 without valid times, 1 still running at the end"
        );
    }

    #[test]
    fn what_comes_while_the_process_ends_is_no_loss_to_speak_of() {
        let counters = Counters::default();
        counters.see(10);
        counters.record(6);
        counters.lose(Lost::Ended, 4);
        assert_eq!(loss(&counters.snapshot(), "copies"), None);
        counters.see(1);
        counters.lose(Lost::Behind, 1);
        let line = "1 of 7 copies are not in the trace: 1 while the recorder was behind";
        assert_eq!(loss(&counters.snapshot(), "copies").as_deref(), Some(line));
        let ranges = Counters::default();
        ranges.lose(Lost::Ended, 3);
        assert_eq!(ranges_lost(&ranges.snapshot()), None);
        ranges.lose(Lost::Behind, 2);
        let line = "2 ranges or markers are not in the trace: 2 while the recorder was behind";
        assert_eq!(ranges_lost(&ranges.snapshot()).as_deref(), Some(line));
    }

    #[test]
    fn the_setting_is_named_where_it_helps() {
        let counters = Counters::default();
        counters.lose(Lost::Signals, 2);
        assert_eq!(hint(&counters.snapshot(), 256 << 20), "");
        counters.lose(Lost::Buffer, 1);
        assert_eq!(hint(&counters.snapshot(), 256 << 20), "; hint: RTL_BUFFER=512M");
    }

    #[test]
    fn lost_ranges_are_one_line_and_paused_ones_none() {
        let counters = Counters::default();
        counters.skip(Skipped::Paused, 9);
        assert_eq!(ranges_lost(&counters.snapshot()), None);
        counters.lose(Lost::Behind, 2);
        let line = "2 ranges or markers are not in the trace: 2 while the recorder was behind";
        assert_eq!(ranges_lost(&counters.snapshot()).as_deref(), Some(line));
    }

    #[test]
    fn nothing_is_written_where_it_would_kill_the_host_or_make_it_wait() -> std::io::Result<()> {
        let (reader, mut writer) = std::io::pipe()?;
        assert!(takes_a_line(writer.as_raw_fd()));
        // This is as much as a pipe holds.
        writer.write_all(&[b'.'; 1 << 16])?;
        assert!(!takes_a_line(writer.as_raw_fd()), "full");
        let (unread, writer) = std::io::pipe()?;
        drop(unread);
        assert!(!takes_a_line(writer.as_raw_fd()), "nobody reads");
        drop(reader);
        assert!(!takes_a_line(-1), "closed");
        assert!(takes_a_line(std::fs::File::create("/dev/null")?.as_raw_fd()));
        Ok(())
    }
}
