//! The interceptor, which the runtime calls with every packet that the application submits, on the application's thread.
//!
//! The runtime calls it under the queue's own lock, before the packets are in the hardware's queue. It never writes to the
//! packets, wherever they are, and changes copies instead.

#![expect(unsafe_code, reason = "called by the runtime with the application's packets")]

use std::cell::Cell;
use std::ffi::c_void;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};

use hsa_sys::bindings::{hsa_amd_queue_intercept_handler, hsa_amd_queue_intercept_packet_writer};

use crate::base::counters::{Lost, Skipped};
use crate::base::fault;
use crate::base::kernels::Loader;
use crate::base::log;
use crate::base::packet::Packet;
use crate::base::try_lock::{TryLock, TryLockGuard};
use crate::collect::queue_channel::{Submissions, Verdict};
use crate::collect::shared::{Phase, Shared};
use crate::events::thread::{self, Submitter};
use crate::intercept::flow_control::FlowControl;
use crate::intercept::staging::Ring;
use crate::intercept::wrapped::HardwareQueue;

/// A queue of the application, as its interceptor sees it.
pub struct InterceptedQueue {
    /// State of the process that all queues share.
    pub shared: Arc<Shared<Loader>>,
    /// The runtime serialises calls for a queue. The lock is for a runtime that does not, and for a thread that gives the queue's
    /// free signals back before the runtime ends.
    pub submissions: TryLock<Submissions>,
    ring: Ring,
    /// The queue of the hardware, on a runtime that needs care.
    wrapped: Option<&'static HardwareQueue>,
    /// Limits how far the queue of the hardware is filled, where `is_controlled`.
    pub flow_control: FlowControl,
    is_controlled: bool,
    /// Buffer for the copies of a batch, kept for the next one.
    batch: TryLock<Vec<Packet>>,
    /// Number of counted packets that were written to the queue and never came here.
    pub bypassed: AtomicU64,
}

impl InterceptedQueue {
    #[must_use]
    pub fn new(
        shared: Arc<Shared<Loader>>,
        submissions: Submissions,
        ring: Ring,
        wrapped: Option<&'static HardwareQueue>,
        is_controlled: bool,
    ) -> Self {
        Self {
            shared,
            flow_control: FlowControl::new(ring.size, submissions.gpu()),
            is_controlled,
            submissions: TryLock::new(submissions),
            ring,
            wrapped,
            batch: TryLock::default(),
            bypassed: AtomicU64::new(0),
        }
    }

    #[must_use]
    pub fn interceptor(&self) -> hsa_amd_queue_intercept_handler {
        Some(match (self.wrapped.is_some(), self.is_controlled) {
            (true, _) => intercept::<true, false>,
            (false, true) => intercept::<false, true>,
            (false, false) => intercept::<false, false>,
        })
    }

    /// Waits for room for these packets in the queue of the hardware; returns the checkpoint to be submitted before them.
    fn wait_for_room(&self, index: u64, count: u64) -> Option<Packet> {
        // A forked child has no GPU that would make room.
        let waits = || self.shared.phase() != Phase::Forked;
        let wait = || self.flow_control.wait_for_room(index, count, &*self.shared.runtime, waits);
        self.caught(wait, None)
    }

