//! Writes the merged trace: in the order of the inputs, of which small ones are read at once and large ones in pieces.

mod large;
mod small;

use std::collections::BTreeMap;
use std::path::Path;

use cli::{Failure, Progress};
use rtl_schema::layout::tags;
use rtl_schema::{Dialect, Error, Select, Tables, Trace};
use rtl_write::{NativeWriter, TraceImport};
use serde_json::json;

use crate::checkpoint::{Checkpoint, MergeState};
use crate::errors::MergeError;
use crate::gpus::Devices;
use crate::input::Input;
use crate::output::{CLOCK, MERGED, TOTALS};
use crate::plan::Plan;
use crate::rows::Rows;

/// The rows of a trace that is read at once, at most: some MB.
const SMALL: u64 = 20_000;

/// The traces to merge, and their numbers in the merged trace.
struct Merge<'a> {
    inputs: &'a [Input],
    plan: &'a Plan,
    progress: &'a Progress,
}

/// Writes the merged trace and counts the rows of its inputs. With `resume` it continues an interrupted merge of the same traces.
///
/// # Errors
/// Where an input has changed, or the file cannot grow.
pub(crate) fn write(
    inputs: &[Input],
    plan: &Plan,
    devices: &Devices,
    checkpoint: &mut Checkpoint,
    resume: bool,
    progress: &Progress,
) -> Result<Rows, MergeError> {
    let mut state = checkpoint.start(resume)?;
    if state.done.is_none() {
        write_head(&mut state.writer, inputs, plan, devices)?;
    }
    let done = state.done.unwrap_or_default();
    for input in &inputs[..done] {
        keep_opaque_tables(&mut state.writer, input).map_err(|error| MergeError::input(input, error))?;
        progress.advance_file(input.bytes());
    }
    let merge = Merge { inputs, plan, progress };
    let left: Vec<usize> = (done..inputs.len()).collect();
    for group in left.chunk_by(|&one, &next| merge.is_small(one) == merge.is_small(next)) {
        if merge.is_small(group[0]) {
            merge.write_small(&mut state, checkpoint, group)?;
        } else {
            merge.write_large(&mut state, checkpoint, group)?;
        }
    }
    let all = state.rows;
    state.writer.finish()?;
    Ok(all)
}

/// Reads the merged trace back and checks that it has the rows that were written.
///
/// # Errors
/// Where some are missing.
pub(crate) fn check(merged: &Path, all: &Rows) -> Result<(), Failure> {
    let written = read_back(merged, all.links() > 0)?;
    if written != *all {
        let lost: Vec<String> = (all.beside(&written).filter(|(_, read, written)| read != written))
            .map(|(table, read, written)| format!("{read} {table} were read and {written} are there"))
            .collect();
        let wrong = Failure::input(anyhow::anyhow!("the merged trace is wrong: {}", lost.join(", ")));
        return Err(wrong.with_hint("this is an error of rtl-merge; nothing was written"));
    }
    Ok(())
}

/// Metadata, processes and agents.
fn write_head(
    writer: &mut NativeWriter,
    inputs: &[Input],
    plan: &Plan,
    devices: &Devices,
) -> Result<(), Error> {
    write_metadata(writer, inputs)?;
    if let Some((field, id)) = &plan.clock {
        writer.push_metadata(CLOCK, &json!({ (*field): id }).to_string())?;
    }
    for (number, process) in &plan.processes {
        writer.push_process(process, Some(*number))?;
    }
    for device in &devices.all {
        writer.push_agent(&device.agent, None, device.number)?;
    }
    writer.keep_range_ids(plan.last_range);
    Ok(())
}

/// Collects the opaque tables of an input whose rows are written already.
fn keep_opaque_tables(writer: &mut NativeWriter, input: &Input) -> Result<(), Error> {
    if input.has_opaque_tables {
        Trace::open(&input.path)?.stream(&Select::everything(), |chunk| {
            writer.push_extra_tables(chunk);
            Ok::<(), Error>(())
        })?;
    }
    Ok(())
}

