//! Follows one recording, and finds out whether its process still records.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use platform::boot;
use rtl_analysis::live::Live;
use rtl_schema::{Error, LiveTrace};

use crate::document::{Phase, Recording};
use crate::recorders;

/// The process of a file that is not extended for so long is looked up, and again after each of the second period.
const SILENCE: Duration = Duration::from_secs(1);
const LOOKUP: Duration = Duration::from_secs(2);
/// A recorder publishes every 25 ms while anything happens, so nothing happens in a process that is silent for so long.
const IDLE_NS: i64 = 250_000_000;

#[derive(Debug)]
pub(crate) struct Watched {
    path: PathBuf,
    trace: LiveTrace,
    live: Live,
    phase: Phase,
    changed: Instant,
    looked_up: Option<Instant>,
    boot: Option<String>,
}

impl Watched {
    /// Opens a recording and reads all of it; the last moments are `window` long.
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
        // Nothing shows for how long a file that is named only now has not changed.
        watched.look_up();
        Ok(watched)
    }

    /// Returns true if there were new rows.
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
