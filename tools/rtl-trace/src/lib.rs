//! Runs a command and records its GPU work. The library behind `rtl-trace`.
//!
//! [`library`] and [`environment`] load the tracer into the processes of the command, [`command`] runs it,
//! [`recordings`] lists the files that the processes wrote, [`report`] merges and summarises them, [`target`] names the
//! outputs, [`status`] maps exit codes. [`control`] starts and stops the recording of a running process. librtl.so
//! records; rtl-merge, rtl-summary and rtl-convert read and write traces.

/// The command line.
pub mod args;
pub mod command;
pub mod control;
pub mod diagnose;
pub mod environment;
pub mod library;
pub mod recordings;
pub mod report;
pub mod status;
pub mod target;

use std::env::var_os;
use std::io::Write;

use cli::{Exit, Failure, Output, ResultExt};
use tempfile::TempDir;

use crate::args::Arguments;
use crate::command::Signals;
use crate::target::Target;

/// Runs the command and reports on its GPU work.
///
/// # Errors
/// Where the command cannot be started, or it succeeded and its trace could not be written. Where the command failed, its
/// exit code is kept and a failure of our own is only printed.
pub fn run(arguments: Arguments, out: &mut Output) -> Result<Exit, Failure> {
    if let Some(flag) = arguments.command.first().filter(|word| word.to_string_lossy().starts_with('-')) {
        let what = format!("unexpected argument '{}'", flag.to_string_lossy());
        return Err(Failure::usage(what).with_hint("flags of the command follow the command; see `--help`"));
    }
    if let Some(pid) = arguments.control {
        let done = control::run(pid, &arguments.command)?;
        if !arguments.console.quiet {
            writeln!(out, "recording of process {pid} {done}").with_exit(status::OWN)?;
        }
        return Ok(Exit::Success);
    }
    let program = std::env::current_exe().with_exit(status::OWN)?;
    let library = library::find(arguments.lib.as_deref(), var_os("RTL_LIB"), &program)?;
    let target = Target::of(&arguments.output);
    let folder = target.folder()?;
    let variables = environment::variables(&library, folder.path(), arguments.mode, |name| var_os(name))?;
    let quiet = arguments.console.quiet;
    if let Some(tools) = environment::replaced(&library, |name| var_os(name)).filter(|_| !quiet) {
        let tools = tools.to_string_lossy();
        out.warning(&format!("HSA_TOOLS_LIB was {tools}: the command runs without it"));
    }
    let signals =
        Signals::catch().with_exit(status::OWN).with_context(|| "cannot forward signals".to_owned())?;
    let ended = command::run(&arguments.command, &variables, &signals)?;
    let exit = status::of(ended);
    match finish(&arguments, &target, folder, &signals, out).with_exit(status::OWN) {
        Ok(()) => Ok(exit),
        // The reader of the report closed the pipe; the exit code stays that of the command.
        Err(failure) if failure.is_broken_pipe() => Ok(exit),
        Err(failure) if exit == Exit::Success => Err(failure),
        Err(failure) => {
            out.failure(&failure);
            Ok(exit)
        }
    }
}

/// Merges the recordings into the trace and prints the report.
fn finish(
    arguments: &Arguments,
    target: &Target,
    folder: TempDir,
    signals: &Signals,
    out: &mut Output,
) -> Result<(), Failure> {
    let quiet = arguments.console.quiet;
    recordings::wait(folder.path(), signals, |count| {
        if !quiet {
            let are = if count == 1 { "process is" } else { "processes are" };
            out.warning(&format!(
                "the command has ended, {count} {are} still recording: waiting (Ctrl-C stops waiting)"
            ));
        }
    })?;
    let files = recordings::list(folder.path())?;
    if files.is_empty() {
        let (why, hint) = diagnose::no_trace(|name| var_os(name));
        out.warning(&format!("no GPU work was recorded, no trace is written: {why}; {hint}"));
        return Ok(());
    }
    match report::collect(&files, folder.path(), target, out) {
        Ok(true) => {}
        // A recording that cannot be read may be the only one of its process.
        Ok(false) => {
            let kept = folder.keep();
            out.warning(&format!("some recordings are missing in the trace and stay in {}", kept.display()));
        }
        Err(failure) => {
            let kept = folder.keep();
            return Err(
                failure.with_hint(format!("the recordings of the processes are in {}", kept.display()))
            );
        }
    }
    let summary = report::summarize(target, out)?;
    if !arguments.no_perfetto {
        report::write_perfetto(target, out)?;
    }
    if !quiet {
        if files.len() > 1 {
            writeln!(out, "Merged {} process traces\n", files.len())?;
        }
        write!(out, "{summary}\n{}", list(arguments, target, files.len())?)?;
    }
    out.flush()?;
    Ok(())
}

/// The list of output files.
fn list(arguments: &Arguments, target: &Target, processes: usize) -> std::io::Result<String> {
    let mut text = "Output files:\n".to_owned();
    let perfetto = (!arguments.no_perfetto).then_some(&target.perfetto);
    let trace = match processes {
        1 => String::new(),
        several => format!(", of {several} processes"),
    };
    let files = [
        (Some(&target.trace), trace.as_str()),
        (Some(&target.summary), ""),
        (perfetto, ", for ui.perfetto.dev"),
    ];
    for (path, note) in files {
        if let Some(path) = path {
            let bytes = cli::units::bytes(path.metadata()?.len());
            text += &format!("  {} ({bytes}{note})\n", cli::escape_control(&path.display().to_string()));
        }
    }
    Ok(text)
}
