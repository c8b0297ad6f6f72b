//! `--once`: figures for people and scripts.

use std::path::Path;
use std::process::{Command, Output};

use rtl_schema::{Select, Trace};
use rtl_write::{NativeWriter, TraceImport};
use serde_json::Value;
use support::json_schema::JsonSchema;

use crate::growing::Growing;

fn top(arguments: &[&str], folder: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rtl-top"));
    command.args(arguments).current_dir(folder).env("COLUMNS", "80").env_remove("NO_COLOR").output().unwrap()
}

fn once(path: &Path) -> Value {
    let folder = path.parent().unwrap();
    let output = top(&[path.to_str().unwrap(), "--once", "--to", "json"], folder);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn failure(arguments: &[&str], folder: &Path) -> (i32, String) {
    let output = top(arguments, folder);
    assert!(output.stdout.is_empty());
    (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
}

fn summary(path: &Path) -> Value {
    use clap::Parser;
    let line = [
        "rtl-summary",
        "--to",
        "json",
        "--all",
        "--top",
        "all",
        "--names",
        "mangled",
        path.to_str().unwrap(),
    ];
    let arguments = rtl_summary::args::Arguments::parse_from(line);
    let mut out = cli::Output::new("rtl-summary", Box::new(std::io::sink()), Box::new(std::io::sink()));
    let (exit, text) = out.capture(|out| rtl_summary::run(arguments, out));
    exit.unwrap();
    serde_json::from_str(&text).unwrap()
}

fn assert_equals_summary(path: &Path) {
    let (top, report) = (once(path), summary(path));
    let (top, report) = (&top["recordings"][0], &report);
    let gpus = report["gpus"].as_array().unwrap();
    assert_eq!(top["gpus"].as_array().unwrap().len(), gpus.len());
    for (one, other) in top["gpus"].as_array().unwrap().iter().zip(gpus) {
        for field in
            ["gpu", "label", "product", "ops", "dispatches", "copies", "wall_ns", "busy_ns", "busy_share"]
        {
            assert_eq!(one[field], other[field], "{field} of {one}");
        }
    }
    let by_name = |rows: &Value, name: &str| {
        rows.as_array().unwrap().iter().find(|row| row["name"] == name).cloned().unwrap()
    };
    for (section, counted) in [("kernels", "calls"), ("api", "calls")] {
        let found = &top[if section == "api" { "calls" } else { section }];
        assert_eq!(found.as_array().unwrap().len(), report[section].as_array().unwrap().len(), "{section}");
        for row in found.as_array().unwrap() {
            let other = by_name(&report[section], row["name"].as_str().unwrap());
            for (one, other) in [
                (&row["count"], &other[counted]),
                (&row["total_ns"], &other["total_ns"]),
                (&row["max_ns"], &other["max_ns"]),
            ] {
                assert_eq!(one, other, "{row}");
            }
        }
    }
    for row in top["copies"].as_array().unwrap() {
        let all = report["copies"].as_array().unwrap();
        let other = all.iter().find(|other| other["direction"] == row["direction"]).unwrap();
        assert_eq!(
            [&row["count"], &row["bytes"], &row["total_ns"]],
            [&other["count"], &other["bytes"], &other["total_ns"]]
        );
    }
}

#[test]
fn figures_of_a_recording_are_those_of_the_summary_at_each_step() {
    let folder = tempfile::tempdir().unwrap();
    let mut growing = Growing::new(folder.path(), 4711, Some(0));
    for kernels in [1, 10, 1000, 7] {
        growing.run(kernels);
        assert_equals_summary(growing.path());
    }
    assert_equals_summary(&growing.end());
}

#[test]
fn figures_of_real_traces_are_those_of_the_summary() {
    let Some(shared) = support::shared() else { return };
    let folder = tempfile::tempdir().unwrap();
    for trace in ["traces/real/rpd2-vllm-fp8.rpd.gz", "traces/real/rpd2-matmul-mi200.rpd"] {
        let native = folder.path().join("native.db");
        let _ = std::fs::remove_file(&native);
        let mut writer = NativeWriter::create(&native).unwrap();
        let mut import = TraceImport::default();
        let select = Select { secondary: false, ..Select::everything() };
        let trace = Trace::open(shared.join(trace)).unwrap();
        let last = trace.stream(&select, |piece| import.push(&mut writer, piece)).unwrap();
        import.finish(&mut writer, &last).unwrap();
        writer.finish().unwrap();
        assert_equals_summary(&native);
    }
}

#[test]
fn the_document_keeps_to_its_schema_and_names_each_rank() {
    let folder = tempfile::tempdir().unwrap();
    let mut ranks: Vec<Growing> =
        (0..3).map(|rank| Growing::new(folder.path(), 5000 - i64::from(rank), Some(rank))).collect();
    ranks.iter_mut().for_each(|rank| rank.run(500));
    ranks.pop().unwrap().end();
    std::fs::write(folder.path().join("notes.txt"), "no recording").unwrap();
    let output = top(&[".", "--once", "--to", "json"], folder.path());
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let schema = JsonSchema::read(include_str!("../../../../docs/reference/rtl-top.schema.json"));
    schema.describes(&document);
    let of = |field: &str| {
        document["recordings"].as_array().unwrap().iter().map(|row| row[field].clone()).collect::<Vec<_>>()
    };
    assert_eq!(of("rank"), [0, 1, 2]);
    assert_eq!(of("pid"), [5000, 4999, 4998]);
    assert_eq!(of("phase"), ["recording", "recording", "ended"]);
    assert_eq!(of("pending"), [2, 2, 2]);
}

#[test]
fn the_text_fits_its_width_and_says_that_the_recording_has_ended() {
    let folder = tempfile::tempdir().unwrap();
    let mut growing = Growing::new(folder.path(), 4711, Some(3));
    growing.run(100_000);
    let output = top(&[growing.end().to_str().unwrap(), "--once"], folder.path());
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    for part in [
        "pid 4711  rank 3  node1  ended  1.0 s  python train.py",
        "API calls 10,000/s  pending 2  lost 3 (behind)",
        "GPU 0     60.0%",
        "gemm_kernel",
        "host-to-device",
        "train step",
        "hipMemcpyAsync",
    ] {
        assert!(text.contains(part), "{part}:\n{text}");
    }
}

#[test]
fn a_finished_recording_is_shown_once_without_a_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let mut growing = Growing::new(folder.path(), 4711, None);
    growing.run(10);
    let output = top(&[growing.end().to_str().unwrap()], folder.path());
    assert!(output.status.success());
    assert!(String::from_utf8(output.stdout).unwrap().contains("ended"));
}

#[test]
fn a_recording_whose_process_is_gone_has_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let mut growing = Growing::new(folder.path(), 4711, None);
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    growing.publish("0", &[("boot_id", boot.trim().to_owned())]);
    growing.run(10);
    growing.publish("0", &[("boot_id", boot.trim().to_owned())]);
    assert_eq!(once(growing.path())["recordings"][0]["phase"], "stopped");
}

