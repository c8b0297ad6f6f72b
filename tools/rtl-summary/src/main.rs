//! rtl-summary
fn main() {}
