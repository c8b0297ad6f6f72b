use rustc_hash::FxHashMap;
use serde::Deserialize;

use super::by_id::ById;
use super::devices::{Devices, uuid};
use super::{Set, environment};
use crate::table::{Agent, AgentKind, Process, Symbol, Thread};
use crate::{AgentId, Id, NameId, ProblemKind, Problems, ProcessId, Result, SymbolId, Tables};

/// The rows of one set that others refer to by id.
#[derive(Debug)]
pub(super) struct References {
    strings: ById<NameId>,
    processes: FxHashMap<Id, ProcessId>,
    first: ProcessId,
    node: u32,
    threads: FxHashMap<Id, i64>,
    agents: FxHashMap<Id, AgentId>,
    symbols: ById<SymbolId>,
}

/// The fields in the extdata of agents and kernel symbols that have no column.
#[derive(Default, Deserialize)]
#[serde(default)]
struct ExtData {
    formatted_kernel_name: Option<String>,
    uuid: Option<Uuid>,
}

#[derive(Deserialize)]
struct Uuid {
    bytes: FxHashMap<String, u8>,
}

impl References {
    /// Reads everything that rows refer to; processes, agents and symbols go into `tables`.
    pub(super) fn read(set: Set<'_>, devices: &mut Devices, tables: &mut Tables) -> Result<Self> {
        let mut references = Self {
            strings: ById::new(NameId::DANGLING),
            processes: FxHashMap::default(),
            first: ProcessId(tables.processes.len() as u32),
            node: 0,
            threads: FxHashMap::default(),
            agents: FxHashMap::default(),
            symbols: ById::new(SymbolId(u32::MAX)),
        };
        set.database.scan(&set.table("rocpd_string"), &["id", "string"], |row| {
            if let Some(text) = row.text(1) {
                references.strings.set(row.int(0).unwrap_or(row.id()), tables.strings.intern(&text));
            }
        })?;
        references.read_processes(set, devices, tables)?;
        references.read_threads(set, tables)?;
        references.read_agents(set, devices, tables)?;
        references.read_symbols(set, tables)?;
        Ok(references)
    }

    /// The string behind `id`: `NONE` for NULL, `DANGLING` (and counted) where it is missing.
    pub(super) fn name(&self, problems: &mut Problems, place: &str, row: Id, id: Option<Id>) -> NameId {
        let Some(id) = id else { return NameId::NONE };
        self.strings.get(id).unwrap_or_else(|| {
            problems.add(ProblemKind::DanglingName, place, row);
            NameId::DANGLING
        })
    }

    /// The process behind `id`: the set's first one for NULL, and (counted) where it is missing.
    pub(super) fn process(&self, problems: &mut Problems, place: &str, row: Id, id: Option<Id>) -> ProcessId {
        let Some(id) = id else { return self.first };
        self.processes.get(&id).copied().unwrap_or_else(|| {
            problems.add(ProblemKind::DanglingReference, place, row);
            self.first
        })
    }

    /// The thread behind `id`: where it is missing (counted) the id itself, as the writer numbers threads
    /// by their tid. Thread 0 is none: files write it where their views need a thread and none is known.
    pub(super) fn tid(&self, problems: &mut Problems, place: &str, row: Id, id: Option<Id>) -> Option<i64> {
        let id = id.filter(|&id| id != 0)?;
        Some(self.threads.get(&id).copied().unwrap_or_else(|| {
            problems.add(ProblemKind::DanglingReference, place, row);
            id
        }))
    }

    /// The agent behind `id`.
    pub(super) fn agent(&self, id: Id) -> Option<AgentId> {
        self.agents.get(&id).copied()
    }

    /// The loaded kernel behind `id`.
    pub(super) fn symbol(&self, id: Id) -> Option<SymbolId> {
        self.symbols.get(id)
    }

    /// Adds an agent that rows name and no row describes.
    pub(super) fn add_agent(
        &mut self,
        id: Id,
        kind: AgentKind,
        devices: &mut Devices,
        tables: &mut Tables,
    ) -> AgentId {
        let agent = Agent {
            kind,
            source_id: id,
            node: Some(self.node),
            absolute_index: Some(id),
            ..Agent::default()
        };
        let added = devices.listed(&mut tables.agents, agent);
        self.agents.insert(id, added);
        added
    }

