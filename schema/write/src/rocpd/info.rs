//! The objects to which records refer. These tables are small, so SQLite writes them.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::{Connection, Result, ToSql};

use super::set::{INFO, RECORDS, Set, VIEWS, filled};
use crate::native::opaque_tables::open;
use crate::output::OutputFile;
use crate::script::{tables_of, views_of};
use rtl_schema::table::Process;

/// A process, beside its records.
#[derive(Debug)]
pub struct ProcessInfo<'a> {
    /// The process as the source has it.
    pub process: &'a Process,
    /// First start and last end in ns, where the process has none.
    pub span: (i64, i64),
    /// The environment, or part of it, as JSON.
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

/// An agent, a row of `rocpd_info_agent`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentInfo {
    /// The id in records, which is the number on the machine.
    pub id: i64,
    /// `CPU`, `GPU`, or unknown.
    pub kind: Option<&'static str>,
    /// The number among the visible agents.
    pub logical: i64,
    /// The number among agents of the same kind.
    pub of_kind: i64,
    /// The architecture, as `gfx942`, or the name of a CPU.
    pub name: String,
    /// The model, if known.
    pub model: String,
    /// The vendor, as `AMD`.
    pub vendor: String,
    /// The name of the product, as `AMD Instinct MI300X`.
    pub product: String,
    /// Everything as JSON, by the names of rocprofv3's own.
    pub details: String,
}

/// A kernel, a row of `rocpd_info_kernel_symbol`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelInfo<'a> {
    /// The id in records.
    pub id: i64,
    /// The kernel as it was loaded, as far as that is known.
    pub symbol: rtl_schema::table::Symbol,
    /// The mangled name, with the `.kd` of its descriptor.
    pub mangled: String,
    /// The name to show.
    pub shown: std::borrow::Cow<'a, str>,
    /// The name to show without types and arguments.
    pub short: String,
}

/// A hardware counter on one agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CounterInfo<'a> {
    /// The id in records.
    pub id: i64,
    /// The id of the agent, if known.
    pub agent: Option<i64>,
    /// The name by which rocprofv3 collects it.
    pub name: &'a str,
}

