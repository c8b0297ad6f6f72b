//! Which files make a run. Files of one job are its ranks and never repetitions of it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use cli::Failure;
use rtl_schema::Tables;

use crate::args::Files;

/// What a file says it belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Claim {
    /// The file.
    pub(super) path: PathBuf,
    /// The job that it is from.
    pub(super) run: Option<String>,
    /// The rank of its process, where it has one.
    pub(super) rank: Option<u32>,
}

impl Claim {
    pub(super) fn of(path: PathBuf, tables: &Tables) -> Self {
        let run =
            tables.info.metadata.iter().find(|(tag, _)| tag == "run_id").map(|(_, value)| value.clone());
        let rank = match tables.processes.as_slice() {
            [process] => process.rank,
            _ => None,
        };
        Self { path, run, rank }
    }
}

/// The files of each run as positions in `claims`, in the order of the first file of each; ranks in order of rank.
pub(super) fn runs(claims: &[Claim], files: Option<Files>) -> Result<Vec<Vec<usize>>, Failure> {
    let all = || (0..claims.len()).collect::<Vec<_>>();
    if claims.len() < 2 {
        return Ok(all().into_iter().map(|at| vec![at]).collect());
    }
    let mut by_run: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, claim) in claims.iter().enumerate() {
        if let Some(run) = &claim.run {
            by_run.entry(run).or_default().push(at);
        }
    }
    match files {
        Some(Files::Ranks) => {
            distinct_ranks(claims, &all())?;
            return Ok(vec![by_rank(claims, all())]);
        }
        Some(Files::Runs) => {
            for (run, members) in &by_run {
                let ranks: Vec<_> = members.iter().filter_map(|&at| claims[at].rank).collect();
                if ranks.iter().any(|rank| *rank != ranks[0]) {
                    return Err(Failure::input(anyhow::anyhow!(
                        "{} and {} are different ranks of one run ({run}), not two runs",
                        claims[members[0]].path.display(),
                        claims[members[1]].path.display(),
                    ))
                    .with_hint("leave out `--as runs`: files of one run are taken together"));
                }
            }
            return Ok(all().into_iter().map(|at| vec![at]).collect());
        }
        None => {}
    }
    if let Some(silent) = claims.iter().find(|claim| claim.run.is_none()) {
        return Err(Failure::input(anyhow::anyhow!(
            "{} does not say which run it is from: {} files of one side can be runs or ranks",
            silent.path.display(),
            claims.len()
        ))
        .with_hint("say which: `--as runs` for repetitions, `--as ranks` for the processes of one run"));
    }
    let mut runs: Vec<Vec<usize>> = by_run.into_values().collect();
    for members in &mut runs {
        distinct_ranks(claims, members)?;
        *members = by_rank(claims, std::mem::take(members));
    }
    runs.sort_by_key(|members| members.iter().min().copied());
    Ok(runs)
}

fn by_rank(claims: &[Claim], mut members: Vec<usize>) -> Vec<usize> {
    members.sort_by_key(|&at| (claims[at].rank, at));
    members
}

/// Two files cannot both be the same rank of one run.
fn distinct_ranks(claims: &[Claim], members: &[usize]) -> Result<(), Failure> {
    let mut seen: BTreeMap<u32, usize> = BTreeMap::new();
    for &at in members {
        let Some(rank) = claims[at].rank else { continue };
        if let Some(other) = seen.insert(rank, at) {
            return Err(Failure::input(anyhow::anyhow!(
                "{} and {} are both rank {rank} of one run",
                claims[other].path.display(),
                claims[at].path.display()
            ))
            .with_hint("`--as runs` if they are repetitions that got the same run id"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(file: &str, run: Option<&str>, rank: Option<u32>) -> Claim {
        Claim { path: PathBuf::from(file), run: run.map(str::to_owned), rank }
    }

    fn message(result: Result<Vec<Vec<usize>>, Failure>) -> String {
        result.map_err(|failure| failure.error().to_string()).expect_err("it is refused")
    }

    #[test]
    fn files_of_one_job_are_its_ranks() {
        let claims = [
            claim("a1", Some("a"), Some(1)),
            claim("b0", Some("b"), Some(0)),
            claim("a0", Some("a"), Some(0)),
        ];
        assert_eq!(runs(&claims, None).ok(), Some(vec![vec![2, 0], vec![1]]));
        assert!(message(runs(&claims, Some(Files::Runs))).contains("different ranks of one run (a)"));
    }

    #[test]
    fn where_nothing_says_the_user_does() {
        let claims = [claim("a", None, None), claim("b", None, None)];
        assert!(message(runs(&claims, None)).starts_with("a does not say which run it is from"));
        assert_eq!(runs(&claims, Some(Files::Runs)).ok(), Some(vec![vec![0], vec![1]]));
        assert_eq!(runs(&claims, Some(Files::Ranks)).ok(), Some(vec![vec![0, 1]]));
        assert_eq!(runs(&claims[..1], None).ok(), Some(vec![vec![0]]), "one file is one run");
    }

    #[test]
    fn the_same_rank_twice_is_neither() {
        let claims = [claim("a", Some("7"), Some(0)), claim("b", Some("7"), Some(0))];
        assert_eq!(message(runs(&claims, None)), "a and b are both rank 0 of one run");
        assert_eq!(runs(&claims, Some(Files::Runs)).ok(), Some(vec![vec![0], vec![1]]));
    }
}
