//! Messages on standard error: warnings, and with RTL_DEBUG what happens.

use std::fmt::Arguments;
use std::os::fd::RawFd;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use crate::base::counters::{Lost, Snapshot};
use crate::base::output_sink::{self, OutputSink};
use crate::base::process;

static LEVEL: AtomicU8 = AtomicU8::new(0);

/// Sets the level of RTL_DEBUG: 0 warnings, 1 what happens, 2 each packet too.
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

/// Without the lock of Rust's standard error, which a thread may have held that the child of a fork does not have.
#[expect(unsafe_code, reason = "calls libc")]
fn write(file: RawFd, line: &str) {
    // SAFETY: reads the line.
    unsafe { libc::write(file, line.as_ptr().cast(), line.len()) };
}

/// True where a line can be written without harm: writing to a full pipe would make the host wait, and to one that nobody
/// reads would kill it (SIGPIPE).
#[expect(unsafe_code, reason = "calls libc")]
fn takes_a_line(file: RawFd) -> bool {
    let mut asked = libc::pollfd { fd: file, events: libc::POLLOUT, revents: 0 };
    // SAFETY: one entry, which outlives the call; it does not wait.
    unsafe { libc::poll(&raw mut asked, 1, 0) };
    asked.revents == libc::POLLOUT
}

/// Prints a line about what a file lacks; a program with callbacks reads its counters instead.
pub fn warn_of_file(line: Arguments<'_>) {
    if is_enabled(1) || matches!(output_sink::output_sink(), OutputSink::File) {
        warn(line);
    }
}

/// Prints a line once, where `said` is not set yet.
pub fn warn_once(said: &AtomicBool, line: Arguments<'_>) {
    if !said.swap(true, Ordering::Relaxed) {
        warn(line);
    }
}

/// Prints a line when RTL_DEBUG is at least 1.
pub fn debug(line: Arguments<'_>) {
    if is_enabled(1) {
        warn(line);
    }
}

/// A hint for the line about lost kernels or barriers: the setting that would have helped, where one would.
#[must_use]
pub fn hint(counts: &Snapshot, buffer: usize) -> String {
    let is_full = counts.lost.iter().any(|(why, _)| matches!(why, Lost::Behind | Lost::Buffer));
    let twice = (buffer >> 20).saturating_mul(2);
    if is_full { format!("; hint: RTL_BUFFER={twice}M") } else { String::new() }
}

/// The one line that is said when some of these, such as `kernel dispatches`, were lost.
#[must_use]
pub fn loss(counts: &Snapshot, what: &str) -> Option<String> {
    let (missing, reasons) = missing(counts)?;
    let late = counts.lost.iter().find(|(why, _)| *why == Lost::Ended).map_or(0, |&(_, count)| count);
    let seen = counts.seen.saturating_sub(late);
    Some(format!("{missing} of {seen} {what} are not in the trace: {reasons}"))
}

/// The one line that is said when ranges or markers were lost, as for [`loss`].
#[must_use]
pub fn ranges_lost(counts: &Snapshot) -> Option<String> {
    let (missing, reasons) = missing(counts)?;
    Some(format!("{missing} ranges or markers are not in the trace: {reasons}"))
}

/// How many were lost for all reasons together, and a list of these; `None` where none were. What other threads do while the
/// process ends was not asked for: that is only counted.
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
        // As much as a pipe holds.
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
