//! Saved reports, `rtl-summary/1`, as runs. Only the sections that a comparison needs are read.

use std::collections::BTreeMap;
use std::io::BufReader;
use std::path::Path;

use cli::Failure;
use cli::report::{GpuRow, Input, Row, StreamedInfo, Transfers, Work};
use rtl_analysis::Stats;
use rtl_analysis::categories::COLLECTIVE;
use rtl_analysis::compare;
use rtl_analysis::facts::Fact;
use rtl_analysis::idle::GpuIdle;
use rtl_analysis::profile::{Activity, ActivityTotal, CollectiveWaits, GpuProfile, Kernel, Profile};
use rtl_analysis::trust::Reason;
use rtl_schema::table::Direction;
use serde::Deserialize;

use super::group::Origin;
use super::run::Run;
use super::trace::distrust_of;

/// The sections of the report that a comparison needs; serde skips the others as it reads them.
#[derive(Deserialize)]
struct Document {
    #[serde(default)]
    inputs: Vec<Input<StreamedInfo>>,
    kernels: Option<Vec<Row>>,
    gpus: Option<Vec<GpuRow>>,
    trust_reasons: Option<Vec<Reason>>,
    #[serde(default)]
    idle: Vec<GpuIdle>,
}

/// A report names its schema within these bytes.
const START: usize = 256;

pub(super) fn is_report(path: &Path) -> bool {
    let head = rtl_schema::Input::open(path).and_then(|input| input.head()).unwrap_or_default();
    let text = String::from_utf8_lossy(&head[..head.len().min(START)]);
    text.trim_start().starts_with('{') && text.contains("\"schema\"") && text.contains("\"rtl-summary/1\"")
}

pub(super) fn read(path: &Path) -> Result<(Origin, Run), Failure> {
    let unusable = |why: anyhow::Error| {
        Failure::input(why)
            .context(format!("{}: not a whole report of rtl-summary", path.display()))
            .with_hint("save it with `rtl-summary --to json TRACE > report.json`, all kernels and sections")
    };
    let file = rtl_schema::Input::open(path).and_then(|input| input.reader());
    let file = file.map_err(|error| unusable(error.into()))?;
    let document: Document =
        serde_json::from_reader(BufReader::new(file)).map_err(|error| unusable(error.into()))?;
    let (Some(rows), Some(gpus)) = (document.kernels, document.gpus) else {
        return Err(unusable(anyhow::anyhow!("the sections `kernels` and `gpus` are needed")));
    };
    let mut kernels: Vec<Kernel> = rows.into_iter().map(kernel).collect();
    kernels.sort_by(|one, other| one.name.cmp(&other.name));
    let positions: BTreeMap<&str, usize> =
        kernels.iter().enumerate().map(|(at, kernel)| (kernel.name.as_str(), at)).collect();
    let work = |part: &Work| -> anyhow::Result<ActivityTotal> {
        let item = match (&part.kernel, &part.copies) {
            (Some(name), _) => match positions.get(name.as_str()) {
                Some(&at) => Activity::Kernel(at),
                None => anyhow::bail!("{name} is missing among the kernels (was the report cut by `--top`?)"),
            },
            (None, Some(direction)) => Activity::Copies(direction_of(direction)),
            (None, None) => anyhow::bail!("work of nothing"),
        };
        Ok(ActivityTotal { item, shape: None, calls: part.calls, total_ns: part.total_ns })
    };
    let idle_of: BTreeMap<(i64, &String), &GpuIdle> =
        document.idle.iter().rev().map(|idle| ((idle.gpu, &idle.label), idle)).collect();
    let gpu = |GpuRow { gpu, work: parts, .. }: &GpuRow| {
        let parts = parts.as_ref().ok_or_else(|| anyhow::anyhow!("what ran on each GPU is missing"))?;
        let work = parts.iter().map(work).collect::<anyhow::Result<_>>()?;
        let idle = idle_of.get(&(gpu.gpu, &gpu.label)).map_or_else(Vec::new, |idle| idle.by_cause());
        Ok(GpuProfile { gpu: gpu.gpu, wall_ns: gpu.wall_ns, busy_ns: gpu.busy_ns, idle, work })
    };
    let gpus = gpus.iter().map(gpu).collect::<anyhow::Result<_>>().map_err(unusable)?;
    let run = document.inputs.iter().find_map(|input| input.run.clone());
    let mut facts: Vec<Fact> = Vec::new();
    for fact in document.inputs.into_iter().filter_map(|input| input.facts).flatten() {
        if !facts.contains(&fact) {
            facts.push(fact);
        }
    }
    let origin = Origin { path: path.to_owned(), run, rank: None };
    let profile = Profile { kernels, gpus, straggler: None };
    let distrust = distrust_of(path, document.trust_reasons.unwrap_or_default());
    Ok((
        origin,
        Run { files: vec![path.to_owned()], profile, facts, distrust, is_report: true, ..Run::default() },
    ))
}

fn direction_of(label: &str) -> Direction {
    [
        Direction::HostToDevice,
        Direction::DeviceToHost,
        Direction::DeviceToDevice,
        Direction::HostToHost,
        Direction::Fill,
    ]
    .into_iter()
    .find(|direction| direction.label() == label)
    .unwrap_or_default()
}

fn kernel(row: Row) -> Kernel {
    Kernel {
        name: row.name,
        collective: row.category.as_deref() == Some(COLLECTIVE),
        run: compare::Run::of_report(&row.stats, row.trimmed_mean_ns),
        waiting: row.transfers.as_ref().map(waiting),
        ..Kernel::default()
    }
}

fn waiting(transfers: &Transfers) -> CollectiveWaits {
    let &Transfers { collectives, total_ns, min_ns, p50_ns, p95_ns, stddev_ns, .. } = transfers;
    let stats = Stats { calls: collectives, total_ns, min_ns, p50_ns, p95_ns, stddev_ns, ..Stats::default() };
    CollectiveWaits {
        run: compare::Run::of_report(&stats, Some(transfers.trimmed_mean_ns)),
        deviation_ns: stddev_ns,
        calls: transfers.calls,
        transfer_ns: transfers.transfer_ns,
        wait_ns: transfers.wait_ns,
        ..CollectiveWaits::default()
    }
}
