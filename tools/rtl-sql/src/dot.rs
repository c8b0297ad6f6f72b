//! `.tables` and `.schema`.

use std::fmt::Write;

use cli::Failure;
use tables::Table;

use crate::source::Source;
use crate::vector;

/// The answer to a command that begins with a dot; `None` of SQL.
pub(crate) fn answer(text: &str, source: &Source) -> Option<Result<String, Failure>> {
    let text = text.trim();
    let (command, argument) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let argument = argument.trim().trim_end_matches(';');
    Some(match command {
        ".tables" => Ok(listed()),
        ".schema" => schema(argument),
        ".traces" => {
            Ok(source.labels().iter().map(|label| format!("{}\n", cli::escape_control(label))).collect())
        }
        _ if command.starts_with('.') => Err(Failure::usage(format!("no such command: {command}"))
            .with_hint(".tables, .schema [TABLE] and .traces exist")),
        _ => return None,
    })
}

fn listed() -> String {
    let line = |table: &Table| format!("{:<12} {}\n", table.name, table.about);
    tables::all().iter().map(line).collect()
}

/// The columns of a table, or of all.
fn schema(name: &str) -> Result<String, Failure> {
    let one = tables::find(name);
    if !name.is_empty() && one.is_none() {
        return Err(Failure::usage(format!("no such table: {name}")).with_hint("`.tables` lists them"));
    }
    let mut text = String::new();
    for table in tables::all().iter().filter(|table| one.is_none_or(|one| one.name == table.name)) {
        let _ = writeln!(text, "{}: {}", table.name, table.about);
        for column in &table.columns {
            let _ = writeln!(
                text,
                "  {:<19} {:<7} {}",
                column.name,
                vector::kind(column.kind).name(),
                column.about
            );
        }
    }
    Ok(text)
}
