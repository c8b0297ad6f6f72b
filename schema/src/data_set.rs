//! Runs of data sets: where they are, and the reader of another crate that opens them, so that a program without it needs no
//! Parquet.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::content::io as io_error;
use crate::{Dialect, Error, Result, Select, Tables};

/// The name of the file that completes a run.
pub const MANIFEST: &str = "_manifest.json";

/// How many runs a hint names.
const NAMED: usize = 3;

/// A run of a data set that was opened.
pub trait StoredRun: fmt::Debug + Send + Sync {
    /// The dialect of the trace that the run was made from.
    fn dialect(&self) -> Dialect;

    /// The tables by name, and how many rows each has.
    fn row_counts(&self) -> Vec<(String, u64)>;

    /// The size of its files in bytes.
    fn size(&self) -> u64;

    /// Reads the selected columns.
    ///
    /// # Errors
    /// Where a file is missing, damaged or cannot be read.
    fn read(&self, select: &Select) -> Result<Tables>;
}

/// Opens the folder of a run.
pub type OpenRun = fn(&Path) -> Result<Box<dyn StoredRun>>;

static READER: OnceLock<OpenRun> = OnceLock::new();

/// From now on, [`crate::Trace::open`] opens runs of data sets by this function. The first call of a program counts.
pub fn set_data_set_reader(open: OpenRun) {
    _ = READER.set(open);
}

/// The folders of the complete runs of a data set, sorted: of the data set itself, of one of its jobs, or of one run. `None` of
/// what is no such folder.
///
/// # Errors
/// [`Error::Io`].
pub fn runs_of_data_set(path: &Path) -> Result<Option<Vec<PathBuf>>> {
    if !path.is_dir() {
        return Ok(None);
    }
    if is_run(path) {
        return Ok(Some(vec![path.to_owned()]));
    }
    let jobs = partitions(path, "job=")?;
    let mut runs = partitions(path, "run=")?;
    if jobs.is_empty() && runs.is_empty() {
        return Ok(None);
    }
    for job in jobs {
        runs.extend(partitions(&job, "run=")?);
    }
    runs.retain(|run| is_run(run));
    runs.sort();
    Ok(Some(runs))
}

/// Opens the run that `path` stands for; `None` of what is no folder of a data set.
pub(crate) fn open(path: &Path) -> Result<Option<Box<dyn StoredRun>>> {
    let Some(runs) = runs_of_data_set(path)? else { return Ok(None) };
    let failed = |found: String, hint: String| Err(Error::DataSet { path: path.to_owned(), found, hint });
    let run = match runs.as_slice() {
        [] => {
            let hint = "`rtl-convert TRACE --to dataset -o DIR` adds a run, which is complete with its _manifest.json";
            return failed("a data set without a complete run".to_owned(), hint.to_owned());
        }
        [run] => run,
        several => {
            return failed(format!("a data set with {} runs, not one", several.len()), choice(several));
        }
    };
    let Some(open) = READER.get() else {
        let hint = "build it with `--features dataset`, as the program `rtl` is";
        return failed("this program was built without a reader of data sets".to_owned(), hint.to_owned());
    };
    open(run).map(Some)
}

/// The hint that names runs.
fn choice(runs: &[PathBuf]) -> String {
    let named: Vec<String> = runs.iter().take(NAMED).map(|run| run.display().to_string()).collect();
    let more = match runs.len().checked_sub(NAMED) {
        None | Some(0) => String::new(),
        Some(more) => format!(" and {more} more"),
    };
    format!("name the folder of one run: {}{more}", named.join(", "))
}

fn is_run(folder: &Path) -> bool {
    folder.join(MANIFEST).is_file()
}

/// The folders in a folder whose names begin with a key.
fn partitions(folder: &Path, key: &str) -> Result<Vec<PathBuf>> {
    let failed = io_error("read", folder);
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(&failed)? {
        let entry = entry.map_err(&failed)?;
        if entry.file_name().as_encoded_bytes().starts_with(key.as_bytes()) && entry.path().is_dir() {
            found.push(entry.path());
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hint_names_the_first_runs_and_counts_the_others() {
        let runs: Vec<PathBuf> = (1..6).map(|run| PathBuf::from(format!("s/job=a/run={run}"))).collect();
        let hint = choice(&runs);
        assert_eq!(
            hint,
            "name the folder of one run: s/job=a/run=1, s/job=a/run=2, s/job=a/run=3 and 2 more"
        );
        assert_eq!(choice(&runs[..2]), "name the folder of one run: s/job=a/run=1, s/job=a/run=2");
    }

    /// The tests of this crate have no reader of data sets, as a program that was built without one.
    #[test]
    fn a_program_without_the_reader_says_how_to_build_one() -> std::io::Result<()> {
        let folder = tempfile::tempdir()?;
        let run = folder.path().join("job=a/run=1");
        fs::create_dir_all(&run)?;
        fs::write(run.join(MANIFEST), "{}")?;
        let error = crate::Trace::open(folder.path()).map(|_| ()).unwrap_err();
        let expected =
            format!("this program was built without a reader of data sets: {}", folder.path().display());
        assert_eq!(error.to_string(), expected);
        assert_eq!(error.hint(), "build it with `--features dataset`, as the program `rtl` is");
        Ok(())
    }

    #[test]
    fn runs_without_a_manifest_are_none() -> std::io::Result<()> {
        let folder = tempfile::tempdir()?;
        let runs = |path: &Path| runs_of_data_set(path).ok().flatten();
        assert_eq!(runs(folder.path()), None);
        for run in ["job=b/run=2", "job=a/run=1", "job=a/run=unfinished"] {
            fs::create_dir_all(folder.path().join(run))?;
        }
        assert_eq!(runs(folder.path()), Some(Vec::new()));
        let [first, last] = ["job=a/run=1", "job=b/run=2"].map(|run| folder.path().join(run));
        for run in [&first, &last] {
            fs::write(run.join(MANIFEST), "{}")?;
        }
        assert_eq!(runs(folder.path()), Some(vec![first.clone(), last]));
        assert_eq!(runs(&folder.path().join("job=a")), Some(vec![first.clone()]));
        assert_eq!(runs(&first), Some(vec![first.clone()]));
        Ok(())
    }
}
