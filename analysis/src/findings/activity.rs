//! The activity of a thread while a GPU waits for it, as the names around it state.

use crate::idle::SpanKind;

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

/// Names of spans that state an activity, the most telling first: a loader waits, too.
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
    (Activity::Communicating, &["gloo:", "mpi_", "mpi4py", "c10d::"]),
];

/// Names of the profiler's own functions.
const RECORDING: [&str; 4] =
    ["torch/profiler/", "Iteration Start: PyTorch Profiler", "PyTorch Profiler (", "Profiler::"];

/// Words of names that wait for something from outside.
const WAITING: [&str; 14] = [
    "wait", "waiting", "idle", "sleep", "poll", "epoll", "select", "accept", "recv", "get", "request",
    "requests", "acquire", "listen",
];

/// Files of Python that do nothing but wait for others.
const WAITING_FILES: [&str; 7] = [
    "queue.py",
    "selectors.py",
    "socket.py",
    "threading.py",
    "multiprocessing/connection.py",
    "asyncio/",
    "zmq/",
];

/// The activity of a thread in these spans, innermost first.
pub(super) fn of<'a>(spans: impl Iterator<Item = (&'a str, SpanKind)> + Clone) -> Option<Activity> {
    let is_named = |words: &[&str]| {
        spans.clone().any(|(name, _)| {
            let name = name.to_ascii_lowercase();
            words.iter().any(|word| name.contains(&word.to_ascii_lowercase()))
        })
    };
    // A profiler calls the program, and what waits may call work: only the innermost span counts.
    let (name, kind) = spans.clone().next()?;
    if RECORDING.iter().any(|recording| name.contains(recording)) {
        return Some(Activity::Recording);
    }
    let named = NAMES.into_iter().find(|(_, words)| is_named(words)).map(|(activity, _)| activity);
    named.or_else(|| waits(name, kind).then_some(Activity::WaitingForWork))
}

fn waits(name: &str, kind: SpanKind) -> bool {
    let has_word = |words: &[&str]| {
        let name = name.to_ascii_lowercase();
        let mut parts = name.split(|c: char| !c.is_ascii_alphabetic());
        parts.any(|part| words.contains(&part))
    };
    match kind {
        // An operator that waits does so for the GPU or for another rank.
        SpanKind::Operator | SpanKind::Step => false,
        SpanKind::Range => {
            has_word(&WAITING[..9]) || has_word(&["request", "requests"]) && has_word(&["wait", "next"])
        }
        SpanKind::Python => {
            let is_builtin = name.starts_with("<built-in");
            let is_file =
                WAITING_FILES.iter().any(|file| name.starts_with(file) || name.contains(&format!("/{file}")));
            (is_builtin && has_word(&["sleep", "poll", "epoll", "select", "accept", "recv", "acquire"]))
                || is_file && has_word(&WAITING)
        }
    }
}

impl Activity {
    /// `the GPU waits for data`: what the GPU waits for.
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
            Self::LoadingData => {
                "load ahead of time: more workers of the loader, prefetching, cheaper decoding, data in memory or pinned"
            }
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
