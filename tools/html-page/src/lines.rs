//! Small drawings of a quantity over time.

use maud::{Markup, html};

use crate::svg::coordinate;

/// A quantity over time: points by moment.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Series {
    /// Moments, 0 to 1 of the width.
    pub x: Vec<f64>,
    /// Values of the line.
    pub y: Vec<f64>,
    /// Lowest and highest value beside each, if known.
    pub band: Vec<(f64, f64)>,
    /// The texts that the pointer shows at the points.
    pub tips: Vec<String>,
}

const SIZE: (f64, f64) = (320.0, 84.0);

/// A drawing from 0 to `most`; `is_step` keeps each value until the next.
#[must_use]
pub fn series(title: &str, series: &Series, most: f64, is_step: bool, class: &str) -> Markup {
    let (width, height) = SIZE;
    let scale = if most > 0.0 { (height - 4.0) / most } else { 0.0 };
    let x = |at: usize| series.x[at].clamp(0.0, 1.0) * width;
    let y = |value: f64| height - 2.0 - value.min(most) * scale;
    let point = |x: f64, y: f64| format!("{},{}", coordinate(x), coordinate(y));
    let mut line: Vec<String> = Vec::new();
    for at in 0..series.x.len() {
        if is_step && at > 0 {
            line.push(point(x(at), y(series.y[at - 1])));
        }
        line.push(point(x(at), y(series.y[at])));
    }
    if let Some(&last) = series.y.last().filter(|_| is_step) {
        line.push(point(width, y(last)));
    }
    let upper = series.band.iter().enumerate().map(|(at, band)| point(x(at), y(band.1)));
    let lower = series.band.iter().enumerate().rev().map(|(at, band)| point(x(at), y(band.0)));
    let band: Vec<String> = upper.chain(lower).collect();
    html! {
        svg.series viewBox=(format!("0 0 {width} {height}")) role="img" aria-label=(crate::text(title)) {
            rect.ground x="0" y="0" width=(width) height=(height) {}
            @if band.len() > 2 { polygon class=(format!("band {class}")) points=(band.join(" ")) {} }
            polyline class=(format!("line {class}")) points=(line.join(" ")) {}
            @for (at, tip) in series.tips.iter().enumerate() {
                @let end = if at + 1 < series.x.len() { x(at + 1) } else { width };
                (crate::svg::rect([x(at), 0.0, (end - x(at)).max(1.0), height], "hover", tip))
            }
        }
    }
}
