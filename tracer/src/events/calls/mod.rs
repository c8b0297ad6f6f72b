//! Calls of an API, which librtl_hip.so intercepts ([`crate::capi::hip`]) or this library ([`crate::intercept::hsa`];
//! docs/guide/hip.md, "How calls are recorded").
//!
//! The path of a call: [`hooks::begin`] gives it a number, which everything carries that the thread enqueues until
//! [`hooks::end`]. That puts a [`call`] into the thread's queue, of which the recorder makes a [`record`]. Until then the call is
//! an [`open`] one of the thread: when the recording ends, this is known of a call that did not return.
//!
//! Another source of calls needs a [`Source`](crate::base::call_interface::Source), [`sources::join`] with its names, and a
//! `begin` and an `end` around each call; everything else is common to all.

pub mod call;
pub mod hooks;
pub mod open;
pub mod record;
pub mod shown;
pub mod sources;
pub mod thread_calls;

pub use sources::is_any_recorded;
