//! One rank that the others wait for.

use super::finding::{Finding, PLACES};
use super::inputs::Inputs;
use super::job::{Job, Late, Straggler};
use super::lost::Lost;
use super::words::{percent, time};
use crate::base::stats::CallTotal;
use crate::ranks::Need;
use crate::trust::Evidence;

/// From this part of the difference on one kernel is most of it; several must have that much together.
const MOST: f64 = 0.5;

/// A gain that is this part of the waiting is all of it.
const ALL: f64 = 0.9;

pub(super) fn findings(inputs: &Inputs<'_>) -> Vec<Finding> {
    let Some(job) = &inputs.job else { return Vec::new() };
    let Some(straggler) = &job.straggler else { return Vec::new() };
    let rank = &job.ranks.ranks[straggler.rank];
    let finding = Finding::of_gpus("straggler", inputs, job.by_straggler.clone());
    if finding.cost_ns == 0 {
        return Vec::new();
    }
    let (gain, wait) = (straggler.gain_ns as f64, straggler.others_wait_ns as f64);
    let (cost, waited) = (time(finding.cost_ns), time(straggler.others_wait_ns));
    let share = percent(finding.share);
    let won = match () {
        () if job.has_uneven_exchanges && matches!(straggler.late, Late::Computes(_)) => {
            format!(
                "The others would win {cost} ({share} of the wall time) if all ranks received equally much"
            )
        }
        () if gain < ALL * wait => format!(
            "The others wait {waited} each and would win {cost} ({share} of the wall time): then the next rank is the slowest"
        ),
        () if ALL * gain > wait => format!(
            "The others would win {cost} ({share} of the wall time): they wait, and kernels beside collectives that wait are slower"
        ),
        () => format!(
            "The others wait {waited} each for it with nothing beside that ({share} of the wall time)"
        ),
    };
    let longer = differences(inputs, job, straggler.rank);
    vec![Finding {
        sentence: format!(
            "{} arrives last in {} of {} collectives{}. {won}{}",
            rank.name,
            rank.clock_free_last,
            rank.collectives,
            why(inputs, job, straggler, &longer),
            recorder(straggler),
        ),
        ranks: rank.rank.into_iter().collect(),
        gpus: vec![rank.gpu],
        evidence: match straggler.late {
            Late::Host(_) | Late::Idle(_) => Lost::of_parts(inputs, job.of_straggler.clone()).evidence(),
            _ => {
                let kernels = longer.iter().take(PLACES);
                kernels.map(|kernel| Evidence { name: kernel.name.clone(), ..Evidence::default() }).collect()
            }
        },
        look: match rank.rank {
            Some(rank) => format!("rtl-summary --rank {rank} TRACE; rtl-summary --by rank TRACE"),
            None => "rtl-summary --by rank TRACE".to_owned(),
        },
        help: help(straggler).to_owned(),
        ..finding
    }]
}

/// `; torch.profiler costs it 61.2 ms`: what is late only while it is recorded.
fn recorder(straggler: &Straggler) -> String {
    straggler.recorder_ns.map_or_else(String::new, |ns| {
        format!(
            "; torch.profiler itself costs its host at least {}, without which it would hardly be late",
            time(ns)
        )
    })
}

fn help(straggler: &Straggler) -> &'static str {
    match straggler.late {
        _ if straggler.recorder_ns.is_some() => {
            "record less (no operators, no stacks) and see whether the rank is still late; if so, launch fewer ops there \
             (torch.compile, graphs)"
        }
        Late::Computes(_) => {
            "compare that rank with another one: its share of the data, kernels that only it runs, the clocks and temperature of \
             its GPU"
        }
        _ => {
            "compare the host of that rank with another one: other processes, its loader, what only that rank does, its cores and \
             memory (NUMA)"
        }
    }
}

fn why(inputs: &Inputs<'_>, job: &Job<'_>, straggler: &Straggler, longer: &[Difference]) -> String {
    let lost = || {
        let lost = Lost::of_parts(inputs, job.of_straggler.clone());
        let at = lost.at();
        if at.is_empty() { at } else { format!("{at}{}{}", lost.when(), lost.between()) }
    };
    match straggler.late {
        Late::Computes(ns) => {
            format!(", because it computes {} longer{}", time(ns), kernels(inputs, ns, longer))
        }
        Late::Host(ns) => {
            format!(", because its host needs {} longer{}", time(ns), lost())
        }
        Late::Idle(ns) => format!(", because its GPU is idle {} longer{}", time(ns), lost()),
        Late::Unknown => String::new(),
    }
}

