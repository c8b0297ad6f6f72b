//! Metadata rows: who recorded the trace, and objects that rows name by number.

use serde::Serialize;
use serde_json::{Value, json};

use super::numbering::{Places, is_renamed};
use super::writer::NativeWriter;
use rtl_schema::layout::objects::known;
use rtl_schema::layout::tags;
use rtl_schema::table::{Agent, AgentKind, Process};
use rtl_schema::{Dialect, NameId, ProcessId, Result, Tables, TrackId};

/// Tags whose rows are made from columns, never copied.
const MADE: [&str; 21] = [
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
    tags::OPEN_DISPATCH,
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
        writer.push_agent(agent, process, places.gpus[at])?;
    }
    write_details(writer, tables, places)
}

/// Writes what belongs to processes and agents: queues, threads and kernels.
pub(super) fn write_details(writer: &mut NativeWriter, tables: &Tables, places: &Places) -> Result<()> {
    queues(writer, tables, places)?;
    for thread in &tables.threads {
        let pid = places.process(thread.process, tables);
        writer.push_object(
            tags::THREAD,
            &(),
            json!({ "pid": pid, "tid": thread.tid, "name": thread.name }),
        )?;
    }
    symbols(writer, tables, places)
}

/// Writes tags for the only process of a file, and a row for each process that has more to keep or is not alone.
fn processes(writer: &mut NativeWriter, tables: &Tables, places: &Places) -> Result<()> {
    if let [process] = tables.processes.as_slice() {
        let Process {
            pid,
            ppid,
            host,
            machine_id,
            // The source's own tag of it is copied with its metadata.
            boot_id: _,
            rank,
            world,
            command,
            start,
            end,
            guid,
            node,
            environment,
            space,
        } = process;
        let number = |value: Option<i64>| value.map(|value| value.to_string());
        for (tag, value) in [
            (tags::PID, number(*pid)),
            (tags::PPID, number(*ppid)),
            (tags::HOST, host.clone()),
            (tags::MACHINE_ID, machine_id.clone()),
            (tags::RANK, number(rank.map(i64::from))),
            (tags::WORLD_SIZE, number(world.map(i64::from))),
            (tags::COMMAND, command.clone()),
            (tags::START_NS, number(*start)),
            (tags::END_NS, number(*end)),
        ] {
            if let Some(value) = value {
                writer.push_metadata(tag, &value)?;
            }
        }
        if guid.is_none() && node.is_none() && environment.is_none() && *space == 0 {
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
        writer.push_process(process, number)?;
    }
    Ok(())
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
        let more = json!({
            "pid": places.process(track.process, tables),
            "gpuId": places.gpu(track.agent),
            "queueId": queue,
            "source": track.queue,
            "hardware": track.hardware_queue,
        });
        writer.push_object(tags::QUEUE, &(), more)?;
    }
    Ok(())
}

fn symbols(writer: &mut NativeWriter, tables: &Tables, places: &Places) -> Result<()> {
    for symbol in &tables.symbols {
        let text = |name: NameId| name.is_some().then(|| tables.strings.get(name));
        let more = json!({
            "pid": places.process(symbol.process, tables),
            "name": text(symbol.name),
            "mangled": text(symbol.mangled),
        });
        writer.push_object(tags::KERNEL, symbol, more)?;
    }
    Ok(())
}

impl NativeWriter {
    /// Adds a process; `number` is its value in pid columns.
    pub fn push_process(&mut self, process: &Process, number: Option<i64>) -> Result<()> {
        let id = number.filter(|&number| process.pid != Some(number));
        self.push_object(tags::PROCESS, process, json!({ "id": id }))
    }

    /// Adds an agent; `number` is its value in gpuId columns, `process` the value in pid columns of the process that listed
    /// it.
    pub fn push_agent(&mut self, agent: &Agent, process: Option<i64>, number: Option<i64>) -> Result<()> {
        let kind = match agent.kind {
            AgentKind::Gpu => return self.push_object(tags::GPU, agent, json!({ "pid": process })),
            AgentKind::Cpu => "cpu",
            AgentKind::Other => "other",
            AgentKind::Unknown => "unknown",
        };
        self.push_object(tags::AGENT, agent, json!({ "pid": process, "id": number, "kind": kind }))
    }

    /// Adds a row of what is known of `object`, if there is one, and of `more`.
    fn push_object(&mut self, tag: &str, object: &impl Serialize, more: Value) -> Result<()> {
        let mut fields = known(object);
        fields.extend(known(&more));
        self.push_metadata(tag, &Value::Object(fields).to_string())
    }
}
