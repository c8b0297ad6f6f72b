//! Which rank a trace is, and that no two are the same.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::LazyLock;

use cli::Failure;
use regex::Regex;

use crate::args::Identity;
use crate::survey::Survey;

/// What `--rank` says.
#[derive(Debug, Clone, Default)]
pub struct Given(Vec<(String, u32)>);

impl Given {
    /// Reads `FILE=N`.
    ///
    /// # Errors
    /// Where one is something else, or a file has two.
    pub fn of(identity: &Identity) -> Result<Self, Failure> {
        let mut given: Vec<(String, u32)> = Vec::new();
        for word in &identity.rank {
            let parsed = word.rsplit_once('=').and_then(|(file, rank)| Some((file, rank.parse().ok()?)));
            let Some((file, rank)) = parsed else {
                return Err(Failure::usage(format!("--rank: {word} is not FILE=N"))
                    .with_hint("name the file as among the traces, for example --rank node7.db=7"));
            };
            if given.iter().any(|(other, _)| other == file) {
                return Err(Failure::usage(format!("--rank: {file} has two ranks")));
            }
            given.push((file.to_owned(), rank));
        }
        Ok(Self(given))
    }

    /// What it says of the trace at `path`.
    #[must_use]
    pub fn rank(&self, path: &Path) -> Option<u32> {
        self.0.iter().find(|(file, _)| is_named(path, file)).map(|&(_, rank)| rank)
    }
}

/// Whether somebody who writes `file` means this path.
fn is_named(path: &Path, file: &str) -> bool {
    Path::new(file) == path || path.file_name().is_some_and(|name| name == file)
}

/// Gives every trace its rank: the one that was typed, else the one that it has stored, else that of its name where no
/// trace has stored one. Then puts the traces in the order of their ranks and starts.
///
/// # Errors
/// Where ranks repeat, or some traces have one and others do not and that is not allowed.
pub fn assign(inputs: &mut [Survey], given: &Given, identity: &Identity) -> Result<(), Failure> {
    for (file, _) in &given.0 {
        if !inputs.iter().any(|input| is_named(&input.path, file)) {
            return Err(Failure::usage(format!("--rank: {file} is not among the traces")));
        }
    }
    if inputs.iter().all(|input| input.ranks().is_empty()) {
        let named: Vec<Option<u32>> = inputs.iter().map(|input| of_name(&input.name())).collect();
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
        if let Some(rank) = given.rank(&input.path) {
            input.processes.iter_mut().for_each(|process| process.rank = Some(rank));
        }
    }
    missing(inputs, identity)?;
    repeated(inputs)?;
    inputs.sort_by(|one, other| key(one).cmp(&key(other)));
    Ok(())
}

/// Traces without rank come behind, by their start; the path makes the order total.
fn key(input: &Survey) -> (u32, i64, &Path) {
    let rank = input.ranks().first().copied().unwrap_or(u32::MAX);
    (rank, input.span.map_or(i64::MAX, |(first, _)| first), &input.path)
}

/// The number behind the word `rank` in a file's name.
#[must_use]
pub fn of_name(name: &str) -> Option<u32> {
    static RANK: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"(?i)(?:^|[^a-z])rank[-_.=]?(\d+)").ok());
    RANK.as_ref()?.captures(name)?.get(1)?.as_str().parse().ok()
}

fn missing(inputs: &[Survey], identity: &Identity) -> Result<(), Failure> {
    let without: Vec<String> =
        inputs.iter().filter(|input| input.ranks().is_empty()).map(Survey::name).collect();
    if identity.allow_missing || without.is_empty() || without.len() == inputs.len() {
        return Ok(());
    }
    let some = format!("{} of {} traces have no rank: {}", without.len(), inputs.len(), without.join(", "));
    Err(Failure::input(anyhow::anyhow!(some))
        .with_hint("--rank FILE=N says it, --allow-missing leaves it unknown"))
}

fn repeated(inputs: &[Survey]) -> Result<(), Failure> {
    let mut by_rank: BTreeMap<u32, Vec<&Survey>> = BTreeMap::new();
    for input in inputs {
        for rank in input.ranks() {
            by_rank.entry(rank).or_default().push(input);
        }
    }
    for (rank, claimants) in by_rank {
        let strangers = claimants
            .iter()
            .enumerate()
            .any(|(at, one)| claimants[..at].iter().any(|two| !related(one, two)));
        if strangers {
            let files: Vec<String> = claimants.iter().map(|input| input.name()).collect();
            let what = format!("{} traces are rank {rank}: {}", files.len(), files.join(", "));
            return Err(Failure::input(anyhow::anyhow!(what))
                .with_hint("--rank FILE=N says which rank each of them is"));
        }
    }
    Ok(())
}

/// Whether two traces may well have one rank: parts of one process, or a process and what it started, which has
/// inherited the variables that name the rank.
fn related(one: &Survey, other: &Survey) -> bool {
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
    fn a_rank_is_told_from_a_name_that_says_the_word() {
        for (name, rank) in [
            ("rank3.db", Some(3)),
            ("trace_rank-12.db", Some(12)),
            ("job.rank=07.rpd", Some(7)),
            ("Rank_0.json.gz", Some(0)),
            ("frank3.db", None),
            ("trace_4242.db", None),
        ] {
            assert_eq!(of_name(name), rank, "{name}");
        }
    }
}
