//! Coordinates, rectangles and axes of drawings.

use maud::{Markup, html};

/// One decimal is below what a screen shows, and more would make pages larger.
#[must_use]
pub fn coordinate(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// The pointer over the rectangle shows `tip`.
#[must_use]
pub fn rect([x, y, width, height]: [f64; 4], class: &str, tip: &str) -> Markup {
    let [x, y, width, height] = [x, y, width, height].map(coordinate);
    html! {
        rect x=(x) y=(y) width=(width) height=(height) class=(class) {
            @if !tip.is_empty() { title { (crate::text(tip)) } }
        }
    }
}

/// Round moments between 0 and `length` ns, about `count` of them, in ns.
#[must_use]
pub fn ticks(length: i64, count: usize) -> Vec<i64> {
    let wanted = (length as f64 / count.max(1) as f64).max(1.0);
    let power = 10_f64.powf(wanted.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|factor| factor * power).find(|&step| step >= wanted);
    let step = step.unwrap_or(wanted).max(1.0) as i64;
    (0..=length / step).map(|at| at * step).collect()
}

/// A moment of an axis that ends at `last` ns, which selects the unit; without needless decimals.
#[must_use]
pub fn moment(ns: i64, last: i64) -> String {
    let (unit, name) = match last {
        1_000_000_000.. => (1e9, "s"),
        1_000_000.. => (1e6, "ms"),
        1_000.. => (1e3, "us"),
        _ => (1.0, "ns"),
    };
    let text = format!("{:.3}", ns as f64 / unit);
    let text = text.trim_end_matches('0').trim_end_matches('.');
    format!("{text} {name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round() {
        assert_eq!(ticks(260, 5), [0, 100, 200]);
        assert_eq!(ticks(1_000_000, 5), [0, 200_000, 400_000, 600_000, 800_000, 1_000_000]);
        assert_eq!(ticks(0, 5), [0]);
        assert_eq!(moment(1_500_000, 4_000_000), "1.5 ms");
        assert_eq!(moment(0, 10), "0 ns");
    }
}
