//! Numbers as text for people. Only renderers call these functions; elsewhere time is integer nanoseconds.
//!
//! Every function has a fixed number of decimals, so that right-aligned columns line up. Halves round away from
//! zero.

use indicatif::HumanCount;

/// The text of an unknown number.
pub const NONE: &str = "-";

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(i64)]
pub enum TimeUnit {
    Nanoseconds = 1,
    Microseconds = 1_000,
    Milliseconds = 1_000_000,
    Seconds = 1_000_000_000,
}

impl TimeUnit {
    /// The largest unit in which `nanoseconds` is at least 1.
    pub fn of(nanoseconds: i64) -> Self {
        match nanoseconds.unsigned_abs() {
            0..1_000 => Self::Nanoseconds,
            1_000..1_000_000 => Self::Microseconds,
            1_000_000..1_000_000_000 => Self::Milliseconds,
            _ => Self::Seconds,
        }
    }

    /// `ns`, `us`, `ms` or `s`, for a header.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Nanoseconds => "ns",
            Self::Microseconds => "us",
            Self::Milliseconds => "ms",
            Self::Seconds => "s",
        }
    }

    pub fn nanoseconds(self) -> i64 {
        self as i64
    }

    /// `nanoseconds` in this unit with three decimals (none for ns) and without the symbol.
    pub fn number(self, nanoseconds: i64) -> String {
        self.decimal(nanoseconds, 3)
    }

    /// One decimal, for columns whose largest number leaves no room for three.
    pub fn short_number(self, nanoseconds: i64) -> String {
        self.decimal(nanoseconds, 1)
    }

    fn decimal(self, nanoseconds: i64, decimals: u32) -> String {
        if self == Self::Nanoseconds {
            return count_signed(nanoseconds);
        }
        let steps_per_unit = 10_u64.pow(decimals);
        let step = self as u64 / steps_per_unit;
        let steps = (nanoseconds.unsigned_abs() + step / 2) / step;
        let sign = if nanoseconds < 0 && steps > 0 { "-" } else { "" };
        let width = decimals as usize;
        format!("{sign}{}.{:0width$}", count(steps / steps_per_unit), steps % steps_per_unit)
    }
}

/// Nanoseconds in the largest suitable unit: `999 ns`, `1.234 us`, `12.500 ms`, `3,600.000 s`.
pub fn duration(nanoseconds: i64) -> String {
    let unit = TimeUnit::of(nanoseconds);
    format!("{} {}", unit.number(nanoseconds), unit.symbol())
}

/// A duration whose increase has a sign, too: `+1.234 us`.
pub fn change(nanoseconds: i64) -> String {
    format!("{}{}", if nanoseconds > 0 { "+" } else { "" }, duration(nanoseconds))
}

/// A whole number with thousands separators: `43,915`.
pub fn count(number: u64) -> String {
    HumanCount(number).to_string()
}

/// A negative number has a sign.
pub fn count_signed(number: i64) -> String {
    let sign = if number < 0 { "-" } else { "" };
    format!("{sign}{}", count(number.unsigned_abs()))
}

/// Bytes in binary units with two decimals: `512 B`, `1.50 MiB`.
pub fn bytes(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if bytes < 1_024 {
        return format!("{} B", count(bytes));
    }
    let power = (bytes.ilog2() / 10) as usize;
    format!("{} {}", fixed(bytes as f64 / 1_024_f64.powi(power as i32), 2), UNITS[power - 1])
}

/// A fraction as percent with two decimals: `0.125` is `12.50%`; [`NONE`] where it is no number.
pub fn percent(fraction: f64) -> String {
    if fraction.is_finite() { format!("{}%", fixed(fraction * 100.0, 2)) } else { NONE.to_owned() }
}

/// A number with that many decimals and thousands separators; [`NONE`] where it is no number.
pub fn fixed(number: f64, decimals: usize) -> String {
    if !number.is_finite() {
        return NONE.to_owned();
    }
    let text = format!("{:.decimals$}", number.abs());
    let (whole, fraction) = text.split_once('.').map_or((text.as_str(), None), |(w, f)| (w, Some(f)));
    let zero = text.bytes().all(|byte| byte == b'0' || byte == b'.');
    let sign = if number < 0.0 && !zero { "-" } else { "" };
    // Numbers beyond u64 get no separators.
    let whole = whole.parse().map_or_else(|_| whole.to_owned(), count);
    match fraction {
        Some(fraction) => format!("{sign}{whole}.{fraction}"),
        None => format!("{sign}{whole}"),
    }
}

/// A size such as `4096`, `500M` or `2G`, in bytes; the letters k, M, G and T stand for powers of 1024. The error says what
/// the text should be.
pub fn parse_bytes(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let unit = text[digits.len()..].to_ascii_lowercase();
    let shift = match unit.trim_end_matches("ib").trim_end_matches('b') {
        "" => 0,
        "k" => 10,
        "m" => 20,
        "g" => 30,
        "t" => 40,
        _ => return Err("not a size such as 500M or 2G".to_owned()),
    };
    let bytes = digits.parse::<u64>().ok().and_then(|number| number.checked_mul(1 << shift));
    bytes.ok_or_else(|| "not a size such as 500M or 2G".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_uses_the_largest_unit_that_keeps_it_above_one() {
        let cases = [
            (0, "0 ns"),
            (999, "999 ns"),
            (1_000, "1.000 us"),
            (1_234_567, "1.235 ms"),
            (17_000_000_000, "17.000 s"),
            (3_600_000_000_000, "3,600.000 s"),
            (-1_500, "-1.500 us"),
        ];
        for (nanoseconds, text) in cases {
            assert_eq!(duration(nanoseconds), text);
        }
    }

    #[test]
    fn the_extremes_of_time_do_not_overflow() {
        assert_eq!(duration(i64::MIN), "-9,223,372,036.855 s");
        assert_eq!(TimeUnit::Microseconds.number(i64::MAX), "9,223,372,036,854,775.807");
    }

    #[test]
    fn a_column_can_keep_one_unit() {
        let unit = TimeUnit::of(2_000_000);
        assert_eq!([unit.number(2_000_000), unit.number(1_499)], ["2.000", "0.001"]);
        assert_eq!(unit.number(-499), "0.000", "nothing is not negative");
        assert_eq!([unit.short_number(1_234_560_000), unit.short_number(49_999)], ["1,234.6", "0.0"]);
    }

    #[test]
    fn bytes_state_their_base() {
        assert_eq!(bytes(1_023), "1,023 B");
        assert_eq!(bytes(3 << 19), "1.50 MiB");
        assert_eq!(bytes(u64::MAX), "16.00 EiB");
    }

    #[test]
    fn a_fraction_of_nothing_has_no_percentage() {
        assert_eq!(percent(0.125), "12.50%");
        assert_eq!(percent(f64::NAN), NONE);
        assert_eq!(fixed(-0.001, 2), "0.00");
        assert_eq!(fixed(-12_345.678, 1), "-12,345.7");
    }

    #[test]
    fn sizes_are_powers_of_1024() {
        for (text, bytes) in
            [("4096", 4096), ("3k", 3 << 10), ("500M", 500 << 20), ("2GiB", 2 << 30), ("1TB", 1 << 40)]
        {
            assert_eq!(parse_bytes(text), Ok(bytes), "{text}");
        }
        for text in ["", "G", "-1", "1.5G", "9999999999T", "2 G", "1X"] {
            assert!(parse_bytes(text).is_err(), "{text}");
        }
    }
}
