//! `--control`: starts and stops the recording of a running process through the control file that its tracer polls
//! (docs/guide/control.md).
//!
//! The process may belong to another user and changes its folders at will, so nothing is reached by a path through them:
//! folders are opened within the root of the process, and the file is created and given away through descriptors.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, Instant};

use cli::{Failure, ResultExt};
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, RenameFlags, ResolveFlags, Uid};
use rustix::fs::{fchown, openat, openat2, renameat_with, statat, unlinkat};
use rustix::io::Errno;

use crate::status;

/// The time in which a tracer must take a request; it polls twenty times a second.
const TIMEOUT: Duration = Duration::from_secs(10);

/// A process as its tracer sees it.
#[derive(Debug)]
struct Target {
    /// The folder of the control file.
    folder: OwnedFd,
    /// The pid in the namespace of the process, which differs from the one outside of a container.
    pid: u32,
    /// The tracer accepts requests from this user.
    user: u32,
}

impl Target {
    fn file(&self) -> String {
        format!("rtl-{}.control", self.pid)
    }
}

/// Sends the request in `words` to the process; returns the participle of what was done.
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
    Err(status::failure(format!("process {pid} does not respond"))
        .with_hint("only a process with librtl.so that has used a GPU or a roctx range responds"))
}

fn usage() -> Failure {
    Failure::usage("the request is missing").with_hint("--control PID start, or stop")
}

fn target(proc: &Path, pid: u32) -> io::Result<Target> {
    // Whatever is opened within this folder belongs to the process, even if another one gets the number.
    let process = openat(CWD, proc.join(pid.to_string()), FOLDER, Mode::empty())?;
    let user = File::from(process.try_clone()?).metadata()?.uid();
    let mut status = String::new();
    File::from(openat(&process, "status", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?)
        .read_to_string(&mut status)?;
    let within = status.lines().find_map(|line| line.strip_prefix("NSpid:"));
    let within = within.and_then(|numbers| numbers.split_whitespace().last()?.parse().ok());
    // The root is a link of the system, which leads into the container.
    let root = openat(&process, "root", OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty());
    let folder = match root.and_then(|root| within_root(&root, "tmp")) {
        Ok(folder) => folder,
        // Without permission for the root of the process, assume that it is ours.
        Err(Errno::ACCESS | Errno::PERM | Errno::NOENT) => openat(CWD, "/tmp", FOLDER, Mode::empty())?,
        Err(error) => return Err(error.into()),
    };
    Ok(Target { folder, pid: within.unwrap_or(pid), user })
}

const FOLDER: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Opens a folder of another root; its links lead to nothing outside.
fn within_root(root: &OwnedFd, name: &str) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
    let resolve = ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS;
    match openat2(root, name, flags, Mode::empty(), resolve) {
        // Linux before 5.6 can only refuse all links.
        Err(Errno::NOSYS | Errno::PERM) => openat(root, name, FOLDER, Mode::empty()),
        opened => opened,
    }
}

