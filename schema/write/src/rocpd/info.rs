//! What records refer to. These tables are small, so SQLite writes them.

use rusqlite::{Connection, Result, params};

use super::{INFO, Set, VIEWS, filled};
use crate::native::opaque_tables::open;
use crate::output::OutputFile;
use crate::script::{tables_of, views_of};
use rtl_schema::table::Process;

/// What is known of a process beside its records.
#[derive(Debug)]
pub struct ProcessInfo<'a> {
    /// As the source has it.
    pub process: &'a Process,
    /// First start and last end in ns, where the process has none.
    pub span: (i64, i64),
    /// Its environment, or part of it, as JSON.
    pub environment: Option<String>,
    /// Names of threads by their ids.
    pub threads: Vec<(i64, &'a str)>,
    /// The agents that records name.
    pub agents: Vec<AgentInfo>,
    /// The kernels that records name.
    pub kernels: Vec<KernelInfo<'a>>,
    /// The counters that records name.
    pub counters: Vec<CounterInfo<'a>>,
}

/// An agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentInfo {
    /// What records call it: its number on the machine.
    pub id: i64,
    /// `CPU`, `GPU`, or unknown.
    pub kind: Option<&'static str>,
    /// Its number among the visible ones.
    pub logical: i64,
    /// Its number among those of its kind.
    pub of_kind: i64,
    /// `gfx942`, or the name of a CPU.
    pub name: String,
    /// `AMD Instinct MI300X`.
    pub product: String,
    /// Everything as JSON, by the names of rocprofv3's own.
    pub details: String,
}

/// A kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelInfo<'a> {
    /// What records call it.
    pub id: i64,
    /// As it was loaded; what is unknown stays so.
    pub symbol: rtl_schema::table::Symbol,
    /// The mangled name, with the `.kd` of its descriptor.
    pub mangled: String,
    /// The name to show.
    pub shown: std::borrow::Cow<'a, str>,
    /// The same without types and arguments.
    pub short: String,
}

/// A hardware counter on one agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CounterInfo<'a> {
    /// What records call it.
    pub id: i64,
    /// Its agent, if known.
    pub agent: Option<i64>,
    /// Its name.
    pub name: &'a str,
}

/// The views of a file: for each table all sets together, and on those what rocprofv3 ships.
pub(super) fn views(sets: &[Set]) -> Vec<(String, String)> {
    let tables = tables_of(INFO).chain(tables_of(super::RECORDS)).map(|(name, _)| {
        let all: Vec<String> = sets.iter().map(|set| format!("SELECT * FROM {name}{}", set.uuid)).collect();
        (name.to_owned(), format!("CREATE VIEW {name} AS {}", all.join(" UNION ALL ")))
    });
    let shipped = views_of(VIEWS).map(|(name, sql)| (name.to_owned(), sql.to_owned()));
    tables.chain(shipped).collect()
}

/// Adds the rows of all sets to a finished file.
pub(super) fn write(output: &OutputFile, sets: &[Set], infos: &[ProcessInfo<'_>]) -> Result<()> {
    let connection = open(output)?;
    for (set, info) in sets.iter().zip(infos) {
        for (_, sql) in tables_of(INFO) {
            connection.execute_batch(&filled(sql, &set.uuid, &set.origin.guid))?;
        }
        Rows { connection: &connection, set, info }.write()?;
    }
    connection.execute_batch("COMMIT")?;
    connection.close().map_err(|(_, source)| source)
}

struct Rows<'a> {
    connection: &'a Connection,
    set: &'a Set,
    info: &'a ProcessInfo<'a>,
}

