//! The destination of the records: a file, or callbacks.

use std::path::PathBuf;

use crate::base::counters::Lost;
use crate::collect::dispatch::Dispatch;
use crate::events::calls::record::Open;
use crate::events::reader::{Reader, RecordSink};

/// How a recording ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ending {
    /// The file, if there is one.
    pub path: Option<PathBuf>,
    /// Why something is missing in it, in one line: the first failure.
    pub failure: Option<String>,
    /// The outcome of all that was on its way, where the recorder itself did not come to its end.
    pub rest: Option<Lost>,
}

/// A file, or a program that gets the records instead. Everything that it is handed it counts sooner or later, as
/// recorded or as lost.
pub(super) trait Sink: RecordSink {
    /// Records a dispatch or counts it as lost.
    fn add(&mut self, dispatch: &Dispatch);
    /// Records the copies and barriers that have come, or counts them as lost.
    fn add_copies_and_barriers(&mut self);
    /// The calls that threads are in now, which a sink may show before they have returned.
    fn show_open(&mut self, _open: Vec<Open>) {}
    /// Lets go of what has gathered.
    fn publish(&mut self);
    /// Lets go of everything where the process may be another program in a moment, so that nothing may follow.
    fn complete(&mut self, events: &mut Reader);
    /// Records nothing from now on, and what has not been let go of is lost too where that is for a failure.
    fn give_up(&mut self, why: Lost, reason: &str);
    /// Lets go of the rest: nothing will follow.
    fn close(&mut self);
    fn ending(self) -> Ending;
}
