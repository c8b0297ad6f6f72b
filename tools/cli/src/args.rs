//! Groups of flags that have the same name and meaning in every tool; flatten them with
//! `#[command(flatten)]`.

use clap::{Args, ValueEnum};

use crate::color::Choice;

/// How the answer is printed.
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

/// How to print: flags of every tool that answers with tables.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Output")]
pub struct Display {
    /// How to print the answer: text, json, csv or markdown
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT", hide_possible_values = true)]
    pub format: Format,

    /// Print names in full, however wide the table gets
    #[arg(long)]
    pub full_names: bool,

    #[command(flatten)]
    #[expect(missing_docs, reason = "a doc comment here would become the help of a flag")]
    pub speech: Speech,
}

/// How to speak: flags of every tool.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Output")]
pub struct Speech {
    /// Colour: auto, always or never; auto obeys NO_COLOR
    #[arg(long, value_enum, default_value_t, value_name = "WHEN", hide_possible_values = true)]
    pub color: Choice,

    /// No progress and no notes; errors are still told
    #[arg(short, long)]
    pub quiet: bool,
}

/// Which part of a trace counts. Values are as typed; what they mean is decided where traces are known.
#[derive(Args, Clone, Debug, Default, PartialEq, Eq)]
#[command(next_help_heading = "Region of interest")]
pub struct Filter {
    /// Only kernels whose name matches
    #[arg(long, value_name = "REGEX")]
    pub kernel: Option<String>,

    /// Only these GPUs; repeat it or separate with commas
    #[arg(long, value_name = "N", value_delimiter = ',')]
    pub gpu: Vec<u32>,

    /// Only these queues; repeat it or separate with commas
    #[arg(long, value_name = "N", value_delimiter = ',')]
    pub queue: Vec<i64>,

    /// Only these ranks; repeat it or separate with commas
    #[arg(long, value_name = "N", value_delimiter = ',')]
    pub rank: Vec<i64>,

    /// Nothing before this time: with ns, us, ms, s or %, negative counts from the end
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub from: Option<String>,

    /// Nothing after this time, given as for --from
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub to: Option<String>,

    /// Only what ran within the roctx ranges of this name
    #[arg(long, value_name = "NAME")]
    pub range: Option<String>,

    /// Leave out the idle time before the first and after the last op of each GPU
    #[arg(long)]
    pub trim_idle: bool,

    /// Only the steady part: from the second to the last-but-one call of the kernel with the largest total
    #[arg(long)]
    pub steady: bool,
}

impl Filter {
    /// Whether everything counts.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
