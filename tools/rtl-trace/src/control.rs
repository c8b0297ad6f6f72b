//! `--control`: starts and stops the recording of a process that runs, by the file that its tracer looks for
//! (docs/guide/control.md).

use std::ffi::OsString;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{fs, io};

use cli::{Failure, ResultExt};

use crate::status;

/// How long a tracer is given to answer: it looks twenty times a second.
const PATIENCE: Duration = Duration::from_secs(10);

/// A process as its tracer knows it.
#[derive(Debug, PartialEq, Eq)]
struct Addressee {
    /// Where it looks for requests.
    folder: PathBuf,
    /// Its number where it lives, which is another one than outside of a container.
    pid: u32,
    /// Whose requests it heeds.
    user: u32,
}

/// Has the process heed what the words say; what was done.
///
/// # Errors
/// The words are not `start` or `stop`; there is no such process; it does not answer.
pub fn run(pid: u32, words: &[OsString]) -> Result<&'static str, Failure> {
    let [word] = words else { return Err(usage()) };
    let (request, done) = match word.to_str() {
        Some("start") => ("start", "started"),
        Some("stop") => ("stop", "stopped"),
        _ => return Err(usage()),
    };
    let addressee = addressee(Path::new("/proc"), pid)
        .with_exit(status::OWN)
        .with_context(|| format!("cannot look at process {pid}"))?;
    let answered = ask(&addressee, request, PATIENCE)
        .with_exit(status::OWN)
        .with_context(|| format!("cannot ask process {pid}"))?;
    if answered {
        return Ok(done);
    }
    let failure = Failure::new(status::OWN, anyhow::anyhow!("process {pid} does not answer"));
    Err(failure.with_hint("only a process that has librtl.so in it and has used a GPU or a range can"))
}

fn usage() -> Failure {
    Failure::usage("what is to be done to the process is missing").with_hint("--control PID start, or stop")
}

/// What `/proc` says of a process.
fn addressee(proc: &Path, pid: u32) -> io::Result<Addressee> {
    let about = proc.join(pid.to_string());
    let user = fs::metadata(&about)?.uid();
    let status = fs::read_to_string(about.join("status"))?;
    let within = status.lines().find_map(|line| line.strip_prefix("NSpid:"));
    let within = within.and_then(|numbers| numbers.split_whitespace().last()?.parse().ok());
    let own = about.join("root").join("tmp");
    // Whoever may not look into another process' root has the same one, most likely.
    let folder = if own.is_dir() { own } else { PathBuf::from("/tmp") };
    Ok(Addressee { folder, pid: within.unwrap_or(pid), user })
}

/// Puts the request where it is looked for; whether it was heeded in time. If not it is taken back.
fn ask(to: &Addressee, request: &str, patience: Duration) -> io::Result<bool> {
    let path = to.folder.join(format!("rtl-{}.control", to.pid));
    let file = tempfile::NamedTempFile::new_in(&to.folder)?;
    fs::write(file.path(), request)?;
    if fs::metadata(file.path())?.uid() != to.user {
        std::os::unix::fs::chown(file.path(), Some(to.user), None)?;
    }
    // It appears as a whole, and not in place of another one's.
    file.persist_noclobber(&path).map_err(|refused| refused.error)?;
    let until = Instant::now() + patience;
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

    fn here(folder: &Path) -> io::Result<Addressee> {
        Ok(Addressee { folder: folder.to_owned(), pid: 4711, user: fs::metadata(folder)?.uid() })
    }

    #[test]
    fn a_request_that_is_taken_is_heeded_and_another_is_taken_back() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let to = here(folder.path())?;
        assert!(!ask(&to, "stop", Duration::ZERO)?);
        assert_eq!(fs::read_dir(folder.path())?.count(), 0);
        let path = folder.path().join("rtl-4711.control");
        let tracer = std::thread::spawn(move || {
            while !path.exists() {
                std::thread::yield_now();
            }
            let said = fs::read_to_string(&path);
            fs::remove_file(&path).and(said)
        });
        assert!(ask(&to, "start", Duration::from_secs(600))?);
        assert_eq!(tracer.join().expect("a tracer")?, "start");
        Ok(())
    }

    #[test]
    fn a_request_that_waits_is_not_replaced() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        fs::write(folder.path().join("rtl-4711.control"), "start")?;
        let refused = ask(&here(folder.path())?, "stop", Duration::ZERO).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read_to_string(folder.path().join("rtl-4711.control"))?, "start");
        Ok(())
    }

    #[test]
    fn a_process_in_a_container_has_another_number_and_its_own_folder() -> io::Result<()> {
        let proc = tempfile::tempdir()?;
        let about = proc.path().join("5");
        fs::create_dir_all(about.join("root").join("tmp"))?;
        fs::write(about.join("status"), "Name:\tpython3\nNSpid:\t5\t1\nUid:\t0\n")?;
        let found = addressee(proc.path(), 5)?;
        assert_eq!((found.pid, found.folder), (1, about.join("root").join("tmp")));
        assert!(addressee(proc.path(), 6).is_err());
        Ok(())
    }

    #[test]
    fn what_is_to_be_done_is_one_of_two_words() {
        for words in [&[][..], &["restart".into()], &["start".into(), "now".into()]] {
            assert!(run(1, words).is_err());
        }
    }
}
