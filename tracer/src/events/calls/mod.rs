//! Calls of an API, which librtl_hip.so intercepts ([`crate::capi::hip`]) or this library ([`crate::intercept::hsa`];
//! docs/guide/hip.md, "How calls are recorded").
//!
//! The path of a call: [`thread_local::begin`] gives it a number, which is that of everything that the thread enqueues until
//! [`thread_local::end`]. That hands an [`entry`](event::Entry) over through a queue of the thread's own ([`chunks`]), which the
//! recorder empties ([`reader`]). No thread waits. Until then the call is one that the thread is in ([`open`]): when
//! the recording ends, that is what is known of a call that did not return.
//!
//! Another source of calls needs a [`calls::Source`], [`sources::join`] with its names, and a `begin` and an `end` around
//! each call; everything behind that is the same for all.

pub mod chunks;
pub mod event;
pub mod open;
pub mod reader;
pub mod shown;
pub mod sources;
pub mod thread_local;

pub use reader::Reader;
pub use sources::are_told;
pub use thread_local::forget;
