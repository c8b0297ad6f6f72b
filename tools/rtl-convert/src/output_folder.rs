//! A folder that appears whole or not at all.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use cli::{Failure, ResultExt};
use tempfile::TempDir;

use crate::format::Job;
use crate::output_file::check_free;

/// A folder in the making, beside the path where it will be.
pub struct OutputFolder {
    path: PathBuf,
    force: bool,
    temporary: TempDir,
}

impl OutputFolder {
    /// Starts the output of a job as a temporary folder beside it.
    ///
    /// # Errors
    /// The output exists and may not be replaced, contains the input, or cannot be written.
    pub fn create(job: &Job<'_>) -> Result<Self, Failure> {
        let Job { output: path, force, trace: input, .. } = *job;
        check_free(path, force)?;
        if let (Ok(target), Ok(input)) = (path.canonicalize(), input.canonicalize())
            && input.starts_with(&target)
        {
            return Err(Failure::usage(format!("the input is in {}", path.display()))
                .with_hint("an input is never overwritten; write to another folder"));
        }
        if let Some(other) = foreign(path) {
            return Err(Failure::usage(format!("{} is not of rtl-convert", other.display()))
                .with_hint("--force replaces only folders that rtl-convert wrote; write to another one"));
        }
        let around = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let temporary = tempfile::Builder::new()
            .prefix(".rtl-convert-")
            .permissions(Permissions::from_mode(0o777))
            .tempdir_in(around.unwrap_or(Path::new(".")))
            .with_context(|| format!("cannot write {}", path.display()))
            .with_hint("check that the folder around it exists and can be written")?;
        fs::create_dir(temporary.path().join(CONTENT)).map_err(Failure::input)?;
        Ok(Self { path: path.to_owned(), force, temporary })
    }

    /// Where its files go meanwhile.
    pub fn path(&self) -> PathBuf {
        self.temporary.path().join(CONTENT)
    }

    /// Gives it its name. What it replaces goes where it was made, and with that.
    ///
    /// # Errors
    /// Where meanwhile something else got the name, or the folder around it cannot be written.
    pub fn finish(self) -> Result<(), Failure> {
        check_free(&self.path, self.force)?;
        let before = self.temporary.path().join("before");
        let replaces = self.path.symlink_metadata().is_ok();
        let unwritten = |error: std::io::Error| {
            Failure::input(error).context(format!("cannot write {}", self.path.display()))
        };
        if replaces {
            fs::rename(&self.path, &before).map_err(unwritten)?;
        }
        fs::rename(self.path(), &self.path).map_err(|error| {
            if replaces {
                // What was there stays if it can.
                let _ = fs::rename(&before, &self.path);
            }
            unwritten(error)
        })
    }
}

const CONTENT: &str = "content";

/// Something at or under `path` that this program does not write.
fn foreign(path: &Path) -> Option<PathBuf> {
    let kind = path.symlink_metadata().ok()?;
    if !kind.is_dir() {
        return Some(path.to_owned());
    }
    let entries = fs::read_dir(path).ok()?.filter_map(Result::ok);
    entries.map(|entry| entry.path()).find_map(|path| {
        let name = path.file_name()?.to_string_lossy().into_owned();
        let is_table = [".csv", ".parquet"].iter().any(|end| name.ends_with(end));
        match path.symlink_metadata().is_ok_and(|kind| kind.is_dir()) {
            true if name.contains('=') => foreign(&path),
            false if is_table => None,
            _ => Some(path),
        }
    })
}
