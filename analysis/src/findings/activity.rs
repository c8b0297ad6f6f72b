//! The activity of a thread while a GPU waits for it, as the names around it state.

use rtl_schema::{NameId, Tables};
use rustc_hash::FxHashMap;

use crate::idle::{Paths, SpanKind};

/// Work of the host that has a remedy of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Activity {
    /// Waits for data or prepares it.
    LoadingData,
    /// Collects garbage.
    CollectingGarbage,
    /// Writes a checkpoint.
    Saving,
    /// Communicates with other ranks, without a GPU.
    Communicating,
    /// Has nothing to do until something comes from outside.
    WaitingForWork,
    /// Belongs to the profiler.
    Recording,
}

/// Parts of lower-case names that state an activity. A loader that waits is loading: the first that fits counts.
const NAMES: [(Activity, &[&str]); 4] = [
    (
        Activity::LoadingData,
        &["dataloader", "data_loader", "data/_utils", "_next_data", "prefetcher", "tf_data", "webdataset"],
    ),
    (Activity::CollectingGarbage, &["gc.collect", "gc.py", "built-in function collect", "garbage"]),
    (
        Activity::Saving,
        &[
            "torch.save",
            "torch/serialization",
            "save_checkpoint",
            "save_pretrained",
            "safetensors",
            "distributed/checkpoint",
        ],
    ),
    (Activity::Communicating, &["gloo:", "mpi_", "mpi4py", C10D]),
];

/// The operators of torch.distributed, whatever communicates. Where collectives run on a GPU, these operators launch them.
const C10D: &str = "c10d::";

/// Parts of the names of the profiler's own functions.
const RECORDING: [&str; 4] =
    ["torch/profiler/", "Iteration Start: PyTorch Profiler", "PyTorch Profiler (", "Profiler::"];

/// Words of a range that waits for something from outside.
const WAITING: [&str; 9] = ["wait", "waiting", "idle", "sleep", "poll", "epoll", "select", "accept", "recv"];

/// Words of built-in functions of Python that do.
const WAITING_BUILT_IN: [&str; 7] = ["sleep", "poll", "epoll", "select", "accept", "recv", "acquire"];

/// Words of functions that do, in files of Python that do nothing else.
const WAITING_IN_FILES: [&str; 9] =
    ["wait", "get", "poll", "epoll", "select", "accept", "recv", "acquire", "listen"];
const WAITING_FILES: [&str; 7] = [
    "queue.py",
    "selectors.py",
    "socket.py",
    "threading.py",
    "multiprocessing/connection.py",
    "asyncio/",
    "zmq/",
];

/// The activities that the spans of a chain state.
#[derive(Debug, Clone, Copy, Default)]
struct Stated {
    /// By any span.
    by_any: Option<Activity>,
    /// By the innermost one alone: a profiler calls the program, and what waits may call work.
    by_innermost: Option<Activity>,
}

/// The activity of a thread in each chain, by [`PathId::position`](crate::idle::PathId::position).
pub(super) fn of_chains(
    tables: &Tables,
    paths: &Paths,
    has_device_collectives: bool,
) -> Vec<Option<Activity>> {
    let mut known: FxHashMap<(NameId, SpanKind), Stated> = FxHashMap::default();
    let stated = paths.values(Stated::default(), |outer, name, kind| {
        // A step of torch.profiler states nothing.
        if kind == SpanKind::Step {
            return outer;
        }
        let own = *known
            .entry((name, kind))
            .or_insert_with(|| stated_by(tables.strings.get(name), kind, has_device_collectives));
        let by_any = [outer.by_any, own.by_any].into_iter().flatten().min();
        Stated { by_any, by_innermost: own.by_innermost }
    });
    let activity = |stated: Stated| match stated.by_innermost {
        Some(Activity::Recording) => Some(Activity::Recording),
        innermost => stated.by_any.or(innermost),
    };
    stated.into_iter().map(activity).collect()
}

fn stated_by(name: &str, kind: SpanKind, has_device_collectives: bool) -> Stated {
    let lower_case = name.to_ascii_lowercase();
    let states = |part: &&str| lower_case.contains(part) && !(has_device_collectives && *part == C10D);
    let named = NAMES.into_iter().find(|(_, parts)| parts.iter().any(states));
    let by_innermost = match () {
        () if RECORDING.iter().any(|part| name.contains(part)) => Some(Activity::Recording),
        () if waits(&lower_case, kind) => Some(Activity::WaitingForWork),
        () => None,
    };
    Stated { by_any: named.map(|(activity, _)| activity), by_innermost }
}

