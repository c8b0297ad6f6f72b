//! The checkpoint of a merge: a working folder beside the output, from which another process can resume.
//!
//! After inputs of some hundred MiB `state` holds the progress, after each small one too. Nothing is synced for that, because the
//! system keeps what a killed process has written. A power loss may lose some bytes and keep later ones; it shows by the boot
//! id, which every state holds.
//! Therefore every few hundred MiB the data is synced, then described in `state.synced`, from which a merge resumes after
//! another boot. A thread of its own waits for the disk.
//!
//! The name of the folder is random and only its owner can use it. A folder that is found is used only if it is such a
//! folder of this user and no link, so other users cannot plant one. All its files are reached through its descriptor.

use std::fs::{self, File, TryLockError};
use std::hash::{Hash, Hasher};
use std::io;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;

use atomic_file::{AtomicFile, IfExists, NamedDir, Options};
use cli::{Failure, ResultExt};
use platform::permissions;
use rtl_write::{NativeWriter, StringLog};
use rustc_hash::FxHasher;

use crate::output;
use crate::plan::Plan;
use crate::read::{Input, Rows};

/// Bytes that a power loss may cost: the output of some seconds.
const UNSYNCED: u64 = 256 << 20;

/// The merged trace while it is written.
const PART: &str = "part";
const STRINGS: &str = "texts";
const STATE: &str = "state";
const SYNCED: &str = "state.synced";

/// The working folder. Dropping it or a signal removes the folder, which stays only if the program is killed.
#[derive(Debug)]
pub(crate) struct Checkpoint {
    folder: NamedDir,
    output: PathBuf,
    /// The traces that limit the permissions of the output.
    inputs: Vec<PathBuf>,
    /// Identifies the traces and options; the checkpoint of another merge is not used.
    fingerprint: u64,
    /// Identifies the boot of the machine.
    boot: u64,
    _lock: File,
    /// Bytes of the part that `state.synced` describes, or will when the disk has them.
    synced: u64,
    /// The thread that waits for that.
    syncing: Option<JoinHandle<io::Result<()>>>,
    disk: Disk,
}

/// How bytes are brought to the disk; replaced in tests.
#[derive(Debug, Clone, Copy)]
struct Disk {
    sync: fn(&Path) -> io::Result<()>,
    /// The number of bytes between two syncs.
    every: u64,
}

#[derive(Debug)]
pub(crate) struct MergeState {
    pub(crate) writer: NativeWriter,
    pub(crate) strings: StringLog,
    /// The number of inputs that are written; `None` before the metadata of the whole trace is.
    pub(crate) done: Option<usize>,
    /// The rows of these inputs.
    pub(crate) rows: Rows,
}

impl Checkpoint {
    /// Opens the folder that an interrupted merge into this output has left, else a new one. The output is written with
    /// the permissions that all `inputs` have.
    ///
    /// # Errors
    /// Where the folder cannot be written, or another merge uses it.
    pub(crate) fn open(output: &Path, inputs: &[Input], plan: &Plan) -> Result<Self, Failure> {
        let fingerprint = plan.fingerprint(inputs);
        // A link stays; the file that it leads to is replaced.
        let output = output.canonicalize().unwrap_or_else(|_| output.to_owned());
        let open = || -> io::Result<(NamedDir, File)> {
            let around = output::folder(&output);
            fs::create_dir_all(around)?;
            let folder = find(&output)?.map_or_else(|| NamedDir::create_in(around, &prefix(&output)), Ok)?;
            let lock = File::create(folder.path().join("lock"))?;
            Ok((folder, lock))
        };
        let (folder, lock) = open()
            .with_context(|| format!("cannot write {}", output.display()))
            .with_hint("check that the folder exists and can be written")?;
        if let Err(TryLockError::WouldBlock) = lock.try_lock() {
            let what = format!("another rtl-merge is writing {}", output.display());
            return Err(Failure::input(anyhow::anyhow!(what)));
        }
        let disk = Disk { sync: platform::disk::sync, every: UNSYNCED };
        let inputs = inputs.iter().map(|input| input.path.clone()).collect();
        let (boot, synced, syncing) = (boot(), 0, None);
        Ok(Self { folder, output, inputs, fingerprint, boot, _lock: lock, synced, syncing, disk })
    }

