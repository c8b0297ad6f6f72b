//! Compares, for programs that report nothing themselves, every dispatch that the simulator executed on their queues with the
//! rows of the trace.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use cpp_demangle::{DemangleOptions, Symbol};

use crate::compare::{TWO_TICKS, assert_adds_up};
use crate::copies::assert_copies_were_executed;
use crate::library;
use crate::trace::{Row, Trace};

/// A dispatch on a queue that the program made itself, as the simulator executed it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct LaunchedDispatch {
    /// Counts from 0.
    pub gpu: i64,
    /// In ns of the system clock.
    pub start: i64,
    /// In ns of the system clock.
    pub end: i64,
    /// Mangled name.
    pub kernel: String,
}

/// The program's dispatches in a log of the simulator, by GPU and start. The runtime's own queues are left out, because no tool
/// sees them.
#[must_use]
pub fn launched(log: &str) -> Vec<LaunchedDispatch> {
    let lines = || log.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    let programs: HashSet<[&str; 3]> = lines()
        .filter(|columns| columns[0] == "queue" && columns[7] == "program")
        .map(|columns| [columns[1], columns[2], columns[3]])
        .collect();
    let mut launched: Vec<LaunchedDispatch> = lines()
        .filter(|columns| {
            columns[0] == "dispatch" && programs.contains(&[columns[1], columns[2], columns[3]])
        })
        .map(|columns| LaunchedDispatch {
            gpu: columns[2].parse::<i64>().unwrap() - 1,
            start: columns[6].parse().unwrap(),
            end: columns[7].parse().unwrap(),
            kernel: columns[9].to_owned(),
        })
        .collect();
    launched.sort();
    launched
}

/// Runs a command with the tracer in it; returns its output, its executed dispatches, and its one trace.
#[must_use]
#[track_caller]
pub fn traced(mut command: Command, folder: &Path) -> (String, Vec<LaunchedDispatch>, Trace) {
    let traces = folder.join("traces");
    let log = folder.join("log");
    let _ = fs::remove_dir_all(&traces);
    let _ = fs::remove_file(&log);
    fs::create_dir_all(&traces).unwrap();
    command.env("HSA_TOOLS_LIB", library::tracer()).env("RTL_OUTPUT", traces.join("trace_%p.db"));
    let output = command.env("KFD_SIM_LOG", &log).output().unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?} {}\n{stdout}\n{stderr}", output.status);
    let files: Vec<_> = fs::read_dir(&traces).unwrap().map(|file| file.unwrap().path()).collect();
    let [file] = files.as_slice() else { panic!("not one trace: {files:?}\n{command:?}\n{stderr}") };
    let (log, trace) = (fs::read_to_string(log).unwrap(), Trace::read(file));
    assert_copies_were_executed(&log, &trace);
    (stdout, launched(&log), trace)
}
/// Checks that the trace has every one of these dispatches, with its kernel's full name and the time at which it was executed,
/// and no others.
/// executed, and nothing else.
#[track_caller]
pub fn assert_all_recorded(launched: &[LaunchedDispatch], trace: &Trace) {
    assert_eq!(trace.left_out(), BTreeMap::new(), "nothing is left out");
    assert_recorded(launched, trace);
    assert_eq!(trace.rows.len(), launched.len(), "every dispatch is there");
}

/// Checks that each row of the trace is one of these dispatches, and that the trace counts the others as left out.
#[track_caller]
pub fn assert_recorded(launched: &[LaunchedDispatch], trace: &Trace) {
    assert_adds_up(trace, launched.len() as i64);
    Unmatched::new(launched).take(trace);
}

/// Dispatches that match no row of a trace yet, by GPU and kernel.
#[derive(Debug)]
pub struct Unmatched(BTreeMap<(i64, String), Vec<(i64, i64)>>);

impl Unmatched {
    #[must_use]
    pub fn new(launched: &[LaunchedDispatch]) -> Self {
        let mut left: BTreeMap<(i64, String), Vec<(i64, i64)>> = BTreeMap::new();
        for dispatch in launched {
            let key = (dispatch.gpu, spoken(&dispatch.kernel));
            left.entry(key).or_default().push((dispatch.start, dispatch.end));
        }
        Self(left)
    }

    /// Removes the dispatches that a trace has, all of which must be there.
    #[track_caller]
    pub fn take(&mut self, trace: &Trace) {
        for row in &trace.rows {
            let key = (row.gpu, row.name.clone());
            let times = self.0.get_mut(&key).unwrap_or_else(|| panic!("never executed: {row:?}"));
            let at = times.iter().position(|&time| is_near(time, row));
            times.remove(at.unwrap_or_else(|| panic!("not executed then: {row:?}")));
        }
    }
}

fn is_near(time: (i64, i64), row: &Row) -> bool {
    (time.0 - row.start).abs() <= TWO_TICKS && (time.1 - row.end).abs() <= TWO_TICKS
}

/// The whole demangled name of a kernel, or the name itself where it is not mangled.
fn spoken(kernel: &str) -> String {
    let symbol = kernel.starts_with("_Z").then(|| Symbol::new(kernel).ok()).flatten();
    let spoken = symbol.and_then(|symbol| symbol.demangle_with_options(&DemangleOptions::default()).ok());
    spoken.unwrap_or_else(|| kernel.to_owned())
}
