//! One HTML page: the verdict, the change of wall as a waterfall, and the rows.

use std::io::{self, Write};

use cli::units;
use html_page::table::{self, Cell, Table};
use html_page::waterfall::{Term, waterfall};
use html_page::{Data, Page, Section};
use maud::{Markup, html};
use rtl_analysis::DisplayNames;

use super::digest::Digest;
use super::json;
use super::report::Report;
use crate::comparison::{Row, WorkTerms};
use crate::gates::signed;

/// The most rows of a table, and the most work that a waterfall names.
const ROWS: usize = 250;
const TERMS: usize = 16;

/// A comparison as a part of a page.
#[derive(Debug)]
pub struct PagePart {
    /// The verdict in a word or two, which links to the first section.
    pub badge: Markup,
    /// The verdict is the first section.
    pub sections: Vec<Section>,
    pub data: Data,
}

pub(crate) fn part(report: &Report<'_>) -> io::Result<PagePart> {
    let digest = Digest::new(report);
    let mut document = Vec::new();
    json::render(report, usize::MAX, &mut document)?;
    let sections = [Some(verdict(report, &digest)), wall(report), work(report), rows(report), sides(report)];
    Ok(PagePart {
        badge: badge(&digest),
        sections: sections.into_iter().flatten().collect(),
        data: Data::bytes("rtl-diff", &document),
    })
}

pub(super) fn render(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let PagePart { badge, sections, data } = part(report)?;
    let page = Page {
        title: format!("{} - rtl diff", Digest::new(report).word),
        header: header(report, &badge),
        sections,
        data: vec![data],
        footer: format!(
            "Written by rtl-diff {}. The page holds the report as JSON (rtl-diff/1): element `rtl-diff`, deflate as base64.",
            env!("CARGO_PKG_VERSION")
        ),
    };
    out.write_all(page.render().as_bytes())
}

fn badge(digest: &Digest<'_>) -> Markup {
    let class = match digest.word {
        "pass" | "faster" | "unchanged" => "good",
        "fail" | "slower" | "not comparable" => "bad",
        _ => "limited",
    };
    html! { a href="#comparison" class=(format!("badge {class}")) { (digest.word) } }
}

fn header(report: &Report<'_>, badge: &Markup) -> Markup {
    let side = |runs: &[Vec<std::path::PathBuf>]| match runs {
        [] => "nothing".to_owned(),
        [only] if only.len() == 1 => only[0].display().to_string(),
        runs => format!("{} runs", runs.len()),
    };
    let comparison = report.comparison;
    html! {
        div.title {
            h1 { (html_page::text(&format!("{} against {}", side(&comparison.candidate), side(&comparison.baseline)))) }
            (badge)
        }
    }
}

fn verdict(report: &Report<'_>, digest: &Digest<'_>) -> Section {
    let comparison = report.comparison;
    let lines = digest.wall.iter().chain(&digest.rest).chain(&digest.remedy);
    let notes = comparison.notes.iter().chain(&comparison.other_work);
    let content = html! {
        p.verdict { (html_page::text(&digest.headline())) }
        ul { @for line in lines { li { (html_page::text(line)) } } }
        @for note in notes { p.note { (html_page::text(note)) } }
        @if !report.gates.is_empty() {
            h3 { "Gates" }
            ul { @for gate in report.gates {
                li { b { (gate.outcome.label()) } " " (report.title(gate.rule)) ": " (html_page::text(&gate.message)) }
            } }
        }
    };
    Section { id: "comparison", title: "Comparison", note: String::new(), content }
}

fn term(name: &str, ns: i64) -> Term {
    Term { name: name.to_owned(), value: ns as f64, text: units::change(ns) }
}

/// Idle time is split by cause where causes are known.
fn wall(report: &Report<'_>) -> Option<Section> {
    let comparison = report.comparison;
    let decomposition = &comparison.decomposition;
    let total = &decomposition.total;
    if comparison.incomparable.is_some() || total.baseline_wall_ns == 0 {
        return None;
    }
    let mut terms = Vec::new();
    for (name, ns) in total.terms.named() {
        let causes = decomposition.idle.iter().map(|idle| idle.delta_ns).fold(0_i64, i64::saturating_add);
        match name {
            "idle" if !decomposition.idle.is_empty() && causes == ns => {
                let parts = decomposition.idle.iter().filter(|idle| idle.delta_ns != 0);
                terms.extend(parts.map(|idle| term(&format!("idle: {}", idle.cause.label()), idle.delta_ns)));
            }
            _ if ns != 0 => terms.push(term(name, ns)),
            _ => {}
        }
    }
    let [before, after] = [total.baseline_wall_ns, total.candidate_wall_ns];
    let content = html! {
        (waterfall("Change of wall time by its terms", ("baseline", before as f64, &units::duration(before)),
            ("candidate", after as f64, &units::duration(after)), &terms))
    };
    let note = "From the wall time of the baseline's typical run to that of the candidate's, summed over GPUs. The terms add up to the \
                change, to the nanosecond: calls made more or less often (count), calls that took longer or shorter (duration), \
                other launch shapes (mix), new and removed kernels, overlap, and idle time.";
    Some(Section { id: "wall", title: "Change of wall", note: note.to_owned(), content })
}

