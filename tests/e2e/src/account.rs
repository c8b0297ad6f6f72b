//! Two of the three accounts of a run: the dispatches that the program's runtime reported, and those that the simulator executed.

use std::collections::HashSet;

/// A dispatch in the program's report (`tests/programs/hsa.h`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportedDispatch {
    /// Counts from 1 through the process; also the dispatch's grid size in x.
    pub number: i64,
    /// Position in the runtime's list of GPUs, from 0.
    pub gpu: i64,
    /// Mangled name.
    pub kernel: String,
    /// Address of the kernel's descriptor.
    pub object: u64,
    /// Start and end from the runtime, in ns of the system clock; `None` where the program did not read them.
    pub time: Option<(i64, i64)>,
}

/// A dispatch as the simulator executed it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExecutedDispatch {
    /// Counts from 0.
    pub gpu: i64,
    /// True if it came from a queue of the program, not from one of the runtime's own.
    pub is_of_program: bool,
    /// Address of the kernel's descriptor.
    pub object: u64,
    /// Mangled name; empty where the GPU knows of none.
    pub kernel: String,
    /// In ns of the system clock.
    pub start: i64,
    /// In ns of the system clock.
    pub end: i64,
}

fn address(text: &str) -> u64 {
    u64::from_str_radix(text.trim_start_matches("0x"), 16).unwrap()
}

/// Parses the lines of a report about dispatches. A killed program had no time for the rest of its last line.
#[must_use]
pub fn reported(report: &str) -> Vec<ReportedDispatch> {
    let dispatch = |line: &str| {
        let columns: Vec<&str> = line.split('\t').collect();
        let time = (columns[4].parse().unwrap(), columns[5].parse().unwrap());
        ReportedDispatch {
            number: columns[0].parse().unwrap(),
            gpu: columns[1].parse().unwrap(),
            kernel: columns[2].to_owned(),
            object: address(columns[3]),
            time: (time != (0, 0)).then_some(time),
        }
    };
    let whole = report.rfind('\n').map_or(0, |end| end + 1);
    report[..whole].lines().filter(|line| line.split('\t').count() == 6).map(dispatch).collect()
}

/// Parses the dispatches in a log of the simulator, the runtime's own among them.
#[must_use]
pub fn executed(log: &str) -> Vec<ExecutedDispatch> {
    let mut programs = HashSet::new();
    let mut dispatches = Vec::new();
    for line in log.lines() {
        let columns: Vec<&str> = line.split('\t').collect();
        // A process, a GPU and the number of a queue identify a queue.
        let place = (columns[1], columns[2], columns[3]);
        match columns[0] {
            "queue" if columns[7] == "program" => drop(programs.insert(place)),
            "queue" => drop(programs.remove(&place)),
            "dispatch" => dispatches.push(ExecutedDispatch {
                gpu: columns[2].parse::<i64>().unwrap() - 1,
                is_of_program: programs.contains(&place),
                object: address(columns[5]),
                kernel: columns[9].trim_start_matches('-').to_owned(),
                start: columns[6].parse().unwrap(),
                end: columns[7].parse().unwrap(),
            }),
            _ => (),
        }
    }
    dispatches
}
