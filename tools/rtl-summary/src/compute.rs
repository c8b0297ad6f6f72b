//! Computes the report on the tables of a trace.

use std::path::Path;
use std::sync::Arc;

use cli::Failure;
use cli::report::{Input, Tag};
use rtl_analysis::facts::facts;
use rtl_analysis::findings;
use rtl_analysis::kernels::Sort;
use rtl_analysis::overview;
use rtl_analysis::ranks::Ranks;
use rtl_analysis::region;
use rtl_analysis::stray;
use rtl_analysis::trust::{self, Health};
use rtl_analysis::{Analysis, KernelKeys, Part, rocprofv3, rpt};
use rtl_schema::{Tables, Trace};

use crate::choices::Style;
use crate::comparison::Comparison;
use crate::file_info;
use crate::kernel_names::KernelNames;
use crate::report::{Recording, Report};
use crate::request::Request;
use crate::section::{Context, Section};
use crate::sections::{self, FINDINGS, KERNELS, TRUST};
use crate::style;

/// Reads a trace; returns its report and the rows of the region of interest. `then` gets the analysis of a single trace.
pub(crate) fn trace(
    path: &Path,
    request: &Request<'_>,
    then: &mut dyn FnMut(&Analysis<'_>),
) -> Result<(Report, Tables), Failure> {
    let trace = Trace::open(path)?;
    let mut tables = trace.read(&request.select())?;
    stray::set_apart(&mut tables);
    let file = if request.options.info { Some(file_info::file_info(&trace, &tables)?) } else { None };
    let name = path.display().to_string();
    let recording = if request.is_single { None } else { Recording::from_tables(&tables) };
    let is_filtered = !request.options.filter.is_empty();
    let has_keys = is_filtered && request.includes(&KERNELS);
    let keys = has_keys.then(|| KernelKeys::of(&tables));
    // A filter would leave launches without their kernels.
    let judge = is_filtered && judges(request);
    let before = judge.then(|| trust::health(&Analysis::new(&tables, &request.categories), None));
    let region =
        region::apply(&mut tables, &request.filter).map_err(|error| cli::filter::failure(path, error))?;
    let mut report = Report {
        input: Input { path: name, region, ..Input::default() },
        recording,
        file,
        ..Report::default()
    };
    if request.for_comparison() {
        report.input.facts = Some(facts(&tables));
        let run = tables.info.metadata.iter().find(|(tag, _)| tag == "run_id");
        report.input.run = run.map(|(_, value)| value.clone());
    }
    if request.options.info {
        let tags = tables.info.metadata.iter();
        report.input.metadata =
            tags.map(|(tag, value)| Tag { tag: tag.clone(), value: value.clone() }).collect();
    }
    let health = |analysis: &Analysis<'_>, ranks: Option<&Ranks>| {
        before.unwrap_or_else(|| trust::health(analysis, ranks))
    };
    let then = |analysis: &Analysis<'_>| {
        if request.is_single {
            then(analysis);
        }
    };
    let parts = Parts { keys, sections: &request.parts };
    compute_sections(&mut report, &tables, request, parts, health, then);
    Ok((report, tables))
}

/// The report on the rows of several traces, each of which has a report of its own. `then` gets the analysis.
pub(crate) fn combined(
    tables: &Tables,
    reports: &[Report],
    request: &Request<'_>,
    then: &mut dyn FnMut(&Analysis<'_>),
) -> Report {
    let mut report = Report { is_combined: true, ..Report::default() };
    if let [only] = reports {
        // The other traces could not be read.
        report.input.path.clone_from(&only.input.path);
    }
    let parts: Vec<Health> = reports.iter().filter_map(sections::health).collect();
    let health = |_: &Analysis<'_>, ranks: Option<&Ranks>| trust::combined(&parts, ranks);
    let parts = Parts { keys: None, sections: &request.sections };
    compute_sections(&mut report, tables, request, parts, health, then);
    report
}

fn judges(request: &Request<'_>) -> bool {
    request.options.style.is_none() && (request.includes(&TRUST) || request.includes(&FINDINGS))
}

struct Parts<'a> {
    /// The keys of the kernels of a filtered trace, which are those that the kernels have in the whole trace.
    keys: Option<KernelKeys>,
    sections: &'a [&'static Section],
}

/// `health` judges the trace, and `then` gets the analysis.
fn compute_sections(
    report: &mut Report,
    tables: &Tables,
    request: &Request<'_>,
    Parts { keys, sections }: Parts<'_>,
    health: impl FnOnce(&Analysis<'_>, Option<&Ranks>) -> Health,
    then: impl FnOnce(&Analysis<'_>),
) {
    let options = request.options;
    if let Some(style) = options.style {
        report.styled = Some(match style {
            Style::Rpt => style::rpt::render(&rpt::report(tables, Some(style::rpt::TOP))),
            Style::Rocprofv3 => style::rocprofv3::render(&rocprofv3::summary(tables)),
        });
        return;
    }
    let analysis = Analysis::new(tables, &request.categories);
    let includes = |wanted: &Section| sections.iter().any(|section| section.name == wanted.name);
    let parts: Vec<Part> = sections.iter().flat_map(|section| section.parts).copied().collect();
    analysis.prepare(&parts);
    let kernels = if includes(&KERNELS) { analysis.kernels() } else { &[] };
    let names = KernelNames::new(options.names, tables, kernels);
    let comparison = request.for_comparison().then(|| Comparison::new(&analysis, &names));
    let keys = keys.or_else(|| {
        // A trace may have a million kernels. Only those of the table need keys; in another order these may be any.
        let keyed = if options.sort == Sort::Total { request.top } else { kernels.len() };
        let names = kernels.iter().take(keyed).map(|group| Arc::clone(&group.label));
        (!report.is_combined).then(|| KernelKeys::ordered(names))
    });
    let context =
        Context { analysis, by: options.by, sort: options.sort, top: request.top, comparison, keys, names };
    sections.iter().for_each(|section| (section.compute)(&context, report));
    report.span = match &report.input.info {
        Some(info) => info.start_ns.zip(info.end_ns),
        None => overview::span(tables),
    };
    if judges(request) {
        let analysis = &context.analysis;
        let compared = includes(&FINDINGS).then(|| analysis.compared()).flatten();
        let health = health(analysis, report.sections.ranks.as_ref().or(compared));
        if includes(&FINDINGS) {
            report.findings_left_out = options.filter.thinning_flag();
            if report.findings_left_out.is_none() {
                // Traces need not share a clock, and a filter takes rows away.
                let is_whole = !report.is_combined && !report.input.region.filtered;
                report.ops = is_whole.then(|| overview::ops_span(tables)).flatten();
                sections::set_findings(report, findings::findings(analysis, &health));
            }
        }
        if includes(&TRUST) {
            report.set_health(health);
        }
    }
    then(&context.analysis);
}
