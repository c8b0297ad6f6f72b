//! Measures rtl-summary against the least that SQLite itself needs for one sum over the same file, and
//! prints asked and measured as a Markdown table. How to repeat and read it: docs/bench/tools.md.
#![expect(clippy::print_stdout, reason = "the table is the answer of this program")]
#![expect(clippy::print_stderr, reason = "a benchmark of minutes says what it is doing")]

mod convert;
mod figure;
mod measure;
mod merge;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result, bail};
use clap::Parser;

use figure::Figure;
use measure::{Call, Cost, median, repetitions};

/// The least a SQL answer costs: one pass over the ops.
const FLOOR: &str = "select sum(end-start) from rocpd_op";
/// The least of a trace with calls: a pass over these, too.
const FLOOR_WITH_CALLS: &str = "select sum(end-start) from rocpd_op; select sum(end-start) from rocpd_api";

/// Compare rtl-summary with `sqlite3` summing one column
#[derive(Parser)]
#[command(name = "bench")]
struct Arguments {
    /// Ops of the large trace
    #[arg(long, default_value_t = 10_000_000)]
    ops: u64,
    /// Layouts of the large trace
    #[arg(long, value_delimiter = ',', default_value = "lite,native")]
    layout: Vec<String>,
    /// Rounds; each runs the floor and rtl-summary once, in turn
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Ops of the trace for callgrind; 0 leaves it out
    #[arg(long, default_value_t = 1_000_000)]
    callgrind: u64,
    /// Also a trace of so many ops, for its peak memory alone (100 million need 10 GB of disk)
    #[arg(long)]
    huge: Option<u64>,
    /// Where generated traces are kept between runs
    #[arg(long, value_name = "FOLDER")]
    cache: Option<PathBuf>,
    /// The program to measure [default: rtl-summary beside this program]
    #[arg(long, value_name = "PROGRAM")]
    summary: Option<PathBuf>,
    /// Measure rtl-convert in place of rtl-summary
    #[arg(long)]
    convert: bool,
    /// Read a trace to its end and do nothing with it: the floor of every conversion
    #[arg(long, value_name = "TRACE", hide = true)]
    read: Vec<PathBuf>,
    /// Measure rtl-merge in place of rtl-summary
    #[arg(long, conflicts_with = "convert")]
    merge: bool,
    /// Exit 1 when a figure misses what it must reach
    #[arg(long)]
    check: bool,
}

/// The programs and the folder that a run works with.
struct Bench {
    summary: PathBuf,
    generate: PathBuf,
    cache: PathBuf,
    rounds: usize,
}

impl Bench {
    fn new(arguments: &Arguments) -> Result<Self> {
        let own = std::env::current_exe()?;
        let beside = |name: &str| own.with_file_name(name);
        let summary = arguments.summary.clone().unwrap_or_else(|| beside("rtl-summary"));
        let generate = beside("generate");
        for program in [&summary, &generate] {
            if !program.is_file() {
                bail!("no {}: build it first (scripts/bench/tools does)", program.display());
            }
        }
        let home = || std::env::var_os("HOME").map(|home| Path::new(&home).join(".cache"));
        let cache = match &arguments.cache {
            Some(folder) => folder.clone(),
            None => std::env::var_os("XDG_CACHE_HOME")
                .map(PathBuf::from)
                .or_else(home)
                .context("neither --cache nor HOME says where to keep traces")?
                .join("rtl/bench"),
        };
        fs::create_dir_all(&cache).with_context(|| format!("cannot create {}", cache.display()))?;
        Ok(Self { summary, generate, cache, rounds: arguments.rounds.max(1) })
    }

    /// A generated trace, kept between runs.
    fn trace(&self, layout: &str, ops: u64) -> Result<PathBuf> {
        self.generated(layout, ops, &["--layout", layout, "--seed", "1"])
    }

    /// One of several runs of the same build.
    fn run_of_build(&self, seed: &str, ops: u64) -> Result<PathBuf> {
        self.generated(&format!("run{seed}"), ops, &["--layout", "native", "--seed", seed, "--workload", "7"])
    }

    fn generated(&self, name: &str, ops: u64, how: &[&str]) -> Result<PathBuf> {
        // A generator that changed makes other traces: its time stamp is part of their name.
        let version =
            fs::metadata(&self.generate)?.modified()?.duration_since(std::time::UNIX_EPOCH)?.as_secs();
        let path = self.cache.join(format!("{name}-{ops}-{version}.db"));
        if !path.exists() {
            eprintln!("bench: generating {ops} ops, {}", how.join(" "));
            self.forget(name, ops)?;
            let unfinished = path.with_extension("part");
            let _ = fs::remove_file(&unfinished);
            let status = Command::new(&self.generate)
                .args(how)
                .args(["--ops", &ops.to_string()])
                .arg(&unfinished)
                .stdout(Stdio::null())
                .status()?;
            if !status.success() {
                bail!("the generator ended with {status}");
            }
            fs::rename(&unfinished, &path)?;
        }
        Ok(path)
    }

