//! Ranges and markers: those that a program reports (`tests/programs/ranges.c`), and those of its trace, read with the project's
//! own reader, as the tools do.

use std::collections::BTreeMap;
use std::path::Path;

use rtl_schema::table::RangeKind;
use rtl_schema::{Id, Select, Tables};

/// Ranges and markers by their texts, each of which occurs once.
pub type Annotations = BTreeMap<String, Annotation>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Annotation {
    pub kind: RangeKind,
    /// The thread that began it.
    pub tid: i64,
    /// Bounds of the start in ns of CLOCK_BOOTTIME: not before the first and not after the second.
    pub start: (i64, i64),
    /// Bounds of the end.
    pub end: (i64, i64),
}

/// The report of a program.
#[derive(Debug, Clone, Default)]
pub struct Account {
    pub annotations: Annotations,
    /// For each dispatch by its number, the text of the innermost range around it, and the thread.
    pub dispatches: BTreeMap<i64, (Option<String>, i64)>,
}

/// Parses the report of `ranges.c`.
#[must_use]
pub fn account(report: &str) -> Account {
    let mut account = Account::default();
    for line in report.lines() {
        let columns: Vec<&str> = line.split('\t').collect();
        let number = |column: usize| columns[column].parse::<i64>().unwrap();
        let kind = match columns[0] {
            "push" => RangeKind::Thread,
            "start" => RangeKind::Process,
            "mark" => RangeKind::Marker,
            "in" => {
                let text = Some(columns[2].to_owned()).filter(|text| text != "-");
                account.dispatches.insert(number(1), (text, number(3)));
                continue;
            }
            _ => continue,
        };
        let start = (number(3), number(4));
        let end = if kind == RangeKind::Marker { start } else { (number(5), number(6)) };
        let annotation = Annotation { kind, tid: number(1), start, end };
        assert_eq!(account.annotations.insert(columns[2].to_owned(), annotation), None, "{line}");
    }
    account
}

#[must_use]
pub fn tables(path: &Path) -> Tables {
    rtl_schema::Trace::open(path).unwrap().read(&Select::everything()).unwrap()
}

/// The ranges and markers of a trace; texts are unique, and ranges have a thread and an end.
#[must_use]
pub fn recorded(tables: &Tables) -> Annotations {
    let mut annotations = Annotations::new();
    for range in &tables.ranges {
        let text = tables.strings.get(range.name).to_owned();
        let end = range.start + range.duration.unwrap();
        let (start, end) = ((range.start, range.start), (end, end));
        let annotation = Annotation { kind: range.kind, tid: range.tid.unwrap(), start, end };
        assert_eq!(annotations.insert(text, annotation), None);
    }
    annotations
}

/// Checks that a trace has every range and marker of the account with its thread and its times, and the innermost range of each
/// dispatch, and no others.
#[track_caller]
pub fn assert_annotated(account: &Account, tables: &Tables) {
    let recorded = recorded(tables);
    let differs = |one: &Annotations, other: &Annotations| {
        let missing = one.keys().filter(|text| !other.contains_key(*text));
        missing.take(5).cloned().collect::<Vec<_>>()
    };
    let difference = (differs(&account.annotations, &recorded), differs(&recorded, &account.annotations));
    assert_eq!(difference, (vec![], vec![]), "not in the trace, and in the trace alone");
    for (text, expected) in &account.annotations {
        let found = &recorded[text];
        assert_eq!((found.kind, found.tid), (expected.kind, expected.tid), "{text}");
        let is_within = |found: i64, (from, to): (i64, i64)| from <= found && found <= to;
        assert!(is_within(found.start.0, expected.start), "{text}: {found:?} {expected:?}");
        assert!(is_within(found.end.0, expected.end), "{text}: {found:?} {expected:?}");
    }
    let names: BTreeMap<Id, &str> =
        tables.ranges.iter().map(|range| (range.id, tables.strings.get(range.name))).collect();
    assert_eq!(names.len(), tables.ranges.len(), "each range has a number of its own");
    let dispatches = &tables.dispatches;
    assert_eq!(dispatches.len(), account.dispatches.len());
    for row in 0..dispatches.len() {
        let dispatch = dispatches.get(row);
        let shape = tables.shapes.get(dispatch.shape.unwrap());
        let number = shape.items.unwrap()[0] as i64;
        let range = names.get(&dispatch.range).map(|&name| name.to_owned());
        assert_eq!(range.is_none(), dispatch.range == 0, "dispatch {number} names a range that is there");
        let found = (range, dispatch.tid.unwrap());
        assert_eq!(found, account.dispatches[&number], "dispatch {number}");
    }
}
