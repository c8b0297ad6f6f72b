//! The verdict: the time of the GPUs, the findings, and whether the figures can be believed.

use std::path::Path;

use cli::units;
use html_page::Section;
use maud::{Markup, html};
use rtl_analysis::findings::{self, Finding, Headline};
use rtl_analysis::trust::Trust;

use crate::view::{View, percent};

/// The title with the badges of the trace and of the comparison.
pub(super) fn header(view: &View<'_>, comparison: Option<&Markup>) -> Markup {
    let trust = view.sections().trust.unwrap_or_default();
    let badge = match trust {
        Trust::Good => "figures can be believed",
        Trust::Limited => "figures hold with limits",
        Trust::Bad => "figures cannot be believed",
    };
    html! {
        div.title {
            h1 { (html_page::text(&view.title())) }
            a href="#verdict" class=(format!("badge {}", trust.label())) { "trust " (trust.label()) ": " (badge) }
            @if let Some(comparison) = comparison { (comparison) }
        }
        p.meta { (html_page::text(&about(view))) }
        @if let Some(file) = perfetto_file(view.path, view) {
            p.meta { "Trace for Perfetto beside this page: " a href=(file) download { (file) } ", to be opened in "
                a href="https://ui.perfetto.dev" rel="noreferrer" { "ui.perfetto.dev" } }
        }
    }
}

/// The recorder, the GPUs, the number of ops and the host.
fn about(view: &View<'_>) -> String {
    let mut words = Vec::new();
    let infos = || view.document.inputs.iter().filter_map(|input| input.info.as_ref());
    if let Some(info) = infos().next() {
        words.push(format!("{} ({})", info.tool, info.dialect));
    }
    let mut products: Vec<&str> =
        view.sections().gpus.iter().flatten().filter_map(|row| row.gpu.product.as_deref()).collect();
    let gpus = view.sections().gpus.as_ref().map_or(0, Vec::len);
    products.dedup();
    let plural = if gpus == 1 { "GPU" } else { "GPUs" };
    words.push(match products.first() {
        Some(product) => format!("{} {plural}, {product}", units::count(gpus as u64)),
        None => format!("{} {plural}", units::count(gpus as u64)),
    });
    let ops = view.sections().gpus.iter().flatten().map(|row| row.gpu.ops).sum();
    words.push(format!("{} ops", units::count(ops)));
    let hosts: Vec<&String> = infos().flat_map(|info| &info.hosts).collect();
    if let Some(host) = hosts.first() {
        words.push((*host).clone());
    }
    words.join(" · ")
}

/// The name of the first trace's file for Perfetto, where it is in the folder of the page.
fn perfetto_file(page: &Path, view: &View<'_>) -> Option<String> {
    let [only] = view.document.inputs.as_slice() else { return None };
    let name = Path::new(&only.path).file_name()?.to_str()?;
    let folder = page.parent()?;
    let stem = name.strip_suffix(".gz").unwrap_or(name);
    let stem = stem.rsplit_once('.').map_or(stem, |(stem, _)| stem);
    let own = (name.ends_with(".json.gz") || name.ends_with(".json")).then(|| name.to_owned());
    let made = [format!("{stem}.json.gz"), format!("{stem}.pftrace")];
    // A name that is not plain would be another address as a link.
    let is_plain = |name: &String| name.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c));
    own.into_iter().chain(made).filter(is_plain).find(|name| folder.join(name).is_file())
}

pub(super) fn section(view: &View<'_>) -> Section {
    let sections = view.sections();
    let findings = sections.findings.as_deref().unwrap_or_default();
    let reasons = sections.trust_reasons.as_deref().unwrap_or_default();
    let content = html! {
        @if let Some(headline) = sections.headline.as_ref().filter(|headline| headline.gpus > 0) {
            p.verdict { (sentence(headline)) }
            @if let Some(kernel) = &headline.first_kernel {
                p.note {
                    (html_page::text(&headline.kernels_sentence(view.name(kernel)))) "."
                }
            }
        }
        @if findings.is_empty() {
            @if let Some(headline) = &sections.headline {
                p {
                    @if headline.gpus > 0 { (headline.nothing_notable(findings::LEAST, false)) "." }
                    @else { (html_page::text(&headline.without_gpu())) "; " (findings::RECORD_THE_GPU) "." }
                }
            }
        } @else {
            ol.findings { @for finding in findings { (item(finding, view)) } }
        }
        @if !reasons.is_empty() {
            h3 { "Trust" }
            ul { @for reason in reasons {
                li {
                    b { (reason.trust.label()) } ": " (html_page::text(&reason.sentence))
                    @if !reason.affects.is_empty() { "; do not rely on " (reason.affects) }
                }
            } }
        }
    };
    Section { id: "verdict", title: "Verdict", note: String::new(), content }
}

/// Smaller parts are no news.
const ALONE: f64 = 0.01;

fn sentence(headline: &Headline) -> String {
    let part =
        |ns: i64| percent(if headline.wall_ns == 0 { 0.0 } else { ns as f64 / headline.wall_ns as f64 });
    let wall = units::duration(headline.wall_ns);
    let busy = percent(headline.busy_share);
    let mut text = match headline.gpus {
        1 => format!("The GPU is busy {busy} of {wall}"),
        gpus => format!(
            "{} GPUs are busy {busy} of {wall} on average ({} to {})",
            units::count(gpus),
            percent(headline.least_busy_share),
            percent(headline.most_busy_share)
        ),
    };
    if headline.copies_alone_share >= ALONE {
        let [kernels, copies] = [headline.kernel_share, headline.copies_alone_share].map(percent);
        text += &format!(": kernels run {kernels}, copies alone {copies}");
    }
    text += &format!(", idle {} ({})", units::duration(headline.idle_ns), part(headline.idle_ns));
    if headline.exposed_collective_ns > 0 {
        let exposed = headline.exposed_collective_ns;
        text += &format!(", with collectives alone {} ({})", units::duration(exposed), part(exposed));
    }
    text + "."
}

fn item(finding: &Finding, view: &View<'_>) -> Markup {
    let Finding { id, sentence, cost_ns, share, evidence, look, help, .. } = finding;
    html! {
        li {
            div.cost data-finding=(id) data-v=(cost_ns) {
                @if *cost_ns > 0 { (units::duration(*cost_ns)) small { (percent(*share)) } } @else { "–" }
            }
            div {
                b.id { (id) } ": " (html_page::text(sentence))
                @for place in evidence.iter().filter(|place| place.start_ns >= view.origin) {
                    @let end = place.end_ns.unwrap_or(place.start_ns);
                    " " a href=(view.link(place.start_ns, end)) title=(html_page::text(&place.name)) {
                        "at " (view.moment(place.start_ns))
                    }
                }
                div.more { (html_page::text(help)) }
                div.more { code { (html_page::text(look)) } }
            }
        }
    }
}
