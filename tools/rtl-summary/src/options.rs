//! What to read, compute and print.

use cli::args::{Console, Format};
use cli::{Exit, Failure, ResultExt};
use rtl_analysis::kernels::{GroupBy, Sort};
use rtl_analysis::region::Filter;
use rtl_analysis::{Categories, Sections};
use rtl_schema::Select;

use crate::args::Arguments;
use crate::choices::{Names, Style, Top};
use crate::section::Section;
use crate::sections::{GPUS, KERNELS, SANITY, SECTIONS, TRACE};

/// The number of rows of a table in formats for people.
const ROWS: usize = 20;

/// The options of [`crate::report`]; the default is the whole report as text.
#[derive(Debug, Clone)]
pub struct Options {
    /// The region of interest.
    pub filter: Filter,
    /// The sections to compute, in the order of [`SECTIONS`].
    pub sections: Vec<&'static Section>,
    /// The key of the main table.
    pub by: GroupBy,
    /// The order of the main table.
    pub sort: Sort,
    /// The rules of categories.
    pub categories: Categories,
    /// The form of kernel names.
    pub names: Names,
    /// The other tool whose report to print.
    pub style: Option<Style>,
    /// Whether to show the file's contents instead of the report.
    pub info: bool,
    /// Whether findings are failures.
    pub strict: bool,
    /// The format of the report.
    pub format: Format,
    /// How many rows of each table to print.
    pub top: Top,
    /// Whether names are printed in full.
    pub full_names: bool,
    /// Colour and progress.
    pub console: Console,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            filter: Filter::default(),
            sections: SECTIONS.into_iter().filter(|section| section.by_default).collect(),
            by: GroupBy::default(),
            sort: Sort::default(),
            categories: Categories::default(),
            names: Names::default(),
            style: None,
            info: false,
            strict: false,
            format: Format::default(),
            top: Top::Rows(ROWS),
            full_names: false,
            console: Console::default(),
        }
    }
}

impl TryFrom<&Arguments> for Options {
    type Error = Failure;

    /// # Errors
    /// A usage error for invalid filters and contradictory flags; an input error for a file of rules that cannot be
    /// read.
    fn try_from(arguments: &Arguments) -> Result<Self, Failure> {
        let display = &arguments.display;
        let is_for_people = matches!(display.format, Format::Text | Format::Markdown);
        Ok(Self {
            filter: arguments.filter.filter()?,
            sections: sections(arguments)?,
            by: arguments.by,
            sort: arguments.sort,
            categories: categories(arguments)?,
            names: arguments.names,
            style: arguments.style,
            info: arguments.info,
            strict: arguments.strict,
            format: display.format,
            top: arguments.top.unwrap_or(if is_for_people { Top::Rows(ROWS) } else { Top::All }),
            full_names: display.full_names,
            console: display.console.clone(),
        })
    }
}

impl Options {
    /// Whether a section is requested.
    pub fn includes(&self, section: &Section) -> bool {
        self.sections.iter().any(|requested| requested.name == section.name)
    }

    /// Whether the report gets the figures by which rtl-diff compares saved reports.
    pub fn for_comparison(&self) -> bool {
        let is_report = self.format == Format::Json && self.style.is_none() && !self.info;
        is_report && self.includes(&KERNELS) && self.includes(&GPUS)
    }

    /// The parts of `rtl_analysis::report` that the sections need.
    pub fn analysis(&self) -> Sections {
        let mut needed = Sections::default();
        self.sections.iter().for_each(|section| (section.analysis)(&mut needed));
        needed
    }

    /// The columns to read.
    pub fn select(&self) -> Select {
        if self.info {
            return Select { args: false, ..Select::everything() };
        }
        let mut select = Select::ops();
        self.sections.iter().for_each(|section| (section.select)(&mut select));
        if let Some(style) = self.style {
            (select.ids, select.ranges, select.api) = (true, true, true);
            select.secondary = style == Style::Rocprofv3;
        }
        let by_range = self.by == GroupBy::Range || self.filter.range.is_some();
        select.ranges |= by_range;
        select.api |= by_range;
        select.links |=
            by_range || matches!(self.by, GroupBy::Process | GroupBy::Rank) || !self.filter.ranks.is_empty();
        select.launch |= self.by == GroupBy::Shape || self.names == Names::Mangled;
        select
    }
}

fn sections(arguments: &Arguments) -> Result<Vec<&'static Section>, Failure> {
    let is_csv = arguments.display.format == Format::Csv;
    let named = |section: &Section| arguments.section.iter().any(|named| named.name == section.name);
    let mut chosen: Vec<&Section> = match (arguments.section.as_slice(), is_csv) {
        _ if arguments.info => vec![&TRACE],
        ([], true) => vec![&KERNELS],
        ([], false) => {
            let by_rank = arguments.by == GroupBy::Rank;
            SECTIONS.into_iter().filter(|section| section.by_default || by_rank).collect()
        }
        ([_, _, ..], true) => {
            return Err(Failure::usage("csv holds one table, but several sections are requested")
                .with_hint("name one `--section`, or use `--format json`"));
        }
        ([only], true) if !only.has_table => {
            return Err(Failure::usage("this section has no table").with_hint("use `--format json`"));
        }
        _ => SECTIONS.into_iter().filter(|section| named(section)).collect(),
    };
    // `--strict` needs the findings, printed or not.
    if arguments.strict && chosen.iter().all(|section| section.name != SANITY.name) {
        chosen.push(&SANITY);
    }
    Ok(chosen)
}

fn categories(arguments: &Arguments) -> Result<Categories, Failure> {
    let Some(path) = &arguments.categories else { return Ok(Categories::default()) };
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("cannot read {}", path.display()))
        .with_hint("--categories takes a TOML file of [[rule]] tables")?;
    Categories::from_toml(&text)
        .with_exit(Exit::Usage)
        .with_context(|| path.display().to_string())
        .with_hint("a rule is `[[rule]]`, `category = \"gemm\"`, `match = \"Cijk_.*\"`")
}
