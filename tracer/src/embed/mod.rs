//! The tracer within a program of someone's own (`include/rtl.h`, docs/embedding.md): what is recorded goes to callbacks
//! of the program instead of a file.
//!
//! [`entry`] are the functions, [`abi`] what they take and give, [`door`] how the runtime finds its way to this library,
//! [`role`] decides who gets the records of this process, [`flush`] waits for them.

pub mod abi;
pub mod counters;
pub mod door;
pub mod entry;
pub mod flush;
pub mod role;

pub use role::{Role, role};
