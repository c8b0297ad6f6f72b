//! The environment of the command's processes.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use clap::ValueEnum;
use cli::Failure;

use crate::args::Mode;
use crate::status;

/// The variables from which the tracer takes the run id.
const RUN_IDS: [&str; 3] = ["RTL_RUN_ID", "SLURM_JOB_ID", "TORCHELASTIC_RUN_ID"];

const REGISTERED_TOOLS_TOO: &str = "HSA_TOOLS_ROCPROFILER_V1_TOOLS";

/// The variables to set: the tracer at `library`, preloaded or not, writes into `folder`, and all files have one run id,
/// that of the inherited environment or a new one.
pub fn variables(
    library: &Path,
    folder: &Path,
    mode: Option<Mode>,
    is_preloaded: bool,
    inherited: impl Fn(&str) -> Option<OsString>,
) -> Result<Vec<(&'static str, OsString)>, Failure> {
    if library.as_os_str().as_bytes().iter().any(|byte| b" :".contains(byte)) {
        let what =
            format!("{} has a space or a colon in its path, at which loaders split", library.display());
        return Err(status::failure(what).with_hint("pass a copy or a link elsewhere with --lib"));
    }
    let run = RUN_IDS.into_iter().find_map(|name| inherited(name).filter(|id| !id.is_empty()));
    let mut variables = vec![
        ("HSA_TOOLS_LIB", library.as_os_str().to_owned()),
        ("RTL_OUTPUT", pattern(folder)),
        ("RTL_RUN_ID", run.unwrap_or_else(new_run)),
        ("RTL_NOTES", folder.as_os_str().to_owned()),
        // A program that embeds the tracer sets it, and its children would write no files.
        ("RTL_EMBEDDED", OsString::new()),
    ];
    if is_preloaded {
        let companion = companion(library, mode, &inherited);
        variables.push(("LD_PRELOAD", preloaded(library, companion, inherited("LD_PRELOAD"))));
    }
    // Where a tool of rocprofiler is registered, the runtime loads those of HSA_TOOLS_LIB only when asked (ROCm 7 and newer).
    if inherited(REGISTERED_TOOLS_TOO).is_none() {
        variables.push((REGISTERED_TOOLS_TOO, "1".into()));
    }
    let mode = mode.and_then(|mode| mode.to_possible_value());
    variables.extend(mode.map(|mode| ("RTL_MODE", mode.get_name().into())));
    Ok(variables)
}

/// The tools in the inherited `HSA_TOOLS_LIB` that the command runs without.
#[must_use]
pub fn replaced(library: &Path, inherited: impl Fn(&str) -> Option<OsString>) -> Option<OsString> {
    inherited("HSA_TOOLS_LIB").filter(|tools| !tools.is_empty() && tools != library.as_os_str())
}

/// The library that records HIP calls in mode hip. It is installed beside the tracer.
fn companion(
    library: &Path,
    mode: Option<Mode>,
    inherited: impl Fn(&str) -> Option<OsString>,
) -> Option<PathBuf> {
    let is_hip = records_hip(mode, inherited);
    Some(library.with_file_name("librtl_hip.so")).filter(|companion| is_hip && companion.exists())
}

/// Returns true if HIP calls are to be recorded, which needs preloaded libraries.
#[must_use]
pub fn records_hip(mode: Option<Mode>, inherited: impl Fn(&str) -> Option<OsString>) -> bool {
    mode.map_or_else(|| inherited("RTL_MODE") == Some("hip".into()), |mode| mode == Mode::Hip)
}

/// The library is before all others, so that its roctx functions win.
fn preloaded(library: &Path, companion: Option<PathBuf>, others: Option<OsString>) -> OsString {
    let mut all = library.as_os_str().to_owned();
    if let Some(companion) = companion {
        all.push(":");
        all.push(companion);
    }
    if let Some(others) = others.filter(|others| !others.is_empty()) {
        all.push(":");
        all.push(others);
    }
    all
}

/// Each process has a file of its own, also on other hosts that share the folder.
fn pattern(folder: &Path) -> OsString {
    let mut pattern = Vec::new();
    for &byte in folder.as_os_str().as_bytes() {
        pattern.extend(if byte == b'%' { &b"%%"[..] } else { std::slice::from_ref(&byte) });
    }
    pattern.extend(b"/%h_%p.db");
    OsString::from_vec(pattern)
}

