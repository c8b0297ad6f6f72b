//! The wheel that `scripts/wheel` makes, in a fresh Python environment: programs of Python on simulated GPUs.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use e2e::copies::{assert_copies_were_executed, copies};
use e2e::launched::{assert_all_recorded, assert_recorded, launched};
use e2e::{Trace, annotations};
use support::{Need, Stack, real, simulator, skip, skipped, stack};
use tempfile::TempDir;

const PYTHON: &str = "/usr/bin/python3";

/// The wheel that RTL_WHEEL names, else the one that was made of what cargo has built; where there is none, one line says
/// so.
fn wheel() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("RTL_WHEEL") {
        return Some(named.into());
    }
    let folder = Path::new(env!("CARGO_BIN_EXE_rtl")).with_file_name("wheel");
    let wheels = fs::read_dir(&folder).into_iter().flatten().map(|entry| entry.unwrap().path());
    let wheel = wheels.into_iter().find(|path| path.extension().is_some_and(|end| end == "whl"));
    wheel.or_else(|| skipped(Need::Build, "no wheel (scripts/wheel --from target/debug target/debug/wheel)"))
}

/// A Python environment with nothing but the wheel.
struct Environment {
    folder: TempDir,
    stack: Stack,
}

impl Environment {
    fn on(suite: &str) -> Option<Self> {
        let (wheel, folder) = (wheel()?, tempfile::tempdir().unwrap());
        let stack = stack(suite)?;
        if !Path::new(PYTHON).exists() {
            return skipped(Need::Machine, "no /usr/bin/python3");
        }
        let environment = Self { folder, stack };
        let mut create = Command::new(PYTHON);
        assert_success(
            &create.args(["-m", "venv", "--without-pip"]).arg(environment.path("")).output().unwrap(),
        );
        let mut install = Command::new(interpreter());
        install
            .args(["-m", "pip", "--disable-pip-version-check", "--python"])
            .arg(environment.path("bin/python"));
        install.args(["install", "--quiet", "--no-index", "--no-compile"]).arg(wheel);
        assert_success(&install.output().unwrap());
        Some(environment)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("environment").join(name)
    }

    /// A line of a shell in which the environment is active, on these GPUs.
    fn shell(&self, line: &str, gpus: u32) -> Command {
        let mut command = Command::new("timeout");
        command.args(["--kill-after=1", "900", "sh", "-c", line, "sh"]).current_dir(self.folder.path());
        self.stack.set_up(&mut command);
        let path = std::env::var("PATH").unwrap();
        command.env("PATH", format!("{}:{path}", self.path("bin").display()));
        command.env("KFD_SIM_GPUS", gpus.to_string()).env("KFD_SIM_LOG", self.folder.path().join("log"));
        command
    }

    /// The trace of this name and the log of the simulator.
    fn recorded(&self, name: &str) -> (Trace, String) {
        let trace = Trace::read(&self.folder.path().join(name));
        (trace, fs::read_to_string(self.folder.path().join("log")).unwrap())
    }
}

/// The interpreter behind `python3`, which may be a shim of a version manager: pyenv's writes one folder after each `pip`
/// and fails where two of them do so at once.
fn interpreter() -> PathBuf {
    let output = Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output().unwrap();
    assert_success(&output);
    text(&output.stdout).trim_end().into()
}

