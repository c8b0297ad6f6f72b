//! A file that another thread writes.

use std::fmt;
use std::fs::File;
use std::io;
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use platform::positional::write_all_at;

use super::store::Target;

/// Writes that may wait.
const MOST_WAITING: usize = 64;

/// The bytes of a write, at most. Those of a trace in pieces have half as many.
const LONGEST: usize = 1 << 20;

/// A file that a thread of its own writes, in the order of the writes: the system lets one thread at a time write to a file, and
/// makes it wait for the disk. Where the process may use one thread only, that one writes.
///
/// An error of the thread is one of a later write, or of [`Target::finish`].
#[derive(Debug)]
pub struct QueuedFile(Writer);

#[derive(Debug)]
enum Writer {
    Caller(File),
    /// It ends with the channel.
    Thread(SyncSender<Job>, JoinHandle<io::Result<()>>),
    Ended,
}

enum Job {
    Write(Vec<u8>, u64),
    Call(Box<dyn FnOnce() -> io::Result<()> + Send>),
}

impl QueuedFile {
    pub(crate) fn new(file: File) -> io::Result<Self> {
        if threads::limit() == 1 {
            return Ok(Self(Writer::Caller(file)));
        }
        let (jobs, waiting) = sync_channel(MOST_WAITING);
        let own = file.try_clone()?;
        let thread =
            std::thread::Builder::new().name("writer".to_owned()).spawn(move || write_all(&own, waiting));
        // Where the system starts no thread, this one does its work.
        Ok(Self(thread.map_or(Writer::Caller(file), |thread| Writer::Thread(jobs, thread))))
    }

    /// Calls `job` when all that was written before is in the file, on the thread that writes it.
    pub(crate) fn then(&mut self, job: impl FnOnce() -> io::Result<()> + Send + 'static) -> io::Result<()> {
        if let Writer::Caller(_) = self.0 { job() } else { self.add(Job::Call(Box::new(job))) }
    }

    fn add_parts(&mut self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let mut parts = bytes.chunks(LONGEST).zip((offset..).step_by(LONGEST));
        parts.try_for_each(|(part, offset)| self.add(Job::Write(part.to_vec(), offset)))
    }

    fn add(&mut self, job: Job) -> io::Result<()> {
        match &self.0 {
            Writer::Thread(jobs, _) if jobs.send(job).is_ok() => Ok(()),
            // The thread takes nothing more after an error.
            _ => Err(self.finish().err().unwrap_or_else(|| io::Error::other("an earlier write failed"))),
        }
    }
}

fn write_all(file: &File, jobs: Receiver<Job>) -> io::Result<()> {
    let mut end = 0;
    for job in jobs {
        match job {
            Job::Write(bytes, offset) => {
                file.check(end)?;
                write_all_at(file, &bytes, offset)?;
                end = end.max(offset + bytes.len() as u64);
            }
            Job::Call(call) => call()?,
        }
    }
    Ok(())
}

impl Target for QueuedFile {
    fn write_at(&mut self, bytes: &[u8], offset: u64) -> io::Result<()> {
        match &self.0 {
            Writer::Caller(file) => write_all_at(file, bytes, offset),
            _ => self.add_parts(bytes, offset),
        }
    }

    fn write_run(&mut self, pages: Vec<u8>, offset: u64) -> io::Result<Option<Vec<u8>>> {
        match &self.0 {
            Writer::Caller(file) => write_all_at(file, &pages, offset).map(|()| Some(pages)),
            _ if pages.len() > LONGEST => self.add_parts(&pages, offset).map(|()| None),
            _ => self.add(Job::Write(pages, offset)).map(|()| None),
        }
    }

    fn check(&self, length: u64) -> io::Result<()> {
        match &self.0 {
            Writer::Caller(file) => file.check(length),
            // The thread checks before each write.
            _ => Ok(()),
        }
    }

