//! The host does something else than to launch work.

use super::activity::Activity;
use super::finding::Finding;
use super::inputs::Inputs;
use super::lost::Lost;
use super::place::Part;
use crate::idle::LossKind;

/// How many things that the host does are findings of their own.
const MOST: usize = 3;

/// The activity that keeps the host from launching, else its place.
fn occupation(part: &Part<'_>) -> (Option<Activity>, Option<String>) {
    match part.activity {
        Some(activity) => (Some(activity), None),
        None => (None, part.places.caller(part.loss.site)),
    }
}

pub(super) fn findings(inputs: &Inputs<'_>) -> Vec<Finding> {
    let stalls = Lost::new(inputs, |part| match part.activity {
        Some(Activity::Recording) => false,
        Some(_) => matches!(part.loss.kind, LossKind::Stall | LossKind::Pace),
        None => part.loss.kind == LossKind::Stall,
    });
    let groups = stalls.by_key(occupation).into_iter().take(MOST);
    groups.filter_map(|((activity, _), lost)| finding(activity, &lost)).collect()
}

fn finding(activity: Option<Activity>, lost: &Lost<'_>) -> Option<Finding> {
    let id = match activity {
        Some(Activity::WaitingForWork) => "idle-waiting",
        Some(Activity::Communicating) => "exposed-comm",
        _ => "idle-host",
    };
    let finding = lost.finding(id)?;
    let sentence =
        activity.map_or("the GPU waits for the host, which is busy with something else", Activity::sentence);
    let help = activity.map_or(
        "move what the host does there out of the loop, into another thread or process, or ahead of time",
        Activity::help,
    );
    Some(Finding {
        sentence: format!(
            "{sentence}: {}{}{}{}{}",
            lost.idle(&finding),
            lost.at(),
            lost.when(),
            lost.between(),
            lost.thread()
        ),
        look: "rtl-summary --section idle,gaps TRACE".to_owned(),
        help: help.to_owned(),
        ..finding
    })
}
