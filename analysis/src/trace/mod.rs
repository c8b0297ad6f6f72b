//! Which trace is it, and which part of it is asked about?

pub mod combine;
pub mod overview;
pub mod region;
pub mod stray;