    fn read_processes(&mut self, set: Set<'_>, devices: &mut Devices, tables: &mut Tables) -> Result<()> {
        let mut nodes: FxHashMap<Id, (u32, Option<String>, Option<String>)> = FxHashMap::default();
        set.database.scan(&set.table("rocpd_info_node"), &["id", "machine_id", "hostname"], |row| {
            let id = row.int(0).unwrap_or(row.id());
            let machine = row.text(1).map(|text| text.into_owned()).filter(|text| !text.is_empty());
            let host = row.text(2).map(|text| text.into_owned());
            let identity = machine.clone().or_else(|| host.clone()).unwrap_or_else(|| id.to_string());
            nodes.insert(id, (devices.machine(&identity), host, machine));
        })?;
        let columns = ["id", "nid", "pid", "ppid", "start", "end", "command", "environment"];
        set.database.scan(&set.table("rocpd_info_process"), &columns, |row| {
            let id = row.int(0).unwrap_or(row.id());
            let (node, host, machine_id) =
                row.int(1).and_then(|nid| nodes.get(&nid).cloned()).unwrap_or_else(|| {
                    tables.problems.add(ProblemKind::DanglingReference, "rocpd_info_process.nid", id);
                    (devices.machine(""), None, None)
                });
            let environment = row.text(7).map(|text| text.into_owned());
            let (rank, world) = environment.as_deref().map_or((None, None), environment::rank);
            self.processes.insert(id, ProcessId(tables.processes.len() as u32));
            tables.processes.push(Process {
                pid: row.int(2).or(Some(id)),
                ppid: row.int(3),
                guid: Some(set.guid()),
                space: set.space,
                node: Some(node),
                host,
                machine_id,
                boot_id: None,
                rank,
                world,
                command: row.text(6).map(|text| text.into_owned()).filter(|text| !text.is_empty()),
                environment,
                start: row.int(4),
                end: row.int(5),
            });
        })?;
        if self.processes.is_empty() {
            let known = nodes.into_values().next();
            let (node, host, machine_id) = known.unwrap_or_else(|| (devices.machine(""), None, None));
            let guid = Some(set.guid());
            let process =
                Process { guid, space: set.space, node: Some(node), host, machine_id, ..Process::default() };
            tables.processes.push(process);
        }
        self.node = tables.process(self.first).node.unwrap_or(0);
        Ok(())
    }

    fn read_threads(&mut self, set: Set<'_>, tables: &mut Tables) -> Result<()> {
        set.database.scan(&set.table("rocpd_info_thread"), &["id", "pid", "tid", "name"], |row| {
            let id = row.int(0).unwrap_or(row.id());
            let tid = row.int(2).unwrap_or(id);
            self.threads.insert(id, tid);
            if let Some(name) = row.text(3) {
                let process = self.process(&mut tables.problems, "rocpd_info_thread.pid", id, row.int(1));
                tables.threads.push(Thread { process, tid, name: Some(name.into_owned()) });
            }
        })
    }

    fn read_agents(&mut self, set: Set<'_>, devices: &mut Devices, tables: &mut Tables) -> Result<()> {
        let columns = [
            "id",
            "pid",
            "type",
            "absolute_index",
            "logical_index",
            "type_index",
            "name",
            "product_name",
            "extdata",
        ];
        set.database.scan(&set.table("rocpd_info_agent"), &columns, |row| {
            let id = row.int(0).unwrap_or(row.id());
            let kind = match row.text(2).as_deref() {
                Some("GPU") => AgentKind::Gpu,
                Some("CPU") => AgentKind::Cpu,
                Some(_) => AgentKind::Other,
                None => AgentKind::Unknown,
            };
            let details = row.text(8).map(|text| text.into_owned());
            let ext: ExtData =
                details.as_deref().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
            let process = self.process(&mut tables.problems, "rocpd_info_agent.pid", id, row.int(1));
            let text = |at| row.text(at).map(|text| text.into_owned()).filter(|text| !text.is_empty());
            let agent = Agent {
                kind,
                number: 0,
                node: tables.process(process).node,
                process: None,
                source_id: id,
                absolute_index: row.int(3),
                logical_index: row.int(4),
                type_index: row.int(5),
                target: if kind == AgentKind::Gpu { text(6) } else { None },
                product: text(7).or_else(|| text(6)),
                uuid: ext.uuid.and_then(|uuid| uuid.text()),
                details,
            };
            self.agents.insert(id, devices.listed(&mut tables.agents, agent));
        })
    }

    fn read_symbols(&mut self, set: Set<'_>, tables: &mut Tables) -> Result<()> {
        let columns = [
            "id",
            "pid",
            "code_object_id",
            "kernel_name",
            "display_name",
            "kernel_object",
            "kernarg_segment_size",
            "group_segment_size",
            "private_segment_size",
            "sgpr_count",
            "arch_vgpr_count",
            "accum_vgpr_count",
            "extdata",
        ];
        set.database.scan(&set.table("rocpd_info_kernel_symbol"), &columns, |row| {
            let id = row.int(0).unwrap_or(row.id());
            let small = |at| row.int(at).and_then(|value| u32::try_from(value).ok());
            let formatted = || {
                let ext: ExtData = serde_json::from_str(&row.text(12)?).ok()?;
                ext.formatted_kernel_name.map(std::borrow::Cow::Owned)
            };
            let shown = row.text(4).or_else(formatted).or_else(|| row.text(3));
            let name = shown.map_or(NameId::NONE, |name| tables.strings.intern(&name));
            let place = "rocpd_info_kernel_symbol.pid";
            let process = self.process(&mut tables.problems, place, id, row.int(1));
            self.symbols.set(id, SymbolId(tables.symbols.len() as u32));
            tables.symbols.push(Symbol {
                process,
                id,
                name,
                mangled: row.text(3).map_or(NameId::NONE, |name| tables.strings.intern(&name)),
                code_object: row.int(2).unwrap_or(0),
                kernel_object: row.int(5).unwrap_or(0) as u64,
                kernarg: small(6),
                lds: small(7),
                scratch: small(8),
                sgprs: small(9),
                vgprs: small(10),
                agprs: small(11),
            });
        })
    }
}

impl Uuid {
    fn text(&self) -> Option<String> {
        uuid(std::array::from_fn(|at| self.bytes.get(&format!("value{at}")).copied().unwrap_or(0)))
    }
}
