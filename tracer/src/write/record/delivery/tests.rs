//! Deliveries to callbacks that keep what they are given.

use std::ffi::CStr;

use ::calls::{Function, Source};

use super::*;
use crate::base::gpus::{Details, Gpu};
use crate::capi::embed::abi::{HOST, NameKind};
use crate::collect::dispatch::{KernelId, QueueOrdinal};
use crate::collect::others::{Copy, What};
use crate::events::calls::event::{Asked, Call};
use crate::events::{calls, roctx};

/// What callbacks were given.
#[derive(Default)]
struct Told {
    /// How many kernels at a time.
    batches: Vec<usize>,
    kernels: Vec<(String, abi::Kernel)>,
    copies: Vec<abi::Copy>,
    barriers: Vec<abi::Barrier>,
    /// What calls asked for.
    asked: Vec<(Option<abi::LaunchParams>, Option<abi::CopyParams>)>,
    names: Vec<(NameKind, u64, String)>,
    ended: Vec<abi::Counters>,
}

unsafe extern "C-unwind" fn on_kernels(kernels: *const abi::Kernel, count: usize, told: *mut c_void) {
    // SAFETY: `delivery` was given this, and nobody else uses it meanwhile.
    let told = unsafe { &mut *told.cast::<Told>() };
    // SAFETY: so many are there.
    let kernels = unsafe { std::slice::from_raw_parts(kernels, count) };
    told.batches.push(count);
    for kernel in kernels {
        // SAFETY: a text that ends with a 0 and lives until this returns.
        let name = unsafe { CStr::from_ptr(kernel.name) };
        assert_eq!(name.count_bytes(), kernel.name_length as usize);
        told.kernels.push((name.to_str().unwrap().to_owned(), *kernel));
    }
}

unsafe extern "C-unwind" fn on_copies(copies: *const abi::Copy, count: usize, told: *mut c_void) {
    // SAFETY: as above.
    let told = unsafe { &mut *told.cast::<Told>() };
    // SAFETY: so many are there.
    let copies = unsafe { std::slice::from_raw_parts(copies, count) };
    told.copies.extend(copies);
}

unsafe extern "C-unwind" fn on_barriers(barriers: *const abi::Barrier, count: usize, told: *mut c_void) {
    // SAFETY: as above.
    let told = unsafe { &mut *told.cast::<Told>() };
    // SAFETY: so many are there.
    told.barriers.extend(unsafe { std::slice::from_raw_parts(barriers, count) });
}

unsafe extern "C-unwind" fn on_calls(calls: *const abi::Call, count: usize, told: *mut c_void) {
    // SAFETY: as above.
    let told = unsafe { &mut *told.cast::<Told>() };
    // SAFETY: so many are there.
    for call in unsafe { std::slice::from_raw_parts(calls, count) } {
        // SAFETY: null, or what lives until this returns.
        let launch = unsafe { call.launch.as_ref() };
        // SAFETY: as above.
        let copy = unsafe { call.copy.as_ref() };
        told.asked.push((launch.copied(), copy.copied()));
    }
}

unsafe extern "C-unwind" fn on_names(names: *const abi::Name, count: usize, told: *mut c_void) {
    // SAFETY: as above.
    let told = unsafe { &mut *told.cast::<Told>() };
    // SAFETY: so many are there.
    for name in unsafe { std::slice::from_raw_parts(names, count) } {
        // SAFETY: a text that ends with a 0 and lives until this returns.
        let text = unsafe { CStr::from_ptr(name.text) };
        assert_eq!(text.count_bytes(), name.text_length as usize);
        told.names.push((name.kind, name.number, text.to_str().unwrap().to_owned()));
    }
}

unsafe extern "C-unwind" fn on_end(counters: *const abi::Counters, told: *mut c_void) {
    // SAFETY: as above.
    let told = unsafe { &mut *told.cast::<Told>() };
    // SAFETY: counters that live until this returns.
    told.ended.push(unsafe { *counters });
}

fn known() -> Arc<Known> {
    let known = Known::default();
    for (mangled, kernel_object) in [("_Z3addPf", 0x1000), ("", 0x1100)] {
        let resources = Resources { vgprs: Some(96), sgprs: Some(48), ..Resources::default() };
        let mangled = mangled.to_owned();
        known.kernels.add(Kernel { mangled, kernel_object, resources, ..Kernel::default() });
    }
    known.queues.add(Queue { gpu: 1, address: 0x7000, hardware: 0x9000 });
    Arc::new(known)
}

