//! The `main` of every tool: one command line, one failure, one exit code.

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::num::NonZero;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgAction, Command, ValueEnum};
use clap_complete::Shell;

use crate::args::CommandLine;
use crate::{Exit, Failure, Output, memory, moved, units};

/// Ids of the flags that tools with inputs and threads have.
const MAX_MEMORY: &str = "max_memory";
const THREADS: &str = "threads";

/// The whole `main` of a tool: parses the command line, runs `tool`, prints its failure and returns the exit code.
///
/// `--help` ends with the table of the tool's exit codes. Usage errors have the style of all other errors and end with
/// [`Exit::Usage`].
pub fn run<Arguments: CommandLine>(
    tool: impl FnOnce(Arguments, &mut Output) -> Result<Exit, Failure>,
) -> ExitCode {
    run_line(std::env::args_os().collect(), tool)
}

/// Runs a command line whose first word is the name in the usage: `rtl-summary` or `rtl summary`.
pub fn run_line<Arguments: CommandLine>(
    line: Vec<OsString>,
    tool: impl FnOnce(Arguments, &mut Output) -> Result<Exit, Failure>,
) -> ExitCode {
    atomic_file::remove_on_signals();
    platform::signals::survive_file_size_limit();
    let command = Arguments::command();
    let name = message_prefix(line.first().map(OsString::as_os_str), command.get_name());
    run_with(line, &mut Output::standard(name), tool).into()
}

/// The command line of a tool, with the flags and the help text that every tool has.
pub fn command<Arguments: CommandLine>(
    _tool: impl FnOnce(Arguments, &mut Output) -> Result<Exit, Failure>,
) -> Command {
    with_common_flags::<Arguments>()
}

/// The name at the start of messages: `rtl` for a tool that was started as `rtl VERB`, else the tool's name.
fn message_prefix<'a>(called: Option<&OsStr>, tool: &'a str) -> &'a str {
    let is_verb = called.is_some_and(|name| name.as_encoded_bytes().starts_with(b"rtl "));
    if is_verb { "rtl" } else { tool }
}

/// The answer of a tool that was called as a function.
#[derive(Debug)]
pub struct Called {
    pub result: Result<Exit, Failure>,
    pub report: String,
    pub messages: String,
}

/// Calls a tool as a function: the line is that of [`run_line`], and nothing is printed.
pub fn call<Arguments: CommandLine>(
    line: Vec<OsString>,
    tool: impl FnOnce(Arguments, &mut Output) -> Result<Exit, Failure>,
) -> Called {
    let (messages, read) = crate::output::shared();
    let mut out = Output::new("rtl", Box::new(std::io::sink()), Box::new(messages));
    let (result, report) = out.capture(|out| parse_and_run(line, out, false, tool));
    drop(out);
    Called { result, report, messages: read() }
}

fn run_with<Arguments: CommandLine>(
    line: impl IntoIterator<Item = OsString>,
    out: &mut Output,
    tool: impl FnOnce(Arguments, &mut Output) -> Result<Exit, Failure>,
) -> Exit {
    let result = parse_and_run(line, out, true, tool).and_then(|exit| {
        out.flush()?;
        Ok(exit)
    });
    match result {
        Ok(exit) => exit,
        Err(failure) if failure.is_broken_pipe() => Exit::Success,
        Err(failure) => {
            out.failure(&failure);
            failure.exit()
        }
    }
}

/// Makes this program read runs of data sets wherever it reads traces, if it has the feature `dataset`. Every tool does so.
pub fn read_data_sets() {
    #[cfg(feature = "dataset")]
    dataset::read_as_traces();
}

