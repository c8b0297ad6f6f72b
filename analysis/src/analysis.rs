//! The intermediate results that several sections of a report share, each computed once.

use std::sync::OnceLock;

use rtl_schema::table::{PythonFrames, Track};
use rtl_schema::{ProcessId, Tables};

use crate::Categories;
use crate::base::first_use::distinct;
use crate::base::ops::{AgentOps, Op, Order};
use crate::base::parallel;
use crate::gpu_time::kernels::{Group, GroupBy, by_kernel, by_kernel_and_category, by_key, by_track};
use crate::gpu_time::late_calls::{LateCalls, LateInputs};
use crate::gpu_time::operators::{Callers, Modules};
use crate::gpu_time::ranges::{self, Cursor, Methods, RangeReport, Repeated};
use crate::gpu_time::sweep::{self, Gap, Sweep, Swept};
use crate::idle::unknown::unknown_idle;
use crate::idle::{self, Cause, GpuIdle};
use crate::launches::{self, EnqueueTimes, Latency, Queues};
use crate::names::kernel_names::KernelNames;
use crate::names::labels::{self, Labels};
use crate::ranks::{Matching, RankInputs, Ranks};

/// How many of the longest gaps [`Analysis::sweep`] and [`Analysis::idle`] keep.
const LONGEST_GAPS: usize = 10;

/// Ranges that come again at least this often are steps.
const LEAST_STEPS: usize = 2;

/// Fewer steps have no usual duration.
const ENOUGH_STEPS: usize = 5;

/// A part of [`Analysis`] that takes long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Ranks and steps: [`Analysis::compared`].
    Compared,
    /// Kernels and their calls: [`Analysis::kernels`].
    Kernels,
    /// [`Analysis::categories`], and with them the kernels.
    Categories,
    /// Launch latencies and queue depths: [`Analysis::launches`].
    Launches,
    /// Busy time and gaps: [`Analysis::sweep`].
    Sweep,
    /// Causes of idle time: [`Analysis::idle`].
    Idle,
    /// Ranges and the ops in them: [`Analysis::ranges`].
    Ranges,
    /// Ranges that come again and again.
    Steps,
    /// Calls of kernels that take longer than others of the same work, and with them the kernels.
    LateCalls,
}

impl Part {
    /// All of them, in the order in which they begin: what takes longest comes first.
    const ALL: [Self; 9] = [
        Self::Compared,
        Self::Categories,
        Self::Kernels,
        Self::LateCalls,
        Self::Sweep,
        Self::Launches,
        Self::Idle,
        Self::Ranges,
        Self::Steps,
    ];
}

/// The rows of a trace with what is known of them so far: a part is computed when it is first needed.
#[derive(Debug)]
pub struct Analysis<'a> {
    pub(crate) tables: &'a Tables,
    pub(crate) names: KernelNames,
    pub(crate) methods: Methods<'a>,
    order: OnceLock<Order>,
    kernels: OnceLock<Vec<Group>>,
    categories: OnceLock<Vec<Group>>,
    swept: OnceLock<Swept>,
    launches: OnceLock<Option<(Latency, Queues)>>,
    idle: OnceLock<Vec<GpuIdle>>,
    ranges: OnceLock<RangeReport>,
    steps: OnceLock<Option<Repeated>>,
    late_calls: OnceLock<Option<(usize, LateCalls)>>,
    /// Ranks, or only their collectives where none of these match.
    compared: OnceLock<Result<Ranks, Box<Matching>>>,
    ranks: OnceLock<Ranks>,
}

impl<'a> Analysis<'a> {
    /// Looks at the names of kernels only.
    pub fn new(tables: &'a Tables, categories: &Categories) -> Self {
        Self {
            tables,
            names: KernelNames::new(tables, categories),
            methods: Methods::of(tables),
            order: OnceLock::new(),
            kernels: OnceLock::new(),
            categories: OnceLock::new(),
            swept: OnceLock::new(),
            launches: OnceLock::new(),
            idle: OnceLock::new(),
            ranges: OnceLock::new(),
            steps: OnceLock::new(),
            late_calls: OnceLock::new(),
            compared: OnceLock::new(),
            ranks: OnceLock::new(),
        }
    }

