//! The merged trace, written input by input.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use cli::{Failure, Progress};
use rtl_schema::layout::tags;
use rtl_schema::{Dialect, Error, Select, Tables, Trace};
use rtl_write::{ClockCorrection, NativeWriter, TraceImport};
use serde_json::json;

use crate::gpus::Devices;
use crate::machines::Evidence;
use crate::plan::Plan;
use crate::rows::Rows;
use crate::survey::Survey;
use crate::target::{CLOCK, MERGED, TOTALS};
use crate::work::Work;

/// Why a merge has ended.
#[derive(Debug)]
pub enum Ended {
    /// The trace at this path cannot be read to its end any more.
    Input(PathBuf, Failure),
    /// Something else.
    Otherwise(Failure),
}

impl From<Failure> for Ended {
    fn from(failure: Failure) -> Self {
        Self::Otherwise(failure)
    }
}

/// An error of what is read, or of what is written.
enum Trouble {
    Read(Error),
    Write(Error),
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        Self::Read(error)
    }
}

impl Trouble {
    fn of_input(self, input: &Survey) -> Ended {
        match self {
            Self::Read(error) => Ended::Input(input.path.clone(), unreadable(error)),
            Self::Write(error) => Ended::Otherwise(unreadable(error)),
        }
    }
}

/// Writes the merged trace and reads it back; the result is how many rows it has. Where `resume` says so, it goes on with
/// what an interrupted merge of the same traces has left.
///
/// # Errors
/// Where an input is not any more what it was, the file cannot grow, or it does not hold what was put into it.
pub fn write(
    inputs: &[Survey],
    plan: &Plan,
    devices: &Devices,
    work: &mut Work,
    resume: bool,
    progress: &Progress,
) -> Result<Rows, Ended> {
    let mut state = work.start(resume)?;
    let mut all = state.rows;
    if state.done.is_none() {
        whole(&mut state.writer, inputs, plan, devices).map_err(unreadable)?;
    }
    for (at, input) in inputs.iter().enumerate() {
        if state.done.is_some_and(|done| at < done) {
            extras(&mut state.writer, input).map_err(|error| Trouble::Read(error).of_input(input))?;
        } else {
            source(&mut state.writer, at, input, &plan.parts[at].clock).map_err(unreadable)?;
            all.append(&rows_of(&mut state.writer, input, plan, at)?);
            state.rows = all;
            work.save(&mut state, at + 1)?;
        }
        progress.advance(input.bytes());
    }
    state.writer.finish().map_err(unreadable)?;
    let written = read_back(&work.part())?;
    if written != all {
        let lost: Vec<String> = (all.beside(&written).filter(|(_, read, written)| read != written))
            .map(|(table, read, written)| format!("{read} {table} were read and {written} are there"))
            .collect();
        let wrong = Failure::input(anyhow::anyhow!("the merged trace is wrong: {}", lost.join(", ")));
        return Err(wrong.with_hint("this is an error of rtl-merge; nothing was written").into());
    }
    Ok(written)
}

/// What belongs to the merged trace as a whole.
fn whole(writer: &mut NativeWriter, inputs: &[Survey], plan: &Plan, devices: &Devices) -> Result<(), Error> {
    about(writer, inputs)?;
    if let Some((field, id)) = plan.clock.as_ref().and_then(Evidence::tag) {
        writer.push_metadata(CLOCK, &json!({ field: id }).to_string())?;
    }
    for (number, process) in &plan.processes {
        writer.push_process(process, *number)?;
    }
    for device in &devices.all {
        writer.push_agent(&device.agent, None, device.number)?;
    }
    Ok(())
}

/// Takes the tables of other tools from an input whose rows are written already.
fn extras(writer: &mut NativeWriter, input: &Survey) -> Result<(), Error> {
    if input.has_extras {
        Trace::open(&input.path)?.stream(&Select::everything(), |piece| {
            writer.push_extra_tables(piece);
            Ok::<(), Error>(())
        })?;
    }
    Ok(())
}

