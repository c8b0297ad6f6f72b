//! Writes the merged trace, one input after the other.

use std::collections::BTreeMap;
use std::path::Path;

use cli::{Failure, Progress};
use rtl_schema::layout::tags;
use rtl_schema::{Dialect, Error, OpenTrace, PieceSink, PreparedTrace, Select, Tables, Trace};
use rtl_write::{ClockCorrection, EncodedPiece, NativeWriter, PieceImport, TraceImport};
use serde_json::json;

use crate::checkpoint::Checkpoint;
use crate::errors::MergeError;
use crate::gpus::Devices;
use crate::input::Input;
use crate::output::{CLOCK, MERGED, TOTALS};
use crate::plan::Plan;
use crate::rows::Rows;

/// A checkpoint is saved as soon as this many bytes of traces are merged since the last one: the work of a second.
const UNSAVED: u64 = 256 << 20;

/// The rows of a trace that is read at once, at most: some MB.
const SMALL: u64 = 20_000;

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
    let mut all = state.rows;
    if state.done.is_none() {
        write_head(&mut state.writer, inputs, plan, devices)?;
    }
    let done = state.done.unwrap_or_default();
    for input in &inputs[..done] {
        keep_opaque_tables(&mut state.writer, input).map_err(|error| MergeError::input(input, error))?;
        progress.advance_file(input.bytes());
    }
    let left: Vec<usize> = (done..inputs.len()).collect();
    let (mut unsaved, mut opened) = (0, None);
    for group in left.chunk_by(|&one, &next| is_small(&inputs[one]) && is_small(&inputs[next])) {
        let read = |at: usize| (at, is_small(&inputs[at]).then(|| read_at_once(&inputs[at])));
        threads::in_order(group.iter().copied(), read, |(at, read)| {
            let input = &inputs[at];
            write_source(&mut state.writer, at, input, &plan.parts[at].clock)?;
            let next = inputs.get(at + 1).filter(|next| !is_small(next));
            let next = next.map(|next| Box::new(|| open(next)) as OpenTrace<'_>);
            let rows = |source: &mut Source<'_>| match read {
                Some(tables) => {
                    let mut tables = tables?;
                    source.take(&mut tables)?;
                    Ok((tables, None))
                }
                None => opened.take().unwrap_or_else(|| open(input))?.stream_to(next, source),
            };
            let (rows, next) = write_rows(&mut state.writer, input, plan, at, rows)?;
            opened = next;
            all.append(&rows);
            state.rows = all;
            unsaved += input.bytes();
            if is_small(input) || unsaved >= UNSAVED {
                checkpoint.save(&mut state, at + 1)?;
                unsaved = 0;
            }
            progress.advance_file(input.bytes());
            Ok::<(), MergeError>(())
        })?;
    }
    state.writer.finish()?;
    Ok(all)
}

/// Reads the merged trace back and checks that it has the rows that were written.
///
/// # Errors
/// Where some are missing.
pub(crate) fn check(merged: &Path, all: &Rows) -> Result<(), Failure> {
    let written = read_back(merged)?;
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

/// Whether a trace is read at once, while others are: its pieces are too few for all threads.
fn is_small(input: &Input) -> bool {
    input.rows.all() <= SMALL
}

fn read_at_once(input: &Input) -> Result<Tables, Error> {
    Trace::open(&input.path)?.read(&Select::everything())
}

fn open(input: &Input) -> Result<PreparedTrace, Error> {
    Trace::open(&input.path)?.prepare(&Select::everything())
}

/// The last tables of an input, and the next one where it is open.
type Streamed = (Tables, Option<Result<PreparedTrace, Error>>);

/// Writes the rows of an input, which `rows` passes on. The next one may be open then.
fn write_rows(
    writer: &mut NativeWriter,
    input: &Input,
    plan: &Plan,
    at: usize,
    rows: impl FnOnce(&mut Source<'_>) -> Result<Streamed, Error>,
) -> Result<(Rows, Option<Result<PreparedTrace, Error>>), MergeError> {
    let import = TraceImport::with_mapping(plan.parts[at].clone());
    let (counts, has_changed, is_written) = (Rows::default(), false, true);
    let mut source = Source { writer, import, input, rows: counts, has_changed, is_written };
    let written = rows(&mut source);
    let Source { writer, import, mut rows, has_changed, is_written, .. } = source;
    let (last, next) =
        written.map_err(|error| if is_written { MergeError::input(input, error) } else { error.into() })?;
    rows.add_last(&last);
    if has_changed || is_another(input, &last) || rows.ops() != input.rows.ops() {
        let what = format!("{} changed while it was merged", input.path.display());
        let failure = Failure::input(anyhow::anyhow!(what));
        let failure = failure.with_hint("merge traces when their programs have ended");
        return Err(MergeError::input(input, failure));
    }
    import.finish(writer, &last)?;
    copy_metadata(writer, at, &last)?;
    Ok((rows, next))
}

/// An input on its way into the merged trace.
struct Source<'a> {
    writer: &'a mut NativeWriter,
    import: TraceImport,
    input: &'a Input,
    rows: Rows,
    /// Whether it is not what it was when it was read first: then nothing more of it is written.
    has_changed: bool,
    /// Whether the file could grow.
    is_written: bool,
}

impl PieceSink for Source<'_> {
    type Task = Box<PieceImport>;
    type Output = Box<EncodedPiece>;
    type Error = Error;

    fn begin(&mut self, piece: &mut Tables) -> Result<Vec<Self::Task>, Error> {
        self.rows.add(piece);
        self.has_changed |= is_another(self.input, piece);
        let piece = (!self.has_changed).then(|| self.import.begin(self.writer, piece));
        Ok(piece.map(Box::new).into_iter().collect())
    }

    fn work(piece: Self::Task) -> Self::Output {
        Box::new(piece.encode())
    }

    fn end(&mut self, piece: Self::Output) -> Result<Vec<Self::Task>, Error> {
        let written = self.import.end(self.writer, *piece);
        self.is_written = written.is_ok();
        written.map(|()| Vec::new())
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

/// The metadata row of an input.
fn write_source(
    writer: &mut NativeWriter,
    at: usize,
    input: &Input,
    correction: &ClockCorrection,
) -> Result<(), Error> {
    let row = json!({
        "source": at,
        "file": input.name(),
        "dialect": input.info.dialect.label(),
        "tool": input.info.tool,
        "toolVersion": input.info.tool_version,
        "mode": input.info.mode,
        "ranks": input.ranks(),
        "added": correction.knots(),
    });
    writer.push_metadata(MERGED, &row.to_string())
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

/// Counts the rows of the finished file. Launch shapes are no rows, and would take as long as all the rest.
fn read_back(path: &Path) -> Result<Rows, Failure> {
    let select = Select { launch: false, collectives: true, ..Select::everything() };
    let trace = Trace::open(path)?;
    let mut rows = Rows::default();
    let last = trace.stream(&select, |chunk| {
        rows.add(chunk);
        Ok::<(), Error>(())
    });
    rows.add_last(&last?);
    Ok(rows)
}
