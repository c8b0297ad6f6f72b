use crate::{Column, Durations, Id, NameId, ProcessId};

/// One call of HIP, HSA, RCCL or another traced library.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ApiCall {
    /// The id of the source.
    pub id: Id,
    /// The calling process.
    pub process: ProcessId,
    /// The calling thread.
    pub tid: Option<i64>,
    /// The function's name.
    pub name: NameId,
    /// The library or layer: `hip`, `HIP_RUNTIME_API_EXT`; [`NameId::NONE`] where unknown.
    pub domain: NameId,
    /// The source's own finer class, `NONE` where unknown.
    pub category: NameId,
    /// All arguments as one text, `NONE` where unknown.
    pub args: NameId,
    /// Start in ns.
    pub start: i64,
    /// End minus start in ns.
    pub duration: Option<i64>,
    /// Ties it to the ops it caused; 0 is unknown.
    pub correlation: Id,
    /// The correlation id of the call it was made from; 0 is none.
    pub parent: Id,
    /// The HIP stream it was given.
    pub stream: Option<i64>,
    /// The status that it returned (`hipError_t`, `hsa_status_t`); 0 is success or unknown.
    pub result: i64,
}

/// One named argument of a call, where the source keeps them apart (rocprofv3).
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ApiArgument {
    /// The row of the call in [`ApiCalls`].
    pub call: u32,
    /// Position, from 0.
    pub position: u32,
    /// Its C type.
    pub kind: NameId,
    /// Its name.
    pub name: NameId,
    /// Its value as text.
    pub value: NameId,
}

/// What a source stores about the launch or copy that a call asked for (`rocpd_kernelapi`, `rocpd_copyapi`).
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ApiLaunch {
    /// The row of the call in [`ApiCalls`].
    pub call: u32,
    /// The kernel launched; `NONE` for a copy.
    pub kernel: NameId,
    /// The launch shape, if known.
    pub shape: Option<crate::ShapeId>,
    /// The HIP stream as stored text.
    pub stream: NameId,
    /// Bytes of a copy, if stored.
    pub bytes: Option<u64>,
    /// Width and height of a 2D copy.
    pub extent: Option<(u64, u64)>,
    /// The way a copy was asked to go.
    pub direction: super::Direction,
    /// Destination and source address of a copy.
    pub addresses: Option<(u64, u64)>,
    /// Destination and source device of a copy, as the source numbers them.
    pub devices: Option<(i64, i64)>,
    /// Whether the copy was synchronous.
    pub sync: bool,
    /// Whether host memory was pinned.
    pub pinned: bool,
}

/// All API calls of a trace, in the order of the source.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ApiCalls {
    /// Ids of the source, when selected.
    pub id: Column<Id>,
    /// Calling processes.
    pub process: Column<ProcessId>,
    /// Calling threads.
    pub tid: Column<Option<i64>>,
    /// Function names.
    pub name: Vec<NameId>,
    /// Domains.
    pub domain: Column<NameId>,
    /// Categories.
    pub category: Column<NameId>,
    /// Arguments as text, when selected.
    pub args: Column<NameId>,
    /// Starts in ns.
    pub start: Vec<i64>,
    /// Durations in ns.
    pub duration: Durations,
    /// Correlation ids, 0 where unknown.
    pub correlation: Column<Id>,
    /// Correlation ids of the enclosing calls, 0 where none.
    pub parent: Column<Id>,
    /// HIP streams.
    pub stream: Column<Option<i64>>,
    /// Returned statuses, 0 for success or unknown.
    pub result: Column<i64>,
    /// Named arguments, when selected, in the order of their calls.
    pub arguments: Vec<ApiArgument>,
    /// What is stored about launches and copies, when selected, in the order of their calls.
    pub launches: Vec<ApiLaunch>,
}

impl ApiCalls {
    /// Appends a row.
    #[inline]
    pub fn push(&mut self, row: ApiCall) {
        self.id.push(row.id);
        self.process.push(row.process);
        self.tid.push(row.tid);
        self.name.push(row.name);
        self.domain.push(row.domain);
        self.category.push(row.category);
        self.args.push(row.args);
        self.start.push(row.start);
        self.duration.push(row.duration);
        self.correlation.push(row.correlation);
        self.parent.push(row.parent);
        self.stream.push(row.stream);
        self.result.push(row.result);
    }

    /// The row at `row`.
    pub fn get(&self, row: usize) -> ApiCall {
        ApiCall {
            id: self.id.get(row),
            process: self.process.get(row),
            tid: self.tid.get(row),
            name: self.name[row],
            domain: self.domain.get(row),
            category: self.category.get(row),
            args: self.args.get(row),
            start: self.start[row],
            duration: self.duration.get(row),
            correlation: self.correlation.get(row),
            parent: self.parent.get(row),
            stream: self.stream.get(row),
            result: self.result.get(row),
        }
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.name.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.name.is_empty()
    }

    /// All rows in order.
    pub fn iter(&self) -> impl Iterator<Item = ApiCall> + '_ {
        (0..self.len()).map(|row| self.get(row))
    }

    /// Keeps the rows for which `keep` says true, with their arguments and launches.
    pub fn retain(&mut self, keep: &[bool]) {
        let mut moved = Vec::with_capacity(keep.len());
        let mut next = 0_u32;
        for &kept in keep {
            moved.push(kept.then_some(next));
            next += u32::from(kept);
        }
        self.arguments.retain_mut(|argument| renumber(&mut argument.call, &moved));
        self.launches.retain_mut(|launch| renumber(&mut launch.call, &moved));
        let kept: Self = (0..self.len()).filter(|&row| keep[row]).map(|row| self.get(row)).collect();
        *self = Self {
            arguments: std::mem::take(&mut self.arguments),
            launches: std::mem::take(&mut self.launches),
            ..kept
        };
    }
}

impl FromIterator<ApiCall> for ApiCalls {
    fn from_iter<I: IntoIterator<Item = ApiCall>>(rows: I) -> Self {
        let mut calls = Self::default();
        rows.into_iter().for_each(|row| calls.push(row));
        calls
    }
}

fn renumber(call: &mut u32, moved: &[Option<u32>]) -> bool {
    let new = moved.get(*call as usize).copied().flatten();
    *call = new.unwrap_or(*call);
    new.is_some()
}