fn rows_of(writer: &mut NativeWriter, input: &Survey, plan: &Plan, at: usize) -> Result<Rows, Ended> {
    let mut incoming = TraceImport::with_mapping(plan.parts[at].clone());
    let mut rows = Rows::default();
    let mut changed = false;
    let mut stream = || -> Result<Tables, Trouble> {
        Trace::open(&input.path)?.stream(&Select::everything(), |piece| {
            rows.add(piece);
            changed |= has_changed(input, piece);
            if changed { Ok(()) } else { incoming.push(writer, piece).map_err(Trouble::Write) }
        })
    };
    let last = stream().map_err(|trouble| trouble.of_input(input))?;
    rows.add_last(&last);
    if changed || has_changed(input, &last) || rows.ops() != input.rows.ops() {
        let what = format!("{} changed while it was merged", input.path.display());
        let failure = Failure::input(anyhow::anyhow!(what));
        let failure = failure.with_hint("merge traces when their programs have ended");
        return Err(Ended::Input(input.path.clone(), failure));
    }
    incoming.finish(writer, &last).map_err(unreadable)?;
    details(writer, at, &last).map_err(unreadable)?;
    Ok(rows)
}

/// Whether a trace has what it did not have when it was read first.
fn has_changed(input: &Survey, piece: &Tables) -> bool {
    piece.processes.len() > input.processes.len() || piece.agents.len() > input.agents.len()
}

/// What the inputs have in common, and sums of what they count.
fn about(writer: &mut NativeWriter, inputs: &[Survey]) -> Result<(), Error> {
    writer.push_metadata("schema_version", "rtl-1")?;
    let common = |of: &dyn Fn(&Survey) -> Option<String>| {
        let first = of(inputs.first()?)?;
        inputs.iter().all(|input| of(input).as_ref() == Some(&first)).then_some(first)
    };
    let tool = common(&|input| Some(input.about.tool.clone())).unwrap_or_else(|| "several".to_owned());
    writer.push_metadata("tool", &tool)?;
    for (tag, value) in [
        ("tool_version", common(&|input| input.about.tool_version.clone())),
        ("mode", common(&|input| input.about.mode.clone())),
        ("run_id", common(&|input| input.tag("run_id").map(str::to_owned))),
        // As complete as the least complete of them.
        ("complete", inputs.iter().filter_map(|input| input.tag("complete")).min().map(str::to_owned)),
    ] {
        if let Some(value) = value {
            writer.push_metadata(tag, &value)?;
        }
    }
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for input in inputs {
        for (reason, count) in &input.about.losses {
            let tag = if reason.contains(':') { reason.clone() } else { format!("lost:{reason}") };
            *counts.entry(tag).or_default() += count;
        }
        for tag in TOTALS {
            if let Some(count) = input.tag(tag).and_then(|count| count.trim().parse::<u64>().ok()) {
                *counts.entry(tag.to_owned()).or_default() += count;
            }
        }
    }
    for (tag, count) in counts {
        writer.push_metadata(&tag, &count.to_string())?;
    }
    Ok(())
}

/// Who an input was.
fn source(
    writer: &mut NativeWriter,
    at: usize,
    input: &Survey,
    shift: &ClockCorrection,
) -> Result<(), Error> {
    let row = json!({
        "source": at,
        "file": input.name(),
        "dialect": input.about.dialect.label(),
        "tool": input.about.tool,
        "toolVersion": input.about.tool_version,
        "mode": input.about.mode,
        "ranks": input.ranks(),
        "added": shift.knots(),
    });
    writer.push_metadata(MERGED, &row.to_string())
}

/// All that an input says of itself. What became rows of the merged trace is not told twice.
fn details(writer: &mut NativeWriter, at: usize, last: &Tables) -> Result<(), Error> {
    let rows = [tags::KERNEL, tags::QUEUE, tags::THREAD, tags::OPEN_CALL];
    let native = last.info.dialect == Dialect::Native;
    for (tag, value) in &last.info.metadata {
        if !(native && rows.contains(&tag.as_str())) {
            writer.push_metadata(&format!("source:{at}:{tag}"), value)?;
        }
    }
    Ok(())
}

/// How many rows the finished file has; every id in it must lead somewhere.
fn read_back(path: &Path) -> Result<Rows, Failure> {
    let trace = Trace::open(path).map_err(unreadable)?;
    let mut rows = Rows::default();
    let last = trace.stream(&Select::everything(), |piece| {
        rows.add(piece);
        Ok::<(), Error>(())
    });
    rows.add_last(&last.map_err(unreadable)?);
    Ok(rows)
}

/// The failure of a trace that cannot be read or written.
pub fn unreadable(error: Error) -> Failure {
    let hint = error.hint();
    Failure::input(error).with_hint(hint)
}
