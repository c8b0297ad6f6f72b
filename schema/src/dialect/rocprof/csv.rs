//! results.csv: one line for each dispatch, with its counters.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use super::rows::{Kind, Op, Rows};
use crate::content::io;
use crate::csv::Csv;
use crate::layout::tags::COMPLETE;
use crate::table::Counter;
use crate::{Dialect, ProblemKind, Result, Select, Tables};

/// Columns that are no counters.
const OWN: [&str; 22] = [
    "Index",
    "KernelName",
    "gpu-id",
    "queue-id",
    "queue-index",
    "pid",
    "tid",
    "grd",
    "wgr",
    "lds",
    "scr",
    "arch_vgpr",
    "accum_vgpr",
    "vgpr",
    "sgpr",
    "wave_size",
    "sig",
    "obj",
    "DispatchNs",
    "BeginNs",
    "EndNs",
    "CompleteNs",
];

/// The first line names the columns of dispatches with times.
pub(super) fn recognise(head: &[u8]) -> bool {
    let line = head.split(|&byte| byte == b'\n').next().unwrap_or_default();
    ["KernelName", "gpu-id", "BeginNs", "EndNs"]
        .iter()
        .all(|name| line.windows(name.len()).any(|window| window == name.as_bytes()))
}

pub(super) fn read(path: &Path, reader: BufReader<File>, select: &Select) -> Result<Tables> {
    let failed = io("read", path);
    let mut rows = Rows::new(select);
    let mut csv = Csv::new(reader).map_err(&failed)?;
    let Some(header) = csv.record().map_err(&failed)? else { return Ok(rows.finish(Dialect::RocprofCsv)) };
    let name = |at| header.text(Some(at)).unwrap_or_default().trim().to_owned();
    let columns: Vec<String> = (0..header.len()).map(name).collect();
    let at = |name: &str| columns.iter().position(|column| column == name);
    let counters: Vec<_> = (0..columns.len())
        .filter(|&at| !OWN.contains(&columns[at].as_str()) && columns[at] != "DurationNs")
        .map(|at| (at, rows.tables.strings.intern(&columns[at])))
        .collect();
    rows.tables.info.counters = !counters.is_empty();
    let [index, kernel, gpu, queue, pid, tid] =
        ["Index", "KernelName", "gpu-id", "queue-id", "pid", "tid"].map(at);
    let [lds, scratch, sgprs, agprs] = ["lds", "scr", "sgpr", "accum_vgpr"].map(at);
    let vgprs = at("arch_vgpr").or_else(|| at("vgpr"));
    let [enqueued, begin, end] = ["DispatchNs", "BeginNs", "EndNs"].map(at);
    while let Some(record) = csv.record().map_err(&failed)? {
        if record.is_cut && !rows.tables.info.metadata.iter().any(|(tag, _)| tag == COMPLETE) {
            rows.tables.info.metadata.push((COMPLETE.to_owned(), "0".to_owned()));
        }
        if record.len() > columns.len() || record.len() < columns.len() && !record.is_cut {
            rows.tables.problems.add(ProblemKind::BadValue, "results.csv columns", record.number);
            continue;
        }
        let Some(start) = record.int(begin) else {
            rows.tables.problems.add(ProblemKind::MissingStart, "results.csv BeginNs", record.number);
            continue;
        };
        let name = record.text(kernel).unwrap_or_default();
        let id = record.int(index).unwrap_or(record.number);
        let op = Op {
            id,
            name: &name,
            pid: record.int(pid),
            tid: record.int(tid),
            device: Some(record.int(gpu).unwrap_or(0)),
            queue: record.int(queue).unwrap_or(0),
            start,
            // A number that was cut off has fewer digits, so it is less than the start.
            end: record.int(end).filter(|&end| !record.is_cut || end >= start),
            enqueued: record.int(enqueued),
            lds: record.unsigned(lds),
            scratch: record.unsigned(scratch),
            sgprs: record.unsigned(sgprs),
            vgprs: record.unsigned(vgprs),
            agprs: record.unsigned(agprs),
            ..Op::default()
        };
        rows.op(Kind::Kernel, &op);
        if select.secondary {
            let process = rows.process(op.pid);
            let agent = Some(rows.agent(op.device));
            let values = counters.iter().filter_map(|&(at, name)| Some((name, record.real(Some(at))?)));
            let values = values.map(|(name, value)| Counter { dispatch: id, process, agent, name, value });
            rows.tables.counters.extend(values);
        }
    }
    Ok(rows.finish(Dialect::RocprofCsv))
}
