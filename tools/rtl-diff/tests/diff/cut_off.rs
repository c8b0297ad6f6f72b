//! Runs that were killed.

use crate::{Folder, STEADY};

#[test]
fn a_run_that_was_cut_off_is_named_with_its_side() {
    let folder = Folder::new();
    folder.trace("whole.db", 1, &STEADY);
    support::cut_off::native(&folder.path("killed.db")).unwrap();
    let run = folder.run("whole.db killed.db");
    assert!(run.answer.contains("candidate: killed.db was cut off before its end"), "{}", run.answer);
    assert!(!run.answer.contains("baseline: whole.db was cut off"), "{}", run.answer);
    let run = folder.run("killed.db whole.db --to json");
    assert!(run.answer.contains("baseline: killed.db was cut off before its end"), "{}", run.answer);
}
