//! The modules of a framework that launched ops.
//!
//! A dispatch belongs to the innermost module around its call, on the thread of that. A backward operator runs on a thread
//! of its own: its dispatches belong to the module around its forward operator.

use rtl_schema::table::PythonFrames;
use rtl_schema::{NameId, Tables};
use rustc_hash::FxHashMap;

use super::backward::{Forwards, is_backward};
use super::callers::Callers;
use super::nesting::{Executed, NONE, Nesting, by_thread};

/// Ties dispatches to modules.
pub(crate) struct Modules {
    callers: Callers,
    forwards: Forwards,
    /// By call and by operator, the innermost module around it.
    of_calls: Vec<Option<NameId>>,
    of_operators: Vec<Option<NameId>>,
}

impl Modules {
    pub(crate) fn of(tables: &Tables) -> Self {
        let mut is_module: FxHashMap<NameId, bool> = FxHashMap::default();
        let starts = |name: NameId| tables.strings.get(name).starts_with(PythonFrames::MODULE);
        let frames: PythonFrames = (tables.python_frames.iter())
            .filter(|frame| *is_module.entry(frame.name).or_insert_with(|| starts(frame.name)))
            .collect();
        let nesting = Nesting::of(&frames);
        let callers = Callers::of(tables);
        let calls = &tables.api_calls;
        let operators = &tables.operators;
        let thread = |row| (calls.process.get(row), calls.tid.get(row));
        Self {
            of_calls: around(calls.len(), thread, |row| calls.start[row as usize], &frames, &nesting),
            of_operators: around(
                operators.len(),
                |row| operators.thread(row),
                |row| operators.start(row),
                &frames,
                &nesting,
            ),
            forwards: Forwards::of(operators, &callers.nesting),
            callers,
        }
    }

    /// The name of the module that launched a dispatch.
    pub(crate) fn name_of_dispatch(&self, tables: &Tables, row: usize) -> Option<NameId> {
        let dispatches = &tables.dispatches;
        let (track, correlation) = (dispatches.track[row], dispatches.correlation.get(row));
        let call = self.callers.call_of_op(tables, track, correlation)?;
        self.of_calls[call as usize].or_else(|| {
            let operators = &tables.operators;
            let mut operator = self.callers.of_op(tables, track, correlation);
            while operator != NONE && !is_backward(operators, operator) {
                operator = self.callers.nesting.parent[operator as usize];
            }
            let backward = Some(operator).filter(|&operator| operator != NONE)?;
            self.of_operators[self.forwards.get(operators, backward)? as usize]
        })
    }
}

/// The innermost module at the start of each of some rows, on their thread.
fn around(
    rows: usize,
    thread: impl Fn(usize) -> super::nesting::ThreadKey,
    start: impl Fn(u32) -> i64,
    frames: &PythonFrames,
    nesting: &Nesting,
) -> Vec<Option<NameId>> {
    let mut found = vec![None; rows];
    for (thread, mut rows) in by_thread(rows, thread) {
        rows.sort_by_key(|&row| (start(row), row));
        let mut at = rows.iter();
        nesting.innermost(frames, thread, rows.iter().map(|&row| start(row)), |frame| {
            if let Some(&row) = at.next() {
                found[row as usize] = frames.name.get(frame as usize).copied();
            }
        });
    }
    found
}
