//! Tests of deliveries to callbacks that keep the records.

use std::ffi::CStr;

use crate::base::call_interface::{Function, Source};

use super::*;
use crate::base::abi::{HOST, NameKind};
use crate::base::gpus::{Details, Gpu};
use crate::collect::copy_or_barrier::{Copy, CopyOrBarrierKind};
use crate::collect::dispatch::{KernelId, QueueOrdinal};
use crate::events::calls::call::{Call, CallParams};
use crate::events::calls::record::CallRecord;
use crate::events::ranges;
use crate::events::reader::RecordSink;

/// Copies of the records that callbacks received.
#[derive(Default)]
struct Received {
    /// Number of kernels in each delivery.
    batches: Vec<usize>,
    kernels: Vec<(String, abi::Kernel)>,
    copies: Vec<abi::Copy>,
    barriers: Vec<abi::Barrier>,
    /// Parameters of calls.
    params: Vec<(Option<abi::LaunchParams>, Option<abi::CopyParams>)>,
    names: Vec<(NameKind, u64, String)>,
    ended: Vec<abi::Counters>,
}

unsafe extern "C-unwind" fn on_kernels(kernels: *const abi::Kernel, count: usize, received: *mut c_void) {
    // SAFETY: the pointer is the `data` that `callback_sink` was given, and nobody else uses it meanwhile.
    let received = unsafe { &mut *received.cast::<Received>() };
    // SAFETY: there are `count` records.
    let kernels = unsafe { std::slice::from_raw_parts(kernels, count) };
    received.batches.push(count);
    for kernel in kernels {
        // SAFETY: the text ends with a 0 and lives until this returns.
        let name = unsafe { CStr::from_ptr(kernel.name) };
        assert_eq!(name.count_bytes(), kernel.name_length as usize);
        received.kernels.push((name.to_str().unwrap().to_owned(), *kernel));
    }
}

unsafe extern "C-unwind" fn on_copies(copies: *const abi::Copy, count: usize, received: *mut c_void) {
    // SAFETY: the pointer is the `data` that `callback_sink` was given, and nobody else uses it meanwhile.
    let received = unsafe { &mut *received.cast::<Received>() };
    // SAFETY: there are `count` records.
    let copies = unsafe { std::slice::from_raw_parts(copies, count) };
    received.copies.extend(copies);
}

unsafe extern "C-unwind" fn on_barriers(barriers: *const abi::Barrier, count: usize, received: *mut c_void) {
    // SAFETY: the pointer is the `data` that `callback_sink` was given, and nobody else uses it meanwhile.
    let received = unsafe { &mut *received.cast::<Received>() };
    // SAFETY: there are `count` records.
    received.barriers.extend(unsafe { std::slice::from_raw_parts(barriers, count) });
}

unsafe extern "C-unwind" fn on_calls(calls: *const abi::Call, count: usize, received: *mut c_void) {
    // SAFETY: the pointer is the `data` that `callback_sink` was given, and nobody else uses it meanwhile.
    let received = unsafe { &mut *received.cast::<Received>() };
    // SAFETY: there are `count` records.
    for call in unsafe { std::slice::from_raw_parts(calls, count) } {
        // SAFETY: the pointer is null or to parameters that live until this returns.
        let launch = unsafe { call.launch.as_ref() };
        // SAFETY: the pointer is null or to parameters that live until this returns.
        let copy = unsafe { call.copy.as_ref() };
        received.params.push((launch.copied(), copy.copied()));
    }
}

unsafe extern "C-unwind" fn on_names(names: *const abi::Name, count: usize, received: *mut c_void) {
    // SAFETY: the pointer is the `data` that `callback_sink` was given, and nobody else uses it meanwhile.
    let received = unsafe { &mut *received.cast::<Received>() };
    // SAFETY: there are `count` records.
    for name in unsafe { std::slice::from_raw_parts(names, count) } {
        // SAFETY: the text ends with a 0 and lives until this returns.
        let text = unsafe { CStr::from_ptr(name.text) };
        assert_eq!(text.count_bytes(), name.text_length as usize);
        received.names.push((name.kind, name.number, text.to_str().unwrap().to_owned()));
    }
}

