use crate::column_set::columns;
use crate::{Column, Durations, Id, NameId, OptionalColumn, ProcessId};

columns! {
    /// One Python function or module of a framework as its thread executed it. Frames of one thread nest by time.
    row PythonFrame;
    /// All Python frames of a trace, in the order of the source.
    table PythonFrames;
    columns {
        /// Id of the source, when selected.
        id: Id => Column<Id>,
        /// Executing process.
        process: ProcessId => Column<ProcessId>,
        /// Executing thread.
        tid: Option<i64> => OptionalColumn<i64>,
        /// File, line and function, or `nn.Module: ` and the name of a module.
        name: NameId => Vec<NameId>,
        /// Start in ns.
        start: i64 => Vec<i64>,
        /// End minus start in ns.
        duration: Option<i64> => Durations,
        /// The source's number of the frame.
        number: Option<u32> => OptionalColumn<u32>,
        /// The source's number of the frame that called it.
        caller: Option<u32> => OptionalColumn<u32>,
        /// The source's number of the module among those of its class.
        module: Option<u32> => OptionalColumn<u32>,
    }
    extra {}
}

impl PythonFrames {
    /// The beginning of the names of modules.
    pub const MODULE: &'static str = "nn.Module: ";

    /// Appends all rows of `other`.
    pub fn append(&mut self, mut other: Self) {
        self.append_columns(&mut other);
    }

    /// Keeps the rows whose flag is true.
    pub fn retain(&mut self, keep: &[bool]) {
        self.retain_columns(keep);
    }
}
