//! A merge in progress: a folder beside the output, which another process can go on with if this one is killed.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use cli::{Explain, Failure};
use schema::write::{Texts, Writer};

use crate::rows::Rows;
use crate::write::unreadable;

/// The folder; it goes with this value, and stays only where the program is killed.
#[derive(Debug)]
pub struct Work {
    folder: PathBuf,
    output: PathBuf,
    /// Of what is merged how: a checkpoint of anything else is none of ours.
    fingerprint: u64,
    _lock: File,
}

/// How far a merge has come.
#[derive(Debug)]
pub struct Progress {
    /// The file in the making.
    pub writer: Writer,
    /// Its strings.
    pub texts: Texts,
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
            .while_doing(|| format!("cannot write {}", output.display()))
            .or_hint("check that the folder exists and can be written")?;
        match lock.try_lock() {
            Ok(()) | Err(TryLockError::Error(_)) => {}
            Err(TryLockError::WouldBlock) => {
                let what = format!("another rtl-merge is writing {}", output.display());
                return Err(Failure::input(anyhow::anyhow!(what)));
            }
        }
        Ok(Self { folder, output: output.to_owned(), fingerprint, _lock: lock })
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

    /// Starts from nothing, or where an interrupted merge of the same traces was if that is wanted.
    ///
    /// # Errors
    /// Where the folder cannot be written.
    pub fn start(&self, resume: bool) -> Result<Progress, Failure> {
        if let (true, Some(progress)) = (resume, self.found()?) {
            return Ok(progress);
        }
        let fresh = || -> io::Result<Texts> {
            if self.state().exists() {
                fs::remove_file(self.state())?;
            }
            File::create(self.part())?;
            Texts::create(&self.texts())
        };
        let texts = fresh().while_doing(|| format!("cannot write {}", self.output.display()))?;
        let writer = Writer::within(&self.part(), &self.output).map_err(unreadable)?;
        Ok(Progress { writer, texts, done: None, rows: Rows::default() })
    }

    fn found(&self) -> Result<Option<Progress>, Failure> {
        let Ok(state) = fs::read(self.state()) else { return Ok(None) };
        let Some((fingerprint, state)) = state.split_first_chunk::<8>() else { return Ok(None) };
        let Some((done, mut state)) = state.split_first_chunk::<8>() else { return Ok(None) };
        let mut rows = Rows::default();
        for count in &mut rows.counts {
            let Some((number, rest)) = state.split_first_chunk::<8>() else { return Ok(None) };
            (*count, state) = (u64::from_le_bytes(*number), rest);
        }
        let is_there = self.part().exists() && self.texts().exists();
        if !is_there || u64::from_le_bytes(*fingerprint) != self.fingerprint {
            return Ok(None);
        }
        let resumed = Writer::resume(&self.part(), &self.output, &self.texts(), state).map_err(unreadable)?;
        let done = usize::try_from(u64::from_le_bytes(*done)).ok();
        Ok(resumed.map(|(writer, texts)| Progress { writer, texts, done, rows }))
    }

    /// Makes what was written something to go on from.
    ///
    /// # Errors
    /// Where a file cannot grow.
    pub fn save(&self, progress: &mut Progress, done: usize) -> Result<(), Failure> {
        let state = progress.writer.checkpoint(&mut progress.texts).map_err(unreadable)?;
        progress.done = Some(done);
        let next = self.folder.join("state.next");
        let mut bytes = self.fingerprint.to_le_bytes().to_vec();
        bytes.extend_from_slice(&(done as u64).to_le_bytes());
        bytes.extend(progress.rows.counts.iter().flat_map(|count| count.to_le_bytes()));
        bytes.extend_from_slice(&state);
        fs::write(&next, bytes)
            .and_then(|()| fs::rename(&next, self.state()))
            .while_doing(|| format!("cannot write {}", self.output.display()))
    }

    /// Gives the complete file its name.
    ///
    /// # Errors
    /// Where the folder cannot be written any more.
    pub fn finish(self) -> Result<(), Failure> {
        fs::rename(self.part(), &self.output)
            .while_doing(|| format!("cannot write {}", self.output.display()))
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        // Whatever cannot be removed is in nobody's way: the next merge takes it.
        let _ = fs::remove_dir_all(&self.folder);
    }
}
