use rustc_hash::FxHashMap;

use super::references::References;
use super::set::Set;
use crate::table::Counter;
use crate::{AgentId, Id, NameId, ProblemKind, ProcessId, Result, Tables};

/// The dispatch that an event belongs to.
#[derive(Clone, Copy, Default)]
struct Owner {
    dispatch: Id,
    process: ProcessId,
    agent: Option<AgentId>,
}

/// Reads the counter values of one set, one row for each instance of a counter. Rows of a sampling over
/// time (`sample_id`, from 3.0.3) are no values of a dispatch and stay out, as in rocprofv3's own views.
pub(super) fn read(set: Set<'_>, references: &References, tables: &mut Tables) -> Result<()> {
    let mut names = FxHashMap::default();
    set.database.scan(&set.table("rocpd_info_pmc"), &["id", "name", "symbol"], |row| {
        let name = row.text(1).or_else(|| row.text(2));
        let name = name.map_or(NameId::NONE, |name| tables.strings.intern(&name));
        names.insert(row.int(0).unwrap_or(row.id()), name);
    })?;
    let mut owners: FxHashMap<Id, Owner> = FxHashMap::default();
    set.database.scan(&set.table("rocpd_pmc_event"), &["event_id"], |row| {
        owners.extend(row.int(0).map(|event| (event, Owner::default())));
    })?;
    if owners.is_empty() {
        return Ok(());
    }
    let columns = ["id", "pid", "agent_id", "event_id"];
    set.database.scan(&set.table("rocpd_kernel_dispatch"), &columns, |row| {
        if let Some(owner) = row.int(3).and_then(|event| owners.get_mut(&event)) {
            let dispatch = row.int(0).unwrap_or(row.id());
            let place = "rocpd_kernel_dispatch.pid";
            let process = references.process(&mut crate::Problems::default(), place, dispatch, row.int(1));
            let agent = row.int(2).and_then(|agent| references.agent(agent));
            *owner = Owner { dispatch, process, agent };
        }
    })?;
    let columns = ["id", "event_id", "pmc_id", "value", "sample_id"];
    set.database.scan(&set.table("rocpd_pmc_event"), &columns, |row| {
        if !row.is_null(4) {
            return;
        }
        let id = row.int(0).unwrap_or(row.id());
        let owner = row.int(1).and_then(|event| owners.get(&event)).copied().unwrap_or_default();
        if owner.dispatch == 0 {
            tables.problems.add(ProblemKind::DanglingReference, "rocpd_pmc_event.event_id", id);
        }
        let name = row.int(2).and_then(|pmc| names.get(&pmc)).copied().unwrap_or_else(|| {
            tables.problems.add(ProblemKind::DanglingReference, "rocpd_pmc_event.pmc_id", id);
            NameId::DANGLING
        });
        let Owner { dispatch, process, agent } = owner;
        tables.counters.push(Counter { dispatch, process, agent, name, value: row.real(3).unwrap_or(0.0) });
    })
}
