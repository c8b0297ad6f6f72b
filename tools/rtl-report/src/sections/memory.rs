//! Memory in use over time.

use cli::units;
use html_page::Section;
use html_page::lines::{Series, series};
use maud::html;
use rtl_analysis::memory::MemorySource;
use rtl_analysis::pictures::MemoryOverTime;

use crate::view::View;

/// The most devices that are drawn.
const DEVICES: usize = 16;

pub(super) fn section(view: &View<'_>) -> Option<Section> {
    let devices = &view.pictures.memory;
    if devices.is_empty() {
        return None;
    }
    let content = html! {
        div.several {
            @for memory in devices.iter().take(DEVICES) {
                @let most = memory.bytes.iter().copied().max().unwrap_or(0);
                figure {
                    (series(&format!("Memory in use on {}", memory.device), &points(memory, view), most as f64, true, "c9"))
                    figcaption {
                        (html_page::text(&memory.device)) ", " (words(memory.source))
                        @if let Some(pid) = memory.pid { ", pid " (pid) }
                        small { "peak " span data-peak=(memory.device) data-v=(most) { (units::bytes(most)) } }
                    }
                }
            }
        }
        @if devices.len() > DEVICES { p.note { "The first " (DEVICES) " of " (devices.len()) " devices." } }
    };
    Some(Section { id: "memory", title: "Memory over time", note: String::new(), content })
}

fn words(source: MemorySource) -> &'static str {
    match source {
        MemorySource::Framework => "allocator of the framework",
        MemorySource::Runtime => "allocated from the runtime",
        MemorySource::Scratch => "scratch",
    }
}

fn points(memory: &MemoryOverTime, view: &View<'_>) -> Series {
    let [first, last] =
        [memory.time_ns.first(), memory.time_ns.last()].map(|moment| moment.copied().unwrap_or(0));
    let length = last.saturating_sub(first).max(1) as f64;
    let tip = |(&moment, &bytes): (&i64, &u64)| format!("{} at {}", units::bytes(bytes), view.moment(moment));
    Series {
        x: memory.time_ns.iter().map(|moment| moment.saturating_sub(first) as f64 / length).collect(),
        y: memory.bytes.iter().map(|&bytes| bytes as f64).collect(),
        band: Vec::new(),
        tips: memory.time_ns.iter().zip(&memory.bytes).map(tip).collect(),
    }
}
