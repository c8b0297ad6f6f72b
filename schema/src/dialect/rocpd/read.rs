//! The order of reading: strings, then calls (which name processes), links and launches, then the ops in one pass that
//! looks all of those up, then the secondary tables.

use std::mem::take;

use super::header::{Header, OpenDispatch, References, Variant};
use super::op_pieces::OpPieces;
use super::ops::Context;
use super::{
    Agents, IdMap, Names, Processes, calls, join, launches, links, op_columns, ops, secondary_tables,
};
use crate::piece_sink::Each;
use crate::sqlite::{Database, FoundLeaves, Pieces};
use crate::{CollectiveId, Error, PieceSink, ProcessId, Result, Select, Strings, Tables};

/// The table of the ops.
const OPS: &str = "rocpd_op";

/// Pages of ops that are read at once where memory must not grow with the rows: 8,000 to 15,000 rows, and twice what one
/// call to the system reads. A trace of a million ops then has enough pieces for 16 threads.
const PIECE: usize = 128;

/// Pages of ops that a thread reads at once where all rows stay in memory.
const SHARE: usize = 512;

/// All that reading the ops of a database needs: the tables that they refer to were read before.
#[derive(Debug)]
pub(crate) struct PreparedOps {
    lookups: Lookups,
    /// Each piece is read as if it were the first, with these strings; what it adds joins the tables with its rows.
    strings: Strings,
    tables: Tables,
    processes: Processes,
    agents: Agents,
    ends: secondary_tables::CopyEnds,
    open_dispatches: Vec<OpenDispatch>,
}

/// Where the ops are, and the tables that reading them looks up.
#[derive(Debug)]
struct Lookups {
    select: Select,
    variant: Variant,
    names: Names,
    references: References,
    links: links::Links,
    calls: calls::Calls,
    launches: launches::Launches,
    processes: Processes,
    collectives: IdMap<CollectiveId>,
    /// The process of rows that name none, if it is known before.
    process: Option<ProcessId>,
    fields: op_columns::OpFields,
    found: Option<FoundLeaves>,
}

impl Lookups {
    fn context<'a>(&'a self, strings: &'a Strings) -> Context<'a> {
        let Self { select, variant, fields, links, .. } = self;
        Context {
            plain: Context::is_plain(select, variant, fields, links),
            variant,
            select,
            fields,
            names: &self.names,
            strings,
            links,
            calls: &self.calls,
            launches: &self.launches,
            processes: &self.processes,
            symbols: &self.references.symbols,
            collectives: &self.collectives,
            process: self.process.unwrap_or(ops::UNNAMED),
        }
    }

    fn pieces<'a>(&'a self, database: &'a Database, length: usize) -> Pieces<'a> {
        database.pieces(OPS, self.fields.plan.columns(), self.found.as_ref(), length)
    }
}

impl PreparedOps {
    /// Reads what comes before the ops: names, calls, which name processes, links and launches. The caller holds the state of the
    /// database.
    pub(crate) fn of(header: Header, database: &Database, select: &Select) -> Result<Self> {
        let Header { variant, names, mut references, mut tables } = header;
        let mut processes = Processes::of(&tables, &references.processes, variant.pid_stride);
        let agents = Agents::of(take(&mut references.agents));
        let rpd = variant.cause_by_link;
        let linked =
            if rpd || select.links { links::Links::read(database)? } else { links::Links::default() };
        let wants_calls = select.api || select.args || select.secondary || !linked.is_empty() || rpd;
        let calls = if wants_calls {
            calls::read(database, &variant, select, &names, &mut processes, &mut tables)?
        } else {
            calls::Calls::default()
        };
        if select.api {
            references.open_calls.iter().for_each(|call| tables.api_calls.push(*call));
        }
        let launches = launches::read(database, &variant, select, &names, &calls, &mut tables)?;
        if select.args && select.api {
            secondary_tables::arguments(database, &names, &calls, &mut tables)?;
        }
        if select.operators {
            secondary_tables::operators(database, select, &names, &mut processes, &mut tables)?;
        }
        if select.python {
            secondary_tables::python_frames(database, &names, &mut processes, &mut tables)?;
        }
        let collectives = match select.any_collective() {
            true => secondary_tables::collectives(database, &names, &mut tables)?,
            false => IdMap::default(),
        };
        // A thread or a correlation id ties an op to a call: for a report without calls they only fill memory.
        let links =
            select.links && (select.args || select.secondary || database.row_estimate("rocpd_api") > 0);
        let fields = op_columns::OpFields::new(database, &variant, select, links)?;
        let found = database.find_leaves(OPS, fields.plan.columns())?;
        let ends = if variant.typed_ops {
            secondary_tables::CopyEnds::read(database)?
        } else {
            secondary_tables::CopyEnds::default()
        };
        let open_dispatches = take(&mut references.open_dispatches);
        let process = references.process.or_else(|| (tables.processes.len() == 1).then_some(ProcessId(0)));
        let lookups = Lookups {
            select: *select,
            variant,
            names,
            references,
            links: linked,
            calls,
            launches,
            processes: processes.clone(),
            collectives,
            process,
            fields,
            found,
        };
        let strings = tables.strings.clone();
        Ok(Self { lookups, strings, tables, processes, agents, ends, open_dispatches })
    }

