//! Writes one file from its first row to its last, and counts the outcome of every dispatch.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use rtl_schema::layout::tags::TRACING_COST;
use rtl_write::{Recording, Target};

use super::annotations::Annotations;
use super::calls::Calls;
use super::close::Close;
use super::copies_and_barriers::write_copy_or_barrier;
use super::in_progress::InProgress;
use super::naming::KernelNames;
use super::pending::{ALL, CALLS, DISPATCHES, OTHERS, PendingCounts, RANGES};
use super::recording_file::{ProcessFacts, RecordingFile};
use super::rows::Rows;
use super::sink::{Ending, Sink};
use crate::base::clock::Anchor;
use crate::base::counters::{Lost, UNHANDED};
use crate::base::registry::place;
use crate::base::try_lock::lock;
use crate::collect::copy_or_barrier::CopyOrBarrierKind;
use crate::collect::dispatch::{Dispatch, InFlight};
use crate::collect::recorder_state::RecorderState;
use crate::events::calls::record::{CallRecord, Open};
use crate::events::ranges::Annotation;
use crate::events::reader::{Reader, RecordSink};

pub(super) struct Session<T> {
    pub(super) known: Arc<RecorderState>,
    pub(super) file: RecordingFile<T>,
    /// The reason why nothing more is recorded.
    over: Option<Lost>,
    /// Set where `over` is for lack of room: counts are still written.
    is_full: bool,
    ending: Ending,
    pub(super) naming: KernelNames,
    /// Indexed by kernel id.
    kernels: Vec<Option<Rows>>,
    /// Number of GPUs that are written.
    gpus: u32,
    annotations: Annotations,
    /// Published and unpublished rows of each kind.
    pending: PendingCounts,
    calls: Calls,
    /// Dispatches that have been in flight for a long time.
    pub(super) in_flight: InProgress<InFlight>,
}

impl<T: Target + Close> Session<T> {
    pub(super) fn new(
        about: ProcessFacts,
        known: Arc<RecorderState>,
        create: impl FnMut() -> rtl_schema::Result<(PathBuf, Recording<T>)> + Send + 'static,
    ) -> Self {
        Self {
            known,
            file: RecordingFile::new(about, create),
            over: None,
            is_full: false,
            ending: Ending::default(),
            naming: KernelNames::default(),
            kernels: Vec::new(),
            gpus: 0,
            annotations: Annotations::default(),
            pending: PendingCounts::default(),
            calls: Calls::default(),
            in_flight: InProgress::default(),
        }
    }

    /// Closes the file. If it turns out that its content is not what was written, all rows are lost.
    fn part_with(&mut self, recording: Recording<T>) {
        let path = self.file.path.clone().unwrap_or_default();
        let closed = recording.finish().and_then(|target| {
            target.close().map_err(|source| rtl_schema::Error::Io { action: "close", path, source })
        });
        if let Err(error) = closed {
            self.fail(&error);
            PendingCounts::lose_recorded(Lost::Write, &self.known);
        }
    }

    /// True if there is to be a file, usually because an op was seen.
    fn is_begun(&self) -> bool {
        self.file.recording.is_some()
            || PendingCounts::are_any(&self.known)
            || self.known.creates_file.load(Ordering::Acquire)
    }

    /// Removes the file of a process that recorded nothing. If the process may not remove it, an empty one stays.
    fn remove_early(&mut self) {
        if self.known.creates_file.load(Ordering::Acquire)
            && PendingCounts::are_none(&self.known)
            && let Some(path) = self.file.path.take()
        {
            let _ = std::fs::remove_file(path);
        }
    }

    fn fail(&mut self, error: &rtl_schema::Error) {
        let cause = std::error::Error::source(error).map(|cause| format!(": {cause}")).unwrap_or_default();
        let reason = format!("{error}{cause}");
        match error {
            rtl_schema::Error::Full { .. } => self.leave_as_it_is(Lost::Full, reason),
            rtl_schema::Error::NoRoom { .. } => self.leave_as_it_is(Lost::Write, reason),
            _ if self.is_full => self.take_back(Lost::Write),
            _ => self.give_up(Lost::Write, &reason),
        }
    }