fn parse_and_run<Arguments: CommandLine>(
    line: impl IntoIterator<Item = OsString>,
    out: &mut Output,
    is_program: bool,
    tool: impl FnOnce(Arguments, &mut Output) -> Result<Exit, Failure>,
) -> Result<Exit, Failure> {
    read_data_sets();
    let mut command = with_common_flags::<Arguments>();
    let line: Vec<OsString> = line.into_iter().collect();
    let matches = match command.try_get_matches_from_mut(&line) {
        Ok(matches) => matches,
        Err(error) if !error.use_stderr() => {
            let text = error.render();
            if out.is_terminal() {
                write!(out, "{}", text.ansi())?
            } else {
                write!(out, "{text}")?
            }
            return Ok(Exit::Success);
        }
        Err(error) => {
            return Err(moved::refused_line(&error, &line, command.get_name())
                .unwrap_or_else(|| usage(&error, &command)));
        }
    };
    if let Some(&bytes) = matches.try_get_one::<u64>(MAX_MEMORY).ok().flatten() {
        rtl_schema::set_input_limit(bytes);
        memory::set_limit(bytes);
    }
    // A library must not end its process.
    if is_program && Arguments::READS_TRACES {
        memory::watch(out.name().to_owned());
    }
    if let Some(&threads) = matches.try_get_one::<NonZero<usize>>(THREADS).ok().flatten() {
        threads::set_limit(threads);
    }
    let arguments = Arguments::from_arg_matches(&matches).map_err(|error| usage(&error, &command))?;
    tool(arguments, out)
}

/// Adds the flags and the help text that every tool has.
fn with_common_flags<Arguments: CommandLine>() -> Command {
    let (command, codes) = (Arguments::command(), Arguments::EXIT_CODES);
    let examples = command.get_after_help().map(|help| format!("{help}\n\n")).unwrap_or_default();
    let width = codes.iter().map(|(code, _)| code.len()).max().unwrap_or(0);
    let codes: Vec<String> =
        codes.iter().map(|(code, meaning)| format!("  {code:width$}  {meaning}")).collect();
    let ending = format!("{examples}Exit codes:\n{}", codes.join("\n"));
    let memory = Arg::new(MAX_MEMORY)
        .long("max-memory")
        .help_heading("Output")
        .value_name("SIZE")
        .value_parser(units::parse_bytes)
        .action(ArgAction::Set)
        .hide_short_help(true)
        .help("The most memory, and the largest temporary copy of a pipe or compressed trace, such as 500M or 20G [default: a quarter of the machine or its cgroup; 8G]");
    let threads = Arg::new(THREADS)
        .long("threads")
        .help_heading("Output")
        .value_name("N")
        .value_parser(parse_threads)
        .action(ArgAction::Set)
        .hide_short_help(true)
        .help("The most threads that work at the same time; results do not depend on it [default: the cores that the process may use]");
    command
        .after_long_help(ending)
        .max_term_width(100)
        .args(Arguments::READS_TRACES.then_some(memory))
        .args(Arguments::HAS_THREADS.then_some(threads))
}

/// Writes the completion script of a command for bash, zsh, fish, elvish or powershell.
pub fn completions(mut command: Command, shell: &str, out: &mut Output) -> Result<(), Failure> {
    let shell = Shell::from_str(shell, true).map_err(|_| {
        let names: Vec<String> = Shell::value_variants().iter().map(ToString::to_string).collect();
        Failure::usage(format!("no such shell: {shell}"))
            .with_hint(format!("possible values: {}", names.join(", ")))
    })?;
    let name = command.get_name().to_owned();
    clap_complete::generate(shell, &mut command, name, out);
    Ok(())
}

pub fn manual(command: Command, out: &mut Output) -> Result<(), Failure> {
    Ok(clap_mangen::Man::new(command).render(out)?)
}

fn parse_threads(word: &str) -> Result<NonZero<usize>, String> {
    word.parse().map_err(|_| "it is a number from 1 on".to_owned())
}