fn work(report: &Report<'_>) -> Option<Section> {
    let work = report.comparison.work.as_ref()?;
    let terms = work.terms.as_ref().filter(|terms| terms.wall_ns.baseline > 0)?;
    let [before, after] = [terms.wall_ns.baseline, terms.wall_ns.candidate];
    let content = html! {
        (waterfall("Change of wall time by work", ("baseline", before as f64, &units::duration(before)),
            ("candidate", after as f64, &units::duration(after)), &work_terms(terms)))
    };
    let note = if work.is_per_step { "One step of a typical run." } else { "The whole typical run." };
    Some(Section { id: "work", title: "Change by work", note: note.to_owned(), content })
}

/// The largest changes first, then the rest, overlap and idle time: wall is work less overlap plus idle time.
fn work_terms(terms: &WorkTerms) -> Vec<Term> {
    let mut items: Vec<(&str, i64)> = terms
        .items
        .iter()
        .map(|item| (item.name.as_str(), item.change_ns()))
        .filter(|item| item.1 != 0)
        .collect();
    items.sort_by_key(|&(name, ns)| (std::cmp::Reverse(ns.unsigned_abs()), name));
    let rest = items.split_off(items.len().min(TERMS));
    let mut all: Vec<Term> = items.iter().map(|&(name, ns)| term(name, ns)).collect();
    let others = rest.iter().fold(0_i64, |sum, item| sum.saturating_add(item.1));
    let overlap = terms.overlap_ns.baseline.saturating_sub(terms.overlap_ns.candidate);
    let idle = terms.idle_ns.candidate.saturating_sub(terms.idle_ns.baseline);
    let named = [
        (format!("{} more", rest.len()), others),
        ("overlap".to_owned(), overlap),
        ("idle".to_owned(), idle),
    ];
    all.extend(named.iter().filter(|(_, ns)| *ns != 0).map(|(name, ns)| term(name, *ns)));
    all
}

fn rows(report: &Report<'_>) -> Option<Section> {
    let rows = report.comparison.rows.as_slice();
    if rows.is_empty() || report.comparison.incomparable.is_some() {
        return None;
    }
    let labels: Vec<String> = rows.iter().map(Row::label).collect();
    let names = DisplayNames::of(labels.iter().map(String::as_str));
    let shown: Vec<&str> = labels.iter().take(ROWS).map(|label| names.get(label)).collect();
    let shown = table::fitting(&shown);
    let time = |ns: Option<f64>| {
        ns.map_or_else(Cell::none, |ns| Cell::number(units::duration(ns.round() as i64), ns))
    };
    let ratio = |ratio: Option<f64>| {
        ratio.map_or_else(Cell::none, |ratio| Cell::number(signed(ratio - 1.0, false), ratio))
    };
    let cells = |((row, label), name): ((&Row, &String), &String)| {
        vec![
            Cell::short(name, label),
            Cell::text(row.change.label()),
            ratio(row.ratio),
            ratio(row.ci_low),
            ratio(row.ci_high),
            Cell::number(units::change(row.change_ns.round() as i64), row.change_ns),
            Cell::number(units::fixed(row.share * 100.0, 2), row.share),
            time(row.sides.baseline.map(|side| side.trimmed_mean_ns)),
            time(row.sides.candidate.map(|side| side.trimmed_mean_ns)),
            row.sides
                .candidate
                .or(row.sides.baseline)
                .map_or_else(Cell::none, |side| Cell::number(units::count(side.calls), side.calls)),
        ]
    };
    let heads = [
        ("Name", "name"),
        ("Status", "status"),
        ("Change", "ratio"),
        ("from", "ci_low"),
        ("to", "ci_high"),
        ("Time a run", "change_ns"),
        ("Share %", "share"),
        ("Before", "baseline_trimmed_mean_ns"),
        ("After", "candidate_trimmed_mean_ns"),
        ("Calls", "calls"),
    ];
    let table = Table {
        id: "changes-table",
        caption: "Changes".to_owned(),
        columns: heads.to_vec(),
        rows: rows.iter().zip(&labels).zip(&shown).map(cells).collect(),
        all: rows.len(),
        filter: Some("name"),
    };
    let note = "Change is candidate over baseline, with the bounds of its 95% interval. Copies of the table have ratios: 1.05 is +5 %.";
    Some(Section { id: "changes", title: "Changes", note: note.to_owned(), content: table.render() })
}

/// The files of both sides, and how their recordings differ.
fn sides(report: &Report<'_>) -> Option<Section> {
    let comparison = report.comparison;
    let runs = |runs: &[Vec<std::path::PathBuf>]| -> Vec<String> {
        runs.iter().flatten().map(|file| file.display().to_string()).collect()
    };
    let content = html! {
        @for (name, files) in [("Baseline", runs(&comparison.baseline)), ("Candidate", runs(&comparison.candidate))] {
            h3 { (name) }
            ul { @for file in files { li { code { (html_page::text(&file)) } } } }
        }
        @if !comparison.differences.is_empty() {
            h3 { "Recorded differently" }
            ul { @for difference in &comparison.differences {
                li { (html_page::text(&difference.what)) ": " (html_page::text(&difference.baseline)) ", now "
                    (html_page::text(&difference.candidate)) }
            } }
        }
    };
    Some(Section { id: "sides", title: "Both sides", note: String::new(), content })
}
