use serde_json::{Map, Value, json};

use super::numbering::{Places, is_renamed};
use super::writer::NativeWriter;
use rtl_schema::layout::tags;
use rtl_schema::table::{Agent, AgentKind, Process};
use rtl_schema::{Dialect, NameId, ProcessId, Result, Tables, TrackId};

/// Tags whose rows are made from columns, never copied.
const MADE: [&str; 20] = [
    tags::RTL_SCHEMA,
    tags::SCHEMA_VERSION,
    tags::TOOL,
    tags::TOOL_VERSION,
    tags::MODE,
    tags::PID,
    tags::PPID,
    tags::HOST,
    tags::MACHINE_ID,
    tags::RANK,
    tags::WORLD_SIZE,
    tags::COMMAND,
    tags::START_NS,
    tags::END_NS,
    tags::GPU,
    tags::AGENT,
    tags::PROCESS,
    tags::THREAD,
    tags::QUEUE,
    tags::OPEN_CALL,
];

/// Writes who recorded the trace, where, and everything of which there is one row per thing.
pub(super) fn write(writer: &mut NativeWriter, tables: &Tables, places: &Places) -> Result<()> {
    let info = &tables.info;
    writer.push_metadata(tags::SCHEMA_VERSION, concat!("rtl-", "1"))?;
    let native = info.dialect == Dialect::Native;
    if !info.tool.is_empty() {
        writer.push_metadata(tags::TOOL, &info.tool)?;
    }
    for (tag, value) in [(tags::TOOL_VERSION, &info.tool_version), (tags::MODE, &info.mode)] {
        if let Some(value) = value {
            writer.push_metadata(tag, value)?;
        }
    }
    if !native {
        writer.push_metadata(tags::SOURCE_DIALECT, info.dialect.label())?;
        if let Some(version) = &info.schema_version {
            writer.push_metadata(tags::SOURCE_SCHEMA_VERSION, version)?;
        }
        for (reason, count) in &info.losses {
            let tag =
                if reason.contains(':') { reason.clone() } else { format!("{}{reason}", tags::LOST_PREFIX) };
            writer.push_metadata(&tag, &count.to_string())?;
        }
    }
    for (tag, value) in &info.metadata {
        if !native {
            writer.push_metadata(&format!("{}{tag}", tags::SOURCE_PREFIX), value)?;
        } else if !MADE.contains(&tag.as_str()) && tag != tags::KERNEL {
            writer.push_metadata(tag, value)?;
        }
    }
    processes(writer, tables, places)?;
    for (at, agent) in tables.agents.iter().enumerate() {
        let process = agent.process.and_then(|process| places.process(process, tables));
        self::agent(writer, agent, process, places.gpus[at])?;
    }
    write_details(writer, tables, places)
}

/// Writes what belongs to processes and agents: queues, threads and kernels.
pub(super) fn write_details(writer: &mut NativeWriter, tables: &Tables, places: &Places) -> Result<()> {
    queues(writer, tables, places)?;
    for thread in &tables.threads {
        let mut row = Map::new();
        insert(&mut row, "pid", places.process(thread.process, tables));
        insert(&mut row, "tid", Some(thread.tid));
        insert(&mut row, "name", thread.name.clone());
        object(writer, tags::THREAD, row)?;
    }
    symbols(writer, tables, places)
}

fn processes(writer: &mut NativeWriter, tables: &Tables, places: &Places) -> Result<()> {
    if let [process] = tables.processes.as_slice() {
        let number = |value: Option<i64>| value.map(|value| value.to_string());
        for (tag, value) in [
            (tags::PID, number(process.pid)),
            (tags::PPID, number(process.ppid)),
            (tags::HOST, process.host.clone()),
            (tags::MACHINE_ID, process.machine_id.clone()),
            (tags::RANK, number(process.rank.map(i64::from))),
            (tags::WORLD_SIZE, number(process.world.map(i64::from))),
            (tags::COMMAND, process.command.clone()),
            (tags::START_NS, number(process.start)),
            (tags::END_NS, number(process.end)),
        ] {
            if let Some(value) = value {
                writer.push_metadata(tag, &value)?;
            }
        }
        if process.guid.is_none()
            && process.node.is_none()
            && process.environment.is_none()
            && process.space == 0
        {
            return Ok(());
        }
    }
    let ids = (0..tables.processes.len()).map(|at| ProcessId(at as u32));
    for (process, id) in tables.processes.iter().zip(ids) {
        let number = places.process(id, tables);
        if let (true, None, Some(number)) = (tables.processes.len() > 1, places.pid(id), number) {
            // Its rows have no pid, because it was alone when they came.
            writer.push_metadata(tags::PID, &number.to_string())?;
        }
        self::process(writer, process, number)?;
    }
    Ok(())
}

