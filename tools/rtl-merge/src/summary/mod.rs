//! What all ranks ran, rank by rank and kernel by kernel, as one report and without a merged trace.
//!
//! One trace after the other is reduced to its kernels while it goes by ([`rtl_analysis::streaming`]), and what the report says
//! of it goes to disk ([`spool`]): memory grows with the kernels, never with ops or traces. Clocks play no part.

pub mod document;
pub mod kernels;
mod place;
pub mod spool;

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::Path;

use cli::{Exit, Failure, Output, Progress, ResultExt};
use rtl_analysis::Categories;
use rtl_analysis::facts;
use rtl_analysis::overview::ProcessInfo;
use rtl_analysis::region::Region;
use rtl_analysis::streaming::{PERCENTILE_ERROR, StreamingSummary, Totals};
use rtl_schema::table::AgentKind;
use rtl_schema::{Error, Select, Tables, Trace};

use self::document::{Input, RankReport};
use self::kernels::Kernels;
use self::spool::Spool;
use crate::args::Arguments;
use crate::machines::Machines;
use crate::ranks::{self, Given};
use crate::rows::Rows;
use crate::survey::Survey;
use crate::write::unreadable;
use crate::{runs, size};

/// Reports on the traces.
///
/// # Errors
/// Where one cannot be read, they do not belong together or the report cannot be written; a report that was there
/// before then stays.
pub fn run(arguments: &Arguments, given: &Given, out: &mut Output) -> Result<Exit, Failure> {
    place::check(arguments)?;
    let sizes = arguments.traces.iter().map(|path| size(path)).sum();
    let progress = Progress::new("reading", sizes, arguments.console.quiet);
    let categories = Categories::default();
    let mut report = Report::new().with_context(|| "cannot write temporary files".to_owned())?;
    let (mut inputs, mut bad) = (Vec::new(), 0);
    for path in &arguments.traces {
        match Read::of(path, given, &categories) {
            Ok(read) => {
                let added = report.add(&read, inputs.len());
                added.with_context(|| "cannot write temporary files".to_owned())?;
                inputs.push(read.survey);
            }
            Err(failure) => {
                out.failure(&failure);
                bad += 1;
            }
        }
        progress.advance(size(path));
    }
    if inputs.is_empty() || bad > 0 && !arguments.keep_going {
        let what = format!("{bad} of {} traces cannot be read: no report is made", arguments.traces.len());
        let hint = if inputs.is_empty() { "" } else { "--keep-going reports on the others" };
        return Err(Failure::input(anyhow::anyhow!(what)).with_hint(hint));
    }
    ranks::assign(&mut inputs, given, &arguments.identity)?;
    if !arguments.force {
        runs::check(&inputs, &Machines::of(&inputs))?;
    }
    match &arguments.output {
        Some(path) => place::write(path, |file| report.write(file))?,
        None => report.write(out)?,
    }
    Ok(if bad == 0 { Exit::Success } else { Exit::Input })
}

/// One trace, reduced.
struct Read {
    survey: Survey,
    about: Input,
    /// The numbers of its GPUs, whether they ran anything or not.
    gpus: BTreeSet<i64>,
    ran: Totals,
}

impl Read {
    fn of(path: &Path, given: &Given, categories: &Categories) -> Result<Self, Failure> {
        let trace = Trace::open(path).map_err(unreadable)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let (given, named) = (given.rank(path), ranks::of_name(&name));
        let mut running = StreamingSummary::new(categories, given, named);
        let (mut survey, mut last) =
            Survey::read(&trace, &Select::ops(), |piece| running.add_chunk(piece)).map_err(unreadable)?;
        while running.end_pass() {
            let mut rows = Rows::default();
            let again = trace.stream(&Select::ops(), |piece| {
                rows.add(piece);
                running.add_chunk(piece);
                Ok::<(), Error>(())
            });
            rows.add_last(&again.map_err(unreadable)?);
            if rows != survey.rows {
                let what = format!("{} changed while it was read", path.display());
                return Err(Failure::input(anyhow::anyhow!(what))
                    .with_hint("report on traces when their programs have ended"));
            }
        }
        let ran = running.finish(&last);
        for process in &mut last.processes {
            process.rank = given.or(process.rank).or(named);
        }
        let about = about(path, &last, &survey.rows, &ran);
        let gpus = last.agents.iter().filter(|agent| agent.kind == AgentKind::Gpu);
        let gpus = gpus.map(|agent| agent.number).collect();
        survey.keep(last);
        survey.forget_details();
        Ok(Self { survey, about, gpus, ran })
    }
}

