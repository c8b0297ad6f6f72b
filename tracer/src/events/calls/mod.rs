//! Calls of an application programming interface, from whoever catches them: librtl_hip.so through [`crate::capi::hip`], hooks of this
//! library through [`here`] (docs/guide/hip.md, "How calls are recorded").
//!
//! The way of a call: [`here::begin`] gives it a number, which is that of everything that the thread enqueues until
//! [`here::end`]. That hands an [`entry`](event::Entry) over through a queue of the thread's own ([`chunks`]), which the
//! recorder empties ([`reader`]). Nobody waits for anybody. Until then the call is one that the thread is in ([`open`]): when
//! the recording ends, that is what is known of a call that did not return.
//!
//! Another source of calls needs a [`calls::Source`], [`sources::join`] with its names, and a `begin` and an `end` around
//! each call; everything behind that is the same for all.

pub mod chunks;
pub mod event;
pub mod here;
pub mod open;
pub mod reader;
pub mod sources;

pub use here::forget;
pub use reader::Reader;
pub use sources::are_told;
