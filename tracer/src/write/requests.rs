//! Start and stop from another terminal (docs/guide/control.md).
//!
//! A program that asks puts a file where the recorder looks for it, and knows by its disappearance that it was heard. Nothing of the
//! application is used for it: no signal, no file descriptor that it might close or count.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime};

use crate::base::clock;
use crate::collect::recorder_state::RecorderState;

/// Where requests are put, as the process sees it.
pub const FOLDER: &str = "/tmp";

/// Passes of the collector after which it has handed on everything that had completed: one may have been under way.
const PASSES: u64 = 2;

/// The largest file that is read.
const LONGEST: u64 = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Request {
    Start,
    Stop,
}

/// How far a stop is that has been heeded and not answered.
#[derive(Clone, Copy, Debug)]
enum Stopping {
    /// The collector hands on what has completed; the passes that it had made.
    Collecting(u64),
    /// The recorder writes it.
    Writing,
}

/// What the recorder looks for.
#[derive(Debug)]
pub struct Requests {
    path: PathBuf,
    user: u32,
    /// When the process began; what is older was for another one with its number.
    begun: Option<SystemTime>,
    stopping: Option<Stopping>,
}

impl Requests {
    /// Those to the process with this number and user, in this folder.
    pub fn new(folder: &Path, pid: u32, user: u32, begun: Option<SystemTime>) -> Self {
        Self { path: folder.join(format!("rtl-{pid}.control")), user, begun, stopping: None }
    }

    /// Heeds a request, if there is one, with `pause`; the recorder has just published everything that it has.
    pub fn heed(&mut self, known: &RecorderState, pause: impl FnOnce(bool)) {
        match self.stopping {
            Some(Stopping::Writing) => self.answer(),
            Some(Stopping::Collecting(_)) if known.counters.snapshot().on_the_way() == 0 => self.answer(),
            Some(Stopping::Collecting(before)) => {
                if known.passes.load(Ordering::Acquire) >= before + PASSES {
                    self.stopping = Some(Stopping::Writing);
                }
            }
            None => match self.read() {
                Some(Request::Start) => {
                    pause(false);
                    self.answer();
                }
                Some(Request::Stop) => {
                    pause(true);
                    self.stopping = Some(Stopping::Collecting(known.passes.load(Ordering::Acquire)));
                }
                None => {}
            },
        }
    }

    fn answer(&mut self) {
        self.stopping = None;
        let _ = fs::remove_file(&self.path);
    }

    /// A request by the same user; anyone can put a file there. One to a process that has ended is removed.
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

/// When the file was put there, which a writer cannot set back.
fn changed(file: &fs::Metadata) -> SystemTime {
    let seconds = Duration::from_secs(u64::try_from(file.ctime()).unwrap_or(0));
    SystemTime::UNIX_EPOCH + seconds + Duration::from_nanos(u64::try_from(file.ctime_nsec()).unwrap_or(0))
}

/// The clocks of files and of processes count in steps.
const STEP: Duration = Duration::from_millis(100);

/// When this process began, or a little earlier; `None` where nothing says so. `exec` changes nothing.
fn begun() -> Option<SystemTime> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    let ticks = ticks_at_begin(&stat)?;
    let second = u64::try_from(ticks_of_a_second()).ok().filter(|&ticks| ticks > 0)?;
    let begun =
        Duration::from_secs(ticks / second) + Duration::from_nanos(ticks % second * (1_000_000_000 / second));
    let age = Duration::from_nanos(u64::try_from(clock::now()).ok()?).checked_sub(begun)?;
    SystemTime::now().checked_sub(age + STEP)
}

/// When a process began, in ticks since the machine did: behind its name, which may have spaces and parentheses.
fn ticks_at_begin(stat: &str) -> Option<u64> {
    const FIELD: usize = 22;
    let (_, behind) = stat.rsplit_once(')')?;
    behind.split_whitespace().nth(FIELD - 3)?.parse().ok()
}

