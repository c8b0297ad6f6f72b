//! Advice that depends on what the trace shows of the program: what cannot help there is not said.

use rtl_schema::{Dialect, NameId, Tables};
use rustc_hash::{FxHashMap, FxHashSet};

use super::inputs::Inputs;
use super::lost::Lost;
use super::place::Part;
use crate::idle::Paths;

/// From this part of the time on something holds most of it, much of it, or enough to be worth a word.
const MOST: f64 = 0.5;
const MUCH: f64 = 0.2;
const SOME: f64 = 0.1;

/// The framework of a program, as far as advice differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Framework {
    Torch,
    Jax,
    Unknown,
}

impl Framework {
    pub(super) fn of(tables: &Tables) -> Self {
        match tables.info.dialect {
            Dialect::Kineto => Self::Torch,
            Dialect::JaxJson | Dialect::Xplane => Self::Jax,
            _ if tables.strings.iter().any(|(_, text)| text.starts_with("aten::")) => Self::Torch,
            _ => Self::Unknown,
        }
    }

    /// ` (torch.compile)`: how small kernels are fused.
    pub(super) fn fusion(self) -> &'static str {
        match self {
            Self::Torch => " (torch.compile)",
            Self::Jax => " (`jax.jit` of more of the step, `lax.scan`)",
            Self::Unknown => "",
        }
    }
}

/// Words of spans that run what torch.compile has made.
const COMPILED: [&str; 4] = ["torchinductor", "Torch-Compiled Region", "CompiledFxGraph", "CompiledFunction"];

const ZERO_GRAD: [&str; 2] = ["Optimizer.zero_grad", ": zero_grad"];

const OPTIMIZER: [&str; 3] = ["Optimizer.step", "torch/optim/", "/optimizer"];

/// Names of the work by which DistributedDataParallel keeps buffers equal.
const BUFFERS: [&str; 2] = ["unflatten_dense_tensors", "_broadcast_coalesced"];

/// Where the lost time is, in ns.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Around {
    total: u64,
    compiled: u64,
    zero_grad: u64,
    optimizer: u64,
    buffers: u64,
    /// The optimizer has one kernel for many parameters already.
    is_fused: bool,
}

impl Around {
    pub(super) fn new(inputs: &Inputs<'_>, lost: &Lost<'_>) -> Self {
        let tables = inputs.analysis.tables;
        let chains: Vec<Vec<u8>> =
            inputs.idle().iter().map(|gpu| contents(tables, &gpu.losses.paths)).collect();
        let mut around = Self::default();
        for part in lost.parts() {
            around.total += part.ns;
            let Some(position) = part.loss.site.path.position() else { continue };
            let has = |bit: usize| if chains[part.gpu][position] & 1 << bit == 0 { 0 } else { part.ns };
            around.compiled += has(0);
            around.zero_grad += has(1);
            around.optimizer += has(2);
            around.buffers += has(3);
        }
        let names = || tables.strings.iter().map(|(_, text)| text);
        around.is_fused = around.is(around.optimizer, SOME)
            && names().any(|name| name.contains("FusedAdam") || name.contains("FusedSgd"));
        around
    }

    fn is(&self, ns: u64, part: f64) -> bool {
        ns > 0 && ns as f64 >= part * self.total as f64
    }

    pub(super) fn is_compiled(&self) -> bool {
        self.is(self.compiled, MOST)
    }

    /// `; leave ... out`: what helps where it is.
    pub(super) fn remedies(&self) -> String {
        let mut text = String::new();
        if self.is(self.zero_grad, MUCH) {
            text += "; `zero_grad(set_to_none=True)` fills nothing";
        }
        if self.is(self.optimizer, SOME) && !self.is_fused {
            text += "; a fused optimizer (`fused=True`, or `foreach=True`) launches few kernels for all parameters";
        }
        if self.is(self.buffers, MUCH) {
            text += "; `DistributedDataParallel(broadcast_buffers=False)`, where ranks may keep buffers of their own";
        }
        text
    }
}

/// For each chain: a bit for each of the groups of words that a span of it has.
fn contents(tables: &Tables, paths: &Paths) -> Vec<u8> {
    let groups: [&[&str]; 4] = [&COMPILED, &ZERO_GRAD, &OPTIMIZER, &BUFFERS];
    let mut known = FxHashMap::default();
    paths.values(0, |outer, name, _| {
        let own = *known.entry(name).or_insert_with(|| {
            let text = tables.strings.get(name);
            let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
            groups.iter().enumerate().fold(0, |bits, (bit, words)| bits | u8::from(has(words)) << bit)
        });
        outer | own
    })
}

