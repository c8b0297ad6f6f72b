//! Finds and builds the libraries that a process loads: the tracer, and the tools of `tests/e2e/tools`.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// The folder in which cargo puts what it builds for the running test or bench.
fn beside_this_program() -> PathBuf {
    env::current_exe().unwrap().parent().unwrap().to_owned()
}

/// A shared library among the dependencies of the running program, which cargo builds in the same profile.
#[must_use]
pub fn built(name: &str) -> PathBuf {
    let folder = beside_this_program();
    let places = [folder.join("deps").join(name), folder.join(name)];
    let found = places.iter().find(|place| place.exists());
    found.unwrap_or_else(|| panic!("cargo built no {name} in {}", folder.display())).clone()
}

#[must_use]
pub fn tracer() -> PathBuf {
    built("librtl.so")
}

/// The tracer's library that intercepts calls of HIP.
#[must_use]
pub fn companion() -> PathBuf {
    built("librtl_hip.so")
}

/// A library of roctx that records nothing, under this name: `libroctx64.so.4` with its versioned symbols, or another one
/// without. Each lies in a folder that has all of them.
#[must_use]
pub fn roctx(name: &str) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tools/roctx.c");
    let mut hasher = DefaultHasher::new();
    fs::read(&source).unwrap().hash(&mut hasher);
    let folder = beside_this_program().join(format!("tools/roctx-{:016x}", hasher.finish()));
    let library = folder.join(name);
    if !library.exists() {
        fs::create_dir_all(&folder).unwrap();
        let partial = folder.join(format!("{name}.{}", std::process::id()));
        let mut compiler = Command::new("cc");
        compiler
            .args(["-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o"])
            .arg(&partial)
            .arg(source);
        compiler.arg(format!("-Wl,-soname,{name}"));
        if name.starts_with("libroctx64") {
            let versions = folder.join(format!("versions.{}", std::process::id()));
            fs::write(&versions, "ROCTX_4.1 { global: roctx*; local: *; };").unwrap();
            compiler.arg(format!("-Wl,--version-script={}", versions.display()));
        }
        let output = compiler.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        fs::rename(partial, &library).unwrap();
    }
    library
}

/// The shared library made of `tests/e2e/tools/<name>.c`, built once and kept beside the tests under a name that changes with its
/// source.
#[must_use]
pub fn tool(name: &str) -> PathBuf {
    tool_with(name, &[])
}

/// The tool `hip_judge`, for the functions that these libraries of HIP have.
#[must_use]
pub fn hip_judge(hip: &[PathBuf]) -> PathBuf {
    let mut lister = Command::new("nm");
    let output = lister.args(["--dynamic", "--defined-only", "--format=posix"]).args(hip).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let symbols = String::from_utf8(output.stdout).unwrap();
    let functions = symbols.lines().filter_map(|line| {
        let (name, rest) = line.split_once(' ')?;
        rest.starts_with(['T', 'W']).then(|| name.split('@').next().unwrap_or(name))
    });
    // Calls that the compiler generates, which register a program's kernels, are in no header.
    let called = |name: &&str| {
        name.trim_start_matches('_').starts_with("hip")
            && !name.contains("hipRegister")
            && !name.contains("hipUnregister")
    };
    let called: BTreeSet<&str> = functions.filter(called).collect();
    let lines = called.iter().enumerate().map(|(number, name)| format!("F({name}, {number})\n"));
    let lines: String = lines.collect();
    let list = kept("functions", &lines);
    tool_with("hip_judge", &[&format!("-DFUNCTIONS=\"{}\"", list.display())])
}

/// A file beside the tests with this content, under a name that changes with it.
fn kept(name: &str, content: &str) -> PathBuf {
    let mut hasher = DefaultHasher::new();
    content.hash(&mut hasher);
    let folder = beside_this_program().join("tools");
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join(format!("{name}-{:016x}", hasher.finish()));
    let partial = folder.join(format!("{name}.{}", std::process::id()));
    fs::write(&partial, content).unwrap();
    fs::rename(partial, &file).unwrap();
    file
}

/// Builds a tool with more arguments for the compiler.
fn tool_with(name: &str, arguments: &[&str]) -> PathBuf {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tools");
    let source = sources.join(format!("{name}.c"));
    let mut hasher = DefaultHasher::new();
    let included = [
        "tool.h",
        "../../programs/queue_descriptor.h",
        "../../programs/copy_operation.h",
        "../../../tracer/include/rtl.h",
    ];
    let included = included.map(|file| sources.join(file));
    [std::slice::from_ref(&source), &included]
        .concat()
        .iter()
        .map(|file| fs::read(file).unwrap())
        .collect::<Vec<_>>()
        .hash(&mut hasher);
    arguments.hash(&mut hasher);
    let folder = beside_this_program().join("tools");
    let library = folder.join(format!("{name}-{:016x}.so", hasher.finish()));
    if !library.exists() {
        fs::create_dir_all(&folder).unwrap();
        // Tests that run at the same time build it at the same time.
        let partial = folder.join(format!("{name}.{}", std::process::id()));
        let mut compiler = Command::new("cc");
        compiler.args(["-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-pthread", "-o"]);
        let output = compiler.arg(&partial).arg(source).args(arguments).arg("-ldl").output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        fs::rename(partial, &library).unwrap();
    }
    library
}
