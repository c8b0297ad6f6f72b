//! The recording of this process: what is started, and how it ends.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::api::Api;
use crate::collector::{Collector, Pass};
use crate::cooperative::Cooperative;
use crate::dispatch::{Dispatch, Queue, QueueOrdinal};
use crate::gpus::Gpu;
use crate::handover::handover;
use crate::kernels::Loader;
use crate::lane::lane;
use crate::record::{Ending, Recorder};
use crate::runtime::Live;
use crate::settings::Settings;
use crate::shared::{Phase, Shared};
use crate::staging::{self, Doorbells, Ring};
use crate::submit::Intercepted;
use crate::{process, story};

/// Batches between collector and recorder: 262,144 dispatches, 19 MB when they are all full.
const BATCHES: usize = 256;

/// How long the collector dozes while dispatches are in flight: when some have just completed, and at most, when none
/// has for long.
const DOZE: (Duration, Duration) = (Duration::from_micros(500), Duration::from_millis(4));

/// How long it dozes while a signal of the application waits for it: at first, and at most.
const FORWARD_DOZE: (Duration, Duration) = (Duration::from_micros(20), Duration::from_millis(1));

/// How long it goes on dozing when nothing is in flight before it sleeps: a submission that finds it asleep pays for
/// waking it.
const LINGER: Duration = Duration::from_millis(20);

/// How much longer the process may live because of us.
const END: Duration = Duration::from_millis(450);

/// How long the end waits for dispatches that are still running.
const GRACE: Duration = Duration::from_millis(100);

/// The recording of this process.
pub struct Tracer {
    /// The runtime's own functions.
    pub api: Api,
    /// The doorbells that must be rung with care, on a runtime that needs it.
    pub doorbells: Option<Doorbells>,
    shared: Arc<Shared<Loader>>,
    settings: Settings,
    gpus: Vec<Gpu>,
    /// By the address of their `hsa_queue_t`.
    queues: Mutex<HashMap<usize, (QueueOrdinal, Box<Intercepted>)>>,
    /// Those that are never destroyed.
    pub cooperative: Cooperative,
    collector: Arc<Mutex<Option<Collector>>>,
    threads: Mutex<Option<(JoinHandle<()>, Recorder)>>,
    started: AtomicBool,
    ended: AtomicBool,
    pid: AtomicU32,
}

static TRACER: OnceLock<Tracer> = OnceLock::new();

/// The recording, where there is one.
pub fn get() -> Option<&'static Tracer> {
    TRACER.get()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Prepares the recording of this process; `None` when there has been one already. Starts no thread yet.
pub fn prepare(api: Api, settings: Settings, gpus: Vec<Gpu>) -> Option<&'static Tracer> {
    let runtime = Live::new(api.clone(), gpus.iter().map(|gpu| gpu.agent).collect());
    let needs_care = staging::may_overflow(api.layout.generation());
    let mut shared = Shared::new(settings.mode, Loader::new(&api.core), Box::new(runtime));
    shared.largest_staged = if needs_care { staging::STAGED } else { u64::MAX };
    if story::is_told(2) {
        shared.tell_packets();
    }
    let tracer = Tracer {
        api,
        doorbells: needs_care.then(Doorbells::default),
        shared: Arc::new(shared),
        settings,
        gpus,
        queues: Mutex::default(),
        cooperative: Cooperative::default(),
        collector: Arc::default(),
        threads: Mutex::default(),
        started: AtomicBool::new(false),
        ended: AtomicBool::new(false),
        pid: AtomicU32::new(std::process::id()),
    };
    TRACER.set(tracer).ok()?;
    TRACER.get()
}

impl Tracer {
    /// What all threads have in common.
    pub fn shared(&self) -> &Arc<Shared<Loader>> {
        &self.shared
    }

    /// The GPU with this handle, when it is one.
    pub fn gpu(&self, agent: u64) -> Option<u16> {
        self.gpus.iter().find(|gpu| gpu.agent == agent).map(|gpu| gpu.number)
    }

    /// Whether a queue that is created now is recorded.
    pub fn is_recording(&self) -> bool {
        self.shared.phase() == Phase::Recording
    }

