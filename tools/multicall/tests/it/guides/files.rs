//! The files that pages name.

use std::fs;
use std::path::Path;

use support::{Job, Layout, Options};

use super::Pages;

const TORCH: &str = "tests/fixtures/real/gpt-loader.json.gz";

/// Writes the files that a command reads and that are not there.
pub(super) fn provide(pages: &Pages, command: &str, folder: &Path) {
    let words = || command.split([' ', '=', '\'', ';', '(', ')']).filter(|word| !word.is_empty());
    let is_output =
        |word: &str| words().zip(words().skip(1)).any(|pair| [("-o", word), (">", word)].contains(&pair));
    for word in words().filter(|word| !is_output(word)) {
        if !folder.join(word).exists() {
            write(pages, word, folder);
        }
    }
}

/// Writes the file that a page calls `name`, if it is one.
fn write(pages: &Pages, name: &str, folder: &Path) {
    let trace = |seed| Options {
        ops: 8_000,
        gpus: 2,
        ranges: true,
        api: true,
        seed,
        workload: Some(1),
        ..Options::default()
    };
    let generate = |options: &Options| support::generate(options, &folder.join(name)).unwrap();
    let made_by = |command: &str| {
        provide(pages, command, folder);
        let output = pages.run(command, folder, Path::new("."));
        assert!(output.status.success(), "{name}: {command}: {output:?}");
    };
    let (stem, end) = name.split_once('.').unwrap_or((name, ""));
    match (stem, end) {
        ("trace" | "before" | "trace_7" | "trace_*", "db") => {
            support::generate(&trace(1), &folder.join(name.replace('*', "4711"))).unwrap();
        }
        // Runs of one program, in which rows differ.
        ("after" | "monday" | "tuesday" | "wednesday", "db") => {
            generate(&Options { slow: Some((0, 1.0 + 0.001 * name.len() as f64)), ..trace(1) });
        }
        ("trace", "rpd") => generate(&Options { layout: Layout::Rpd3, ..trace(1) }),
        ("rank*", "db") => drop(Job::default().generate(folder).unwrap()),
        ("a1/rank*", "db") => {
            fs::create_dir(folder.join("a1")).unwrap();
            Job::default().generate(&folder.join("a1")).unwrap();
        }
        ("before*" | "after*" | "main*" | "branch*" | "run*", "db") => {
            for seed in 1..=3 {
                let run = Job { nodes: 1, ranks_per_node: 1, seed, ..Job::default() };
                let path = run.generate(folder).unwrap().remove(0);
                fs::rename(path, folder.join(name.replace('*', &seed.to_string()))).unwrap();
            }
        }
        ("old", "db") => {
            let rank = Job { nodes: 1, ranks_per_node: 1, seed: 9, ..Job::default() };
            fs::rename(rank.generate(folder).unwrap().remove(0), folder.join(name)).unwrap();
        }
        ("job", "db") => made_by("rtl merge -o job.db rank*.db"),
        ("main*", "json") => {
            made_by("for run in main*.db; do rtl summary --to json $run > ${run%.db}.json; done");
        }
        ("rank*", "json.gz") => {
            made_by("for rank in rank*.db; do rtl convert $rank -o ${rank%.db}.json.gz; done")
        }
        (_, "json.gz") => {
            fs::copy(pages.project.join(TORCH), folder.join(name.replace('*', "1"))).unwrap();
        }
        ("h200*" | "mi300x*", "json") => {
            let to = name.replace('*', "1");
            made_by(&format!("gzip -dc '{}' > {to}", pages.project.join(TORCH).display()));
        }
        ("noise", "toml") => made_by("rtl diff calibrate --as runs run*.db -o noise.toml"),
        ("question", "sql") => {
            fs::write(folder.join(name), "select count(*) from dispatches where gpu = $gpu").unwrap();
        }
        // The beginning of `runs/job=train/run=monday`.
        ("runs/job", "") => {
            for run in ["monday", "tuesday"] {
                made_by(&format!("rtl convert {run}.db --to dataset -o runs --job train --force"));
            }
        }
        ("runs", "") => made_by("rtl convert monday.db --to dataset -o runs --job train"),
        _ => {}
    }
}

/// The command without `--open`, which waits for a browser: tests of rtl-report and rtl-convert open one.
pub(super) fn without_a_browser(command: &str) -> String {
    command.replace(" --open", "")
}