/// Returns whether most of the time from launch to launch ends with the launch of a graph.
pub(super) fn is_between_graphs(inputs: &Inputs<'_>) -> bool {
    let launches = launches(inputs.analysis.tables);
    let (mut graphs, mut total) = (0, 0);
    for &(start, ns) in inputs.idle().iter().flat_map(|gpu| gpu.losses.pace()) {
        let next = launches.get(launches.partition_point(|launch| launch.0 < start));
        graphs += if next.is_some_and(|launch| launch.1) { ns } else { 0 };
        total += ns;
    }
    graphs > 0 && graphs as f64 >= MOST * total as f64
}

/// The starts of launches in ns and whether each is one of a graph, in order; none where no graph is launched.
fn launches(tables: &Tables) -> Vec<(i64, bool)> {
    let having = |word: &str| -> FxHashSet<NameId> {
        tables.strings.iter().filter(|(_, text)| text.contains(word)).map(|(name, _)| name).collect()
    };
    let graphs = having("GraphLaunch");
    if graphs.is_empty() {
        return Vec::new();
    }
    let (all, calls) = (having("Launch"), &tables.api_calls);
    let rows = calls.name.iter().zip(&calls.start).filter(|(name, _)| all.contains(name));
    let mut launches: Vec<(i64, bool)> = rows.map(|(name, &start)| (start, graphs.contains(name))).collect();
    launches.sort_unstable();
    launches
}

/// Returns whether most of the time is in chains with a name, or in calls, that contain one of these words.
pub(super) fn is_mostly_in(lost: &Lost<'_>, words: &[&str]) -> bool {
    let has = |text: &str| words.iter().any(|word| text.contains(word));
    let is_in = |part: &&Part<'_>| {
        let Part { places, loss, .. } = part;
        let call = loss.site.call;
        call.is_some() && has(places.tables.strings.get(call))
            || places.spans(loss.site.path).any(|(name, _)| has(name))
    };
    let within: u64 = lost.parts().iter().filter(is_in).map(|part| part.ns).sum();
    within > 0 && within as f64 >= MOST * lost.total_ns() as f64
}

/// How to load data without keeping the GPU waiting.
pub(super) fn loading(lost: &Lost<'_>) -> &'static str {
    match () {
        () if is_mostly_in(lost, &["_SingleProcessDataLoaderIter"]) => {
            "let worker processes load ahead of time (the loader's `num_workers`); make decoding and transforms cheaper"
        }
        () if is_mostly_in(lost, &["_MultiProcessingDataLoaderIter"]) => {
            "give the loader more workers or let them work further ahead (`num_workers`, `prefetch_factor`); make decoding and \
             transforms cheaper"
        }
        () => "load ahead of time, in another thread or process; make decoding and transforms cheaper",
    }
}

/// How to launch without waiting for the GPU.
pub(super) fn waiting_for_the_gpu(inputs: &Inputs<'_>, lost: &Lost<'_>) -> &'static str {
    let framework = Framework::of(inputs.analysis.tables);
    match framework {
        Framework::Jax => {
            "wait for results (`block_until_ready`, `print`, `float()`) after the loop or less often, and launch the next step before"
        }
        _ if is_mostly_in(
            lost,
            &["aten::nonzero", "aten::masked_select", "aten::_unique", "aten::unique"],
        ) =>
        {
            "avoid results whose size depends on data (boolean masks as an index, `nonzero`): `torch.where` or a product with the mask \
             has a size that is known"
        }
        Framework::Torch if is_mostly_in(lost, &["DeviceSynchronize"]) => {
            "leave the synchronize of the whole device out of the loop (`torch.cuda.synchronize()`, of a harness that times each step, \
             too), or wait for an event"
        }
        Framework::Unknown if is_mostly_in(lost, &["DeviceSynchronize"]) => {
            "leave the synchronize of the whole device out of the loop, or wait for an event"
        }
        Framework::Torch => {
            "read results later or not at all in the loop (`.item()`, `print`, `if` on a tensor), copy them without blocking, wait \
             for an event instead of the device"
        }
        Framework::Unknown => {
            "read results later or not at all in the loop, copy them without blocking, wait for an event instead of the device"
        }
    }
}
