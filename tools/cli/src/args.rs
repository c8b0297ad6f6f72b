//! Groups of flags that have the same name and meaning in every tool; flatten them with `#[command(flatten)]`.

use clap::{Args, Parser, ValueEnum};

use crate::Exit;
use crate::color::ColorChoice;
use crate::destination::Endings;
use crate::exit::Meaning;

pub trait CommandLine: Parser {
    /// The exit codes in the help: those that the tool can end with, and no others.
    const EXIT_CODES: &'static [Meaning] = &[Exit::SUCCESS, Exit::USAGE, Exit::UNREADABLE];

    /// True for a tool whose memory and temporary copies grow with traces: `--max-memory`.
    const READS_TRACES: bool = true;

    /// True for a tool with several threads, which `--threads` bounds.
    const HAS_THREADS: bool = true;
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people; may change with any release
    #[default]
    Text,
    /// Versioned: one document with a `schema` field
    Json,
    /// Versioned: RFC 4180, one table after the other
    Csv,
    /// For issues and pull requests
    #[value(alias = "md")]
    Markdown,
}

impl Endings for Format {
    fn endings(&self) -> &'static [&'static str] {
        match self {
            Self::Text => &[".txt"],
            Self::Json => &[".json"],
            Self::Csv => &[".csv"],
            Self::Markdown => &[".md"],
        }
    }
}

/// Flags of every tool that prints tables.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Output")]
pub struct Display {
    /// The format of the report, which a tool resolves from `--to` and the ending of `-o`.
    #[arg(skip)]
    pub format: Format,

    /// Print full names, however wide the table gets
    #[arg(long)]
    pub full_names: bool,

    #[command(flatten)]
    pub console: Console,
}

/// Parses a number of rows, or `all`.
pub fn parse_rows(text: &str) -> Result<usize, &'static str> {
    match text {
        "all" => Ok(usize::MAX),
        _ => text.parse().map_err(|_| "expected a number or `all`"),
    }
}

/// Flags of tools with coloured reports.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Output")]
pub struct Console {
    /// Colour: auto, always or never; auto obeys NO_COLOR
    #[arg(long, value_enum, default_value_t, value_name = "WHEN", hide_possible_values = true)]
    pub color: ColorChoice,

    /// Print no progress and no notes, only errors
    #[arg(short, long)]
    pub quiet: bool,
}

impl Console {
    /// The flags of a tool that another one calls: no colour, no progress.
    #[must_use]
    pub fn quiet() -> Self {
        Self { quiet: true, ..Self::default() }
    }
}
