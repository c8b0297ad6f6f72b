//! Files, packages and tests that pages and comments name: they exist.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use crate::checkout::{File, files, paths, root};

/// Folders whose names begin a path of this repository. `ci/` is missing: pages also name a user's.
const FOLDERS: [&str; 9] =
    ["analysis/", "docs/", "packaging/", "schema/", "scripts/", "sql/", "tests/", "tools/", "tracer/"];

/// A path, in which `*` and `<name>` stand for any part.
static PATH: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"[\w.*<>{}$~:-]+(?:/[\w.*<>{}$~:-]+)*/?").expect("a constant"));
static ANY: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\*|<[\w-]+>").expect("a constant"));
static TARGET: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"--(test|bin|example)[ =]([\w-]+)").expect("a constant"));
static PACKAGE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"cargo [^`]*?(?:-p|--package)[ =]([\w-]+)").expect("a constant"));

struct Known {
    /// Every file and folder, from the root.
    paths: BTreeSet<String>,
    packages: BTreeSet<String>,
}

impl Known {
    fn new(files: &[File], all: &[String]) -> Self {
        let mut paths = BTreeSet::new();
        for path in all {
            let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
            paths.extend(ends.map(|end| path[..end].to_owned()));
        }
        let name = Regex::new(r#"(?m)^name = "([^"]+)""#).expect("a constant");
        let packages = files
            .iter()
            .filter(|file| file.is_manifest())
            .flat_map(|file| {
                name.captures_iter(&file.text).map(|found| found[1].to_owned()).collect::<Vec<_>>()
            })
            .collect();
        Self { paths, packages }
    }

    /// True for a path from the root or, where `anywhere`, from any folder of the repository.
    fn has(&self, named: &str, anywhere: bool) -> bool {
        if !named.contains(['*', '<']) {
            let end = format!("/{named}");
            return self.paths.contains(named)
                || anywhere && self.paths.iter().any(|path| path.ends_with(&end));
        }
        let mut pattern = String::new();
        let mut at = 0;
        for any in ANY.find_iter(named) {
            pattern += &regex::escape(&named[at..any.start()]);
            pattern += "[^/]*";
            at = any.end();
        }
        pattern += &regex::escape(&named[at..]);
        let start = if anywhere { "(?:^|/)" } else { "^" };
        let pattern = Regex::new(&format!("{start}{pattern}$")).expect("an escaped path");
        self.paths.iter().any(|path| pattern.is_match(path))
    }
}

/// The prose of a file: a page, or the comments of a program.
fn prose(file: &File) -> Vec<(usize, &str)> {
    let mark = match &file.path {
        path if path.ends_with(".md") => "",
        path if path.ends_with(".rs") => "//",
        path if path.starts_with("scripts/") || path == "test" || path == "try" => "#",
        _ => return Vec::new(),
    };
    let lines = file.text.lines().enumerate().map(|(line, text)| (line + 1, text));
    lines.filter(|(_, text)| text.trim_start().starts_with(mark)).collect()
}

fn names_of_nothing(file: &File, known: &Known) -> Vec<String> {
    let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut faults = Vec::new();
    for (line, text) in prose(file) {
        let mut fault = |named: &str| faults.push(format!("{}:{line}: {named}", file.path));
        for found in PATH.find_iter(text) {
            let named = found.as_str().trim_end_matches(['.', ':', '/']);
            let after_path = text[..found.start()].ends_with(['/', '@']);
            if after_path
                || named.contains(['{', '$', '~', ':'])
                || named == "docs.rs"
                || named.contains("/artifacts/")
            {
                continue;
            }
            let has_end = [".rs", ".mjs", ".supp"].iter().any(|end| named.ends_with(end));
            let is_ours = FOLDERS.iter().any(|folder| named.starts_with(folder));
            // From the folder of the file or one around it, such as that of its package.
            let is_beside = || {
                let mut folders = folder.match_indices('/').map(|(at, _)| &folder[..at]).chain([folder]);
                folders.any(|folder| known.has(&format!("{folder}/{named}"), false))
            };
            if (has_end || is_ours) && !known.has(named, has_end) && !is_beside() {
                fault(named);
            }
        }
        for found in TARGET.captures_iter(text).filter(|_| text.contains("cargo ")) {
            let (kind, name) = (&found[1], &found[2]);
            let places = match kind {
                "test" => [format!("tests/{name}.rs"), format!("tests/{name}")],
                "bin" => [format!("src/bin/{name}.rs"), format!("src/bin/{name}")],
                _ => [format!("examples/{name}.rs"), format!("examples/{name}")],
            };
            if !known.packages.contains(name) && !places.iter().any(|place| known.has(place, true)) {
                fault(&found[0]);
            }
        }
        for found in PACKAGE.captures_iter(text).filter(|found| !known.packages.contains(&found[1])) {
            fault(&found[0]);
        }
    }
    faults
}

#[test]
fn every_file_that_is_named_exists() {
    let files = files();
    let known = Known::new(&files, &paths());
    let faults: Vec<String> = files.iter().flat_map(|file| names_of_nothing(file, &known)).collect();
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn a_name_of_a_missing_file_is_found() {
    let manifest = "[package]\nname = \"rtl-a\"\n\n[[bin]]\nname = \"b\"\n";
    let paths = ["schema/src/a.rs", "schema/tests/it/main.rs", "docs/x.png"].map(str::to_owned);
    let known = Known::new(&[File::new("tools/rtl-a/Cargo.toml", manifest)], &paths);
    let found = |text: &str| names_of_nothing(&File::new("docs/a.md", text), &known);
    assert_eq!(
        found("`src/a.rs`, `schema/src/` and `schema/src/<name>.rs`: see x.db and ![](x.png)."),
        [""; 0]
    );
    assert_eq!(found("`events/chain.rs`"), ["docs/a.md:1: events/chain.rs"]);
    assert_eq!(found("schema/src/b: of https://docs.rs/x/tests/"), ["docs/a.md:1: schema/src/b"]);
    assert_eq!(found("`cargo test -p rtl-a --test it`, `cargo run --bin b`"), [""; 0]);
    assert_eq!(found("`cargo test -p rtl-b --test kill`").len(), 2);
}

/// Names of causes of idle time in the first column of a page's table.
fn causes(page: &str) -> BTreeSet<String> {
    let table = page.split("| cause |").nth(1).unwrap_or_default();
    let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    let cells = rows.filter_map(|row| row.split('|').nth(1));
    cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).map(str::to_owned).collect()
}

#[test]
fn pages_name_the_causes_of_idle_time_that_exist() {
    let read = |path: &str| std::fs::read_to_string(root().join(path)).unwrap();
    let schema = read("docs/reference/rtl-summary.schema.json");
    let reference = causes(&read("docs/reference/idle.md"));
    assert!(reference.len() > 4 && reference.iter().all(|cause| schema.contains(&format!("\"{cause}\""))));
    let guide = causes(&read("docs/guide/idle-gpu.md"));
    assert!(guide.len() > 4 && guide.is_subset(&reference), "{guide:?} {reference:?}");
}
