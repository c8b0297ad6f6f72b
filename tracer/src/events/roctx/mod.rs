//! Ranges and markers of the application: this library answers in place of libroctx64 and librocprofiler-sdk-roctx
//! (docs/guide/ranges.md).
//!
//! The way of a range: the application calls [`crate::capi::roctx::entry`], on its own thread. The text is found in a [table](`text`) that
//! all threads share without a lock, and an [`event`] goes into a ring that only this thread writes to ([`lane`]). The
//! recorder empties all rings and makes ranges of events ([`reader`]). Nobody waits for anybody, and nothing is
//! allocated but a thread's ring and a text that is new.

pub mod event;
pub mod here;
pub mod lane;
pub mod reader;
pub mod text;

pub use event::What;
pub use here::forget;
pub use reader::{Annotation, Reader};
pub use text::{NOT_KEPT, Text};
