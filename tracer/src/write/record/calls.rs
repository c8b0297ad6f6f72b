//! Writes rows of calls.

use std::collections::HashMap;

use crate::base::call_interface::{Function, Source};
use rtl_write::{Call, CallDelta, CallTemplate, CopyParams, LaunchParams, StringId, Target};

use super::in_progress::InProgress;
use super::open_calls;
use super::recording_file::RecordingFile;
use crate::base::registry::place;
use crate::collect::recorder_state::RecorderState;
use crate::events::calls::call::CallParams;
use crate::events::calls::record::{CallRecord, Open};
use crate::events::calls::sources;

/// The state of a session for calls.
#[derive(Debug, Default)]
pub(super) struct Calls {
    /// Indexed by source and number.
    functions: [Vec<Option<FunctionColumns>>; Source::ALL.len()],
    /// The last call of each function, by source and number.
    last: [Vec<Option<Last>>; Source::ALL.len()],
    /// Small numbers of streams, by their addresses, in the order of their first use.
    streams: HashMap<u64, i64>,
    /// Calls in the file that had not returned, by source.
    unfinished: [u64; Source::ALL.len()],
    /// Calls that threads are in.
    pub(super) open: InProgress<Open>,
    /// Dispatches, copies and barriers in the file that were enqueued outside of any recorded call.
    unlinked: [u64; UNLINKED.len()],
}

/// The columns that all calls of a function share.
#[derive(Clone, Copy, Debug)]
struct FunctionColumns {
    name: StringId,
    domain: StringId,
    category: Option<StringId>,
}

/// The last written call of a function.
#[derive(Debug)]
struct Last {
    tid: u32,
    stream: u64,
    parent: u64,
    /// The row, if the call has no parameters, arguments or status that are rows of their own.
    row: Option<Call>,
    /// Empty until a call is repeated.
    template: CallTemplate,
}

const UNFINISHED: [&str; Source::ALL.len()] = ["hip_unfinished", "hsa_unfinished"];
const UNLINKED: [&str; 3] = ["unlinked", "copies_unlinked", "barriers_unlinked"];

impl Calls {
    /// Called before a dispatch, or an op of the kind `other`, is written; counts those without a call, whose `call` is 0.
    #[inline]
    pub(super) fn link(&mut self, other: Option<usize>, call: u64) {
        self.unlinked[other.map_or(0, |kind| 1 + kind)] += u64::from(call == 0);
    }

    /// The rows that each publication replaces.
    pub(super) fn closing(&self) -> Vec<(&'static str, String)> {
        let unfinished = UNFINISHED.into_iter().zip(self.unfinished);
        let counts = unfinished.chain(UNLINKED.into_iter().zip(self.unlinked));
        let counts = counts.filter(|&(_, count)| count > 0).map(|(tag, count)| (tag, count.to_string()));
        counts.chain(self.open.now.iter().map(open_calls::row)).collect()
    }
}

/// The `hipMemcpyKind` of a function whose name states it.
pub(super) fn copy_kind(function: Function) -> Option<i64> {
    let name = sources::name(function)?;
    let known = [
        ("HtoD", 1),
        ("HtoA", 1),
        ("DtoH", 2),
        ("AtoH", 2),
        ("DtoD", 3),
        ("DtoA", 3),
        ("AtoD", 3),
        ("AtoA", 3),
    ];
    let known = known.into_iter().chain([("ArrayToArray", 3), ("Peer", 3)]);
    known.into_iter().find(|(part, _)| name.contains(part)).map(|(_, kind)| kind)
}

