//! One trace from many ranks. The verb behind `rtl-merge`.
//!
//! It reads as the data flows: [`args`] is what was typed, [`mod@survey`] reads every input once, [`ranks`], [`runs`],
//! [`machines`] and [`gpus`] say who is who, [`clocks`] puts all on one clock and [`waits`] says who waited for whom, [`imbalance`] how
//! evenly the [`members`] of the job share their work, [`plan`] what everything is called in the merged trace, [`write`](mod@write)
//! reads every input again and writes it, one after the other; [`document`] is the versioned shape of the
//! report and [`render`] prints it. [`mod@summary`] is the other verb, `--summary-only`: a report of all ranks without a merged
//! trace. What it is not: it knows no table of any tool and no page of a file (that is `schema`).

/// What was typed.
pub mod args;
pub mod clocks;
pub mod document;
pub mod gpus;
pub mod imbalance;
pub mod machines;
pub mod members;
pub mod plan;
pub mod ranks;
pub mod render;
pub mod room;
pub mod rows;
pub mod runs;
pub mod summary;
pub mod survey;
pub mod target;
pub mod waits;
pub mod work;
pub mod write;

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Parser;
use cli::color::Paint;
use cli::{Exit, Failure, Output, Progress};
use rtl_analysis::ranks::streaming::KernelIndex;

use crate::args::{Arguments, Format, Report};
use crate::clocks::Clocks;
use crate::document::Document;
use crate::gpus::Devices;
use crate::machines::Machines;
use crate::members::Members;
use crate::plan::Plan;
use crate::ranks::Given;
use crate::rows::Rows;
use crate::survey::Survey;
use crate::work::Work;
use crate::write::{Ended, unreadable};

/// Merges the traces.
///
/// # Errors
/// Where the command line makes no sense, a trace cannot be read, the traces do not belong together or the output cannot be
/// written; an output that was there before then stays.
pub fn run(arguments: Arguments, out: &mut Output) -> Result<Exit, Failure> {
    let given = Given::of(&arguments.identity)?;
    if arguments.summary_only {
        return summary::run(&arguments, &given, out);
    }
    if !arguments.check {
        target::check(&arguments)?;
    }
    let mut left_out = LeftOut { traces: arguments.traces.clone(), failures: Vec::new() };
    loop {
        match attempt(&arguments, &given, &mut left_out, out) {
            Ok(document) => {
                report(&document, &arguments, out)?;
                let is_whole = left_out.failures.is_empty();
                return Ok(if is_whole { Exit::Success } else { Exit::Input });
            }
            Err(Ended::Otherwise(failure)) => return Err(failure),
            // Nothing of it may stay, neither rows nor what they were numbered by: begin anew without it.
            Err(Ended::Input(path, failure)) => left_out.add(&path, failure, &arguments, out)?,
        }
    }
}

/// The traces that are merged, and why others are not.
struct LeftOut {
    traces: Vec<PathBuf>,
    failures: Vec<Failure>,
}

impl LeftOut {
    /// Leaves out a trace that cannot be read any more.
    fn add(
        &mut self,
        path: &Path,
        failure: Failure,
        arguments: &Arguments,
        out: &mut Output,
    ) -> Result<(), Failure> {
        if !arguments.keep_going || self.traces.len() < 2 {
            return Err(failure);
        }
        out.failure(&failure);
        self.failures.push(failure);
        self.traces.retain(|trace| trace != path);
        Ok(())
    }
}

/// Merges the traces that are left.
fn attempt(
    arguments: &Arguments,
    given: &Given,
    left_out: &mut LeftOut,
    out: &mut Output,
) -> Result<Document, Ended> {
    let mut kernels = KernelIndex::default();
    let mut inputs = survey(arguments, left_out, &mut kernels, out)?;
    ranks::assign(&mut inputs, given, &arguments.identity)?;
    let machines = Machines::of(&inputs);
    if !arguments.force {
        runs::check(&inputs, &machines)?;
    }
    let devices = Devices::of(&inputs, &machines, arguments.identity.same_gpus);
    let clocks = Clocks::of(&mut inputs, &machines, &arguments.clock)?;
    if arguments.clock.require_alignment {
        require(&clocks, &inputs)?;
    }
    let mut document = Document::of(&inputs, &machines, &devices, &left_out.failures);
    let plan = Plan::of(&inputs, &machines, &devices, &clocks);
    document.ranks(&inputs, &clocks, &Members::of(&inputs, &plan, &devices), &kernels);
    if arguments.check {
        let mut read = Rows::default();
        inputs.iter().for_each(|input| read.append(&input.rows));
        document.rows(&read, None);
    } else {
        let written = merge(arguments, &inputs, &plan, &devices)?;
        document.rows(&written, Some((&written, arguments.output())));
    }
    Ok(document)
}

