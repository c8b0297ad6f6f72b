//! Names and phrases that the field does not use. Names are those of Rust, ROCm and profiling tools; prose has the form
//! subject, verb, object.

use std::sync::LazyLock;

use regex::Regex;

use crate::checkout::{File, files};

/// A name and its replacement.
const NAMES: [(&str, &str); 35] = [
    ("story", "log"),
    ("handover", "batch_channel"),
    ("News", "Wakeup"),
    ("Nudge", "Waker"),
    ("turn_over", "swap_batch"),
    ("Here", "ThreadState"),
    ("Lane", "Track"),
    ("Way", "CompletionSource or LookupKind"),
    ("Watches", "SignalTracker"),
    ("Sight", "Completion"),
    ("Latch", "TryLock"),
    ("Turns", "TimedMutex"),
    ("Bell", "Parker"),
    ("Newcomers", "PendingThreads"),
    ("Told", "CallRecord"),
    ("Alike", "RowTemplate"),
    ("op_like", "push_templated"),
    ("submit_usual", "submit_fast"),
    ("Strays", "Unattributed"),
    ("homeless", "no_queue"),
    ("Delivery", "CallbackSink"),
    ("Titles", "NameRecords"),
    ("Books", "WallDecomposition"),
    ("Running", "StreamingSummary"),
    ("Ran", "Totals"),
    ("Question", "Options"),
    ("Pen", "EventWriter"),
    ("Scene", "TimelineLayout"),
    ("Gather", "TimelineBuilder"),
    ("Walk", "RecordVisitor"),
    ("Records", "RecordSink"),
    ("relieve", "flush_if_full"),
    ("pour", "copy_to"),
    ("settle", "finish"),
    ("Known", "RecorderState"),
];

/// A phrase, in lower case, and what to write.
const PHRASES: [(&str, &str); 7] = [
    ("whosever", "a noun"),
    ("whoever", "a noun"),
    ("so can anyone", "the program or the user"),
    ("as ever", "unchanged"),
    ("told without clocks", "computed without clocks"),
    ("told apart", "distinguished"),
    ("so many", "the number of"),
];

pub(crate) static STRING: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#""(?:[^"\\]|\\.)*""#).expect("a constant"));
static WORD: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\w+").expect("a constant"));

fn foreign_names(file: &File) -> Vec<String> {
    if !file.is_rust() || file.is_test() {
        return Vec::new();
    }
    let mut faults = Vec::new();
    for (line, text) in file.code() {
        let code = STRING.replace_all(text.split("//").next().unwrap_or_default(), "");
        for word in WORD.find_iter(&code) {
            if let Some((name, better)) = NAMES.iter().find(|(name, _)| *name == word.as_str()) {
                faults.push(format!("{}:{line}: `{name}`, write {better}", file.path));
            }
        }
    }
    faults
}

fn foreign_phrases(file: &File) -> Vec<String> {
    if !(file.is_rust() || file.path.ends_with(".md")) || file.is_test() {
        return Vec::new();
    }
    let mut faults = Vec::new();
    for (line, text) in file.text.lines().enumerate() {
        let text =
            format!(" {} ", WORD.find_iter(text).map(|word| word.as_str()).collect::<Vec<_>>().join(" "));
        let text = text.to_lowercase();
        for (phrase, better) in PHRASES.iter().filter(|(phrase, _)| text.contains(&format!(" {phrase} "))) {
            faults.push(format!("{}:{}: `{phrase}`, write {better}", file.path, line + 1));
        }
    }
    faults
}

#[test]
fn names_are_those_of_the_field() {
    let faults: Vec<String> = files().iter().flat_map(foreign_names).collect();
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn sentences_have_a_noun_as_their_subject() {
    let faults: Vec<String> = files().iter().flat_map(foreign_phrases).collect();
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn a_foreign_name_is_found_in_code_only() {
    let text = "struct Latch; // Bell\nlet latch = \"Latch\";\nfn pour() {}\n// Latch\n";
    let faults = foreign_names(&File::new("schema/src/a.rs", text));
    assert_eq!(
        faults,
        ["schema/src/a.rs:1: `Latch`, write TryLock", "schema/src/a.rs:3: `pour`, write copy_to"]
    );
    assert!(foreign_names(&File::new("schema/tests/a.rs", text)).is_empty());
}

#[test]
fn a_foreign_phrase_is_found_in_prose_and_messages() {
    let text = "It is written as ever.\n";
    assert_eq!(foreign_phrases(&File::new("docs/a.md", text)), ["docs/a.md:1: `as ever`, write unchanged"]);
    assert_eq!(foreign_phrases(&File::new("schema/src/a.rs", "// As ever, here.")).len(), 1);
    assert!(foreign_phrases(&File::new("docs/a.md", "has everything\n")).is_empty());
}
