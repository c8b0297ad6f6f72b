//! The site that mdBook makes of the documentation.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

use regex::Regex;

use crate::checkout::root;

const PROGRAM: &str = "tools/mdbook-0.5.4";

/// A page of the site: what can be linked to in it, and what it links to or shows.
#[derive(Debug)]
struct Page {
    anchors: BTreeSet<String>,
    links: Vec<String>,
}

impl Page {
    fn of(html: &str) -> Self {
        let all = |pattern: &str, html: &str| -> Vec<String> {
            let pattern = Regex::new(pattern).unwrap();
            pattern.captures_iter(html).map(|found| found[1].to_owned()).collect()
        };
        // The rest is mdBook's own.
        let content = html.split_once("<main>").and_then(|(_, rest)| rest.split_once("</main>"));
        let links = all(r#"(?:href|src)="([^"]+)""#, content.map_or("", |(content, _)| content));
        Self { anchors: all(r#"\bid="([^"]+)""#, html).into_iter().collect(), links }
    }
}

/// All pages below a folder, by their path in it.
fn pages(folder: &Path, below: &Path) -> BTreeMap<PathBuf, Page> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder.join(below)).unwrap() {
        let path = below.join(entry.unwrap().file_name());
        if folder.join(&path).is_dir() {
            found.extend(pages(folder, &path));
        } else if path.extension().is_some_and(|end| end == "html") {
            found.insert(path.clone(), Page::of(&fs::read_to_string(folder.join(&path)).unwrap()));
        }
    }
    found
}

/// The path without `..` and `.`.
fn straight(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut straight, part| {
        match part {
            Component::ParentDir => drop(straight.pop()),
            Component::CurDir => {}
            part => straight.push(part),
        }
        straight
    })
}

/// Links of the pages to a file or to a part of a page that the site does not have.
fn links_to_nowhere(pages: &BTreeMap<PathBuf, Page>, exists: impl Fn(&Path) -> bool) -> Vec<String> {
    let mut faults = Vec::new();
    for (path, page) in pages {
        for link in page.links.iter().filter(|link| !link.contains(':')) {
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = match file {
                "" => path.clone(),
                file => straight(&path.parent().unwrap_or(Path::new("")).join(file)),
            };
            let has_anchor =
                anchor.is_empty() || pages.get(&target).is_some_and(|target| target.anchors.contains(anchor));
            if !exists(&target) || !has_anchor {
                faults.push(format!("{}: {link}", path.display()));
            }
        }
    }
    faults
}

#[test]
fn every_link_of_the_site_leads_somewhere() {
    let Some(folder) = support::fetched(PROGRAM, "scripts/fetch/mdbook") else { return };
    let site = tempfile::tempdir().unwrap();
    let output = Command::new(folder.join("bin/mdbook"))
        .args(["build", "--dest-dir"])
        .arg(site.path())
        .arg(root())
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && !told.contains("WARN") && !told.contains("ERROR"), "{told}");
    let mut pages = pages(site.path(), Path::new(""));
    // All pages in one, whose links mdBook does not follow.
    pages.remove(Path::new("print.html"));
    let summary = fs::read_to_string(root().join("docs/SUMMARY.md")).unwrap();
    assert!(pages.len() >= summary.matches("](").count(), "{:?}", pages.keys());
    assert_eq!(links_to_nowhere(&pages, |path| site.path().join(path).exists()), [""; 0]);
}

#[test]
fn a_link_to_a_missing_file_or_part_is_found() {
    let page = |html: &str| Page::of(&format!("<a href=\"own.css\"><main>{html}</main>"));
    let pages = BTreeMap::from([
        (
            PathBuf::from("a/one.html"),
            page(r##"<h1 id="top"><a href="#top"><a href="../two.html#part"><img src="x.png">"##),
        ),
        (
            PathBuf::from("two.html"),
            page(r#"<a href="a/one.html#top"><a href="three.html"><a href="https://x.y/z">"#),
        ),
    ]);
    let exists = |path: &Path| pages.contains_key(path);
    assert_eq!(
        links_to_nowhere(&pages, exists),
        ["a/one.html: ../two.html#part", "a/one.html: x.png", "two.html: three.html"]
    );
}
