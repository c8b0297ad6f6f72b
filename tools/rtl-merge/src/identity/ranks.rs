//! Assigns a rank to every trace, each rank once.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::sync::LazyLock;

use cli::Failure;
use regex_lite::Regex;

use crate::read::Input;

/// The ranks of `--set-rank FILE=N`.
#[derive(Debug, Clone, Default)]
pub(crate) struct RankOverrides(Vec<(String, u32)>);

impl RankOverrides {
    /// # Errors
    /// Where a word is not `FILE=N`, or a file has two ranks.
    pub(crate) fn parse(words: &[String]) -> Result<Self, Failure> {
        let mut ranks: Vec<(String, u32)> = Vec::new();
        for word in words {
            let parsed = word.rsplit_once('=').and_then(|(file, rank)| Some((file, rank.parse().ok()?)));
            let Some((file, rank)) = parsed else {
                return Err(Failure::usage(format!("--set-rank: `{word}` is not FILE=N"))
                    .with_hint("write the file as among the traces, for example --set-rank node7.db=7"));
            };
            if ranks.iter().any(|(other, _)| other == file) {
                return Err(Failure::usage(format!("--set-rank: {file} has two ranks")));
            }
            ranks.push((file.to_owned(), rank));
        }
        Ok(Self(ranks))
    }

    /// The rank of the trace at `path`, if set.
    pub(crate) fn rank(&self, path: &Path) -> Option<u32> {
        self.0.iter().find(|(file, _)| is_named(path, file)).map(|&(_, rank)| rank)
    }
}

/// The user may write the path of a trace or its name.
fn is_named(path: &Path, file: &str) -> bool {
    Path::new(file) == path || path.file_name().is_some_and(|name| name == file)
}

/// Assigns ranks: those of `overrides`, else the stored ones, else those of file names if no trace has stored one. Then
/// sorts the traces by rank and start.
///
/// # Errors
/// Where ranks repeat, or only some traces have one unless `allow_missing`.
pub(crate) fn assign(
    inputs: &mut [Input],
    overrides: &RankOverrides,
    allow_missing: bool,
) -> Result<(), Failure> {
    for (file, _) in &overrides.0 {
        if !inputs.iter().any(|input| is_named(&input.path, file)) {
            return Err(Failure::usage(format!("--set-rank: {file} is not among the traces")));
        }
    }
    if inputs.iter().all(|input| input.ranks().is_empty()) {
        let named: Vec<Option<u32>> = inputs.iter().map(|input| rank_of_name(&input.name())).collect();
        let mut distinct: Vec<u32> = named.iter().copied().flatten().collect();
        distinct.sort_unstable();
        distinct.dedup();
        if distinct.len() == inputs.len() && inputs.len() > 1 {
            for (input, rank) in inputs.iter_mut().zip(named) {
                input.processes.iter_mut().for_each(|process| process.rank = rank);
            }
        }
    }
    for input in inputs.iter_mut() {
        if let Some(rank) = overrides.rank(&input.path) {
            input.processes.iter_mut().for_each(|process| process.rank = Some(rank));
        }
    }
    if !allow_missing {
        check_missing(inputs)?;
    }
    check_repeated(inputs)?;
    inputs.sort_by(|one, other| key(one).cmp(&key(other)));
    Ok(())
}

/// Traces without rank come last, by start; the path makes the order total.
fn key(input: &Input) -> (u32, i64, &Path) {
    let rank = input.ranks().first().copied().unwrap_or(u32::MAX);
    (rank, input.span.map_or(i64::MAX, |(first, _)| first), &input.path)
}

/// The number after the word `rank` in a file name.
pub(crate) fn rank_of_name(name: &str) -> Option<u32> {
    static RANK: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"(?i)(?:^|[^a-z])rank[-_.=]?(\d+)").ok());
    RANK.as_ref()?.captures(name)?.get(1)?.as_str().parse().ok()
}

fn check_missing(inputs: &[Input]) -> Result<(), Failure> {
    let without: Vec<String> =
        inputs.iter().filter(|input| input.ranks().is_empty()).map(Input::name).collect();
    if without.is_empty() || without.len() == inputs.len() {
        return Ok(());
    }
    let some = format!("{} of {} traces have no rank: {}", without.len(), inputs.len(), without.join(", "));
    Err(Failure::input(anyhow::anyhow!(some))
        .with_hint("--set-rank FILE=N sets it, `--allow missing-ranks` leaves it unknown"))
}

fn check_repeated(inputs: &[Input]) -> Result<(), Failure> {
    let mut by_rank: BTreeMap<u32, Vec<&Input>> = BTreeMap::new();
    for input in inputs {
        for rank in input.ranks() {
            by_rank.entry(rank).or_default().push(input);
        }
    }
    for (rank, claimants) in by_rank {
        // A process may have left thousands of traces, which are all related to others alike.
        let mut distinct: Vec<&Input> = Vec::new();
        let mut seen: HashSet<Vec<_>> = HashSet::new();
        let mut is_conflict = false;
        for &one in &claimants {
            let identities = one.processes.iter().map(|own| (&own.boot_id, &own.host, own.pid, own.ppid));
            if seen.insert(identities.collect()) {
                is_conflict = distinct.iter().any(|two| !related(one, two));
                distinct.push(one);
            } else {
                is_conflict = !related(one, one);
            }
            if is_conflict {
                break;
            }
        }
        if is_conflict {
            let files: Vec<String> = claimants.iter().map(|input| input.name()).collect();
            let what = format!("{} traces are rank {rank}: {}", files.len(), files.join(", "));
            return Err(Failure::input(anyhow::anyhow!(what))
                .with_hint("--set-rank FILE=N says which rank each of them is"));
        }
    }
    Ok(())
}

/// Two traces may share a rank if they are parts of one process, or of a process and its child, which inherits the environment
/// variables of the rank.
fn related(one: &Input, other: &Input) -> bool {
    let mut pairs = one.processes.iter().flat_map(|a| other.processes.iter().map(move |b| (a, b)));
    pairs.any(|(a, b)| {
        let machine = match (&a.boot_id, &b.boot_id) {
            (Some(one), Some(other)) => one == other,
            _ => a.host.is_some() && a.host == b.host,
        };
        machine && a.pid.is_some() && (a.pid == b.pid || a.pid == b.ppid || a.ppid == b.pid)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rank_is_read_from_a_file_name_with_the_word_rank() {
        for (name, rank) in [
            ("rank3.db", Some(3)),
            ("trace_rank-12.db", Some(12)),
            ("job.rank=07.rpd", Some(7)),
            ("Rank_0.json.gz", Some(0)),
            ("frank3.db", None),
            ("trace_4242.db", None),
        ] {
            assert_eq!(rank_of_name(name), rank, "{name}");
        }
    }
}
