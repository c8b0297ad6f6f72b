//! Rows of cells over time, as shades.

use maud::{Markup, html};

use crate::svg::{coordinate, moment, rect, ticks};

#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    pub label: String,
    /// Shades of equal parts of the time, 0 to 1; `None` where nothing is known.
    pub cells: Vec<Option<f64>>,
    /// The texts that the pointer shows.
    pub tips: Vec<String>,
}

const MARGIN: f64 = 70.0;
const AXIS: f64 = 22.0;

/// The rows over a time of `length` ns, the shades from empty to the colour `class`.
#[must_use]
pub fn heat(title: &str, rows: &[Row], length: Option<i64>, class: &str) -> Markup {
    let row_height = (600.0 / rows.len().max(1) as f64).clamp(5.0, 22.0);
    let height = row_height * rows.len() as f64;
    let width = crate::bars::WIDTH - MARGIN;
    let every = (14.0 / row_height).ceil().max(1.0) as usize;
    let axis = if length.is_some() { AXIS } else { 0.0 };
    html! {
        svg.heat viewBox=(format!("0 0 {} {}", crate::bars::WIDTH, coordinate(height + axis))) role="img"
            aria-label=(crate::text(title)) {
            rect.ground x=(MARGIN) y="0" width=(width) height=(coordinate(height)) {}
            @for (at, row) in rows.iter().enumerate() {
                @let top = row_height * at as f64;
                @if at % every == 0 {
                    text x="0" y=(coordinate(top + row_height / 2.0 + 4.0)) class="label" { (crate::text(&row.label)) }
                }
                @let cell = width / row.cells.len().max(1) as f64;
                @for (column, (share, tip)) in row.cells.iter().zip(&row.tips).enumerate() {
                    @if let Some(share) = share.filter(|share| *share > 0.0) {
                        @let shade = format!("{class} s{}", (share * 10.0).ceil().clamp(1.0, 10.0));
                        (rect([MARGIN + cell * column as f64, top, cell, row_height - 1.0], &shade, tip))
                    }
                }
            }
            @if let Some(length) = length {
                @for tick in ticks(length, 6) {
                    @let x = MARGIN + width * tick as f64 / length.max(1) as f64;
                    text x=(coordinate(x)) y=(coordinate(height + 15.0)) class="axis" { (moment(tick, length)) }
                }
            }
        }
    }
}
