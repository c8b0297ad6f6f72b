//! Where GPU time is lost, and why.

use cli::units;
use rtl_analysis::Part;
use rtl_analysis::findings::{self, BeforeFirst, Finding, Findings, Headline, WORTH};

use crate::report::Report;
use crate::section::{Block, Paragraph, Printed, RenderOptions, Section};
use crate::sections::idle::select_causes;
use crate::tables::counted;

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
        let Some(headline) = report.sections.headline.as_ref().filter(|headline| headline.gpus > 0) else {
            return Vec::new();
        };
        let mut paragraphs = vec![Paragraph::from(format!("GPU {}", times(headline, report)))];
        let printed = printed(report, view);
        paragraphs.extend(printed.iter().enumerate().map(|(at, finding)| paragraph(at + 1, finding)));
        if printed.is_empty() {
            let least = if view.is_short { WORTH } else { findings::LEAST };
            paragraphs.push(Paragraph::from(format!(
                "nothing notable: no cause costs {:.0} % of the wall time or more",
                least * 100.0
            )));
        }
        paragraphs.extend(headline.before_first.as_ref().map(before_first).map(Paragraph::from));
        paragraphs.extend(kernels(headline, view).map(Paragraph::from));
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
    text += &format!(", idle {}{}", units::duration(headline.idle_ns), part(headline.idle_ns));
    if headline.exposed_collective_ns > 0 {
        let exposed = headline.exposed_collective_ns;
        text += &format!(", collectives alone {}{}", units::duration(exposed), part(exposed));
    }
    let trust = report.sections.trust.map(|trust| format!("; trust {}", trust.label()));
    text + &trust.unwrap_or_default()
}

fn percent(share: f64) -> String {
    format!("{} %", units::fixed(share * 100.0, 1))
}

/// `before its first op the GPU had nothing to do for 218 ms of ProfilerStep#6 (57.1 %), most at preprocess`
fn before_first(before: &BeforeFirst) -> String {
    let BeforeFirst { ns, share, within, place } = before;
    let within = within.as_deref().unwrap_or("the recording");
    let place = place.as_ref().map_or_else(String::new, |place| format!(", most at {place}"));
    let (ns, share) = (units::duration(*ns), percent(*share));
    format!("before its first op the GPU had nothing to do for {ns} of {within} ({share}){place}")
}

/// The sentence on the kernels that hold the time, and on the gain of tuning the first.
fn kernels(headline: &Headline, view: RenderOptions<'_>) -> Option<String> {
    let first = headline.first_kernel.as_ref()?;
    let Headline { main_kernels, kernels, first_kernel_share, first_kernel_gain_ns, wall_ns, .. } = headline;
    let gain = if *wall_ns == 0 { 0.0 } else { *first_kernel_gain_ns as f64 / *wall_ns as f64 };
    let collectives = match headline.collective_kernel_share {
        share if share < ALONE => String::new(),
        share => format!(" (collectives {} of it)", percent(share)),
    };
    Some(format!(
        "{main_kernels} of {} hold 80 % of the kernel time{collectives}; {} alone holds {}: at twice the speed it would save at most {} of \
         the wall time",
        counted(*kernels, "kernel", "kernels"),
        view.kernel(first),
        percent(*first_kernel_share),
        percent(gain),
    ))
}
