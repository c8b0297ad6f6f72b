//! The hardware, versions and settings of a run that must be equal for two runs to be comparable.

use rtl_schema::Tables;
use rtl_schema::table::AgentKind;
use serde::{Deserialize, Serialize};

/// One property of a run and its value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
pub struct Fact {
    /// The fact: `GPUs`, `mode`, ...
    pub what: String,
    /// `8 x AMD Instinct MI300X (gfx942)`, `standard`, ...
    pub value: String,
}

/// [`Fact::what`] of the GPUs that ran something: `8 x AMD Instinct MI300X (gfx942), 1 x ...`.
pub const GPUS: &str = "GPUs";

/// In place of the model of a GPU that the trace does not state.
pub const UNKNOWN_GPU: &str = "GPU of unknown model";

/// [`Fact::what`] of the mode of recording.
pub const MODE: &str = "mode";

/// [`Fact::what`] of a run whose end may be missing.
pub const CUT_OFF: &str = "cut off before its end";

/// Metadata tags of versions and settings of the machine, and their names in reports.
const TAGS: [(&str, &str); 9] = [
    ("rocm_version", "ROCm version"),
    ("rocr_version", "ROCr version"),
    ("driver_version", "driver version"),
    ("kernel_version", "kernel version"),
    ("partition_mode", "partition mode"),
    ("compute_partition", "partition mode"),
    ("memory_partition", "memory partition mode"),
    ("visible_devices", "visible devices"),
    ("graph_mode", "graph mode"),
];

/// Environment variables that choose devices.
pub const DEVICES: [&str; 4] =
    ["ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL"];

/// All facts of the trace in a fixed order, without unknown ones.
pub fn facts(tables: &Tables) -> Vec<Fact> {
    let dispatches = &tables.dispatches;
    let graph = dispatches.graph.uniform() != Some(false)
        && (0..dispatches.len()).any(|row| dispatches.graph.get(row));
    facts_without_rows(tables, graph, dispatches.duration.missing().count() as u64)
}

/// [`facts()`] where the rows are gone: whether any dispatch came out of a `graph` launch, and how many are `unfinished`.
pub fn facts_without_rows(tables: &Tables, graph: bool, unfinished: u64) -> Vec<Fact> {
    let mut facts = Vec::new();
    let mut add = |what: &str, value: String| {
        if !value.is_empty() {
            facts.push(Fact { what: what.to_owned(), value });
        }
    };
    add(GPUS, gpus(tables));
    for (tag, what) in TAGS {
        let values =
            tables.info.metadata.iter().filter(|(name, _)| name == tag).map(|(_, value)| value.clone());
        add(what, distinct(values));
    }
    let details = |key: &str| {
        let texts = tables.agents.iter().filter(|agent| agent.kind == AgentKind::Gpu);
        distinct(texts.filter_map(|agent| field(agent.details.as_deref()?, key)))
    };
    add("partition mode of the GPUs", details("partition"));
    for variable in DEVICES {
        let values =
            tables.processes.iter().filter_map(|process| field(process.environment.as_deref()?, variable));
        add(variable, distinct(values));
    }
    let worlds = tables.processes.iter().filter_map(|process| process.world).map(|world| world.to_string());
    add("world size", distinct(worlds));
    add(MODE, tables.info.mode.clone().unwrap_or_default());
    if graph {
        add("graph launches", "yes".to_owned());
    }
    if tables.info.cut_off().is_some() {
        add(CUT_OFF, "yes".to_owned());
    }
    let lost: u64 = tables.info.losses.iter().map(|(_, count)| count).sum();
    if lost > 0 {
        add("lost or skipped records", lost.to_string());
    }
    if unfinished > 0 {
        add("kernels without an end", unfinished.to_string());
    }
    facts
}

/// `8 x AMD Instinct MI300X (gfx942)`: those that ran something.
fn gpus(tables: &Tables) -> String {
    let mut used: Vec<u32> = tables.tracks.rows().iter().map(|track| track.agent.0).collect();
    used.sort_unstable();
    used.dedup();
    let gpus = used.iter().filter_map(|&agent| tables.agents.get(agent as usize));
    let mut models: Vec<String> = gpus
        .filter(|agent| agent.kind == AgentKind::Gpu)
        .map(|agent| match (&agent.product, &agent.target) {
            (Some(product), Some(target)) => format!("{product} ({target})"),
            (Some(one), None) | (None, Some(one)) => one.clone(),
            (None, None) => UNKNOWN_GPU.to_owned(),
        })
        .collect();
    models.sort_unstable();
    let words = models.chunk_by(|one, other| one == other);
    words.map(|same| format!("{} x {}", same.len(), same[0])).collect::<Vec<_>>().join(", ")
}

fn distinct(values: impl Iterator<Item = String>) -> String {
    let mut values: Vec<String> = values.collect();
    values.sort_unstable();
    values.dedup();
    values.join(", ")
}

/// The value of a key of a flat JSON object whose values are texts or numbers. The whole of JSON is not needed to
/// compare two texts.
fn field(object: &str, key: &str) -> Option<String> {
    let (_, rest) = object.split_once(&format!("\"{key}\""))?;
    let rest = rest.trim_start().strip_prefix(':')?.trim_start();
    match rest.strip_prefix('"') {
        Some(text) => text.split('"').next().map(str::to_owned),
        None => rest.split([',', '}']).next().map(|value| value.trim().to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use rtl_schema::table::{Agent, Process, Track};
    use rtl_schema::{AgentId, Tables};

    use super::*;

    fn words(tables: &Tables) -> Vec<String> {
        facts(tables).into_iter().map(|fact| format!("{}: {}", fact.what, fact.value)).collect()
    }

    #[test]
    fn gpus_that_ran_something_versions_and_devices_are_facts() {
        let mut tables = Tables::default();
        for number in 0..3 {
            tables.agents.push(Agent {
                number,
                product: Some("AMD Instinct MI300X".to_owned()),
                target: Some("gfx942".to_owned()),
                ..Agent::default()
            });
        }
        for agent in 0..2 {
            tables.tracks.intern(Track { agent: AgentId(agent), ..Track::default() });
        }
        tables.info.metadata.push(("rocm_version".to_owned(), "6.4.1".to_owned()));
        tables.info.losses.push(("full".to_owned(), 7));
        let environment = Some(r#"{"PATH": "/bin", "HIP_VISIBLE_DEVICES": "0,1"}"#.to_owned());
        tables.processes.push(Process { environment, world: Some(2), ..Process::default() });
        assert_eq!(
            words(&tables),
            [
                "GPUs: 2 x AMD Instinct MI300X (gfx942)",
                "ROCm version: 6.4.1",
                "HIP_VISIBLE_DEVICES: 0,1",
                "world size: 2",
                "lost or skipped records: 7",
            ]
        );
    }

    #[test]
    fn what_a_trace_does_not_know_is_no_fact() {
        assert!(facts(&Tables::default()).is_empty());
    }
}
