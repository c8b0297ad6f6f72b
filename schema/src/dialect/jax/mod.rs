//! Traces of XLA by the profiler of JAX and TensorFlow: `*.trace.json.gz`, Chrome's trace format, and `*.xplane.pb`, which it is
//! made from. Both have planes of lines of events: a plane for each GPU with its streams, and one for the host with its threads.
//!
//! Times are ns since the start of the session.

mod json;
mod rows;
mod wire;
mod xplane;

use super::reader::Reader;

pub(super) const JSON: Reader = Reader::Text { recognise: json::recognise, read: json::read };
pub(super) const XPLANE: Reader = Reader::Text { recognise: xplane::recognise, read: xplane::read };
