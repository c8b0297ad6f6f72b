//! The recorder: the thread that writes the file.
//!
//! It sleeps most of the time. Every `PERIOD`, or when half of the channel to it is full, it writes rows of the dispatches and
//! events that were handed over, and publishes them together with the counters: after a kill the file is whole and lacks at most
//! those since the last publication. It holds no lock that a thread of the application may want.
//!
//! Failures end in a reason of the counters:
//! - The recorder falls behind: the channel to it fills up, and packets that then find no slot are not recorded (`lost:behind`).
//!   It never makes another thread wait.
//! - The file has reached RTL_MAX_SIZE: only its counters still change (`lost:full`).
//! - The disk has no room for more rows, which is checked in advance: only the counters still change (`lost:write`).
//! - A write fails: published rows stay, all others are lost (`lost:write`).
//! - The recorder panics: published rows stay, all others are lost (`lost:failure`).
//! - The file is removed or truncated: it is not touched any more, and all its rows are lost (`lost:write`).
//! - The time to finish is over: the rest is lost (`lost:unwritten`).

mod annotations;
mod callback_sink;
mod calls;
mod close;
mod copies_and_barriers;
mod file;
mod in_progress;
mod naming;
mod open_calls;
mod open_dispatches;
mod pending;
mod recording_file;
mod rows;
mod session;
mod sink;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rtl_write::Recording;

use self::file::OwnFile;
use crate::base::cost::HOOKS;
use crate::base::counters::Lost;
use crate::base::fault;
use crate::base::headroom;
use crate::base::output_sink::{self, OutputSink};
use crate::base::process;
use crate::base::settings::Settings;
use crate::base::try_lock::lock;
use crate::collect::batch_channel::Receiver;
use crate::collect::dispatch::Dispatch;
use crate::collect::recorder_state::RecorderState;
use crate::events::reader::Reader;
use crate::write::identity::Identity;
use crate::write::requests::Requests;
use crate::write::{callback, callback_counters, output};
use callback_sink::CallbackSink;
use session::Session;
use sink::Sink;

pub use sink::Ending;

/// Time between two rounds of the recorder.
const PERIOD: Duration = Duration::from_millis(25);

/// Limit on the time for closing the file, on a file system that answers.
const CLOSING: Duration = Duration::from_millis(50);

/// Batches that are written even when the time to finish is over: that takes no longer than counting them as lost, and where it
/// is over because the machine is overloaded, few are left.
const AT_ONCE: usize = 16;

/// The recorder's thread. It creates the file when the first dispatch or range is seen.
#[derive(Debug)]
pub struct Recorder {
    thread: JoinHandle<Ending>,
    deadline: Arc<Deadline>,
}

/// Time at which writing has to end; unknown until the recording ends.
type Deadline = Mutex<Option<Instant>>;

impl Recorder {
    /// Starts the thread, which calls `pause` on requests from another terminal.
    ///
    /// # Errors
    /// The thread could not be started.
    pub fn start(
        settings: Settings,
        known: Arc<RecorderState>,
        arrivals: Receiver<Dispatch>,
        pause: fn(bool),
    ) -> std::io::Result<Self> {
        callback_counters::begin(&known);
        let deadline = Arc::new(Deadline::default());
        let until = Arc::clone(&deadline);
        let to = output_sink::output_sink();
        let session = Self::session(settings, Arc::clone(&known));
        let thread = process::spawn("rtl-record", move || match to {
            // The thread shares the program's open files, because callbacks may use them.
            OutputSink::Callbacks(to) => {
                run(CallbackSink::new(&to.callbacks, Arc::clone(&known)), &known, &arrivals, &until, pause)
            }
            _ => {
                process::have_own_files();
                run(session, &known, &arrivals, &until, pause)
            }
        })?;
        Ok(Self { thread, deadline })
    }

