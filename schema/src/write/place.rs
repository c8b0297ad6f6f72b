use std::fs::{File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::TempPath;

use crate::{Error, Result};

/// What happens to a file that already has the target's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum IfExists {
    /// It stays and writing fails.
    #[default]
    Fail,
    /// It is replaced, in one step, when the new one is complete.
    Replace,
}

/// Where a file grows until it is complete.
#[derive(Debug)]
pub(crate) struct Place {
    /// What messages call it.
    path: PathBuf,
    growing: Growing,
}

#[derive(Debug)]
enum Growing {
    /// Beside the target, whose name it gets in the end.
    Beside(TempPath, IfExists),
    /// In a file that somebody else made and names.
    Given(PathBuf),
}

impl Place {
    /// A file that will be at `path`, in a temporary one beside it.
    pub(crate) fn beside(path: &Path, existing: IfExists) -> Result<(Self, File)> {
        if existing == IfExists::Fail && path.symlink_metadata().is_ok() {
            return Err(refused(path));
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let (file, temporary) = tempfile::Builder::new()
            .prefix(&format!(".{name}."))
            .suffix(".part")
            .permissions(Permissions::from_mode(0o666))
            .tempfile_in(folder.unwrap_or(Path::new(".")))
            .map_err(|source| Error::Io { action: "create", path: path.to_owned(), source })?
            .into_parts();
        Ok((Self { path: path.to_owned(), growing: Growing::Beside(temporary, existing) }, file))
    }

    /// The empty file at `place`, which somebody else gives the name `path`.
    pub(crate) fn given(place: &Path, path: &Path) -> Result<(Self, File)> {
        let file = OpenOptions::new().write(true).open(place);
        let file = file.map_err(|source| Error::Io { action: "write", path: path.to_owned(), source })?;
        Ok((Self { path: path.to_owned(), growing: Growing::Given(place.to_owned()) }, file))
    }

    /// Where the bytes are meanwhile.
    pub(crate) fn bytes(&self) -> &Path {
        match &self.growing {
            Growing::Beside(temporary, _) => temporary,
            Growing::Given(place) => place,
        }
    }

    /// Gives the complete file its name.
    pub(crate) fn finish(self) -> Result<()> {
        let Growing::Beside(temporary, existing) = self.growing else { return Ok(()) };
        let named = match existing {
            IfExists::Fail => temporary.persist_noclobber(&self.path),
            IfExists::Replace => temporary.persist(&self.path),
        };
        named.map_err(|failed| match failed.error.kind() {
            io::ErrorKind::AlreadyExists => refused(&self.path),
            _ => Error::Io { action: "create", path: self.path.clone(), source: failed.error },
        })
    }

    pub(crate) fn io(&self, source: io::Error) -> Error {
        Error::Io { action: "write", path: self.path.clone(), source }
    }

    pub(crate) fn sqlite(&self, source: rusqlite::Error) -> Error {
        Error::Sqlite { path: self.path.clone(), source }
    }
}

fn refused(path: &Path) -> Error {
    Error::Refused { path: path.to_owned(), detail: "the file exists already".to_owned() }
}
