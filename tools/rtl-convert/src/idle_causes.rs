//! Causes of idle time as slices, one track for each GPU. They follow from all rows together, so the trace has them only
//! up to a number of rows: memory does not grow beyond.

use rtl_analysis::idle::{self, Cause, IdlePiece};
use rtl_schema::table::Dispatch;
use rtl_schema::{AgentId, ProcessId, Tables};
use rustc_hash::FxHashSet;

use crate::event::{Event, Kind};
use crate::tracks::{PerfettoTrack, PerfettoTracks, TrackGroup, TrackKind};

/// The most rows of ops, calls, ranges, operators and Python functions: 80 MB.
const ROWS: usize = 1_000_000;

#[derive(Debug)]
pub struct IdleCauses {
    /// `None` where there were more than [`ROWS`].
    rows: Option<Tables>,
}

impl Default for IdleCauses {
    fn default() -> Self {
        Self { rows: Some(Tables::default()) }
    }
}

impl IdleCauses {
    /// Adds the rows of a batch. All calls are in the first one: without any, nothing is kept.
    pub fn add(&mut self, tables: &Tables) {
        let Some(rows) = &mut self.rows else { return };
        if tables.api_calls.is_empty() && rows.api_calls.is_empty() {
            self.rows = None;
            return;
        }
        for row in tables.dispatches.iter() {
            let Dispatch { name, track, start, duration, correlation, details, .. } = row;
            let row = Dispatch { name, track, start, duration, correlation, details, ..Dispatch::default() };
            rows.dispatches.push(row);
        }
        rows.copies.extend_from_slice(&tables.copies);
        rows.ranges.extend_from_slice(&tables.ranges);
        tables.api_calls.iter().for_each(|call| rows.api_calls.push(call));
        tables.operators.iter().for_each(|operator| rows.operators.push(operator));
        tables.python_frames.iter().for_each(|frame| rows.python_frames.push(frame));
        let host = rows.api_calls.len() + rows.ranges.len() + rows.operators.len() + rows.python_frames.len();
        if rows.dispatches.len() + rows.copies.len() + host > ROWS {
            self.rows = None;
        }
    }

    /// The slices, with tracks of their own, of GPUs of which any cause is known; `tables` has what rows refer to.
    pub fn events(self, tables: &Tables, tracks: &mut PerfettoTracks) -> Vec<Event> {
        let Some(mut rows) = self.rows.filter(|rows| !rows.api_calls.is_empty()) else { return Vec::new() };
        rows.strings = tables.strings.clone();
        (rows.processes, rows.agents) = (tables.processes.clone(), tables.agents.clone());
        rows.tracks = tables.tracks.clone();
        let pieces = idle::pieces(&rows);
        let known = pieces.iter().filter(|piece| piece.cause != Cause::Unknown);
        let known: FxHashSet<AgentId> = known.map(|piece| piece.agent).collect();
        let mut events = Vec::new();
        for piece in &pieces {
            if known.contains(&piece.agent) {
                let group = TrackGroup::Agent(piece.agent);
                let process = ProcessId(0);
                let track = tracks.intern(PerfettoTrack { group, kind: TrackKind::Idle, process });
                events.push(event(piece, track));
            }
        }
        events
    }
}

fn event(piece: &IdlePiece, track: u32) -> Event {
    Event {
        track,
        duration: piece.end_ns.saturating_sub(piece.start_ns),
        text: piece.within,
        function: piece.call,
        bytes: Some(piece.cause as u64),
        ..Event::bare(Kind::Idle, rtl_schema::NameId::NONE, piece.start_ns)
    }
}
