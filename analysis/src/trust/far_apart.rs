//! Ops at times that no run has: stray ones that were left out, or parts of a trace of which one is of another clock.

use super::evidence::Evidence;
use super::reason::{Reason, Trust};
use crate::Analysis;
use crate::error::time;
use crate::trace::stray::is_absurd;

pub(super) fn reasons(analysis: &Analysis<'_>) -> [Option<Reason>; 2] {
    [stray(analysis), far_apart(analysis)]
}

fn stray(analysis: &Analysis<'_>) -> Option<Reason> {
    let tables = analysis.tables;
    let stray = tables.info.stray.as_ref()?;
    let left = (tables.dispatches.len() + tables.copies.len()) as u64;
    let evidence =
        vec![Evidence { name: stray.name.clone(), start_ns: stray.start_ns, ..Evidence::default() }];
    let sentence = format!("{}, and is left out of all figures", crate::trace::stray::sentence(stray));
    Some(Reason { evidence, ..Reason::new("stray-ops", stray.count, left + stray.count, sentence) })
}

/// A gap beside which the rest of the trace is nothing: wall time, idle time and busy share are those of the gap.
fn far_apart(analysis: &Analysis<'_>) -> Option<Reason> {
    let sweep = analysis.sweep();
    let of_gpus = sweep.longest.iter().filter_map(|gap| {
        let gpu = sweep.gpus.iter().find(|gpu| (gpu.gpu, &gpu.label) == (gap.gpu, &gap.label))?;
        is_absurd(gap.duration_ns, gpu.wall_ns - gap.duration_ns).then_some((gap, gpu))
    });
    let (gap, gpu) = of_gpus.min_by_key(|(gap, _)| (gap.gpu, gap.start_ns))?;
    let sentence = format!(
        "{} has no op for {} of its {}: the times before and after are hardly of one run",
        gpu.label,
        time(gap.duration_ns),
        time(gpu.wall_ns),
    );
    let end_ns = Some(gap.start_ns.saturating_add(gap.duration_ns));
    let evidence = vec![Evidence { name: gap.after.clone(), start_ns: gap.start_ns, end_ns, correlation: 0 }];
    let (count, of) = (gap.duration_ns.unsigned_abs(), gpu.wall_ns.unsigned_abs());
    Some(Reason { evidence, trust: Trust::Bad, ..Reason::new("far-apart", count, of, sentence) })
}
