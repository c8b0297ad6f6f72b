use super::row;
use crate::column_set::columns;
use crate::{Column, Durations, Id, NameId, OptionalColumn, ProcessId};

columns! {
    /// One call of HIP, HSA, RCCL or another traced library.
    row ApiCall;
    /// All API calls of a trace, in the order of the source.
    table ApiCalls;
    columns {
        /// Id of the source, when selected.
        id: Id => Column<Id>,
        /// Calling process.
        process: ProcessId => Column<ProcessId>,
        /// Calling thread.
        tid: Option<i64> => OptionalColumn<i64>,
        /// Function name.
        name: NameId => Vec<NameId>,
        /// Library or layer: `hip`, `HIP_RUNTIME_API_EXT`; [`NameId::NONE`] where unknown.
        domain: NameId => Column<NameId>,
        /// The source's finer class, `NONE` where unknown.
        category: NameId => Column<NameId>,
        /// All arguments as one text, when selected; `NONE` where unknown.
        args: NameId => Column<NameId>,
        /// Start in ns.
        start: i64 => Vec<i64>,
        /// End minus start in ns.
        duration: Option<i64> => Durations,
        /// Correlation id, shared with the ops that the call caused; 0 is unknown.
        correlation: Id => Column<Id>,
        /// Correlation id of the enclosing call; 0 is none.
        parent: Id => Column<Id>,
        /// HIP stream argument.
        stream: Option<i64> => OptionalColumn<i64>,
        /// Returned status (`hipError_t`, `hsa_status_t`); 0 is success or unknown.
        result: i64 => Column<i64>,
    }
    extra {
        /// Named arguments, when selected, in the order of their calls.
        pub arguments: Vec<ApiArgument>,
        /// Stored launch and copy parameters, when selected, in the order of their calls.
        pub launches: Vec<ApiLaunch>,
    }
}

row! {
    /// One named argument of a call, where the source keeps them apart (rocprofv3).
    #[derive(Debug, Clone, Copy, Default, PartialEq)]
    pub struct ApiArgument {
        /// Row of the call in [`ApiCalls`].
        pub call: u32,
        /// Position, from 0.
        pub position: u32,
        /// The C type of the argument.
        pub kind: NameId,
        /// The name of the parameter, as ROCm declares it.
        pub name: NameId,
        /// The value as the recorder printed it.
        pub value: NameId,
    }
}

row! {
    /// Stored launch or copy parameters of a call (`rocpd_kernelapi`, `rocpd_copyapi`).
    #[derive(Debug, Clone, Copy, Default, PartialEq)]
    pub struct ApiLaunch {
        /// Row of the call in [`ApiCalls`].
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
        /// Requested direction of a copy.
        pub direction: super::Direction,
        /// Destination and source address of a copy.
        pub addresses: Option<(u64, u64)>,
        /// Destination and source device of a copy, as the source numbers them.
        pub devices: Option<(i64, i64)>,
        /// True where the call returned after the copy.
        pub sync: bool,
        /// True where the host memory was pinned.
        pub pinned: bool,
    }
}

impl ApiCalls {
    /// Appends all rows of `other`, with their arguments and launches.
    pub fn append(&mut self, mut other: Self) {
        let rows = self.len() as u32;
        other.arguments.iter_mut().for_each(|argument| argument.call = argument.call.saturating_add(rows));
        other.launches.iter_mut().for_each(|launch| launch.call = launch.call.saturating_add(rows));
        self.arguments.append(&mut other.arguments);
        self.launches.append(&mut other.launches);
        self.append_columns(&mut other);
    }

    /// Keeps the rows whose flag is true, with their arguments and launches.
    pub fn retain(&mut self, keep: &[bool]) {
        let mut moved = Vec::with_capacity(keep.len());
        let mut next = 0_u32;
        for &kept in keep {
            moved.push(kept.then_some(next));
            next += u32::from(kept);
        }
        self.arguments.retain_mut(|argument| renumber(&mut argument.call, &moved));
        self.launches.retain_mut(|launch| renumber(&mut launch.call, &moved));
        self.retain_columns(keep);
    }
}

fn renumber(call: &mut u32, moved: &[Option<u32>]) -> bool {
    let new = moved.get(*call as usize).copied().flatten();
    *call = new.unwrap_or(*call);
    new.is_some()
}
