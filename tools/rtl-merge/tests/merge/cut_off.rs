//! Inputs whose recorder was killed.

use crate::Folder;

#[test]
fn inputs_that_were_cut_off_are_named_and_make_the_output_one_that_was() {
    let folder = Folder::new();
    support::cut_off::native(&folder.path("ours.db")).unwrap();
    support::cut_off::lite(&folder.path("lite.db")).unwrap();
    let run = folder.run("ours.db lite.db -o all.db");
    assert_eq!((run.code, run.messages.as_str()), (0, ""));
    for note in
        ["ours.db: cut off: its recorder was killed, or", "lite.db: cut off: its recorder was killed and"]
    {
        assert!(run.answer.contains(&format!("note: {note}")), "{}", run.answer);
    }
    let summary = folder.run("ours.db lite.db --to summary").answer;
    assert_eq!(summary.matches(r#""what":"cut off before its end""#).count(), 2, "{summary}");
    assert!(folder.tables("all.db").info.cut_off().is_some());
    assert_eq!(folder.tables("all.db").dispatches.len(), 5, "three and two, the last of them in a journal");
}
