//! A bounded number of threads for all work of a process.
//!
//! `--threads` sets the bound ([`set_limit`]). The calling thread works too, and every other thread needs a [`Permit`], so
//! that work within other work gets threads only where some are free. [`in_order`] and [`Pipeline`] give results in the
//! order of their inputs, whichever thread ends first: what is made of them does not depend on the number of threads. [`turns()`]
//! divides long work on a few items, each of which keeps its own result.

mod both;
mod permit;
mod pipeline;
mod queue;
mod turns;

pub use both::both;
pub use permit::{Permit, free, limit, permits, set_limit};
pub use pipeline::{Pipeline, in_order, map, pipeline};
pub use queue::Results;
pub use turns::turns;
