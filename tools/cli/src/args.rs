//! Groups of flags that have the same name and meaning in every tool; flatten them with
//! `#[command(flatten)]`.

use clap::{Args, ValueEnum};

use crate::color::ColorChoice;

/// The format of a report.
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

/// Flags of every tool that prints tables.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Output")]
pub struct Display {
    /// The format of the report: text, json, csv or markdown
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT", hide_possible_values = true)]
    pub format: Format,

    /// Print full names, however wide the table gets
    #[arg(long)]
    pub full_names: bool,

    #[command(flatten)]
    pub console: Console,
}

/// Flags of every tool.
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
