//! The output files, and the folder in which the processes of the command record.

use std::io;
use std::path::{Path, PathBuf};

use cli::{Failure, ResultExt};
use rtl_schema::Trace;
use tempfile::TempDir;

use crate::status;

/// The word between the name of a trace and the number in the name of the folder of its recordings.
const MARK: &str = ".rtl-trace-";

/// The trace beside a folder of recordings, for which the folder was created; `None` where it is not such a folder.
#[must_use]
pub fn left_output(folder: &Path) -> Option<PathBuf> {
    let (trace, _) = folder.file_name()?.to_str()?.strip_prefix('.')?.rsplit_once(MARK)?;
    (!trace.is_empty()).then(|| folder.with_file_name(trace))
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    pub trace: PathBuf,
    pub summary: PathBuf,
    pub perfetto: PathBuf,
    pub page: PathBuf,
}

impl Target {
    /// The files beside `trace` have rocm-trace-lite's names.
    #[must_use]
    pub fn for_trace(trace: &Path) -> Self {
        let stem = trace.file_stem().unwrap_or_default();
        let beside = |ending: &str| {
            let mut name = stem.to_owned();
            name.push(ending);
            trace.with_file_name(name)
        };
        Self {
            trace: trace.to_owned(),
            summary: beside("_summary.txt"),
            perfetto: beside(".json.gz"),
            page: beside("_report.html"),
        }
    }

    /// Checks before the command runs that no output exists.
    pub(crate) fn check_free(&self, perfetto: bool, page: bool) -> Result<(), Failure> {
        let outputs = [
            Some(&self.trace),
            Some(&self.summary),
            perfetto.then_some(&self.perfetto),
            page.then_some(&self.page),
        ];
        match outputs.into_iter().flatten().find(|path| path.is_file()) {
            Some(path) => Err(atomic_file::Error::Exists { path: path.clone() }.into()),
            None => Ok(()),
        }
    }

    /// The path of the trace behind symbolic links.
    pub(crate) fn real_trace(&self) -> PathBuf {
        self.trace.canonicalize().unwrap_or_else(|_| self.trace.clone())
    }

    /// The folder in which the trace is, behind symbolic links.
    pub(crate) fn parent(&self) -> PathBuf {
        let real = self.real_trace();
        let parent = real.parent().filter(|parent| !parent.as_os_str().is_empty());
        parent.unwrap_or(Path::new(".")).to_owned()
    }

    /// Creates a folder beside the trace for the recordings of the processes, so that a rename publishes the trace. Fails
    /// where the output exists and is not a trace.
    pub fn folder(&self) -> Result<TempDir, Failure> {
        if self.trace.exists() && !self.trace.is_file() {
            let what = format!("{} is not a regular file", self.trace.display());
            return Err(status::failure(what).with_hint("a trace is a database; name a file with -o"));
        }
        if self.trace.exists() && Trace::open(&self.trace).is_err() {
            let what = format!("{} exists and is not a trace", self.trace.display());
            return Err(status::failure(what).with_hint("name another file with -o"));
        }
        let name = self.trace.file_name().unwrap_or_default().to_string_lossy();
        let create = || -> io::Result<TempDir> {
            let parent = self.parent().canonicalize()?;
            tempfile::Builder::new().prefix(&format!(".{name}{MARK}")).tempdir_in(parent)
        };
        create().with_exit(status::OWN).with_context(|| format!("cannot write {}", self.trace.display()))
    }
}

#[cfg(test)]
mod tests {
    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::*;

    #[test]
    fn the_files_have_rocm_trace_lites_names() {
        let target = Target::for_trace(Path::new("runs/a.b.db"));
        assert_eq!(target.summary, Path::new("runs/a.b_summary.txt"));
        assert_eq!(target.perfetto, Path::new("runs/a.b.json.gz"));
    }

    #[test]
    fn a_file_that_is_not_a_trace_is_never_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("train.py");
        std::fs::write(&script, "print()").unwrap();
        let failure = Target::for_trace(&script).folder().unwrap_err();
        assert!(failure.lines("rtl-trace").contains("train.py exists and is not a trace\nhint:"));
    }

    #[test]
    fn a_fifo_is_neither_opened_nor_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let fifo = folder.path().join("trace.db");
        mknodat(CWD, &fifo, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
        let failure = Target::for_trace(&fifo).folder().unwrap_err();
        assert!(failure.lines("rtl-trace").contains("trace.db is not a regular file\nhint:"));
    }

    #[test]
    fn a_missing_folder_is_reported_before_the_command_runs() {
        let folder = tempfile::tempdir().unwrap();
        let failure = Target::for_trace(&folder.path().join("no/trace.db")).folder().unwrap_err();
        assert_eq!(failure.exit(), status::OWN);
        assert!(failure.lines("rtl-trace").contains("no/trace.db: No such file"));
    }
}
