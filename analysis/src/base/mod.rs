//! Building blocks of the analyses: ops in order of start, unions of intervals, statistics, and the division of rows among threads.

pub(crate) mod activity;
pub(crate) mod first_use;
pub(crate) mod lookup;
pub mod ops;
pub(crate) mod parallel;
pub mod random;
mod sorted_ops;
pub mod stats;
pub(crate) mod uncovered;
pub(crate) mod union_length;
