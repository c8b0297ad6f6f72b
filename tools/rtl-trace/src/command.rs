//! Runs the command and forwards signals to it.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use cli::Failure;
use rustix::process::{Pid, Signal, getpgrp, kill_process};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::iterator;

use crate::status;

const FORWARDED: [i32; 6] = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2];

/// The signals that a terminal sends to all processes in its foreground.
const FROM_TERMINAL: [i32; 3] = [SIGHUP, SIGINT, SIGQUIT];

#[derive(Debug, Default)]
pub struct Signals {
    command: Arc<CommandPid>,
    /// The number of signals that asked for the end.
    end_requests: Arc<AtomicU32>,
}

/// The pid of the command, which is not set before the start and 0 after the end.
#[derive(Debug, Default)]
struct CommandPid(OnceLock<AtomicU32>);

impl CommandPid {
    fn set(&self, pid: u32) {
        self.0.get_or_init(|| AtomicU32::new(pid)).store(pid, Ordering::Relaxed);
    }

    /// Waits for the start, so that signals that arrive earlier are forwarded, too.
    fn get(&self) -> u32 {
        self.0.wait().load(Ordering::Relaxed)
    }
}

impl Signals {
    /// Forwards signals from now on instead of ending this process. Signals that this process ignores, as under nohup,
    /// stay ignored, by the command, too.
    pub fn catch() -> io::Result<Self> {
        atomic_file::keep_on_signals(&FORWARDED);
        let ignored = ignored(&std::fs::read_to_string("/proc/self/status").unwrap_or_default());
        let caught = FORWARDED.into_iter().filter(|signal| ignored & (1 << (signal - 1)) == 0);
        let mut signals = iterator::Signals::new(caught)?;
        let caught = Self::default();
        let (command, end_requests) = (Arc::clone(&caught.command), Arc::clone(&caught.end_requests));
        std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
            for signal in &mut signals {
                if ![SIGUSR1, SIGUSR2].contains(&signal) {
                    end_requests.fetch_add(1, Ordering::Relaxed);
                }
                // The terminal has sent this signal to the command, too, and programs treat a second one differently.
                if !(FROM_TERMINAL.contains(&signal) && is_in_foreground()) {
                    forward(signal, command.get());
                }
            }
        })?;
        Ok(caught)
    }

    #[must_use]
    pub fn end_requests(&self) -> u32 {
        self.end_requests.load(Ordering::Relaxed)
    }
}

fn is_in_foreground() -> bool {
    let terminal = File::open("/dev/tty");
    terminal.is_ok_and(|terminal| rustix::termios::tcgetpgrp(terminal).is_ok_and(|group| group == getpgrp()))
}

fn forward(signal: i32, to: u32) {
    let pid = i32::try_from(to).ok().and_then(Pid::from_raw);
    if let (Some(pid), Some(signal)) = (pid, Signal::from_named_raw(signal)) {
        // The process may have ended a moment ago.
        let _ = kill_process(pid, signal);
    }
}

/// The mask of ignored signals in `/proc/PID/status`.
fn ignored(status: &str) -> u64 {
    let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    line.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

/// Runs the command with `variables` until it ends. A command that cannot be started is [`status::NOT_FOUND`] or
/// [`status::NOT_EXECUTABLE`].
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
    signals.command.set(running.id());
    let status = running.wait();
    signals.command.set(0);
    status
}

fn not_started(program: &OsStr, error: io::Error) -> Failure {
    let program = program.to_string_lossy();
    match error.kind() {
        io::ErrorKind::NotFound => {
            let hint = "commands and aliases of a shell need the shell: sh -c '...'";
            Failure::new(status::NOT_FOUND, anyhow::anyhow!("no such command: {program}")).with_hint(hint)
        }
        _ => Failure::new(status::NOT_EXECUTABLE, error).context(format!("cannot execute {program}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignored_signals_are_a_mask_in_the_status_file() {
        assert_eq!(ignored("Name:\tcat\nSigBlk:\t0000000000000002\nSigIgn:\t0000000000001001\n"), 0x1001);
        assert_eq!(ignored("Name:\tcat\n"), 0);
    }

    #[test]
    fn a_signal_waits_for_the_start_of_the_command() {
        let pid = Arc::new(CommandPid::default());
        let waiting = std::thread::spawn({
            let pid = Arc::clone(&pid);
            move || pid.get()
        });
        pid.set(4711);
        assert_eq!(waiting.join().unwrap(), 4711);
        pid.set(0);
        assert_eq!(pid.get(), 0);
    }

    #[test]
    fn missing_and_non_executable_commands_have_different_exit_codes() {
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
