//! GPUs, ranks and processes as Kineto's files state them beside their events.

use rtl_schema::Tables;
use rtl_schema::table::{Agent, AgentKind, Process};
use serde_json::json;

use crate::layout::TimelineLayout;
use crate::tracks::{self, TrackGroup};

/// The text before the events: Kineto's fields, of which HTA reads the rank by a pattern with a space.
pub fn header(tables: &Tables, base: i64) -> String {
    let gpus = tables.agents.iter().filter(|agent| agent.kind == AgentKind::Gpu);
    let device = |agent: &Agent| {
        let name = agent.product.as_deref().or(agent.target.as_deref()).unwrap_or_default();
        json!({ "id": agent.number, "name": name }).to_string()
    };
    let devices: Vec<String> = gpus.map(device).collect();
    let rank = match tables.processes.as_slice() {
        [Process { rank: Some(rank), world, .. }] => {
            let world = world.map_or(String::new(), |world| format!(", \"world_size\": {world}"));
            format!("\"distributedInfo\":{{\"rank\": {rank}{world}}},")
        }
        _ => String::new(),
    };
    format!(
        "{{\"displayTimeUnit\":\"ns\",\"schemaVersion\":1,\"baseTimeNanoseconds\":{base},\"deviceProperties\":[{}],{rank}\"traceEvents\":[",
        devices.join(",")
    )
}

/// The name of a group. Of the only process of a framework the header states the rank.
pub fn group_name(layout: &TimelineLayout<'_>, group: TrackGroup) -> String {
    match (group, layout.tables.processes.as_slice()) {
        (TrackGroup::Process(_), [Process { command: Some(command), .. }])
            if layout.of_framework && !command.is_empty() =>
        {
            command.clone()
        }
        _ => tracks::group_name(group, layout.tables),
    }
}

/// Kineto's label of a group, in traces of a framework.
pub fn label(layout: &TimelineLayout<'_>, group: TrackGroup) -> Option<String> {
    match group {
        _ if !layout.of_framework => None,
        TrackGroup::Process(_) => Some("CPU".to_owned()),
        TrackGroup::Agent(agent) => {
            let gpu = Some(layout.tables.agent(agent)).filter(|agent| agent.kind == AgentKind::Gpu);
            gpu.map(|gpu| format!("GPU {}", gpu.number))
        }
    }
}
