//! The durations of the kernels with most time, over time.

use cli::report::Row;
use cli::units;
use html_page::Section;
use html_page::lines::{Series, series};
use maud::html;
use rtl_analysis::pictures::Pace;

use crate::view::View;

pub(super) fn section(view: &View<'_>) -> Option<Section> {
    let kernels = view.kernels();
    let paces: Vec<(&Pace, &Row)> = view
        .pictures
        .pace
        .iter()
        .filter_map(|pace| Some((pace, kernels.get(pace.kernel)?)))
        .filter(|(pace, _)| pace.calls.iter().filter(|&&calls| calls > 0).count() > 1)
        .collect();
    if paces.is_empty() {
        return None;
    }
    let content = html! {
        div.several {
            @for (pace, row) in &paces {
                @let name = view.name(&row.name);
                // The 99th percentile keeps one outlier from flattening the rest.
                @let most = row.stats.p99_ns.max(pace.mean_ns.iter().copied().max().unwrap_or(0)) as f64 * 1.15;
                figure {
                    (series(&format!("Duration of {name} over time"), &points(pace, view), most, false, "c0"))
                    figcaption {
                        span title=(html_page::text(&row.name)) { (html_page::text(name)) }
                        small { "p50 " (units::duration(row.stats.p50_ns)) ", p99 " (units::duration(row.stats.p99_ns)) ", top of the drawing "
                            (units::duration(most.round() as i64)) }
                    }
                }
            }
        }
    };
    let note = "The mean duration of a call over the time of the trace, with the shortest and longest calls as a band. A line that \
                rises is a kernel that becomes slower.";
    Some(Section { id: "pace", title: "Pace of the top kernels", note: note.to_owned(), content })
}

fn points(pace: &Pace, view: &View<'_>) -> Series {
    let parts = pace.calls.len().max(1) as f64;
    let length = pace.to_ns.saturating_sub(pace.from_ns) as f64;
    let mut points = Series::default();
    for (at, &calls) in pace.calls.iter().enumerate().filter(|(_, calls)| **calls > 0) {
        let start = at as f64 / parts;
        let [mean, min, max] = [pace.mean_ns[at], pace.min_ns[at], pace.max_ns[at]];
        points.x.push(start);
        points.y.push(mean as f64);
        points.band.push((min as f64, max as f64));
        points.tips.push(format!(
            "{} ({} to {}), {} calls at {}",
            units::duration(mean),
            units::duration(min),
            units::duration(max),
            units::count(calls),
            view.moment(pace.from_ns.saturating_add((start * length) as i64))
        ));
    }
    points
}
