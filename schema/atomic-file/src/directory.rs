use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::destination::folder;
use crate::signals::Registered;
use crate::temporary::{self, LOCK};
use crate::{Error, IfExists, Options};

/// An output folder that grows in a temporary one beside it; removed on drop. Which folders may be replaced is for the
/// caller to decide.
#[derive(Debug)]
pub struct AtomicDir {
    path: PathBuf,
    if_exists: IfExists,
    temporary: TempDir,
    _registered: Registered,
    /// Held as long as the folder grows.
    _lock: File,
}

/// The new folder and the one that it replaces, in the temporary folder.
const CONTENT: &str = "content";
const BEFORE: &str = "before";

impl AtomicDir {
    /// Starts the folder at `path`.
    ///
    /// # Errors
    /// [`Error::Exists`], [`Error::HoldsInput`], or [`Error::Io`] if the folder around it cannot be written.
    pub fn create(path: &Path, options: &Options<'_>) -> Result<Self, Error> {
        check(path, options.if_exists)?;
        let holds = |input: &&Path| {
            path.canonicalize()
                .is_ok_and(|path| input.canonicalize().is_ok_and(|input| input.starts_with(path)))
        };
        if options.inputs.iter().any(holds) {
            return Err(Error::HoldsInput { path: path.to_owned() });
        }
        // Readers of a file may also list its folder.
        let mode = options.file_mode();
        let mode = 0o700 | (mode & 0o044) | (mode & 0o044) >> 2 | (mode & 0o022);
        let create = || -> io::Result<Self> {
            let around = folder(path);
            let create = || temporary::name().permissions(Permissions::from_mode(mode)).tempdir_in(around);
            let (temporary, registered) = Registered::create(create, TempDir::path)?;
            let lock = File::create(temporary.path().join(LOCK))?;
            temporary::lock(&lock)?;
            temporary::sweep_once(around, &lock.metadata()?);
            let (path, if_exists) = (path.to_owned(), options.if_exists);
            let directory = Self { path, if_exists, temporary, _registered: registered, _lock: lock };
            fs::create_dir(directory.place())?;
            fs::set_permissions(directory.place(), fs::metadata(directory.temporary.path())?.permissions())?;
            Ok(directory)
        };
        create().map_err(|source| Error::io(path, source))
    }

    /// The temporary folder of the content.
    #[must_use]
    pub fn place(&self) -> PathBuf {
        self.temporary.path().join(CONTENT)
    }

    /// Gives the folder its name; a folder of that name goes.
    ///
    /// # Errors
    /// [`Error::Exists`] if meanwhile something else has the name, or [`Error::Io`].
    pub fn commit(self) -> Result<(), Error> {
        check(&self.path, self.if_exists)?;
        let before = self.temporary.path().join(BEFORE);
        let replaces = self.path.symlink_metadata().is_ok();
        let rename = || -> io::Result<()> {
            if replaces {
                fs::rename(&self.path, &before)?;
            }
            fs::rename(self.place(), &self.path).inspect_err(|_| {
                if replaces {
                    let _ = fs::rename(&before, &self.path);
                }
            })
        };
        rename().map_err(|source| Error::io(&self.path, source))
    }
}

fn check(path: &Path, if_exists: IfExists) -> Result<(), Error> {
    if if_exists == IfExists::Fail && path.symlink_metadata().is_ok() {
        return Err(Error::Exists { path: path.to_owned() });
    }
    Ok(())
}
