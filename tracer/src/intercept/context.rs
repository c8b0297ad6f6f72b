//! The context of the hooks: the runtime's functions, its GPUs and the recorded queues.

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
use crate::intercept::cooperative::CooperativeQueues;
use crate::intercept::flow_control;
use crate::intercept::staging::{self, Doorbells, Ring};
use crate::intercept::submit::{InterceptedQueue, InterceptorData};
use crate::intercept::unseen::{self, UnseenQueues};
use crate::intercept::wrapped;

/// One life of the runtime, as hooks see it.
pub struct Context {
    /// The runtime's own functions.
    pub api: Api,
    /// Doorbells that must be rung with care, on a runtime that needs it.
    pub doorbells: Option<Doorbells>,
    /// True if interceptors may use marker packets.
    has_markers: bool,
    pub shared: Arc<Shared<Loader>>,
    pub settings: Settings,
    gpus: Vec<Gpu>,
    /// Queues of the application that are not recorded.
    unseen: UnseenQueues,
    /// Queues by the address of their `hsa_queue_t`.
    queues: Mutex<HashMap<usize, RegisteredQueue>>,
    pub cooperative: CooperativeQueues,
    /// Held while a queue is created.
    pub creations: TimedMutex,
    /// `None` where copies are not recorded.
    pub copies: Option<Copies>,
    /// True if the application has enabled times of its copies.
    pub times_copies: AtomicBool,
    start: StartThreads,
    started: AtomicBool,
    collector: Arc<Mutex<Option<Collector>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
    /// Time in us that the end of the runtime was delayed.
    waited: AtomicU64,
    pid: AtomicU32,
}

/// A recorded queue: its number, and the data of its interceptor.
pub type RegisteredQueue = (QueueOrdinal, InterceptorData<InterceptedQueue>);

/// Starts the recorder and the collector's thread, which takes the collector out of the given place.
pub type StartThreads =
    fn(&Context, &Arc<Mutex<Option<Collector>>>) -> io::Result<(Collector, JoinHandle<()>)>;

static CONTEXT: Published<Context> = Published::new();

/// The context of the runtime's present life, or of its last one.
#[inline]
pub fn get() -> Option<&'static Context> {
    CONTEXT.get()
}

/// Makes hooks use this context. The one before it stays in memory, because a thread may still be in one of its queues.
pub fn publish(context: Context) -> &'static Context {
    CONTEXT.set(context)
}

