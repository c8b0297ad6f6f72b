//! Why a command has left no trace.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What is likely missing, and what to do.
#[must_use]
pub fn of_no_trace(variable: impl Fn(&str) -> Option<OsString>) -> (String, &'static str) {
    if let Err(error) = std::fs::File::open("/dev/kfd") {
        let hint = match error.kind() {
            std::io::ErrorKind::PermissionDenied => "the groups render and video may use the GPUs",
            _ => "is an AMD GPU visible here, and in this container?",
        };
        return (format!("/dev/kfd cannot be opened: {error}"), hint);
    }
    if !places(&variable).iter().any(|folder| folder.join("libhsa-runtime64.so.1").exists()) {
        let hint = "ROCM_PATH says where ROCm is; a wheel that brings its own runtime needs none";
        return ("the ROCm runtime was not found".to_owned(), hint);
    }
    ("no process queued a kernel".to_owned(), "RTL_DEBUG=1 has the tracer say what it does")
}

/// Where the runtime is looked for.
fn places(variable: impl Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let mut places: Vec<PathBuf> = Vec::new();
    if let Some(folders) = variable("LD_LIBRARY_PATH") {
        places.extend(std::env::split_paths(&folders));
    }
    let roots = ["ROCM_PATH", "HIP_PATH"].into_iter().filter_map(&variable).map(PathBuf::from);
    for root in roots.chain([Path::new("/opt/rocm").to_owned()]) {
        places.extend([root.join("lib"), root.join("lib64")]);
    }
    places
        .extend(["/usr/lib", "/usr/lib64", "/usr/lib/x86_64-linux-gnu", "/usr/local/lib"].map(PathBuf::from));
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_runtime_is_looked_for_where_the_environment_says() {
        let places = places(|name| match name {
            "LD_LIBRARY_PATH" => Some("/a:/b".into()),
            "ROCM_PATH" => Some("/opt/rocm-7.2".into()),
            _ => None,
        });
        for folder in ["/a", "/b", "/opt/rocm-7.2/lib", "/opt/rocm/lib", "/usr/lib/x86_64-linux-gnu"] {
            assert!(places.contains(&PathBuf::from(folder)), "{folder}");
        }
    }
}