/// A kernel that takes longer on one rank than on the others.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Difference {
    pub(super) name: String,
    /// How much longer it takes than usual, in ns.
    more_ns: i64,
    calls: u64,
    /// The usual number of calls.
    usual_calls: u64,
    /// Others run another kernel as often in its place: the same operator chooses it by the size of the work.
    has_counterpart: bool,
}

/// The kernels that take longer on a rank than in the middle of the others, most first.
pub(super) fn differences(inputs: &Inputs<'_>, job: &Job<'_>, rank: usize) -> Vec<Difference> {
    let needs = &job.ranks.needs;
    let Some(own) = needs.of(rank) else { return Vec::new() };
    let others = || (0..needs.ranks.len()).filter(move |&at| at != rank).filter_map(|at| needs.of(at));
    let middle = |mut values: Vec<f64>| crate::base::stats::median(&mut values);
    let difference = |(kernel, total): (&usize, &CallTotal)| {
        let theirs = || others().map(|need| need.kernels.get(kernel).copied().unwrap_or_default());
        Difference {
            name: inputs.analysis.names.kernels[*kernel].label.to_string(),
            more_ns: total
                .total_ns
                .saturating_sub(middle(theirs().map(|total| total.total_ns as f64).collect()) as i64),
            calls: total.calls,
            usual_calls: middle(theirs().map(|total| total.calls as f64).collect()) as u64,
            has_counterpart: false,
        }
    };
    // A kernel that others run in place of one that only this rank runs, by category and number of calls.
    let kernels = &inputs.analysis.names.kernels;
    let counterpart = |kernel: usize, calls: u64| {
        let is_one = |(other, total): &(&usize, &CallTotal)| {
            let is_foreign = !own.kernels.contains_key(other);
            is_foreign && total.calls == calls && kernels[**other].category == kernels[kernel].category
        };
        let of_rank = |need: &Need| {
            let one = need.kernels.iter().filter(is_one).min_by_key(|(other, _)| **other);
            one.map(|(_, total)| total.total_ns as f64)
        };
        let found: Option<Vec<f64>> = others().map(of_rank).collect();
        found.map(|found| middle(found) as i64)
    };
    let beside = |(kernel, total): (&usize, &CallTotal)| {
        let own = difference((kernel, total));
        match (own.usual_calls == 0).then(|| counterpart(*kernel, total.calls)).flatten() {
            Some(ns) => Difference { more_ns: own.more_ns.saturating_sub(ns), has_counterpart: true, ..own },
            None => own,
        }
    };
    let mut all: Vec<Difference> =
        own.kernels.iter().map(beside).filter(|difference| difference.more_ns > 0).collect();
    all.sort_by(|one, other| (other.more_ns, &one.name).cmp(&(one.more_ns, &other.name)));
    all
}

/// `, most of it in big_product, which only it runs (+18.0 ms)`; more than all of it where other kernels take less: beside collectives
/// that wait, those of the others are slower. Nothing where no few kernels make up most of `longer_ns`.
pub(super) fn kernels(inputs: &Inputs<'_>, longer_ns: i64, differences: &[Difference]) -> String {
    let much = (MOST * longer_ns as f64) as i64;
    let mut sum = 0_i64;
    let until = differences.iter().take(PLACES).position(|difference| {
        sum = sum.saturating_add(difference.more_ns);
        sum >= much
    });
    let Some(last) = until else { return String::new() };
    let named: Vec<String> = differences[..=last]
        .iter()
        .map(|difference| {
            let name = inputs.display(&difference.name);
            let more = time(difference.more_ns);
            match difference {
                Difference { has_counterpart: true, .. } => {
                    format!("{name} (+{more}, others run another kernel in its place)")
                }
                Difference { usual_calls: 0, .. } => format!("{name}, which only it runs (+{more})"),
                Difference { calls, usual_calls, .. } if calls > usual_calls => {
                    format!("{name} (+{more}, {calls} calls where others have {usual_calls})")
                }
                _ => format!("{name} (+{more})"),
            }
        })
        .collect();
    // What is beside those that are longer may be shorter.
    let most = if sum > longer_ns { ":" } else { ", most of it in" };
    format!("{most} {}", named.join(" and "))
}