    /// The merged trace while it is written.
    pub(crate) fn part(&self) -> PathBuf {
        self.file(PART)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Starts from nothing, or with `resume` from an interrupted merge of the same traces.
    ///
    /// # Errors
    /// Where the folder cannot be written.
    pub(crate) fn start(&mut self, resume: bool) -> Result<MergeState, Failure> {
        let [state, synced, strings] = [STATE, SYNCED, STRINGS].map(|name| self.file(name));
        if resume {
            for (state, any_boot) in [(&state, false), (&synced, true)] {
                if let Some(merge) = self.load(state, any_boot, &strings)? {
                    return Ok(merge);
                }
            }
        }
        let create = || -> io::Result<StringLog> {
            for state in [&state, &synced] {
                if state.exists() {
                    fs::remove_file(state)?;
                }
            }
            File::create(self.part())?;
            let inputs: Vec<&Path> = self.inputs.iter().map(PathBuf::as_path).collect();
            // A run of a data set takes the permissions from the part.
            permissions::limit(&self.part(), Options { inputs: &inputs, ..Options::default() }.file_mode())?;
            StringLog::create(&strings)
        };
        let strings = create().with_context(|| format!("cannot write {}", self.output.display()))?;
        let writer = NativeWriter::within(&self.part(), &self.output)?;
        Ok(MergeState { writer, strings, done: None, rows: Rows::default() })
    }

    fn load(&self, state: &Path, any_boot: bool, strings: &Path) -> Result<Option<MergeState>, Failure> {
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
        if !is_ours || !self.part().exists() || !strings.exists() {
            return Ok(None);
        }
        let resumed = NativeWriter::resume(&self.part(), &self.output, strings, state)?;
        let done = done.and_then(|done| usize::try_from(done).ok());
        Ok(resumed.map(|(writer, strings)| MergeState { writer, strings, done, rows }))
    }

    /// Saves the state after `done` inputs.
    ///
    /// # Errors
    /// Where a file cannot grow, or could not be synced before.
    pub(crate) fn save(&mut self, merge: &mut MergeState, done: usize) -> Result<(), Failure> {
        let state = merge.writer.checkpoint(&mut merge.strings)?;
        merge.done = Some(done);
        let mut bytes = Vec::with_capacity(state.len() + 256);
        let counts = merge.rows.counts.iter().copied();
        for number in [self.fingerprint, self.boot, done as u64].into_iter().chain(counts) {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        bytes.extend_from_slice(&state);
        self.replace_state(bytes).with_context(|| format!("cannot write {}", self.output.display()))
    }

    /// Waits until the merged trace is on the disk.
    ///
    /// # Errors
    /// Where the disk fails.
    pub(crate) fn sync(&mut self) -> Result<(), Failure> {
        let synced = self.wait().and_then(|()| (self.disk.sync)(&self.part()));
        synced.with_context(|| format!("cannot write {}", self.output.display()))
    }

    /// Gives the complete file its name, when it is on the disk.
    ///
    /// # Errors
    /// Where the folder of the output cannot be written any more.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        let inputs: Vec<&Path> = self.inputs.iter().map(PathBuf::as_path).collect();
        let options = Options { if_exists: IfExists::Replace, inputs: &inputs };
        let mut output = AtomicFile::create(&self.output, &options)?;
        let sync = self.disk.sync;
        let mut replace = || -> io::Result<()> {
            let part = self.part();
            fs::set_permissions(&part, output.file().metadata()?.permissions())?;
            sync(&part)?;
            output.adopt(&part)
        };
        replace().with_context(|| format!("cannot write {}", self.output.display()))?;
        output.commit()?;
        sync(output::folder(&self.output)).with_context(|| format!("cannot write {}", self.output.display()))
    }

    fn replace_state(&mut self, state: Vec<u8>) -> io::Result<()> {
        let next = self.file("state.next");
        fs::write(&next, &state)?;
        fs::rename(&next, self.file(STATE))?;
        let written = fs::metadata(self.part())?.len();
        if written.saturating_sub(self.synced) >= self.disk.every {
            self.start_sync(state)?;
            self.synced = written;
        }
        Ok(())
    }

    /// Brings what is written to the disk, while more is written if there may be a thread for it.
    fn start_sync(&mut self, state: Vec<u8>) -> io::Result<()> {
        // A disk that takes longer than the merge holds it up: memory must not fill.
        self.wait()?;
        let (sync, folder) = (self.disk.sync, self.folder.path());
        let [part, strings, synced, next] =
            [PART, STRINGS, SYNCED, "state.synced.next"].map(|name| folder.join(name));
        let work = move || {
            // The data must be on the disk before the state that describes it.
            sync(&part)?;
            sync(&strings)?;
            fs::write(&next, &state)?;
            sync(&next)?;
            fs::rename(&next, synced)?;
            sync(&folder)
        };
        let spawn = || std::thread::Builder::new().name("sync".to_owned()).spawn(work.clone()).ok();
        self.syncing = if threads::limit() > 1 { spawn() } else { None };
        // Where the system starts no thread, this one waits.
        if self.syncing.is_some() { Ok(()) } else { work() }
    }

    /// Waits for the disk.
    fn wait(&mut self) -> io::Result<()> {
        let syncing = self.syncing.take();
        syncing.map_or(Ok(()), |thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)))
    }
}

impl Drop for Checkpoint {
    fn drop(&mut self) {
        // Nothing may use the folder any more.
        drop(self.wait());
        self.folder.remove();
    }
}

/// The start of the names of working folders for this output.
fn prefix(output: &Path) -> String {
    format!(".{}.rtl-merge-", output.file_name().unwrap_or_default().to_string_lossy())
}

