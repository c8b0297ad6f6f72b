//! Opening a trace leaves its folder as it was, whatever state its writer left or keeps it in.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rtl_schema::Error;
use rtl_schema::sqlite::Database;
use rusqlite::Connection;
use tempfile::TempDir;

const ROWS: i64 = 1000;

/// Names and bytes of all files of a folder.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.map(|path| (path.clone(), fs::read(&path).unwrap())).collect()
}

fn names(folder: &Path) -> Vec<String> {
    files(folder).keys().map(|path| path.file_name().unwrap().to_str().unwrap().to_owned()).collect()
}

fn ids(database: &Database, table: &str) -> Vec<i64> {
    let mut ids = Vec::new();
    database.scan(table, &["a"], |row| ids.push(row.id())).unwrap();
    ids
}

/// Opens, reads and closes, and holds the folder against what it was.
fn assert_reads_and_leaves_nothing(path: &Path, rows: i64) {
    let before = files(path.parent().unwrap());
    let database = Database::open(path, path).unwrap();
    assert_eq!(ids(&database, "t"), (1..=rows).collect::<Vec<_>>());
    assert!(files(path.parent().unwrap()) == before, "while open: {:?}", names(path.parent().unwrap()));
    drop(database);
    assert!(files(path.parent().unwrap()) == before, "after closing: {:?}", names(path.parent().unwrap()));
}

fn create(path: &Path, journal_mode: &str) -> Connection {
    let connection = Connection::open(path).unwrap();
    connection.execute_batch(&format!("pragma journal_mode = {journal_mode}; create table t(a)")).unwrap();
    insert(&connection, ROWS);
    connection
}

fn insert(connection: &Connection, rows: i64) {
    connection
        .execute(
            "with recursive n(i) as (select 1 union all select i + 1 from n where i < ?1)
             insert into t select printf('row %d of a trace', i) from n",
            [rows],
        )
        .unwrap();
}

/// A writer in a process of its own: POSIX locks do not work within one.
struct Writer {
    process: Child,
    folder: TempDir,
}

impl Writer {
    /// Starts [`as_a_writer`] and waits until it has done its work.
    fn start(what: &str) -> Self {
        let folder = TempDir::new().unwrap();
        let mut process = this_test("opening::as_a_writer", &folder.path().join("t.db"))
            .env("WRITER", what)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        assert!(output.lines().any(|line| line.unwrap().contains("written")), "the writer failed");
        Self { process, folder }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("t.db")
    }

    fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// This program, to run one of its ignored tests on a database.
fn this_test(name: &str, path: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", name, "--ignored", "--nocapture"]).env("DATABASE", path);
    command
}

#[test]
#[ignore = "started by other tests, in a process of its own"]
fn as_a_writer() {
    let path = PathBuf::from(std::env::var_os("DATABASE").unwrap());
    let what = std::env::var("WRITER").unwrap();
    let connection = create(&path, if what.contains("wal") { "wal" } else { "delete" });
    match what.as_str() {
        "wal" => {}
        "rollback, uncommitted" => {
            connection.execute_batch("begin immediate").unwrap();
            insert(&connection, 5);
        }
        "rollback, half written" => {
            connection.execute_batch("pragma cache_size = 1; begin; update t set a = 'lost'").unwrap();
            insert(&connection, 50_000);
        }
        "rollback, for ever" | "wal, for ever" => {
            connection.busy_timeout(Duration::from_secs(20)).unwrap();
            connection.execute_batch("create table u(a); insert into u select a from t").unwrap();
            println!("written");
            loop {
                let sql =
                    "begin; insert into t values(1), (2), (3); insert into u values(1), (2), (3); commit";
                connection.execute_batch(sql).unwrap();
                std::thread::sleep(Duration::from_millis(2));
            }
        }
        what => panic!("{what}"),
    }
    println!("written");
    std::io::stdin().lines().for_each(drop);
}

#[test]
#[ignore = "started by other tests, as another user"]
fn as_a_reader() {
    let path = PathBuf::from(std::env::var_os("DATABASE").unwrap());
    let probe = path.with_file_name("probe");
    assert!(fs::write(&probe, "").is_err(), "the folder must not be writable, or this proves nothing");
    assert_reads_and_leaves_nothing(&path, ROWS);
    println!("read");
}

#[test]
fn a_finished_file_is_read() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("t.db");
    drop(create(&path, "delete"));
    assert_reads_and_leaves_nothing(&path, ROWS);
}

