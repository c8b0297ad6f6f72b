//! Diagnoses why a command left no trace.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::notes::Notes;

/// The hint where the tracer does not know the runtime.
pub const NEWER: &str = "a newer version of the tracer may know this ROCm version";

/// The likely reason, and a hint. A note of the tracer is certain, so it comes first.
#[must_use]
pub fn no_trace(notes: &Notes, variable: impl Fn(&str) -> Option<OsString>) -> (String, &'static str) {
    if let Some((reason, _)) = notes.refusals.first() {
        return (reason.clone(), NEWER);
    }
    if notes.has_recorder {
        return ("no process queued a kernel".to_owned(), LOG);
    }
    if let Err(error) = std::fs::File::open("/dev/kfd") {
        let hint = match error.kind() {
            std::io::ErrorKind::PermissionDenied => "members of the groups render and video can use the GPUs",
            _ => "check that an AMD GPU is visible, and passed into the container",
        };
        return (format!("/dev/kfd cannot be opened: {error}"), hint);
    }
    if !runtime_folders(&variable).iter().any(|folder| folder.join("libhsa-runtime64.so.1").exists()) {
        let hint = "set ROCM_PATH to the folder of ROCm; a wheel with its own runtime needs none";
        return ("the ROCm runtime was not found".to_owned(), hint);
    }
    ("no process loaded the tracer by starting the ROCm runtime".to_owned(), LOG)
}

const LOG: &str = "RTL_DEBUG=1 prints a log of the tracer";

/// The reason if AddressSanitizer did not let the program start, because another library was preloaded before its own.
#[must_use]
pub fn sanitized(program: &OsStr, paths: Option<OsString>) -> Option<(String, &'static str)> {
    let file = located(program, paths);
    let is_sanitized = SANITIZERS.iter().any(|library| needs(&file, library));
    let reason = || {
        let program = program.to_string_lossy();
        format!("AddressSanitizer ends {program} where its library is not the first that is loaded")
    };
    is_sanitized.then(|| (reason(), "rtl-trace --no-preload does not preload the tracer"))
}

/// The beginnings of the names that gcc and clang give the library of AddressSanitizer.
const SANITIZERS: [&str; 2] = ["libasan.so", "libclang_rt.asan"];

const MAX_PROGRAM: u64 = 256 << 20;

/// Returns true if the file of a program has the name of a library among its strings, as its dynamic section has.
fn needs(program: &Path, library: &str) -> bool {
    let is_short = program.metadata().is_ok_and(|file| file.is_file() && file.len() <= MAX_PROGRAM);
    let name = [b"\0", library.as_bytes()].concat();
    let has_name =
        |file: Vec<u8>| file.starts_with(b"\x7fELF") && file.windows(name.len()).any(|window| window == name);
    is_short && std::fs::read(program).is_ok_and(has_name)
}

/// The file of a command, as a shell finds it.
fn located(program: &OsStr, paths: Option<OsString>) -> PathBuf {
    let path = Path::new(program);
    let folders = paths.filter(|_| path.components().count() == 1).unwrap_or_default();
    let found = std::env::split_paths(&folders).map(|folder| folder.join(path)).find(|file| file.is_file());
    found.unwrap_or_else(|| path.to_owned())
}

/// The folders in which loaders look for the ROCm runtime.
fn runtime_folders(variable: impl Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = Vec::new();
    if let Some(paths) = variable("LD_LIBRARY_PATH") {
        folders.extend(std::env::split_paths(&paths));
    }
    let roots = ["ROCM_PATH", "HIP_PATH"].into_iter().filter_map(&variable).map(PathBuf::from);
    for root in roots.chain([Path::new("/opt/rocm").to_owned()]) {
        folders.extend([root.join("lib"), root.join("lib64")]);
    }
    folders
        .extend(["/usr/lib", "/usr/lib64", "/usr/lib/x86_64-linux-gnu", "/usr/local/lib"].map(PathBuf::from));
    folders
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_needs_the_library_of_a_sanitizer_is_found_on_the_path() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("checked"), b"\x7fELF\0libc.so.6\0libasan.so.8\0").unwrap();
        std::fs::write(folder.path().join("plain"), b"\x7fELF\0libc.so.6\0notlibasan.so\0").unwrap();
        std::fs::write(folder.path().join("script"), "#!/bin/sh\n\0libasan.so").unwrap();
        let reason = |program: &str| sanitized(program.as_ref(), Some(folder.path().into()));
        let (why, hint) = reason("checked").unwrap();
        assert!(
            why.starts_with("AddressSanitizer ends checked") && hint.contains("--no-preload"),
            "{why} {hint}"
        );
        assert_eq!((reason("plain"), reason("script"), reason("absent")), (None, None, None));
        assert!(sanitized(folder.path().join("checked").as_os_str(), None).is_some());
    }

    #[test]
    fn what_the_tracer_has_noted_is_the_reason() {
        let mut notes = Notes { has_recorder: true, ..Notes::default() };
        assert_eq!(no_trace(&notes, |_| None).0, "no process queued a kernel");
        notes.refusals.push(("a table of 720 bytes".to_owned(), 1));
        assert_eq!(no_trace(&notes, |_| None), ("a table of 720 bytes".to_owned(), NEWER));
    }

    #[test]
    fn the_runtime_is_looked_for_where_the_environment_says() {
        let folders = runtime_folders(|name| match name {
            "LD_LIBRARY_PATH" => Some("/a:/b".into()),
            "ROCM_PATH" => Some("/opt/rocm-7.2".into()),
            _ => None,
        });
        for folder in ["/a", "/b", "/opt/rocm-7.2/lib", "/opt/rocm/lib", "/usr/lib/x86_64-linux-gnu"] {
            assert!(folders.contains(&PathBuf::from(folder)), "{folder}");
        }
    }
}
