//! Compares copies that the program's runtime reported and the simulator executed with those in the trace.

use std::collections::{BTreeMap, HashMap};

use crate::compare::{TWO_TICKS, is_near};
use crate::outcome::Outcome;
use crate::trace::Trace;

/// The place of bytes: a GPU, from 0, or the host.
pub type Place = Option<i64>;

/// A copy in the trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopyRow {
    /// Such as `CopyHostToDevice`.
    pub kind: String,
    pub from: Place,
    pub to: Place,
    pub bytes: i64,
    /// Start and end in ns of CLOCK_BOOTTIME.
    pub time: (i64, i64),
    pub correlation: i64,
}

/// A copy in the program's report (`tests/programs/copies.c`).
#[derive(Debug, Clone, PartialEq, Eq)]
struct ReportedCopy {
    from: Place,
    to: Place,
    /// Start and end from the runtime in ns; `None` where the program did not read them.
    time: Option<(i64, i64)>,
}

/// A copy as it was executed, or a part of one.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ExecutedCopy {
    /// A process, a GPU's node and the number of a queue.
    queue: [String; 3],
    from: Place,
    to: Place,
    /// Addresses that are read and written.
    addresses: [u64; 2],
    bytes: i64,
    time: (i64, i64),
    is_by_engine: bool,
}

/// The copies of a trace by their start.
#[must_use]
pub fn copies(trace: &Trace) -> Vec<CopyRow> {
    let database = trace.database();
    let mut statement = database
        .prepare(
            "SELECT kind.string, gpuId, peer, bytes, start, end, correlationId, queueId, tid
             FROM rocpd_op JOIN rocpd_string kind ON kind.id = opType_id
             WHERE kind.string LIKE 'Copy%' ORDER BY start, end, bytes",
        )
        .unwrap();
    let rows = statement.query_map([], |row| {
        let (kind, own, peer): (String, Place, Place) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let (from, to) = match kind.as_str() {
            "CopyHostToDevice" => (peer, own),
            "CopyDeviceToHost" => (own, peer),
            _ => (peer, own),
        };
        assert_eq!(row.get::<_, Option<i64>>(7)?, None, "nobody knows a copy's queue");
        assert!(row.get::<_, i64>(8)? > 0, "its thread is known");
        let time = (row.get(4)?, row.get(5)?);
        Ok(CopyRow { kind, from, to, bytes: row.get(3)?, time, correlation: row.get(6)? })
    });
    rows.unwrap().map(Result::unwrap).collect()
}

fn reported(report: &str) -> BTreeMap<i64, ReportedCopy> {
    let lines = report.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    let copies = lines.filter(|columns| columns.len() == 7 && columns[0] == "copy");
    let number = |text: &str| text.parse::<i64>().unwrap();
    let place = |text: &str| Some(number(text)).filter(|&gpu| gpu >= 0);
    let copy = |columns: Vec<&str>| {
        let time = (number(columns[5]), number(columns[6]));
        let time = (time != (0, 0)).then_some(time);
        (number(columns[4]), ReportedCopy { from: place(columns[2]), to: place(columns[3]), time })
    };
    let copies: Vec<_> = copies.map(copy).collect();
    let by_size: BTreeMap<_, _> = copies.iter().cloned().collect();
    assert_eq!(by_size.len(), copies.len(), "each copy has a size of its own");
    by_size
}

/// Copies that no queue of the program made, by engines and by kernels of the runtime, in the order of each queue.
fn executed(log: &str) -> Vec<ExecutedCopy> {
    let mut queues = HashMap::new();
    let mut copies = Vec::new();
    for line in log.lines() {
        let columns: Vec<&str> = line.split('\t').collect();
        let queue = [columns[1], columns[2], columns[3]].map(str::to_owned);
        if columns[0] == "queue" {
            queues.insert(queue, (columns[4], columns[7]));
            continue;
        }
        if columns[0] != "copy" || queues[&queue].1 != "runtime" {
            continue;
        }
        let is_by_engine = queues[&queue].0 == "dma";
        let number = |at: usize| columns[at].parse::<i64>().unwrap();
        let place = |at: usize| Some(number(at) - 1).filter(|&gpu| gpu >= 0);
        copies.push(ExecutedCopy {
            queue,
            from: place(9),
            to: place(10),
            addresses: [5, 6].map(|at| u64::from_str_radix(&columns[at][2..], 16).unwrap()),
            bytes: number(4),
            time: (number(7), number(8)),
            is_by_engine,
        });
    }
    copies
}

