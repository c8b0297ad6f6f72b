//! Functions with C linkage: `rtl.h`, roctx, and what librtl_hip.so calls.

pub mod embed;
pub mod hip;
pub mod roctx;
