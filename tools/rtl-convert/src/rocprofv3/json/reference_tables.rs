//! The tables that the records of a process refer to: process, agents, counters, strings, kernels.

use std::collections::BTreeSet;
use std::io;

use atomic_file::AtomicFile;
use rtl_schema::table::Symbol;
use rtl_schema::{ProcessId, Tables, shorten};
use serde_json::{Value, json};

use super::Json;
use super::process_file::Waiting;
use crate::names::{self, NameStyle};
use crate::rocprofv3::environment;
use crate::rocprofv3::kernels::{KernelNames, Kernels};
use crate::rocprofv3::kinds::{self, KINDS, Kind, List, Operations};
use crate::rocprofv3::visitor::ProcessState;
use crate::text::json as quoted;

/// The lists that every file has besides those of calls.
const EMPTY: [&str; 3] = ["kernel_dispatch", "pc_sample_host_trap", "pc_sample_stochastic"];

impl Json {
    /// Completes the file of a process.
    pub fn finish(
        self,
        id: ProcessId,
        state: &ProcessState,
        operations: &Operations,
        names: NameStyle,
        tables: &Tables,
    ) -> io::Result<AtomicFile> {
        let mut file = self.file;
        for list in [Waiting::Markers, Waiting::Copies, Waiting::Allocations, Waiting::Scratch] {
            file.begin(list.label());
            file.append(list)?;
        }
        let calls = List::ALL.map(List::label).into_iter().filter(|list| *list != List::Other.label());
        for list in calls.chain(EMPTY) {
            if !file.lists.contains(&list) {
                file.begin(list);
            }
        }
        file.page.bytes.extend_from_slice(b"]},\n\"callback_records\":{\"counter_collection\":[");
        file.append(Waiting::Counters)?;
        file.page.bytes.push(b']');
        let agents: Vec<&Value> = state.devices.listed().iter().map(|device| &device.details).collect();
        let counters = (1..).zip(&state.counters).map(|(handle, (name, agent)): (u64, _)| {
            json!({
                "agent_id": { "handle": state.devices.handle(*agent) },
                "id": { "handle": handle },
                "is_constant": 0,
                "is_derived": 0,
                "name": tables.strings.get(*name),
                "description": "",
                "block": "",
                "expression": "",
                "dimensions": [],
                "instances": [],
            })
        });
        let bytes = &mut file.page.bytes;
        bytes.extend_from_slice(b"},\n\"metadata\":");
        serde_json::to_writer(&mut *bytes, &metadata(id, state.span, tables))?;
        bytes.extend_from_slice(b",\n\"agents\":");
        serde_json::to_writer(&mut *bytes, &agents)?;
        bytes.extend_from_slice(b",\n\"counters\":");
        serde_json::to_writer(&mut *bytes, &counters.collect::<Vec<_>>())?;
        kinds(operations, tables, &mut file.page.bytes);
        file.append(Waiting::Texts)?;
        file.page.bytes.extend_from_slice(
            b"],\"correlation_id\":{\"external\":[]},\"counters\":{\"dimension_ids\":[]},\"pc_sample_instructions\":[],\
              \"pc_sample_comments\":[],\"att_filenames\":[],\"code_object_snapshot_filenames\":[]}",
        );
        symbols(&state.kernels, names, tables, &mut file.page.bytes);
        file.page.bytes.extend_from_slice(b",\n\"host_functions\":[],\n\"summary\":[]}]}\n");
        file.page.finish()
    }
}

/// An unknown start or end is that of the records, because TraceLens measures idle time by them.
fn metadata(id: ProcessId, span: Option<(i64, i64)>, tables: &Tables) -> Value {
    let process = tables.process(id);
    let (first, last) = span.unwrap_or_default();
    let command: Vec<&str> = process.command.as_deref().map_or(Vec::new(), |text| text.split(' ').collect());
    let mut metadata = json!({
        "node": {},
        "init_time": process.start.unwrap_or(first),
        "fini_time": process.end.unwrap_or(last),
        "command": command,
        "config": config(id, tables),
    });
    for (key, text) in [("machine_id", &process.machine_id), ("hostname", &process.host)] {
        if let Some(text) = text {
            metadata["node"][key] = text.as_str().into();
        }
    }
    for (key, number) in [("pid", process.pid), ("ppid", process.ppid)] {
        if let Some(number) = number {
            metadata[key] = number.into();
        }
    }
    if let Some(environment) = environment::of(process) {
        metadata["environment"] = environment;
    }
    metadata
}