/// Fails where a clock is not known to be the merged one.
fn require(clocks: &Clocks, inputs: &[Survey]) -> Result<(), Failure> {
    let unknown: Vec<String> =
        clocks.unaligned().map(|(at, why)| format!("{} ({why})", inputs[at].name())).collect();
    if unknown.is_empty() {
        return Ok(());
    }
    let what =
        format!("{} of {} traces are not aligned: {}", unknown.len(), inputs.len(), unknown.join(", "));
    Err(Failure::input(anyhow::anyhow!(what)).with_hint(
        "--offset RANK=NS says what to add; without --require-alignment they are merged as they are",
    ))
}

/// Reads all inputs that are left; those that cannot be read are told at once. All of an input is only read where one was
/// found to be damaged late: then others may be.
fn survey(
    arguments: &Arguments,
    left_out: &mut LeftOut,
    kernels: &mut KernelIndex,
    out: &mut Output,
) -> Result<Vec<Survey>, Failure> {
    let sizes = left_out.traces.iter().map(|path| size(path)).sum();
    let progress = Progress::new("reading", sizes, arguments.console.quiet);
    let whole = arguments.check || !left_out.failures.is_empty();
    let mut inputs = Vec::new();
    let failures = &mut left_out.failures;
    left_out.traces.retain(|path| {
        let survey = Survey::of(path, whole, kernels).map_err(unreadable);
        progress.advance(size(path));
        match survey {
            Ok(input) => inputs.push(input),
            Err(failure) => {
                out.failure(&failure);
                failures.push(failure);
                return false;
            }
        }
        true
    });
    let (bad, all) = (failures.len(), arguments.traces.len());
    if inputs.is_empty() || bad > 0 && !arguments.keep_going {
        return Err(Failure::input(anyhow::anyhow!(
            "{bad} of {all} traces cannot be read: nothing is merged"
        ))
        .with_hint(if inputs.is_empty() { "" } else { "--keep-going merges the others" }));
    }
    Ok(inputs)
}

fn merge(arguments: &Arguments, inputs: &[Survey], plan: &Plan, devices: &Devices) -> Result<Rows, Ended> {
    room::check(target::folder(arguments.output()), inputs)?;
    let sizes = inputs.iter().map(Survey::bytes).sum();
    let progress = Progress::new("merging", sizes, arguments.console.quiet);
    let mut work = Work::take(arguments.output(), plan.fingerprint(inputs))?;
    let written = write::write(inputs, plan, devices, &mut work, arguments.resume, &progress)?;
    match arguments.target() {
        Format::Native => work.finish()?,
        Format::Rpd => convert(&work.part(), arguments)?,
    }
    Ok(written)
}

/// Writes the merged trace as RPD has it.
fn convert(merged: &Path, arguments: &Arguments) -> Result<(), Failure> {
    let line: [OsString; 8] = [
        "rtl-convert".into(),
        "--force".into(),
        "--quiet".into(),
        "--format".into(),
        "rpd".into(),
        "--output".into(),
        arguments.output().into(),
        merged.into(),
    ];
    let arguments = rtl_convert::args::Arguments::try_parse_from(line)?;
    let mut silent = Output::new("rtl-merge", Box::new(io::sink()), Box::new(io::sink()));
    rtl_convert::run(arguments, &mut silent).map(drop)
}

fn report(document: &Document, arguments: &Arguments, out: &mut Output) -> Result<(), Failure> {
    match arguments.format {
        Report::Json => {
            serde_json::to_writer_pretty(&mut *out, document)?;
            writeln!(out)?;
        }
        Report::Text if arguments.console.quiet => {}
        Report::Text => {
            let paint = Paint::new(arguments.console.color, out.is_terminal());
            render::text(document, paint, out)?;
        }
    }
    Ok(())
}

fn size(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |file| file.len())
}
