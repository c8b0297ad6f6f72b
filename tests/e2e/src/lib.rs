//! Runs processes with the tracer in them, end to end: a program of `tests/programs` on the stock ROCm runtime and the simulated
//! GPUs, with librtl.so loaded as a user loads it. Then three accounts of it are compared: those of the trace, of the program's
//! runtime, and of the simulator.
//!
//! [`Process`] is a program to run, [`Outcome`] the result of a run, and [`compare`](mod@compare) compares the accounts.

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

pub use account::{ExecutedDispatch, ReportedDispatch};
pub use outcome::Outcome;
pub use process::Process;
pub use trace::{Row, Trace};
