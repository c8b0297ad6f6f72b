//! One rule a function, and its test.

use std::fs;
use std::path::Path;

use crate::checkout::{File, files, root};

#[track_caller]
fn holds(rule: impl Fn(&File) -> Vec<String>) {
    let faults: Vec<String> = files().iter().flat_map(rule).collect();
    assert!(faults.is_empty(), "{faults:#?}");
}

fn sql_outside_its_rooms(file: &File) -> Vec<String> {
    if !file.is_rust() || file.is_test() || file.is_within(&["schema/", "sql/", "tools/rtl-sql/"]) {
        return Vec::new();
    }
    file.faults(|line| {
        let line = line.to_ascii_lowercase();
        let query = line.split_once("select ").is_some_and(|(_, rest)| rest.contains(" from "));
        query
            || ["\"select ", "insert into ", "create table ", "create view ", "\"pragma "]
                .iter()
                .any(|sql| line.contains(sql))
    })
}

#[test]
fn sql_text_is_only_in_sql_and_schema_and_rtl_sql() {
    holds(sql_outside_its_rooms);
    let query = "    db.query(\"SELECT id FROM rocpd_op\");\n";
    assert_eq!(sql_outside_its_rooms(&File::new("analysis/src/busy.rs", query)), ["analysis/src/busy.rs:1"]);
    assert!(sql_outside_its_rooms(&File::new("schema/src/dialect/rpd.rs", query)).is_empty());
    assert!(sql_outside_its_rooms(&File::new("tools/rtl-x/src/lib.rs", "// select a from b")).is_empty());
}

fn unsafe_outside_its_rooms(file: &File) -> Vec<String> {
    const ROOMS: [&str; 4] = ["tracer/", "tests/kfd-sim/", "tools/arrow/", "tools/duckdb/"];
    if !file.is_rust() || file.is_within(&ROOMS) {
        return Vec::new();
    }
    let openings = ["{", "fn", "impl", "extern", "trait"].map(|what| format!("{} {what}", "unsafe"));
    file.faults(|line| openings.iter().any(|opening| line.contains(opening)))
}

#[test]
fn unsafe_code_is_only_where_c_is_spoken() {
    holds(unsafe_outside_its_rooms);
    let block = format!("let x = {} {{ *p }};", "unsafe");
    assert_eq!(unsafe_outside_its_rooms(&File::new("schema/src/a.rs", &block)), ["schema/src/a.rs:1"]);
    assert!(unsafe_outside_its_rooms(&File::new("tracer/src/lib.rs", &block)).is_empty());
}

/// Crates that one room alone may name, and that room.
const OWNED: [(&str, &str); 2] = [("rusqlite", "schema/"), ("pyo3", "tools/python/")];

fn foreign_engines(file: &File) -> Vec<String> {
    if !(file.is_rust() || file.is_manifest()) || file.is_test() {
        return Vec::new();
    }
    OWNED
        .iter()
        .filter(|(_, room)| !file.is_within(&[room]))
        .flat_map(|(engine, _)| {
            file.faults(|line| {
                line.contains(&format!("{engine}::"))
                    || file.is_manifest()
                        && line.split_once(['.', ' ', '=']).is_some_and(|(name, _)| name == *engine)
            })
        })
        .collect()
}

#[test]
fn engines_are_named_only_in_their_rooms() {
    holds(foreign_engines);
    let manifest = File::new("analysis/Cargo.toml", "[dependencies]\nrusqlite.workspace = true\n");
    assert_eq!(foreign_engines(&manifest), ["analysis/Cargo.toml:2"]);
    let source = File::new("tools/rtl-x/src/lib.rs", "use rusqlite::Connection;");
    assert_eq!(foreign_engines(&source), ["tools/rtl-x/src/lib.rs:1"]);
}

/// A crate and the crates of this repository that it must not know.
const STRANGERS: [(&str, &[&str]); 7] = [
    ("schema/platform", &["rtl-schema", "rtl-analysis", "atomic-file", "cli"]),
    ("tracer/hsa-sys", &["rtl-schema", "rtl-analysis", "cli", "column-files", "tracer"]),
    ("schema", &["rtl-analysis", "cli", "column-files"]),
    ("schema/write", &["rtl-analysis", "cli", "column-files"]),
    ("analysis", &["cli", "column-files", "clap"]),
    ("tools/cli", &["rtl-summary", "rtl-diff", "rtl-merge", "column-files"]),
    ("tools/tables", &["cli", "duckdb", "column-files"]),
];