/// Removes the executed copy that a row is about, or its consecutive parts; false if there is none.
fn take(row: &CopyRow, executed: &mut Vec<ExecutedCopy>) -> bool {
    let begins = |part: &ExecutedCopy| {
        (part.from, part.to) == (row.from, row.to) && (part.time.0 - row.time.0).abs() <= TWO_TICKS
    };
    let mut firsts = (0..executed.len()).filter(|&at| begins(&executed[at]));
    let parts = firsts.find_map(|first| {
        let mut parts = vec![first];
        let (mut bytes, mut last) = (executed[first].bytes, &executed[first]);
        while bytes < row.bytes {
            let goes_on = last.addresses.map(|address| address + last.bytes as u64);
            let next = (first + 1..executed.len())
                .find(|at| !parts.contains(at) && executed[*at].queue == last.queue)
                .filter(|&at| executed[at].addresses == goes_on)?;
            parts.push(next);
            last = &executed[next];
            bytes += last.bytes;
        }
        (bytes == row.bytes && (last.time.1 - row.time.1).abs() <= TWO_TICKS).then_some(parts)
    });
    let found = parts.is_some();
    for at in parts.unwrap_or_default().into_iter().rev() {
        executed.remove(at);
    }
    found
}

/// Checks that the trace has every copy that the program reported, with its size, its kind and its times, and no others, and that
/// each was executed so. `unfinished` is the number of other copies that it saw.
#[track_caller]
pub fn assert_copies(outcome: &Outcome, trace: &Trace, unfinished: i64) {
    let reported = reported(&outcome.report);
    let rows = copies(trace);
    assert!(!reported.is_empty());
    for row in &rows {
        let copy = reported.get(&row.bytes).unwrap_or_else(|| panic!("never asked for: {row:?}"));
        assert_eq!((row.from, row.to), (copy.from, copy.to), "{row:?}");
        if let Some(time) = copy.time {
            assert!(is_near(row.time, time, TWO_TICKS), "the runtime reported {time:?}: {row:?}");
        }
    }
    assert_eq!(rows.len(), reported.len(), "every copy is there, once: {:?}", trace.metadata);
    assert_executed(&outcome.log, trace, &rows, unfinished);
}

/// Checks that each copy of the trace was executed, by the simulator's log, and that each that an engine has executed is in the
/// trace. Kernels of the runtime also copy code objects, which are no copies of the program.
#[track_caller]
pub fn assert_copies_were_executed(log: &str, trace: &Trace) {
    assert_executed(log, trace, &copies(trace), 0);
}

#[track_caller]
fn assert_executed(log: &str, trace: &Trace, rows: &[CopyRow], unfinished: i64) {
    let mut executed = executed(log);
    for row in rows.iter().filter(|row| row.kind != "CopyHostToHost") {
        assert!(take(row, &mut executed), "not executed so: {row:?} {executed:#?}");
    }
    executed.retain(|copy| copy.is_by_engine);
    assert_eq!(executed, [], "every copy is there");
    let counts = ["copies_seen", "copies_recorded"].map(|tag| trace.count(tag));
    let recorded = rows.len() as i64;
    assert_eq!(counts, [recorded + unfinished, recorded], "{:?}", trace.metadata);
    // Where calls are recorded, all copies that one of them caused have its number.
    if trace.count("hip_seen") == 0 {
        let mut numbers: Vec<i64> = rows.iter().map(|row| row.correlation).collect();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), rows.len(), "each has a number of its own");
    }
}
