//! A merge in progress: a folder beside the output, which another process can go on with if this one is killed.
//!
//! After each input `state` says how far it has come. Nothing is waited for: what a killed process has written, the system
//! still has. Only a power loss may lose some of it and keep other, later bytes; that it came is told by the machine's
//! boot, of which each state knows its own. Therefore every few hundred MiB all is brought to the disk first, and
//! then said in `state.synced`, which is what a merge goes on from after another boot.

use std::fs::{self, File, TryLockError};
use std::hash::{Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};

use cli::{Failure, ResultExt};
use rtl_write::{NativeWriter, StringLog};
use rustc_hash::FxHasher;

use crate::rows::Rows;
use crate::write::unreadable;

/// How many bytes a power loss may cost: what is written in some seconds.
const UNSYNCED: u64 = 256 << 20;

/// The folder; it goes with this value, and stays only where the program is killed.
#[derive(Debug)]
pub struct Work {
    folder: PathBuf,
    output: PathBuf,
    /// Of what is merged how: a checkpoint of anything else is none of ours.
    fingerprint: u64,
    /// Of the machine's start that this is.
    boot: u64,
    /// Bytes of the part that `state.synced` tells of.
    synced: u64,
    disk: Disk,
    _lock: File,
}

/// How bytes are brought to the disk; tests look on.
#[derive(Debug, Clone, Copy)]
struct Disk {
    sync: fn(&Path) -> io::Result<()>,
    /// After how many bytes.
    every: u64,
}

/// How far a merge has come.
#[derive(Debug)]
pub struct Progress {
    /// The file in the making.
    pub writer: NativeWriter,
    /// Its strings.
    pub texts: StringLog,
    /// How many inputs are in it; nothing at all is where this is none.
    pub done: Option<usize>,
    /// How many rows those have.
    pub rows: Rows,
}

impl Work {
    /// Takes the folder for this output.
    ///
    /// # Errors
    /// Where it cannot be written, or another merge has it.
    pub fn take(output: &Path, fingerprint: u64) -> Result<Self, Failure> {
        let name = output.file_name().unwrap_or_default().to_string_lossy();
        let folder = super::target::folder(output).join(format!(".{name}.rtl-merge"));
        let lock = || -> io::Result<File> {
            fs::create_dir_all(&folder)?;
            File::create(folder.join("lock"))
        };
        let lock = lock()
            .with_context(|| format!("cannot write {}", output.display()))
            .with_hint("check that the folder exists and can be written")?;
        match lock.try_lock() {
            Ok(()) | Err(TryLockError::Error(_)) => {}
            Err(TryLockError::WouldBlock) => {
                let what = format!("another rtl-merge is writing {}", output.display());
                return Err(Failure::input(anyhow::anyhow!(what)));
            }
        }
        let disk = Disk { sync: |path| File::open(path)?.sync_all(), every: UNSYNCED };
        let output = output.to_owned();
        Ok(Self { folder, output, fingerprint, boot: boot(), synced: 0, disk, _lock: lock })
    }

    /// The file in the making.
    #[must_use]
    pub fn part(&self) -> PathBuf {
        self.folder.join("part")
    }

    fn texts(&self) -> PathBuf {
        self.folder.join("texts")
    }

    fn state(&self) -> PathBuf {
        self.folder.join("state")
    }

    fn synced(&self) -> PathBuf {
        self.folder.join("state.synced")
    }

    /// Starts from nothing, or where an interrupted merge of the same traces was if that is wanted.
    ///
    /// # Errors
    /// Where the folder cannot be written.
    pub fn start(&mut self, resume: bool) -> Result<Progress, Failure> {
        if resume {
            for (state, any_boot) in [(self.state(), false), (self.synced(), true)] {
                if let Some(progress) = self.found(&state, any_boot)? {
                    return Ok(progress);
                }
            }
        }
        let fresh = || -> io::Result<StringLog> {
            for state in [self.state(), self.synced()] {
                if state.exists() {
                    fs::remove_file(state)?;
                }
            }
            File::create(self.part())?;
            StringLog::create(&self.texts())
        };
        let texts = fresh().with_context(|| format!("cannot write {}", self.output.display()))?;
        let writer = NativeWriter::within(&self.part(), &self.output).map_err(unreadable)?;
        Ok(Progress { writer, texts, done: None, rows: Rows::default() })
    }