fn delivery(told: &mut Told, known: &Arc<Known>) -> Delivery {
    let to = Callbacks {
        data: (&raw mut *told).cast(),
        kernels: Some(on_kernels),
        copies: Some(on_copies),
        calls: Some(on_calls),
        ended: Some(on_end),
        ..Callbacks::default()
    };
    Delivery::new(Box::leak(Box::new(to)), Arc::clone(known))
}

/// The same for more, or for less.
fn delivery_to(told: &mut Told, known: &Arc<Known>, to: Callbacks) -> Delivery {
    let to = Callbacks { data: (&raw mut *told).cast(), ..to };
    Delivery::new(Box::leak(Box::new(to)), Arc::clone(known))
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

fn add(delivery: &mut Delivery, known: &Known, count: u64) {
    for number in 1..=count {
        known.counters.see(1);
        delivery.add(&dispatch(number));
    }
}

/// 20 kernels come, and 10 that are late.
fn run_out_of_time(delivery: &mut Delivery, known: &Known) {
    add(delivery, known, 20);
    delivery.give_up(Lost::Unwritten, "the time was over");
    add(delivery, known, 10);
}

#[test]
fn full_batches_are_delivered_at_once_and_the_rest_when_it_is_time() {
    let (mut told, known) = (Told::default(), known());
    let mut delivery = delivery(&mut told, &known);
    add(&mut delivery, &known, 2_500);
    assert_eq!(known.counters.snapshot().recorded, 2_048);
    delivery.publish();
    delivery.publish();
    assert_eq!(told.batches, [1_024, 1_024, 452]);
    assert_eq!((known.counters.snapshot().recorded, known.counters.snapshot().on_the_way()), (2_500, 0));
}

#[test]
fn a_kernel_says_all_that_is_known_of_it() {
    let (mut told, known) = (Told::default(), known());
    let mut delivery = delivery(&mut told, &known);
    add(&mut delivery, &known, 2);
    // A queue that is created later is found, too.
    known.queues.add(Queue { gpu: 1, address: 0x7100, hardware: 0x9100 });
    delivery.add(&Dispatch { queue: QueueOrdinal(1), ..dispatch(3) });
    delivery.publish();
    let names: Vec<&str> = told.kernels.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["kernel_0x1100", "add(float*)", "kernel_0x1100"]);
    let queues: Vec<usize> = told.kernels.iter().map(|(_, kernel)| kernel.queue as usize).collect();
    assert_eq!(queues, [0x7000, 0x7000, 0x7100]);
    let kernel = told.kernels[1].1;
    assert_eq!((kernel.vgprs, kernel.agprs, kernel.sgprs), (96, 0, 48));
    assert_eq!(kernel.enqueued, 900);
    assert_eq!((kernel.start, kernel.end, kernel.correlation_id, kernel.range_id), (1_000, 1_700, 2, 3));
    assert_eq!((kernel.kernel_id, kernel.gpu, kernel.queue_id, kernel.tid), (0, 1, 0, 9));
    assert_eq!((kernel.grid, kernel.workgroup), ([256, 4, 1], [64, 2, 1]));
    assert_eq!((kernel.lds, kernel.scratch), (64, 16));
}

fn other(what: What) -> Other {
    Other { start: 5, end: 7, enqueued: 3, correlation: 1, range: 2, tid: 9, what }
}

#[test]
fn a_copy_says_where_its_bytes_went_and_a_barrier_on_which_queue_it_was() {
    let (mut told, known) = (Told::default(), known());
    let to = Callbacks { copies: Some(on_copies), barriers: Some(on_barriers), ..Callbacks::default() };
    let mut delivery = delivery_to(&mut told, &known, to);
    known.copies.see(1);
    known.barriers.see(1);
    let copy = What::Copy(Copy { bytes: 64, source: None, destination: Some(1) });
    for what in [copy, What::Barrier { queue: QueueOrdinal(0), gpu: 1 }] {
        assert!(known.others.put(other(what)));
    }
    delivery.add_others();
    delivery.publish();
    let copies: Vec<_> = told.copies.iter().map(|copy| (copy.source, copy.destination, copy.bytes)).collect();
    assert_eq!(copies, [(HOST, 1, 64)]);
    let [barrier] = told.barriers[..] else { panic!("{:?}", told.barriers) };
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
    let (mut told, known) = (Told::default(), known());
    let to = Callbacks { barriers: Some(on_barriers), ..Callbacks::default() };
    let mut delivery = delivery_to(&mut told, &known, to);
    add(&mut delivery, &known, 3);
    delivery.publish();
    assert_eq!(known.counters.snapshot().skipped, [(Skipped::Unwanted, 3)]);
}

