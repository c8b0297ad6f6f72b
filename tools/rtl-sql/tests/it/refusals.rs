//! Queries must not read or write other files, and messages are one line with a hint.

use std::path::Path;

use crate::run;

/// The exit code and the message of a query.
fn refusal(query: &str) -> Option<(i32, String)> {
    let trace = support::fixture("two-kernels");
    run(&[trace.to_str().unwrap(), query]).map(|run| (run.code, run.messages))
}

#[test]
fn a_query_sees_no_file_but_the_traces() {
    let folder = tempfile::tempdir().unwrap();
    let secret = folder.path().join("secret.csv");
    std::fs::write(&secret, "a\n1\n").unwrap();
    let secret = secret.to_str().unwrap();
    for query in [
        format!("select * from read_csv('{secret}')"),
        format!("select * from '{secret}'"),
        format!("select * from read_text('{secret}')"),
        format!("copy (select 1) to '{secret}.out'"),
        format!("attach '{secret}.db'"),
        format!("select * from trace('{secret}')"),
        "set enable_external_access = true".to_owned(),
        "install httpfs".to_owned(),
        "load httpfs".to_owned(),
    ] {
        let Some((code, message)) = refusal(&query) else { return };
        assert_eq!(code, 2, "{query}: {message}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing was written");
}

/// Functions that write files whatever the settings forbid, under every spelling of a call.
fn calls(file: &Path) -> [String; 8] {
    let (file, profile) = (file.display(), file.with_extension("json"));
    let logging = format!("enable_logging('QueryLog', storage='file', storage_path='{file}')");
    [
        format!("call {logging}; select 1"),
        format!("from {logging}; select 1"),
        format!(
            "select * from system.main.\"Enable_Logging\"(storage='file', storage_path='{file}'); select 1"
        ),
        format!(
            "from query('from enable_' || 'logging(storage := ''file'', storage_path := ''{file}'')'); select 1"
        ),
        format!(
            "from \"query\" /* */ ('from enable_' || 'logging(storage := ''file'', storage_path := ''{file}'')')"
        ),
        "call enable_logging(storage='stdout'); select 1".to_owned(),
        format!("from enable_profiling(save_location='{}', format='json'); select 1", profile.display()),
        "call json_execute_serialized_sql('{}')".to_owned(),
    ]
}

#[test]
fn no_function_writes_a_file_or_ends_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let trace = support::fixture("two-kernels");
    let (data_set, file) = (folder.path().join("set"), folder.path().join("log"));
    let select = rtl_schema::Select::everything();
    let tables = rtl_schema::Trace::open(&*trace).unwrap().read(&select).unwrap();
    let from = dataset::Provenance { path: &trace, name: None, version: "1" };
    let run_of = dataset::Run { job: "train", run: "r", force: false };
    dataset::add(&data_set, &run_of, &tables::Loaded::new("r", select, tables), &from).unwrap();
    let list = |folder: &Path| std::fs::read_dir(folder).unwrap().count();
    for (input, log) in [(&*trace, file), (&data_set, data_set.join("log"))] {
        let before = list(log.parent().unwrap());
        for query in calls(&log) {
            let Some(run) = run(&[input.to_str().unwrap(), &query]) else { return };
            assert_eq!((run.code, run.answer.as_str()), (2, ""), "{query}: {}", run.messages);
            assert!(
                run.messages.contains("() is not available in a query of traces\nhint: "),
                "{}",
                run.messages
            );
            assert_eq!(run.messages.lines().count(), 2, "{}", run.messages);
        }
        assert_eq!(list(log.parent().unwrap()), before, "nothing was written");
    }
}

#[test]
fn a_message_is_one_line_with_a_hint() {
    let Some((code, message)) = refusal("select nme from dispatches") else { return };
    assert_eq!(code, 2);
    let lines: Vec<&str> = message.lines().collect();
    assert!(
        lines[0].starts_with("rtl-sql: error: binder error: Referenced column \"nme\" not found"),
        "{message}"
    );
    assert!(lines[1].starts_with("hint: Candidate bindings: \"name\""), "{message}");
    assert_eq!(lines.len(), 2, "{message}");
    let (_, message) = refusal("select * from dispatch").unwrap();
    assert!(message.ends_with("hint: `rtl-sql TRACE .tables` lists the tables\n"), "{message}");
    for (query, hint) in [
        ("selct 1", "`rtl-sql TRACE '.schema TABLE'` lists the columns of a table"),
        ("from read_text('secret')", "a query reads the traces of the command line and no other file"),
    ] {
        let (_, message) = refusal(query).unwrap();
        assert!(message.ends_with(&format!("\nhint: {hint}\n")) && message.lines().count() == 2, "{message}");
    }
    let (_, message) = refusal("select $n").unwrap();
    assert!(message.contains("the parameter $n has no value"), "{message}");
}

#[test]
fn a_damaged_trace_is_named_whichever_columns_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("damaged.db");
    support::generate(&support::Options { ops: 100_000, ..support::Options::default() }, &path).unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    // The pages in the middle are those of ops.
    let middle = bytes.len() / 2 / 4096 * 4096;
    bytes[middle..middle + 4096].fill(0xff);
    std::fs::write(&path, bytes).unwrap();
    for query in ["select sum(duration) from dispatches", "select sum(duration), max(gpu) from dispatches"] {
        let Some(run) = run(&[path.to_str().unwrap(), query]) else { return };
        assert_eq!((run.code, run.answer.as_str()), (3, ""), "{query}: {}", run.messages);
        let place = format!(
            "{}\nhint: copy the file again, or recover it with `sqlite3 FILE .recover`\n",
            path.display()
        );
        assert!(run.messages.starts_with("rtl-sql: error: damaged"), "{query}: {}", run.messages);
        assert!(run.messages.ends_with(&place), "{query}: {}", run.messages);
    }
}

/// An answer where the library that is to be opened does not exist.
fn without_a_library() -> std::process::Output {
    let trace = support::fixture("two-kernels");
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_rtl-sql"));
    command.env("RTL_DUCKDB", "/nowhere/libduckdb.so").arg(&*trace).arg("select 1 as one").output().unwrap()
}

#[test]
#[cfg(feature = "linked")]
fn a_library_that_is_linked_needs_no_other() {
    let output = without_a_library();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8(output.stdout).unwrap().starts_with("one\n"));
}

#[test]
#[cfg(not(feature = "linked"))]
fn a_library_that_is_missing_is_named() {
    let output = without_a_library();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(3), "{message}");
    assert!(
        message.contains("cannot open /nowhere/libduckdb.so") && message.contains("\nhint: "),
        "{message}"
    );
}
