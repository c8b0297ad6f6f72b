//! Which traces were recorded on one machine, in one of its starts.

use rtl_schema::ProcessId;
use rtl_schema::table::Process;
use rustc_hash::FxHashMap;

use crate::survey::Survey;

/// What tells one machine from another, the best evidence first.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Evidence {
    /// The boot id: one machine in one of its starts.
    Boot(String),
    /// The machine's id. What one run left on a machine ran in one of its starts.
    Machine(String),
    /// Only its name.
    Host(String),
    /// Nothing: the trace has this place, and within it the machine this number.
    Unknown(usize, Option<u32>),
}

/// One machine.
#[derive(Debug, Clone)]
pub struct Machine {
    /// What it is known by.
    pub evidence: Evidence,
    /// What it is called, unlike all others.
    pub label: String,
}

/// The machines of a merge.
#[derive(Debug, Clone, Default)]
pub struct Machines {
    /// In the order in which the traces come.
    pub all: Vec<Machine>,
    /// By input and process, the index of its machine.
    of: Vec<Vec<usize>>,
}

impl Evidence {
    /// The field of the metadata row `clock` that names it, and the name, where it tells a clock.
    #[must_use]
    pub fn tag(&self) -> Option<(&'static str, &str)> {
        match self {
            Self::Boot(id) => Some(("bootId", id)),
            Self::Machine(id) => Some(("machineId", id)),
            Self::Host(_) | Self::Unknown(..) => None,
        }
    }
}

impl Machine {
    /// Whether all that ran on it is known to share a clock.
    #[must_use]
    pub fn has_one_clock(&self) -> bool {
        self.evidence.tag().is_some()
    }

    /// Whether it is more than a trace of which nothing is known.
    #[must_use]
    pub fn is_known(&self) -> bool {
        !matches!(self.evidence, Evidence::Unknown(..))
    }
}

impl Machines {
    /// Finds the machines of `inputs`.
    #[must_use]
    pub fn of(inputs: &[Survey]) -> Self {
        let boots = boots(inputs);
        let mut machines = Self::default();
        let mut index: FxHashMap<Evidence, usize> = FxHashMap::default();
        for (at, input) in inputs.iter().enumerate() {
            let mut of = Vec::new();
            for process in &input.processes {
                let evidence = evidence(process, at, &boots);
                let next = machines.all.len();
                let machine = *index.entry(evidence.clone()).or_insert(next);
                if machine == next {
                    let label = machines.label(process, input);
                    machines.all.push(Machine { evidence, label });
                }
                of.push(machine);
            }
            machines.of.push(of);
        }
        machines
    }

    /// The machine of a process.
    #[must_use]
    pub fn machine(&self, input: usize, process: ProcessId) -> usize {
        self.of[input][process.index()]
    }

    /// The machine of all processes of an input, if it has one.
    #[must_use]
    pub fn only(&self, input: usize) -> Option<usize> {
        let first = *self.of[input].first()?;
        self.of[input].iter().all(|&machine| machine == first).then_some(first)
    }

    /// A name that no other machine has.
    fn label(&self, process: &Process, input: &Survey) -> String {
        let file = || input.path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let name = match (&process.host, process.node) {
            (Some(host), _) if !host.is_empty() => host.clone(),
            (_, Some(node)) => format!("{}/node{node}", file()),
            _ => file(),
        };
        let taken = |label: &String| self.all.iter().any(|machine| machine.label == *label);
        let numbered = (2..).map(|number| format!("{name}~{number}"));
        std::iter::once(name.clone()).chain(numbered).find(|label| !taken(label)).unwrap_or(name)
    }
}

/// The boot of each machine id that was seen in one only: traces that state no boot ran in it.
fn boots(inputs: &[Survey]) -> FxHashMap<&str, Option<&str>> {
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
