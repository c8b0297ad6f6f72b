//! Files of a crate do not import each other in circles.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::checkout::{File, files};
use crate::module_graph::{Module, ModuleGraph};

/// The cycles of each crate, as text.
fn cycles(files: &[File]) -> Vec<String> {
    let mut crates: BTreeMap<&str, Vec<(&str, &str)>> = BTreeMap::new();
    for file in files.iter().filter(|file| file.is_rust() && !file.is_test()) {
        if let Some((folder, path)) = file.path.split_once("/src/") {
            crates.entry(folder).or_default().push((path, &file.text));
        }
    }
    crates
        .into_iter()
        .flat_map(|(folder, mut sources)| {
            if sources.iter().any(|(path, _)| *path == "lib.rs") {
                sources.retain(|(path, _)| *path != "main.rs");
            }
            let graph = ModuleGraph::new(sources);
            graph.cycles().iter().map(|cycle| picture(folder, cycle)).collect::<Vec<_>>()
        })
        .collect()
}

fn picture(folder: &str, cycle: &BTreeMap<&Module, Vec<&Module>>) -> String {
    let name = |module: &Module| if module.is_empty() { "lib".to_owned() } else { module.join("::") };
    let mut picture = format!("{folder}: {} files import each other\n", cycle.len());
    for (module, targets) in cycle {
        let targets: Vec<String> = targets.iter().map(|target| name(target)).collect();
        let _ = writeln!(picture, "    {} -> {}", name(module), targets.join(", "));
    }
    picture
}

#[test]
fn no_files_import_each_other() {
    let faults = cycles(&files());
    assert!(faults.is_empty(), "{}", faults.concat());
}

fn made_up(files: &[(&str, &str)]) -> Vec<String> {
    let files: Vec<File> = files.iter().map(|(path, text)| File::new(path, text)).collect();
    cycles(&files)
}

#[test]
fn a_circle_of_three_files_is_found_and_drawn() {
    let faults = made_up(&[
        ("x/src/lib.rs", "mod a;\nmod b;\nmod c;\n"),
        ("x/src/a.rs", "use crate::b::B;\n"),
        ("x/src/b.rs", "use super::{c::{self, C}, other};\npub struct B;\n"),
        ("x/src/c.rs", "fn f() {\n    crate::a::f();\n}\n"),
    ]);
    assert_eq!(faults, ["x: 3 files import each other\n    a -> b\n    b -> c\n    c -> a\n"]);
}

#[test]
fn a_circle_of_two_files_is_found() {
    let faults = made_up(&[
        ("x/src/lib.rs", "mod a;\nmod b;\n"),
        ("x/src/a.rs", "use crate::b;\n"),
        ("x/src/b.rs", "use crate::a;\n"),
    ]);
    assert_eq!(faults, ["x: 2 files import each other\n    a -> b\n    b -> a\n"]);
}

#[test]
fn a_re_exported_name_leads_to_the_file_that_defines_it() {
    let through_facade = [
        ("x/src/a.rs", "mod leaf;\nmod user;\npub use leaf::Leaf;\npub use user::User;\n"),
        ("x/src/a/leaf.rs", "pub struct Leaf;\n"),
        ("x/src/a/user.rs", "use super::Leaf;\nuse crate::a::Leaf as Other;\npub struct User;\n"),
        ("x/src/lib.rs", "mod a;\nuse a::User;\n"),
    ];
    assert!(made_up(&through_facade).is_empty());
    let through_parent = [
        ("x/src/lib.rs", "mod a;\n"),
        ("x/src/a.rs", "mod left;\nmod right;\nuse left::f;\nuse right::g;\npub fn run() {}\n"),
        ("x/src/a/left.rs", "use super::run;\npub fn f() {}\n"),
        ("x/src/a/right.rs", "pub fn g() {\n    super::run();\n}\n"),
    ];
    assert_eq!(made_up(&through_parent).len(), 1);
}

#[test]
fn imports_of_tests_do_not_count() {
    let test = "#[cfg(test)]\nmod tests {\n    use crate::b;\n}\n";
    let faults = made_up(&[
        ("x/src/lib.rs", "mod a;\nmod b;\nmod c;\n"),
        ("x/src/a.rs", test),
        ("x/src/b.rs", "use crate::c;\n// crate::a::f\n"),
        ("x/src/c.rs", "use crate::a;\n#[cfg(test)]\nuse crate::b;\n"),
        ("x/src/tests.rs", "use crate::b;\n"),
    ]);
    assert!(faults.is_empty(), "{faults:?}");
}

#[test]
fn crates_of_tests_may_have_circles() {
    let circle = |folder: &str| {
        made_up(&[
            (&format!("{folder}/src/a.rs"), "use crate::b;\n"),
            (&format!("{folder}/src/b.rs"), "use crate::c;\n"),
            (&format!("{folder}/src/c.rs"), "use crate::a;\n"),
        ])
    };
    assert!(circle("tests/support").is_empty());
    assert_eq!(circle("tools/rtl-x").len(), 1);
    assert_eq!(circle("tracer").len(), 1);
}
