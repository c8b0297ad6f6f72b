//! Rows that do not fit into memory go into files that only this user can read, and that no end of the program leaves for long.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A sort of much more than the memory that [`started`] gives.
const QUERY: &str = "select count(*) from (select h, row_number() over (order by h) n from (select hash(range) h from range(200000000)))";

/// Starts the query on a machine that seems to have 156 MB, a quarter of which does not hold DuckDB itself, and waits until it has
/// spilled.
fn started(library: &Path, temporaries: &Path) -> (Child, PathBuf) {
    let before: Vec<PathBuf> = folders(temporaries).collect();
    let trace = support::fixture("two-kernels");
    let mut command = Command::new(env!("CARGO_BIN_EXE_rtl-sql"));
    command.env("LD_PRELOAD", library).env("TMPDIR", temporaries);
    command.args(["--max-memory", "256M"]).arg(&*trace).arg(QUERY);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let start = Instant::now();
    loop {
        if let Some(folder) =
            folders(temporaries).find(|folder| !before.contains(folder) && has_content(folder))
        {
            return (child, folder);
        }
        assert!(child.try_wait().unwrap().is_none(), "the query ended before it spilled");
        assert!(start.elapsed() < Duration::from_mins(2), "nothing was spilled");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn folders(temporaries: &Path) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(temporaries).unwrap().flatten().map(|entry| entry.path()).filter(|path| !path.is_symlink())
}

fn has_content(folder: &PathBuf) -> bool {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    files.filter_map(|file| file.metadata().ok()).any(|file| file.is_file() && file.len() > 0)
}

fn count(folder: &Path) -> usize {
    fs::read_dir(folder).unwrap().count()
}

#[test]
fn spilled_rows_are_private_and_go_with_the_program() {
    if let Err(error) = duckdb::load() {
        return support::skip(support::Need::Duckdb, error);
    }
    let library = support::library("small_memory");
    let folder = tempfile::tempdir().unwrap();
    let (victim, temporaries) = (folder.path().join("victim"), folder.path().join("tmp"));
    fs::create_dir(&victim).unwrap();
    fs::create_dir(&temporaries).unwrap();
    fs::write(victim.join("duckdb_temp_storage"), "mine").unwrap();
    fs::write(victim.join("lock"), "").unwrap();
    // Links with names that a guess would have, and with one of a temporary.
    symlink(&victim, temporaries.join(".rtl-abcdefghij.part")).unwrap();
    for signal in ["INT", "TERM", "HUP", "KILL"] {
        let (mut child, spilled) = started(&library, &temporaries);
        let guess = temporaries.join(format!("rtl-sql-{}", child.id()));
        assert_ne!(spilled, guess, "other users know the name beforehand");
        let mode = fs::metadata(&spilled).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700, "others can enter {}", spilled.display());
        let killed = Command::new("kill").args([format!("-{signal}"), child.id().to_string()]).status();
        assert!(killed.unwrap().success());
        assert!(child.wait().unwrap().signal().is_some(), "{signal}");
        assert_eq!(spilled.exists(), signal == "KILL", "{signal}");
    }
    assert_eq!(count(&temporaries), 2, "that of the killed program, and the link");
    let (mut other, used) = started(&library, &temporaries);
    assert_eq!(count(&temporaries), 2, "a later run has removed it");
    let trace = support::fixture("two-kernels");
    let mut short = Command::new(env!("CARGO_BIN_EXE_rtl-sql"));
    let short = short.env("TMPDIR", &temporaries).arg(&*trace).arg("select 1").output().unwrap();
    assert!(short.status.success());
    assert!(used.exists() && other.try_wait().unwrap().is_none(), "a folder that is used stays");
    other.kill().unwrap();
    other.wait().unwrap();
    assert_eq!(fs::read_to_string(victim.join("duckdb_temp_storage")).unwrap(), "mine");
}

#[test]
fn a_query_needs_no_folder_of_temporary_files() {
    let trace = support::fixture("two-kernels");
    if let Err(error) = duckdb::load() {
        return support::skip(support::Need::Duckdb, error);
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_rtl-sql"));
    let run = command.env("TMPDIR", "/nowhere").arg(&*trace).arg("select 1 as one").output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
}
