//! Programs with callbacks in place of a file. Their records (`tools/embedder.c`) are made into the trace that the tracer would
//! have written, so that it can be compared with the other accounts.

use std::fs;
use std::path::{Path, PathBuf};

use rtl_schema::table::Details;
use rtl_write::{Call, NativeWriter, Op, OpKind};

use crate::library;
use crate::outcome::Outcome;
use crate::process::Process;

/// The counts of one kind, as in `struct rtl_counts`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    pub seen: i64,
    pub delivered: i64,
    pub lost: i64,
    /// The part of `lost` that is due to a slow callback.
    pub lost_behind: i64,
    /// Unmatched out on purpose.
    pub skipped: i64,
}

/// Runs the program without tools, and with librtl.so and a recorder of its own preloaded: it must not notice, and no file must
/// be left. The outcome's trace has the records.
#[must_use]
#[track_caller]
pub fn embedded(process: &Process) -> Outcome {
    embedded_by(process, &[library::tracer(), library::tool("embedder")])
}

/// Does what [`embedded`] does with a recorder in these libraries.
#[must_use]
#[track_caller]
pub fn embedded_by(process: &Process, libraries: &[PathBuf]) -> Outcome {
    let bare = process.bare();
    let mut outcome = process.run_preloading("embedded", libraries);
    let seen = |outcome: &Outcome| (outcome.status, outcome.stdout.clone(), outcome.stderr.clone());
    assert_eq!(seen(&bare), seen(&outcome), "without and with the recorder, on {:?}", process.stack().name);
    assert_eq!((outcome.traces.len(), outcome.messages.len()), (0, 0), "no file, no word: {outcome:?}");
    let folder = process.folder().join("embedded");
    let records = fs::read_to_string(folder.join("records")).unwrap();
    let rebuilt = folder.join("rebuilt.db");
    rebuild(&records, &rebuilt);
    outcome.traces = vec![rebuilt];
    outcome
}

/// Makes a trace of the lines of `records`.
pub fn rebuild(records: &str, path: &Path) {
    let mut writer = NativeWriter::create(path).unwrap();
    for line in records.lines() {
        let columns: Vec<&str> = line.split('\t').collect();
        let number = |column: usize| columns[column].parse::<i64>().unwrap_or_else(|_| panic!("{line}"));
        match columns[0] {
            "kernel" => {
                let op = Op {
                    gpu: Some(number(1)),
                    queue: Some(number(2)),
                    description: Some(writer.intern(columns[3]).unwrap()),
                    kind: OpKind::KernelExecution,
                    items: Some([number(6) as u64, 1, 1]),
                    workgroup: Some([number(7) as u32, 1, 1]),
                    correlation: number(8),
                    range: number(9),
                    tid: Some(number(10)),
                    details: Details::with_enqueued(Some(number(12)).filter(|&moment| moment != 0)),
                    ..timed(number(4), number(5))
                };
                writer.push_op(&op).unwrap();
            }
            "copy" => {
                let place = |column| Some(number(column)).filter(|&gpu| gpu >= 0);
                let (from, to) = (place(1), place(2));
                let (kind, own, peer) = match (from, to) {
                    (None, None) => (OpKind::CopyHostToHost, None, None),
                    (None, own) => (OpKind::CopyHostToDevice, own, None),
                    (own, None) => (OpKind::CopyDeviceToHost, own, None),
                    (peer, own) => (OpKind::CopyDeviceToDevice, own, peer),
                };
                let op = Op {
                    kind,
                    gpu: own,
                    peer,
                    bytes: Some(number(3) as u64),
                    correlation: number(6),
                    range: number(7),
                    tid: Some(number(8)),
                    details: Details::with_enqueued(Some(number(9)).filter(|&moment| moment != 0)),
                    ..timed(number(4), number(5))
                };
                writer.push_op(&op).unwrap();
            }
            "barrier" => {
                let op = Op {
                    kind: OpKind::Barrier,
                    gpu: Some(number(1)),
                    queue: Some(number(2)),
                    correlation: number(5),
                    range: number(6),
                    tid: Some(number(7)),
                    details: Details::with_enqueued(Some(number(8)).filter(|&moment| moment != 0)),
                    ..timed(number(3), number(4))
                };
                writer.push_op(&op).unwrap();
            }
            "range" => {
                let op = Op {
                    gpu: Some(-1),
                    queue: Some(0),
                    description: Some(writer.intern(columns[3]).unwrap()),
                    kind: OpKind::UserMarker,
                    sequence: (number(1) < 2).then(|| number(1)),
                    range: number(2),
                    tid: Some(number(6)),
                    ..timed(number(4), number(5))
                };
                writer.push_op(&op).unwrap();
            }
            "call" => {
                let call = Call {
                    domain: Some(writer.intern(columns[1]).unwrap()),
                    name: Some(writer.intern(columns[2]).unwrap()),
                    start: number(3),
                    duration: Some(number(4) - number(3)),
                    correlation: number(5),
                    parent: number(6),
                    args: Some(writer.intern(columns[9]).unwrap()),
                    tid: Some(number(8)),
                    ..Call::default()
                };
                writer.push_call(&call).unwrap();
            }
            // A trace has no rows for these kinds, whose lines are read by tests.
            "launch" | "asked" | "name" => {}
            "count" => count(columns[1], counts(&columns), &mut writer),
            _ => panic!("{line}"),
        }
    }
    writer.finish().unwrap();
}

fn timed(start: i64, end: i64) -> Op {
    Op { start, end: Some(end).filter(|&end| end != 0), ..Op::default() }
}

/// The counts of a line `count`.
fn counts(columns: &[&str]) -> Counts {
    let number = |column: usize| columns[column].parse::<i64>().unwrap();
    Counts {
        seen: number(2),
        delivered: number(3),
        lost: number(4),
        lost_behind: number(5),
        skipped: number(6),
    }
}

/// Writes the counts as the tracer's own files have them.
fn count(kind: &str, counts: Counts, writer: &mut NativeWriter) {
    let Counts { seen, delivered, lost, lost_behind, skipped } = counts;
    let prefix = match kind {
        "kernels" => "",
        "copies" => "copies_",
        "barriers" => "barriers_",
        "calls" => "hip_",
        _ => "ranges_",
    };
    let all = [
        ("seen", seen),
        ("recorded", delivered),
        ("lost:behind", lost_behind),
        ("lost:other", lost - lost_behind),
        ("skipped:some", skipped),
    ];
    for (tag, count) in all.into_iter().filter(|&(_, count)| count > 0) {
        writer.push_metadata(&format!("{prefix}{tag}"), &count.to_string()).unwrap();
    }
}