    /// Locks the state of submissions; waits for it while dispatches are recorded.
    fn enter(&self) -> Option<TryLockGuard<'_, Submissions>> {
        self.submissions.enter().or_else(|| self.submissions.enter_soon(|| self.shared.is_recording()))
    }

    /// Gives free slots beyond `keep` to other queues, unless a thread submits at this moment: then the queue is in use, and the
    /// collector continues with others.
    pub fn release_slots(&self, keep: usize) {
        self.give_back(keep, || self.submissions.enter());
    }

    /// Gives all free slots to other queues.
    pub fn release_all_slots(&self) {
        self.give_back(0, || self.enter());
    }

    fn give_back<'a>(&self, keep: usize, enter: impl Fn() -> Option<TryLockGuard<'a, Submissions>>) {
        let Some(rounds) = enter().map(|submissions| submissions.rounds(keep)) else { return };
        for _ in 0..rounds {
            let Some(mut submissions) = enter() else { return };
            submissions.give_back(keep, &self.shared);
        }
    }

    /// Calls [`Submissions::submit_fast`], where that is possible now.
    #[inline(always)]
    fn decide_usual(&self, packet: &mut Packet, from: &Cell<Submitter>, shared: &Shared<Loader>) -> bool {
        if !shared.is_usual() {
            return false;
        }
        let Some(mut inside) = self.submissions.enter() else { return false };
        inside.submit_fast(packet, from, shared)
    }

    /// Runs the tracer's part; a panic in it ends the recording and nothing else. The fast path does without, because nothing in
    /// it can panic.
    fn caught<T>(&self, part: impl FnOnce() -> T, otherwise: T) -> T {
        catch_unwind(AssertUnwindSafe(part)).unwrap_or_else(|_| {
            self.shared.fail();
            otherwise
        })
    }

    /// True if the packet takes the fast path, although it did not at first.
    fn takes_fast_path(&self, packet: &mut Packet) -> bool {
        thread::with_known(|from| self.decide_usual(packet, from, &self.shared)).unwrap_or(false)
    }

    /// Times the fast path, if this packet is a sample and takes it.
    fn sample(&self, packet: &mut Packet) -> bool {
        self.shared.takes_sample() && self.shared.known.cost.sample(|| self.takes_fast_path(packet))
    }

    /// Decides on a packet, and changes it if it has to carry our signal. A panic in it ends the recording, not the process.
    #[inline(never)]
    fn decide(&self, packet: &mut Packet) -> Verdict {
        let decide = || {
            fault::point("submit");
            if self.shared.is_recording()
                && let Some(mut submissions) = self.enter()
            {
                return submissions.submit(packet, &self.shared);
            }
            let why = self.shared.loss().unwrap_or(Lost::Busy);
            Submissions::pass(packet, &self.shared, |counters| counters.lose(why, 1));
            Verdict::Passed
        };
        let verdict = self.caught(decide, Verdict::Passed);
        if self.shared.prints_packets {
            print_decision(packet, verdict);
        }
        verdict
    }

    /// Called when the packets are in the hardware's queue.
    #[inline]
    fn submitted(&self, verdict: Verdict) {
        match verdict {
            Verdict::Passed => (),
            Verdict::Watched | Verdict::Changed => self.shared.parker.notify(),
            Verdict::Forwarded => self.shared.parker.notify_at_once(),
        }
    }
}

/// Copies a checkpoint and packets into the queue's buffer, which is taken out of its lock while the runtime works with them.
///
/// # Safety
/// The requirements are those of [`intercept`].
unsafe fn copied(
    queue: &InterceptedQueue,
    packets: *const c_void,
    count: u64,
    checkpoint: Option<Packet>,
) -> Vec<Packet> {
    let mut copies = queue.batch.enter().map(|mut batch| std::mem::take(&mut *batch)).unwrap_or_default();
    copies.clear();
    copies.extend(checkpoint);
    for at in 0..count as usize {
        // SAFETY: the pointer is within the packets that the caller has.
        let packet = unsafe { packets.cast::<Packet>().add(at) };
        // SAFETY: the packet is one of the caller's; a tool above this one may have placed it unaligned.
        copies.push(unsafe { packet.read_unaligned() });
    }
    copies
}

/// Counts a batch that is left out.
#[cold]
fn skip_batch(packets: &[Packet], shared: &Shared<Loader>) {
    static WAS_PRINTED: AtomicBool = AtomicBool::new(false);
    let largest = shared.largest_staged;
    log::warn_once(&WAS_PRINTED, format_args!("batches of more than {largest} packets are not recorded"));
    for packet in packets {
        Submissions::pass(packet, shared, |counters| counters.skip(Skipped::Batch, 1));
    }
}

