//! Starts and stops recording on requests from another terminal (docs/guide/control.md).
//!
//! A requesting program puts a file where the recorder looks for it, and the recorder removes it when the request is met. Nothing
//! of the application is used for it: no signal, and no file descriptor that it might close or count.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime};

use crate::base::clock;
use crate::collect::recorder_state::RecorderState;

/// The folder of requests, as the process sees it.
pub const FOLDER: &str = "/tmp";

/// Passes of the collector after which it has handed over everything that had completed: one may have been running already.
const PASSES: u64 = 2;

/// Larger files are not read.
const LONGEST: u64 = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Request {
    Start,
    Stop,
}

/// Progress of a stop that has been noticed and not answered.
#[derive(Clone, Copy, Debug)]
enum StopProgress {
    /// The collector hands over completed dispatches; it had made this number of passes.
    Collecting(u64),
    /// The recorder writes them.
    Writing,
}

/// Looks for requests to this process.
#[derive(Debug)]
pub struct Requests {
    path: PathBuf,
    user: u32,
    /// Start of the process; older requests were for another process with the same number.
    begun: Option<SystemTime>,
    stopping: Option<StopProgress>,
}

impl Requests {
    /// Looks for requests to the process with this number and user, in this folder.
    pub fn new(folder: &Path, pid: u32, user: u32, begun: Option<SystemTime>) -> Self {
        Self { path: folder.join(format!("rtl-{pid}.control")), user, begun, stopping: None }
    }

    /// Handles a request, if there is one, by `pause`. Called when the recorder has just published all its rows.
    pub fn heed(&mut self, known: &RecorderState, pause: impl FnOnce(bool)) {
        match self.stopping {
            Some(StopProgress::Writing) => self.answer(),
            Some(StopProgress::Collecting(_)) if known.counters.snapshot().on_the_way() == 0 => self.answer(),
            Some(StopProgress::Collecting(before)) => {
                if known.passes.load(Ordering::Acquire) >= before + PASSES {
                    self.stopping = Some(StopProgress::Writing);
                }
            }
            None => match self.read() {
                Some(Request::Start) => {
                    pause(false);
                    self.answer();
                }
                Some(Request::Stop) => {
                    pause(true);
                    self.stopping = Some(StopProgress::Collecting(known.passes.load(Ordering::Acquire)));
                }
                None => {}
            },
        }
    }

    fn answer(&mut self) {
        self.stopping = None;
        let _ = fs::remove_file(&self.path);
    }

    /// Reads a request by the same user, since anyone can put a file there. One to a process that has ended is removed.
    fn read(&self) -> Option<Request> {
        let found = fs::symlink_metadata(&self.path).ok()?;
        if !found.is_file() || found.uid() != self.user {
            return None;
        }
        if self.begun.is_some_and(|begun| changed(&found) < begun) {
            let _ = fs::remove_file(&self.path);
            return None;
        }
        if found.len() > LONGEST {
            return None;
        }
        match fs::read_to_string(&self.path).ok()?.trim() {
            "start" => Some(Request::Start),
            "stop" => Some(Request::Stop),
            _ => None,
        }
    }
}

impl Default for Requests {
    fn default() -> Self {
        Self::new(Path::new(FOLDER), std::process::id(), user(), begun())
    }
}

/// Time at which the file was put there, which a writer cannot set back.
fn changed(file: &fs::Metadata) -> SystemTime {
    let seconds = Duration::from_secs(u64::try_from(file.ctime()).unwrap_or(0));
    SystemTime::UNIX_EPOCH + seconds + Duration::from_nanos(u64::try_from(file.ctime_nsec()).unwrap_or(0))
}

/// Upper bound on the steps of the clocks of files and of processes.
const STEP: Duration = Duration::from_millis(100);

/// Start of this process, or slightly before; `None` where it is unknown. `exec` does not change it.
fn begun() -> Option<SystemTime> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    let ticks = ticks_at_begin(&stat)?;
    let second = u64::try_from(ticks_of_a_second()).ok().filter(|&ticks| ticks > 0)?;
    let begun =
        Duration::from_secs(ticks / second) + Duration::from_nanos(ticks % second * (1_000_000_000 / second));
    let age = Duration::from_nanos(u64::try_from(clock::now()).ok()?).checked_sub(begun)?;
    SystemTime::now().checked_sub(age + STEP)
}

/// Start of a process in ticks since boot. The field is behind the process's name, which may have spaces and parentheses.
fn ticks_at_begin(stat: &str) -> Option<u64> {
    const FIELD: usize = 22;
    let (_, behind) = stat.rsplit_once(')')?;
    behind.split_whitespace().nth(FIELD - 3)?.parse().ok()
}

