//! Ranges, markers and calls of the application's threads, on their way to the recorder.
//!
//! Each thread has one queue of [`event::Event`] ([`event_queue`]), which begins with its first event. [`ranges`] and [`calls`]
//! define the events; [`reader`] is the recorder's side, which empties all queues and makes records of events. No thread waits.

pub mod calls;
pub mod event;
pub mod event_queue;
pub mod pending_threads;
pub mod ranges;
pub mod reader;
pub mod recorder_waker;
pub mod thread;
pub mod thread_state;
