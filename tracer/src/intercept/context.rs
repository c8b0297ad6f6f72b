//! The context of the hooks: the runtime's functions, its GPUs and the queues that are recorded.

use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use hsa_sys::bindings::hsa_queue_t;

use crate::base::api::Api;
use crate::base::counters::Lost;
use crate::base::gpus::Gpu;
use crate::base::kernels::Loader;
use crate::base::published::Published;
use crate::base::settings::Settings;
use crate::base::timed_mutex::TimedMutex;
use crate::base::try_lock::lock;
use crate::base::{fault, log, memory};
use crate::collect::collector::Collector;
use crate::collect::collector::thread::{DOZE, GRACE};
use crate::collect::copies::Copies;
use crate::collect::dispatch::{Queue, QueueOrdinal};
use crate::collect::queue_channel::{BLOCK, queue_channel};
use crate::collect::shared::{Phase, Shared};
use crate::intercept::cooperative::Cooperative;
use crate::intercept::flow_control;
use crate::intercept::staging::{self, Doorbells, Ring};
use crate::intercept::submit::{Attached, Intercepted};
use crate::intercept::unseen::{self, Unseen};
use crate::intercept::wrapped;

/// One life of the runtime, as hooks see it.
pub struct Context {
    /// The runtime's own functions.
    pub api: Api,
    /// The doorbells that must be rung with care, on a runtime that needs it.
    pub doorbells: Option<Doorbells>,
    /// Interceptors may use marker packets.
    has_markers: bool,
    pub shared: Arc<Shared<Loader>>,
    pub settings: Settings,
    gpus: Vec<Gpu>,
    /// Queues of the application that are not recorded.
    unseen: Unseen,
    /// By the address of their `hsa_queue_t`.
    queues: Mutex<HashMap<usize, Leaving>>,
    pub cooperative: Cooperative,
    /// Held while a queue is created.
    pub creations: TimedMutex,
    /// The copies, where they are recorded.
    pub copies: Option<Copies>,
    /// The application has asked for times of its copies.
    pub times_copies: AtomicBool,
    start: Start,
    started: AtomicBool,
    collector: Arc<Mutex<Option<Collector>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
    /// How long the end of the runtime has been waited for, in us.
    waited: AtomicU64,
    pid: AtomicU32,
}

/// A queue that leaves: its number, and what its interceptor works with.
pub type Leaving = (QueueOrdinal, Attached<Intercepted>);

/// Starts the recorder and the collector's thread, which takes the collector from where it is put.
pub type Start = fn(&Context, &Arc<Mutex<Option<Collector>>>) -> io::Result<(Collector, JoinHandle<()>)>;

static CONTEXT: Published<Context> = Published::new();

/// The context of the runtime's present life, or of its last one.
#[inline]
pub fn get() -> Option<&'static Context> {
    CONTEXT.get()
}

/// From now on hooks work with this one. The one before it stays in memory: a thread may still be on its way through one of
/// its queues.
pub fn publish(context: Context) -> &'static Context {
    CONTEXT.set(context)
}

impl Context {
    /// One without queues, whose threads `start` starts when the first queue is created or something is copied.
    pub fn new(api: Api, settings: Settings, gpus: Vec<Gpu>, shared: Shared<Loader>, start: Start) -> Self {
        let needs_care = staging::may_overflow(api.layout.generation());
        Self {
            has_markers: needs_care && wrapped::has_markers(&api.core),
            doorbells: needs_care.then(Doorbells::default),
            copies: (!settings.no_copies).then(Copies::default),
            api,
            shared: Arc::new(shared),
            settings,
            gpus,
            unseen: Unseen::default(),
            queues: Mutex::default(),
            cooperative: Cooperative::default(),
            creations: TimedMutex::default(),
            times_copies: AtomicBool::new(false),
            start,
            started: AtomicBool::new(false),
            collector: Arc::default(),
            thread: Mutex::default(),
            waited: AtomicU64::new(0),
            pid: AtomicU32::new(std::process::id()),
        }
    }

    /// The GPU with this handle, when it is one.
    pub fn gpu(&self, agent: u64) -> Option<u16> {
        self.gpus.iter().find(|gpu| gpu.agent == agent).map(|gpu| gpu.number)
    }

    /// The copies, for one that is about to be submitted: the first one starts the threads.
    pub fn copies(&self) -> Option<&Copies> {
        let copies = self.copies.as_ref()?;
        if !self.started.load(Ordering::Acquire) {
            drop(self.started());
        }
        Some(copies)
    }

