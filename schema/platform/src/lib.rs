//! Differences between operating systems, one module each: the analysis tools name an interface of Unix or Windows only here.
//!
//! On Linux every function does what the system guarantees best. Where another system has no equivalent, the documentation of
//! the function says what is done instead.

pub mod boot;
pub mod browser;
pub mod disk;
pub mod exchange;
pub mod exec;
pub mod folder;
pub mod identity;
pub mod liveness;
pub mod memory;
pub mod nameless;
pub mod open_files;
pub mod owner;
pub mod permissions;
pub mod positional;
pub mod regular;
pub mod signals;
pub mod streams;
