//! Functions with C linkage: those of `rtl.h`, those of roctx, and those that librtl_hip.so calls.

pub mod embed;
pub mod hip;
pub mod roctx;