impl Calls {
    pub(super) fn write<T: Target>(
        &mut self,
        source: Source,
        record: &CallRecord,
        file: &mut RecordingFile<T>,
        known: &RecorderState,
    ) -> rtl_schema::Result<()> {
        let &CallRecord { call, tid, .. } = record;
        let Some(duration) = call.duration() else {
            self.write_whole(source, record, file, known)?;
            self.unfinished[source as usize] += 1;
            return Ok(());
        };
        let is_plain = record.params.is_none() && record.arguments.is_none() && call.status == 0;
        let number = call.function.number();
        let last = self.last[source as usize].get_mut(number).and_then(Option::as_mut);
        let repeated = last
            .filter(|last| {
                is_plain && (last.tid, last.stream, last.parent) == (tid, call.stream, call.parent)
            })
            .and_then(|last| Some((last.row?, &mut last.template)));
        if let (Some(recording), Some((row, template))) = (&mut file.recording, repeated) {
            let (start, correlation) = (call.start, call.correlation as i64);
            let delta = CallDelta { start, duration, correlation };
            recording.push_call_templated(template, delta, || Call {
                start,
                duration: Some(duration),
                correlation,
                ..row
            })?;
            return Ok(());
        }
        let row = self.write_whole(source, record, file, known)?;
        let (stream, parent, row) = (call.stream, call.parent, is_plain.then_some(row));
        let last = Last { tid, stream, parent, row, template: CallTemplate::default() };
        *place(&mut self.last[source as usize], number) = Some(last);
        Ok(())
    }

    #[inline(never)]
    fn write_whole<T: Target>(
        &mut self,
        source: Source,
        record: &CallRecord,
        file: &mut RecordingFile<T>,
        known: &RecorderState,
    ) -> rtl_schema::Result<Call> {
        let call = &record.call;
        let FunctionColumns { name, domain, category } = self.function(source, call.function, file)?;
        let stream = if call.stream == 0 { None } else { Some(self.stream(call.stream, file)?) };
        let recording = file.register(record.tid, None, known)?;
        let args =
            record.arguments.as_deref().map(|arguments| recording.intern_transient(arguments)).transpose()?;
        let row = Call {
            start: call.start,
            duration: call.duration(),
            name: Some(name),
            tid: Some(i64::from(record.tid)),
            correlation: call.correlation as i64,
            domain: Some(domain),
            parent: call.parent as i64,
            stream,
            category,
            args,
            result: i64::from(call.status),
            ..Call::default()
        };
        let id = recording.push_call(&row)?;
        match record.params {
            Some(CallParams::Launch { groups, items, lds }) => {
                recording.push_launch_params(id, &LaunchParams { groups, items, lds })?;
            }
            Some(CallParams::Copy { destination, source, bytes, extent: [width, height], kind }) => {
                let kind = if kind < 0 { copy_kind(call.function) } else { Some(i64::from(kind)) };
                let extent = (height > 0).then_some((u64::from(width), u64::from(height)));
                recording.push_copy_params(id, &CopyParams { bytes, destination, source, kind, extent })?;
            }
            None => {}
        }
        if call.status != 0 {
            let [kind, name] = [sources::status(source), "return"].map(|text| recording.intern(text));
            let value = recording.intern(&call.status.to_string())?;
            recording.push_return_value(id, kind?, name?, value)?;
        }
        Ok(row)
    }

    fn function<T: Target>(
        &mut self,
        source: Source,
        function: Function,
        file: &mut RecordingFile<T>,
    ) -> rtl_schema::Result<FunctionColumns> {
        let none = match place(&mut self.functions[source as usize], function.number()) {
            Some(known) => return Ok(*known),
            none => none,
        };
        let recording = file.begun()?;
        let name = recording.intern(sources::name(function).unwrap_or_default())?;
        let domain = recording.intern(sources::domain(source))?;
        let category = sources::category(function).map(|category| recording.intern(category)).transpose()?;
        Ok(*none.insert(FunctionColumns { name, domain, category }))
    }

    /// The number of a stream; 0 is the default one.
    fn stream<T: Target>(&mut self, address: u64, file: &mut RecordingFile<T>) -> rtl_schema::Result<i64> {
        let number = self.streams.len() as i64 + 1;
        if let Some(&known) = self.streams.get(&address) {
            return Ok(known);
        }
        let row = serde_json::json!({ "pid": std::process::id(), "streamId": number, "address": address });
        file.begun()?.push_metadata("stream", &row.to_string())?;
        self.streams.insert(address, number);
        Ok(number)
    }
}
