//! What the runtime calls with every packet that the application submits, on the application's thread.
//!
//! The runtime calls it under the queue's own lock, before the packets are in the hardware's queue. The packets are never
//! written to, wherever they are: what has to change changes in a copy.

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
use crate::intercept::wrapped::Wrapped;

/// The queue of an application, as its interceptor finds it.
pub struct Intercepted {
    /// The process it is in.
    pub shared: Arc<Shared<Loader>>,
    /// The runtime serialises calls for a queue; the lock holds even for a runtime that does not, and for a thread that gives
    /// the queue's free signals back before the runtime ends.
    pub submissions: TryLock<Submissions>,
    ring: Ring,
    /// The queue of the hardware, on a runtime that needs care.
    wrapped: Option<&'static Wrapped>,
    /// How far the queue of the hardware may be filled, where `is_controlled`.
    pub flow_control: FlowControl,
    is_controlled: bool,
    /// Room for the copies of a batch, kept for the next one.
    batch: TryLock<Vec<Packet>>,
    /// How many packets are counted that were written to the queue and never came here.
    pub bypassed: AtomicU64,
}

impl Intercepted {
    /// A queue that has just been created.
    #[must_use]
    pub fn new(
        shared: Arc<Shared<Loader>>,
        submissions: Submissions,
        ring: Ring,
        wrapped: Option<&'static Wrapped>,
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

    /// The interceptor for it.
    #[must_use]
    pub fn interceptor(&self) -> hsa_amd_queue_intercept_handler {
        Some(match (self.wrapped.is_some(), self.is_controlled) {
            (true, _) => intercept::<true, false>,
            (false, true) => intercept::<false, true>,
            (false, false) => intercept::<false, false>,
        })
    }

    /// Waits for room for these packets in the queue of the hardware; the checkpoint to be submitted before them.
    fn wait_for_room(&self, index: u64, count: u64) -> Option<Packet> {
        // A forked child has no GPU that would make room.
        let waits = || self.shared.phase() != Phase::Forked;
        let wait = || self.flow_control.wait_for_room(index, count, &*self.shared.runtime, waits);
        self.caught(wait, None)
    }

    /// The queue's half of the threads that submit, while dispatches are recorded.
    fn enter(&self) -> Option<TryLockGuard<'_, Submissions>> {
        self.submissions.enter().or_else(|| self.submissions.enter_soon(|| self.shared.is_recording()))
    }

    /// Free slots but for `keep` serve other queues from now on, unless a thread submits at this moment: then the queue is in
    /// use, and the collector has others to look after.
    pub fn lend(&self, keep: usize) {
        self.give_back(keep, || self.submissions.enter());
    }

    /// All free slots serve other queues from now on.
    pub fn lend_all(&self) {
        self.give_back(0, || self.enter());
    }

    fn give_back<'a>(&self, keep: usize, enter: impl Fn() -> Option<TryLockGuard<'a, Submissions>>) {
        let Some(rounds) = enter().map(|submissions| submissions.rounds(keep)) else { return };
        for _ in 0..rounds {
            let Some(mut submissions) = enter() else { return };
            submissions.give_back(keep, &self.shared);
        }
    }

    /// [`Submissions::submit_fast`], where that is possible now.
    #[inline(always)]
    fn decide_usual(&self, packet: &mut Packet, from: &Cell<Submitter>, shared: &Shared<Loader>) -> bool {
        if !shared.is_usual() {
            return false;
        }
        let Some(mut inside) = self.submissions.enter() else { return false };
        inside.submit_fast(packet, from, shared)
    }

    /// Does our part; a panic in it ends the recording and nothing else. The fast path does without: nothing in it can panic.
    fn caught<T>(&self, part: impl FnOnce() -> T, otherwise: T) -> T {
        catch_unwind(AssertUnwindSafe(part)).unwrap_or_else(|_| {
            self.shared.fail();
            otherwise
        })
    }

    /// True where the packet takes the fast path, although it came another way.
    fn takes_fast_path(&self, packet: &mut Packet) -> bool {
        thread::with_known(|from| self.decide_usual(packet, from, &self.shared)).unwrap_or(false)
    }

    /// Times the fast path, where this packet is a sample and takes it.
    fn sample(&self, packet: &mut Packet) -> bool {
        self.shared.takes_sample() && self.shared.known.cost.sample(|| self.takes_fast_path(packet))
    }

    /// Decides about a packet and changes it where it has to carry our signal. Whatever goes wrong in it ends the
    /// recording, not the process.
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
        if self.shared.told {
            tell(packet, verdict);
        }
        verdict
    }

    /// After the packets are in the hardware's queue.
    #[inline]
    fn submitted(&self, verdict: Verdict) {
        match verdict {
            Verdict::Passed => (),
            Verdict::Watched | Verdict::Changed => self.shared.parker.notify(),
            Verdict::Forwarded => self.shared.parker.notify_at_once(),
        }
    }
}

