//! Tests of a file that is removed, truncated or moved while it is written, and of a folder that is gone.

use std::fs;
use std::path::{Path, PathBuf};

use e2e::Outcome;

use super::{DISPATCHES, in_time, process};

/// Runs a process, and passes its file to `treat` once that has the first half of its work.
fn treated(treat: impl Fn(&Path)) -> Option<Outcome> {
    let process = process("exit")?;
    let bare = process.bare();
    let run = || process.traced_until_then(DISPATCHES as i64, |files| treat(&files[0]));
    let outcome = in_time(run);
    assert_eq!((outcome.status, &outcome.stderr), (bare.status, &bare.stderr), "{outcome:?}");
    Some(outcome)
}

#[track_caller]
fn assert_told(outcome: &Outcome, why: &str) {
    let [message] = outcome.messages.as_slice() else { panic!("one line: {outcome:?}") };
    assert!(message.contains("40 of 40") && message.contains(why), "{message}");
}

#[test]
fn a_file_that_is_removed_is_told_of() {
    let Some(outcome) = treated(|file| fs::remove_file(file).unwrap()) else { return };
    assert_eq!(outcome.traces, Vec::<PathBuf>::new());
    assert_told(&outcome, "someone else has removed it");
}

#[test]
fn a_folder_that_is_removed_is_told_of_and_not_made_again() {
    let Some(outcome) = treated(|file| fs::remove_dir_all(file.parent().unwrap()).unwrap()) else { return };
    assert_told(&outcome, "someone else has removed it");
}

#[test]
fn a_file_that_is_shortened_is_left_as_it_is() {
    let Some(outcome) = treated(|file| drop(fs::File::create(file).unwrap())) else { return };
    assert_eq!(fs::metadata(&outcome.traces[0]).unwrap().len(), 0, "no rows behind a hole");
    assert_told(&outcome, "someone else has made it shorter");
}

#[test]
fn a_file_that_is_moved_is_whole_where_it_is_then() {
    let Some(outcome) = treated(|file| fs::rename(file, file.with_extension("moved")).unwrap()) else {
        return;
    };
    assert!(outcome.trace().is_complete());
}
