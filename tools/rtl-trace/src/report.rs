//! Makes one trace of the recordings, and the summary, the trace for Perfetto and the page beside it.

use std::io::Write;
use std::path::{Path, PathBuf};

use atomic_file::{AtomicFile, IfExists, Options};
use cli::args::{Console, Display};
use cli::{Failure, Output, ResultExt};
use rtl_merge::args::{Allow, Format};
use rtl_schema::Trace;
use tempfile::TempPath;

use crate::target::Target;

/// Makes one trace of the recordings in `folder`; returns true if all of them are in it. An existing trace is an error, or
/// replaced when the new one is complete.
pub fn collect(
    recordings: &[PathBuf],
    folder: &Path,
    target: &Target,
    if_exists: IfExists,
    out: &mut Output,
) -> Result<bool, Failure> {
    let (trace, is_whole) = whole(recordings, folder, out)?;
    let renamed = match if_exists {
        IfExists::Replace => replace(&trace, &target.real_trace()),
        _ => rename_new(trace, &target.trace),
    };
    renamed.with_context(|| format!("cannot write {}", target.trace.display()))?;
    Ok(is_whole)
}

/// The path within `folder` of the trace of all recordings, and true if all of them could be read.
pub fn whole(recordings: &[PathBuf], folder: &Path, out: &mut Output) -> Result<(PathBuf, bool), Failure> {
    match recordings {
        [only] => {
            // Only a readable trace may replace an existing one.
            Trace::open(only).with_context(|| "the recording cannot be read".to_owned())?;
            Ok((only.clone(), true))
        }
        several => {
            let merged = folder.join("merged");
            let is_whole = merge(several, &merged, out)?;
            Ok((merged, is_whole))
        }
    }
}

/// Renames a file; `AlreadyExists` where something else than a regular file has the name.
fn replace(from: &Path, to: &Path) -> std::io::Result<()> {
    match to.symlink_metadata() {
        Ok(found) if !found.is_file() => Err(std::io::ErrorKind::AlreadyExists.into()),
        _ => std::fs::rename(from, to),
    }
}

/// Renames a file; `AlreadyExists` where the name is taken.
fn rename_new(from: PathBuf, to: &Path) -> std::io::Result<()> {
    TempPath::try_from_path(from)?.persist_noclobber(to).map_err(|refused| {
        let error = refused.error;
        refused.path.keep().map_or_else(|kept| kept.error, |_| error)
    })
}

/// Merges the readable recordings; returns true if all are readable.
fn merge(recordings: &[PathBuf], merged: &Path, out: &mut Output) -> Result<bool, Failure> {
    // All processes belong to this run, whatever their metadata states, and a launcher has no rank.
    let options = rtl_merge::args::Options {
        traces: recordings.to_vec(),
        output: Some(merged.to_owned()),
        to: Some(Format::Native),
        force: true,
        allow: vec![Allow::Unreadable, Allow::MissingRanks, Allow::DifferentRuns],
        console: Console::quiet(),
        ..rtl_merge::args::Options::default()
    };
    Ok(rtl_merge::merge(&options, out)?.failures.is_empty())
}

/// The parts of the summary, between empty lines, that are printed: the findings and the kernels.
const PRINTED: usize = 2;

/// Writes the whole summary of the trace, and returns the beginning of it.
pub fn summarize(target: &Target, out: &mut Output) -> Result<String, Failure> {
    let text = summary(&target.trace, out)?;
    let rules = Options { if_exists: IfExists::Replace, inputs: &[target.trace.as_path()] };
    AtomicFile::write(&target.summary, &rules, |file| file.write_all(text.as_bytes()))?;
    Ok(beginning(&text))
}

pub fn summary(trace: &Path, out: &mut Output) -> Result<String, Failure> {
    let display = Display { console: Console::quiet(), ..Display::default() };
    let options = rtl_summary::Options { display, all: true, ..rtl_summary::Options::default() };
    let traces = [trace.to_owned()];
    let (exit, text) = out.capture(|out| rtl_summary::report(&options, &traces, out));
    exit?;
    Ok(text)
}

