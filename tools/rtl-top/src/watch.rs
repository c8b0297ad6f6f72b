//! One recording: what was read of it, and whether its process still records.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use platform::boot;
use rtl_analysis::live::Live;
use rtl_schema::{Error, LiveTrace};

use crate::document::{Phase, Recording};
use crate::recorders;

/// A file that is not extended for so long may have lost its process; and how often that is looked up.
const SILENCE: Duration = Duration::from_secs(1);
const LOOKUP: Duration = Duration::from_secs(2);
/// A recorder publishes every 25 ms while anything happens: after so long nothing does.
const IDLE_NS: i64 = 250_000_000;

/// A recording that is watched.
#[derive(Debug)]
pub(crate) struct Watched {
    path: PathBuf,
    trace: LiveTrace,
    live: Live,
    phase: Phase,
    changed: Instant,
    looked_up: Option<Instant>,
    /// This machine's boot, where that is known.
    boot: Option<String>,
}

impl Watched {
    /// Opens a recording and reads all of it; the last moments are `window` long.
    ///
    /// # Errors
    /// Those of [`LiveTrace`].
    pub(crate) fn open(path: &Path, window: Duration) -> Result<Self, Error> {
        let window = i64::try_from(window.as_nanos()).unwrap_or(i64::MAX);
        let mut watched = Self {
            path: path.to_owned(),
            trace: LiveTrace::open(path)?,
            live: Live::new(window),
            phase: Phase::Recording,
            changed: Instant::now(),
            looked_up: None,
            boot: boot::id(),
        };
        watched.refresh()?;
        // Of a file that is named now it is unknown since when it has not changed.
        watched.look_up();
        Ok(watched)
    }

    /// Reads what is new. Returns whether anything was.
    ///
    /// # Errors
    /// Those of [`LiveTrace::refresh`].
    pub(crate) fn refresh(&mut self) -> Result<bool, Error> {
        let live = &mut self.live;
        let is_new = self.trace.refresh(|chunk| live.add_chunk(chunk))?;
        if is_new {
            (self.changed, self.phase) = (Instant::now(), Phase::Recording);
        }
        if self.trace.is_complete() {
            self.phase = Phase::Ended;
        } else if self.changed.elapsed() > SILENCE
            && self.looked_up.is_none_or(|last| last.elapsed() > LOOKUP)
        {
            self.look_up();
        }
        Ok(is_new)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns true if no more rows will come.
    pub(crate) fn is_over(&self) -> bool {
        self.phase != Phase::Recording
    }

    fn look_up(&mut self) {
        self.looked_up = Some(Instant::now());
        if self.phase == Phase::Recording
            && self.is_of_this_boot()
            && !recorders::is_recording(&self.path, self.pid())
        {
            self.phase = Phase::Stopped;
        }
    }

    fn pid(&self) -> Option<i64> {
        self.trace.tables().processes.first()?.pid
    }

    fn is_of_this_boot(&self) -> bool {
        let process = self.trace.tables().processes.first();
        process.is_some_and(|process| process.boot_id.is_some() && process.boot_id == self.boot)
    }

    /// The figures so far.
    pub(crate) fn recording(&self) -> Recording {
        let tables = self.trace.tables();
        let process = tables.processes.first().cloned().unwrap_or_default();
        let as_of = self.trace.as_of();
        let is_live = self.phase == Phase::Recording && self.is_of_this_boot();
        let clock = boot::elapsed_ns().filter(|_| is_live);
        let now = as_of.map(|as_of| clock.filter(|clock| clock - as_of > IDLE_NS).unwrap_or(as_of));
        let state = self.live.state(tables, self.trace.in_flight(), now);
        Recording {
            path: self.path.display().to_string(),
            phase: self.phase,
            pid: process.pid,
            rank: process.rank,
            host: process.host,
            command: process.command,
            recorded_ns: process.start.zip(state.until_ns).map(|(start, until)| until.saturating_sub(start)),
            state,
        }
    }
}
