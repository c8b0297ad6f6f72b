//! Reports on the kernels of all ranks, as `rtl-summary/1`, without a merged trace.
//!
//! Each trace is reduced to its kernels while it is streamed ([`rtl_analysis::streaming`]), several at a time, and the durations of
//! these are added to those of the job. In the order of the traces kernels and GPUs get names and numbers, what each trace adds is
//! rendered ([`part`]), several at a time again, and goes to disk ([`json_array`]): memory grows with the kernels, never with ops or
//! traces. Clocks are not used.

mod json_array;
mod kernels;
mod part;
mod rows;

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::mem::take;
use std::path::{Path, PathBuf};

use atomic_file::{AtomicFile, IfExists};
use cli::report::{SCHEMA, StreamedInfo};
use cli::{Exit, Failure, Output, Progress, ResultExt};
use rtl_analysis::Categories;
use rtl_analysis::facts;
use rtl_analysis::overview::ProcessInfo;
use rtl_analysis::ranks::bandwidth::SizedCalls;
use rtl_analysis::region::Region;
use rtl_analysis::streaming::{GpuTotals, Kernel, PERCENTILE_ERROR, StreamingSummary, Totals};
use rtl_analysis::trust::{self, Health, StreamingHealth};
use rtl_schema::table::AgentKind;
use rtl_schema::{Error, Select, Tables, Trace};

use self::json_array::JsonArrayFile;
use self::kernels::{Durations, Kernels};
use self::part::{Part, RankPart, RenderedPart};
use self::rows::{Figures, kernel_rows};
use crate::args::{Align, Allow, Options};
use crate::comparison;
use crate::data_set;
use crate::identity::{self, Machines, RankOverrides};
use crate::output::{self, size};
use crate::read::{self, Input, RowScan, Rows};

/// Fields whose figures are not exact.
const APPROXIMATE: [&str; 4] = ["p50_ns", "p95_ns", "p99_ns", "trimmed_mean_ns"];

/// Writes the report.
///
/// # Errors
/// Where a trace cannot be read, the traces do not belong together or the report cannot be written; an earlier report
/// then stays.
pub(crate) fn run(options: &Options, out: &mut Output) -> Result<Exit, Failure> {
    let overrides = RankOverrides::parse(&options.identity.set_rank)?;
    let is_clock = options.clock.align != Align::Auto || !options.clock.offset.is_empty();
    if options.check || options.resume || is_clock {
        return Err(Failure::usage("a summary has no clocks, is not resumed and is written")
            .with_hint("leave out --check, --resume, --align and --offset"));
    }
    data_set::check(options)?;
    output::check(options)?;
    let sizes = options.traces.iter().map(|path| size(path)).sum();
    let progress = Progress::files("reading", options.traces.len(), sizes, options.console.quiet);
    let categories = Categories::default();
    let on_disk = || "cannot write temporary files".to_owned();
    let mut report = Report::new().with_context(on_disk)?;
    let durations = Durations::default();
    let (mut inputs, mut bad) = (Vec::new(), 0);
    let work = |step: Step<'_>| match step {
        Step::Read(path) => {
            Done::Read(size(path), TraceTotals::read(path, &overrides, &categories, &durations).map(Box::new))
        }
        Step::Render(part) => Done::Rendered(part.render()),
    };
    let consume = |done: Done| match done {
        Done::Read(bytes, read) => {
            let read = read.map_err(|failure| {
                out.failure(&failure);
                bad += 1;
            });
            progress.advance_file(bytes);
            Ok(read.ok().map(|read| {
                let (input, part) = report.add(*read, inputs.len());
                inputs.push(input);
                Step::Render(Box::new(part))
            }))
        }
        Done::Rendered(part) => {
            part.map_err(io::Error::from).and_then(|part| report.append(&part)).with_context(on_disk)?;
            Ok::<_, Failure>(None)
        }
    };
    let steps = options.traces.iter().map(|path| Step::Read(path));
    let push_all = |pipeline: &mut threads::Pipeline<'_, '_, _, _, _>| {
        steps.into_iter().try_for_each(|step| pipeline.push(step))
    };
    threads::pipeline(threads::Results::Small, work, consume, push_all)?;
    read::check_readable(&inputs, bad, options, ["no report is made", "reports on"])?;
    identity::assign_ranks(&mut inputs, &overrides, options.allows(Allow::MissingRanks))?;
    if !options.allows(Allow::DifferentRuns) {
        identity::check_runs(&inputs, &Machines::find(&inputs))?;
    }
    match &options.output {
        Some(path) => {
            let inputs: Vec<&Path> = options.traces.iter().map(PathBuf::as_path).collect();
            let rules = atomic_file::Options { if_exists: IfExists::forced(options.force), inputs: &inputs };
            AtomicFile::write(path, &rules, |file| report.write(durations, file))?;
        }
        None => report.write(durations, out)?,
    }
    Ok(if bad == 0 { Exit::Success } else { Exit::Input })
}

