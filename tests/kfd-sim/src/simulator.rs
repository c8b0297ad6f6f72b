//! What a process has of the simulated driver: made when it first asks, kept until it ends.

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

/// What a queue is fed with.
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

/// What a program gets for a new queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Created {
    pub(crate) id: u32,
    pub(crate) doorbell: Doorbell,
}

/// The driver.
#[derive(Debug)]
pub(crate) struct Simulator {
    pub(crate) settings: Settings,
    pub(crate) device: Device,
    pub(crate) events: Events,
    pub(crate) log: Log,
    /// Threads that want to create or destroy a queue.
    pub(crate) visitors: AtomicUsize,
    pub(crate) queue_created: Condvar,
    /// Allocations freed so far.
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

    /// The simulator of this process. Settings that make no sense end it: a test must not run on others.
    pub(crate) fn get() -> &'static Self {
        process::simulator(|| {
            Settings::from_environment().and_then(Self::new).unwrap_or_else(|problem| fail(&problem))
        })
    }

    pub(crate) fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether there was such an allocation.
    pub(crate) fn free(&self, handle: u64) -> bool {
        let existed = self.memory().free(handle, &self.device);
        self.freed.fetch_add(1, Ordering::AcqRel);
        existed
    }

    pub(crate) fn clocks(&self) -> Clocks {
        Clocks { drift: self.settings.behaviour.drift }
    }

    /// When a movement of bytes that began at `start` and is done is over, in ns of the system clock.
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

    /// A new queue, of packets or of a DMA engine; `None` when the GPU has no doorbell left. The layout's doorbell is filled in here.
    ///
    /// # Safety
    /// As for [`Queue::new`], until the queue is destroyed.
    pub(crate) unsafe fn create_queue(
        &'static self,
        node: u32,
        kind: Kind,
        layout: Layout,
    ) -> Option<Created> {
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
                log::Created { node, queue: id, kind: kind.name(), ring, bytes, is_programs: false };
            hsa::created(&self.log, created);
            match kind {
                // SAFETY: the caller vouches for the layout; the doorbell's mapping is never undone.
                Kind::Aql => queues.list.push(unsafe { Queue::new(id, doorbell, layout) }),
                // SAFETY: as above.
                Kind::Dma => queues.dma.push(unsafe { DmaQueue::new(id, doorbell, layout) }),
            }
            self.queue_created.notify_all();
            Some(Created { id, doorbell })
        })
    }

    /// A queue is asked to be something; whether there is such a queue.
    pub(crate) fn asked(&self, id: u32, what: &'static str, words: &[u32]) -> bool {
        let node = self.visit(|queues| {
            let packets = queues.list.iter().map(|queue| (queue.id, queue.doorbell));
            let all = packets.chain(queues.dma.iter().map(|queue| (queue.id, queue.doorbell)));
            all.into_iter().find(|(known, _)| *known == id).map(|(_, doorbell)| doorbell.node)
        });
        node.inspect(|&node| self.log.asked(what, node, id, words)).is_some()
    }

    /// Whether there was such a queue. Nothing of its memory is touched any more.
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
