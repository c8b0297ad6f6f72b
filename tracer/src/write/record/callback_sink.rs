//! A sink that passes records to the program's own callbacks in batches, in place of a file.

#![expect(unsafe_code, reason = "calls the program's callbacks")]

mod calls;
mod copies_and_barriers;
mod name_records;
mod text;

use std::ffi::{CString, c_char, c_void};
use std::sync::Arc;

use self::calls::Calls;
use self::name_records::NameRecords;
use self::text::{length, spoken};
use super::sink::{Ending, Sink};
use crate::base::abi::{self, Callbacks, Deliver};
use crate::base::counters::{Counters, Lost, Skipped, UNHANDED};
use crate::base::kernels::Kernel;
use crate::base::kernels::descriptor::Resources;
use crate::base::kernels::names::Names;
use crate::base::registry::place;
use crate::collect::copy_or_barrier::CopyOrBarrier;
use crate::collect::dispatch::{Dispatch, Queue, QueueOrdinal};
use crate::collect::recorder_state::RecorderState;
use crate::events::calls::record::CallRecord;
use crate::events::ranges::{Annotation, NOT_KEPT, Text};
use crate::events::reader::{Reader, RecordSink};
use crate::write::{callback, callback_counters};

/// Records of a kind that are delivered at once.
const BATCH: usize = 1024;

pub(super) struct CallbackSink {
    to: &'static Callbacks,
    known: Arc<RecorderState>,
    /// Indexed by kernel id. The addresses that records hold stay valid.
    kernels: Vec<Option<NamedKernel>>,
    names: Names,
    queues: Vec<Arc<Queue>>,
    /// Indexed by the number of the text.
    texts: Vec<Option<CString>>,
    batches: Batches,
    calls: Calls,
    /// `None` where the program has no callback for names.
    name_records: Option<NameRecords>,
    /// Empty between uses, kept for its capacity.
    copies_and_barriers: Vec<CopyOrBarrier>,
    /// The reason why nothing more is delivered.
    over: Option<Lost>,
    /// Set when the last callback has been called.
    has_ended: bool,
    ending: Ending,
}

struct Batches {
    kernels: Batch<abi::Kernel>,
    copies: Batch<abi::Copy>,
    barriers: Batch<abi::Barrier>,
    ranges: Batch<abi::Range>,
}

/// Records of a kind, with their callback and their counters.
struct Batch<T> {
    records: Vec<T>,
    to: Option<Deliver<T>>,
    counters: fn(&RecorderState) -> &Counters,
}

impl<T> Batch<T> {
    const fn new(to: Option<Deliver<T>>, counters: fn(&RecorderState) -> &Counters) -> Self {
        Self { records: Vec::new(), to, counters }
    }

    /// Counts the records as lost instead of delivering them.
    fn lose(&mut self, why: Lost, known: &RecorderState) {
        (self.counters)(known).lose(why, self.records.drain(..).count() as u64);
    }
}

struct NamedKernel {
    name: CString,
    mangled: CString,
    resources: Resources,
}

impl CallbackSink {
    pub(super) fn new(to: &'static Callbacks, known: Arc<RecorderState>) -> Self {
        Self {
            to,
            known,
            kernels: Vec::new(),
            names: Names::default(),
            queues: Vec::new(),
            texts: Vec::new(),
            batches: Batches {
                kernels: Batch::new(to.kernels, |known| &known.counters),
                copies: Batch::new(to.copies, |known| &known.copies),
                barriers: Batch::new(to.barriers, |known| &known.barriers),
                ranges: Batch::new(to.ranges, |known| &known.ranges),
            },
            calls: Calls::default(),
            name_records: to.names.is_some().then(NameRecords::default),
            copies_and_barriers: Vec::new(),
            over: None,
            has_ended: false,
            ending: Ending::default(),
        }
    }

