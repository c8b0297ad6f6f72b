//! Two of the three accounts of a run: what the program's runtime reported, and what the simulator executed.

use std::collections::HashSet;

/// A dispatch as the program tells it (`tests/programs/hsa.h`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reported {
    /// Counts from 1 through the process; also the dispatch's grid size in x.
    pub number: i64,
    /// In the order in which the runtime lists them, from 0.
    pub gpu: i64,
    /// As the code object has it.
    pub kernel: String,
    /// Address of the kernel's descriptor.
    pub object: u64,
    /// What the runtime reported, ns of the system clock; `None` where the program did not ask.
    pub time: Option<(i64, i64)>,
}

/// A dispatch as the simulator executed it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Executed {
    /// From 0.
    pub gpu: i64,
    /// Whether it came from a queue of the program, not from one that the runtime has for itself.
    pub is_the_programs: bool,
    /// Address of the kernel's descriptor.
    pub object: u64,
    /// As the code object has it; empty where the GPU knows of none.
    pub kernel: String,
    /// In ns of the system clock.
    pub start: i64,
    /// In ns of the system clock.
    pub end: i64,
}

fn address(text: &str) -> u64 {
    u64::from_str_radix(text.trim_start_matches("0x"), 16).unwrap()
}

/// The lines of a report about dispatches. What is behind the last whole one a killed program had no time for.
///
/// # Panics
/// If one is not as `hsa.h` writes it.
#[must_use]
pub fn reported(report: &str) -> Vec<Reported> {
    let dispatch = |line: &str| {
        let columns: Vec<&str> = line.split('\t').collect();
        let time = (columns[4].parse().unwrap(), columns[5].parse().unwrap());
        Reported {
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

/// The dispatches in a log of the simulator, the runtime's own among them.
///
/// # Panics
/// If a line is not as the simulator's README says.
#[must_use]
pub fn executed(log: &str) -> Vec<Executed> {
    let mut programs = HashSet::new();
    let mut dispatches = Vec::new();
    for line in log.lines() {
        let columns: Vec<&str> = line.split('\t').collect();
        // A process, a GPU and the number of a queue.
        let place = (columns[1], columns[2], columns[3]);
        match columns[0] {
            "queue" if columns[7] == "program" => drop(programs.insert(place)),
            "queue" => drop(programs.remove(&place)),
            "dispatch" => dispatches.push(Executed {
                gpu: columns[2].parse::<i64>().unwrap() - 1,
                is_the_programs: programs.contains(&place),
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