    /// Takes note of a new queue. The result lives until [`Tracer::queue_destroyed`].
    pub fn queue_created(&self, gpu: u16, ring: Ring, doorbell: u64) -> *mut Intercepted {
        self.start();
        if let Some(doorbells) = &self.doorbells {
            doorbells.add(doorbell, ring);
        }
        let (address, hardware) = (ring.queue, ring.base);
        let ordinal = QueueOrdinal(self.shared.known.queues.add(Queue { gpu, address, hardware }));
        let (mut submissions, arrivals) = lane(ordinal, gpu);
        submissions.prepare(&self.shared);
        if let Some(collector) = &mut *lock(&self.collector) {
            collector.add(arrivals);
        }
        let mut queue = Box::new(Intercepted::new(Arc::clone(&self.shared), submissions, ring));
        let pointer = &raw mut *queue;
        lock(&self.queues).insert(address as usize, (ordinal, queue));
        story::tell(format_args!("queue {} on GPU {gpu} at {address:#x}", ordinal.0));
        pointer
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

    /// A queue is about to be destroyed.
    pub fn queue_ends(&self, address: u64) {
        self.harvest();
        if let Some(doorbells) = &self.doorbells {
            doorbells.remove(address);
        }
    }

    /// Takes leave of a queue that has been destroyed.
    pub fn queue_destroyed(&self, address: u64) {
        let Some((ordinal, queue)) = lock(&self.queues).remove(&(address as usize)) else { return };
        if let Some(collector) = &mut *lock(&self.collector) {
            collector.remove(ordinal, &self.shared);
        }
        if let Some(mut submissions) = queue.submissions.enter() {
            submissions.retire(&self.shared);
        }
        story::tell(format_args!("queue {} destroyed", ordinal.0));
    }

    /// Starts the threads, once, when the first queue is created.
    fn start(&self) {
        if self.started.swap(true, Ordering::SeqCst) {
            return;
        }
        let (sender, receiver) = handover::<Dispatch>(BATCHES);
        *lock(&self.collector) = Some(Collector::new(sender));
        let known = Arc::clone(&self.shared.known);
        let recorder = Recorder::start(self.settings.clone(), self.gpus.clone(), known, receiver);
        let (collector, shared) = (Arc::clone(&self.collector), Arc::clone(&self.shared));
        let thread = process::spawn("rtl-collect", move || collect(&collector, &shared));
        match (thread, recorder) {
            (Ok(thread), Ok(recorder)) => *lock(&self.threads) = Some((thread, recorder)),
            (Err(error), _) | (_, Err(error)) => {
                story::say(format_args!("cannot start a thread: {error}; nothing is recorded"));
                self.shared.advance(Phase::Failed);
            }
        }
    }

    /// The runtime may be about to end: hands on what has completed, gives what still runs a moment, and gives every
    /// free signal back to the runtime. Recording goes on, should the runtime do so.
    pub fn runtime_ends(&self) {
        if self.pid.load(Ordering::Relaxed) != std::process::id() {
            return;
        }
        let patience = Instant::now() + GRACE;
        while self.harvest() > 0 && Instant::now() < patience {
            std::thread::sleep(DOZE.0);
        }
        for (_, queue) in lock(&self.queues).values() {
            if let Some(mut submissions) = queue.submissions.enter() {
                submissions.retire(&self.shared);
            }
        }
        self.shared.pool.clear(&*self.shared.runtime);
    }

    /// Ends the recording: hands on what has completed, writes it, closes the file. Does so once, whoever calls it and
    /// how often, and takes at most half a second.
    pub fn end(&self) {
        if self.pid.load(Ordering::Relaxed) != std::process::id() || self.ended.swap(true, Ordering::SeqCst) {
            return;
        }
        let deadline = Instant::now() + END;
        let mut ending = Ending::default();
        self.shared.end();
        let threads = self.threads.try_lock().ok().and_then(|mut threads| threads.take());
        if let Some((thread, recorder)) = threads {
            while !thread.is_finished() && Instant::now() < deadline {
                std::thread::sleep(Duration::from_micros(200));
            }
            ending = recorder.finish(deadline);
        }
        let counts = self.shared.counters().snapshot();
        if let Some(line) = story::loss(&counts) {
            let why = ending.failure.map(|why| format!(" ({why})")).unwrap_or_default();
            story::say(format_args!("{line}{why}"));
        }
        if let Some(path) = ending.path {
            story::tell(format_args!("written to {}", path.display()));
        }
        story::tell(format_args!(
            "{} dispatches seen, {} recorded, {} lost, {} skipped",
            counts.seen,
            counts.recorded,
            counts.lost(),
            counts.skipped()
        ));
    }

    /// In the child of a fork: nothing of this is its own, and nothing is touched.
    pub fn forked(&self) {
        self.pid.store(0, Ordering::Relaxed);
        self.shared.advance(Phase::Forked);
    }
}

/// The collector's thread.
fn collect(collector: &Mutex<Option<Collector>>, shared: &Shared<Loader>) {
    process::sleep_finely();
    shared.bell.belong_to(std::thread::current());
    let mut rest = Rest::default();
    let mut patience = None;
    loop {
        let (phase, ending) = (shared.phase(), shared.is_ending());
        let looked = {
            let mut collector = lock(collector);
            let Some(collector) = &mut *collector else { return };
            let look = || match phase {
                Phase::Failed => collector.forward_only(shared),
                _ => collector.pass(ending, shared),
            };
            catch_unwind(AssertUnwindSafe(look))
        };
        let Ok(pass) = looked else {
            // The next pass does no more than what the application waits for.
            shared.advance(Phase::Failed);
            continue;
        };
        let now = Instant::now();
        if ending && (pass.in_flight == 0 || now > *patience.get_or_insert(now + GRACE)) {
            break;
        }
        let doze = rest.after(pass, now);
        let is_work = || match &*lock(collector) {
            Some(collector) => {
                doze.is_none()
                    && (collector.is_behind() || shared.phase() != phase || shared.is_ending() != ending)
            }
            None => true,
        };
        shared.bell.sleep(doze, is_work);
    }
    let collector = lock(collector).take();
    if let Some(collector) = collector {
        collector.end(shared);
    }
}

/// How long the collector rests between two passes.
#[derive(Default)]
struct Rest {
    /// Since when nothing is in flight.
    idle: Option<Instant>,
    /// Since when nothing has completed.
    quiet: Option<Instant>,
    /// Since when a signal of the application waits.
    forwarding: Option<Instant>,
}

impl Rest {
    /// For how long, after such a pass; without end when there is nothing to do.
    fn after(&mut self, pass: Pass, now: Instant) -> Option<Duration> {
        let since = |start: &mut Option<Instant>, holds: bool| {
            if !holds {
                *start = None;
                return Duration::ZERO;
            }
            now.saturating_duration_since(*start.get_or_insert(now))
        };
        let forwarding = since(&mut self.forwarding, pass.forwards > 0);
        let quiet = since(&mut self.quiet, pass.in_flight > 0 && pass.completed == 0);
        let idle = since(&mut self.idle, pass.in_flight == 0 && pass.completed == 0);
        if pass.forwards > 0 {
            Some((forwarding / 16).clamp(FORWARD_DOZE.0, FORWARD_DOZE.1))
        } else if pass.in_flight > 0 {
            Some((quiet / 8).clamp(DOZE.0, DOZE.1))
        } else {
            (idle < LINGER).then_some(DOZE.0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_collector_rests_longer_the_longer_it_has_nothing_to_do() {
        let (mut rest, start) = (Rest::default(), Instant::now());
        let mut after = |completed, in_flight, forwards, at| {
            rest.after(Pass { completed, in_flight, forwards }, start + Duration::from_millis(at))
        };
        assert_eq!(after(5, 5, 0, 0), Some(DOZE.0));
        assert_eq!(after(0, 5, 0, 10), Some(DOZE.0), "quiet since now");
        assert_eq!(after(0, 5, 0, 34), Some(Duration::from_millis(3)));
        assert_eq!(after(0, 5, 0, 1000), Some(DOZE.1), "a kernel that runs for long");
        assert_eq!(after(1, 5, 0, 1001), Some(DOZE.0), "something completed");
        assert_eq!(after(0, 5, 1, 1010), Some(FORWARD_DOZE.0), "the application waits");
        assert_eq!(after(0, 5, 1, 1018), Some(Duration::from_micros(500)));
        assert_eq!(after(0, 5, 1, 2000), Some(FORWARD_DOZE.1));
        assert_eq!(after(1, 0, 0, 2001), Some(DOZE.0));
        assert_eq!(after(0, 0, 0, 2002), Some(DOZE.0), "more may come");
        assert_eq!(after(0, 0, 0, 2030), None, "rung for when there is work");
        assert_eq!(after(0, 1, 0, 2031), Some(DOZE.0));
    }
}
