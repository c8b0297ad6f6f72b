use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::before_first::BeforeFirst;
use super::finding::is_zero;
use super::host_only::HostOnly;
use super::inputs::Inputs;
use super::slow_step::SlowStep;
use super::words::{counted, percent, time};
use crate::gpu_time::kernels::Group;
use crate::gpu_time::sweep::Gpu;
use crate::names::categories::{COLLECTIVE, OTHER};
use crate::trust::Health;

/// The part of the kernel time that [`Headline::main_kernels`] hold together.
const MAIN: f64 = 0.8;

/// Collectives with less of the time of all kernels, and gains of less of the wall time, are no news.
const SMALL: f64 = 0.01;
const SMALL_GAIN: f64 = 0.005;

/// A share that is printed as 0.0 %.
const TINY: f64 = 0.0005;

/// From this part of the wall time on a GPU that is busy is the limit.
const BUSY: f64 = 0.9;

/// Where the time of the GPUs went, in few figures. Times are means of all GPUs.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Headline {
    /// How many GPUs ran an op.
    pub gpus: u64,
    /// First start to last end in ns.
    pub wall_ns: i64,
    /// Time with an op running as a part of `wall_ns`, 0 to 1.
    pub busy_share: f64,
    /// Busy share of the least busy GPU.
    pub least_busy_share: f64,
    /// Busy share of the busiest GPU.
    pub most_busy_share: f64,
    /// Time with a kernel running in ns, collectives included.
    #[serde(default)]
    pub kernel_ns: i64,
    /// `kernel_ns` as a part of `wall_ns`, 0 to 1.
    #[serde(default)]
    pub kernel_share: f64,
    /// Time with copies running and no kernel, in ns: with `kernel_ns` it is the time with an op running.
    #[serde(default)]
    pub copies_alone_ns: i64,
    /// `copies_alone_ns` as a part of `wall_ns`, 0 to 1.
    #[serde(default)]
    pub copies_alone_share: f64,
    /// Time without an op running in ns.
    pub idle_ns: i64,
    /// Time with nothing but collectives running in ns.
    pub exposed_collective_ns: i64,
    /// How many kernels hold 80 % of the time of all kernels, collectives included.
    pub main_kernels: u64,
    /// How many kernels there are, collectives included.
    pub kernels: u64,
    /// Part of the time of all kernels that collectives have, 0 to 1.
    #[serde(default)]
    pub collective_kernel_share: f64,
    /// The kernel with most time that is no collective: tuning a kernel does not shorten waits for other ranks.
    pub first_kernel: Option<String>,
    /// Part of the time of all kernels, collectives included, that the first kernel has, 0 to 1.
    pub first_kernel_share: f64,
    /// Wall time that a GPU could save at most if that kernel took half its time, in ns.
    pub first_kernel_gain_ns: i64,
    /// The time before the first op, where it is a tenth of its step or more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before_first: Option<BeforeFirst>,
    /// One step that takes much longer than the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slow_step: Option<SlowStep>,
    /// The GPU was busy before the first op, with work that is not in the trace: that time is neither idle nor a part of anything.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub busy_before: bool,
    /// Part of `wall_ns` in which the GPU probably ran work that is not in the trace.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unrecorded_ns: i64,
    /// The category of kernels with most time.
    #[serde(default)]
    pub first_category: Option<String>,
    /// Part of the time of all kernels that this category has, 0 to 1.
    #[serde(default)]
    pub first_category_share: f64,
    /// The work of the host, of a trace without an op of a GPU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<HostOnly>,
}

