//! Groups files into runs. Files of one job are its ranks and never repetitions of it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use cli::Failure;
use rtl_schema::Tables;

use crate::args::Files;

/// The job and the rank that a file states.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Origin {
    pub(super) path: PathBuf,
    pub(super) run: Option<String>,
    /// The rank of the process, where there is only one.
    pub(super) rank: Option<u32>,
}

impl Origin {
    pub(super) fn new(path: &Path, tables: &Tables) -> Self {
        let run_id = tables.info.metadata.iter().find(|(tag, _)| tag == "run_id");
        let rank = match tables.processes.as_slice() {
            [process] => process.rank,
            _ => None,
        };
        Self { path: path.to_owned(), run: run_id.map(|(_, value)| value.clone()), rank }
    }
}

/// The files of each run as positions in `origins`, in the order of the first file of each; ranks in order of rank.
pub(super) fn runs(origins: &[Origin], files: Option<Files>) -> Result<Vec<Vec<usize>>, Failure> {
    let all = || (0..origins.len()).collect::<Vec<_>>();
    if origins.len() < 2 {
        return Ok(all().into_iter().map(|at| vec![at]).collect());
    }
    let mut by_run: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, origin) in origins.iter().enumerate() {
        if let Some(run) = &origin.run {
            by_run.entry(run).or_default().push(at);
        }
    }
    match files {
        Some(Files::Ranks) => {
            distinct_ranks(origins, &all())?;
            return Ok(vec![by_rank(origins, all())]);
        }
        Some(Files::Runs) => {
            for (run, members) in &by_run {
                let ranks: Vec<_> = members.iter().filter_map(|&at| origins[at].rank).collect();
                if ranks.iter().any(|rank| *rank != ranks[0]) {
                    return Err(Failure::input(anyhow::anyhow!(
                        "{} and {} are different ranks of one run ({run}), not two runs",
                        origins[members[0]].path.display(),
                        origins[members[1]].path.display(),
                    ))
                    .with_hint("leave out `--as runs`: files of one run are taken together"));
                }
            }
            return Ok(all().into_iter().map(|at| vec![at]).collect());
        }
        None => {}
    }
    if let Some(silent) = origins.iter().find(|origin| origin.run.is_none()) {
        return Err(Failure::input(anyhow::anyhow!(
            "{} does not say which run it is from: {} files of one side can be runs or ranks",
            silent.path.display(),
            origins.len()
        ))
        .with_hint("say which: `--as runs` for repetitions, `--as ranks` for the processes of one run"));
    }
    let mut runs: Vec<Vec<usize>> = by_run.into_values().collect();
    for members in &mut runs {
        distinct_ranks(origins, members)?;
        *members = by_rank(origins, std::mem::take(members));
    }
    runs.sort_by_key(|members| members.iter().min().copied());
    Ok(runs)
}

fn by_rank(origins: &[Origin], mut members: Vec<usize>) -> Vec<usize> {
    members.sort_by_key(|&at| (origins[at].rank, at));
    members
}

fn distinct_ranks(origins: &[Origin], members: &[usize]) -> Result<(), Failure> {
    let mut seen: BTreeMap<u32, usize> = BTreeMap::new();
    for &at in members {
        let Some(rank) = origins[at].rank else { continue };
        if let Some(other) = seen.insert(rank, at) {
            return Err(Failure::input(anyhow::anyhow!(
                "{} and {} are both rank {rank} of one run",
                origins[other].path.display(),
                origins[at].path.display()
            ))
            .with_hint("`--as runs` if they are repetitions that got the same run id"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin(file: &str, run: Option<&str>, rank: Option<u32>) -> Origin {
        Origin { path: PathBuf::from(file), run: run.map(str::to_owned), rank }
    }

    fn message(result: Result<Vec<Vec<usize>>, Failure>) -> String {
        result.map_err(|failure| failure.error().to_string()).expect_err("it is refused")
    }

    #[test]
    fn files_of_one_job_are_its_ranks() {
        let origins = [
            origin("a1", Some("a"), Some(1)),
            origin("b0", Some("b"), Some(0)),
            origin("a0", Some("a"), Some(0)),
        ];
        assert_eq!(runs(&origins, None).ok(), Some(vec![vec![2, 0], vec![1]]));
        assert!(message(runs(&origins, Some(Files::Runs))).contains("different ranks of one run (a)"));
    }

    #[test]
    fn without_a_run_id_the_user_decides() {
        let origins = [origin("a", None, None), origin("b", None, None)];
        assert!(message(runs(&origins, None)).starts_with("a does not say which run it is from"));
        assert_eq!(runs(&origins, Some(Files::Runs)).ok(), Some(vec![vec![0], vec![1]]));
        assert_eq!(runs(&origins, Some(Files::Ranks)).ok(), Some(vec![vec![0, 1]]));
        assert_eq!(runs(&origins[..1], None).ok(), Some(vec![vec![0]]), "one file is one run");
    }

    #[test]
    fn the_same_rank_twice_is_neither() {
        let origins = [origin("a", Some("7"), Some(0)), origin("b", Some("7"), Some(0))];
        assert_eq!(message(runs(&origins, None)), "a and b are both rank 0 of one run");
        assert_eq!(runs(&origins, Some(Files::Runs)).ok(), Some(vec![vec![0], vec![1]]));
    }
}
