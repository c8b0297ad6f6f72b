//! `rtl-trace -m hip`: programs of HIP with their calls, from the command line to what other tools are given.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Output as Ended;

use crate::running::{Traced, text};
use clap::Parser;
use cli::Output;
use e2e::{Process, Trace};
use rtl_schema::table::ApiCall;
use rtl_schema::{Id, Select, Tables};
use support::rusqlite::Connection;
use support::{Stack, every_stack, perfetto, stacks};

fn newest() -> Option<Stack> {
    every_stack().pop()
}

fn traced(process: Process) -> (Traced, Ended) {
    let traced = Traced::running(process);
    let program = traced.program.iter().map(OsString::as_os_str);
    let ended = traced.command(&["-m", "hip", "--no-perfetto"], program).output().unwrap();
    (traced, ended)
}

#[test]
fn the_summary_has_the_calls_and_what_launching_took() {
    for stack in stacks() {
        let Some(process) = Process::for_hip(&stack, "hip_streams", &["4", "20"]) else { return };
        let bare = process.bare();
        let (traced, ended) = traced(process);
        assert!(bare.status.success() && ended.status.success(), "{stack:?} {bare:?} {ended:?}");
        assert_eq!(text(&ended.stdout), bare.stdout, "{stack:?}");
        let trace = Trace::read(&traced.path().join("trace.db"));
        assert_eq!((trace.metadata["mode"].as_str(), trace.rows.len()), ("hip", 80), "{stack:?}");
        let summary = std::fs::read_to_string(traced.path().join("trace_summary.txt")).unwrap();
        let launches = summary.lines().find(|line| line.starts_with("hipModuleLaunchKernel"));
        let launches: Vec<&str> = launches.unwrap().split_whitespace().collect();
        assert!(launches.contains(&"80"), "{stack:?} {summary}");
        assert!(summary.contains("Launch latency"), "{stack:?} {summary}");
    }
}

#[test]
fn the_exit_code_of_a_program_of_hip_is_its_own() {
    let Some(stack) = newest() else { return };
    let Some(process) = Process::for_hip(&stack, "hip_calls", &["exit"]) else { return };
    // A thread still waits for it when the process ends.
    let process = process.setting("KFD_SIM_KERNEL_NS", "4000000000");
    let (traced, ended) = traced(process);
    assert_eq!(ended.status.code(), Some(3), "{ended:?}");
    assert_eq!(Trace::read(&traced.path().join("trace.db")).metadata["complete"], "1");
}

/// A call: function, thread, start and duration.
type Call = (String, Option<i64>, i64, Option<i64>);

/// The other rows of RPD's table of calls: ranges, and for an op without a call the thread that asked for it.
const OTHERS: &str = "('UserMarker', '(not recorded)')";

/// The calls of a trace, and the ops of each.
#[derive(Debug, PartialEq)]
struct Content {
    calls: Vec<Call>,
    /// The start and the duration of an op, and the call that it belongs to.
    ops: Vec<(i64, Option<i64>, Option<Call>)>,
}

impl Content {
    fn of(tables: &Tables) -> Self {
        let name = |call: &ApiCall| tables.strings.get(call.name).to_owned();
        let call = |call: ApiCall| (name(&call), call.tid, call.start, call.duration);
        let by_number: HashMap<Id, Call> =
            tables.api_calls.iter().map(|row| (row.correlation, call(row))).collect();
        let op = |start, duration, correlation| (start, duration, by_number.get(&correlation).cloned());
        let kernels = tables.dispatches.iter().map(|row| op(row.start, row.duration, row.correlation));
        let copies = tables.copies.iter().map(|row| op(row.start, row.duration, row.correlation));
        let mut content =
            Self { calls: tables.api_calls.iter().map(call).collect(), ops: kernels.chain(copies).collect() };
        content.calls.sort();
        content.ops.sort();
        content
    }

    /// Reads the trace with our own reader.
    fn read(path: &Path) -> Self {
        let tables = rtl_schema::Trace::open(path).unwrap().read(&Select::everything()).unwrap();
        assert_eq!(tables.extra_links, [], "an op of ours belongs to one call");
        Self::of(&tables)
    }

    /// Reads the trace with SQLite, where `link` is the condition by which an op finds its call.
    fn by_sql(path: &Path, link: &str) -> Self {
        let database = Connection::open(path).unwrap();
        let call = |row: &support::rusqlite::Row<'_>, at: usize| {
            let (start, end): (i64, i64) = (row.get(at + 2)?, row.get(at + 3)?);
            Ok((row.get(at)?, row.get(at + 1)?, start, Some(end - start)))
        };
        let columns = "function.string, call.tid, call.start, call.end";
        let query = format!(
            "SELECT {columns} FROM rocpd_api call JOIN rocpd_string function ON function.id = call.apiName_id
             WHERE function.string NOT IN {OTHERS}"
        );
        let mut calls = database.prepare(&query).unwrap();
        let calls = calls.query_map([], |row| call(row, 0)).unwrap().map(Result::unwrap).collect();
        let query = format!(
            "SELECT op.start, op.end, {columns} FROM rocpd_op op {link}
             LEFT JOIN rocpd_string function ON function.id = call.apiName_id AND function.string NOT IN {OTHERS}
             WHERE op.gpuId >= 0"
        );
        let mut ops = database.prepare(&query).unwrap();
        let op = |row: &support::rusqlite::Row<'_>| {
            let (start, end): (i64, i64) = (row.get(0)?, row.get(1)?);
            let function: Option<String> = row.get(2)?;
            Ok((start, Some(end - start), function.map(|_| call(row, 2)).transpose()?))
        };
        let ops = ops.query_map([], op).unwrap().map(Result::unwrap).collect();
        let mut content = Self { calls, ops };
        content.calls.sort();
        content.ops.sort();
        content
    }
}

