//! Where GPU time is lost, and why.

use cli::units;
use rtl_analysis::Part;
use rtl_analysis::findings::{self, BeforeFirst, Finding, Findings, Headline, SlowStep, WORTH};
use rtl_analysis::trust::Trust;

use crate::report::Report;
use crate::section::{Block, Paragraph, Printed, RenderOptions, Section};
use crate::sections::idle::select_causes;

pub(crate) static FINDINGS: Section = Section {
    name: "findings",
    help: "Where GPU time is lost, and why",
    printed: Printed::Always,
    has_table: false,
    select: |select| {
        select_causes(select);
        // Late calls are found among those of one launch shape, which do equal work.
        select.shapes = true;
    },
    parts: &[Part::LateCalls, Part::Compared, Part::Sweep, Part::Idle, Part::Steps],
    // `compute.rs` sets the fields, because findings need the verdict on the trace.
    blocks: |report, view| {
        if let Some(flag) = report.findings_left_out {
            let text =
                format!("findings and busy time are of whole GPUs: left out, because {flag} takes ops away");
            return vec![Block::Paragraphs(vec![Paragraph::from(text)])];
        }
        let Some(headline) = report.sections.headline.as_ref() else { return Vec::new() };
        let printed = printed(report, view);
        if headline.gpus == 0 {
            return without_gpu(headline, report, &printed);
        }
        let mut paragraphs = vec![Paragraph::from(format!("GPU {}", times(headline, report)))];
        paragraphs.extend(printed.iter().enumerate().map(|(at, finding)| paragraph(at + 1, finding)));
        if printed.is_empty() {
            let least = if view.is_short { WORTH } else { findings::LEAST };
            paragraphs.push(Paragraph::from(headline.nothing_notable(least, without_ops(report).is_some())));
        }
        // A finding that has this time says more.
        let untold =
            headline.before_first.as_ref().filter(|_| printed.iter().all(|told| told.before_ns == 0));
        paragraphs.extend(untold.map(BeforeFirst::sentence).map(Paragraph::from));
        paragraphs.extend(headline.slow_step.as_ref().map(slow_step).map(Paragraph::from));
        // Of a trace that describes no run nothing should be tuned.
        let first = headline.first_kernel.as_ref().filter(|_| report.sections.trust != Some(Trust::Bad));
        let kernels = first.map(|first| headline.kernels_sentence(&view.kernel(first)));
        paragraphs.extend(kernels.map(Paragraph::from));
        vec![Block::Paragraphs(paragraphs)]
    },
    ..Section::DEFAULT
};

/// The most findings of the short report.
const FEW: usize = 5;

pub(crate) fn set(report: &mut Report, found: Findings) {
    report.sections.headline = Some(found.headline);
    report.sections.findings = Some(found.findings);
}

/// Copies that run alone for less of the wall time are no news.
const ALONE: f64 = 0.01;

/// Smaller parts of the wall time are 0.0 %.
const VISIBLE: f64 = 0.0005;

/// From this part of the span of the trace on it is said that no op runs before the first one or after the last one: the wall time of
/// the GPUs has neither.
const MUCH: f64 = 0.1;

fn printed<'a>(report: &'a Report, view: RenderOptions<'_>) -> Vec<&'a Finding> {
    let all = report.sections.findings.iter().flatten();
    let worth = all.filter(|finding| !view.is_short || finding.share >= WORTH || finding.cost_ns == 0);
    worth.take(if view.is_short { FEW } else { usize::MAX }).collect()
}

fn paragraph(number: usize, finding: &Finding) -> Paragraph {
    let Finding { id, sentence, look, help, .. } = finding;
    Paragraph {
        text: format!("{number}. {id}: {sentence}"),
        details: vec![format!("help: {help}"), format!("look: {look}")],
    }
}