    /// Removes traces of the same kind that an older generator made.
    fn forget(&self, name: &str, ops: u64) -> Result<()> {
        let prefix = format!("{name}-{ops}-");
        for entry in fs::read_dir(&self.cache)? {
            let entry = entry?;
            if entry.file_name().to_string_lossy().starts_with(&prefix) {
                fs::remove_file(entry.path())?;
            }
        }
        Ok(())
    }

    fn floor(&self, trace: &Path) -> Call {
        Self::sql(trace, FLOOR)
    }

    fn sql(trace: &Path, query: &str) -> Call {
        Call::new("sqlite3", [trace.into(), query.into()])
    }

    fn ours(&self, trace: &Path) -> Call {
        Call::new(&self.summary, [trace.into()])
    }

    /// Median costs of floor and rtl-summary, run in turn after one run each that nobody counts.
    fn compare(&self, trace: &Path) -> Result<(Cost, Cost)> {
        self.compare_with(self.floor(trace), trace)
    }

    fn compare_with(&self, floor: Call, trace: &Path) -> Result<(Cost, Cost)> {
        let calls = [floor, self.ours(trace)];
        let mut costs = [Vec::new(), Vec::new()];
        calls[1].cost(1)?;
        let times = repetitions(calls[0].cost(1)?.wall);
        for _ in 0..self.rounds {
            for (call, costs) in calls.iter().zip(&mut costs) {
                costs.push(call.cost(times)?);
            }
        }
        let [floor, ours] = costs.map(|costs| Cost {
            cpu: median(costs.iter().map(|cost| cost.cpu).collect()),
            wall: median(costs.iter().map(|cost| cost.wall).collect()),
        });
        Ok((floor, ours))
    }

    fn large(&self, layout: &str, ops: u64) -> Result<Vec<Figure>> {
        let trace = self.trace(layout, ops)?;
        eprintln!("bench: {} rounds on {ops} ops, layout {layout}", self.rounds);
        let (floor, ours) = self.compare(&trace)?;
        let peak = self.ours(&trace).peak_anonymous()?;
        let per_op = peak as f64 / ops as f64;
        let file = fs::metadata(&trace)?.len() as f64 / ops as f64;
        let work = format!("{ops} ops, {layout} layout ({file:.0} B per op on disk)");
        Ok(vec![
            Figure::ratio(format!("{work}: CPU"), floor.cpu, ours.cpu, 2.0, 1.2),
            Figure::ratio(format!("{work}: wall"), floor.wall, ours.wall, 1.2, 0.8),
            Figure {
                work: format!("{work}: peak anonymous memory"),
                floor: String::new(),
                measured: format!("{:.0} MiB", peak as f64 / f64::from(1 << 20)),
                value: per_op,
                must: Some(40.0),
                aim: Some(25.0),
                unit: " B per op",
            },
        ])
    }

    /// A trace with the call of every op over one pass over both tables, and over the same ops without calls.
    fn with_calls(&self, ops: u64) -> Result<[Figure; 2]> {
        let trace = self.generated("api", ops, &["--layout", "native", "--seed", "1", "--api"])?;
        eprintln!("bench: {} rounds on {ops} ops with as many calls", self.rounds);
        let (floor, ours) = self.compare_with(Self::sql(&trace, FLOOR_WITH_CALLS), &trace)?;
        let (_, alone) = self.compare(&self.trace("native", ops)?)?;
        let work = format!("{ops} ops with as many calls");
        Ok([
            Figure::shown(format!("{work}: CPU"), floor.cpu, ours.cpu),
            Figure::shown(format!("{work}, over the ops alone: CPU"), alone.cpu, ours.cpu),
        ])
    }

