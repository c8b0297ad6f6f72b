//! Operators of a framework, with the GPU time of what they launched.
//!
//! An op of a GPU belongs to the innermost operator around the call that launched it, on the thread of that call.
//! Backward operators belong to forward ones by sequence number.

mod backward;
mod callers;
mod modules;
pub(crate) mod nesting;

use std::cmp::Reverse;

use rtl_schema::{NameId, Tables};
use serde::{Deserialize, Serialize};

pub(crate) use self::callers::Callers;
pub(crate) use self::modules::Modules;
pub(crate) use self::nesting::NONE;
use self::nesting::Nesting;
use crate::base::first_use::FirstUseMap;

/// All operators of one name with inputs of the same shapes.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct OperatorGroup {
    /// The operator, e.g. `aten::mm`.
    pub name: String,
    /// Sizes of its inputs as the source's text, if known.
    pub shapes: Option<String>,
    /// How many. One that does nothing but call itself again counts once.
    pub calls: u64,
    /// Ops (kernels, copies, fills) that they launched themselves.
    pub ops: u64,
    /// The sum of the durations of these in ns.
    pub own_gpu_ns: i64,
    /// Time in ns of these ops and of those that operators within launched. An operator within one of its own name and shapes
    /// is not counted twice.
    pub gpu_ns: i64,
    /// GPU time in ns of the backward operators that belong to these forward operators.
    pub backward_gpu_ns: i64,
    /// The sum of their durations on the host in ns.
    pub host_ns: i64,
}

/// The report on operators.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct OperatorReport {
    /// The sum of the durations of all ops in ns.
    pub gpu_ns: i64,
    /// The part of it that operators launched, in ns.
    pub in_operators_ns: i64,
    /// Most own GPU time first, then GPU time, then host time, then name and shapes.
    pub groups: Vec<OperatorGroup>,
}

impl OperatorGroup {
    /// Adds the figures of `other`.
    pub fn add(&mut self, other: &Self) {
        self.calls += other.calls;
        self.ops += other.ops;
        add(&mut self.own_gpu_ns, other.own_gpu_ns);
        add(&mut self.gpu_ns, other.gpu_ns);
        add(&mut self.backward_gpu_ns, other.backward_gpu_ns);
        add(&mut self.host_ns, other.host_ns);
    }

    /// Sorts by own GPU time, then GPU time, then host time, the most first, then by name and shapes.
    pub fn sort(groups: &mut [Self]) {
        groups.sort_by(|one, other| {
            let key = |group: &Self| Reverse((group.own_gpu_ns, group.gpu_ns, group.host_ns));
            let by_name = || (&one.name, &one.shapes).cmp(&(&other.name, &other.shapes));
            key(one).cmp(&key(other)).then_with(by_name)
        });
    }
}

struct Launched {
    nesting: Nesting,
    /// Indexed by row of the operators: ops and their time in ns, without those of operators within it.
    own: Vec<(u64, i64)>,
    /// Indexed by row: time in ns with those of operators within it.
    gpu_ns: Vec<i64>,
    /// Indexed by row: whether the operator around it only calls it and has its name, because the framework has dispatched
    /// one operator twice. Its ops are that one's.
    is_repeated: Vec<bool>,
    all_ns: i64,
}

/// Operators by name and shapes, `None` where the trace has none.
pub fn by_name(tables: &Tables) -> Option<OperatorReport> {
    let operators = &tables.operators;
    if operators.is_empty() {
        return None;
    }
    let launched = Launched::of(tables);
    let mut backward = vec![0; operators.len()];
    for (row, time) in backward::times(operators, &launched.nesting, &launched.gpu_ns) {
        add(&mut backward[launched.outermost(row) as usize], time);
    }
    let mut groups: FirstUseMap<(NameId, NameId), OperatorGroup> = FirstUseMap::default();
    for row in (0..operators.len()).filter(|&row| !launched.is_repeated[row]) {
        let group = groups.entry((operators.name[row], operators.shapes.get(row))).or_default();
        let (ops, own_gpu_ns) = launched.own[row];
        group.calls += 1;
        group.ops += ops;
        add(&mut group.own_gpu_ns, own_gpu_ns);
        add(&mut group.gpu_ns, launched.gpu_ns[row]);
        add(&mut group.backward_gpu_ns, backward[row]);
        add(&mut group.host_ns, operators.duration.valid(row).unwrap_or(0));
    }
    let named = |((name, shapes), group): ((NameId, NameId), OperatorGroup)| OperatorGroup {
        name: tables.strings.get(name).to_owned(),
        shapes: shapes.is_some().then(|| tables.strings.get(shapes).to_owned()),
        ..group
    };
    let mut groups: Vec<OperatorGroup> = groups.into_iter().map(named).collect();
    OperatorGroup::sort(&mut groups);
    let in_operators_ns = launched.own.iter().fold(0, |sum: i64, &(_, own)| sum.saturating_add(own));
    Some(OperatorReport { gpu_ns: launched.all_ns, in_operators_ns, groups })
}

impl Launched {
    fn of(tables: &Tables) -> Self {
        let operators = &tables.operators;
        let callers = Callers::of(tables);
        let mut own = vec![(0, 0); operators.len()];
        let mut all_ns = 0;
        let mut add_op = |operator: u32, length: i64| {
            add(&mut all_ns, length);
            if let Some((ops, own_ns)) = own.get_mut(operator as usize) {
                *ops += 1;
                add(own_ns, length);
            }
        };
        let dispatches = &tables.dispatches;
        for row in 0..dispatches.len() {
            add_op(callers.of_dispatch(tables, row), dispatches.duration.valid(row).unwrap_or(0));
        }
        for copy in &tables.copies {
            let operator = callers.of_op(tables, copy.track, copy.correlation);
            add_op(operator, copy.duration.unwrap_or(0).max(0));
        }
        let nesting = callers.nesting;
        let mut gpu_ns: Vec<i64> = own.iter().map(|&(_, own)| own).collect();
        // Operators come before those within them, so backwards each is complete when it is added.
        for &row in nesting.order.iter().rev() {
            let (parent, time) = (nesting.parent[row as usize], gpu_ns[row as usize]);
            if parent != NONE {
                add(&mut gpu_ns[parent as usize], time);
            }
        }
        let is_repeated = repeated(&nesting, &operators.name, &mut own);
        Self { nesting, own, gpu_ns, is_repeated, all_ns }
    }

    /// The operator that an operator repeats, or itself.
    fn outermost(&self, mut row: u32) -> u32 {
        while self.is_repeated[row as usize] {
            row = self.nesting.parent[row as usize];
        }
        row
    }
}

/// Finds operators that repeat the one around them, and moves what they launched themselves there.
fn repeated(nesting: &Nesting, names: &[NameId], own: &mut [(u64, i64)]) -> Vec<bool> {
    let mut children = vec![0_u32; names.len()];
    for &parent in nesting.parent.iter().filter(|&&parent| parent != NONE) {
        children[parent as usize] += 1;
    }
    let mut is_repeated = vec![false; names.len()];
    for row in nesting.order.iter().rev().map(|&row| row as usize) {
        let parent = nesting.parent[row] as usize;
        let is_only = children.get(parent) == Some(&1) && own[parent].0 == 0;
        if is_only && names[parent] == names[row] {
            is_repeated[row] = true;
            own[parent] = std::mem::take(&mut own[row]);
            children[parent] = children[row];
        }
    }
    is_repeated
}

fn add(sum: &mut i64, value: i64) {
    *sum = sum.saturating_add(value);
}
