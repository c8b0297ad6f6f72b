//! Diagnoses why a command left no trace.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The likely reason, and a hint.
#[must_use]
pub fn no_trace(variable: impl Fn(&str) -> Option<OsString>) -> (String, &'static str) {
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
    ("no process queued a kernel".to_owned(), "RTL_DEBUG=1 prints a log of the tracer")
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