fn new_run() -> OsString {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("rtl-trace-{}-{}", now.as_millis(), std::process::id()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(inherited: &[(&str, &str)]) -> Vec<(&'static str, OsString)> {
        let inherited = |name: &str| {
            inherited.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value))
        };
        variables(Path::new("/lib/librtl.so"), Path::new("/data/100%/x"), Some(Mode::Hip), true, inherited)
            .unwrap()
    }

    #[test]
    fn every_process_has_its_own_file_in_the_folder() {
        let variables = set(&[("RTL_OUTPUT", "elsewhere.db")]);
        assert!(variables.contains(&("RTL_OUTPUT", "/data/100%%/x/%h_%p.db".into())));
        assert!(variables.contains(&("HSA_TOOLS_LIB", "/lib/librtl.so".into())));
        assert!(variables.contains(&("RTL_MODE", "hip".into())));
    }

    #[test]
    fn the_runtime_is_asked_to_load_the_tracer_unless_the_user_has_decided_that() {
        assert!(set(&[]).contains(&(REGISTERED_TOOLS_TOO, "1".into())));
        let decided = set(&[(REGISTERED_TOOLS_TOO, "0")]);
        assert!(decided.iter().all(|(name, _)| *name != REGISTERED_TOOLS_TOO));
    }

    #[test]
    fn all_files_have_one_run_id_from_the_scheduler_where_there_is_one() {
        assert!(set(&[("SLURM_JOB_ID", "42")]).contains(&("RTL_RUN_ID", "42".into())));
        assert!(
            set(&[("SLURM_JOB_ID", "42"), ("RTL_RUN_ID", "mine")]).contains(&("RTL_RUN_ID", "mine".into()))
        );
        assert!(
            set(&[("RTL_RUN_ID", "")]).iter().any(|(name, value)| *name == "RTL_RUN_ID" && !value.is_empty())
        );
    }

    #[test]
    fn the_library_is_preloaded_before_the_libraries_of_the_user() {
        assert!(set(&[]).contains(&("LD_PRELOAD", "/lib/librtl.so".into())));
        assert!(
            set(&[("LD_PRELOAD", "/a.so:/b.so")])
                .contains(&("LD_PRELOAD", "/lib/librtl.so:/a.so:/b.so".into()))
        );
    }

    #[test]
    fn the_hip_library_is_preloaded_in_mode_hip_where_it_is_installed() {
        let folder = tempfile::tempdir().unwrap();
        let library = folder.path().join("librtl.so");
        let preloaded = |mode, inherited: Option<&str>| {
            let inherited = |name: &str| inherited.filter(|_| name == "RTL_MODE").map(OsString::from);
            let variables = variables(&library, Path::new("/x"), mode, true, inherited).unwrap();
            variables.into_iter().find(|(name, _)| *name == "LD_PRELOAD").unwrap().1
        };
        assert_eq!(preloaded(Some(Mode::Hip), None), library);
        std::fs::write(folder.path().join("librtl_hip.so"), "").unwrap();
        let both = format!("{0}/librtl.so:{0}/librtl_hip.so", folder.path().display());
        assert_eq!(preloaded(Some(Mode::Hip), None), *both);
        assert_eq!(preloaded(None, Some("hip")), *both);
        assert_eq!(preloaded(Some(Mode::Standard), Some("hip")), library);
        assert_eq!(preloaded(None, None), library);
    }

    #[test]
    fn the_preloaded_libraries_of_the_user_stay_as_they_are_without_preloading() {
        let inherited = |name: &str| (name == "LD_PRELOAD").then(|| OsString::from("/a.so"));
        let library = Path::new("/lib/librtl.so");
        let variables = variables(library, Path::new("/x"), Some(Mode::Hip), false, inherited).unwrap();
        assert!(variables.iter().all(|(name, _)| *name != "LD_PRELOAD"));
        assert!(variables.contains(&("HSA_TOOLS_LIB", library.into())));
    }

    #[test]
    fn another_tool_of_the_environment_is_reported() {
        let library = Path::new("/lib/librtl.so");
        assert_eq!(replaced(library, |_| None), None);
        assert_eq!(replaced(library, |_| Some("/lib/librtl.so".into())), None);
        assert_eq!(replaced(library, |_| Some("/other.so".into())), Some("/other.so".into()));
    }

    #[test]
    fn a_library_whose_path_loaders_would_split_is_refused() {
        for library in ["/my lib/librtl.so", "/a:b/librtl.so"] {
            let failure = variables(Path::new(library), Path::new("/x"), None, true, |_| None).unwrap_err();
            assert!(failure.lines("rtl-trace").contains("has a space or a colon"), "{library}");
        }
    }
}