#[expect(unsafe_code, reason = "calls libc")]
fn ticks_of_a_second() -> i64 {
    // SAFETY: the call only returns a number.
    unsafe { libc::sysconf(libc::_SC_CLK_TCK) }
}

impl Requests {
    /// Does what `heed` does for this process and its present user.
    pub fn look(&mut self, known: &RecorderState, pause: impl FnOnce(bool)) {
        self.user = user();
        self.heed(known, pause);
    }
}

#[expect(unsafe_code, reason = "calls libc")]
fn user() -> u32 {
    // SAFETY: the call only returns a number and cannot fail.
    unsafe { libc::geteuid() }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Fixture {
        folder: tempfile::TempDir,
        requests: Requests,
        known: RecorderState,
        pauses: Vec<bool>,
    }

    impl Fixture {
        fn new(user: u32) -> Self {
            let folder = tempfile::tempdir().unwrap();
            let requests = Requests::new(folder.path(), 4711, user, begun());
            Self { folder, requests, known: RecorderState::default(), pauses: Vec::new() }
        }

        fn path(&self) -> PathBuf {
            self.folder.path().join("rtl-4711.control")
        }

        /// Puts a request there and lets the recorder look; true if it is answered.
        fn request(&mut self, text: &str) -> bool {
            fs::write(self.path(), text).unwrap();
            self.look()
        }

        fn look(&mut self) -> bool {
            self.requests.heed(&self.known, |is_paused| self.pauses.push(is_paused));
            !self.path().exists()
        }
    }

    #[test]
    fn a_start_is_answered_at_once_and_a_stop_when_nothing_is_on_its_way() {
        let mut fixture = Fixture::new(user());
        assert!(fixture.request("start\n"));
        fixture.known.counters.see(1);
        assert!(!fixture.request("stop\n") && !fixture.look());
        fixture.known.counters.record(1);
        assert!(fixture.look());
        assert_eq!(fixture.pauses, [false, true]);
        assert!(fixture.look() && fixture.pauses.len() == 2, "nothing else was fixture");
    }

    #[test]
    fn a_kernel_that_runs_on_does_not_keep_a_stop_from_being_answered() {
        let mut fixture = Fixture::new(user());
        fixture.known.counters.see(1);
        assert!(!fixture.request("stop"));
        fixture.known.passes.fetch_add(PASSES, Ordering::Relaxed);
        assert!(!fixture.look(), "what was handed on is still to be written");
        assert!(fixture.look());
    }

    /// The start of a process with the number of one that has ended: it is after the request.
    fn later() -> Option<SystemTime> {
        SystemTime::now().checked_add(Duration::from_secs(1))
    }

    #[test]
    fn a_request_to_an_ended_process_with_the_same_number_is_removed_and_not_heeded() {
        let mut fixture = Fixture::new(user());
        fixture.requests.begun = later();
        assert!(fixture.request("stop"));
        assert!(fixture.pauses.is_empty());
        fixture.requests.begun = begun();
        assert!(fixture.request("start"));
        assert_eq!(fixture.pauses, [false]);
    }

    #[test]
    fn nothing_of_another_user_and_no_link_is_removed_as_a_request_to_an_ended_process() {
        let mut foreign = Fixture::new(user() + 1);
        foreign.requests.begun = later();
        assert!(!foreign.request("stop"));
        let mut linked = Fixture::new(user());
        linked.requests.begun = later();
        let target = linked.folder.path().join("target");
        fs::write(&target, "stop").unwrap();
        std::os::unix::fs::symlink(&target, linked.path()).unwrap();
        assert!(!linked.look() && target.exists());
        assert!(foreign.pauses.is_empty() && linked.pauses.is_empty());
    }

    #[test]
    fn the_begin_of_a_process_is_behind_its_name() {
        let begun = begun().unwrap();
        assert!(begun < SystemTime::now());
        assert_eq!(
            ticks_at_begin("7 (a b) c) S 1 7 7 0 -1 4 0 0 0 0 0 0 0 0 20 0 1 0 987654 8 9"),
            Some(987_654)
        );
        assert_eq!(ticks_at_begin("7 (a"), None);
    }

    #[test]
    fn nonsense_and_other_peoples_requests_are_left_alone() {
        let mut fixture = Fixture::new(user());
        assert!(!fixture.request("restart"));
        assert!(!fixture.request(&"start ".repeat(10)));
        fs::remove_file(fixture.path()).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", fixture.path()).unwrap();
        assert!(!fixture.look());
        let mut foreign = Fixture::new(user() + 1);
        assert!(!foreign.request("stop") && !foreign.look());
        assert!(fixture.pauses.is_empty() && foreign.pauses.is_empty());
    }
}
