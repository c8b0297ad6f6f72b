//! The command line of `rtl-summary`.

use std::path::PathBuf;

use clap::{Args, Parser};
use cli::args::{CommandLine, parse_rows};
use cli::destination::Destination;
use cli::{Exit, Meaning};
use rtl_analysis::kernels::{GroupBy, Sort};

use crate::choices::{GROUP_BY, Names, SORT, Style, To, parser};
use crate::section::Section;
use crate::sections::SECTIONS;

const ABOUT: &str = "Where did the GPU time go? One report for any ROCm trace";

fn long_about() -> String {
    format!(
        "{ABOUT}\n\nReads traces of {}, each also gzip-compressed; the content of a file determines its format. With \
         several inputs a report on each is followed by a combined report.",
        rtl_schema::dialect::READABLE
    )
}

#[derive(Parser, Debug, Clone)]
#[command(name = "rtl-summary", version, about = ABOUT, long_about = long_about(), after_help = EXAMPLES)]
pub struct Arguments {
    /// The traces to read
    #[arg(required = true, value_name = "TRACE")]
    pub traces: Vec<PathBuf>,

    /// The format of the report: text, json, csv, markdown, rpt (of RTG's rpt) or rocprofv3 (its -S table) [default: by the ending of -o, else text]
    #[arg(long, value_enum, value_name = "FORMAT", hide_possible_values = true, help_heading = "Output")]
    pub to: Option<To>,

    #[command(flatten)]
    pub destination: Destination,

    #[command(flatten)]
    pub options: Options,
}

impl CommandLine for Arguments {
    const EXIT_CODES: &'static [Meaning] = &[
        Exit::SUCCESS,
        ("1", "--health: the figures can be believed in part"),
        Exit::USAGE,
        (
            "3",
            "an input cannot be read; --health: the figures cannot be believed; --strict: a trace is not sound",
        ),
    ];
}

/// The flags without the inputs and the output, as [`crate::report()`] takes them. The default is the whole report as text.
#[derive(Args, Debug, Clone, Default)]
pub struct Options {
    /// Group the main table by this key
    #[arg(long, value_parser = parser(GROUP_BY), default_value = "kernel", value_name = "KEY")]
    pub by: GroupBy,

    /// Sort the main table by this key
    #[arg(long, value_parser = parser(SORT), default_value = "total", value_name = "KEY")]
    pub sort: Sort,

    /// The number of rows to print of each table, or `all` [default: 10; with --all or --section: 20; machine formats: all]
    #[arg(short = 'n', long, value_name = "N", value_parser = parse_rows)]
    pub top: Option<usize>,

    /// All sections, with 20 rows of each table
    #[arg(long, conflicts_with_all = ["section", "info", "health"])]
    pub all: bool,

    /// A report on each of several traces too, before that on all of them
    #[arg(long)]
    pub each: bool,

    /// Only these sections; repeat the flag or separate names with commas
    #[arg(
        long,
        value_parser = parser(SECTIONS.map(|section| (section.name, section.help, section))),
        value_name = "NAME",
        value_delimiter = ','
    )]
    pub section: Vec<&'static Section>,

    /// Show the file's contents (row counts, processes, metadata) instead of the report
    #[arg(long, conflicts_with_all = ["section"])]
    pub info: bool,

    /// Print only whether the figures can be believed and why not; exit 0 if good, 1 if limited, 3 if bad
    #[arg(long, conflicts_with_all = ["section", "info"])]
    pub health: bool,

    /// The form of kernel names
    #[arg(long, value_enum, default_value_t, value_name = "FORM")]
    pub names: Names,

    /// Additional rules for categories: a TOML file of `[[rule]]` with `category` and `match` (a regex)
    #[arg(long, value_name = "FILE")]
    pub categories: Option<PathBuf>,

    /// The other tool whose report is printed, which `--to` selects.
    #[arg(skip)]
    pub style: Option<Style>,

    /// Exit 3 if durations are missing or negative, ids dangle or records were lost
    #[arg(long)]
    pub strict: bool,

    #[command(flatten)]
    pub filter: cli::filter::FilterArgs,

    #[command(flatten)]
    pub display: cli::args::Display,
}

const EXAMPLES: &str = "\
Examples:
  rtl-summary trace.db
      where GPU time is lost, and what holds it; --all has every section
  rtl-summary --by gpu --range step_12 --to json rank*.db | jq '.groups'
      the GPUs of all ranks during one step, for a script";
