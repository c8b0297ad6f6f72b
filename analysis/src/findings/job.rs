//! The waiting of GPUs for other ranks, apart by the change that would end it: one late rank, uneven work, ranks that are late in turn,
//! or hosts that all are as slow.

use rtl_schema::{NameId, Tables};
use rustc_hash::{FxHashMap, FxHashSet};

use super::place::Part;
use crate::base::stats::median;
use crate::gpu_time::sweep::Gpu;
use crate::idle::LossKind;
use crate::ranks::{Need, Rank, Ranks};

/// From this part of the waiting on, what some ranks need longer explains it.
const EXPLAINS: f64 = 0.5;

/// A rank that waits less than this part of what is usual is one of the late ones.
const LITTLE: f64 = 0.5;

/// Hosts bind a job where they need at least this part of its time.
const BINDS: f64 = 0.9;

/// Less of the wall time is no lateness.
const LEAST: f64 = 0.01;

/// A rank that is the last in a larger part of the collectives is not late in turn with others.
const ONE: f64 = 2.0 / 3.0;

/// The most times as much as between collectives that all work is taken for.
const MOST_BESIDE: f64 = 2.0;

/// In fewer collectives nobody is late in turn.
const FEW: u64 = 5;

/// The reason of a rank's lateness, with what it needs longer in ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Late {
    Computes(i64),
    Host(i64),
    Idle(i64),
    Unknown,
}

#[derive(Debug, Clone)]
pub(super) struct Straggler {
    /// The position of the rank.
    pub(super) rank: usize,
    /// How much shorter the job would be if it was as fast as the next one, in ns.
    pub(super) gain_ns: i64,
    /// How long the others wait, their median, in ns.
    pub(super) others_wait_ns: i64,
    pub(super) late: Late,
    /// The least time in ns that recording cost its host, where it would not be late without.
    pub(super) recorder_ns: Option<i64>,
}

/// The waiting of ranks; times are in ns, lists by the position of the GPU where they are not by rank.
#[derive(Debug)]
pub(super) struct Job<'a> {
    pub(super) ranks: &'a Ranks,
    /// Indexed by rank: the position of its GPU.
    gpus: Vec<usize>,
    /// All waiting in collectives with nothing beside it.
    pub(super) waits: Vec<i64>,
    pub(super) straggler: Option<Straggler>,
    /// True if exchanges give ranks unequal shares.
    pub(super) has_uneven_exchanges: bool,
    /// The cost of a straggler.
    pub(super) by_straggler: Vec<i64>,
    /// The cost of uneven work.
    pub(super) by_imbalance: Vec<i64>,
    /// The cost of ranks that are late in turn.
    pub(super) in_turn: Vec<i64>,
    /// True if the hosts are the reason for that.
    pub(super) is_host_late: bool,
    /// Waiting for ranks whose hosts are just as slow.
    pub(super) for_hosts: Vec<i64>,
    /// Idle time of late ranks that the others wait for.
    pub(super) of_straggler: Vec<Part<'a>>,
    pub(super) of_late: Vec<Part<'a>>,
}

