//! From the traces of eight ranks on clocks of their own to who the others waited for, and a picture of it.

use std::io::Write;
use std::sync::{Arc, Mutex};

use clap::Parser;
use cli::Output;
use serde_json::Value;
use support::Job;

use crate::{Folder, ranks};

/// The answer of another tool of the suite, called with these words in a folder.
fn answer(run: impl FnOnce(&mut Output) -> Result<cli::Exit, cli::Failure>) -> String {
    #[derive(Clone, Default)]
    struct Shared(Arc<Mutex<Vec<u8>>>);
    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let text = Shared::default();
    let mut out = Output::new("test", Box::new(text.clone()), Box::new(std::io::sink()));
    run(&mut out).unwrap();
    String::from_utf8(std::mem::take(&mut *text.0.lock().unwrap())).unwrap()
}

fn words(folder: &Folder, line: &str) -> Vec<String> {
    let word = |word: &str| match word.strip_prefix('@') {
        Some(file) => folder.path(file).to_str().unwrap().to_owned(),
        None => word.to_owned(),
    };
    line.split_whitespace().map(word).collect()
}

#[test]
fn eight_ranks_on_skewed_clocks_are_merged_summarised_and_drawn() {
    let folder = Folder::of(&Job { slow: Some((2, 1.2)), ..Job::default() });
    let merged = folder.merge(&format!("-o job.db {}", ranks(8)));
    assert_eq!(merged["clock"]["collectives"], 40);
    assert_eq!(merged["clock"]["violations"], 0);
    assert_eq!(merged["waits"]["straggler"], "rank 2");

    let line = words(&folder, "rtl-summary --by rank --to json @job.db");
    let arguments = rtl_summary::args::Arguments::try_parse_from(line).unwrap();
    let summary: Value = serde_json::from_str(&answer(|out| rtl_summary::run(arguments, out))).unwrap();
    let groups = summary["groups"].as_array().unwrap();
    let mut names: Vec<&str> = groups.iter().map(|group| group["name"].as_str().unwrap()).collect();
    names.sort_unstable();
    assert_eq!(names, (0..8).map(|rank| format!("rank {rank}")).collect::<Vec<_>>());
    assert!(groups.iter().all(|group| group["calls"] == 40 * 13));

    let line = words(&folder, "rtl-convert --to perfetto-json --output @job.json @job.db");
    let arguments = rtl_convert::args::Arguments::try_parse_from(line).unwrap();
    answer(|out| rtl_convert::run(arguments, out));
    let drawn: Value = serde_json::from_slice(&std::fs::read(folder.path("job.json")).unwrap()).unwrap();
    let slices = drawn["traceEvents"].as_array().unwrap().iter().filter(|event| event["ph"] == "X");
    let collectives: Vec<&Value> = slices
        .filter(|slice| slice["name"].as_str().is_some_and(|name| name.contains("AllReduce")))
        .collect();
    assert_eq!(collectives.len(), 8 * 40);
    // What was days apart on the clocks of two machines is one moment: each collective ends everywhere within 10 us.
    let mut ends: Vec<f64> = collectives
        .iter()
        .map(|slice| slice["ts"].as_f64().unwrap() + slice["dur"].as_f64().unwrap())
        .collect();
    ends.sort_by(f64::total_cmp);
    for collective in ends.chunks(8) {
        assert!(collective[7] - collective[0] < 10.0, "{collective:?}");
    }
}
