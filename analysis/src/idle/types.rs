//! The results.

use rtl_schema::{AgentId, NameId};
use serde::{Deserialize, Serialize};

use super::cause::Cause;
use super::losses::Losses;
use crate::names::span_names::span_name;

/// How long one GPU was idle for which causes. The causes add up to its `idle_ns`, which is that of
/// [`crate::gpu_time::sweep::Gpu`].
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct GpuIdle {
    /// Number of the GPU in the trace.
    pub gpu: i64,
    /// Label of the GPU, such as `GPU 0`.
    pub label: String,
    /// First start to last end in ns.
    pub wall_ns: i64,
    /// Time in ns in which no op ran.
    pub idle_ns: i64,
    /// Time in ns in which nothing ran but copies that the host waited for. It is not idle time.
    pub blocking_copies_alone_ns: i64,
    /// Part of `idle_ns` in which the op that ends a gap was enqueued, where that took 100 us or more: it waited for something
    /// else than its launch.
    pub waiting_ns: i64,
    /// The number of gaps.
    pub gaps: u64,
    /// Causes with any time, most time first, then in the order of [`Cause::ALL`].
    pub causes: Vec<CauseIdle>,
    /// Idle time that blocking calls led to, by the cause that they stand for, most time first. It is part of the
    /// times of `causes`: a thread that has waited launches late.
    pub after_blocking: Vec<AfterBlocking>,
    /// The ten longest gaps: longest first, then by start.
    pub longest: Vec<IdleGap>,
    /// The idle time as findings divide it.
    #[serde(skip)]
    pub(crate) losses: Losses,
    /// The time before the first op in its step, which is no idle time; its sites name chains of `losses`.
    #[serde(skip)]
    pub(crate) before: Losses,
}

impl GpuIdle {
    /// The causes with their times in ns.
    #[must_use]
    pub fn by_cause(&self) -> Vec<(Cause, i64)> {
        self.causes.iter().map(|cause| (cause.cause, cause.idle_ns)).collect()
    }
}

/// The idle time of one cause.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct CauseIdle {
    /// The cause of these parts of gaps.
    pub cause: Cause,
    /// Idle time of this cause in ns.
    pub idle_ns: i64,
    /// Part of `idle_ns` that no blocking call bears (see [`AfterBlocking::cost_ns`]); of `queued` only where the op had been
    /// enqueued less than 100 us before.
    pub own_ns: i64,
    /// `idle_ns` of the GPU's wall, 0 to 1.
    pub share: f64,
    /// How many gaps have some of it.
    pub gaps: u64,
    /// The most in one gap in ns.
    pub longest_ns: i64,
    /// Where the thread was, for the five places of most time, then by name. Empty for `queued` and `unknown`.
    pub places: Vec<PlaceIdle>,
    /// The three gaps with most of it, then by start.
    pub longest: Vec<IdleGap>,
}

/// Where a thread was.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default, Hash, Serialize, Deserialize)]
pub struct Place {
    /// The innermost operator, Python function or range around it.
    pub within: Option<String>,
    /// The call: the one it was in, or the launch that it was on its way to.
    pub call: Option<String>,
}

impl Place {
    /// For people: `aten::item -> cudaStreamSynchronize`; `(no call, operator or range)` where nothing is known.
    pub fn label(&self) -> String {
        match (&self.within, &self.call) {
            (Some(within), Some(call)) => format!("{} -> {call}", span_name(within)),
            (Some(one), None) | (None, Some(one)) => span_name(one).into_owned(),
            (None, None) => "(no call, operator or range)".to_owned(),
        }
    }
}

/// The idle time of one place.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PlaceIdle {
    /// The place in the program.
    #[serde(flatten)]
    pub place: Place,
    /// Idle time at this place in ns.
    pub idle_ns: i64,
}

/// Idle time that blocking calls of one cause led to.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct AfterBlocking {
    /// The cause that the calls stand for.
    pub cause: Cause,
    /// Cost of the calls at most, in ns: idle time in them and after them until the thread is ahead of the GPU again, for
    /// each call not more than the call took.
    pub cost_ns: i64,
    /// `cost_ns` of the GPU's wall, 0 to 1.
    pub share: f64,
    /// How many gaps have part of that.
    pub gaps: u64,
    /// The whole length in ns of gaps that began in such a call: it drained the queue.
    pub drained_ns: i64,
    /// How many gaps began in such a call.
    pub drained_gaps: u64,
    /// The calls, by their part of `cost_ns`: the five places of most time, then by name.
    pub places: Vec<PlaceIdle>,
    /// The three gaps that cost most, then by start.
    pub longest: Vec<IdleGap>,
}

/// A gap with its causes.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct IdleGap {
    /// Start of the gap in ns.
    pub start_ns: i64,
    /// Length of the gap in ns.
    pub duration_ns: i64,
    /// The name of the op that ended it.
    pub after: String,
    /// Correlation id of that op; 0 is unknown.
    pub correlation: i64,
    /// The parts of the gap, most time first, then in the order of [`Cause::ALL`]; the first is the cause of the gap.
    pub parts: Vec<GapPart>,
    /// [`CauseIdle::own_ns`] of the gap, by [`Cause::ALL`].
    #[serde(skip)]
    pub(crate) own: [i64; Cause::ALL.len()],
    /// The kind of blocking calls that bear most of the gap, if any do, and the one of them that bears most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_blocking: Option<GapPart>,
}

impl GapPart {
    /// `host: ProfilerStep`; the cause alone where the thread's place is not known.
    pub fn label(&self) -> String {
        match &self.place {
            Place { within: None, call: None } => self.cause.label().to_owned(),
            place => format!("{}: {}", self.cause.label(), place.label()),
        }
    }
}

/// One cause of a gap.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct GapPart {
    /// The cause of this part.
    pub cause: Cause,
    /// Time of this part in ns.
    pub idle_ns: i64,
    /// Where the thread was for most of it.
    #[serde(flatten)]
    pub place: Place,
}

/// A part of a gap with one cause at one place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IdlePiece {
    /// The idle GPU.
    pub agent: AgentId,
    /// The cause of this piece.
    pub cause: Cause,
    /// Start of the piece in ns.
    pub start_ns: i64,
    /// End of the piece in ns.
    pub end_ns: i64,
    /// The innermost operator, Python function or range around the thread; [`NameId::NONE`] where there is none.
    pub within: NameId,
    /// The call that the thread was in or on its way to; [`NameId::NONE`] where there is none.
    pub call: NameId,
}
