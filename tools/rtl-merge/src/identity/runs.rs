//! Checks that all traces are of one run.

use std::sync::LazyLock;

use cli::Failure;
use regex_lite::Regex;
use rtl_schema::table::Process;

use super::machines::Machines;
use crate::output::MERGED;
use crate::read::Input;

/// # Errors
/// Where two traces name different runs, or different numbers of ranks, or have the same rows.
pub(crate) fn check(inputs: &[Input], machines: &Machines) -> Result<(), Failure> {
    let runs: Vec<Run<'_>> = (inputs.iter().enumerate())
        .map(|(at, input)| Run {
            input,
            name: input.tag("run_id"),
            world: input.processes.iter().find_map(|process| process.world),
            is_merged: input.tag(MERGED).is_some(),
            machine: machines.only(at),
        })
        .collect();
    for (at, one) in runs.iter().enumerate() {
        for other in &runs[..at] {
            let names = || format!("{} and {}", other.input.name(), one.input.name());
            if is_twice(one, other) {
                let what = format!("{} have the same rows", names());
                return Err(Failure::input(anyhow::anyhow!(what))
                    .with_hint("name each trace once; `--allow different-runs` merges them all the same"));
            }
            if let Some(why) = differ(other, one) {
                let what = format!("{} are of different runs: {why}", names());
                return Err(Failure::input(anyhow::anyhow!(what))
                    .with_hint("`--allow different-runs` merges them all the same"));
            }
        }
    }
    Ok(())
}

/// The run of a trace, as far as the trace states it.
struct Run<'a> {
    input: &'a Input,
    name: Option<&'a str>,
    /// The number of ranks.
    world: Option<u32>,
    is_merged: bool,
    machine: Option<usize>,
}

/// Two traces hold the same rows of one process if one is a copy of the other, or a merged trace that has the other as a source.
fn is_twice(one: &Run<'_>, other: &Run<'_>) -> bool {
    let (own, others) = (one.input, other.input);
    let is_copy = own.rows == others.rows && own.span == others.span && own.rows.all() > 0;
    (is_copy || one.is_merged || other.is_merged)
        && own.processes.iter().any(|process| others.processes.iter().any(|same| is_same(process, same)))
}

fn is_same(one: &Process, other: &Process) -> bool {
    match (&one.guid, &other.guid) {
        (Some(guid), Some(same)) => guid == same,
        _ => {
            let is_known = one.boot_id.is_some() && one.pid.is_some();
            is_known && (&one.boot_id, one.pid) == (&other.boot_id, other.pid)
        }
    }
}

fn differ(one: &Run<'_>, other: &Run<'_>) -> Option<String> {
    if let (Some(ranks), Some(others)) = (one.world, other.world)
        && ranks != others
    {
        return Some(format!("one has {ranks} ranks, the other {others}"));
    }
    let (run, other_run) = (one.name?, other.name?);
    if run == other_run {
        return None;
    }
    let different = Some(format!("run {run}, run {other_run}"));
    let one_machine = one.machine.is_some() && one.machine == other.machine;
    match (is_launcher(run), is_launcher(other_run)) {
        (false, false) => different,
        // Each host has its own launcher, and so may each rank: then the traces overlap in time.
        (true, true) if one_machine && !overlap(one.input, other.input) => different,
        _ => None,
    }
}

/// A launcher without a name for the run writes its pid and start.
fn is_launcher(run: &str) -> bool {
    static LAUNCHER: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^\d+-\d+$").ok());
    LAUNCHER.as_ref().is_some_and(|launcher| launcher.is_match(run))
}

fn overlap(one: &Input, other: &Input) -> bool {
    match (one.span, other.span) {
        (Some((first, last)), Some((other_first, other_last))) => first <= other_last && other_first <= last,
        _ => true,
    }
}
