//! The command: how it is started, what it is told while it runs, and how it ended.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use cli::Failure;
use rustix::process::{Pid, Signal, getpgrp, kill_process};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::iterator;

use crate::status;

/// What is passed on.
const PASSED_ON: [i32; 6] = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2];

/// What a terminal sends to all processes in its foreground.
const OF_TERMINALS: [i32; 3] = [SIGHUP, SIGINT, SIGQUIT];

/// The signals that were meant for the command.
#[derive(Debug, Default)]
pub struct Signals {
    to: Arc<Addressee>,
    /// How many have come that ask for the end.
    asked: Arc<AtomicU32>,
}

/// The process that signals go to.
#[derive(Debug, Default)]
struct Addressee {
    /// Its number; `None` before it is started, 0 when it has ended.
    pid: Mutex<Option<u32>>,
    started: Condvar,
}

impl Addressee {
    fn set(&self, pid: u32) {
        *self.pid.lock().unwrap_or_else(PoisonError::into_inner) = Some(pid);
        self.started.notify_all();
    }

    /// Its number, once it is started: a signal that comes before is for it, too.
    fn get(&self) -> u32 {
        let pid = self.pid.lock().unwrap_or_else(PoisonError::into_inner);
        let started = self.started.wait_while(pid, |pid| pid.is_none());
        started.unwrap_or_else(PoisonError::into_inner).unwrap_or(0)
    }
}

impl Signals {
    /// From now on signals are passed on instead of ending this process. Those that this process ignores, as nohup has it
    /// do, stay ignored, by the command too.
    ///
    /// # Errors
    /// The system has no thread or no pipe for it.
    pub fn catch() -> io::Result<Self> {
        atomic_file::keep_on_signals();
        let ignored = ignored(&std::fs::read_to_string("/proc/self/status").unwrap_or_default());
        let caught = PASSED_ON.into_iter().filter(|signal| ignored & (1 << (signal - 1)) == 0);
        let mut signals = iterator::Signals::new(caught)?;
        let caught = Self::default();
        let (to, asked) = (Arc::clone(&caught.to), Arc::clone(&caught.asked));
        std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
            for signal in &mut signals {
                if ![SIGUSR1, SIGUSR2].contains(&signal) {
                    asked.fetch_add(1, Ordering::Relaxed);
                }
                // The command has had the terminal's as well, and two of them mean something else to some.
                if !(OF_TERMINALS.contains(&signal) && is_in_foreground()) {
                    pass_on(signal, to.get());
                }
            }
        })?;
        Ok(caught)
    }

    /// How many signals have asked for the end.
    #[must_use]
    pub fn asked_to_end(&self) -> u32 {
        self.asked.load(Ordering::Relaxed)
    }
}

/// Whether this process is in the foreground of its terminal, if it has one.
fn is_in_foreground() -> bool {
    let terminal = File::open("/dev/tty");
    terminal.is_ok_and(|terminal| rustix::termios::tcgetpgrp(terminal).is_ok_and(|group| group == getpgrp()))
}

fn pass_on(signal: i32, to: u32) {
    let pid = i32::try_from(to).ok().and_then(Pid::from_raw);
    if let (Some(pid), Some(signal)) = (pid, Signal::from_named_raw(signal)) {
        // It may have ended a moment ago.
        let _ = kill_process(pid, signal);
    }
}

/// The signals that a process ignores, a bit each, from its `/proc/PID/status`.
fn ignored(status: &str) -> u64 {
    let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    line.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

/// Runs the command with these variables until it ends.
///
/// # Errors
/// It cannot be started: [`status::NOT_FOUND`] or [`status::NOT_EXECUTABLE`].
pub fn run(
    line: &[OsString],
    variables: &[(&str, OsString)],
    signals: &Signals,
) -> Result<ExitStatus, Failure> {
    let [program, arguments @ ..] = line else { return Err(Failure::usage("missing: <COMMAND>")) };
    let mut command = Command::new(program);
    command.args(arguments).envs(variables.iter().map(|(name, value)| (name, value)));
    let mut running = command.spawn().map_err(|error| not_started(program, error))?;
    let status = wait(&mut running, signals);
    Ok(status?)
}

fn wait(running: &mut Child, signals: &Signals) -> io::Result<ExitStatus> {
    signals.to.set(running.id());
    let status = running.wait();
    signals.to.set(0);
    status
}

fn not_started(program: &OsStr, error: io::Error) -> Failure {
    let program = program.to_string_lossy();
    match error.kind() {
        io::ErrorKind::NotFound => {
            let hint = "a shell's own commands and aliases need the shell: sh -c '...'";
            Failure::new(status::NOT_FOUND, anyhow::anyhow!("no such command: {program}")).with_hint(hint)
        }
        _ => Failure::new(status::NOT_EXECUTABLE, error).context(format!("cannot execute {program}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_process_ignores_is_a_mask_of_its_status() {
        assert_eq!(ignored("Name:\tcat\nSigBlk:\t0000000000000002\nSigIgn:\t0000000000001001\n"), 0x1001);
        assert_eq!(ignored("Name:\tcat\n"), 0);
    }

    #[test]
    fn a_signal_waits_for_the_process_that_it_is_for() {
        let to = Arc::new(Addressee::default());
        let waiting = std::thread::spawn({
            let to = Arc::clone(&to);
            move || to.get()
        });
        to.set(4711);
        assert_eq!(waiting.join().unwrap(), 4711);
        to.set(0);
        assert_eq!(to.get(), 0);
    }

    #[test]
    fn what_cannot_be_started_is_told_apart() {
        let signals = Signals::default();
        let exit = |line: &str| run(&[line.into()], &[], &signals).unwrap_err().exit();
        assert_eq!(exit("/nowhere/at-all"), status::NOT_FOUND);
        assert_eq!(exit("no-such-command-anywhere"), status::NOT_FOUND);
        assert_eq!(exit("/"), status::NOT_EXECUTABLE);
    }

    #[test]
    fn the_command_has_its_arguments_and_the_variables() {
        let signals = Signals::default();
        let line = ["sh", "-c", "test \"$1\" = \"--a b\" && test \"$RTL_TEST\" = x && exit 7", "sh", "--a b"];
        let line = line.map(OsString::from);
        let status = run(&line, &[("RTL_TEST", "x".into())], &signals).unwrap();
        assert_eq!(status.code(), Some(7));
    }
}
