//! C programs of `tests/programs`, and GPU code for them, built once and kept beside the tests.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::stack::beside_the_test;
use crate::{Need, skip};

/// The program `tests/programs/<name>.c`, for every [`crate::Stack`]. `None`, and one line that says so, where the
/// headers of the HSA runtime or a C compiler are missing.
///
/// # Panics
/// If it does not compile.
pub fn program(name: &str) -> Option<PathBuf> {
    program_with(name, &[])
}

/// As [`program`], with more arguments for the compiler.
///
/// # Panics
/// If it does not compile.
pub fn program_with(name: &str, arguments: &[&str]) -> Option<PathBuf> {
    if !exists("/usr/include/hsa/hsa.h", "libhsa-runtime-dev") {
        return None;
    }
    // One of C++ has this ending.
    let source = format!("{name}.cpp");
    let is_cpp = Path::new(env!("CARGO_MANIFEST_DIR")).join("../programs").join(&source).exists();
    let (source, compiler) = if is_cpp { (source, "c++") } else { (format!("{name}.c"), "cc") };
    let flags = ["-O1", "-g", "-Wall", "-Wextra", "-Werror", "-pthread"];
    // A program of HIP needs the first of these alone.
    let libraries = [arguments, &["-ldl", "-Wl,--as-needed", "-lhsa-runtime64"]].concat();
    Some(build(&source, "", compiler, &flags, &libraries))
}

/// The library `tests/programs/<name>.c`, for `LD_PRELOAD`.
///
/// # Panics
/// If it does not compile.
pub fn library(name: &str) -> PathBuf {
    build(
        &format!("{name}.c"),
        "",
        "cc",
        &["-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"],
        &["-ldl"],
    )
}

/// The GPU code `tests/programs/<name>.cl` for a target such as `gfx90a`, as a file that hipModuleLoad reads. `None`,
/// and one line that says so, without clang.
///
/// # Panics
/// If it does not compile; clang 14 does not know gfx942 and newer ones.
pub fn code_object(name: &str, target: &str) -> Option<PathBuf> {
    if !exists("/usr/bin/clang-14", "clang-14 lld-14") || !exists("/usr/bin/ld.lld-14", "clang-14 lld-14") {
        return None;
    }
    let target = format!("-mcpu={target}");
    let flags = ["-O2", "-x", "cl", "-cl-std=CL2.0", "-Xclang", "-finclude-default-header"];
    let gpu = ["-target", "amdgcn-amd-amdhsa", "-nogpulib", "-Wall", "-Werror", &target];
    Some(build(&format!("{name}.cl"), &target, "clang-14", &[flags.as_slice(), &gpu].concat(), &[]))
}

fn exists(file: &str, package: &str) -> bool {
    let exists = Path::new(file).exists();
    if !exists {
        skip(Need::Stacks, format_args!("no {file} (apt-get install {package})"));
    }
    exists
}

/// The file built from a source, under a name that changes with the source, the headers beside it and the flags.
fn build(source: &str, variant: &str, compiler: &str, flags: &[&str], libraries: &[&str]) -> PathBuf {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../programs");
    let path = sources.join(source);
    let built = beside_the_test("programs");
    let name =
        format!("{source}{variant}-{:016x}", fingerprint(&sources, &path, &[flags, libraries].concat()));
    let target = built.join(&name);
    if target.exists() {
        return target;
    }
    fs::create_dir_all(&built).unwrap_or_else(|error| panic!("{}: {error}", built.display()));
    // Tests that run at the same time build it at the same time.
    let partial = built.join(format!("{name}.{}", std::process::id()));
    let mut command = Command::new(compiler);
    command.args(flags).arg("-o").arg(&partial).arg(&path).args(libraries);
    let output = command.output().unwrap_or_else(|error| panic!("{compiler}: {error}"));
    assert!(output.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&output.stderr));
    fs::rename(&partial, &target).unwrap_or_else(|error| panic!("{}: {error}", target.display()));
    target
}

fn fingerprint(sources: &Path, path: &Path, flags: &[&str]) -> u64 {
    let mut files: Vec<PathBuf> = fs::read_dir(sources)
        .unwrap_or_else(|error| panic!("{}: {error}", sources.display()))
        .flatten()
        .map(|entry| entry.path())
        .filter(|file| file.extension().is_some_and(|extension| extension == "h"))
        .collect();
    files.sort();
    files.push(sources.join("../../tracer/include/rtl.h"));
    files.push(path.to_owned());
    let mut hasher = DefaultHasher::new();
    flags.hash(&mut hasher);
    for file in files {
        fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display())).hash(&mut hasher);
    }
    hasher.finish()
}
