//! The values that a trace has for each filter, for the errors of selections that keep nothing.

use std::collections::BTreeSet;

use rtl_schema::Tables;
use rtl_schema::table::AgentKind;

use super::filter::Filter;
use super::kernel_pattern::KernelPattern;
use crate::names::kernel_keys::KernelKeys;
use crate::{DisplayNames, Error, Result};

/// How many names an error lists.
const MAX_NAMES: usize = 5;

/// Fails where a filter names only GPUs, queues or ranks that the trace does not have.
pub(super) fn check_places(tables: &Tables, filter: &Filter) -> Result<()> {
    let used = tables.tracks.rows().iter();
    let gpu = |agent: rtl_schema::AgentId| {
        let agent = tables.agents.get(agent.index()).filter(|agent| agent.kind != AgentKind::Cpu);
        agent.map(|agent| agent.number)
    };
    let gpus: BTreeSet<i64> = used.clone().filter_map(|track| gpu(track.agent)).collect();
    let queues: BTreeSet<i64> = used.map(|track| track.queue).collect();
    let ranks: BTreeSet<i64> =
        tables.processes.iter().filter_map(|process| process.rank).map(i64::from).collect();
    let wanted_ranks: Vec<i64> = filter.ranks.iter().copied().map(i64::from).collect();
    for (what, wanted, existing) in
        [("GPU", &filter.gpus, gpus), ("queue", &filter.queues, queues), ("rank", &wanted_ranks, ranks)]
    {
        if !wanted.is_empty() && !wanted.iter().any(|number| existing.contains(number)) {
            return Err(Error::NoPlace {
                wanted: format!("{what} {}", numbers(wanted)),
                existing: match existing.is_empty() {
                    true => format!("no {what}s"),
                    false => format!("{what} {}", numbers(&existing.into_iter().collect::<Vec<_>>())),
                },
            });
        }
    }
    Ok(())
}

/// Ascending numbers, with runs of three or more as ranges: `0 to 7`, `0, 2, 3`.
fn numbers(numbers: &[i64]) -> String {
    let runs = numbers.chunk_by(|&number, &next| number.checked_add(1) == Some(next));
    let words = runs.flat_map(|run| match run {
        [first, _, .., last] => vec![format!("{first} to {last}")],
        few => few.iter().map(i64::to_string).collect(),
    });
    words.collect::<Vec<_>>().join(", ")
}

/// The error of a pattern that no kernel matches, with the kernels of the largest total time.
pub(super) fn no_kernel(tables: &Tables, pattern: &KernelPattern) -> Error {
    let keys = KernelKeys::of(tables);
    let names: Vec<&str> = keys.names().take(MAX_NAMES).collect();
    let display = DisplayNames::of(names.iter().copied());
    Error::NoKernel {
        pattern: pattern.to_string(),
        existing: listed(names.iter().map(|name| display.get(name)), keys.names().len(), "kernel"),
    }
}

/// The error of a range that the trace does not have.
pub(super) fn no_range(tables: &Tables, name: &str) -> Error {
    let mut names: Vec<&str> = Vec::new();
    let mut seen = BTreeSet::new();
    for range in &tables.ranges {
        if seen.insert(range.name) && names.len() < MAX_NAMES {
            names.push(tables.strings.get(range.name));
        }
    }
    Error::NoRange { name: name.to_owned(), existing: listed(names.into_iter(), seen.len(), "range") }
}

/// `no ranges`, `2 ranges: a, b`, `12 kernels: a, b, c, d, e, ...`.
fn listed<'a>(names: impl ExactSizeIterator<Item = &'a str>, count: usize, what: &str) -> String {
    let more = if names.len() < count { ", ..." } else { "" };
    let names = names.collect::<Vec<_>>().join(", ");
    match count {
        0 => format!("no {what}s"),
        1 => format!("1 {what}: {names}"),
        _ => format!("{count} {what}s: {names}{more}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn existing_numbers_and_names_are_short() {
        assert_eq!(numbers(&[0, 1, 2, 5, 6]), "0 to 2, 5, 6");
        assert_eq!(listed(["a", "b"].into_iter(), 7, "kernel"), "7 kernels: a, b, ...");
        assert_eq!(listed(["a"].into_iter(), 1, "kernel"), "1 kernel: a");
        assert_eq!(listed([].into_iter(), 0, "range"), "no ranges");
    }
}
