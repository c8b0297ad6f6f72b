//! Bars of parts that add up.

use maud::{Markup, html};

use crate::svg::{coordinate, rect};

/// The width of all drawings, in their own units.
pub const WIDTH: f64 = 1_000.0;

#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    pub name: String,
    /// The length, in the unit of the bar.
    pub value: f64,
    pub text: String,
    /// The CSS class of the colour.
    pub class: String,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    /// An empty label takes no room.
    pub label: String,
    /// The parts are drawn from left to right.
    pub parts: Vec<Part>,
}

/// The height of a bar with its distance to the next.
const ROW: f64 = 26.0;

/// Bars of which `whole` fills the width. `title` says what they are.
#[must_use]
pub fn bars(title: &str, bars: &[Bar], whole: f64) -> Markup {
    let margin = if bars.iter().any(|bar| !bar.label.is_empty()) { 70.0 } else { 0.0 };
    let scale = if whole > 0.0 { (WIDTH - margin) / whole } else { 0.0 };
    let height = ROW * bars.len() as f64;
    html! {
        svg viewBox=(format!("0 0 {WIDTH} {}", coordinate(height))) role="img" aria-label=(crate::text(title)) {
            @for (row, bar) in bars.iter().enumerate() {
                @let top = ROW * row as f64;
                @if !bar.label.is_empty() {
                    text x="0" y=(coordinate(top + 16.0)) class="label" { (crate::text(&bar.label)) }
                }
                (parts(bar, margin, top, scale))
            }
        }
    }
}

fn parts(bar: &Bar, margin: f64, top: f64, scale: f64) -> Markup {
    let starts = bar.parts.iter().scan(margin, |x, part| {
        let start = *x;
        *x += part.value * scale;
        Some(start)
    });
    html! {
        @for (part, x) in bar.parts.iter().zip(starts) {
            @let width = part.value * scale;
            @if width >= 0.05 {
                (rect([x, top, width, ROW - 4.0], &part.class, &format!("{}: {}", part.name, part.text)))
                @if width > 7.0 * part.name.len() as f64 + 8.0 {
                    text x=(coordinate(x + 5.0)) y=(coordinate(top + 15.5)) class="inside" { (crate::text(&part.name)) }
                }
            }
        }
    }
}

#[must_use]
pub fn legend(parts: &[Part]) -> Markup {
    html! {
        ul.legend {
            @for part in parts {
                li { span class=(format!("swatch {}", part.class)) {} " " (crate::text(&part.name)) " " b { (crate::text(&part.text)) } }
            }
        }
    }
}