/// Work on one trace.
enum Step<'a> {
    Read(&'a Path),
    Render(Box<Part>),
}

/// The result of a [`Step`].
enum Done {
    /// The size of a trace, and its totals.
    Read(u64, Result<Box<TraceTotals>, Failure>),
    Rendered(serde_json::Result<RenderedPart>),
}

struct TraceTotals {
    input: Input,
    about: cli::report::Input<StreamedInfo>,
    /// The numbers of its GPUs, idle ones included.
    gpus: BTreeSet<i64>,
    kernels: Vec<Kernel>,
    /// Only GPUs that ran something.
    gpu_totals: Vec<GpuTotals>,
    ranks: Vec<RankPart>,
    calls: SizedCalls,
}

impl TraceTotals {
    /// Reads a trace; the durations of its kernels join those of the others.
    fn read(
        path: &Path,
        overrides: &RankOverrides,
        categories: &Categories,
        durations: &Durations,
    ) -> Result<Self, Failure> {
        let trace = Trace::open(path)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let (given, named) = (overrides.rank(path), identity::rank_of_name(&name));
        let mut totals = StreamingSummary::new(categories, given, named);
        // What is read as a whole is examined by all rules of trust, which need launches and steps.
        let whole = trace.is_one_piece();
        let (mut calls, mut health) = (SizedCalls::new(categories), StreamingHealth::new(whole));
        let select = Select {
            collectives: true,
            links: whole,
            api: whole,
            ranges: whole,
            operators: whole,
            ..Select::ops()
        };
        let mut scan = RowScan::default();
        let mut last = trace.stream(&select, |chunk| {
            scan.add_chunk(chunk);
            totals.add_chunk(chunk);
            calls.add_chunk(chunk);
            health.add_ops(chunk);
            Ok::<(), Error>(())
        })?;
        while totals.end_pass() {
            let mut rows = Rows::default();
            trace.stream(&select, |chunk| {
                rows.add(chunk);
                totals.add_chunk(chunk);
                Ok::<(), Error>(())
            })?;
            if rows != scan.rows {
                let what = format!("{} changed while it was read", path.display());
                return Err(Failure::input(anyhow::anyhow!(what))
                    .with_hint("report on traces when their programs have ended"));
            }
        }
        if health.needs_host_rows(&last.info) {
            let select = Select { api: true, ranges: true, ..Select::ops() };
            trace.stream(&select, |chunk| {
                health.add_host_rows(chunk);
                Ok::<(), Error>(())
            })?;
        }
        let (health, unexamined) = (health.finish(&last.info), health.unexamined());
        let ran = totals.finish(&last);
        for process in &mut last.processes {
            process.rank = given.or(process.rank).or(named);
        }
        let about = about(path, &last, &scan.rows, &ran);
        let gpus = last.agents.iter().filter(|agent| agent.kind == AgentKind::Gpu);
        let gpus = gpus.map(|agent| agent.number).collect();
        let mut input = Input { health, unexamined, ..Input::new(&trace, scan, last) };
        input.forget_details();
        let ranks = ran.ranks.iter().map(RankPart::new).collect();
        for (kernel, sketch) in ran.ranks.into_iter().flat_map(|rank| rank.kernels) {
            durations.add(&ran.kernels[kernel], &sketch);
        }
        Ok(Self { input, about, gpus, kernels: ran.kernels, gpu_totals: ran.gpus, ranks, calls })
    }
}

fn about(path: &Path, tables: &Tables, rows: &Rows, ran: &Totals) -> cli::report::Input<StreamedInfo> {
    let ranks: BTreeSet<u32> = tables.processes.iter().filter_map(|process| process.rank).collect();
    let run = tables.info.metadata.iter().find(|(tag, _)| tag == "run_id");
    let ops = rows.executed();
    let info = StreamedInfo {
        dialect: tables.info.dialect.label().to_owned(),
        tool: tables.info.tool.clone(),
        tool_version: tables.info.tool_version.clone(),
        mode: tables.info.mode.clone(),
        processes: tables.processes.iter().map(ProcessInfo::from).collect(),
        ranks: ranks.into_iter().collect(),
    };
    cli::report::Input {
        path: path.display().to_string(),
        info: Some(info),
        region: Region { ops_before: ops, ops_after: ops, ..Region::default() },
        run: run.map(|(_, value)| value.clone()),
        facts: Some(facts::facts_without_rows(tables, ran.graph, ran.unfinished)),
        metadata: Vec::new(),
    }
}

