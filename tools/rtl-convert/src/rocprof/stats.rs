//! Statistics by name, in rocprof's formats of numbers.

use std::cmp::Reverse;
use std::collections::BTreeMap;

#[derive(Debug, Default)]
pub(super) struct Stats(BTreeMap<String, (u64, i128)>);

impl Stats {
    pub(super) fn add(&mut self, name: &str, duration: i64) {
        if let Some((calls, total)) = self.0.get_mut(name) {
            *calls += 1;
            *total += i128::from(duration);
        } else {
            self.0.insert(name.to_owned(), (1, i128::from(duration)));
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// By descending total, then by name. The average is cut to whole nanoseconds.
    pub(super) fn sheet(&self) -> String {
        let mut rows: Vec<_> = self.0.iter().collect();
        rows.sort_by_key(|(_, (_, total))| Reverse(*total));
        let all: i128 = rows.iter().map(|(_, (_, total))| total).sum();
        let mut text = String::from("\"Name\",\"Calls\",\"TotalDurationNs\",\"AverageNs\",\"Percentage\"\n");
        for (name, &(calls, total)) in rows {
            let share = if all > 0 { total as f64 * 100.0 / all as f64 } else { 0.0 };
            let average = total / i128::from(calls.max(1));
            text.push_str(&format!(
                "\"{}\",{calls},{total},{average},{share:?}\n",
                name.replace('"', "\"\"")
            ));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn averages_are_cut_and_shares_are_printed_in_full() {
        let mut stats = Stats::default();
        for (name, duration) in [("a", 10), ("b \"x\"", 20), ("a", 11)] {
            stats.add(name, duration);
        }
        let rows: Vec<String> = stats.sheet().lines().skip(1).map(str::to_owned).collect();
        assert_eq!(rows, ["\"a\",2,21,10,51.21951219512195", "\"b \"\"x\"\"\",1,20,20,48.78048780487805"]);
    }
}
