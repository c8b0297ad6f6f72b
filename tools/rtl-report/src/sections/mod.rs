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

use crate::view::View;

/// The whole page.
pub(crate) fn page(view: &View<'_>) -> Page {
    let (timeline, timeline_data) = timeline::section(view).unzip();
    let (ranks, ranks_data) = ranks::section(view).unzip();
    let sections = [
        Some(verdict::section(view)),
        timeline,
        categories::section(view),
        idle::section(view),
        kernels::section(view),
        ranks,
        pace::section(view),
        memory::section(view),
        gpus::section(view),
    ];
    let mut data = vec![Data::json("rtl-summary", view.document)];
    data.extend(timeline_data.into_iter().flatten());
    data.extend(ranks_data.into_iter().flatten());
    let footer = format!(
        "Written by rtl-report {}. The page holds the report as JSON ({}): element `rtl-summary`, deflate as base64.",
        env!("CARGO_PKG_VERSION"),
        view.document.schema,
    );
    Page {
        title: format!("{} - rtl report", view.title()),
        header: verdict::header(view),
        sections: sections.into_iter().flatten().collect(),
        data,
        footer,
    }
}
