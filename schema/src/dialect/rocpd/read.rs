//! The order of reading: strings, then calls (which name processes), links and launches, then the ops in one pass that
//! looks all of those up, then the secondary tables.

use std::cell::Cell;

use super::fast_ops::{FastOps, OpReaders};
use super::header::Header;
use super::{Agents, Processes, calls, join, launches, links, ops, secondary_tables};
use crate::piece_sink::Each;
use crate::sqlite::{Database, Leaves};
use crate::table::Snapshot;
use crate::{Error, PieceSink, ProcessId, Result, Select, Tables};

/// Pages of ops that are read at once where memory must not grow with the rows: 8,000 to 15,000 rows, and twice what one
/// call to the system reads. A trace of a million ops then has enough pieces for 16 threads.
const PIECE: usize = 128;

impl Header {
    /// Reads all rows.
    pub(crate) fn read(self, database: &Database, select: &Select) -> Result<Tables> {
        read(self, database, select, usize::MAX, &mut Each::new(|_: &mut Tables| Ok::<(), Error>(())))
    }

    /// Reads all rows for [`crate::Trace::stream_to`].
    pub(crate) fn stream<S: PieceSink>(
        self,
        database: &Database,
        select: &Select,
        sink: &mut S,
    ) -> Result<Tables, S::Error> {
        let mut sink = Emptied(sink);
        let mut last = read(self, database, select, PIECE, &mut sink)?;
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

/// Reads all rows, `piece` pages of ops at once, and passes them to `sink` before the next ones are added: the calls
/// first, then the ops piece by piece. The result is the content of the tables at the end.
fn read<S: PieceSink>(
    header: Header,
    database: &Database,
    select: &Select,
    piece: usize,
    sink: &mut S,
) -> Result<Tables, S::Error> {
    let Header { variant, names, references, mut tables } = header;
    let (variant, names) = (&variant, &names);
    let mut processes = Processes::of(&tables, &references.processes, variant.pid_stride);
    let mut agents = Agents(references.agents);
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
    let pieces = database.pieces("rocpd_op", &columns, piece)?;
    let given = match pieces.leaves() {
        Some(leaves) => read_leaves(leaves, &context, &mut join, &mut tables, calls_tasks, sink)?,
        None => {
            sink.finish_tasks(calls_tasks)?;
            Err(0)
        }
    };
    match given {
        Ok(()) => pieces.check()?,
        Err(given) => {
            let rest = pieces.rest(given, ops::OpPart::default, |part, row| part.push(row, &context))?;
            join.join(vec![rest], &mut tables);
            sink.take(&mut tables)?;
        }
    }
    drop(strings);
    if !references.open_dispatches.is_empty() {
        join.join(vec![ops::OpPart::of_open(references.open_dispatches)], &mut tables);
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

/// A piece on its way to the sink.
enum Step<'l, T> {
    /// Its leaves.
    Read(&'l [u32]),
    /// What is left to do when its rows have joined the tables.
    Task(T),
}

/// What a [`Step`] has come to.
enum Done<O> {
    /// The number of rows and their parts; nothing where only the library can read them.
    Parts(Option<(u64, Vec<ops::OpPart>)>),
    Output(O),
}

/// Reads pieces on all threads that are free; the rows join the tables and go to `sink` in their order, behind the `tasks` of the
/// calls. `Err` has the number of rows before those that only the library can read.
fn read_leaves<S: PieceSink>(
    leaves: &Leaves<'_>,
    context: &ops::Context<'_>,
    join: &mut join::Join<'_>,
    tables: &mut Tables,
    tasks: Vec<S::Task>,
    sink: &mut S,
) -> Result<std::result::Result<(), u64>, S::Error> {
    let shapes = Snapshot::default();
    let readers = OpReaders::of(context, leaves);
    let part = || ops::OpPart::behind(&shapes);
    let fast = || FastOps::new(part(), context);
    let parts =
        |(rows, parts): (u64, Vec<FastOps<'_>>)| (rows, parts.into_iter().map(FastOps::finish).collect());
    let read = |share: &[u32]| match &readers {
        Some(OpReaders::Basic(readers)) => leaves.scan_fast(share, readers, fast).map(parts),
        Some(OpReaders::Detailed(readers)) => leaves.scan_fast(share, readers, fast).map(parts),
        None => leaves.scan(share, part, |part, row| part.push(row, context)),
    };
    let shares = leaves.shares();
    if let [share] = shares.as_slice() {
        // Threads are for the parts of the piece.
        sink.finish_tasks(tasks)?;
        let Some((_, parts)) = read(share) else { return Ok(Err(0)) };
        join.join(parts, tables);
        return sink.take(tables).map(Ok);
    }
    let work = |step| match step {
        Step::Read(share) => Done::Parts(read(share)),
        Step::Task(task) => Done::Output(S::work(task)),
    };
    let (mut given, is_whole) = (0, Cell::new(true));
    let consume = |done| -> Result<_, S::Error> {
        let tasks = match done {
            Done::Output(output) => sink.end(output)?,
            Done::Parts(Some((rows, parts))) if is_whole.get() => {
                given += rows;
                join.join(parts, tables);
                shapes.update(&tables.shapes);
                sink.begin(tables)?
            }
            Done::Parts(_) => {
                is_whole.set(false);
                Vec::new()
            }
        };
        Ok(tasks.into_iter().map(Step::Task))
    };
    let tasks = tasks.into_iter().map(Step::Task);
    let steps = shares.iter().copied().map(Step::Read);
    threads::pipeline(work, consume, |pipeline| {
        tasks.chain(steps).take_while(|_| is_whole.get()).try_for_each(|step| pipeline.push(step))
    })?;
    Ok(if is_whole.get() { Ok(()) } else { Err(given) })
}