/// Writes who a process is; `number` is what pid columns hold for it.
pub(super) fn process(writer: &mut NativeWriter, process: &Process, number: Option<i64>) -> Result<()> {
    let mut row = Map::new();
    insert(&mut row, "pid", process.pid);
    insert(&mut row, "ppid", process.ppid);
    insert(&mut row, "guid", process.guid.clone());
    insert(&mut row, "space", Some(process.space));
    insert(&mut row, "node", process.node);
    insert(&mut row, "host", process.host.clone());
    insert(&mut row, "machineId", process.machine_id.clone());
    insert(&mut row, "bootId", process.boot_id.clone());
    insert(&mut row, "rank", process.rank);
    insert(&mut row, "world", process.world);
    insert(&mut row, "command", process.command.clone());
    insert(&mut row, "environment", process.environment.clone());
    insert(&mut row, "start", process.start);
    insert(&mut row, "end", process.end);
    insert(&mut row, "id", number.filter(|&number| process.pid != Some(number)));
    object(writer, tags::PROCESS, row)
}

/// Writes what an agent is; `number` is what gpuId columns hold for it, `process` what stands for the one that listed it.
pub(super) fn agent(
    writer: &mut NativeWriter,
    agent: &Agent,
    process: Option<i64>,
    number: Option<i64>,
) -> Result<()> {
    let mut row = Map::new();
    insert(&mut row, "number", Some(agent.number));
    insert(&mut row, "node", agent.node);
    insert(&mut row, "sourceId", Some(agent.source_id));
    insert(&mut row, "absoluteIndex", agent.absolute_index);
    insert(&mut row, "logicalIndex", agent.logical_index);
    insert(&mut row, "typeIndex", agent.type_index);
    insert(&mut row, "target", agent.target.clone());
    insert(&mut row, "product", agent.product.clone());
    insert(&mut row, "uuid", agent.uuid.clone());
    insert(&mut row, "details", agent.details.clone());
    insert(&mut row, "pid", process);
    if agent.kind == AgentKind::Gpu {
        return object(writer, tags::GPU, row);
    }
    insert(&mut row, "id", number);
    let kind = match agent.kind {
        AgentKind::Cpu => "cpu",
        AgentKind::Other | AgentKind::Gpu => "other",
        AgentKind::Unknown => "unknown",
    };
    insert(&mut row, "kind", Some(kind));
    object(writer, tags::AGENT, row)
}

/// One row for each queue that had to be renumbered: its own number and its address on the device.
fn queues(writer: &mut NativeWriter, tables: &Tables, places: &Places) -> Result<()> {
    let mut written = Vec::new();
    for (at, track) in tables.tracks.rows().iter().enumerate() {
        let queue = places.queue(TrackId(at as u32));
        if !is_renamed(track, queue) || written.contains(&queue) {
            continue;
        }
        written.push(queue);
        let mut row = Map::new();
        insert(&mut row, "pid", places.process(track.process, tables));
        insert(&mut row, "gpuId", places.gpu(track.agent));
        insert(&mut row, "queueId", Some(queue));
        insert(&mut row, "source", Some(track.queue));
        insert(&mut row, "hardware", track.hardware_queue);
        object(writer, tags::QUEUE, row)?;
    }
    Ok(())
}

fn symbols(writer: &mut NativeWriter, tables: &Tables, places: &Places) -> Result<()> {
    for symbol in &tables.symbols {
        let text = |name: NameId| name.is_some().then(|| tables.strings.get(name).to_owned());
        let mut row = Map::new();
        insert(&mut row, "id", Some(symbol.id));
        insert(&mut row, "pid", places.process(symbol.process, tables));
        insert(&mut row, "name", text(symbol.name));
        insert(&mut row, "mangled", text(symbol.mangled));
        insert(&mut row, "codeObject", Some(symbol.code_object).filter(|&id| id != 0));
        insert(&mut row, "kernelObject", Some(symbol.kernel_object).filter(|&handle| handle != 0));
        insert(&mut row, "kernarg", symbol.kernarg);
        insert(&mut row, "lds", symbol.lds);
        insert(&mut row, "scratch", symbol.scratch);
        insert(&mut row, "sgprs", symbol.sgprs);
        insert(&mut row, "vgprs", symbol.vgprs);
        insert(&mut row, "agprs", symbol.agprs);
        object(writer, tags::KERNEL, row)?;
    }
    Ok(())
}

fn insert(row: &mut Map<String, Value>, key: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        row.insert(key.to_owned(), value.into());
    }
}

fn object(writer: &mut NativeWriter, tag: &str, row: Map<String, Value>) -> Result<()> {
    writer.push_metadata(tag, &json!(row).to_string())
}

impl NativeWriter {
    /// Adds a process; `number` is its value in pid columns.
    pub fn push_process(&mut self, process: &Process, number: i64) -> Result<()> {
        self::process(self, process, Some(number))
    }

    /// Adds an agent; `number` is its value in gpuId columns, `process` the value in pid columns of the process that listed
    /// it.
    pub fn push_agent(&mut self, agent: &Agent, process: Option<i64>, number: Option<i64>) -> Result<()> {
        self::agent(self, agent, process, number)
    }
}
