//! Rows of `rocpd_op` and `rocpd_api`, with the place of each column.

use rtl_schema::table::{Details, Direction};

/// A text of the file: the id of its row in `rocpd_string`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StringId(pub(crate) i64);

impl StringId {
    /// The empty text, which every file has.
    pub const EMPTY: Self = Self(1);
    /// An id that no text has, for a name that dangled in the source.
    pub const DANGLING: Self = Self(-1);

    /// The id that columns of texts hold.
    #[must_use]
    pub fn number(self) -> i64 {
        self.0
    }
}

impl Default for StringId {
    fn default() -> Self {
        Self::EMPTY
    }
}

/// The kind of a row of `rocpd_op`: its `opType`. The texts are the first of every file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OpKind {
    /// A kernel that was launched by itself.
    #[default]
    KernelExecution,
    /// A kernel of a graph launch.
    Task,
    /// A copy from the host to a GPU.
    CopyHostToDevice,
    /// A copy from a GPU to the host.
    CopyDeviceToHost,
    /// A copy within a GPU or between two.
    CopyDeviceToDevice,
    /// A copy between two places of the host.
    CopyHostToHost,
    /// A copy whose way is unknown.
    Copy,
    /// A fill of memory with a value.
    FillBuffer,
    /// A barrier packet of a queue, which waits for signals.
    Barrier,
    /// A range or marker of the user.
    UserMarker,
}

impl OpKind {
    pub(crate) const LABELS: [&'static str; 10] = [
        "KernelExecution",
        "Task",
        "CopyHostToDevice",
        "CopyDeviceToHost",
        "CopyDeviceToDevice",
        "CopyHostToHost",
        "Copy",
        "FillBuffer",
        "Barrier",
        "UserMarker",
    ];

    pub(crate) fn text(self) -> StringId {
        StringId(StringId::EMPTY.0 + 1 + self as i64)
    }

    /// The type of copies that go this way.
    pub(crate) fn of_copy(direction: Direction) -> Self {
        match direction {
            Direction::HostToDevice => Self::CopyHostToDevice,
            Direction::DeviceToHost => Self::CopyDeviceToHost,
            Direction::DeviceToDevice => Self::CopyDeviceToDevice,
            Direction::HostToHost => Self::CopyHostToHost,
            Direction::Unknown => Self::Copy,
            Direction::Fill => Self::FillBuffer,
        }
    }
}

/// The value of hipMemcpyKind. It has none for a fill, which gets the type of such an op.
pub(crate) fn memcpy_kind(direction: Direction) -> i64 {
    match direction {
        Direction::HostToHost => 0,
        Direction::HostToDevice => 1,
        Direction::DeviceToHost => 2,
        Direction::DeviceToDevice => 3,
        Direction::Unknown => 4,
        Direction::Fill => OpKind::FillBuffer.text().0,
    }
}

pub(crate) fn address(address: u64) -> String {
    format!("0x{address:x}")
}

/// [`Op::symbol`] of a kernel with less information than others of its name.
pub const NO_SYMBOL: i64 = -1;

/// A row of `rocpd_op` in the file's own terms; `sql/tables.sql` says what each column means.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Op {
    /// `gpuId`: the number of the GPU, below -1 of another agent, -1 of a range.
    pub gpu: Option<i64>,
    /// `queueId`: the queue, 0 of a range.
    pub queue: Option<i64>,
    /// The start in ns.
    pub start: i64,
    /// The end in ns, if it was seen.
    pub end: Option<i64>,
    /// `description_id`: the kernel's name, or the text of a range.
    pub description: Option<StringId>,
    /// `opType_id`: the kind, by the id of its text.
    pub kind: OpKind,
    /// `roctxId`, 0 for none.
    pub range: i64,
    /// Launch size in work-items.
    pub items: Option<[u64; 3]>,
    /// Size of a work-group.
    pub workgroup: Option<[u32; 3]>,
    /// The id of the thread that enqueued it.
    pub tid: Option<i64>,
    /// Correlation id, 0 for unknown.
    pub correlation: i64,
    /// Id of the kernel's metadata row, where it is not the first one of its name; [`NO_SYMBOL`] if it has
    /// none although others of its name do.
    pub symbol: Option<i64>,
    /// LDS of a work-group in bytes.
    pub lds: Option<u32>,
    /// Scratch of a work-item in bytes.
    pub scratch: Option<u32>,
    /// `sequenceId`: of a range, 0 push and pop, 1 start and stop.
    pub sequence: Option<i64>,
    /// The process, where it is not the file's only one.
    pub pid: Option<i64>,
    /// The handle of the HIP stream.
    pub stream: Option<i64>,
    /// Bytes of a copy or fill.
    pub bytes: Option<u64>,
    /// `gpuId` of the other side of a copy.
    pub peer: Option<i64>,
    /// The class that the recorder gave a range.
    pub category: Option<StringId>,
    /// The last columns of the table.
    pub details: Details,
}

