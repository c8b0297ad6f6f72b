//! The idle time of GPUs where nothing ties ops to the host: all gaps have an unknown cause, and the sweep has found them. Losses
//! would repeat that.

use rtl_schema::Tables;

use crate::gpu_time::sweep::{Gpu, GpuGaps, LongGap, Swept};
use crate::idle::{Cause, CauseIdle, GapPart, GpuIdle, IdleGap, LONGEST_OF_CAUSE, Place};

/// Idle time by GPU number, as [`crate::idle::idle`] finds it.
pub(crate) fn unknown_idle(tables: &Tables, Swept { sweep, longest }: &Swept) -> Vec<GpuIdle> {
    let gpus = sweep.gpus.iter().zip(&sweep.gaps).zip(longest);
    gpus.map(|((gpu, gaps), longest)| idle_of(tables, gpu, gaps, longest)).collect()
}

fn idle_of(tables: &Tables, gpu: &Gpu, gaps: &GpuGaps, longest: &[LongGap]) -> GpuIdle {
    let longest: Vec<IdleGap> = longest.iter().map(|gap| described(tables, gpu, gap)).collect();
    let gaps = gaps.buckets.iter().map(|bucket| bucket.count).sum();
    let &Gpu { gpu: number, wall_ns, idle_ns, .. } = gpu;
    let cause = longest.first().map(|first| CauseIdle {
        cause: Cause::Unknown,
        idle_ns,
        own_ns: idle_ns,
        share: if wall_ns == 0 { 0.0 } else { idle_ns as f64 / wall_ns as f64 },
        gaps,
        longest_ns: first.duration_ns,
        places: Vec::new(),
        longest: longest.iter().take(LONGEST_OF_CAUSE).cloned().collect(),
    });
    GpuIdle {
        gpu: number,
        label: gpu.label.clone(),
        wall_ns,
        idle_ns,
        gaps,
        causes: Vec::from_iter(cause),
        longest,
        ..GpuIdle::default()
    }
}

fn described(tables: &Tables, gpu: &Gpu, gap: &LongGap) -> IdleGap {
    let (start_ns, duration_ns) = gap.times(gpu);
    let mut own = [0; Cause::ALL.len()];
    own[Cause::Unknown as usize] = duration_ns;
    IdleGap {
        start_ns,
        duration_ns,
        after: gap.after.name(tables).to_owned(),
        correlation: gap.after.correlation(tables),
        parts: vec![GapPart { cause: Cause::Unknown, idle_ns: duration_ns, place: Place::default() }],
        own,
        after_blocking: None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rtl_schema::AgentId;
    use rtl_schema::table::{Agent, AgentKind, Copy, Dispatch, Track};

    use super::*;
    use crate::idle;
    use crate::launches::EnqueueTimes;
    use crate::{Analysis, Categories};

    proptest! {
        #[test]
        fn a_sweep_tells_of_idle_time_what_a_walk_of_its_own_finds(
            ops in prop::collection::vec(
                (0_u32..2, 0_i64..600, prop_oneof![0_i64..3, 0_i64..200], 0_usize..3, 0_i64..3, any::<bool>()),
                0..60,
            ),
        ) {
            let mut tables = Tables::default();
            let names = ["gemm", "softmax", "ncclAllReduce"].map(|name| tables.strings.intern(name));
            for number in 0..2 {
                tables.agents.push(Agent { number, kind: AgentKind::Gpu, ..Agent::default() });
            }
            for (agent, start, duration, name, correlation, is_copy) in ops {
                let track = tables.tracks.intern(Track { agent: AgentId(agent), ..Track::default() });
                let duration = Some(duration);
                match is_copy {
                    true => tables.copies.push(Copy { track, start, duration, correlation, ..Copy::default() }),
                    false => {
                        let name = names[name];
                        let op = Dispatch { track, name, start, duration, correlation, ..Dispatch::default() };
                        tables.dispatches.push(op);
                    }
                }
            }
            let analysis = Analysis::new(&tables, &Categories::default());
            let order = analysis.order();
            let mut walked = idle::idle(&tables, order, &EnqueueTimes::new(&tables, order));
            walked.iter_mut().for_each(|gpu| (gpu.losses, gpu.before) = Default::default());
            prop_assert_eq!(analysis.idle(), walked);
        }
    }
}
