//! Work that is done once, within the measured time: code is compiled, loaded or tuned, or one step waits for something.

use super::finding::{Finding, PLACES};
use super::idle::{self, IdleLoss};
use super::inputs::Inputs;
use super::words::{percent, time};
use crate::idle::Cause;

pub(super) fn finding(inputs: &Inputs<'_>) -> Option<Finding> {
    let first = inputs.first_calls();
    let more = [IdleLoss::to_blocking(inputs, Cause::Loading), IdleLoss::of_its_own(inputs, Cause::Loading)];
    let total = first.gaps.iter().map(|(_, gap)| gap.duration_ns).chain(more.iter().map(|lost| lost.ns));
    let finding = Finding::new("first-call", inputs, total.fold(0, i64::saturating_add));
    let place = first.gaps.first().and_then(|(_, gap)| gap.parts.first()).map(|part| part.place.label());
    let place = place.or_else(|| more.iter().find_map(|lost| lost.place.clone()));
    let step = first.steps.as_ref().map(|(labels, longest, usual)| {
        let first = labels.first().map_or("", String::as_str);
        // A label that is only a number names nothing.
        let word = if first.starts_with(|c: char| c.is_ascii_digit()) { "step " } else { "" };
        let steps = match labels.len() {
            0 | 1 => format!("{word}{first} takes"),
            all => format!("{word}{first} and {} more take up to", all - 1),
        };
        format!("; {steps} {}, others {}", time(*longest), time(*usual))
    });
    Some(Finding {
        sentence: format!(
            "the GPU waits while something is done for the first time or once (compiled, loaded, tuned): idle for {} ({} of \
             the wall time){}{}",
            time(finding.cost_ns),
            percent(finding.share),
            place.map_or_else(String::new, |place| format!(", most at {place}")),
            step.unwrap_or_default(),
        ),
        look: "rtl-summary --section gaps,idle TRACE; rtl-summary --by step TRACE".to_owned(),
        help: "warm up before measuring (`--time steady`, the profiler's schedule), keep compiled code in a cache, avoid shapes \
               that change"
            .to_owned(),
        evidence: first.gaps.iter().take(PLACES).map(|(_, gap)| idle::evidence(gap)).collect(),
        ..finding
    })
    .filter(|finding| finding.cost_ns > 0)
}
