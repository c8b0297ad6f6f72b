//! One run in the numbers that a comparison needs: what each kernel did, and where, without the rows.

mod busy;
mod part;
mod scatter;
mod strata;
mod waiting;
mod warmup;

use rtl_schema::Tables;
use rtl_schema::table::Direction;

pub use self::part::Part;
use self::scatter::{Kept, Scattered};
use self::strata::Strata;
pub use self::waiting::CollectiveWaits;
pub use self::warmup::Warmup;
use crate::Categories;
use crate::compare::Run;
use crate::names::Names;
use crate::order::Order;

/// What kernels are told apart by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum KernelKey {
    /// The name.
    #[default]
    Name,
    /// The name and the launch shape.
    Launch,
}

/// A run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Profile {
    /// Kernels that ran, by name, then by launch shape.
    pub kernels: Vec<Kernel>,
    /// GPUs that ran anything, by number.
    pub gpus: Vec<GpuProfile>,
    /// The rank that the others waited for in collectives, where there are several ranks and one stands out.
    pub straggler: Option<String>,
}

/// A kernel of a run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Kernel {
    /// Its name without descriptor suffix.
    pub name: String,
    /// The launch shape in words, with [`KernelKey::Launch`].
    pub launch: Option<String>,
    /// Whether it waits for other ranks.
    pub collective: bool,
    /// Its durations, GPU after GPU in launch order, without the warm-up.
    pub run: Run,
    /// How many calls were left out as warm-up.
    pub warmup: u64,
    /// The launch shapes that it ran in, in words, sorted; empty where the trace does not say.
    pub shapes: Vec<String>,
    /// What is known of the launch shapes of the calls that `run` is made of.
    pub mix: Mix,
    /// What its calls are made of, where it is a collective that was matched on several ranks.
    pub waiting: Option<CollectiveWaits>,
    /// The kernels before and after its first call on the first GPU that ran it.
    pub neighbours: [Option<String>; 2],
}

/// The launch shapes of the calls of a kernel in a run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Mix {
    /// Not that of every call, or kernels are told apart by shape.
    #[default]
    Unknown,
    /// All calls are of the one in [`Kernel::shapes`].
    One,
    /// Call by call.
    Several(Calls),
}

/// The calls of a kernel in a run, one by one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Calls {
    /// Durations in ns.
    pub durations: Part<i64>,
    /// The position in [`Kernel::shapes`] of the shape of each.
    pub shapes: Part<u32>,
}

/// A GPU of a run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GpuProfile {
    /// Its number.
    pub gpu: i64,
    /// First start to last end in ns.
    pub wall_ns: i64,
    /// Union of all ops in ns.
    pub busy_ns: i64,
    /// What ran on it, warm-up included, so that the books hold all of the wall.
    pub work: Vec<ActivityTotal>,
}

/// What one kernel or kind of copy did on one GPU in one launch shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActivityTotal {
    /// What ran.
    pub item: Activity,
    /// The launch shape in words, if known.
    pub shape: Option<String>,
    /// How often.
    pub calls: u64,
    /// How long, in ns.
    pub total_ns: i64,
}

/// What ran.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Activity {
    /// A position in [`Profile::kernels`].
    Kernel(usize),
    /// Copies or fills, by direction.
    Copies(Direction),
}

/// Reduces the rows of one run: about 16 bytes of memory an op on top of the columns, 4 more while there are several
/// launch shapes, and 12 for each call that [`Kernel::mix`] keeps. The order of rows does not matter.
pub fn profile(tables: &Tables, categories: &Categories, by: KernelKey, warmup: Warmup) -> Profile {
    let names = Names::of(tables, categories);
    let order = Order::of(tables);
    let strata = Strata::of(tables, &names, &order);
    let groups = strata.groups(by);
    let scattered = Scattered::of(tables, &order, &strata, &groups);

    let waiting::Found { mut waiting, straggler } = waiting::found(tables, &names, &strata, &groups, warmup);
    let mut kernels: Vec<(usize, Kernel)> = groups
        .all
        .iter()
        .enumerate()
        .map(|(group, about)| {
            let Kept { run, left_out, mix } = scattered.run(group, about, warmup);
            let kernel = names.kernels[about.kernel];
            let neighbours = scattered.neighbours(tables, &order, group).map(|name| name.map(str::to_owned));
            let kernel = Kernel {
                name: kernel.label.to_owned(),
                launch: about.launch.clone(),
                collective: kernel.category == crate::categories::COLLECTIVE,
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

    let mut gpus: Vec<GpuProfile> = order
        .agents
        .iter()
        .zip(&scattered.lasted)
        .enumerate()
        .map(|(place, (ops, &[wall_ns, busy_ns]))| {
            let mut work: Vec<ActivityTotal> = strata
                .of_place(place)
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
            let agent = tables.agents.get(ops.agent.index());
            GpuProfile { gpu: agent.map_or(-1, |agent| agent.number), wall_ns, busy_ns, work }
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