#[expect(unsafe_code, reason = "calls libc")]
fn ticks_of_a_second() -> i64 {
    // SAFETY: asks for a number.
    unsafe { libc::sysconf(libc::_SC_CLK_TCK) }
}

impl Requests {
    /// [`Self::heed`] for this process and its present user.
    pub fn look(&mut self, known: &RecorderState, pause: impl FnOnce(bool)) {
        self.user = user();
        self.heed(known, pause);
    }
}

#[expect(unsafe_code, reason = "calls libc")]
fn user() -> u32 {
    // SAFETY: asks for a number and cannot fail.
    unsafe { libc::geteuid() }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Asked {
        folder: tempfile::TempDir,
        requests: Requests,
        known: RecorderState,
        said: Vec<bool>,
    }

    impl Asked {
        fn new(user: u32) -> Self {
            let folder = tempfile::tempdir().unwrap();
            let requests = Requests::new(folder.path(), 4711, user, begun());
            Self { folder, requests, known: RecorderState::default(), said: Vec::new() }
        }

        fn path(&self) -> PathBuf {
            self.folder.path().join("rtl-4711.control")
        }

        /// Puts a request there; whether it is answered when the recorder has looked.
        fn ask(&mut self, text: &str) -> bool {
            fs::write(self.path(), text).unwrap();
            self.look()
        }

        fn look(&mut self) -> bool {
            self.requests.heed(&self.known, |is_paused| self.said.push(is_paused));
            !self.path().exists()
        }
    }

    #[test]
    fn a_start_is_answered_at_once_and_a_stop_when_nothing_is_on_its_way() {
        let mut asked = Asked::new(user());
        assert!(asked.ask("start\n"));
        asked.known.counters.see(1);
        assert!(!asked.ask("stop\n") && !asked.look());
        asked.known.counters.record(1);
        assert!(asked.look());
        assert_eq!(asked.said, [false, true]);
        assert!(asked.look() && asked.said.len() == 2, "nothing else was asked");
    }

    #[test]
    fn a_kernel_that_runs_on_does_not_keep_a_stop_from_being_answered() {
        let mut asked = Asked::new(user());
        asked.known.counters.see(1);
        assert!(!asked.ask("stop"));
        asked.known.passes.fetch_add(PASSES, Ordering::Relaxed);
        assert!(!asked.look(), "what was handed on is still to be written");
        assert!(asked.look());
    }

    /// A process with the number of one that ended in the meantime: it begins after the request.
    fn later() -> Option<SystemTime> {
        SystemTime::now().checked_add(Duration::from_secs(1))
    }

    #[test]
    fn a_request_to_an_ended_process_with_the_same_number_is_removed_and_not_heeded() {
        let mut asked = Asked::new(user());
        asked.requests.begun = later();
        assert!(asked.ask("stop"));
        assert!(asked.said.is_empty());
        asked.requests.begun = begun();
        assert!(asked.ask("start"));
        assert_eq!(asked.said, [false]);
    }

    #[test]
    fn nothing_of_another_user_and_no_link_is_removed_as_a_request_to_an_ended_process() {
        let mut foreign = Asked::new(user() + 1);
        foreign.requests.begun = later();
        assert!(!foreign.ask("stop"));
        let mut linked = Asked::new(user());
        linked.requests.begun = later();
        let target = linked.folder.path().join("target");
        fs::write(&target, "stop").unwrap();
        std::os::unix::fs::symlink(&target, linked.path()).unwrap();
        assert!(!linked.look() && target.exists());
        assert!(foreign.said.is_empty() && linked.said.is_empty());
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
        let mut asked = Asked::new(user());
        assert!(!asked.ask("restart"));
        assert!(!asked.ask(&"start ".repeat(10)));
        fs::remove_file(asked.path()).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", asked.path()).unwrap();
        assert!(!asked.look());
        let mut foreign = Asked::new(user() + 1);
        assert!(!foreign.ask("stop") && !foreign.look());
        assert!(asked.said.is_empty() && foreign.said.is_empty());
    }
}
