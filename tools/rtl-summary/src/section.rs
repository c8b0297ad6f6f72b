//! The declaration of a report section.

use cli::{Table, units};
use rtl_analysis::kernels::{GroupBy, Sort};
use rtl_analysis::{Analysis, DisplayNames, KernelKeys, Part};
use rtl_schema::Select;

use crate::choices::Top;
use crate::comparison::Comparison;
use crate::kernel_names::KernelNames;
use crate::report::Report;

/// The width of a kernel name within a sentence.
const NAME: usize = 60;

/// When a report without `--section` prints a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Printed {
    Always,
    WithAll,
    ByRank,
}

/// A section: its flag value, the columns that it needs, how it is computed and how it is printed.
#[derive(Debug)]
pub struct Section {
    /// The value of `--section`.
    pub name: &'static str,
    /// The help of that value.
    pub help: &'static str,
    /// When text and Markdown have it without `--section`. JSON has all but those about ranks.
    pub printed: Printed,
    /// True if it has a table, the only part that CSV prints.
    pub has_table: bool,
    /// Selects the columns that it needs beyond [`Select::ops`].
    pub select: fn(&mut Select),
    /// The parts of the analysis that it needs and that take long.
    pub parts: &'static [Part],
    /// Computes its JSON fields.
    pub compute: fn(&Context<'_>, &mut Report),
    /// The blocks of text, CSV and Markdown: none where `compute` was not called or had no rows.
    pub blocks: fn(&Report, RenderOptions<'_>) -> Vec<Block>,
}

impl Section {
    /// The defaults of a declaration.
    pub(crate) const DEFAULT: Self = Self {
        name: "",
        help: "",
        printed: Printed::WithAll,
        has_table: true,
        select: |_| {},
        parts: &[],
        compute: |_, _| {},
        blocks: |_, _| Vec::new(),
    };
}

/// The input of sections.
#[derive(Debug)]
pub struct Context<'a> {
    /// The rows of the region of interest, and what is known of them.
    pub analysis: Analysis<'a>,
    /// The key of the main table.
    pub by: GroupBy,
    /// The order of the main table.
    pub sort: Sort,
    /// How many rows of the main table are printed: it has no others.
    pub top: Top,
    /// The keys of the kernels, by stored name; none of several traces combined.
    pub keys: Option<KernelKeys>,
    /// The printed forms of kernel names.
    pub names: KernelNames,
    /// Figures for rtl-diff, in JSON.
    pub comparison: Option<Comparison>,
}

/// How sections are printed.
#[derive(Debug, Clone, Copy)]
pub struct RenderOptions<'a> {
    /// The key of the main table.
    pub by: GroupBy,
    /// How many rows of each table are printed.
    pub top: Top,
    /// The display names of the kernels of the report; none where names are printed in full.
    pub names: &'a DisplayNames,
    /// True if sections were chosen, rather than all printed.
    pub is_chosen: bool,
    /// True if only the table of the section is printed.
    pub is_csv: bool,
    /// True if the report is the short one, without `--all` or `--section`.
    pub is_short: bool,
}

impl RenderOptions<'_> {
    /// A kernel name within a sentence.
    pub(crate) fn kernel(&self, name: &str) -> String {
        let display = self.names.get(name);
        match name.chars().count() <= NAME {
            true => name.to_owned(),
            false => display.to_owned(),
        }
    }
}

/// A part of a printed section.
#[derive(Debug)]
pub enum Block {
    /// Labelled lines under the title of the report.
    Lines(Vec<(&'static str, String)>),
    Table {
        heading: String,
        /// The rows; nothing is printed without any.
        table: Table,
    },
    /// Sentences under the title of the report.
    Paragraphs(Vec<Paragraph>),
    /// Sentences under a table.
    Remarks(Vec<String>),
    /// Sentences under the heading "Sanity".
    Findings(Vec<String>),
}

/// A sentence with others about it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Paragraph {
    pub text: String,
    /// Printed below it.
    pub details: Vec<String>,
}

impl From<String> for Paragraph {
    fn from(text: String) -> Self {
        Self { text, details: Vec::new() }
    }
}

impl Block {
    pub(crate) fn table(heading: impl Into<String>, table: Table) -> Self {
        Self::Table { heading: heading.into(), table }
    }

    /// The table with these short forms of kernel names.
    #[must_use]
    pub(crate) fn with_short_names(self, names: &DisplayNames) -> Self {
        match self {
            Self::Table { heading, table } => {
                let short =
                    |name: &str| Some(names.get(name)).filter(|short| *short != name).map(str::to_owned);
                Self::Table { heading, table: table.with_short_names(short) }
            }
            other => other,
        }
    }

    /// A table of the first rows out of `len`, with a heading that shows both numbers.
    pub(crate) fn top_table(heading: &str, len: usize, top: Top, table: impl FnOnce(usize) -> Table) -> Self {
        let shown = top.limit(len);
        let heading = match shown < len {
            true => format!("{heading} ({shown} of {})", units::count(len as u64)),
            false => heading.to_owned(),
        };
        Self::Table { heading, table: table(shown) }
    }
}
