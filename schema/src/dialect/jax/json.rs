//! `*.trace.json.gz`: processes are planes, threads are lines.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use rustc_hash::FxHashMap;
use serde::Deserialize;

use super::rows::{Event, Line, Rows};
use crate::dialect::chrome;
use crate::dialect::rocprofiler_json::scalars::{Text, Whole};
use crate::layout::tags::COMPLETE;
use crate::{Dialect, ProblemKind, Result, Select, Tables};

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Record {
    ph: Text,
    name: Text,
    pid: Whole,
    tid: Whole,
    /// In us. The writer prints doubles, so a double has all that there is.
    ts: Option<f64>,
    dur: Option<f64>,
    args: Arguments,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Arguments {
    name: Text,
    correlation_id: Whole,
    kernel_details: Text,
    memcpy_details: Text,
    #[serde(alias = "Memset_details")]
    memset_details: Text,
    step_num: Whole,
}

/// Only XLA gives processes the names of planes.
pub(super) fn recognise(head: &[u8]) -> bool {
    let has = |word: &str| head.windows(word.len()).any(|window| window == word.as_bytes());
    head.trim_ascii_start().starts_with(b"{")
        && has("\"traceEvents\"")
        && (has("\"/device:") || has("\"/host:CPU\""))
}

pub(super) fn read(path: &Path, reader: BufReader<File>, select: &Select) -> Result<Tables> {
    let mut rows = Rows::new(select);
    let mut planes: FxHashMap<i64, String> = FxHashMap::default();
    let mut lines: FxHashMap<(i64, i64), String> = FxHashMap::default();
    let mut id = 0;
    let is_whole = chrome::read(path, reader, |record: Record| {
        id += 1;
        let (pid, tid) = (record.pid.or_zero(), record.tid.or_zero());
        let name = record.name.0.as_deref().unwrap_or_default();
        match (record.ph.0.as_deref(), name) {
            (Some("M"), "process_name") => {
                let plane = record.args.name.0.unwrap_or_default();
                if let Some(gpu) = plane.strip_prefix("/device:GPU:").and_then(|number| number.parse().ok()) {
                    rows.gpu(gpu);
                }
                planes.insert(pid, plane);
            }
            (Some("M"), "thread_name") => {
                let line = record.args.name.0.unwrap_or_default();
                if planes.get(&pid).is_some_and(|plane| plane.starts_with("/host:")) {
                    rows.thread(tid, &line);
                }
                lines.insert((pid, tid), line);
            }
            (Some("X"), _) => {
                let plane = planes.get(&pid).map_or("", String::as_str);
                let line = lines.get(&(pid, tid)).map_or("", String::as_str);
                let Some(line) = Line::of(plane, line, tid) else { return };
                let Some(start) = record.ts.and_then(nanoseconds) else {
                    rows.tables().problems.add(ProblemKind::MissingStart, "traceEvents.ts", id);
                    return;
                };
                rows.add(
                    &line,
                    &Event {
                        id,
                        name,
                        start,
                        duration: record.dur.and_then(nanoseconds),
                        correlation: record.args.correlation_id.or_zero(),
                        kernel: record.args.kernel_details.0.as_deref(),
                        copy: record.args.memcpy_details.0.as_deref(),
                        fill: record.args.memset_details.0.as_deref(),
                        step: record.args.step_num.0,
                    },
                );
            }
            _ => {}
        }
    })?;
    if !is_whole {
        rows.tables().info.metadata.push((COMPLETE.to_owned(), "0".to_owned()));
    }
    Ok(rows.finish(Dialect::JaxJson))
}

fn nanoseconds(microseconds: f64) -> Option<i64> {
    let value = (microseconds * 1000.0).round();
    (value.abs() < 9e18).then_some(value as i64)
}
