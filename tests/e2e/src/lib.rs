//! Processes with the tracer in them, end to end: a program of `tests/programs` on the stock ROCm runtime and the
//! simulated GPUs, with librtl.so loaded as a user loads it. Then three accounts of it are compared: what the trace
//! says, what the program's runtime reported, and what the simulator executed.
//!
//! [`Process`] says what is run, [`Outcome`] is what came of it, [`compare`](mod@compare) holds the accounts
//! against each other.

#![expect(clippy::unwrap_used, reason = "a test fails loudly")]

pub mod account;
pub mod annotations;
pub mod calls;
pub mod compare;
pub mod copies;
pub mod embedded;
pub mod examples;
pub mod family;
pub mod launched;
pub mod library;
pub mod outcome;
pub mod process;
pub mod trace;

pub use account::{Executed, Reported};
pub use outcome::Outcome;
pub use process::Process;
pub use trace::{Row, Trace};
