//! The results that rules work from.

use std::cell::OnceCell;

use rtl_schema::NameId;
use rtl_schema::table::Range;
use rustc_hash::FxHashMap;

use super::activity;
use super::job::Job;
use super::place::{Part, Places};
use crate::gpu_time::sweep::Gpu;
use crate::idle::{Cause, GpuIdle, Loss, LossKind};
use crate::trust::{Health, Holes, PROFILER_COST, is_sampled};
use crate::{Analysis, DisplayNames};

/// The most characters of a kernel name in a sentence.
const NAME: usize = 60;

/// Time before the first op is a cost from this part of the wall time on where its cause costs time later, too, and from the other part of
/// the whole time on where the recording has one step.
const AS_LATER: f64 = 0.03;
const OF_ONE_STEP: f64 = 0.1;

#[derive(Debug)]
pub(super) struct Inputs<'a> {
    pub(super) analysis: &'a Analysis<'a>,
    pub(super) health: &'a Health,
    /// Ranks with matched collectives; none where there is one rank, or nothing of several matches.
    pub(super) job: Option<Job<'a>>,
    losses: Vec<Part<'a>>,
    /// Most calls were cut from the file: nothing tells what idle time is lost to.
    pub(super) is_sampled: bool,
    /// By the position of the GPU.
    holes: Vec<Holes>,
    /// The first call of each function, by its row.
    first_calls: OnceCell<FxHashMap<NameId, usize>>,
}

impl<'a> Inputs<'a> {
    pub(super) fn of(analysis: &'a Analysis<'a>, health: &'a Health) -> Self {
        let has_collectives = analysis.sweep().gpus.iter().any(|gpu| gpu.collective_ns > 0);
        let is_sampled = is_sampled(analysis.tables);
        let are_known = !is_sampled && losses_add_up(analysis.idle());
        let (mut losses, mut before) = (Vec::new(), Vec::new());
        let gpus = &analysis.sweep().gpus;
        let is_bare = |gpu: &Gpu| gpu.with_kernels_ns() == 0;
        let have_kernels = !gpus.iter().all(is_bare);
        for (gpu, idle) in analysis.idle().iter().enumerate().filter(|_| are_known) {
            // The kernels of a GPU that has none beside others with kernels were not recorded.
            if have_kernels && gpus.get(gpu).is_some_and(is_bare) {
                continue;
            }
            let places = Places { tables: analysis.tables, losses: &idle.losses };
            let activities = activity::of_chains(analysis.tables, &idle.losses.paths, has_collectives);
            let part = |loss: &'a Loss, is_before| {
                let activity = loss.site.path.position().and_then(|position| activities[position]);
                Part { gpu, places, activity, loss, is_before, ns: loss.ns }
            };
            losses.extend(idle.losses.iter().map(|loss| part(loss, false)));
            before.extend(idle.before.iter().map(|loss| part(loss, true)));
        }
        let holes = analysis.idle().iter().map(|idle| Holes::new(analysis.tables, idle)).collect();
        let job = |ranks| Job::new(ranks, &analysis.sweep().gpus, analysis.tables, &mut losses);
        let job = analysis.compared().map(job);
        if job.is_none() && !before.is_empty() {
            let before = worth_a_cause(analysis, &losses, before);
            losses.extend(before);
        }
        Self { analysis, health, job, losses, is_sampled, holes, first_calls: OnceCell::new() }
    }

    /// GPUs with at least one op, by number.
    pub(super) fn gpus(&self) -> &'a [Gpu] {
        &self.analysis.sweep().gpus
    }

    pub(super) fn idle(&self) -> &'a [GpuIdle] {
        self.analysis.idle()
    }

    /// Idle time of all GPUs, each part of it once.
    pub(super) fn losses(&self) -> &[Part<'a>] {
        &self.losses
    }

    /// Returns whether the GPU may have run work in idle time, of which the trace has nothing.
    pub(super) fn is_hole(&self, part: &Part<'_>) -> bool {
        self.holes.get(part.gpu).is_some_and(|holes| holes.hold(self.analysis.tables, part.loss))
    }

    /// When the first call of a function returned, in ns.
    pub(super) fn first_call_end(&self, name: NameId) -> Option<i64> {
        let calls = &self.analysis.tables.api_calls;
        let first_calls = self.first_calls.get_or_init(|| {
            let mut first: FxHashMap<NameId, usize> = FxHashMap::default();
            for (row, &name) in calls.name.iter().enumerate() {
                let found = first.entry(name).or_insert(row);
                if calls.start[row] < calls.start[*found] {
                    *found = row;
                }
            }
            first
        });
        let &row = first_calls.get(&name)?;
        Some(calls.start[row].saturating_add(calls.duration.valid(row).unwrap_or(0)))
    }

    /// Returns whether at least half of the ops come from launches of graphs.
    pub(super) fn launches_graphs(&self) -> bool {
        let tables = self.analysis.tables;
        let having = |word: &str| -> Vec<bool> {
            tables.strings.iter().map(|(_, text)| text.contains(word)).collect()
        };
        let count = |names: &[bool]| {
            let is_one = |name: &&NameId| names.get(name.index()).copied().unwrap_or(false);
            tables.api_calls.name.iter().filter(is_one).count()
        };
        let (graphs, launches) = (count(&having("GraphLaunch")), count(&having("Launch")));
        let ops = tables.dispatches.len();
        graphs > 0 && ops.saturating_sub(launches - graphs) * 2 >= ops
    }

    /// Returns what the verdict says of the cost of torch.profiler.
    pub(super) fn profiler_cost(&self) -> Option<&'a str> {
        let cost = self.health.reasons.iter().find(|reason| reason.id == PROFILER_COST);
        cost.map(|reason| reason.sentence.as_str())
    }

    /// The wall times of all GPUs in ns.
    pub(super) fn wall_ns(&self) -> i64 {
        self.gpus().iter().fold(0, |sum: i64, gpu| sum.saturating_add(gpu.wall_ns))
    }

    /// The display name of a kernel, without its middle where it is long.
    pub(super) fn display(&self, kernel: &str) -> String {
        let names = DisplayNames::of([kernel]);
        let name = names.get(kernel);
        let length = name.chars().count();
        if length <= NAME {
            return name.to_owned();
        }
        let start: String = name.chars().take(NAME / 2).collect();
        let end: String = name.chars().skip(length - (NAME / 2 - 1)).collect();
        format!("{start}…{end}")
    }

    /// `--kernel @k3`: selects a kernel of the trace by its key.
    pub(super) fn select(&self, kernel: &str) -> String {
        let position = self.analysis.kernels().iter().position(|group| &*group.label == kernel);
        position.map_or_else(String::new, |position| format!("--kernel @k{}", position + 1))
    }

    /// ` a GPU`, where there are several.
    pub(super) fn each(&self) -> &'static str {
        if self.gpus().len() > 1 { " a GPU" } else { "" }
    }
}

