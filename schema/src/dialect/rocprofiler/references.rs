use std::borrow::Cow;

use rustc_hash::FxHashMap;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::devices::{Devices, Uuid};
use super::{Set, environment};
use crate::dialect::rocpd::{IdMap, Names};
use crate::sqlite::scanned;
use crate::table::{Agent, AgentKind, Process, Symbol, Thread};
use crate::{AgentId, Id, NameId, ProblemKind, Problems, ProcessId, Result, SymbolId, Tables};

/// The rows of one set that others refer to by id.
#[derive(Debug, Default)]
pub(super) struct References {
    pub(super) names: Names,
    processes: FxHashMap<Id, ProcessId>,
    first: ProcessId,
    node: u32,
    threads: FxHashMap<Id, i64>,
    pub(super) agents: FxHashMap<Id, AgentId>,
    pub(super) symbols: IdMap<SymbolId>,
}

/// The fields in the extdata of agents and kernel symbols that have no column.
#[derive(Default, Deserialize)]
#[serde(default)]
struct ExtData {
    formatted_kernel_name: Option<String>,
    uuid: Uuid,
}

impl References {
    /// Reads everything that rows refer to; processes, agents and symbols go into `tables`.
    pub(super) fn read(set: Set<'_>, devices: &mut Devices, tables: &mut Tables) -> Result<Self> {
        let mut references = Self {
            names: Names::read(set.database, &set.table("rocpd_string"), &mut tables.strings)?,
            first: ProcessId(tables.processes.len() as u32),
            ..Self::default()
        };
        references.read_processes(set, devices, tables)?;
        references.read_threads(set, tables)?;
        references.read_agents(set, devices, tables)?;
        references.read_symbols(set, tables)?;
        Ok(references)
    }

    /// The process behind `id`: the set's first one for NULL, and (counted) where it is missing.
    pub(super) fn process(&self, problems: &mut Problems, table: &str, row: Id, id: Option<Id>) -> ProcessId {
        let Some(id) = id else { return self.first };
        self.processes.get(&id).copied().unwrap_or_else(|| {
            problems.add_in(ProblemKind::DanglingReference, table, "pid", row);
            self.first
        })
    }

    /// The thread behind `id`: where it is missing (counted) the id itself, as the writer numbers threads
    /// by their tid. Thread 0 is none: files write it where their views need a thread and none is known.
    pub(super) fn tid(&self, problems: &mut Problems, table: &str, row: Id, id: Option<Id>) -> Option<i64> {
        let id = id.filter(|&id| id != 0)?;
        Some(self.threads.get(&id).copied().unwrap_or_else(|| {
            problems.add_in(ProblemKind::DanglingReference, table, "tid", row);
            id
        }))
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
        // The fields that the processes of a machine share.
        let mut nodes: FxHashMap<Id, Process> = FxHashMap::default();
        let on = |node| {
            let guid = Some(set.guid());
            Process { guid, space: set.space, node: Some(node), ..Process::default() }
        };
        scanned!(columns: id, machine_id, hostname);
        set.database.scan(&set.table("rocpd_info_node"), &columns, |row| {
            let id = row.int(id).unwrap_or(row.id());
            let machine_id = row.text(machine_id).map(Cow::into_owned).filter(|text| !text.is_empty());
            let host = row.text(hostname).map(Cow::into_owned);
            let identity = machine_id.clone().or_else(|| host.clone()).unwrap_or_else(|| id.to_string());
            nodes.insert(id, Process { host, machine_id, ..on(devices.machine(&identity)) });
        })?;
        scanned!(columns: id, nid, pid, ppid, start, end, command, environment);
        set.database.scan(&set.table("rocpd_info_process"), &columns, |row| {
            let id = row.int(id).unwrap_or(row.id());
            let node = row.int(nid).and_then(|nid| nodes.get(&nid).cloned()).unwrap_or_else(|| {
                tables.problems.add(ProblemKind::DanglingReference, "rocpd_info_process.nid", id);
                on(devices.machine(""))
            });
            let environment = row.text(environment).map(Cow::into_owned);
            let (rank, world) = environment.as_deref().map_or((None, None), environment::rank);
            self.processes.insert(id, ProcessId(tables.processes.len() as u32));
            tables.processes.push(Process {
                pid: row.int(pid).or(Some(id)),
                ppid: row.int(ppid),
                rank,
                world,
                command: row.text(command).map(Cow::into_owned).filter(|text| !text.is_empty()),
                environment,
                start: row.int(start),
                end: row.int(end),
                ..node
            });
        })?;
        if self.processes.is_empty() {
            let known = nodes.into_values().next();
            tables.processes.push(known.unwrap_or_else(|| on(devices.machine(""))));
        }
        self.node = tables.process(self.first).node.unwrap_or(0);
        Ok(())
    }

