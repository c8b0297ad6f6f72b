//! What the layouts around the table `rocpd_op` share: rocm-trace-lite's, RPD's and ours.
//!
//! The order of reading: strings, then calls (which name processes), then links and launches, then the ops
//! in one pass that looks all of that up, then the rest.

mod agents;
mod calls;
mod id_map;
mod join;
mod kinds;
mod launch_columns;
mod launches;
mod links;
mod metadata;
mod names;
mod ops;
mod plan;
mod processes;
mod rest;
mod signal;

pub(super) use agents::{Agents, NO_GPU};
pub(crate) use calls::Function;
pub(super) use id_map::IdMap;
pub(super) use kinds::OpKind;
pub(crate) use kinds::copy_type;
pub(super) use metadata::{Metadata, Object};
pub(super) use names::Names;
pub(super) use plan::{Field, Plan};
pub(super) use processes::Processes;

use rustc_hash::FxHashMap;

use crate::sqlite::Database;
use crate::table::ApiCall;
use crate::{Error, Id, NameId, ProcessId, Result, Select, SymbolId, Tables};

/// In what the layouts differ.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layout {
    /// Annotations are calls named `UserMarker` with their text in the arguments (RPD), not ops.
    pub(super) markers_are_calls: bool,
    /// An op with an empty description goes by its type (RPD's copies).
    pub(super) ops_named_by_type: bool,
    /// The process of an op is its call's (RPD), not one of its own.
    pub(super) cause_by_link: bool,
    /// The table of the arguments' texts.
    pub(super) args_table: &'static str,
    /// `completionSignal` tells queue and shape (rocm-trace-lite).
    pub(super) signal_is_shape: bool,
    /// Ops have typed columns for their launch (ours).
    pub(super) typed_ops: bool,
    /// Who wrote `rocpd_kernelapi` and `rocpd_copyapi`, hence what they count.
    pub(super) launches: LaunchRows,
    /// What separates the machines in packed GPU ids (RPD's `gpu_stride`).
    pub(super) gpu_stride: Option<i64>,
    /// The same for pids and tids.
    pub(super) pid_stride: Option<i64>,
}

/// What `rocpd_kernelapi` and `rocpd_copyapi` hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum LaunchRows {
    /// The arguments of the call: the function says what its grid counts, LDS is the dynamic part only and
    /// copy kinds are hipMemcpyKind (RPD on roctracer, rocm-trace-lite).
    #[default]
    Arguments,
    /// What the GPU executed: a grid of work-items, the whole LDS and scratch, and copy kinds that are string
    /// ids; one row even where a graph launch executes many (RPD on rocprofiler-sdk).
    Executed,
    /// What the GPU executed too, but with copies as for arguments, and their GPUs (RPD's tables written by us).
    Converted,
    /// A grid of work-groups whatever the function (ours).
    Groups,
}

/// What a dialect knows before the rows are read.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// The processes behind what pid columns hold, beyond pids.
    pub(super) processes: Vec<(i64, ProcessId)>,
    /// Rows without a pid belong to this process, where the source says so.
    pub(super) process: Option<ProcessId>,
    /// What gpuId columns hold for each agent of the tables.
    pub(super) agents: Vec<i64>,
    /// Number and hardware address of queues, by what gpuId and queueId columns hold.
    pub(super) queues: FxHashMap<(i64, i64), (i64, Option<u64>)>,
    /// Loaded kernels.
    pub(super) symbols: Symbols,
    /// Calls that have no row because their process was killed in them.
    pub(super) open_calls: Vec<ApiCall>,
}

/// Loaded kernels by what ops say of them.
#[derive(Debug, Default)]
pub(super) struct Symbols {
    pub(super) by_id: FxHashMap<(ProcessId, Id), SymbolId>,
    /// The first one of each name.
    pub(super) by_name: FxHashMap<(ProcessId, NameId), SymbolId>,
}

/// A file whose metadata and strings are read and whose rows are not.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(super) layout: Layout,
    pub(super) names: Names,
    pub(super) known: Known,
    /// What the metadata says.
    pub(super) tables: Tables,
}

