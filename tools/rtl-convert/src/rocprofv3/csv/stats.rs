//! Statistics of durations by name, in rocprofv3's formats of numbers.

use std::collections::BTreeMap;

/// Streaming statistics of durations in ns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Stat {
    calls: u64,
    total: i128,
    least: i64,
    most: i64,
    mean: f64,
    /// The sum of squared distances from the mean.
    squares: f64,
}

impl Default for Stat {
    fn default() -> Self {
        Self { calls: 0, total: 0, least: i64::MAX, most: 0, mean: 0.0, squares: 0.0 }
    }
}

impl Stat {
    /// Adds a duration. The variance is updated value by value (Welford), because squares of nanoseconds overflow 64 bits
    /// after 4.3 seconds; rocprofv3's own column is wrong there.
    #[inline]
    pub(super) fn add(&mut self, duration: i64) {
        self.calls += 1;
        self.total += i128::from(duration);
        self.least = self.least.min(duration);
        self.most = self.most.max(duration);
        let distance = duration as f64 - self.mean;
        self.mean += distance / self.calls as f64;
        self.squares += distance * (duration as f64 - self.mean);
    }

    pub(super) fn merge(&mut self, other: &Self) {
        if other.calls == 0 {
            return;
        }
        let (calls, others) = (self.calls as f64, other.calls as f64);
        let distance = other.mean - self.mean;
        self.squares += other.squares + distance * distance * calls * others / (calls + others);
        self.mean += distance * others / (calls + others);
        self.calls += other.calls;
        self.total += other.total;
        self.least = self.least.min(other.least);
        self.most = self.most.max(other.most);
    }

    /// The standard deviation of a sample; 0 of a single call.
    fn deviation(&self) -> f64 {
        if self.calls < 2 { 0.0 } else { (self.squares / (self.calls - 1) as f64).sqrt() }
    }
}

pub(super) type Stats = BTreeMap<String, Stat>;

/// By descending total, then by name.
pub(super) fn sheet(stats: &Stats) -> String {
    let mut rows: Vec<(&String, &Stat)> = stats.iter().filter(|(_, stat)| stat.calls > 0).collect();
    rows.sort_by_key(|(_, stat)| std::cmp::Reverse(stat.total));
    let all: i128 = rows.iter().map(|(_, stat)| stat.total).sum();
    let mut text = String::from(
        "\"Name\",\"Calls\",\"TotalDurationNs\",\"AverageNs\",\"Percentage\",\"MinNs\",\"MaxNs\",\"StdDev\"\n",
    );
    for (name, stat) in rows {
        let share = if all > 0 { stat.total as f64 / all as f64 * 100.0 } else { 0.0 };
        let average = stat.total as f64 / stat.calls as f64;
        text.push_str(&format!(
            "\"{}\",{},{},{},{},{},{},{}\n",
            name.replace('"', "\"\""),
            stat.calls,
            stat.total,
            number(average),
            percentage(share),
            stat.least,
            stat.most,
            number(stat.deviation())
        ));
    }
    text
}

/// A number with six decimals; a small one with eight decimals of its mantissa.
fn number(value: f64) -> String {
    if value > 0.01 { format!("{value:.6}") } else { exponential(value, 8) }
}

fn percentage(value: f64) -> String {
    match value {
        value if value >= 1.0 => format!("{value:.2}"),
        value if value > 0.01 => format!("{value:.4}"),
        value => exponential(value, 3),
    }
}

pub(super) fn counter(value: f64) -> String {
    if value >= 1.0 { format!("{value:.6}") } else { exponential(value, 8) }
}

/// A number as C prints it: the exponent has a sign and at least two digits.
fn exponential(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$e}");
    let Some((mantissa, exponent)) = text.split_once('e') else { return text };
    let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |exponent| ('-', exponent));
    format!("{mantissa}e{sign}{exponent:0>2}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(durations: &[i64]) -> Stat {
        let mut stat = Stat::default();
        durations.iter().for_each(|&duration| stat.add(duration));
        stat
    }

    #[test]
    fn numbers_are_printed_as_c_does() {
        assert_eq!(number(54_858.416_667), "54858.416667");
        assert_eq!(number(0.0), "0.00000000e+00");
        assert_eq!(percentage(36.814), "36.81");
        assert_eq!(percentage(0.52009), "0.5201");
        assert_eq!(percentage(0.001_234_5), "1.234e-03");
        assert_eq!(counter(0.5), "5.00000000e-01");
        assert_eq!(counter(1216.0), "1216.000000");
    }

    #[test]
    fn the_greatest_total_comes_first_and_equal_ones_by_name() {
        let stats = Stats::from([
            ("b".to_owned(), of(&[5])),
            ("a".to_owned(), of(&[5])),
            ("c".to_owned(), of(&[10, 20])),
        ]);
        let names: Vec<String> = sheet(&stats).lines().skip(1).map(|line| line[1..2].to_owned()).collect();
        assert_eq!(names, ["c", "a", "b"]);
        let line = sheet(&stats).lines().nth(1).map(str::to_owned);
        assert_eq!(line.as_deref(), Some("\"c\",2,30,15.000000,75.00,10,20,7.071068"));
    }

    #[test]
    fn the_spread_of_long_calls_does_not_overflow() {
        // 1 s and 3 s a thousand times each: 1 s from the mean of 2 s.
        let durations: Vec<i64> = (0..2000).map(|at| 1_000_000_000 * (1 + at % 2 * 2)).collect();
        let deviation = of(&durations).deviation();
        assert!((deviation - 1_000_250_093.8).abs() < 1.0, "{deviation}");
    }

    proptest! {
        #[test]
        fn parts_together_are_the_whole(durations in prop::collection::vec(0_i64..1 << 40, 2..50), at in 0_usize..50) {
            let (first, second) = durations.split_at(at.min(durations.len()));
            let (whole, mut parts) = (of(&durations), of(first));
            parts.merge(&of(second));
            prop_assert_eq!((parts.calls, parts.total, parts.least, parts.most), (whole.calls, whole.total, whole.least, whole.most));
            prop_assert!((parts.deviation() - whole.deviation()).abs() <= 1e-6 * whole.deviation().max(1.0));
        }
    }
}
