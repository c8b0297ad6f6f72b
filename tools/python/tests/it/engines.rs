//! Engines with workers: the questions about data sets that `rtl.dask` and `rtl.spark` answer, beside rtl-sql and rtl-summary.

use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use support::{Job, Need, fetched, skip, skipped};

use crate::{Package, printed, project};

/// The folder of the programs of the workspace, if all that are used here are built.
fn programs() -> Option<PathBuf> {
    let folder = std::env::current_exe().unwrap().ancestors().nth(2).unwrap().to_owned();
    let is_built = |program| folder.join(program).exists();
    if ["rtl-convert", "rtl-merge", "rtl-sql", "rtl-summary"].into_iter().all(is_built) {
        Some(folder)
    } else {
        skipped(Need::Build, "not all tools are built (cargo build --workspace --bins)")
    }
}

/// A data set in the folder of the package, with its programs.
struct Set<'a> {
    package: &'a Package,
    programs: PathBuf,
    /// `RUN=TRACE`.
    runs: Vec<String>,
}

impl<'a> Set<'a> {
    /// The run `generated`, of two ranks; `None` where the machine lacks a program or DuckDB.
    fn new(package: &'a Package) -> Option<Self> {
        let mut set = Self { package, programs: programs()?, runs: Vec::new() };
        let job = Job { nodes: 1, ranks_per_node: 2, ..Job::default() };
        set.add("generated", &job.generate(package.folder.path()).unwrap());
        if !set.call("rtl-sql", |sql| sql.args(["set", "select 1"])) {
            return skipped(Need::Duckdb, "no DuckDB (scripts/fetch/duckdb)");
        }
        Some(set)
    }

    /// Adds a job of ranks as a run.
    fn add(&mut self, name: &str, ranks: &[PathBuf]) {
        let trace = self.package.path(&format!("{name}.db"));
        assert!(self.call("rtl-merge", |merge| merge.arg("-o").arg(&trace).args(ranks)));
        self.add_trace(name, &trace);
    }

    /// Adds a trace as a run.
    fn add_trace(&mut self, name: &str, trace: &Path) {
        let words = ["--to", "dataset", "-o", "set", "--run", name];
        assert!(self.call("rtl-convert", |convert| convert.arg(trace).args(words)));
        self.runs.push(format!("{name}={}", trace.display()));
    }

    /// Adds more ranks than have files of their own, as the run `many`.
    fn add_many(&mut self) {
        let folder = self.package.path("ranks");
        std::fs::create_dir(&folder).unwrap();
        let job = Job { nodes: 129, ranks_per_node: 8, steps: 2, kernels: 2, ..Job::default() };
        self.add("many", &job.generate(&folder).unwrap());
    }

    /// Adds four ranks on H200s, one of which has a slow host. Prints one line where they are missing.
    fn add_real(&mut self) {
        let Some(shared) = support::shared() else { return };
        let rank = |rank| shared.join(format!("kineto/h200/gpt-dist_slowhost-rank{rank}.json.gz"));
        let ranks: Vec<PathBuf> = (0..4).map(rank).collect();
        if !ranks.iter().all(|path| path.exists()) {
            return skip(Need::Shared, "no job of torch.profiler beside the checkout");
        }
        self.add("slow-host", &ranks);
    }

    /// As [`Self::add`], of the generator's second seed, so that a comparison has two runs.
    fn add_second(&mut self) {
        let folder = self.package.path("second");
        std::fs::create_dir(&folder).unwrap();
        let job = Job { nodes: 1, ranks_per_node: 2, seed: 2, ..Job::default() };
        self.add("second", &job.generate(&folder).unwrap());
    }

    /// True if a tool succeeds.
    fn call(&self, program: &str, words: impl FnOnce(&mut Command) -> &mut Command) -> bool {
        let mut command = Command::new(self.programs.join(program));
        let output = words(&mut command).current_dir(self.package.folder.path()).output().unwrap();
        output.status.success()
    }

    /// Adds the words of `engines.py`, runs it, and holds that it compared every run.
    fn compare(&self, engine: &str, command: &mut Command) {
        let compared = printed(command.arg(engine).arg(&self.programs).arg("set").args(&self.runs));
        let lines: Vec<&str> = compared.lines().collect();
        assert_eq!(lines.len(), self.runs.len(), "{compared}");
        for (line, run) in lines.iter().zip(&self.runs) {
            assert!(line.starts_with(&format!("{}: ", run.split('=').next().unwrap())), "{compared}");
        }
    }
}

#[test]
fn two_processes_of_dask_answer_every_question_as_rtl_sql_and_rtl_summary() {
    let Some(dask) = fetched("readers/dask-2026", "scripts/fetch/trace-readers dask-2026") else { return };
    let Some(package) = Package::new() else { return };
    let package = Package { libraries: Some(dask), ..package };
    let Some(mut set) = Set::new(&package) else { return };
    set.add_second();
    // The many ranks are those of the test below, and a real trace is one of `./test --long`.
    if support::is_long() {
        set.add_many();
        set.add_real();
    }
    set.compare("dask", &mut package.python("engines.py"));
    let rows = |words: &str| {
        let words = words.split(' ').collect::<Vec<_>>();
        printed(package.python("-c").args(["-m", "rtl.dask"]).args(words))
    };
    let statement = rows("set kernels generated second --sql");
    assert!(statement.contains("where run in ('generated', 'second')"), "{statement}");
    assert!(rows("set kernels").lines().all(|line| line.starts_with("[\"") && line.ends_with(']')));
    let absent = package.python("-c").args(["-m", "rtl.dask", "set", "kernels", "third"]).output().unwrap();
    let message = String::from_utf8(absent.stderr).unwrap();
    assert!(message.ends_with("rtl.dask: error: set has no complete run third\n"), "{message}");
}

