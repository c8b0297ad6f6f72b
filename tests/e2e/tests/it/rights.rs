//! Tests of programs that may not write to the place of the trace, and of programs whose environment must not choose it.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use e2e::family::assert_whole;
use e2e::{Process, Trace, library};
use support::{Need, skip, skipped};

const NOBODY: u32 = 65534;

fn allow(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// A folder with these rights within one that every user can enter.
fn folder(process: &Process, mode: u32) -> PathBuf {
    let folder = process.folder().join(format!("{mode:o}"));
    let _ = fs::create_dir(&folder);
    allow(process.folder(), 0o755);
    allow(&folder, mode);
    folder
}

/// A process with these steps of `forks.c` and a trace in a folder with these rights.
fn process(steps: &[&str], mode: u32) -> Option<(Process, PathBuf)> {
    let process = Process::new("forks")?.arguments(steps);
    let file = folder(&process, mode).join("trace.db");
    Some((process.setting("RTL_OUTPUT", &file).preloaded(), file))
}

#[test]
fn where_nothing_may_be_written_one_line_says_so_and_the_program_runs() {
    // The tracer is not preloaded, so it learns of the change only when it has happened.
    let Some(process) = Process::new("forks") else { return };
    let file = folder(&process, 0o555).join("trace.db");
    let process = process.arguments(&["begin", "user", "work", "end"]).setting("RTL_OUTPUT", &file);
    let outcome = process.unchanged();
    assert!(outcome.status.success() && !file.exists(), "{outcome:?}");
    let [line] = outcome.messages.as_slice() else { panic!("{outcome:?}") };
    assert!(line.contains(file.to_str().unwrap()) && line.contains("Permission denied"), "{line}");
    assert!(line.starts_with("rtl: 20 of 20 kernel dispatches are not in the trace: "), "{line}");
}

#[test]
fn a_program_that_gives_up_its_rights_records_where_it_still_may() {
    let Some((process, file)) = process(&["begin", "user", "work", "end"], 0o777) else { return };
    let outcome = process.well();
    let trace = Trace::read(&file);
    assert_eq!(trace.rows.len(), 20, "{outcome:?}");
    assert_whole(&trace);
}

#[test]
fn a_program_that_gives_up_its_rights_keeps_the_file_that_it_has() {
    let steps = ["begin", "work", "recorded", "user", "work", "end"];
    let Some((process, file)) = process(&steps, 0o755) else { return };
    let outcome = process.well();
    let trace = Trace::read(&file);
    assert_eq!(trace.rows.len(), 40, "{outcome:?}");
    assert_whole(&trace);
}

/// True if these tests run as root. Otherwise one line says that they are skipped.
fn are_root() -> bool {
    let is_root = fs::metadata("/proc/self").unwrap().uid() == 0;
    if !is_root {
        skip(Need::Machine, "only root can give up rights");
    }
    is_root
}

#[test]
fn a_program_that_gives_up_its_rights_at_once_is_recorded_where_it_could_write_before() {
    for how in ["user", "root"] {
        for (steps, kernels) in [(["begin", how, "work", "end"], 20), (["begin", "work", how, "work"], 40)] {
            let Some((process, file)) = process(&steps, 0o755).filter(|_| are_root()) else { return };
            let outcome = process.well();
            let trace = Trace::read(&file);
            assert_eq!(trace.rows.len(), kernels, "{steps:?} {outcome:?}");
            assert_whole(&trace);
        }
    }
}

#[test]
fn ranges_of_a_program_that_gives_up_its_rights_at_once_are_recorded() {
    for how in ["user", "root"] {
        let steps = ["range", how, "range"];
        let Some((process, file)) = process(&steps, 0o755).filter(|_| are_root()) else { return };
        let outcome = process.well();
        assert_eq!(Trace::read(&file).count("ranges_recorded"), 4, "{how} {outcome:?}");
    }
}

#[test]
fn a_program_that_gives_up_its_rights_and_does_nothing_leaves_no_file() {
    for how in ["user", "root"] {
        let Some((process, file)) = process(&["begin", how, "end"], 0o777).filter(|_| are_root()) else {
            return;
        };
        let outcome = process.well();
        assert!(!file.exists(), "{how} {outcome:?}");
    }
}

#[test]
fn the_child_of_a_fork_that_gives_up_its_rights_leaves_the_file_to_its_parent() {
    for child in ["fork=user,_exit", "fork=root,exit", "clone=root,_exit"] {
        let steps = ["begin", child, "work", "end"];
        let Some((process, file)) = process(&steps, 0o755).filter(|_| are_root()) else { return };
        let outcome = process.well();
        let trace = Trace::read(&file);
        assert_eq!(trace.rows.len(), 20, "{child} {outcome:?}");
        assert_whole(&trace);
    }
}

/// A set-user-ID program that is linked to the simulator, because the loader preloads nothing into it. `None` after one printed
/// line, where that is impossible.
fn privileged(process: &Process) -> Option<PathBuf> {
    let simulator = support::simulator();
    let built = support::program_with("forks", &[simulator.to_str()?])?;
    let program = folder(process, 0o755).join("privileged");
    fs::copy(built, &program).unwrap();
    if chown(&program, Some(NOBODY), Some(NOBODY)).is_ok() {
        allow(&program, 0o6755);
        let output = Command::new(&program).arg("secure").output().unwrap();
        if output.stdout == b"secure\t0x1\n" {
            return Some(program);
        }
    }
    skipped(Need::Machine, "no program can be given another user's rights here")
}

#[test]
fn a_program_with_more_rights_than_its_caller_writes_nothing_where_the_environment_says() {
    let Some(process) = Process::new("forks") else { return };
    let Some(program) = privileged(&process) else { return };
    let traces = folder(&process, 0o777);
    let run = |tool: &str| -> Output {
        let settings = process.command(&process.folder().join("run"));
        let settings = settings.get_envs().filter_map(|(name, value)| Some((name, value?)));
        let mut command = Command::new(&program);
        command.args(["begin", "range", "work", "end"]).envs(settings).env_remove("KFD_SIM_LOG");
        command.env("RTL_OUTPUT", traces.join("trace.db"));
        command.env("HSA_TOOLS_LIB", tool).env("LD_PRELOAD", tool).output().unwrap()
    };
    let (bare, traced) = (run(""), run(library::tracer().to_str().unwrap()));
    assert!(bare.status.success() && bare.stderr.is_empty(), "{bare:?}");
    assert_eq!((traced.status, traced.stdout), (bare.status, bare.stdout));
    let said = String::from_utf8(traced.stderr).unwrap();
    assert!(said.starts_with("rtl: ") && said.ends_with("; nothing is recorded\n"), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    assert_eq!(fs::read_dir(traces).unwrap().count(), 0);
}