struct Report {
    inputs: JsonArrayFile,
    gpus: JsonArrayFile,
    ranks: JsonArrayFile,
    kernels: Kernels,
    /// The GPU numbers in use.
    numbers: BTreeSet<i64>,
    /// By trace.
    calls: Vec<SizedCalls>,
    health: Vec<Health>,
    /// The rules that some trace was not examined by.
    unexamined: &'static [&'static str],
}

impl Report {
    fn new() -> io::Result<Self> {
        let (inputs, gpus, ranks) = (JsonArrayFile::new()?, JsonArrayFile::new()?, JsonArrayFile::new()?);
        let (kernels, numbers) = (Kernels::default(), BTreeSet::new());
        Ok(Self {
            inputs,
            gpus,
            ranks,
            kernels,
            numbers,
            calls: Vec::new(),
            health: Vec::new(),
            unexamined: &[],
        })
    }

    /// Adds a trace, which is at position `at`; what it adds to the lists is to be rendered.
    fn add(&mut self, trace: TraceTotals, at: usize) -> (Input, Part) {
        let TraceTotals { mut input, about, gpus, kernels, gpu_totals, ranks, calls } = trace;
        self.calls.push(calls);
        self.health.push(take(&mut input.health));
        self.unexamined = comparison::unexamined([self.unexamined, input.unexamined]);
        let positions: Vec<usize> = kernels.iter().map(|kernel| self.kernels.position(kernel)).collect();
        let names = positions.into_iter().map(|position| self.kernels.all[position].name.clone()).collect();
        // GPUs of one trace get adjacent numbers: if one number is in use, all get new ones.
        let is_taken = gpus.iter().any(|number| self.numbers.contains(number));
        let highest = self.numbers.last().max(gpus.last()).copied();
        let free = highest.map_or(0, |number| number.saturating_add(1));
        let number = |own: i64| match is_taken {
            true => gpus.iter().zip(free..).find(|&(&known, _)| known == own).map_or(own, |(_, new)| new),
            false => own,
        };
        let numbers = gpu_totals.iter().map(|gpu| number(gpu.gpu.gpu)).collect();
        self.numbers.extend(gpus.iter().map(|&own| number(own)));
        (input, Part { input: at, about, ranks, gpus: gpu_totals, names, numbers })
    }

    /// Adds a part, behind those of the traces before.
    fn append(&mut self, part: &RenderedPart) -> io::Result<()> {
        self.inputs.append(&part.inputs)?;
        self.gpus.append(&part.gpus)?;
        self.ranks.append(&part.ranks)
    }

    fn write(self, durations: Durations, out: &mut dyn Write) -> io::Result<()> {
        let head = [
            ("schema", serde_json::json!(SCHEMA)),
            ("tool_version", env!("CARGO_PKG_VERSION").into()),
            ("approximate", APPROXIMATE.to_vec().into()),
            ("percentile_error", PERCENTILE_ERROR.into()),
        ];
        let mut before = "{";
        for (field, value) in head {
            write!(out, "{before}\n\"{field}\": {value}")?;
            before = ",";
        }
        let health = trust::of_job(&self.health, None);
        let (bandwidth, unsized_calls) = SizedCalls::bandwidth(&self.calls);
        for (field, value) in [
            ("trust", serde_json::to_value(health.trust)?),
            ("trust_reasons", serde_json::to_value(health.reasons)?),
            ("trust_unexamined", self.unexamined.to_vec().into()),
            ("bandwidth", serde_json::to_value(bandwidth)?),
            ("unsized_calls", unsized_calls.into()),
        ] {
            write!(out, ",\n\"{field}\": {value}")?;
        }
        write!(out, ",\n\"kernels\": ")?;
        let durations = durations.into_map();
        let all = self
            .kernels
            .all
            .iter()
            .filter_map(|kernel| Some((&kernel.name, Figures::from(durations.get(&kernel.label)?))));
        serde_json::to_writer(&mut *out, &kernel_rows(all))?;
        for (field, spool) in [("inputs", self.inputs), ("gpus", self.gpus), ("reports", self.ranks)] {
            write!(out, ",\n\"{field}\": ")?;
            spool.write(out)?;
        }
        writeln!(out, "\n}}")
    }
}