/// The data of a queue's interceptor. The runtime has a pointer to it as long as the queue exists, which may be destroyed without
/// our knowledge, or not be destroyed although that was requested. So dropping this frees nothing.
pub struct InterceptorData<T>(ManuallyDrop<Arc<T>>);

impl<T> InterceptorData<T> {
    #[must_use]
    pub fn new(data: Arc<T>) -> Self {
        Self(ManuallyDrop::new(data))
    }

    /// Frees the data of a queue that has been destroyed.
    pub fn free(self) {
        drop(ManuallyDrop::into_inner(self.0));
    }
}

impl<T> std::ops::Deref for InterceptorData<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

#[cold]
fn print_decision(packet: &Packet, verdict: Verdict) {
    let what = if packet.is_kernel() { "kernel" } else { "other packet" };
    log::warn(format_args!(
        "{what} kernel_object={:#x} completion_signal={:#x}: {verdict:?}",
        packet.kernel_object(),
        packet.completion()
    ));
}

/// The interceptor of every queue. `IS_WRAPPED` is true if it knows the queue of the hardware, `IS_CONTROLLED` if it keeps that
/// from becoming full.
///
/// # Safety
/// `packets` points to `count` packets, `data` to the queue's [`InterceptedQueue`], which [`InterceptorData`] keeps until the
/// queue is destroyed; `writer` passes packets on. The runtime promises an interceptor this.
pub unsafe extern "C" fn intercept<const IS_WRAPPED: bool, const IS_CONTROLLED: bool>(
    packets: *const c_void,
    count: u64,
    index: u64,
    data: *mut c_void,
    writer: hsa_amd_queue_intercept_packet_writer,
) {
    // SAFETY: the runtime passes its own function to every interceptor; without one, no packet could go on.
    let writer = unsafe { writer.unwrap_unchecked() };
    // SAFETY: `data` was registered for this queue.
    let queue = unsafe { &*data.cast::<InterceptedQueue>() };
    if IS_WRAPPED && let Some(wrapped) = queue.wrapped {
        wrapped.all_before(index);
    }
    if IS_CONTROLLED && (count != 1 || !queue.flow_control.has_room(index)) {
        // SAFETY: the caller promised the same.
        return unsafe { intercept_with_room(queue, packets, count, index, writer) };
    }
    // The thread is looked up first: that is a call, across which nothing of the packet would stay in registers.
    let is_done = count == 1
        && thread::with_known(|from| {
            let shared = &*queue.shared;
            // SAFETY: there is one packet. A tool above this one may have placed it unaligned.
            let mut packet = unsafe { packets.cast::<Packet>().read_unaligned() };
            let is_usual = queue.decide_usual(&mut packet, from, shared);
            if is_usual {
                // SAFETY: the copy is a packet and outlives the call.
                unsafe { writer((&raw const packet).cast(), 1) };
                shared.parker.notify();
            }
            is_usual
        })
        .unwrap_or(false);
    if is_done {
        return;
    }
    // SAFETY: the caller promised the same.
    unsafe { intercept_any(queue, packets, count, index, writer) };
}

/// Passes on packets for which the queue of the hardware may have no room yet. A checkpoint goes on in the same call, because the
/// runtimes that need one allow no second.
///
/// # Safety
/// The requirements are those of [`intercept`].
#[cold]
unsafe fn intercept_with_room(
    queue: &InterceptedQueue,
    packets: *const c_void,
    count: u64,
    index: u64,
    writer: unsafe extern "C" fn(*const c_void, u64),
) {
    let Some(checkpoint) = queue.wait_for_room(index, count) else {
        // SAFETY: the caller promised the same.
        return unsafe { intercept_any(queue, packets, count, index, writer) };
    };
    if count != 1 {
        // SAFETY: the caller promised the same.
        return unsafe { intercept_batch(queue, packets, count, Some(checkpoint), writer) };
    }
    // SAFETY: there is one packet. A tool above this one may have placed it unaligned.
    let mut both = [checkpoint, unsafe { packets.cast::<Packet>().read_unaligned() }];
    let is_usual = queue.takes_fast_path(&mut both[1]);
    let verdict = if is_usual { Verdict::Changed } else { queue.decide(&mut both[1]) };
    // SAFETY: the checkpoint and the copy of the packet outlive the call.
    unsafe { writer(both.as_ptr().cast(), 2) };
    queue.submitted(verdict);
}