/// Time before the first op that is a cost as gaps are: where the same keeps the host from launching later, or the recording has but
/// this step. Launches are no part of it, and a GPU that runs the step before needs none.
fn worth_a_cause<'a>(analysis: &Analysis<'_>, losses: &[Part<'a>], before: Vec<Part<'a>>) -> Vec<Part<'a>> {
    let cause = |part: &Part<'_>| match (part.activity, part.loss.kind) {
        (Some(activity), _) => (Some(activity), None, None),
        (None, LossKind::Stall) => (None, Some(LossKind::Stall), part.places.caller(part.loss.site, 0)),
        (None, kind) => (None, Some(kind), None),
    };
    let can_be = |part: &Part<'_>| {
        let is_apart = matches!(
            part.loss.kind,
            LossKind::Pace | LossKind::Blocking(Cause::BlockingCopy | Cause::Synchronise)
        );
        part.activity.is_some() || !is_apart
    };
    let sums = |parts: &[Part<'_>]| {
        let mut sums: FxHashMap<_, u64> = FxHashMap::default();
        for part in parts {
            *sums.entry((part.gpu, cause(part))).or_default() += part.ns;
        }
        sums
    };
    let (later, first) = (sums(losses), sums(&before));
    let tables = analysis.tables;
    let is_step = |range: &&Range| tables.strings.get(range.name).starts_with("ProfilerStep");
    let is_only = tables.ranges.iter().filter(is_step).count() == 1;
    let is_worth = |part: &Part<'_>| {
        let key = (part.gpu, cause(part));
        let (first, later) = (first[&key], later.get(&key).copied().unwrap_or(0));
        let wall = analysis.idle()[part.gpu].wall_ns as f64;
        let comes_back = later * 2 >= first && first as f64 >= AS_LATER * wall;
        can_be(part) && (comes_back || is_only && first as f64 >= OF_ONE_STEP * (wall + first as f64))
    };
    before.into_iter().filter(is_worth).collect()
}

/// Returns whether the losses of each GPU add up to its idle time.
fn losses_add_up(gpus: &[GpuIdle]) -> bool {
    let adds_up = |gpu: &GpuIdle| {
        let lost = gpu.losses.total_ns();
        debug_assert!(lost == 0 || i64::try_from(lost) == Ok(gpu.idle_ns), "{lost} of {} ns", gpu.idle_ns);
        // Without launches there are none.
        lost == 0 || i64::try_from(lost) == Ok(gpu.idle_ns)
    };
    gpus.iter().all(adds_up)
}

#[cfg(test)]
mod tests {
    use rtl_schema::table::{Agent, ApiCall, Dispatch, Track};
    use rtl_schema::{AgentId, Tables};

    use super::*;
    use crate::Categories;

    /// Calls by name, `None` for one without, and dispatches.
    fn launches_graphs(calls: &[Option<&str>], dispatches: usize) -> bool {
        let mut tables = Tables::default();
        for name in calls {
            let name = name.map_or(NameId::NONE, |name| tables.strings.intern(name));
            tables.api_calls.push(ApiCall { name, duration: Some(1), ..ApiCall::default() });
        }
        tables.agents.push(Agent::default());
        let track = tables.tracks.intern(Track { agent: AgentId(0), ..Track::default() });
        let dispatch = Dispatch { track, duration: Some(1), ..Dispatch::default() };
        (0..dispatches).for_each(|_| tables.dispatches.push(dispatch));
        Inputs::of(&Analysis::new(&tables, &Categories::default()), &Health::default()).launches_graphs()
    }

    #[test]
    fn a_trace_launches_graphs_where_half_of_its_ops_come_from_them() {
        assert!(launches_graphs(&[Some("hipGraphLaunch"), Some("hipLaunchKernel")], 9));
        assert!(!launches_graphs(&[Some("hipGraphLaunch"), Some("hipLaunchKernel")], 1));
        assert!(!launches_graphs(&[Some("hipLaunchKernel"), Some("hipMemcpyAsync")], 9));
    }

    #[test]
    fn a_call_without_a_name_is_no_launch() {
        assert!(!launches_graphs(&[None, Some("hipLaunchKernel")], 9));
    }
}
