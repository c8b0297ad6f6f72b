//! Finds the traces that were recorded on one machine during one boot.

use rtl_schema::ProcessId;
use rtl_schema::table::Process;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::read::Input;

/// The property that identifies a machine, best evidence first.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Evidence {
    /// The boot id: one boot of one machine.
    Boot(String),
    /// The machine id. One run on a machine ran during one boot.
    Machine(String),
    Host(String),
    /// Unknown: the position of the trace, and the node number in it.
    Unknown(usize, Option<u32>),
}

#[derive(Debug, Clone)]
pub(crate) struct Machine {
    pub(crate) evidence: Evidence,
    /// A name that no other machine of the job has.
    pub(crate) label: String,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Machines {
    /// In the order of the traces.
    pub(crate) all: Vec<Machine>,
    /// The index of the machine, by input and process.
    by_process: Vec<Vec<usize>>,
}

impl Evidence {
    /// Field and value of the metadata row `clock`, if it identifies a clock.
    pub(crate) fn tag(&self) -> Option<(&'static str, &str)> {
        match self {
            Self::Boot(id) => Some(("bootId", id)),
            Self::Machine(id) => Some(("machineId", id)),
            Self::Host(_) | Self::Unknown(..) => None,
        }
    }
}

impl Machine {
    /// All its processes are known to share a clock, which belongs to one boot.
    pub(crate) fn has_one_clock(&self) -> bool {
        self.evidence.tag().is_some()
    }

    pub(crate) fn is_known(&self) -> bool {
        !matches!(self.evidence, Evidence::Unknown(..))
    }
}

impl Machines {
    pub(crate) fn find(inputs: &[Input]) -> Self {
        let boots = boots(inputs);
        let mut machines = Self::default();
        let mut index: FxHashMap<Evidence, usize> = FxHashMap::default();
        let mut labels = Labels::default();
        for (at, input) in inputs.iter().enumerate() {
            let mut own = Vec::new();
            for process in &input.processes {
                let evidence = evidence(process, at, &boots);
                let next = machines.all.len();
                let machine = *index.entry(evidence.clone()).or_insert(next);
                if machine == next {
                    let label = labels.distinct(label(process, input));
                    machines.all.push(Machine { evidence, label });
                }
                own.push(machine);
            }
            machines.by_process.push(own);
        }
        machines
    }

    pub(crate) fn machine(&self, input: usize, process: ProcessId) -> usize {
        self.by_process[input][process.index()]
    }

    /// The machine of all processes of an input, if it is one.
    pub(crate) fn only(&self, input: usize) -> Option<usize> {
        let first = *self.by_process[input].first()?;
        self.by_process[input].iter().all(|&machine| machine == first).then_some(first)
    }
}

/// The name of the machine of a process, which another one may have, too.
fn label(process: &Process, input: &Input) -> String {
    let file = || input.path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    match (&process.host, process.node) {
        (Some(host), _) if !host.is_empty() => host.clone(),
        (_, Some(node)) => format!("{}/node{node}", file()),
        _ => file(),
    }
}

/// Distinct names.
#[derive(Debug, Default)]
struct Labels {
    taken: FxHashSet<String>,
    /// By name: the last number behind it that was tried. Thousands of traces in folders of their own may have one name.
    numbers: FxHashMap<String, u64>,
}

impl Labels {
    /// The name, with a number where it is taken.
    fn distinct(&mut self, name: String) -> String {
        let number = self.numbers.entry(name.clone()).or_insert(0);
        let mut label = name.clone();
        loop {
            *number += 1;
            if *number > 1 {
                label = format!("{name}~{number}");
            }
            if self.taken.insert(label.clone()) {
                return label;
            }
        }
    }
}

/// The boot of each machine id with one known boot, for traces that state no boot.
fn boots(inputs: &[Input]) -> FxHashMap<&str, Option<&str>> {
    let mut boots: FxHashMap<&str, Option<&str>> = FxHashMap::default();
    for process in inputs.iter().flat_map(|input| &input.processes) {
        if let (Some(machine), Some(boot)) = (&process.machine_id, &process.boot_id) {
            let known = boots.entry(machine).or_insert(Some(boot));
            *known = known.filter(|known| known == boot);
        }
    }
    boots
}

fn evidence(process: &Process, input: usize, boots: &FxHashMap<&str, Option<&str>>) -> Evidence {
    let machine = process.machine_id.as_deref().filter(|id| !id.is_empty());
    let boot = process.boot_id.as_deref().or_else(|| boots.get(machine?).copied().flatten());
    match (boot, machine, &process.host) {
        (Some(boot), _, _) if !boot.is_empty() => Evidence::Boot(boot.to_owned()),
        (_, Some(machine), _) => Evidence::Machine(machine.to_owned()),
        (_, _, Some(host)) if !host.is_empty() => Evidence::Host(host.clone()),
        _ => Evidence::Unknown(input, process.node),
    }
}
