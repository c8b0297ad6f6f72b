//! The tracer within another program (`tracer/include/rtl.h`, docs/guide/embedding.md): callbacks of the program receive what
//! is recorded instead of a file.
//!
//! [`entry`] has the functions, [`abi`] the structs, [`tool_env`] lets the runtime find this library,
//! [`output_sink`](mod@output_sink) decides between a file and callbacks, [`counters`] fills in counters, and [`callback`]
//! tracks running callbacks. The recorder's side is in `write/record/callback_sink.rs`.

pub mod abi;
pub mod callback;
pub mod counters;
pub mod entry;
pub mod output_sink;
pub mod tool_env;

pub use output_sink::{OutputSink, output_sink};

/// In the child of a fork: nobody has registered. Takes no lock and no memory.
pub fn forget() {
    output_sink::forget();
    callback::forget();
    counters::forget();
}
