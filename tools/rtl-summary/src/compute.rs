//! From the tables of a trace to its report.

use std::path::Path;

use cli::{Failure, ResultExt};
use rtl_analysis::facts::facts;
use rtl_analysis::region;
use rtl_analysis::{rocprofv3, rpt};
use rtl_report::{Input, Tag};
use rtl_schema::{Tables, Trace};

use crate::choices::Style;
use crate::comparison::Comparison;
use crate::file_info;
use crate::kernel_names::KernelNames;
use crate::options::Options;
use crate::report::Report;
use crate::section::Context;
use crate::style;

/// Reads a trace; returns its report and the rows of the region of interest.
///
/// # Errors
/// Where the trace cannot be read or has no such region.
pub fn trace(path: &Path, options: &Options) -> Result<(Report, Tables), Failure> {
    let trace = Trace::open(path)?;
    let mut tables = trace.read(&options.select())?;
    let file = if options.info { Some(file_info::file_info(&trace, &tables)?) } else { None };
    let name = path.display().to_string();
    let region = region::apply(&mut tables, &options.filter)
        .with_context(|| name.clone())
        .with_hint("`rtl-summary --section trace,ranges,kernels` shows what there is to choose from")?;
    let mut report =
        Report { input: Input { path: name, region, ..Input::default() }, file, ..Report::default() };
    if options.for_comparison() {
        report.input.facts = Some(facts(&tables));
        let run = tables.info.metadata.iter().find(|(tag, _)| tag == "run_id");
        report.input.run = run.map(|(_, value)| value.clone());
    }
    if options.info {
        let tags = tables.info.metadata.iter();
        report.input.metadata =
            tags.map(|(tag, value)| Tag { tag: tag.clone(), value: value.clone() }).collect();
    }
    sections(&mut report, &tables, options);
    Ok((report, tables))
}

/// The report on the rows of several traces.
pub fn combined(tables: &Tables, options: &Options) -> Report {
    let mut report = Report { is_combined: true, ..Report::default() };
    sections(&mut report, tables, options);
    report
}

fn sections(report: &mut Report, tables: &Tables, options: &Options) {
    if let Some(style) = options.style {
        report.styled = Some(match style {
            Style::Rpt => style::rpt::render(&rpt::report(tables, &rpt::Options::default())),
            Style::Rocprofv3 => {
                style::rocprofv3::render(&rocprofv3::summary(tables), style::rocprofv3::Unit::default())
            }
        });
        return;
    }
    let analysis = rtl_analysis::Options {
        sections: options.analysis(),
        sort: options.sort,
        categories: options.categories.clone(),
        ..rtl_analysis::Options::default()
    };
    let analysis = rtl_analysis::report(tables, &analysis);
    let names = KernelNames::new(options.names, tables, analysis.kernels.as_deref().unwrap_or_default());
    let mut context = Context {
        tables,
        categories: &options.categories,
        by: options.by,
        sort: options.sort,
        comparison: options.for_comparison().then(|| Comparison::new(tables, &options.categories, &names)),
        analysis,
        names,
    };
    options.sections.iter().for_each(|section| (section.compute)(&mut context, report));
}
