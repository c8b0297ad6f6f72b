//! Collects calls for a callback.

use std::ffi::{CStr, CString};
use std::ptr;

use crate::base::call_interface::{Function, Source};

use super::super::calls::copy_kind;
use super::text::{length, spoken};
use crate::base::abi;
use crate::base::registry::place;
use crate::events::calls::call::CallParams;
use crate::events::calls::record::CallRecord;
use crate::events::calls::sources;

/// Records of calls, with the memory that they point to.
#[derive(Default)]
pub(super) struct Calls {
    records: Vec<abi::Call>,
    /// Each with the index of its call among the records.
    launches: Vec<(usize, abi::LaunchParams)>,
    copies: Vec<(usize, abi::CopyParams)>,
    arguments: Vec<CString>,
    /// Number of calls by source.
    pub(super) counts: [u64; Source::ALL.len()],
    /// Indexed by source and number.
    names: [Vec<Option<CString>>; Source::ALL.len()],
}

impl Calls {
    pub(super) fn add(&mut self, source: Source, record: &CallRecord) {
        let call = &record.call;
        let (arguments, arguments_length) = match &record.arguments {
            None => (ptr::null(), 0),
            Some(arguments) => {
                self.arguments.push(spoken(arguments));
                // The text itself does not move when the list grows.
                self.arguments.last().map_or((ptr::null(), 0), |text| (text.as_ptr(), length(text)))
            }
        };
        match record.params {
            Some(CallParams::Launch { groups, items, lds }) => {
                let launch = abi::LaunchParams { groups, workgroup: items, lds };
                self.launches.push((self.records.len(), launch));
            }
            Some(CallParams::Copy { destination, source, bytes, extent, kind }) => {
                let [width, height] = extent.map(u64::from);
                let named = if kind < 0 { copy_kind(call.function) } else { None };
                let kind = named.map_or(kind, |kind| kind as i32);
                let is_fill = u32::from(source.is_none());
                let source = source.unwrap_or(0);
                let copy = abi::CopyParams { bytes, destination, source, width, height, kind, is_fill };
                self.copies.push((self.records.len(), copy));
            }
            None => {}
        }
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
            launch: ptr::null(),
            copy: ptr::null(),
            function_length,
            arguments_length,
            status: call.status,
            tid: record.tid,
        });
    }

    /// The records, complete with their pointers.
    pub(super) fn records(&mut self) -> &mut Vec<abi::Call> {
        // Pointers are set only now, because lists move as they grow.
        for (at, launch) in &self.launches {
            self.records[*at].launch = launch;
        }
        for (at, copy) in &self.copies {
            self.records[*at].copy = copy;
        }
        &mut self.records
    }

    pub(super) fn count(&self) -> usize {
        self.records.len()
    }

    pub(super) fn clear(&mut self) {
        self.records.clear();
        self.launches.clear();
        self.copies.clear();
        self.arguments.clear();
        self.counts = Default::default();
    }

    fn name(&mut self, source: Source, function: Function) -> &CString {
        let name = place(&mut self.names[source as usize], function.number());
        name.get_or_insert_with(|| spoken(sources::name(function).unwrap_or_default()))
    }
}

const fn domain(source: Source) -> &'static CStr {
    match source {
        Source::Hip => c"HIP",
        Source::Hsa => c"HSA",
    }
}