/// A checkpoint and copies of packets, in room that the queue keeps: out of its lock while the runtime works with them.
///
/// # Safety
/// As for [`intercept`].
unsafe fn copied(
    queue: &Intercepted,
    packets: *const c_void,
    count: u64,
    checkpoint: Option<Packet>,
) -> Vec<Packet> {
    let mut copies = queue.batch.enter().map(|mut batch| std::mem::take(&mut *batch)).unwrap_or_default();
    copies.clear();
    copies.extend(checkpoint);
    for at in 0..count as usize {
        // SAFETY: within the packets that the caller has.
        let packet = unsafe { packets.cast::<Packet>().add(at) };
        // SAFETY: as above; a tool above this one may have it anywhere.
        copies.push(unsafe { packet.read_unaligned() });
    }
    copies
}

/// Counts a batch that is left out.
#[cold]
fn skip_batch(packets: &[Packet], shared: &Shared<Loader>) {
    static SAID: AtomicBool = AtomicBool::new(false);
    let largest = shared.largest_staged;
    log::warn_once(&SAID, format_args!("batches of more than {largest} packets are not recorded"));
    for packet in packets {
        Submissions::pass(packet, shared, |counters| counters.skip(Skipped::Batch, 1));
    }
}

/// What the interceptor of a queue works with. The runtime has a pointer to it as long as there is the queue, which may be
/// destroyed without our knowledge, or not be destroyed although that was asked for. So dropping this frees nothing.
pub struct Attached<T>(ManuallyDrop<Arc<T>>);

impl<T> Attached<T> {
    /// Of a queue that has just been created.
    #[must_use]
    pub fn new(data: Arc<T>) -> Self {
        Self(ManuallyDrop::new(data))
    }

    /// The queue has been destroyed.
    pub fn free(self) {
        drop(ManuallyDrop::into_inner(self.0));
    }
}

impl<T> std::ops::Deref for Attached<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

#[cold]
fn tell(packet: &Packet, verdict: Verdict) {
    let what = if packet.is_kernel() { "kernel" } else { "other packet" };
    log::warn(format_args!(
        "{what} kernel_object={:#x} completion_signal={:#x}: {verdict:?}",
        packet.kernel_object(),
        packet.completion()
    ));
}

/// The interceptor of every queue; `IS_WRAPPED` is whether it knows the queue of the hardware, `IS_CONTROLLED` whether it
/// keeps that from becoming full.
///
/// # Safety
/// `packets` points to `count` packets, `data` to the queue's [`Intercepted`], which [`Attached`] keeps until the queue is
/// destroyed; `writer` passes packets on. That is what the runtime promises an interceptor.
pub unsafe extern "C" fn intercept<const IS_WRAPPED: bool, const IS_CONTROLLED: bool>(
    packets: *const c_void,
    count: u64,
    index: u64,
    data: *mut c_void,
    writer: hsa_amd_queue_intercept_packet_writer,
) {
    // SAFETY: the runtime passes its own function to every interceptor; without one, no packet could go on.
    let writer = unsafe { writer.unwrap_unchecked() };
    // SAFETY: `data` is what was registered for this queue.
    let queue = unsafe { &*data.cast::<Intercepted>() };
    if IS_WRAPPED && let Some(wrapped) = queue.wrapped {
        wrapped.all_before(index);
    }
    if IS_CONTROLLED && (count != 1 || !queue.flow_control.has_room(index)) {
        // SAFETY: as the caller promised.
        return unsafe { intercept_with_room(queue, packets, count, index, writer) };
    }
    // The thread comes first: finding it is a call, across which nothing of the packet would stay in registers.
    let is_done = count == 1
        && thread::with_known(|from| {
            let shared = &*queue.shared;
            // SAFETY: there is one packet. A tool above this one may have it anywhere.
            let mut packet = unsafe { packets.cast::<Packet>().read_unaligned() };
            let is_usual = queue.decide_usual(&mut packet, from, shared);
            if is_usual {
                // SAFETY: passes on the copy.
                unsafe { writer((&raw const packet).cast(), 1) };
                shared.parker.notify();
            }
            is_usual
        })
        .unwrap_or(false);
    if is_done {
        return;
    }
    // SAFETY: as the caller promised.
    unsafe { intercept_any(queue, packets, count, index, writer) };
}