    fn session(settings: Settings, known: Arc<RecorderState>) -> Session<OwnFile> {
        let identity = Identity::read();
        let place = identity.place();
        let pattern = settings.output.clone().unwrap_or_else(|| "trace.db".into());
        let wanted = output::expand(&pattern, &place);
        // Even where the current folder is gone, the process gets a warning, with the reason and the losses.
        let wanted = std::path::absolute(&wanted).unwrap_or(wanted);
        let limit = settings.max_size;
        let create = move || create(&wanted, place.pid, limit);
        Session::new(recording_file::ProcessFacts { settings, identity }, known, create)
    }

    /// Waits until the rest is written and the file closed, at most until `deadline`. The sender must have been dropped. The rest
    /// that is not written by then is counted as [`Lost::Unwritten`].
    pub fn finish(self, deadline: Instant) -> Ending {
        *lock(&self.deadline) = Some(deadline);
        // A callback that ends the process would wait here for itself.
        let waits_for_itself = callback::is_running();
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

/// Records until the sender is dropped; a panic is reported to the sink.
fn run(
    mut sink: impl Sink,
    known: &RecorderState,
    arrivals: &Receiver<Dispatch>,
    deadline: &Deadline,
    pause: fn(bool),
) -> Ending {
    let is_over = || {
        let deadline = *lock(deadline);
        deadline.is_some_and(|deadline| Instant::now() + CLOSING > deadline)
    };
    let mut events = Reader::default();
    let recording =
        catch_unwind(AssertUnwindSafe(|| record(&mut sink, arrivals, known, &mut events, is_over, pause)));
    if recording.is_err() {
        sink.give_up(Lost::Failure, "the recorder failed");
        while arrivals.wait(PERIOD) {
            while arrivals.take(|_| ()) > 0 {}
        }
        while arrivals.take(|_| ()) > 0 {}
        sink.add_copies_and_barriers();
    }
    // After a panic here the file stays as it was published before.
    let _ = catch_unwind(AssertUnwindSafe(|| {
        events.finish(known.calls.each_ref(), &mut sink);
        // The open calls are rows now.
        sink.show_open(Vec::new());
        sink.close();
    }));
    sink.ending()
}

fn record(
    sink: &mut impl Sink,
    arrivals: &Receiver<Dispatch>,
    known: &RecorderState,
    events: &mut Reader,
    is_over: impl Fn() -> bool,
    pause: fn(bool),
) {
    let mut is_open = true;
    let mut requests = Requests::default();
    let mut up_to_date = Instant::now();
    let mut has_any = false;
    while is_open {
        is_open = arrivals.wait(PERIOD.saturating_sub(up_to_date.elapsed()));
        let requested = arrivals.requested();
        fault::point("record");
        let (mut published, mut is_first) = (Instant::now(), false);
        for round in 0.. {
            if round >= AT_ONCE && is_over() {
                sink.give_up(Lost::Unwritten, "the time to write it was over");
            }
            sink.add_copies_and_barriers();
            let dispatches = arrivals.take(|dispatch| sink.add(dispatch));
            if dispatches + events.read(known.calls.each_ref(), sink) == 0 {
                break;
            }
            is_first |= !std::mem::replace(&mut has_any, true);
            // This also applies where more dispatches keep coming.
            if published.elapsed() >= PERIOD {
                HOOKS.request_sample();
                sink.show_open(open_calls::open_for(PERIOD, events));
                sink.publish();
                published = Instant::now();
            }
        }
        // A full channel wakes the recorder without a request for a publication, which costs as much as a thousand rows.
        // The first round creates the file, because the process may soon lose the right to do so.
        let is_due = is_first || up_to_date.elapsed() >= PERIOD;
        if is_due {
            let _ = headroom::is_gone();
            HOOKS.request_sample();
            sink.show_open(open_calls::open_for(PERIOD, events));
            sink.publish();
            up_to_date = Instant::now();
        }
        arrivals.answer(requested, || {
            sink.show_open(open_calls::open_for(PERIOD, events));
            sink.complete(events);
        });
        if is_due {
            requests.look(known, pause);
        }
    }
}

#[cfg(test)]
mod tests;