    /// Computes parts that are needed later, several at a time; of at most 200,000 dispatches only what would else be done twice.
    pub fn prepare(&self, parts: &[Part]) {
        let rows = self.tables.dispatches.len();
        let has = |part: Part| parts.contains(&part);
        if rows <= parallel::LEAST_ROWS {
            if has(Part::Categories) {
                self.categories();
            }
            return;
        }
        // Parts of kernels need each other, and are one item: two that wait for one part would keep its threads.
        let of_kernels =
            [Part::Categories, Part::Kernels, Part::LateCalls].into_iter().find(|&part| has(part));
        let group = || match has(Part::Categories) {
            true => _ = self.categories(),
            false => _ = self.kernels(),
        };
        // Grouping takes memory for a while: of many kernels, and with one thread, that is gone before the others take theirs.
        if of_kernels.is_some()
            && (threads::limit() == 1 || parallel::are_many(self.names.kernels.len(), rows))
        {
            group();
        }
        // All others need it.
        if parts.iter().any(|part| !matches!(part, Part::Kernels | Part::Categories)) {
            self.order_ops(has(Part::Steps));
        }
        // Without launches, idle time follows from the sweep.
        let follows_sweep = has(Part::Sweep) && !launches::has_launch_data(self.tables);
        let is_item = |part: &Part| match part {
            Part::Idle if follows_sweep => false,
            Part::Categories | Part::Kernels | Part::LateCalls => Some(*part) == of_kernels,
            part => has(*part),
        };
        threads::map(Part::ALL.into_iter().filter(is_item), |part| match part {
            Part::Compared => _ = self.compared(),
            Part::Categories | Part::Kernels | Part::LateCalls => {
                group();
                if has(Part::LateCalls) {
                    self.late_calls();
                }
            }
            Part::Launches => _ = self.launches(),
            Part::Sweep => _ = self.sweep(),
            Part::Idle => _ = self.idle(),
            Part::Ranges => _ = self.ranges(),
            Part::Steps => _ = self.steps(),
        });
    }

    /// Orders the ops. What ties them to ranges is found on one thread, and several parts would wait for it where there are steps: so
    /// it is found beside that, by the helper: ordering takes longer, and gets its thread when that is done.
    fn order_ops(&self, has_steps: bool) {
        match has_steps && !self.tables.ranges.is_empty() && threads::limit() > 1 {
            true => _ = threads::both(|| self.methods.find(), || _ = self.order()),
            false => _ = self.order(),
        }
    }

