//! Fixtures, and programs of all packages that are ended from outside.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod fixtures;
mod interrupted;
