//! `rtl VERB` executes the program `rtl-VERB`.
//!
//! rtl knows no flags of the verbs. It finds their programs beside itself, else on the PATH, so that each can be
//! installed alone.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::{Parser, Subcommand};
use cli::{Exit, Failure, Output};

/// See, compare and record what AMD GPUs do
#[derive(Parser, Debug)]
#[command(name = "rtl", version, after_help = help())]
#[command(override_usage = "rtl <VERB> [ARGUMENTS]...", disable_help_subcommand = true)]
pub struct Arguments {
    #[command(subcommand)]
    #[expect(missing_docs, reason = "a doc comment here would become the help of the program")]
    pub verb: Option<Verb>,
}

/// The verb.
#[derive(Subcommand, Debug)]
pub enum Verb {
    /// A verb and its arguments.
    #[command(external_subcommand)]
    Of(Vec<OsString>),
}

/// The verbs: name, program, its first flags, help. The programs are the folders `tools/rtl-*`.
const VERBS: &[(&str, &str, &[&str], &str)] = &[
    ("trace", "rtl-trace", &[], "run a command and record its GPU work"),
    ("recover", "rtl-trace", &["--recover"], "write the trace that a killed `rtl trace` has left"),
    ("summary", "rtl-summary", &[], "where did the GPU time go?"),
    ("report", "rtl-report", &[], "what does it look like? one HTML page"),
    ("diff", "rtl-diff", &[], "did it get slower?"),
    ("merge", "rtl-merge", &[], "merge the traces of many ranks into one"),
    ("convert", "rtl-convert", &[], "convert a trace to another format"),
    ("top", "rtl-top", &[], "what do recorded processes do now?"),
    ("info", "rtl-summary", &["--info"], "show the contents of a trace file"),
];

fn help() -> String {
    let verbs: String = VERBS.iter().map(|(verb, .., help)| format!("  {verb:<8} {help}\n")).collect();
    format!(
        "\
Verbs:
{verbs}  `rtl VERB --help` shows the flags of a verb, as `rtl-VERB --help` does.

Examples:
  rtl trace python3 train.py --epochs 1
      trace.db, trace_summary.txt and trace.json.gz
  rtl diff before.db after.db
      what got slower, and whether that is noise"
    )
}

/// Replaces this process by the program of the verb; returns only on failure.
///
/// # Errors
/// Where the verb is unknown or its program is not installed.
pub fn run(arguments: Arguments, _: &mut Output) -> Result<Exit, Failure> {
    let words = arguments.verb.map(|Verb::Of(words)| words).unwrap_or_default();
    let [verb, arguments @ ..] = words.as_slice() else {
        return Err(Failure::usage("missing: <VERB>").with_hint(verbs()));
    };
    let (program, flags) = program(verb).ok_or_else(|| unknown(verb))?;
    let error = Command::new(locate(program, std::env::current_exe().ok().as_deref()))
        // The name in its messages and its usage.
        .arg0(format!("rtl {}", verb.to_string_lossy()))
        .args(flags)
        .args(arguments)
        .exec();
    Err(match error.kind() {
        io::ErrorKind::NotFound => Failure::usage(format!("{program} is not installed"))
            .with_hint(format!("it belongs beside `rtl`: cargo install --locked --path tools/{program}")),
        _ => Failure::new(Exit::Usage, error).context(format!("cannot execute {program}")),
    })
}

/// The program of a verb and its first flags.
fn program(verb: &OsStr) -> Option<(&'static str, &'static [&'static str])> {
    VERBS.iter().find(|(name, ..)| verb == *name).map(|&(_, program, flags, _)| (program, flags))
}

fn verbs() -> String {
    let names: Vec<&str> = VERBS.iter().map(|(verb, ..)| *verb).collect();
    let (last, others) = names.split_last().unwrap_or((&"", &[]));
    format!("{} and {last}; see `--help`", others.join(", "))
}

fn unknown(verb: &OsStr) -> Failure {
    Failure::usage(format!("no such verb: {}", verb.to_string_lossy())).with_hint(verbs())
}

/// The program beside `this` one, else its name, for the PATH.
fn locate(program: &str, this: Option<&Path>) -> PathBuf {
    let beside = this.and_then(Path::parent).map(|folder| folder.join(program));
    beside.filter(|beside| beside.is_file()).unwrap_or_else(|| program.into())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_program_beside_this_one_precedes_that_on_the_path() {
        let folder = tempfile::tempdir().unwrap();
        let this = folder.path().join("rtl");
        assert_eq!(locate("rtl-diff", Some(&this)), Path::new("rtl-diff"));
        std::fs::write(folder.path().join("rtl-diff"), "").unwrap();
        assert_eq!(locate("rtl-diff", Some(&this)), folder.path().join("rtl-diff"));
        assert_eq!(locate("rtl-diff", None), Path::new("rtl-diff"));
    }

    #[test]
    fn every_verb_has_a_program_and_every_program_a_verb() {
        let tools = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").read_dir().unwrap();
        let names = tools.map(|tool| tool.unwrap().file_name().into_string().unwrap());
        let folders: BTreeSet<String> = names.filter(|name| name.starts_with("rtl-")).collect();
        let programs = VERBS.iter().map(|(verb, ..)| program(OsStr::new(verb)).unwrap().0.to_owned());
        assert_eq!(programs.collect::<BTreeSet<_>>(), folders);
        assert!(program(OsStr::new("sumary")).is_none());
        assert_eq!(
            verbs(),
            "trace, recover, summary, report, diff, merge, convert, top and info; see `--help`"
        );
    }
}
