//! The section that says whether the figures can be believed.

use rtl_analysis::Part;
use rtl_analysis::trust::{Health, Reason, Trust};

use crate::report::Report;
use crate::section::{Block, Printed, Section};

pub(crate) static TRUST: Section = Section {
    name: "trust",
    help: "Whether the figures can be believed, and why not",
    printed: Printed::Always,
    has_table: false,
    select: |select| {
        (select.links, select.ranges, select.api, select.operators) = (true, true, true, true);
        // The profiler's cost counts them.
        select.python = true;
    },
    parts: &[Part::Sweep],
    // `compute.rs` sets the fields: the verdict is about the whole trace, whatever the region of interest.
    blocks: |report, view| {
        let health = health(report);
        let shown = health.filter(|health| view.is_chosen || health.trust > Trust::Good);
        shown.map(|health| Block::Lines(lines(&health, report, view.is_chosen))).into_iter().collect()
    },
    ..Section::DEFAULT
};

pub(crate) fn health(report: &Report) -> Option<Health> {
    let sections = &report.sections;
    let reasons = sections.trust_reasons.clone().unwrap_or_default();
    sections.trust.map(|trust| Health { trust, reasons })
}

/// A reason that is a note of the section `trace` is not repeated, and remarks are for those who ask.
fn lines(health: &Health, report: &Report, is_chosen: bool) -> Vec<(&'static str, String)> {
    let notes = report.input.info.iter().flat_map(|info| &info.notes);
    let notes: Vec<&String> = notes.collect();
    let is_new = |reason: &&Reason| !notes.contains(&&reason.sentence);
    // What limits a trace that is bad is of no use.
    let is_worst = |reason: &&Reason| is_chosen || reason.trust > Trust::Good && reason.trust == health.trust;
    let reasons = health.reasons.iter().filter(is_new).filter(is_worst);
    let words: Vec<(&str, String)> = sentences(reasons).into_iter().map(|line| ("Trust", line)).collect();
    match words.is_empty() && is_chosen {
        true => vec![("Trust", health.trust.label().to_owned())],
        false => words,
    }
}

/// One line for each reason, such as `limited: GPU events of 3 of 8 steps ...`. The first of several traces is quoted.
pub(crate) fn sentences<'a>(reasons: impl Iterator<Item = &'a Reason>) -> Vec<String> {
    let mut groups: Vec<(&Reason, Vec<usize>)> = Vec::new();
    for reason in reasons {
        let is_same = |(first, _): &&mut (&Reason, Vec<usize>)| {
            reason.input.is_some() && (first.trust, &first.id) == (reason.trust, &reason.id)
        };
        match groups.iter_mut().find(is_same) {
            Some((_, inputs)) => inputs.extend(reason.input),
            None => groups.push((reason, reason.input.into_iter().collect())),
        }
    }
    groups.into_iter().map(|(first, inputs)| sentence(first, &inputs)).collect()
}

fn sentence(reason: &Reason, inputs: &[usize]) -> String {
    let weight = match reason.trust {
        Trust::Good => "remark",
        trust => trust.label(),
    };
    let traces = match inputs {
        [] => String::new(),
        [only] => format!(", trace {}", only + 1),
        [one, other] => format!(", traces {} and {}", one + 1, other + 1),
        [first, others @ ..] => format!(", trace {} and {} others", first + 1, others.len()),
    };
    let affects = match reason.affects.as_str() {
        "" => String::new(),
        figures => format!("; do not rely on {figures}"),
    };
    format!("{weight}{traces}: {}{affects}", reason.sentence)
}
