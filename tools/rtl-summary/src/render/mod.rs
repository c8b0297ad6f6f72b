//! One file per format; all print the same values.

mod about;
mod csv;
mod json;
mod launches;
mod markdown;
mod ranks;
mod sanity;
mod tables;
mod text;

use std::io::Write;

use cli::args::Format;
use cli::{Failure, Output, units};
use rtl_analysis::api::UnfinishedCall;
use rtl_analysis::ranges::RangeMethod;

use crate::answer::{Answer, Styled};
use crate::args::{Arguments, By, Section, Top};
use crate::question::Question;
use crate::style;

/// How many rows of a table people are shown unless they say otherwise.
const ROWS: usize = 20;

/// What the renderers need to know of the command line.
#[derive(Debug, Clone, Copy)]
struct View {
    by: By,
    top: Top,
    full_names: bool,
}

/// Prints the answers in the format that was asked for.
///
/// # Errors
/// Those of the writer.
pub fn render(
    arguments: &Arguments,
    question: &Question,
    answers: &[Answer],
    combined: Option<&Answer>,
    out: &mut Output,
) -> Result<(), Failure> {
    if question.style.is_some() {
        return styled(answers, combined, out);
    }
    let people = matches!(arguments.display.format, Format::Text | Format::Markdown);
    let top = arguments.top.unwrap_or(if people { Top::Rows(ROWS) } else { Top::All });
    let view = View { by: arguments.by, top, full_names: arguments.display.full_names };
    match arguments.display.format {
        Format::Json => json::render(answers, combined, question.by, view, out),
        Format::Csv => csv::render(arguments, combined.or(answers.first()), view, out),
        Format::Markdown => markdown::render(question, answers, combined, view, out),
        Format::Text => text::render(arguments, question, answers, combined, view, out),
    }
}

fn styled(answers: &[Answer], combined: Option<&Answer>, out: &mut Output) -> Result<(), Failure> {
    let several = combined.is_some();
    for answer in answers.iter().chain(combined) {
        if several {
            writeln!(out, "== {} ==", title(answer, answers.len()))?;
        }
        let text = match &answer.styled {
            Some(Styled::Rpt(report)) => style::rpt::render(report),
            Some(Styled::Rocprofv3(summary)) => {
                style::rocprofv3::render(summary, style::rocprofv3::Unit::default())
            }
            None => String::new(),
        };
        write!(out, "{text}")?;
    }
    Ok(())
}

/// What an answer is about, for a heading.
fn title(answer: &Answer, inputs: usize) -> String {
    match &answer.path {
        Some(path) => path.display().to_string(),
        None => format!("all {inputs} traces together"),
    }
}

/// Every section that may hold a table, with its heading, in order of reading.
fn headings(answer: &Answer, view: View) -> Vec<(Section, String)> {
    let report = &answer.report;
    let cut = |what: &str, len: Option<usize>| {
        let len = len.unwrap_or(0);
        match view.top.of(len) {
            shown if shown < len => format!("{what} ({shown} of {})", cli::units::count(len as u64)),
            _ => what.to_owned(),
        }
    };
    let (main, len) = match &answer.groups {
        Some(groups) => (
            format!("Kernel time by {}", if view.by == By::Gpu { "GPU" } else { view.by.label() }),
            Some(groups.len()),
        ),
        None => ("Kernels".to_owned(), report.kernels.as_ref().map(Vec::len)),
    };
    let ranges = match &report.ranges {
        Some(ranges) if !ranges.methods.is_empty() => {
            let methods: Vec<_> = ranges.methods.iter().map(|method| method.words()).collect();
            format!("Ranges and markers, GPU work {}", methods.join(" or "))
        }
        _ => "Ranges and markers".to_owned(),
    };
    let latency = report.launches.as_ref();
    let from = latency.map_or("", launches::counted_from);
    let launches = format!("Launch latency, {from}");
    let ranks = answer.ranks.as_ref();
    let mut headings = vec![
        (Section::Kernels, cut(&main, len)),
        (Section::Categories, "Categories".to_owned()),
        (Section::Gpus, "GPUs".to_owned()),
        (Section::Gaps, "Gaps".to_owned()),
        (Section::Copies, "Copies".to_owned()),
        (Section::Api, cut("API calls", report.api.as_ref().map(Vec::len))),
        (Section::Launches, cut(&launches, latency.map(|latency| latency.kernels.len()))),
        (Section::Queues, "Queue depth: ops enqueued and not ended".to_owned()),
        (Section::Ranks, "Ranks".to_owned()),
        (Section::Collectives, "Collectives".to_owned()),
        (
            Section::Imbalance,
            cut("Kernels by how unevenly ranks share them", ranks.map(|ranks| ranks.kernels.len())),
        ),
        (Section::Ranges, cut(&ranges, report.ranges.as_ref().map(|ranges| ranges.groups.len()))),
    ];
    // One rank alone is compared with nobody.
    let several = ranks.is_some_and(|ranks| ranks.ranks.len() > 1);
    headings.retain(|(section, _)| several || *section != Section::Ranks);
    headings
}

/// What is said below the table of a section.
fn remarks(section: Section, answer: &Answer, full_names: bool) -> Vec<String> {
    match section {
        Section::Api => unfinished(answer),
        Section::Ranks => answer.ranks.iter().flat_map(|ranks| ranks::sentences(ranks, full_names)).collect(),
        Section::Launches => answer.report.launches.iter().flat_map(launches::left_out).collect(),
        Section::Queues => answer.report.queues.iter().flat_map(launches::reasons).collect(),
        _ => Vec::new(),
    }
}

/// Calls that had not returned, as sentences.
fn unfinished(answer: &Answer) -> Vec<String> {
    let calls = answer.report.unfinished_calls.as_deref().unwrap_or_default();
    let several = calls.iter().any(|call| call.pid != calls[0].pid);
    let sentence = |call: &UnfinishedCall| {
        let thread = call.tid.map(|tid| format!(" by thread {tid}")).unwrap_or_default();
        let process =
            call.pid.filter(|_| several).map(|pid| format!(" of process {pid}")).unwrap_or_default();
        let when = match call.waited_ns {
            Some(waited) => format!("{} before the end", units::duration(waited)),
            None => format!("at {} ns", call.start_ns),
        };
        format!("did not return: {}, called{thread}{process} {when}", call.name)
    };
    calls.iter().map(sentence).collect()
}

/// The findings on an answer, as sentences.
fn findings(answer: &Answer, full_names: bool) -> Vec<String> {
    let manner = sanity::Manner { origin: origin(answer), full_names };
    answer.report.sanity.as_ref().map(|sanity| sanity::sentences(sanity, manner)).unwrap_or_default()
}

/// The start of the trace in ns, which moments are shown relative to.
fn origin(answer: &Answer) -> i64 {
    let gpus = answer.report.gpus.iter().flatten().map(|gpu| gpu.start_ns);
    let about = answer.report.about.as_ref().and_then(|about| about.start_ns);
    about.or_else(|| gpus.min()).unwrap_or(0)
}

/// How ops were tied to ranges, after "GPU work".
trait Words {
    fn words(self) -> &'static str;
}

impl Words for RangeMethod {
    fn words(self) -> &'static str {
        match self {
            Self::Stored => "by stored range id",
            Self::Linked => "by launch link",
            Self::Contained => "by time",
        }
    }
}