/// `busy 87.3 % of 260.3 ms: kernels 80.0 %, copies alone 7.3 %, idle 33.1 ms (12.7 %); trust good`
fn times(headline: &Headline, report: &Report) -> String {
    let part = |ns: i64| match headline.wall_ns {
        0 => String::new(),
        wall => format!(" ({})", percent(ns as f64 / wall as f64)),
    };
    let wall = units::duration(headline.wall_ns);
    let busy = percent(headline.busy_share);
    let mut text = match headline.gpus {
        1 => format!("busy {busy} of {wall}"),
        gpus => {
            let [least, most] = [headline.least_busy_share, headline.most_busy_share].map(percent);
            format!("busy {busy} of {wall} ({least} to {most} on {} GPUs)", units::count(gpus))
        }
    };
    if headline.copies_alone_share >= ALONE {
        let [kernels, copies] = [headline.kernel_share, headline.copies_alone_share].map(percent);
        text += &format!(": kernels {kernels}, copies alone {copies}");
    }
    let is_visible = |ns: i64| ns as f64 >= VISIBLE * headline.wall_ns as f64;
    if headline.idle_ns > 0 && is_visible(headline.idle_ns) {
        text += &format!(", idle {}{}", units::duration(headline.idle_ns), part(headline.idle_ns));
    }
    if headline.exposed_collective_ns > 0 && is_visible(headline.exposed_collective_ns) {
        let exposed = headline.exposed_collective_ns;
        text += &format!(", collectives alone {}{}", units::duration(exposed), part(exposed));
    }
    // Of what it is known better, a line of its own tells.
    let untold = without_ops(report).filter(|_| headline.before_first.is_none());
    text += &untold.map(|times| format!("; no op for {times}")).unwrap_or_default();
    if headline.busy_before {
        text += "; before the first op the GPU ran work that is not in the trace";
    }
    let trust = report.sections.trust.map(|trust| format!("; trust {}", trust.label()));
    text + &trust.unwrap_or_default()
}

fn percent(share: f64) -> String {
    format!("{} %", units::fixed(share * 100.0, 1))
}

/// States the work of the host of a trace without ops, and how to record these; nothing where a filter has taken them away.
fn without_gpu(headline: &Headline, report: &Report, findings: &[&Finding]) -> Vec<Block> {
    if report.input.region.filtered {
        return Vec::new();
    }
    let help = match findings.is_empty() {
        true => vec![format!("help: {}", findings::RECORD_THE_GPU)],
        false => Vec::new(),
    };
    let mut paragraphs = vec![Paragraph { text: headline.without_gpu(), details: help }];
    paragraphs.extend(findings.iter().enumerate().map(|(at, finding)| paragraph(at + 1, finding)));
    vec![Block::Paragraphs(paragraphs)]
}

/// `One step is slow: ProfilerStep#2 takes 169.100 ms, the others 73.000 ms (median)`
fn slow_step(step: &SlowStep) -> String {
    let [ns, usual] = [step.ns, step.usual_ns].map(units::duration);
    format!("One step is slow: {} takes {ns}, the others {usual} (median)", step.label)
}

/// `268.758 ms before the first op`, where that is much of the trace.
fn without_ops(report: &Report) -> Option<String> {
    let (start, end) = report.span?;
    let (first, last) = report.ops?;
    // A GPU that was busy before had no idle time there.
    let is_busy = report.sections.headline.as_ref().is_some_and(|headline| headline.busy_before);
    let start = if is_busy { first } else { start };
    let span = end.saturating_sub(start) as f64;
    let is_much = |ns: i64, share: f64| ns as f64 >= share * span && ns > 0;
    let times = [first.saturating_sub(start), end.saturating_sub(last)];
    let places = ["before the first op", "after the last op"];
    let known = times.into_iter().zip(places).filter(|(ns, _)| is_much(*ns, ALONE));
    let texts: Vec<String> = known.map(|(ns, place)| format!("{} {place}", units::duration(ns))).collect();
    is_much(times[0].saturating_add(times[1]), MUCH).then(|| texts.join(" and "))
}