    /// The rows that are analysed.
    pub fn tables(&self) -> &'a Tables {
        self.tables
    }

    pub(crate) fn order(&self) -> &Order {
        self.order.get_or_init(|| Order::of(self.tables))
    }

    /// Kernels, largest total first.
    pub fn kernels(&self) -> &[Group] {
        self.kernels.get_or_init(|| by_kernel(self.tables, &self.names))
    }

    /// Categories of kernels, largest total first.
    pub fn categories(&self) -> &[Group] {
        self.categories.get_or_init(|| {
            let [kernels, categories] = by_kernel_and_category(self.tables, &self.names);
            // They may be known.
            _ = self.kernels.set(kernels);
            categories
        })
    }

    /// All dispatches by `key`, largest total first.
    pub fn groups(&self, key: GroupBy) -> Vec<Group> {
        let Self { tables, names, .. } = self;
        let dispatches = &tables.dispatches;
        let rank =
            |track: Track| tables.processes.get(track.process.index()).and_then(|process| process.rank);
        match key {
            GroupBy::Kernel => self.kernels().to_vec(),
            GroupBy::Category => self.categories().to_vec(),
            GroupBy::Gpu => by_track(tables, |track| track.agent, |id| labels::agent(tables, id)),
            GroupBy::Queue => {
                let words = Labels::new(tables);
                let queue = |track| Track { stream: None, hardware_queue: None, ..track };
                by_track(tables, queue, |track| words.queue(track))
            }
            GroupBy::Process => {
                let words = Labels::new(tables);
                by_track(tables, |track| track.process, |id| words.process(id))
            }
            GroupBy::Rank => by_track(tables, rank, |rank| {
                rank.map_or_else(|| "no rank".to_owned(), |rank| format!("rank {rank}"))
            }),
            GroupBy::Range => {
                let attribution = self.methods.attribution();
                let mut cursor = Cursor::default();
                let ranges = (0..dispatches.len() as u32)
                    .map(|row| attribution.innermost(tables, Op { copy: false, row }, &mut cursor));
                by_key(tables, ranges, |range| {
                    Group::of(range.map_or("(no range)", |name| tables.strings.get(name)))
                })
            }
            GroupBy::Operator => {
                let callers = Callers::of(tables);
                let operators = (0..dispatches.len()).map(|row| callers.name_of_dispatch(tables, row));
                by_key(tables, operators, |operator| {
                    Group::of(operator.map_or("(no operator)", |name| tables.strings.get(name)))
                })
            }
            GroupBy::Module => {
                let modules = Modules::of(tables);
                let names = (0..dispatches.len()).map(|row| modules.name_of_dispatch(tables, row));
                by_key(tables, names, |module| {
                    let name = module.map_or("(no module)", |name| tables.strings.get(name));
                    Group::of(name.strip_prefix(PythonFrames::MODULE).unwrap_or(name))
                })
            }
            GroupBy::Step => {
                let repeated = Repeated::new(&self.methods, &self.processes(), LEAST_STEPS);
                let step = |row| repeated.as_ref().and_then(|repeated| repeated.of_dispatch(tables, row));
                by_key(tables, (0..dispatches.len()).map(step), |step| match (&repeated, step) {
                    (Some(repeated), Some(step)) => Group::of(repeated.label(tables, step).as_str()),
                    _ => Group::of("(no step)"),
                })
            }
            GroupBy::Shape => {
                let pairs = (0..dispatches.len())
                    .map(|row| (names.kernel(dispatches.name[row]), dispatches.shape.get(row)));
                by_key(tables, pairs, |(kernel, shape)| Group {
                    label: labels::shape(shape.map(|shape| tables.shapes.get(shape))).into(),
                    ..Group::of_kernel(&names.kernels[kernel])
                })
            }
        }
    }

    /// Busy time, gaps and suspicious rows of GPUs, with the ten longest gaps.
    pub fn sweep(&self) -> &Sweep {
        &self.swept().sweep
    }

    pub(crate) fn swept(&self) -> &Swept {
        self.swept.get_or_init(|| sweep::sweep(self.tables, self.order(), &self.names, LONGEST_GAPS))
    }

    /// The ten longest gaps with their causes.
    pub fn longest_gaps(&self) -> Vec<Gap> {
        let mut gaps = self.sweep().longest.clone();
        for gap in &mut gaps {
            let of_gpu = self.idle().iter().filter(|gpu| (gpu.gpu, &gpu.label) == (gap.gpu, &gap.label));
            let mut known = of_gpu.flat_map(|gpu| &gpu.longest);
            let same = known.find(|known| known.start_ns == gap.start_ns);
            let most = same.and_then(|known| known.parts.first());
            gap.cause = most.filter(|part| part.cause != Cause::Unknown).cloned();
        }
        gaps
    }

    /// Launch latency and queue depth; `None` if the trace links no op to the host.
    pub fn launches(&self) -> Option<&(Latency, Queues)> {
        let launches = || {
            let (tables, order) = (self.tables, self.order());
            let times = launches::has_launch_data(tables).then(|| EnqueueTimes::new(tables, order))?;
            launches::launches(tables, order, &times, &self.names)
        };
        self.launches.get_or_init(launches).as_ref()
    }

    /// Why each GPU was idle, by number. It does not share what ties ops to calls with [`Self::launches`]: a short report needs
    /// only this, and keeping it takes more memory than it takes time.
    pub fn idle(&self) -> &[GpuIdle] {
        self.idle.get_or_init(|| {
            if !launches::has_launch_data(self.tables) {
                return unknown_idle(self.tables, self.swept());
            }
            let (tables, order) = (self.tables, self.order());
            idle::idle(tables, order, &EnqueueTimes::new(tables, order))
        })
    }

    /// Ranks side by side.
    pub fn ranks(&self) -> &Ranks {
        match self.matched() {
            Ok(ranks) => ranks,
            Err(matching) => self.ranks.get_or_init(|| Matching::clone(matching).ranks(&self.rank_inputs())),
        }
    }

    /// Ranks side by side, where there are several and their collectives match.
    #[must_use]
    pub fn compared(&self) -> Option<&Ranks> {
        // Without collectives ranks do not wait for each other, and comparing them takes long.
        let is_collective = |&row: &u32| self.names.is_collective(self.tables.dispatches.name[row as usize]);
        let runs_collectives = |ops: &&AgentOps| ops.dispatches.iter().any(is_collective);
        let have_collectives =
            self.names.any_collective() && self.order().agents.iter().filter(runs_collectives).count() > 1;
        if have_collectives { self.matched().as_ref().ok() } else { None }
    }

    fn matched(&self) -> &Result<Ranks, Box<Matching>> {
        self.compared.get_or_init(|| {
            let inputs = self.rank_inputs();
            let matching = Matching::of(&inputs);
            if matching.is_any() { Ok(matching.ranks(&inputs)) } else { Err(Box::new(matching)) }
        })
    }

    fn rank_inputs(&self) -> RankInputs<'_> {
        let Self { tables, names, methods, .. } = self;
        RankInputs { tables, names, order: self.order(), methods }
    }

    /// The processes that ran ops, in the order of their first use.
    pub(crate) fn processes(&self) -> Vec<ProcessId> {
        let tracks = self.tables.tracks.rows().iter();
        distinct(tracks.map(|track| track.process)).0.into_iter().collect()
    }

    /// Steps that are enough to know which is unusual.
    pub(crate) fn steps(&self) -> Option<&Repeated> {
        let steps = || Repeated::new(&self.methods, &self.processes(), ENOUGH_STEPS);
        self.steps.get_or_init(steps).as_ref()
    }

    /// The kernel whose late calls take most, by its position in [`KernelNames::kernels`].
    pub(crate) fn late_calls(&self) -> Option<&(usize, LateCalls)> {
        let late = || {
            let Self { tables, names, .. } = self;
            let (order, kernels, steps) = (self.order(), self.kernels(), self.steps());
            LateInputs { tables, names, order, kernels, steps }.worst()
        };
        self.late_calls.get_or_init(late).as_ref()
    }

    /// Ranges and markers by name.
    pub fn ranges(&self) -> &RangeReport {
        self.ranges.get_or_init(|| match self.tables.ranges.is_empty() {
            true => RangeReport::default(),
            false => ranges::by_name(self.tables, self.order(), &self.methods.attribution()),
        })
    }
}
