//! The tracer within a program of someone's own (`tracer/include/rtl.h`, docs/guide/embedding.md): what is recorded goes to callbacks
//! of the program instead of a file.
//!
//! [`entry`] are the functions, [`abi`] what they take and give, [`door`] how the runtime finds its way to this library,
//! [`role`](mod@role) decides who gets the records of this process, [`counters`] are what it is told of the rest, and [`callback`] what
//! callbacks may not do and when they are done with. The recorder's side is in `write/record/delivery.rs`.

pub mod abi;
pub mod callback;
pub mod counters;
pub mod door;
pub mod entry;
pub mod role;

pub use role::{Role, role};

/// In the child of a fork: nobody has registered. Takes no lock and no memory.
pub fn forget() {
    role::forget();
    callback::forget();
    counters::forget();
}
