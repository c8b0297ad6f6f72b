//! Real programs, where `scripts/real-programs` has fetched them: whatever they launch is in the trace, under its full
//! name and with the times at which it ran.
//!
//! `SNAPSHOTS=overwrite` makes the traces anew that lie in `tests/fixtures/real`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use e2e::compare::TWO_TICKS;
use e2e::library;
use e2e::trace::Trace;
use rtl::kernels::names::Names;
use support::real::{llama_bench, tinygrad, write_model};
use support::rusqlite::Connection;
use tempfile::TempDir;

/// Start and end of dispatches in ns, by GPU and kernel.
type Times = BTreeMap<(i64, String), Vec<(i64, i64)>>;

/// A run of a real program with the tracer.
struct Recorded {
    folder: TempDir,
    stdout: String,
    /// What the simulator executed on the program's own queues.
    truth: Times,
}

impl Recorded {
    fn of(mut command: Command, settings: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        command.env("HSA_TOOLS_LIB", library::tracer()).env("RTL_MODE", "standard");
        command.env("RTL_OUTPUT", folder.path().join("trace.db")).env("RTL_METADATA", "minimal");
        command.env("KFD_SIM_LOG", &log).envs(settings.iter().copied());
        let output = command.output().unwrap();
        let (stdout, stderr) =
            (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
        assert!(output.status.success(), "{}\n{stdout}\n{stderr}", output.status);
        assert!(!stderr.contains("rtl: "), "{stderr}");
        Self { truth: executed(&fs::read_to_string(log).unwrap()), folder, stdout }
    }

    /// Holds that the trace has every dispatch and nothing else.
    fn complete(&self) -> Trace {
        let trace = Trace::read(&self.folder.path().join("trace.db"));
        assert_eq!(trace.left_out(), BTreeMap::new());
        let count = self.truth.values().map(Vec::len).sum::<usize>() as i64;
        assert_eq!([trace.count("seen"), trace.count("recorded"), trace.rows.len() as i64], [count; 3]);
        let mut recorded = Times::new();
        for row in &trace.rows {
            recorded.entry((row.gpu, row.name.clone())).or_default().push((row.start, row.end));
        }
        assert!(recorded.keys().eq(self.truth.keys()), "{:#?}\n{:#?}", recorded.keys(), self.truth.keys());
        for (kernel, times) in &recorded {
            let near = |(ours, truth): (&(i64, i64), &(i64, i64))| {
                (ours.0 - truth.0).abs() <= TWO_TICKS && (ours.1 - truth.1).abs() <= TWO_TICKS
            };
            let truth = &self.truth[kernel];
            assert!(times.len() == truth.len() && times.iter().zip(truth).all(near), "{kernel:?}");
        }
        trace
    }

    fn kernels(&self) -> BTreeSet<&str> {
        self.truth.keys().map(|(_, name)| name.as_str()).collect()
    }

    /// How much there was of it.
    fn told(&self) -> String {
        format!(
            "{} kernels, {} launches",
            self.kernels().len(),
            self.truth.values().map(Vec::len).sum::<usize>()
        )
    }

    /// Puts the trace among the fixtures when that is asked for, without what says whose machine it was.
    fn keep(&self, trace: &Trace, name: &str) {
        if std::env::var_os("SNAPSHOTS").is_none_or(|value| value != "overwrite") {
            return;
        }
        let database = Connection::open(&trace.path).unwrap();
        database
            .execute_batch(
                "DELETE FROM rocpd_metadata WHERE tag IN ('host', 'machine_id', 'boot_id', 'kernel_version'); VACUUM",
            )
            .unwrap();
        drop(database);
        let packed = Command::new("gzip").args(["-9n", "--stdout"]).arg(&trace.path).output().unwrap();
        assert!(packed.status.success());
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/real");
        fs::create_dir_all(&fixtures).unwrap();
        fs::write(fixtures.join(format!("{name}.db.gz")), packed.stdout).unwrap();
    }
}

/// Dispatches on the queues that the program created. A kernel is called as a person reads it.
fn executed(log: &str) -> Times {
    let lines: Vec<Vec<&str>> = log.lines().map(|line| line.split('\t').collect()).collect();
    let of_program = lines.iter().filter(|line| line[0] == "queue" && line[7] == "program");
    let queues: BTreeSet<_> = of_program.map(|line| &line[1..4]).collect();
    let mut times = Times::new();
    for line in lines.iter().filter(|line| line[0] == "dispatch" && queues.contains(&line[1..4])) {
        let gpu = line[2].parse::<i64>().unwrap() - 1;
        let name = match line[9] {
            "-" => format!("kernel_{}", line[5]),
            symbol => Names::default().name(symbol),
        };
        times.entry((gpu, name)).or_default().push((line[6].parse().unwrap(), line[7].parse().unwrap()));
    }
    times.values_mut().for_each(|times| times.sort_unstable());
    times
}

#[test]
fn tinygrad_training_is_recorded_completely() {
    let Some(command) = tinygrad(5) else { return };
    let recorded =
        Recorded::of(command, &[("KFD_SIM_KERNEL_NS", "r_*=12000..40000,3000..9000"), ("KFD_SIM_SEED", "1")]);
    let trace = recorded.complete();
    eprintln!("tinygrad: {}", recorded.told());
    assert_eq!(recorded.stdout.lines().filter(|line| line.ends_with("on HIP")).count(), 5);
    assert!(trace.rows.len() > 100 && recorded.kernels().len() > 20, "{}", recorded.told());
    recorded.keep(&trace, "tinygrad-training");
}

#[test]
fn llama_cpp_is_recorded_completely_on_one_gpu_and_on_two() {
    let folder = tempfile::tempdir().unwrap();
    let Some(model) = write_model(folder.path()) else { return };
    for gpus in ["1", "2"] {
        let Some(command) = llama_bench(&model) else { return };
        let times = "Cijk_*=40000..90000,_Z13mul_mat*=15000..45000,_Z9mul_mat*=15000..45000,2000..8000";
        let recorded = Recorded::of(
            command,
            &[("KFD_SIM_GPUS", gpus), ("KFD_SIM_KERNEL_NS", times), ("KFD_SIM_SEED", "1")],
        );
        let trace = recorded.complete();
        eprintln!("llama.cpp on {gpus} GPUs: {}", recorded.told());
        assert!(recorded.stdout.contains("pp64") && recorded.stdout.contains("tg16"), "{}", recorded.stdout);
        assert!(trace.rows.len() > 500 && recorded.kernels().len() > 15, "{}", recorded.told());
        if gpus == "2" {
            recorded.keep(&trace, "llama-bench");
        }
    }
}
