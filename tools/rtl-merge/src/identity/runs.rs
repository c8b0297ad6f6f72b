//! Checks that all traces are of one run.

use std::sync::LazyLock;

use cli::Failure;
use regex_lite::Regex;
use rtl_schema::table::Process;
use rustc_hash::{FxHashMap, FxHashSet};

use super::machines::Machines;
use crate::output::MERGED;
use crate::read::Input;
use crate::read::rows::TABLES;

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
    let mut seen = Seen::default();
    for (at, one) in runs.iter().enumerate() {
        // Nearly all traces are of one run, so the one that another contradicts is looked for only where there is one.
        let others = if seen.may_contradict(one) { &runs[..at] } else { &[] };
        for other in others {
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
        seen.add(one);
    }
    Ok(())
}

/// The rows by table and the span of a trace.
type Extent = ([u64; TABLES.len()], Option<(i64, i64)>);

/// The traces before one, none of which contradicts another: what decides whether one of them may contradict the next.
#[derive(Default)]
struct Seen<'a> {
    world: Option<u32>,
    name: Option<&'a str>,
    /// Of each process: its traces by rows and span, and whether one of them is merged.
    copies: FxHashSet<(Key<'a>, Extent)>,
    processes: FxHashMap<Key<'a>, bool>,
    /// By machine, the names that launchers gave, with the last start and the first end of their traces in ns.
    launchers: FxHashMap<Option<usize>, FxHashMap<&'a str, (i64, i64)>>,
}

/// A process as [`is_same`] compares them; of those with a guid and those without each may be the same by boot and pid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Key<'a> {
    Guid(&'a str),
    Boot(&'a str, i64),
}

fn keys(process: &Process) -> impl Iterator<Item = Key<'_>> {
    let boot = process.boot_id.as_deref().zip(process.pid).map(|(boot, pid)| Key::Boot(boot, pid));
    process.guid.as_deref().map(Key::Guid).into_iter().chain(boot)
}

impl<'a> Seen<'a> {
    /// Returns false if no trace contradicts this one.
    fn may_contradict(&self, one: &Run<'_>) -> bool {
        let rows = one.input.rows.counts;
        let keys = one.input.processes.iter().flat_map(keys);
        let is_twice = keys
            .filter_map(|key| self.processes.get(&key).map(|&is_merged| (key, is_merged)))
            .any(|(key, is_merged)| {
                let is_copy =
                    || one.input.rows.all() > 0 && self.copies.contains(&(key, (rows, one.input.span)));
                one.is_merged || is_merged || is_copy()
            });
        let is_other_world = one.world.is_some_and(|world| self.world.is_some_and(|other| other != world));
        let is_other_run = |name: &str| match is_launcher(name) {
            false => self.name.is_some_and(|other| other != name),
            true => self.launchers.get(&one.machine).into_iter().flatten().any(|(&other, &(start, end))| {
                other != name && one.input.span.is_some_and(|(first, last)| start > last || end < first)
            }),
        };
        is_twice || is_other_world || one.name.is_some_and(is_other_run)
    }

    fn add(&mut self, one: &Run<'a>) {
        self.world = self.world.or(one.world);
        for key in one.input.processes.iter().flat_map(keys) {
            self.copies.insert((key, (one.input.rows.counts, one.input.span)));
            *self.processes.entry(key).or_default() |= one.is_merged;
        }
        match one.name {
            Some(name) if is_launcher(name) => {
                if let Some((first, last)) = one.input.span {
                    let of_machine = self.launchers.entry(one.machine).or_default();
                    let (start, end) = of_machine.entry(name).or_insert((first, last));
                    (*start, *end) = ((*start).max(first), (*end).min(last));
                }
            }
            name => self.name = self.name.or(name),
        }
    }
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
