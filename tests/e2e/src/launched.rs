//! Programs that report nothing themselves: every dispatch that the simulator executed on their queues against the
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
pub struct Launched {
    /// From 0.
    pub gpu: i64,
    /// In ns of the system clock.
    pub start: i64,
    /// In ns of the system clock.
    pub end: i64,
    /// As the code object has it.
    pub kernel: String,
}

/// The program's dispatches in a log of the simulator, by GPU and start. The runtime's own queues are left out: no
/// tool sees those.
///
/// # Panics
/// If a line is not as the simulator's README says.
#[must_use]
pub fn launched(log: &str) -> Vec<Launched> {
    let lines = || log.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    let programs: HashSet<[&str; 3]> = lines()
        .filter(|columns| columns[0] == "queue" && columns[7] == "program")
        .map(|columns| [columns[1], columns[2], columns[3]])
        .collect();
    let mut launched: Vec<Launched> = lines()
        .filter(|columns| {
            columns[0] == "dispatch" && programs.contains(&[columns[1], columns[2], columns[3]])
        })
        .map(|columns| Launched {
            gpu: columns[2].parse::<i64>().unwrap() - 1,
            start: columns[6].parse().unwrap(),
            end: columns[7].parse().unwrap(),
            kernel: columns[9].to_owned(),
        })
        .collect();
    launched.sort();
    launched
}

/// Runs a command with the tracer in it: what it printed, what it executed, and its one trace.
///
/// # Panics
/// If it fails, leaves no trace or several, or the trace has not the copies that were executed.
#[must_use]
#[track_caller]
pub fn traced(mut command: Command, folder: &Path) -> (String, Vec<Launched>, Trace) {
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

/// Holds that the trace has every one of these dispatches, with its kernel's full name and the time at which it was
/// executed, and nothing else.
///
/// # Panics
/// If one is missing, one is too many, or anything of one differs.
#[track_caller]
pub fn assert_all_recorded(launched: &[Launched], trace: &Trace) {
    assert_eq!(trace.left_out(), BTreeMap::new(), "nothing is left out");
    assert_recorded(launched, trace);
    assert_eq!(trace.rows.len(), launched.len(), "every dispatch is there");
}

/// Holds that each row of the trace is one of these dispatches, and that the trace counts the others as left out.
///
/// # Panics
/// If one is not, anything of one differs, or the counts do not add up.
#[track_caller]
pub fn assert_recorded(launched: &[Launched], trace: &Trace) {
    assert_adds_up(trace, launched.len() as i64);
    Left::of(launched).take(trace);
}

/// Dispatches that no row of a trace has been found for, by GPU and kernel.
#[derive(Debug)]
pub struct Left(BTreeMap<(i64, String), Vec<(i64, i64)>>);

impl Left {
    /// All of them.
    #[must_use]
    pub fn of(launched: &[Launched]) -> Self {
        let mut left: BTreeMap<(i64, String), Vec<(i64, i64)>> = BTreeMap::new();
        for dispatch in launched {
            let key = (dispatch.gpu, spoken(&dispatch.kernel));
            left.entry(key).or_default().push((dispatch.start, dispatch.end));
        }
        Self(left)
    }

    /// Takes out those that a trace has.
    ///
    /// # Panics
    /// If it has another one.
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

/// The name of a kernel as a person reads it, whole; as it is where no C++ is behind it.
fn spoken(kernel: &str) -> String {
    let symbol = kernel.starts_with("_Z").then(|| Symbol::new(kernel).ok()).flatten();
    let spoken = symbol.and_then(|symbol| symbol.demangle_with_options(&DemangleOptions::default()).ok());
    spoken.unwrap_or_else(|| kernel.to_owned())
}
