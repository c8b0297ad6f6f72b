//! Calls of an API, which librtl_hip.so intercepts ([`crate::capi::hip`]) or this library ([`crate::intercept::hsa`];
//! docs/guide/hip.md, "How calls are recorded").
//!
//! The path of a call: [`hooks::begin`] gives it a number, which is that of everything that the thread enqueues until
//! [`hooks::end`]. That puts a [`call`] into the thread's queue, of which the recorder makes a [`record`]. Until then
//! the call is one that the thread is in ([`open`]): when the recording ends, that is what is known of a call that did not
//! return.
//!
//! Another source of calls needs a [`Source`](crate::base::call_interface::Source), [`sources::join`] with its names, and a `begin` and an `end` around
//! each call; everything behind that is the same for all.

pub mod call;
pub mod hooks;
pub mod open;
pub mod record;
pub mod shown;
pub mod sources;
pub mod thread_calls;

pub use sources::are_told;