#[track_caller]
fn assert_success(output: &Output) {
    assert!(output.status.success(), "{output:?}");
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

#[test]
fn a_program_that_drives_hip_through_ctypes_is_recorded_completely() {
    let Some(environment) = Environment::on("bookworm") else { return };
    let Some(kernels) = support::code_object("kernels", "gfx90a") else { return };
    let mut traced = environment.shell("rtl trace -m standard python3 \"$@\"", 2);
    traced.arg(real::source("hip_ctypes.py")).arg(kernels).arg("6").env("LD_PRELOAD", simulator());
    let output = traced.output().unwrap();
    assert_success(&output);
    let names = ["scale", "_ZN4test4axpyIfEEvPT_PKS1_i", "_ZN4test4axpyIdEEvPT_PKS1_i"];
    let counts: String = names.iter().map(|name| format!("{name}\t8\n")).collect();
    assert_eq!(text(&output.stdout), counts, "the output of the program alone");
    assert!(text(&output.stderr).contains("\nOutput files:\n  trace.db ("), "{output:?}");

    let (trace, log) = environment.recorded("trace.db");
    assert_all_recorded(&launched(&log), &trace);
    assert_copies_were_executed(&log, &trace);
    assert_eq!((trace.rows.len(), copies(&trace).len()), (24, 48));
    let ranges = annotations::tables(&environment.folder.path().join("trace.db")).ranges;
    let marks = ranges.iter().filter(|range| range.is_marker()).count();
    assert_eq!((ranges.len() - marks, marks), (12, 6), "a range a step and GPU, a marker a step");
}

#[test]
fn every_tool_has_a_name_of_its_own() {
    let Some(environment) = Environment::on("bookworm") else { return };
    for (line, expected) in [
        ("rtl-summary --version", "rtl-summary "),
        ("rtl-diff --help", "rtl-diff [OPTIONS]"),
        ("rtl summary --help", "rtl summary [OPTIONS]"),
    ] {
        let output = environment.shell(line, 1).output().unwrap();
        assert_success(&output);
        assert!(text(&output.stdout).contains(expected), "{line}: {output:?}");
    }
}

#[test]
fn a_program_imports_the_package_to_annotate_its_recording_and_to_read_it() {
    let Some(environment) = Environment::on("bookworm") else { return };
    let program = "import rtl\nwith rtl.trace('loop') as recording:\n    print(recording)";
    let output = environment.shell("rtl trace python3 -c \"$1\"", 1).arg(program).output().unwrap();
    assert_success(&output);
    assert_eq!(text(&output.stdout), "this process is recorded\n", "{output:?}");
    let program = "import rtl\nprint(*rtl.open('trace.db').summary()['ranges']['groups'])";
    let output = environment.shell("python3 -c \"$1\"", 1).arg(program).output().unwrap();
    assert_success(&output);
    assert!(text(&output.stdout).starts_with("{'name': 'loop', "), "{output:?}");
}

#[test]
fn a_model_that_trains_in_four_processes_gives_one_trace_of_four_ranks() {
    let Some(environment) = Environment::on("experimental") else { return };
    environment.stack.write_starter(&environment.path("bin/python3"), Path::new(PYTHON));
    fs::copy(real::source("my_model.py"), environment.folder.path().join("my_model.py")).unwrap();
    // Users write this line, with another number of steps.
    let mut traced = environment.shell("rtl trace python3 my_model.py 3", 4);
    let Some(()) = real::with_tinygrad(&mut traced, &environment.stack) else { return };
    let output = traced.output().unwrap();
    assert_success(&output);
    let printed = text(&output.stdout);
    for rank in 0..4 {
        assert!(printed.contains(&format!("rank {rank}: 3 steps on HIP\n")), "{output:?}");
    }
    for line in
        ["Trace: trace.db\n", "4, ranks 0 to 3", "GPU 0 to 3: Simulated MI300X (gfx942)", "of 4 processes"]
    {
        assert!(text(&output.stderr).contains(line), "{line}: {output:?}");
    }

    let (trace, log) = environment.recorded("trace.db");
    let launched = launched(&log);
    assert_recorded(&launched, &trace);
    assert!(!trace.metadata.keys().any(|tag| tag.contains("lost:")), "{:?}", trace.metadata);
    let used: BTreeSet<i64> = trace.rows.iter().map(|row| row.gpu).collect();
    assert_eq!(used, (0..4).collect(), "every rank has a GPU of its own");
    // Each step of each rank copies all gradients, of four bytes each, there and back again.
    let bytes = 4 * ((64 + 1) * 128 + (128 + 1) * 10);
    let copied = "SELECT count(*) FROM rocpd_op JOIN rocpd_string kind ON kind.id = opType_id
                  WHERE kind.string = ?1 AND bytes = ?2";
    for kind in ["CopyHostToDevice", "CopyDeviceToHost"] {
        let copies: i64 = trace.database().query_row(copied, (kind, bytes), |row| row.get(0)).unwrap();
        assert_eq!(copies, 4 * 3, "{kind}");
    }
    let tables = annotations::tables(&environment.folder.path().join("trace.db"));
    let ranks: BTreeSet<_> = tables.processes.iter().map(|process| process.rank).collect();
    assert_eq!(ranks, (0..4).map(Some).collect());
    assert_eq!(tables.ranges.len(), 4 * 3 * 6, "each step and its five parts, on each rank");
}

/// The programs, the libraries and the extension of Python in the wheel, unpacked into `folder`.
fn files(wheel: &Path, folder: &Path) -> Vec<PathBuf> {
    let mut unpack = Command::new("python3");
    unpack.args(["-m", "zipfile", "--extract"]).arg(wheel).arg(folder);
    assert_success(&unpack.output().unwrap());
    let data = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let data = data.into_iter().find(|path| path.extension().is_some_and(|end| end == "data")).unwrap();
    let programs = fs::read_dir(data.join("scripts")).unwrap().map(|entry| entry.unwrap().path());
    let libraries = ["librtl.so", "librtl_hip.so"].map(|name| data.join("data/lib").join(name));
    // The other names of `rtl` are scripts.
    let is_script = |path: &PathBuf| fs::read(path).unwrap().starts_with(b"#!");
    let extension = folder.join("rtl/_native.abi3.so");
    programs.filter(|path| !is_script(path)).chain(libraries).chain([extension]).collect()
}

#[test]
fn the_wheel_that_ships_names_no_folder_of_the_machine_that_built_it() {
    let Some(wheel) = std::env::var_os("RTL_WHEEL") else {
        return skip(Need::Build, "no wheel of a release build (RTL_WHEEL)");
    };
    let folder = tempfile::tempdir().unwrap();
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let home = std::env::var_os("CARGO_HOME").or_else(|| std::env::var_os("HOME"));
    let private = [Some(checkout.into_os_string()), home].into_iter().flatten();
    let private: Vec<Vec<u8>> = private.map(|path| path.into_encoded_bytes()).collect();
    for file in files(Path::new(&wheel), folder.path()) {
        let bytes = fs::read(&file).unwrap();
        for path in &private {
            let path = [path.as_slice(), b"/"].concat();
            let place = bytes.windows(path.len()).position(|window| window == path);
            assert_eq!(place, None, "{} names {}", file.display(), String::from_utf8_lossy(&path));
        }
    }
}

#[test]
fn the_tracer_of_the_wheel_that_ships_has_no_places_to_fail_at() {
    let Some(wheel) = std::env::var_os("RTL_WHEEL") else {
        return skip(Need::Build, "no wheel of a release build (RTL_WHEEL)");
    };
    let folder = tempfile::tempdir().unwrap();
    for file in files(Path::new(&wheel), folder.path()) {
        let bytes = fs::read(&file).unwrap();
        let place = bytes.windows(9).position(|window| window == b"RTL_FAULT");
        assert_eq!(place, None, "{}", file.display());
    }
}

#[test]
fn its_name_promises_no_older_c_library_than_its_programs_need() {
    let Some(wheel) = wheel() else { return };
    let name = wheel.file_name().unwrap().to_string_lossy().into_owned();
    let (_, tag) = name.split_once("manylinux_2_").unwrap_or_else(|| panic!("no manylinux in {name}"));
    let promised: u32 = tag.split_once('_').unwrap().0.parse().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let files = files(&wheel, folder.path());
    assert_eq!(files.len(), 4, "{files:?}");
    for file in files {
        let output = Command::new("objdump").arg("-p").arg(&file).output().unwrap();
        assert_success(&output);
        for line in text(&output.stdout).lines().map(str::trim) {
            if let Some(library) = line.strip_prefix("NEEDED") {
                let always = ["libc.so.6", "libm.so.6", "libgcc_s.so.1", "ld-linux-x86-64.so.2"];
                assert!(always.contains(&library.trim()), "{}: {line}", file.display());
            }
            let needed = line.split("GLIBC_2.").nth(1).and_then(|rest| rest.split('.').next());
            let needed = needed.and_then(|minor| minor.trim().parse::<u32>().ok());
            assert!(needed.is_none_or(|needed| needed <= promised), "{}: {line}", file.display());
        }
    }
}

#[test]
fn the_list_of_crates_is_ours_and_names_no_path_of_the_machine() {
    let Some(wheel) = wheel() else { return };
    let read = |name: &str| {
        let script = "import sys, zipfile; wheel = zipfile.ZipFile(sys.argv[1])\n\
                      for name in wheel.namelist():\n    if sys.argv[2] in name: print(name); print(wheel.read(name).decode())";
        let output = Command::new("python3").args(["-c", script]).arg(&wheel).arg(name).output().unwrap();
        assert_success(&output);
        String::from_utf8(output.stdout).unwrap()
    };
    let (list, ours) = (read(".dist-info/sboms/"), read("share/doc/rtl/rtl.cdx.json"));
    let names = |text: &str| text.lines().filter(|line| line.starts_with("rtl_suite-")).count();
    assert_eq!((names(&list), names(&ours)), (1, 1), "{list:.300}");
    assert_eq!(list.split_once('\n').unwrap().1, ours.split_once('\n').unwrap().1);
    assert!(!list.contains("file://"), "{list:.300}");
}
