//! The libraries that a process is given: the tracer, and the tools of `tests/e2e/tools`.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// Where cargo puts what it builds for the running test or bench.
fn beside_this_program() -> PathBuf {
    env::current_exe().unwrap().parent().unwrap().to_owned()
}

/// A shared library among the dependencies of the running program, which cargo builds in the same profile.
///
/// # Panics
/// If it is not there.
#[must_use]
pub fn built(name: &str) -> PathBuf {
    let folder = beside_this_program();
    let places = [folder.join("deps").join(name), folder.join(name)];
    let found = places.iter().find(|place| place.exists());
    found.unwrap_or_else(|| panic!("cargo built no {name} in {}", folder.display())).clone()
}

/// The library under test.
///
/// # Panics
/// If cargo has not built it.
#[must_use]
pub fn tracer() -> PathBuf {
    built("librtl.so")
}

/// Its companion, which catches calls of HIP.
///
/// # Panics
/// If cargo has not built it.
#[must_use]
pub fn companion() -> PathBuf {
    built("librtl_hip.so")
}

/// A library of roctx that records nothing, under this name: `libroctx64.so.4` with its versioned symbols, or another
/// one without. Each lies in a folder that has all of them.
///
/// # Panics
/// If it does not compile.
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

/// The shared library made of `tests/e2e/tools/<name>.c`, built once and kept beside the tests under a name that changes
/// with its source.
///
/// # Panics
/// If it does not compile.
#[must_use]
pub fn tool(name: &str) -> PathBuf {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tools");
    let source = sources.join(format!("{name}.c"));
    let mut hasher = DefaultHasher::new();
    [source.clone(), sources.join("tool.h")].map(|file| fs::read(file).unwrap()).hash(&mut hasher);
    let folder = beside_this_program().join("tools");
    let library = folder.join(format!("{name}-{:016x}.so", hasher.finish()));
    if !library.exists() {
        fs::create_dir_all(&folder).unwrap();
        // Tests that run at the same time build it at the same time.
        let partial = folder.join(format!("{name}.{}", std::process::id()));
        let mut compiler = Command::new("cc");
        compiler.args(["-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-pthread", "-o"]);
        let output = compiler.arg(&partial).arg(source).arg("-ldl").output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        fs::rename(partial, &library).unwrap();
    }
    library
}
