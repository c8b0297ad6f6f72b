//! The modules of a framework that launched ops.
//!
//! A dispatch belongs to the innermost module around its call, on the thread of that. A backward operator runs on a thread
//! of its own: its dispatches belong to the module around its forward operator.

use rtl_schema::table::PythonFrames;
use rtl_schema::{Id, NameId, Tables, TrackId};
use rustc_hash::FxHashMap;

use super::backward::{Forwards, is_backward};
use super::callers::Callers;
use super::nesting::{Executed, NONE, Nesting, by_thread};

pub(crate) struct Modules {
    callers: Callers,
    forwards: Forwards,
    /// The frames that are modules.
    frames: PythonFrames,
    nesting: Nesting,
    /// Indexed by call and by operator: the innermost module around it, or [`NONE`].
    of_calls: Vec<u32>,
    of_operators: Vec<u32>,
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
            forwards: Forwards::new(operators, &callers.nesting),
            callers,
            frames,
            nesting,
        }
    }

    pub(crate) fn name_of_dispatch(&self, tables: &Tables, row: usize) -> Option<NameId> {
        let dispatches = &tables.dispatches;
        let module = self.of_op(tables, dispatches.track[row], dispatches.correlation.get(row))?;
        Some(self.name(module))
    }

    pub(crate) fn of_op(&self, tables: &Tables, track: TrackId, correlation: Id) -> Option<u32> {
        let is_known = |module: &u32| *module != NONE;
        let call = self.callers.call_of_op(tables, track, correlation)?;
        Some(self.of_calls[call as usize]).filter(is_known).or_else(|| {
            let operators = &tables.operators;
            let mut operator = self.callers.of_op(tables, track, correlation);
            while operator != NONE && !is_backward(operators, operator) {
                operator = self.callers.nesting.parent[operator as usize];
            }
            let backward = Some(operator).filter(|&operator| operator != NONE)?;
            let forward = self.forwards.get(operators, backward)?;
            Some(self.of_operators[forward as usize]).filter(is_known)
        })
    }

    pub(crate) fn name(&self, module: u32) -> NameId {
        self.frames.name.get(module as usize).copied().unwrap_or(NameId::NONE)
    }

    /// The module around a module, or [`NONE`].
    pub(crate) fn parent(&self, module: u32) -> u32 {
        self.nesting.parent.get(module as usize).copied().unwrap_or(NONE)
    }
}

/// The innermost module at the start of each of some rows, on their thread.
fn around(
    rows: usize,
    thread: impl Fn(usize) -> super::nesting::ThreadKey,
    start: impl Fn(u32) -> i64,
    frames: &PythonFrames,
    nesting: &Nesting,
) -> Vec<u32> {
    let mut found = vec![NONE; rows];
    for (thread, mut rows) in by_thread(rows, thread) {
        rows.sort_by_key(|&row| (start(row), row));
        let mut at = rows.iter();
        nesting.innermost(frames, thread, rows.iter().map(|&row| start(row)), |frame| {
            if let Some(&row) = at.next() {
                found[row as usize] = frame;
            }
        });
    }
    found
}
