//! Commands of the documentation that other tests or commands run.

/// The beginnings of such commands, each with the file of its test.
const TESTED: &[(&str, &str)] = &[
    ("./try", "test"),
    ("./test", "test"),
    ("cargo ", "test"),
    ("scripts/bench/", "test"),
    ("scripts/install", "tools/multicall/tests/it/installed.rs"),
    ("scripts/wheel", "tools/multicall/tests/it/wheel.rs"),
    ("pip install", "tools/multicall/tests/it/wheel.rs"),
    ("curl ", "tools/multicall/tests/it/packages.rs"),
    ("sudo apt-get install ./rtl_", "tools/multicall/tests/it/packages.rs"),
    ("sudo dnf install ./rtl-", "tools/multicall/tests/it/packages.rs"),
    ("brew ", "tools/multicall/tests/it/packages.rs"),
    ("rattler-build ", "tools/multicall/tests/it/packages.rs"),
    ("ci/gpu-time", "tools/rtl-trace/tests/it/gate.rs"),
    ("node tests/perfetto/screenshot.mjs", "tests/support/src/perfetto.rs"),
    ("python3 -m rtl.", "tools/python/tests/it/engines.rs"),
    ("spark-", "tools/python/tests/it/engines.rs"),
    ("rtl recover", "tools/rtl-trace/tests/it/killed.rs"),
    ("cc program.c", "tests/e2e/tests/it/embedding.rs"),
];

pub(super) fn is_tested(command: &str) -> bool {
    // The Python package is not beside the programs.
    TESTED.iter().any(|(start, _)| command.starts_with(start)) || command.contains("$(python3 -m rtl.")
}

#[test]
fn what_tests_these_commands_exists_and_some_page_shows_each() {
    let pages = super::Pages::new();
    let shown: Vec<_> = pages.all().iter().flat_map(|page| pages.examples_of(page)).collect();
    for (start, test) in TESTED {
        assert!(pages.project.join(test).exists(), "{start}: no {test}");
        assert!(shown.iter().any(|example| example.command.starts_with(start)), "no page shows `{start}`");
    }
}
