use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgAction, Command, Parser, value_parser};
use clap_complete::Shell;

use crate::{Exit, Failure, Output};

/// The whole of a tool's `main`: reads the command line, runs `tool`, reports its failure and gives the
/// exit code.
///
/// Every tool gets `--completions <SHELL>`, `--man` and, in its `--help`, the table of exit codes. A command line
/// that makes no sense is told in the same style as every other error and ends with [`Exit::Usage`].
pub fn run<Arguments: Parser>(
    tool: impl FnOnce(Arguments, &mut Output) -> Result<Exit, Failure>,
) -> ExitCode {
    let command = Arguments::command();
    let name = speaker(std::env::args_os().next().as_deref(), command.get_name());
    run_with(std::env::args_os(), &mut Output::standard(name), tool).into()
}

/// Whose words messages are: those of `rtl` where it was called for one of its verbs, as `rtl VERB`, else of the tool.
fn speaker<'a>(called: Option<&OsStr>, tool: &'a str) -> &'a str {
    let is_verb = called.is_some_and(|name| name.as_encoded_bytes().starts_with(b"rtl "));
    if is_verb { "rtl" } else { tool }
}

/// As [`run`], with the command line and the output given.
pub(crate) fn run_with<Arguments: Parser>(
    line: impl IntoIterator<Item = OsString>,
    out: &mut Output,
    tool: impl FnOnce(Arguments, &mut Output) -> Result<Exit, Failure>,
) -> Exit {
    let answered = answer(line, out, tool).and_then(|exit| {
        out.flush()?;
        Ok(exit)
    });
    match answered {
        Ok(exit) => exit,
        Err(failure) if failure.is_broken_pipe() => Exit::Answered,
        Err(failure) => {
            out.failure(&failure);
            failure.exit()
        }
    }
}

fn answer<Arguments: Parser>(
    line: impl IntoIterator<Item = OsString>,
    out: &mut Output,
    tool: impl FnOnce(Arguments, &mut Output) -> Result<Exit, Failure>,
) -> Result<Exit, Failure> {
    let mut command = complete(Arguments::command());
    let parsed = command.try_get_matches_from_mut(line);
    let matches = match parsed {
        Ok(matches) => matches,
        Err(error) if !error.use_stderr() => {
            let text = error.render();
            if out.is_terminal() {
                write!(out, "{}", text.ansi())?
            } else {
                write!(out, "{text}")?
            }
            return Ok(Exit::Answered);
        }
        Err(error) => return Err(usage(&error)),
    };
    if let Some(&shell) = matches.get_one::<Shell>("completions") {
        let name = command.get_name().to_owned();
        clap_complete::generate(shell, &mut command, name, out);
        return Ok(Exit::Answered);
    }
    if matches.get_flag("man") {
        clap_mangen::Man::new(command).render(out)?;
        return Ok(Exit::Answered);
    }
    let arguments = Arguments::from_arg_matches(&matches).map_err(|error| usage(&error))?;
    tool(arguments, out)
}

/// The tool's command line with what every tool has.
fn complete(command: Command) -> Command {
    let examples = command.get_after_long_help().or(command.get_after_help()).map(ToString::to_string);
    let ending = match examples {
        // A tool that runs commands for the user has theirs.
        Some(examples) if examples.contains("Exit codes:") => examples,
        Some(examples) => format!("{examples}\n\n{}", Exit::HELP),
        None => Exit::HELP.to_owned(),
    };
    let completions = Arg::new("completions")
        .long("completions")
        .value_name("SHELL")
        .value_parser(value_parser!(Shell))
        .action(ArgAction::Set)
        .exclusive(true)
        .help("Print the completion script for a shell and end");
    let man = Arg::new("man")
        .long("man")
        .action(ArgAction::SetTrue)
        .exclusive(true)
        .hide_short_help(true)
        .help("Print the manual page and end");
    command.after_long_help(ending).max_term_width(100).args([completions, man])
}

