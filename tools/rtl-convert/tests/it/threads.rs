//! An output does not depend on the number of threads, and compressed ones are one member of gzip.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::Command;

use flate2::read::GzDecoder;
use support::{Layout, Need, Options};

/// The formats that are one file, by its name and further words.
const OUTPUTS: [&str; 7] = [
    "a.json",
    "a.json.gz",
    "a.pftrace",
    "a.pftrace --gpu-events",
    "a.perfetto-trace.gz",
    "a.rpd",
    "a_results.json.gz",
];

fn convert(folder: &Path, trace: &Path, output: &str, threads: u32) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rtl-convert"));
    command.arg(trace).args(["-q", "--threads", &threads.to_string(), "-o"]).current_dir(folder);
    command.args(output.split_whitespace());
    let run = command.output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
}

fn converted(folder: &Path, trace: &Path, output: &str, threads: u32) -> Vec<u8> {
    let file = folder.join(output.split_whitespace().next().unwrap());
    let _ = fs::remove_file(&file);
    convert(folder, trace, output, threads);
    fs::read(file).unwrap()
}

/// The files of a folder of tables, with their names.
fn tables(folder: &Path, trace: &Path, output: &str, threads: u32) -> Vec<(String, Vec<u8>)> {
    let _ = fs::remove_dir_all(folder.join(output));
    convert(folder, trace, output, threads);
    let entries = fs::read_dir(folder.join(output)).unwrap().map(|entry| entry.unwrap());
    let file =
        |entry: fs::DirEntry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap());
    let mut files: Vec<_> = entries.map(file).collect();
    files.sort();
    files
}

fn assert_same(trace: &Path) {
    let folder = tempfile::tempdir().unwrap();
    for output in OUTPUTS {
        let alone = converted(folder.path(), trace, output, 1);
        for threads in [2, 5] {
            let others = converted(folder.path(), trace, output, threads);
            assert!(others == alone, "{} to {output}: {threads} threads", trace.display());
        }
    }
    for output in ["a.csv", "a.parquet"] {
        let alone = tables(folder.path(), trace, output, 1);
        for threads in [2, 5] {
            let others = tables(folder.path(), trace, output, threads);
            assert!(others == alone, "{} to {output}: {threads} threads", trace.display());
        }
    }
}

#[test]
fn outputs_are_those_of_one_thread() {
    assert_same(&support::fixture_in("collective-waits", Layout::Native));
    let large = tempfile::NamedTempFile::new().unwrap();
    // More than a row group.
    let ops = if support::is_long() { 130_000 } else { 70_000 };
    let options = Options { ops, shuffle: true, api: true, ..Options::default() };
    support::generate(&options, large.path()).unwrap();
    assert_same(large.path());
}

#[test]
fn outputs_of_real_traces_are_those_of_one_thread() {
    let Some(shared) = support::shared() else { return };
    for name in ["rpd2-vllm-fp8.rpd.gz", "rpd2-matmul-mi200.rpd"] {
        let path = shared.join("traces/real").join(name);
        if path.exists() {
            assert_same(&path);
        }
    }
}

#[test]
fn a_compressed_output_is_one_member_with_the_content_of_the_plain_one() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("trace.db");
    support::generate(&Options { ops: 5_000, ..Options::default() }, &trace).unwrap();
    let plain = converted(folder.path(), &trace, "a.json", 5);
    let compressed = converted(folder.path(), &trace, "a.json.gz", 5);
    let mut decoder = GzDecoder::new(compressed.as_slice());
    let mut content = Vec::new();
    decoder.read_to_end(&mut content).unwrap();
    assert!(plain.len() > 1 << 20, "several blocks");
    assert!(content == plain && decoder.into_inner().is_empty());
    for reader in [
        &["zcat"][..],
        &["python3", "-c", "import gzip,sys; sys.stdout.buffer.write(gzip.open(sys.argv[1]).read())"],
    ] {
        let Ok(output) =
            Command::new(reader[0]).args(&reader[1..]).arg(folder.path().join("a.json.gz")).output()
        else {
            support::skip(Need::Machine, format!("no {}", reader[0]));
            continue;
        };
        assert!(output.status.success() && output.stdout == plain, "{}", reader[0]);
    }
}