impl Headline {
    /// Which kernels hold the time, and what tuning the first would gain; `first` is its name for people.
    #[must_use]
    pub fn kernels_sentence(&self, first: &str) -> String {
        let has_collectives = self.collective_kernel_share >= SMALL;
        let collectives = match has_collectives {
            true => format!("; collectives hold {}", percent(self.collective_kernel_share)),
            false => String::new(),
        };
        let share = percent(self.first_kernel_share);
        let mut text = match (self.main_kernels, self.kernels) {
            (_, 0 | 1) => format!("{first} holds all of the kernel time"),
            (1, all) => format!("1 of {all} kernels holds 80 % of the kernel time{collectives}"),
            (main, all) if main == all => format!("{all} kernels hold all of the kernel time{collectives}"),
            (main, all) => format!("{main} of {all} kernels hold 80 % of the kernel time{collectives}"),
        };
        if self.kernels > 1 {
            text += &match has_collectives {
                true if self.first_kernel_share < TINY => String::new(),
                true => format!(", and of the others {first} most, {share}"),
                false => format!("; {first} alone holds {share}"),
            };
        }
        let recorded_ns = self.wall_ns - self.unrecorded_ns;
        let (whole_ns, whole) = match (self.unrecorded_ns as f64) < SMALL * self.wall_ns as f64 {
            true => (self.wall_ns, "wall time"),
            false => (recorded_ns, "wall time without that of unrecorded work"),
        };
        let gain = if whole_ns == 0 { 0.0 } else { self.first_kernel_gain_ns as f64 / whole_ns as f64 };
        if gain >= SMALL_GAIN {
            text += &format!(": at twice the speed it would save {} of the {whole}", percent(gain));
        }
        text
    }

    /// States what follows where no cause costs `least` of the wall time: on a busy GPU its kernels are the limit, on another one nothing can be
    /// told from that. `is_part` where the trace has much time without ops before or after them.
    #[must_use]
    pub fn nothing_notable(&self, least: f64, is_part: bool) -> String {
        let least = format!("{:.0} % of the wall time or more", least * 100.0);
        let a_gpu = if self.gpus > 1 { "the GPUs are" } else { "the GPU is" };
        if self.busy_share < BUSY {
            let idle = percent(1.0 - self.busy_share);
            return format!("No single cause costs {least}, but {a_gpu} idle for {idle} of it");
        }
        let nothing = if is_part { "From the first op to the last" } else { "Nothing notable:" };
        let category = match &self.first_category {
            Some(category) if self.kernels > 1 && category != OTHER => {
                format!(" ({category}: {} of the kernel time)", percent(self.first_category_share))
            }
            _ => String::new(),
        };
        format!(
            "{nothing} no cause costs {least}. {} the limit{category}; whether the kernels could be faster is not judged here",
            a_gpu.replacen("the", "The", 1),
        )
    }

    /// States what a trace without an op of a GPU has.
    #[must_use]
    pub fn without_gpu(&self) -> String {
        let host = self.host.clone().unwrap_or_default();
        let HostOnly { operators, operators_ns, first_operator, first_operator_ns, calls } = host;
        let calls = match calls {
            0 => String::new(),
            calls => format!("; {} of the GPU's runtime", counted(calls, "call", "calls")),
        };
        match first_operator {
            Some(first) => format!(
                "No work of a GPU is recorded: {} on the CPU run for {}, longest {first} with {}{calls}",
                counted(operators, "operator", "operators"),
                time(operators_ns),
                time(first_operator_ns),
            ),
            None => format!("No work of a GPU is recorded, and no operator of the CPU{calls}"),
        }
    }

