//! What the command line means: expressions compiled, files read, sections chosen.

use cli::args::Format;
use cli::{Exit, Failure};
use rtl_analysis::kernels::{GroupBy, Sort};
use rtl_analysis::region::Filter;
use rtl_analysis::{Categories, Options, Sections};
use rtl_schema::Select;

use crate::args::{Arguments, By, Names, Section, Sort as SortBy, Style};

/// A command line that makes sense.
#[derive(Debug, Clone)]
pub struct Question {
    /// Which rows count.
    pub filter: Filter,
    /// Which columns to read.
    pub select: Select,
    /// What to compute; [`Options::key`] is always the kernel.
    pub options: Options,
    /// What the main table is grouped by, if not by kernel.
    pub by: Option<By>,
    /// Whether ranks are compared.
    pub ranks: bool,
    /// Which form of names to print.
    pub names: Names,
    /// Whether findings are failures.
    pub strict: bool,
    /// Whether the file itself is asked about.
    pub info: bool,
    /// Whose report to print instead.
    pub style: Option<Style>,
    /// Whether what rtl-diff compares saved reports by is wanted, too.
    pub comparable: bool,
}

impl Question {
    /// # Errors
    /// A usage error for expressions and moments that are none and for options that exclude each other; an
    /// input error for a file of rules that cannot be read.
    pub fn of(arguments: &Arguments) -> Result<Self, Failure> {
        let filter = arguments.filter.filter()?;
        let sections = sections(arguments)?;
        let by = (arguments.by != By::Kernel).then_some(arguments.by);
        let options = Options {
            sections,
            key: GroupBy::Kernel,
            sort: sort(arguments.sort),
            categories: categories(arguments)?,
            ..Options::default()
        };
        let styled = arguments.style.is_some();
        let ranks = !styled && !arguments.info && compares_ranks(arguments);
        let ranges = sections.ranges || filter.range.is_some() || by == Some(By::Range) || ranks;
        let launches = sections.launches || sections.queues;
        let select = if arguments.info {
            Select { args: false, ..Select::everything() }
        } else {
            Select {
                ids: styled,
                shapes: ranks,
                launch: by == Some(By::Shape) || arguments.names == Names::Mangled,
                links: ranges
                    || launches
                    || matches!(by, Some(By::Process | By::Rank))
                    || !filter.ranks.is_empty(),
                ranges: ranges || sections.about || styled,
                api: ranges || launches || sections.api || sections.about || styled,
                args: false,
                secondary: arguments.style == Some(Style::Rocprofv3),
            }
        };
        Ok(Self {
            filter,
            select,
            options,
            by,
            ranks,
            names: arguments.names,
            strict: arguments.strict,
            info: arguments.info,
            style: arguments.style,
            comparable: arguments.display.format == Format::Json
                && !styled
                && sections.kernels
                && sections.gpus
                && !arguments.info,
        })
    }
}

fn sections(arguments: &Arguments) -> Result<Sections, Failure> {
    let csv = arguments.display.format == Format::Csv;
    let chosen = match (arguments.section.as_slice(), csv) {
        _ if arguments.info => &[Section::Trace],
        ([], false) => return Ok(Sections::ALL),
        ([], true) => &[Section::Kernels],
        ([_, _, ..], true) => {
            return Err(Failure::usage("csv holds one table, but several sections were asked for")
                .with_hint("name one `--section`, or use `--format json`"));
        }
        (some, _) => some,
    };
    if csv && !arguments.info && matches!(chosen, [Section::Trace | Section::Sanity]) {
        return Err(Failure::usage("this section is no table").with_hint("use `--format json`"));
    }
    let has = |section| chosen.contains(&section);
    Ok(Sections {
        about: has(Section::Trace),
        kernels: has(Section::Kernels),
        gpus: has(Section::Gpus),
        gaps: has(Section::Gaps),
        copies: has(Section::Copies),
        api: has(Section::Api),
        launches: has(Section::Launches),
        queues: has(Section::Queues),
        ranges: has(Section::Ranges),
        categories: has(Section::Categories),
        // A verdict needs its findings, shown or not.
        sanity: has(Section::Sanity) || arguments.strict,
    })
}

/// Whether a section about ranks is asked for.
fn compares_ranks(arguments: &Arguments) -> bool {
    let whole = arguments.section.is_empty() && arguments.display.format != Format::Csv;
    let about_ranks =
        |section: &Section| matches!(section, Section::Ranks | Section::Collectives | Section::Imbalance);
    whole && arguments.by == By::Rank || arguments.section.iter().any(about_ranks)
}

fn categories(arguments: &Arguments) -> Result<Categories, Failure> {
    let Some(path) = &arguments.categories else { return Ok(Categories::default()) };
    let text = std::fs::read_to_string(path).map_err(|error| {
        Failure::input(error)
            .context(format!("cannot read {}", path.display()))
            .with_hint("--categories takes a TOML file of [[rule]] tables")
    })?;
    Categories::from_toml(&text).map_err(|error| {
        Failure::new(Exit::Usage, error)
            .context(path.display().to_string())
            .with_hint("a rule is `[[rule]]`, `category = \"gemm\"`, `match = \"Cijk_.*\"`")
    })
}

fn sort(by: SortBy) -> Sort {
    match by {
        SortBy::Total => Sort::Total,
        SortBy::Calls => Sort::Calls,
        SortBy::Mean => Sort::Mean,
        SortBy::Min => Sort::Min,
        SortBy::P50 => Sort::P50,
        SortBy::P95 => Sort::P95,
        SortBy::P99 => Sort::P99,
        SortBy::Max => Sort::Max,
        SortBy::Name => Sort::Name,
    }
}

/// The key of `analysis` for a `--by`.
pub fn key(by: By) -> GroupBy {
    match by {
        By::Kernel => GroupBy::Kernel,
        By::Category => GroupBy::Category,
        By::Gpu => GroupBy::Gpu,
        By::Queue => GroupBy::Queue,
        By::Range => GroupBy::Range,
        By::Shape => GroupBy::Shape,
        By::Process => GroupBy::Process,
        By::Rank => GroupBy::Rank,
    }
}
