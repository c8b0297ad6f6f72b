//! Traces whose recorder was killed.

use crate::Folder;

#[test]
fn a_trace_that_was_cut_off_says_so_in_text_and_json() {
    let folder = Folder::new();
    support::cut_off::native(&folder.path("ours.db")).unwrap();
    support::cut_off::lite(&folder.path("lite.db")).unwrap();
    for (file, why) in [
        ("ours.db", "cut off: its recorder was killed, or is still recording"),
        ("lite.db", "cut off: its recorder was killed and left a journal, which was read too"),
    ] {
        for format in ["text", "json"] {
            let run = folder.run(&format!("{file} --to {format}"));
            assert_eq!(run.code, 0, "{}", run.messages);
            assert!(run.answer.contains(why), "{}", run.answer);
        }
    }
}