/// Packets for which the queue of the hardware may have no room yet. A checkpoint goes on in the same call, because the
/// runtimes that need one allow no second.
///
/// # Safety
/// As for [`intercept`].
#[cold]
unsafe fn intercept_with_room(
    queue: &Intercepted,
    packets: *const c_void,
    count: u64,
    index: u64,
    writer: unsafe extern "C" fn(*const c_void, u64),
) {
    let Some(checkpoint) = queue.wait_for_room(index, count) else {
        // SAFETY: as the caller promised.
        return unsafe { intercept_any(queue, packets, count, index, writer) };
    };
    if count != 1 {
        // SAFETY: as the caller promised.
        return unsafe { intercept_batch(queue, packets, count, Some(checkpoint), writer) };
    }
    // SAFETY: there is one packet. A tool above this one may have it anywhere.
    let mut both = [checkpoint, unsafe { packets.cast::<Packet>().read_unaligned() }];
    let is_usual = queue.takes_fast_path(&mut both[1]);
    let verdict = if is_usual { Verdict::Changed } else { queue.decide(&mut both[1]) };
    // SAFETY: passes on the checkpoint and the copy of one packet.
    unsafe { writer(both.as_ptr().cast(), 2) };
    queue.submitted(verdict);
}

/// What is not of the usual kind.
///
/// # Safety
/// As for [`intercept`].
#[cold]
unsafe fn intercept_any(
    queue: &Intercepted,
    packets: *const c_void,
    count: u64,
    index: u64,
    writer: unsafe extern "C" fn(*const c_void, u64),
) {
    if let Some(wrapped) = queue.wrapped {
        // SAFETY: the writer of this interceptor.
        unsafe { wrapped.ask_for(index, Some(writer)) };
    }
    if count != 1 {
        // SAFETY: as the caller promised.
        return unsafe { intercept_batch(queue, packets, count, None, writer) };
    }
    // SAFETY: there is one packet. A tool above this one may have it anywhere.
    let mut packet = unsafe { packets.cast::<Packet>().read_unaligned() };
    let verdict = if queue.sample(&mut packet) { Verdict::Changed } else { queue.decide(&mut packet) };
    let passed = if verdict > Verdict::Watched { (&raw const packet).cast() } else { packets };
    // SAFETY: passes on one packet: the caller's or its copy.
    unsafe { writer(passed, 1) };
    queue.submitted(verdict);
}

/// Several packets go on in one call, as they came: their order and their neighbourhood may matter. A checkpoint goes
/// before them.
///
/// # Safety
/// As for [`intercept`].
unsafe fn intercept_batch(
    queue: &Intercepted,
    packets: *const c_void,
    count: u64,
    checkpoint: Option<Packet>,
    writer: unsafe extern "C" fn(*const c_void, u64),
) {
    let added = usize::from(checkpoint.is_some());
    let decide = || {
        // SAFETY: as the caller promised.
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
    // SAFETY: passes on as many packets as came, the caller's, or their copies behind the checkpoint.
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
        drop(Attached::new(Arc::clone(&data)));
        drop(data);
        assert_eq!(pointer.upgrade().as_deref(), Some(&5), "the queue may still be there");
        let data = Arc::new(6);
        let pointer = Arc::downgrade(&data);
        Attached::new(data).free();
        assert_eq!(pointer.upgrade(), None);
    }
}
