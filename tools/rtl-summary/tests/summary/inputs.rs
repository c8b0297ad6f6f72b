//! Inputs that can be read once, inputs that are compressed, and files made to exhaust the machine.

use std::io::Write;
use std::process::{Command, Stdio};

use support::{Layout, Options, generate};

use crate::Folder;

/// A trace `t.db` that no pipe holds at once.
fn large(folder: &Folder) {
    let options = Options { layout: Layout::Lite, ops: 20_000, ..Options::default() };
    generate(&options, &folder.path("t.db")).unwrap();
}

/// The report on the trace itself, without its name.
fn expected(folder: &Folder) -> serde_json::Value {
    let mut report: serde_json::Value =
        serde_json::from_str(&folder.program("--to json t.db").output().map(text).unwrap()).unwrap();
    report["inputs"][0]["path"].take();
    report
}

fn text(output: std::process::Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The inputs that a shell writes are read as files are.
fn by_shell(folder: &Folder, script: &str) -> serde_json::Value {
    let mut shell = Command::new("bash");
    shell.args(["-c", script]).current_dir(folder.0.path()).env("RTL", env!("CARGO_BIN_EXE_rtl-summary"));
    let mut report: serde_json::Value = serde_json::from_str(&text(shell.output().unwrap())).unwrap();
    report["inputs"][0]["path"].take();
    report
}

#[test]
fn a_pipe_is_read_once_and_completely() {
    let folder = Folder::new();
    large(&folder);
    let expected = expected(&folder);
    for script in [
        "cat t.db | $RTL --to json -",
        "cat t.db | $RTL --to json /dev/stdin",
        "$RTL --to json - < t.db",
        "$RTL --to json <(cat t.db)",
        "gzip -c t.db | $RTL --to json -",
        "mkfifo fifo; cat t.db > fifo & $RTL --to json fifo",
        "exec 3< t.db; rm t.db; $RTL --to json /dev/fd/3",
    ] {
        assert_eq!(by_shell(&folder, script), expected, "{script}");
    }
}

#[test]
fn a_pipe_of_something_else_is_refused_before_its_end() {
    let folder = Folder::new();
    let script = "cat /dev/zero | $RTL -; test $? = 3 && yes 'no trace' | head -c 100000 | $RTL -";
    let mut shell = Command::new("bash");
    shell.args(["-c", script]).current_dir(folder.0.path()).env("RTL", env!("CARGO_BIN_EXE_rtl-summary"));
    let output = shell.output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    let messages = String::from_utf8(output.stderr).unwrap();
    assert!(messages.contains("not a trace (binary, not SQLite): -"), "{messages}");
    assert!(messages.contains("not a trace (neither SQLite nor JSON): -"), "{messages}");
}

#[test]
fn copies_of_pipes_and_compressed_traces_have_a_limit() {
    let folder = Folder::new();
    large(&folder);
    assert!(Command::new("gzip").args(["-k", "-1"]).arg(folder.path("t.db")).status().unwrap().success());
    let run = folder.run("--max-memory 100k t.db.gz");
    assert_eq!((run.code, run.answer.as_str()), (3, ""));
    assert_eq!(
        run.messages,
        "rtl-summary: error: a temporary copy would take more than 102400 bytes: t.db.gz\n\
         hint: --max-memory allows more; TMPDIR is the folder of the copy\n"
    );
    assert_eq!(folder.run("--max-memory 1G t.db.gz").code, 0);
    let run = folder.run("--max-memory much t.db.gz");
    assert_eq!(run.code, 2);
    assert!(run.messages.contains("not a size such as 500M or 2G"), "{}", run.messages);
}

#[test]
fn no_copy_of_an_input_has_a_name_while_it_is_read() {
    let folder = Folder::new();
    large(&folder);
    let temporary = folder.path("tmp");
    std::fs::create_dir(&temporary).unwrap();
    let mut command = folder.program("-");
    command.env("TMPDIR", &temporary).stdin(Stdio::piped()).stdout(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(&std::fs::read(folder.path("t.db")).unwrap()).unwrap();
    // The whole trace is in the copy or in the pipe, and the program waits for more.
    assert_eq!(std::fs::read_dir(&temporary).unwrap().count(), 0);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(std::fs::read_dir(&temporary).unwrap().count(), 0);
}

#[test]
fn a_trace_whose_kernels_all_differ_costs_a_few_hundred_bytes_a_kernel() {
    let folder = Folder::new();
    let trace = support::rusqlite::Connection::open(folder.path("t.db")).unwrap();
    trace
        .execute_batch(
            "pragma journal_mode = off;
            create table rocpd_string(id integer primary key, string text);
            create table rocpd_op(id integer primary key, gpuId integer, queueId integer, sequenceId integer,
                completionSignal text, start integer, end integer, description_id integer, opType_id integer,
                roctxId integer default 0);
            create table rocpd_metadata(id integer primary key, tag text, value text);
            with recursive n(i) as (select 1 union all select i + 1 from n where i < 200000)
            insert into rocpd_string select i, printf('kernel_of_a_library_%07d', i) from n;
            insert into rocpd_string values(200001, 'KernelExecution');
            insert into rocpd_op select id, 0, 0, 0, '', 9 * id, 9 * id + 5, id, 200001, 0 from rocpd_string;",
        )
        .unwrap();
    drop(trace);
    let mut shell = Command::new("bash");
    // Arenas of the C library's allocator reserve address space by chance.
    shell.args(["-c", "ulimit -v 140000; exec $RTL \"$FILE\""]).env("MALLOC_ARENA_MAX", "1");
    shell.env("RTL", env!("CARGO_BIN_EXE_rtl-summary")).env("FILE", folder.path("t.db"));
    assert!(text(shell.output().unwrap()).contains("Kernels (10 of 200,001)"));
}

#[test]
fn hostile_files_cost_what_their_size_allows() {
    let Some(shared) = support::shared() else { return };
    for entry in std::fs::read_dir(shared.join("hostile")).into_iter().flatten().flatten() {
        let path = entry.path();
        let size = entry.metadata().unwrap().len();
        // Bounds of the address space and of processor time: a file without a bound of its own exceeds them.
        let kilobytes = 400_000 + 4 * size / 1024;
        let script = format!("ulimit -v {kilobytes} -t 60; exec $RTL --quiet \"$FILE\"");
        let mut shell = Command::new("bash");
        shell.args(["-c", &script]).env("RTL", env!("CARGO_BIN_EXE_rtl-summary")).env("FILE", &path);
        let output = shell.output().unwrap();
        let messages = String::from_utf8_lossy(&output.stderr);
        match output.status.code() {
            Some(0) => {}
            Some(3) => assert!(messages.contains("error: ") && messages.contains("hint: "), "{messages}"),
            code => panic!("{}: {code:?} {messages}", path.display()),
        }
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_summary_needs_at_most_40_bytes_an_op() {
    /// The memory in bytes of the program and its buffers, without ops.
    const ITSELF: u64 = 24 << 20;
    let folder = Folder::new();
    let ops = 2_000_000;
    generate(&Options { ops, ..Options::default() }, &folder.path("t.db")).unwrap();
    for threads in [1, 2] {
        let run = folder.run(&format!("-q --threads {threads} --max-memory {} t.db", ops * 40 + ITSELF));
        assert_eq!((run.code, run.messages.as_str()), (0, ""), "{threads} threads");
    }
    assert_eq!(folder.run("-q --max-memory 1M t.db").code, 3, "more than the least limit");
}