    fn kernel(&mut self, dispatch: &Dispatch) -> abi::Kernel {
        let named = place(&mut self.kernels, dispatch.kernel.0 as usize).get_or_insert_with(|| {
            let kernel = self.known.kernels.get(dispatch.kernel.0).unwrap_or_default();
            NamedKernel::new(&kernel, &mut self.names)
        });
        abi::Kernel {
            start: dispatch.start,
            end: dispatch.end,
            enqueued: dispatch.enqueued,
            correlation_id: dispatch.correlation,
            range_id: dispatch.range,
            name: named.name.as_ptr(),
            mangled: named.mangled.as_ptr(),
            queue: address(&mut self.queues, dispatch.queue, &self.known),
            name_length: length(&named.name),
            mangled_length: length(&named.mangled),
            kernel_id: dispatch.kernel.0,
            gpu: dispatch.gpu.into(),
            queue_id: dispatch.queue.0,
            tid: dispatch.tid,
            grid: dispatch.grid,
            workgroup: dispatch.workgroup.map(u32::from),
            lds: dispatch.lds,
            scratch: dispatch.scratch,
            vgprs: named.resources.vgprs.unwrap_or_default(),
            agprs: named.resources.agprs.unwrap_or_default(),
            sgprs: named.resources.sgprs.unwrap_or_default(),
            reserved: 0,
        }
    }

    fn range(&mut self, annotation: &Annotation) -> Option<abi::Range> {
        let &Annotation::Range { number: range_id, text, tid, start, end, kind } = annotation else {
            return None;
        };
        let (text, text_length) = self.text(text);
        let end = end.unwrap_or(0);
        Some(abi::Range { start, end, range_id, text, text_length, tid, kind, reserved: 0 })
    }

    fn text(&mut self, text: &'static Text) -> (*const c_char, u32) {
        if text.number == NOT_KEPT.number {
            self.known.ranges.leave_unnamed();
        }
        let text = place(&mut self.texts, text.number as usize).get_or_insert_with(|| spoken(&text.spoken()));
        (text.as_ptr(), length(text))
    }

    /// Names a thread before its first record is delivered.
    #[inline]
    fn register(&mut self, tid: u32) {
        if let Some(names) = &mut self.name_records {
            names.register(tid);
        }
    }

    /// Called before any other record is delivered, because names come first.
    fn deliver_names(&mut self) {
        if let Some(names) = &mut self.name_records
            && !matches!(self.over, Some(Lost::Failure | Lost::Ended))
        {
            names.list(&self.known.gpus);
            deliver(self.to.names, &mut names.records, self.to.data);
            names.clear();
        }
    }

    fn deliver<T>(&mut self, batch: fn(&mut Batches) -> &mut Batch<T>) {
        self.deliver_names();
        let Batch { records, to, counters } = batch(&mut self.batches);
        let count = deliver(*to, records, self.to.data);
        counters(&self.known).record(count);
    }

    /// Adds a record to its batch, which is delivered when it is full.
    fn gather<T>(&mut self, record: T, batch: fn(&mut Batches) -> &mut Batch<T>) {
        let records = &mut batch(&mut self.batches).records;
        records.push(record);
        if records.len() >= BATCH {
            self.deliver(batch);
        }
    }

    fn deliver_calls(&mut self) {
        self.deliver_names();
        let counts = self.calls.counts;
        deliver(self.to.calls, self.calls.records(), self.to.data);
        for (counters, count) in self.known.calls.iter().zip(counts) {
            counters.record(count);
        }
        self.calls.clear();
    }

    /// Calls the last callback.
    fn end(&mut self) {
        if let Some(ended) = self.to.ended.filter(|_| !self.has_ended) {
            let counters = callback_counters::read(&self.known);
            callback::run(|| call_last(ended, &counters, self.to.data));
        }
        self.has_ended = true;
    }
}

impl RecordSink for CallbackSink {
    fn annotate(&mut self, annotation: &Annotation) {
        if matches!(annotation, Annotation::Untracked) {
            return self.known.ranges.lose(Lost::Bounds, 1);
        }
        if let (&Annotation::Name { what, number, text }, Some(names)) = (annotation, &mut self.name_records)
        {
            return names.add_given(what, number, &text.spoken());
        }
        if self.to.ranges.is_none() {
            return;
        }
        match (self.over, self.range(annotation)) {
            (_, None) => {}
            (Some(why), Some(_)) => self.known.ranges.lose(why, 1),
            (None, Some(range)) => {
                self.register(range.tid);
                self.gather(range, |batches| &mut batches.ranges);
            }
        }
    }

    fn add_call(&mut self, record: &CallRecord) {
        let Some(source) = record.call.function.source() else { return };
        // Only completed calls are delivered.
        if record.call.duration().is_none() {
            return;
        }
        match (self.over, self.to.calls) {
            (_, None) => self.known.calls[source as usize].skip(Skipped::Unwanted, 1),
            (Some(why), _) => self.known.calls[source as usize].lose(why, 1),
            (None, Some(_)) => {
                self.register(record.tid);
                self.calls.add(source, record);
                if self.calls.count() >= BATCH {
                    self.deliver_calls();
                }
            }
        }
    }
}

