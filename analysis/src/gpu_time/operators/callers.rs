//! The operators that launched ops.

use rtl_schema::{Id, NameId, ProcessId, Tables, TrackId};
use rustc_hash::FxHashMap;

use super::nesting::{NONE, Nesting, by_thread};
use crate::base::lookup::Lookup;

pub(crate) struct Callers {
    pub(super) nesting: Nesting,
    /// Indexed by id space: the call of each correlation id; of several with one id the first one made.
    spaces: FxHashMap<u32, Lookup>,
    /// Indexed by call: the innermost operator around it.
    operators: Vec<u32>,
}

impl Callers {
    pub(crate) fn of(tables: &Tables) -> Self {
        let nesting = Nesting::of(&tables.operators);
        let operators = operator_of_call(tables, &nesting);
        let calls = &tables.api_calls;
        let mut spaces: FxHashMap<u32, Vec<(Id, u32)>> = FxHashMap::default();
        for row in 0..calls.len() {
            let space = space_of(tables, calls.process.get(row));
            spaces.entry(space).or_default().push((calls.correlation.get(row), row as u32));
        }
        let is_earlier =
            |one: u32, other: u32| (calls.start[one as usize], one) < (calls.start[other as usize], other);
        let first = |(space, pairs)| (space, Lookup::choosing(pairs, is_earlier));
        Self { spaces: spaces.into_iter().map(first).collect(), operators, nesting }
    }

    /// The operator that launched a dispatch, or [`NONE`].
    #[inline]
    pub(super) fn of_dispatch(&self, tables: &Tables, row: usize) -> u32 {
        let dispatches = &tables.dispatches;
        self.of_op(tables, dispatches.track[row], dispatches.correlation.get(row))
    }

    #[inline]
    pub(super) fn call_of_op(&self, tables: &Tables, track: TrackId, correlation: Id) -> Option<u32> {
        let space = self.spaces.get(&space_of(tables, tables.tracks.get(track).process));
        space.and_then(|space| space.get(correlation))
    }

    /// The operator that launched an op, or [`NONE`].
    #[inline]
    pub(crate) fn of_op(&self, tables: &Tables, track: TrackId, correlation: Id) -> u32 {
        let call = self.call_of_op(tables, track, correlation);
        call.and_then(|call| self.operators.get(call as usize)).copied().unwrap_or(NONE)
    }

    /// The operator around an operator, or [`NONE`].
    pub(crate) fn parent(&self, operator: u32) -> u32 {
        self.nesting.parent.get(operator as usize).copied().unwrap_or(NONE)
    }

    pub(crate) fn name_of_dispatch(&self, tables: &Tables, row: usize) -> Option<NameId> {
        tables.operators.name.get(self.of_dispatch(tables, row) as usize).copied()
    }
}

/// Returns the innermost operator around each call on its thread.
fn operator_of_call(tables: &Tables, nesting: &Nesting) -> Vec<u32> {
    let calls = &tables.api_calls;
    let mut found = vec![NONE; calls.len()];
    for (thread, mut rows) in by_thread(calls.len(), |row| (calls.process.get(row), calls.tid.get(row))) {
        rows.sort_by_key(|&row| (calls.start[row as usize], row));
        let mut at = rows.iter();
        let moments = rows.iter().map(|&row| calls.start[row as usize]);
        nesting.innermost(&tables.operators, thread, moments, |operator| {
            if let Some(&row) = at.next() {
                found[row as usize] = operator;
            }
        });
    }
    found
}

fn space_of(tables: &Tables, process: ProcessId) -> u32 {
    tables.processes.get(process.index()).map_or(0, |process| process.space)
}
