//! Records as their writer takes them; times are ns.

/// The process of the records of a set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessIdentity {
    /// Five groups of hexadecimal digits, joined by `-`; unique in the file.
    pub guid: String,
    /// The number of the machine: `nid`.
    pub node: i64,
    /// The process id.
    pub pid: i64,
    /// The id of the parent process, if known.
    pub parent: Option<i64>,
}

/// The fields of every record.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Event<'a> {
    /// The kind of record: `KERNEL_DISPATCH`.
    pub category: &'a str,
    /// The correlation id of the record; 0 is unknown.
    pub correlation: i64,
    /// The correlation id of the record that caused it.
    pub parent: i64,
    /// The text of a range or marker.
    pub message: Option<&'a str>,
    /// The id of the thread; 0 is written for an unknown one.
    pub tid: Option<i64>,
    /// The start in ns.
    pub start: i64,
    /// The end in ns.
    pub end: i64,
    /// The handle of the HIP stream; the default one is written for an unknown one.
    pub stream: Option<i64>,
}

/// A kernel launch, a row of `rocpd_kernel_dispatch`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields are the columns")]
pub struct KernelDispatch {
    pub agent: i64,
    pub kernel: i64,
    pub dispatch: i64,
    pub queue: i64,
    pub scratch: Option<u32>,
    pub lds: Option<u32>,
    /// Zeros where unknown: the columns must have a value, and no launch has that.
    pub workgroup: [u32; 3],
    /// The grid in work-items.
    pub items: [u64; 3],
}

/// A copy or fill.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields are the columns")]
pub struct MemoryCopy<'a> {
    pub name: &'a str,
    pub destination: i64,
    pub destination_address: Option<u64>,
    pub source: i64,
    pub source_address: Option<u64>,
    pub bytes: Option<u64>,
}

/// An argument of a call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields are the columns")]
pub struct Argument<'a> {
    pub position: i64,
    pub kind: &'a str,
    pub name: &'a str,
    pub value: Option<&'a str>,
}

/// An allocation or scratch event.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields are the columns")]
pub struct MemoryAllocation<'a> {
    pub agent: Option<i64>,
    /// One of `ALLOC`, `FREE`, `REALLOC`, `RECLAIM`.
    pub kind: &'a str,
    /// One of `REAL`, `VIRTUAL`, `SCRATCH`.
    pub level: &'a str,
    pub address: Option<u64>,
    pub bytes: u64,
    pub queue: Option<i64>,
    pub flags: Option<i64>,
}