/// Passes on packets that do not take the fast path.
///
/// # Safety
/// The requirements are those of [`intercept`].
#[cold]
unsafe fn intercept_any(
    queue: &InterceptedQueue,
    packets: *const c_void,
    count: u64,
    index: u64,
    writer: unsafe extern "C" fn(*const c_void, u64),
) {
    if let Some(wrapped) = queue.wrapped {
        // SAFETY: this is the writer of this interceptor.
        unsafe { wrapped.request(index, Some(writer)) };
    }
    if count != 1 {
        // SAFETY: the caller promised the same.
        return unsafe { intercept_batch(queue, packets, count, None, writer) };
    }
    // SAFETY: there is one packet. A tool above this one may have placed it unaligned.
    let mut packet = unsafe { packets.cast::<Packet>().read_unaligned() };
    let verdict = if queue.sample(&mut packet) { Verdict::Changed } else { queue.decide(&mut packet) };
    let passed = if verdict > Verdict::Watched { (&raw const packet).cast() } else { packets };
    // SAFETY: the pointer is to one packet, the caller's or its copy.
    unsafe { writer(passed, 1) };
    queue.submitted(verdict);
}

/// Passes on several packets in one call, because their order and their neighbourhood may matter. A checkpoint goes before them.
///
/// # Safety
/// The requirements are those of [`intercept`].
unsafe fn intercept_batch(
    queue: &InterceptedQueue,
    packets: *const c_void,
    count: u64,
    checkpoint: Option<Packet>,
    writer: unsafe extern "C" fn(*const c_void, u64),
) {
    let added = usize::from(checkpoint.is_some());
    let decide = || {
        // SAFETY: the caller promised the same.
        let mut copies = unsafe { copied(queue, packets, count, checkpoint) };
        let of_caller = &mut copies[added..];
        let verdict = if count > queue.shared.largest_staged && !queue.ring.contains(packets as u64) {
            skip_batch(of_caller, &queue.shared);
            Verdict::Passed
        } else {
            of_caller.iter_mut().map(|packet| queue.decide(packet)).max().unwrap_or(Verdict::Passed)
        };
        (copies, verdict)
    };
    let (copies, verdict) = queue.caught(decide, (Vec::new(), Verdict::Passed));
    let are_copies = verdict > Verdict::Watched || copies.len() as u64 > count;
    let (passed, count) =
        if are_copies { (copies.as_ptr().cast(), copies.len() as u64) } else { (packets, count) };
    // SAFETY: the pointer is to `count` packets: the caller's, or their copies behind the checkpoint.
    unsafe { writer(passed, count) };
    queue.submitted(verdict);
    if let Some(mut batch) = queue.batch.enter() {
        *batch = copies;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_queue_works_with_is_freed_when_the_queue_is_destroyed_and_never_before() {
        let data = Arc::new(5);
        let pointer = Arc::downgrade(&data);
        drop(InterceptorData::new(Arc::clone(&data)));
        drop(data);
        assert_eq!(pointer.upgrade().as_deref(), Some(&5), "the queue may still be there");
        let data = Arc::new(6);
        let pointer = Arc::downgrade(&data);
        InterceptorData::new(data).free();
        assert_eq!(pointer.upgrade(), None);
    }
}
