//! The recording of one life of the runtime, from its start to its shutdown: what is started, and how it ends.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use hsa_sys::bindings::hsa_queue_t;

use crate::api::Api;
use crate::collector::Collector;
use crate::collector::thread::{DOZE, GRACE, collect};
use crate::cooperative::Cooperative;
use crate::copies::Copies;
use crate::counters::Lost;
use crate::dispatch::{Queue, QueueOrdinal};
use crate::fault;
use crate::gpus::Gpu;
use crate::kernels::Loader;
use crate::lane::{BLOCK, lane};
use crate::latch::lock;
use crate::runtime::Live;
use crate::settings::Settings;
use crate::shared::{Phase, Shared};
use crate::staging::{self, Doorbells, Ring};
use crate::submit::{Attached, Intercepted};
use crate::turns::Turns;
use crate::unseen::{self, Unseen};
use crate::{control, process, recording, story, wrapped};

/// How long the end of a recording may take.
pub(crate) const END: Duration = Duration::from_millis(450);

/// The recording of one life of the runtime.
pub struct Tracer {
    /// The runtime's own functions.
    pub api: Api,
    /// The doorbells that must be rung with care, on a runtime that needs it.
    pub doorbells: Option<Doorbells>,
    /// Whether interceptors may use marker packets.
    has_markers: bool,
    /// What all threads have in common.
    pub shared: Arc<Shared<Loader>>,
    /// What the environment asks for.
    pub settings: Settings,
    gpus: Vec<Gpu>,
    /// Queues of the application that are not recorded.
    unseen: Unseen,
    /// By the address of their `hsa_queue_t`.
    queues: Mutex<HashMap<usize, Leaving>>,
    /// Those that are never destroyed.
    pub cooperative: Cooperative,
    /// Who creates one.
    pub creations: Turns,
    /// The copies, where they are recorded.
    pub copies: Option<Copies>,
    /// Whether the application has asked for times of its copies.
    pub times_copies: AtomicBool,
    collector: Arc<Mutex<Option<Collector>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
    started: AtomicBool,
    ended: AtomicBool,
    /// How long the end of the runtime has been waited for, in us.
    waited: AtomicU64,
    unloaded: AtomicBool,
    pid: AtomicU32,
}

/// A queue that leaves: its number, and what its interceptor works with.
pub type Leaving = (QueueOrdinal, Attached<Intercepted>);

static TRACER: AtomicPtr<Tracer> = AtomicPtr::new(std::ptr::null_mut());

/// The recording, where there is one: that of the runtime's present life, or of its last one.
#[expect(unsafe_code, reason = "a pointer that is read by threads of the application at any time")]
pub fn get() -> Option<&'static Tracer> {
    // SAFETY: null, or what `begin` put there, which is never freed.
    unsafe { TRACER.load(Ordering::Acquire).as_ref() }
}

/// Prepares the recording of a life of the runtime that begins. Starts no thread yet. The one before it ends, but stays
/// in memory: a thread may still be on its way through one of its queues.
pub fn begin(api: Api, settings: Settings, gpus: Vec<Gpu>) -> &'static Tracer {
    if let Some(before) = get() {
        before.end();
        control::renew();
    }
    let runtime = Live::new(api.clone(), gpus.iter().map(|gpu| gpu.agent).collect());
    let needs_care = staging::may_overflow(api.layout.generation());
    let known = recording::known();
    known.budget.set_bound(settings.buffer);
    let mut shared = Shared::new(settings.mode, known, Loader::new(&api.core), Box::new(runtime));
    shared.largest_staged = if needs_care { staging::STAGED } else { u64::MAX };
    if story::is_told(2) {
        shared.tell_packets();
    }
    if settings.host_dispatch {
        shared.time_submissions();
    }
    shared.pause(control::is_paused());
    shared.records_barriers = settings.barriers;
    let copies = (!settings.no_copies).then(Copies::default);
    let tracer = Tracer {
        has_markers: needs_care && wrapped::has_markers(&api.core),
        api,
        doorbells: needs_care.then(Doorbells::default),
        shared: Arc::new(shared),
        settings,
        gpus,
        unseen: Unseen::default(),
        queues: Mutex::default(),
        cooperative: Cooperative::default(),
        creations: Turns::default(),
        copies,
        times_copies: AtomicBool::new(false),
        collector: Arc::default(),
        thread: Mutex::default(),
        started: AtomicBool::new(false),
        ended: AtomicBool::new(false),
        waited: AtomicU64::new(0),
        unloaded: AtomicBool::new(false),
        pid: AtomicU32::new(std::process::id()),
    };
    let tracer = Box::leak(Box::new(tracer));
    TRACER.store(tracer, Ordering::Release);
    tracer
}

