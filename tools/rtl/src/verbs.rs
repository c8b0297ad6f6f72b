//! The verbs and their tools.

use std::ffi::{OsStr, OsString};
use std::process::ExitCode;

use clap::Command;

/// A tool that is part of this program.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tool {
    /// Its whole `main`; the first word of the line is the name in its usage.
    pub(crate) run: fn(Vec<OsString>) -> ExitCode,
    /// Its flags and help.
    pub(crate) command: fn() -> Command,
}

/// One verb.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Verb {
    pub(crate) name: &'static str,
    /// The program that does the same: a link to `rtl`, or one of its own.
    pub(crate) program: &'static str,
    /// The first flags.
    pub(crate) flags: &'static [&'static str],
    pub(crate) help: &'static str,
    pub(crate) tool: Tool,
}

macro_rules! tool {
    ($library:ident) => {
        Tool { run: |line| cli::run_line(line, $library::run), command: || cli::command($library::run) }
    };
}

/// All verbs. Every program is a folder `tools/rtl-*`.
pub(crate) const VERBS: &[Verb] = &[
    verb("trace", "rtl-trace", &[], "run a command and record its GPU work", tool!(rtl_trace)),
    verb(
        "recover",
        "rtl-trace",
        &["--recover"],
        "write the trace that a killed `rtl trace` has left",
        tool!(rtl_trace),
    ),
    verb("summary", "rtl-summary", &[], "where did the GPU time go?", tool!(rtl_summary)),
    verb("report", "rtl-report", &[], "what does it look like? one HTML page", tool!(rtl_report)),
    verb("diff", "rtl-diff", &[], "did it get slower?", tool!(rtl_diff)),
    verb("merge", "rtl-merge", &[], "merge the traces of many ranks into one", tool!(rtl_merge)),
    verb("convert", "rtl-convert", &[], "convert a trace to another format", tool!(rtl_convert)),
    verb("top", "rtl-top", &[], "what do recorded processes do now?", tool!(rtl_top)),
    verb("sql", "rtl-sql", &[], "any other question, in SQL", tool!(rtl_sql)),
    verb("info", "rtl-summary", &["--info"], "show the contents of a trace file", tool!(rtl_summary)),
];

const fn verb(
    name: &'static str,
    program: &'static str,
    flags: &'static [&'static str],
    help: &'static str,
    tool: Tool,
) -> Verb {
    Verb { name, program, flags, help, tool }
}

/// The verb of this name.
pub(crate) fn of_name(name: &OsStr) -> Option<&'static Verb> {
    VERBS.iter().find(|verb| name == verb.name)
}

/// The verb whose program has this name and that adds no flags.
pub(crate) fn of_program(name: &OsStr) -> Option<&'static Verb> {
    VERBS.iter().find(|verb| name == verb.program && verb.flags.is_empty())
}
