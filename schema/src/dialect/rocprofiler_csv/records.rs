//! Records other than dispatches.

use super::header::{Header, Kind};
use super::rows::{Common, Read, Timed};
use crate::dialect::rocprofiler::calls::call_of;
use crate::table::{
    Agent, AgentKind, Allocation, AllocationKind, AllocationLevel, Copy, Range, RangeKind, Track,
};
use crate::{AgentId, NameId};

/// Rows of `agent_info`.
pub(super) fn agents(header: &Header) -> Read {
    let at = |name: &str| header.at(&[name]);
    let [kind, node, logical] = ["agent_type", "node_id", "logical_node_id"].map(at);
    let [name, product, model] = ["name", "product_name", "model_name"].map(at);
    Box::new(move |rows, record| {
        let text = |at| record.text(at).map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
        let kind = match text(kind).as_deref() {
            Some("GPU") => AgentKind::Gpu,
            Some("CPU") => AgentKind::Cpu,
            Some(_) => AgentKind::Other,
            None => AgentKind::Unknown,
        };
        let absolute_index = record.int(node);
        let run = rows.run();
        rows.agents.list(
            run,
            Agent {
                kind,
                source_id: absolute_index.unwrap_or(-1),
                absolute_index,
                logical_index: record.int(logical),
                target: text(name).filter(|_| kind == AgentKind::Gpu),
                product: text(product).or_else(|| text(model)).or_else(|| text(name)),
                ..Agent::default()
            },
        );
        true
    })
}

/// Calls of a library, and ranges, which are calls of roctx.
pub(super) fn calls(header: &Header) -> Read {
    let common = Common::new(header);
    let [domain, function] = ["domain", "function"].map(|name| header.at(&[name]));
    Box::new(move |rows, record| {
        let select = rows.select;
        let is_range = record.text(domain).is_some_and(|domain| domain.starts_with("MARKER_CORE"));
        if !(if is_range { select.ranges } else { select.api }) {
            // The process is stated here only.
            rows.process(&common, record);
            return select.ranges;
        }
        let Some(timed) = rows.timed(Kind::Calls, &common, record) else { return true };
        let strings = &mut rows.tables.strings;
        let [category, name] =
            [domain, function].map(|at| record.text(at).map_or(NameId::NONE, |text| strings.intern(&text)));
        let Timed { id, process, tid, start, duration, correlation } = timed;
        let kind = if duration == Some(0) { RangeKind::Marker } else { RangeKind::Unknown };
        let range = Range { id, process, tid, name, category, kind, start, duration, correlation };
        if is_range {
            rows.tables.ranges.push(range);
        } else {
            rows.tables.api_calls.push(call_of(range, select.links, 0));
        }
        true
    })
}

pub(super) fn copies(header: &Header) -> Read {
    let common = Common::new(header);
    let [direction, source, destination] =
        ["direction", "source_agent_id", "destination_agent_id"].map(|name| header.at(&[name]));
    let name = header.at(&["name"]);
    let bytes = header.at(&["size", "bytes", "copy_size"]);
    Box::new(move |rows, record| {
        let Some(timed) = rows.timed(Kind::Copies, &common, record) else { return true };
        let [source, destination] = [source, destination].map(|at| rows.agent(record, at));
        let name =
            record.text(direction.or(name)).map_or(NameId::NONE, |name| rows.tables.strings.intern(&name));
        let links = rows.select.links;
        rows.tables.info.linked |= timed.correlation != 0;
        let track = rows.tables.tracks.intern(Track {
            process: timed.process,
            agent: AgentId(u32::MAX),
            queue: record.int(common.queue).unwrap_or(0),
            stream: record.int(common.stream),
            hardware_queue: None,
        });
        rows.tables.copies.push(Copy {
            id: timed.id,
            name,
            track,
            start: timed.start,
            duration: timed.duration,
            bytes: record.unsigned(bytes),
            source,
            destination,
            tid: timed.tid.filter(|_| links),
            correlation: if links { timed.correlation } else { 0 },
            ..Copy::default()
        });
        true
    })
}

/// Allocations of memory or scratch.
pub(super) fn allocations(header: &Header, level: AllocationLevel) -> Read {
    let common = Common::new(header);
    let [operation, agent, bytes, address, flags] =
        ["operation", "agent_id", "allocation_size", "address", "alloc_flags"].map(|name| header.at(&[name]));
    let kind = if level == AllocationLevel::Scratch { Kind::Scratch } else { Kind::Allocations };
    Box::new(move |rows, record| {
        if !rows.select.allocations() {
            return false;
        }
        let Some(timed) = rows.timed(kind, &common, record) else { return true };
        let operation = record.text(operation).unwrap_or_default();
        let level = if operation.contains("VMEM") { AllocationLevel::Virtual } else { level };
        let agent = rows.agent(record, agent);
        rows.tables.allocations.push(Allocation {
            id: timed.id,
            process: timed.process,
            tid: timed.tid,
            agent,
            queue: record.int(common.queue),
            stream: record.int(common.stream),
            kind: AllocationKind::of_operation(&operation),
            level,
            start: timed.start,
            duration: timed.duration,
            address: record.int(address).map(i64::cast_unsigned),
            bytes: record.int(bytes).unwrap_or(0).cast_unsigned(),
            flags: record.int(flags),
            correlation: timed.correlation,
        });
        true
    })
}