/// Reduces an error of clap to one line and a hint.
fn usage(error: &clap::Error, command: &Command) -> Failure {
    let text = |kind| match error.get(kind)? {
        ContextValue::String(text) => Some(text.clone()),
        ContextValue::Strings(texts) => Some(texts.join(", ")).filter(|texts| !texts.is_empty()),
        _ => None,
    };
    let invalid = text(ContextKind::InvalidArg);
    let message = match error.kind() {
        ErrorKind::MissingRequiredArgument => {
            format!("missing: {}", invalid.as_deref().unwrap_or("an argument"))
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => "arguments are missing".to_owned(),
        _ => {
            let text = error.render().to_string();
            let line = text.lines().next().unwrap_or_default();
            line.trim_start_matches("error: ").trim_end_matches(':').to_owned()
        }
    };
    let unknown = invalid.filter(|_| error.kind() == ErrorKind::UnknownArgument);
    let similar = unknown.as_deref().and_then(|word| similar_flag(word, command));
    let is_negative =
        unknown.as_deref().is_some_and(|word| word.trim_start_matches('-').parse::<u64>().is_ok());
    let is_missing = error.kind() == ErrorKind::MissingRequiredArgument;
    let hint = if let Some(flag) = similar.or_else(|| text(ContextKind::SuggestedArg)) {
        format!("a similar argument exists: '{flag}'")
    } else if let Some(value) = text(ContextKind::SuggestedValue) {
        format!("a similar value exists: '{value}'")
    } else if let Some(values) = text(ContextKind::ValidValue) {
        format!("possible values: {values}")
    } else if is_negative {
        "numbers are not negative; see `--help`".to_owned()
    } else if let Some(example) = first_example(command).filter(|_| is_missing) {
        format!("for example `{example}`; see `--help`")
    } else {
        "see `--help`".to_owned()
    };
    Failure::usage(message).with_hint(hint)
}

/// The first command line of the examples in the help.
fn first_example(command: &Command) -> Option<String> {
    let help = command.get_after_help()?.to_string();
    let example = help.lines().skip_while(|line| !line.starts_with("Examples:")).nth(1)?;
    Some(example.trim().to_owned())
}

/// The flag that was probably meant: a misspelt one, or a value without its flag (`--json` for `--to json`). clap
/// suggests `--output` for `--tpo`, and else to pass the word as a value, which is never meant here.
fn similar_flag(unknown: &str, command: &Command) -> Option<String> {
    let word = unknown.strip_prefix("--")?.split('=').next()?;
    let flags = || command.get_arguments().filter(|flag| !flag.is_positional() && !flag.is_hide_set());
    let with_value = flags().find_map(|flag| {
        let values = flag.get_possible_values();
        let value = values.iter().find(|value| value.matches(word, true))?;
        Some(format!("--{} {}", flag.get_long()?, value.get_name()))
    });
    with_value.or_else(|| similar(word, flags().filter_map(Arg::get_long)).map(|flag| format!("--{flag}")))
}

/// The name that was probably meant by a misspelt word.
pub fn similar<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let distance = |name: &str| strsim::damerau_levenshtein(name, word);
    // Swapped letters are likelier than a missing one.
    let nearest = names.into_iter().min_by_key(|name| (distance(name), name.len().abs_diff(word.len())));
    nearest.filter(|name| distance(name) <= 2)
}

#[cfg(test)]
mod tests {
    use std::io;

    use clap::Parser;

    use super::*;
    use crate::ResultExt;

    #[derive(Parser)]
    #[command(name = "rtl-test", after_help = "Examples:\n  rtl-test a.db")]
    struct Arguments {
        trace: String,
        #[arg(long, value_enum, default_value_t)]
        to: crate::args::Format,
        #[command(flatten)]
        display: crate::args::Display,
    }

    impl CommandLine for Arguments {}

    struct Closed;

    impl Write for Closed {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn call(
        line: &[&str],
        tool: impl FnOnce(Arguments, &mut Output) -> Result<Exit, Failure>,
    ) -> (Exit, String, String) {
        let [(report, printed), (messages, said)] = [(); 2].map(|()| crate::output::shared());
        let mut out = Output::new("rtl-test", Box::new(report), Box::new(messages));
        let line = std::iter::once("rtl-test").chain(line.iter().copied()).map(OsString::from);
        let exit = run_with(line, &mut out, tool);
        drop(out);
        (exit, printed(), said())
    }

    fn silent(_: Arguments, _: &mut Output) -> Result<Exit, Failure> {
        Ok(Exit::Success)
    }

    #[test]
    fn messages_of_a_verb_begin_with_the_name_of_the_program_that_was_called() {
        assert_eq!(message_prefix(Some(OsStr::new("rtl trace")), "rtl-trace"), "rtl");
        assert_eq!(message_prefix(Some(OsStr::new("/usr/bin/rtl-trace")), "rtl-trace"), "rtl-trace");
        assert_eq!(message_prefix(None, "rtl-trace"), "rtl-trace");
    }

