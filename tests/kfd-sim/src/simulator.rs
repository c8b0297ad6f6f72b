//! The state of the simulated driver for a process: made at the first use, kept until the process ends.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::clock::{self, Clocks};
use crate::device::{Device, Doorbell};
use crate::dma_queue::DmaQueue;
use crate::engine;
use crate::events::Events;
use crate::hsa;
use crate::log::{self, Log};
use crate::memory::Memory;
use crate::movement::Movement;
use crate::process;
use crate::queue::{Layout, Queue};
use crate::settings::Settings;

/// The queues of the process, in the order of their creation.
#[derive(Debug, Default)]
pub(crate) struct Queues {
    pub(crate) list: Vec<Queue>,
    pub(crate) dma: Vec<DmaQueue>,
    last_id: u32,
    engine_started: bool,
}

/// The format of a queue's content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Aql,
    Dma,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Aql => "aql",
            Self::Dma => "dma",
        }
    }
}

/// A new queue, for the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NewQueue {
    pub(crate) id: u32,
    pub(crate) doorbell: Doorbell,
}

#[derive(Debug)]
pub(crate) struct Simulator {
    pub(crate) settings: Settings,
    pub(crate) device: Device,
    pub(crate) events: Events,
    pub(crate) log: Log,
    /// Threads that want to create or destroy a queue.
    pub(crate) visitors: AtomicUsize,
    pub(crate) queue_created: Condvar,
    /// Number of allocations freed so far.
    pub(crate) freed: AtomicU64,
    memory: Mutex<Memory>,
    queues: Mutex<Queues>,
}

impl Simulator {
    pub(crate) fn new(settings: Settings) -> Result<Self, String> {
        Ok(Self {
            device: Device::new()?,
            events: Events::new(settings.events),
            log: Log::open(settings.log.as_deref())?,
            visitors: AtomicUsize::new(0),
            queue_created: Condvar::new(),
            freed: AtomicU64::new(0),
            memory: Mutex::new(Memory::new()),
            queues: Mutex::default(),
            settings,
        })
    }

    /// The simulator of this process. Settings that make no sense end the process, because a test must not run with others.
    pub(crate) fn get() -> &'static Self {
        process::simulator(|| {
            Settings::from_environment().and_then(Self::new).unwrap_or_else(|problem| fail(&problem))
        })
    }

    pub(crate) fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// False if there was no such allocation.
    pub(crate) fn free(&self, handle: u64) -> bool {
        let existed = self.memory().free(handle, &self.device);
        self.freed.fetch_add(1, Ordering::AcqRel);
        existed
    }

    pub(crate) fn clocks(&self) -> Clocks {
        Clocks { drift: self.settings.behaviour.drift }
    }

    /// End of a movement of bytes that began at `start` and is done, in ns of the system clock.
    pub(crate) fn end_of_movement(&self, movement: &Movement, start: u64) -> u64 {
        let speed = self.settings.behaviour.copy_speed;
        let time = speed.map_or(0, |speed| movement.bytes().saturating_mul(1_000) / speed);
        clock::now().max(start.saturating_add(time))
    }

    pub(crate) fn queues(&self) -> MutexGuard<'_, Queues> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Access to the queues between two turns of the engine.
    fn visit<T>(&self, act: impl FnOnce(&mut Queues) -> T) -> T {
        self.visitors.fetch_add(1, Ordering::AcqRel);
        let result = act(&mut self.queues());
        self.visitors.fetch_sub(1, Ordering::AcqRel);
        result
    }

    /// Makes a queue of packets or of a DMA engine; `None` when the GPU has no doorbell left. Fills in the layout's doorbell.
    ///
    /// # Safety
    /// The requirements are those of [`Queue::new`], until the queue is destroyed.
    pub(crate) unsafe fn create_queue(
        &'static self,
        node: u32,
        kind: Kind,
        layout: Layout,
    ) -> Option<NewQueue> {
        self.visit(|queues| {
            let taken = |doorbell: &Doorbell| {
                queues.list.iter().any(|queue| queue.doorbell == *doorbell)
                    || queues.dma.iter().any(|queue| queue.doorbell == *doorbell)
            };
            let doorbells = (0..Doorbell::COUNT).map(|slot| Doorbell { node, slot });
            let doorbell = doorbells.into_iter().find(|doorbell| !taken(doorbell))?;
            if !queues.engine_started {
                engine::start(self).ok()?;
                queues.engine_started = true;
            }
            queues.last_id += 1;
            let id = queues.last_id;
            let layout = Layout { doorbell: self.device.doorbell(doorbell), ..layout };
            let (ring, bytes) = (layout.ring, layout.bytes);
            let created =
                log::QueueLine { node, queue: id, kind: kind.name(), ring, bytes, is_programs: false };
            hsa::created(&self.log, created);
            match kind {
                // SAFETY: the caller promised the layout's addresses; the doorbell's mapping is never undone.
                Kind::Aql => queues.list.push(unsafe { Queue::new(id, doorbell, layout) }),
                // SAFETY: the caller promised the layout's addresses, as above.
                Kind::Dma => queues.dma.push(unsafe { DmaQueue::new(id, doorbell, layout) }),
            }
            self.queue_created.notify_all();
            Some(NewQueue { id, doorbell })
        })
    }

    /// Logs a request for a property of a queue; false if there is no such queue.
    pub(crate) fn log_request(&self, id: u32, what: &'static str, words: &[u32]) -> bool {
        let node = self.visit(|queues| {
            let packets = queues.list.iter().map(|queue| (queue.id, queue.doorbell));
            let all = packets.chain(queues.dma.iter().map(|queue| (queue.id, queue.doorbell)));
            all.into_iter().find(|(known, _)| *known == id).map(|(_, doorbell)| doorbell.node)
        });
        node.inspect(|&node| self.log.request(what, node, id, words)).is_some()
    }

    /// False if there was no such queue. Its memory is not touched any more.
    pub(crate) fn destroy_queue(&self, id: u32) -> bool {
        self.visit(|queues| {
            let before = queues.list.len() + queues.dma.len();
            queues.list.retain(|queue| queue.id != id);
            queues.dma.retain(|queue| queue.id != id);
            queues.list.len() + queues.dma.len() < before
        })
    }
}

#[expect(clippy::print_stderr, clippy::exit, reason = "the program cannot run, and this says why")]
fn fail(problem: &str) -> ! {
    eprintln!("kfd-sim: {problem}");
    std::process::exit(2)
}
