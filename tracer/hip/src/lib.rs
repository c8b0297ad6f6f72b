//! librtl_hip.so is preloaded beside librtl.so. It stands in for every function of HIP, calls the one that the program would have
//! called, and reports the call to librtl.so (docs/guide/hip.md).
//!
//! A program gets at a function of HIP in one of two ways. It is linked with HIP, or a library of it is: then the loader
//! finds the function of this library first (`wrap::linked`). Or it opens HIP and calls `dlsym`: then this library's `dlsym`
//! returns another function of this library (`wrap::opened`) once it has found the real one. This library never loads HIP,
//! and a function that the loaded HIP lacks is missing here, too.

#![expect(unsafe_code, reason = "stands in for functions of C")]

mod argument;
#[path = "../../src/base/call_interface.rs"]
pub mod call_interface;
mod dlsym;
mod functions;
mod names;
mod real;
mod reporting;
mod text;
mod warn;
mod wrap;

/// The symbol by which librtl.so detects this library.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub extern "C" fn rtl_hip_1() {}
