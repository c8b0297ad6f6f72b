//! No dependency has a known vulnerability or is unsound: Cargo.lock against the advisories of RustSec that `scripts/fetch/advisories` pins.

use std::path::{Path, PathBuf};

use semver::{Version, VersionReq};
use support::{Need, skip};
use toml::Value;

use crate::checkout::root;

/// Advisories that do not concern us, with the reason.
const ACCEPTED: [(&str, &str); 0] = [];

/// The advisories, if they were fetched.
fn advisories() -> Option<PathBuf> {
    let home = || std::env::var_os("HOME").map(|home| Path::new(&home).join(".cache"));
    let user = || std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).or_else(home);
    let cache = std::env::var_os("RTL_CACHE").map(PathBuf::from);
    let cache = cache.or_else(|| user().map(|user| user.join("rtl")))?;
    let script = std::fs::read_to_string(root().join("scripts/fetch/advisories")).unwrap();
    let commit = script.lines().find_map(|line| line.strip_prefix("commit=")).unwrap();
    Some(cache.join(format!("advisory-db-{commit}"))).filter(|folder| folder.is_dir())
}

/// The advisory in the fenced TOML at the start of a Markdown file.
fn advisory(text: &str) -> Option<Value> {
    let (_, rest) = text.split_once("```toml\n")?;
    let (front, _) = rest.split_once("\n```")?;
    toml::from_str(front).ok()
}

/// True for a vulnerability or unsound code of this version; a note that a crate is unmaintained is neither.
fn concerns(advisory: &Value, version: &Version) -> bool {
    let (advised, versions) = (&advisory["advisory"], advisory.get("versions"));
    let note = advised.get("informational").and_then(Value::as_str);
    let is_fault = advised.get("withdrawn").is_none() && matches!(note, None | Some("unsound"));
    let ranges =
        |key: &str| versions.and_then(|versions| versions.get(key)?.as_array()).into_iter().flatten();
    let safe = ranges("patched").chain(ranges("unaffected")).filter_map(Value::as_str);
    is_fault && !safe.into_iter().any(|range| VersionReq::parse(range).unwrap().matches(version))
}

/// `id crate version` of every vulnerability of a lock file.
fn vulnerabilities(lock: &str, folder: &Path) -> Vec<String> {
    let lock: Value = toml::from_str(lock).unwrap();
    let mut found = Vec::new();
    for package in lock["package"].as_array().unwrap() {
        let (name, version) = (package["name"].as_str().unwrap(), package["version"].as_str().unwrap());
        let Ok(files) = std::fs::read_dir(folder.join("crates").join(name)) else { continue };
        for file in files {
            let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
            let advisory = advisory(&text).unwrap_or_else(|| panic!("an advisory of {name} cannot be read"));
            let id = advisory["advisory"]["id"].as_str().unwrap();
            let is_accepted = ACCEPTED.iter().any(|(accepted, _)| *accepted == id);
            if !is_accepted && concerns(&advisory, &Version::parse(version).unwrap()) {
                found.push(format!("{id} {name} {version}"));
            }
        }
    }
    found
}

#[test]
fn no_dependency_has_a_known_vulnerability() {
    let Some(folder) = advisories() else {
        return skip(Need::Programs, "no advisories (scripts/fetch/advisories)");
    };
    for lock in ["Cargo.lock", "tools/frames/Cargo.lock"] {
        let lock = std::fs::read_to_string(root().join(lock)).unwrap();
        assert_eq!(vulnerabilities(&lock, &folder), [""; 0]);
    }
    let old = "[[package]]\nname = \"time\"\nversion = \"0.1.40\"\n";
    assert!(!vulnerabilities(old, &folder).is_empty(), "an old version is found");
}

#[test]
fn an_advisory_concerns_versions_that_are_neither_patched_nor_unaffected() {
    let text = "```toml\n[advisory]\nid = \"X\"\n[versions]\npatched = [\">= 1.2.0\"]\nunaffected = [\"< 0.3\"]\n```\n# X\n";
    let advisory = self::advisory(text).unwrap();
    let concerned = |version: &str| concerns(&advisory, &Version::parse(version).unwrap());
    assert!(concerned("1.1.9") && concerned("0.3.0"));
    assert!(!concerned("1.2.0") && !concerned("0.2.9"));
    for (note, is_fault) in [("unsound", true), ("unmaintained", false), ("notice", false)] {
        let text = text.replace("id =", &format!("informational = \"{note}\"\nid ="));
        let advisory = self::advisory(&text).unwrap();
        assert_eq!(concerns(&advisory, &Version::new(1, 0, 0)), is_fault, "{note}");
    }
    let withdrawn = text.replace("id =", "withdrawn = \"2026-01-01\"\nid =");
    assert!(!concerns(&self::advisory(&withdrawn).unwrap(), &Version::new(1, 0, 0)));
}
