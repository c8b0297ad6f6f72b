//! Traces whose recorder was killed are converted as far as they go, and said to be cut off.

use crate::drawing::Folder;

#[test]
fn a_trace_that_was_cut_off_is_said_to_be() {
    let folder = Folder::new();
    support::cut_off::native(&folder.path("in.db")).unwrap();
    for target in ["out.json", "out.pftrace", "out.db", "out_results.json"] {
        let (code, _, messages) = folder.run(&format!("in.db -o {target}"));
        assert_eq!(code, 0, "{messages}");
        let [line] = messages.lines().collect::<Vec<_>>()[..] else { panic!("{messages}") };
        assert!(line.starts_with("rtl-convert: warning: in.db: cut off: its recorder was killed"), "{line}");
        assert_eq!(folder.run(&format!("in.db -o {target} --force --quiet")).2, "");
    }
}

#[test]
fn what_a_killed_recorder_left_in_a_journal_is_converted_too_and_the_journal_stays() {
    let folder = Folder::new();
    support::cut_off::lite(&folder.path("in.db")).unwrap();
    let before = ["in.db", "in.db-wal"].map(|file| std::fs::read(folder.path(file)).unwrap());
    let (code, _, messages) = folder.run("in.db -o out.json");
    assert_eq!((code, messages.lines().count()), (0, 1), "{messages}");
    assert!(messages.contains("left a journal, which was read too"), "{messages}");
    let json = std::fs::read_to_string(folder.path("out.json")).unwrap();
    assert!(json.contains("\"first\"") && json.contains("\"last\""));
    let after = ["in.db", "in.db-wal"].map(|file| std::fs::read(folder.path(file)).unwrap());
    assert!(before == after && !folder.path("in.db-shm").exists());
}