    #[test]
    fn only_the_report_goes_to_standard_output() {
        let (exit, report, messages) = call(&["a.db"], |arguments, out| {
            writeln!(out, "read {}", arguments.trace)?;
            Ok(Exit::GateFailed)
        });
        assert_eq!((exit, report.as_str(), messages.as_str()), (Exit::GateFailed, "read a.db\n", ""));
    }

    #[test]
    fn a_missing_argument_is_one_line_and_a_hint_with_the_first_example() {
        let (exit, report, messages) = call(&[], silent);
        assert_eq!((exit, report.as_str()), (Exit::Usage, ""));
        assert_eq!(
            messages,
            "rtl-test: error: missing: <TRACE>\nhint: for example `rtl-test a.db`; see `--help`\n"
        );
    }

    #[test]
    fn the_hint_of_an_unknown_value_lists_the_possible_values() {
        let (exit, _, messages) = call(&["a.db", "--to", "xml"], silent);
        assert_eq!(exit, Exit::Usage);
        assert_eq!(
            messages,
            "rtl-test: error: invalid value 'xml' for '--to <TO>'\n\
             hint: possible values: text, json, csv, markdown\n"
        );
    }

    #[test]
    fn the_hint_of_a_misspelt_flag_names_the_similar_flag() {
        let (_, _, messages) = call(&["a.db", "--full-nmes"], silent);
        assert!(messages.contains("unexpected argument '--full-nmes'"), "{messages}");
        assert!(messages.contains("hint: a similar argument exists: '--full-names'"), "{messages}");
    }

    #[test]
    fn the_hint_of_an_unknown_flag_never_says_to_pass_it_as_a_value() {
        for (flag, hint) in [
            ("--qiet", "a similar argument exists: '--quiet'"),
            ("--clr=never", "a similar argument exists: '--color'"),
            ("--json", "a similar argument exists: '--to json'"),
            ("--xyzzy", "see `--help`"),
            ("-x", "see `--help`"),
            ("-1", "numbers are not negative; see `--help`"),
        ] {
            let (exit, _, messages) = call(&["a.db", flag], silent);
            assert_eq!(
                (exit, messages.lines().nth(1)),
                (Exit::Usage, Some(&*format!("hint: {hint}"))),
                "{flag}"
            );
        }
    }

    #[test]
    fn a_closed_pipe_is_not_an_error() {
        let mut out = Output::new("rtl-test", Box::new(Closed), Box::new(Closed));
        let exit = run_with(["rtl-test", "a.db"].map(OsString::from), &mut out, |_: Arguments, out| {
            ResultExt::with_context(writeln!(out, "lost"), || "writing".to_owned())?;
            Ok(Exit::Success)
        });
        assert_eq!(exit, Exit::Success);
    }

    #[test]
    fn completions_have_the_flags() {
        let [(report, printed), (messages, _)] = [(); 2].map(|()| crate::output::shared());
        let mut out = Output::new("rtl-test", Box::new(report), Box::new(messages));
        completions(command(silent), "bash", &mut out).unwrap();
        assert_eq!(completions(command(silent), "tcsh", &mut out).unwrap_err().exit(), Exit::Usage);
        drop(out);
        let report = printed();
        assert!(report.contains("--full-names") && report.contains("rtl-test"), "{report}");
    }

    #[test]
    fn the_manual_page_contains_the_help() {
        let [(report, printed), (messages, _)] = [(); 2].map(|()| crate::output::shared());
        let mut out = Output::new("rtl-test", Box::new(report), Box::new(messages));
        manual(command(silent), &mut out).unwrap();
        drop(out);
        let report = printed();
        for part in [".TH rtl-test 1", "\\-\\-full\\-names", "Examples:", "Exit codes:"] {
            assert!(report.contains(part), "{part}: {report}");
        }
    }

    #[test]
    fn the_long_help_ends_with_examples_and_exit_codes() {
        let (exit, report, _) = call(&["--help"], silent);
        assert_eq!(exit, Exit::Success);
        let (_, ending) = report.split_once("Examples:").expect("examples in the help");
        assert!(ending.trim_end().ends_with("  3  an input cannot be read or compared"), "{report}");
    }
}