fn about(path: &Path, tables: &Tables, rows: &Rows, ran: &Totals) -> Input {
    let process = |process: &rtl_schema::table::Process| ProcessInfo {
        pid: process.pid,
        rank: process.rank,
        host: process.host.clone(),
        command: process.command.clone(),
    };
    let ranks: BTreeSet<u32> = tables.processes.iter().filter_map(|process| process.rank).collect();
    let run = tables.info.metadata.iter().find(|(tag, _)| tag == "run_id");
    let ops = rows.executed();
    Input {
        path: path.display().to_string(),
        dialect: tables.info.dialect.label(),
        tool: tables.info.tool.clone(),
        tool_version: tables.info.tool_version.clone(),
        mode: tables.info.mode.clone(),
        processes: tables.processes.iter().map(process).collect(),
        ranks: ranks.into_iter().collect(),
        region: Region { ops_before: ops, ops_after: ops, ..Region::default() },
        run: run.map(|(_, value)| value.clone()),
        facts: facts::facts_without_rows(tables, ran.graph, ran.unfinished),
    }
}

/// A report in the making.
struct Report {
    inputs: Spool,
    gpus: Spool,
    ranks: Spool,
    kernels: Kernels,
    /// The numbers of GPUs that are taken.
    numbers: BTreeSet<i64>,
}

impl Report {
    fn new() -> io::Result<Self> {
        let (inputs, gpus, ranks) = (Spool::new()?, Spool::new()?, Spool::new()?);
        Ok(Self { inputs, gpus, ranks, kernels: Kernels::default(), numbers: BTreeSet::new() })
    }

    /// Adds the trace that is the `input`-th.
    fn add(&mut self, read: &Read, input: usize) -> io::Result<()> {
        let ran = &read.ran;
        let positions: Vec<usize> = ran.kernels.iter().map(|kernel| self.kernels.position(kernel)).collect();
        self.inputs.push(&read.about)?;
        for rank in &ran.ranks {
            for (kernel, sketch) in &rank.kernels {
                self.kernels.all[positions[*kernel]].durations.append(sketch);
            }
            let durations = rank.kernels.iter().map(|(kernel, sketch)| (positions[*kernel], sketch));
            let kernels = document::rows(&self.kernels, durations);
            self.ranks.push(&RankReport { input, rank: rank.rank, kernels, gpus: rank.gpus.clone() })?;
        }
        // GPUs of one trace stay side by side: where one number is taken all get others.
        let is_taken = read.gpus.iter().any(|number| self.numbers.contains(number));
        let highest = self.numbers.last().max(read.gpus.last()).copied();
        let free = highest.map_or(0, |number| number.saturating_add(1));
        let numbers = read.gpus.iter().zip(free..);
        let number = |own: i64| match is_taken {
            true => numbers.clone().find(|&(&known, _)| known == own).map_or(own, |(_, new)| new),
            false => own,
        };
        for gpu in &ran.gpus {
            let own = gpu.gpu.gpu;
            self.gpus.push(&document::gpu_row(&self.kernels, &positions, gpu.clone(), number(own)))?;
        }
        self.numbers.extend(read.gpus.iter().map(|&own| number(own)));
        Ok(())
    }

    /// Writes the document.
    fn write(self, out: &mut dyn Write) -> io::Result<()> {
        let head = [
            ("schema", serde_json::json!(document::SCHEMA)),
            ("tool_version", env!("CARGO_PKG_VERSION").into()),
            ("approximate", document::APPROXIMATE.to_vec().into()),
            ("percentile_error", PERCENTILE_ERROR.into()),
        ];
        let mut before = "{";
        for (field, value) in head {
            write!(out, "{before}\n\"{field}\": {value}")?;
            before = ",";
        }
        write!(out, ",\n\"kernels\": ")?;
        let all = self.kernels.all.iter().enumerate().map(|(position, known)| (position, &known.durations));
        serde_json::to_writer(&mut *out, &document::rows(&self.kernels, all))?;
        for (field, spool) in [("inputs", self.inputs), ("gpus", self.gpus), ("reports", self.ranks)] {
            write!(out, ",\n\"{field}\": ")?;
            spool.write(out)?;
        }
        writeln!(out, "\n}}")
    }
}
