//! The causes of idle time of each GPU, as bars and as a table.

use cli::units;
use html_page::bars::{self, Bar, Part};
use html_page::table::{Cell, Table};
use html_page::{Section, color};
use maud::html;
use rtl_analysis::idle::{Cause, CauseIdle, GpuIdle};

use crate::view::{View, percent};

/// The most GPUs that are drawn.
const ROWS: usize = 16;

pub(super) fn section(view: &View<'_>) -> Option<Section> {
    let gpus = view.sections().idle.as_deref().unwrap_or_default();
    let mut drawn: Vec<&GpuIdle> = gpus.iter().filter(|gpu| gpu.idle_ns > 0).collect();
    drawn.sort_by_key(|gpu| std::cmp::Reverse(gpu.idle_ns));
    let most = drawn.first()?.idle_ns as f64;
    drawn.truncate(ROWS);
    drawn.sort_by_key(|gpu| gpu.gpu);
    let bars: Vec<Bar> = drawn.iter().map(|gpu| bar(gpu)).collect();
    let mut causes: Vec<Cause> = drawn.iter().flat_map(|gpu| &gpu.causes).map(|cause| cause.cause).collect();
    causes.sort_unstable_by_key(|cause| Cause::ALL.iter().position(|known| known == cause));
    causes.dedup();
    let legend: Vec<Part> = causes
        .iter()
        .map(|&cause| Part {
            name: words(cause).to_owned(),
            value: 0.0,
            text: String::new(),
            class: class(cause),
        })
        .collect();
    let content = html! {
        (bars::bars("Idle time of GPUs by cause", &bars, most))
        (bars::legend(&legend))
        @if drawn.len() < gpus.len() { p.note { "The " (drawn.len()) " most idle of " (gpus.len()) " GPUs." } }
        (table(gpus, view).render())
    };
    let note = "What kept each GPU waiting: what the thread did that launched the op at the end of a gap. The causes of a GPU add up \
                to its idle time.";
    Some(Section { id: "idle", title: "Idle time by cause", note: note.to_owned(), content })
}

fn bar(gpu: &GpuIdle) -> Bar {
    let part = |cause: &CauseIdle| Part {
        name: words(cause.cause).to_owned(),
        value: cause.idle_ns as f64,
        text: format!("{} ({} of wall)", units::duration(cause.idle_ns), percent(cause.share)),
        class: class(cause.cause),
    };
    Bar { label: gpu.label.clone(), parts: gpu.causes.iter().map(part).collect() }
}

fn words(cause: Cause) -> &'static str {
    match cause {
        Cause::Synchronise => "waiting for the GPU",
        Cause::BlockingCopy => "blocking copy",
        Cause::Allocation => "allocation",
        Cause::Loading => "loading, compiling",
        Cause::Launch => "launching",
        Cause::Host => "host work",
        Cause::Queued => "enqueued, waiting",
        Cause::Unknown => "unknown",
    }
}

fn class(cause: Cause) -> String {
    let number = match cause {
        Cause::Synchronise => 2,
        Cause::BlockingCopy => 9,
        Cause::Allocation => 5,
        Cause::Loading => 7,
        Cause::Launch => 0,
        Cause::Host => 3,
        Cause::Queued => 1,
        Cause::Unknown => 8,
    };
    color::class(number)
}

/// The most rows of the table.
const TABLE_ROWS: usize = 100;

fn table(gpus: &[GpuIdle], view: &View<'_>) -> Table {
    let mut rows: Vec<(&GpuIdle, &CauseIdle)> =
        gpus.iter().flat_map(|gpu| gpu.causes.iter().map(move |cause| (gpu, cause))).collect();
    rows.sort_by_key(|(gpu, cause)| (std::cmp::Reverse(cause.idle_ns), gpu.gpu));
    let all = rows.len();
    rows.truncate(TABLE_ROWS);
    let cells = |(gpu, cause): &(&GpuIdle, &CauseIdle)| {
        let longest = cause.longest.first();
        let link = html! {
            @if let Some(gap) = longest {
                a href=(view.link(gap.start_ns, gap.start_ns.saturating_add(gap.duration_ns))) { (view.moment(gap.start_ns)) }
            }
        };
        let place = cause.places.first().map(|row| row.place.label());
        vec![
            Cell::number(&gpu.label, gpu.gpu),
            Cell::short(words(cause.cause), cause.cause.label()),
            Cell::number(units::duration(cause.idle_ns), cause.idle_ns),
            Cell::number(units::fixed(cause.share * 100.0, 2), cause.share),
            Cell::number(units::count(cause.gaps), cause.gaps),
            Cell::number(units::duration(cause.longest_ns), cause.longest_ns),
            Cell::drawing(link),
            Cell::text(place.as_deref().unwrap_or("–")),
        ]
    };
    Table {
        id: "idle-table",
        caption: "Idle time by GPU and cause".to_owned(),
        columns: vec![
            ("GPU", "gpu"),
            ("Cause", "cause"),
            ("Idle", "idle_ns"),
            ("Wall %", "share"),
            ("Gaps", "gaps"),
            ("Longest", "longest_ns"),
            ("At", ""),
            ("Mostly in", "place"),
        ],
        rows: rows.iter().map(cells).collect(),
        all,
        filter: None,
    }
}