fn arrows_the_wrong_way(file: &File) -> Vec<String> {
    let Some((_, strangers)) = STRANGERS.iter().find(|(room, _)| file.path == format!("{room}/Cargo.toml"))
    else {
        return Vec::new();
    };
    file.faults(|line| line.split_once(['.', ' ', '=']).is_some_and(|(name, _)| strangers.contains(&name)))
}

#[test]
fn every_arrow_between_crates_goes_one_way() {
    holds(arrows_the_wrong_way);
    let manifest = File::new("analysis/Cargo.toml", "[dependencies]\ncli.workspace = true\n");
    assert_eq!(arrows_the_wrong_way(&manifest), ["analysis/Cargo.toml:2"]);
}

/// Interfaces that not every operating system has.
const OF_ONE_SYSTEM: [&str; 6] =
    ["std::os::", "rustix::", "signal_hook::", "libc::", "winapi_util::", "fs4::"];

fn systems_outside_their_room(file: &File) -> Vec<String> {
    let is_of_tools = file.is_within(&["schema/", "analysis/", "tools/"]);
    let has_system = file.is_within(&["schema/platform/", "tools/rtl-trace/"]);
    if !file.is_rust() || !is_of_tools || has_system || file.is_test() || file.path.contains("/examples/") {
        return Vec::new();
    }
    // Tests run on Linux.
    let code = file.text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    File::new(&file.path, code).faults(|line| OF_ONE_SYSTEM.iter().any(|name| line.contains(name)))
}

#[test]
fn differences_between_operating_systems_are_only_in_platform() {
    holds(systems_outside_their_room);
    let production = "use std::os::unix::fs::MetadataExt;\n";
    let found = |path: &str, text: &str| systems_outside_their_room(&File::new(path, text));
    assert_eq!(found("tools/cli/src/a.rs", production), ["tools/cli/src/a.rs:1"]);
    assert_eq!(found("schema/src/a.rs", "let disk = rustix::fs::statvfs(folder);\n"), ["schema/src/a.rs:1"]);
    assert!(found("schema/platform/src/a.rs", production).is_empty());
    assert!(found("tools/rtl-trace/src/a.rs", production).is_empty());
    assert!(found("tools/cli/src/a.rs", &format!("#[cfg(test)]\nmod tests {{\n{production}}}\n")).is_empty());
}

fn paths_of_one_machine(file: &File) -> Vec<String> {
    // Put together here, so that this file does not break its own rule.
    let places = ["work", "root"].map(|folder| format!("/{folder}/"));
    let begins = |line: &str, place: &str| {
        line.match_indices(place).any(|(at, _)| {
            !line[..at].ends_with(|before: char| before.is_alphanumeric() || "._-}~".contains(before))
        })
    };
    file.text
        .lines()
        .enumerate()
        .filter(|(_, line)| places.iter().any(|place| begins(line, place)))
        .map(|(line, _)| format!("{}:{}", file.path, line + 1))
        .collect()
}

#[test]
fn no_file_names_a_path_of_one_machine() {
    holds(paths_of_one_machine);
    let text = format!("see /{}/notes", "work");
    assert_eq!(paths_of_one_machine(&File::new("README.md", &text)), ["README.md:1"]);
    assert!(paths_of_one_machine(&File::new("README.md", "https://example.org/work/notes")).is_empty());
}

#[test]
fn every_tool_says_what_question_it_answers() {
    let tools = fs::read_dir(root().join("tools")).unwrap().map(|entry| entry.unwrap());
    for tool in tools.filter(|tool| tool.file_name().to_string_lossy().starts_with("rtl-")) {
        let readme = fs::read_to_string(tool.path().join("README.md")).unwrap_or_default();
        assert!(readme.contains('?'), "{}/README.md asks no question", tool.path().display());
    }
}

fn skips_of_its_own(file: &File) -> Vec<String> {
    // `support::skip` alone prints this, so that `RTL_REQUIRE` holds for every test.
    let begin = format!("\"{}: ", "skipped");
    if !file.is_rust() || !file.is_test() || file.is_within(&["tests/support/"]) {
        return Vec::new();
    }
    file.faults(|line| line.contains(&begin) && line.contains("print"))
}

