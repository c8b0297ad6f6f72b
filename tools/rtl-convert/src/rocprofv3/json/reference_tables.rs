//! What stands around the records of a process: who it was, and what the records refer to.

use std::collections::BTreeSet;
use std::io::{self, Write};

use rtl_schema::table::{Process as Origin, Symbol};
use rtl_schema::{ProcessId, Tables, shorten};
use serde_json::{Value, json};
use tempfile::NamedTempFile;

use super::process_file::ProcessFile;
use crate::names::{self, NameStyle};
use crate::output_file::OutputWriter;
use crate::rocprofv3::environment;
use crate::rocprofv3::kernels::{KernelNames, Kernels};
use crate::rocprofv3::kinds::{self, KINDS, Kind, List, Operations};
use crate::rocprofv3::spill_buffer::SpillBuffer;
use crate::rocprofv3::text::json as quoted;
use crate::rocprofv3::visitor::RecordVisitor;

/// The lists that every file has, beside those of calls.
const EMPTY: [&str; 3] = ["kernel_dispatch", "pc_sample_host_trap", "pc_sample_stochastic"];

/// Completes the file of a process.
pub(super) fn finish(
    mut process: ProcessFile,
    id: ProcessId,
    visitor: &RecordVisitor,
    tables: &Tables,
) -> io::Result<NamedTempFile> {
    let spilled: [(&'static str, SpillBuffer); 4] = [
        ("marker_api", process.markers),
        ("memory_copy", process.copies),
        ("memory_allocation", process.allocations),
        ("scratch_memory", process.scratch),
    ];
    let mut out = process.content;
    process.pages.flush(&mut out)?;
    let mut lists = process.lists;
    for (list, spill) in spilled {
        begin(list, &mut lists, &mut out)?;
        spill.copy_to(&mut out)?;
    }
    let calls = List::ALL.map(List::name).into_iter().filter(|list| *list != List::Other.name());
    for list in calls.chain(EMPTY) {
        if !lists.contains(&list) {
            begin(list, &mut lists, &mut out)?;
        }
    }
    out.write_all(b"]},\n\"callback_records\":{\"counter_collection\":[")?;
    process.counters.copy_to(&mut out)?;
    out.write_all(b"]},\n\"metadata\":")?;
    serde_json::to_writer(&mut out, &metadata(&tables.processes[id.index()], process.span))?;
    let agents: Vec<&Value> = process.devices.listed().iter().map(|device| &device.details).collect();
    out.write_all(b",\n\"agents\":")?;
    serde_json::to_writer(&mut out, &agents)?;
    let counters: Vec<Value> = (1..)
        .zip(&process.counter_kinds)
        .map(|(handle, counter): (u64, _)| {
            json!({
                "agent_id": { "handle": process.devices.handle(counter.agent) },
                "id": { "handle": handle },
                "is_constant": 0,
                "is_derived": 0,
                "name": tables.strings.get(counter.name),
                "description": "",
                "block": "",
                "expression": "",
                "dimensions": [],
                "instances": [],
            })
        })
        .collect();
    out.write_all(b",\n\"counters\":")?;
    serde_json::to_writer(&mut out, &counters)?;
    strings(&visitor.operations, process.texts, tables, &mut out)?;
    symbols(&visitor.kernels[id.index()], visitor.names, tables, &mut out)?;
    out.write_all(b",\n\"host_functions\":[],\n\"summary\":[]}]}\n")?;
    out.finish()?;
    Ok(process.file)
}

fn begin(list: &'static str, lists: &mut Vec<&'static str>, out: &mut OutputWriter) -> io::Result<()> {
    let before = if lists.is_empty() { "\"" } else { "],\n\"" };
    lists.push(list);
    write!(out, "{before}{list}\":[")
}

/// Who the process was. Where its start and end are unknown, those of its records stand in: TraceLens measures idle
/// time by them.
fn metadata(process: &Origin, span: Option<(i64, i64)>) -> Value {
    let (first, last) = span.unwrap_or_default();
    let command: Vec<&str> = process.command.as_deref().map_or(Vec::new(), |text| text.split(' ').collect());
    let mut metadata = json!({
        "node": {},
        "init_time": process.start.unwrap_or(first),
        "fini_time": process.end.unwrap_or(last),
        "command": command,
        "config": {},
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

/// What numbers of kinds and operations mean, and what ranges are called.
fn strings(
    operations: &Operations,
    texts: SpillBuffer,
    tables: &Tables,
    out: &mut OutputWriter,
) -> io::Result<()> {
    out.write_all(b",\n\"strings\":{\"callback_records\":[],\"buffer_records\":[")?;
    let mut bytes = Vec::new();
    for (number, kind) in KINDS.iter().enumerate() {
        let before = if number > 0 { ",\n" } else { "" };
        bytes.extend_from_slice(format!("{before}{{\"kind\":\"{kind}\",\"operations\":[").as_bytes());
        let fixed = kinds::operations(number as Kind).iter().copied();
        let met = operations.names(number as Kind).iter().map(|&name| tables.strings.get(name));
        for (at, operation) in fixed.chain(met).enumerate() {
            if at > 0 {
                bytes.push(b',');
            }
            quoted(operation, &mut bytes);
        }
        bytes.extend_from_slice(b"]}");
    }
    out.write_all(&bytes)?;
    out.write_all(b"],\n\"marker_api\":[")?;
    texts.copy_to(out)?;
    out.write_all(
        b"],\"correlation_id\":{\"external\":[]},\"counters\":{\"dimension_ids\":[]},\"pc_sample_instructions\":[],\
          \"pc_sample_comments\":[],\"att_filenames\":[],\"code_object_snapshot_filenames\":[]}",
    )
}

/// The kernels and the code objects that they name; the first of each is a placeholder, as rocprofv3 writes it.
fn symbols(kernels: &Kernels, how: NameStyle, tables: &Tables, out: &mut OutputWriter) -> io::Result<()> {
    let objects: BTreeSet<i64> =
        kernels.rows().iter().map(|kernel| kernel.loaded(tables).code_object).chain([0]).collect();
    out.write_all(b",\n\"code_objects\":[")?;
    for (at, object) in objects.into_iter().enumerate() {
        let before = if at > 0 { ",\n" } else { "" };
        write!(out, "{before}{{\"size\":80,\"code_object_id\":{object}}}")?;
    }
    out.write_all(b"],\n\"kernel_symbols\":[")?;
    symbol(0, &Symbol::default(), ["", "0", "0", "0"], out)?;
    for kernel in kernels.rows() {
        let loaded = kernel.loaded(tables);
        let KernelNames { mangled, shown } = kernel.names(tables, how);
        out.write_all(b",\n")?;
        let full = names::shown(&tables.strings, kernel.name);
        symbol(kernel.id, &loaded, [&mangled, &shown, &full, shorten(&full)], out)?;
    }
    out.write_all(b"]")
}

/// One symbol; its names are the stored, the formatted, the demangled and the truncated one.
fn symbol(id: i64, symbol: &Symbol, names: [&str; 4], out: &mut OutputWriter) -> io::Result<()> {
    let mut bytes =
        format!("{{\"size\":88,\"kernel_id\":{id},\"code_object_id\":{}", symbol.code_object).into_bytes();
    let numbers = [
        ("kernel_object", Some(symbol.kernel_object).filter(|&object| object != 0)),
        ("kernarg_segment_size", symbol.kernarg.map(u64::from)),
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
    let keys = ["kernel_name", "formatted_kernel_name", "demangled_kernel_name", "truncated_kernel_name"];
    for (key, name) in keys.into_iter().zip(names) {
        bytes.extend_from_slice(format!(",\"{key}\":").as_bytes());
        quoted(name, &mut bytes);
    }
    bytes.push(b'}');
    out.write_all(&bytes)
}
