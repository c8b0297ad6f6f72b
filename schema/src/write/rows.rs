/// A text of the file: the id of its row in `rocpd_string`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TextId(pub(super) i64);

impl TextId {
    /// The empty text, which every file has.
    pub const EMPTY: Self = Self(1);
    /// An id that no text has, for a name that dangled in the source.
    pub const DANGLING: Self = Self(-1);
}

impl Default for TextId {
    fn default() -> Self {
        Self::EMPTY
    }
}

/// A row of `rocpd_op` in the file's own terms; `sql/tables.sql` says what each column means.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Op {
    /// `gpuId`.
    pub gpu: Option<i64>,
    /// `queueId`.
    pub queue: Option<i64>,
    /// Start in ns.
    pub start: i64,
    /// End in ns, if it was seen.
    pub end: Option<i64>,
    /// `description_id`.
    pub description: Option<TextId>,
    /// `opType_id`.
    pub kind: TextId,
    /// `roctxId`, 0 for none.
    pub range: i64,
    /// Launch size in work-items.
    pub items: Option<[u64; 3]>,
    /// Size of a work-group.
    pub workgroup: Option<[u32; 3]>,
    /// Thread.
    pub tid: Option<i64>,
    /// Correlation id, 0 for unknown.
    pub correlation: i64,
    /// Id of the kernel's metadata row.
    pub symbol: Option<i64>,
    /// LDS in bytes.
    pub lds: Option<u32>,
    /// Scratch of a work-item in bytes.
    pub scratch: Option<u32>,
    /// `sequenceId`: of a range, 0 push and pop, 1 start and stop.
    pub sequence: Option<i64>,
    /// The process, where it is not the file's only one.
    pub pid: Option<i64>,
    /// HIP stream.
    pub stream: Option<i64>,
    /// Bytes of a copy or fill.
    pub bytes: Option<u64>,
    /// `gpuId` of the other side of a copy.
    pub peer: Option<i64>,
}

/// A row of `rocpd_api` in the file's own terms.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Call {
    /// The process, where it is not the file's only one.
    pub pid: Option<i64>,
    /// Thread.
    pub tid: Option<i64>,
    /// Start in ns.
    pub start: i64,
    /// End in ns, if it was seen.
    pub end: Option<i64>,
    /// The function's name.
    pub name: Option<TextId>,
    /// All arguments as one text.
    pub args: Option<TextId>,
    /// The recorder's finer class.
    pub category: Option<TextId>,
    /// The library.
    pub domain: Option<TextId>,
    /// Correlation id, 0 for unknown.
    pub correlation: i64,
    /// Correlation id of the enclosing call, 0 for none.
    pub parent: i64,
    /// HIP stream.
    pub stream: Option<i64>,
}
