//! The recording of one life of the runtime, from its start to its shutdown: what is started, and how it ends.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::api::Api;
use crate::collector::Collector;
use crate::collector::thread::{DOZE, GRACE, collect};
use crate::cooperative::Cooperative;
use crate::copies::Copies;
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
use crate::submit::Intercepted;
use crate::turns::Turns;
use crate::{control, headroom, memory, process, recording, story, wrapped};

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
pub type Leaving = (QueueOrdinal, Arc<Intercepted>);

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
        memory::try_again();
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

    /// Takes note of a new queue. The result lives until [`Tracer::queue_destroyed`].
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
        lock(&self.queues).insert(address as usize, (ordinal, queue));
        story::tell(format_args!("queue {} on GPU {gpu} at {address:#x}", ordinal.0));
        pointer
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

    /// A queue is about to be destroyed, if it is recorded: what it was is given up until that has happened.
    pub fn queue_ends(&self, address: u64) -> Option<Leaving> {
        let leaving = lock(&self.queues).remove(&(address as usize))?;
        if let Some(collector) = &mut *lock(&self.collector) {
            collector.harvest(leaving.0, &self.shared);
        }
        Some(leaving)
    }

    /// A queue could not be destroyed.
    pub fn queue_stays(&self, address: u64, leaving: Leaving) {
        lock(&self.queues).insert(address as usize, leaving);
    }

    /// Takes leave of a queue that has been destroyed.
    pub fn queue_destroyed(&self, (ordinal, queue): Leaving) {
        if let Some(collector) = &mut *lock(&self.collector) {
            collector.remove(ordinal, &self.shared);
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
        let collect = move || collect(&collecting, &shared);
        let thread = headroom::for_a_thread().and_then(|()| process::spawn("rtl-collect", collect));
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
                // Without memory nothing is recorded as it is, and signals are given back at the end.
                if !memory::is_short() {
                    self.shared.advance(Phase::Failed);
                }
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
