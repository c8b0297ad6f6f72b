//! The file of a recording, which is created with its first row.

use std::path::PathBuf;

use rtl_write::{Recording, Target};
use rustc_hash::FxHashSet;

use crate::base::clock::Anchor;
use crate::base::gpus::known;
use crate::base::settings::Settings;
use crate::collect::dispatch::{Queue, QueueOrdinal};
use crate::collect::recorder_state::RecorderState;
use crate::write::identity::Identity;

/// Facts about the process for the file.
#[derive(Debug)]
pub(super) struct ProcessFacts {
    pub(super) settings: Settings,
    pub(super) identity: Identity,
}

type Create<T> = Box<dyn FnMut() -> rtl_schema::Result<(PathBuf, Recording<T>)> + Send>;

pub(super) struct RecordingFile<T> {
    about: ProcessFacts,
    create: Create<T>,
    start: Anchor,
    pub(super) path: Option<PathBuf>,
    pub(super) recording: Option<Recording<T>>,
    /// Number of queues that are written.
    queues: u32,
    /// Threads whose rows are written.
    pub(super) threads: FxHashSet<u32>,
}

impl<T: Target> RecordingFile<T> {
    pub(super) fn new(
        about: ProcessFacts,
        create: impl FnMut() -> rtl_schema::Result<(PathBuf, Recording<T>)> + Send + 'static,
    ) -> Self {
        Self {
            about,
            create: Box::new(create),
            start: Anchor::now(),
            path: None,
            recording: None,
            queues: 0,
            threads: FxHashSet::default(),
        }
    }

    /// The recording; the first call creates it with the rows that are known from the beginning.
    pub(super) fn begun(&mut self) -> rtl_schema::Result<&mut Recording<T>> {
        let none = match &mut self.recording {
            Some(recording) => return Ok(recording),
            none => none,
        };
        let (path, mut recording) = (self.create)()?;
        self.path = Some(path);
        for (tag, value) in self.about.identity.rows(&self.about.settings) {
            recording.push_metadata(&tag, &value)?;
        }
        recording.push_metadata("start_ns", &self.start.boottime.to_string())?;
        recording.push_metadata("clock_start", &self.start.json())?;
        Ok(none.insert(recording))
    }

    /// The recording, after the rows of a thread and of a queue were written before their first use.
    pub(super) fn register(
        &mut self,
        tid: u32,
        queue: Option<QueueOrdinal>,
        known: &RecorderState,
    ) -> rtl_schema::Result<&mut Recording<T>> {
        if queue.is_some_and(|queue| queue.0 >= self.queues) {
            for queue in known.queues.since(self.queues) {
                let row = queue_row(self.queues, &queue);
                self.begun()?.push_metadata("queue", &row)?;
                self.queues += 1;
            }
        }
        if !self.threads.contains(&tid) {
            let name = std::fs::read_to_string(format!("/proc/self/task/{tid}/comm")).ok();
            let row = thread_row(tid, name.as_deref().map(str::trim_end));
            self.begun()?.push_metadata("thread", &row)?;
            self.threads.insert(tid);
        }
        self.begun()
    }
}

fn queue_row(number: u32, queue: &Queue) -> String {
    let row = serde_json::json!({
        "pid": std::process::id(),
        "gpuId": queue.gpu,
        "queueId": number,
        "source": queue.address,
        "hardware": queue.hardware,
    });
    row.to_string()
}

/// A file may have several rows of a thread, of which the last one counts.
pub(super) fn thread_row(tid: u32, name: Option<&str>) -> String {
    known(serde_json::json!({ "pid": std::process::id(), "tid": tid, "name": name })).to_string()
}
