//! The checks of the fuzz target `page`, on its corpus and on mutations that are the same every time.

use crate::any_page::{assert_drawings, assert_page, assert_report};

#[test]
fn any_names_in_a_page_are_texts() {
    let folder = tempfile::tempdir().unwrap();
    let mut reports = 0;
    for (number, bytes) in support::mutations("page", 60).enumerate() {
        let text = String::from_utf8_lossy(&bytes);
        let names: Vec<&str> = text.split('\n').collect();
        assert_drawings(&names);
        if number % 20 == 0 {
            assert_page(&names);
            reports += usize::from(assert_report(folder.path(), &names));
        }
    }
    assert!(reports > 0);
}
