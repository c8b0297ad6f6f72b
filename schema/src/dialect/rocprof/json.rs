//! results.json: Chrome's trace format, in which arguments repeat the columns of results.db as text. What an event is, the name
//! of its process says.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use rustc_hash::FxHashMap;
use serde::Deserialize;

use super::rows::{Annotation, Call, Kind, Op, Rows};
use crate::dialect::chrome;
use crate::dialect::rocprofiler_json::scalars::{Text, Whole};
use crate::layout::tags::COMPLETE;
use crate::table::RangeKind;
use crate::{Dialect, ProblemKind, Result, Select, Tables};

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Event {
    ph: Text,
    name: Text,
    pid: Whole,
    args: Arguments,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Arguments {
    name: Text,
    #[serde(rename = "BeginNs")]
    begin: Whole,
    #[serde(rename = "EndNs")]
    end: Whole,
    #[serde(rename = "DispatchNs")]
    enqueued: Whole,
    pid: Whole,
    tid: Whole,
    args: Text,
    #[serde(rename = "dev-id")]
    device: Whole,
    #[serde(rename = "gpu-id")]
    gpu: Whole,
    #[serde(rename = "queue-id")]
    queue: Whole,
    #[serde(rename = "stream-id")]
    stream: Whole,
    lds: Whole,
    scr: Whole,
    sgpr: Whole,
    arch_vgpr: Whole,
    accum_vgpr: Whole,
}

/// The names of processes, one of which every file has.
const SECTIONS: [&str; 5] = ["Markers and Ranges", "CPU HIP API", "CPU HSA API", "COPY", "GPU Barriers0"];

/// Only rocprof gives processes these names.
pub(super) fn recognise(head: &[u8]) -> bool {
    let has = |word: &str| head.windows(word.len()).any(|window| window == word.as_bytes());
    head.trim_ascii_start().starts_with(b"{")
        && has("\"traceEvents\"")
        && SECTIONS.iter().any(|name| has(&format!("{{\"name\":\"{name}\"}}")))
}

pub(super) fn read(path: &Path, reader: BufReader<File>, select: &Select) -> Result<Tables> {
    let mut rows = Rows::new(select);
    let mut sections: FxHashMap<i64, String> = FxHashMap::default();
    let mut number = 0;
    let is_whole = chrome::read(path, reader, |event: Event| {
        number += 1;
        match event.ph.0.as_deref() {
            Some("M") if event.name.0.as_deref() == Some("process_name") => {
                sections.extend(event.pid.0.zip(event.args.name.0));
            }
            Some("X") => {
                let section = event.pid.0.and_then(|pid| sections.get(&pid)).map_or("", String::as_str);
                add(&mut rows, section, number, &event);
            }
            _ => {}
        }
    })?;
    if !is_whole {
        rows.tables.info.metadata.push((COMPLETE.to_owned(), "0".to_owned()));
    }
    Ok(rows.finish(Dialect::RocprofJson))
}

fn add(rows: &mut Rows, section: &str, id: i64, event: &Event) {
    let args = &event.args;
    let name = event.name.0.as_deref().unwrap_or_default();
    let Some(start) = args.begin.0 else {
        rows.tables.problems.add(ProblemKind::MissingStart, "traceEvents.args.BeginNs", id);
        return;
    };
    let (pid, tid, end) = (args.pid.0, args.tid.0, args.end.0);
    if let Some(domain) = section.strip_prefix("CPU ").and_then(|section| section.strip_suffix(" API")) {
        let text = args.args.0.as_deref().unwrap_or_default();
        rows.call(&Call { id, domain, name, args: text, pid, tid, start, end, ..Call::default() });
    } else if section == "Markers and Ranges" {
        // rocprof gives a marker an end 1 ns later.
        let is_marker = end.and_then(|end| end.checked_sub(start)) == Some(1);
        let kind = if is_marker { RangeKind::Marker } else { RangeKind::Unknown };
        rows.annotation(&Annotation { id, name, pid, tid, kind, start, end });
    } else {
        let kind = match section {
            "COPY" => Kind::Copy,
            _ if section.starts_with("GPU Barriers") || name == "<barrier packet>" => Kind::Barrier,
            _ => Kind::Kernel,
        };
        let stated = section.strip_prefix("GPU").and_then(|number| number.parse().ok());
        rows.op(
            kind,
            &Op {
                id,
                name,
                pid,
                tid,
                device: args.device.0.or(args.gpu.0).or(stated),
                queue: args.queue.or_zero(),
                stream: args.stream.0,
                start,
                end,
                enqueued: args.enqueued.0,
                lds: args.lds.unsigned(),
                scratch: args.scr.unsigned(),
                sgprs: args.sgpr.unsigned(),
                vgprs: args.arch_vgpr.unsigned(),
                agprs: args.accum_vgpr.unsigned(),
                ..Op::default()
            },
        );
    }
}
