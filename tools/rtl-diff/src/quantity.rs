//! Numbers with units, on the command line and in `rtl-diff.toml`: `5%`, `2pp`, `100ns`.

use std::str::FromStr;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

/// Declares the type of numbers with a unit, which are parsed from text.
macro_rules! quantity {
    ($(#[$doc:meta])* $name:ident, $expected:literal, $parse:expr) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
        pub struct $name(pub f64);

        impl FromStr for $name {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, String> {
                let parse: fn(&str) -> Option<f64> = $parse;
                parse(text).map(Self).ok_or_else(|| concat!("expected ", $expected).to_owned())
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
            }
        }
    };
}

quantity! {
    /// A share of a whole, or a relative change: `5%` is 0.05.
    Share, "a percentage, e.g. 5%", |text| number(text, "%").map(|percent| percent / 100.0)
}

quantity! {
    /// A difference of shares in percentage points: `2pp` is 0.02.
    Points, "percentage points, e.g. 2pp", |text| number(text, "pp").map(|points| points / 100.0)
}

quantity! {
    /// A duration in whole nanoseconds.
    Duration, "a time, e.g. 100ns or 2us", |text| {
        let mut units = [("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9)].into_iter();
        units.find_map(|(unit, scale)| number(text, unit).map(|value| (value * scale).round()))
    }
}

/// The number is not negative.
fn number(text: &str, unit: &str) -> Option<f64> {
    let digits = text.trim().strip_suffix(unit)?.trim_end();
    let digits = digits.strip_prefix('+').unwrap_or(digits);
    digits.parse::<f64>().ok().filter(|value| value.is_finite() && *value >= 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_units() {
        assert_eq!("+5%".parse(), Ok(Share(0.05)));
        assert_eq!("2pp".parse(), Ok(Points(0.02)));
        assert_eq!("1.5us".parse(), Ok(Duration(1_500.0)));
        for wrong in ["5", "-5%", "nan%", "%", "5pp"] {
            assert!(wrong.parse::<Share>().is_err(), "{wrong}");
        }
        assert!("7".parse::<Duration>().is_err() && "7 parsecs".parse::<Duration>().is_err());
    }
}
