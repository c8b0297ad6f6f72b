//! Chooses the name of the file of this process.
//!
//! RTL_OUTPUT is a pattern: `%p` is the process, `%h` the host, `%r` the rank (0 where there is none), `%%` a percent sign; other
//! characters stand for themselves. The default is `trace.db`. A folder means `trace_%p.db` in it; missing folders are created. A
//! relative name is relative to the folder in which the process was when the tracer was loaded.
//!
//! No file is ever replaced or shared. If one exists already, the process' number is put before the suffix (`trace.db`,
//! `trace_4711.db`), then `_2`, `_3`, ... (a process number may come again, or on another host). A name is also taken where a
//! journal of that name was left behind.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// Values for the placeholders of a pattern.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// `%p`
    pub pid: u32,
    /// `%h`
    pub host: String,
    /// `%r`
    pub rank: Option<u32>,
}

/// Limit on the number of names to try.
const ATTEMPTS: u32 = 10_000;

/// Replaces the placeholders of the pattern.
#[must_use]
pub fn expand(pattern: &OsStr, place: &Place) -> PathBuf {
    let mut name = Vec::with_capacity(pattern.len() + 16);
    let mut bytes = pattern.as_bytes().iter().copied();
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            name.push(byte);
            continue;
        }
        match bytes.next() {
            Some(b'p') => name.extend(place.pid.to_string().bytes()),
            Some(b'h') => name.extend(place.host.bytes().map(|byte| if byte == b'/' { b'_' } else { byte })),
            Some(b'r') => name.extend(place.rank.unwrap_or(0).to_string().bytes()),
            Some(b'%') => name.push(b'%'),
            Some(other) => name.extend([b'%', other]),
            None => name.push(b'%'),
        }
    }
    PathBuf::from(OsString::from_vec(name))
}

/// The names to try in this order. Creates the folder that they are in.
///
/// # Errors
/// The folder does not exist and could not be created, or the name is that of a device or a pipe.
pub fn names(wanted: &Path, pid: u32) -> io::Result<impl Iterator<Item = PathBuf>> {
    let kind = wanted.metadata().map(|found| found.file_type()).ok();
    if kind.is_some_and(|kind| !kind.is_file() && !kind.is_dir()) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "neither a file nor a folder"));
    }
    let is_folder = wanted.as_os_str().as_bytes().ends_with(b"/") || kind.is_some_and(|kind| kind.is_dir());
    let wanted = if is_folder { wanted.join(format!("trace_{pid}.db")) } else { wanted.to_owned() };
    if let Some(folder) = wanted.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder)?;
    }
    Ok((0..ATTEMPTS).map(move |attempt| name(&wanted, pid, attempt)))
}

/// True if there is a journal where SQLite looks for that of a file of this name: it would be applied to a new file.
#[must_use]
pub fn has_journal(path: &Path) -> bool {
    ["-journal", "-wal"].iter().any(|end| {
        let mut journal = path.as_os_str().to_owned();
        journal.push(end);
        Path::new(&journal).symlink_metadata().is_ok()
    })
}

/// The name for the given attempt.
fn name(wanted: &Path, pid: u32, attempt: u32) -> PathBuf {
    let mut name = wanted.file_stem().unwrap_or_default().to_owned();
    // A pattern with %p has the number already.
    let has_pid = name.to_string_lossy().ends_with(&format!("_{pid}"));
    if attempt > 0 && !has_pid {
        name.push(format!("_{pid}"));
    }
    let repeated = if has_pid { attempt + 1 } else { attempt };
    if repeated > 1 {
        name.push(format!("_{repeated}"));
    }
    if let Some(suffix) = wanted.extension() {
        name.push(".");
        name.push(suffix);
    }
    wanted.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place() -> Place {
        Place { pid: 4711, host: "node3".to_owned(), rank: Some(29) }
    }

    /// Creates a file as the recorder does, and returns its path.
    fn created(wanted: &Path) -> io::Result<PathBuf> {
        let free = names(wanted, 4711)?.filter(|path| !has_journal(path));
        let mut free = free.filter(|path| std::fs::File::create_new(path).is_ok());
        free.next().ok_or_else(|| io::ErrorKind::AlreadyExists.into())
    }

    #[test]
    fn a_pattern_names_process_host_and_rank() {
        let expand = |pattern: &str| expand(OsStr::new(pattern), &place());
        assert_eq!(expand("/a/%h/t_%p_%r.db"), Path::new("/a/node3/t_4711_29.db"));
        assert_eq!(expand("100%%_%x_%p%p%"), Path::new("100%_%x_47114711%"));
        assert_eq!(super::expand(OsStr::new("%r"), &Place::default()), Path::new("0"));
        let odd = OsStr::from_bytes(b"\xff%p");
        assert_eq!(super::expand(odd, &place()).as_os_str().as_bytes(), b"\xff4711");
    }

    #[test]
    fn a_file_that_exists_stays_and_the_name_gets_the_process_then_a_number() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let wanted = folder.path().join("deep/er/trace.db");
        for expected in ["trace.db", "trace_4711.db", "trace_4711_2.db", "trace_4711_3.db"] {
            assert_eq!(created(&wanted)?, wanted.with_file_name(expected));
        }
        let wanted = folder.path().join("own_4711");
        for expected in ["own_4711", "own_4711_2", "own_4711_3"] {
            assert_eq!(created(&wanted)?, wanted.with_file_name(expected));
        }
        Ok(())
    }

    #[test]
    fn a_name_whose_journal_was_left_behind_is_taken() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let wanted = folder.path().join("trace.db");
        std::fs::write(folder.path().join("trace.db-journal"), "")?;
        std::fs::write(folder.path().join("trace_4711.db-wal"), "")?;
        assert_eq!(created(&wanted)?, folder.path().join("trace_4711_2.db"));
        Ok(())
    }

    #[test]
    fn a_folder_gets_a_file_of_this_process() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        assert_eq!(created(folder.path())?, folder.path().join("trace_4711.db"));
        let new = folder.path().join("new/");
        assert_eq!(created(&new)?, folder.path().join("new/trace_4711.db"));
        Ok(())
    }

    #[test]
    fn a_folder_that_is_a_file_is_an_error() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        std::fs::write(folder.path().join("file"), "")?;
        assert!(created(&folder.path().join("file/trace.db")).is_err());
        Ok(())
    }

    #[test]
    fn nothing_is_created_beside_a_device() {
        assert_eq!(created(Path::new("/dev/null")).unwrap_err().to_string(), "neither a file nor a folder");
    }

    #[test]
    fn eight_processes_with_one_name_have_eight_files() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let wanted = folder.path().join("trace.db");
        let names = std::thread::scope(|scope| {
            let all: Vec<_> = (0..8).map(|_| scope.spawn(|| created(&wanted).unwrap())).collect();
            all.into_iter().map(|one| one.join().unwrap()).collect::<std::collections::HashSet<_>>()
        });
        assert_eq!(names.len(), 8);
        Ok(())
    }
}