impl Context {
    /// A context without queues. `start` starts the threads when the first queue is created or something is copied.
    pub fn new(
        api: Api,
        settings: Settings,
        gpus: Vec<Gpu>,
        shared: Shared<Loader>,
        start: StartThreads,
    ) -> Self {
        let needs_care = staging::may_overflow(api.layout.generation());
        Self {
            has_markers: needs_care && wrapped::has_markers(&api.core),
            doorbells: needs_care.then(Doorbells::default),
            copies: (!settings.no_copies).then(Copies::default),
            api,
            shared: Arc::new(shared),
            settings,
            gpus,
            unseen: UnseenQueues::default(),
            queues: Mutex::default(),
            cooperative: CooperativeQueues::default(),
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

    /// The number of the agent's GPU; `None` if the agent is none.
    pub fn gpu(&self, agent: u64) -> Option<u16> {
        self.gpus.iter().find(|gpu| gpu.agent == agent).map(|gpu| gpu.number)
    }

    /// Called for a copy that is about to be submitted; the first one starts the threads.
    pub fn copies(&self) -> Option<&Copies> {
        let copies = self.copies.as_ref()?;
        if !self.started.load(Ordering::Acquire) {
            drop(self.started());
        }
        Some(copies)
    }

    /// Registers a new queue. The result lives until [`Context::queue_destroyed`], and for ever where that is not called.
    pub fn queue_created(&self, gpu: u16, ring: Ring, doorbell: u64) -> *const InterceptedQueue {
        let proxy = self.doorbells.as_ref().map(|doorbells| doorbells.add(doorbell, ring));
        let wrapped = proxy.filter(|_| self.has_markers).map(|proxy| &proxy.wrapped);
        let (address, hardware) = (ring.queue, ring.base);
        let ordinal = QueueOrdinal(self.shared.known.queues.add(Queue { gpu, address, hardware }));
        self.shared.makes_slots_ahead.store(true, Ordering::SeqCst);
        // This allows for the first packet, which may come before the collector has made slots.
        let mut allowance = BLOCK.1;
        self.shared.pool.stock(BLOCK.1, &mut allowance, &*self.shared.runtime, gpu);
        let (submissions, mut arrivals) = queue_channel(ordinal, gpu);
        let is_controlled = flow_control::is_needed(self.api.layout.generation());
        let shared = Arc::clone(&self.shared);
        let queue = Arc::new(InterceptedQueue::new(shared, submissions, ring, wrapped, is_controlled));
        let other = Arc::clone(&queue);
        arrivals.release_slots = Some(Box::new(move |keep| other.release_slots(keep)));
        if let Some(collector) = &mut *self.started() {
            collector.add(arrivals);
        }
        self.shared.parker.notify_at_once();
        let pointer = Arc::as_ptr(&queue);
        lock(&self.queues).insert(address as usize, (ordinal, InterceptorData::new(queue)));
        log::debug(format_args!("queue {} on GPU {gpu} at {address:#x}", ordinal.0));
        pointer
    }

    /// Registers a new queue whose packets are not seen, so that the file at least has their number.
    ///
    /// # Safety
    /// The queue exists until [`Context::unseen_ends`] or the end of the runtime.
    #[expect(unsafe_code, reason = "takes a queue of the runtime")]
    pub unsafe fn queue_unseen(&self, queue: *mut hsa_queue_t, why: Lost) {
        // SAFETY: the caller promised that the queue exists.
        unsafe { self.unseen.add(queue, why, &self.api.core) };
        drop(self.started());
    }

    /// Called before a queue is destroyed or released, which may be one whose packets are not seen.
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

    /// Counts packets that were written to a recorded queue past its interceptor.
    #[expect(unsafe_code, reason = "asks the runtime about a queue")]
    fn count_bypassed(&self, address: usize, queue: &InterceptedQueue) {
        // SAFETY: the queue has not been destroyed yet, or our hook would have taken it from the list.
        let packets = unsafe { unseen::bypassed(address as *const hsa_queue_t, &self.api.core) };
        let before = queue.bypassed.fetch_max(packets, Ordering::Relaxed);
        unseen::lose(Lost::Bypassed, packets.saturating_sub(before), &self.shared.known.packets);
    }

    /// True where this process has made the context, and did not inherit it by a fork.
    pub fn is_ours(&self) -> bool {
        self.pid.load(Ordering::Relaxed) == std::process::id()
    }

    /// Handle of the GPU with this number.
    pub fn agent(&self, gpu: u16) -> Option<u64> {
        self.gpus.iter().find(|known| known.number == gpu).map(|known| known.agent)
    }

    pub fn is_intercepted(&self, address: u64) -> bool {
        lock(&self.queues).contains_key(&(address as usize))
    }

    /// Hands over the completed dispatches of all queues; returns the number of those in flight.
    pub fn harvest(&self) -> usize {
        let mut collector = lock(&self.collector);
        collector.as_mut().map_or(0, |collector| collector.pass(true, &self.shared).in_flight)
    }

    /// After a failure: decrements the signals of the application that wait for it, and watches no others any more. At the end of
    /// the process the holder of a lock may be gone, so this waits only for a moment.
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

    /// Called before a queue is destroyed; returns it if it is recorded, for the time until that has happened.
    pub fn queue_ends(&self, address: u64) -> Option<RegisteredQueue> {
        let leaving = lock(&self.queues).remove(&(address as usize))?;
        self.count_bypassed(address as usize, &leaving.1);
        if let Some(collector) = &mut *lock(&self.collector) {
            collector.harvest(leaving.0, &self.shared);
        }
        Some(leaving)
    }

    /// Called when a queue could not be destroyed.
    pub fn queue_stays(&self, address: u64, leaving: RegisteredQueue) {
        lock(&self.queues).insert(address as usize, leaving);
    }

    /// Frees the data of a queue that has been destroyed, because nothing calls its interceptor any more.
    pub fn queue_destroyed(&self, leaving: RegisteredQueue) {
        leaving.1.flow_control.release(true, &*self.shared.runtime);
        self.queue_left(&leaving);
        leaving.1.free();
    }

    /// Gives up a queue that nobody uses any more, but which has not been destroyed.
    pub fn queue_left(&self, (ordinal, queue): &RegisteredQueue) {
        if let Some(collector) = &mut *lock(&self.collector) {
            collector.remove(*ordinal, &self.shared);
        }
        queue.release_all_slots();
        queue.flow_control.release(false, &*self.shared.runtime);
        log::debug(format_args!("queue {} destroyed", ordinal.0));
    }

    /// The collector, while there is one. Starts the threads when the first queue is created or something is copied. A thread
    /// that creates a queue at the same moment waits for that, because the collector must know every queue.
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
                // Without memory nothing is recorded anyway, and signals are given back at the end.
                if !memory::is_short() {
                    self.shared.advance(Phase::Failed);
                }
            }
        }
        guard
    }

    /// Called when the runtime may be about to end: hands over what has completed, waits a moment for the rest, and gives every
    /// free signal back to the runtime. Recording goes on if the runtime does.
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
            queue.release_all_slots();
            queue.flow_control.release(false, &*self.shared.runtime);
        }
        self.shared.pool.clear(&*self.shared.runtime);
    }

    /// Called when the runtime has not ended, because other code uses it.
    pub fn runtime_goes_on(&self) {
        self.shared.makes_slots_ahead.store(true, Ordering::SeqCst);
    }

    /// The time that the end of the runtime was delayed.
    pub fn waited(&self) -> Duration {
        Duration::from_micros(self.waited.load(Ordering::Relaxed))
    }

    /// The collector's thread, for the one caller that waits for its end. Does not wait for a lock.
    pub fn take_thread(&self) -> Option<JoinHandle<()>> {
        self.thread.try_lock().ok().and_then(|mut thread| thread.take())
    }

    /// True where this process has started the collector's thread.
    pub fn has_started(&self) -> bool {
        self.is_ours() && self.started.load(Ordering::SeqCst)
    }

    /// Called in the child of a fork, which owns none of the queues and threads, so nothing else is touched.
    pub fn forked(&self) {
        self.pid.store(0, Ordering::Relaxed);
        self.shared.advance(Phase::Forked);
    }
}
