//! Tables that rows refer to.

use std::ops::Range;

use polars::prelude::*;
use rtl_schema::Tables;
use rtl_schema::table::AgentKind;

use crate::frame::Frame;

/// GPUs and other agents.
pub(super) fn agents(tables: &Tables, rows: Range<usize>) -> PolarsResult<DataFrame> {
    let agents = &tables.agents;
    let kind = |row: usize| match agents[row].kind {
        AgentKind::Gpu => Some("gpu"),
        AgentKind::Cpu => Some("cpu"),
        AgentKind::Other => Some("other"),
        AgentKind::Unknown => None,
    };
    let is_gpu = |row: usize| agents[row].kind == AgentKind::Gpu;
    Frame::of(tables, rows)
        .word("kind", kind)
        .add("gpu", |row| Some(agents[row].number).filter(|_| is_gpu(row)))
        .add("node", |row| agents[row].node)
        .add("source_id", |row| agents[row].source_id)
        .word("target", |row| agents[row].target.as_deref())
        .word("product", |row| agents[row].product.as_deref())
        .word("uuid", |row| agents[row].uuid.as_deref())
        .word("details", |row| agents[row].details.as_deref())
        .finish()
}

/// Processes.
pub(super) fn processes(tables: &Tables, rows: Range<usize>) -> PolarsResult<DataFrame> {
    let processes = &tables.processes;
    Frame::of(tables, rows)
        .add("pid", |row| processes[row].pid)
        .add("ppid", |row| processes[row].ppid)
        .add("node", |row| processes[row].node)
        .add("rank", |row| processes[row].rank)
        .add("world_size", |row| processes[row].world)
        .word("host", |row| processes[row].host.as_deref())
        .word("machine_id", |row| processes[row].machine_id.as_deref())
        .word("guid", |row| processes[row].guid.as_deref())
        .word("command", |row| processes[row].command.as_deref())
        .word("environment", |row| processes[row].environment.as_deref())
        .add("start_ns", |row| processes[row].start)
        .add("end_ns", |row| processes[row].end)
        .finish()
}

/// Named threads.
pub(super) fn threads(tables: &Tables, rows: Range<usize>) -> PolarsResult<DataFrame> {
    let threads = &tables.threads;
    Frame::of(tables, rows)
        .process(|row| threads[row].process)
        .add("tid", |row| threads[row].tid)
        .word("name", |row| threads[row].name.as_deref())
        .finish()
}

/// Loaded kernels.
pub(super) fn kernels(tables: &Tables, rows: Range<usize>) -> PolarsResult<DataFrame> {
    let symbols = &tables.symbols;
    Frame::of(tables, rows)
        .add("kernel_id", |row| symbols[row].id)
        .process(|row| symbols[row].process)
        .text("name", |row| symbols[row].name)?
        .text("mangled", |row| symbols[row].mangled)?
        .add("kernarg_bytes", |row| symbols[row].kernarg)
        .add("lds_bytes", |row| symbols[row].lds)
        .add("scratch_bytes", |row| symbols[row].scratch)
        .add("sgprs", |row| symbols[row].sgprs)
        .add("vgprs", |row| symbols[row].vgprs)
        .add("agprs", |row| symbols[row].agprs)
        .finish()
}

/// Metadata of the source.
pub(super) fn metadata(tables: &Tables, rows: Range<usize>) -> PolarsResult<DataFrame> {
    let metadata = &tables.info.metadata;
    Frame::of(tables, rows)
        .word("tag", |row| Some(metadata[row].0.as_str()))
        .word("value", |row| Some(metadata[row].1.as_str()))
        .finish()
}