    fn read_threads(&mut self, set: Set<'_>, tables: &mut Tables) -> Result<()> {
        const TABLE: &str = "rocpd_info_thread";
        scanned!(columns: id, pid, tid, name);
        set.database.scan(&set.table(TABLE), &columns, |row| {
            let id = row.int(id).unwrap_or(row.id());
            let tid = row.int(tid).unwrap_or(id);
            self.threads.insert(id, tid);
            if let Some(name) = row.text(name) {
                let process = self.process(&mut tables.problems, TABLE, id, row.int(pid));
                tables.threads.push(Thread { process, tid, name: Some(name.into_owned()) });
            }
        })
    }

    fn read_agents(&mut self, set: Set<'_>, devices: &mut Devices, tables: &mut Tables) -> Result<()> {
        const TABLE: &str = "rocpd_info_agent";
        scanned!(columns: id, pid, kind = "type", absolute_index, logical_index, type_index, name, model_name, vendor_name,
            product_name, extdata);
        set.database.scan(&set.table(TABLE), &columns, |row| {
            let id = row.int(id).unwrap_or(row.id());
            let kind = match row.text(kind).as_deref() {
                Some("GPU") => AgentKind::Gpu,
                Some("CPU") => AgentKind::Cpu,
                Some(_) => AgentKind::Other,
                None => AgentKind::Unknown,
            };
            let extdata = row.text(extdata).map(Cow::into_owned);
            let ext: ExtData =
                extdata.as_deref().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
            let columns =
                [("model_name", model_name), ("vendor_name", vendor_name), ("product_name", product_name)]
                    .map(|(field, at)| (field, row.text(at)));
            let details = extdata.map(|extdata| detailed(extdata, columns));
            let process = self.process(&mut tables.problems, TABLE, id, row.int(pid));
            let text = |at| row.text(at).map(Cow::into_owned).filter(|text| !text.is_empty());
            let agent = Agent {
                kind,
                node: tables.process(process).node,
                source_id: id,
                absolute_index: row.int(absolute_index),
                logical_index: row.int(logical_index),
                type_index: row.int(type_index),
                target: text(name).filter(|_| kind == AgentKind::Gpu),
                product: text(product_name).or_else(|| text(name)),
                uuid: ext.uuid.text(),
                details,
                ..Agent::default()
            };
            self.agents.insert(id, devices.listed(&mut tables.agents, agent));
        })
    }

    fn read_symbols(&mut self, set: Set<'_>, tables: &mut Tables) -> Result<()> {
        const TABLE: &str = "rocpd_info_kernel_symbol";
        scanned!(columns: id, pid, code_object_id, kernel_name, display_name, kernel_object, kernarg_segment_size,
            group_segment_size, private_segment_size, sgpr_count, arch_vgpr_count, accum_vgpr_count,
            kernarg_segment_alignment, extdata);
        set.database.scan(&set.table(TABLE), &columns, |row| {
            let id = row.int(id).unwrap_or(row.id());
            let formatted = || {
                let ext: ExtData = serde_json::from_str(&row.text(extdata)?).ok()?;
                ext.formatted_kernel_name.map(Cow::Owned)
            };
            let shown = row.text(display_name).or_else(formatted).or_else(|| row.text(kernel_name));
            let [name, mangled] = [shown, row.text(kernel_name)]
                .map(|name| name.map_or(NameId::NONE, |name| tables.strings.intern(&name)));
            self.symbols.push(id, SymbolId(tables.symbols.len() as u32));
            tables.symbols.push(Symbol {
                process: self.process(&mut tables.problems, TABLE, id, row.int(pid)),
                id,
                name,
                mangled,
                code_object: row.int(code_object_id).unwrap_or(0),
                kernel_object: row.int(kernel_object).unwrap_or(0) as u64,
                kernarg: row.unsigned(kernarg_segment_size),
                lds: row.unsigned(group_segment_size),
                scratch: row.unsigned(private_segment_size),
                sgprs: row.unsigned(sgpr_count),
                vgprs: row.unsigned(arch_vgpr_count),
                agprs: row.unsigned(accum_vgpr_count),
                kernarg_alignment: row.unsigned(kernarg_segment_alignment),
                ..Symbol::default()
            });
        })
    }
}

/// The details of an agent, with the columns that they lack.
fn detailed(extdata: String, columns: [(&str, Option<Cow<'_, str>>); 3]) -> String {
    let Ok(mut details) = serde_json::from_str::<Map<String, Value>>(&extdata) else { return extdata };
    let known =
        columns.into_iter().filter_map(|(field, text)| Some((field, text.filter(|text| !text.is_empty())?)));
    let lacking: Vec<_> = known.filter(|(field, _)| !details.contains_key(*field)).collect();
    if lacking.is_empty() {
        return extdata;
    }
    details.extend(lacking.into_iter().map(|(field, text)| (field.to_owned(), text.into_owned().into())));
    Value::Object(details).to_string()
}