impl Tracer {
    /// The GPU with this handle, when it is one.
    pub fn gpu(&self, agent: u64) -> Option<u16> {
        self.gpus.iter().find(|gpu| gpu.agent == agent).map(|gpu| gpu.number)
    }

    /// The same, for one that is about to be submitted: starts the threads at the first one.
    pub fn copies(&self) -> Option<&Copies> {
        let copies = self.copies.as_ref()?;
        if !self.started.load(Ordering::Acquire) {
            drop(self.started());
        }
        Some(copies)
    }

    /// Takes note of a new queue. The result lives until [`Tracer::queue_destroyed`], and for ever where that never comes.
    pub fn queue_created(&self, gpu: u16, ring: Ring, doorbell: u64) -> *const Intercepted {
        let proxy = self.doorbells.as_ref().map(|doorbells| doorbells.add(doorbell, ring));
        let wrapped = proxy.filter(|_| self.has_markers).map(|proxy| &proxy.wrapped);
        let (address, hardware) = (ring.queue, ring.base);
        let ordinal = QueueOrdinal(self.shared.known.queues.add(Queue { gpu, address, hardware }));
        self.shared.makes_slots_ahead.store(true, Ordering::SeqCst);
        // For the first packet, which may come before the collector has made some.
        let mut allowance = BLOCK.1;
        self.shared.pool.stock(BLOCK.1, &mut allowance, &*self.shared.runtime, gpu);
        let (submissions, mut arrivals) = lane(ordinal, gpu);
        let queue = Arc::new(Intercepted::new(Arc::clone(&self.shared), submissions, ring, wrapped));
        let other = Arc::clone(&queue);
        arrivals.lender = Some(Box::new(move |keep| other.lend(keep)));
        if let Some(collector) = &mut *self.started() {
            collector.add(arrivals);
        }
        self.shared.bell.ring();
        let pointer = Arc::as_ptr(&queue);
        lock(&self.queues).insert(address as usize, (ordinal, Attached::new(queue)));
        story::tell(format_args!("queue {} on GPU {gpu} at {address:#x}", ordinal.0));
        pointer
    }

    /// Takes note of a new queue whose packets are not seen. The file says how many there were, also where it has nothing else.
    ///
    /// # Safety
    /// The queue exists until [`Tracer::unseen_ends`] or the end of the runtime.
    #[expect(unsafe_code, reason = "takes a queue of the runtime")]
    pub unsafe fn queue_unseen(&self, queue: *mut hsa_queue_t, why: Lost) {
        // SAFETY: as the caller promised.
        unsafe { self.unseen.add(queue, why, &self.api.core) };
        drop(self.started());
    }

    /// A queue is about to be destroyed or released, which may be one whose packets are not seen.
    pub fn unseen_ends(&self, queue: u64) {
        self.unseen.remove(queue, &self.api.core, &self.shared.known.packets);
    }

    /// Counts the packets that were not seen so far, while the runtime still has its queues. Waits for no lock.
    pub fn count_unseen(&self) {
        if !self.is_ours() || self.unloaded.load(Ordering::SeqCst) || !self.shared.is_recording() {
            return;
        }
        self.unseen.count(&self.api.core, &self.shared.known.packets);
        if let Ok(queues) = self.queues.try_lock() {
            queues.iter().for_each(|(&address, (_, queue))| self.count_bypassed(address, queue));
        }
    }

    /// Counts what was written to a queue that is recorded, past its interceptor.
    #[expect(unsafe_code, reason = "asks the runtime about a queue")]
    fn count_bypassed(&self, address: usize, queue: &Intercepted) {
        // SAFETY: the queue has not been destroyed yet, or our hook would have taken it from the list.
        let packets = unsafe { unseen::bypassed(address as *const hsa_queue_t, &self.api.core) };
        let before = queue.bypassed.fetch_max(packets, Ordering::Relaxed);
        unseen::lose(Lost::Bypassed, packets.saturating_sub(before), &self.shared.known.packets);
    }

    /// Whether this process has begun it, and did not inherit it by a fork.
    pub fn is_ours(&self) -> bool {
        self.pid.load(Ordering::Relaxed) == std::process::id()
    }

