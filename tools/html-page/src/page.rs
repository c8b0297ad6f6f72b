//! The page around the sections, with the only script and the only style that its policy allows.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};

use crate::blob::Data;

const SCRIPT: &str = concat!(
    include_str!("script/start.js"),
    include_str!("script/data.js"),
    include_str!("script/tables.js"),
    include_str!("script/tips.js"),
    include_str!("script/timeline-data.js"),
    include_str!("script/timeline.js"),
    include_str!("script/arrivals.js"),
    include_str!("script/end.js"),
);

const STYLE: &str = include_str!("style.css");

#[derive(Debug, Clone)]
pub struct Section {
    /// The anchor of links.
    pub id: &'static str,
    pub title: &'static str,
    pub note: String,
    pub content: Markup,
}

#[derive(Debug, Clone)]
pub struct Page {
    /// The title of the window.
    pub title: String,
    /// The content above the sections.
    pub header: Markup,
    pub sections: Vec<Section>,
    /// Data for the script and for programs.
    pub data: Vec<Data>,
    /// The content below the sections.
    pub footer: String,
}

impl Page {
    #[must_use]
    pub fn render(&self) -> String {
        let policy = format!(
            "default-src 'none'; script-src {}; style-src {}; img-src data:; base-uri 'none'; form-action 'none'",
            hash(SCRIPT),
            hash(STYLE)
        );
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta http-equiv="Content-Security-Policy" content=(policy);
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    link rel="icon" href="data:,";
                    title { (crate::text(&self.title)) }
                    style { (PreEscaped(STYLE)) }
                }
                body {
                    header { (self.header) }
                    nav aria-label="Sections" {
                        @for section in &self.sections { a href=(format!("#{}", section.id)) { (section.title) } }
                    }
                    main {
                        @for section in &self.sections {
                            section id=(section.id) {
                                h2 { (section.title) }
                                @if !section.note.is_empty() { p.note { (section.note) } }
                                (section.content)
                            }
                        }
                    }
                    footer { p { (crate::text(&self.footer)) } }
                    @for data in &self.data {
                        script id=(data.id) type="application/octet-stream" { (PreEscaped(&data.text)) }
                    }
                    script { (PreEscaped(SCRIPT)) }
                }
            }
        }
        .into_string()
    }
}

/// The source of a policy that allows exactly `text`.
fn hash(text: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_that_of_the_standard() {
        // RFC 6234's example `abc`.
        assert_eq!(hash("abc"), "'sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0='");
    }

    #[test]
    fn the_script_cannot_end_its_element_and_needs_no_network_and_no_eval() {
        for word in
            ["</script", "<!--", "fetch(", "XMLHttpRequest", "WebSocket", "eval(", "Function(", "innerHTML"]
        {
            assert!(!SCRIPT.contains(word), "{word}");
        }
        assert!(!STYLE.contains("</") && !STYLE.contains("url(") && !STYLE.contains("@import"));
    }

    #[test]
    fn titles_are_escaped() {
        let page = Page {
            title: "</title><script>alert(1)</script>\u{202e}".to_owned(),
            header: html! {},
            sections: Vec::new(),
            data: Vec::new(),
            footer: "<b>".to_owned(),
        };
        let html = page.render();
        assert!(
            !html.contains("<script>alert") && !html.contains('\u{202e}') && !html.contains("<p><b>"),
            "{html}"
        );
    }
}