    /// Takes note of a new queue. The result lives until [`Context::queue_destroyed`], and for ever where that never comes.
    pub fn queue_created(&self, gpu: u16, ring: Ring, doorbell: u64) -> *const Intercepted {
        let proxy = self.doorbells.as_ref().map(|doorbells| doorbells.add(doorbell, ring));
        let wrapped = proxy.filter(|_| self.has_markers).map(|proxy| &proxy.wrapped);
        let (address, hardware) = (ring.queue, ring.base);
        let ordinal = QueueOrdinal(self.shared.known.queues.add(Queue { gpu, address, hardware }));
        self.shared.makes_slots_ahead.store(true, Ordering::SeqCst);
        // For the first packet, which may come before the collector has made some.
        let mut allowance = BLOCK.1;
        self.shared.pool.stock(BLOCK.1, &mut allowance, &*self.shared.runtime, gpu);
        let (submissions, mut arrivals) = queue_channel(ordinal, gpu);
        let is_controlled = flow_control::is_needed(self.api.layout.generation());
        let shared = Arc::clone(&self.shared);
        let queue = Arc::new(Intercepted::new(shared, submissions, ring, wrapped, is_controlled));
        let other = Arc::clone(&queue);
        arrivals.lender = Some(Box::new(move |keep| other.lend(keep)));
        if let Some(collector) = &mut *self.started() {
            collector.add(arrivals);
        }
        self.shared.parker.notify_at_once();
        let pointer = Arc::as_ptr(&queue);
        lock(&self.queues).insert(address as usize, (ordinal, Attached::new(queue)));
        log::debug(format_args!("queue {} on GPU {gpu} at {address:#x}", ordinal.0));
        pointer
    }

    /// Takes note of a new queue whose packets are not seen. The file says how many there were, also where it has nothing else.
    ///
    /// # Safety
    /// The queue exists until [`Context::unseen_ends`] or the end of the runtime.
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
        if !self.is_ours() || !self.shared.is_recording() {
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

    /// True where this process has begun it, and did not inherit it by a fork.
    pub fn is_ours(&self) -> bool {
        self.pid.load(Ordering::Relaxed) == std::process::id()
    }

    /// The handle of the GPU with this number.
    pub fn agent(&self, gpu: u16) -> Option<u64> {
        self.gpus.iter().find(|known| known.number == gpu).map(|known| known.agent)
    }

    pub fn is_intercepted(&self, address: u64) -> bool {
        lock(&self.queues).contains_key(&(address as usize))
    }

    /// Hands on the completed dispatches of all queues; the number of those in flight.
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
        leaving.1.flow_control.release(true, &*self.shared.runtime);
        self.queue_left(&leaving);
        leaving.1.free();
    }

    /// Takes leave of a queue that nobody uses any more, but which has not been destroyed.
    pub fn queue_left(&self, (ordinal, queue): &Leaving) {
        if let Some(collector) = &mut *lock(&self.collector) {
            collector.remove(*ordinal, &self.shared);
        }
        queue.lend_all();
        queue.flow_control.release(false, &*self.shared.runtime);
        log::debug(format_args!("queue {} destroyed", ordinal.0));
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
        match (self.start)(self, &self.collector) {
            Ok((mut collector, thread)) => {
                if let Some(arrivals) = self.copies.as_ref().and_then(Copies::arrivals) {
                    collector.add_copies(arrivals);
                }
                *guard = Some(collector);
                *lock(&self.thread) = Some(thread);
            }
            Err(error) => {
                log::warn(format_args!("cannot start a thread: {error}; nothing is recorded"));
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
        self.count_unseen();
        self.shared.makes_slots_ahead.store(false, Ordering::SeqCst);
        let begun = Instant::now();
        while self.harvest() > 0 && begun.elapsed() < GRACE {
            std::thread::sleep(DOZE.0);
        }
        self.waited.store(begun.elapsed().as_micros() as u64, Ordering::Relaxed);
        for (_, queue) in lock(&self.queues).values() {
            queue.lend_all();
            queue.flow_control.release(false, &*self.shared.runtime);
        }
        self.shared.pool.clear(&*self.shared.runtime);
    }

    /// The runtime has not ended: someone else uses it.
    pub fn runtime_goes_on(&self) {
        self.shared.makes_slots_ahead.store(true, Ordering::SeqCst);
    }

    /// How long the end of the runtime has been waited for.
    pub fn waited(&self) -> Duration {
        Duration::from_micros(self.waited.load(Ordering::Relaxed))
    }

    /// The collector's thread, for the one caller that waits for its end. Takes no lock that another thread may keep.
    pub fn take_thread(&self) -> Option<JoinHandle<()>> {
        self.thread.try_lock().ok().and_then(|mut thread| thread.take())
    }

    /// True where this process has started the collector's thread.
    pub fn has_started(&self) -> bool {
        self.is_ours() && self.started.load(Ordering::SeqCst)
    }

    /// In the child of a fork: nothing of this is its own, and nothing is touched.
    pub fn forked(&self) {
        self.pid.store(0, Ordering::Relaxed);
        self.shared.advance(Phase::Forked);
    }
}
