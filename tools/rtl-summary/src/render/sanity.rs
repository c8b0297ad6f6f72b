//! Findings as sentences.

use analysis::sanity::{OddDurations, Sanity};
use analysis::sweep::Suspects;
use cli::units;

/// One sentence for each finding; none where there is nothing to say.
pub(super) fn sentences(sanity: &Sanity) -> Vec<String> {
    let mut lines = Vec::new();
    for loss in &sanity.losses {
        lines.push(format!(
            "lost or skipped by the recorder: {} ({})",
            units::count(loss.count),
            loss.reason
        ));
    }
    let kinds = [
        ("dispatches", &sanity.dispatches, true),
        ("copies", &sanity.copies, true),
        ("API calls", &sanity.api_calls, false),
        ("ranges", &sanity.ranges, false),
    ];
    for (kind, odd, zero_is_odd) in kinds {
        durations(kind, odd, zero_is_odd, &mut lines);
    }
    for bad in &sanity.bad_rows {
        let (count, kind, place) = (units::count(bad.count), &bad.kind, &bad.place);
        lines.push(format!("{kind}: {count} rows of {place}, the first has id {}", bad.first));
    }
    if sanity.unnamed > 0 {
        lines.push(format!("{} dispatches have no kernel name", units::count(sanity.unnamed)));
    }
    if sanity.unresolved_names > 0 {
        let count = units::count(sanity.unresolved_names);
        lines.push(format!("{count} dispatches of kernels that the recorder could not name (kernel_0x...)"));
    }
    suspects("dispatches overlap on one queue", &sanity.overlaps, &mut lines);
    suspects("dispatches are there twice", &sanity.duplicates, &mut lines);
    for dominant in &sanity.dominant {
        lines.push(format!(
            "one of {} calls holds {} of the {} of {} ({}, median {}): a wait for late ranks or a first call?",
            units::count(dominant.calls),
            units::duration(dominant.max_ns),
            units::duration(dominant.total_ns),
            dominant.kernel,
            dominant.place,
            units::duration(dominant.p50_ns),
        ));
    }
    lines
}

fn durations(kind: &str, odd: &OddDurations, zero_is_odd: bool, lines: &mut Vec<String>) {
    let findings = [
        (odd.missing, "have no end: left out of all times"),
        (odd.negative, "end before they start: left out of all times"),
        (if zero_is_odd { odd.zero } else { 0 }, "have length zero"),
    ];
    for (count, words) in findings.into_iter().filter(|(count, _)| *count > 0) {
        lines.push(format!("{} {kind} {words}", units::count(count)));
    }
}

fn suspects(words: &str, suspects: &Suspects, lines: &mut Vec<String>) {
    if suspects.count == 0 {
        return;
    }
    let first = suspects.examples.first();
    let example =
        first.map(|first| format!(", e.g. {} at {} ns on {}", first.name, first.start_ns, first.place));
    lines.push(format!("{} {words}{}", units::count(suspects.count), example.unwrap_or_default()));
}
