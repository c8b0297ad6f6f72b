//! Texts, processes and GPUs, to which rows refer.

use rustc_hash::FxHashMap;

use crate::sqlite::{Database, scanned};
use crate::table::{Agent, AgentKind, Process, Thread};
use crate::{AgentId, NameId, ProcessId, Result, Tables};

/// Bits of a global id below those of the process and of the thread.
const THREAD_BITS: u32 = 24;

/// The process id and thread id in a global id.
pub(super) fn ids(global: i64) -> (i64, i64) {
    let mask = (1 << THREAD_BITS) - 1;
    ((global >> THREAD_BITS) & mask, global & mask)
}

/// Texts, and the processes and GPUs that rows have named so far.
#[derive(Default)]
pub(super) struct Sources {
    texts: FxHashMap<i64, String>,
    names: FxHashMap<i64, NameId>,
    /// Keys are global ids without the thread.
    processes: FxHashMap<i64, ProcessId>,
    commands: FxHashMap<i64, String>,
    threads: Vec<(i64, String)>,
    gpus: FxHashMap<i64, Agent>,
    /// The GPU of a device of a process, by process id and number of the device.
    devices: FxHashMap<(i64, i64), i64>,
    agents: FxHashMap<i64, AgentId>,
    host: Option<String>,
}

impl Sources {
    pub(super) fn read(database: &Database) -> Result<Self> {
        let mut sources = Self::default();
        scanned!(columns: id, value);
        database.scan("StringIds", &columns, |row| {
            if let Some(text) = row.text(value) {
                sources.texts.insert(row.int(id).unwrap_or(row.id()), text.into_owned());
            }
        })?;
        scanned!(columns: global = "globalPid", name);
        database.scan("PROCESSES", &columns, |row| {
            if let Some((global, name)) = row.int(global).zip(row.text(name)) {
                sources.commands.insert(global >> THREAD_BITS, name.into_owned());
            }
        })?;
        scanned!(columns: global = "globalTid", name = "nameId");
        database.scan("ThreadNames", &columns, |row| {
            let text = row.int(name).and_then(|name| sources.texts.get(&name));
            sources.threads.extend(row.int(global).zip(text.cloned()));
        })?;
        sources.read_gpus(database)?;
        scanned!(columns: name, value);
        database.scan("TARGET_INFO_SYSTEM_ENV", &columns, |row| {
            if row.text(name).as_deref() == Some("Hostname") {
                sources.host = row.text(value).map(|host| host.into_owned());
            }
        })?;
        Ok(sources)
    }

    fn read_gpus(&mut self, database: &Database) -> Result<()> {
        scanned!(columns: id, name, uuid, chip = "chipName", units = "smCount", memory = "totalMemory");
        database.scan("TARGET_INFO_GPU", &columns, |row| {
            let number = row.int(id).unwrap_or(0);
            let details = serde_json::json!({"smCount": row.int(units), "totalMemory": row.int(memory)});
            let text = |at| row.text(at).map(|text| text.into_owned()).filter(|text| !text.is_empty());
            self.gpus.insert(
                number,
                Agent {
                    kind: AgentKind::Gpu,
                    number,
                    source_id: number,
                    absolute_index: Some(number),
                    type_index: Some(number),
                    target: text(chip),
                    product: text(name),
                    uuid: text(uuid),
                    details: Some(details.to_string()),
                    ..Agent::default()
                },
            );
        })?;
        scanned!(columns: gpu = "gpuId", device = "cudaId", pid);
        database.scan("TARGET_INFO_CUDA_DEVICE", &columns, |row| {
            if let (Some(gpu), Some(device)) = (row.int(gpu), row.int(device)) {
                self.devices.insert((row.int(pid).unwrap_or(0), device), gpu);
            }
        })
    }

    /// The text behind an id, changed by `change`, which is the same for all texts of its table.
    pub(super) fn name(&mut self, tables: &mut Tables, id: Option<i64>, change: fn(&str) -> &str) -> NameId {
        let Some(id) = id else { return NameId::NONE };
        let texts = &self.texts;
        let known = self.names.entry(id);
        *known.or_insert_with(|| {
            texts.get(&id).map_or(NameId::DANGLING, |text| tables.strings.intern(change(text)))
        })
    }

    pub(super) fn text(&self, id: Option<i64>) -> Option<&str> {
        self.texts.get(&id?).map(String::as_str)
    }

    /// The process of a global id; rows of old versions have none.
    pub(super) fn process(&mut self, tables: &mut Tables, global: Option<i64>) -> ProcessId {
        let key = global.map_or(0, |global| global >> THREAD_BITS);
        let host = &self.host;
        let commands = &self.commands;
        *self.processes.entry(key).or_insert_with(|| {
            let id = ProcessId(tables.processes.len() as u32);
            tables.processes.push(Process {
                pid: global.map(|global| ids(global).0),
                space: id.0,
                host: host.clone(),
                command: commands.get(&key).cloned(),
                ..Process::default()
            });
            id
        })
    }

    /// The GPU that a process knows by this number.
    pub(super) fn agent(&mut self, tables: &mut Tables, global: Option<i64>, device: i64) -> AgentId {
        let pid = global.map_or(0, |global| ids(global).0);
        let gpu = self.devices.get(&(pid, device)).copied().unwrap_or(device);
        let gpus = &self.gpus;
        *self.agents.entry(gpu).or_insert_with(|| {
            let unlisted =
                || Agent { number: gpu, source_id: gpu, type_index: Some(gpu), ..Agent::default() };
            tables.agents.push(gpus.get(&gpu).cloned().unwrap_or_else(unlisted));
            AgentId(tables.agents.len() as u32 - 1)
        })
    }

    /// Adds what no row has named: threads of the processes, and GPUs without work.
    pub(super) fn finish(self, tables: &mut Tables) {
        for (global, name) in self.threads {
            if let Some(&process) = self.processes.get(&(global >> THREAD_BITS)) {
                tables.threads.push(Thread { process, tid: ids(global).1, name: Some(name) });
            }
        }
        let mut idle: Vec<_> =
            self.gpus.into_iter().filter(|(gpu, _)| !self.agents.contains_key(gpu)).collect();
        idle.sort_by_key(|(gpu, _)| *gpu);
        tables.agents.extend(idle.into_iter().map(|(_, agent)| agent));
    }
}
