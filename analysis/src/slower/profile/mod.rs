//! One run reduced to the numbers that a comparison needs: the calls of each kernel, and wall and busy time of each GPU.

mod calls;
mod strata;
mod types;
mod waiting;
mod warmup;

use rtl_schema::Tables;
use rustc_hash::FxHashMap;

use self::calls::{CallBuffer, GroupCalls};
use self::strata::Strata;
pub use self::types::{ActivityTotal, CollectiveWaits, GpuProfile, Kernel, KernelKey, Profile};
pub use self::warmup::Warmup;
use crate::Analysis;
pub use crate::base::activity::Activity;
use crate::idle::GpuIdle;
use crate::launches::has_launch_data;
use crate::names::labels;
pub use crate::slower::run::mix::Mix;

/// Reduces the rows of one run: about 16 bytes of memory an op on top of the columns, 4 more while there are several
/// launch shapes, and 12 for each call that [`Kernel::mix`] keeps. The order of rows does not matter.
pub fn profile(analysis: &Analysis<'_>, by: KernelKey, warmup: Warmup) -> Profile {
    let (tables, names, order) = (analysis.tables, &analysis.names, analysis.order());
    let strata = Strata::new(tables, names, order);
    let groups = strata.groups(by);
    let calls = CallBuffer::new(tables, order, &strata, &groups);

    let waiting::CollectiveFigures { mut waiting, straggler } =
        waiting::match_collectives(tables, names, &strata, &groups, warmup);
    let mut kernels: Vec<(usize, Kernel)> = groups
        .all
        .iter()
        .enumerate()
        .map(|(group, about)| {
            let GroupCalls { run, left_out, mix } = calls.run(group, about, warmup);
            let kernel = &names.kernels[about.kernel];
            let neighbours = calls.neighbours(tables, order, group).map(|name| name.map(str::to_owned));
            let kernel = Kernel {
                name: kernel.label.to_string(),
                launch: about.launch.clone(),
                collective: kernel.is_collective(),
                run,
                warmup: left_out,
                shapes: about.shapes.clone(),
                mix,
                waiting: waiting.get_mut(group).and_then(Option::take),
                neighbours,
            };
            (group, kernel)
        })
        .collect();
    kernels.sort_by(|(_, one), (_, other)| (&one.name, &one.launch).cmp(&(&other.name, &other.launch)));
    let mut position_of_group = vec![0; kernels.len()];
    for (position, (group, _)) in kernels.iter().enumerate() {
        position_of_group[*group] = position;
    }

    let idle = if has_launch_data(tables) { analysis.idle() } else { &[] };
    let idle: FxHashMap<(i64, &str), &GpuIdle> =
        idle.iter().rev().map(|idle| ((idle.gpu, idle.label.as_str()), idle)).collect();
    let mut gpus: Vec<GpuProfile> = order
        .agents
        .iter()
        .zip(&calls.wall_and_busy_ns)
        .zip(strata.by_place(order.agents.len()))
        .map(|((ops, &[wall_ns, busy_ns]), strata_of_place)| {
            let mut work: Vec<ActivityTotal> = strata_of_place
                .into_iter()
                .map(|(stratum, amount)| ActivityTotal {
                    item: Activity::Kernel(position_of_group[groups.of_stratum[stratum]]),
                    shape: strata.shape(stratum).map(str::to_owned),
                    calls: amount.calls,
                    total_ns: amount.total_ns,
                })
                .collect();
            work.extend(ops.copies.iter().map(|&row| copy_work(tables, row)));
            work.sort_by(|one, other| {
                (&one.item, &one.shape, one.total_ns).cmp(&(&other.item, &other.shape, other.total_ns))
            });
            let gpu = tables.agents.get(ops.agent.index()).map_or(-1, |agent| agent.number);
            let label = labels::agent(tables, ops.agent);
            let idle = idle.get(&(gpu, label.as_str())).map_or_else(Vec::new, |idle| idle.by_cause());
            GpuProfile { gpu, wall_ns, busy_ns, idle, work }
        })
        .collect();
    gpus.sort_by_key(|gpu| gpu.gpu);
    Profile { kernels: kernels.into_iter().map(|(_, kernel)| kernel).collect(), gpus, straggler }
}

/// A copy as work of its direction.
fn copy_work(tables: &Tables, row: u32) -> ActivityTotal {
    let copy = &tables.copies[row as usize];
    ActivityTotal {
        item: Activity::Copies(copy.direction),
        shape: None,
        calls: 1,
        total_ns: copy.duration.unwrap_or(0).max(0),
    }
}
