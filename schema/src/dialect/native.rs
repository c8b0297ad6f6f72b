use rustc_hash::FxHashMap;

use super::rocpd::{self, Known, Layout, Metadata, Names, Object};
use crate::sqlite::Database;
use crate::table::{Agent, Process, Symbol, Thread};
use crate::{Dialect, Error, Id, NameId, ProcessId, Result, Select, SymbolId, Tables};

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

pub(crate) fn read(database: &Database, select: &Select) -> Result<Tables> {
    let layout = Layout {
        markers_are_calls: false,
        ops_named_by_type: false,
        cause_by_link: false,
        args_table: "rocpd_string",
        signal_is_shape: false,
        typed_ops: true,
        grid_is_items: false,
        gpu_stride: None,
        pid_stride: None,
    };
    let mut tables = Tables::default();
    let metadata = Metadata::read(database)?;
    tables.processes = processes(&metadata);
    tables.agents = metadata.objects("gpu").map(|gpu| agent(&gpu)).collect();
    let by_pid = |pid: Option<i64>| {
        let found = tables.processes.iter().position(|process| process.pid == pid);
        ProcessId(found.unwrap_or(0) as u32)
    };
    tables.threads = metadata
        .objects("thread")
        .filter_map(|row| {
            Some(Thread { process: by_pid(row.int("pid")), tid: row.int("tid")?, name: row.text("name") })
        })
        .collect();
    let names = Names::read(database, "rocpd_string", &mut tables.strings)?;
    let mut known = Known { process: Some(by_pid(metadata.number("pid"))), ..Known::default() };
    if select.launch {
        known.symbols = symbols(&metadata, &mut tables);
    }
    tables.about = metadata.about(Dialect::Native, "rtl");
    rocpd::read(database, &layout, select, &names, &known, tables)
}

/// One row for each process where there are several, else the file's own tags.
fn processes(metadata: &Metadata) -> Vec<Process> {
    let listed: Vec<Process> = metadata
        .objects("process")
        .map(|row| Process {
            pid: row.int("pid"),
            ppid: row.int("ppid"),
            guid: row.text("guid"),
            space: row.unsigned("space").unwrap_or(0),
            node: row.unsigned("node"),
            host: row.text("host"),
            machine_id: row.text("machineId"),
            rank: row.unsigned("rank"),
            world: row.unsigned("world"),
            command: row.text("command"),
            environment: row.text("environment"),
            start: row.int("start"),
            end: row.int("end"),
        })
        .collect();
    if !listed.is_empty() {
        return listed;
    }
    let text = |tag| metadata.get(tag).map(str::to_owned);
    let small = |tag| metadata.number(tag).and_then(|value| u32::try_from(value).ok());
    vec![Process {
        pid: metadata.number("pid"),
        ppid: metadata.number("ppid"),
        host: text("host"),
        machine_id: text("machine_id"),
        rank: small("rank"),
        world: small("world_size"),
        command: text("command"),
        start: metadata.number("start_ns"),
        end: metadata.number("end_ns"),
        ..Process::default()
    }]
}

fn agent(row: &Object) -> Agent {
    Agent {
        number: row.int("number").unwrap_or(0),
        node: row.unsigned("node"),
        source_id: row.int("sourceId").or(row.int("number")).unwrap_or(0),
        absolute_index: row.int("absoluteIndex"),
        logical_index: row.int("logicalIndex"),
        type_index: row.int("typeIndex"),
        target: row.text("target"),
        product: row.text("product"),
        uuid: row.text("uuid"),
        details: row.text("details"),
        ..Agent::default()
    }
}

/// Reads the loaded kernels; the result finds them by process and id.
fn symbols(metadata: &Metadata, tables: &mut Tables) -> FxHashMap<(ProcessId, Id), SymbolId> {
    let mut by_id = FxHashMap::default();
    for row in metadata.objects("kernel") {
        let pid = row.int("pid").or(metadata.number("pid"));
        let process = tables.processes.iter().position(|process| process.pid == pid).unwrap_or(0);
        let process = ProcessId(process as u32);
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
        by_id.entry((process, symbol.id)).or_insert(SymbolId(tables.symbols.len() as u32));
        tables.symbols.push(symbol);
    }
    by_id
}
