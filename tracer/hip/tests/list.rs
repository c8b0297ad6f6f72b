//! Compares the list of HIP's functions with the headers and the libraries that it is made for.

#![expect(clippy::unwrap_used, reason = "a checkout that cannot be read fails the test")]

use std::path::{Path, PathBuf};
use std::process::Command;

use support::{Need, skip};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn list() -> String {
    std::fs::read_to_string(root().join("tracer/hip/src/functions.rs")).unwrap()
}

#[test]
fn the_list_is_what_the_headers_give() {
    let is_there = |program: &str| Command::new(program).arg("--version").output().is_ok();
    if !is_there("python3") || !is_there("clang-14") {
        return skip(Need::Stacks, "no python3 or no clang-14");
    }
    let output = Command::new(root().join("scripts/hip-functions")).output().unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr);
    if complaint.contains("hint: scripts/fetch/rocm-stacks headers") {
        return skip(Need::Programs, "no headers of HIP (scripts/fetch/rocm-stacks headers)");
    }
    assert!(output.status.success(), "{complaint}");
    assert!(
        String::from_utf8_lossy(&output.stdout) == list(),
        "hint: scripts/hip-functions > tracer/hip/src/functions.rs"
    );
}

/// Exports of the installed HIP beside its public functions: registration of code by compiled programs, and roctracer's.
const NOT_PUBLIC: [&str; 5] =
    ["__hip", "hipRegister", "hipEnableActivity", "hipInitActivity", "hipGetCmdName"];

#[test]
fn every_public_function_that_the_installed_hip_exports_is_in_the_list() {
    let library = "/usr/lib/x86_64-linux-gnu/libamdhip64.so.5";
    let nm = Command::new("nm").args(["--dynamic", "--defined-only", "--format=posix", library]).output();
    let Some(nm) = nm.ok().filter(|nm| nm.status.success()) else {
        return skip(Need::Stacks, "no nm or no libamdhip64-5");
    };
    let (symbols, list) = (String::from_utf8_lossy(&nm.stdout).into_owned(), list());
    let names = symbols.lines().filter_map(|line| line.split([' ', '@']).next());
    let public = |name: &&str| {
        name.starts_with("hip")
            && !name.starts_with("hip_")
            && !NOT_PUBLIC.iter().any(|start| name.starts_with(start))
    };
    let missing: Vec<&str> =
        names.filter(public).filter(|name| !list.contains(&format!(" {name}("))).collect();
    assert_eq!(missing, Vec::<&str>::new());
}
