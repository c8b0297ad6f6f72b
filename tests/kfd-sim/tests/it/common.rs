//! Runs programs of the tests on the simulator, and reads the simulator's log.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

/// Two ticks of a GPU's clock in ns, the largest error of translating a time to the system's clock.
pub(crate) const TWO_TICKS: u64 = 20;

/// A kernel on a GPU, in ns of the system clock. GPUs count from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Dispatch {
    pub(crate) gpu: u32,
    pub(crate) object: u64,
    pub(crate) start: u64,
    pub(crate) end: u64,
}

/// The library, which cargo puts beside the tests.
pub(crate) fn simulator() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let library = test.parent().unwrap().join("libkfd_sim.so");
    assert!(library.exists(), "cargo built no {}", library.display());
    library
}

pub(crate) fn is_installed(file: &str, package: &str) -> bool {
    let installed = Path::new(file).exists();
    if !installed {
        support::skip(support::Need::Stacks, format_args!("no {file} (apt-get install {package})"));
    }
    installed
}

/// A command that runs a program on the simulator, and kills it when it hangs.
pub(crate) fn on_simulator(program: &Path, settings: &[(&str, &str)]) -> Command {
    let mut command = Command::new("timeout");
    command.args(["--kill-after=1", "60"]).arg("env");
    command.arg(format!("LD_PRELOAD={}", simulator().display())).arg(program);
    command.envs(settings.iter().copied());
    command
}

pub(crate) fn answer(mut command: Command) -> String {
    let Output { status, stdout, stderr } = command.output().unwrap();
    let (stdout, stderr) =
        (String::from_utf8(stdout).unwrap(), String::from_utf8_lossy(&stderr).into_owned());
    assert!(status.success(), "{status}\n{stdout}\n{stderr}");
    // A debug build of the runtime checks times, and some tests make them invalid.
    let complaints = stderr.lines().filter(|line| !line.ends_with("time stamps may be invalid."));
    assert_eq!(complaints.collect::<Vec<_>>(), [""; 0], "nothing to complain about");
    stdout
}

/// A program of the tests in a folder of its own.
pub(crate) struct Program {
    folder: TempDir,
    pub(crate) path: PathBuf,
}

impl Program {
    /// Compiles the source beside this file; `None` where the runtime is not installed.
    pub(crate) fn build(name: &str) -> Option<Self> {
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

    /// Lines of the output, and of the log.
    pub(crate) fn run(&self, arguments: &[&str], settings: &[(&str, &str)]) -> (Vec<String>, Vec<String>) {
        let log = self.folder.path().join("log");
        let _ = fs::remove_file(&log);
        let mut command = on_simulator(&self.path, settings);
        command.args(arguments).env("KFD_SIM_LOG", &log);
        let lines = |text: String| text.lines().map(str::to_owned).collect();
        (lines(answer(command)), lines(fs::read_to_string(&log).unwrap()))
    }

    /// The dispatches that the runtime reported, and those that were executed, both in the same order.
    pub(crate) fn dispatches(
        &self,
        arguments: &[&str],
        settings: &[(&str, &str)],
    ) -> (Vec<Dispatch>, Vec<Dispatch>) {
        let (printed, log) = self.run(arguments, settings);
        let mut reported: Vec<Dispatch> = printed.iter().map(|line| reported(line)).collect();
        let mut executed: Vec<Dispatch> = log.iter().filter_map(|line| executed(line)).collect();
        reported.sort_unstable();
        executed.sort_unstable();
        (reported, executed)
    }
}

pub(crate) fn number(text: &str) -> u64 {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).unwrap(),
        None => text.parse().unwrap(),
    }
}

/// Parses a line of the program: gpu, kernel object, start, end.
pub(crate) fn reported(line: &str) -> Dispatch {
    let columns: Vec<u64> = line.split('\t').map(number).collect();
    Dispatch { gpu: columns[0] as u32, object: columns[1], start: columns[2], end: columns[3] }
}

/// Parses a line of the log; `None` if it is not about a dispatch.
pub(crate) fn executed(line: &str) -> Option<Dispatch> {
    let columns: Vec<&str> = line.split('\t').collect();
    (columns[0] == "dispatch").then(|| Dispatch {
        gpu: number(columns[2]) as u32 - 1,
        object: number(columns[5]),
        start: number(columns[6]),
        end: number(columns[7]),
    })
}

#[track_caller]
pub(crate) fn assert_same(reported: &[Dispatch], executed: &[Dispatch]) {
    assert_eq!(reported.len(), executed.len());
    for (reported, executed) in reported.iter().zip(executed) {
        assert_eq!((reported.gpu, reported.object), (executed.gpu, executed.object));
        assert!(reported.start.abs_diff(executed.start) <= TWO_TICKS, "{reported:?} {executed:?}");
        assert!(reported.end.abs_diff(executed.end) <= TWO_TICKS, "{reported:?} {executed:?}");
    }
}
