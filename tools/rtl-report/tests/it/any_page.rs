//! Any names in pages: elements and attributes are those of the program, and texts are the names. The fuzz target `page` of
//! `tests/fuzz/` uses this file, too.

use std::fs;
use std::io::Read;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use html_page::bars::{Bar, Part, bars, legend};
use html_page::heat::{Row, heat};
use html_page::lines::{Series, series};
use html_page::table::{Cell, Table, fitting};
use html_page::treemap::treemap;
use html_page::waterfall::{Term, waterfall};
use html_page::{Data, Page, Section};
use maud::{Markup, html};
use serde_json::{Value, json};

/// Elements without an end.
const VOID: [&str; 3] = ["meta", "link", "input"];

/// Elements that load, execute or send something.
const REFUSED: [&str; 9] =
    ["img", "iframe", "object", "embed", "base", "form", "video", "audio", "foreignobject"];

/// The texts that a page shows, and the contents of its scripts by id.
#[derive(Debug, Default)]
struct Content {
    texts: Vec<String>,
    /// The one without an id is the program of the page.
    scripts: Vec<(Option<String>, String)>,
}

/// Reads markup by strict rules; panics where a name is more than a text.
fn read(html: &str) -> Content {
    let mut content = Content::default();
    let mut open: Vec<&str> = Vec::new();
    let mut rest = html.strip_prefix("<!DOCTYPE html>").unwrap_or(html);
    while !rest.is_empty() {
        let (text, tag) = rest.split_at(rest.find('<').unwrap_or(rest.len()));
        if !text.is_empty() {
            content.texts.push(decoded(text));
        }
        let Some(tag) = tag.strip_prefix('<') else { break };
        if let Some(end) = tag.strip_prefix('/') {
            let (name, after) = end.split_once('>').expect("an end tag ends");
            assert_eq!(open.pop(), Some(name), "an element ends within another one");
            rest = after;
            continue;
        }
        let length = tag.find(|letter: char| !letter.is_ascii_alphanumeric()).expect("a tag ends");
        let (name, mut after) = tag.split_at(length);
        assert!(name.starts_with(|letter: char| letter.is_ascii_lowercase()), "<{name}");
        assert!(!REFUSED.contains(&name), "<{name}");
        let mut id = None;
        rest = loop {
            if let Some(after) = after.strip_prefix('>') {
                break after;
            }
            let attribute = after.strip_prefix(' ').expect("attributes are apart");
            let length = attribute
                .find(|letter: char| !(letter.is_ascii_alphabetic() || letter == '-'))
                .expect("an attribute ends");
            let (name, value) = attribute.split_at(length);
            let Some(value) = value.strip_prefix("=\"") else {
                assert_eq!(name, "download", "an attribute without a value");
                after = value;
                continue;
            };
            let (value, next) = value.split_once('"').expect("a value ends");
            check_attribute(name, &decoded(value));
            if name == "id" {
                id = Some(value.to_owned());
            }
            after = next;
        };
        if ["script", "style"].contains(&name) {
            let (raw, after) = rest.split_once(&format!("</{name}>")).expect("a raw text ends");
            if name == "script" {
                content.scripts.push((id, raw.to_owned()));
            }
            rest = after;
        } else if !VOID.contains(&name) {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{open:?} have no end");
    content
}

fn check_attribute(name: &str, value: &str) {
    assert!(!name.starts_with("on"), "{name}");
    assert!(!["src", "style", "srcdoc", "action", "formaction"].contains(&name), "{name}={value}");
    if name == "href" {
        let is_plain = value.chars().all(|letter| letter.is_ascii_alphanumeric() || "._-".contains(letter));
        let is_known = ["data:,", "https://ui.perfetto.dev"].contains(&value);
        assert!(is_plain || is_known || value.starts_with('#'), "{value}");
    }
    if name == "class" {
        assert!(
            value.chars().all(|letter| letter.is_ascii_alphanumeric() || " -".contains(letter)),
            "{value}"
        );
    }
}

/// A text with the letters that its entities stand for.
fn decoded(text: &str) -> String {
    let mut parts = text.split('&');
    let mut decoded = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (entity, after) = part.split_once(';').expect("an entity ends");
        decoded.push(match entity {
            "amp" => '&',
            "lt" => '<',
            "gt" => '>',
            "quot" => '"',
            other => panic!("&{other};"),
        });
        decoded.push_str(after);
    }
    assert_eq!(html_page::text(&decoded), decoded.as_str(), "a control character");
    decoded
}

/// The data of a script element.
fn data(content: &Content, id: &str) -> Value {
    let (_, text) =
        content.scripts.iter().find(|(known, _)| known.as_deref() == Some(id)).expect("an element");
    let bytes = STANDARD.decode(text).expect("base64");
    let mut json = String::new();
    flate2::read::DeflateDecoder::new(bytes.as_slice()).read_to_string(&mut json).expect("deflate of UTF-8");
    serde_json::from_str(&json).expect("JSON")
}

/// Draws everything that a page can have with these names.
pub(crate) fn assert_drawings(names: &[&str]) {
    let markup = drawings(names);
    let content = read(&markup.into_string());
    for name in names.iter().filter(|name| !name.is_empty()) {
        let shown = html_page::text(name);
        assert!(content.texts.iter().any(|text| *text == shown), "{name:?} is not shown");
    }
}

fn drawings(names: &[&str]) -> Markup {
    let value = |name: &str| (name.len() * name.len()) as f64;
    let mut parts: Vec<Part> = names
        .iter()
        .map(|name| Part {
            name: (*name).to_owned(),
            value: value(name),
            text: (*name).to_owned(),
            class: html_page::color::class(html_page::color::of_category(name)),
        })
        .collect();
    let whole = parts.iter().map(|part| part.value).sum();
    let rows = names.iter().zip(fitting(names)).map(|(name, short)| {
        vec![Cell::short(&short, name), Cell::text(name), Cell::number("1 ms", name.len()), Cell::none()]
    });
    let table = Table {
        id: "any",
        caption: names.concat(),
        columns: vec![("Short", "short"), ("Name", "name"), ("Number", "number"), ("None", "")],
        rows: rows.collect(),
        all: names.len() + 1,
        filter: Some("name"),
    };
    let tips: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let heats: Vec<Row> = names
        .iter()
        .map(|name| Row {
            label: (*name).to_owned(),
            cells: tips.iter().map(|tip| Some(value(tip) / 100.0)).collect(),
            tips: tips.clone(),
        })
        .collect();
    let lines = Series {
        x: names.iter().map(|name| value(name) / 100.0).collect(),
        y: names.iter().map(|name| value(name)).collect(),
        band: names.iter().map(|name| (0.0, value(name))).collect(),
        tips,
    };
    let terms: Vec<Term> = names
        .iter()
        .enumerate()
        .map(|(at, name)| Term {
            name: (*name).to_owned(),
            value: if at % 2 == 0 { value(name) } else { -value(name) },
            text: "1 ms".to_owned(),
        })
        .collect();
    let bar = Bar { label: names.concat(), parts: parts.clone() };
    let title = names.concat();
    parts.sort_by(|one, other| other.value.total_cmp(&one.value));
    html! {
        (table.render())
        (bars(&title, &[bar], whole))
        (legend(&parts))
        (treemap(&title, &parts))
        (heat(&title, &heats, Some(names.len() as i64), "c0"))
        (series(&title, &lines, whole, names.len().is_multiple_of(2), "c1"))
        (waterfall(&title, ("from", 5.0, "5"), ("to", 6.0, "6"), &terms))
    }
}

/// Draws a page around the same, with the names as data.
pub(crate) fn assert_page(names: &[&str]) {
    let page = Page {
        title: names.concat(),
        header: html! { (html_page::text(&names.concat())) },
        sections: vec![Section { id: "any", title: "Any", note: String::new(), content: drawings(names) }],
        data: vec![Data::json("names", &names)],
        footer: names.concat(),
    };
    let content = read(&page.render());
    assert_eq!(data(&content, "names"), json!(names));
    let programs: Vec<_> = content.scripts.iter().filter(|(id, _)| id.is_none()).collect();
    assert_eq!(programs.len(), 1, "the program of the page");
}

/// Writes the report of a trace with these names, in a folder.
pub(crate) fn assert_report(folder: &Path, names: &[&str]) -> bool {
    let events: Vec<Value> = names
        .iter()
        .enumerate()
        .flat_map(|(at, name)| {
            let (start, thread) = (at * 10, json!({ "pid": 1, "tid": 1 }));
            let event = |category: &str, args: Value| {
                let mut event =
                    json!({ "ph": "X", "cat": category, "name": name, "ts": start, "dur": 5, "args": args });
                event["pid"] = thread["pid"].clone();
                event["tid"] = thread["tid"].clone();
                event
            };
            let kernel = json!({ "device": at % 2, "stream": 0, "correlation": at + 1 });
            [
                event("kernel", kernel),
                event("cpu_op", json!({})),
                event("user_annotation", json!({})),
                event("cuda_runtime", json!({ "correlation": at + 1 })),
            ]
        })
        .collect();
    let devices: Vec<Value> =
        names.iter().take(2).enumerate().map(|(at, name)| json!({ "id": at, "name": name })).collect();
    let document = json!({ "schemaVersion": 1, "deviceProperties": devices, "traceEvents": events });
    let trace = folder.join("trace.json");
    fs::write(&trace, document.to_string()).unwrap();
    let page = folder.join("report.html");
    let options = rtl_report::Options { force: true, quiet: true, ..rtl_report::Options::default() };
    let mut out = cli::Output::new("rtl-report", Box::new(std::io::sink()), Box::new(std::io::sink()));
    if rtl_report::write(&options, &[trace], &page, &mut out).is_err() {
        return false;
    }
    let content = read(&fs::read_to_string(&page).unwrap());
    let report = data(&content, "rtl-summary");
    assert!(report["kernels"].as_array().is_some_and(|kernels| !kernels.is_empty()), "{report}");
    assert_eq!(content.scripts.iter().filter(|(id, _)| id.is_none()).count(), 1);
    true
}