/// Pages of ops that are read at once where memory must not grow with the rows: 30,000 to 60,000 rows.
const PIECE: usize = 500;

impl Prepared {
    /// Reads all rows.
    pub(crate) fn read(self, database: &Database, select: &Select) -> Result<Tables> {
        read(self, database, select, usize::MAX, |_| Ok(()))
    }

    /// Reads all rows and gives them out as [`crate::Trace::stream`] says.
    pub(crate) fn stream<E: From<Error>>(
        self,
        database: &Database,
        select: &Select,
        keep: impl Fn(&mut Tables),
        mut each: impl FnMut(&Tables) -> Result<(), E>,
    ) -> Result<Tables, E> {
        let mut last = read(self, database, select, PIECE, |tables| {
            keep(tables);
            each(tables)?;
            tables.clear_rows();
            Ok::<(), E>(())
        })?;
        keep(&mut last);
        each(&last)?;
        last.clear_rows();
        Ok(last)
    }
}

/// Reads all rows, `piece` pages of ops at once, and shows them to `each` before the next ones are added: the calls
/// first, then the ops piece by piece. What is left in the tables at the end is the result.
fn read<E: From<Error>>(
    prepared: Prepared,
    database: &Database,
    select: &Select,
    piece: usize,
    mut each: impl FnMut(&mut Tables) -> Result<(), E>,
) -> Result<Tables, E> {
    let Prepared { layout, names, known, mut tables } = prepared;
    let (layout, names) = (&layout, &names);
    let mut processes = Processes::of(&tables, &known.processes, layout.pid_stride);
    let mut agents = Agents::of(known.agents);
    let rpd = layout.cause_by_link;
    let linked = if rpd || select.links { links::Links::read(database)? } else { links::Links::default() };
    let wants_calls = select.api || select.args || select.secondary || !linked.is_empty() || rpd;
    let calls = if wants_calls {
        calls::read(database, layout, select, names, &mut processes, &mut tables)?
    } else {
        calls::Calls::default()
    };
    if select.api {
        known.open_calls.iter().for_each(|call| tables.api_calls.push(*call));
    }
    let launches = launches::read(database, layout, select, names, &calls, &mut tables)?;
    if select.args && select.api {
        rest::arguments(database, names, &calls, &mut tables)?;
    }
    each(&mut tables)?;

    let fields = ops::OpFields::of(database, layout, select)?;
    let columns = fields.plan.columns().to_vec();
    let process = known.process.or_else(|| (tables.processes.len() == 1).then_some(ProcessId(0)));
    let ends = if layout.typed_ops { rest::CopyEnds::read(database)? } else { rest::CopyEnds::default() };
    let mut join = join::Join::new(layout, &known.queues, &mut agents, &mut processes);
    // What completes a copy is known only after the last op.
    join.hold_copies = launches.has_copies() || !ends.is_empty();
    let mut pieces = database.pieces("rocpd_op", &columns, piece)?;
    loop {
        let context = ops::Context {
            plain: ops::Context::is_plain(select, layout, &fields, &linked),
            layout,
            select,
            fields: &fields,
            names,
            strings: &tables.strings,
            links: &linked,
            calls: &calls,
            launches: &launches,
            processes: join.processes,
            symbols: &known.symbols,
            process: process.unwrap_or(ops::UNNAMED),
        };
        let parts = pieces.next(ops::OpPart::default, |part, row| part.push(row, &context))?;
        let Some(parts) = parts else { break };
        join.join(parts, &mut tables);
        each(&mut tables)?;
    }
    tables.info.linked = !linked.is_empty() || join.correlated;
    join.finish(&linked, &mut tables);
    ends.complete(&agents, &mut tables.copies);
    rest::Rest { database, names, agents: &agents, processes: &mut processes }.read(select, &mut tables)?;
    if tables.processes.is_empty() {
        processes.unnamed(&mut tables.processes);
    }
    if tables.processes.iter().all(|process| process.node.is_none_or(|node| node == 0))
        && tables.agents.iter().all(|agent| agent.node.is_none())
    {
        tables.processes.iter_mut().for_each(|process| process.node = None);
    }
    Ok(tables)
}
