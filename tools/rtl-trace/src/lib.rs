//! Runs a command and records its GPU work. The library behind `rtl-trace`.
//!
//! [`library`] and [`environment`] load the tracer into the processes of the command, [`command`] runs it, [`recordings`]
//! lists the files that the processes wrote, [`notes`] reads why one wrote none, [`report`] merges and summarises them,
//! [`target`] names the outputs, `data_set` adds a run to a data set, [`status`] maps exit codes. [`control`] starts and
//! stops the recording of a running process, [`mod@recover`] finds what a killed rtl-trace has left. librtl.so records;
//! rtl-merge, rtl-summary and rtl-convert read and write traces.

pub mod args;
pub mod command;
pub mod control;
mod data_set;
pub mod diagnose;
pub mod environment;
pub mod library;
pub mod notes;
pub mod recordings;
pub mod recover;
pub mod report;
pub mod status;
pub mod target;
#[path = "../../../tracer/src/base/variables.rs"]
mod variables;

use std::env::var_os;
use std::io::Write;
use std::path::Path;

use atomic_file::IfExists;
use cli::destination::{format_of, is_own_trace};
use cli::{Exit, Failure, Output, ResultExt};
use tempfile::TempDir;

use crate::args::{Arguments, Format};
use crate::command::Signals;
use crate::target::Target;

