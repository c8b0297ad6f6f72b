//! The interface of the two destinations of records: a file, and callbacks.

use std::path::PathBuf;

use crate::base::counters::Lost;
use crate::collect::dispatch::Dispatch;
use crate::events::calls::record::Open;
use crate::events::reader::{Reader, RecordSink};

/// The result of a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ending {
    /// `None` where there is no file.
    pub path: Option<PathBuf>,
    /// The first failure, which is the reason for missing records, in one line.
    pub failure: Option<String>,
    /// The outcome of everything in flight, if the recorder itself did not finish.
    pub rest: Option<Lost>,
}

/// A destination of records. Everything that it is handed it counts sooner or later, as recorded or as lost.
pub(super) trait Sink: RecordSink {
    fn add(&mut self, dispatch: &Dispatch);
    /// Records the copies and barriers that were handed over.
    fn add_copies_and_barriers(&mut self);
    /// Receives the calls that threads are in now, which may be shown before they have returned.
    fn show_open(&mut self, _open: Vec<Open>) {}
    /// Publishes or delivers all records so far.
    fn publish(&mut self);
    /// Publishes or delivers everything where the process may become another program, so that nothing may follow.
    fn complete(&mut self, events: &mut Reader);
    /// Records nothing from now on. After a failure, unpublished records are lost, too.
    fn give_up(&mut self, why: Lost, reason: &str);
    /// Publishes or delivers the rest: nothing follows.
    fn close(&mut self);
    fn ending(self) -> Ending;
}