impl Rows<'_> {
    fn write(&self) -> Result<()> {
        self.metadata()?;
        self.texts()?;
        self.process()?;
        self.places()?;
        self.agents()?;
        self.kernels()?;
        self.counters()
    }

    fn prepare(&self, sql: &str) -> Result<rusqlite::Statement<'_>> {
        self.connection.prepare(&filled(sql, &self.set.uuid, &self.set.origin.guid))
    }

    fn metadata(&self) -> Result<()> {
        let mut insert = self.prepare("INSERT INTO rocpd_metadata{uuid}(tag, value) VALUES (?1, ?2)")?;
        for (tag, value) in
            [("schema_version", "3"), ("uuid", self.set.uuid.as_str()), ("guid", &self.set.origin.guid)]
        {
            insert.execute((tag, value))?;
        }
        Ok(())
    }

    fn texts(&self) -> Result<()> {
        let mut texts: Vec<(i64, &str)> = self.set.texts.iter().map(|(text, &id)| (id, &**text)).collect();
        texts.sort_unstable();
        let mut insert = self.prepare("INSERT INTO rocpd_string{uuid}(id, string) VALUES (?1, ?2)")?;
        texts.into_iter().try_for_each(|row| insert.execute(row).map(drop))
    }

    fn process(&self) -> Result<()> {
        let (origin, process) = (&self.set.origin, self.info.process);
        let machine = process.machine_id.as_deref().or(process.host.as_deref()).unwrap_or_default();
        self.prepare(
            "INSERT INTO rocpd_info_node{uuid}(id, hash, machine_id, system_name, hostname) VALUES (?1, ?1, ?2, 'Linux', ?3)",
        )?
        .execute((origin.node, machine, &process.host))?;
        let (first, last) = self.info.span;
        self.prepare(
            "INSERT INTO rocpd_info_process{uuid}(id, nid, ppid, pid, init, fini, start, end, command, environment)
             VALUES (?1, ?2, ?3, ?1, ?4, ?5, ?4, ?5, ?6, ?7)",
        )?
        .execute((
            origin.pid,
            origin.node,
            origin.parent,
            process.start.unwrap_or(first),
            process.end.unwrap_or(last),
            &process.command,
            self.info.environment.as_deref().unwrap_or("{}"),
        ))?;
        Ok(())
    }

    fn places(&self) -> Result<()> {
        let (set, origin) = (self.set, &self.set.origin);
        let mut threads: Vec<i64> = set.threads.iter().copied().collect();
        threads.extend(self.info.threads.iter().map(|(tid, _)| *tid));
        threads.sort_unstable();
        threads.dedup();
        let mut insert = self.prepare(
            "INSERT INTO rocpd_info_thread{uuid}(id, nid, ppid, pid, tid, name) VALUES (?1, ?2, ?3, ?4, ?1, ?5)",
        )?;
        for tid in threads {
            let name = self.info.threads.iter().find(|(of, _)| *of == tid).map(|(_, name)| *name);
            insert.execute((tid, origin.node, origin.parent, origin.pid, name))?;
        }
        for (table, word, ids) in [("queue", "Queue", &set.queues), ("stream", "Stream", &set.streams)] {
            let mut insert = self.prepare(&format!(
                "INSERT INTO rocpd_info_{table}{{uuid}}(id, nid, pid, name) VALUES (?1, ?2, ?3, ?4)"
            ))?;
            // Handles are not numbers that anybody knows, so they are counted through, behind the default one.
            let mut number = 0;
            for &id in ids {
                let name = match id {
                    0 => format!("Default {word}"),
                    _ => {
                        number += 1;
                        format!("{word} {}", number - 1)
                    }
                };
                insert.execute((id, origin.node, origin.pid, name))?;
            }
        }
        Ok(())
    }

    fn agents(&self) -> Result<()> {
        let origin = &self.set.origin;
        let mut insert = self.prepare(
            "INSERT INTO rocpd_info_agent{uuid}(id, nid, pid, type, absolute_index, logical_index, type_index, name,
                product_name, user_name, extdata)
             VALUES (?1, ?2, ?3, ?4, ?1, ?5, ?6, ?7, ?8, ?8, ?9)",
        )?;
        for agent in &self.info.agents {
            insert.execute(params![
                agent.id,
                origin.node,
                origin.pid,
                agent.kind,
                agent.logical,
                agent.of_kind,
                agent.name,
                agent.product,
                agent.details,
            ])?;
        }
        Ok(())
    }

    fn kernels(&self) -> Result<()> {
        let origin = &self.set.origin;
        let mut objects: Vec<i64> =
            self.info.kernels.iter().map(|kernel| kernel.symbol.code_object).collect();
        objects.sort_unstable();
        objects.dedup();
        // Which agent a code object was loaded for is unknown; the view of code objects wants one.
        let gpu = self.info.agents.iter().find(|agent| agent.kind == Some("GPU")).map(|agent| agent.id);
        let mut insert = self.prepare(
            "INSERT INTO rocpd_info_code_object{uuid}(id, nid, pid, agent_id) VALUES (?1, ?2, ?3, ?4)",
        )?;
        for object in objects {
            insert.execute((object, origin.node, origin.pid, gpu))?;
        }
        let mut insert = self.prepare(
            "INSERT INTO rocpd_info_kernel_symbol{uuid}(id, nid, pid, code_object_id, kernel_name, display_name,
                kernel_object, kernarg_segment_size, group_segment_size, private_segment_size, sgpr_count,
                arch_vgpr_count, accum_vgpr_count, extdata)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
        )?;
        for kernel in &self.info.kernels {
            let symbol = &kernel.symbol;
            let names = serde_json::json!({
                "kernel_id": kernel.id,
                "formatted_kernel_name": kernel.shown,
                "demangled_kernel_name": kernel.shown,
                "truncated_kernel_name": kernel.short,
            });
            insert.execute(params![
                kernel.id,
                origin.node,
                origin.pid,
                symbol.code_object,
                kernel.mangled,
                kernel.shown,
                Some(symbol.kernel_object as i64).filter(|&object| object != 0),
                symbol.kernarg,
                symbol.lds,
                symbol.scratch,
                symbol.sgprs,
                symbol.vgprs,
                symbol.agprs,
                names.to_string(),
            ])?;
        }
        Ok(())
    }

    fn counters(&self) -> Result<()> {
        let origin = &self.set.origin;
        let mut insert = self.prepare(
            "INSERT INTO rocpd_info_pmc{uuid}(id, nid, pid, agent_id, target_arch, name, symbol, component, value_type)
             VALUES (?1, ?2, ?3, ?4, 'GPU', ?5, ?5, 'rocm', 'ABS')",
        )?;
        for counter in &self.info.counters {
            insert.execute((counter.id, origin.node, origin.pid, counter.agent, counter.name))?;
        }
        Ok(())
    }
}