/// Runs the command and reports on its GPU work. Where the command failed, its exit code is kept and a failure of our own
/// is only printed.
pub fn run(mut arguments: Arguments, out: &mut Output) -> Result<Exit, Failure> {
    if let Some(flag) = arguments.command.first().filter(|word| word.to_string_lossy().starts_with('-')) {
        let flag = flag.to_string_lossy();
        let next = arguments.command.get(1).map(|word| word.to_string_lossy());
        if let Some(moved) = cli::moved_flag("rtl-trace", &flag, next.as_deref()) {
            return Err(moved);
        }
        let what = format!("unexpected argument '{flag}'");
        return Err(Failure::usage(what).with_hint("flags of the command follow the command; see `--help`"));
    }
    if let Some(pid) = arguments.control {
        let done = control::run(pid, &arguments.command)?;
        if !arguments.quiet {
            writeln!(out, "recording of process {pid} {done}").with_exit(status::OWN)?;
        }
        return Ok(Exit::Success);
    }
    if let Some(folder) = &arguments.recover {
        return recover(folder, &arguments, out);
    }
    format_of(arguments.output.as_deref(), arguments.to, Format::Native)?;
    data_set::check(&arguments)?;
    let target = Target::for_trace(&arguments.trace());
    let program = std::env::current_exe().with_exit(status::OWN)?;
    let library = library::find(arguments.lib.as_deref(), var_os("RTL_LIB"), &program)?;
    let quiet = arguments.quiet;
    // Once there is a folder to remove, a signal must not end this process.
    let signals =
        Signals::catch().with_exit(status::OWN).with_context(|| "cannot forward signals".to_owned())?;
    recover::remove_empty(&target.parent());
    let (folder, _held) = recover::create(&target)?;
    arguments.force |= arguments.output.is_none() && is_own_trace(&target.trace);
    if arguments.format() == Format::Native && !arguments.force {
        target.check_free(!arguments.no_perfetto, arguments.report)?;
    }
    let (mode, is_preloaded) = (arguments.mode, !arguments.no_preload);
    let variables = environment::variables(&library, folder.path(), mode, is_preloaded, |name| var_os(name))?;
    if !quiet {
        for left in recover::left_in(&target.parent(), Some(&target.trace)) {
            let left = left.display();
            out.warning(&format!(
                "a killed rtl-trace has left recordings in {left}; `rtl recover {left}` makes a trace of them"
            ));
        }
        if !is_preloaded && environment::records_hip(mode, |name| var_os(name)) {
            out.warning("HIP calls are not recorded: that needs preloaded libraries");
        }
    }
    if let Some(tools) = environment::replaced(&library, |name| var_os(name)).filter(|_| !quiet) {
        let tools = tools.to_string_lossy();
        out.warning(&format!("HSA_TOOLS_LIB was {tools}: the command runs without it"));
    }
    let ended = command::run(&arguments.command, &variables, &signals)?;
    let exit = status::exit_of(ended);
    match finish(&arguments, &target, folder, &signals, exit, out).with_exit(status::OWN) {
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

fn finish(
    arguments: &Arguments,
    target: &Target,
    folder: TempDir,
    signals: &Signals,
    exit: Exit,
    out: &mut Output,
) -> Result<(), Failure> {
    let quiet = arguments.quiet;
    recordings::wait(folder.path(), signals, |count| {
        if !quiet {
            let are = if count == 1 { "process is" } else { "processes are" };
            out.warning(&format!(
                "the command has ended, {count} {are} still recording: waiting (Ctrl-C stops waiting)"
            ));
        }
    })?;
    let files = recordings::with_content(recordings::list(folder.path())?);
    let notes = notes::read(folder.path())?;
    if files.is_empty() {
        // A tracer that was loaded has named misspelt variables itself.
        if !notes.has_recorder && notes.refusals.is_empty() {
            let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
            names.filter_map(|name| variables::misspelt(&name)).for_each(|line| out.warning(&line));
        }
        let program = arguments.command.first().filter(|_| exit != Exit::Success && !arguments.no_preload);
        let sanitized = program.and_then(|program| diagnose::sanitized(program, var_os("PATH")));
        let (why, hint) = sanitized.unwrap_or_else(|| diagnose::no_trace(&notes, |name| var_os(name)));
        out.warning(&format!("no GPU work was recorded, no trace is written: {why}; {hint}"));
        return Ok(());
    }
    for (reason, processes) in &notes.refusals {
        let are =
            if *processes == 1 { "1 process is".to_owned() } else { format!("{processes} processes are") };
        out.warning(&format!("{are} not in the trace: {reason}; {}", diagnose::NEWER));
    }
    let written = match arguments.format() {
        Format::Native => {
            report::collect(&files, folder.path(), target, IfExists::forced(arguments.force), out)
                .map(|is_whole| (None, is_whole))
        }
        Format::Dataset => report::whole(&files, folder.path(), out)
            .and_then(|(trace, is_whole)| Ok((Some(data_set::add(&trace, arguments)?), is_whole))),
    };
    let run = match written {
        Ok((run, true)) => run,
        // A recording that cannot be read may be the only one of its process.
        Ok((run, false)) => {
            warn_of_missing(&folder.keep(), out);
            run
        }
        Err(failure) => {
            let kept = folder.keep();
            return Err(
                failure.with_hint(format!("the recordings of the processes are in {}", kept.display()))
            );
        }
    };
    let report = match run {
        Some(run) => report_of_run(arguments, &run, files.len(), out)?,
        None => write_report(arguments, target, files.len(), out)?,
    };
    // Standard output that is no terminal is read by a program, which expects the output of the command only.
    match out.is_terminal() {
        true => out.write_all(report.as_bytes())?,
        false => out.print_beside(&report),
    }
    out.flush()?;
    Ok(())
}

fn warn_of_missing(folder: &Path, out: &mut Output) {
    out.warning(&format!("some recordings are missing in the trace and stay in {}", folder.display()));
}

/// Writes the summary and the trace for Perfetto; returns the report, empty with `--quiet`.
fn write_report(
    arguments: &Arguments,
    target: &Target,
    processes: usize,
    out: &mut Output,
) -> Result<String, Failure> {
    let summary = report::summarize(target, out)?;
    if !arguments.no_perfetto {
        report::write_perfetto(target, out)?;
    }
    // The page has a link to the trace for Perfetto.
    if arguments.report {
        report::write_page(target, out)?;
    }
    if arguments.quiet {
        return Ok(String::new());
    }
    Ok(format!("{}{summary}\n{}", merged(processes), list(arguments, target, processes)?))
}

/// The report of a run of a data set, which has no files beside it; empty with `--quiet`.
fn report_of_run(
    arguments: &Arguments,
    run: &data_set::Added,
    processes: usize,
    out: &mut Output,
) -> Result<String, Failure> {
    if arguments.quiet {
        return Ok(String::new());
    }
    let summary = report::beginning(&report::summary(&run.path, out)?);
    let path = run.path.display().to_string();
    let (path, bytes) = (cli::escape_control(&path), cli::units::bytes(run.bytes));
    let (merged, of) = (merged(processes), of_processes(processes));
    Ok(format!("{merged}{summary}\nOutput files:\n  {path} ({bytes}{of}, a run of a data set)\n"))
}

fn merged(processes: usize) -> String {
    if processes > 1 { format!("Merged {processes} process traces\n\n") } else { String::new() }
}

fn of_processes(processes: usize) -> String {
    if processes > 1 { format!(", of {processes} processes") } else { String::new() }
}

/// Completes what a killed rtl-trace has begun. The folder of the recordings stays if anything fails.
fn recover(named: &Path, arguments: &Arguments, out: &mut Output) -> Result<Exit, Failure> {
    if !arguments.command.is_empty() {
        return Err(Failure::usage("a command cannot be run with --recover"));
    }
    let left = recover::find(Some(named), arguments.output.as_deref(), !arguments.no_perfetto)?;
    let keeps = |failure: Failure| {
        failure.with_hint(format!("the folder {} stays as it is, but for the trace", left.folder.display()))
    };
    let is_whole = report::collect(&left.files, &left.folder, &left.target, IfExists::Fail, out);
    let is_whole = is_whole.with_exit(status::OWN).map_err(keeps)?;
    let report = write_report(arguments, &left.target, left.files.len(), out);
    let report = report.with_exit(status::OWN).map_err(keeps)?;
    out.write_all(report.as_bytes()).with_exit(status::OWN)?;
    if is_whole {
        let removed = std::fs::remove_dir_all(&left.folder).with_exit(status::OWN);
        removed.with_context(|| format!("cannot remove {}", left.folder.display()))?;
    } else {
        warn_of_missing(&left.folder, out);
    }
    Ok(Exit::Success)
}

fn list(arguments: &Arguments, target: &Target, processes: usize) -> std::io::Result<String> {
    let mut text = "Output files:\n".to_owned();
    let perfetto = (!arguments.no_perfetto).then_some(&target.perfetto);
    let page = arguments.report.then_some(&target.page);
    let trace = of_processes(processes);
    let files = [
        (Some(&target.trace), trace.as_str()),
        (Some(&target.summary), ", the whole summary"),
        (perfetto, ", for ui.perfetto.dev"),
        (page, ", for a browser"),
    ];
    for (path, note) in files {
        if let Some(path) = path {
            let bytes = cli::units::bytes(path.metadata()?.len());
            text += &format!("  {} ({bytes}{note})\n", cli::escape_control(&path.display().to_string()));
        }
    }
    Ok(text)
}
