//! Inputs of pictures: how figures of a report develop over time, reduced to a size that does not grow with the trace.
//!
//! [`Timeline`] has the ops of GPUs at several levels of detail, [`Pace`] the durations of kernels over time, [`Arrivals`]
//! how late ranks come to collectives, and [`MemoryOverTime`] the memory in use.

mod levels;
mod memory;
mod pace;
mod timeline;

pub use self::levels::{Cell, Item, Level};
pub use self::memory::MemoryOverTime;
pub use self::pace::Pace;
pub use self::timeline::{DrawnOp, Timeline, TimelineGpu};
use crate::Analysis;
use crate::ranks;
pub use crate::ranks::arrivals::Arrivals;

impl Analysis<'_> {
    /// The ops of each GPU over time; `None` without any.
    #[must_use]
    pub fn timeline(&self) -> Option<Timeline> {
        timeline::timeline(self)
    }

    /// The durations over time of the kernels with most time.
    #[must_use]
    pub fn pace(&self) -> Vec<Pace> {
        pace::pace(self)
    }

    /// How late each rank comes to collectives; `None` where no collective of several ranks was matched.
    #[must_use]
    pub fn arrivals(&self) -> Option<Arrivals> {
        ranks::arrivals::arrivals(self.tables, self.order(), &self.names)
    }

    /// Memory in use over time, in the order of [`crate::gpu_time::memory::by_device`].
    #[must_use]
    pub fn memory_over_time(&self) -> Vec<MemoryOverTime> {
        memory::memory_over_time(self.tables)
    }

    /// Position of each kernel of `names` in [`Analysis::kernels`].
    fn positions_by_total(&self) -> Vec<usize> {
        let by_label: rustc_hash::FxHashMap<&str, usize> =
            self.kernels().iter().enumerate().map(|(at, group)| (&*group.label, at)).collect();
        let position = |kernel: &crate::names::kernel_index::Kernel| by_label.get(&*kernel.label).copied();
        // A kernel without a valid duration is in no group.
        self.names.kernels.iter().map(|kernel| position(kernel).unwrap_or(usize::MAX)).collect()
    }
}