#[test]
fn targets_without_a_recording_are_errors_with_hints() {
    let folder = tempfile::tempdir().unwrap();
    let mut growing = Growing::new(folder.path(), 4711, None);
    growing.run(10);
    let file = growing.path().to_str().unwrap();
    let empty = tempfile::tempdir().unwrap();
    let own = std::process::id().to_string();
    for (arguments, exit, message) in [
        (vec!["4194305", "--once"], 3, "no such process: 4194305\nhint: name its recording"),
        (vec![own.as_str(), "--once"], 3, "is not being recorded\nhint: `rtl trace`"),
        (vec!["nothing.db", "--once"], 3, "no such file: nothing.db\nhint: "),
        (vec![empty.path().to_str().unwrap(), "--once"], 3, "no recordings in the folder: "),
        (vec![file], 2, "the live view needs a terminal\nhint: --once"),
        (vec![file, "--to", "xml"], 2, "invalid value 'xml'"),
        (vec![file, "--interval", "0"], 2, "expected 0.05 to 3600 seconds"),
    ] {
        let (code, text) = failure(&arguments, folder.path());
        assert!(code == exit && text.contains(message), "{arguments:?}: {code} {text}");
    }
}

#[test]
fn a_trace_of_another_recorder_is_refused_with_the_tool_that_reads_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = support::fixture_in("two-kernels", support::Layout::Lite);
    let (code, text) = failure(&[path.to_str().unwrap(), "--once"], folder.path());
    assert!(
        code == 3 && text.contains("no recording of librtl.so") && text.contains("rtl summary"),
        "{text}"
    );
}
