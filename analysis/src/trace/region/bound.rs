//! Moments as users write them.

use std::str::FromStr;

use crate::{Error, Result};

/// A moment relative to the trace: its first and last op, API call or range.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Bound {
    /// Nanoseconds after the start.
    FromStart(i64),
    /// Nanoseconds before the end.
    FromEnd(i64),
    /// A part of the span, 0 to 1.
    Share(f64),
}

impl Bound {
    /// The moment in a trace that reaches from `start` to `end`. 100 % lies behind every row.
    pub fn resolve(self, (start, end): (i64, i64)) -> i64 {
        match self {
            Self::FromStart(offset) => start.saturating_add(offset),
            Self::FromEnd(offset) => end.saturating_sub(offset),
            Self::Share(share) if share >= 1.0 => i64::MAX,
            Self::Share(share) => {
                start.saturating_add((end.saturating_sub(start) as f64 * share).round() as i64)
            }
        }
    }
}

impl FromStr for Bound {
    type Err = Error;

    /// Reads `250us`, `10ms`, `1.5s`, `25%`, and each with `-` before it from the end. Only 0 needs no unit.
    fn from_str(text: &str) -> Result<Self> {
        let wrong = || Error::Bound { text: text.to_owned() };
        let trimmed = text.trim();
        let (from_end, amount) = match trimmed.strip_prefix('-') {
            Some(amount) => (true, amount),
            None => (false, trimmed),
        };
        let digits = amount.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(amount.len());
        let (number, unit) = amount.split_at(digits);
        let value: f64 = number.parse().map_err(|_| wrong())?;
        let scale = match unit.trim() {
            "" if value != 0.0 => return Err(Error::Unit { text: text.to_owned() }),
            "" | "ns" => 1.0,
            "us" | "µs" => 1e3,
            "ms" => 1e6,
            "s" => 1e9,
            "%" if value <= 100.0 => {
                let share = value / 100.0;
                return Ok(Self::Share(if from_end { 1.0 - share } else { share }));
            }
            _ => return Err(wrong()),
        };
        let nanoseconds = match number.parse::<i64>() {
            Ok(whole) => whole.saturating_mul(scale as i64),
            Err(_) => (value * scale).round() as i64,
        };
        Ok(if from_end { Self::FromEnd(nanoseconds) } else { Self::FromStart(nanoseconds) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_read_as_people_write_them() {
        for (text, bound) in [
            ("1000ns", Bound::FromStart(1000)),
            ("250us", Bound::FromStart(250_000)),
            ("10ms", Bound::FromStart(10_000_000)),
            ("1.5s", Bound::FromStart(1_500_000_000)),
            ("25%", Bound::Share(0.25)),
            ("-5ms", Bound::FromEnd(5_000_000)),
            ("-25%", Bound::Share(0.75)),
            ("0", Bound::FromStart(0)),
        ] {
            assert_eq!(text.parse::<Bound>().unwrap(), bound, "{text}");
        }
        for text in ["", "-", "ms", "5 parsecs", "1.2.3s", "101%", "--5", "1e3"] {
            assert!(text.parse::<Bound>().is_err(), "{text}");
        }
        for text in ["10", "-10", "0.5"] {
            assert_eq!(text.parse::<Bound>(), Err(Error::Unit { text: text.to_owned() }));
        }
    }

    #[test]
    fn bounds_resolve_against_the_span() {
        let span = (1_000, 3_000);
        assert_eq!(Bound::FromStart(10).resolve(span), 1_010);
        assert_eq!(Bound::FromEnd(10).resolve(span), 2_990);
        assert_eq!(Bound::Share(0.25).resolve(span), 1_500);
        assert_eq!(Bound::Share(1.0).resolve(span), i64::MAX);
    }
}