#[test]
fn tests_are_skipped_in_one_way() {
    holds(skips_of_its_own);
    let skip = format!("    eprintln!(\"{}: no compiler\");\n", "skipped");
    assert_eq!(skips_of_its_own(&File::new("tests/e2e/tests/it/a.rs", &skip)), ["tests/e2e/tests/it/a.rs:1"]);
    assert!(skips_of_its_own(&File::new("tests/support/src/skip.rs", &skip)).is_empty());
}

fn links_to_nowhere(file: &File, exists: impl Fn(&Path) -> bool) -> Vec<String> {
    if !file.path.ends_with(".md") {
        return Vec::new();
    }
    let folder = Path::new(&file.path).parent().unwrap_or(Path::new(""));
    file.text
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split_once(')'))
        .map(|(target, _)| target.split('#').next().unwrap_or_default())
        .filter(|target| !target.is_empty() && !target.contains(':') && !target.contains(' '))
        .filter(|target| !exists(&folder.join(target)))
        .map(|target| format!("{}: {target}", file.path))
        .collect()
}

#[test]
fn every_link_between_documents_leads_somewhere() {
    let root = root();
    holds(|file| links_to_nowhere(file, |path| root.join(path).exists()));
    let file = File::new("docs/a.md", "[there](../README.md) and [nowhere](b.md#part)");
    let faults = links_to_nowhere(&file, |path| path == Path::new("docs/../README.md"));
    assert_eq!(faults, ["docs/a.md: b.md"]);
}

#[test]
fn every_page_of_the_documentation_is_in_its_summary() {
    let root = root();
    let summary = fs::read_to_string(root.join("docs/SUMMARY.md")).unwrap();
    let folders = ["", "guide", "reference", "design", "bench"];
    for folder in folders {
        for entry in fs::read_dir(root.join("docs").join(folder)).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let page = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
            let is_page = name.ends_with(".md") && name != "SUMMARY.md";
            assert!(!is_page || summary.contains(&format!("]({page})")), "docs/SUMMARY.md lacks {page}");
        }
    }
}

/// Test modules of targets whose manifest says `test = false`: cargo would never run them. A library is its package's `src`
/// without programs; a program is its first file.
fn tests_that_cargo_leaves_out(files: &[File]) -> Vec<String> {
    let manifests = files.iter().filter_map(|file| Some((file.path.strip_suffix("Cargo.toml")?, &file.text)));
    let untested = manifests.flat_map(|(package, text)| {
        let targets = text.split("\n[").filter(|section| section.contains("\ntest = false"));
        targets.map(move |target| {
            let value = |key: &str| target.split_once(&format!("\n{key} = \""))?.1.split('"').next();
            let programs = [format!("{package}src/main.rs"), format!("{package}src/bin/")];
            let program = match value("path") {
                Some(path) => vec![format!("{package}{path}")],
                None => vec![
                    format!("{package}src/bin/{}.rs", value("name").unwrap_or_default()),
                    programs[0].clone(),
                ],
            };
            let is_library = target.starts_with("lib]");
            (is_library, if is_library { vec![format!("{package}src/")] } else { program }, programs)
        })
    });
    untested
        .flat_map(|(is_library, paths, programs)| {
            let within = |file: &&File, paths: &[String]| {
                paths.iter().any(|path| file.path.starts_with(path.as_str()))
            };
            let own = files.iter().filter(move |file| {
                file.is_rust() && within(file, &paths) && !(is_library && within(file, &programs))
            });
            own.flat_map(|file| file.faults(|line| line.contains("#[cfg(test)]"))).collect::<Vec<_>>()
        })
        .collect()
}

#[test]
fn cargo_runs_every_test() {
    let faults = tests_that_cargo_leaves_out(&files());
    assert!(faults.is_empty(), "{faults:#?}");
    let tests = "\n#[cfg(test)]\nmod tests {}\n";
    let found = |manifest: &str, path: &str| {
        tests_that_cargo_leaves_out(&[File::new("tools/a/Cargo.toml", manifest), File::new(path, tests)])
    };
    let (library, program) =
        ("[package]\n\n[lib]\ntest = false\n", "[package]\n\n[[bin]]\nname = \"b\"\ntest = false\n");
    assert_eq!(found(library, "tools/a/src/c.rs"), ["tools/a/src/c.rs:2"]);
    assert_eq!(found(library, "tools/a/src/main.rs"), [""; 0]);
    assert_eq!(found(program, "tools/a/src/bin/b.rs"), ["tools/a/src/bin/b.rs:2"]);
    assert_eq!(found(program, "tools/a/src/c.rs"), [""; 0]);
}
