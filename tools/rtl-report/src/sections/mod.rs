//! The sections of the page, one file each, in their order.

mod categories;
mod gpus;
mod idle;
mod kernels;
mod memory;
mod pace;
mod ranks;
mod timeline;
mod verdict;

use html_page::{Data, Page};
use rtl_diff::PagePart;

use crate::view::View;

/// The whole page, with what changed from a baseline.
pub(crate) fn page(view: &View<'_>, comparison: Option<PagePart>) -> Page {
    let header = verdict::header(view, comparison.as_ref().map(|comparison| &comparison.badge));
    let (changes, comparison_data) =
        comparison.map(|comparison| (comparison.sections, comparison.data)).unzip();
    let (timeline, timeline_data) = timeline::section(view).unzip();
    let (ranks, ranks_data) = ranks::section(view).unzip();
    let after = [
        timeline,
        categories::section(view),
        idle::section(view),
        kernels::section(view),
        ranks,
        pace::section(view),
        memory::section(view),
        gpus::section(view),
    ];
    let sections = [verdict::section(view)]
        .into_iter()
        .chain(changes.into_iter().flatten())
        .chain(after.into_iter().flatten());
    let mut data = vec![Data::json("rtl-summary", view.document)];
    data.extend(comparison_data);
    data.extend(timeline_data.into_iter().flatten());
    data.extend(ranks_data.into_iter().flatten());
    let footer = format!(
        "Written by rtl-report {}. The page holds the report as JSON ({}): element `rtl-summary`, deflate as base64.",
        env!("CARGO_PKG_VERSION"),
        view.document.schema,
    );
    Page {
        title: format!("{} - rtl report", view.title()),
        header,
        sections: sections.collect(),
        data,
        footer,
    }
}