    /// Counts an op of this kind as recorded or, where nothing more is recorded, as lost.
    fn count(&mut self, kind: usize) {
        match self.over {
            None => self.pending.unpublished[kind] += 1,
            Some(why) => PendingCounts::lose_one(kind, why, &self.known),
        }
    }

    /// Keeps the rows in the file, and adds none after them.
    fn leave_as_it_is(&mut self, why: Lost, reason: String) {
        if self.over.is_none() {
            (self.over, self.is_full) = (Some(why), true);
            self.ending.failure.get_or_insert(reason);
        }
    }

    /// Drops the rows that are not published.
    fn take_back(&mut self, why: Lost) {
        self.is_full = false;
        if let Some(recording) = &mut self.file.recording {
            recording.rollback();
        }
        self.pending.lose(why, &self.known);
    }

    #[inline]
    fn write(&mut self, dispatch: &Dispatch) -> rtl_schema::Result<()> {
        if let Some(recording) = &mut self.file.recording
            && let Some(Some(rows)) = self.kernels.get_mut(dispatch.kernel.0 as usize)
            && rows.go_on_with(dispatch)
        {
            return rows.write(dispatch, recording);
        }
        self.write_other(dispatch)
    }

    /// Writes a dispatch that is not similar to the last one of its kernel, after the rows that it refers to.
    fn write_other(&mut self, dispatch: &Dispatch) -> rtl_schema::Result<()> {
        let rows = place(&mut self.kernels, dispatch.kernel.0 as usize);
        let named = match rows {
            Some(rows) => rows.named,
            None => {
                let kernel = self.known.kernels.get(dispatch.kernel.0).unwrap_or_default();
                self.naming.name(&kernel, self.file.begun()?)?
            }
        };
        let recording = self.file.register(dispatch.tid, Some(dispatch.queue), &self.known)?;
        *rows = Some(Rows::begin(named, dispatch, recording)?);
        Ok(())
    }

    /// Writes rows that are only written at a publication, and publishes everything.
    fn publish_all(&mut self, closing: &[(&str, String)]) -> rtl_schema::Result<()> {
        let gpus = self.known.gpus.since(self.gpus);
        let names = std::mem::take(&mut self.annotations.names);
        let recording = self.file.begun()?;
        let gpu_rows = gpus.iter().map(|gpu| ("gpu", gpu.row()));
        let names = names.iter().map(|(tag, row)| (&**tag, row.clone()));
        for (tag, row) in gpu_rows.chain(names) {
            match recording.push_metadata(tag, &row) {
                // The counts are worth more than these rows.
                Err(rtl_schema::Error::Full { .. } | rtl_schema::Error::NoRoom { .. }) => break,
                pushed => pushed?,
            };
        }
        recording.publish(closing)?;
        self.gpus += gpus.len() as u32;
        Ok(())
    }

    fn write_out(&mut self, is_complete: bool) {
        self.known.ranges.take_over(&UNHANDED);
        self.in_flight.now.clone_from(&lock(&self.known.in_flight));
        let open = match self.over {
            None => self.open_dispatches(),
            Some(_) => Ok(Vec::new()),
        };
        let open = match open {
            Ok(open) => open,
            Err(error) => return self.fail(&error),
        };
        let now = Anchor::now();
        let owned = |(tag, value): (&str, String)| (tag.to_owned(), value);
        let mut rows = vec![owned(("complete", u8::from(is_complete).to_string()))];
        rows.extend(self.pending.closing(DISPATCHES..RANGES, &self.known));
        rows.extend([("end_ns", now.boottime.to_string()), ("clock_end", now.json())].map(owned));
        rows.extend(self.pending.closing(RANGES..OTHERS, &self.known));
        rows.extend(self.calls.closing().into_iter().map(owned));
        rows.extend(self.pending.closing(OTHERS..ALL, &self.known));
        rows.extend(open.into_iter().map(owned));
        let budget = &self.known.budget;
        rows.push(owned((TRACING_COST, self.known.cost.row((budget.peak(), budget.bound())))));
        let rows: Vec<(&str, String)> = rows.iter().map(|(tag, value)| (&**tag, value.clone())).collect();
        match self.publish_all(&rows) {
            Ok(()) => {
                self.pending.publish(&self.known);
                self.calls.open.publish();
                self.in_flight.publish();
            }
            Err(error) => self.fail(&error),
        }
    }
}

