//! In which steps something happens.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};

use rtl_schema::{ProcessId, Tables};

use crate::gpu_time::ranges::Repeated;

/// A step with less than this part of the most that one has is not counted.
const MUCH: f64 = 0.2;

/// From this part of the steps on it happens in every one.
const ALL: f64 = 0.8;

/// The steps in which something happens; the text follows a comma: `in every fourth step`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Rhythm {
    /// In one of several steps, by its label.
    Once(String),
    /// In all of them.
    Always,
    /// In each step at this distance from the one before.
    Every(usize),
    /// In a number of steps, and how many there are.
    Some([usize; 2]),
}

impl Rhythm {
    /// The rhythm of moments, which are starts with lengths in ns; `None` where no step has any of them.
    pub(super) fn new(
        tables: &Tables,
        steps: &Repeated,
        moments: impl Iterator<Item = (ProcessId, i64, u64)>,
    ) -> Option<Self> {
        let mut times: BTreeMap<usize, u64> = BTreeMap::new();
        let mut count = 0;
        for (process, start, ns) in moments {
            count = count.max(steps.count(process));
            if let Some(step) = steps.of_moment(process, start) {
                *times.entry(step).or_default() += ns;
            }
        }
        let most = *times.values().max()?;
        times.retain(|_, time| *time as f64 >= MUCH * most as f64);
        let found: Vec<usize> = times.into_keys().collect();
        Some(match found[..] {
            [step] if count > 1 => Self::Once(label(tables, steps, step)),
            _ if found.len() as f64 >= ALL * count as f64 => Self::Always,
            _ => period(&found, count).map_or(Self::Some([found.len(), count]), Self::Every),
        })
    }

    pub(super) fn comes_back(&self) -> bool {
        !matches!(self, Self::Once(_))
    }

    /// Returns whether the steps with it are spread over all of them.
    pub(super) fn is_regular(&self) -> bool {
        matches!(self, Self::Always | Self::Every(_))
    }
}

impl Display for Rhythm {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Once(label) => write!(out, "in {label} only"),
            Self::Always => write!(out, "in every step"),
            Self::Every(period) => write!(out, "in every {} step", ordinal(*period)),
            Self::Some([found, count]) => write!(out, "in {found} of {count} steps"),
        }
    }
}

/// A label that is only a number names nothing.
pub(super) fn label(tables: &Tables, steps: &Repeated, step: usize) -> String {
    let label = steps.label(tables, step);
    let word = if label.starts_with(|c: char| c.is_ascii_digit()) { "step " } else { "" };
    format!("{word}{label}")
}

/// The distance between steps that have it, if that is always the same from the first step to the last. The first and the
/// last step may have it unseen: nothing runs before or after it.
fn period(found: &[usize], count: usize) -> Option<usize> {
    let (&first, &second, &last) = (found.first()?, found.get(1)?, found.last()?);
    let period = second - first;
    let is_even = found.windows(2).all(|pair| pair[1] - pair[0] == period);
    (is_even && period > 1 && first <= period && last + period + 1 >= count).then_some(period)
}

fn ordinal(number: usize) -> String {
    const NAMES: [&str; 9] =
        ["second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"];
    match number.checked_sub(2).and_then(|at| NAMES.get(at)) {
        Some(name) => (*name).to_owned(),
        None => match (number % 10, number % 100) {
            (1, tens) if tens != 11 => format!("{number}st"),
            (2, tens) if tens != 12 => format!("{number}nd"),
            (3, tens) if tens != 13 => format!("{number}rd"),
            _ => format!("{number}th"),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rhythm_holds_from_the_first_step_to_the_last() {
        assert_eq!(period(&[0, 5, 10, 15], 20), Some(5));
        assert_eq!(period(&[3, 7, 11], 12), Some(4));
        assert_eq!(period(&[5, 10, 15], 20), Some(5));
        assert_eq!(period(&[4, 9, 14], 20), Some(5));
        assert_eq!(period(&[3, 7, 11], 20), None);
        assert_eq!(period(&[9, 11], 12), None);
        assert_eq!(period(&[1, 2, 3, 4], 6), None);
        assert_eq!(period(&[0, 5, 9], 12), None);
        assert_eq!([2, 4, 11, 21, 50].map(ordinal), ["second", "fourth", "11th", "21st", "50th"]);
    }
}