    fn finish(&mut self) -> io::Result<()> {
        match std::mem::replace(&mut self.0, Writer::Ended) {
            Writer::Thread(jobs, thread) => {
                drop(jobs);
                thread.join().unwrap_or_else(|panic| resume_unwind(panic))
            }
            Writer::Caller(_) | Writer::Ended => Ok(()),
        }
    }
}

impl Drop for QueuedFile {
    fn drop(&mut self) {
        // The caller may remove the file next, which must not happen while the thread writes it.
        drop(self.finish());
    }
}

impl fmt::Debug for Job {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Write(bytes, offset) => write!(out, "Write({} bytes, {offset})", bytes.len()),
            Self::Call(_) => out.write_str("Call"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZero;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    fn with_threads(limit: usize, file: File) -> QueuedFile {
        threads::set_limit(NonZero::new(limit).unwrap());
        QueuedFile::new(file).unwrap()
    }

    #[test]
    fn a_job_is_called_when_the_writes_before_it_are_in_the_file() {
        let folder = tempfile::tempdir().unwrap();
        for limit in [1, 2] {
            let path = folder.path().join(limit.to_string());
            let mut file = with_threads(limit, File::create(&path).unwrap());
            let was_called = Arc::new(AtomicBool::new(false));
            for number in 0..200_u64 {
                let kept = file.write_run(vec![number as u8; 4_096], number * 4_096).unwrap();
                assert_eq!(kept.is_some(), limit == 1, "the memory of pages that wait is not the caller's");
            }
            let (own, called) = (path.clone(), Arc::clone(&was_called));
            file.then(move || {
                called.store(true, Ordering::Relaxed);
                assert_eq!(std::fs::metadata(&own)?.len(), 200 * 4_096);
                Ok(())
            })
            .unwrap();
            file.write_at(b"first", 0).unwrap();
            let long: Vec<u8> = (0..2 * LONGEST + 5).map(|at| (at % 251) as u8).collect();
            file.write_run(long.clone(), 200 * 4_096).unwrap();
            file.finish().unwrap();
            assert!(was_called.load(Ordering::Relaxed), "{limit} threads");
            let bytes = std::fs::read(&path).unwrap();
            let (short, behind) = bytes.split_at(200 * 4_096);
            assert!(short.starts_with(b"first") && short.ends_with(&[199; 4_096]), "{limit} threads");
            assert!(behind == long, "{limit} threads");
        }
    }

    #[test]
    fn an_error_of_a_write_or_a_job_is_one_of_the_file_and_the_last_that_it_does() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let error = || io::Error::other("the disk is on fire");
        for limit in [1, 2] {
            let mut file = with_threads(limit, File::create(&path).unwrap());
            let failed = file.then(move || Err(error())).and_then(|()| {
                (0..1_000).try_for_each(|_| {
                    std::thread::sleep(std::time::Duration::from_millis(1));
                    file.write_at(b"more", 0)
                })
            });
            assert_eq!(failed.unwrap_err().to_string(), error().to_string(), "{limit} threads");
        }
        let mut file = with_threads(2, File::open(&path).unwrap());
        file.write_at(b"more", 0).unwrap();
        assert!(file.finish().is_err(), "a file that is open for reading");
        assert!(file.write_at(b"more", 0).is_err());
    }

    #[test]
    fn a_file_that_someone_has_removed_or_made_shorter_is_not_written_any_more() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let changes: [fn(&std::path::Path) -> io::Result<()>; 2] =
            [|path| std::fs::remove_file(path), |path| File::options().write(true).open(path)?.set_len(1)];
        for change in changes {
            let mut file = with_threads(2, File::create(&path).unwrap());
            let own = path.clone();
            file.write_at(&[1; 10], 0).unwrap();
            file.then(move || change(&own)).unwrap();
            file.write_at(&[2; 10], 10).unwrap();
            assert!(file.finish().unwrap_err().to_string().starts_with("someone else has"));
        }
    }
}
