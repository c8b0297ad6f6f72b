//! Numbers with units as people type them: `5%`, `2pp`, `100ns`.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

/// A part of a whole, or a change: `5%` is 0.05.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Share(pub f64);

/// A difference of shares: `2pp` is 0.02.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Points(pub f64);

/// Reads `5%`, `+5%` or `0.5%`.
///
/// # Errors
/// What else was expected.
pub fn parse_share(text: &str) -> Result<Share, String> {
    number(text, "%")
        .map(|percent| Share(percent / 100.0))
        .ok_or_else(|| "expected a percentage, e.g. 5%".to_owned())
}

/// Reads `2pp` or `+2pp`.
///
/// # Errors
/// What else was expected.
pub fn parse_points(text: &str) -> Result<Points, String> {
    number(text, "pp")
        .map(|points| Points(points / 100.0))
        .ok_or_else(|| "expected percentage points, e.g. 2pp".to_owned())
}

/// Reads a duration in ns, us, ms or s as nanoseconds.
///
/// # Errors
/// What else was expected.
pub fn parse_time(text: &str) -> Result<i64, String> {
    [("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9)]
        .iter()
        .find_map(|(unit, scale)| number(text, unit).map(|value| (value * scale).round() as i64))
        .ok_or_else(|| "expected a time, e.g. 100ns or 2us".to_owned())
}

fn number(text: &str, unit: &str) -> Option<f64> {
    let digits = text.trim().strip_suffix(unit)?.trim_end();
    let digits = digits.strip_prefix('+').unwrap_or(digits);
    digits.parse::<f64>().ok().filter(|value| value.is_finite() && *value >= 0.0)
}

impl<'de> Deserialize<'de> for Share {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        parse_share(&String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

impl<'de> Deserialize<'de> for Points {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        parse_points(&String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_units() {
        assert_eq!(parse_share("+5%"), Ok(Share(0.05)));
        assert_eq!(parse_points("2pp"), Ok(Points(0.02)));
        assert_eq!(parse_time("1.5us"), Ok(1_500));
        for wrong in ["5", "-5%", "nan%", "%", "5pp"] {
            assert!(parse_share(wrong).is_err(), "{wrong}");
        }
        assert!(parse_time("7").is_err() && parse_time("7 parsecs").is_err());
    }
}
