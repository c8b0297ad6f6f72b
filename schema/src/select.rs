/// The parts of a trace to read. Name, track, start and duration of every op are always read; other columns cost time
/// and memory only if selected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Select {
    /// Ids of the source for every row.
    pub ids: bool,
    /// Launch shapes of dispatches, at least their sizes: half the cost of `launch`, which brings them too.
    pub shapes: bool,
    /// Launch shapes, LDS, scratch and kernel symbols of dispatches.
    pub launch: bool,
    /// Collectives as a framework or a library states them. Launch shapes bring them, too.
    pub collectives: bool,
    /// Threads, correlation ids and times of enqueueing: the columns that tie an op to the call that caused it.
    pub links: bool,
    /// Ranges and markers, and the range id that dispatches carry.
    pub ranges: bool,
    /// API calls.
    pub api: bool,
    /// The arguments of API calls.
    pub args: bool,
    /// Operators of a framework, and what its profiler states as its own work.
    pub operators: bool,
    /// Python functions and modules of a framework.
    pub python: bool,
    /// Allocations and releases, by a framework's allocator and from the runtime, and scratch events.
    pub memory: bool,
    /// Allocations, scratch events, counters, monitors and call stacks.
    pub secondary: bool,
}

impl Select {
    /// The whole file, for convert and merge.
    pub fn everything() -> Self {
        Self { ids: true, launch: true, args: true, python: true, secondary: true, ..Self::summary() }
    }

    /// The columns of rtl-summary's default report.
    pub fn summary() -> Self {
        Self { links: true, ranges: true, api: true, operators: true, memory: true, ..Self::ops() }
    }

    /// Ops alone: names, places and times.
    pub fn ops() -> Self {
        Self::default()
    }

    /// The parts of both.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self {
            ids: self.ids | other.ids,
            shapes: self.shapes | other.shapes,
            launch: self.launch | other.launch,
            collectives: self.collectives | other.collectives,
            links: self.links | other.links,
            ranges: self.ranges | other.ranges,
            api: self.api | other.api,
            args: self.args | other.args,
            operators: self.operators | other.operators,
            python: self.python | other.python,
            memory: self.memory | other.memory,
            secondary: self.secondary | other.secondary,
        }
    }

    /// True where it has every part of the other one.
    #[must_use]
    pub fn covers(self, other: Self) -> bool {
        self.union(other) == self
    }

    pub(crate) const fn allocations(&self) -> bool {
        self.memory || self.secondary
    }

    pub(crate) const fn any_collective(&self) -> bool {
        self.collectives || self.any_shape()
    }

    pub(crate) const fn any_shape(&self) -> bool {
        self.shapes || self.launch
    }
}
