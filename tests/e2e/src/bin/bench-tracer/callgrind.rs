//! Counts instructions by thread, which do not depend on other load of the machine.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::runs::{Bench, Column, ended_well};

/// Dispatches of the run whose counts are subtracted: by then pools have grown and names are known.
const WARM_UP: u32 = 8_192;

/// Takes the calls of all threads and writes them.
const CALLS: &str = "calls::reader::Reader::read";

/// Brings the file up to date, every 25 ms however many dispatches there were.
const PUBLISHING: &str = "Session<T>::write_out";

/// Instructions of a run or of one of its dispatches.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Instructions {
    /// Instructions of the doorbell: everything that the runtime and its tools do in it.
    pub(crate) submit: f64,
    /// Instructions of a load of the read index, by which programs check that the queue has room.
    pub(crate) read_index: f64,
    /// Instructions of the tool's other threads together, without those for calls.
    pub(crate) recorder: Option<f64>,
    /// The part of `recorder` that depends on the duration of the run.
    pub(crate) publishing: Option<f64>,
    /// Instructions of the thread that notices completions.
    pub(crate) collector: Option<f64>,
}

impl Bench {
    /// Counts instructions in each column, in the run of several in which the submitting thread had least to do: in that one it
    /// was never so far ahead of the collector that it had to make slots itself.
    pub(crate) fn instructions(&self, dispatches: u32, runs: u32) -> Result<Vec<Instructions>> {
        let least = |column| -> Result<Instructions> {
            let mut least = self.counted(column, dispatches)?;
            for _ in 1..runs {
                let other = self.counted(column, dispatches)?;
                least = if other.submit < least.submit { other } else { least };
            }
            Ok(least)
        };
        self.columns.iter().map(least).collect()
    }

    /// Instructions of a dispatch after the first ones: the difference of two runs.
    fn counted(&self, column: &Column, dispatches: u32) -> Result<Instructions> {
        let (before, after) = (self.sums(column, 0)?, self.sums(column, dispatches)?);
        let each = |sum: fn(&Instructions) -> f64| (sum(&after) - sum(&before)) / f64::from(dispatches);
        let optional = |sum: fn(&Instructions) -> Option<f64>| {
            Some((sum(&after)? - sum(&before)?) / f64::from(dispatches))
        };
        Ok(Instructions {
            submit: each(|sums| sums.submit),
            read_index: each(|sums| sums.read_index),
            recorder: optional(|sums| sums.recorder),
            publishing: optional(|sums| sums.publishing),
            collector: optional(|sums| sums.collector),
        })
    }

    /// Counts of a whole run with this number of dispatches after the first ones.
    fn sums(&self, column: &Column, dispatches: u32) -> Result<Instructions> {
        let folder = self.folder.join(format!("callgrind-{}-{dispatches}", column.name));
        fs::create_dir_all(&folder)?;
        let mut command = Command::new("valgrind");
        command.args(["--tool=callgrind", "--separate-threads=yes", "--fair-sched=yes"]);
        command.arg(format!("--callgrind-out-file={}", folder.join("thread").display()));
        let mut command = self.command_by(Some(command), &self.submit, column, &[]);
        command.args([dispatches.to_string(), WARM_UP.to_string()]);
        // The pause makes the two runs differ in the dispatches alone, and not in the thread that made the first slots.
        command.env("PAUSE_MS", "500");
        ended_well(command)?;

        let mut threads = Vec::new();
        let mut files: Vec<PathBuf> = fs::read_dir(&folder)?.flatten().map(|file| file.path()).collect();
        files.sort();
        for file in files.iter().filter(|file| file.metadata().is_ok_and(|file| file.len() > 0)) {
            threads.push(Thread::read(file)?);
        }
        let of = |function| threads.iter().filter_map(|thread| thread.inclusive(function)).sum();
        let (submit, read_index) =
            (of("hsa_signal_store_screlease"), of("hsa_queue_load_read_index_scacquire"));
        let library = column.library.as_deref();
        let behind: Vec<&Thread> = threads.iter().skip(1).filter(|thread| thread.runs_in(library)).collect();
        let sum = |threads: &[&Thread]| {
            let of_ops = |thread: &&Thread| thread.total - thread.spent_on(CALLS);
            (!threads.is_empty()).then(|| threads.iter().map(of_ops).sum::<f64>())
        };
        let collector: Vec<&Thread> =
            behind.iter().copied().filter(|thread| thread.has_function("collect")).collect();
        let publishing = behind.iter().map(|thread| thread.spent_on(PUBLISHING)).sum();
        Ok(Instructions {
            submit,
            read_index,
            recorder: sum(&behind),
            publishing: (!behind.is_empty()).then_some(publishing),
            collector: sum(&collector),
        })
    }
}

