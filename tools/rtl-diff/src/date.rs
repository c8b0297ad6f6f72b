//! Days of the civil calendar, for entries that expire.

use std::time::{SystemTime, UNIX_EPOCH};

/// A day as year, month and day: ordered as days are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Date(i64, u32, u32);

impl Date {
    /// Today in UTC.
    pub fn today() -> Self {
        let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        Self::of_day((seconds / 86_400) as i64)
    }

    /// Reads `2027-01-31`; `None` where it is no such day.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('-');
        let mut part = |digits: usize| {
            parts.next().filter(|part| part.len() == digits && part.bytes().all(|byte| byte.is_ascii_digit()))
        };
        let (year, month, day) = (part(4)?.parse().ok()?, part(2)?.parse().ok()?, part(2)?.parse().ok()?);
        let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let days = match month {
            2 => 28 + u32::from(leap),
            4 | 6 | 9 | 11 => 30,
            1..=12 => 31,
            _ => return None,
        };
        ((1..=days).contains(&day) && parts.next().is_none()).then_some(Self(year, month, day))
    }

    /// The day so many days after 1970-01-01. Counts from March of year 0, so that the leap day is the last of a year;
    /// 400 years have 146,097 days.
    fn of_day(day: i64) -> Self {
        let since = day + 719_468;
        let (era, day) = (since.div_euclid(146_097), since.rem_euclid(146_097));
        let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
        let day = day - (365 * year + year / 4 - year / 100);
        let month = (5 * day + 2) / 153;
        let day_of_month = day - (153 * month + 2) / 5 + 1;
        let civil = if month < 10 { month + 3 } else { month - 9 };
        let year = year + era * 400 + i64::from(civil <= 2);
        Self(year, civil as u32, day_of_month as u32)
    }
}

impl std::fmt::Display for Date {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{:04}-{:02}-{:02}", self.0, self.1, self.2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_counted_through_leap_years() {
        for (day, text) in
            [(0, "1970-01-01"), (59, "1970-03-01"), (11_016, "2000-02-29"), (20_788, "2026-12-01")]
        {
            assert_eq!(Date::of_day(day).to_string(), text);
            assert_eq!(Date::parse(text), Some(Date::of_day(day)));
        }
    }

    #[test]
    fn what_is_no_day_is_none() {
        for text in ["2026-02-29", "2026-13-01", "2026-1-1", "tomorrow", "2026-01-01-01", "1900-02-29", ""] {
            assert_eq!(Date::parse(text), None, "{text}");
        }
        assert!(Date::parse("2026-12-31") < Date::parse("2027-01-01"));
    }
}