unsafe extern "C-unwind" fn on_end(counters: *const abi::Counters, received: *mut c_void) {
    // SAFETY: the pointer is the `data` that `callback_sink` was given, and nobody else uses it meanwhile.
    let received = unsafe { &mut *received.cast::<Received>() };
    // SAFETY: the counters live until this returns.
    received.ended.push(unsafe { *counters });
}

fn known() -> Arc<RecorderState> {
    let known = RecorderState::default();
    for (mangled, kernel_object) in [("_Z3addPf", 0x1000), ("", 0x1100)] {
        let resources = Resources { vgprs: Some(96), sgprs: Some(48), ..Resources::default() };
        let mangled = mangled.to_owned();
        known.kernels.add(Kernel { mangled, kernel_object, resources, ..Kernel::default() });
    }
    known.queues.add(Queue { gpu: 1, address: 0x7000, hardware: 0x9000 });
    Arc::new(known)
}

fn callback_sink(received: &mut Received, known: &Arc<RecorderState>) -> CallbackSink {
    let to = Callbacks {
        data: (&raw mut *received).cast(),
        kernels: Some(on_kernels),
        copies: Some(on_copies),
        calls: Some(on_calls),
        ended: Some(on_end),
        ..Callbacks::default()
    };
    CallbackSink::new(Box::leak(Box::new(to)), Arc::clone(known))
}

/// A sink for other callbacks than those that keep everything.
fn delivery_to(received: &mut Received, known: &Arc<RecorderState>, to: Callbacks) -> CallbackSink {
    let to = Callbacks { data: (&raw mut *received).cast(), ..to };
    CallbackSink::new(Box::leak(Box::new(to)), Arc::clone(known))
}

fn dispatch(number: u64) -> Dispatch {
    Dispatch {
        start: 1_000,
        end: 1_700,
        enqueued: 900,
        correlation: number,
        range: 3,
        kernel: KernelId(number as u32 % 2),
        queue: QueueOrdinal(0),
        tid: 9,
        grid: [256, 4, 1],
        lds: 64,
        scratch: 16,
        workgroup: [64, 2, 1],
        gpu: 1,
    }
}

fn add(callback_sink: &mut CallbackSink, known: &RecorderState, count: u64) {
    for number in 1..=count {
        known.counters.see(1);
        callback_sink.add(&dispatch(number));
    }
}

/// Adds 20 kernels in time, and 10 when the time is over.
fn run_out_of_time(callback_sink: &mut CallbackSink, known: &RecorderState) {
    add(callback_sink, known, 20);
    callback_sink.give_up(Lost::Unwritten, "the time was over");
    add(callback_sink, known, 10);
}

#[test]
fn full_batches_are_delivered_at_once_and_the_rest_when_it_is_time() {
    let (mut received, known) = (Received::default(), known());
    let mut callback_sink = callback_sink(&mut received, &known);
    add(&mut callback_sink, &known, 2_500);
    assert_eq!(known.counters.snapshot().recorded, 2_048);
    callback_sink.publish();
    callback_sink.publish();
    assert_eq!(received.batches, [1_024, 1_024, 452]);
    assert_eq!((known.counters.snapshot().recorded, known.counters.snapshot().on_the_way()), (2_500, 0));
}