impl<'a> Job<'a> {
    /// Takes idle time that other ranks wait for out of `losses`.
    pub(super) fn new(ranks: &'a Ranks, gpus: &[Gpu], tables: &Tables, losses: &mut [Part<'a>]) -> Self {
        let positions: FxHashMap<i64, usize> =
            gpus.iter().enumerate().map(|(at, gpu)| (gpu.gpu, at)).collect();
        let position = |rank: &Rank| positions.get(&rank.gpu).copied().unwrap_or(usize::MAX);
        let none = || vec![0; gpus.len()];
        let mut job = Self {
            ranks,
            gpus: ranks.ranks.iter().map(position).collect(),
            waits: none(),
            straggler: None,
            has_uneven_exchanges: are_exchanges_uneven(tables),
            by_straggler: none(),
            by_imbalance: none(),
            in_turn: none(),
            is_host_late: false,
            for_hosts: none(),
            of_straggler: Vec::new(),
            of_late: Vec::new(),
        };
        for (at, rank) in ranks.ranks.iter().enumerate() {
            let wait = job.wait_ns(rank);
            if let Some((sum, gpu)) = job.waits.get_mut(job.gpus[at]).zip(gpus.get(job.gpus[at])) {
                *sum = sum.saturating_add(wait).min(gpu.exposed_collective_ns);
            }
        }
        let is_uneven = job.is_of_several();
        if is_uneven {
            job.share_imbalance();
        } else {
            job.straggler = job.find_straggler(tables);
            job.share_straggler(losses);
        }
        job.share_in_turn(losses);
        job.share_hosts(losses);
        job
    }

    fn named(&self) -> Option<usize> {
        let name = self.ranks.straggler.as_deref()?;
        self.ranks.ranks.iter().position(|rank| rank.name == name)
    }

    /// Time that a rank spends in collectives with nothing beside them only because another rank is late. Beside a straggler, that
    /// is the time that the straggler does not spend so: transfers of the others that late arrivals keep from overlapping are part
    /// of it.
    fn wait_ns(&self, rank: &Rank) -> i64 {
        let alone = |rank: &Rank| rank.busy_ns.saturating_sub(rank.compute_ns);
        let straggler = self.named().map(|at| &self.ranks.ranks[at]);
        let more = straggler.map_or(0, |straggler| alone(rank).saturating_sub(alone(straggler)));
        rank.exposed_wait_ns.max(more)
    }

    fn need(&self, rank: usize) -> Option<&'a Need> {
        self.ranks.needs.of(rank)
    }

    /// The positions of ranks with collectives that match, but for one.
    fn others(&self, than: usize) -> impl Iterator<Item = usize> + '_ {
        let matched = self.ranks.ranks.iter().enumerate().filter(|(_, rank)| rank.collectives > 0);
        matched.map(|(at, _)| at).filter(move |&at| at != than)
    }

    /// The other ranks that are in collectives with one: in those of the largest group, where it is in them.
    fn together(&self, with: usize) -> Vec<usize> {
        let name = &self.ranks.ranks[with].name;
        let is_together = |&at: &usize| match self.need(with) {
            Some(_) => self.need(at).is_some(),
            None => {
                let mut groups = self.ranks.collectives.iter().filter(|group| group.ranks.contains(name));
                groups.any(|group| group.ranks.contains(&self.ranks.ranks[at].name))
            }
        };
        self.others(with).filter(is_together).collect()
    }

    /// A time between the first and the last collective, as that of all work of a rank: there is work before and after.
    fn scaled(&self, rank: usize, ns: i64) -> i64 {
        let between = self.need(rank).map_or(0, |need| need.between_ns).max(1);
        let all = self.ranks.ranks[rank].compute_ns.max(between);
        (ns as f64 * (all as f64 / between as f64).min(MOST_BESIDE)) as i64
    }

    fn find_straggler(&self, tables: &Tables) -> Option<Straggler> {
        let rank = self.named()?;
        let own = &self.ranks.ranks[rank];
        let others_wait_ns = usual(self.others(rank).map(|at| self.wait_ns(&self.ranks.ranks[at])));
        if missing(self.ranks, tables).is_some() {
            // It waits for those that are missing, unless it stays for a short time only.
            let waits = usual(self.others(rank).map(|at| self.ranks.ranks[at].clock_free_wait_ns));
            if own.clock_free_transfer_ns.saturating_mul(2) > waits {
                return None;
            }
        }
        // Without it the job would wait for the one that waits least now.
        let together = self.together(rank);
        let wait = |&at: &usize| {
            self.wait_ns(&self.ranks.ranks[at]).saturating_add(self.scaled(at, self.slowed_ns(at, rank)))
        };
        let most = together.iter().map(wait).min().unwrap_or(others_wait_ns);
        let gain_ns = self.gain_ns(rank).map_or(most, |gain| gain.min(most));
        let late = self.late(rank, gain_ns);
        let is_recorded = matches!(late, Late::Host(_) | Late::Idle(_)) && self.is_late_by_recorder(rank);
        let recorder_ns = self.need(rank).filter(|_| is_recorded).map(|need| need.recorder_ns);
        Some(Straggler { rank, gain_ns, others_wait_ns, late, recorder_ns })
    }

    /// How much shorter the job would be if the straggler needed no more than the next rank.
    fn gain_ns(&self, straggler: usize) -> Option<i64> {
        let own = self.need(straggler)?;
        // Transfers may overlap then: waiting is without them anyway.
        let others = || self.others(straggler).filter_map(|at| Some((at, self.need(at)?)));
        let of_gpu =
            |(at, need): (usize, &Need)| need.between_ns.saturating_sub(self.slowed_ns(at, straggler));
        let next = others().map(|(at, need)| need.host_ns.max(of_gpu((at, need)))).max()?;
        let mut gain = own.span_ns.saturating_sub(next).max(0);
        // What an exchange gave to one rank goes to the others.
        if self.has_uneven_exchanges {
            let count = others().count() as i64 + 1;
            let mean =
                others().fold(own.between_ns, |sum, (_, need)| sum.saturating_add(need.between_ns)) / count;
            gain = gain.min(own.between_ns.saturating_sub(mean).max(0));
        }
        Some(self.scaled(straggler, gain))
    }

    /// Returns whether a host is late only because of what recording costs it.
    fn is_late_by_recorder(&self, rank: usize) -> bool {
        let without = |at: usize| {
            let need = self.need(at)?;
            let of_gpu = need.between_ns.saturating_sub(self.slowed_ns(at, rank));
            Some(need.host_ns.saturating_sub(need.recorder_ns).max(of_gpu))
        };
        let next = self.others(rank).filter_map(without).max();
        let more = without(rank).zip(next).map(|(own, next)| own.saturating_sub(next) as f64);
        self.need(rank)
            .zip(more)
            .is_some_and(|(own, more)| own.recorder_ns > 0 && more < LEAST * own.span_ns as f64)
    }

    /// How much longer the kernels of a rank take between collectives than on the straggler, as long as they run beside collectives
    /// that wait.
    fn slowed_ns(&self, rank: usize, straggler: usize) -> i64 {
        let (Some(need), Some(straggler)) = (self.need(rank), self.need(straggler)) else { return 0 };
        let own = &self.ranks.ranks[rank];
        let beside = own.clock_free_wait_ns.saturating_sub(own.exposed_wait_ns).max(0);
        need.between_ns.saturating_sub(need.between_at_pace_of(straggler)).min(beside)
    }

    /// Why a rank is late: what it needs more than others, if that is at least half of what is won.
    fn late(&self, rank: usize, gain_ns: i64) -> Late {
        let enough = (EXPLAINS * gain_ns as f64) as i64;
        let own = self.need(rank);
        let longer = |value: &dyn Fn(&Need) -> i64| {
            own.map_or(0, |own| {
                let others = self.others(rank).filter_map(|at| self.need(at));
                value(own).saturating_sub(usual(others.map(value)))
            })
        };
        let computes = match own {
            Some(_) => longer(&|need| need.compute_ns),
            None => self.more(rank, |rank| rank.compute_ns),
        };
        let host = longer(&|need| need.host_ns);
        let idle = self.more(rank, |rank| rank.wall_ns.saturating_sub(rank.busy_ns));
        match () {
            () if computes >= enough && computes > 0 => Late::Computes(computes),
            () if host >= enough && host > 0 => Late::Host(host),
            () if idle >= enough && idle > 0 => Late::Idle(idle),
            () => Late::Unknown,
        }
    }

    fn more(&self, rank: usize, value: impl Fn(&Rank) -> i64) -> i64 {
        let others = self.others(rank).map(|at| value(&self.ranks.ranks[at]));
        value(&self.ranks.ranks[rank]).saturating_sub(usual(others))
    }

    fn share_straggler(&mut self, losses: &mut [Part<'a>]) {
        let Some(Straggler { rank, gain_ns, late, .. }) = self.straggler else { return };
        let mut slowed = vec![0; self.waits.len()];
        for at in self.others(rank) {
            if let Some(slowed) = slowed.get_mut(self.gpus[at]) {
                *slowed = self.scaled(at, self.slowed_ns(at, rank)).max(*slowed);
            }
        }
        let most = self.waits.iter().zip(slowed).map(|(wait, slowed)| wait.saturating_add(slowed));
        self.by_straggler = most.map(|most| gain_ns.min(most)).collect();
        let Some(own) = self.by_straggler.get_mut(self.gpus[rank]) else { return };
        *own = match late {
            Late::Computes(ns) => ns.min(gain_ns),
            Late::Host(_) | Late::Idle(_) => {
                let (taken, ns) = take(losses, self.gpus[rank], gain_ns);
                self.of_straggler = taken;
                ns
            }
            Late::Unknown => 0,
        };
    }

    fn computes(&self) -> Vec<i64> {
        self.ranks.needs.ranks.iter().flatten().map(|need| need.compute_ns).collect()
    }

    /// Returns whether ranks wait because several others compute longer.
    fn is_of_several(&self) -> bool {
        let computes = self.computes();
        if computes.len() < 2 || self.named().is_some() && self.late_ranks() < 2 {
            return false;
        }
        let waiting = self.mean_wait_ns();
        waiting > 0 && self.longest_beyond_mean(&computes) as f64 >= EXPLAINS * waiting as f64
    }

    fn longest_beyond_mean(&self, computes: &[i64]) -> i64 {
        computes.iter().copied().max().unwrap_or(0).saturating_sub(mean(computes))
    }

    fn mean_wait_ns(&self) -> i64 {
        mean(&self.waits)
    }

    /// How many ranks wait little.
    fn late_ranks(&self) -> usize {
        let matched = self.ranks.ranks.iter().filter(|rank| rank.collectives > 0);
        let mut waits: Vec<f64> =
            matched.map(|rank| rank.clock_free_wait_ns as f64 / rank.collectives.max(1) as f64).collect();
        let usual = median(&mut waits);
        waits.iter().filter(|&&wait| wait < LITTLE * usual).count()
    }

    fn share_imbalance(&mut self) {
        let gain = self.longest_beyond_mean(&self.computes()).min(self.mean_wait_ns());
        for (own, wait) in self.by_imbalance.iter_mut().zip(&self.waits) {
            *own = gain.min(*wait);
        }
    }

    /// The time that is left of a GPU's waiting.
    fn left(&self, gpu: usize) -> i64 {
        let known = [&self.by_straggler, &self.by_imbalance, &self.in_turn].map(|by_gpu| by_gpu[gpu]);
        known.into_iter().fold(self.waits[gpu], i64::saturating_sub).max(0)
    }

    /// Shares out the time that all would win if those that come last came when half of the ranks do.
    fn share_in_turn(&mut self, losses: &mut [Part<'a>]) {
        let needs = &self.ranks.needs;
        let spans: Vec<i64> = needs.ranks.iter().flatten().map(|need| need.span_ns).collect();
        let most = needs.ranks.iter().flatten().map(|need| need.last).max().unwrap_or(0);
        if needs.notable < FEW || most as f64 > ONE * needs.notable as f64 {
            return;
        }
        // Waits are in the collectives that follow the first.
        let waits =
            self.ranks.ranks.iter().fold(0, |sum: i64, rank| sum.saturating_add(rank.exposed_wait_ns));
        let all =
            self.ranks.ranks.iter().fold(0, |sum: i64, rank| sum.saturating_add(rank.clock_free_wait_ns));
        let exposed = waits as f64 / all.max(1) as f64;
        let known = self.straggler.as_ref().map_or(0, |straggler| straggler.gain_ns);
        let known = known.saturating_add(self.by_imbalance.iter().copied().max().unwrap_or(0));
        let bound = mean(&spans).saturating_sub(needs.median_host_ns).saturating_sub(known);
        let gain = ((needs.median_wait_ns as f64 * exposed.min(1.0)) as i64).saturating_sub(known).min(bound);
        if gain <= 0 {
            return;
        }
        let waits: Vec<i64> = (0..self.waits.len()).map(|gpu| self.left(gpu).min(gain)).collect();
        let late: i64 = waits.iter().map(|wait| gain - wait).sum();
        let idle: u64 = losses.iter().filter(|part| is_of_host(part)).map(|part| part.ns).sum();
        self.is_host_late = idle as f64 >= EXPLAINS * late as f64;
        self.in_turn = waits;
        if self.is_host_late {
            for gpu in 0..self.in_turn.len() {
                let (taken, ns) = take(losses, gpu, gain - self.in_turn[gpu]);
                self.in_turn[gpu] += ns;
                self.of_late.extend(taken);
            }
        }
    }

    /// Where hosts bind the job, what is left of the waiting is for hosts that are as slow.
    fn share_hosts(&mut self, losses: &[Part<'a>]) {
        let needs = &self.ranks.needs;
        let found = || needs.ranks.iter().flatten();
        let spans: Vec<i64> = found().map(|need| need.span_ns).collect();
        let recorders: Vec<i64> = found().map(|need| need.recorder_ns).collect();
        let gain = self.straggler.as_ref().map_or(0, |straggler| straggler.gain_ns);
        let pace = mean(&spans).saturating_sub(gain);
        let host = needs.median_host_ns.saturating_sub(mean(&recorders));
        let time = |is_taken: &dyn Fn(&Part<'_>) -> bool| -> u64 {
            losses.iter().filter(|part| is_of_host(part) && is_taken(part)).map(|part| part.ns).sum()
        };
        let is_paced = time(&|part| part.loss.kind == LossKind::Pace) * 2 > time(&|_| true);
        if is_paced && host as f64 >= BINDS * pace as f64 {
            self.for_hosts = (0..self.waits.len()).map(|gpu| self.left(gpu)).collect();
        }
    }
}

impl Need {
    /// The work between collectives if kernels took no longer than on another rank: beside a collective that waits they do.
    fn between_at_pace_of(&self, other: &Self) -> i64 {
        let (mut own, mut at_pace) = (0.0, 0.0);
        for (kernel, total) in &self.kernels {
            let mean = total.mean_ns();
            let theirs = other.kernels.get(kernel).map_or(mean, |total| total.mean_ns());
            own += total.calls as f64 * mean;
            at_pace += total.calls as f64 * mean.min(theirs);
        }
        if own > 0.0 { (self.between_ns as f64 * (at_pace / own)) as i64 } else { self.between_ns }
    }
}

/// Takes up to `ns` of the host's losses of a GPU, those with most time first.
fn take<'a>(losses: &mut [Part<'a>], gpu: usize, ns: i64) -> (Vec<Part<'a>>, i64) {
    let mut own: Vec<&mut Part<'a>> =
        losses.iter_mut().filter(|part| part.gpu == gpu && is_of_host(part)).collect();
    own.sort_by_key(|part| (std::cmp::Reverse(part.ns), part.loss.longest.start));
    let mut left = u64::try_from(ns).unwrap_or(0);
    let mut taken = Vec::new();
    for part in own {
        let ns = part.ns.min(left);
        if ns > 0 {
            (part.ns, left) = (part.ns - ns, left - ns);
            taken.push(Part { ns, ..*part });
        }
    }
    let sum: u64 = taken.iter().map(|part| part.ns).sum();
    (taken, i64::try_from(sum).unwrap_or(i64::MAX))
}

