//! The summary table of `rocprofv3 -S`.

use std::iter::once;

use rtl_analysis::rocprofv3::{Row, Summary};

/// The unit of all times, rocprofv3's `-u`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Unit {
    /// Seconds.
    Sec,
    /// Milliseconds.
    Msec,
    /// Microseconds.
    Usec,
    /// Nanoseconds, as whole numbers.
    #[default]
    Nsec,
}

impl Unit {
    /// The word of the column heads and of the option.
    pub fn label(self) -> &'static str {
        match self {
            Self::Sec => "sec",
            Self::Msec => "msec",
            Self::Usec => "usec",
            Self::Nsec => "nsec",
        }
    }

    fn nanoseconds(self) -> f64 {
        match self {
            Self::Sec => 1e9,
            Self::Msec => 1e6,
            Self::Usec => 1e3,
            Self::Nsec => 1.0,
        }
    }

    /// A time that is a whole number of nanoseconds; of a larger unit the shortest digits that tell it apart.
    fn whole(self, nanoseconds: i64) -> String {
        match self {
            Self::Nsec => nanoseconds.to_string(),
            _ => general(nanoseconds as f64 / self.nanoseconds()),
        }
    }

    fn scientific(self, nanoseconds: f64) -> String {
        exponent(&format!("{:.3e}", nanoseconds / self.nanoseconds()))
    }
}

/// The table as text, with the label `SUMMARY`; nothing for a trace without records.
pub fn render(summary: &Summary, unit: Unit) -> String {
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
    let timed = |word: &str| format!("{word} ({})", unit.label());
    let head = [
        "NAME".to_owned(),
        "DOMAIN".to_owned(),
        "CALLS".to_owned(),
        timed("DURATION"),
        timed("AVERAGE"),
        "PERCENT (INC)".to_owned(),
        timed("MIN"),
        timed("MAX"),
        "STDDEV".to_owned(),
    ];
    let head = head.iter().zip(widths).map(|(cell, width)| format!("{cell:^width$}"));
    let rule: Vec<String> = widths.iter().map(|width| "-".repeat(width + 2)).collect();
    let mut text = format!("\nROCPROFV3 SUMMARY:\n\n{}|{}|\n", line(head), rule.join("|"));
    for row in &summary.rows {
        let cells = cells(row, summary.total, unit);
        text.push_str(&line(cells.iter().zip(widths).enumerate().map(|(at, (cell, width))| match at {
            0 | 1 => format!("{cell:<width$}"),
            _ => format!("{cell:>width$}"),
        })));
    }
    text.push('\n');
    text
}

fn cells(row: &Row, total: i64, unit: Unit) -> [String; 9] {
    let share = if total == 0 { 0.0 } else { row.time as f64 / total as f64 * 100.0 };
    [
        row.name.clone(),
        row.domain.label().to_owned(),
        row.calls.to_string(),
        unit.whole(row.time),
        unit.scientific(row.mean()),
        format!("{share:.6}"),
        unit.whole(row.min),
        unit.whole(row.max),
        unit.scientific(row.stddev),
    ]
}

fn line(cells: impl Iterator<Item = String>) -> String {
    format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
}

/// The shortest digits that read back as the same number, with an exponent below 0.0001 and from 1e16 on.
fn general(value: f64) -> String {
    if value == 0.0 || (1e-4..1e16).contains(&value.abs()) {
        format!("{value}")
    } else {
        exponent(&format!("{value:e}"))
    }
}

/// Gives an exponent its sign and at least two digits, as C does.
fn exponent(text: &str) -> String {
    match text.split_once('e') {
        Some((digits, power)) => {
            let (sign, power) = power.strip_prefix('-').map_or(('+', power), |power| ('-', power));
            format!("{digits}e{sign}{power:0>2}")
        }
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponents_have_a_sign_and_two_digits() {
        assert_eq!(Unit::Nsec.scientific(3_082_219.0), "3.082e+06");
        assert_eq!(Unit::Sec.scientific(5_500.0), "5.500e-06");
        assert_eq!(Unit::Nsec.scientific(0.0), "0.000e+00");
    }

    #[test]
    fn whole_times_of_larger_units_have_no_digits_to_spare() {
        assert_eq!(Unit::Nsec.whole(3_082_219), "3082219");
        assert_eq!(Unit::Msec.whole(3_082_219), "3.082219");
        assert_eq!(Unit::Sec.whole(5_500), "5.5e-06");
        assert_eq!(Unit::Usec.whole(5_000), "5");
    }
}
