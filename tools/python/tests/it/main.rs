//! The Python package, in the interpreter of the machine.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod engines;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use support::{Job, Need, skipped};
use tempfile::TempDir;

/// A folder with the package as a wheel installs it, and the files that its guide names.
struct Package {
    folder: TempDir,
    /// Where dataframe libraries are, if they have been fetched.
    libraries: Option<PathBuf>,
}

fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

impl Package {
    fn new() -> Option<Self> {
        let version = Command::new("python3")
            .args(["-c", "import sys; sys.exit(sys.version_info < (3, 8))"])
            .status()
            .is_ok_and(|status| status.success());
        if !version {
            return skipped(Need::Machine, "no python3 of 3.8 or newer");
        }
        let folder = tempfile::tempdir().unwrap();
        let package = folder.path().join("rtl");
        fs::create_dir(&package).unwrap();
        for file in Path::new(env!("CARGO_MANIFEST_DIR")).join("rtl").read_dir().unwrap() {
            let file = file.unwrap();
            if file.file_type().unwrap().is_file() {
                fs::copy(file.path(), package.join(file.file_name())).unwrap();
            }
        }
        let extension = e2e::library::built("librtl_python.so");
        std::os::unix::fs::symlink(extension, package.join("_native.abi3.so")).unwrap();
        Some(Self { folder, libraries: None })
    }

    /// As [`Self::new`], where dataframe libraries are.
    fn with_libraries() -> Option<Self> {
        let libraries =
            support::fetched("readers/dataframes-2026", "scripts/fetch/trace-readers dataframes-2026")?;
        let package = Self { libraries: Some(libraries), ..Self::new()? };
        let real = project().join("tests/fixtures/real/gpt-loader.json.gz");
        fs::copy(real, package.path("train.json.gz")).unwrap();
        for seed in 1..=2 {
            for name in ["before", "after"] {
                let run = Job { nodes: 1, ranks_per_node: 1, seed, ..Job::default() };
                let path = run.generate(package.folder.path()).unwrap().remove(0);
                fs::rename(path, package.path(&format!("{name}{seed}.db"))).unwrap();
            }
        }
        Some(package)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Python with a program of this folder, or with `-c`.
    fn python(&self, program: &str) -> Command {
        let mut command = Command::new("python3");
        let paths = [Some(self.folder.path().to_owned()), self.libraries.clone()].into_iter().flatten();
        command.env("PYTHONPATH", std::env::join_paths(paths).unwrap()).env("PYTHONDONTWRITEBYTECODE", "1");
        command.current_dir(self.folder.path());
        if program != "-c" {
            command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(program));
        }
        command
    }
}

#[track_caller]
fn printed(command: &mut Command) -> String {
    let Output { status, stdout, stderr } = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(status.success(), "{}\n{}", text(&stdout), text(&stderr));
    text(&stdout)
}

#[test]
fn the_examples_of_the_guide_print_what_they_show() {
    let Some(package) = Package::with_libraries() else { return };
    printed(package.python("guide.py").arg(project().join("docs/guide/python.md")));
}

#[test]
fn polars_pandas_pyarrow_and_duckdb_take_every_table_of_every_dialect() {
    let Some(package) = Package::with_libraries() else { return };
    let foreign = ["nsys-2022-saxpy.sqlite.gz", "rocprof-results.csv.gz", "rocprof-results.db.gz"];
    let foreign = foreign.map(|name| project().join("tests/fixtures/foreign").join(name));
    let mut check = package.python("tables.py");
    check.args(foreign).args(["train.json.gz", "before1.db", "before1.db,after1.db"]);
    assert_eq!(printed(&mut check), format!("tables: {}\n", tables::all().len()));
}

#[test]
fn stubs_declare_what_the_package_has() {
    let Some(package) = Package::new() else { return };
    printed(&mut package.python("stubs.py"));
}

#[test]
fn a_recorded_process_starts_stops_and_annotates_its_recording() {
    let Some(package) = Package::new() else { return };
    let trace = package.path("recorded.db");
    let mut recorded = package.python("recorded.py");
    recorded.env("LD_PRELOAD", e2e::library::tracer()).env("RTL_OUTPUT", &trace);
    printed(&mut recorded);
    let read = "import json, rtl; print([row['name'] for row in rtl.open('recorded.db').summary(section='ranges')['ranges']['groups']])";
    let names = printed(package.python("-c").args(["-c", read]));
    assert_eq!(
        names, "['all', 'inner', 'resumed', 'moment']\n",
        "all but the range after the recording was paused"
    );
}

#[test]
fn a_machine_without_polars_is_told_what_to_install() {
    let Some(package) = Package::new() else { return };
    // A module that cannot be imported, whatever is installed.
    fs::write(package.path("polars.py"), "raise ImportError('not here')").unwrap();
    fs::copy(support::fixture("two-kernels"), package.path("trace.db")).unwrap();
    let failing = "
import rtl
try:
    rtl.open('trace.db').polars('dispatches')
except rtl.Error as error:
    print(error)
";
    assert_eq!(
        printed(package.python("-c").args(["-c", failing])),
        "polars cannot be imported: not here\nhint: python3 -m pip install 'polars>=1.34'\n"
    );
}

#[test]
fn an_error_has_the_message_and_the_hint_of_the_programs() {
    let Some(package) = Package::new() else { return };
    let failing = "
import rtl
try:
    rtl.open('missing.db')
except rtl.Error as error:
    print(error)
";
    assert_eq!(
        printed(package.python("-c").args(["-c", failing])),
        "no such file: missing.db\nhint: check the path; traces of several processes are named trace_<pid>.db\n"
    );
}
