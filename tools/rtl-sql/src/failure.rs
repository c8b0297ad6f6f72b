//! Errors of DuckDB as failures with hints.

use cli::{Exit, Failure};

/// DuckDB puts it before the message of a table that cannot be read.
const OF_A_TABLE: &str = "Error in replacement scan: ";

/// A table function puts it before the message of a trace that cannot be read, so that [`query`] tells it from an error of the text.
const OF_A_TRACE: &str = "Error in trace: ";

/// The message of a table function that cannot read a trace.
pub(crate) fn trace_message(error: rtl_schema::Error) -> String {
    format!("{OF_A_TRACE}{error}\n{}", error.hint())
}

/// The failure of a library that cannot be used, or of a query.
pub(crate) fn from_duckdb(error: duckdb::Error) -> Failure {
    match error {
        duckdb::Error::Query(message) => query(&message),
        duckdb::Error::Type { .. } => {
            Failure::new(Exit::Usage, error).with_hint("make it a text in the query: column::varchar")
        }
        duckdb::Error::Nul => Failure::new(Exit::Usage, error),
        error => Failure::input(error).with_hint(
            "scripts/fetch/duckdb fetches it; or install DuckDB's library; or name the file: RTL_DUCKDB=/path/libduckdb.so",
        ),
    }
}

/// The failure of a result while it is read and printed.
pub(crate) fn from_rows(error: anyhow::Error) -> Failure {
    match error.downcast::<duckdb::Error>() {
        Ok(error) => from_duckdb(error),
        Err(error) => Failure::from(error),
    }
}

/// DuckDB's messages have several lines: the problem, suggestions, and the place in the text.
fn query(message: &str) -> Failure {
    let mut lines = message.lines().map(str::trim).filter(|line| !line.is_empty());
    let problem = lines.next().unwrap_or("the query failed");
    let suggestion = lines.find(|line| !line.starts_with("LINE ") && !line.starts_with('^'));
    if problem.starts_with("INTERRUPT") {
        return Failure::usage("interrupted");
    }
    let damage = [OF_A_TABLE, OF_A_TRACE].iter().find_map(|mark| problem.split_once(mark));
    if let Some((_, damage)) = damage {
        return Failure::input(anyhow::Error::msg(damage.to_owned()))
            .with_hint(suggestion.unwrap_or_default());
    }
    let (kind, rest) = problem.split_once(" Error: ").unwrap_or(("query", problem));
    let kind = kind.to_lowercase();
    if kind == "invalid input"
        && let Some(damage) = dataset::damage_in(rest)
    {
        return damage.into();
    }
    let hint = match kind.as_str() {
        "permission" if rest.contains("is not available") => {
            "a query reads traces, and neither logs nor executes texts"
        }
        "permission" => "a query reads the traces of the command line and no other file",
        "catalog" if rest.starts_with("Table") => "`rtl-sql TRACE .tables` lists the tables",
        _ => suggestion.unwrap_or("`rtl-sql TRACE '.schema TABLE'` lists the columns of a table"),
    };
    Failure::usage(format!("{kind} error: {}", rest.trim_end_matches('!'))).with_hint(hint)
}
