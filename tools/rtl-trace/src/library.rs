//! Where the tracer is.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use cli::Failure;

use crate::status;

const NAME: &str = "librtl.so";

/// The tracer: `given` on the command line, else `named` by RTL_LIB, else found from where `program` is: beside it,
/// or in the folders for libraries of the same prefix.
///
/// # Errors
/// There is none.
pub fn find(given: Option<&Path>, named: Option<OsString>, program: &Path) -> Result<PathBuf, Failure> {
    let named = named.filter(|name| !name.is_empty()).map(PathBuf::from);
    let (candidates, who) = match (given, named) {
        (Some(given), _) => (vec![given.to_owned()], "--lib"),
        (None, Some(named)) => (vec![named], "RTL_LIB"),
        (None, None) => (beside(program), ""),
    };
    match candidates.iter().find_map(|candidate| candidate.canonicalize().ok().filter(|file| file.is_file()))
    {
        Some(library) => Ok(library),
        None if who.is_empty() => {
            let folders: Vec<String> =
                candidates.iter().filter_map(|file| Some(file.parent()?.display().to_string())).collect();
            let what = format!("no {NAME} in {}", folders.join(", "));
            Err(Failure::new(status::OWN, anyhow::anyhow!(what))
                .with_hint("--lib FILE or RTL_LIB says where it is"))
        }
        None => {
            let what = format!("{who} names {}, which is no file", candidates[0].display());
            Err(Failure::new(status::OWN, anyhow::anyhow!(what)))
        }
    }
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
    fn it_is_beside_the_program_or_in_the_prefixs_lib() {
        for place in ["bin", "lib", "lib64", "lib/rtl"] {
            let (_prefix, program, library) = installed(place);
            assert_eq!(find(None, None, &program).unwrap(), library);
        }
    }

    #[test]
    fn the_command_line_goes_before_the_environment_and_that_before_the_prefix() {
        let (_prefix, program, library) = installed("lib");
        let (_other, _, environment) = installed("lib");
        let (_third, _, given) = installed("lib");
        let named = Some(environment.clone().into_os_string());
        assert_eq!(find(Some(&given), named.clone(), &program).unwrap(), given);
        assert_eq!(find(None, named, &program).unwrap(), environment);
        assert_eq!(find(None, Some(OsString::new()), &program).unwrap(), library);
    }

    #[test]
    fn what_is_named_and_not_there_is_an_error_and_not_replaced_by_something_else() {
        let (_prefix, program, _) = installed("lib");
        let failure = find(Some(Path::new("/nowhere/librtl.so")), None, &program).unwrap_err();
        assert_eq!(
            failure.lines("rtl-trace"),
            "rtl-trace: error: --lib names /nowhere/librtl.so, which is no file\n"
        );
        let failure = find(None, None, Path::new("/nowhere/bin/rtl-trace")).unwrap_err();
        assert!(failure.lines("rtl-trace").contains("no librtl.so in /nowhere/bin, /nowhere/bin/../lib,"));
    }
}
