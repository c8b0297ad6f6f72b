use clap::{Parser, ValueEnum};
use cli::args::{CommandLine, Console};
use cli::destination::{Destination, Endings};
use duckdb::Parameter;

const ABOUT: &str = "Any question: SQL on any ROCm trace, and on many";

const EXAMPLES: &str = "\
Examples:
  rtl-sql trace.db 'select name, count(*), sum(duration) from dispatches group by 1 order by 3 desc limit 10'
      the ten kernels with the most time
  rtl-sql rank*.db 'select rank, sum(duration) from dispatches group by rank order by rank'
      the time of kernels on each rank
  rtl-sql trace.json.gz
      a shell, with `.tables`, `.schema` and `.help`

Tables: `rtl-sql TRACE .tables`; a guide with thirty questions: docs/guide/sql.md";

fn long_about() -> String {
    format!(
        "{ABOUT}\n\nThe tables have the same names, columns and units (ns) whatever tool recorded the trace: traces of {}, each \
         also gzip-compressed. The engine is DuckDB, whose library is opened when a query runs. A query sees the traces \
         of the command line and no other file, and changes nothing.",
        rtl_schema::dialect::READABLE
    )
}

/// The command line of rtl-sql.
#[derive(Parser, Debug, Clone)]
#[command(name = "rtl-sql", version, about = ABOUT, long_about = long_about(), after_help = EXAMPLES)]
pub struct Arguments {
    /// The traces to read, then the query: the last argument, where it has a space in it or begins with a dot. Without a query
    /// a shell starts, or the query is read from standard input
    #[arg(required = true, value_name = "TRACE|SQL")]
    pub inputs: Vec<String>,

    /// The value of a parameter: `$name` in the query; repeat the flag
    #[arg(short, long = "param", value_name = "NAME=VALUE", value_parser = parameter)]
    pub parameters: Vec<(String, Parameter)>,

    #[command(flatten)]
    pub rendering: Rendering,
}

/// Flags of the result.
#[derive(clap::Args, Debug, Clone)]
#[command(next_help_heading = "Output")]
pub struct Rendering {
    /// The format of the result: text, csv, json, markdown or parquet, which needs -o [default: by the ending of -o, else text]
    #[arg(long, value_enum, value_name = "FORMAT", hide_possible_values = true)]
    pub to: Option<Format>,

    /// The format that `--to` and `-o` select.
    #[arg(skip)]
    pub format: Format,

    #[command(flatten)]
    pub destination: Destination,

    /// Print full names, however wide the table gets
    #[arg(long)]
    pub full_names: bool,

    #[command(flatten)]
    pub console: Console,
}

/// The format of a result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people
    #[default]
    Text,
    /// RFC 4180
    Csv,
    /// One document with a `schema` field
    Json,
    /// For issues and pull requests
    #[value(alias = "md")]
    Markdown,
    /// Columns, in the file of -o
    Parquet,
}

impl Endings for Format {
    fn endings(&self) -> &'static [&'static str] {
        match self {
            Self::Text => &[".txt"],
            Self::Csv => &[".csv"],
            Self::Json => &[".json"],
            Self::Markdown => &[".md"],
            Self::Parquet => &[".parquet"],
        }
    }
}

impl CommandLine for Arguments {}

/// `name=value`: an integer, a number, `null`, else a text.
fn parameter(text: &str) -> Result<(String, Parameter), String> {
    let (name, value) = text.split_once('=').ok_or("a parameter has the form NAME=VALUE")?;
    let name = name.strip_prefix('$').unwrap_or(name);
    let integer = || value.parse().ok().map(Parameter::Integer);
    let float = || value.parse().ok().filter(|value: &f64| value.is_finite()).map(Parameter::Float);
    let value = match value {
        "null" => Parameter::Null,
        _ => integer().or_else(float).unwrap_or_else(|| Parameter::Text(value.to_owned())),
    };
    Ok((name.to_owned(), value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_is_a_number_where_it_can_be_one() {
        let value = |text: &str| parameter(text).map(|(_, value)| value);
        assert_eq!(value("n=12"), Ok(Parameter::Integer(12)));
        assert_eq!(value("n=0.5"), Ok(Parameter::Float(0.5)));
        assert_eq!(value("$n=a=b"), Ok(Parameter::Text("a=b".to_owned())));
        assert_eq!(value("n=null"), Ok(Parameter::Null));
        assert!(value("n").is_err());
    }
}
