//! What came of running a program.

use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Output};
use std::sync::Arc;
use std::{fmt, fs};

use tempfile::TempDir;

use crate::account::{Executed, Reported, executed, reported};
use crate::calls::{Made, made};
use crate::trace::Trace;

/// What the runtime says at the end of a process about signals that nobody has destroyed; their number follows.
pub(crate) const LEAK: &str = "leak detected by SharedSignalPool, ";

/// Whether the runtime remarks that fewer signals stayed behind than a tracer has.
fn is_about_few_signals(line: &str) -> bool {
    let count = line.split_once(LEAK).and_then(|(_, rest)| rest.split_once(' '));
    count.is_some_and(|(count, _)| count.parse::<u32>().is_ok_and(|count| count < 16))
}

/// Whether the runtime remarks that HIP waits for a signal that it made for GPUs only. HIP does so where it launches graphs far
/// ahead of the GPU, with and without tools, and as often as it has to wait.
fn is_about_own_wait(line: &str) -> bool {
    line.starts_with("Warning: ") && line.contains("\"Use of non-host signal in host signal wait API.\"")
}

/// What came of it.
pub struct Outcome {
    /// How it ended; 124 when it hung.
    pub status: ExitStatus,
    /// Byte for byte.
    pub stdout: String,
    /// What the program and its runtime wrote, without what the tracer said.
    pub stderr: String,
    /// The tracer's own lines of standard error.
    pub said: Vec<String>,
    /// What the program reported, in its order.
    pub reported: Vec<Reported>,
    /// The report as it was written.
    pub report: String,
    /// How often the program called each function of HIP, as it says itself.
    pub calls: Made,
    /// The same as a judge says, with HIP's own calls of its functions.
    pub judged: Made,
    /// What the simulator executed, in its order.
    pub executed: Vec<Executed>,
    /// The log of the simulator.
    pub log: String,
    /// The files that the tracer left, by name.
    pub traces: Vec<PathBuf>,
    /// The traces live as long as this.
    _folder: Arc<TempDir>,
}

/// What a failed test needs to say, not the thousands of dispatches.
impl fmt::Debug for Outcome {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { status, stdout, stderr, said, reported, executed, traces, .. } = self;
        let (reported, executed) = (reported.len(), executed.len());
        write!(
            to,
            "{status}, {reported} reported, {executed} executed, {traces:?}\n{stdout}\n{stderr}\n{said:#?}"
        )
    }
}

impl Outcome {
    /// What is found in the folder of a run; the folder that it lies in stays as long as this.
    pub(crate) fn of(output: Output, folder: &Path, stays: &Arc<TempDir>, is_hip: bool) -> Self {
        let text = |name| fs::read_to_string(folder.join(name)).unwrap_or_default();
        let log = text("log");
        let stderr = String::from_utf8(output.stderr).unwrap();
        // HIP itself keeps a few signals, not always as many, and waits for others: Debian's builds of the runtime remark upon both.
        let is_remark = |line: &&str| is_hip && (is_about_few_signals(line) || is_about_own_wait(line));
        let lines = stderr.split_inclusive('\n').filter(|line| !is_remark(line));
        let (said, stderr): (Vec<&str>, Vec<&str>) = lines.partition(|line| line.starts_with("rtl: "));
        Self {
            status: output.status,
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: stderr.concat(),
            said: said.into_iter().map(|line| line.trim_end().to_owned()).collect(),
            reported: reported(&text("report")),
            report: text("report"),
            calls: made(&text("calls")),
            judged: made(&text("judged")),
            executed: executed(&log),
            log,
            traces: files(&folder.join("traces")),
            _folder: Arc::clone(stays),
        }
    }

    /// Whether the tracer had no time to write everything at the end of the process.
    #[must_use]
    pub fn is_late(&self) -> bool {
        self.said.iter().any(|line| line.contains("not written in time"))
    }

    /// # Panics
    /// If the program failed, or the tracer complained.
    #[must_use]
    #[track_caller]
    pub fn assert_well(self) -> Self {
        assert!(self.status.success(), "{self:?}");
        assert_eq!(self.said, Vec::<String>::new(), "nothing to complain about");
        self
    }

    /// The one trace of a run.
    ///
    /// # Panics
    /// If there is none, or more than that.
    #[must_use]
    #[track_caller]
    pub fn trace(&self) -> Trace {
        let [path] = self.traces.as_slice() else { panic!("not one trace: {self:?}") };
        Trace::read(path)
    }
}

/// What a folder holds, by name.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let found = fs::read_dir(folder).into_iter().flatten();
    let mut files: Vec<PathBuf> = found.map(|file| file.unwrap().path()).collect();
    files.sort();
    files
}