/// The part of a summary that is printed.
#[must_use]
pub fn beginning(summary: &str) -> String {
    let parts: Vec<&str> = summary.split("\n\n").take(PRINTED).collect();
    format!("{}\n", parts.join("\n\n").trim_end())
}

pub fn write_perfetto(target: &Target, out: &mut Output) -> Result<(), Failure> {
    let format = &rtl_convert::perfetto_json::FORMAT;
    let options = rtl_convert::Options::new(&target.trace, format, &target.perfetto);
    let converted = rtl_convert::convert(&rtl_convert::Options { force: true, ..options })?;
    converted.warnings.iter().for_each(|warning| out.warning(warning));
    Ok(())
}

pub fn write_page(target: &Target, out: &mut Output) -> Result<(), Failure> {
    let options = rtl_report::Options { force: true, quiet: true, ..rtl_report::Options::default() };
    rtl_report::write(&options, std::slice::from_ref(&target.trace), &target.page, out)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;

    /// Runs `test` with an output; returns the messages.
    fn messages(folder: &Path, test: impl FnOnce(&mut Output)) -> String {
        let path = folder.join("messages");
        let file = File::create(&path).unwrap();
        test(&mut Output::new("rtl-trace", Box::new(std::io::sink()), Box::new(file)));
        std::fs::read_to_string(path).unwrap()
    }

    #[test]
    fn a_warning_of_the_conversion_is_printed() {
        let folder = tempfile::tempdir().unwrap();
        let target = Target::for_trace(&folder.path().join("trace.db"));
        support::cut_off::native(&target.trace).unwrap();
        let messages = messages(folder.path(), |out| write_perfetto(&target, out).unwrap());
        assert!(messages.contains("rtl-trace: warning:") && messages.contains("cut off"), "{messages}");
        assert!(target.perfetto.exists());
    }

    #[test]
    fn a_recording_that_cannot_be_merged_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let target = Target::for_trace(&folder.path().join("trace.db"));
        let recordings = ["host_1.db", "host_2.db"].map(|name| folder.path().join(name));
        std::fs::copy(support::fixture("two-kernels"), &recordings[0]).unwrap();
        std::fs::write(&recordings[1], "damaged").unwrap();
        let messages = messages(folder.path(), |out| {
            assert!(!collect(&recordings, folder.path(), &target, IfExists::Replace, out).unwrap());
        });
        assert!(messages.contains("host_2.db"), "{messages}");
        assert!(Trace::open(&target.trace).is_ok());
    }

    #[test]
    fn a_page_lies_beside_the_trace_and_links_to_the_one_for_perfetto() {
        let folder = tempfile::tempdir().unwrap();
        let target = Target::for_trace(&folder.path().join("trace.db"));
        std::fs::copy(support::fixture("two-kernels"), &target.trace).unwrap();
        let messages = messages(folder.path(), |out| {
            write_perfetto(&target, out).unwrap();
            write_page(&target, out).unwrap();
        });
        assert_eq!(messages, "");
        let page = std::fs::read_to_string(folder.path().join("trace_report.html")).unwrap();
        assert!(page.contains("href=\"trace.json.gz\""));
    }

    #[test]
    fn a_link_to_a_trace_stays_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let [recording, real, link] =
            ["host_1.db", "real.db", "link.db"].map(|name| folder.path().join(name));
        std::fs::copy(support::fixture("two-kernels"), &recording).unwrap();
        std::fs::copy(&recording, &real).unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        let recordings = [recording.clone()];
        messages(folder.path(), |out| {
            assert!(
                collect(&recordings, folder.path(), &Target::for_trace(&link), IfExists::Replace, out)
                    .unwrap()
            );
        });
        assert!(link.is_symlink() && real.is_file() && !recording.exists());
    }
}
