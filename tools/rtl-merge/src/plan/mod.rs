//! Numbers processes and GPUs of the merged trace before the first row is written.

mod ranges;

use std::hash::{Hash, Hasher};

use rtl_schema::table::Process;
use rtl_write::TraceMapping;
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

use self::ranges::RangePlan;
use crate::clocks::Clocks;
use crate::identity::{Machines, Places};
use crate::read::Input;
use crate::read::ranges::RangeExtents;

/// The numbers of a merged trace.
#[derive(Debug, Clone, Default)]
pub(crate) struct Plan {
    /// Each process once, with its value in pid columns.
    pub(crate) processes: Vec<(i64, Process)>,
    /// The numbers of rows, by input.
    pub(crate) parts: Vec<TraceMapping>,
    /// The last range id that a part has for one of its blocks.
    pub(crate) last_range: i64,
    /// The machine of the merged clock, if known.
    pub(crate) clock: Option<(&'static str, String)>,
}

/// Identifies a process across traces: machine, pid and start, or the GUID of rocprofv3; unidentified processes are
/// different in every trace.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Identity {
    Started { machine: usize, pid: i64, start: Option<i64> },
    Guid(String),
    Unidentified { input: usize, process: usize },
}

impl Plan {
    pub(crate) fn new(inputs: &[Input], places: &Places, clocks: &Clocks) -> Self {
        let Places { machines, devices } = places;
        let mut plan = Self { clock: clocks.reference.clone(), ..Self::default() };
        let mut known: FxHashMap<Identity, usize> = FxHashMap::default();
        let mut spaces: FxHashMap<(usize, u32), u32> = FxHashMap::default();
        let mut taken: FxHashSet<i64> = FxHashSet::default();
        let mut members: Vec<Vec<usize>> = Vec::new();
        for (at, input) in inputs.iter().enumerate() {
            let mut own = Vec::new();
            // The processes of one space of this input, by the first of them.
            let mut first: FxHashMap<u32, usize> = FxHashMap::default();
            for (number, process) in input.processes.iter().enumerate() {
                let machine = machines.machine(at, rtl_schema::ProcessId(number as u32));
                let next = plan.processes.len();
                let index = *known.entry(identity(process, machine, machines, (at, number))).or_insert(next);
                let leader = *first.entry(process.space).or_insert(index);
                let next_space = spaces.len() as u32;
                let space = *spaces.entry((leader, process.space)).or_insert(next_space);
                if index == next {
                    let pid = process.pid.filter(|&pid| pid >= 0 && taken.insert(pid));
                    let node = machines.all[machine].is_known() && machines.all.len() > 1;
                    let node = node.then_some(machine as u32).or(process.node);
                    // Its start and end are on the merged clock too.
                    let corrected =
                        |moment: Option<i64>| moment.map(|moment| clocks.corrections[at].apply(moment));
                    let (start, end) = (corrected(process.start), corrected(process.end));
                    let process = Process { space, node, start, end, ..process.clone() };
                    plan.processes.push((pid.unwrap_or(-1 - next as i64), process));
                }
                own.push(index);
            }
            members.push(own);
        }
        let mut last_input = vec![0; plan.processes.len()];
        for (at, own) in members.iter().enumerate() {
            own.iter().for_each(|&process| last_input[process] = at);
        }
        let space = |&index: &usize| plan.processes[index].1.space;
        let spaces: Vec<Vec<u32>> = members.iter().map(|own| own.iter().map(space).collect()).collect();
        let extents: Vec<&RangeExtents> = inputs.iter().map(|input| &input.ranges).collect();
        let ranges = RangePlan::new(&extents, &spaces);
        plan.last_range = ranges.last;
        for (((at, own), spaces), ranges) in members.iter().enumerate().zip(spaces).zip(ranges.blocks) {
            plan.parts.push(TraceMapping {
                pids: own.iter().map(|&index| plan.processes[index].0).collect(),
                spaces,
                ranges,
                continues: own.iter().any(|&process| last_input[process] > at),
                gpus: devices.numbers[at].clone(),
                monitor_devices: devices.monitored[at].clone(),
                clock: clocks.corrections[at].clone(),
            });
        }
        plan
    }

    /// Hashes the traces, the options that matter and the version of the program.
    pub(crate) fn fingerprint(&self, inputs: &[Input]) -> u64 {
        let mut hasher = FxHasher::default();
        env!("CARGO_PKG_VERSION").hash(&mut hasher);
        for input in inputs {
            let modified = std::fs::metadata(&input.path).and_then(|file| file.modified()).ok();
            (&input.path, input.bytes(), modified, input.rows.counts).hash(&mut hasher);
        }
        for part in &self.parts {
            (&part.pids, &part.gpus, part.clock.knots(), &part.ranges).hash(&mut hasher);
        }
        hasher.finish()
    }
}

fn identity(process: &Process, machine: usize, machines: &Machines, own: (usize, usize)) -> Identity {
    let (input, number) = own;
    match (&process.guid, process.pid) {
        (Some(guid), _) => Identity::Guid(guid.clone()),
        (None, Some(pid)) if machines.all[machine].has_one_clock() => {
            Identity::Started { machine, pid, start: process.start }
        }
        _ => Identity::Unidentified { input, process: number },
    }
}
