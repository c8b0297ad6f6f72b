//! The order of reading: strings, then calls (which name processes), links and launches, then the ops in one pass that
//! looks all of those up, then the secondary tables.

use super::header::Header;
use super::op_pieces::OpPieces;
use super::{Agents, Processes, calls, join, launches, links, ops, secondary_tables};
use crate::piece_sink::Each;
use crate::sqlite::Database;
use crate::{Error, PieceSink, ProcessId, Result, Select, Tables};

/// Pages of ops that are read at once where memory must not grow with the rows: 8,000 to 15,000 rows, and twice what one
/// call to the system reads. A trace of a million ops then has enough pieces for 16 threads.
const PIECE: usize = 128;

/// Pages of ops that a thread reads at once where all rows stay in memory.
const SHARE: usize = 512;

impl Header {
    /// Reads all rows.
    pub(crate) fn read(self, database: &Database, select: &Select) -> Result<Tables> {
        read(self, database, select, true, &mut Each::new(|_: &mut Tables| Ok::<(), Error>(())))
    }

    /// Reads all rows for [`crate::Trace::stream_to`].
    pub(crate) fn stream<S: PieceSink>(
        self,
        database: &Database,
        select: &Select,
        sink: &mut S,
    ) -> Result<Tables, S::Error> {
        let mut sink = Emptied(sink);
        let mut last = read(self, database, select, false, &mut sink)?;
        sink.take(&mut last)?;
        Ok(last)
    }
}

/// A sink after which a piece has no rows.
struct Emptied<'a, S>(&'a mut S);

impl<S: PieceSink> PieceSink for Emptied<'_, S> {
    type Task = S::Task;
    type Output = S::Output;
    type Error = S::Error;

    fn begin(&mut self, piece: &mut Tables) -> Result<Vec<S::Task>, S::Error> {
        let tasks = self.0.begin(piece)?;
        piece.clear_rows();
        Ok(tasks)
    }

    fn work(task: S::Task) -> S::Output {
        S::work(task)
    }

    fn end(&mut self, output: S::Output) -> Result<Vec<S::Task>, S::Error> {
        self.0.end(output)
    }
}

/// Reads all rows and passes them to `sink`: the calls first, then the ops piece by piece. The result is the content of the tables at
/// the end. They hold all rows only if they keep them; the sink must take them otherwise.
fn read<S: PieceSink>(
    header: Header,
    database: &Database,
    select: &Select,
    keeps_rows: bool,
    sink: &mut S,
) -> Result<Tables, S::Error> {
    let Header { variant, names, references, mut tables } = header;
    let (variant, names) = (&variant, &names);
    let mut processes = Processes::of(&tables, &references.processes, variant.pid_stride);
    let mut agents = Agents::of(references.agents);
    let rpd = variant.cause_by_link;
    let linked = if rpd || select.links { links::Links::read(database)? } else { links::Links::default() };
    let wants_calls = select.api || select.args || select.secondary || !linked.is_empty() || rpd;
    let calls = if wants_calls {
        calls::read(database, variant, select, names, &mut processes, &mut tables)?
    } else {
        calls::Calls::default()
    };
    if select.api {
        references.open_calls.iter().for_each(|call| tables.api_calls.push(*call));
    }
    let launches = launches::read(database, variant, select, names, &calls, &mut tables)?;
    if select.args && select.api {
        secondary_tables::arguments(database, names, &calls, &mut tables)?;
    }
    if select.operators {
        secondary_tables::operators(database, select, names, &mut processes, &mut tables)?;
    }
    if select.python {
        secondary_tables::python_frames(database, names, &mut processes, &mut tables)?;
    }
    let collectives = match select.any_collective() {
        true => secondary_tables::collectives(database, names, &mut tables)?,
        false => super::IdMap::default(),
    };
    let calls_tasks = sink.begin(&mut tables)?;

    // A thread or a correlation id ties an op to a call: for a report without calls they only fill memory.
    let links = select.links && (select.args || select.secondary || database.row_estimate("rocpd_api") > 0);
    let fields = ops::OpFields::of(database, variant, select, links)?;
    let columns = fields.plan.columns().to_vec();
    let process = references.process.or_else(|| (tables.processes.len() == 1).then_some(ProcessId(0)));
    let ends = if variant.typed_ops {
        secondary_tables::CopyEnds::read(database)?
    } else {
        secondary_tables::CopyEnds::default()
    };
    let mut join = join::Join {
        variant,
        queues: &references.queues,
        agents: &mut agents,
        processes: &mut processes,
        // The columns that complete a copy are known only after the last op.
        hold_copies: !launches.copies.is_empty() || !ends.is_empty(),
        keeps_rows,
        met: join::Met::default(),
    };
    // What is met in a piece joins these when the pieces join: each is read as if it were the first.
    let (strings, known_processes) = (tables.strings.clone(), join.processes.clone());
    let context = ops::Context {
        plain: ops::Context::is_plain(select, variant, &fields, &linked),
        variant,
        select,
        fields: &fields,
        names,
        strings: &strings,
        links: &linked,
        calls: &calls,
        launches: &launches,
        processes: &known_processes,
        symbols: &references.symbols,
        collectives: &collectives,
        process: process.unwrap_or(ops::UNNAMED),
    };
    let piece = match threads::limit() {
        _ if !keeps_rows => PIECE,
        // The columns of a single part become those of the table, without a copy.
        1 => usize::MAX,
        _ => SHARE,
    };
    let pieces = database.pieces("rocpd_op", &columns, piece)?;
    let given = match pieces.leaves() {
        Some(leaves) => {
            let most = || database.row_estimate("rocpd_op");
            OpPieces::new(leaves, &context).join(&mut join, (&mut tables, most), calls_tasks, sink)?
        }
        None => {
            sink.finish_tasks(calls_tasks)?;
            Err(0)
        }
    };
    match given {
        Ok(()) => pieces.check()?,
        Err(given) => {
            let mut rest = pieces.rest(given, ops::OpPart::default, |part, row| part.push(row, &context))?;
            join.join(&mut rest, &mut tables);
            sink.take(&mut tables)?;
        }
    }
    drop(strings);
    if !references.open_dispatches.is_empty() {
        join.join(&mut ops::OpPart::of_open(references.open_dispatches), &mut tables);
        sink.take(&mut tables)?;
    }
    tables.info.linked = !linked.is_empty() || join.met.correlated;
    join.finish(&linked, &mut tables);
    ends.complete(&agents, &mut tables.copies);
    secondary_tables::SecondaryTables { database, names, agents: &agents, processes: &mut processes }
        .read(select, &mut tables)?;
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