impl Sink for CallbackSink {
    fn add(&mut self, dispatch: &Dispatch) {
        if let Some(why) = self.over {
            return self.known.counters.lose(why, 1);
        }
        if self.to.kernels.is_none() {
            return self.known.counters.skip(Skipped::Unwanted, 1);
        }
        self.register(dispatch.tid);
        let kernel = self.kernel(dispatch);
        self.gather(kernel, |batches| &mut batches.kernels);
    }

    fn add_copies_and_barriers(&mut self) {
        let mut copies_and_barriers = std::mem::take(&mut self.copies_and_barriers);
        self.known.copies_and_barriers.take(&mut copies_and_barriers);
        copies_and_barriers.iter().for_each(|op| self.add_copy_or_barrier(op));
        copies_and_barriers.clear();
        self.copies_and_barriers = copies_and_barriers;
    }

    fn complete(&mut self, _events: &mut Reader) {
        self.publish();
    }

    fn publish(&mut self) {
        if callback::are_stopped() {
            self.give_up(Lost::Ended, "the program has stopped it");
            return self.end();
        }
        self.deliver(|batches| &mut batches.kernels);
        self.deliver(|batches| &mut batches.copies);
        self.deliver(|batches| &mut batches.barriers);
        self.known.ranges.take_over(&UNHANDED);
        self.deliver(|batches| &mut batches.ranges);
        self.deliver_calls();
    }

    fn give_up(&mut self, why: Lost, reason: &str) {
        if self.over.is_some() {
            return;
        }
        self.over = Some(why);
        self.ending.failure.get_or_insert_with(|| reason.to_owned());
        if matches!(why, Lost::Failure | Lost::Ended) {
            self.batches.kernels.lose(why, &self.known);
            self.batches.copies.lose(why, &self.known);
            self.batches.barriers.lose(why, &self.known);
            self.batches.ranges.lose(why, &self.known);
            for (counters, count) in self.known.calls.iter().zip(self.calls.counts) {
                counters.lose(why, count);
            }
            self.calls.clear();
        }
    }

    fn close(&mut self) {
        self.publish();
        if self.over == Some(Lost::Failure) {
            for counters in [&self.known.counters, &self.known.copies, &self.known.barriers] {
                counters.lose(Lost::Failure, counters.snapshot().on_the_way());
            }
        }
        // Calls that have not returned by now are not recorded any more.
        for counters in &self.known.calls {
            counters.lose(Lost::Unfinished, counters.snapshot().on_the_way());
        }
        self.end();
    }

    fn ending(self) -> Ending {
        self.ending
    }
}

impl NamedKernel {
    fn new(kernel: &Kernel, names: &mut Names) -> Self {
        let mangled = kernel.mangled.as_str();
        let (name, mangled) = if mangled.is_empty() {
            let name = spoken(&format!("kernel_{:#x}", kernel.kernel_object));
            (name.clone(), name)
        } else {
            (spoken(&names.name(mangled)), spoken(mangled))
        };
        Self { name, mangled, resources: kernel.resources }
    }
}

/// The address that the queue has, or had.
fn address(queues: &mut Vec<Arc<Queue>>, queue: QueueOrdinal, known: &RecorderState) -> *const c_void {
    if queue.0 as usize >= queues.len() {
        queues.extend(known.queues.since(queues.len() as u32));
    }
    queues.get(queue.0 as usize).map_or(0, |queue| queue.address) as *const c_void
}

/// Passes the records to a callback, and empties the list; returns their number.
fn deliver<T>(callback: Option<Deliver<T>>, records: &mut Vec<T>, data: *mut c_void) -> u64 {
    let count = records.len();
    if let Some(callback) = callback.filter(|_| count > 0) {
        callback::run(|| call(callback, records.as_ptr(), count, data));
    }
    records.clear();
    count as u64
}

/// Ends the process when the callback throws: nothing may unwind out of a C function.
extern "C" fn call<T>(callback: Deliver<T>, records: *const T, count: usize, data: *mut c_void) {
    // SAFETY: the program has registered a function of this type, and the records live until it returns.
    unsafe { callback(records, count, data) }
}

/// Calls the last callback; ends the process when it throws.
extern "C" fn call_last(ended: abi::Ended, counters: &abi::Counters, data: *mut c_void) {
    // SAFETY: the program has registered a function of this type, and the counters live until it returns.
    unsafe { ended(counters, data) }
}

#[cfg(test)]
mod tests;