#[test]
fn a_call_says_what_it_asked_for_wherever_it_is_in_its_batch() {
    let (mut told, known) = (Told::default(), known());
    let mut delivery = delivery(&mut told, &known);
    let launch = Asked::Launch { groups: [4, 2, 1], items: [64, 1, 1], lds: 512 };
    let copy = |source| Asked::Copy { destination: 0x2000, source, bytes: 640, extent: [64, 10], kind: 1 };
    let all = [None, Some(launch), Some(copy(Some(0x1000))), Some(copy(None))];
    for number in 0..100 {
        let function = Function::new(Source::Hip, 7);
        let (start, end, correlation, parent, stream, status) = (1, 2, 3, 0, 0, 0);
        let call = Call { start, end, correlation, parent, stream, function, status };
        known.calls[Source::Hip as usize].see(1);
        delivery.add_call(&calls::reader::Told { tid: 9, call, asked: all[number % 4], arguments: None });
    }
    delivery.publish();
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
    assert_eq!(told.asked.len(), 100);
    assert!(told.asked.chunks(4).all(|asked| asked == expected), "{:?}", told.asked);
}

#[test]
fn names_come_once_and_before_the_records_that_need_them() {
    let (mut told, known) = (Told::default(), known());
    let details = Details { target: Some("gfx942".to_owned()), bdf: Some(0x8300), ..Details::default() };
    known.gpus.add(Gpu { number: 1, details, ..Gpu::default() });
    let to = Callbacks { kernels: Some(on_kernels), names: Some(on_names), ..Callbacks::default() };
    let mut delivery = delivery_to(&mut told, &known, to);
    let tid = std::process::id();
    delivery.annotate(&Annotation::Name { what: roctx::What::NameStream, number: 0x5000, text: &NOT_KEPT });
    for _batch in 0..2 {
        known.counters.see(1);
        delivery.add(&Dispatch { tid, ..dispatch(1) });
        delivery.publish();
    }
    let own = std::fs::read_to_string(format!("/proc/self/task/{tid}/comm")).unwrap();
    let expected = [
        (NameKind::Stream, 0x5000, NOT_KEPT.spoken().into_owned()),
        (NameKind::Thread, tid.into(), own.trim_end().to_owned()),
        (NameKind::GpuTarget, 1, "gfx942".to_owned()),
        (NameKind::GpuPci, 1, "0000:83:00.0".to_owned()),
    ];
    assert_eq!(told.names, expected);
    assert_eq!(told.kernels.len(), 2);
}

#[test]
fn the_end_is_told_once_with_what_was_lost() {
    let (mut told, known) = (Told::default(), known());
    let mut delivery = delivery(&mut told, &known);
    run_out_of_time(&mut delivery, &known);
    delivery.close();
    delivery.close();
    let [ended] = told.ended[..] else { panic!("{:?}", told.ended) };
    let kernels = abi::Counts { seen: 30, delivered: 20, lost: 10, lost_behind: 0, skipped: 0 };
    assert_eq!((ended.size, ended.kernels), (size_of::<abi::Counters>(), kernels));
}

#[test]
fn after_a_failure_everything_that_was_not_delivered_is_lost() {
    let (mut told, known) = (Told::default(), known());
    let mut delivery = delivery(&mut told, &known);
    add(&mut delivery, &known, 1_500);
    delivery.give_up(Lost::Failure, "it failed");
    add(&mut delivery, &known, 10);
    known.counters.see(3);
    delivery.close();
    assert_eq!(told.batches, [1_024]);
    let counts = known.counters.snapshot();
    assert_eq!((counts.recorded, counts.on_the_way()), (1_024, 0));
    assert_eq!(counts.lost, [(Lost::Failure, 489)]);
}

#[test]
fn when_the_time_is_over_what_has_gathered_is_still_delivered() {
    let (mut told, known) = (Told::default(), known());
    let mut delivery = delivery(&mut told, &known);
    run_out_of_time(&mut delivery, &known);
    delivery.close();
    assert_eq!(told.batches, [20]);
    assert_eq!(known.counters.snapshot().lost, [(Lost::Unwritten, 10)]);
}
