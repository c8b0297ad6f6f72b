//! One clock for many machines, aligned by the ends of their ranks' collectives.
//!
//! Ranks on one boot of one machine share CLOCK_BOOTTIME and are never moved against each other; a *node* is such a
//! boot. Between nodes the clocks differ by anything and drift. A synchronising collective (all-reduce and its like)
//! ends on all its members within microseconds, independent of the last arrival, so the differences of the ends of matched
//! collectives are the differences of the clocks, plus noise.
//!
//! [`mod@collectives`] finds collectives in a trace, [`groups`] the ranks that run the same ones, without any clock;
//! `clock` fits the difference of one clock over time, `fit` all nodes at once with an error; [`mod@waits`] computes
//! how long ranks waited. Where the evidence is too thin, nothing is moved.

mod anchors;
mod call_lists;
pub mod clock;
pub mod collectives;
mod differences;
mod draft;
pub mod fit;
mod follow;
pub mod groups;
mod matching;
mod placing;
mod rhythm;
mod sequence;
mod synchronising;
pub mod waits;

pub use clock::Clock;
pub use collectives::{CollectiveCalls, CollectiveFinder, FoundCollectives, collectives, sequences};
pub use fit::{Alignment, AlignmentError, NodeClock, align};
pub use groups::{
    Group, Groups, Label, MatchedCollective, Sequence, Unmatched, collective_calls, group_sequences,
    is_whole, matched_collectives, matched_every, matched_within,
};
pub use synchronising::synchronises;
pub use waits::{
    LEAST_OF_A_CLOCK, RankWaits, Waits, are_on_one_clock, by_position, leave_together, violations, waits,
};

/// The metadata tag of a trace of several machines whose times are on one clock.
pub const CLOCK: &str = "clock";
