//! `--control`: starts and stops the recording of a running process through the control file that its tracer polls
//! (docs/guide/control.md).

use std::ffi::OsString;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{fs, io};

use cli::{Failure, ResultExt};

use crate::status;

/// The time in which a tracer must take a request; it polls twenty times a second.
const TIMEOUT: Duration = Duration::from_secs(10);

/// A process as its tracer sees it.
#[derive(Debug, PartialEq, Eq)]
struct Target {
    /// The folder of its control file.
    folder: PathBuf,
    /// Its pid in its own namespace: in a container another than outside.
    pid: u32,
    /// The user from whom it accepts requests.
    user: u32,
}

/// Sends the request in `words` to the process; returns what was done.
///
/// # Errors
/// Where the words are not `start` or `stop`, there is no such process, or the process does not respond.
pub fn run(pid: u32, words: &[OsString]) -> Result<&'static str, Failure> {
    let [word] = words else { return Err(usage()) };
    let (request, done) = match word.to_str() {
        Some("start") => ("start", "started"),
        Some("stop") => ("stop", "stopped"),
        _ => return Err(usage()),
    };
    let target = target(Path::new("/proc"), pid)
        .with_exit(status::OWN)
        .with_context(|| format!("cannot inspect process {pid}"))
        .with_hint("PID is the number of a running process of yours, as `ps` shows it")?;
    let taken = send(&target, request, TIMEOUT)
        .with_exit(status::OWN)
        .with_context(|| format!("cannot send a request to process {pid}"))?;
    if taken {
        return Ok(done);
    }
    let failure = Failure::new(status::OWN, anyhow::anyhow!("process {pid} does not respond"));
    Err(failure.with_hint("only a process with librtl.so that has used a GPU or a roctx range responds"))
}

fn usage() -> Failure {
    Failure::usage("the request is missing").with_hint("--control PID start, or stop")
}

/// Reads a process from `/proc`.
fn target(proc: &Path, pid: u32) -> io::Result<Target> {
    let process = proc.join(pid.to_string());
    let user = fs::metadata(&process)?.uid();
    let status = fs::read_to_string(process.join("status"))?;
    let within = status.lines().find_map(|line| line.strip_prefix("NSpid:"));
    let within = within.and_then(|numbers| numbers.split_whitespace().last()?.parse().ok());
    let own = process.join("root").join("tmp");
    // Without permission for the root of the process, assume that it is ours.
    let folder = if own.is_dir() { own } else { PathBuf::from("/tmp") };
    Ok(Target { folder, pid: within.unwrap_or(pid), user })
}

/// Writes the control file and returns whether the tracer took it in time; else the file is removed.
fn send(to: &Target, request: &str, timeout: Duration) -> io::Result<bool> {
    let path = to.folder.join(format!("rtl-{}.control", to.pid));
    let file = tempfile::NamedTempFile::new_in(&to.folder)?;
    fs::write(file.path(), request)?;
    if fs::metadata(file.path())?.uid() != to.user {
        std::os::unix::fs::chown(file.path(), Some(to.user), None)?;
    }
    // The file appears whole and never replaces another request.
    file.persist_noclobber(&path).map_err(|refused| refused.error)?;
    let until = Instant::now() + timeout;
    while path.exists() {
        if Instant::now() >= until {
            return Ok(fs::remove_file(&path).is_err());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn local(folder: &Path) -> io::Result<Target> {
        Ok(Target { folder: folder.to_owned(), pid: 4711, user: fs::metadata(folder)?.uid() })
    }

    #[test]
    fn a_request_that_no_tracer_takes_is_removed() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let to = local(folder.path())?;
        assert!(!send(&to, "stop", Duration::ZERO)?);
        assert_eq!(fs::read_dir(folder.path())?.count(), 0);
        let path = folder.path().join("rtl-4711.control");
        let tracer = std::thread::spawn(move || {
            while !path.exists() {
                std::thread::yield_now();
            }
            let request = fs::read_to_string(&path);
            fs::remove_file(&path).and(request)
        });
        assert!(send(&to, "start", Duration::from_secs(600))?);
        assert_eq!(tracer.join().expect("a tracer")?, "start");
        Ok(())
    }

    #[test]
    fn a_pending_request_is_not_replaced() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        fs::write(folder.path().join("rtl-4711.control"), "start")?;
        let refused = send(&local(folder.path())?, "stop", Duration::ZERO).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read_to_string(folder.path().join("rtl-4711.control"))?, "start");
        Ok(())
    }

    #[test]
    fn a_process_in_a_container_has_another_pid_and_its_own_folder() -> io::Result<()> {
        let proc = tempfile::tempdir()?;
        let process = proc.path().join("5");
        fs::create_dir_all(process.join("root").join("tmp"))?;
        fs::write(process.join("status"), "Name:\tpython3\nNSpid:\t5\t1\nUid:\t0\n")?;
        let found = target(proc.path(), 5)?;
        assert_eq!((found.pid, found.folder), (1, process.join("root").join("tmp")));
        assert!(target(proc.path(), 6).is_err());
        Ok(())
    }

    #[test]
    fn a_request_is_one_of_two_words() {
        for words in [&[][..], &["restart".into()], &["start".into(), "now".into()]] {
            assert!(run(1, words).is_err());
        }
    }
}
