//! The declaration of a section: a value of `--section`, the columns that it reads, and functions that compute and print it.

use cli::{Table, units};
use rtl_analysis::kernels::{GroupBy, Sort};
use rtl_analysis::{Analysis, DisplayNames, KernelKeys, Part};
use rtl_schema::Select;

use crate::comparison::Comparison;
use crate::kernel_names::KernelNames;
use crate::report::Report;

const LONGEST_NAME: usize = 60;

/// The condition under which a report without `--section` prints a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Printed {
    Always,
    WithAll,
    ByRank,
}

#[derive(Debug)]
pub struct Section {
    pub name: &'static str,
    pub help: &'static str,
    /// The condition under which text and Markdown have the section. JSON has all sections but those about ranks.
    pub printed: Printed,
    /// True if the section has a table, the only part that CSV prints.
    pub has_table: bool,
    /// Selects the columns that the section needs beyond [`Select::ops`].
    pub select: fn(&mut Select),
    /// The parts of the analysis that the section needs and that take long, so that threads prepare them.
    pub parts: &'static [Part],
    /// Computes the JSON fields.
    pub compute: fn(&Context<'_>, &mut Report),
    /// The blocks of text, CSV and Markdown, of which there are none where `compute` was not called or had no rows.
    pub blocks: fn(&Report, RenderOptions<'_>) -> Vec<Block>,
}

impl Section {
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

/// The input of `compute`.
#[derive(Debug)]
pub struct Context<'a> {
    pub analysis: Analysis<'a>,
    /// The key of the main table.
    pub by: GroupBy,
    pub sort: Sort,
    /// The main table has no more rows than these.
    pub top: usize,
    /// The keys of the kernels, by stored name; `None` for several traces combined.
    pub keys: Option<KernelKeys>,
    pub names: KernelNames,
    /// The figures that JSON has for rtl-diff.
    pub comparison: Option<Comparison>,
}

#[derive(Debug, Clone, Copy)]
pub struct RenderOptions<'a> {
    /// The key of the main table.
    pub by: GroupBy,
    /// The most rows of a table that are printed.
    pub top: usize,
    /// The display names of the kernels; empty where names are printed in full.
    pub names: &'a DisplayNames,
    /// True if sections were chosen, rather than all printed.
    pub is_chosen: bool,
    /// True if only the table of the section is printed.
    pub is_csv: bool,
    /// True if the report is the short one, without `--all` or `--section`.
    pub is_short: bool,
}

impl RenderOptions<'_> {
    /// The name of a kernel in a sentence: as columns have it, mostly no longer than [`LONGEST_NAME`], and different from the others.
    pub(crate) fn kernel(&self, name: &str) -> String {
        if name.chars().count() <= LONGEST_NAME || self.names.is_empty() {
            return name.to_owned();
        }
        let other = DisplayNames::of([name]);
        let known = self.names.iter();
        let (names, forms): (Vec<&str>, Vec<&str>) = known.chain([(name, other.get(name))]).unzip();
        let texts = cli::shorten_distinct(&forms, LONGEST_NAME);
        // The last one is that of a kernel which no table has.
        let shown = names.iter().zip(texts).find(|(known, _)| **known == name);
        shown.map_or_else(String::new, |(_, text)| text)
    }
}

#[derive(Debug)]
pub enum Block {
    /// Labelled lines under the title of the report.
    Lines(Vec<(&'static str, String)>),
    Table {
        heading: String,
        /// A table without rows is not printed.
        table: Table,
    },
    /// Sentences under the title of the report.
    Paragraphs(Vec<Paragraph>),
    /// Sentences under a table.
    Remarks(Vec<String>),
    /// Sentences under the heading "Sanity".
    Findings { warnings: Vec<String>, remarks: Vec<String> },
}

/// A sentence with details.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Paragraph {
    pub text: String,
    /// The details are printed below the sentence.
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

    /// A table of the first `top` rows out of `len`, whose heading states both numbers if rows are left out.
    pub(crate) fn top_table(
        heading: &str,
        len: usize,
        top: usize,
        table: impl FnOnce(usize) -> Table,
    ) -> Self {
        let shown = top.min(len);
        let heading = match shown < len {
            true => format!("{heading} ({shown} of {})", units::count(len as u64)),
            false => heading.to_owned(),
        };
        Self::Table { heading, table: table(shown) }
    }
}
