//! Deliveries to callbacks that keep what they are given.

use std::ffi::CStr;

use super::*;
use crate::dispatch::{KernelId, QueueOrdinal};

/// What callbacks were given.
#[derive(Default)]
struct Told {
    /// How many kernels at a time.
    batches: Vec<usize>,
    kernels: Vec<(String, abi::Kernel)>,
    copies: Vec<abi::Copy>,
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

fn known() -> Arc<Known> {
    let known = Known::default();
    for (mangled, kernel_object) in [("_Z3addPf", 0x1000), ("", 0x1100)] {
        known.kernels.add(Kernel { mangled: mangled.to_owned(), kernel_object, ..Kernel::default() });
    }
    known.queues.add(Queue { gpu: 1, address: 0x7000, hardware: 0x9000 });
    Arc::new(known)
}

fn delivery(told: &mut Told, known: &Arc<Known>) -> Delivery {
    let to = Registered {
        data: (&raw mut *told).cast(),
        mode: None,
        kernels: Some(on_kernels),
        copies: Some(on_copies),
        ranges: None,
        calls: None,
    };
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
    assert_eq!(kernel.enqueued, 900);
    assert_eq!((kernel.start, kernel.end, kernel.correlation_id, kernel.range_id), (1_000, 1_700, 2, 3));
    assert_eq!((kernel.kernel_id, kernel.gpu, kernel.queue_id, kernel.tid), (0, 1, 0, 9));
    assert_eq!((kernel.grid, kernel.workgroup), ([256, 4, 1], [64, 2, 1]));
    assert_eq!((kernel.lds, kernel.scratch), (64, 16));
}

#[test]
fn a_copy_says_where_its_bytes_went_and_barriers_are_not_told() {
    let (mut told, known) = (Told::default(), known());
    let mut delivery = delivery(&mut told, &known);
    let copy = What::Copy(Copy { bytes: 64, source: None, destination: Some(1) });
    for what in [copy, What::Barrier { queue: QueueOrdinal(0), gpu: 1 }] {
        known.copies.see(u64::from(what == copy));
        assert!(known.others.put(Other {
            start: 5,
            end: 7,
            enqueued: 0,
            correlation: 1,
            range: 0,
            tid: 9,
            what
        }));
    }
    delivery.add_others();
    delivery.publish();
    let copies: Vec<_> = told.copies.iter().map(|copy| (copy.source, copy.destination, copy.bytes)).collect();
    assert_eq!(copies, [(HOST, 1, 64)]);
    assert_eq!(known.copies.snapshot().on_the_way(), 0);
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
    add(&mut delivery, &known, 20);
    delivery.give_up(Lost::Unwritten, "the time was over");
    add(&mut delivery, &known, 10);
    delivery.close();
    assert_eq!(told.batches, [20]);
    assert_eq!(known.counters.snapshot().lost, [(Lost::Unwritten, 10)]);
}
