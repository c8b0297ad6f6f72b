//! The kernels with their parts of the time and their durations.

use cli::report::Row;
use cli::units;
use html_page::bars::Part;
use html_page::svg::coordinate;
use html_page::table::{self, Cell, Table};
use html_page::treemap::treemap;
use html_page::{Section, color};
use maud::{Markup, html};
use rtl_analysis::Stats;

use crate::view::{View, class, percent};

/// The most rows of the table.
const ROWS: usize = 150;

/// The most boxes of the treemap.
const BOXES: usize = 60;

pub(super) fn section(view: &View<'_>) -> Option<Section> {
    let kernels = view.kernels();
    if kernels.is_empty() {
        return None;
    }
    let content = html! {
        (treemap("Time of kernels", &boxes(view)))
        (table(view).render())
    };
    let note = "The area of a box is the total time of a kernel, its colour the category. In the table, a strip has the shortest to \
                the longest call as a thin line, the median to the 95th percentile as a thick one and the 99th as a mark; all strips \
                have one logarithmic scale.";
    Some(Section { id: "kernels-section", title: "Kernels", note: note.to_owned(), content })
}

fn boxes(view: &View<'_>) -> Vec<Part> {
    let kernels = view.kernels();
    let part = |row: &Row| Part {
        name: view.name(&row.name).to_owned(),
        value: row.stats.total_ns as f64,
        text: format!("{} ({})", units::duration(row.stats.total_ns), percent(row.share)),
        class: class(row),
    };
    let mut parts: Vec<Part> = kernels.iter().take(BOXES).map(part).collect();
    let others = kernels.get(BOXES..).unwrap_or_default();
    if !others.is_empty() {
        let total = others.iter().fold(0_i64, |sum, row| sum.saturating_add(row.stats.total_ns));
        parts.push(Part {
            name: format!("{} more", units::count(others.len() as u64)),
            value: total as f64,
            text: units::duration(total),
            class: color::class(color::of_category("other")),
        });
        parts.sort_by(|one, other| other.value.total_cmp(&one.value));
    }
    parts
}

fn table(view: &View<'_>) -> Table {
    let kernels = view.kernels();
    let shown = &kernels[..kernels.len().min(ROWS)];
    let least = shown.iter().map(|row| row.stats.min_ns).min().unwrap_or(0).max(1) as f64;
    let most = shown.iter().map(|row| row.stats.max_ns).max().unwrap_or(1).max(2) as f64;
    let time = |ns: i64| Cell::number(units::duration(ns), ns);
    let names: Vec<&str> = shown.iter().map(|row| view.name(&row.name)).collect();
    let names = table::fitting(&names);
    let cells = |(row, name): (&Row, &String)| {
        let stats = &row.stats;
        vec![
            Cell::short(name, &row.name),
            Cell::text(row.category.as_deref().unwrap_or("–")),
            Cell::number(units::count(stats.calls), stats.calls),
            time(stats.total_ns),
            Cell::number(units::fixed(row.share * 100.0, 2), row.share),
            Cell::number(units::duration(stats.mean_ns.round() as i64), stats.mean_ns),
            time(stats.p50_ns),
            time(stats.p95_ns),
            time(stats.p99_ns),
            time(stats.max_ns),
            Cell::drawing(strip(stats, least, most)),
        ]
    };
    let heads = [
        ("Kernel", "name"),
        ("Category", "category"),
        ("Calls", "calls"),
        ("Total", "total_ns"),
        ("%", "share"),
        ("Mean", "mean_ns"),
        ("p50", "p50_ns"),
        ("p95", "p95_ns"),
        ("p99", "p99_ns"),
        ("Max", "max_ns"),
        ("Durations", ""),
    ];
    Table {
        id: "kernels",
        caption: "Kernels by total time".to_owned(),
        columns: heads.to_vec(),
        rows: shown.iter().zip(&names).map(cells).collect(),
        all: kernels.len(),
        filter: Some("kernel"),
    }
}

/// Draws the shortest, the median, percentiles and the longest call on a logarithmic scale.
fn strip(stats: &Stats, least: f64, most: f64) -> Markup {
    const WIDTH: f64 = 150.0;
    let x = |ns: i64| {
        let part = ((ns.max(1) as f64).max(least) / least).ln() / (most / least).ln().max(f64::MIN_POSITIVE);
        2.0 + part * (WIDTH - 4.0)
    };
    let [min, p50, p95, p99, max] =
        [stats.min_ns, stats.p50_ns, stats.p95_ns, stats.p99_ns, stats.max_ns].map(x);
    let [min, p50, p95, p99, max] = [min, p50, p95.max(p50 + 1.0), p99, max].map(coordinate);
    let range = format!("{} to {}", units::duration(stats.min_ns), units::duration(stats.max_ns));
    html! {
        svg.strip viewBox=(format!("0 0 {WIDTH} 14")) role="img" aria-label=(range) {
            path.whisker d=(format!("M{min} 7H{max}")) {}
            path.c0 d=(format!("M{p50} 4H{p95}V10H{p50}Z")) {}
            path.middle d=(format!("M{p50} 2V12")) {}
            path.tail d=(format!("M{p99} 2V12")) {}
        }
    }
}
