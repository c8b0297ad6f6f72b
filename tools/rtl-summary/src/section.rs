//! The declaration of a report section.

use cli::{Table, units};
use rtl_analysis::Analysis;
use rtl_analysis::kernels::{GroupBy, Sort};
use rtl_schema::Select;

use crate::choices::Top;
use crate::comparison::Comparison;
use crate::kernel_names::KernelNames;
use crate::report::Report;

/// A section: its flag value, the columns that it needs, how it is computed and how it is printed.
#[derive(Debug)]
pub struct Section {
    /// The value of `--section`.
    pub name: &'static str,
    /// The help of that value.
    pub help: &'static str,
    /// Whether a report without `--section` has it; else only with `--by rank`.
    pub by_default: bool,
    /// Whether it has a table, the only part that CSV prints.
    pub has_table: bool,
    /// Selects the columns that it needs beyond [`Select::ops`].
    pub select: fn(&mut Select),
    /// Whether it needs the groups of kernels, which a second thread makes of a large trace.
    pub by_kernel: bool,
    /// Computes what takes long of the rest, meanwhile.
    pub prepare: fn(&Analysis<'_>),
    /// Computes its JSON fields.
    pub compute: fn(&Context<'_>, &mut Report),
    /// The blocks of text, CSV and Markdown: none where `compute` was not called or had no rows.
    pub blocks: fn(&Report, RenderOptions) -> Vec<Block>,
}

impl Section {
    /// The defaults of a declaration.
    pub(crate) const DEFAULT: Self = Self {
        name: "",
        help: "",
        by_default: true,
        has_table: true,
        select: |_| {},
        by_kernel: false,
        prepare: |_| {},
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
    /// The printed forms of kernel names.
    pub names: KernelNames,
    /// Figures for rtl-diff, in JSON.
    pub comparison: Option<Comparison>,
}

/// How sections are printed.
#[derive(Debug, Clone, Copy)]
pub struct RenderOptions {
    /// The key of the main table.
    pub by: GroupBy,
    /// How many rows of each table are printed.
    pub top: Top,
    /// Whether names in sentences are printed in full.
    pub full_names: bool,
    /// Whether only the table of the section is printed.
    pub is_csv: bool,
}

/// A part of a printed section.
#[derive(Debug)]
pub enum Block {
    /// Labelled lines under the title of the report.
    Lines(Vec<(&'static str, String)>),
    /// A table.
    Table {
        /// The heading.
        heading: String,
        /// The rows; nothing is printed without any.
        table: Table,
    },
    /// Sentences under a table.
    Remarks(Vec<String>),
    /// Sentences under the heading "Sanity".
    Findings(Vec<String>),
}

impl Block {
    pub(crate) fn table(heading: impl Into<String>, table: Table) -> Self {
        Self::Table { heading: heading.into(), table }
    }

    /// A table of the first rows out of `len`, with a heading that shows both numbers.
    pub(crate) fn top_table(heading: &str, len: usize, top: Top, table: impl FnOnce(usize) -> Table) -> Self {
        let shown = top.of(len);
        let heading = match shown < len {
            true => format!("{heading} ({shown} of {})", units::count(len as u64)),
            false => heading.to_owned(),
        };
        Self::Table { heading, table: table(shown) }
    }
}
