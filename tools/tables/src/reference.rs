//! Tables that rows of others refer to: agents, processes and metadata.

use rtl_schema::ProcessId;
use rtl_schema::table::{Agent, AgentKind, Process};

use crate::column::Column;
use crate::loaded::Loaded;
use crate::table::Table;

pub(super) fn agents() -> Table {
    fn agent(trace: &Loaded, row: usize) -> &Agent {
        &trace.tables.agents[row]
    }
    let kind = |kind| match kind {
        AgentKind::Gpu => Some("gpu"),
        AgentKind::Cpu => Some("cpu"),
        AgentKind::Other => Some("other"),
        AgentKind::Unknown => None,
    };
    Table::new("agents", "GPUs and other devices", |trace| trace.tables.agents.len()).with([
        Column::word("kind", "gpu, cpu or other", move |trace, row| kind(agent(trace, row).kind)),
        Column::integer("gpu", "Number of the GPU", |trace, row| {
            (agent(trace, row).kind == AgentKind::Gpu).then_some(agent(trace, row).number)
        }),
        Column::integer("node", "Machine, where a trace has several", |trace, row| {
            agent(trace, row).node.map(i64::from)
        }),
        Column::integer("source_id", "Id of the source", |trace, row| Some(agent(trace, row).source_id)),
        Column::word("target", "Instruction set: gfx942", |trace, row| agent(trace, row).target.as_deref()),
        Column::word("product", "Name of the product", |trace, row| agent(trace, row).product.as_deref()),
        Column::word("uuid", "Unique id of the device", |trace, row| agent(trace, row).uuid.as_deref()),
    ])
}

pub(super) fn processes() -> Table {
    fn process(trace: &Loaded, row: usize) -> &Process {
        &trace.tables.processes[row]
    }
    Table::new("processes", "Processes that wrote into a trace", |trace| trace.tables.processes.len())
        .of_process(|_, row| ProcessId(row as u32))
        .with([
            Column::integer("world_size", "Processes of the job", |trace, row| {
                process(trace, row).world.map(i64::from)
            }),
            Column::integer("ppid", "Id of the parent process", |trace, row| process(trace, row).ppid),
            Column::integer("node", "Machine, where a trace has several", |trace, row| {
                process(trace, row).node.map(i64::from)
            }),
            Column::word("host", "Name of the machine", |trace, row| process(trace, row).host.as_deref()),
            Column::word("command", "Command line", |trace, row| process(trace, row).command.as_deref()),
            Column::integer("start", "First moment in ns", |trace, row| process(trace, row).start),
            Column::integer("stop", "Last moment in ns", |trace, row| process(trace, row).end),
        ])
}

pub(super) fn metadata() -> Table {
    Table::new("metadata", "What the recorder states of a trace", |trace| trace.tables.info.metadata.len())
        .with([
            Column::word("tag", "Name", |trace, row| Some(trace.tables.info.metadata[row].0.as_str())),
            Column::word("value", "Value", |trace, row| Some(trace.tables.info.metadata[row].1.as_str())),
        ])
}
