/// Which parts of a trace to read. What every report needs (name, place, start and duration of every op)
/// is always read; the rest costs time and memory only where it is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Select {
    /// Ids of the source for every row.
    pub ids: bool,
    /// Launch shapes of dispatches, at least their sizes: half the cost of `launch`, which brings them too.
    pub shapes: bool,
    /// Launch shapes, LDS, scratch and kernel symbols of dispatches.
    pub launch: bool,
    /// Threads, correlation ids and when ops were enqueued: what ties an op to the call that caused it.
    pub links: bool,
    /// Ranges and markers, and the range id that dispatches carry.
    pub ranges: bool,
    /// API calls.
    pub api: bool,
    /// The arguments of API calls.
    pub args: bool,
    /// Allocations, scratch events, counters, monitors and call stacks.
    pub secondary: bool,
}

impl Select {
    /// Everything that the file holds: what convert and merge need.
    pub const fn everything() -> Self {
        Self {
            ids: true,
            // They come with `launch`.
            shapes: false,
            launch: true,
            links: true,
            ranges: true,
            api: true,
            args: true,
            secondary: true,
        }
    }

    /// What the default report of rtl-summary needs.
    pub const fn summary() -> Self {
        Self {
            ids: false,
            shapes: false,
            launch: false,
            links: true,
            ranges: true,
            api: true,
            args: false,
            secondary: false,
        }
    }

    /// Ops alone: names, places and times.
    pub const fn ops() -> Self {
        Self {
            ids: false,
            shapes: false,
            launch: false,
            links: false,
            ranges: false,
            api: false,
            args: false,
            secondary: false,
        }
    }

    /// Whether dispatches have their launch shapes.
    pub(crate) const fn any_shape(&self) -> bool {
        self.shapes || self.launch
    }
}
