//! The results that rules work from.

use super::first_calls::FirstCalls;
use crate::gpu_time::sweep::Gpu;
use crate::idle::{Cause, GpuIdle, IdleGap};
use crate::ranks::{Rank, Ranks};
use crate::{Analysis, DisplayNames};

/// The most characters of a kernel name in a sentence.
const NAME: usize = 60;

#[derive(Debug)]
pub(super) struct Inputs<'a> {
    pub(super) analysis: &'a Analysis<'a>,
    /// Ranks with matched collectives; none where there is one rank, or nothing of several matches.
    pub(super) ranks: Option<&'a Ranks>,
    first_calls: FirstCalls,
}

impl<'a> Inputs<'a> {
    pub(super) fn of(analysis: &'a Analysis<'a>) -> Self {
        Self { analysis, ranks: analysis.compared(), first_calls: FirstCalls::of(analysis) }
    }

    /// GPUs with at least one op, by number.
    pub(super) fn gpus(&self) -> &'a [Gpu] {
        &self.analysis.sweep().gpus
    }

    pub(super) fn idle(&self) -> &'a [GpuIdle] {
        self.analysis.idle()
    }

    pub(super) fn first_calls(&self) -> &FirstCalls {
        &self.first_calls
    }

    /// Idle time of a cause on a GPU that another rule tells of, and that no blocking call bears.
    pub(super) fn claimed(&self, gpu: i64, cause: Cause) -> i64 {
        let own = |gap: &IdleGap| gap.own[cause as usize];
        self.claimed_gaps(gpu).map(own).fold(0, i64::saturating_add)
    }

    /// Idle time on a GPU that another rule tells of, and that blocking calls of this cause bear.
    pub(super) fn claimed_after_blocking(&self, gpu: i64, cause: Cause) -> i64 {
        let borne = |gap: &IdleGap| {
            gap.after_blocking.as_ref().filter(|part| part.cause == cause).map_or(0, |part| part.idle_ns)
        };
        self.claimed_gaps(gpu).map(borne).fold(0, i64::saturating_add)
    }

    fn claimed_gaps(&self, gpu: i64) -> impl Iterator<Item = &IdleGap> {
        self.first_calls.gaps.iter().filter(move |(of, _)| *of == gpu).map(|(_, gap)| gap)
    }

    /// Time of all GPUs with nothing but copies that the host waited for, in ns.
    pub(super) fn blocking_copies_alone_ns(&self) -> i64 {
        self.idle().iter().fold(0, |sum: i64, gpu| sum.saturating_add(gpu.blocking_copies_alone_ns))
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
