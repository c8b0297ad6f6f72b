//! What the runtime calls with every packet that the application submits, on the application's thread.
//!
//! The runtime calls it under the queue's own lock, before the packets are in the hardware's queue. The application's
//! memory is never written to: what has to change changes in a copy.

#![expect(unsafe_code, reason = "called by the runtime with the application's packets")]

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

use hsa_sys::bindings::hsa_amd_queue_intercept_packet_writer;

use crate::counters::Skipped;
use crate::kernels::Loader;
use crate::lane::{Submissions, Verdict};
use crate::packet::Packet;
use crate::shared::{Phase, Shared};
use crate::story;
use crate::thread;

/// The queue of an application, as its interceptor finds it.
pub struct Intercepted {
    /// The process it is in.
    pub shared: Arc<Shared<Loader>>,
    /// The runtime serialises calls for a queue; the lock holds even for a runtime that does not, and for the end of
    /// the process.
    pub submissions: Mutex<Submissions>,
    /// Room for the copies of a batch, kept for the next one.
    batch: Mutex<Vec<Packet>>,
}

impl Intercepted {
    /// A queue that has just been created.
    #[must_use]
    pub fn new(shared: Arc<Shared<Loader>>, submissions: Submissions) -> Self {
        Self { shared, submissions: Mutex::new(submissions), batch: Mutex::default() }
    }

    /// Decides about packets and changes those that carry our signals. The highest verdict is for all.
    #[inline]
    fn decide(&self, packets: &mut [Packet]) -> Verdict {
        let shared = &*self.shared;
        let loss = shared.loss();
        let submissions = if loss.is_none() { self.submissions.try_lock().ok() } else { None };
        let Some(mut submissions) = submissions else {
            let why = loss.unwrap_or(crate::counters::Lost::Failure);
            packets.iter().for_each(|packet| {
                Submissions::pass(packet, shared, || shared.counters().lose(why, 1));
            });
            return Verdict::Passed;
        };
        let from = thread::current();
        let mut all = Verdict::Passed;
        for packet in packets {
            let verdict = submissions.submit(packet, from, shared);
            all = all.max(verdict);
            if story::is_told(2) {
                tell(packet, verdict);
            }
        }
        all
    }

    /// The same, and whatever goes wrong in it ends the recording, not the process.
    #[inline]
    fn decide_safely(&self, packets: &mut [Packet]) -> Option<Verdict> {
        let verdict = catch_unwind(AssertUnwindSafe(|| self.decide(packets)));
        if verdict.is_err() {
            self.shared.advance(Phase::Failed);
        }
        verdict.ok()
    }

    /// After the packets are in the hardware's queue.
    #[inline]
    fn submitted(&self, verdict: Verdict) {
        match verdict {
            Verdict::Passed => (),
            Verdict::Watched | Verdict::Changed => self.shared.bell.touch(),
            Verdict::Forwarded => self.shared.bell.ring(),
        }
    }
}

#[cold]
fn tell(packet: &Packet, verdict: Verdict) {
    let what = if packet.is_kernel() { "kernel" } else { "other packet" };
    story::say(format_args!(
        "{what} kernel_object={:#x} completion_signal={:#x}: {verdict:?}",
        packet.kernel_object(),
        packet.completion()
    ));
}

/// The interceptor of every queue.
///
/// # Safety
/// `packets` points to `count` packets, `data` to the queue's [`Intercepted`], which lives until the queue is
/// destroyed; `writer` passes packets on. That is what the runtime promises an interceptor.
pub unsafe extern "C" fn intercept(
    packets: *const c_void,
    count: u64,
    _index: u64,
    data: *mut c_void,
    writer: hsa_amd_queue_intercept_packet_writer,
) {
    let Some(writer) = writer else { return };
    // SAFETY: `data` is what was registered for this queue.
    let queue = unsafe { &*data.cast::<Intercepted>() };
    if count == 1 {
        // SAFETY: there is one packet. A tool above this one may have it anywhere.
        let mut packet = unsafe { packets.cast::<Packet>().read_unaligned() };
        let verdict = queue.decide_safely(std::slice::from_mut(&mut packet));
        let changed = verdict.is_some_and(|verdict| verdict > Verdict::Watched);
        let packets = if changed { (&raw const packet).cast() } else { packets };
        // SAFETY: passes on one packet: the caller's or its copy.
        unsafe { writer(packets, 1) };
        queue.submitted(verdict.unwrap_or(Verdict::Passed));
    } else {
        // SAFETY: as the caller promised.
        unsafe { intercept_batch(queue, packets, count, writer) };
    }
}

/// Several packets go on in one call, as they came: their order and their neighbourhood may matter.
///
/// # Safety
/// As for [`intercept`].
#[cold]
unsafe fn intercept_batch(
    queue: &Intercepted,
    packets: *const c_void,
    count: u64,
    writer: unsafe extern "C" fn(*const c_void, u64),
) {
    let shared = &*queue.shared;
    // Out of the lock while the runtime works with the copies.
    let mut copies = queue.batch.try_lock().map(|mut batch| std::mem::take(&mut *batch)).unwrap_or_default();
    copies.clear();
    for at in 0..count as usize {
        // SAFETY: within the packets that the caller has.
        let packet = unsafe { packets.cast::<Packet>().add(at) };
        // SAFETY: as above; a tool above this one may have it anywhere.
        copies.push(unsafe { packet.read_unaligned() });
    }
    let verdict = if count > shared.largest_batch {
        copies.iter().for_each(|packet| {
            Submissions::pass(packet, shared, || shared.counters().skip(Skipped::Batch, 1));
        });
        Verdict::Passed
    } else {
        queue.decide_safely(&mut copies).unwrap_or(Verdict::Passed)
    };
    let passed = if verdict > Verdict::Watched { copies.as_ptr().cast() } else { packets };
    // SAFETY: passes on as many packets as came: the caller's or their copies.
    unsafe { writer(passed, count) };
    queue.submitted(verdict);
    if let Ok(mut batch) = queue.batch.try_lock() {
        *batch = copies;
    }
}
