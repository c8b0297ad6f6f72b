//! The parts of wall time, and the time of kernels by category.

use cli::units;
use html_page::bars::{self, Bar, Part};
use html_page::table::{Cell, Table};
use html_page::{Section, color};
use maud::html;
use rtl_analysis::findings::Headline;

use crate::view::{View, class, percent};

pub(super) fn section(view: &View<'_>) -> Option<Section> {
    let sections = view.sections();
    let headline = sections.headline.as_ref().filter(|headline| headline.wall_ns > 0)?;
    let rows = sections.categories.as_deref().unwrap_or_default();
    let wall = wall(headline);
    let kinds: Vec<Part> = rows
        .iter()
        .map(|row| Part {
            name: row.name.clone(),
            value: row.stats.total_ns as f64,
            text: format!("{} ({})", units::duration(row.stats.total_ns), percent(row.share)),
            class: class(row),
        })
        .collect();
    let total = kinds.iter().map(|part| part.value).sum();
    let table = Table {
        id: "categories-table",
        caption: "Kernels by category".to_owned(),
        columns: vec![
            ("Category", "name"),
            ("Calls", "calls"),
            ("Total", "total_ns"),
            ("%", "share"),
            ("Mean", "mean_ns"),
        ],
        rows: rows
            .iter()
            .map(|row| {
                vec![
                    Cell::text(&row.name),
                    Cell::number(units::count(row.stats.calls), row.stats.calls),
                    Cell::number(units::duration(row.stats.total_ns), row.stats.total_ns),
                    Cell::number(units::fixed(row.share * 100.0, 2), row.share),
                    Cell::number(units::duration(row.stats.mean_ns.round() as i64), row.stats.mean_ns),
                ]
            })
            .collect(),
        all: rows.len(),
        filter: None,
    };
    let content = html! {
        (bars::bars("Wall time of a GPU by activity", &[Bar { label: "wall".to_owned(), parts: wall.clone() }], headline.wall_ns as f64))
        (bars::legend(&wall))
        (bars::bars("Kernel time by category", &[Bar { label: "kernels".to_owned(), parts: kinds.clone() }], total))
        (bars::legend(&kinds))
        details { summary { "Table" } (table.render()) }
    };
    let note = "Above, the wall time of a GPU (the mean of all): exposed communication is time with nothing but collectives \
                running. Below, the time of all kernels by category; kernels that overlap count in full.";
    Some(Section { id: "categories", title: "Time by category", note: note.to_owned(), content })
}

/// Wall is divided into work, collectives alone, and idle time.
fn wall(headline: &Headline) -> Vec<Part> {
    let part = |name: &str, ns: i64, class: String| Part {
        name: name.to_owned(),
        value: ns as f64,
        text: format!("{} ({})", units::duration(ns), percent(ns as f64 / headline.wall_ns as f64)),
        class,
    };
    let Headline { wall_ns, idle_ns, exposed_collective_ns, .. } = headline;
    let work = wall_ns.saturating_sub(*idle_ns).saturating_sub(*exposed_collective_ns);
    let mut parts = vec![part("kernels and copies", work, color::class(0))];
    if *exposed_collective_ns > 0 {
        parts.push(part(
            "exposed communication",
            *exposed_collective_ns,
            color::class(color::of_category("collective")),
        ));
    }
    parts.push(part("idle", *idle_ns, "idle".to_owned()));
    parts
}