impl<T: Target + Close> RecordSink for Session<T> {
    fn annotate(&mut self, annotation: &Annotation) {
        match *annotation {
            Annotation::Untracked => self.known.ranges.lose(Lost::Bounds, 1),
            Annotation::Name { what, number, text } if self.over.is_none() => {
                self.annotations.add_name(what, number, text, &mut self.file);
            }
            Annotation::Name { .. } => {}
            Annotation::Range { .. } => {
                if self.over.is_none()
                    && let Err(error) = self.annotations.write_range(annotation, &mut self.file, &self.known)
                {
                    self.fail(&error);
                }
                self.count(RANGES);
            }
        }
    }

    fn add_call(&mut self, record: &CallRecord) {
        let Some(source) = record.call.function.source() else { return };
        if self.over.is_none()
            && let Err(error) = self.calls.write(source, record, &mut self.file, &self.known)
        {
            self.fail(&error);
        }
        self.count(CALLS + source as usize);
    }
}

impl<T: Target + Close> Sink for Session<T> {
    #[inline]
    fn add(&mut self, dispatch: &Dispatch) {
        self.calls.link(None, dispatch.correlation);
        if self.over.is_none() {
            match self.write(dispatch) {
                Ok(()) => {
                    self.pending.unpublished[DISPATCHES] += 1;
                    return;
                }
                Err(error) => self.fail(&error),
            }
        }
        if let Some(why) = self.over {
            self.known.counters.lose(why, 1);
        }
    }

    fn add_copies_and_barriers(&mut self) {
        let mut ops = std::mem::take(&mut self.pending.room);
        self.known.copies_and_barriers.take(&mut ops);
        for op in &ops {
            let kind = usize::from(matches!(op.what, CopyOrBarrierKind::Barrier { .. }));
            self.calls.link(Some(kind), op.correlation);
            if self.over.is_none()
                && let Err(error) = write_copy_or_barrier(op, &mut self.file, &self.known)
            {
                self.fail(&error);
            }
            self.count(OTHERS + kind);
        }
        ops.clear();
        self.pending.room = ops;
    }

    fn show_open(&mut self, open: Vec<Open>) {
        self.calls.open.now = open;
    }

    /// Brings the file up to date. There is none before an op has been seen.
    fn publish(&mut self) {
        let added = self.pending.have_changed(&self.known) || !self.annotations.names.is_empty();
        self.in_flight.now.clone_from(&lock(&self.known.in_flight));
        let has_changed = added || self.calls.open.has_changed() || self.in_flight.has_changed();
        if (self.over.is_none() || self.is_full) && self.is_begun() && has_changed {
            self.write_out(false);
        }
    }

    /// Brings the file up to date as if nothing would follow. If more follows, the next publication overrides that.
    fn complete(&mut self, events: &mut Reader) {
        events.close_ranges(self);
        if (self.over.is_none() || self.is_full) && self.is_begun() {
            let is_complete = self.over != Some(Lost::Write)
                && self.known.counters.snapshot().on_the_way() == self.pending.unpublished[DISPATCHES];
            self.write_out(is_complete);
        }
    }

    fn give_up(&mut self, why: Lost, reason: &str) {
        if self.over.is_some() {
            return;
        }
        self.over = Some(why);
        self.ending.failure.get_or_insert_with(|| reason.to_owned());
        if matches!(why, Lost::Failure | Lost::Write) {
            self.take_back(why);
        }
    }

    fn close(&mut self) {
        if self.over == Some(Lost::Failure) {
            PendingCounts::lose_the_rest(Lost::Failure, &self.known);
        }
        self.pending.give_up_calls(&self.known);
        if self.file.recording.is_some() || self.is_begun() && self.over.is_none() {
            self.write_out(!matches!(self.over, Some(Lost::Failure | Lost::Write)));
        }
        if let Some(recording) = self.file.recording.take() {
            self.part_with(recording);
            self.remove_early();
        }
    }

    fn ending(self) -> Ending {
        Ending { path: self.file.path, ..self.ending }
    }
}
