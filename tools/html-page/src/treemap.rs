//! Squarified treemaps (Bruls, Huizing and van Wijk 2000).

use maud::{Markup, html};

use crate::bars::{Part, WIDTH};
use crate::svg::{coordinate, rect};

const HEIGHT: f64 = 300.0;

#[must_use]
pub fn treemap(title: &str, parts: &[Part]) -> Markup {
    let areas: Vec<f64> = parts.iter().map(|part| part.value).collect();
    let places = squarify(&areas, [0.0, 0.0, WIDTH, HEIGHT]);
    html! {
        svg.treemap viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) role="img" aria-label=(crate::text(title)) {
            @for (part, [x, y, width, height]) in parts.iter().zip(places) {
                g data-name=(crate::text(&part.name)) {
                    (rect([x, y, (width - 1.0).max(0.0), (height - 1.0).max(0.0)], &part.class,
                        &format!("{}: {}", part.name, part.text)))
                    @if width > 60.0 && height > 18.0 {
                        text x=(coordinate(x + 5.0)) y=(coordinate(y + 14.0)) class="inside" {
                            (fitting(&crate::text(&part.name), width))
                        }
                        @if height > 34.0 && width > 7.0 * part.text.len() as f64 {
                            text x=(coordinate(x + 5.0)) y=(coordinate(y + 29.0)) class="inside faint" { (crate::text(&part.text)) }
                        }
                    }
                }
            }
        }
    }
}

/// The beginning and the end of a name, in which names of one family differ, that fit into a width.
fn fitting(name: &str, width: f64) -> String {
    let most = ((width - 10.0) / 7.2) as usize;
    let letters: Vec<char> = name.chars().collect();
    if letters.len() <= most {
        return name.to_owned();
    }
    let end = most.saturating_sub(1) / 2;
    let start = most.saturating_sub(1) - end;
    letters[..start].iter().chain(&['…']).chain(&letters[letters.len() - end..]).collect()
}

/// The place of each area (x, y, width and height). No area is negative, and the largest is first.
fn squarify(areas: &[f64], [mut x, mut y, mut width, mut height]: [f64; 4]) -> Vec<[f64; 4]> {
    let total: f64 = areas.iter().sum();
    let scale = if total > 0.0 { width * height / total } else { 0.0 };
    let mut places = Vec::with_capacity(areas.len());
    let mut rest = areas;
    while !rest.is_empty() {
        let side = width.min(height).max(f64::MIN_POSITIVE);
        let worst = |count: usize| {
            let sum = rest[..count].iter().sum::<f64>() * scale;
            let [most, least] = [rest[0], rest[count - 1]].map(|area| (area * scale).max(f64::MIN_POSITIVE));
            (side * side * most / (sum * sum)).max(sum * sum / (side * side * least))
        };
        let mut count = 1;
        while count < rest.len() && worst(count + 1) <= worst(count) {
            count += 1;
        }
        let sum = rest[..count].iter().sum::<f64>() * scale;
        let thickness = sum / side;
        let mut at = 0.0;
        for area in &rest[..count] {
            let length = if thickness > 0.0 { area * scale / thickness } else { 0.0 };
            places.push(match width >= height {
                true => [x, y + at, thickness, length],
                false => [x + at, y, length, thickness],
            });
            at += length;
        }
        if width >= height {
            (x, width) = (x + thickness, (width - thickness).max(0.0));
        } else {
            (y, height) = (y + thickness, (height - thickness).max(0.0));
        }
        rest = &rest[count..];
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_have_the_areas_and_fill_the_rectangle() {
        let areas = [6.0, 6.0, 4.0, 3.0, 2.0, 2.0, 1.0];
        let places = squarify(&areas, [0.0, 0.0, 6.0, 4.0]);
        for (area, [x, y, width, height]) in areas.iter().zip(&places) {
            assert!((width * height - area).abs() < 1e-9, "{area}: {width} x {height}");
            assert!(*x >= 0.0 && *y >= 0.0 && x + width <= 6.0 + 1e-9 && y + height <= 4.0 + 1e-9);
        }
        // In the paper the first two are rectangles of 3 by 2, one above the other.
        assert_eq!(places[0].map(|value| (value * 100.0).round()), [0.0, 0.0, 300.0, 200.0]);
    }

    #[test]
    fn a_name_that_does_not_fit_keeps_its_beginning_and_its_end() {
        assert_eq!(fitting("gemm_128_NNT", 100.0), "gemm_128_NNT");
        assert_eq!(fitting("gemm_128x128_NNT", 90.0), "gemm_…8_NNT");
        assert_eq!(fitting("gemm", 12.0), "…");
    }

    #[test]
    fn nothing_has_no_place_and_empty_parts_no_area() {
        assert!(squarify(&[], [0.0, 0.0, 1.0, 1.0]).is_empty());
        assert!(squarify(&[0.0, 0.0], [0.0, 0.0, 1.0, 1.0]).iter().all(|place| place[2] * place[3] < 1e-9));
    }
}
