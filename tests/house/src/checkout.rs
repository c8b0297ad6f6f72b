//! The text files of the checkout.

use std::fs;
use std::path::{Path, PathBuf};

/// A file of the repository that is text.
pub(crate) struct File {
    /// From the root, with `/`.
    pub(crate) path: String,
    pub(crate) text: String,
}

impl File {
    pub(crate) fn new(path: &str, text: &str) -> Self {
        Self { path: path.to_owned(), text: text.to_owned() }
    }

    pub(crate) fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    pub(crate) fn is_manifest(&self) -> bool {
        self.path.ends_with("/Cargo.toml")
    }

    /// True if its path begins with one of these folders or is one of these files.
    pub(crate) fn is_within(&self, folders: &[&str]) -> bool {
        folders.iter().any(|folder| self.path.starts_with(folder))
    }

    pub(crate) fn is_test(&self) -> bool {
        self.path.starts_with("tests/") || self.path.contains("/tests/") || self.path.ends_with("/tests.rs")
    }

    /// Lines that are no comments, with their numbers.
    pub(crate) fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text
            .lines()
            .enumerate()
            .map(|(line, text)| (line + 1, text))
            .filter(|(_, text)| !text.trim_start().starts_with("//"))
    }

    /// `path:line` of every line of code that the rule finds fault with.
    pub(crate) fn faults(&self, rule: impl Fn(&str) -> bool) -> Vec<String> {
        self.code().filter(|(_, text)| rule(text)).map(|(line, _)| format!("{}:{line}", self.path)).collect()
    }
}

/// The folder of the checkout.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every file of the checkout from the root, build results left out.
pub(crate) fn paths() -> Vec<String> {
    let root = root();
    let mut folders = vec![root.clone()];
    let mut paths = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let entry = entry.unwrap();
            let name = entry.file_name();
            // In a worktree `.git` is a file that says where the repository is.
            if ["target", ".git", "dist", "artifacts"].iter().any(|skipped| name == *skipped) {
                continue;
            }
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            } else {
                let path = entry.path();
                paths.push(path.strip_prefix(&root).unwrap().to_string_lossy().replace('\\', "/"));
            }
        }
    }
    paths
}

/// Every text file of the checkout but those of the fuzzer's corpus, which are made to be odd.
pub(crate) fn files() -> Vec<File> {
    let root = root();
    let paths = paths().into_iter().filter(|path| !path.starts_with("tests/fuzz/corpus/"));
    let files: Vec<File> = paths
        .filter_map(|path| Some(File { text: fs::read_to_string(root.join(&path)).ok()?, path }))
        .collect();
    assert!(files.iter().any(|file| file.path == "schema/src/lib.rs"), "the walk misses the sources");
    files
}
