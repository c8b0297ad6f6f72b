//! Names of traces in the column `trace`.

use std::path::PathBuf;

/// Short names of files: without their folders where that distinguishes them.
pub fn labels(paths: &[PathBuf]) -> Vec<String> {
    let whole = |path: &PathBuf| path.display().to_string();
    let last =
        |path: &PathBuf| path.file_name().map_or_else(|| whole(path), |name| name.to_string_lossy().into());
    let short: Vec<String> = paths.iter().map(last).collect();
    let is_once = |name: &String| short.iter().filter(|other| *other == name).count() == 1;
    paths
        .iter()
        .zip(&short)
        .map(|(path, name)| if is_once(name) { name.clone() } else { whole(path) })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_one_name_keep_their_folders() {
        let paths = ["a/t.db", "b/t.db", "b/u.db"].map(PathBuf::from);
        assert_eq!(labels(&paths), ["a/t.db", "b/t.db", "u.db"]);
    }
}
