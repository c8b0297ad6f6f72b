//! The sections of the report, one file each.
//!
//! A new section is a file with a [`Section`], an entry in [`SECTIONS`] and its JSON field in
//! [`cli::report::Sections`], described in `docs/reference/rtl-summary.schema.json`. The values of `--section`, their help and
//! all formats follow from the list.

mod api;
mod bandwidth;
mod categories;
mod collectives;
mod copies;
mod findings;
mod gaps;
mod gpus;
mod idle;
mod imbalance;
mod kernels;
mod launches;
mod memory;
mod operators;
mod queues;
mod ranges;
mod ranks;
mod sanity;
mod trace;
mod trust;

pub(crate) use self::findings::{FINDINGS, set as set_findings};
pub(crate) use self::gpus::GPUS;
pub(crate) use self::kernels::KERNELS;
pub(crate) use self::ranks::RANKS;
pub(crate) use self::sanity::SANITY;
pub(crate) use self::trace::TRACE;
pub(crate) use self::trust::{TRUST, health, sentences};
use crate::report::Report;
use crate::section::{Block, RenderOptions, Section};

/// All sections in the order in which they are printed.
pub static SECTIONS: [&Section; 20] = [
    &FINDINGS,
    &TRACE,
    &TRUST,
    &KERNELS,
    &categories::CATEGORIES,
    &operators::OPERATORS,
    &GPUS,
    &gaps::GAPS,
    &idle::IDLE,
    &copies::COPIES,
    &memory::MEMORY,
    &api::API,
    &launches::LAUNCHES,
    &queues::QUEUES,
    &RANKS,
    &collectives::COLLECTIVES,
    &bandwidth::BANDWIDTH,
    &imbalance::IMBALANCE,
    &ranges::RANGES,
    &SANITY,
];

/// All printed parts of a report, only those of the section `trace` with `--info`.
pub(crate) fn blocks<'a>(
    report: &'a Report,
    view: RenderOptions<'a>,
    info: bool,
) -> impl Iterator<Item = Block> + 'a {
    let sections = SECTIONS.iter().filter(move |section| !info || section.name == TRACE.name);
    sections.flat_map(move |section| (section.blocks)(report, view))
}
