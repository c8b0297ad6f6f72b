//! The thread that writes the file.
//!
//! It sleeps most of the time. Every `PERIOD`, or when half of the way to it is taken, it writes the rows of what
//! has been handed over and publishes them together with the counters: after a kill the file is whole and lacks at
//! most what was handed over since. It holds no lock that a thread of the application may want.
//!
//! What happens when something goes wrong:
//! - The recorder falls behind: the way to it fills up, and what then finds no slot passes unrecorded
//!   (`lost:behind`). It never makes anyone wait.
//! - The file has reached RTL_MAX_SIZE: it is left as it is but for its counters (`lost:full`).
//! - There is no room for more rows, as is found out ahead: the same (`lost:write`).
//! - A write fails: what was published stays, what was not is counted with all that follows (`lost:write`).
//! - It panics: the same (`lost:failure`).
//! - Someone else removes the file or makes it shorter: it is left as it is, and all of it is lost (`lost:write`).
//! - The time to finish is over: the rest is counted (`lost:unwritten`).

mod annotations;
mod calls;
mod close;
mod delivery;
mod file;
mod naming;
mod open_calls;
mod open_dispatches;
mod others;
mod rows;
mod session;
mod sink;
mod under_way;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use ::calls as calls_interface;
use rtl_write::Recording;

use self::file::OwnFile;
use crate::budget::Budget;
use crate::cost::Cost;
use crate::counters::{Counters, Lost};
use crate::dispatch::{Dispatch, InFlight, Queue};
use crate::embed::{self, Role};
use crate::fault;
use crate::gpus::Gpu;
use crate::handover::Receiver;
use crate::headroom;
use crate::identity::Identity;
use crate::kernels::Kernel;
use crate::latch::lock;
use crate::others::Others;
use crate::output;
use crate::process;
use crate::registry::Registry;
use crate::requests::Requests;
use crate::roctx::Reader;
use crate::settings::Settings;
use delivery::Delivery;
use session::Session;
use sink::Sink;

/// How long the recorder sleeps between two looks at what has been handed over.
const PERIOD: Duration = Duration::from_millis(25);

/// What closing the file takes at most on a file system that answers.
const CLOSING: Duration = Duration::from_millis(50);

/// Batches that are written even when the time to finish is over: that takes no longer than counting why not, and
/// where it is over because the machine is overloaded, little is left.
const AT_ONCE: usize = 16;

/// What the recorder and the rest of the tracer both know.
#[derive(Debug, Default)]
pub struct Known {
    /// By [`crate::dispatch::KernelId`].
    pub kernels: Registry<Kernel>,
    /// By [`crate::dispatch::QueueOrdinal`].
    pub queues: Registry<Queue>,
    /// The GPUs whose queues may be among them.
    pub gpus: Registry<Gpu>,
    /// How often the collector has handed on everything that had completed.
    pub passes: AtomicU64,
    /// What became of every dispatch.
    pub counters: Counters,
    /// What became of every range and marker.
    pub ranges: Counters,
    /// What became of every copy.
    pub copies: Counters,
    /// What became of every barrier, where they are recorded.
    pub barriers: Counters,
    /// What became of every call, by source.
    pub calls: [Counters; calls_interface::Source::ALL.len()],
    /// What dispatches may occupy on their way to the file.
    pub budget: Arc<Budget>,
    /// Copies and barriers on their way to the recorder.
    pub others: Others,
    /// What tracing costs.
    pub cost: Cost,
    /// Dispatches that are in flight for long.
    pub in_flight: Mutex<Vec<InFlight>>,
}

/// How a recording ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ending {
    /// The file, if there is one.
    pub path: Option<PathBuf>,
    /// Why something is missing in it, in one line: the first failure.
    pub failure: Option<String>,
    /// What became of all that was on its way, where the recorder itself did not come to its end.
    pub rest: Option<Lost>,
}

/// The recorder's thread. No file exists before the first dispatch is seen, or the first range.
#[derive(Debug)]
pub struct Recorder {
    thread: JoinHandle<Ending>,
    deadline: Arc<Deadline>,
}