#[test]
fn a_wal_header_without_a_wal_leaves_nothing() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("t.db");
    drop(create(&path, "wal"));
    assert_eq!(names(folder.path()), ["t.db"]);
    assert_eq!(fs::read(&path).unwrap()[18..20], [2, 2]);
    assert_reads_and_leaves_nothing(&path, ROWS);
    fs::write(folder.path().join("t.db-wal"), "").unwrap();
    assert_reads_and_leaves_nothing(&path, ROWS);
    fs::write(folder.path().join("t.db-shm"), "").unwrap();
    assert_reads_and_leaves_nothing(&path, ROWS);
}

#[test]
fn a_live_wal_writer_is_read_with_its_frames() {
    let writer = Writer::start("wal");
    assert_eq!(names(writer.folder.path()), ["t.db", "t.db-shm", "t.db-wal"]);
    assert_reads_and_leaves_nothing(&writer.path(), ROWS);
}

#[test]
fn a_killed_wal_writer_is_read_with_its_frames() {
    let mut writer = Writer::start("wal");
    writer.kill();
    assert!(fs::metadata(writer.folder.path().join("t.db-wal")).unwrap().len() > 0);
    assert_reads_and_leaves_nothing(&writer.path(), ROWS);
    fs::remove_file(writer.folder.path().join("t.db-shm")).unwrap();
    assert_reads_and_leaves_nothing(&writer.path(), ROWS);
}

#[test]
fn a_killed_rollback_writer_is_read_without_its_last_transaction() {
    let mut writer = Writer::start("rollback, half written");
    writer.kill();
    assert_eq!(names(writer.folder.path()), ["t.db", "t.db-journal"]);
    assert_reads_and_leaves_nothing(&writer.path(), ROWS);
    let database = Database::open(&writer.path(), &writer.path()).unwrap();
    database.scan("t", &["a"], |row| assert_ne!(row.text(0).as_deref(), Some("lost"))).unwrap();
}

#[test]
fn a_live_rollback_writer_is_read_as_committed() {
    let writer = Writer::start("rollback, uncommitted");
    assert_reads_and_leaves_nothing(&writer.path(), ROWS);
}

#[test]
fn a_trace_that_is_being_written_is_read_in_one_state() {
    for what in ["rollback, for ever", "wal, for ever"] {
        let writer = Writer::start(what);
        let path = writer.path();
        let mut seen = Vec::new();
        let until = Instant::now() + Duration::from_secs(2);
        while Instant::now() < until {
            let database = Database::open(&path, &path).unwrap();
            for _ in 0..3 {
                let snapshot = database.snapshot().unwrap();
                let rows = ids(&database, "t");
                assert_eq!(rows, (1..=rows.len() as i64).collect::<Vec<_>>(), "{what}");
                assert_eq!((rows.len() as i64 - ROWS) % 3, 0, "{what}: half a transaction");
                std::thread::sleep(Duration::from_millis(5));
                assert_eq!(ids(&database, "u"), rows, "{what}: two tables in two states");
                seen.push(rows.len());
                drop(snapshot);
                std::thread::sleep(Duration::from_millis(3));
            }
        }
        assert!(seen.is_sorted());
        assert!(seen.first() < seen.last(), "{what}: the writer has to get on: {seen:?}");
    }
}