/// A usage error in our own style: what is wrong on one line, then clap's own tip or where help is.
fn usage(error: &clap::Error) -> Failure {
    let rendered = error.render().to_string();
    let text = rendered.strip_prefix("error: ").unwrap_or(&rendered);
    let first = match error.kind() {
        ErrorKind::MissingRequiredArgument => match error.get(ContextKind::InvalidArg) {
            Some(ContextValue::Strings(missing)) => format!("missing: {}", missing.join(", ")),
            _ => "an argument is missing".to_owned(),
        },
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => "arguments are missing".to_owned(),
        _ => text.lines().next().unwrap_or_default().trim_end_matches(':').to_owned(),
    };
    let tip = rendered.lines().find_map(|line| line.trim().strip_prefix("tip: "));
    let possible = rendered.lines().find_map(|line| line.trim().strip_prefix("[possible values: "));
    let hint = match (tip, possible) {
        (Some(tip), _) => tip.to_owned(),
        (None, Some(values)) => format!("possible values: {}", values.trim_end_matches(']')),
        (None, None) => "see `--help`".to_owned(),
    };
    Failure::usage(first).with_hint(hint)
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::io;
    use std::rc::Rc;

    use super::*;

    /// A tool to test with.
    #[derive(Parser)]
    #[command(name = "rtl-test", after_help = "Examples:\n  rtl-test a.db")]
    struct Arguments {
        /// A trace.
        trace: String,
        #[command(flatten)]
        display: crate::args::Display,
    }

    #[derive(Clone, Default)]
    struct Shared(Rc<RefCell<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.borrow_mut().write(bytes)
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

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
        let (answer, messages) = (Shared::default(), Shared::default());
        let mut out = Output::new("rtl-test", Box::new(answer.clone()), Box::new(messages.clone()));
        let line = std::iter::once("rtl-test").chain(line.iter().copied()).map(OsString::from);
        let exit = run_with(line, &mut out, tool);
        let text = |shared: &Shared| String::from_utf8(shared.0.borrow().clone()).unwrap();
        (exit, text(&answer), text(&messages))
    }

    fn silent(_: Arguments, _: &mut Output) -> Result<Exit, Failure> {
        Ok(Exit::Answered)
    }

    #[test]
    fn a_verb_speaks_as_the_program_that_was_called() {
        assert_eq!(speaker(Some(OsStr::new("rtl trace")), "rtl-trace"), "rtl");
        assert_eq!(speaker(Some(OsStr::new("/usr/bin/rtl-trace")), "rtl-trace"), "rtl-trace");
        assert_eq!(speaker(None, "rtl-trace"), "rtl-trace");
    }

    #[test]
    fn the_answer_goes_to_standard_output_alone() {
        let (exit, answer, messages) = call(&["a.db"], |arguments, out| {
            writeln!(out, "read {}", arguments.trace)?;
            Ok(Exit::No)
        });
        assert_eq!((exit, answer.as_str(), messages.as_str()), (Exit::No, "read a.db\n", ""));
    }

    #[test]
    fn a_missing_argument_is_one_line_and_a_hint() {
        let (exit, answer, messages) = call(&[], silent);
        assert_eq!((exit, answer.as_str()), (Exit::Usage, ""));
        assert_eq!(messages, "rtl-test: error: missing: <TRACE>\nhint: see `--help`\n");
    }

    #[test]
    fn an_unknown_value_is_answered_with_the_possible_ones() {
        let (exit, _, messages) = call(&["a.db", "--format", "xml"], silent);
        assert_eq!(exit, Exit::Usage);
        assert_eq!(
            messages,
            "rtl-test: error: invalid value 'xml' for '--format <FORMAT>'\n\
             hint: possible values: text, json, csv, markdown\n"
        );
    }

    #[test]
    fn a_misspelt_flag_is_answered_with_the_near_one() {
        let (_, _, messages) = call(&["a.db", "--formt", "csv"], silent);
        assert!(messages.contains("unexpected argument '--formt'"), "{messages}");
        assert!(messages.contains("hint: a similar argument exists: '--format'"), "{messages}");
    }

    #[test]
    fn a_reader_that_went_away_is_no_error() {
        let mut out = Output::new("rtl-test", Box::new(Closed), Box::new(Closed));
        let exit = run_with(["rtl-test", "a.db"].map(OsString::from), &mut out, |_: Arguments, out| {
            writeln!(out, "lost").while_telling()?;
            Ok(Exit::Answered)
        });
        assert_eq!(exit, Exit::Answered);
    }

    trait Telling<T> {
        fn while_telling(self) -> Result<T, Failure>;
    }

    impl<T> Telling<T> for io::Result<T> {
        fn while_telling(self) -> Result<T, Failure> {
            crate::Explain::while_doing(self, || "telling".to_owned())
        }
    }

    #[test]
    fn completions_need_no_trace() {
        let (exit, answer, messages) = call(&["--completions", "bash"], silent);
        assert_eq!((exit, messages.as_str()), (Exit::Answered, ""));
        assert!(answer.contains("--format") && answer.contains("rtl-test"), "{answer}");
    }

    #[test]
    fn the_manual_page_needs_no_trace_and_has_what_the_help_has() {
        let (exit, answer, messages) = call(&["--man"], silent);
        assert_eq!((exit, messages.as_str()), (Exit::Answered, ""));
        for part in [".TH rtl-test 1", "\\-\\-format", "Examples:", "Exit codes:"] {
            assert!(answer.contains(part), "{part}: {answer}");
        }
    }

    #[test]
    fn the_long_help_ends_with_examples_and_exit_codes() {
        let (exit, answer, _) = call(&["--help"], silent);
        assert_eq!(exit, Exit::Answered);
        let (_, ending) = answer.split_once("Examples:").expect("examples in the help");
        assert!(ending.trim_end().ends_with(Exit::HELP), "{answer}");
    }
}
