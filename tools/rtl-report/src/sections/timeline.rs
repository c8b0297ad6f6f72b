//! The timeline: how busy each GPU was over time, and with which kernels.

use html_page::heat::{self, Row};
use html_page::{Bytes, Data, Section, color};
use maud::html;
use rtl_analysis::pictures::Timeline;
use rtl_analysis::ranks::Ranks;
use serde::Serialize;

use crate::view::{View, percent};

/// The most GPUs that are drawn without the script, and the most that have figures under the pointer.
const ROWS: usize = 64;
const ROWS_WITH_TIPS: usize = 16;

/// The data that the script needs beside cells and ops.
#[derive(Serialize)]
struct About<'a> {
    length_ns: i64,
    /// The time from the start of the trace to the first op.
    offset_ns: i64,
    is_complete: bool,
    colors: usize,
    copies: usize,
    other: usize,
    /// The display name and the colour of kernels.
    kernels: Vec<(&'a str, usize)>,
    gpus: Vec<Gpu<'a>>,
}

#[derive(Serialize)]
struct Gpu<'a> {
    label: &'a str,
    /// The number of cells of each level.
    levels: Vec<usize>,
    ops: usize,
}

pub(super) fn section(view: &View<'_>) -> Option<(Section, Vec<Data>)> {
    let timeline = view.pictures.timeline.as_ref()?;
    let gpus = view.sections().gpus.as_deref().unwrap_or_default();
    let rows = gpus.iter().take(ROWS).map(|row| Row {
        label: row.gpu.label.clone(),
        cells: row.busy_over_time.iter().map(|&share| Some(share)).collect(),
        tips: row.busy_over_time.iter().map(|&share| tip(&row.gpu.label, share, gpus.len())).collect(),
    });
    let rows: Vec<Row> = rows.collect();
    let length = timeline.to_ns.saturating_sub(timeline.from_ns);
    let title = format!("Busy part of {} GPUs over time", gpus.len());
    let keys = [("w", "Zoom in"), ("s", "Zoom out"), ("a", "Earlier"), ("d", "Later"), ("0", "All")];
    let content = html! {
        div.controls {
            @for (key, name) in keys { button type="button" data-key=(key) { (name) } }
            span #timeline-status .told role="status" {}
        }
        canvas #timeline-canvas tabindex="0" role="img"
            aria-label=(format!("{title}. Arrow keys move, plus and minus zoom, 0 shows all.")) {}
        div.static { (heat::heat(&title, &rows, Some(length), "c0")) }
    };
    let detail = match timeline.is_complete {
        true => "Zoomed in, every op has its own box.",
        false => {
            "Zoomed in, the longest ops have boxes of their own; `--time START..END` makes a page of a shorter time."
        }
    };
    let clocks = match view.sections().ranks.as_ref().is_some_and(Ranks::lack_a_clock) {
        true => {
            " The clocks of the ranks are not aligned, so rows do not belong together in time: rtl-merge aligns them."
        }
        false => "",
    };
    let note = format!(
        "A row is a GPU. The colour is the kind of kernel that took most of the time, the shade how busy the GPU was. {detail} \
         Drag to move, Ctrl and wheel or + and - to zoom.{clocks}"
    );
    let section = Section { id: "timeline", title: "Timeline", note, content };
    Some((section, data(view, timeline, length)))
}

fn tip(label: &str, share: f64, gpus: usize) -> String {
    if gpus > ROWS_WITH_TIPS { String::new() } else { format!("{label}: busy {}", percent(share)) }
}

fn data(view: &View<'_>, timeline: &Timeline, length_ns: i64) -> Vec<Data> {
    let kernels = view
        .kernels()
        .iter()
        .map(|row| (view.name(&row.name), color::of_category(row.category.as_deref().unwrap_or_default())));
    let about = About {
        length_ns,
        offset_ns: timeline.from_ns.saturating_sub(view.origin),
        is_complete: timeline.is_complete,
        colors: color::COUNT,
        copies: color::COPIES,
        other: color::of_category("other"),
        kernels: kernels.collect(),
        gpus: timeline
            .gpus
            .iter()
            .map(|gpu| Gpu {
                label: &gpu.label,
                levels: gpu.levels.iter().map(Vec::len).collect(),
                ops: gpu.ops.len(),
            })
            .collect(),
    };
    let mut cells = Vec::new();
    let mut ops = Bytes::default();
    for gpu in &timeline.gpus {
        for level in &gpu.levels {
            cells.extend(level.iter().map(|cell| cell.busy));
            cells.extend(level.iter().map(|cell| cell.item.0));
        }
        let mut last = timeline.from_ns;
        for op in &gpu.ops {
            ops.number(op.start_ns.abs_diff(last));
            ops.number(op.duration_ns.unsigned_abs());
            ops.number(op.kernel.map_or(0, |kernel| kernel as u64 + 1));
            last = op.start_ns;
        }
    }
    vec![
        Data::json("timeline-data", &about),
        Data::bytes("timeline-cells", &cells),
        Data::bytes("timeline-ops", &ops.0),
    ]
}
