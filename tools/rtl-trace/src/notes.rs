//! Notes of the tracer beside the recordings: the processes that have loaded it, and why one runs untraced.

use std::fs;
use std::io;
use std::path::Path;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notes {
    /// True if a process has loaded the tracer, and it records.
    pub has_recorder: bool,
    /// The reasons why processes run untraced, with the number of processes, by reason.
    pub refusals: Vec<(String, usize)>,
}

pub fn read(folder: &Path) -> io::Result<Notes> {
    let mut notes = Notes::default();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        match path.extension().and_then(|kind| kind.to_str()) {
            Some("loaded") => notes.has_recorder = true,
            Some("refused") if is_note(&path) => {
                let reason = fs::read_to_string(&path).unwrap_or_default();
                match notes.refusals.iter_mut().find(|(known, _)| *known == reason) {
                    Some((_, processes)) => *processes += 1,
                    None => notes.refusals.push((reason, 1)),
                }
            }
            _ => {}
        }
    }
    notes.refusals.sort();
    Ok(notes)
}

/// A tracer writes files of one line.
fn is_note(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| found.is_file() && found.len() < 64 << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_reasons_are_one_with_the_number_of_their_processes() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read(folder.path()).unwrap(), Notes::default());
        for (name, text) in
            [("3.refused", "b"), ("1.refused", "a"), ("2.refused", "b"), ("4.loaded", ""), ("h_4.db", "")]
        {
            fs::write(folder.path().join(name), text).unwrap();
        }
        let refusals = vec![("a".to_owned(), 1), ("b".to_owned(), 2)];
        assert_eq!(read(folder.path()).unwrap(), Notes { has_recorder: true, refusals });
    }
}
