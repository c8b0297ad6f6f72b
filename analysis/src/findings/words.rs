//! Times and shares in sentences.

/// The bounds of units in ns, with their names and the digits behind the point that keep three.
const UNITS: [(f64, &str); 4] = [(1e9, "s"), (1e6, "ms"), (1e3, "us"), (1.0, "ns")];

/// A time in ns with three digits: `24.1 ms`.
pub(super) fn time(ns: i64) -> String {
    let ns = ns as f64;
    let (unit, name) = UNITS.into_iter().find(|(unit, _)| ns.abs() >= *unit).unwrap_or((1.0, "ns"));
    let value = ns / unit;
    let digits = match value.abs() {
        _ if unit == 1.0 => 0,
        below if below < 9.995 => 2,
        below if below < 99.95 => 1,
        _ => 0,
    };
    format!("{value:.digits$} {name}")
}

/// A share, 0 to 1: `9.6 %`.
pub(super) fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// A part of a whole: `52 %`.
pub(super) fn whole_percent(part: u64, whole: u64) -> String {
    format!("{:.0} %", part as f64 / whole.max(1) as f64 * 100.0)
}

/// `1 gap`, `576 gaps`.
pub(super) fn counted(count: u64, one: &str, many: &str) -> String {
    let name = if count == 1 { one } else { many };
    format!("{count} {name}")
}

/// The numbers and runs of numbers of a list, at most.
const LISTED: usize = 8;

/// Ascending numbers with their runs: `0, 2 to 7`; `None` where a list of them is too long to read.
pub(super) fn numbers(numbers: &[i64]) -> Option<String> {
    let run = |run: &[i64]| match run {
        [first, _, .., last] => vec![format!("{first} to {last}")],
        few => few.iter().map(i64::to_string).collect(),
    };
    let texts: Vec<String> = numbers.chunk_by(|one, next| *next == one + 1).flat_map(run).collect();
    (texts.len() <= LISTED).then(|| texts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_numbers_join_runs_and_have_an_end() {
        assert_eq!(numbers(&[0, 1, 4, 5, 6, 7, 9]).as_deref(), Some("0, 1, 4 to 7, 9"));
        let even: Vec<i64> = (0..20).map(|number| 2 * number).collect();
        assert_eq!(numbers(&even), None);
        assert_eq!(numbers(&(0..2_000).collect::<Vec<_>>()).as_deref(), Some("0 to 1999"));
    }

    #[test]
    fn times_have_three_digits() {
        let cases = [
            (0, "0 ns"),
            (999, "999 ns"),
            (1_500, "1.50 us"),
            (24_149_000, "24.1 ms"),
            (1_234_000_000, "1.23 s"),
        ];
        for (ns, text) in cases {
            assert_eq!(time(ns), text);
        }
        assert_eq!(time(99_960_000), "100 ms");
        assert_eq!(percent(0.0961), "9.6 %");
    }
}
