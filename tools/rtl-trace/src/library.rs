//! Finds the tracer library.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use cli::Failure;

use crate::status;

const NAME: &str = "librtl.so";

/// The tracer: `given` on the command line, else `named` by RTL_LIB, else beside `program` or in the library folders of
/// its prefix.
pub fn find(given: Option<&Path>, named: Option<OsString>, program: &Path) -> Result<PathBuf, Failure> {
    let named = named.filter(|name| !name.is_empty()).map(PathBuf::from);
    let (candidates, source) = match (given, named) {
        (Some(given), _) => (vec![given.to_owned()], "--lib"),
        (None, Some(named)) => (vec![named], "RTL_LIB"),
        (None, None) => (beside(program), ""),
    };
    let file = |candidate: &PathBuf| candidate.canonicalize().ok().filter(|file| file.is_file());
    if let Some(library) = candidates.iter().find_map(file) {
        return Ok(library);
    }
    if source.is_empty() {
        let folders = candidates.iter().filter_map(|file| Some(file.parent()?.display().to_string()));
        let what = format!("no {NAME} in {}", folders.collect::<Vec<_>>().join(", "));
        return Err(status::failure(what).with_hint("set its path with --lib FILE or RTL_LIB"));
    }
    let what = format!("{source} names {}, which is not a file", candidates[0].display());
    Err(status::failure(what).with_hint("it names librtl.so itself, which is installed in PREFIX/lib"))
}

fn beside(program: &Path) -> Vec<PathBuf> {
    let folder = program.parent().unwrap_or(Path::new("."));
    ["", "../lib", "../lib64", "../lib/rtl"].iter().map(|place| folder.join(place).join(NAME)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn installed(place: &str) -> (tempfile::TempDir, PathBuf, PathBuf) {
        let prefix = tempfile::tempdir().unwrap();
        let root = prefix.path().canonicalize().unwrap();
        let library = root.join(place).join(NAME);
        std::fs::create_dir_all(root.join("bin")).unwrap();
        std::fs::create_dir_all(library.parent().unwrap()).unwrap();
        std::fs::write(&library, "").unwrap();
        (prefix, root.join("bin/rtl-trace"), library)
    }

    #[test]
    fn the_library_is_beside_the_program_or_in_the_lib_folders_of_the_prefix() {
        for place in ["bin", "lib", "lib64", "lib/rtl"] {
            let (_prefix, program, library) = installed(place);
            assert_eq!(find(None, None, &program).unwrap(), library);
        }
    }

    #[test]
    fn the_command_line_precedes_the_environment_and_the_environment_the_prefix() {
        let (_prefix, program, library) = installed("lib");
        let (_other, _, environment) = installed("lib");
        let (_third, _, given) = installed("lib");
        let named = Some(environment.clone().into_os_string());
        assert_eq!(find(Some(&given), named.clone(), &program).unwrap(), given);
        assert_eq!(find(None, named, &program).unwrap(), environment);
        assert_eq!(find(None, Some(OsString::new()), &program).unwrap(), library);
    }

    #[test]
    fn a_named_library_that_is_missing_is_an_error() {
        let (_prefix, program, _) = installed("lib");
        let failure = find(Some(Path::new("/nowhere/librtl.so")), None, &program).unwrap_err();
        assert_eq!(
            failure.lines("rtl-trace"),
            "rtl-trace: error: --lib names /nowhere/librtl.so, which is not a file\n\
             hint: it names librtl.so itself, which is installed in PREFIX/lib\n"
        );
        let failure = find(None, None, Path::new("/nowhere/bin/rtl-trace")).unwrap_err();
        assert!(failure.lines("rtl-trace").contains("no librtl.so in /nowhere/bin, /nowhere/bin/../lib,"));
    }
}
