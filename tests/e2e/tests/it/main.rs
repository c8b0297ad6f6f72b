//! One hazard per file. Where the runtime is not installed each test says so in one line.

#![expect(clippy::unwrap_used, clippy::print_stderr, reason = "a test fails loudly and says what it skips")]

mod exports;
mod floor;
