//! A simulated machine: hosts that launch work, GPUs that execute it in order, and collectives that end together.

use rtl_schema::table::{
    Agent, AgentKind, ApiCall, Copy, Direction, Dispatch, Process, Range, RangeKind, Shape, Track,
};
use rtl_schema::{AgentId, NameId, ProcessId, Tables};

/// How long calls take on the host, and how long a launch is on its way to the GPU, in ns.
const LAUNCH_CALL: i64 = 4_000;
const CALL: i64 = 1_500;
const ON_ITS_WAY: i64 = 6_000;

/// The next action of a host. Times are in ns.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Action {
    /// Runs code of its own, in a range of that name if there is one.
    Work(i64, Option<&'static str>),
    /// Launches a kernel that runs so long; the number says which work it is.
    Launch(&'static str, i64, usize),
    /// A kernel as a node of a graph that has been launched: the host has nothing to do.
    Node(&'static str, i64, usize),
    /// Waits until its GPU has done everything.
    Wait,
    /// Copies so many bytes from pageable memory, which takes so long, and returns when that is done.
    Copy(u64, i64),
    /// Releases and allocates memory: waits for the GPU, then takes so long.
    Allocate(i64),
    Load(i64),
    /// Launches a collective on a stream of its own: it begins after the kernels launched so far, and all ranks leave it
    /// so long after the last one has come.
    Collective(i64),
    /// Later kernels begin after the collectives launched so far.
    Join,
    /// The next step begins.
    Step,
}

/// Traces of all ranks, and the mean wall time of a GPU in ns.
pub(crate) struct Run {
    pub(crate) ranks: Vec<Tables>,
    pub(crate) wall_ns: f64,
}

/// Runs the programs of all ranks. Every rank must have the same collectives.
pub(crate) fn run(programs: &[Vec<Action>], is_job: bool) -> Run {
    let mut ranks: Vec<Rank<'_>> = programs
        .iter()
        .zip(0..)
        .map(|(program, number)| Rank::new(program, is_job.then_some(number)))
        .collect();
    loop {
        // Every rank runs until its next collective, which none can leave before all have come.
        let arrivals: Vec<Option<Arrival>> = ranks.iter_mut().map(Rank::until_collective).collect();
        let Some(arrivals) = arrivals.into_iter().collect::<Option<Vec<_>>>() else { break };
        let last = arrivals.iter().map(|arrival| arrival.start).max().unwrap_or(0);
        for (rank, arrival) in ranks.iter_mut().zip(&arrivals) {
            rank.leave(arrival, last + arrival.transfer);
        }
    }
    let walls: Vec<i64> = ranks.iter().map(|rank| rank.last_end - rank.first_start.unwrap_or(0)).collect();
    let wall_ns = walls.iter().sum::<i64>() as f64 / walls.len() as f64;
    Run { ranks: ranks.into_iter().map(Rank::finish).collect(), wall_ns }
}

/// A collective that a rank has launched.
struct Arrival {
    correlation: i64,
    start: i64,
    transfer: i64,
}

struct Rank<'a> {
    program: std::slice::Iter<'a, Action>,
    tables: Tables,
    now: i64,
    correlation: i64,
    step: Option<i64>,
    /// When the compute stream, and that of collectives, have done everything.
    compute_free: i64,
    collectives_free: i64,
    first_start: Option<i64>,
    last_end: i64,
}

impl<'a> Rank<'a> {
    fn new(program: &'a [Action], rank: Option<u32>) -> Self {
        let mut tables = Tables::default();
        tables.processes.push(Process {
            pid: Some(100 + i64::from(rank.unwrap_or(0))),
            rank,
            ..Process::default()
        });
        let number = i64::from(rank.unwrap_or(0));
        tables.agents.push(Agent { kind: AgentKind::Gpu, number, ..Agent::default() });
        Self {
            program: program.iter(),
            tables,
            now: 1_000_000,
            correlation: 0,
            step: None,
            compute_free: 0,
            collectives_free: 0,
            first_start: None,
            last_end: 0,
        }
    }

    /// The next collective; `None` at the end of the program.
    fn until_collective(&mut self) -> Option<Arrival> {
        while let Some(action) = self.program.next() {
            match *action {
                Action::Work(length, name) => {
                    let start = self.now;
                    self.now += length;
                    if let Some(name) = name {
                        self.range(name, start, self.now);
                    }
                }
                Action::Launch(kernel, length, work) => {
                    let correlation = self.call("hipLaunchKernel", LAUNCH_CALL);
                    let start = self.compute_free.max(self.now + ON_ITS_WAY);
                    self.compute_free = start + length;
                    self.dispatch((kernel, work), 0, correlation, start, start + length);
                }
                Action::Node(kernel, length, work) => {
                    let start = self.compute_free.max(self.now);
                    self.compute_free = start + length;
                    self.dispatch((kernel, work), 0, self.correlation, start, start + length);
                }
                Action::Wait => {
                    let done = self.compute_free.max(self.collectives_free);
                    let length = (done + ON_ITS_WAY / 2 - self.now).max(CALL);
                    self.call("hipStreamSynchronize", length);
                }
                Action::Copy(bytes, length) => {
                    let start = self.compute_free.max(self.now + ON_ITS_WAY);
                    self.compute_free = start + length;
                    let correlation = self.call("hipMemcpy", start + length + ON_ITS_WAY / 2 - self.now);
                    self.copy(bytes, correlation, start, start + length);
                }
                Action::Allocate(length) => {
                    let done = self.compute_free.max(self.collectives_free).max(self.now);
                    let freed = done - self.now + length / 2;
                    self.call("hipFree", freed);
                    self.call("hipMalloc", length / 2);
                }
                Action::Load(length) => {
                    self.call("hipModuleLoadData", length);
                }
                Action::Collective(transfer) => {
                    let correlation = self.call("hipExtLaunchKernel", LAUNCH_CALL);
                    let start = self.collectives_free.max(self.compute_free).max(self.now + ON_ITS_WAY);
                    return Some(Arrival { correlation, start, transfer });
                }
                Action::Join => self.compute_free = self.compute_free.max(self.collectives_free),
                Action::Step => self.end_step(Some(self.now)),
            }
        }
        None
    }

    fn leave(&mut self, arrival: &Arrival, end: i64) {
        self.collectives_free = end;
        let kernel = ("ncclDevKernel_AllReduce_Sum_bf16", 0);
        self.dispatch(kernel, 1, arrival.correlation, arrival.start, end);
    }

    fn end_step(&mut self, next: Option<i64>) {
        if let Some(start) = self.step.take() {
            self.range("training_step", start, self.now);
        }
        self.step = next;
    }

    fn call(&mut self, name: &str, length: i64) -> i64 {
        self.correlation += 1;
        let (name, domain) = (self.tables.strings.intern(name), self.tables.strings.intern("hip"));
        self.tables.api_calls.push(ApiCall {
            tid: Some(7),
            name,
            domain,
            category: NameId::NONE,
            args: NameId::NONE,
            start: self.now,
            duration: Some(length),
            correlation: self.correlation,
            ..ApiCall::default()
        });
        self.now += length;
        self.correlation
    }

    fn track(&mut self, queue: i64) -> rtl_schema::TrackId {
        self.tables.tracks.intern(Track {
            process: ProcessId(0),
            agent: AgentId(0),
            queue,
            ..Track::default()
        })
    }

    fn ran(&mut self, start: i64, end: i64) {
        self.first_start.get_or_insert(start);
        self.last_end = self.last_end.max(end);
    }

    fn dispatch(
        &mut self,
        (kernel, work): (&str, usize),
        queue: i64,
        correlation: i64,
        start: i64,
        end: i64,
    ) {
        let (track, name) = (self.track(queue), self.tables.strings.intern(kernel));
        let duration = Some(end - start);
        let shape = Shape { items: Some([64 * (work as u64 + 1), 1, 1]), ..Shape::default() };
        let shape = Some(self.tables.shapes.intern(shape));
        self.tables.dispatches.push(Dispatch {
            track,
            name,
            shape,
            tid: Some(7),
            start,
            duration,
            correlation,
            ..Dispatch::default()
        });
        self.ran(start, end);
    }

    fn copy(&mut self, bytes: u64, correlation: i64, start: i64, end: i64) {
        let (track, name) = (self.track(0), NameId::NONE);
        self.tables.copies.push(Copy {
            name,
            track,
            direction: Direction::HostToDevice,
            bytes: Some(bytes),
            tid: Some(7),
            start,
            duration: Some(end - start),
            correlation,
            ..Copy::default()
        });
        self.ran(start, end);
    }

    fn range(&mut self, name: &str, start: i64, end: i64) {
        let name = self.tables.strings.intern(name);
        let id = self.tables.ranges.len() as i64 + 1;
        let (kind, duration) = (RangeKind::Thread, Some(end - start));
        self.tables.ranges.push(Range {
            id,
            tid: Some(7),
            name,
            category: NameId::NONE,
            kind,
            start,
            duration,
            ..Range::default()
        });
    }

    fn finish(mut self) -> Tables {
        self.end_step(None);
        self.tables
    }
}
