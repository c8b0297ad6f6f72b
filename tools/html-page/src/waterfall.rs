//! From one total to another by terms that add up to the difference.

use maud::{Markup, html};

use crate::bars::WIDTH;
use crate::svg::{coordinate, rect};

#[derive(Debug, Clone, PartialEq)]
pub struct Term {
    pub name: String,
    /// A negative value shortens the total.
    pub value: f64,
    pub text: String,
}

const ROW: f64 = 24.0;
const MARGIN: f64 = 300.0;
const ROOM: f64 = 110.0;

/// The terms between the totals `from` and `to`, each with its value and its text.
#[must_use]
pub fn waterfall(title: &str, from: (&str, f64, &str), to: (&str, f64, &str), terms: &[Term]) -> Markup {
    let mut levels = vec![from.1];
    for term in terms {
        levels.push(levels[levels.len() - 1] + term.value);
    }
    let (least, most) =
        levels.iter().fold((to.1, to.1), |(least, most), &level| (least.min(level), most.max(level)));
    // The totals may be far larger than what changed.
    let ground = (least - (most - least) * 0.4).max(0.0);
    let scale = (WIDTH - MARGIN - ROOM) / (most - ground).max(f64::MIN_POSITIVE);
    let x = |value: f64| MARGIN + (value - ground) * scale;
    let height = ROW * (terms.len() + 2) as f64;
    html! {
        svg.waterfall viewBox=(format!("0 0 {WIDTH} {}", coordinate(height))) role="img" aria-label=(crate::text(title)) {
            (row(0, from.0, [MARGIN, x(from.1)], "total", from.2))
            @for (at, term) in terms.iter().enumerate() {
                @let class = if term.value > 0.0 { "worse" } else { "better" };
                (row(at + 1, &term.name, [x(levels[at]), x(levels[at + 1])], class, &term.text))
            }
            (row(terms.len() + 1, to.0, [MARGIN, x(to.1)], "total", to.2))
            @if ground > 0.0 {
                (cut(0))
                (cut(terms.len() + 1))
            }
        }
    }
}

/// The mark of a bar that does not begin at 0.
fn cut(at: usize) -> Markup {
    let top = coordinate(ROW * at as f64 + 1.0);
    html! {
        path.cut d=(format!("M{} {top}h5l-6 {height}h-5z", MARGIN + 16.0, height = ROW - 4.0)) {
            title { "the bar does not begin at 0" }
        }
    }
}

fn row(at: usize, name: &str, ends: [f64; 2], class: &str, text: &str) -> Markup {
    let top = ROW * at as f64;
    let [start, end] = [ends[0].min(ends[1]), ends[0].max(ends[1])];
    let name = crate::text(name);
    let shown: String = match name.chars().count() {
        0..=44 => name.to_string(),
        _ => name.chars().take(43).chain(['…']).collect(),
    };
    html! {
        text x="0" y=(coordinate(top + 15.0)) class="label" { (shown) }
        (rect([start, top + 2.0, (end - start).max(1.0), ROW - 6.0], class, &format!("{name}: {text}")))
        text x=(coordinate(end + 6.0)) y=(coordinate(top + 15.0)) class="value" { (text) }
    }
}
