//! librtl_hip.so: preloaded beside librtl.so, it stands in for every function of HIP, calls the one that the program would
//! have called, and tells librtl.so of it (docs/guide/hip.md).
//!
//! A program gets at a function of HIP in one of two ways. It is linked with HIP, or a library of it is: then the loader
//! finds the function of this library first (`functions::linked`). Or it opens HIP and asks for a name: then this library's `dlsym` is
//! asked, and answers with another function of this library (`functions::opened`) once it has found the real one. Nothing here ever
//! loads HIP, and what the loaded HIP has not, is not there.

#![expect(unsafe_code, reason = "stands in for functions of C")]

mod argument;
mod dlsym;
mod functions;
mod real;
mod telling;
mod text;
mod warn;
mod wrap;

/// By this librtl.so finds out that its companion is in the process.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub extern "C" fn rtl_hip_1() {}
