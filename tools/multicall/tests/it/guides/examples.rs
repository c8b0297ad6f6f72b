//! The commands of a page.

use super::elsewhere;

/// A command of a page and the beginnings of lines that it prints, in order.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Example {
    pub(super) command: String,
    pub(super) printed: Vec<String>,
    /// True if the command follows the commands of the console before it.
    pub(super) is_console: bool,
}

/// The commands of the code blocks of a page, each of one line or continued by a backslash. A `console` block has them behind
/// `$`; in a block of the shell, or of no language, a line is a command by its first word.
pub(super) fn examples(page: &str) -> Vec<Example> {
    let mut found: Vec<Example> = Vec::new();
    let mut language: Option<&str> = None;
    let page = page.replace("\\\n", " ");
    for line in page.lines() {
        match (line.trim_start().strip_prefix("```"), language) {
            (Some(_), Some(_)) => language = None,
            (Some(name), None) => language = Some(name),
            (None, Some("console")) => match (line.strip_prefix("$ "), found.last_mut()) {
                (Some(command), _) => found.push(Example {
                    command: command.to_owned(),
                    is_console: true,
                    ..Example::default()
                }),
                (None, Some(example)) => example.printed.push(line.to_owned()),
                (None, None) => panic!("output without a command: {line}"),
            },
            (None, Some("" | "sh")) if is_command(line) => {
                found.push(Example { command: without_comment(line).to_owned(), ..Example::default() });
            }
            _ => {}
        }
    }
    found
}

/// Returns true if the first word, behind settings of the environment, is one of our programs or one that is tested elsewhere.
fn is_command(line: &str) -> bool {
    let is_setting = |word: &&str| {
        word.split_once('=').is_some_and(|(name, _)| {
            !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_')
        })
    };
    let mut words = line.split_whitespace().filter(|word| *word != "exec").skip_while(is_setting);
    let Some(first) = words.next() else { return false };
    let is_ours = first == "rtl" || (first.starts_with("rtl-") && !first.ends_with(':'));
    // The name of a program is also the first word of its version.
    (is_ours && words.next().is_some()) || elsewhere::is_tested(line.trim_start())
}

fn without_comment(line: &str) -> &str {
    line.split(" #").next().unwrap_or(line).trim()
}

#[test]
fn the_commands_of_a_page_are_those_of_its_blocks() {
    let page = "```\n$ rm x\nrtl-summary a.db   # all\nRTL_X=1 rtl diff a \\\n b\nrtl-summary: error\nrtl-sql x 'select 1'\n```\n```console\n$ a b\nc\n  d\n$ e\n```\n```sql\nrtl sql\n```\nrtl text\n";
    let example = |command: &str, is_console, printed: &[&str]| Example {
        command: command.to_owned(),
        is_console,
        printed: printed.iter().map(|line| (*line).to_owned()).collect(),
    };
    assert_eq!(
        examples(page),
        [
            example("rtl-summary a.db", false, &[]),
            example("RTL_X=1 rtl diff a   b", false, &[]),
            example("rtl-sql x 'select 1'", false, &[]),
            example("a b", true, &["c", "  d"]),
            example("e", true, &[])
        ]
    );
}
