//! Copies and memsets that no kernel runs beside.

use rtl_schema::NameId;
use rtl_schema::table::{Copy, Direction};
use rustc_hash::FxHashMap;

use super::finding::{Finding, PLACES};
use super::inputs::Inputs;
use super::words::{counted, percent, time};
use crate::gpu_time::operators::Callers;
use crate::trust::Evidence;

/// The operator that copies: one around it says what for.
const COPY: &str = "aten::copy_";

/// From this part of the time on other copies are worth a word.
const NEWS: f64 = 0.05;

pub(super) fn findings(inputs: &Inputs<'_>) -> Vec<Finding> {
    let of_gpus = || inputs.gpus().iter().zip(inputs.idle());
    // Those that the host waits for are a finding of their own.
    let alone = of_gpus()
        .map(|(gpu, idle)| gpu.copies_alone_ns().saturating_sub(idle.blocking_copies_alone_ns).max(0));
    let finding = Finding::of_gpus("copies-alone", inputs, alone.collect());
    if finding.cost_ns == 0 {
        return Vec::new();
    }
    let (direction, count) = most(inputs);
    let help = match direction {
        Direction::DeviceToDevice | Direction::Fill => {
            "write results where they are needed (in place, `out=`, the static inputs of graphs), keep layouts contiguous, or let a \
             kernel copy what it reads anyway"
        }
        _ => {
            "copy while kernels run (pinned memory, a stream of its own, the next batch ahead of time), copy less, or keep the data \
             on the GPU"
        }
    };
    let waited = of_gpus().fold(0, |sum: i64, (_, idle)| sum.saturating_add(idle.blocking_copies_alone_ns));
    let besides = match waited / inputs.gpus().len().max(1) as i64 {
        ns if (ns as f64) < NEWS * finding.cost_ns as f64 => String::new(),
        ns => format!(", besides {} of copies that the host waits for", time(ns)),
    };
    let launched =
        operator(inputs, direction).map_or_else(String::new, |name| format!(", most launched in {name}"));
    vec![Finding {
        sentence: format!(
            "nothing but copies runs for {}{} ({} of the wall time{besides}), most of them {} ({}){launched}",
            time(finding.cost_ns),
            finding.on(inputs),
            percent(finding.share),
            direction.label(),
            counted(count, "copy", "copies"),
        ),
        look: "rtl-summary --section copies,gpus TRACE".to_owned(),
        help: help.to_owned(),
        evidence: longest(inputs),
        ..finding
    }]
}

fn rows<'a>(inputs: &'a Inputs<'_>) -> impl Iterator<Item = &'a Copy> {
    let takes_time = |copy: &&Copy| copy.duration.is_some_and(|ns| ns > 0);
    inputs.analysis.tables.copies.iter().filter(takes_time)
}

/// The direction in which most time goes, with its number of copies.
fn most(inputs: &Inputs<'_>) -> (Direction, u64) {
    let mut times: FxHashMap<&str, (i64, Direction, u64)> = FxHashMap::default();
    for copy in rows(inputs) {
        let (ns, _, count) = times.entry(copy.direction.label()).or_insert((0, copy.direction, 0));
        (*ns, *count) = (ns.saturating_add(copy.duration.unwrap_or(0)), *count + 1);
    }
    let most = times.into_iter().max_by_key(|(label, (ns, ..))| (*ns, std::cmp::Reverse(*label)));
    most.map_or((Direction::Unknown, 0), |(_, (_, direction, count))| (direction, count))
}

/// The innermost operator in which at least half of the time of copies of this direction was launched.
fn operator<'a>(inputs: &'a Inputs<'_>, direction: Direction) -> Option<&'a str> {
    let tables = inputs.analysis.tables;
    if tables.operators.is_empty() {
        return None;
    }
    let callers = Callers::of(tables);
    let text =
        |row: u32| tables.operators.name.get(row as usize).map(|&name: &NameId| tables.strings.get(name));
    let mut times: FxHashMap<&str, (i64, u64)> = FxHashMap::default();
    let mut total = 0_i64;
    for copy in rows(inputs).filter(|copy| copy.direction == direction) {
        let ns = copy.duration.unwrap_or(0);
        total = total.saturating_add(ns);
        let innermost = callers.of_op(tables, copy.track, copy.correlation);
        let chain = std::iter::successors(Some(innermost), |&row| Some(callers.parent(row)));
        let mut names: Vec<&str> = Vec::new();
        for (distance, name) in (0..).zip(chain.map_while(text)) {
            if !names.contains(&name) {
                names.push(name);
                let (time, distances) = times.entry(name).or_default();
                (*time, *distances) = (time.saturating_add(ns), *distances + distance);
            }
        }
    }
    let is_most = |ns: i64| ns.saturating_mul(2) >= total;
    let found = times.iter().filter(|&(name, (ns, _))| is_most(*ns) && *name != COPY);
    found.min_by_key(|&(name, &(ns, distances))| (ns, distances, *name)).map(|(name, _)| *name)
}

fn longest(inputs: &Inputs<'_>) -> Vec<Evidence> {
    let mut copies: Vec<&Copy> = rows(inputs).collect();
    copies.sort_by_key(|copy| (std::cmp::Reverse(copy.duration), copy.start));
    let evidence = |copy: &&Copy| Evidence {
        name: copy.direction.label().to_owned(),
        start_ns: copy.start,
        end_ns: copy.duration.map(|ns| copy.start.saturating_add(ns)),
        correlation: copy.correlation,
    };
    copies.iter().take(PLACES).map(evidence).collect()
}