#[test]
fn a_question_names_a_run_in_an_older_layout_where_it_reads_the_run() {
    let Some(package) = Package::new() else { return };
    for (run, table) in [("older", r#"{"files": 1}"#), ("newer", r#"{"files": 1, "width": 1}"#)] {
        let place = package.path(&format!("set/job=train/run={run}"));
        std::fs::create_dir_all(&place).unwrap();
        let manifest =
            format!(r#"{{"job": "train", "run": "{run}", "tables": {{"kernel_stats": {table}}}}}"#);
        std::fs::write(place.join("_manifest.json"), manifest).unwrap();
    }
    for (words, is_refused) in [(&[][..], true), (&["older", "newer"], true), (&["newer"], false)] {
        let mut dask = package.python("-c");
        let output =
            dask.args(["-m", "rtl.dask", "set", "kernels"]).args(words).arg("--sql").output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.success(), !is_refused, "{words:?}: {message}");
        let place = "(its tables have no width), to be added again: set/job=train/run=older\n";
        assert_eq!(message.ends_with(place), is_refused, "{words:?}: {message}");
    }
}

#[test]
fn one_path_reads_runs_of_few_ranks_of_many_and_of_none() {
    let Some(dask) = fetched("readers/dask-2026", "scripts/fetch/trace-readers dask-2026") else { return };
    let Some(package) = Package::with_libraries() else { return };
    let Some(mut set) = Set::new(&package) else { return };
    set.add_many();
    set.add_trace("none", &package.path("before1.db"));
    let mut check = package.python("one_path.py");
    let paths = [Some(package.folder.path().to_owned()), package.libraries.clone(), Some(dask)];
    check.env("PYTHONPATH", std::env::join_paths(paths.into_iter().flatten()).unwrap());
    let rows = printed(check.arg(&set.programs).arg("set"));
    assert_eq!(rows, "1035 ranks\n");
}

/// A cluster of Spark on loopback. It ends with this value, and with this process however that ends.
struct Cluster {
    daemons: Child,
    spark: PathBuf,
    address: String,
    _folder: tempfile::TempDir,
}

impl Cluster {
    fn start(spark: &Path) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/spark-cluster");
        let mut command = Command::new(script);
        command.arg(spark).arg(folder.path()).process_group(0);
        let mut daemons = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut address = String::new();
        BufReader::new(daemons.stdout.take().unwrap()).read_line(&mut address).unwrap();
        let address = address.trim().to_owned();
        let cluster = Self { daemons, spark: spark.to_owned(), address, _folder: folder };
        assert!(cluster.address.starts_with("spark://127.0.0.1:"), "{}", cluster.address);
        cluster
    }

    /// spark-submit to both workers.
    fn submit(&self) -> Command {
        let home = self.spark.join("deps");
        let mut command = Command::new(home.join("bin/spark-submit"));
        let bridge = self.spark.join("lib").read_dir().unwrap().map(|file| file.unwrap().path());
        let bridge = bridge.filter(|path| path.to_string_lossy().contains("py4j"));
        let packages: Vec<PathBuf> = bridge.chain([self.spark.clone()]).collect();
        command
            .env("PYTHONPATH", std::env::join_paths(packages).unwrap())
            .env("PYTHONDONTWRITEBYTECODE", "1");
        command.env("SPARK_HOME", home).env("SPARK_LOCAL_IP", "127.0.0.1");
        // It ends with the daemons.
        command.process_group(self.daemons.id().cast_signed());
        command.args(["--master", &self.address, "--conf", "spark.cores.max=2"]);
        command
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        drop(self.daemons.stdin.take());
        let _ = self.daemons.wait();
    }
}

#[test]
fn a_master_and_two_workers_of_spark_answer_every_question_as_rtl_sql_and_rtl_summary() {
    let Some(spark) = fetched("spark/4.3.0", "scripts/fetch/spark") else { return };
    if !Command::new("java").arg("-version").output().is_ok_and(|output| output.status.success()) {
        return skip(Need::Programs, "no Java (apt-get install openjdk-17-jre-headless)");
    }
    let Some(package) = Package::new() else { return };
    let Some(mut set) = Set::new(&package) else { return };
    set.add_second();
    set.add_many();
    set.add_real();
    let cluster = Cluster::start(&spark);
    let folder = project().join("tools/python");
    let job = folder.join("rtl/spark.py");
    let mut all = cluster.submit();
    all.arg("--py-files").arg(
        [folder.join("rtl/_questions.py"), job.clone()].map(|path| path.display().to_string()).join(","),
    );
    set.compare("spark", all.arg(folder.join("tests/engines.py")).current_dir(package.folder.path()));
    // As the guide shows it.
    let mut alone = cluster.submit();
    let rows =
        printed(alone.arg(&job).args(["set", "ranks", "generated"]).current_dir(package.folder.path()));
    assert_eq!(rows.lines().count(), 2, "{rows}");
}
