//! Rows that cannot be right, lost records, and calls that dominate their kernel.

use cli::units;
use rtl_analysis::Part;
use rtl_analysis::sanity::{self, DurationAnomalies, Sanity, Suspicion};

use crate::section::{Block, Printed, RenderOptions, Section};
use crate::tables::{counted, moment};

pub(crate) static SANITY: Section = Section {
    name: "sanity",
    help: "Rows that cannot be right, and lost records",
    printed: Printed::Always,
    has_table: false,
    // Calls and ranges are checked, and moments count from the first of all rows.
    select: |select| (select.api, select.ranges, select.shapes) = (true, true, true),
    parts: &[Part::Kernels, Part::Sweep],
    compute: |context, report| {
        let sanity = report.sections.sanity.insert(sanity::check(&context.analysis));
        sanity.dominant.iter_mut().for_each(|dominant| context.names.rename(&mut dominant.kernel));
    },
    blocks: |report, view| {
        let sanity = report.sections.sanity.iter();
        let block = |sanity| {
            let remarks = if view.is_short { Vec::new() } else { remarks(sanity) };
            Block::Findings { warnings: warnings(sanity, report.origin(), view), remarks }
        };
        sanity.map(block).collect()
    },
};

/// Sentences on what is ordinary, for those who ask.
fn remarks(sanity: &Sanity) -> Vec<String> {
    let overlaps = &sanity.overlaps;
    let is_ordinary = overlaps.count > 0 && !sanity.overlaps_much;
    let sentence = || {
        let count = counted(overlaps.count, "dispatch starts", "dispatches start");
        let time = units::duration(sanity.overlap_ns);
        format!(
            "{count} on a queue before the one before has ended, for {time} in all: kernels may start early, or beside each other"
        )
    };
    let zero = sanity.dispatches.zero;
    let short = || {
        format!("{} of length zero: the file has whole microseconds", counted(zero, "dispatch", "dispatches"))
    };
    let shorter = (zero > 0 && sanity.whole_microseconds).then(short);
    is_ordinary.then(sentence).into_iter().chain(shorter).collect()
}

fn warnings(sanity: &Sanity, origin: i64, view: RenderOptions<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    for loss in &sanity.losses {
        let what = if loss.reason.contains("skipped:") { "skipped" } else { "lost" };
        lines.push(format!("{what} by the recorder: {} ({})", units::count(loss.count), loss.reason));
    }
    lines.extend(sanity.stray.iter().map(|stray| format!("{stray}, left out of all figures")));
    let kinds = [
        ("dispatch", "dispatches", &sanity.dispatches, !sanity.whole_microseconds),
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
    let suspicious = [
        ("overlap on one queue", "overlaps another on its queue", &sanity.overlaps),
        ("repeat another one", "repeats another one", &sanity.duplicates),
    ];
    let shown = if sanity.overlaps_much { &suspicious[..] } else { &suspicious[1..] };
    for (many, one, rows) in shown.iter().filter(|(.., rows)| rows.count > 0) {
        let example = rows.examples.first().map(|first| {
            let lead = if rows.count == 1 { ":" } else { ", the first:" };
            let at = moment(first.start_ns, origin);
            format!("{lead} {} at {at} on {}", view.kernel(&first.name), first.place)
        });
        let count = counted(rows.count, "dispatch", "dispatches");
        let what = if rows.count == 1 { one } else { many };
        lines.push(format!("{count} {what}{}", example.unwrap_or_default()));
    }
    for (dominant, suspicion) in sanity.dominant.iter().filter_map(|call| Some((call, call.suspicion?))) {
        let why = match suspicion {
            Suspicion::LateRanks => ": a wait for late ranks?",
            Suspicion::FirstCall => ": the first call",
            Suspicion::Unknown => ", of others with the same launch shape",
        };
        lines.push(format!(
            "one of {} calls takes {} of the {} of {} (at {} on {}; median {}){why}",
            units::count(dominant.calls),
            units::duration(dominant.max_ns),
            units::duration(dominant.total_ns),
            view.kernel(&dominant.kernel),
            moment(dominant.start_ns, origin),
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
