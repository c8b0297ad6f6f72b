//! The request that the flags state: values are parsed, files are read and sections are chosen.

use std::path::Path;

use cli::args::Format;
use cli::{Exit, Failure, ResultExt};
use rtl_analysis::Categories;
use rtl_analysis::kernels::GroupBy;
use rtl_analysis::region::{Filter, KernelPattern};
use rtl_schema::Select;

use crate::args::Options;
use crate::choices::{Names, Style};
use crate::section::{Printed, Section};
use crate::sections::{GPUS, KERNELS, RANKS, SANITY, SECTIONS, TRACE, TRUST};

/// The rows of a table in formats for people, and of one in the short report.
const ROWS: usize = 20;
const FEW_ROWS: usize = 10;

#[derive(Debug)]
pub(crate) struct Request<'a> {
    pub(crate) options: &'a Options,
    pub(crate) filter: Filter,
    pub(crate) categories: Categories,
    /// The sections to compute, in the order of [`SECTIONS`].
    pub(crate) sections: Vec<&'static Section>,
    /// The sections of the report on each of several traces.
    pub(crate) parts: Vec<&'static Section>,
    pub(crate) top: usize,
    /// True if one trace was named.
    pub(crate) is_single: bool,
}

impl<'a> Request<'a> {
    pub(crate) fn new(options: &'a Options, traces: usize) -> Result<Self, Failure> {
        let filter = options.filter.filter()?;
        if traces > 1 && matches!(filter.kernel, Some(KernelPattern::Key(_))) {
            let message = format!("--kernel: a key is that of a kernel in one trace, and {traces} are given");
            return Err(Failure::usage(message).with_hint("name one trace, or give the name of the kernel"));
        }
        let is_for_people = matches!(options.display.format, Format::Text | Format::Markdown);
        let sections = sections(options)?;
        let is_single = traces == 1;
        // A trace without a report of its own has only the origin, the verdict and the findings on rows.
        let basic: &[&Section] = &[&TRACE, &TRUST, &SANITY];
        let is_part = |section: &&Section| {
            is_single || options.each || basic.iter().any(|part| part.name == section.name)
        };
        let rows = if is_short(options) { FEW_ROWS } else { ROWS };
        Ok(Self {
            options,
            filter,
            categories: options.categories.as_deref().map(categories).transpose()?.unwrap_or_default(),
            parts: sections.iter().copied().filter(is_part).collect(),
            sections,
            top: options.top.unwrap_or(if is_for_people { rows } else { usize::MAX }),
            is_single,
        })
    }

    pub(crate) fn includes(&self, section: &Section) -> bool {
        self.sections.iter().any(|requested| requested.name == section.name)
    }

    /// Returns true if the report gets the figures by which rtl-diff compares saved reports.
    pub(crate) fn for_comparison(&self) -> bool {
        let Options { style, info, display, .. } = self.options;
        let is_report = display.format == Format::Json && style.is_none() && !info;
        is_report && self.includes(&KERNELS) && self.includes(&GPUS)
    }

    pub(crate) fn select(&self) -> Select {
        let Options { by, names, style, info, .. } = self.options;
        if *info {
            return Select { args: false, ..Select::everything() };
        }
        let mut select = Select::ops();
        self.sections.iter().for_each(|section| (section.select)(&mut select));
        if let Some(style) = style {
            (select.ids, select.ranges, select.api) = (true, true, true);
            select.secondary = *style == Style::Rocprofv3;
        }
        let by_range = matches!(by, GroupBy::Range | GroupBy::Step) || self.filter.range.is_some();
        let by_operator = matches!(by, GroupBy::Operator | GroupBy::Module);
        select.python |= *by == GroupBy::Module;
        select.ranges |= by_range;
        select.operators |= by_operator;
        select.api |= by_range || by_operator;
        select.links |= by_range
            || by_operator
            || matches!(by, GroupBy::Process | GroupBy::Rank)
            || !self.filter.ranks.is_empty();
        select.launch |= *by == GroupBy::Shape || *names == Names::Mangled;
        select
    }
}

fn sections(options: &Options) -> Result<Vec<&'static Section>, Failure> {
    let is_csv = options.display.format == Format::Csv;
    let named = |section: &Section| options.section.iter().any(|named| named.name == section.name);
    let mut chosen: Vec<&Section> = match (options.section.as_slice(), is_csv) {
        _ if options.info => vec![&TRACE],
        (_, true) if options.health => {
            return Err(Failure::usage("--health has no table").with_hint("use `--to json`"));
        }
        _ if options.health => vec![&TRUST, &RANKS],
        ([], true) => vec![&KERNELS],
        ([], false) => {
            let is_printed = |section: &&Section| match section.printed {
                Printed::Always => true,
                Printed::WithAll => !is_short(options),
                Printed::ByRank => options.by == GroupBy::Rank,
            };
            SECTIONS.into_iter().filter(is_printed).collect()
        }
        ([_, _, ..], true) => {
            return Err(Failure::usage("csv holds one table, but several sections are requested")
                .with_hint("name one `--section`, or use `--to json`"));
        }
        ([only], true) if !only.has_table => {
            return Err(Failure::usage("this section has no table").with_hint("use `--to json`"));
        }
        _ => SECTIONS.into_iter().filter(|section| named(section)).collect(),
    };
    // `--strict` needs the findings, printed or not.
    if options.strict && chosen.iter().all(|section| section.name != SANITY.name) {
        chosen.push(&SANITY);
    }
    Ok(chosen)
}

/// Returns true if people read the report, and asked for nothing more than the answer.
pub(crate) fn is_short(options: &Options) -> bool {
    let is_for_people = matches!(options.display.format, Format::Text | Format::Markdown);
    is_for_people && !options.all && options.section.is_empty()
}

/// The bytes of the largest file of rules that is read.
const LARGEST_RULES: u64 = 16 << 20;

fn categories(path: &Path) -> Result<Categories, Failure> {
    let text = platform::regular::read_text(path, LARGEST_RULES)
        .with_context(|| format!("cannot read {}", path.display()))
        .with_hint("--categories takes a TOML file of [[rule]] tables")?;
    Categories::from_toml(&text)
        .with_exit(Exit::Usage)
        .with_context(|| path.display().to_string())
        .with_hint("a rule is `[[rule]]`, `category = \"gemm\"`, `match = \"Cijk_.*\"`")
}