/// The views of a file: for each table all sets together, and on those what rocprofv3 ships.
pub(super) fn views(sets: &[Set]) -> Vec<(String, String)> {
    let tables = tables_of(INFO).chain(tables_of(RECORDS)).map(|(name, _)| {
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

type Column<'a> = (&'a str, &'a dyn ToSql);

impl Rows<'_> {
    fn write(&self) -> Result<()> {
        let origin = &self.set.origin;
        for (tag, value) in [("schema_version", "3"), ("uuid", &self.set.uuid), ("guid", &origin.guid)] {
            self.insert("metadata", &[("tag", &tag), ("value", &value)])?;
        }
        let mut texts: Vec<(i64, &str)> = self.set.texts.iter().map(|(text, &id)| (id, &**text)).collect();
        texts.sort_unstable();
        for (id, text) in texts {
            self.insert("string", &[("id", &id), ("string", &text)])?;
        }
        self.process()?;
        self.threads()?;
        self.numbered("queue", "Queue", &self.set.queues)?;
        self.numbered("stream", "Stream", &self.set.streams)?;
        self.info.agents.iter().try_for_each(|agent| self.agent(agent))?;
        self.code_objects()?;
        self.info.kernels.iter().try_for_each(|kernel| self.kernel(kernel))?;
        self.info.counters.iter().try_for_each(|counter| self.counter(counter))
    }

    fn insert(&self, table: &str, row: &[Column<'_>]) -> Result<()> {
        let (columns, values): (Vec<&str>, Vec<&dyn ToSql>) = row.iter().copied().unzip();
        let marks = vec!["?"; columns.len()].join(", ");
        let (uuid, columns) = (&self.set.uuid, columns.join(", "));
        let sql = format!("INSERT INTO rocpd_{table}{uuid}({columns}) VALUES ({marks})");
        self.connection.prepare_cached(&sql)?.execute(values.as_slice()).map(drop)
    }

    /// Adds a row of the process.
    fn info(&self, table: &str, id: i64, row: &[Column<'_>]) -> Result<()> {
        let head: [Column<'_>; 3] =
            [("id", &id), ("nid", &self.set.origin.node), ("pid", &self.set.origin.pid)];
        self.insert(&format!("info_{table}"), &[&head, row].concat())
    }

    fn process(&self) -> Result<()> {
        let (origin, process) = (&self.set.origin, self.info.process);
        let node: [Column<'_>; 5] = [
            ("id", &origin.node),
            ("hash", &origin.node),
            ("machine_id", &process.machine_id.as_deref().or(process.host.as_deref()).unwrap_or_default()),
            ("system_name", &"Linux"),
            ("hostname", &process.host),
        ];
        self.insert("info_node", &node)?;
        let (first, last) = self.info.span;
        let [start, end] = [process.start.unwrap_or(first), process.end.unwrap_or(last)];
        let row: [Column<'_>; 7] = [
            ("ppid", &origin.parent),
            ("init", &start),
            ("fini", &end),
            ("start", &start),
            ("end", &end),
            ("command", &process.command),
            ("environment", &self.info.environment.as_deref().unwrap_or("{}")),
        ];
        self.info("process", origin.pid, &row)
    }

    fn threads(&self) -> Result<()> {
        let named: BTreeMap<i64, &str> = self.info.threads.iter().rev().copied().collect();
        let threads: BTreeSet<i64> = self.set.threads.iter().chain(named.keys()).copied().collect();
        for tid in threads {
            let row: [Column<'_>; 3] =
                [("ppid", &self.set.origin.parent), ("tid", &tid), ("name", &named.get(&tid))];
            self.info("thread", tid, &row)?;
        }
        Ok(())
    }

    /// Adds queues or streams. Handles are not numbers that anybody knows, so they are counted through, behind the default
    /// one.
    fn numbered(&self, table: &str, word: &str, ids: &BTreeSet<i64>) -> Result<()> {
        let mut numbers = 0..;
        for &id in ids {
            let number = if id == 0 { None } else { numbers.next() };
            let name = number.map_or(format!("Default {word}"), |number: i64| format!("{word} {number}"));
            self.info(table, id, &[("name", &name)])?;
        }
        Ok(())
    }

    fn agent(&self, agent: &AgentInfo) -> Result<()> {
        let AgentInfo { id, kind, logical, of_kind, name, model, vendor, product, details } = agent;
        let row: [Column<'_>; 10] = [
            ("type", kind),
            ("absolute_index", id),
            ("logical_index", logical),
            ("type_index", of_kind),
            ("name", name),
            ("model_name", model),
            ("vendor_name", vendor),
            ("product_name", product),
            ("user_name", product),
            ("extdata", details),
        ];
        self.info("agent", *id, &row)
    }

    fn code_objects(&self) -> Result<()> {
        let objects: BTreeSet<i64> =
            self.info.kernels.iter().map(|kernel| kernel.symbol.code_object).collect();
        // Which agent a code object was loaded for is unknown; the view of code objects wants one.
        let gpu = self.info.agents.iter().find(|agent| agent.kind == Some("GPU")).map(|agent| agent.id);
        objects.into_iter().try_for_each(|object| self.info("code_object", object, &[("agent_id", &gpu)]))
    }

    fn kernel(&self, kernel: &KernelInfo<'_>) -> Result<()> {
        let KernelInfo { id, symbol, mangled, shown, short } = kernel;
        let names = serde_json::json!({
            "kernel_id": id,
            "formatted_kernel_name": shown,
            "demangled_kernel_name": shown,
            "truncated_kernel_name": short,
        });
        let row: [Column<'_>; 12] = [
            ("code_object_id", &symbol.code_object),
            ("kernel_name", mangled),
            ("display_name", shown),
            ("kernel_object", &Some(symbol.kernel_object as i64).filter(|&object| object != 0)),
            ("kernarg_segment_size", &symbol.kernarg),
            ("kernarg_segment_alignment", &symbol.kernarg_alignment),
            ("group_segment_size", &symbol.lds),
            ("private_segment_size", &symbol.scratch),
            ("sgpr_count", &symbol.sgprs),
            ("arch_vgpr_count", &symbol.vgprs),
            ("accum_vgpr_count", &symbol.agprs),
            ("extdata", &names.to_string()),
        ];
        self.info("kernel_symbol", *id, &row)
    }

    fn counter(&self, counter: &CounterInfo<'_>) -> Result<()> {
        let CounterInfo { id, agent, name } = counter;
        let row: [Column<'_>; 6] = [
            ("agent_id", agent),
            ("target_arch", &"GPU"),
            ("name", name),
            ("symbol", name),
            ("component", &"rocm"),
            ("value_type", &"ABS"),
        ];
        self.info("pmc", *id, &row)
    }
}