/// A row of `rocpd_api` in the file's own terms.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Call {
    /// The start in ns.
    pub start: i64,
    /// End minus start in ns, if the end was seen.
    pub duration: Option<i64>,
    /// The name of the function that was called.
    pub name: Option<StringId>,
    /// The id of the calling thread.
    pub tid: Option<i64>,
    /// Correlation id, 0 for unknown.
    pub correlation: i64,
    /// The library whose function it is.
    pub domain: Option<StringId>,
    /// Correlation id of the enclosing call, 0 for none.
    pub parent: i64,
    /// The handle of the HIP stream.
    pub stream: Option<i64>,
    /// The process, where it is not the file's only one.
    pub pid: Option<i64>,
    /// The recorder's finer class.
    pub category: Option<StringId>,
    /// All arguments as one text.
    pub args: Option<StringId>,
    /// The status that was returned, 0 for success or unknown.
    pub result: i64,
}

/// Columns of `rocpd_op` behind the id, in the order of a row, without [`Details`], which come last. The virtual column takes no place
/// in a row.
const OP_COLUMNS: [&str; 24] = [
    "gpuId",
    "queueId",
    "start",
    "end",
    "description_id",
    "opType_id",
    "roctxId",
    "gridX",
    "workgroupX",
    "tid",
    "correlationId",
    "lds",
    "scratch",
    "gridY",
    "workgroupY",
    "gridZ",
    "workgroupZ",
    "symbol",
    "sequenceId",
    "pid",
    "streamId",
    "bytes",
    "peer",
    "category_id",
];

/// Columns of `rocpd_api` behind the id.
const CALL_COLUMNS: [&str; 12] = [
    "start",
    "duration",
    "apiName_id",
    "tid",
    "correlationId",
    "domain_id",
    "parentId",
    "streamId",
    "pid",
    "category_id",
    "args_id",
    "result",
];

/// The places of columns in which rows of one template differ.
const fn places<const N: usize, const M: usize>(columns: [&str; N], wanted: [&str; M]) -> [usize; M] {
    let mut places = [0; M];
    let mut at = 0;
    while at < M {
        while !is_equal(columns[places[at]].as_bytes(), wanted[at].as_bytes()) {
            places[at] += 1;
        }
        at += 1;
    }
    places
}

const fn is_equal(one: &[u8], other: &[u8]) -> bool {
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}

pub(crate) const OP_DELTA_COLUMNS: [usize; 4] =
    places(OP_COLUMNS, ["start", "end", "gridX", "correlationId"]);
pub(crate) const CALL_DELTA_COLUMNS: [usize; 3] =
    places(CALL_COLUMNS, ["start", "duration", "correlationId"]);

/// A row of `rocpd_op` behind its id.
#[inline]
pub(crate) fn op_row(op: &Op) -> [Option<i64>; OP_COLUMNS.len() + Details::ALL.len()] {
    let &Op {
        gpu,
        queue,
        start,
        end,
        description,
        kind,
        range,
        items,
        workgroup,
        tid,
        correlation,
        symbol,
        lds,
        scratch,
        sequence,
        pid,
        stream,
        bytes,
        peer,
        category,
        details,
    } = op;
    // Beside a known x, NULL means 1: most launches then end at their x.
    let items = |axis: usize| items.map(|items| items[axis] as i64).filter(|&size| axis == 0 || size != 1);
    let group =
        |axis: usize| workgroup.map(|group| i64::from(group[axis])).filter(|&size| axis == 0 || size != 1);
    let mut row = [None; OP_COLUMNS.len() + Details::ALL.len()];
    let (columns, last) = row.split_at_mut(OP_COLUMNS.len());
    columns.copy_from_slice(&[
        gpu,
        queue,
        Some(start),
        end,
        text(description),
        text(Some(kind.text())),
        Some(range),
        items(0),
        group(0),
        tid,
        known(correlation),
        lds.map(i64::from),
        scratch.map(i64::from),
        items(1),
        group(1),
        items(2),
        group(2),
        symbol,
        sequence,
        pid,
        stream,
        bytes.map(|bytes| bytes as i64),
        peer,
        text(category),
    ]);
    last.copy_from_slice(&details.values());
    row
}

/// A row of `rocpd_api` behind its id. The virtual column takes no place in it.
#[inline]
pub(crate) fn call_row(call: &Call) -> [Option<i64>; CALL_COLUMNS.len()] {
    let &Call {
        start,
        duration,
        name,
        tid,
        correlation,
        domain,
        parent,
        stream,
        pid,
        category,
        args,
        result,
    } = call;
    [
        Some(start),
        duration,
        text(name),
        tid,
        known(correlation),
        text(domain),
        known(parent),
        stream,
        pid,
        text(category),
        text(args),
        known(result),
    ]
}

fn text(text: Option<StringId>) -> Option<i64> {
    text.map(|text| text.0)
}

/// Zero is unknown, and NULL is shorter at the end of a row.
fn known(id: i64) -> Option<i64> {
    Some(id).filter(|&id| id != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_the_columns_of_the_tables() {
        let database = rusqlite::Connection::open_in_memory().unwrap();
        database.execute_batch(include_str!("../../../../sql/tables.sql")).unwrap();
        let columns = |table: &str| -> Vec<String> {
            let sql = format!(
                "select name from pragma_table_xinfo('{table}') where pk = 0 and hidden = 0 order by cid"
            );
            let mut statement = database.prepare(&sql).unwrap();
            statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
        };
        let details = Details::ALL.map(|detail| detail.stored);
        assert_eq!(columns("rocpd_op"), [&OP_COLUMNS[..], &details].concat());
        assert_eq!(columns("rocpd_api"), CALL_COLUMNS);
    }
}
