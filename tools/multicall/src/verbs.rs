//! The list of verbs with their tools, from which the help, completions and dispatch are made.

use std::ffi::{OsStr, OsString};
use std::process::ExitCode;

use clap::Command;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Tool {
    /// The whole `main`; the first word of the line is the name in its usage.
    pub(crate) run: fn(Vec<OsString>) -> ExitCode,
    pub(crate) command: fn() -> Command,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Verb {
    pub(crate) name: &'static str,
    /// The program that does the same: a link to `rtl`, or one of its own.
    pub(crate) program: &'static str,
    pub(crate) flags: &'static [&'static str],
    pub(crate) help: &'static str,
    pub(crate) tool: Tool,
}

macro_rules! tool {
    ($library:ident) => {
        Tool { run: |line| cli::run_line(line, $library::run), command: || cli::command($library::run) }
    };
}

/// The verbs that record, which only Linux has.
pub(crate) const LINUX_ONLY: [&str; 2] = ["trace", "recover"];

/// All verbs of this system. Every program is a folder `tools/rtl-*`.
pub(crate) const VERBS: &[Verb] = &[
    #[cfg(target_os = "linux")]
    verb("trace", "rtl-trace", &[], "run a command and record its GPU work", tool!(rtl_trace)),
    #[cfg(target_os = "linux")]
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

pub(crate) fn by_name(name: &OsStr) -> Option<&'static Verb> {
    VERBS.iter().find(|verb| name == verb.name)
}

/// The verb that adds no flags to the program of this name.
pub(crate) fn by_program(name: &OsStr) -> Option<&'static Verb> {
    VERBS.iter().find(|verb| name == verb.program && verb.flags.is_empty())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use clap::Arg;

    use super::*;

    /// The most flags that the help of all tools may list, without `--help` and `--version`.
    const MOST_FLAGS: usize = 150;

    /// The flags of a command and of its subcommands.
    fn flags(command: &Command) -> Vec<Arg> {
        let own = command.get_arguments().filter(|flag| flag.get_long().is_some()).cloned();
        own.chain(command.get_subcommands().flat_map(flags)).collect()
    }

    /// The name of the value of a flag; nothing for a switch.
    fn value(flag: &Arg) -> Option<String> {
        let names = flag.get_value_names()?;
        flag.get_action().takes_values().then(|| names.join(" "))
    }

    #[test]
    fn a_flag_takes_the_same_value_in_all_tools_and_a_letter_is_one_flag() {
        let mut values: BTreeMap<String, (Option<String>, &str)> = BTreeMap::new();
        let mut letters: BTreeMap<char, (String, &str)> = BTreeMap::new();
        for verb in VERBS {
            for flag in flags(&(verb.tool.command)()) {
                let name = format!("--{}", flag.get_long().unwrap());
                let value = value(&flag);
                if let Some(letter) = flag.get_short() {
                    let (other, tool) = letters.entry(letter).or_insert((name.clone(), verb.name));
                    assert_eq!(*other, name, "-{letter} in {tool} and {}", verb.name);
                }
                let (other, tool) = values.entry(name.clone()).or_insert((value.clone(), verb.name));
                assert_eq!(*other, value, "{name} in {tool} and {}", verb.name);
            }
        }
        assert!(values.len() > 60, "{}", values.len());
    }

    #[test]
    fn the_tools_have_few_flags() {
        let tools = VERBS.iter().filter(|verb| verb.flags.is_empty());
        let counts: Vec<(&str, usize)> = tools
            .map(|verb| {
                let command = (verb.tool.command)();
                (verb.name, command.get_arguments().filter(|flag| flag.get_long().is_some()).count())
            })
            .collect();
        let sum: usize = counts.iter().map(|(_, count)| count).sum();
        assert!(sum <= MOST_FLAGS, "{sum} flags: {counts:?}");
        assert!(sum > 100, "{sum} flags: {counts:?}");
    }
}