/// The working folder that an interrupted merge of this user has left.
fn find(output: &Path) -> io::Result<Option<NamedDir>> {
    let prefix = prefix(output);
    for entry in fs::read_dir(output::folder(output))? {
        let entry = entry?;
        let is_named = entry.file_name().to_string_lossy().starts_with(&prefix);
        if is_named && let Ok(folder) = NamedDir::open(&entry.path()) {
            return Ok(Some(folder));
        }
    }
    Ok(None)
}

/// Identifies this boot of the machine. Where the system does not, every process counts as a boot.
fn boot() -> u64 {
    let mut hasher = FxHasher::default();
    platform::boot::id().unwrap_or_else(|| std::process::id().to_string()).hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use std::num::NonZero;
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::sync::Mutex;

    use super::*;

    /// The synced files of all folders, and whether a synced state existed at that time.
    static SYNCS: Mutex<Vec<(PathBuf, bool)>> = Mutex::new(Vec::new());

    fn record(path: &Path) -> io::Result<()> {
        let is_described = path.with_file_name("state.synced").exists() || path.join("state.synced").exists();
        SYNCS.lock().unwrap().push((path.to_owned(), is_described));
        Ok(())
    }

    /// A merge after one synced checkpoint and `more` others, with as many threads.
    fn started(output: &Path, more: usize, limit: usize) -> (Checkpoint, MergeState) {
        threads::set_limit(NonZero::new(limit).unwrap());
        let mut checkpoint = Checkpoint::open(output, &[], &Plan::default()).unwrap();
        checkpoint.disk = Disk { sync: record, every: 0 };
        let mut merge = checkpoint.start(false).unwrap();
        for done in 0..=more {
            merge.writer.intern(&format!("input {done}")).unwrap();
            checkpoint.save(&mut merge, done + 1).unwrap();
            checkpoint.disk.every = u64::MAX;
        }
        checkpoint.wait().unwrap();
        (checkpoint, merge)
    }

    #[test]
    fn a_state_is_synced_only_after_its_data() {
        for limit in [1, 2] {
            let folder = tempfile::tempdir().unwrap();
            let (checkpoint, _merge) = started(&folder.path().join("all.db"), 2, limit);
            let folder = checkpoint.folder.path();
            let files = ["part", "texts", "state.synced.next"].map(|file| (folder.join(file), false));
            let mut synced = std::mem::take(&mut *SYNCS.lock().unwrap());
            synced.retain(|(path, _)| path.starts_with(&folder));
            assert_eq!(synced, [&files[..], &[(folder, true)]].concat(), "{limit} threads");
        }
    }

    #[test]
    fn after_another_boot_a_merge_resumes_from_the_synced_state() {
        for limit in [1, 2] {
            let folder = tempfile::tempdir().unwrap();
            let (mut checkpoint, merge) = started(&folder.path().join("all.db"), 2, limit);
            drop(merge);
            assert_eq!(checkpoint.start(true).unwrap().done, Some(3), "nothing was lost");
            checkpoint.boot += 1;
            assert_eq!(checkpoint.start(true).unwrap().done, Some(1), "the power was lost");
            fs::remove_file(checkpoint.file(SYNCED)).unwrap();
            assert_eq!(checkpoint.start(true).unwrap().done, None, "before anything was synced");
        }
    }

    #[test]
    fn a_link_or_an_open_folder_in_place_of_the_working_folder_is_not_used() {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("all.db");
        let victim = folder.path().join("victim");
        fs::create_dir(&victim).unwrap();
        fs::set_permissions(&victim, fs::Permissions::from_mode(0o700)).unwrap();
        fs::write(victim.join("part"), "precious").unwrap();
        std::os::unix::fs::symlink(&victim, folder.path().join(".all.db.rtl-merge-link")).unwrap();
        fs::create_dir(folder.path().join(".all.db.rtl-merge-open")).unwrap();
        let mut checkpoint = Checkpoint::open(&output, &[], &Plan::default()).unwrap();
        assert_eq!(fs::metadata(checkpoint.folder.name()).unwrap().mode() & 0o777, 0o700);
        checkpoint.start(true).unwrap();
        drop(checkpoint);
        assert_eq!(fs::read_to_string(victim.join("part")).unwrap(), "precious");
    }

    #[test]
    fn a_link_that_takes_the_name_of_the_working_folder_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let victim = folder.path().join("victim");
        fs::create_dir(&victim).unwrap();
        fs::write(victim.join("part"), "precious").unwrap();
        let mut checkpoint = Checkpoint::open(&folder.path().join("all.db"), &[], &Plan::default()).unwrap();
        fs::rename(checkpoint.folder.name(), folder.path().join("moved")).unwrap();
        std::os::unix::fs::symlink(&victim, checkpoint.folder.name()).unwrap();
        checkpoint.start(false).unwrap();
        drop(checkpoint);
        assert_eq!(fs::read_to_string(victim.join("part")).unwrap(), "precious");
    }
}
