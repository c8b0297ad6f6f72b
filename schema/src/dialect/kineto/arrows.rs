//! Arrows from calls to the GPU (`ac2g`): the link of ops whose events state no correlation id.
//!
//! An arrow's id is a correlation id. Where events state theirs, there are as many arrows as ops and nothing to learn from
//! them.

use rustc_hash::FxHashMap;

use super::event::Event;
use super::scalar::{nanoseconds, number, whole};
use crate::Id;
use crate::table::{ApiCalls, Copy, Dispatches, Tracks};

/// A moment of a thread or a stream, relative to the base time of its document.
type Moment = (Option<i64>, i64);

/// The arrows of a document, as long as an op may need them.
#[derive(Debug, Default)]
pub(super) struct Arrows {
    from: FxHashMap<Moment, Id>,
    to: FxHashMap<Moment, Id>,
    /// Set when an op states its correlation id; `missing` is set when one does not.
    stated: bool,
    missing: bool,
}

impl Arrows {
    /// Looks at the correlation id of an op.
    #[inline]
    pub(super) fn saw(&mut self, correlation: Id) {
        if correlation == 0 {
            self.missing = true;
        } else if !self.stated {
            self.stated = true;
            if !self.missing {
                (self.from, self.to) = Default::default();
            }
        }
    }

    /// Adds an arrow where an op may need it.
    #[inline]
    pub(super) fn add(&mut self, event: &Event<'_>) {
        if self.missing || !self.stated {
            self.remember(event);
        }
    }

    #[cold]
    fn remember(&mut self, event: &Event<'_>) {
        if let (Some(id), Some(time)) = (whole(event.id), nanoseconds(event.start)) {
            let ends = if event.phase == b"\"s\"" { &mut self.from } else { &mut self.to };
            ends.insert((number(event.tid), time), id);
        }
    }

    /// Gives the ids of arrows to dispatches without a correlation id, from a row on; times are relative.
    pub(super) fn link_dispatches(&self, dispatches: &mut Dispatches, first: usize, tracks: &Tracks) {
        if !self.missing {
            return;
        }
        for row in first..dispatches.len() {
            let stream = tracks.get(dispatches.track[row]).stream;
            if dispatches.correlation.get(row) == 0
                && let Some(&id) = self.to.get(&(stream, dispatches.start[row]))
            {
                dispatches.correlation.to_mut()[row] = id;
            }
        }
    }

    pub(super) fn link_copies(&self, copies: &mut [Copy], tracks: &Tracks) {
        for copy in copies.iter_mut().filter(|copy| self.missing && copy.correlation == 0) {
            let stream = tracks.get(copy.track).stream;
            copy.correlation = self.to.get(&(stream, copy.start)).copied().unwrap_or(0);
        }
    }

    pub(super) fn link_calls(&self, calls: &mut ApiCalls, first: usize) {
        if !self.missing {
            return;
        }
        for row in first..calls.len() {
            if calls.correlation.get(row) == 0
                && let Some(&id) = self.from.get(&(calls.tid.get(row), calls.start[row]))
            {
                calls.correlation.to_mut()[row] = id;
            }
        }
    }
}