#[test]
fn a_kernel_says_all_that_is_known_of_it() {
    let (mut received, known) = (Received::default(), known());
    let mut callback_sink = callback_sink(&mut received, &known);
    add(&mut callback_sink, &known, 2);
    // The address of a queue that is created later is found, too.
    known.queues.add(Queue { gpu: 1, address: 0x7100, hardware: 0x9100 });
    callback_sink.add(&Dispatch { queue: QueueOrdinal(1), ..dispatch(3) });
    callback_sink.publish();
    let names: Vec<&str> = received.kernels.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["kernel_0x1100", "add(float*)", "kernel_0x1100"]);
    let queues: Vec<usize> = received.kernels.iter().map(|(_, kernel)| kernel.queue as usize).collect();
    assert_eq!(queues, [0x7000, 0x7000, 0x7100]);
    let kernel = received.kernels[1].1;
    assert_eq!((kernel.vgprs, kernel.agprs, kernel.sgprs), (96, 0, 48));
    assert_eq!(kernel.enqueued, 900);
    assert_eq!((kernel.start, kernel.end, kernel.correlation_id, kernel.range_id), (1_000, 1_700, 2, 3));
    assert_eq!((kernel.kernel_id, kernel.gpu, kernel.queue_id, kernel.tid), (0, 1, 0, 9));
    assert_eq!((kernel.grid, kernel.workgroup), ([256, 4, 1], [64, 2, 1]));
    assert_eq!((kernel.lds, kernel.scratch), (64, 16));
}

fn other(what: CopyOrBarrierKind) -> CopyOrBarrier {
    CopyOrBarrier { start: 5, end: 7, enqueued: 3, correlation: 1, range: 2, tid: 9, what }
}

#[test]
fn a_copy_says_where_its_bytes_went_and_a_barrier_on_which_queue_it_was() {
    let (mut received, known) = (Received::default(), known());
    let to = Callbacks { copies: Some(on_copies), barriers: Some(on_barriers), ..Callbacks::default() };
    let mut callback_sink = delivery_to(&mut received, &known, to);
    known.copies.see(1);
    known.barriers.see(1);
    let copy = CopyOrBarrierKind::Copy(Copy { bytes: 64, source: None, destination: Some(1) });
    for what in [copy, CopyOrBarrierKind::Barrier { queue: QueueOrdinal(0), gpu: 1 }] {
        assert!(known.copies_and_barriers.put(other(what)));
    }
    callback_sink.add_copies_and_barriers();
    callback_sink.publish();
    let copies: Vec<_> =
        received.copies.iter().map(|copy| (copy.source, copy.destination, copy.bytes)).collect();
    assert_eq!(copies, [(HOST, 1, 64)]);
    let [barrier] = received.barriers[..] else { panic!("{:?}", received.barriers) };
    assert_eq!((barrier.start, barrier.end, barrier.enqueued), (5, 7, 3));
    assert_eq!((barrier.correlation_id, barrier.range_id, barrier.tid), (1, 2, 9));
    assert_eq!((barrier.queue as usize, barrier.queue_id, barrier.gpu), (0x7000, 0, 1));
    assert_eq!(
        [known.copies.snapshot(), known.barriers.snapshot()].map(|counts| counts.on_the_way()),
        [0, 0]
    );
}

#[test]
fn kernels_that_are_only_seen_for_the_sake_of_barriers_are_skipped() {
    let (mut received, known) = (Received::default(), known());
    let to = Callbacks { barriers: Some(on_barriers), ..Callbacks::default() };
    let mut callback_sink = delivery_to(&mut received, &known, to);
    add(&mut callback_sink, &known, 3);
    callback_sink.publish();
    assert_eq!(known.counters.snapshot().skipped, [(Skipped::Unwanted, 3)]);
}

