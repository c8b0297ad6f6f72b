use rustc_hash::FxHashMap;

use super::reading::Reading;
use crate::sqlite::scanned;
use crate::table::Counter;
use crate::{Id, NameId, ProblemKind, Problems, Result};

const TABLE: &str = "rocpd_pmc_event";

impl Reading<'_> {
    /// Returns whether counters of some dispatch were collected: samples over time are in the same table.
    pub(super) fn has_counters(&self) -> bool {
        let database = self.set.database;
        let [values, dispatches] = [TABLE, "rocpd_kernel_dispatch"].map(|table| self.set.table(table));
        if database.row_estimate(&values) == 0 {
            return false;
        }
        let mut has_any = false;
        let any = format!(
            "select 1 from \"{values}\" where event_id in (select event_id from \"{dispatches}\") limit 1"
        );
        // A table without these columns ties no value to a dispatch.
        let read = database.query(&any, [], |_| {
            has_any = true;
            Ok(())
        });
        read.is_ok() && has_any
    }

    /// Reads the counter values, one row for each instance of a counter. Rows of a sampling over time (`sample_id`, from
    /// 3.0.3) are no values of a dispatch and stay out, as in rocprofv3's own views.
    pub(super) fn counters(&mut self) -> Result<()> {
        let (set, references, tables) = (self.set, &self.references, &mut *self.tables);
        let mut names = FxHashMap::default();
        scanned!(columns: id, name, symbol);
        set.database.scan(&set.table("rocpd_info_pmc"), &columns, |row| {
            let name = row.text(name).or_else(|| row.text(symbol));
            let name = name.map_or(NameId::NONE, |name| tables.strings.intern(&name));
            names.insert(row.int(id).unwrap_or(row.id()), name);
        })?;
        // The dispatch that an event belongs to, as a counter without its value.
        let mut owners: FxHashMap<Id, Counter> = FxHashMap::default();
        set.database.scan(&set.table(TABLE), &["event_id"], |row| {
            owners.extend(row.int(0).map(|event| (event, Counter::default())));
        })?;
        if owners.is_empty() {
            return Ok(());
        }
        let first_pass = set.first_pass()?;
        scanned!(columns: id, pid, agent_id, event_id, dispatch_id, replay_pass);
        // Counters of a replay belong to the launch that it repeats.
        let mut launches: FxHashMap<(Option<i64>, Option<i64>), Id> = FxHashMap::default();
        if first_pass.is_some() {
            set.database.scan(&set.table("rocpd_kernel_dispatch"), &columns, |row| {
                if row.int(replay_pass) <= first_pass {
                    let launch = (row.int(pid), row.int(dispatch_id));
                    launches.insert(launch, row.int(id).unwrap_or(row.id()));
                }
            })?;
        }
        set.database.scan(&set.table("rocpd_kernel_dispatch"), &columns, |row| {
            if let Some(owner) = row.int(event_id).and_then(|event| owners.get_mut(&event)) {
                let launch = launches.get(&(row.int(pid), row.int(dispatch_id))).copied();
                let dispatch = launch.unwrap_or_else(|| row.int(id).unwrap_or(row.id()));
                let place = "rocpd_kernel_dispatch";
                let process = references.process(&mut Problems::default(), place, dispatch, row.int(pid));
                let agent = row.int(agent_id).and_then(|agent| references.agents.get(&agent).copied());
                *owner = Counter { dispatch, process, agent, ..Counter::default() };
            }
        })?;
        scanned!(columns: id, event_id, pmc_id, value, sample_id);
        set.database.scan(&set.table(TABLE), &columns, |row| {
            if !row.is_null(sample_id) {
                return;
            }
            let id = row.int(id).unwrap_or(row.id());
            let owner = row.int(event_id).and_then(|event| owners.get(&event)).copied().unwrap_or_default();
            if owner.dispatch == 0 {
                tables.problems.add_in(ProblemKind::DanglingReference, TABLE, "event_id", id);
            }
            let name = row.int(pmc_id).and_then(|pmc| names.get(&pmc)).copied().unwrap_or_else(|| {
                tables.problems.add_in(ProblemKind::DanglingReference, TABLE, "pmc_id", id);
                NameId::DANGLING
            });
            tables.counters.push(Counter { name, value: row.real(value).unwrap_or(0.0), ..owner });
        })
    }
}
