//! Calls that have gathered for a callback.

use std::ffi::{CStr, CString};
use std::ptr;

use calls::{Function, Source};

use super::{BATCH, length, spoken};
use crate::calls::reader::Told;
use crate::calls::sources;
use crate::embed::abi;

/// What has gathered, and what the records point to.
#[derive(Default)]
pub(super) struct Calls {
    pub(super) records: Vec<abi::Call>,
    arguments: Vec<CString>,
    counts: [u64; Source::ALL.len()],
    /// By source and number.
    names: [Vec<Option<CString>>; Source::ALL.len()],
}

impl Calls {
    pub(super) fn add(&mut self, source: Source, told: &Told) {
        let call = &told.call;
        let (arguments, arguments_length) = match &told.arguments {
            None => (ptr::null(), 0),
            Some(arguments) => {
                self.arguments.push(spoken(arguments));
                // Where the text lies does not change with the list.
                self.arguments.last().map_or((ptr::null(), 0), |text| (text.as_ptr(), length(text)))
            }
        };
        let function = self.name(source, call.function);
        let (function, function_length) = (function.as_ptr(), length(function));
        self.counts[source as usize] += 1;
        self.records.push(abi::Call {
            start: call.start,
            end: call.end,
            correlation_id: call.correlation,
            parent_id: call.parent,
            stream: call.stream,
            domain: domain(source).as_ptr(),
            function,
            arguments,
            function_length,
            arguments_length,
            status: call.status,
            tid: told.tid,
        });
    }

    /// Whether it is time to deliver them.
    pub(super) fn are_many(&self) -> bool {
        self.records.len() >= BATCH
    }

    /// How many there are of each source.
    pub(super) fn counts(&self) -> [u64; Source::ALL.len()] {
        self.counts
    }

    pub(super) fn clear(&mut self) {
        self.records.clear();
        self.arguments.clear();
        self.counts = Default::default();
    }

    fn name(&mut self, source: Source, function: Function) -> &CString {
        let (names, number) = (&mut self.names[source as usize], function.number());
        if number >= names.len() {
            names.resize(number + 1, None);
        }
        names[number].get_or_insert_with(|| spoken(sources::name(function).unwrap_or_default()))
    }
}

const fn domain(source: Source) -> &'static CStr {
    match source {
        Source::Hip => c"HIP",
        Source::Hsa => c"HSA",
    }
}