/// The counts of a thread.
struct Thread {
    total: f64,
    /// Inclusive instructions, with the function and its library as callgrind_annotate writes them.
    functions: Vec<(f64, String)>,
}

impl Thread {
    fn read(file: &Path) -> Result<Self> {
        let mut command = Command::new("callgrind_annotate");
        command.args(["--inclusive=yes", "--threshold=100"]).arg(file).stderr(Stdio::null());
        let output = command.output().context("callgrind_annotate")?;
        if !output.status.success() {
            bail!("callgrind_annotate {}: {}", file.display(), output.status);
        }
        let text = String::from_utf8_lossy(&output.stdout);
        let functions: Vec<(f64, String)> = text.lines().filter_map(function).collect();
        let total = functions.iter().find(|(_, name)| name == "PROGRAM TOTALS");
        let total = total.with_context(|| format!("no total in {}", file.display()))?.0;
        Ok(Self { total, functions })
    }

    fn inclusive(&self, function: &str) -> Option<f64> {
        let found = self.functions.iter().find(|(_, name)| name.contains(&format!(":{function} [")));
        found.map(|&(count, _)| count)
    }

    /// Inclusive instructions of a function of the tracer, in all of its instances.
    fn spent_on(&self, function: &str) -> f64 {
        self.functions.iter().filter(|(_, name)| name.contains(function)).map(|(count, _)| count).sum()
    }

    /// True if everything that the thread does begins in the library.
    fn runs_in(&self, library: Option<&Path>) -> bool {
        let Some(name) = library.and_then(Path::file_name).and_then(|name| name.to_str()) else {
            return false;
        };
        self.outer().any(|function| function.contains(&format!("/{name}]")))
    }

    /// True if a function that spans the thread has the word in its name.
    fn has_function(&self, word: &str) -> bool {
        self.outer().any(|function| function.contains(word))
    }

    fn outer(&self) -> impl Iterator<Item = &str> {
        let spans = move |count: f64| count > 0.9 * self.total;
        self.functions.iter().filter(move |(count, _)| spans(*count)).map(|(_, name)| name.as_str())
    }
}

/// Parses a line `1,234 ( 5.67%)  file:function [library]`.
fn function(line: &str) -> Option<(f64, String)> {
    let (count, rest) = line.trim_start().split_once(" (")?;
    let (_, name) = rest.split_once("%)")?;
    Some((count.replace(',', "").parse().ok()?, name.trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_count_and_a_function() {
        let line = " 1,120,352 ( 7.08%)  ???:hsa_signal_store_screlease [/usr/lib/libhsa-runtime64.so.1.5.0]";
        let (count, name) = function(line).unwrap();
        assert_eq!(count, 1_120_352.0);
        let thread = Thread { total: 2_000_000.0, functions: vec![(count, name)] };
        assert_eq!(thread.inclusive("hsa_signal_store_screlease"), Some(1_120_352.0));
        assert_eq!(thread.inclusive("hsa_signal_store"), None);
        assert_eq!(function("--------"), None);
    }
}