/// The trace as a file of this name beside it.
fn converted(trace: &Path, name: &str) -> PathBuf {
    let to = trace.with_file_name(name);
    let line: [&OsStr; 5] =
        ["rtl-convert".as_ref(), "--quiet".as_ref(), trace.as_ref(), "-o".as_ref(), to.as_ref()];
    let arguments = rtl_convert::args::Arguments::try_parse_from(line).unwrap();
    let mut out = Output::new("rtl-convert", Box::new(io::sink()), Box::new(io::sink()));
    assert_eq!(rtl_convert::run(arguments, &mut out).unwrap(), cli::Exit::Success, "{name}");
    to
}

/// Recordings of the newest runtime: launches by every function, copies between GPUs, graphs, and work that a thread of the
/// runtime enqueues.
fn recordings() -> Vec<Traced> {
    let Some(stack) = newest() else { return vec![] };
    let programs: [(&str, &[&str], &str); 4] = [
        ("hip_launches", &[], "1"),
        ("hip_memory", &["peers"], "1"),
        ("hip_nodes", &[], "1"),
        ("hip_streams", &["3", "20"], "0"),
    ];
    let recording = |(name, arguments, direct): (&str, &[&str], &str)| {
        let process =
            Process::for_hip(&stack, name, arguments)?.gpus(2).setting("AMD_DIRECT_DISPATCH", direct);
        let (traced, ended) = traced(process);
        assert!(ended.status.success(), "{name}: {ended:?}");
        Some(traced)
    };
    programs.into_iter().filter_map(recording).collect()
}

#[test]
fn calls_and_whose_ops_are_stay_what_they_were_in_other_formats() {
    let recordings = recordings();
    let (mut linked, mut unlinked) = (0, 0);
    for recording in &recordings {
        let trace = recording.path().join("trace.db");
        let content = Content::read(&trace);
        let by_number = "LEFT JOIN rocpd_api call ON call.correlationId = op.correlationId";
        assert_eq!(Content::by_sql(&trace, by_number), content);
        assert!(!content.calls.is_empty());
        for (.., call) in &content.ops {
            *if call.is_some() { &mut linked } else { &mut unlinked } += 1;
        }

        let rpd = converted(&trace, "trace.rpd");
        let by_table = "LEFT JOIN rocpd_api_ops link ON link.op_id = op.id LEFT JOIN rocpd_api call ON call.id = link.api_id";
        assert_eq!(Content::by_sql(&rpd, by_table), content);
        assert_eq!(Content::read(&rpd), content);
        for name in ["trace_results.json", "trace_results.db"] {
            assert_eq!(Content::read(&converted(&trace, name)), content, "{name}");
        }
    }
    assert!(recordings.is_empty() || (linked > 0 && unlinked > 0), "{linked} {unlinked}");
}

#[test]
fn perfetto_draws_an_arrow_to_each_op_from_its_call() {
    let recordings = recordings();
    let traces: Vec<PathBuf> = recordings.iter().map(|recording| recording.path().join("trace.db")).collect();
    let drawn: Vec<PathBuf> = traces.iter().map(|trace| converted(trace, "trace.pftrace")).collect();
    let drawn: Vec<&Path> = drawn.iter().map(PathBuf::as_path).collect();
    let arrows = "SELECT one.name, one.ts, one.dur, other.ts, other.dur FROM flow
                  JOIN slice one ON one.id = slice_out JOIN slice other ON other.id = slice_in";
    let Some(answers) = perfetto::query(&drawn, &[arrows]) else { return };
    for (trace, answers) in traces.iter().zip(&answers) {
        let cells = |row: &Vec<Option<String>>| row.iter().map(|cell| cell.clone().unwrap()).collect();
        let mut arrows: Vec<Vec<String>> = answers[0].iter().map(cells).collect();
        arrows.sort();
        let ops = Content::read(trace).ops.into_iter();
        let arrow = |(start, duration, call): (i64, Option<i64>, Option<Call>)| {
            let (function, _, called, took) = call?;
            let times = [called, took.unwrap(), start, duration.unwrap()].map(|time| time.to_string());
            Some(std::iter::once(function).chain(times).collect())
        };
        let mut expected: Vec<Vec<String>> = ops.filter_map(arrow).collect();
        expected.sort();
        assert_eq!(arrows, expected, "{}", trace.display());
    }
}
