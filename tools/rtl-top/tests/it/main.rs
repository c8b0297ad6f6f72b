//! rtl-top on recordings that grow, once and in a terminal.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod growing;
mod live;
mod once;
mod terminal;
mod tmux;