/// The settings of rocprofv3 in a process. Where a trace has those of several processes, they are in the same order.
fn config(id: ProcessId, tables: &Tables) -> Value {
    let tags =
        tables.info.metadata.iter().filter(|(tag, _)| matches!(tag.as_str(), "config" | "source:config"));
    let stated: Vec<&str> = tags.map(|(_, value)| value.as_str()).collect();
    let own = stated.get(if stated.len() > 1 { id.index() } else { 0 });
    own.and_then(|text| serde_json::from_str(text).ok()).filter(Value::is_object).unwrap_or_else(|| json!({}))
}

/// The names of kinds and operations by number, up to the names of ranges.
fn kinds(operations: &Operations, tables: &Tables, bytes: &mut Vec<u8>) {
    bytes.extend_from_slice(b",\n\"strings\":{\"callback_records\":[],\"buffer_records\":[");
    for (number, kind) in KINDS.iter().enumerate() {
        let fixed = kinds::operations(number as Kind).iter().copied();
        let seen = operations.names(number as Kind).iter().map(|&name| tables.strings.get(name));
        let operations: Vec<&str> = fixed.chain(seen).collect();
        let before = if number > 0 { ",\n" } else { "" };
        let names = json!({ "kind": kind, "operations": operations });
        bytes.extend_from_slice(format!("{before}{names}").as_bytes());
    }
    bytes.extend_from_slice(b"],\n\"marker_api\":[");
}

/// The kernels and their code objects; the first of each is a placeholder, as in rocprofv3's files.
fn symbols(kernels: &Kernels, style: NameStyle, tables: &Tables, bytes: &mut Vec<u8>) {
    let objects: BTreeSet<i64> =
        kernels.rows.iter().map(|kernel| kernel.loaded(tables).code_object).chain([0]).collect();
    bytes.extend_from_slice(b",\n\"code_objects\":[");
    for (at, object) in objects.into_iter().enumerate() {
        let before = if at > 0 { ",\n" } else { "" };
        bytes.extend_from_slice(format!("{before}{{\"size\":80,\"code_object_id\":{object}}}").as_bytes());
    }
    bytes.extend_from_slice(b"],\n\"kernel_symbols\":[");
    symbol(0, &Symbol::default(), ["", "0", "0", "0"], bytes);
    for kernel in &kernels.rows {
        let KernelNames { mangled, shown } = kernel.names(tables, style);
        let full = names::shown(&tables.strings, kernel.name);
        bytes.extend_from_slice(b",\n");
        symbol(kernel.id, &kernel.loaded(tables), [&mangled, &shown, &full, shorten(&full)], bytes);
    }
    bytes.push(b']');
}

fn symbol(id: i64, symbol: &Symbol, names: [&str; 4], bytes: &mut Vec<u8>) {
    bytes.extend_from_slice(
        format!("{{\"size\":88,\"kernel_id\":{id},\"code_object_id\":{}", symbol.code_object).as_bytes(),
    );
    let numbers = [
        ("kernel_object", Some(symbol.kernel_object).filter(|&object| object != 0)),
        ("kernarg_segment_size", symbol.kernarg.map(u64::from)),
        ("kernarg_segment_alignment", symbol.kernarg_alignment.map(u64::from)),
        ("group_segment_size", symbol.lds.map(u64::from)),
        ("private_segment_size", symbol.scratch.map(u64::from)),
        ("sgpr_count", symbol.sgprs.map(u64::from)),
        ("arch_vgpr_count", symbol.vgprs.map(u64::from)),
        ("accum_vgpr_count", symbol.agprs.map(u64::from)),
    ];
    for (key, number) in numbers {
        if let Some(number) = number {
            bytes.extend_from_slice(format!(",\"{key}\":{number}").as_bytes());
        }
    }
    if let Some(offset) = symbol.entry_offset {
        bytes.extend_from_slice(format!(",\"kernel_code_entry_byte_offset\":{offset}").as_bytes());
    }
    if let Some(address) = symbol.address {
        bytes.extend_from_slice(format!(",\"kernel_address\":{{\"handle\":{address}}}").as_bytes());
    }
    let keys = ["kernel_name", "formatted_kernel_name", "demangled_kernel_name", "truncated_kernel_name"];
    for (key, name) in keys.into_iter().zip(names) {
        bytes.extend_from_slice(format!(",\"{key}\":").as_bytes());
        quoted(name, bytes);
    }
    bytes.push(b'}');
}
