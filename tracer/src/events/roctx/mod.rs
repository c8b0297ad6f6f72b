//! Ranges and markers of the application: this library answers in place of libroctx64 and librocprofiler-sdk-roctx
//! (docs/guide/ranges.md).
//!
//! The path of a range: the application calls [`crate::capi::roctx::entry`] on its own thread. The text is found in a
//! [table](`text`) that all threads share without a lock, and an [`event`] goes into a ring that only this thread writes to
//! ([`thread_queue`]). The recorder empties all rings and makes ranges of events ([`reader`]). No thread waits, and nothing
//! is allocated but a thread's ring and a text that is new.

pub mod event;
pub mod reader;
pub mod text;
pub mod thread_local;
pub mod thread_queue;

pub use event::What;
pub use reader::{Annotation, Reader};
pub use text::{NOT_KEPT, Text};
pub use thread_local::forget;
