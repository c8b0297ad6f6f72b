//! Stock programs of ROCm on the simulator: what the runtime reports is what the log says was executed.
//! Where the packages are not installed each test says so in one line.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a test fails loudly and says what it skips")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use tempfile::TempDir;

/// Two ticks of a GPU's clock, which is what translating a time to the system's clock may cost.
const TWO_TICKS: u64 = 20;

/// A kernel on a GPU, in ns of the system clock. GPUs count from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Dispatch {
    gpu: u32,
    object: u64,
    start: u64,
    end: u64,
}

/// The library, which cargo puts beside the tests.
fn simulator() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let library = test.parent().unwrap().join("libkfd_sim.so");
    assert!(library.exists(), "cargo built no {}", library.display());
    library
}

fn is_installed(file: &str, package: &str) -> bool {
    let installed = Path::new(file).exists();
    if !installed {
        println!("skipped: no {file} (apt-get install {package})");
    }
    installed
}

/// A program that is started on the simulator and killed when it hangs.
fn on_simulator(program: &Path, settings: &[(&str, &str)]) -> Command {
    let mut command = Command::new("timeout");
    command.args(["--kill-after=1", "60"]).arg("env");
    command.arg(format!("LD_PRELOAD={}", simulator().display())).arg(program);
    command.envs(settings.iter().copied());
    command
}

fn answer(mut command: Command) -> String {
    let Output { status, stdout, stderr } = command.output().unwrap();
    let (stdout, stderr) =
        (String::from_utf8(stdout).unwrap(), String::from_utf8_lossy(&stderr).into_owned());
    assert!(status.success(), "{status}\n{stdout}\n{stderr}");
    assert_eq!(stderr, "", "nothing to complain about");
    stdout
}

/// A program of the tests in a folder of its own.
struct Program {
    folder: TempDir,
    path: PathBuf,
}

impl Program {
    /// From its source beside this file; `None` where the runtime is not installed.
    fn build(name: &str) -> Option<Self> {
        if !is_installed("/usr/include/hsa/hsa.h", "libhsa-runtime-dev") {
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/{name}.c"));
        let mut compiler = Command::new("cc");
        compiler.args(["-O1", "-Wall", "-Wextra", "-Werror", "-o"]).arg(&path);
        compiler.arg(source).arg("-lhsa-runtime64");
        answer(compiler);
        Some(Self { folder, path })
    }

    /// What it printed, and the log, line by line.
    fn run(&self, arguments: &[&str], settings: &[(&str, &str)]) -> (Vec<String>, Vec<String>) {
        let log = self.folder.path().join("log");
        let _ = fs::remove_file(&log);
        let mut command = on_simulator(&self.path, settings);
        command.args(arguments).env("KFD_SIM_LOG", &log);
        let lines = |text: String| text.lines().map(str::to_owned).collect();
        (lines(answer(command)), lines(fs::read_to_string(&log).unwrap()))
    }

    /// What the runtime reported, and what was executed, both in the same order.
    fn dispatches(&self, arguments: &[&str], settings: &[(&str, &str)]) -> (Vec<Dispatch>, Vec<Dispatch>) {
        let (printed, log) = self.run(arguments, settings);
        let mut reported: Vec<Dispatch> = printed.iter().map(|line| reported(line)).collect();
        let mut executed: Vec<Dispatch> = log.iter().filter_map(|line| executed(line)).collect();
        reported.sort_unstable();
        executed.sort_unstable();
        (reported, executed)
    }
}

fn number(text: &str) -> u64 {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).unwrap(),
        None => text.parse().unwrap(),
    }
}

/// A line of the program: gpu, kernel object, start, end.
fn reported(line: &str) -> Dispatch {
    let columns: Vec<u64> = line.split('\t').map(number).collect();
    Dispatch { gpu: columns[0] as u32, object: columns[1], start: columns[2], end: columns[3] }
}

/// A line of the log, unless it is about something else.
fn executed(line: &str) -> Option<Dispatch> {
    let columns: Vec<&str> = line.split('\t').collect();
    (columns[0] == "dispatch").then(|| Dispatch {
        gpu: number(columns[2]) as u32 - 1,
        object: number(columns[5]),
        start: number(columns[6]),
        end: number(columns[7]),
    })
}

#[track_caller]
fn assert_same(reported: &[Dispatch], executed: &[Dispatch]) {
    assert_eq!(reported.len(), executed.len());
    for (reported, executed) in reported.iter().zip(executed) {
        assert_eq!((reported.gpu, reported.object), (executed.gpu, executed.object));
        assert!(reported.start.abs_diff(executed.start) <= TWO_TICKS, "{reported:?} {executed:?}");
        assert!(reported.end.abs_diff(executed.end) <= TWO_TICKS, "{reported:?} {executed:?}");
    }
}

