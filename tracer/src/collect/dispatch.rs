//! One completed dispatch, as the collector hands it to the recorder.

/// Position in the registry of [`crate::base::kernels::Kernel`]s. Two kernels that were loaded at the same address one after the
/// other have different ids.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KernelId(pub u32);

impl KernelId {
    /// Stands for no kernel: the packet is a barrier.
    pub const BARRIER: Self = Self(u32::MAX);
}

/// Position in the registry of [`Queue`]s, which counts from 0 in the order of their creation. Queues that had an address one
/// after the other are different.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QueueOrdinal(pub u32);

/// A queue that the application created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Queue {
    /// The GPU's [`crate::base::gpus::Gpu::number`].
    pub gpu: u16,
    /// Address of the `hsa_queue_t`.
    pub address: u64,
    /// Address of the packets: `hsa_queue_t::base_address`.
    pub hardware: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dispatch {
    /// In ns of CLOCK_BOOTTIME.
    pub start: i64,
    /// In ns of CLOCK_BOOTTIME; after `start`.
    pub end: i64,
    /// Unique within the process, from 1, rising in the order of submission within a queue.
    pub correlation: u64,
    /// Time of the submission in ns of CLOCK_BOOTTIME; 0 where that is not recorded.
    pub enqueued: i64,
    /// The innermost range in which it was submitted; 0 for none.
    pub range: u64,
    pub kernel: KernelId,
    pub queue: QueueOrdinal,
    /// The thread that submitted it.
    pub tid: u32,
    /// Work-items.
    pub grid: [u32; 3],
    /// LDS of a work-group in bytes, static and dynamic.
    pub lds: u32,
    /// Scratch memory of a work-item in bytes.
    pub scratch: u32,
    /// Work-items of a work-group.
    pub workgroup: [u16; 3],
    /// The GPU's [`crate::base::gpus::Gpu::number`].
    pub gpu: u16,
}

/// A dispatch that has not completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InFlight {
    /// The dispatch, without times.
    pub dispatch: Dispatch,
    /// Time in ns of CLOCK_BOOTTIME at which it was first seen as the oldest of its queue.
    pub since: i64,
}

// A dispatch is copied twice on its way to the file, so its size matters.
const _: () = assert!(size_of::<Dispatch>() <= 80);
