//! All tools in one program: `rtl VERB`, or a link to `rtl` with the name of a tool, such as `rtl-summary`.
//!
//! Each tool is a library and can also be built as a program of its own. A verb whose tool is not part of this program
//! executes the program of that name beside it, else of the PATH.

mod verbs;

use std::env::consts::EXE_SUFFIX;
use std::ffi::{OsStr, OsString};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Arg, ArgMatches, Command, CommandFactory, FromArgMatches, Parser, value_parser};
use cli::args::CommandLine;
use cli::{Exit, Failure, Meaning, Output};
use platform::exec::exec;

use self::verbs::VERBS;

/// The words of a command line that no verb of this program takes.
#[derive(Debug)]
struct Arguments(Vec<OsString>);

impl CommandFactory for Arguments {
    fn command() -> Command {
        let verb = |verb: &verbs::Verb| (verb.tool.command)().name(verb.name).about(verb.help);
        Command::new("rtl")
            .version(env!("CARGO_PKG_VERSION"))
            .about("See, compare and record what AMD GPUs do")
            .subcommands(VERBS.iter().map(verb))
            .subcommand(Command::new("version").about("show the version"))
            .subcommand(
                with_words("completions", "SHELL [PROGRAM]")
                    .about("print the completion script for bash, zsh, fish, elvish or powershell"),
            )
            .subcommand(with_words("man", "[PROGRAM]").about("print the manual page"))
            .subcommand_value_name("VERB")
            .subcommand_help_heading("Verbs")
            .override_usage("rtl <VERB> [ARGUMENTS]...")
            .allow_external_subcommands(true)
            .after_help(examples())
    }

    fn command_for_update() -> Command {
        Self::command()
    }
}