/// Writes the control file. Returns true if the tracer took it in time; else the file is removed.
fn send(to: &Target, request: &str, timeout: Duration) -> io::Result<bool> {
    let name = to.file();
    // A file in the same folder appears whole when it is renamed; nobody but this user can write it meanwhile.
    let temporary = format!(".{name}.{}", std::process::id());
    let created = openat(
        &to.folder,
        &temporary,
        OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC,
        Mode::from_raw_mode(0o600),
    );
    let mut file = File::from(created?);
    let mut publish = || -> io::Result<(u64, u64)> {
        file.write_all(request.as_bytes())?;
        if file.metadata()?.uid() != to.user {
            fchown(&file, Some(Uid::from_raw(to.user)), None)?;
        }
        let written = file.metadata()?;
        // Another request is never replaced.
        renameat_with(&to.folder, &temporary, &to.folder, &name, RenameFlags::NOREPLACE)?;
        Ok((written.dev(), written.ino()))
    };
    let published = publish().map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => blocked(to),
        _ => error,
    });
    let published = published.inspect_err(|_| {
        let _ = unlinkat(&to.folder, &temporary, AtFlags::empty());
    })?;
    let until = Instant::now() + timeout;
    let is_there = || {
        let found = statat(&to.folder, &name, AtFlags::SYMLINK_NOFOLLOW);
        found.is_ok_and(|found| (found.st_dev, found.st_ino) == published)
    };
    while is_there() {
        if Instant::now() >= until {
            return Ok(unlinkat(&to.folder, &name, AtFlags::empty()).is_err());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(true)
}

/// The error where a control file exists: another request, or a file that the tracer ignores and that stays for ever.
fn blocked(to: &Target) -> io::Error {
    let name = to.file();
    let found = statat(&to.folder, &name, AtFlags::SYMLINK_NOFOLLOW);
    let what = match found {
        Ok(found) if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile => {
            format!("/tmp/{name} is not a regular file, and the tracer ignores it; remove it")
        }
        Ok(found) if found.st_uid != to.user => format!(
            "/tmp/{name} belongs to user {}, not to user {} of the process, and the tracer ignores it; remove it",
            found.st_uid, to.user
        ),
        _ => format!("another request waits in /tmp/{name}"),
    };
    io::Error::new(io::ErrorKind::AlreadyExists, what)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use rustix::fs::{chown, mknodat};

    use super::*;

    fn local(folder: &Path) -> io::Result<Target> {
        let user = fs::metadata(folder)?.uid();
        Ok(Target { folder: openat(CWD, folder, FOLDER, Mode::empty())?, pid: 4711, user })
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
        let path = folder.path().join("rtl-4711.control");
        fs::write(&path, "start")?;
        let refused = send(&local(folder.path())?, "stop", Duration::ZERO).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::AlreadyExists);
        assert!(refused.to_string().contains("another request waits"), "{refused}");
        assert_eq!(fs::read_to_string(path)?, "start");
        assert_eq!(fs::read_dir(folder.path())?.count(), 1);
        Ok(())
    }

    #[test]
    fn a_file_that_blocks_requests_is_named_with_the_reason() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("rtl-4711.control");
        let refusal = || send(&local(folder.path())?, "stop", Duration::ZERO).map(|_| String::new());
        let message = || refusal().unwrap_err().to_string();
        mknodat(CWD, &path, FileType::Fifo, Mode::from_raw_mode(0o600), 0)?;
        assert!(message().contains("rtl-4711.control is not a regular file"), "{}", message());
        fs::remove_file(&path)?;
        symlink("/dev/null", &path)?;
        assert!(message().contains("rtl-4711.control is not a regular file"), "{}", message());
        fs::remove_file(&path)?;
        fs::write(&path, "start")?;
        // Only root can give a file away.
        if chown(&path, Some(Uid::from_raw(65_534)), None).is_ok() {
            assert!(message().contains("rtl-4711.control belongs to user 65534"), "{}", message());
        }
        Ok(())
    }

    #[test]
    fn a_process_in_a_container_has_another_pid_and_its_own_folder() -> io::Result<()> {
        let proc = tempfile::tempdir()?;
        let process = proc.path().join("5");
        fs::create_dir_all(process.join("root").join("tmp"))?;
        fs::write(process.join("status"), "Name:\tpython3\nNSpid:\t5\t1\nUid:\t0\n")?;
        let found = target(proc.path(), 5)?;
        assert_eq!(found.pid, 1);
        assert_eq!(File::from(found.folder).metadata()?.ino(), fs::metadata(process.join("root/tmp"))?.ino());
        assert!(target(proc.path(), 6).is_err());
        Ok(())
    }

    #[test]
    fn a_link_in_the_root_of_a_process_leads_to_nothing_outside() -> io::Result<()> {
        let proc = tempfile::tempdir()?;
        let root = proc.path().join("5/root");
        fs::create_dir_all(root.join("private/tmp"))?;
        fs::write(proc.path().join("5/status"), "NSpid:\t5\n")?;
        let link = root.join("tmp");
        for (target, inside) in [("/private/tmp", root.join("private/tmp")), ("../../../../..", root.clone())]
        {
            symlink(target, &link)?;
            let found = File::from(super::target(proc.path(), 5)?.folder).metadata()?;
            assert_eq!(found.ino(), fs::metadata(inside)?.ino(), "{target}");
            fs::remove_file(&link)?;
        }
        Ok(())
    }

    #[test]
    fn what_takes_the_place_of_the_folder_gets_nothing() -> io::Result<()> {
        let around = tempfile::tempdir()?;
        let (folder, victim) = (around.path().join("tmp"), around.path().join("victim"));
        fs::create_dir(&folder)?;
        fs::create_dir(&victim)?;
        let to = local(&folder)?;
        fs::rename(&folder, around.path().join("moved"))?;
        symlink(&victim, &folder)?;
        assert!(!send(&to, "stop", Duration::ZERO)?);
        assert_eq!(fs::read_dir(&victim)?.count(), 0);
        Ok(())
    }

    #[test]
    fn a_request_is_one_of_two_words() {
        for words in [&[][..], &["restart".into()], &["start".into(), "now".into()]] {
            assert!(run(1, words).is_err());
        }
    }
}
