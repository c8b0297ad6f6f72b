//! The result of running a program.

use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Output};
use std::sync::Arc;
use std::{fmt, fs};

use tempfile::TempDir;

use crate::account::{ExecutedDispatch, ReportedDispatch, executed, reported};
use crate::calls::{CallCounts, call_counts};
use crate::trace::Trace;

/// A part of the runtime's line at the end of a process about signals that nobody has destroyed; their number follows.
pub(crate) const LEAK: &str = "leak detected by SharedSignalPool, ";

/// True for a line of the runtime about fewer remaining signals than a tracer has.
fn is_about_few_signals(line: &str) -> bool {
    let count = line.split_once(LEAK).and_then(|(_, rest)| rest.split_once(' '));
    count.is_some_and(|(count, _)| count.parse::<u32>().is_ok_and(|count| count < 16))
}

/// True for a line of the runtime about HIP's waiting for a signal that it made for GPUs only. HIP does so where it launches
/// graphs far ahead of the GPU, with and without tools, and as often as it has to wait.
fn is_about_own_wait(line: &str) -> bool {
    line.starts_with("Warning: ") && line.contains("\"Use of non-host signal in host signal wait API.\"")
}

pub struct Outcome {
    /// 124 when the program hung.
    pub status: ExitStatus,
    pub stdout: String,
    /// Lines of the program and its runtime, without those of the tracer.
    pub stderr: String,
    /// The tracer's own lines of standard error.
    pub messages: Vec<String>,
    /// Dispatches in the program's report, in its order.
    pub reported: Vec<ReportedDispatch>,
    pub report: String,
    /// The program's own counts of its calls of HIP.
    pub calls: CallCounts,
    /// A judge's counts of calls, with HIP's own calls of its functions.
    pub judged: CallCounts,
    /// Dispatches that the simulator executed, in its order.
    pub executed: Vec<ExecutedDispatch>,
    /// The log of the simulator.
    pub log: String,
    /// The files that the tracer left, by name.
    pub traces: Vec<PathBuf>,
    /// The traces live as long as this.
    _folder: Arc<TempDir>,
}

/// Shows what a failed test needs, without the thousands of dispatches.
impl fmt::Debug for Outcome {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { status, stdout, stderr, messages, reported, executed, traces, .. } = self;
        let (reported, executed) = (reported.len(), executed.len());
        write!(
            to,
            "{status}, {reported} reported, {executed} executed, {traces:?}\n{stdout}\n{stderr}\n{messages:#?}"
        )
    }
}

impl Outcome {
    /// Reads the folder of a run; `stays` keeps the folder that it lies in.
    pub(crate) fn new(output: Output, folder: &Path, stays: &Arc<TempDir>, is_hip: bool) -> Self {
        let text = |name| fs::read_to_string(folder.join(name)).unwrap_or_default();
        let log = text("log");
        let stderr = String::from_utf8(output.stderr).unwrap();
        // HIP itself keeps a few signals, not always the same number, and waits for others; Debian's builds of the runtime report
        // both.
        let is_remark = |line: &&str| is_hip && (is_about_few_signals(line) || is_about_own_wait(line));
        let lines = stderr.split_inclusive('\n').filter(|line| !is_remark(line));
        let (messages, stderr): (Vec<&str>, Vec<&str>) = lines.partition(|line| line.starts_with("rtl: "));
        Self {
            status: output.status,
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: stderr.concat(),
            messages: messages.into_iter().map(|line| line.trim_end().to_owned()).collect(),
            reported: reported(&text("report")),
            report: text("report"),
            calls: call_counts(&text("calls")),
            judged: call_counts(&text("judged")),
            executed: executed(&log),
            log,
            traces: files(&folder.join("traces")),
            _folder: Arc::clone(stays),
        }
    }

    /// True if the tracer had no time to write everything at the end of the process.
    #[must_use]
    pub fn is_late(&self) -> bool {
        self.messages.iter().any(|line| line.contains("not written in time"))
    }

    /// Checks that the program succeeded and the tracer printed nothing.
    #[must_use]
    #[track_caller]
    pub fn assert_well(self) -> Self {
        assert!(self.status.success(), "{self:?}");
        assert_eq!(self.messages, Vec::<String>::new(), "nothing to complain about");
        self
    }

    /// The one trace of a run.
    #[must_use]
    #[track_caller]
    pub fn trace(&self) -> Trace {
        let [path] = self.traces.as_slice() else { panic!("not one trace: {self:?}") };
        Trace::read(path)
    }
}

/// The files of a folder, by name.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let found = fs::read_dir(folder).into_iter().flatten();
    let mut files: Vec<PathBuf> = found.map(|file| file.unwrap().path()).collect();
    files.sort();
    files
}
