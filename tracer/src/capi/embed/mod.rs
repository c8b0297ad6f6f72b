//! The tracer within another program (`tracer/include/rtl.h`, docs/guide/embedding.md), whose callbacks receive the records in
//! place of a file.
//!
//! [`entry`] has the functions, whose structs are in [`crate::base::abi`], and [`tool_env`] lets the runtime find this
//! library. [`crate::base::output_sink`] decides between a file and callbacks. The recorder's side is in
//! `write/record/callback_sink.rs`.

pub mod entry;
pub mod tool_env;