#[test]
fn a_read_only_folder_is_read_by_another_user() {
    let mut killed = Writer::start("wal");
    killed.kill();
    let closed = TempDir::new().unwrap();
    drop(create(&closed.path().join("t.db"), "wal"));
    let rollback = TempDir::new().unwrap();
    drop(create(&rollback.path().join("t.db"), "delete"));
    let live = Writer::start("wal");

    let root = fs::metadata("/proc/self").unwrap().uid() == 0;
    for folder in [killed.folder.path(), closed.path(), rollback.path(), live.folder.path()] {
        fs::set_permissions(folder, Permissions::from_mode(0o555)).unwrap();
        let plain = this_test("opening::as_a_reader", &folder.join("t.db"));
        let mut command = plain;
        if root {
            let mut as_nobody = Command::new("setpriv");
            as_nobody.args(["--reuid", "65534", "--regid", "65534", "--clear-groups", "--"]);
            as_nobody
                .arg(command.get_program())
                .args(command.get_args())
                .env("DATABASE", folder.join("t.db"));
            command = as_nobody;
        }
        let Ok(output) = command.output() else {
            support::skip(support::Need::Machine, "root, and no setpriv to become another user");
            return;
        };
        fs::set_permissions(folder, Permissions::from_mode(0o755)).unwrap();
        let output = [output.stdout, output.stderr].concat();
        let output = String::from_utf8_lossy(&output);
        assert!(output.contains("read"), "{:?}: {output}", names(folder));
        assert!(output.contains("1 passed"), "{:?}: {output}", names(folder));
    }
}

#[test]
fn a_link_is_followed_to_the_wal_beside_its_target() {
    let mut writer = Writer::start("wal");
    writer.kill();
    let elsewhere = TempDir::new().unwrap();
    let link = elsewhere.path().join("50% of a #trace?.db");
    std::os::unix::fs::symlink(writer.path(), &link).unwrap();
    assert_reads_and_leaves_nothing(&link, ROWS);
}

#[test]
fn a_cut_off_file_says_where_it_ends() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("t.db");
    drop(create(&path, "delete"));
    let bytes = fs::read(&path).unwrap();
    for length in [17, 99, 100, 600, 4096, bytes.len() / 2, bytes.len() - 4096, bytes.len() - 1] {
        fs::write(&path, &bytes[..length]).unwrap();
        let error = Database::open(&path, Path::new("the user's.db")).unwrap_err();
        assert!(matches!(error, Error::Damaged { .. }), "{length}: {error:?}");
        let message = error.to_string();
        assert!(message.contains(&format!("ends at byte {length} of")), "{message}");
        assert!(message.ends_with("the user's.db") && !message.contains('\n'), "{message}");
    }
}

#[test]
fn a_damaged_file_is_told_from_one_that_cannot_be_read() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("t.db");
    drop(create(&path, "delete"));
    let mut bytes = fs::read(&path).unwrap();
    let table = bytes.len() - 4096;
    bytes[table..table + 100].fill(0xee);
    fs::write(&path, &bytes).unwrap();
    let database = Database::open(&path, Path::new("shown.db")).unwrap();
    let error = database.scan("t", &["a"], |_| ()).unwrap_err();
    assert!(matches!(error, Error::Damaged { .. }), "{error:?}");
    assert_eq!(error.path(), Path::new("shown.db"));

    let absent = Database::open(&folder.path().join("absent.db"), Path::new("shown.db")).unwrap_err();
    assert!(matches!(absent, Error::Io { .. }), "{absent:?}");
    assert_eq!(absent.path(), Path::new("shown.db"));
}

#[test]
fn string_literals_in_double_quotes_do_not_stop_opening() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("t.db");
    create(&path, "delete")
        .execute_batch(
            r#"create table q(a text default "none"); insert into q default values;
               create view v as select "literal" as a, count(*) as n from t"#,
        )
        .unwrap();
    let database = Database::open(&path, &path).unwrap();
    database.scan("v", &["a", "n"], |row| assert_eq!(row.int(1), Some(ROWS))).unwrap();
    database.scan("q", &["a"], |row| assert_eq!(row.text(0).as_deref(), Some("none"))).unwrap();
}

#[test]
fn a_fifo_in_place_of_a_file_beside_a_database_is_refused() {
    for (mode, suffix) in [("delete", "-journal"), ("delete", "-wal"), ("wal", "-wal"), ("wal", "-shm")] {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("t.db");
        drop(create(&path, mode));
        let fifo = folder.path().join(format!("t.db{suffix}"));
        assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        let error = Database::open(&path, &path).unwrap_err();
        assert!(
            error.to_string().contains(&format!("the {suffix} beside it is not a regular file")),
            "{error}"
        );
    }
}