    /// The handle of the GPU with this number.
    pub fn agent(&self, gpu: u16) -> Option<u64> {
        self.gpus.iter().find(|known| known.number == gpu).map(|known| known.agent)
    }

    /// Whether this is a queue that is recorded.
    pub fn is_intercepted(&self, address: u64) -> bool {
        lock(&self.queues).contains_key(&(address as usize))
    }

    /// What has completed on any queue is handed on; how much is in flight.
    pub fn harvest(&self) -> usize {
        let mut collector = lock(&self.collector);
        collector.as_mut().map_or(0, |collector| collector.pass(true, &self.shared).in_flight)
    }

    /// After a failure: decrements the signals of the application that wait for it, and looks at no others any more. The
    /// process may be at its end, where a lock may be taken for good: nobody is waited for beyond a moment.
    pub fn forward_only(&self) {
        let until = Instant::now() + DOZE.0;
        loop {
            let collector = match self.collector.try_lock() {
                Ok(collector) => Some(collector),
                Err(TryLockError::Poisoned(collector)) => Some(collector.into_inner()),
                Err(TryLockError::WouldBlock) => None,
            };
            match collector {
                Some(mut collector) => {
                    if let Some(collector) = &mut *collector {
                        collector.forward_only(&self.shared);
                    }
                    return;
                }
                None if Instant::now() < until => std::thread::yield_now(),
                None => return,
            }
        }
    }

    /// A queue is about to be destroyed, if it is recorded: what it was is given up until that has happened.
    pub fn queue_ends(&self, address: u64) -> Option<Leaving> {
        let leaving = lock(&self.queues).remove(&(address as usize))?;
        self.count_bypassed(address as usize, &leaving.1);
        if let Some(collector) = &mut *lock(&self.collector) {
            collector.harvest(leaving.0, &self.shared);
        }
        Some(leaving)
    }

    /// A queue could not be destroyed.
    pub fn queue_stays(&self, address: u64, leaving: Leaving) {
        lock(&self.queues).insert(address as usize, leaving);
    }

    /// Takes leave of a queue that has been destroyed: nothing calls its interceptor any more.
    pub fn queue_destroyed(&self, leaving: Leaving) {
        self.queue_left(&leaving);
        leaving.1.free();
    }

    /// Takes leave of a queue that nobody uses any more, but which has not been destroyed.
    pub fn queue_left(&self, (ordinal, queue): &Leaving) {
        if let Some(collector) = &mut *lock(&self.collector) {
            collector.remove(*ordinal, &self.shared);
        }
        queue.lend(0);
        story::tell(format_args!("queue {} destroyed", ordinal.0));
    }

