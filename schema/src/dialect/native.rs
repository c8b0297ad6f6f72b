use rustc_hash::{FxHashMap, FxHashSet};

use super::reader::Reader;
use super::rocpd::{Header, LaunchRows, Metadata, NO_GPU, Names, Object, OpenDispatch, References, Variant};
use crate::layout::tags;
use crate::sqlite::Database;
use crate::table::{Agent, AgentKind, ApiCall, Details, Dispatch, Process, Shape, Symbol, Thread};
use crate::{Dialect, Error, NameId, ProcessId, Result, Select, SymbolId, Tables};

pub(super) const READER: Reader = Reader::Ops { recognise, header };

/// The newest version of the layout that this program reads.
const KNOWN: &str = "1";

/// The metadata of native files names the version of their layout.
pub(super) fn recognise(database: &Database) -> Result<bool> {
    if !database.has_table("rocpd_metadata") || !database.has_table("rocpd_op") {
        return Ok(false);
    }
    match Metadata::read(database)?.get(tags::RTL_SCHEMA) {
        None => Ok(false),
        Some(KNOWN) => Ok(true),
        Some(version) => Err(Error::TooNew {
            path: database.path().to_owned(),
            dialect: "rtl",
            version: version.to_owned(),
            known: KNOWN,
        }),
    }
}

/// Reads metadata and strings.
fn header(database: &Database, select: &Select) -> Result<Header> {
    let variant = Variant { typed_ops: true, launches: LaunchRows::Groups, ..Variant::default() };
    let mut tables = Tables::default();
    let metadata = Metadata::read(database)?;
    let mut references = references(&metadata, &mut tables);
    let names = Names::read(database, "rocpd_string", &mut tables.strings)?;
    if select.launch {
        read_symbols(&metadata, &mut references, &mut tables);
    }
    if select.api {
        references.open_calls = open_calls(&metadata, &references, &mut tables);
    }
    references.open_dispatches = open_dispatches(&metadata, &references, &names, &tables, select);
    tables.info = metadata.info(Dialect::Native, "rtl");
    Ok(Header { variant, names, references, tables })
}

/// Processes, agents, threads and queues.
pub(super) fn references(metadata: &Metadata, tables: &mut Tables) -> References {
    let mut references = References::default();
    read_processes(metadata, &mut references, tables);
    (references.agents, tables.agents) = agents(metadata, &references, &tables.processes).unzip();
    let threads = metadata.objects(&[tags::THREAD]).filter_map(|(_, row)| {
        let pid = row.int("pid");
        let process = pid.and_then(|pid| process(pid, &references, &tables.processes)).unwrap_or_default();
        Some(Thread { process, tid: row.int("tid")?, name: row.text("name") })
    });
    tables.threads = last_of_each(threads.collect());
    references.queues = queues(metadata);
    references
}

/// All agents, each with its gpuId.
pub(super) fn agents(
    metadata: &Metadata,
    references: &References,
    processes: &[Process],
) -> impl Iterator<Item = (i64, Agent)> {
    metadata.objects(&[tags::GPU, tags::AGENT]).map(move |(tag, row)| {
        let process = row.int("pid").and_then(|pid| process(pid, references, processes));
        (agent_id(tag, &row), Agent { process, ..agent(tag, &row) })
    })
}

/// Number and hardware address of the queues whose numbers in the file are not the source's, by gpuId and queueId.
pub(super) fn queues(metadata: &Metadata) -> FxHashMap<(i64, i64), (i64, Option<u64>)> {
    let queues = metadata.objects(&[tags::QUEUE]).filter_map(|(_, row)| {
        let place = (row.int("gpuId").unwrap_or(NO_GPU), row.int("queueId")?);
        Some((place, (row.int("source")?, row.int("hardware").map(|address| address as u64))))
    });
    queues.collect()
}

/// The calls that had not returned at the last write. A recorder that ends properly writes them to `rocpd_api`.
fn open_calls(metadata: &Metadata, references: &References, tables: &mut Tables) -> Vec<ApiCall> {
    let mut calls = Vec::new();
    for (_, row) in metadata.objects(&[tags::OPEN_CALL]) {
        let Some(start) = row.int("start") else { continue };
        let process =
            row.int("pid").and_then(|pid| process(pid, references, &tables.processes)).unwrap_or_default();
        let mut name = |field| row.text(field).map_or(NameId::NONE, |text| tables.strings.intern(&text));
        calls.push(ApiCall {
            process,
            tid: row.int("tid"),
            name: name("name"),
            domain: name("domain"),
            category: name("category"),
            start,
            duration: None,
            correlation: row.int("correlationId").unwrap_or(0),
            parent: row.int("parentId").unwrap_or(0),
            ..ApiCall::default()
        });
    }
    calls
}

