//! Flags of the previous release. One of them is an error whose hint is the command line in today's flags.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::Failure;

/// A flag of the previous release and the words that replace it.
struct Moved {
    /// The only tool that had the flag, or an empty text.
    tool: &'static str,
    flag: &'static str,
    takes_value: bool,
    /// The words of today for the quoted value; `None` where the flag has this value today, too.
    new: fn(&str) -> Option<String>,
}

const fn switch(tool: &'static str, flag: &'static str, new: fn(&str) -> Option<String>) -> Moved {
    Moved { tool, flag, takes_value: false, new }
}

const fn option(tool: &'static str, flag: &'static str, new: fn(&str) -> Option<String>) -> Moved {
    Moved { tool, flag, takes_value: true, new }
}

/// Begins a line that takes the place of the whole command line; `{}` is the program.
const WHOLE: &str = "rtl ";

/// The flags of single tools come first, because the first flag that matches counts.
const MOVED: &[Moved] = &[
    option("rtl-merge", "--format", |format| Some(format!("--print {format}"))),
    option("rtl-sql", "--format", |format| Some(format!("--to {}", format.replace("table", "text")))),
    option("", "--format", |format| Some(format!("--to {format}"))),
    option("rtl-convert", "-f", |format| Some(format!("--to {format}"))),
    option("", "--output-format", |format| Some(format!("--to {format}"))),
    option("rtl-summary", "--style", |tool| Some(format!("--to {tool}"))),
    switch("rtl-merge", "--summary-only", |_| Some("--to summary".to_owned())),
    option("rtl-diff", "-o", output_of_format),
    option("rtl-diff", "--output", output_of_format),
    option("", "--from", |start| Some(format!("--time {start}.."))),
    option("", "--to", |end| is_time(end).then(|| format!("--time ..{end}"))),
    switch("", "--trim-idle", |_| Some("--time active".to_owned())),
    switch("", "--steady", |_| Some("--time steady".to_owned())),
    switch("rtl-diff", "--allow-no-baseline", |_| Some("--allow no-baseline".to_owned())),
    switch("rtl-diff", "--allow-incomparable", |_| Some("--allow incomparable".to_owned())),
    switch("rtl-diff", "--no-mix", |_| Some("--by name-only".to_owned())),
    switch("rtl-merge", "--keep-going", |_| Some("--allow unreadable".to_owned())),
    switch("rtl-merge", "--allow-missing", |_| Some("--allow missing-ranks".to_owned())),
    switch("rtl-merge", "--no-align", |_| Some("--align never".to_owned())),
    switch("rtl-merge", "--require-alignment", |_| Some("--align require".to_owned())),
    option("rtl-sql", "--file", |file| Some(format!("< {file}"))),
    option("", "--completions", |shell| Some(format!("{WHOLE}completions {shell} {{}}"))),
    switch("", "--man", |_| Some(format!("{WHOLE}man {{}}"))),
    option("rtl-report", "--color", |_| Some(String::new())),
    option("rtl-convert", "--color", |_| Some(String::new())),
    option("rtl-trace", "--color", |_| Some(String::new())),
    option("rtl-top", "--color", |_| Some(String::new())),
    option("rtl-trace", "--input-limit", |_| Some(String::new())),
    option("rtl-top", "--input-limit", |_| Some(String::new())),
    option("", "--input-limit", |size| Some(format!("--max-memory {size}"))),
    option("rtl-top", "--threads", |_| Some(String::new())),
];

fn is_time(value: &str) -> bool {
    let units = ["ns", "us", "ms", "s", "%"];
    let number = units.iter().find_map(|unit| value.strip_suffix(unit)).unwrap_or(value);
    number.parse::<f64>().is_ok()
}

/// `FORMAT=FILE` of rtl-diff's `-o`, whose format is that of the ending now.
fn output_of_format(value: &str) -> Option<String> {
    let (format, file) = value.split_once('=')?;
    let endings = [
        ("text", ".txt"),
        ("json", ".json"),
        ("csv", ".csv"),
        ("markdown", ".md"),
        ("md", ".md"),
        ("html", ".html"),
        ("junit", ".xml"),
        ("github", ".github.txt"),
        ("bencher", ".bencher.json"),
        ("github-action-benchmark", ".benchmark.json"),
    ];
    let (_, ending) = endings.iter().find(|(name, _)| *name == format)?;
    let file = if file.is_empty() { "report" } else { file };
    Some(match file {
        _ if file.starts_with("/dev/") || file == "-" => format!("--to {format} -o {file}"),
        _ if file.ends_with(ending) => format!("-o {file}"),
        _ => format!("-o {}{ending}", file.rsplit_once('.').map_or(file, |(stem, _)| stem)),
    })
}

/// The error for a flag of the previous release: `word` as typed, and the word behind it. The hint is the flag of today.
pub fn refusal(tool: &str, word: &str, next: Option<&str>) -> Option<Failure> {
    let (flag, new, _) = translated(tool, word, next)?;
    let hint = if new.is_empty() { "leave it out".to_owned() } else { new.replace("{}", tool) };
    Some(Failure::usage(format!("{flag} is spelt differently now")).with_hint(hint))
}

