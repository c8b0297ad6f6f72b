//! Two of the three accounts of a run: what the program's runtime reported, and what the simulator executed.

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
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Executed {
    /// From 0.
    pub gpu: i64,
    /// Address of the kernel's descriptor.
    pub object: u64,
    /// In ns of the system clock.
    pub start: i64,
    /// In ns of the system clock.
    pub end: i64,
    /// The process.
    pub pid: u32,
}

fn address(text: &str) -> u64 {
    u64::from_str_radix(text.trim_start_matches("0x"), 16).unwrap()
}

/// The lines of a report. What is behind the last whole one a killed program had no time for.
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
    report[..whole].lines().map(dispatch).collect()
}

/// The dispatches in a log of the simulator, the runtime's own among them.
///
/// # Panics
/// If a line is not as the simulator's README says.
#[must_use]
pub fn executed(log: &str) -> Vec<Executed> {
    let dispatch = |line: &str| {
        let columns: Vec<&str> = line.split('\t').collect();
        (columns[0] == "dispatch").then(|| Executed {
            gpu: columns[2].parse::<i64>().unwrap() - 1,
            object: address(columns[5]),
            start: columns[6].parse().unwrap(),
            end: columns[7].parse().unwrap(),
            pid: columns[1].parse().unwrap(),
        })
    };
    log.lines().filter_map(dispatch).collect()
}
