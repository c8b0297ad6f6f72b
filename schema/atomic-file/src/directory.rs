use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use platform::exchange::exchange;
use platform::permissions;

use crate::destination::folder;
use crate::private::PrivateDir;
use crate::signals;
use crate::{Error, IfExists, Options};

/// An output folder that grows in a temporary one beside it; removed on drop. Which folders may be replaced is for the
/// caller to decide.
#[derive(Debug)]
pub struct AtomicDir {
    path: PathBuf,
    if_exists: IfExists,
    /// The permissions of files and of folders, before the umask.
    modes: [u32; 2],
    temporary: PrivateDir,
}

/// The new folder and the one that it replaces, in the temporary folder.
const CONTENT: &str = "content";
const BEFORE: &str = "before";

impl AtomicDir {
    /// Fails with [`Error::Exists`], [`Error::HoldsInput`], or [`Error::Io`] if the folder around it cannot be written.
    pub fn create(path: &Path, options: &Options<'_>) -> Result<Self, Error> {
        check(path, options.if_exists)?;
        let holds = |input: &&Path| {
            path.canonicalize()
                .is_ok_and(|path| input.canonicalize().is_ok_and(|input| input.starts_with(path)))
        };
        if options.inputs.iter().any(holds) {
            return Err(Error::HoldsInput { path: path.to_owned() });
        }
        let modes = [options.file_mode(), options.folder_mode()];
        let create = || -> io::Result<Self> {
            let temporary = PrivateDir::create_in(folder(path))?;
            let (path, if_exists) = (path.to_owned(), options.if_exists);
            let directory = Self { path, if_exists, modes, temporary };
            permissions::create_folder(&directory.place(), modes[1])?;
            Ok(directory)
        };
        create().map_err(|source| Error::io(path, source))
    }

    /// The temporary folder of the content, by a path that is valid in this process.
    pub fn place(&self) -> PathBuf {
        self.temporary.path().join(CONTENT)
    }

    /// Gives the folder its name, and what is in it the permissions that the inputs allow; a folder of that name goes. Fails with [`Error::Exists`] if meanwhile something else has the name.
    pub fn commit(self) -> Result<(), Error> {
        check(&self.path, self.if_exists)?;
        limit(&self.place(), self.modes).map_err(|source| Error::io(&self.path, source))?;
        let before = self.temporary.path().join(BEFORE);
        let replaces = self.path.symlink_metadata().is_ok();
        let rename = || -> io::Result<()> {
            let _held = signals::hold();
            // In one step, so that at every moment one of the two folders has the name.
            if replaces && exchange(&self.place(), &self.path).is_ok() {
                return Ok(());
            }
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

/// Takes the permissions that the modes of files and folders lack from all that is in a folder. Nobody else has entered it yet.
fn limit(folder: &Path, modes: [u32; 2]) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let [file, folder] = modes;
        let is_folder = entry.file_type()?.is_dir();
        permissions::limit(&entry.path(), if is_folder { folder } else { file })?;
        if is_folder {
            limit(&entry.path(), modes)?;
        }
    }
    Ok(())
}

fn check(path: &Path, if_exists: IfExists) -> Result<(), Error> {
    match path.symlink_metadata() {
        // Only a folder is replaced by a folder.
        Ok(found) if if_exists == IfExists::Fail || !found.is_dir() => {
            Err(Error::Exists { path: path.to_owned() })
        }
        _ => Ok(()),
    }
}
