use rustc_hash::FxHashSet;

use super::rocpd::{Known, LaunchRows, Layout, Metadata, NO_GPU, Names, Object, Prepared};
use crate::append::OPEN_CALL;
use crate::sqlite::Database;
use crate::table::{Agent, AgentKind, ApiCall, Process, Symbol, Thread};
use crate::{Dialect, Error, NameId, ProcessId, Result, Select, SymbolId, Tables};

/// The newest version of our layout that this program reads.
const KNOWN: &str = "1";

/// Our files say so in their metadata.
pub(crate) fn recognise(database: &Database) -> Result<bool> {
    if !database.has_table("rocpd_metadata") || !database.has_table("rocpd_op") {
        return Ok(false);
    }
    match Metadata::read(database)?.get("rtl_schema") {
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

/// Reads what the rows refer to.
pub(crate) fn prepare(database: &Database, select: &Select) -> Result<Prepared> {
    let layout = Layout {
        markers_are_calls: false,
        ops_named_by_type: false,
        cause_by_link: false,
        args_table: "rocpd_string",
        signal_is_shape: false,
        typed_ops: true,
        launches: LaunchRows::Groups,
        gpu_stride: None,
        pid_stride: None,
    };
    let mut tables = Tables::default();
    let metadata = Metadata::read(database)?;
    let mut known = Known::default();
    read_processes(&metadata, &mut known, &mut tables);
    let process = |row: &Object| row.int("pid").and_then(|pid| process(pid, &known, &tables.processes));
    let agents: Vec<(i64, Agent)> = metadata
        .objects(&["gpu", "agent"])
        .map(|(tag, row)| (agent_id(tag, &row), Agent { process: process(&row), ..agent(tag, &row) }))
        .collect();
    let threads = metadata.objects(&["thread"]).filter_map(|(_, row)| {
        let process = process(&row).unwrap_or_default();
        Some(Thread { process, tid: row.int("tid")?, name: row.text("name") })
    });
    tables.threads = last_of_each(threads.collect());
    (known.agents, tables.agents) = agents.into_iter().unzip();
    known.queues = metadata
        .objects(&["queue"])
        .filter_map(|(_, row)| {
            let place = (row.int("gpuId").unwrap_or(NO_GPU), row.int("queueId")?);
            Some((place, (row.int("source")?, row.int("hardware").map(|address| address as u64))))
        })
        .collect();
    let names = Names::read(database, "rocpd_string", &mut tables.strings)?;
    if select.launch {
        read_symbols(&metadata, &mut known, &mut tables);
    }
    if select.api {
        known.open_calls = open_calls(&metadata, &known, &mut tables);
    }
    tables.info = metadata.info(Dialect::Native, "rtl");
    Ok(Prepared { layout, names, known, tables })
}

/// The calls that threads were in when the file was brought up to date for the last time. When a recording ends, they are
/// rows of `rocpd_api`.
fn open_calls(metadata: &Metadata, known: &Known, tables: &mut Tables) -> Vec<ApiCall> {
    let mut calls = Vec::new();
    for (_, row) in metadata.objects(&[OPEN_CALL]) {
        let Some(start) = row.int("start") else { continue };
        let process =
            row.int("pid").and_then(|pid| process(pid, known, &tables.processes)).unwrap_or_default();
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

/// A thread that was given another name has several rows, of which the last one counts.
fn last_of_each(mut threads: Vec<Thread>) -> Vec<Thread> {
    let mut met = FxHashSet::default();
    threads.reverse();
    threads.retain(|thread| met.insert((thread.process, thread.tid)));
    threads.reverse();
    threads
}

/// The process behind what the file calls its pid.
fn process(pid: i64, known: &Known, processes: &[Process]) -> Option<ProcessId> {
    let alias = known.processes.iter().find(|(alias, _)| *alias == pid).map(|&(_, process)| process);
    let named = || processes.iter().position(|process| process.pid == Some(pid));
    alias.or_else(|| named().map(|at| ProcessId(at as u32)))
}

/// One row for each process where there are several, else the file's own tags.
fn read_processes(metadata: &Metadata, known: &mut Known, tables: &mut Tables) {
    for (_, row) in metadata.objects(&["process"]) {
        if let Some(id) = row.int("id") {
            known.processes.push((id, ProcessId(tables.processes.len() as u32)));
        }
        tables.processes.push(Process {
            pid: row.int("pid"),
            ppid: row.int("ppid"),
            guid: row.text("guid"),
            space: row.unsigned("space").unwrap_or(0),
            node: row.unsigned("node"),
            host: row.text("host"),
            machine_id: row.text("machineId"),
            boot_id: row.text("bootId"),
            rank: row.unsigned("rank"),
            world: row.unsigned("world"),
            command: row.text("command"),
            environment: row.text("environment"),
            start: row.int("start"),
            end: row.int("end"),
        });
    }
    let pid = metadata.number("pid");
    if !tables.processes.is_empty() {
        known.process = match tables.processes[..] {
            [_] => Some(ProcessId(0)),
            _ => pid.and_then(|pid| process(pid, known, &tables.processes)),
        };
        return;
    }
    known.process = Some(ProcessId(0));
    let text = |tag| metadata.get(tag).map(str::to_owned);
    let small = |tag| metadata.number(tag).and_then(|value| u32::try_from(value).ok());
    tables.processes.push(Process {
        pid,
        ppid: metadata.number("ppid"),
        host: text("host"),
        machine_id: text("machine_id"),
        boot_id: text("boot_id"),
        rank: small("rank"),
        world: small("world_size"),
        command: text("command"),
        start: metadata.number("start_ns"),
        end: metadata.number("end_ns"),
        ..Process::default()
    });
}

/// What gpuId columns hold for an agent: a GPU's number, an own one for any other.
fn agent_id(tag: &str, row: &Object) -> i64 {
    row.int(if tag == "gpu" { "number" } else { "id" }).unwrap_or(NO_GPU)
}

fn agent(tag: &str, row: &Object) -> Agent {
    let kind = match row.text("kind").as_deref() {
        _ if tag == "gpu" => AgentKind::Gpu,
        Some("cpu") => AgentKind::Cpu,
        Some("other") => AgentKind::Other,
        _ => AgentKind::Unknown,
    };
    Agent {
        kind,
        number: row.int("number").unwrap_or(-1),
        node: row.unsigned("node"),
        process: None,
        source_id: row.int("sourceId").or(row.int("number")).unwrap_or(0),
        absolute_index: row.int("absoluteIndex"),
        logical_index: row.int("logicalIndex"),
        type_index: row.int("typeIndex"),
        target: row.text("target"),
        product: row.text("product"),
        uuid: row.text("uuid"),
        details: row.text("details"),
    }
}

/// Reads the loaded kernels. An op names one by its id, or means the first of its name.
fn read_symbols(metadata: &Metadata, known: &mut Known, tables: &mut Tables) {
    for (_, row) in metadata.objects(&["kernel"]) {
        let process =
            row.int("pid").and_then(|pid| process(pid, known, &tables.processes)).unwrap_or_default();
        let mut name = |field| row.text(field).map_or(NameId::NONE, |text| tables.strings.intern(&text));
        let symbol = Symbol {
            process,
            id: row.int("id").unwrap_or(0),
            name: name("name"),
            mangled: name("mangled"),
            code_object: row.int("codeObject").unwrap_or(0),
            kernel_object: row.int("kernelObject").unwrap_or(0) as u64,
            kernarg: row.unsigned("kernarg"),
            lds: row.unsigned("lds"),
            scratch: row.unsigned("scratch"),
            sgprs: row.unsigned("sgprs"),
            vgprs: row.unsigned("vgprs"),
            agprs: row.unsigned("agprs"),
        };
        let id = SymbolId(tables.symbols.len() as u32);
        known.symbols.by_id.entry((process, symbol.id)).or_insert(id);
        known.symbols.by_name.entry((process, symbol.name)).or_insert(id);
        tables.symbols.push(symbol);
    }
}
