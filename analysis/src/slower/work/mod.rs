//! The GPU time of a run by operator, module, category or step: what two runs have in common whose kernels have other names.
//!
//! The work of a run is a tree: an op belongs to the innermost operator (or module) around its launch, and each of these to
//! the one around it. [`align()`] finds the level of the tree that both sides have.

mod align;
mod tree;

use rtl_schema::Tables;

pub use self::align::{Aligned, align};
use self::tree::Builder;
pub use self::tree::WorkNode;
use crate::Analysis;
use crate::base::ops::{AgentOps, Op};
use crate::gpu_time::operators::{Callers, Modules, NONE};
use crate::names::kernel_names::KernelNames;
use crate::slower::complete_steps::CompleteSteps;
use crate::slower::profile::GpuProfile;

/// The parts that the work of a run is divided into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkKey {
    /// Operators of a framework, by name and shapes of the inputs.
    Operator,
    /// Modules of a framework, by path.
    Module,
    /// Categories of kernels, and directions of copies.
    Category,
    /// Steps, paired by position.
    Step,
}

/// The name of work that nothing of the kind launched.
const NOTHING: [&str; 3] = ["(no operator)", "(no module)", "(no step)"];

/// The work of one run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Work {
    /// A node comes after the one around it.
    pub nodes: Vec<WorkNode>,
    /// Steps over which the times of the nodes are spread; `None` where the trace has none, and each node has one time.
    pub steps: Option<usize>,
    /// First start to last end in ns, summed over GPUs.
    pub wall_ns: i64,
    /// The union of all ops in ns, summed over GPUs.
    pub busy_ns: i64,
    /// The number of dispatches and copies.
    pub ops: u64,
    /// True if nothing of the kind launched any of them: a trace without operators, modules or steps.
    pub is_unknown: bool,
}

impl Work {
    /// The work of a trace that has only the ops of complete `steps`, if there are any; `gpus` are those of its profile. Needs
    /// operators, calls, ranges and links, and Python frames for modules.
    pub fn new(
        analysis: &Analysis<'_>,
        key: WorkKey,
        steps: Option<&CompleteSteps>,
        gpus: &[GpuProfile],
    ) -> Self {
        let (tables, names) = (analysis.tables, &analysis.names);
        // A step is a node of its own, with one time.
        let by_step = steps.filter(|_| key != WorkKey::Step);
        let mut builder = Builder::new(by_step.map_or(1, CompleteSteps::count));
        let place = Place::new(tables, names, key, steps);
        for op in analysis.order().agents.iter().flat_map(AgentOps::ops) {
            let node = place.node(tables, op, &mut builder);
            let time = by_step.map_or(Some(0), |steps| steps.of_op(tables, op)).unwrap_or(0);
            let is_collective = !op.copy && names.is_collective(tables.dispatches.name[op.row as usize]);
            let length = i64::try_from(op.length(tables)).unwrap_or(i64::MAX);
            builder.add(node, time, length, is_collective);
        }
        let (nodes, ops) = builder.finish();
        let is_unknown = nodes.iter().all(|node| NOTHING.contains(&node.name.as_str()));
        let sum = |figure: fn(&GpuProfile) -> i64| gpus.iter().map(figure).fold(0, i64::saturating_add);
        Self {
            nodes,
            steps: steps.map(CompleteSteps::count),
            wall_ns: sum(|gpu| gpu.wall_ns),
            busy_ns: sum(|gpu| gpu.busy_ns),
            ops,
            is_unknown,
        }
    }
}

struct Place<'a> {
    names: &'a KernelNames,
    kind: Kind<'a>,
}

enum Kind<'a> {
    Operator(Callers),
    Module(Box<Modules>),
    Category,
    Step(Option<&'a CompleteSteps>),
}

impl<'a> Place<'a> {
    fn new(tables: &Tables, names: &'a KernelNames, key: WorkKey, steps: Option<&'a CompleteSteps>) -> Self {
        let kind = match key {
            WorkKey::Operator => Kind::Operator(Callers::of(tables)),
            WorkKey::Module => Kind::Module(Box::new(Modules::of(tables))),
            WorkKey::Category => Kind::Category,
            WorkKey::Step => Kind::Step(steps),
        };
        Self { names, kind }
    }

    fn node(&self, tables: &Tables, op: Op, builder: &mut Builder) -> usize {
        let (track, correlation) = (op.track(tables), op.correlation(tables));
        match &self.kind {
            Kind::Operator(callers) => {
                let operators = &tables.operators;
                let row = callers.of_op(tables, track, correlation);
                let parent = |row: u32| callers.parent(row);
                let name = |row: u32| (operators.name[row as usize], operators.shapes.get(row as usize));
                builder.of_row(tables, row, parent, name).unwrap_or_else(|| builder.named(NOTHING[0]))
            }
            Kind::Module(modules) => {
                let row = modules.of_op(tables, track, correlation).unwrap_or(NONE);
                let parent = |row: u32| modules.parent(row);
                let name = |row: u32| (modules.name(row), rtl_schema::NameId::NONE);
                builder.of_row(tables, row, parent, name).unwrap_or_else(|| builder.named(NOTHING[1]))
            }
            Kind::Category if op.copy => {
                let direction = tables.copies[op.row as usize].direction.label();
                builder.named(&format!("copies {direction}"))
            }
            Kind::Category => {
                let name = tables.dispatches.name[op.row as usize];
                builder.named(&self.names.kernels[self.names.kernel(name)].category)
            }
            Kind::Step(steps) => match steps.and_then(|steps| steps.of_op(tables, op)) {
                Some(step) => builder.named(&format!("step {}", step + 1)),
                None => builder.named(NOTHING[2]),
            },
        }
    }
}
