//! One clock for many machines, told from the collectives that their ranks left together.
//!
//! Ranks on one boot of one machine share CLOCK_BOOTTIME and are never moved against each other; a *node* is such a
//! boot. Between nodes the clocks differ by anything and drift. A synchronising collective (all-reduce and its like)
//! ends on all its members within microseconds, independent of the last arrival, so the differences of the ends of matched
//! collectives are the differences of the clocks, plus noise.
//!
//! [`mod@collectives`] finds them in a trace, [`groups`] which ranks meet in the same collectives, without any clock; [`clock`] follows one clock's
//! difference through time; [`fit`] does so for all nodes at once and says how far it can be trusted; [`mod@waits`] then tells
//! who waited for whom. What it is not: it reads no file, and where the evidence is too thin it says so and
//! moves nothing.

pub mod clock;
pub mod collectives;
pub mod fit;
pub mod groups;
mod synchronising;
pub mod waits;

pub use clock::Clock;
pub use collectives::{CollectiveCalls, CollectiveFinder, collectives, sequences};
pub use fit::{Alignment, AlignmentError, NodeClock, align};
pub use groups::{Group, MatchedCollective, Sequence, group_sequences, matched_collectives};
pub use synchronising::synchronises;
pub use waits::{RankWaits, Waits, waits};

/// The metadata tag of a trace of several machines whose times are on one clock.
pub const CLOCK: &str = "clock";