/// The oldest dispatch of each queue that had not completed at the last write. Their start is not known: they start when
/// the recorder has first seen each as the oldest.
pub(super) fn open_dispatches(
    metadata: &Metadata,
    references: &References,
    names: &Names,
    tables: &Tables,
    select: &Select,
) -> Vec<OpenDispatch> {
    let open = metadata.objects(&[tags::OPEN_DISPATCH]).filter_map(|(_, row)| {
        let process = row.int("pid").and_then(|pid| process(pid, references, &tables.processes));
        let shape = Shape::of_items(row.axes("workgroup"), row.axes("items"));
        let (lds, scratch) = (row.int("lds"), row.int("scratch"));
        let bytes = |size: Option<i64>| size.and_then(|size| u32::try_from(size).ok());
        let shape = Shape { lds: bytes(lds), scratch: bytes(scratch), ..shape };
        Some(OpenDispatch {
            gpu: row.int("gpuId").unwrap_or(NO_GPU),
            queue: row.int("queueId")?,
            process: process.unwrap_or_default(),
            shape: Some(shape).filter(|shape| select.any_shape() && *shape != Shape::default()),
            row: Dispatch {
                name: names.get(row.int("description_id")),
                start: row.int("since")?,
                duration: None,
                tid: row.int("tid").filter(|_| select.links),
                correlation: row.int("correlationId").filter(|_| select.links).unwrap_or(0),
                range: row.int("roctxId").filter(|_| select.ranges).unwrap_or(0),
                details: Details::from_fn(|at| row.int(Details::ALL[at].stored).filter(|_| select.links)),
                ..Dispatch::default()
            },
        })
    });
    open.collect()
}

/// A renamed thread has several rows, of which the last one counts.
fn last_of_each(mut threads: Vec<Thread>) -> Vec<Thread> {
    let mut seen = FxHashSet::default();
    threads.reverse();
    threads.retain(|thread| seen.insert((thread.process, thread.tid)));
    threads.reverse();
    threads
}

/// The process that a pid column of the file refers to.
fn process(pid: i64, references: &References, processes: &[Process]) -> Option<ProcessId> {
    let alias = references.processes.iter().find(|(alias, _)| *alias == pid).map(|&(_, process)| process);
    let named = || processes.iter().position(|process| process.pid == Some(pid));
    alias.or_else(|| named().map(|at| ProcessId(at as u32)))
}

/// Several processes have a metadata object each; the only one has tags.
fn read_processes(metadata: &Metadata, references: &mut References, tables: &mut Tables) {
    for (_, row) in metadata.objects(&[tags::PROCESS]) {
        if let Some(id) = row.int("id") {
            references.processes.push((id, ProcessId(tables.processes.len() as u32)));
        }
        tables.processes.push(row.read());
    }
    let pid = metadata.number(tags::PID);
    if !tables.processes.is_empty() {
        references.process = match tables.processes[..] {
            [_] => Some(ProcessId(0)),
            _ => pid.and_then(|pid| process(pid, references, &tables.processes)),
        };
        return;
    }
    references.process = Some(ProcessId(0));
    let text = |tag| metadata.get(tag).map(str::to_owned);
    let small = |tag| metadata.number(tag).and_then(|value| u32::try_from(value).ok());
    tables.processes.push(Process {
        pid,
        ppid: metadata.number(tags::PPID),
        host: text(tags::HOST),
        machine_id: text(tags::MACHINE_ID),
        boot_id: text(tags::BOOT_ID),
        rank: small(tags::RANK),
        world: small(tags::WORLD_SIZE),
        command: text(tags::COMMAND),
        start: metadata.number(tags::START_NS),
        end: metadata.number(tags::END_NS),
        ..Process::default()
    });
}

/// The gpuId of an agent: the number of a GPU, a reserved id otherwise.
fn agent_id(tag: &str, row: &Object) -> i64 {
    row.int(if tag == tags::GPU { "number" } else { "id" }).unwrap_or(NO_GPU)
}

fn agent(tag: &str, row: &Object) -> Agent {
    let kind = match row.text("kind").as_deref() {
        _ if tag == tags::GPU => AgentKind::Gpu,
        Some("cpu") => AgentKind::Cpu,
        Some("other") => AgentKind::Other,
        _ => AgentKind::Unknown,
    };
    Agent {
        kind,
        number: row.int("number").unwrap_or(-1),
        source_id: row.int("sourceId").or(row.int("number")).unwrap_or(0),
        details: row.text("details"),
        ..row.read()
    }
}

/// Reads the loaded kernels. An op refers to one by id, or to the first of its name.
fn read_symbols(metadata: &Metadata, references: &mut References, tables: &mut Tables) {
    for (_, row) in metadata.objects(&[tags::KERNEL]) {
        let process =
            row.int("pid").and_then(|pid| process(pid, references, &tables.processes)).unwrap_or_default();
        let mut name = |field| row.text(field).map_or(NameId::NONE, |text| tables.strings.intern(&text));
        let symbol = Symbol { process, name: name("name"), mangled: name("mangled"), ..row.read() };
        let id = SymbolId(tables.symbols.len() as u32);
        references.symbols.by_id.entry((process, symbol.id)).or_insert(id);
        references.symbols.by_name.entry((process, symbol.name)).or_insert(id);
        tables.symbols.push(symbol);
    }
}