/// When writing has to end; unknown until the recording ends.
type Deadline = Mutex<Option<Instant>>;

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
        for gpu in gpus {
            known.gpus.add(gpu);
        }
        embed::counters::begin(&known);
        let deadline = Arc::new(Deadline::default());
        let until = Arc::clone(&deadline);
        let to = embed::role();
        let session = Self::session(settings, Arc::clone(&known));
        let thread = process::spawn("rtl-record", move || match to {
            // With the program's own files: its callbacks are its own business.
            Role::Callbacks(to) => {
                run(Delivery::new(&to.callbacks, Arc::clone(&known)), &known, &arrivals, &until)
            }
            _ => {
                process::have_own_files();
                run(session, &known, &arrivals, &until)
            }
        })?;
        Ok(Self { thread, deadline })
    }

    /// What the file is written by.
    fn session(settings: Settings, known: Arc<Known>) -> Session<OwnFile> {
        let identity = Identity::read();
        let place = identity.place();
        let pattern = settings.output.clone().unwrap_or_else(|| "trace.db".into());
        let wanted = output::expand(&pattern, &place);
        // Without a folder that it is in, a process is told why no file can be created, and of what was lost.
        let wanted = std::path::absolute(&wanted).unwrap_or(wanted);
        let limit = settings.max_size;
        let create = move || create(&wanted, place.pid, limit);
        Session::new(session::About { settings, identity }, known, create)
    }

    /// Waits until the rest is written and the file closed, at most until `deadline`. The sender must be gone. What
    /// is not written by then is counted as [`Lost::Unwritten`].
    pub fn finish(self, deadline: Instant) -> Ending {
        *lock(&self.deadline) = Some(deadline);
        // A callback that ends the process does not return before that.
        let waits_for_itself = embed::callback::is_running();
        while !self.thread.is_finished() && !waits_for_itself && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(1));
        }
        let ending = |failure: &str, rest| Ending {
            failure: Some(failure.to_owned()),
            rest: Some(rest),
            ..Ending::default()
        };
        if !self.thread.is_finished() {
            return ending("the machine or the file system was too slow", Lost::Unwritten);
        }
        self.thread.join().unwrap_or_else(|_| ending("the recorder failed", Lost::Failure))
    }
}

/// Creates the file under the first name that is not taken.
fn create(
    wanted: &std::path::Path,
    pid: u32,
    limit: Option<u64>,
) -> rtl_schema::Result<(PathBuf, Recording<OwnFile>)> {
    let failed = |source| rtl_schema::Error::Io { action: "create", path: wanted.to_owned(), source };
    for path in output::names(wanted, pid).map_err(failed)?.filter(|path| !output::has_journal(path)) {
        match Recording::create_in(&path, limit, OwnFile::new) {
            Err(rtl_schema::Error::Io { source, .. })
                if source.kind() == std::io::ErrorKind::AlreadyExists => {}
            other => return other.map(|recording| (path, recording)),
        }
    }
    Err(failed(std::io::ErrorKind::AlreadyExists.into()))
}

/// Records until the sender is gone, whatever happens.
fn run(mut sink: impl Sink, known: &Known, arrivals: &Receiver<Dispatch>, deadline: &Deadline) -> Ending {
    let is_over = || {
        let deadline = *lock(deadline);
        deadline.is_some_and(|deadline| Instant::now() + CLOSING > deadline)
    };
    let mut ranges = Reader::default();
    let mut calls = crate::calls::Reader::default();
    let recording = catch_unwind(AssertUnwindSafe(|| {
        record(&mut sink, arrivals, known, &mut ranges, &mut calls, is_over)
    }));
    if recording.is_err() {
        sink.give_up(Lost::Failure, "the recorder failed");
        while arrivals.wait(PERIOD) {
            while arrivals.take(|_| ()) > 0 {}
        }
        while arrivals.take(|_| ()) > 0 {}
        sink.add_others();
    }
    // What fails here leaves the file as it was published before.
    let _ = catch_unwind(AssertUnwindSafe(|| {
        ranges.finish(|annotation| sink.annotate(&annotation));
        calls.finish(known.calls.each_ref(), |call| sink.add_call(&call));
        // They are rows now.
        sink.show_open(Vec::new());
        sink.close();
    }));
    sink.ending()
}

fn record(
    sink: &mut impl Sink,
    arrivals: &Receiver<Dispatch>,
    known: &Known,
    ranges: &mut Reader,
    calls: &mut crate::calls::Reader,
    is_over: impl Fn() -> bool,
) {
    let mut is_open = true;
    let mut requests = Requests::default();
    let mut up_to_date = Instant::now();
    while is_open {
        is_open = arrivals.wait(PERIOD.saturating_sub(up_to_date.elapsed()));
        let asked = arrivals.asked();
        fault::point("record");
        let mut published = Instant::now();
        for round in 0.. {
            if round >= AT_ONCE && is_over() {
                sink.give_up(Lost::Unwritten, "the time to write it was over");
            }
            sink.add_others();
            let dispatches = arrivals.take(|dispatch| sink.add(dispatch));
            let events = ranges.read(|annotation| sink.annotate(&annotation));
            let called = calls.read(known.calls.each_ref(), |call| sink.add_call(&call));
            if dispatches + events + called == 0 {
                break;
            }
            // Where there is always more, too.
            if published.elapsed() >= PERIOD {
                sink.show_open(open_calls::of(calls));
                sink.publish();
                published = Instant::now();
            }
        }
        // Who wakes it because much has come asks for no publication, which costs as much as a thousand rows.
        let is_due = up_to_date.elapsed() >= PERIOD;
        if is_due {
            let _ = headroom::is_gone();
            sink.show_open(open_calls::of(calls));
            sink.publish();
            up_to_date = Instant::now();
        }
        arrivals.answer(asked, || {
            sink.show_open(open_calls::of(calls));
            sink.settle(ranges);
        });
        if is_due {
            requests.look(known);
        }
    }
}

#[cfg(test)]
mod tests;
