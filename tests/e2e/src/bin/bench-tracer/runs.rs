//! Runs one program, the same in every column, for all figures.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use support::Stack;
use support::rusqlite::{Connection, OpenFlags};

/// Dispatches before the clock starts: by then pools have grown and names are known.
pub(crate) const WARM_UP: u32 = 131_072;

/// Number of runs where one takes less than a tick of the clock of CPU time.
const REPETITIONS: u32 = 20;

/// A tool of the runtime, or none, with its settings.
#[derive(Clone, Default)]
pub(crate) struct Column {
    pub(crate) name: &'static str,
    pub(crate) library: Option<PathBuf>,
    pub(crate) preloaded: Vec<PathBuf>,
    pub(crate) settings: Vec<(&'static str, &'static str)>,
}

impl Column {
    pub(crate) fn new(name: &'static str, library: PathBuf) -> Self {
        Self { name, library: Some(library), ..Self::default() }
    }

    /// Adds an environment variable.
    pub(crate) fn setting(mut self, name: &'static str, value: &'static str) -> Self {
        self.settings.push((name, value));
        self
    }
}

/// Programs, libraries and the runtime of all runs.
#[derive(Clone)]
pub(crate) struct Bench {
    pub(crate) folder: PathBuf,
    pub(crate) columns: Vec<Column>,
    pub(crate) simulator: PathBuf,
    pub(crate) counter: PathBuf,
    /// The ROCm runtime, where it is another one than the system's.
    pub(crate) runtime: Option<Stack>,
    /// The program that submits, and the code object of its kernels.
    pub(crate) submit: PathBuf,
    pub(crate) one_kernel: PathBuf,
    pub(crate) latency: PathBuf,
    pub(crate) start: PathBuf,
    pub(crate) load: PathBuf,
    pub(crate) many_kernels: PathBuf,
    pub(crate) first: String,
}

/// Cost of a timed run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cost {
    /// User and system seconds of the whole process.
    pub(crate) cpu: f64,
    /// Seconds from start to end of the process.
    pub(crate) wall: f64,
    /// Seconds from the first timed dispatch to the end of the last wait.
    pub(crate) until_last_wait: f64,
    /// Bytes of the trace without its calls, if there is one.
    pub(crate) bytes_per_op: Option<f64>,
    /// Rows of the trace, if there is one.
    pub(crate) recorded: Option<f64>,
}

impl Bench {
    /// The command of a program on the simulator with a column's tool. Files that it leaves go to the bench's folder.
    pub(crate) fn command(&self, program: &Path, column: &Column, preload: &[&Path]) -> Command {
        self.command_by(None, program, column, preload)
    }

    /// Does what `command` does for a command that starts the program.
    pub(crate) fn command_by(
        &self,
        starter: Option<Command>,
        program: &Path,
        column: &Column,
        preload: &[&Path],
    ) -> Command {
        let libraries = preload.iter().copied().chain(column.preloaded.iter().map(PathBuf::as_path));
        let libraries: Vec<PathBuf> = libraries.map(Path::to_owned).collect();
        let words = self.runtime.as_ref().map(|runtime| runtime.loading(&libraries, program));
        let words = words.unwrap_or_else(|| vec![program.into()]);
        let mut command = match starter {
            Some(mut starter) => {
                starter.args(words);
                starter
            }
            None => {
                let mut command = Command::new(&words[0]);
                command.args(&words[1..]);
                command
            }
        };
        self.set_up(&mut command, column, &libraries);
        command
    }

    fn set_up(&self, command: &mut Command, column: &Column, preload: &[PathBuf]) {
        let all = preload.iter().chain([&self.simulator]);
        let all: Vec<String> = all.map(|library| library.display().to_string()).collect();
        for (name, _) in
            std::env::vars().filter(|(name, _)| name.starts_with("RTL_") || name.starts_with("HSA_"))
        {
            command.env_remove(name);
        }
        if self.runtime.is_none() {
            command.env("LD_PRELOAD", all.join(" "));
        }
        command.env("KFD_SIM_KERNEL_NS", "0");
        command.env("CODE_OBJECT", &self.one_kernel).env("REPORT", self.folder.join("report"));
        command.env("RTL_MODE", "standard").env("RTL_OUTPUT", self.trace());
        command.envs(column.settings.iter().copied());
        if let Some(library) = &column.library {
            command.env("HSA_TOOLS_LIB", library);
        }
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let _ = fs::remove_file(self.trace());
    }

    fn trace(&self) -> PathBuf {
        self.folder.join("trace.db")
    }

    /// The two numbers of the report: ns until the last wait, and allocations.
    fn report(&self) -> Result<(f64, f64)> {
        let report = fs::read_to_string(self.folder.join("report"))?;
        let (time, allocations) = report.trim().split_once('\t').context("a report of two numbers")?;
        Ok((time.parse()?, allocations.parse()?))
    }

    /// The cheapest of each column's runs with kernels of that length. The columns take turns, so that other load affects all of
    /// them.
    pub(crate) fn timed(&self, dispatches: u32, rounds: u32, kernel_ns: u32) -> Result<Vec<Cost>> {
        let mut best: Vec<Option<Cost>> = self.columns.iter().map(|_| None).collect();
        for _ in 0..rounds.max(1) {
            for (column, best) in self.columns.iter().zip(&mut best) {
                let cost = self.once(column, dispatches, kernel_ns)?;
                let so_far = best.get_or_insert(cost);
                so_far.cpu = so_far.cpu.min(cost.cpu);
                so_far.wall = so_far.wall.min(cost.wall);
                so_far.until_last_wait = so_far.until_last_wait.min(cost.until_last_wait);
            }
        }
        Ok(best.into_iter().flatten().collect())
    }

