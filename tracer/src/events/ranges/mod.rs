//! Ranges and markers of the application: this library stands in for libroctx64 and librocprofiler-sdk-roctx
//! (docs/guide/ranges.md).
//!
//! The path of a range: the application calls [`crate::capi::roctx::entry`] on its own thread. The text is found in a
//! [table](`text`) that all threads share without a lock, and an [`event`] goes into the thread's queue ([`hooks`]). The recorder
//! makes ranges of events ([`annotation`]). Nothing is allocated but the queue's memory and a text that is new.

pub mod annotation;
pub mod event;
pub mod hooks;
pub mod open_ranges;
pub mod text;

pub use annotation::Annotation;
pub use event::RangeEventKind;
pub use text::{NOT_KEPT, Text};
