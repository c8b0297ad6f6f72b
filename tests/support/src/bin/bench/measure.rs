//! CPU, wall time, memory and instructions of a command.

use std::ffi::OsString;
use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// The unit of CPU time in /proc, the same on every Linux.
const TICKS_PER_SECOND: f64 = 100.0;

/// The cost of one command, run several times.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Cost {
    /// User and system seconds of the whole process.
    pub(super) cpu: f64,
    /// Seconds from start to end.
    pub(super) wall: f64,
}

/// A program and its arguments.
pub(super) struct Call {
    program: OsString,
    arguments: Vec<OsString>,
}

impl Call {
    pub(super) fn new(program: impl Into<OsString>, arguments: impl IntoIterator<Item = OsString>) -> Self {
        Self { program: program.into(), arguments: arguments.into_iter().collect() }
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).stdin(Stdio::null()).stdout(Stdio::null());
        command
    }

    /// Runs it `times` times and gives the mean cost of one run.
    pub(super) fn cost(&self, times: u32) -> Result<Cost> {
        let (cpu, started) = (children_cpu()?, Instant::now());
        for _ in 0..times {
            let status = self.command().status().with_context(|| format!("cannot run {:?}", self.program))?;
            if !status.success() {
                bail!("{:?} {:?} ended with {status}", self.program, self.arguments);
            }
        }
        let wall = started.elapsed().as_secs_f64();
        let times = f64::from(times);
        Ok(Cost { cpu: (children_cpu()? - cpu) / times, wall: wall / times })
    }

    /// Runs it once and gives the largest anonymous memory seen, in bytes.
    pub(super) fn peak_anonymous(&self) -> Result<u64> {
        let mut child = self.command().spawn().with_context(|| format!("cannot run {:?}", self.program))?;
        let status = format!("/proc/{}/status", child.id());
        let mut peak = 0;
        let ended = loop {
            if let Some(ended) = child.try_wait()? {
                break ended;
            }
            // The process may end between the two calls: then there is nothing more to see.
            peak = peak.max(fs::read_to_string(&status).ok().and_then(|text| anonymous(&text)).unwrap_or(0));
            std::thread::sleep(Duration::from_millis(2));
        };
        if !ended.success() {
            bail!("{:?} {:?} ended with {ended}", self.program, self.arguments);
        }
        Ok(peak)
    }

    /// Instructions by callgrind, `None` where valgrind is missing.
    pub(super) fn instructions(&self) -> Result<Option<u64>> {
        let output = Command::new("valgrind")
            .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
            .arg(&self.program)
            .args(&self.arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .output();
        match output {
            Ok(output) if output.status.success() => Ok(collected(&String::from_utf8_lossy(&output.stderr))),
            Ok(output) => bail!("valgrind: {}", String::from_utf8_lossy(&output.stderr)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

/// CPU seconds of all ended children: fields 16 and 17 of /proc/self/stat.
fn children_cpu() -> Result<f64> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    parse_children_cpu(&stat).context("/proc/self/stat has another form than proc(5) says")
}

fn parse_children_cpu(stat: &str) -> Option<f64> {
    // The second field is the program's name in parentheses and may hold anything.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_ascii_whitespace().skip(13);
    let ticks = fields.next()?.parse::<u64>().ok()? + fields.next()?.parse::<u64>().ok()?;
    Some(ticks as f64 / TICKS_PER_SECOND)
}

/// RssAnon of a /proc/PID/status, in bytes.
fn anonymous(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| kib * 1024)
}

/// The instruction count in what callgrind says at its end.
fn collected(messages: &str) -> Option<u64> {
    let (_, count) = messages.lines().rev().find_map(|line| line.split_once("Collected :"))?;
    count.trim().parse().ok()
}

/// How often to repeat a run of so many seconds, so that ticks of 10 ms are fine enough.
pub(super) fn repetitions(seconds: f64) -> u32 {
    (0.5 / seconds).ceil().clamp(1.0, 200.0) as u32
}

pub(super) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => f64::NAN,
        odd if odd % 2 == 1 => values[middle],
        _ => (values[middle - 1] + values[middle]) / 2.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cpu_of_children_is_found_after_a_name_with_spaces_and_parentheses() {
        let stat = "7 (a) b) S 1 7 7 0 -1 4194560 100 200 0 0 3 4 250 50 20 0 1 0 5 6 7";
        assert_eq!(parse_children_cpu(stat), Some(3.0));
    }

    #[test]
    fn anonymous_memory_is_read_in_bytes() {
        assert_eq!(anonymous("VmRSS:\t  900 kB\nRssAnon:\t     120 kB\n"), Some(120 * 1024));
    }

    #[test]
    fn callgrind_says_its_count_in_the_last_lines() {
        assert_eq!(collected("==7== Events    : Ir\n==7== Collected : 1234\n==7== \n"), Some(1234));
    }

    #[test]
    fn short_runs_are_repeated_until_ticks_are_fine_enough() {
        assert_eq!([repetitions(2.0), repetitions(0.1), repetitions(0.0)], [1, 5, 200]);
    }

    #[test]
    fn a_median_is_the_middle_or_the_mean_of_the_two_middles() {
        assert_eq!(median(vec![9.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(vec![4.0, 1.0, 2.0, 9.0]), 3.0);
    }
}