/// The error for a command line that clap refuses because of a flag of the previous release. The hint is the line with the
/// flags of today.
pub(crate) fn refused_line(error: &clap::Error, line: &[OsString], tool: &str) -> Option<Failure> {
    let known = [ErrorKind::UnknownArgument, ErrorKind::InvalidValue, ErrorKind::ValueValidation];
    if !known.contains(&error.kind()) {
        return None;
    }
    let Some(ContextValue::String(refused)) = error.get(ContextKind::InvalidArg) else { return None };
    let refused = refused.split([' ', '=']).next().unwrap_or_default();
    let words: Vec<String> = line.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let (called, mut rest) = words.split_first()?;
    let (mut new, mut redirection, mut found) = (vec![called.clone()], None, None);
    while let [word, others @ ..] = rest {
        rest = others;
        if word == "--" {
            new.extend([word].into_iter().chain(others).map(|word| quoted(word)));
            break;
        }
        let Some((flag, text, takes_next)) = translated(tool, word, others.first().map(String::as_str))
        else {
            new.push(quoted(word));
            continue;
        };
        if takes_next {
            rest = others.get(1..).unwrap_or_default();
        }
        if flag == refused || found.is_none() {
            found = Some((flag, text.clone()));
        }
        if text.starts_with(WHOLE) {
            new = vec![text.replace("{}", tool)];
            redirection = None;
            break;
        } else if text.starts_with("< ") {
            redirection = Some(text);
        } else if !text.is_empty() {
            new.push(text);
        }
    }
    let (flag, text) = found?;
    new.extend(redirection);
    let message = match text.as_str() {
        "" => format!("{flag} had no effect here and is gone"),
        text => format!("{flag} is now `{}`", text.replace("{}", tool)),
    };
    Some(Failure::usage(message).with_hint(new.join(" ")))
}

/// The flag that a word is, its words of today, and whether the next word is its value.
fn translated(tool: &str, word: &str, next: Option<&str>) -> Option<(&'static str, String, bool)> {
    MOVED.iter().filter(|moved| moved.tool.is_empty() || moved.tool == tool).find_map(|moved| {
        let rest = word.strip_prefix(moved.flag)?;
        let (value, takes_next) = match (moved.takes_value, rest) {
            (false, "") => ("", false),
            (true, "") => (next?, true),
            (true, rest) if moved.flag.starts_with("--") => (rest.strip_prefix('=')?, false),
            (true, rest) => (rest, false),
            (false, _) => return None,
        };
        Some((moved.flag, (moved.new)(&quoted(value))?, takes_next))
    })
}

/// A word as a shell reads it.
fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "-_./=,:@%+".contains(letter);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(tool: &str, words: &str) -> Option<String> {
        let line: Vec<OsString> = [tool].into_iter().chain(words.split(' ')).map(OsString::from).collect();
        let refused = line.iter().find(|word| word.to_string_lossy().starts_with('-')).expect("a flag");
        let mut error = clap::Error::new(ErrorKind::UnknownArgument);
        error.insert(ContextKind::InvalidArg, ContextValue::String(refused.to_string_lossy().into_owned()));
        refused_line(&error, &line, tool).map(|failure| failure.lines("rtl"))
    }

    #[test]
    fn the_hint_is_the_command_line_in_the_flags_of_today() {
        for (tool, old, message, hint) in [
            (
                "rtl-summary",
                "--format json a.db",
                "--format is now `--to json`",
                "rtl-summary --to json a.db",
            ),
            (
                "rtl-merge",
                "--format=json a.db",
                "--format is now `--print json`",
                "rtl-merge --print json a.db",
            ),
            ("rtl-convert", "-fpftrace a.db", "-f is now `--to pftrace`", "rtl-convert --to pftrace a.db"),
            (
                "rtl-report",
                "--from 2s --to 3s a.db",
                "--from is now `--time 2s..`",
                "rtl-report --time 2s.. --time ..3s a.db",
            ),
            (
                "rtl-summary",
                "--steady a.db",
                "--steady is now `--time steady`",
                "rtl-summary --time steady a.db",
            ),
            ("rtl-diff", "-o junit=gate.xml a b", "-o is now `-o gate.xml`", "rtl-diff -o gate.xml a b"),
            (
                "rtl-diff",
                "-o bencher=m.json a b",
                "-o is now `-o m.bencher.json`",
                "rtl-diff -o m.bencher.json a b",
            ),
            ("rtl-sql", "--format table a.db", "--format is now `--to text`", "rtl-sql --to text a.db"),
            ("rtl-sql", "--file q.sql a.db", "--file is now `< q.sql`", "rtl-sql a.db < q.sql"),
            (
                "rtl-top",
                "--completions bash",
                "--completions is now `rtl completions bash rtl-top`",
                "rtl completions bash rtl-top",
            ),
            (
                "rtl-sql",
                "--input-limit=20G a.db",
                "--input-limit is now `--max-memory 20G`",
                "rtl-sql --max-memory 20G a.db",
            ),
            ("rtl-top", "--color never", "--color had no effect here and is gone", "rtl-top"),
        ] {
            assert_eq!(line(tool, old), Some(format!("rtl: error: {message}\nhint: {hint}\n")), "{old}");
        }
    }

    #[test]
    fn flags_of_today_are_left_alone() {
        assert_eq!(line("rtl-summary", "--by gpu a.db"), None);
        assert_eq!(line("rtl-convert", "--to json a.db"), None);
        assert_eq!(line("rtl-diff", "-o comment.md a b"), None);
        assert_eq!(line("rtl-summary", "-- --format json"), None);
    }
}
