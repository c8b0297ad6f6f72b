//! The order of reading: strings, then calls (which name processes), links and launches, then the ops in one pass that
//! looks all of those up, then the secondary tables.

use super::header::Header;
use super::{Agents, Processes, calls, join, launches, links, ops, secondary_tables};
use crate::sqlite::Database;
use crate::{Error, ProcessId, Result, Select, Tables};

/// Pages of ops that are read at once where memory must not grow with the rows: 30,000 to 60,000 rows.
const PIECE: usize = 500;

impl Header {
    /// Reads all rows.
    pub(crate) fn read(self, database: &Database, select: &Select) -> Result<Tables> {
        read(self, database, select, usize::MAX, |_| Ok(()))
    }

    /// Reads all rows for [`crate::Trace::stream`].
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

/// Reads all rows, `piece` pages of ops at once, and passes them to `each` before the next ones are added: the calls
/// first, then the ops piece by piece. The result is the content of the tables at the end.
fn read<E: From<Error>>(
    header: Header,
    database: &Database,
    select: &Select,
    piece: usize,
    mut each: impl FnMut(&mut Tables) -> Result<(), E>,
) -> Result<Tables, E> {
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
    each(&mut tables)?;

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
    let mut pieces = database.pieces("rocpd_op", &columns, piece)?;
    loop {
        let context = ops::Context {
            plain: collectives.is_empty() && ops::Context::is_plain(select, variant, &fields, &linked),
            variant,
            select,
            fields: &fields,
            names,
            strings: &tables.strings,
            links: &linked,
            calls: &calls,
            launches: &launches,
            processes: join.processes,
            symbols: &references.symbols,
            collectives: &collectives,
            process: process.unwrap_or(ops::UNNAMED),
        };
        let next = pieces.next(ops::OpPart::default, |part, row| part.push(row, &context))?;
        let Some(next) = next else { break };
        for parts in next {
            join.join(parts, &mut tables);
            each(&mut tables)?;
        }
    }
    if !references.open_dispatches.is_empty() {
        join.join(vec![ops::OpPart::of_open(references.open_dispatches)], &mut tables);
        each(&mut tables)?;
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
