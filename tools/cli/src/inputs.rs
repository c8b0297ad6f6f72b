//! Inputs that are named on the command line. A file that is named twice would count twice, so it is read once.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use platform::identity::FileId;

/// The inputs without repetitions of a regular file, in order, and a warning for each repetition: the same path twice, or
/// two paths, links included, of one file. Files of one run, such as rocprofv3's CSV files, become one input.
pub fn without_repetitions(paths: &[PathBuf]) -> (Vec<PathBuf>, Vec<String>) {
    let mut files: HashMap<FileId, &Path> = HashMap::new();
    let (mut kept, mut warnings) = (Vec::with_capacity(paths.len()), Vec::new());
    for path in paths {
        let file = FileId::of(path).ok().filter(|_| path.is_file());
        let first = file.and_then(|file| match files.entry(file) {
            std::collections::hash_map::Entry::Occupied(first) => Some(*first.get()),
            std::collections::hash_map::Entry::Vacant(place) => {
                place.insert(path);
                None
            }
        });
        match first {
            Some(first) if first == path => {
                warnings.push(format!("{} is named twice and counted once", path.display()));
            }
            Some(first) => warnings.push(format!(
                "{} and {} are one file, which is counted once",
                first.display(),
                path.display()
            )),
            None => kept.push(path.clone()),
        }
    }
    (rtl_schema::join_files_of_runs(&kept), warnings)
}

/// The bytes of a small trace, at most.
const SMALL: u64 = 1 << 20;

/// Reads traces and passes the results on in the order of the paths. Small ones are read several at a time, because their
/// parts are too few for all threads; of large ones only one is in memory.
///
/// # Errors
/// The first of `consume`.
pub fn read_in_order<T: Send, E>(
    paths: &[PathBuf],
    read: impl Fn(&Path) -> T + Sync,
    mut consume: impl FnMut(T) -> Result<(), E>,
) -> Result<(), E> {
    let is_small = |path: &PathBuf| path.metadata().is_ok_and(|file| file.is_file() && file.len() <= SMALL);
    let paths: Vec<(&PathBuf, bool)> = paths.iter().map(|path| (path, is_small(path))).collect();
    for group in paths.chunk_by(|one, next| one.1 == next.1) {
        let is_small = group[0].1;
        let mut group = group.iter().map(|(path, _)| path.as_path());
        match is_small {
            true => threads::in_order(group, &read, &mut consume)?,
            false => group.try_for_each(|path| consume(read(path)))?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_counts_once_whatever_its_names() -> std::io::Result<()> {
        let folder = tempfile::tempdir()?;
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("a"), "1")?;
        std::fs::write(path("b"), "1")?;
        std::os::unix::fs::symlink(path("a"), path("link"))?;
        let named = ["a", "b", "a", "link", "missing", "missing"].map(path);
        let (kept, warnings) = without_repetitions(&named);
        assert_eq!(kept, ["a", "b", "missing", "missing"].map(path));
        assert_eq!(warnings.len(), 2);
        assert!(warnings[0].ends_with("/a is named twice and counted once"), "{}", warnings[0]);
        assert!(warnings[1].contains("/link are one file"), "{}", warnings[1]);
        Ok(())
    }

    #[test]
    fn files_of_one_run_are_one_input() {
        let named = [
            "a/1_kernel_trace.csv",
            "a/1_hip_api_trace.csv",
            "a/2_kernel_trace.csv",
            "b/1_kernel_trace.csv",
            "x.db",
        ];
        let (kept, warnings) = without_repetitions(&named.map(PathBuf::from));
        assert_eq!(kept, [named[0], named[2], named[3], named[4]].map(PathBuf::from));
        assert_eq!(warnings, Vec::<String>::new());
    }
}