    /// The collector, while there is one. Starts the threads when the first queue is created or something is copied; who
    /// creates a queue at the same moment waits for that, since a queue that the collector does not know is never looked at.
    fn started(&self) -> MutexGuard<'_, Option<Collector>> {
        let mut guard = lock(&self.collector);
        if self.started.swap(true, Ordering::SeqCst) {
            return guard;
        }
        for gpu in &self.gpus {
            self.shared.known.gpus.add(gpu.clone());
        }
        let sender = recording::open(&self.settings);
        let (collecting, shared) = (Arc::clone(&self.collector), Arc::clone(&self.shared));
        let thread = process::spawn("rtl-collect", move || collect(&collecting, &shared));
        match (thread, sender) {
            (Ok(thread), Ok(sender)) => {
                let mut collector = Collector::new(sender);
                if let Some(arrivals) = self.copies.as_ref().and_then(Copies::arrivals) {
                    collector.add_copies(arrivals);
                }
                *guard = Some(collector);
                *lock(&self.thread) = Some(thread);
            }
            (Err(error), _) | (_, Err(error)) => {
                story::say(format_args!("cannot start a thread: {error}; nothing is recorded"));
                self.shared.advance(Phase::Failed);
            }
        }
        guard
    }

    /// The runtime may be about to end: hands on what has completed, gives what still runs a moment, and gives every
    /// free signal back to the runtime. Recording goes on, should the runtime do so.
    pub fn runtime_ends(&self) {
        fault::point("runtime-ends");
        if !self.is_ours() {
            return;
        }
        self.count_unseen();
        self.shared.makes_slots_ahead.store(false, Ordering::SeqCst);
        let begun = Instant::now();
        while self.harvest() > 0 && begun.elapsed() < GRACE {
            std::thread::sleep(DOZE.0);
        }
        self.waited.store(begun.elapsed().as_micros() as u64, Ordering::Relaxed);
        for (_, queue) in lock(&self.queues).values() {
            queue.lend(0);
        }
        self.shared.pool.clear(&*self.shared.runtime);
    }

    /// The runtime has not ended: someone else uses it.
    pub fn runtime_goes_on(&self) {
        self.shared.makes_slots_ahead.store(true, Ordering::SeqCst);
    }

    /// Gives every free signal back to a runtime that nobody has shut down, as the process exits. Whoever ends the process
    /// may have interrupted a thread that holds a lock of the tracer or of the runtime: so it is done by another thread,
    /// and not waited for beyond `deadline`.
    pub fn give_signals_back(&'static self, deadline: Instant) {
        if !self.is_ours() || self.unloaded.load(Ordering::SeqCst) || self.shared.pool.is_empty() {
            return;
        }
        if let Ok(thread) = process::spawn("rtl-exit", || self.runtime_ends()) {
            while !thread.is_finished() && Instant::now() < deadline {
                std::thread::sleep(Duration::from_micros(100));
            }
        }
    }

    /// Ends the recording: hands on what has completed, writes it, closes the file. Does so once, whoever calls it and
    /// how often, and takes at most half a second.
    pub fn end(&self) {
        if !self.is_ours() || self.ended.swap(true, Ordering::SeqCst) {
            return;
        }
        // What the same end of the runtime has taken before is not taken again.
        let waited = Duration::from_micros(self.waited.load(Ordering::Relaxed)).min(GRACE);
        let deadline = Instant::now() + (END - waited);
        self.shared.end();
        if let Some(thread) = self.thread.try_lock().ok().and_then(|mut thread| thread.take()) {
            while !thread.is_finished() && Instant::now() < deadline {
                std::thread::sleep(Duration::from_micros(200));
            }
        }
        let ending = recording::end(deadline);
        let known = &self.shared.known;
        let why = ending.failure.map(|why| format!(" ({why})")).unwrap_or_default();
        for (counters, what) in [
            (&known.counters, "kernel dispatches"),
            (&known.copies, "copies"),
            (&known.barriers, "barriers"),
            (&known.packets, "packets"),
            (&known.calls[0], "calls of HIP"),
            (&known.calls[1], "calls of HSA"),
        ] {
            let counts = counters.snapshot();
            let counts = match ending.rest {
                Some(why) => counts.without_the_rest(why),
                None => counts,
            };
            if let Some(line) = story::loss(&counts, what) {
                let hint = match what {
                    "kernel dispatches" => story::hint(&counts, known.budget.bound()),
                    _ => String::new(),
                };
                story::say_of_file(format_args!("{line}{why}{hint}"));
            }
            story::tell(format_args!(
                "{} {what} seen, {} recorded, {} lost, {} skipped",
                counts.seen,
                counts.recorded,
                counts.lost(),
                counts.skipped()
            ));
        }
        if let Some(path) = ending.path {
            story::tell(format_args!("written to {}", path.display()));
        }
    }

    /// The runtime has ended: its signals are gone.
    pub fn unload(&self) {
        self.end();
        self.unloaded.store(true, Ordering::SeqCst);
    }

    /// The process leaves without an end: from now on the collector hands over what has completed and ends. Whether there
    /// is one. Takes no lock.
    pub fn leaves(&self) -> bool {
        let is_collecting = self.is_collecting();
        if is_collecting {
            self.shared.end();
        }
        is_collecting
    }

    /// The process may end in a moment: tells whether by now everything has been handed over that has completed. `None`
    /// where there is no collector. Takes no lock.
    pub fn pass(&'static self) -> Option<impl Fn() -> bool> {
        // One pass may be under way.
        let passes = |tracer: &Self| tracer.shared.known.passes.load(Ordering::Acquire);
        let enough = passes(self) + 2;
        self.is_collecting().then_some(move || {
            self.shared.bell.ring();
            passes(self) >= enough
        })
    }

    fn is_collecting(&self) -> bool {
        let is_here = self.pid.load(Ordering::Relaxed) == std::process::id();
        is_here && self.started.load(Ordering::SeqCst) && !self.ended.load(Ordering::SeqCst)
    }

    /// In the child of a fork: nothing of this is its own, and nothing is touched.
    pub fn forked(&self) {
        self.pid.store(0, Ordering::Relaxed);
        self.shared.advance(Phase::Forked);
    }
}
