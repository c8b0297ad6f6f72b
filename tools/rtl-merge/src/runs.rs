//! Whether the traces are of one run.

use std::sync::LazyLock;

use cli::Failure;
use regex::Regex;

use crate::machines::Machines;
use crate::survey::Survey;

/// Checks that they are.
///
/// # Errors
/// Where two traces name different runs, or different numbers of ranks.
pub fn check(inputs: &[Survey], machines: &Machines) -> Result<(), Failure> {
    for (at, one) in inputs.iter().enumerate() {
        // Each against the one before: what differs anywhere differs somewhere between neighbours.
        let Some(before) = at.checked_sub(1) else { continue };
        if let Some(why) = differ(&inputs[before], one, machines.only(before) == machines.only(at)) {
            let what = format!("{} and {} are of different runs: {why}", inputs[before].name(), one.name());
            return Err(Failure::input(anyhow::anyhow!(what)).with_hint("--force merges them all the same"));
        }
    }
    Ok(())
}

fn differ(one: &Survey, other: &Survey, one_machine: bool) -> Option<String> {
    let world = |survey: &Survey| survey.processes.iter().find_map(|process| process.world);
    if let (Some(ranks), Some(others)) = (world(one), world(other))
        && ranks != others
    {
        return Some(format!("one has {ranks} ranks, the other {others}"));
    }
    let (run, other_run) = (one.tag("run_id")?, other.tag("run_id")?);
    if run == other_run {
        return None;
    }
    let told = Some(format!("run {run}, run {other_run}"));
    match (is_launcher(run), is_launcher(other_run)) {
        (false, false) => told,
        // Each host has a launcher of its own, and a wrapper of each rank may be one too: then they ran at one time.
        (true, true) if one_machine && !overlap(one, other) => told,
        _ => None,
    }
}

/// Whether a run is only known by the process that started it: its id and start.
fn is_launcher(run: &str) -> bool {
    static LAUNCHER: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^\d+-\d+$").ok());
    LAUNCHER.as_ref().is_some_and(|launcher| launcher.is_match(run))
}

fn overlap(one: &Survey, other: &Survey) -> bool {
    match (one.span, other.span) {
        (Some((first, last)), Some((other_first, other_last))) => first <= other_last && other_first <= last,
        _ => true,
    }
}
