//! Dispatches, which files of kernels and of counters state in the same columns.

use super::header::{Header, Kind};
use super::rows::{Common, Read, Rows};
use crate::csv::Record;
use crate::table::{Counter, Dispatch, Shape, Symbol, Track, all};
use crate::{NameId, ProblemKind};

/// The columns of a kernel's launch.
#[derive(Clone, Copy)]
struct Launch {
    common: Common,
    agent: Option<usize>,
    dispatch: Option<usize>,
    kernel: Option<usize>,
    name: Option<usize>,
    lds: Option<usize>,
    scratch: Option<usize>,
    registers: [Option<usize>; 3],
    workgroup: [Option<usize>; 3],
    items: [Option<usize>; 3],
    graph: Option<usize>,
}

impl Launch {
    fn new(header: &Header) -> Self {
        let axes = |size: &str| ["x", "y", "z"].map(|axis| header.at(&[&format!("{size}_{axis}")]));
        Self {
            common: Common::new(header),
            agent: header.at(&["agent_id", "gpu_id"]),
            dispatch: header.at(&["dispatch_id"]),
            kernel: header.at(&["kernel_id"]),
            name: header.at(&["kernel_name"]),
            lds: header.at(&["lds_block_size", "group_segment_size"]),
            scratch: header.at(&["scratch_size", "private_segment_size"]),
            registers: ["sgpr_count", "vgpr_count", "accum_vgpr_count"].map(|name| header.at(&[name])),
            workgroup: axes("workgroup_size"),
            items: axes("grid_size"),
            graph: header.at(&["graph_exec_id"]),
        }
    }

    fn read(&self, rows: &mut Rows, kind: Kind, record: Record<'_>) {
        let Some(timed) = rows.timed(kind, &self.common, record) else { return };
        let select = rows.select;
        let agent = rows.agent(record, self.agent);
        let agent = rows.agents.launching(agent);
        let name = record.text(self.name).map_or(NameId::NONE, |name| rows.tables.strings.intern(&name));
        let track = rows.tables.tracks.intern(Track {
            process: timed.process,
            agent,
            queue: record.int(self.common.queue).unwrap_or(0),
            stream: record.int(self.common.stream),
            hardware_queue: None,
        });
        let shape = select.any_shape().then(|| {
            let workgroup = all(self.workgroup.map(|at| record.unsigned(at)));
            let items = all(self.items.map(|at| record.unsigned(at)));
            let (lds, scratch) = (record.unsigned(self.lds), record.unsigned(self.scratch));
            Shape { lds, scratch, ..Shape::of_items(workgroup, items) }
        });
        let shape = shape.filter(|shape| *shape != Shape::default());
        let shape = shape.map(|shape| rows.tables.shapes.intern(shape));
        let [sgprs, vgprs, agprs] = self.registers.map(|at| record.unsigned(at));
        let id = record.int(self.kernel).unwrap_or(0);
        let symbol = Symbol {
            process: timed.process,
            id,
            name,
            mangled: NameId::NONE,
            sgprs,
            vgprs,
            agprs,
            ..Symbol::default()
        };
        let symbol = rows.symbol(symbol);
        rows.tables.info.linked |= timed.correlation != 0;
        rows.tables.dispatches.push(Dispatch {
            id: if select.ids { record.int(self.dispatch).unwrap_or(record.number) } else { 0 },
            name,
            track,
            start: timed.start,
            duration: timed.duration,
            tid: timed.tid.filter(|_| select.links),
            correlation: if select.links { timed.correlation } else { 0 },
            shape,
            symbol,
            graph: record.int(self.graph).is_some_and(|graph| graph != 0),
            ..Dispatch::default()
        });
    }
}

pub(super) fn dispatches(header: &Header) -> Read {
    let launch = Launch::new(header);
    Box::new(move |rows, record| {
        launch.read(rows, Kind::Dispatches, record);
        true
    })
}

/// One record for each counter of a dispatch. Where no other file has the dispatch, the first record stands for it; the
/// versions before ROCm 6.3 give it no times.
pub(super) fn counters(header: &Header) -> Read {
    let launch = Launch::new(header);
    let [name, value] = ["counter_name", "counter_value"].map(|name| header.at(&[name]));
    Box::new(move |rows, record| {
        rows.tables.info.counters = true;
        let process = rows.process(&launch.common, record);
        let dispatch = record.int(launch.dispatch).unwrap_or(0);
        if rows.counted && launch.common.start.is_some() && rows.dispatches.insert((process, dispatch)) {
            launch.read(rows, Kind::Counters, record);
        }
        if rows.select.secondary {
            let agent = rows.agent(record, launch.agent);
            let agent = Some(rows.agents.launching(agent));
            let name = record.text(name).map_or(NameId::NONE, |name| rows.tables.strings.intern(&name));
            match record.real(value) {
                Some(value) => rows.tables.counters.push(Counter { dispatch, process, agent, name, value }),
                None => rows.problem(ProblemKind::BadValue, Kind::Counters, "Counter_Value", record.number),
            }
        }
        true
    })
}
