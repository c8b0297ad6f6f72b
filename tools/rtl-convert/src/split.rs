//! Which parts a trace has.

use cli::Failure;
use rtl_schema::table::AgentKind;
use rtl_schema::{AgentId, Select, Tables};

use crate::partition::{Partition, SplitBy};
use crate::source::Source;

/// The parts of a trace by ascending value; the one without a value comes last. Together they hold every op once. Reads the trace once.
pub fn partitions(source: &Source, by: SplitBy) -> Result<Vec<Partition>, Failure> {
    let select = Select { args: false, secondary: false, ..Select::everything() };
    let tables = source.stream(&select, |_| Ok(()))?;
    let values: Vec<Option<i64>> = match by {
        SplitBy::Gpu => gpus(&tables),
        SplitBy::Rank => tables.processes.iter().map(|process| process.rank.map(i64::from)).collect(),
        SplitBy::Process => tables.processes.iter().map(|process| process.pid).collect(),
    };
    if by == SplitBy::Rank && values.iter().all(Option::is_none) {
        return Err(Failure::usage("no process of the trace states its rank")
            .with_hint("--split process makes a part of each process"));
    }
    // Processes of one pid are several, those of one rank belong together.
    let mut parts: Vec<Partition> = Vec::new();
    for (at, &value) in values.iter().enumerate() {
        let is_used = by != SplitBy::Gpu || is_used(&tables, AgentId(at as u32));
        let known = parts.iter_mut().rev().find(|part| part.value == value);
        match (known, by) {
            _ if !is_used => {}
            (Some(part), SplitBy::Gpu | SplitBy::Rank) => part.members.push(at as u32),
            (known, _) => {
                let twin = known.map_or(1, |part| part.twin + 1);
                let mut part = Partition { value, twin, ..Partition::without(by) };
                part.members.push(at as u32);
                parts.push(part);
            }
        }
    }
    if parts.is_empty() {
        // Nothing ran on a GPU: what there is belongs to none.
        parts.push(Partition::without(by));
    }
    parts.sort_by_key(|part| (part.value.is_none(), part.value, part.twin));
    Ok(parts)
}

fn gpus(tables: &Tables) -> Vec<Option<i64>> {
    let number =
        |agent: &rtl_schema::table::Agent| Some(agent.number).filter(|_| agent.kind == AgentKind::Gpu);
    tables.agents.iter().map(number).collect()
}

fn is_used(tables: &Tables, agent: AgentId) -> bool {
    tables.tracks.rows().iter().any(|track| track.agent == agent)
}