impl FromArgMatches for Arguments {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let words = matches.subcommand().map(|(verb, rest)| {
            let rest = ["", WORDS].map(|id| rest.try_get_many::<OsString>(id).ok().flatten());
            let rest = rest.into_iter().flatten().flatten();
            std::iter::once(verb.into()).chain(rest.cloned()).collect()
        });
        Ok(Self(words.unwrap_or_default()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Parser for Arguments {}

impl CommandLine for Arguments {
    const EXIT_CODES: &'static [Meaning] =
        &[("", "those of the verb, whose help lists them; of `rtl` itself:"), Exit::SUCCESS, Exit::USAGE];
    const READS_TRACES: bool = false;
    const HAS_THREADS: bool = false;
}

/// The id of the words behind a verb of `rtl` itself. The words of external verbs have an empty id.
const WORDS: &str = "words";

fn with_words(name: &'static str, words: &'static str) -> Command {
    let argument = Arg::new(WORDS).num_args(0..=2).value_parser(value_parser!(OsString)).value_name(words);
    Command::new(name).arg(argument).override_usage(format!("rtl {name} {words}"))
}

/// The end of the help: examples of verbs that this system has.
fn examples() -> String {
    let record = match verbs::by_name(OsStr::new("trace")) {
        Some(_) => {
            "  rtl trace python3 train.py --epochs 1\n      trace.db, trace_summary.txt and trace.json.gz\n"
        }
        None => "",
    };
    format!(
        "`rtl VERB --help` shows the flags of a verb.\n\nExamples:\n{record}  rtl diff before.db after.db\n      \
         what got slower, and whether that is noise"
    )
}

/// The whole `main`, of the command line with the name by which the program was called.
#[must_use]
pub fn run(line: Vec<OsString>) -> ExitCode {
    match resolve(&line) {
        Some((tool, line)) => (tool.run)(line),
        None => cli::run_line(line, other),
    }
}

/// The tool of a command line and the line that it gets: by the name of the program, by that of the verb, or by that of the
/// tool as first word, for wrappers that cannot be links.
fn resolve(line: &[OsString]) -> Option<(verbs::Tool, Vec<OsString>)> {
    let called = Path::new(line.first()?).file_name()?;
    let called = called.to_str().and_then(|name| name.strip_suffix(EXE_SUFFIX)).map_or(called, OsStr::new);
    if let Some(verb) = verbs::by_program(called) {
        return Some((verb.tool, line.to_vec()));
    }
    let [_, word, arguments @ ..] = line else { return None };
    if let Some(verb) = verbs::by_program(word) {
        return Some((verb.tool, line[1..].to_vec()));
    }
    let verb = verbs::by_name(word)?;
    let mut own = vec![OsString::from(format!("rtl {}", verb.name))];
    own.extend(verb.flags.iter().map(OsString::from));
    own.extend(arguments.iter().cloned());
    Some((verb.tool, own))
}

/// Runs a verb that has no tool in this program: one of `rtl` itself, or the program of that name.
fn other(Arguments(words): Arguments, out: &mut Output) -> Result<Exit, Failure> {
    let [verb, arguments @ ..] = words.as_slice() else {
        return Err(Failure::usage("missing: <VERB>").with_hint(names()));
    };
    if verb == "version" {
        writeln!(out, "rtl {}", env!("CARGO_PKG_VERSION"))?;
        return Ok(Exit::Success);
    }
    let words: Vec<_> = arguments.iter().map(|word| word.to_string_lossy()).collect();
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    match (verb.to_str(), words.as_slice()) {
        (Some("completions"), [shell, program @ ..]) if program.len() < 2 => {
            cli::completions(command_of(program.first())?, shell, out)?;
            return Ok(Exit::Success);
        }
        (Some("completions"), _) => {
            return Err(Failure::usage("rtl completions takes a shell and a program")
                .with_hint("for example `rtl completions bash rtl-summary`"));
        }
        (Some("man"), program) if program.len() < 2 => {
            cli::manual(command_of(program.first())?, out)?;
            return Ok(Exit::Success);
        }
        _ => {}
    }
    let mut program = OsString::from("rtl-");
    program.push(verb);
    program.push(EXE_SUFFIX);
    let mut command = std::process::Command::new(locate(&program, std::env::current_exe().ok().as_deref()));
    // Messages and usage of the program begin with this name.
    let name = OsString::from(format!("rtl {}", verb.to_string_lossy()));
    exec(command.args(arguments), &name).map(Exit::Command).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => unknown(verb),
        _ => Failure::new(Exit::Usage, error).context(format!("cannot execute {}", program.display())),
    })
}

/// The command line of a program, of `rtl` itself where none is named.
fn command_of(program: Option<&&str>) -> Result<Command, Failure> {
    let program = program.copied().unwrap_or("rtl");
    let verb = verbs::by_program(OsStr::new(program)).or_else(|| verbs::by_name(OsStr::new(program)));
    match verb {
        Some(verb) => Ok((verb.tool.command)()),
        None if program == "rtl" => Ok(cli::command(other)),
        None => Err(Failure::usage(format!("no such program: {program}")).with_hint(names())),
    }
}

fn names() -> String {
    let names: Vec<&str> = VERBS.iter().map(|verb| verb.name).collect();
    let (last, others) = names.split_last().unwrap_or((&"", &[]));
    format!("{} and {last}; see `--help`", others.join(", "))
}

fn unknown(verb: &OsStr) -> Failure {
    let verb = verb.to_string_lossy();
    if verbs::LINUX_ONLY.contains(&verb.as_ref()) {
        return Failure::usage(format!("{verb} works on Linux only"))
            .with_hint("all other verbs read the traces that it writes there");
    }
    let hint = match cli::similar(&verb, VERBS.iter().map(|verb| verb.name)) {
        Some(similar) => format!("a similar verb exists: '{similar}'"),
        None => names(),
    };
    Failure::usage(format!("no such verb: {verb}")).with_hint(hint)
}

/// The program beside `this` one, else its name, for the PATH.
fn locate(program: &OsStr, this: Option<&Path>) -> PathBuf {
    let beside = this.and_then(Path::parent).map(|folder| folder.join(program));
    beside.filter(|beside| beside.is_file()).unwrap_or_else(|| program.into())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn resolved(line: &str) -> Option<Vec<OsString>> {
        let line: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        resolve(&line).map(|(_, line)| line)
    }

    #[test]
    fn a_program_beside_this_one_precedes_that_on_the_path() {
        let folder = tempfile::tempdir().unwrap();
        let this = folder.path().join("rtl");
        let program = OsStr::new("rtl-sql");
        assert_eq!(locate(program, Some(&this)), Path::new("rtl-sql"));
        std::fs::write(folder.path().join("rtl-sql"), "").unwrap();
        assert_eq!(locate(program, Some(&this)), folder.path().join("rtl-sql"));
        assert_eq!(locate(program, None), Path::new("rtl-sql"));
    }

    #[test]
    fn every_program_has_a_verb_and_every_verb_a_program() {
        let tools = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").read_dir().unwrap();
        let names = tools.map(|tool| tool.unwrap().file_name().into_string().unwrap());
        let folders: BTreeSet<String> = names.filter(|name| name.starts_with("rtl-")).collect();
        assert_eq!(VERBS.iter().map(|verb| verb.program.to_owned()).collect::<BTreeSet<_>>(), folders);
        assert!(folders.iter().all(|program| verbs::by_program(OsStr::new(program)).is_some()));
    }

    #[test]
    fn a_tool_gets_the_line_that_its_own_program_would_get() {
        let line = |words: &[&str]| Some(words.iter().map(OsString::from).collect::<Vec<_>>());
        assert_eq!(resolved("/usr/bin/rtl-summary t.db"), line(&["/usr/bin/rtl-summary", "t.db"]));
        assert_eq!(resolved("rtl rtl-summary t.db"), line(&["rtl-summary", "t.db"]));
        assert_eq!(resolved("rtl summary t.db"), line(&["rtl summary", "t.db"]));
        assert_eq!(resolved("rtl info t.db"), line(&["rtl info", "--info", "t.db"]));
        assert_eq!(
            (resolved("rtl sumary t.db"), resolved("rtl --help"), resolved("rtl")),
            (None, None, None)
        );
    }

    #[test]
    fn the_command_lines_of_all_verbs_are_valid() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn a_verb_that_this_system_lacks_is_not_called_misspelt() {
        for verb in verbs::LINUX_ONLY.map(OsStr::new) {
            assert!(verbs::by_name(verb).is_some(), "Linux has {}", verb.display());
            assert_eq!(unknown(verb).hint(), Some("all other verbs read the traces that it writes there"));
        }
    }

    #[test]
    fn a_misspelt_verb_gets_a_suggestion() {
        let hint = |verb: &str| unknown(OsStr::new(verb)).hint().unwrap_or_default().to_owned();
        assert_eq!(hint("sumary"), "a similar verb exists: 'summary'");
        assert_eq!(
            hint("xyzzy"),
            "trace, recover, summary, report, diff, merge, convert, top, sql and info; see `--help`"
        );
    }
}
