//! The summary table of `rocprofv3 -S`.

use std::iter::once;

use rtl_analysis::rocprofv3::{Row, Summary};

const HEAD: [&str; 9] = [
    "NAME",
    "DOMAIN",
    "CALLS",
    "DURATION (nsec)",
    "AVERAGE (nsec)",
    "PERCENT (INC)",
    "MIN (nsec)",
    "MAX (nsec)",
    "STDDEV",
];

/// A trace without records has no table.
pub fn render(summary: &Summary) -> String {
    if summary.rows.is_empty() {
        return String::new();
    }
    let longest = |lengths: &mut dyn Iterator<Item = usize>| lengths.max().unwrap_or(0);
    let widths = [
        longest(&mut summary.rows.iter().map(|row| row.name.chars().count()).chain(once(40))),
        longest(&mut summary.rows.iter().map(|row| row.domain.label().len()).chain(once(12))),
        15,
        15,
        15,
        13,
        15,
        15,
        15,
    ];
    let head = HEAD.iter().zip(widths).map(|(cell, width)| format!("{cell:^width$}"));
    let rule: Vec<String> = widths.iter().map(|width| "-".repeat(width + 2)).collect();
    let mut text = format!("\nROCPROFV3 SUMMARY:\n\n{}|{}|\n", line(head), rule.join("|"));
    for row in &summary.rows {
        let cells = cells(row, summary.total);
        text.push_str(&line(cells.iter().zip(widths).enumerate().map(|(at, (cell, width))| match at {
            0 | 1 => format!("{cell:<width$}"),
            _ => format!("{cell:>width$}"),
        })));
    }
    text.push('\n');
    text
}

fn cells(row: &Row, total: i64) -> [String; 9] {
    let times = &row.times;
    let share = if total == 0 { 0.0 } else { times.total_ns() as f64 / total as f64 * 100.0 };
    [
        row.name.clone(),
        row.domain.label().to_owned(),
        times.calls.to_string(),
        times.total_ns().to_string(),
        scientific(times.mean_ns()),
        format!("{share:.6}"),
        times.min_ns.to_string(),
        times.max_ns.to_string(),
        scientific(times.stddev_ns()),
    ]
}

fn line(cells: impl Iterator<Item = String>) -> String {
    format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
}

/// The exponent has a sign and at least two digits, as C prints it.
fn scientific(nanoseconds: f64) -> String {
    let text = format!("{nanoseconds:.3e}");
    let Some((digits, power)) = text.split_once('e') else { return text };
    let (sign, power) = power.strip_prefix('-').map_or(('+', power), |power| ('-', power));
    format!("{digits}e{sign}{power:0>2}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponents_have_a_sign_and_two_digits() {
        assert_eq!(scientific(3_082_219.0), "3.082e+06");
        assert_eq!(scientific(5.5e-6), "5.500e-06");
        assert_eq!(scientific(0.0), "0.000e+00");
    }
}