#[test]
fn the_runtime_reports_what_was_executed_on_every_gpu() {
    let Some(program) = Program::build("dispatch") else { return };
    for gpus in ["1", "2", "4", "8"] {
        let (reported, executed) = program.dispatches(&["10"], &[("KFD_SIM_GPUS", gpus)]);
        assert_eq!(executed.len() as u64, 10 * number(gpus));
        assert_same(&reported, &executed);
    }
}

#[test]
fn a_kernel_takes_the_time_that_is_set() {
    let Some(program) = Program::build("dispatch") else { return };
    let (reported, executed) = program.dispatches(&["3"], &[("KFD_SIM_KERNEL_NS", "2500000")]);
    assert_same(&reported, &executed);
    for dispatch in executed {
        assert_eq!(Duration::from_nanos(dispatch.end - dispatch.start), Duration::from_micros(2_500));
    }
}

#[test]
fn a_barrier_holds_a_queue_until_another_gpu_is_done() {
    let Some(program) = Program::build("dispatch") else { return };
    let (reported, mut executed) = program.dispatches(&["10", "barrier"], &[("KFD_SIM_GPUS", "3")]);
    assert_same(&reported, &executed);
    executed.sort_by_key(|dispatch| dispatch.start);
    let order: Vec<u32> = executed.iter().map(|dispatch| dispatch.gpu).collect();
    assert_eq!(order, [0, 1, 2].repeat(10));
    for pair in executed.windows(2) {
        assert!(pair[0].end <= pair[1].start, "{pair:?}");
    }
}

#[test]
fn a_queue_shorter_than_the_work_is_filled_again_and_again() {
    let Some(program) = Program::build("dispatch") else { return };
    let (reported, executed) = program.dispatches(&["1000"], &[("KFD_SIM_KERNEL_NS", "0")]);
    assert_eq!(executed.len(), 1000);
    assert_eq!(reported.len(), 1000);
}

#[test]
fn a_process_that_runs_out_of_events_still_ends() {
    let Some(program) = Program::build("dispatch") else { return };
    let (reported, executed) = program.dispatches(&["100"], &[("KFD_SIM_EVENTS", "16")]);
    assert_same(&reported, &executed);
}

#[test]
fn bytes_go_through_every_gpu_and_come_back() {
    let Some(program) = Program::build("copy") else { return };
    for (gpus, bytes) in [("1", "1"), ("2", "100001"), ("4", "9000000")] {
        let (printed, log) = program.run(&[bytes], &[("KFD_SIM_GPUS", gpus)]);
        assert_eq!(printed.len() as u64, number(gpus) + 1, "to the first, from one to the next, and back");
        let copies = log.iter().filter(|line| line.starts_with("copy\t"));
        let copied: u64 = copies.map(|line| number(line.split('\t').nth(4).unwrap())).sum();
        assert_eq!(copied, number(bytes) * printed.len() as u64);
    }
}

#[test]
fn the_runtime_reports_a_copy_around_the_time_at_which_it_was_made() {
    let Some(program) = Program::build("copy") else { return };
    let (printed, log) = program.run(&["4096"], &[]);
    let columns = |line: &String| line.split('\t').map(str::to_owned).collect::<Vec<_>>();
    let made: Vec<Vec<String>> = log.iter().map(columns).filter(|columns| columns[0] == "copy").collect();
    assert_eq!((printed.len(), made.len()), (2, 2));
    for (reported, made) in printed.iter().map(columns).zip(made) {
        assert!(number(&reported[1]) <= number(&made[7]) + TWO_TICKS, "{reported:?} {made:?}");
        assert!(number(&reported[2]) + TWO_TICKS >= number(&made[8]), "{reported:?} {made:?}");
    }
}

#[test]
fn rocminfo_lists_every_gpu_by_its_name() {
    let rocminfo = "/usr/bin/rocminfo";
    if !is_installed(rocminfo, "rocminfo") {
        return;
    }
    for (gpus, target) in [(1, "gfx90a"), (8, "gfx90a"), (2, "gfx1030")] {
        let count = gpus.to_string();
        let settings = [("KFD_SIM_GPUS", count.as_str()), ("KFD_SIM_TARGET", target)];
        let text = answer(on_simulator(Path::new(rocminfo), &settings));
        let agents = text.lines().filter(|line| line.split_whitespace().eq(["Name:", target])).count();
        assert_eq!(agents, gpus, "{text}");
    }
}

#[test]
fn settings_that_make_no_sense_end_the_program_with_a_reason() {
    let Some(program) = Program::build("dispatch") else { return };
    let mut command = on_simulator(&program.path, &[("KFD_SIM_GPUS", "9")]);
    let Output { status, stderr, .. } = command.output().unwrap();
    assert_eq!(status.code(), Some(2));
    assert_eq!(
        String::from_utf8(stderr).unwrap(),
        "kfd-sim: KFD_SIM_GPUS=9: not a whole number from 1 to 8\n"
    );
}
