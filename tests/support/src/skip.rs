//! Tests that this machine cannot run.

use std::fmt::Display;

/// Part of a machine that a test needs, named in `RTL_REQUIRE` where its absence is an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// `stacks`: ROCm runtimes, their headers and the compilers of programs that run on them.
    Stacks,
    /// `perfetto`: the Perfetto UI, node and Chromium.
    Perfetto,
    /// `programs`: real programs, and readers of other projects.
    Programs,
    /// `duckdb`: the library of DuckDB.
    Duckdb,
    /// `shared`: traces of real GPUs beside the checkout.
    Shared,
    /// `build`: every program and library of the workspace, and the wheel.
    Build,
    /// `machine`: programs of the system, rights of the user, abilities of the simulated driver.
    Machine,
}

const NAMES: [(&str, Need); 7] = [
    ("stacks", Need::Stacks),
    ("perfetto", Need::Perfetto),
    ("programs", Need::Programs),
    ("duckdb", Need::Duckdb),
    ("shared", Need::Shared),
    ("build", Need::Build),
    ("machine", Need::Machine),
];

/// Prints one line that names what a test lacks; the caller returns early.
///
/// # Panics
/// If `RTL_REQUIRE` (a list such as `stacks,perfetto`) names the need, or a need that does not exist.
#[expect(clippy::print_stderr, reason = "a skipped test prints a line")]
pub fn skip(need: Need, missing: impl Display) {
    let required = std::env::var("RTL_REQUIRE").unwrap_or_default();
    assert!(!is_required(&required, need), "RTL_REQUIRE={required}: {missing}");
    eprintln!("skipped: {missing}");
}

/// As [`skip`], for functions that return what the machine has.
///
/// # Panics
/// As [`skip`].
pub fn skipped<T>(need: Need, missing: impl Display) -> Option<T> {
    skip(need, missing);
    None
}

fn is_required(list: &str, need: Need) -> bool {
    list.split(',').map(str::trim).filter(|name| !name.is_empty()).any(|name| {
        let known = NAMES.iter().find(|(of, _)| *of == name);
        known.unwrap_or_else(|| panic!("RTL_REQUIRE: unknown need `{name}`")).1 == need
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listed_need_is_required() {
        assert!(is_required("stacks,perfetto", Need::Stacks));
        assert!(is_required("stacks, perfetto,", Need::Perfetto));
        assert!(!is_required("stacks,perfetto", Need::Shared));
        assert!(!is_required("", Need::Stacks));
    }

    #[test]
    #[should_panic(expected = "unknown need `stakcs`")]
    fn a_need_that_does_not_exist_is_an_error() {
        is_required("stakcs", Need::Stacks);
    }
}