impl Merge<'_> {
    /// Whether a trace is read at once, while others are: its pieces are too few for all threads.
    fn is_small(&self, at: usize) -> bool {
        self.inputs[at].rows.all() <= SMALL
    }

    fn import(&self, at: usize) -> TraceImport {
        TraceImport::with_mapping(self.plan.parts[at].clone())
    }

    /// Checks that a trace is what it was when it was read first, by its `last` tables and its rows.
    fn check(&self, at: usize, last: &Tables, rows: &Rows) -> Result<(), MergeError> {
        let input = &self.inputs[at];
        if is_another(input, last) || rows.ops() != input.rows.ops() {
            let what = format!("{} changed while it was merged", input.path.display());
            let failure = Failure::input(anyhow::anyhow!(what));
            let failure = failure.with_hint("merge traces when their programs have ended");
            return Err(MergeError::input(input, failure));
        }
        Ok(())
    }

    /// Writes the metadata row of a trace.
    fn write_source(&self, state: &mut MergeState, at: usize) -> Result<(), Error> {
        let input = &self.inputs[at];
        let row = json!({
            "source": at,
            "file": input.name(),
            "dialect": input.info.dialect.label(),
            "tool": input.info.tool,
            "toolVersion": input.info.tool_version,
            "mode": input.info.mode,
            "ranks": input.ranks(),
            "added": self.plan.parts[at].clock.knots(),
        });
        state.writer.push_metadata(MERGED, &row.to_string())
    }

    /// Ends a trace whose rows are written.
    fn end(
        &self,
        state: &mut MergeState,
        at: usize,
        (import, last): (TraceImport, &Tables),
        rows: &Rows,
    ) -> Result<(), Error> {
        import.finish(&mut state.writer, last)?;
        copy_metadata(&mut state.writer, at, last)?;
        state.rows.append(rows);
        self.progress.advance_file(self.inputs[at].bytes());
        Ok(())
    }
}

/// Whether a trace has more processes or agents than when it was read first.
fn is_another(input: &Input, chunk: &Tables) -> bool {
    chunk.processes.len() > input.processes.len() || chunk.agents.len() > input.agents.len()
}

/// Metadata that all inputs share, and sums of their counts.
fn write_metadata(writer: &mut NativeWriter, inputs: &[Input]) -> Result<(), Error> {
    writer.push_metadata("schema_version", "rtl-1")?;
    let common = |of: &dyn Fn(&Input) -> Option<String>| {
        let first = of(inputs.first()?)?;
        inputs.iter().all(|input| of(input).as_ref() == Some(&first)).then_some(first)
    };
    let tool = common(&|input| Some(input.info.tool.clone())).unwrap_or_else(|| "several".to_owned());
    writer.push_metadata("tool", &tool)?;
    for (tag, value) in [
        ("tool_version", common(&|input| input.info.tool_version.clone())),
        ("mode", common(&|input| input.info.mode.clone())),
        ("run_id", common(&|input| input.tag("run_id").map(str::to_owned))),
        // The least complete input counts.
        ("complete", inputs.iter().filter_map(|input| input.tag("complete")).min().map(str::to_owned)),
    ] {
        if let Some(value) = value {
            writer.push_metadata(tag, &value)?;
        }
    }
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for input in inputs {
        for (reason, count) in &input.info.losses {
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

/// The metadata of an input, except for rows that are tables of the merged trace.
fn copy_metadata(writer: &mut NativeWriter, at: usize, last: &Tables) -> Result<(), Error> {
    let rows = [tags::KERNEL, tags::QUEUE, tags::THREAD, tags::OPEN_CALL, tags::OPEN_DISPATCH];
    let native = last.info.dialect == Dialect::Native;
    for (tag, value) in &last.info.metadata {
        if !(native && rows.contains(&tag.as_str())) {
            writer.push_metadata(&format!("source:{at}:{tag}"), value)?;
        }
    }
    Ok(())
}

/// Counts the rows of the finished file. Launch shapes, ids and what ties ops to calls are no rows, and would take as long as all the rest;
/// only a file that should have `links` is asked for some.
fn read_back(path: &Path, links: bool) -> Result<Rows, Failure> {
    let select = Select { launch: false, ids: false, links, collectives: true, ..Select::everything() };
    let trace = Trace::open(path)?;
    let mut rows = Rows::default();
    let last = trace.stream(&select, |chunk| {
        rows.add(chunk);
        Ok::<(), Error>(())
    });
    rows.add_last(&last?);
    Ok(rows)
}
