//! The ops that the ranges of each name enclose, each counted once however many ranges of the name it is in.

use rtl_schema::Tables;

use super::attribution::{Attribution, Cursor};
use super::sets::Sets;
use crate::base::ops::Order;
use crate::base::union_length::{UnionLength, to_ns};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Enclosed {
    pub(super) ops: u64,
    pub(super) gpu_ns: i64,
    pub(super) gpu_busy_ns: i64,
}

/// Figures indexed by name of `attribution`; goes from each op to the names around it.
pub(super) fn op_by_op(
    tables: &Tables,
    order: &Order,
    attribution: &Attribution,
    sets: &Sets,
) -> Vec<Enclosed> {
    // With the GPU that the union is of: most names enclose ops of few of thousands of GPUs.
    let mut enclosed =
        vec![(Enclosed::default(), UnionLength::default(), usize::MAX); attribution.names.len()];
    let mut cursor = Cursor::default();
    for (gpu, ops) in order.agents.iter().enumerate() {
        for same in ops.in_order(tables) {
            for op in same.ops() {
                let length = op.length(tables);
                for &name in sets.at(attribution.op(tables, op, &mut cursor)) {
                    let (name, union, of_gpu) = &mut enclosed[name as usize];
                    if std::mem::replace(of_gpu, gpu) != gpu {
                        *union = UnionLength::default();
                    }
                    let added = union.add(same.start, same.start.saturating_add(length));
                    name.ops += 1;
                    name.gpu_ns = name.gpu_ns.saturating_add(to_ns(length));
                    name.gpu_busy_ns = name.gpu_busy_ns.saturating_add(to_ns(added));
                }
            }
        }
    }
    enclosed.into_iter().map(|(name, ..)| name).collect()
}