    /// rtl-diff of two runs over rtl-summary of each.
    fn diff(&self, ops: u64) -> Result<Figure> {
        let runs = [self.run_of_build("1", ops)?, self.run_of_build("2", ops)?];
        eprintln!("bench: {} rounds of rtl-diff on two runs of {ops} ops", self.rounds);
        let [one, other] = runs.each_ref().map(|run| self.ours(run));
        let diff = Call::new(self.summary.with_file_name("rtl-diff"), runs.map(PathBuf::into_os_string));
        diff.cost(1)?;
        let (mut floors, mut costs) = (Vec::new(), Vec::new());
        for _ in 0..self.rounds {
            floors.push(one.cost(1)?.cpu + other.cost(1)?.cpu);
            costs.push(diff.cost(1)?.cpu);
        }
        let work = format!("rtl-diff of two runs of {ops} ops over two rtl-summary: CPU");
        Ok(Figure::ratio(work, median(floors), median(costs), 1.6, 1.2))
    }

    fn small(&self) -> Result<Figure> {
        let trace = self.trace("lite", 1_000)?;
        eprintln!("bench: {} rounds on 1,000 ops", self.rounds);
        let (floor, ours) = self.compare(&trace)?;
        Ok(Figure::ratio("1,000 ops, whole process: CPU".to_owned(), floor.cpu, ours.cpu, 3.0, 1.5))
    }

    fn instructions(&self, layout: &str, ops: u64) -> Result<Option<Figure>> {
        let trace = self.trace(layout, ops)?;
        eprintln!("bench: callgrind on {ops} ops, layout {layout}");
        let (Some(floor), Some(ours)) =
            (self.floor(&trace).instructions()?, self.ours(&trace).instructions()?)
        else {
            eprintln!("bench: valgrind is missing, no instructions counted");
            return Ok(None);
        };
        Ok(Some(Figure {
            work: format!("{ops} ops, {layout} layout: instructions"),
            floor: format!("{:.0} M", floor as f64 / 1e6),
            measured: format!("{:.0} M", ours as f64 / 1e6),
            value: ours as f64 / floor as f64,
            must: None,
            aim: None,
            unit: " x",
        }))
    }

    fn huge(&self, ops: u64) -> Result<Figure> {
        let trace = self.trace("native", ops)?;
        eprintln!("bench: peak memory on {ops} ops");
        let gib = self.ours(&trace).peak_anonymous()? as f64 / f64::from(1 << 30);
        Ok(Figure {
            work: format!("{ops} ops, native layout: peak anonymous memory"),
            floor: String::new(),
            measured: format!("{gib:.2} GiB"),
            value: gib,
            must: Some(4.0),
            aim: Some(2.0),
            unit: " GiB",
        })
    }
}

/// Machine and floor in one line: ratios travel between machines, seconds do not.
fn circumstances() -> String {
    let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(':'))
        .map_or("unknown CPU", |(_, model)| model.trim());
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split_ascii_whitespace().next().unwrap_or("?");
    let sqlite = Command::new("sqlite3").arg("--version").output().map(|output| output.stdout);
    let sqlite = String::from_utf8_lossy(&sqlite.unwrap_or_default()).into_owned();
    let sqlite = sqlite.split_ascii_whitespace().next().unwrap_or("missing").to_owned();
    format!("{model}, {cores} cores, load {load} at the start; floor: sqlite3 {sqlite}, `{FLOOR}`")
}

fn main() -> Result<ExitCode> {
    let arguments = Arguments::parse();
    if !arguments.read.is_empty() {
        arguments.read.iter().try_for_each(|trace| convert::read(trace))?;
        return Ok(ExitCode::SUCCESS);
    }
    let bench = Bench::new(&arguments)?;
    let circumstances = circumstances();
    let mut figures = Vec::new();
    let all = !arguments.convert && !arguments.merge;
    if all {
        for layout in &arguments.layout {
            figures.extend(bench.large(layout, arguments.ops)?);
        }
        figures.push(bench.small()?);
        figures.extend(bench.with_calls((arguments.ops / 10).max(1_000))?);
        figures.push(bench.diff(arguments.ops)?);
    }
    if all || arguments.convert {
        figures.extend(convert::figures(&bench)?);
    }
    if all || arguments.merge {
        figures.extend(merge::figures(&bench)?);
    }
    if all {
        if arguments.callgrind > 0 {
            for layout in &arguments.layout {
                figures.extend(bench.instructions(layout, arguments.callgrind)?);
            }
        }
        if let Some(ops) = arguments.huge {
            figures.push(bench.huge(ops)?);
        }
    }
    println!("{circumstances}; medians of {} rounds.\n", bench.rounds);
    println!("| work | floor | ours | measured | must | aim | reached |");
    println!("|---|--:|--:|--:|--:|--:|---|");
    for figure in &figures {
        println!("{}", figure.row());
    }
    let missed = figures.iter().any(|figure| figure.verdict() == "MISSED");
    Ok(if arguments.check && missed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
