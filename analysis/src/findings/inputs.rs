//! The results that rules work from.

use rtl_schema::NameId;

use super::place::{Part, Places};
use crate::gpu_time::sweep::Gpu;
use crate::idle::GpuIdle;
use crate::ranks::{Rank, Ranks};
use crate::{Analysis, DisplayNames};

/// The most characters of a kernel name in a sentence.
const NAME: usize = 60;

#[derive(Debug)]
pub(super) struct Inputs<'a> {
    pub(super) analysis: &'a Analysis<'a>,
    /// Ranks with matched collectives; none where there is one rank, or nothing of several matches.
    pub(super) ranks: Option<&'a Ranks>,
    losses: Vec<Part<'a>>,
}

impl<'a> Inputs<'a> {
    pub(super) fn of(analysis: &'a Analysis<'a>) -> Self {
        let losses = analysis.idle().iter().enumerate().flat_map(|(gpu, idle)| {
            let places = Places { tables: analysis.tables, losses: &idle.losses };
            idle.losses.iter().map(move |loss| Part { gpu, places, loss })
        });
        let losses = if losses_add_up(analysis.idle()) { losses.collect() } else { Vec::new() };
        Self { analysis, ranks: analysis.compared(), losses }
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

    /// When the first call of a function returned, in ns.
    pub(super) fn first_call_end(&self, name: NameId) -> Option<i64> {
        let calls = &self.analysis.tables.api_calls;
        let of_name = (0..calls.len()).filter(|&row| calls.name[row] == name);
        let first = of_name.min_by_key(|&row| calls.start[row])?;
        Some(calls.start[first].saturating_add(calls.duration.valid(first).unwrap_or(0)))
    }

    /// Returns whether at least half of the ops come from launches of graphs.
    pub(super) fn launches_graphs(&self) -> bool {
        let tables = self.analysis.tables;
        let calls = &tables.api_calls;
        let is_graph: Vec<bool> =
            tables.strings.iter().map(|(_, text)| text.contains("GraphLaunch")).collect();
        let is_launch = |name: NameId| tables.strings.get(name).contains("Launch");
        let graphs = calls.name.iter().filter(|name| is_graph[name.index()]).count();
        let others = calls.name.iter().filter(|name| !is_graph[name.index()] && is_launch(**name)).count();
        let ops = tables.dispatches.len();
        graphs > 0 && ops.saturating_sub(others) * 2 >= ops
    }

    /// The wall times of all GPUs in ns.
    pub(super) fn wall_ns(&self) -> i64 {
        self.gpus().iter().fold(0, |sum: i64, gpu| sum.saturating_add(gpu.wall_ns))
    }

    /// The ranks with matched collectives.
    pub(super) fn ranks(&self) -> &'a [Rank] {
        self.ranks.map_or(&[], |ranks| &ranks.ranks)
    }

    /// The time in ns in which nothing ran on the GPU of a rank.
    pub(super) fn idle_of(&self, rank: &Rank) -> i64 {
        rank.wall_ns.saturating_sub(rank.busy_ns)
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

    pub(super) fn straggler(&self) -> Option<&'a Rank> {
        let name = self.ranks?.straggler.as_deref()?;
        self.ranks().iter().find(|rank| rank.name == name)
    }

    /// Time in ns that a rank spends in collectives with nothing beside them only because another rank is late. Beside a
    /// straggler, that is the time that the straggler does not spend so: transfers of the others that late arrivals keep from
    /// overlapping are part of it.
    pub(super) fn waiting_ns(&self, rank: &Rank) -> i64 {
        let alone = |rank: &Rank| rank.busy_ns.saturating_sub(rank.compute_ns);
        let more = self.straggler().map_or(0, |straggler| alone(rank).saturating_sub(alone(straggler)));
        rank.exposed_wait_ns.max(more)
    }

    /// Waiting time of all ranks together, in ns.
    pub(super) fn all_waiting_ns(&self) -> i64 {
        self.ranks().iter().fold(0, |sum: i64, rank| sum.saturating_add(self.waiting_ns(rank)))
    }
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