    fn found(&self, state: &Path, any_boot: bool) -> Result<Option<Progress>, Failure> {
        let Ok(state) = fs::read(state) else { return Ok(None) };
        let mut state = state.as_slice();
        let mut number = || {
            let (number, rest) = state.split_first_chunk::<8>()?;
            state = rest;
            Some(u64::from_le_bytes(*number))
        };
        let (fingerprint, boot, done) = (number(), number(), number());
        let mut rows = Rows::default();
        for count in &mut rows.counts {
            let Some(number) = number() else { return Ok(None) };
            *count = number;
        }
        let is_ours = fingerprint == Some(self.fingerprint) && (any_boot || boot == Some(self.boot));
        if !is_ours || !self.part().exists() || !self.texts().exists() {
            return Ok(None);
        }
        let resumed =
            NativeWriter::resume(&self.part(), &self.output, &self.texts(), state).map_err(unreadable)?;
        let done = done.and_then(|done| usize::try_from(done).ok());
        Ok(resumed.map(|(writer, texts)| Progress { writer, texts, done, rows }))
    }

    /// Makes what was written something to go on from.
    ///
    /// # Errors
    /// Where a file cannot grow.
    pub fn save(&mut self, progress: &mut Progress, done: usize) -> Result<(), Failure> {
        let state = progress.writer.checkpoint(&mut progress.texts).map_err(unreadable)?;
        progress.done = Some(done);
        let mut bytes = Vec::with_capacity(state.len() + 256);
        let counts = progress.rows.counts.iter().copied();
        for number in [self.fingerprint, self.boot, done as u64].into_iter().chain(counts) {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        bytes.extend_from_slice(&state);
        self.keep(&bytes).with_context(|| format!("cannot write {}", self.output.display()))
    }

    fn keep(&mut self, state: &[u8]) -> io::Result<()> {
        let next = self.folder.join("state.next");
        let written = fs::metadata(self.part())?.len();
        if written.saturating_sub(self.synced) >= self.disk.every {
            // What a state tells of must be on the disk before the state is.
            for file in [self.part(), self.texts()] {
                (self.disk.sync)(&file)?;
            }
            fs::write(&next, state)?;
            (self.disk.sync)(&next)?;
            fs::rename(&next, self.synced())?;
            (self.disk.sync)(&self.folder)?;
            self.synced = written;
        }
        fs::write(&next, state)?;
        fs::rename(&next, self.state())
    }

    /// Gives the complete file its name, when it is on the disk.
    ///
    /// # Errors
    /// Where the folder cannot be written any more.
    pub fn finish(self) -> Result<(), Failure> {
        let finish = || -> io::Result<()> {
            (self.disk.sync)(&self.part())?;
            fs::rename(self.part(), &self.output)?;
            (self.disk.sync)(super::target::folder(&self.output))
        };
        finish().with_context(|| format!("cannot write {}", self.output.display()))
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        // Whatever cannot be removed is in nobody's way: the next merge takes it.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// What tells this start of the machine from all others.
fn boot() -> u64 {
    let mut hasher = FxHasher::default();
    fs::read("/proc/sys/kernel/random/boot_id").unwrap_or_default().hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    thread_local! {
        /// What was brought to the disk, and whether a synced state was there when it was.
        static SYNCED: RefCell<Vec<(String, bool)>> = const { RefCell::new(Vec::new()) };
    }

    fn noted(path: &Path) -> io::Result<()> {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let is_said = path.with_file_name("state.synced").exists() || path.join("state.synced").exists();
        SYNCED.with_borrow_mut(|synced| synced.push((name, is_said)));
        Ok(())
    }

    /// A merge after one checkpoint that is synced and `more` that are not.
    fn started(output: &Path, more: usize) -> (Work, Progress) {
        let mut work = Work::take(output, 7).unwrap();
        work.disk = Disk { sync: noted, every: 0 };
        let mut progress = work.start(false).unwrap();
        for done in 0..=more {
            progress.writer.intern(&format!("input {done}")).unwrap();
            work.save(&mut progress, done + 1).unwrap();
            work.disk.every = u64::MAX;
        }
        (work, progress)
    }

    #[test]
    fn a_state_is_synced_only_behind_what_it_tells_of() {
        let folder = tempfile::tempdir().unwrap();
        let (work, _) = started(&folder.path().join("all.db"), 2);
        let folder = work.folder.file_name().unwrap().to_str().unwrap();
        let expected = [("part", false), ("texts", false), ("state.next", false), (folder, true)];
        let expected = expected.map(|(name, is_said)| (name.to_owned(), is_said));
        assert_eq!(SYNCED.take(), expected);
    }

    #[test]
    fn after_another_boot_a_merge_goes_on_from_what_was_synced() {
        let folder = tempfile::tempdir().unwrap();
        let (mut work, progress) = started(&folder.path().join("all.db"), 2);
        drop(progress);
        assert_eq!(work.start(true).unwrap().done, Some(3), "nothing was lost");
        work.boot += 1;
        assert_eq!(work.start(true).unwrap().done, Some(1), "the power was lost");
        fs::remove_file(work.synced()).unwrap();
        assert_eq!(work.start(true).unwrap().done, None, "before anything was synced");
    }
}