    fn once(&self, column: &Column, dispatches: u32, kernel_ns: u32) -> Result<Cost> {
        let mut command = self.command(&self.submit, column, &[]);
        command.env("KFD_SIM_KERNEL_NS", kernel_ns.to_string());
        command.args([dispatches.to_string(), WARM_UP.to_string()]);
        let (cpu, wall) = ended_well(command)?;
        let (time, _) = self.report()?;
        let trace = self.trace();
        let (recorded, bytes) = trace.exists().then(|| ops(&trace)).transpose()?.unzip();
        let bytes_per_op = bytes.zip(recorded).map(|(bytes, rows): (f64, f64)| bytes / rows);
        Ok(Cost { cpu, wall, until_last_wait: time / 1e9, bytes_per_op, recorded })
    }

    /// The ns that 99.9 % of the launches of a thread stay below, with kernels of that length: the least of each column's runs.
    /// The columns take turns.
    pub(crate) fn latencies(
        &self,
        launches: u32,
        rounds: u32,
        kernel_ns: u32,
        settings: &[(&str, &str)],
    ) -> Result<Vec<f64>> {
        let mut least = vec![f64::INFINITY; self.columns.len()];
        for _ in 0..rounds.max(1) {
            for (column, least) in self.columns.iter().zip(&mut least) {
                let mut command = self.command(&self.latency, column, &[]);
                command.env("KFD_SIM_KERNEL_NS", kernel_ns.to_string()).envs(settings.iter().copied());
                command.arg(launches.max(10_000).to_string());
                ended_well(command)?;
                let report = fs::read_to_string(self.folder.join("report"))?;
                let rare = report.split_whitespace().nth(3).context("a report of five numbers")?;
                *least = least.min(rare.parse()?);
            }
        }
        Ok(least)
    }

    /// Allocations of the submitting thread for a dispatch.
    pub(crate) fn allocations(&self) -> Result<Vec<f64>> {
        const DISPATCHES: u32 = 100_000;
        let count = |column: &Column| {
            let mut command = self.command(&self.submit, column, &[&self.counter]);
            command.args([DISPATCHES.to_string(), WARM_UP.to_string()]);
            ended_well(command)?;
            Ok(self.report()?.1 / f64::from(DISPATCHES))
        };
        self.columns.iter().map(count).collect()
    }

    /// ms of CPU time of a process that starts the runtime and ends.
    pub(crate) fn start_up(&self) -> Result<Vec<f64>> {
        self.repeated(|column| {
            let mut command = self.command(&self.start, column, &[]);
            command.arg("agents");
            command
        })
    }

    /// ms of CPU time of a process that loads 20,000 kernels and launches one of them.
    pub(crate) fn loading(&self) -> Result<Vec<f64>> {
        self.repeated(|column| {
            let mut command = self.command(&self.load, column, &[]);
            command.env("CODE_OBJECT", &self.many_kernels).env("FIRST", &self.first);
            command
        })
    }

    fn repeated(&self, command: impl Fn(&Column) -> Command) -> Result<Vec<f64>> {
        let mut sums = vec![0.0; self.columns.len()];
        for _ in 0..REPETITIONS {
            for (column, sum) in self.columns.iter().zip(&mut sums) {
                *sum += ended_well(command(column))?.0;
            }
        }
        Ok(sums.into_iter().map(|sum| 1e3 * sum / f64::from(REPETITIONS)).collect())
    }
}

/// Runs a command, which must succeed; returns seconds of CPU time and of wall time.
pub(crate) fn ended_well(mut command: Command) -> Result<(f64, f64)> {
    let (before, begun) = (children()?, Instant::now());
    let output = command.output().with_context(|| format!("{command:?}"))?;
    let wall = begun.elapsed().as_secs_f64();
    if !output.status.success() {
        bail!("{command:?}: {}: {}", output.status, String::from_utf8_lossy(&output.stderr));
    }
    Ok((children()? - before, wall))
}

/// User and system seconds of all children that ended, counted in ticks of 10 ms.
fn children() -> Result<f64> {
    const TICKS_PER_SECOND: f64 = 100.0;
    let stat = fs::read_to_string("/proc/self/stat")?;
    // Behind the name, which may hold blanks, the first field is the third.
    let (_, fields) = stat.rsplit_once(')').context("/proc/self/stat names the program")?;
    let field =
        |number: usize| fields.split_whitespace().nth(number - 3).and_then(|text| text.parse::<f64>().ok());
    let (user, system) = field(16).zip(field(17)).context("/proc/self/stat has children's times")?;
    Ok((user + system) / TICKS_PER_SECOND)
}

/// The number of ops in a trace, and its bytes without those of its calls.
fn ops(trace: &Path) -> Result<(f64, f64)> {
    let database = Connection::open_with_flags(trace, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let rows = database.query_row("SELECT count(*) FROM rocpd_op", [], |row| row.get(0))?;
    Ok((rows, fs::metadata(trace)?.len() as f64 - bytes_of_calls(trace)?))
}

/// The bytes of a trace's calls, by the system's SQLite, because the bundled one has no dbstat.
fn bytes_of_calls(trace: &Path) -> Result<f64> {
    let bytes = "SELECT coalesce(sum(pgsize), 0) FROM dbstat WHERE name = 'rocpd_api'";
    let sqlite = Command::new("sqlite3").arg("-readonly").arg(trace).arg(bytes).output()?;
    let text = String::from_utf8_lossy(&sqlite.stdout);
    text.trim().parse().with_context(|| format!("sqlite3: {}", String::from_utf8_lossy(&sqlite.stderr)))
}
