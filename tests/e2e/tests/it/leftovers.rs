//! Tests with files of an earlier run at the place of a trace.

use std::fs;
use std::path::Path;

use e2e::Process;
use e2e::compare::assert_complete;
use support::rusqlite::Connection;

/// Makes a journal that SQLite would play back, as left by a program that is killed while it writes to a database of this name.
fn leave_journal(database: &Path) {
    let journal = database.with_extension("db-journal");
    let connection = Connection::open(database).unwrap();
    let change = "PRAGMA cache_size = 1; CREATE TABLE old (text);
                  INSERT INTO old SELECT hex(randomblob(400)) FROM generate_series(1, 100);
                  BEGIN; UPDATE old SET text = text || 'x';";
    let change = change.replace("generate_series(1, 100)", SERIES);
    connection.execute_batch(&change).unwrap();
    let hot = fs::read(&journal).unwrap();
    drop(connection);
    fs::remove_file(database).unwrap();
    fs::write(journal, hot).unwrap();
}

const SERIES: &str =
    "(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 100) SELECT i FROM n)";

#[test]
fn a_journal_of_something_else_is_not_played_back_into_a_new_trace() {
    let Some(process) = Process::new("no_signal") else { return };
    let folder = process.folder().join("place");
    fs::create_dir(&folder).unwrap();
    let wanted = folder.join("trace.db");
    leave_journal(&wanted);
    let before = fs::read(folder.join("trace.db-journal")).unwrap();
    let mut outcome = process.arguments(&["5"]).setting("RTL_OUTPUT", &wanted).well();
    assert!(!wanted.exists(), "its name is taken");
    assert_eq!(fs::read(folder.join("trace.db-journal")).unwrap(), before);
    let files = fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path());
    outcome.traces = files.filter(|file| file.extension().is_some_and(|end| end == "db")).collect();
    assert_complete(&outcome);
}

#[test]
fn a_trace_of_an_earlier_process_of_the_same_number_stays_as_it_is() {
    let Some(process) = Process::new("forks") else { return };
    // The second program is the same process.
    let outcome = process.arguments(&["begin", "work", "self"]).preloaded().well();
    let names: Vec<String> =
        outcome.traces.iter().map(|path| path.file_stem().unwrap().to_string_lossy().into_owned()).collect();
    let [first, second] = names.as_slice() else { panic!("{outcome:?}") };
    assert_eq!(second, &format!("{first}_2"));
    let traces = e2e::family::assert_each_recorded(&outcome);
    assert_eq!(e2e::family::counts(&traces), [(20, 0), (20, 2)]);
}
