//! The ops of each GPU over time.

use super::levels::{Cells, Item, Level};
use crate::Analysis;
use crate::base::ops::{AgentOps, Op};
use crate::names::labels;

/// How many cells the finest levels of all GPUs have together.
const CELLS: usize = 1 << 18;

/// The most cells of one GPU.
const MOST: usize = 1 << 14;

/// The fewest cells of one GPU.
const LEAST: usize = 64;

/// A cell has at least this number of ns.
const SHORTEST: u64 = 16;

/// A trace of at most this number of ops keeps them all.
const ALL: usize = 40_000;

/// How many ops of a larger one are kept: the longest.
const LONGEST: usize = 16_000;

/// The ops of all GPUs at several levels of detail.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Timeline {
    /// The first start of an op in ns.
    pub from_ns: i64,
    /// The last end of an op in ns.
    pub to_ns: i64,
    /// GPUs with at least one op, by number.
    pub gpus: Vec<TimelineGpu>,
    /// True if `ops` of the GPUs are all ops.
    pub is_complete: bool,
}

/// The timeline of one GPU.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TimelineGpu {
    /// Number of the GPU in the trace.
    pub gpu: i64,
    /// Label of the GPU, such as `GPU 0`.
    pub label: String,
    /// The coarsest level first; each has four times the cells of the one before.
    pub levels: Vec<Level>,
    /// The longest ops by start.
    pub ops: Vec<DrawnOp>,
}

/// An op of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct DrawnOp {
    /// Start of the op in ns.
    pub start_ns: i64,
    /// Duration of the op in ns.
    pub duration_ns: i64,
    /// The position of the kernel in [`Analysis::kernels`]; `None` for a copy.
    pub kernel: Option<usize>,
}

pub(super) fn timeline(analysis: &Analysis<'_>) -> Option<Timeline> {
    let (tables, order) = (analysis.tables, analysis.order());
    let gpus = &analysis.sweep().gpus;
    let from_ns = gpus.iter().map(|gpu| gpu.start_ns).min()?;
    let to_ns = gpus.iter().map(|gpu| gpu.end_ns).max()?;
    let positions = analysis.positions_by_total();
    let kernel = |op: Op| {
        (!op.copy).then(|| positions[analysis.names.kernel(tables.dispatches.name[op.row as usize])])
    };
    let drawn = |op: Op| DrawnOp {
        start_ns: op.start(tables),
        duration_ns: i64::try_from(op.length(tables)).unwrap_or(i64::MAX),
        kernel: kernel(op),
    };
    let shortest = shortest_kept(analysis);
    // Ends of cells are whole ns, which must not matter.
    let most = to_ns.abs_diff(from_ns) / SHORTEST;
    let cells = cells_of_a_gpu(order.agents.len()).min(1 << most.max(1).ilog2());
    let gpu = |ops: &AgentOps| {
        let base = ops.base(tables);
        let mut finest = Cells::new(cells, (from_ns, to_ns));
        let mut kept = Vec::new();
        for same in ops.in_order(tables) {
            let start = base.saturating_add_unsigned(same.start);
            for op in same.ops() {
                let length = op.length(tables);
                let item = kernel(op).map_or(Item::COPY, Item::kernel);
                finest.add(start, start.saturating_add_unsigned(length), item);
                if length >= shortest {
                    kept.push(drawn(op));
                }
            }
        }
        kept.sort_unstable();
        TimelineGpu {
            gpu: tables.agents.get(ops.agent.index()).map_or(-1, |agent| agent.number),
            label: labels::agent(tables, ops.agent),
            levels: finest.finish(),
            ops: kept,
        }
    };
    let mut gpus: Vec<TimelineGpu> = order.agents.iter().map(gpu).collect();
    gpus.sort_by(|one, other| (one.gpu, &one.label).cmp(&(other.gpu, &other.label)));
    Some(Timeline { from_ns, to_ns, gpus, is_complete: shortest == 0 })
}

fn cells_of_a_gpu(gpus: usize) -> usize {
    let each = (CELLS / gpus.max(1)).clamp(LEAST, MOST);
    // A power of two, so that levels are whole.
    1 << each.ilog2()
}

/// The length in ns from which on ops are kept; 0 where all are.
fn shortest_kept(analysis: &Analysis<'_>) -> u64 {
    let ops = || analysis.order().agents.iter().flat_map(AgentOps::ops);
    let mut lengths: Vec<u64> = ops().map(|op| op.length(analysis.tables)).collect();
    if lengths.len() <= ALL {
        return 0;
    }
    let at = lengths.len() - LONGEST;
    let (_, &mut shortest, _) = lengths.select_nth_unstable(at);
    // Of many ops of one length all would be kept, or none.
    shortest.saturating_add(1)
}

#[cfg(test)]
mod tests {
    use rtl_schema::table::{Dispatch, Track};
    use rtl_schema::{AgentId, Tables};

    use super::*;
    use crate::Categories;
    use crate::pictures::levels::Cell;

    #[test]
    fn a_timeline_has_the_ops_of_each_gpu() {
        let mut tables = Tables::default();
        for (agent, name, start, duration) in [(0, "a", 0, 100), (1, "b", 50, 50), (0, "a", 120, 80)] {
            let track = tables.tracks.intern(Track { agent: AgentId(agent), ..Track::default() });
            let name = tables.strings.intern(name);
            let duration = Some(duration);
            tables.dispatches.push(Dispatch { track, name, start, duration, ..Dispatch::default() });
        }
        let analysis = Analysis::new(&tables, &Categories::default());
        let timeline = analysis.timeline().unwrap();
        assert_eq!((timeline.from_ns, timeline.to_ns, timeline.is_complete), (0, 200, true));
        let ops: Vec<Vec<_>> = timeline
            .gpus
            .iter()
            .map(|gpu| gpu.ops.iter().map(|op| (op.start_ns, op.duration_ns, op.kernel)).collect())
            .collect();
        assert_eq!(ops, [vec![(0, 100, Some(0)), (120, 80, Some(0))], vec![(50, 50, Some(1))]]);
        assert_eq!(Analysis::new(&Tables::default(), &Categories::default()).timeline(), None);
    }

    #[test]
    fn the_cells_of_a_short_trace_are_parts_of_its_time() {
        let mut tables = Tables::default();
        let track = tables.tracks.intern(Track::default());
        let name = tables.strings.intern("a");
        for (start, duration) in [(0, 100), (175, 25)] {
            tables.dispatches.push(Dispatch {
                track,
                name,
                start,
                duration: Some(duration),
                ..Dispatch::default()
            });
        }
        let timeline = Analysis::new(&tables, &Categories::default()).timeline().unwrap();
        let finest = timeline.gpus[0].levels.last().unwrap();
        let busy = |part: &[Cell]| {
            part.iter().map(|cell| f64::from(cell.busy)).sum::<f64>() / 255.0 / part.len() as f64
        };
        let parts: Vec<f64> = finest.chunks(finest.len() / 4).map(busy).collect();
        assert_eq!(finest.len(), 8);
        assert!(
            parts.iter().zip([1.0, 1.0, 0.0, 0.5]).all(|(part, expected)| (part - expected).abs() < 0.05),
            "{parts:?}"
        );
    }

    #[test]
    fn many_gpus_have_fewer_cells_each() {
        assert_eq!([1, 8, 16, 1_000, 1_024].map(cells_of_a_gpu), [16_384, 16_384, 16_384, 256, 256]);
        assert_eq!(cells_of_a_gpu(1_000_000), 64);
    }
}
