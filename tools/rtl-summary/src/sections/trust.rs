//! Whether the figures can be believed.

use rtl_analysis::trust::{Health, Reason, Trust};

use crate::report::Report;
use crate::section::{Block, Section};

pub(crate) static TRUST: Section = Section {
    name: "trust",
    help: "Whether the figures can be believed, and why not",
    has_table: false,
    select: |select| (select.links, select.ranges, select.api) = (true, true, true),
    prepare: |analysis| _ = analysis.sweep(),
    // It is about the whole trace, whatever the region of interest: see `compute`.
    blocks: |report, view| {
        let health = health(report);
        let shown = health.filter(|health| view.is_chosen || health.trust > Trust::Good);
        shown.map(|health| Block::Lines(lines(&health, report, view.is_chosen))).into_iter().collect()
    },
    ..Section::DEFAULT
};

/// The verdict of a report, if it was asked for.
pub(crate) fn health(report: &Report) -> Option<Health> {
    let sections = &report.sections;
    let reasons = sections.trust_reasons.clone().unwrap_or_default();
    sections.trust.map(|trust| Health { trust, reasons })
}

/// A reason that the section `trace` has said as a note is not repeated, and remarks are for those who ask.
fn lines(health: &Health, report: &Report, is_chosen: bool) -> Vec<(&'static str, String)> {
    let notes = report.input.info.iter().flat_map(|info| &info.notes);
    let notes: Vec<&String> = notes.collect();
    let said = |reason: &&Reason| !notes.contains(&&reason.sentence);
    let reasons = health.reasons.iter().filter(said).filter(|reason| is_chosen || reason.trust > Trust::Good);
    let words: Vec<(&str, String)> = reasons.map(|reason| ("Trust", line(reason))).collect();
    match words.is_empty() && is_chosen {
        true => vec![("Trust", health.trust.label().to_owned())],
        false => words,
    }
}

/// One line on a reason: `limited: 3 of 8 steps ...`.
pub(crate) fn line(reason: &Reason) -> String {
    let weight = match reason.trust {
        Trust::Good => "remark",
        trust => trust.label(),
    };
    let input = reason.input.map(|input| format!(", trace {}", input + 1)).unwrap_or_default();
    format!("{weight}{input}: {}", reason.sentence)
}
