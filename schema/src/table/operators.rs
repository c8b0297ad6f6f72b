use crate::column_set::columns;
use crate::{Column, Durations, Id, NameId, OptionalColumn, ProcessId};

columns! {
    /// One operator of a framework as its thread executed it (PyTorch's `cpu_op`). Operators of one thread nest by time.
    row Operator;
    /// All operators of a trace, in the order of the source.
    table Operators;
    columns {
        /// Id of the source, when selected.
        id: Id => Column<Id>,
        /// Executing process.
        process: ProcessId => Column<ProcessId>,
        /// Executing thread.
        tid: Option<i64> => OptionalColumn<i64>,
        /// Name, e.g. `aten::mm`.
        name: NameId => Vec<NameId>,
        /// Start in ns.
        start: i64 => Vec<i64>,
        /// End minus start in ns.
        duration: Option<i64> => Durations,
        /// Sizes of the inputs as the source's text; [`NameId::NONE`] where unknown.
        shapes: NameId => Column<NameId>,
        /// Types of the inputs as the source's text; [`NameId::NONE`] where unknown.
        types: NameId => Column<NameId>,
        /// Strides of the inputs as the source's text, when arguments are selected; [`NameId::NONE`] where unknown.
        strides: NameId => Column<NameId>,
        /// Values of the inputs as the source's text, when arguments are selected; [`NameId::NONE`] where unknown.
        values: NameId => Column<NameId>,
        /// Number of the node of the autograd graph that a forward operator made and a backward one executes.
        sequence: Option<u32> => OptionalColumn<u32>,
        /// The framework's number of the thread on which the forward operator ran; 0 and unknown mark a forward one.
        forward_thread: u32 => Column<u32>,
    }
    extra {}
}

impl Operators {
    /// Appends all rows of `other`.
    pub fn append(&mut self, mut other: Self) {
        self.append_columns(&mut other);
    }

    /// Keeps the rows whose flag is true.
    pub fn retain(&mut self, keep: &[bool]) {
        self.retain_columns(keep);
    }
}