#[test]
fn a_call_says_what_it_asked_for_wherever_it_is_in_its_batch() {
    let (mut received, known) = (Received::default(), known());
    let mut callback_sink = callback_sink(&mut received, &known);
    let launch = CallParams::Launch { groups: [4, 2, 1], items: [64, 1, 1], lds: 512 };
    let copy =
        |source| CallParams::Copy { destination: 0x2000, source, bytes: 640, extent: [64, 10], kind: 1 };
    let all = [None, Some(launch), Some(copy(Some(0x1000))), Some(copy(None))];
    for number in 0..100 {
        let function = Function::new(Source::Hip, 7);
        let (start, end, correlation, parent, stream, status) = (1, 2, 3, 0, 0, 0);
        let call = Call { start, end, correlation, parent, stream, function, status };
        known.calls[Source::Hip as usize].see(1);
        callback_sink.add_call(&CallRecord { tid: 9, call, params: all[number % 4], arguments: None });
    }
    callback_sink.publish();
    let launch = abi::LaunchParams { groups: [4, 2, 1], workgroup: [64, 1, 1], lds: 512 };
    let copy = abi::CopyParams {
        bytes: 640,
        destination: 0x2000,
        source: 0x1000,
        width: 64,
        height: 10,
        kind: 1,
        is_fill: 0,
    };
    let fill = abi::CopyParams { source: 0, is_fill: 1, ..copy };
    let expected = [(None, None), (Some(launch), None), (None, Some(copy)), (None, Some(fill))];
    assert_eq!(received.params.len(), 100);
    assert!(received.params.chunks(4).all(|asked| asked == expected), "{:?}", received.params);
}

#[test]
fn names_come_once_and_before_the_records_that_need_them() {
    let (mut received, known) = (Received::default(), known());
    let details = Details { target: Some("gfx942".to_owned()), bdf: Some(0x8300), ..Details::default() };
    known.gpus.add(Gpu { number: 1, details, ..Gpu::default() });
    let to = Callbacks { kernels: Some(on_kernels), names: Some(on_names), ..Callbacks::default() };
    let mut callback_sink = delivery_to(&mut received, &known, to);
    let tid = std::process::id();
    callback_sink.annotate(&Annotation::Name {
        what: ranges::RangeEventKind::NameStream,
        number: 0x5000,
        text: &NOT_KEPT,
    });
    for _batch in 0..2 {
        known.counters.see(1);
        callback_sink.add(&Dispatch { tid, ..dispatch(1) });
        callback_sink.publish();
    }
    let own = std::fs::read_to_string(format!("/proc/self/task/{tid}/comm")).unwrap();
    let expected = [
        (NameKind::Stream, 0x5000, NOT_KEPT.spoken().into_owned()),
        (NameKind::Thread, tid.into(), own.trim_end().to_owned()),
        (NameKind::GpuTarget, 1, "gfx942".to_owned()),
        (NameKind::GpuPci, 1, "0000:83:00.0".to_owned()),
    ];
    assert_eq!(received.names, expected);
    assert_eq!(received.kernels.len(), 2);
}

#[test]
fn the_end_is_told_once_with_what_was_lost() {
    let (mut received, known) = (Received::default(), known());
    let mut callback_sink = callback_sink(&mut received, &known);
    run_out_of_time(&mut callback_sink, &known);
    callback_sink.close();
    callback_sink.close();
    let [ended] = received.ended[..] else { panic!("{:?}", received.ended) };
    let kernels = abi::Counts { seen: 30, delivered: 20, lost: 10, lost_behind: 0, skipped: 0 };
    assert_eq!((ended.size, ended.kernels), (size_of::<abi::Counters>(), kernels));
}

#[test]
fn after_a_failure_everything_that_was_not_delivered_is_lost() {
    let (mut received, known) = (Received::default(), known());
    let mut callback_sink = callback_sink(&mut received, &known);
    add(&mut callback_sink, &known, 1_500);
    callback_sink.give_up(Lost::Failure, "it failed");
    add(&mut callback_sink, &known, 10);
    known.counters.see(3);
    callback_sink.close();
    assert_eq!(received.batches, [1_024]);
    let counts = known.counters.snapshot();
    assert_eq!((counts.recorded, counts.on_the_way()), (1_024, 0));
    assert_eq!(counts.lost, [(Lost::Failure, 489)]);
}

#[test]
fn when_the_time_is_over_what_has_gathered_is_still_delivered() {
    let (mut received, known) = (Received::default(), known());
    let mut callback_sink = callback_sink(&mut received, &known);
    run_out_of_time(&mut callback_sink, &known);
    callback_sink.close();
    assert_eq!(received.batches, [20]);
    assert_eq!(known.counters.snapshot().lost, [(Lost::Unwritten, 10)]);
}
