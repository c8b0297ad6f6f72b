//! Commands of the documentation that record, or that look at a process which is being recorded, on a simulated GPU.

use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use e2e::{Process, Trace, library};

use super::Pages;

/// The process id that pages name.
const PID: &str = "4711";

/// Returns true if the command needs a program on a GPU.
pub(super) fn is_meant(command: &str) -> bool {
    ["rtl trace", "rtl-trace", "rtl top", "rtl-top", "HSA_TOOLS_LIB=", "LD_PRELOAD=", "PATH=", "exec "]
        .iter()
        .any(|start| command.starts_with(start))
}

/// Gives the folder the tracer as `lib` and, as `bin`, each program that pages record: one that launches kernels on a
/// simulated GPU.
fn install(folder: &Path, process: &Process) {
    for part in ["bin", "lib", "traces"] {
        fs::create_dir(folder.join(part)).unwrap();
    }
    for (library, name) in [(library::tracer(), "librtl.so"), (library::companion(), "librtl_hip.so")] {
        fs::copy(library, folder.join("lib").join(name)).unwrap();
    }
    let script = script(process);
    for place in ["bin/python3", "bin/torchrun", "bin/vllm", "bin/bench", "program"] {
        let path = folder.join(place);
        fs::write(&path, &script).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
}

/// A script that runs a program on a simulated GPU, with the tracer that it is given.
fn script(process: &Process) -> String {
    let command = process.command(&process.folder().join("run"));
    let quoted = |word: &OsStr| format!("'{}'", word.to_str().unwrap());
    let mut script = "#!/bin/sh\n".to_owned();
    let set = command.get_envs().filter_map(|(name, value)| Some((name.to_str()?, value?)));
    for (name, value) in set.filter(|(name, _)| !name.starts_with("RTL_")) {
        script += &format!("export {name}={}\n", quoted(value));
    }
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words: Vec<String> = words.map(quoted).collect();
    // The tracer that is preloaded stays so.
    let words = words.join(" ").replace("'LD_PRELOAD=", "LD_PRELOAD=\"${LD_PRELOAD:+$LD_PRELOAD:}\"'");
    script + "exec " + &words + "\n"
}

/// A process that is being recorded until it is dropped.
struct Running(Child);

impl Running {
    /// Starts a program in the folder, where its trace is `trace_PID.db`, as in the folder `traces`.
    fn start(folder: &Path) -> Option<Self> {
        let process = Process::new("on_request")?.without_time_limit();
        let script_at = folder.join("bin/waits");
        fs::write(&script_at, script(&process)).unwrap();
        let mut command = Command::new("sh");
        command.arg(&script_at).current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::piped());
        command.env("HSA_TOOLS_LIB", folder.join("lib/librtl.so"));
        command.env("RTL_OUTPUT", folder.join("traces/trace_%p.db"));
        let mut child = command.spawn().unwrap();
        let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
        let pid = answers.next().unwrap().unwrap();
        assert_eq!(pid, child.id().to_string());
        child.stdin.as_mut().unwrap().write_all(b"3\n").unwrap();
        assert_eq!(answers.next().unwrap().unwrap(), "done");
        let name = format!("trace_{pid}.db");
        let trace = folder.join("traces").join(&name);
        // A completed op is in the file soon after the process knows of it.
        let limit = Instant::now() + Duration::from_secs(20);
        while !trace.exists() {
            assert!(Instant::now() < limit, "no trace within 20 s");
            std::thread::sleep(Duration::from_millis(5));
        }
        std::os::unix::fs::symlink(trace, folder.join(name)).unwrap();
        Some(Self(child))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // The process ends when its input ends.
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

/// The number of ops of the trace in a folder: a file, or the only run of the only job of a data set.
fn recorded(folder: &Path) -> Option<usize> {
    let entries = |folder: &Path| {
        let entries = folder.read_dir().into_iter().flatten();
        entries.map(|entry| entry.unwrap().path()).collect::<Vec<_>>()
    };
    let files = entries(folder).into_iter().filter(|path| path.extension().is_some_and(|end| end == "db"));
    let runs = entries(&folder.join("runs")).into_iter().flat_map(|job| entries(&job));
    let rows_of_run = |run: PathBuf| {
        let manifest = fs::read(run.join("_manifest.json")).unwrap();
        let manifest: serde_json::Value = serde_json::from_slice(&manifest).unwrap();
        manifest["tables"]["dispatches"]["rows"].as_u64().unwrap() as usize
    };
    files.map(|path| Trace::read(&path).rows.len()).chain(runs.map(rows_of_run)).max()
}

#[test]
fn every_command_that_records_or_looks_at_a_recording_does_so() {
    let Some(stack) = support::stack("bookworm") else { return };
    let Some(process) = Process::for_hip(&stack, "hip_streams", &["4", "20"]) else { return };
    let pages = Pages::new();
    let mut commands = 0;
    for page in pages.all() {
        for example in pages.examples_of(&page).iter().filter(|example| is_meant(&example.command)) {
            let folder = tempfile::tempdir().unwrap();
            install(folder.path(), &process);
            let mut command =
                example.command.replace("$PWD/target/release/", "lib/").replace("/path/to/", "lib/");
            let looks = ["rtl top", "rtl-top", "rtl trace --control"];
            let looks = looks.iter().any(|start| command.starts_with(start));
            let mut running = None;
            if looks {
                let Some(started) = Running::start(folder.path()) else { return };
                command = command.replace(PID, &started.0.id().to_string());
                // Without `--once` the report is drawn until the process ends.
                let follows = command.starts_with("rtl top") && !command.contains("--once");
                command += if follows { " --once" } else { "" };
                running = Some(started);
            } else {
                command = command.replace("rtl trace ", "rtl trace --lib lib/librtl.so ");
            }
            let output = pages.run(&command, folder.path(), &folder.path().join("bin"));
            assert!(output.status.success(), "{page}: {command}: {output:?}");
            drop(running);
            if !looks {
                assert_eq!(recorded(folder.path()), Some(80), "{page}: {command}: {output:?}");
            }
            commands += 1;
        }
    }
    assert!(commands > 15, "{commands}");
}
