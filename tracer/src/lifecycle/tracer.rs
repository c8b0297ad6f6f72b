//! The recording of one life of the runtime, from its start to its shutdown.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::base::api::Api;
use crate::base::gpus::Gpu;
use crate::base::kernels::Loader;
use crate::base::published::Published;
use crate::base::recording_state;
use crate::base::settings::Settings;
use crate::base::{headroom, log, memory, process};
use crate::collect::collector::Collector;
use crate::collect::collector::thread::{GRACE, collect};
use crate::collect::runtime::Live;
use crate::collect::shared::Shared;
use crate::intercept::context::{self, Context};
use crate::intercept::staging;
use crate::lifecycle::recording;

/// Limit on the time that the end of a recording takes.
pub(crate) const END: Duration = Duration::from_millis(450);

/// The recording of one life of the runtime.
pub struct Tracer {
    context: &'static Context,
    ended: AtomicBool,
    unloaded: AtomicBool,
}

static CURRENT: Published<Tracer> = Published::new();

/// The tracer of the runtime's present life, or of its last one.
pub fn get() -> Option<&'static Tracer> {
    CURRENT.get()
}

/// The settings of the runtime's present life, while it may be recorded.
pub fn settings_in_use() -> Option<&'static Settings> {
    let tracer = get().filter(|tracer| tracer.context.is_ours() && !tracer.ended.load(Ordering::SeqCst))?;
    Some(&tracer.context.settings)
}

/// Ends the recording before, and prepares that of a life of the runtime that begins. Starts no thread yet.
pub fn begin(api: Api, settings: Settings, gpus: Vec<Gpu>) {
    if let Some(before) = get() {
        before.end();
        memory::try_again();
        recording_state::renew();
    }
    let runtime = Live::new(api.clone(), gpus.iter().map(|gpu| gpu.agent).collect());
    let known = recording::known();
    known.budget.set_bound(settings.buffer);
    let mut shared = Shared::new(settings.mode, known, Loader::new(&api.core), Box::new(runtime));
    if staging::may_overflow(api.layout.generation()) {
        shared.largest_staged = staging::STAGED;
    }
    if log::is_enabled(2) {
        shared.print_packets();
    }
    if settings.host_dispatch {
        shared.time_submissions();
    }
    shared.pause(recording_state::is_paused());
    shared.records_barriers = settings.barriers;
    let context = context::publish(Context::new(api, settings, gpus, shared, start));
    let (ended, unloaded) = (AtomicBool::new(false), AtomicBool::new(false));
    CURRENT.set(Tracer { context, ended, unloaded });
}

/// Starts the recorder, unless a range has, and the collector's thread.
fn start(
    context: &Context,
    collector: &Arc<Mutex<Option<Collector>>>,
) -> io::Result<(Collector, JoinHandle<()>)> {
    let sender = recording::open(&context.settings);
    let (collecting, shared) = (Arc::clone(collector), Arc::clone(&context.shared));
    let collect = move || collect(&collecting, &shared);
    let thread = headroom::for_a_thread().and_then(|()| process::spawn("rtl-collect", collect))?;
    Ok((Collector::new(sender?), thread))
}

impl Tracer {
    /// Gives every free signal back to a runtime that nobody has shut down, as the process exits. The thread that ends the
    /// process may have interrupted a thread that holds a lock of the tracer or of the runtime, so another thread does it, and is
    /// not waited for beyond `deadline`.
    pub fn give_signals_back(&'static self, deadline: Instant) {
        if !self.context.is_ours()
            || self.unloaded.load(Ordering::SeqCst)
            || self.context.shared.pool.is_empty()
            || !headroom::fits_last_thread()
        {
            return;
        }
        if let Ok(thread) = process::spawn("rtl-exit", || self.context.runtime_ends()) {
            while !thread.is_finished() && Instant::now() < deadline {
                std::thread::sleep(Duration::from_micros(100));
            }
        }
    }

    /// Hands over what has completed, writes it and closes the file. Only the first call does so, and it takes at most half a
    /// second.
    pub fn end(&self) {
        if !self.context.is_ours() || self.ended.swap(true, Ordering::SeqCst) {
            return;
        }
        // Time that this end of the runtime has spent waiting already is deducted.
        let waited = self.context.waited().min(GRACE);
        let deadline = Instant::now() + (END - waited);
        self.context.shared.end();
        if let Some(thread) = self.context.take_thread() {
            while !thread.is_finished() && Instant::now() < deadline {
                std::thread::sleep(Duration::from_micros(200));
            }
        }
        let ending = recording::end(deadline);
        let known = &self.context.shared.known;
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
            if let Some(line) = log::loss(&counts, what) {
                let hint = match what {
                    "kernel dispatches" => log::hint(&counts, known.budget.bound()),
                    _ => String::new(),
                };
                log::warn_of_file(format_args!("{line}{why}{hint}"));
            }
            log::debug(format_args!(
                "{} {what} seen, {} recorded, {} lost, {} skipped",
                counts.seen,
                counts.recorded,
                counts.lost(),
                counts.skipped()
            ));
        }
        if let Some(path) = ending.path {
            log::debug(format_args!("written to {}", path.display()));
        }
    }

    /// Called when the runtime has ended, with which its signals are gone.
    pub fn unload(&self) {
        self.end();
        self.unloaded.store(true, Ordering::SeqCst);
    }

    /// Called when the process leaves without an end: the collector hands over what has completed and ends. Returns false where
    /// there is none. Takes no lock.
    pub fn leaves(&self) -> bool {
        let is_collecting = self.is_collecting();
        if is_collecting {
            self.context.shared.end();
        }
        is_collecting
    }

    /// Called when the process may end in a moment: the result tells when everything that has completed has been handed over.
    /// `None` where there is no collector. Takes no lock.
    pub fn pass(&'static self) -> Option<impl Fn() -> bool> {
        // One pass may be running already, so the second from now is the first complete one.
        let passes = |tracer: &Self| tracer.context.shared.known.passes.load(Ordering::Acquire);
        let enough = passes(self) + 2;
        self.is_collecting().then_some(move || {
            self.context.shared.parker.notify_at_once();
            passes(self) >= enough
        })
    }

    fn is_collecting(&self) -> bool {
        self.context.has_started() && !self.ended.load(Ordering::SeqCst)
    }
}