    /// Reads all rows.
    pub(crate) fn read(self, database: &Database) -> Result<Tables> {
        let mut sink = Each::new(|_: &mut Tables| Ok::<(), Error>(()));
        self.join(database, true, &mut sink)
    }

    /// Reads all rows for [`crate::Trace::stream_to`].
    pub(crate) fn stream<S: PieceSink>(self, database: &Database, sink: &mut S) -> Result<Tables, S::Error> {
        let mut sink = Emptied(sink);
        let mut last = self.join(database, false, &mut sink)?;
        sink.take(&mut last)?;
        Ok(last)
    }

    /// Reads all rows and passes them to `sink`: the calls first, then the ops piece by piece. The result is the content of the tables at
    /// the end. They hold all rows only if they keep them; the sink must take them otherwise.
    fn join<S: PieceSink>(
        self,
        database: &Database,
        keeps_rows: bool,
        sink: &mut S,
    ) -> Result<Tables, S::Error> {
        let Self { lookups, strings, mut tables, mut processes, mut agents, ends, open_dispatches } = self;
        let Lookups { select, variant, names, links, launches, .. } = &lookups;
        let calls_tasks = sink.begin(&mut tables)?;
        let mut join = join::Join {
            variant,
            queues: &lookups.references.queues,
            agents: &mut agents,
            processes: &mut processes,
            // The columns that complete a copy are known only after the last op.
            hold_copies: !launches.copies.is_empty() || !ends.is_empty(),
            keeps_rows,
            seen: join::Seen::default(),
        };
        let length = match threads::limit() {
            _ if !keeps_rows => PIECE,
            // The columns of a single part become those of the table, without a copy.
            1 => usize::MAX,
            _ => SHARE,
        };
        let pieces = lookups.pieces(database, length);
        let given = match pieces.leaves() {
            Some(leaves) => {
                let pieces = OpPieces::new(leaves, lookups.context(&strings));
                pieces.join(&mut join, &mut tables, calls_tasks, sink)?
            }
            None => {
                sink.finish_tasks(calls_tasks)?;
                Err(0)
            }
        };
        match given {
            Ok(()) => pieces.check()?,
            Err(given) => {
                let context = lookups.context(&strings);
                let mut rest =
                    pieces.rest(given, ops::OpPart::default, |part, row| part.push(row, &context))?;
                join.join(&mut rest, &mut tables);
                sink.take(&mut tables)?;
            }
        }
        drop(strings);
        if !open_dispatches.is_empty() {
            join.join(&mut ops::OpPart::of_open(open_dispatches), &mut tables);
            sink.take(&mut tables)?;
        }
        tables.info.linked = !links.is_empty() || join.seen.correlated;
        tables.info.counters =
            database.has_table("rocpd_counter") && database.row_estimate("rocpd_counter") > 0;
        join.finish(links, &mut tables);
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