/// Returns whether a span of this lower-case name waits for something from outside.
fn waits(name: &str, kind: SpanKind) -> bool {
    let has_word =
        |words: &[&str]| name.split(|c: char| !c.is_ascii_alphabetic()).any(|word| words.contains(&word));
    let is_in =
        |file: &&str| name.match_indices(*file).any(|(at, _)| at == 0 || name.as_bytes()[at - 1] == b'/');
    match kind {
        // An operator that waits does so for the GPU or for another rank.
        SpanKind::Operator | SpanKind::Step => false,
        SpanKind::Range => has_word(&WAITING) || has_word(&["next"]) && has_word(&["request", "requests"]),
        SpanKind::Python | SpanKind::OwnPython if name.starts_with("<built-in") => {
            has_word(&WAITING_BUILT_IN)
        }
        SpanKind::Python | SpanKind::OwnPython => {
            WAITING_FILES.iter().any(is_in) && has_word(&WAITING_IN_FILES)
        }
    }
}

impl Activity {
    pub(super) fn sentence(self) -> &'static str {
        match self {
            Self::LoadingData => "the GPU waits for data that the host loads",
            Self::CollectingGarbage => "the GPU waits while Python collects garbage",
            Self::Saving => "the GPU waits while the host saves data",
            Self::Communicating => "the GPU waits while the host communicates with other ranks",
            Self::WaitingForWork => "the program waits for work",
            Self::Recording => "the GPU waits for the profiler",
        }
    }

    pub(super) fn help(self) -> &'static str {
        match self {
            Self::LoadingData => "load ahead of time",
            Self::CollectingGarbage => {
                "collect at moments that you choose (`gc.freeze()` after set-up, `gc.disable()` and a collection every few \
                 hundred steps)"
            }
            Self::Saving => {
                "copy to pinned memory and write in another thread or process (asynchronous checkpoints)"
            }
            Self::Communicating => {
                "communicate between the GPUs (NCCL, RCCL), or in another thread while kernels run"
            }
            Self::WaitingForWork => {
                "nothing to mend if that is meant, such as in a server without requests; else look at what sends the work"
            }
            Self::Recording => "record less: no stacks, no shapes, fewer steps",
        }
    }
}

#[cfg(test)]
mod tests {
    use SpanKind::{Operator, Python, Range, Step};

    use super::*;
    use crate::idle::PathId;

    /// The activity in spans, outermost first.
    fn activity(spans: &[(&str, SpanKind)]) -> Option<Activity> {
        activity_beside(false, spans)
    }

    fn activity_beside(device_collectives: bool, spans: &[(&str, SpanKind)]) -> Option<Activity> {
        let (mut tables, mut paths) = (Tables::default(), Paths::default());
        let mut path = PathId::NONE;
        for &(name, kind) in spans {
            path = paths.enter(path, tables.strings.intern(name), kind);
        }
        of_chains(&tables, &paths, device_collectives)[path.position().unwrap()]
    }

    #[test]
    fn names_around_a_thread_state_what_it_does() {
        let loader = ("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", Range);
        for (spans, expected) in [
            (&[loader, ("queue.py(154): get", Python)][..], Some(Activity::LoadingData)),
            (
                &[("train.py(3): main", Python), ("queue.py(154): get", Python)],
                Some(Activity::WaitingForWork),
            ),
            (&[("serve", Range), ("wait_for_request", Range)], Some(Activity::WaitingForWork)),
            (&[("wait_for_request", Range), ("aten::mm", Operator)], None),
            (
                &[("torch/serialization.py(9): save", Python), ("aten::copy_", Operator)],
                Some(Activity::Saving),
            ),
            (&[("gloo:all_reduce", Range), ("ProfilerStep", Step)], Some(Activity::Communicating)),
            (&[("torch/profiler/profiler.py(1): run", Python), ("train.py(3): main", Python)], None),
            (&[loader, ("torch/profiler/profiler.py(1): step", Python)], Some(Activity::Recording)),
            (&[("myqueue.py(1): get", Python)], None),
            (&[("aten::select", Operator)], None),
        ] {
            assert_eq!(activity(spans), expected, "{spans:?}");
        }
    }

    #[test]
    fn operators_that_launch_collectives_of_a_gpu_are_no_communication_of_the_host() {
        let launch = [("c10d::allreduce_", Operator), ("nccl:all_reduce", Range)];
        assert_eq!(activity_beside(true, &launch), None);
        assert_eq!(activity_beside(true, &[("gloo:all_reduce", Range)]), Some(Activity::Communicating));
        assert_eq!(activity_beside(false, &[("c10d::barrier", Operator)]), Some(Activity::Communicating));
    }
}
