//! One rank that the others wait for.

use super::finding::{Finding, PLACES};
use super::imbalance;
use super::inputs::Inputs;
use super::words::{percent, time};
use crate::base::stats::median;
use crate::ranks::Rank;
use crate::trust::Evidence;

/// From this part of the time that a rank is late, a property of the rank explains it.
const EXPLAINS: f64 = 0.5;

pub(super) fn finding(inputs: &Inputs<'_>) -> Option<Finding> {
    let straggler = inputs.straggler().filter(|_| !imbalance::is_of_several(inputs))?;
    let name = straggler.name.as_str();
    let others = || inputs.ranks().iter().filter(|rank| rank.name != name && rank.collectives > 0);
    // Without it every rank would end earlier, the straggler too.
    let late = usual(others(), |rank| inputs.waiting_ns(rank));
    let mut finding = Finding::new("straggler", inputs, late.saturating_mul(inputs.gpus().len() as i64));
    let why = match cause(inputs, straggler, late) {
        Some(why) => format!(", because {why}"),
        None => String::new(),
    };
    finding.sentence = format!(
        "{name} arrives last in {} of {} collectives{why}; the others wait {} each with nothing beside it ({} of the wall \
         time)",
        straggler.clock_free_last,
        straggler.collectives,
        time(finding.cost_ns),
        percent(finding.share),
    );
    finding.ranks = straggler.rank.into_iter().collect();
    finding.gpus = vec![straggler.gpu];
    finding.evidence = kernels(inputs, name).into_iter().take(PLACES).collect();
    finding.look = match straggler.rank {
        Some(rank) => format!("rtl-summary --rank {rank} TRACE; rtl-summary --by rank TRACE"),
        None => "rtl-summary --by rank TRACE".to_owned(),
    };
    finding.help = "compare that rank with another one: its share of the data, its host (other processes, its loader), the \
                    clocks and temperature of its GPU"
        .to_owned();
    Some(finding)
}

/// Why a rank is late, and others wait `late_ns` for it.
fn cause(inputs: &Inputs<'_>, straggler: &Rank, late_ns: i64) -> Option<String> {
    let others = || inputs.ranks().iter().filter(|rank| rank.name != straggler.name);
    let enough = EXPLAINS * late_ns as f64;
    let compute = usual(others(), |rank| rank.compute_ns);
    let longer = straggler.compute_ns.saturating_sub(compute);
    if longer as f64 >= enough {
        let kernel = inputs.ranks?.kernels.iter().find(|kernel| kernel.rank == straggler.name);
        let most = kernel.map(|kernel| {
            let more = kernel.most_ns - kernel.mean_ns as i64;
            let calls = match kernel.most_calls > kernel.least_calls {
                true => {
                    format!(", {} calls where another rank has {}", kernel.most_calls, kernel.least_calls)
                }
                false => String::new(),
            };
            format!(", most of it in {} (+{}{calls})", inputs.display(&kernel.name), time(more))
        });
        return Some(format!("it computes {} longer{}", time(longer), most.unwrap_or_default()));
    }
    let idle = |rank: &Rank| inputs.idle_of(rank);
    let longer = idle(straggler).saturating_sub(usual(others(), idle));
    (longer as f64 >= enough).then(|| format!("its GPU is idle {} longer", time(longer)))
}

fn usual<'a>(ranks: impl Iterator<Item = &'a Rank>, value: impl Fn(&Rank) -> i64) -> i64 {
    let mut values: Vec<f64> = ranks.map(|rank| value(rank) as f64).collect();
    if values.is_empty() { 0 } else { median(&mut values) as i64 }
}

/// The kernels that take most more time on that rank.
fn kernels(inputs: &Inputs<'_>, name: &str) -> Vec<Evidence> {
    let kernels = inputs.ranks.iter().flat_map(|ranks| &ranks.kernels);
    let own = kernels.filter(|kernel| kernel.rank == name && kernel.most_ns as f64 > kernel.mean_ns);
    own.map(|kernel| Evidence { name: kernel.name.clone(), ..Evidence::default() }).collect()
}
