//! Texts and numbers as RPD stores them.

use rustc_hash::FxHashMap;

use super::{RpdWriter, Table};
use crate::native::OpKind;
use rtl_schema::layout::rpd::UNRECORDED;
use rtl_schema::table::AgentKind;
use rtl_schema::{AgentId, NameId, ProcessId, Result, Tables};

/// What separates the machines in numbers of GPUs.
pub(super) const GPU_STRIDE: i64 = 1_000;
/// The same in pids and tids.
pub(super) const PID_STRIDE: i64 = 10_000_000;

/// The empty text: the first of both tables.
pub(super) const EMPTY: i64 = 1;
/// The type and domain of ranges; ranges are calls of this name.
const MARKER: OpKind = OpKind::UserMarker;

/// Which texts of the trace are in the file so far.
#[derive(Debug, Default)]
pub(super) struct Texts {
    /// Texts that every file has.
    fixed: FxHashMap<&'static str, i64>,
    /// For each string of the trace its id in `rocpd_string` and in `rocpd_ustring`; 0 where it is not there yet.
    names: Vec<i64>,
    unique: Vec<i64>,
}

impl Texts {
    pub(super) fn extend(&mut self, tables: &Tables) {
        self.names.resize(tables.strings.len(), 0);
        self.unique.resize(tables.strings.len(), 0);
    }
}

impl RpdWriter {
    pub(super) fn first_texts(&mut self) -> Result<()> {
        self.row(Table::Ustring, &["".into()])?;
        for text in [""].into_iter().chain(OpKind::ALL.map(OpKind::label)).chain([UNRECORDED]) {
            let id = self.row(Table::String, &[text.into()])?;
            self.texts.fixed.insert(text, id);
        }
        Ok(())
    }

    /// The id of the text of an op's type.
    #[inline]
    pub(super) fn kind(&self, kind: OpKind) -> i64 {
        EMPTY + 1 + kind as i64
    }

    pub(super) fn marker(&self) -> i64 {
        self.kind(MARKER)
    }

    pub(super) fn unrecorded(&self) -> i64 {
        EMPTY + 1 + OpKind::ALL.len() as i64
    }

    /// The id of a name in `rocpd_string`; RPD has no other word for none than the empty one.
    #[inline]
    pub(super) fn name(&mut self, tables: &Tables, name: NameId) -> Result<i64> {
        match self.texts.names.get(name.index()) {
            None => Ok(EMPTY),
            Some(0) => self.new_name(tables, name),
            Some(&id) => Ok(id),
        }
    }

    #[cold]
    fn new_name(&mut self, tables: &Tables, name: NameId) -> Result<i64> {
        let text = tables.strings.get(name);
        let id = match self.texts.fixed.get(text) {
            Some(&id) => id,
            None => self.row(Table::String, &[text.into()])?,
        };
        self.texts.names[name.index()] = id;
        Ok(id)
    }

    /// The id of an argument's or range's text in `rocpd_ustring`.
    pub(super) fn argument(&mut self, tables: &Tables, name: NameId) -> Result<i64> {
        let id = match self.texts.unique.get(name.index()) {
            None => return Ok(EMPTY),
            Some(0) if tables.strings.get(name).is_empty() => EMPTY,
            Some(0) => self.row(Table::Ustring, &[tables.strings.get(name).into()])?,
            Some(&id) => return Ok(id),
        };
        self.texts.unique[name.index()] = id;
        Ok(id)
    }
}

/// The numbers of processes and GPUs, with their machine where a trace has several.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    /// For each process its pid, and what is added to tids.
    processes: Vec<(i64, i64)>,
    gpus: Vec<i64>,
}

impl Numbers {
    pub(super) fn extend(&mut self, tables: &Tables) {
        for process in &tables.processes[self.processes.len()..] {
            let machine = i64::from(process.node.unwrap_or(0)).saturating_mul(PID_STRIDE);
            self.processes.push((process.pid.unwrap_or(0).saturating_add(machine), machine));
        }
        for (at, agent) in tables.agents.iter().enumerate().skip(self.gpus.len()) {
            let machine = i64::from(agent.node.unwrap_or(0)).saturating_mul(GPU_STRIDE);
            self.gpus.push(match agent.kind {
                // A number from a file of RPD's has its machine already.
                AgentKind::Gpu if agent.number < machine => machine + agent.number,
                AgentKind::Gpu => agent.number,
                // What is no GPU goes by a number that no GPU has; -1 would be a range.
                _ => -2 - at as i64,
            });
        }
    }

    #[inline]
    pub(super) fn pid(&self, process: ProcessId) -> i64 {
        self.processes.get(process.index()).map_or(0, |&(pid, _)| pid)
    }

    /// The thread, 0 if it is unknown.
    #[inline]
    pub(super) fn tid(&self, process: ProcessId, tid: Option<i64>) -> i64 {
        let machine = self.processes.get(process.index()).map_or(0, |&(_, machine)| machine);
        tid.map_or(0, |tid| tid.saturating_add(machine))
    }

    #[inline]
    pub(super) fn gpu(&self, agent: AgentId) -> i64 {
        self.gpus.get(agent.index()).copied().unwrap_or(-2)
    }
}