fn is_of_host(part: &Part<'_>) -> bool {
    !matches!(
        part.loss.kind,
        LossKind::Turnaround | LossKind::Waiting | LossKind::Unrecorded | LossKind::Unknown
    )
}

fn usual(values: impl Iterator<Item = i64>) -> i64 {
    let mut values: Vec<f64> = values.map(|value| value as f64).collect();
    if values.is_empty() { 0 } else { median(&mut values) as i64 }
}

fn mean(values: &[i64]) -> i64 {
    values.iter().copied().fold(0, i64::saturating_add) / values.len().max(1) as i64
}

/// Returns whether ranks get more of an exchange than they give.
fn are_exchanges_uneven(tables: &Tables) -> bool {
    let mut rows = tables.collectives.rows().iter();
    rows.any(|row| {
        let operation = text(tables, row.operation);
        (operation.contains("to_all") || operation.contains("toall")) && row.sent != row.received
    })
}

/// How many ranks of how many have no trace: of the group that lacks most, else of the job.
pub(super) fn missing(ranks: &Ranks, tables: &Tables) -> Option<(usize, usize)> {
    let given: Option<FxHashSet<u32>> = ranks.ranks.iter().map(|rank| rank.rank).collect();
    let given = given?;
    let world = tables.processes.iter().filter_map(|process| process.world).max().map(|world| world as usize);
    let groups: FxHashSet<(u32, NameId)> =
        tables.collectives.rows().iter().filter_map(|row| Some((row.size?, row.ranks))).collect();
    let of_group = groups.into_iter().filter_map(|(size, ranks)| {
        let numbers = text(tables, ranks).split(|c: char| !c.is_ascii_digit());
        let members: Vec<u32> = numbers.filter_map(|number| number.parse().ok()).collect();
        let size = size as usize;
        match members.len() == size {
            true => Some((members.iter().filter(|&member| !given.contains(member)).count(), size)),
            // Long lists are cut off.
            false => (world == Some(size)).then(|| (size.saturating_sub(given.len()), size)),
        }
    });
    let of_job = || world.map(|world| (world.saturating_sub(given.len()), world));
    of_group.max().or_else(of_job).filter(|(missing, _)| *missing > 0)
}

fn text(tables: &Tables, name: NameId) -> &str {
    if name.is_some() { tables.strings.get(name) } else { "" }
}
