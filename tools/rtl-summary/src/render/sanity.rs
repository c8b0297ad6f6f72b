//! Findings as sentences.

use std::borrow::Cow;

use cli::units;
use rtl_analysis::sanity::{DurationAnomalies, Sanity};
use rtl_analysis::sweep::SuspiciousRows;

use super::about::counted;

/// Columns of a kernel's name within a sentence.
const NAME: usize = 60;

/// How to write findings.
#[derive(Debug, Clone, Copy)]
pub(super) struct Manner {
    /// The start of the trace in ns, which moments are shown relative to.
    pub(super) origin: i64,
    pub(super) full_names: bool,
}

/// One sentence for each finding; none where there is nothing to say.
pub(super) fn sentences(sanity: &Sanity, manner: Manner) -> Vec<String> {
    let mut lines = Vec::new();
    for loss in &sanity.losses {
        let what = if loss.reason.contains("skipped:") { "skipped" } else { "lost" };
        lines.push(format!("{what} by the recorder: {} ({})", units::count(loss.count), loss.reason));
    }
    let kinds = [
        ("dispatch", "dispatches", &sanity.dispatches, true),
        ("copy", "copies", &sanity.copies, true),
        ("API call", "API calls", &sanity.api_calls, false),
        ("range", "ranges", &sanity.ranges, false),
    ];
    for (one, many, odd, zero_is_odd) in kinds {
        durations([one, many], odd, zero_is_odd, &mut lines);
    }
    for bad in &sanity.bad_rows {
        let (kind, place) = (&bad.kind, &bad.place);
        lines.push(match bad.count {
            1 => format!("{kind}: 1 row of {place}, id {}", bad.first),
            count => {
                format!("{kind}: {} rows of {place}, the first has id {}", units::count(count), bad.first)
            }
        });
    }
    if sanity.unnamed > 0 {
        lines.push(format!("without a kernel name: {}", counted(sanity.unnamed, "dispatch", "dispatches")));
    }
    if sanity.unresolved_names > 0 {
        let count = counted(sanity.unresolved_names, "dispatch", "dispatches");
        lines.push(format!("{count} of kernels that the recorder could not name (kernel_0x...)"));
    }
    suspects("overlap on one queue", "overlaps another on its queue", &sanity.overlaps, manner, &mut lines);
    suspects("repeat another one", "repeats another one", &sanity.duplicates, manner, &mut lines);
    for dominant in &sanity.dominant {
        lines.push(format!(
            "one of {} calls holds {} of the {} of {} (at {} on {}; median {}): a wait for late ranks or a first call?",
            units::count(dominant.calls),
            units::duration(dominant.max_ns),
            units::duration(dominant.total_ns),
            name(&dominant.kernel, manner.full_names),
            units::duration(dominant.start_ns.saturating_sub(manner.origin)),
            dominant.place,
            units::duration(dominant.p50_ns),
        ));
    }
    lines
}

fn durations([one, many]: [&str; 2], odd: &DurationAnomalies, zero_is_odd: bool, lines: &mut Vec<String>) {
    let findings = [
        (odd.missing, "no end, left out of all times"),
        (odd.negative, "an end before the start, left out of all times"),
        (if zero_is_odd { odd.zero } else { 0 }, "length zero"),
    ];
    for (count, words) in findings.into_iter().filter(|(count, _)| *count > 0) {
        lines.push(format!("{} with {words}", counted(count, one, many)));
    }
}

fn suspects(many: &str, one: &str, suspects: &SuspiciousRows, manner: Manner, lines: &mut Vec<String>) {
    let words = match suspects.count {
        0 => return,
        1 => one,
        _ => many,
    };
    let example = suspects.examples.first().map(|first| {
        let such = if suspects.count == 1 { ":" } else { ", the first:" };
        let at = units::duration(first.start_ns.saturating_sub(manner.origin));
        format!("{such} {} at {at} on {}", name(&first.name, manner.full_names), first.place)
    });
    let count = counted(suspects.count, "dispatch", "dispatches");
    lines.push(format!("{count} {words}{}", example.unwrap_or_default()));
}

/// A kernel's name within a sentence.
pub(super) fn name(full: &str, full_names: bool) -> Cow<'_, str> {
    if full_names {
        return full.into();
    }
    cli::shorten_distinct(&[full], NAME).pop().map_or(full.into(), Cow::from)
}
