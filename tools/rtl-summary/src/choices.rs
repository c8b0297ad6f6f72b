//! The values that flags can have, with their names and their help.

use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use cli::args::Format;
use cli::destination::Endings;
use rtl_analysis::kernels::{GroupBy, Sort};

/// A value of a flag: its name on the command line, its help and its meaning.
pub type Choice<T> = (&'static str, &'static str, T);

pub const GROUP_BY: [Choice<GroupBy>; 11] = [
    ("kernel", "Kernels", GroupBy::Kernel),
    ("category", "Kernel categories: gemm, attention, collective, ...", GroupBy::Category),
    ("gpu", "GPUs", GroupBy::Gpu),
    ("queue", "Queues", GroupBy::Queue),
    ("range", "The innermost roctx ranges around the launches", GroupBy::Range),
    ("operator", "The innermost operators of a framework around the launches", GroupBy::Operator),
    ("module", "The innermost modules of a framework around the launches", GroupBy::Module),
    ("step", "Steps: the ranges that come again and again", GroupBy::Step),
    ("shape", "Kernels with their launch shapes", GroupBy::Shape),
    ("process", "Processes", GroupBy::Process),
    ("rank", "Ranks", GroupBy::Rank),
];

/// The values of `--sort`; ties are in order of the name.
pub const SORT: [Choice<Sort>; 9] = [
    ("total", "Total time", Sort::Total),
    ("calls", "Number of calls", Sort::Calls),
    ("mean", "Mean duration", Sort::Mean),
    ("min", "Shortest call", Sort::Min),
    ("p50", "Median", Sort::P50),
    ("p95", "95th percentile", Sort::P95),
    ("p99", "99th percentile", Sort::P99),
    ("max", "Longest call", Sort::Max),
    ("name", "Name, ascending", Sort::Name),
];

pub fn parser<T: Clone + Send + Sync + 'static>(
    choices: impl IntoIterator<Item = Choice<T>>,
) -> impl TypedValueParser<Value = T> {
    let choices: Vec<Choice<T>> = choices.into_iter().collect();
    let names = choices.iter().map(|(name, help, _)| PossibleValue::new(name).help(help));
    PossibleValuesParser::new(names.collect::<Vec<_>>()).try_map(move |text| {
        let choice = choices.iter().find(|(name, ..)| *name == text);
        choice.map(|(.., value)| value.clone()).ok_or("unknown value")
    })
}

/// The name of a key, on the command line and in JSON.
pub fn label(by: GroupBy) -> &'static str {
    GROUP_BY.iter().find(|(.., value)| *value == by).map_or("", |(name, ..)| name)
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Names {
    /// The full name; mangled names are demangled
    #[default]
    Full,
    /// The mangled name where the trace has it
    Mangled,
    /// As rocprofv3 truncates it: without namespaces, template arguments and parameters
    Short,
}

/// The reports of other tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    Rpt,
    Rocprofv3,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum To {
    /// For people; may change with any release
    Text,
    /// Versioned: one document with a `schema` field
    Json,
    /// Versioned: RFC 4180, one table
    Csv,
    /// For issues and pull requests
    #[value(alias = "md")]
    Markdown,
    /// The report of RTG's rpt
    Rpt,
    /// The table of rocprofv3 -S
    Rocprofv3,
}

impl To {
    /// The format, and the other tool whose report it is, if it is one.
    pub(crate) fn parts(self) -> (Format, Option<Style>) {
        match self {
            Self::Text => (Format::Text, None),
            Self::Json => (Format::Json, None),
            Self::Csv => (Format::Csv, None),
            Self::Markdown => (Format::Markdown, None),
            Self::Rpt => (Format::Text, Some(Style::Rpt)),
            Self::Rocprofv3 => (Format::Text, Some(Style::Rocprofv3)),
        }
    }
}

impl Endings for To {
    fn endings(&self) -> &'static [&'static str] {
        self.parts().0.endings()
    }
}