    pub(super) fn of(inputs: &Inputs<'_>, health: &Health) -> Self {
        let gpus = inputs.gpus();
        let count = gpus.len().max(1) as i64;
        let mean = |time: fn(&Gpu) -> i64| {
            gpus.iter().fold(0, |sum: i64, gpu| sum.saturating_add(time(gpu))) / count
        };
        let (wall_ns, busy_ns) = (mean(|gpu| gpu.wall_ns), mean(|gpu| gpu.busy_ns));
        let shares = || gpus.iter().map(|gpu| gpu.busy_share);
        let is_collective = |group: &&&Group| group.category.as_deref() == Some(COLLECTIVE);
        let kernels: Vec<&Group> =
            inputs.analysis.kernels().iter().filter(|group| group.stats.total_ns > 0).collect();
        let time = |group: &&Group| group.stats.total_ns as f64;
        let total = kernels.iter().map(time).sum::<f64>();
        let of_collectives = kernels.iter().filter(is_collective).map(time).sum::<f64>();
        let part_of_kernels = |time: f64| if total > 0.0 { time / total } else { 0.0 };
        let part_of_wall = |ns: i64| if wall_ns == 0 { 0.0 } else { ns as f64 / wall_ns as f64 };
        let kernel_ns = mean(Gpu::with_kernels_ns);
        let copies_alone_ns = busy_ns - kernel_ns;
        let (before_first, has_waited) = BeforeFirst::measure(inputs).unzip();
        let has_waited = has_waited.unwrap_or(false);
        let holes = inputs.losses().iter().filter(|part| inputs.is_hole(part));
        let unrecorded: u64 = holes.map(|part| part.ns).sum();
        let mut sum = 0.0;
        let is_main = |group: &&&Group| {
            let is_main = sum < MAIN * total;
            sum += group.stats.total_ns as f64;
            is_main
        };
        let main_kernels = kernels.iter().take_while(is_main).count() as u64;
        let first = kernels.iter().find(|group| !is_collective(group));
        let first_total = first.map_or(0, |group| group.stats.total_ns);
        let mut categories: BTreeMap<&str, f64> = BTreeMap::new();
        for group in &kernels {
            *categories.entry(group.category.as_deref().unwrap_or(OTHER)).or_default() += time(group);
        }
        let first_category = categories.into_iter().rev().max_by(|one, other| one.1.total_cmp(&other.1));
        Self {
            gpus: gpus.len() as u64,
            wall_ns,
            busy_share: part_of_wall(busy_ns),
            least_busy_share: shares().reduce(f64::min).unwrap_or(0.0),
            most_busy_share: shares().reduce(f64::max).unwrap_or(0.0),
            kernel_ns,
            kernel_share: part_of_wall(kernel_ns),
            copies_alone_ns,
            copies_alone_share: part_of_wall(copies_alone_ns),
            idle_ns: mean(|gpu| gpu.idle_ns),
            exposed_collective_ns: mean(|gpu| gpu.exposed_collective_ns),
            main_kernels,
            kernels: kernels.len() as u64,
            collective_kernel_share: part_of_kernels(of_collectives),
            first_kernel: first.map(|group| group.label.to_string()),
            first_kernel_share: part_of_kernels(first_total as f64),
            first_kernel_gain_ns: (first_total / 2 / count).min(wall_ns),
            before_first: before_first.filter(|_| !has_waited),
            slow_step: SlowStep::of(inputs),
            busy_before: has_waited || health.reasons.iter().any(|reason| reason.id == "late-start"),
            unrecorded_ns: i64::try_from(unrecorded / gpus.len().max(1) as u64).unwrap_or(i64::MAX),
            first_category: first_category.map(|(category, _)| category.to_owned()),
            first_category_share: first_category.map_or(0.0, |(_, time)| part_of_kernels(time)),
            host: gpus.is_empty().then(|| HostOnly::of(inputs.analysis.tables)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sentence([main, all]: [u64; 2], first_share: f64, collectives: f64, gain: i64) -> String {
        let headline = Headline {
            main_kernels: main,
            kernels: all,
            first_kernel_share: first_share,
            collective_kernel_share: collectives,
            first_kernel_gain_ns: gain,
            wall_ns: 1_000,
            ..Headline::default()
        };
        headline.kernels_sentence("k")
    }

    #[test]
    fn the_sentence_on_kernels_fits_their_number_and_leaves_small_gains_out() {
        assert_eq!(
            sentence([1, 1], 1.0, 0.0, 500),
            "k holds all of the kernel time: at twice the speed it would save 50.0 % of the wall time"
        );
        assert_eq!(
            sentence([1, 80], 0.005, 0.936, 1),
            "1 of 80 kernels holds 80 % of the kernel time; collectives hold 93.6 %, and of the others k most, 0.5 %"
        );
        assert_eq!(
            sentence([3, 3], 0.35, 0.0, 4),
            "3 kernels hold all of the kernel time; k alone holds 35.0 %"
        );
        assert!(sentence([3, 9], 0.35, 0.0, 5).ends_with("would save 0.5 % of the wall time"));
    }

    #[test]
    fn nothing_is_notable_only_on_a_busy_gpu() {
        let headline = |busy_share| Headline {
            busy_share,
            kernels: 3,
            first_category: Some("gemm".to_owned()),
            first_category_share: 0.87,
            ..Headline::default()
        };
        let busy = headline(0.97).nothing_notable(0.03, false);
        assert!(busy.contains("The GPU is the limit") && busy.contains("gemm: 87.0 %"), "{busy}");
        let idle = headline(0.5).nothing_notable(0.03, false);
        assert!(!idle.contains("Nothing notable") && idle.contains("idle for 50.0 %"), "{idle}");
    }
}
